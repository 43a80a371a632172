// SPDX-License-Identifier: GPL-2.0-or-later
// The small files of db/ that change with the layout or the format number.
//
// Computed under the locks, from what lies there at that moment, and again
// when an interrupted conversion is resumed:
//
//	current           three fields below format 3, one from there on
//	txn-current       from 3 on: above the suffix of every open transaction
//	                  of the older naming, so that no new name collides
//	txn-current-lock, txn-protorevs     from 3 on
//	min-unpacked-rev  where packs change their shape
//	uuid              from 7 on: line 2 anew, as Subversion's upgrade does

#include "formats/fsfs/convert.h"

#include "lib/autofd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { SMALL_LIMIT = 4096, FIRST_SEQUENCE = 36 * 36 * 36 * 36 * 36 };

static bool exists(const struct fsfs *fs, const char *name)
{
	struct stat st;

	return fstatat(fs->db, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

// The number behind the last '-' of a transaction's name ("24-o"), or 0.
static uint64_t txn_sequence(const char *name)
{
	const char *dash = strrchr(name, '-');
	const char *end = dash ? strstr(dash, ".txn") : NULL;
	uint64_t n = 0;

	if (!end || !fsfs_base36_decode(dash + 1, (size_t)(end - dash - 1), &n))
		return 0;
	return n + 1;
}

// One above the sequence number of every transaction that lies there, and of
// every one that a writer who still believes in format 2 may make meanwhile: it
// names them from REV-1 to REV-99999.  A name that is given out twice fails, or
// meets what the server remembers of the first (E160044).
static int next_sequence(const struct fsfs *fs, uint64_t *next,
			 struct fm_err *err)
{
	int fd = openat(fs->db, "transactions",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	*next = FIRST_SEQUENCE;
	if (!dir)
		return fm_err_sys(err, errno, "cannot read %s/transactions",
				  fs->db_path);
	while (errno = 0, (d = readdir(dir)) != NULL) {
		uint64_t n = txn_sequence(d->d_name);

		if (n > *next)
			*next = n;
	}
	return errno ? fm_err_sys(err, errno, "cannot read %s/transactions",
				  fs->db_path)
		     : 0;
}

static int add_txn_files(struct fm_plan *plan, const struct fsfs *fs,
			 struct fm_err *err)
{
	char next36[FSFS_BASE36_MAX], text[FSFS_BASE36_MAX + 1];
	uint64_t next = 0;

	// There already (a repository that has been through this): keep it,
	// the counter must never go back.
	if (!exists(fs, "txn-current")) {
		if (next_sequence(fs, &next, err) != 0)
			return err->code;
		fsfs_base36_encode(next, next36);
		(void)snprintf(text, sizeof(text), "%s\n", next36);
		fm_plan_add_write(plan, "txn-current", text, strlen(text),
				  "current");
	}
	if (!exists(fs, "txn-current-lock"))
		fm_plan_add_write(plan, "txn-current-lock", "", 0, "current");
	// Named even if it is there: a crash may have left it half-made.
	fm_plan_add_mkdir(plan, "txn-protorevs", "transactions");
	return 0;
}

static int settle_current(struct fm_plan *plan, const struct fsfs *fs,
			  struct fm_err *err)
{
	struct fsfs_current current;
	char text[32];

	if (fsfs_current_read(fs, &current, err) != 0)
		return err->code;
	if (current.n_fields == 1)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64 "\n", current.youngest);
	fm_plan_add_write(plan, "current", text, strlen(text), "current");
	return 0;
}

static void format_uuid(const unsigned char *b, char text[37])
{
	(void)snprintf(text, 37,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		       "%02x%02x%02x%02x%02x%02x",
		       b[0], b[1], b[2], b[3], b[4], b[5], (b[6] & 0x0f) | 0x40,
		       b[7], (b[8] & 0x3f) | 0x80, b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
}

// Line 1, the repository's own UUID, stays; line 2 becomes a fresh one.
static int settle_instance(struct fm_plan *plan, const struct fsfs *fs,
			   struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT, next = FM_BUF_INIT;
	unsigned char random[16];
	char instance[37];
	const char *eol;
	int rc = fsfs_read_small(fs->db, "uuid", SMALL_LIMIT, &b, err);

	if (rc == 0 &&
	    getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		rc = fm_err_sys(err, errno, "cannot get random bytes");
	if (rc == 0) {
		eol = memchr(fm_buf_text(&b), '\n', b.len);
		fm_buf_add(&next, fm_buf_text(&b),
			   eol ? (size_t)(eol - b.data) : b.len);
		format_uuid(random, instance);
		fm_buf_printf(&next, "\n%s\n", instance);
		fm_plan_add_write(plan, "uuid", next.data, next.len, "uuid");
	}
	fm_buf_release(&b);
	fm_buf_release(&next);
	return rc;
}

// Below format 3 there are no such files; transactions of the newer kind
// keep their text in one of them and would be lost.
static int drop_txn_files(struct fm_plan *plan, const struct fsfs *fs,
			  struct fm_err *err)
{
	int fd = openat(fs->db, "txn-protorevs",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "an open transaction (txn-protorevs/%s) "
				  "cannot be kept below format 3: remove it "
				  "with svnadmin rmtxns first",
				  d->d_name);
	}
	fm_plan_add_remove(plan, "txn-current");
	fm_plan_add_remove(plan, "txn-current-lock");
	fm_plan_add_remove(plan, "txn-protorevs");
	return 0;
}

static int lower(struct fm_plan *plan, const struct fsfs_conversion *c,
		 struct fm_err *err)
{
	struct fm_buf current = FM_BUF_INIT;
	int rc = fsfs_lower_check(c, &current, err);

	if (rc == 0)
		fm_plan_add_write(plan, "current", current.data, current.len,
				  "current");
	if (rc == 0)
		rc = drop_txn_files(plan, c->fs, err);
	fm_buf_release(&current);
	return rc;
}

// The pointer must be where it was when the plan was made, or (of a run that
// is resumed) where it is to be; a packer must not have come in.
static int settle_pointer(struct fm_plan *plan, const struct fsfs_conversion *c,
			  struct fm_err *err)
{
	struct fsfs was = *c->fs;
	uint64_t packed = 0;
	char text[32];

	// By now db/format may hold the guard, which has no traits.
	was.traits = c->from;
	if (fsfs_min_unpacked_read(&was, &packed, err) != 0)
		return err->code;
	if (packed != c->from_packed && packed != c->to_packed)
		return fm_err_set(err, FM_E_CHANGED,
				  "another process packed revisions meanwhile");
	if (c->from_packed == c->to_packed && plan->mode != FM_MODE_COPY)
		return 0;
	(void)snprintf(text, sizeof(text), "%" PRIu64 "\n", c->to_packed);
	fm_plan_add_write(plan, "min-unpacked-rev", text, strlen(text),
			  "current");
	return 0;
}

int fsfs_settle(struct fm_plan *plan, struct fm_err *err)
{
	const struct fsfs_conversion *c = plan->ctx;
	bool lowers = c->from.has_txn_files && !c->to.has_txn_files;
	int rc = 0;

	plan->n_files = 0;
	if (c->from.has_min_unpacked)
		rc = settle_pointer(plan, c, err);
	if (rc == 0 && lowers)
		return lower(plan, c, err);
	if (rc == 0 && c->to.has_txn_files && !c->from.has_txn_files)
		rc = add_txn_files(plan, c->fs, err);
	if (rc == 0 && !c->to.has_three_field_current)
		rc = settle_current(plan, c->fs, err);
	if (rc == 0 && c->to.has_instance_id)
		rc = settle_instance(plan, c->fs, err);
	return rc;
}
