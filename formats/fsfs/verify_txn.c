// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: transactions. db/transactions/ID.txn is a transaction; from format 3
// on its data go to db/txn-protorevs/ID.rev, before that to "rev" within.
// ID is BASE-SEQUENCE, the sequence in base 36.
//
// Transactions come and go while we look: a half one counts only when it is
// still half a moment later.

#include "formats/fsfs/names.h"
#include "formats/fsfs/verify.h"

#include "lib/textrec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TXNS_MAX = 100000, LOOKS_MAX = 10, LOOK_MS = 100 };

struct txns {
	struct fsfs_names dirs, protos;
	bool has_dirs, has_protos; /* the directories could be read */
};

static bool decode_id(const char *id, size_t len, uint64_t *base,
		      uint64_t *sequence)
{
	struct fm_text rest = {id, len};
	struct fm_text first = fm_text_cut(&rest, '-');

	return fm_text_number(first, FSFS_REVISION_MAX, base) &&
	       fsfs_base36_decode(rest.p, rest.len, sequence);
}

// Length of NAME without the suffix, 0 when it has another one.
static size_t stem(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	if (len <= n || strcmp(name + len - n, suffix) != 0)
		return 0;
	return len - n;
}

static uint64_t youngest_now(const struct fsfs_verify *v)
{
	struct fsfs_current now;
	struct fm_err ignored;

	if (fsfs_current_read(v->fs, &now, &ignored) == 0)
		return now.youngest;
	return FSFS_REVISION_MAX;
}

static void check_name(struct fsfs_verify *v, const char *name,
		       uint64_t youngest)
{
	struct fm_buf path = FM_BUF_INIT;
	size_t len = stem(name, ".txn");
	uint64_t base = 0, sequence = 0;
	struct stat st;

	fm_buf_printf(&path, "db/transactions/%s", name);
	if (len == 0) {
		if (!fsfs_is_temporary(name))
			fsfs_found(v->report, FSFS_CHECK_LAYOUT_STRAY,
				   path.data, NULL, "not a transaction");
	} else if (!decode_id(name, len, &base, &sequence)) {
		fsfs_found(v->report, FSFS_CHECK_TXN_NAME, path.data, NULL,
			   "not of the form BASE-SEQUENCE");
	} else if (base > youngest) {
		fsfs_found(v->report, FSFS_CHECK_TXN_NAME, path.data, NULL,
			   "based on r%ju, but r%ju is the youngest",
			   (uintmax_t)base, (uintmax_t)youngest);
	} else if (base < v->youngest &&
		   fstatat(v->fs->db, path.data + strlen("db/"), &st,
			   AT_SYMLINK_NOFOLLOW) == 0 &&
		   !fsfs_is_recent(&st)) {
		fsfs_found(v->report, FSFS_CHECK_TXN_OLD, path.data, NULL,
			   "based on r%ju: open for a while, or left behind; "
			   "svnadmin rmtxns removes it",
			   (uintmax_t)base);
	}
	fm_buf_release(&path);
}

/*
 * An upgrade from formats 1 and 2 begins again at 0 and may lie below the
 * names of older transactions. Those have no file here, so it is the files
 * that the counter is compared with.
 */
static bool highest_sequence(const struct fsfs_names *protos, uint64_t *highest)
{
	bool has_any = false;

	*highest = 0;
	for (size_t i = 0; i < protos->n; i++) {
		const char *id = protos->at[i];
		size_t len = stem(id, ".rev");
		uint64_t base, sequence;

		if (len == 0 || !decode_id(id, len, &base, &sequence))
			continue;
		has_any = true;
		if (sequence > *highest)
			*highest = sequence;
	}
	return has_any;
}

static void check_counter(struct fsfs_verify *v,
			  const struct fsfs_names *protos)
{
	static const char path[] = "db/txn-current";
	struct fm_buf bytes = FM_BUF_INIT;
	struct fm_err err;
	uint64_t next, highest;
	bool has_any = highest_sequence(protos, &highest);

	if (fsfs_read_small(v->fs->db, "txn-current", 64, &bytes, &err) != 0)
		fsfs_found(v->report, FSFS_CHECK_TXN_CURRENT, path, NULL, "%s",
			   err.sys == ENOENT
				   ? "the file is missing: commits fail"
				   : err.msg);
	else if (bytes.len < 2 || bytes.data[bytes.len - 1] != '\n' ||
		 !fsfs_base36_decode(bytes.data, bytes.len - 1, &next))
		fsfs_found(v->report, FSFS_CHECK_TXN_CURRENT, path, NULL,
			   "not a number in base 36 and a line feed");
	else if (has_any && next <= highest)
		fsfs_found(v->report, FSFS_CHECK_TXN_CURRENT, path, NULL,
			   "not above the open transactions: their names "
			   "could be given out again");
	fm_buf_release(&bytes);
}

/* One look at the two parts of a transaction. */
struct parts {
	bool has_dir, has_proto;
	bool is_recent; /* the one that is there */
};

static bool look_at(const struct fsfs_verify *v, const char *path,
		    bool *is_recent)
{
	struct stat st;

	if (fstatat(v->fs->db, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	*is_recent |= fsfs_is_recent(&st);
	return true;
}

static struct parts parts_of(const struct fsfs_verify *v, const char *id,
			     size_t len)
{
	struct fm_buf path = FM_BUF_INIT;
	struct parts parts = {.has_dir = false};

	fm_buf_printf(&path, "transactions/%.*s.txn", (int)len, id);
	parts.has_dir = look_at(v, path.data, &parts.is_recent);
	fm_buf_clear(&path);
	if (v->fs->traits.has_txn_files)
		fm_buf_printf(&path, "txn-protorevs/%.*s.rev", (int)len, id);
	else
		fm_buf_printf(&path, "transactions/%.*s.txn/rev", (int)len, id);
	parts.has_proto = look_at(v, path.data, &parts.is_recent);
	fm_buf_release(&path);
	return parts;
}

/*
 * Beginning, committing and dropping a transaction each leave it half for a
 * while, a commit on a slow disk longest. All halves share one time of grace.
 */
static bool stays_half(const struct fsfs_verify *v, const char *id, size_t len,
		       bool is_dir, unsigned *n_looks)
{
	const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000L};

	for (;;) {
		struct parts parts = parts_of(v, id, len);

		if (parts.has_dir != is_dir || parts.has_proto == is_dir ||
		    parts.is_recent)
			return false;
		if (*n_looks >= LOOKS_MAX)
			return true;
		(*n_looks)++;
		(void)nanosleep(&moment, NULL);
	}
}

// Where commits end all the time, this may be one that takes long.
static enum fm_severity severity_of_half(const struct fsfs_verify *v)
{
	bool is_busy = false;

	(void)look_at(v,
		      v->fs->traits.has_txn_files ? "txn-protorevs"
						  : "transactions",
		      &is_busy);
	return is_busy ? FM_NOTE : fsfs_checks[FSFS_CHECK_TXN_HALF].severity;
}

static void check_halves(struct fsfs_verify *v, const struct fsfs_names *names,
			 const char *suffix, bool is_dir, unsigned *n_looks)
{
	enum fm_severity severity = severity_of_half(v);

	for (size_t i = 0; i < names->n; i++) {
		const char *id = names->at[i];
		size_t len = stem(id, suffix);

		if (len == 0 || !stays_half(v, id, len, is_dir, n_looks))
			continue;
		if (is_dir)
			fsfs_found_as(v->report, FSFS_CHECK_TXN_HALF, severity,
				      "db/transactions", NULL,
				      "transaction %.*s has no data file and "
				      "cannot be committed",
				      (int)len, id);
		else
			fsfs_found_as(v->report, FSFS_CHECK_TXN_HALF, severity,
				      "db/txn-protorevs", NULL,
				      "data file of transaction %.*s, which "
				      "does not exist",
				      (int)len, id);
	}
}

static void check_proto_names(struct fsfs_verify *v,
			      const struct fsfs_names *protos)
{
	struct fm_buf path = FM_BUF_INIT;

	for (size_t i = 0; i < protos->n; i++) {
		const char *name = protos->at[i];

		if (stem(name, ".rev") || stem(name, ".rev-lock") ||
		    fsfs_is_temporary(name))
			continue;
		fm_buf_clear(&path);
		fm_buf_printf(&path, "db/txn-protorevs/%s", name);
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_STRAY, path.data, NULL,
			   "not a transaction's data file");
	}
	fm_buf_release(&path);
}

static bool read_names(const struct fsfs_verify *v, const char *dir,
		       struct fsfs_names *names)
{
	struct fm_err ignored;

	/* A missing directory has been reported by the pass before. */
	return fsfs_names_read(v->fs->db, dir, TXNS_MAX, names, &ignored) == 0;
}

int fsfs_verify_txns(struct fsfs_verify *v, struct fm_err *err)
{
	bool has_txn_files = v->fs->traits.has_txn_files;
	unsigned n_looks = 0;
	uint64_t youngest;
	struct txns t = {.has_dirs = false};

	(void)err;
	t.has_dirs = read_names(v, "transactions", &t.dirs);
	if (has_txn_files)
		t.has_protos = read_names(v, "txn-protorevs", &t.protos);
	/* After the listing: a base can only be older than that. */
	youngest = youngest_now(v);
	for (size_t i = 0; i < t.dirs.n; i++)
		check_name(v, t.dirs.at[i], youngest);
	check_proto_names(v, &t.protos);
	if (has_txn_files)
		check_counter(v, &t.protos);
	if (t.has_dirs && (t.has_protos || !has_txn_files))
		check_halves(v, &t.dirs, ".txn", true, &n_looks);
	if (t.has_dirs && t.has_protos)
		check_halves(v, &t.protos, ".rev", false, &n_looks);
	if (t.dirs.n_seen > t.dirs.n)
		fm_report_unchecked(v->report,
				    "transactions beyond the first %zu",
				    t.dirs.n);
	fsfs_names_release(&t.dirs);
	fsfs_names_release(&t.protos);
	return 0;
}
