// SPDX-License-Identifier: GPL-2.0-or-later
// The side data in numbers: rep-cache, transactions, locks. Each is looked at
// within a bound, and what lies beyond it is said ("at least").

#include "formats/fsfs/detect.h"
#include "formats/fsfs/names.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAMED_TXNS = 5,
	TXNS_MAX = 10000,
	LOCK_LOOKS = 64,           /* directories and files without --full */
	LOCK_FILE_MAX = 1 << 20,   /* bytes */
	SMALL_CACHE = 1024 * 1024, /* bytes of which rows are counted */
};

// Bytes of a database for each row, by schema: measured with 100,000 digests.
static const unsigned row_bytes[] = {[1] = 115, [2] = 65};

static bool first_number(sqlite3 *db, const char *sql, uint64_t *n)
{
	sqlite3_stmt *s = NULL;
	bool has_row = sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK &&
		       sqlite3_step(s) == SQLITE_ROW;

	if (has_row)
		*n = (uint64_t)sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	return has_row;
}

/*
 * "immutable" keeps SQLite from taking locks that a commit would meet, and
 * from touching a journal. Counting while someone writes may fail: then the
 * number is unknown.
 */
static sqlite3 *open_cache(const struct fsfs *fs)
{
	struct fm_buf uri = FM_BUF_INIT;
	sqlite3 *db = NULL;

	fm_buf_puts(&uri, "file:");
	for (const char *p = fs->db_path; *p; p++)
		if (strchr("?#%", *p))
			fm_buf_printf(&uri, "%%%02x", (unsigned)*p);
		else
			fm_buf_add(&uri, p, 1);
	fm_buf_puts(&uri, "/rep-cache.db?mode=ro&immutable=1");
	if (sqlite3_open_v2(uri.data, &db,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
			    NULL) != SQLITE_OK) {
		(void)sqlite3_close(db);
		db = NULL;
	}
	fm_buf_release(&uri);
	return db;
}

static void count_rows(const struct fsfs *fs, uint64_t size, bool is_full,
		       struct fm_facts *f)
{
	bool is_exact = is_full || size <= SMALL_CACHE;
	sqlite3 *db = open_cache(fs);
	uint64_t n = 0, schema = 0;
	bool is_known = db != NULL;

	if (is_known && is_exact)
		is_known =
			first_number(db, "SELECT COUNT(*) FROM rep_cache", &n);
	else if (is_known)
		is_known = first_number(db, "PRAGMA user_version", &schema) &&
			   (schema == 1 || schema == 2);
	if (is_known && !is_exact)
		n = size / row_bytes[schema];
	if (is_known) {
		fm_facts_number(f, "rep_cache_rows", "rep-cache rows", n);
		if (!is_exact)
			f->last->text = "estimated from its size (--full: "
					"exact)";
	} else {
		fm_facts_text(f, "rep_cache", "rep-cache", "unreadable");
	}
	(void)sqlite3_close(db);
}

static void describe_cache(const struct fsfs *fs, bool is_full,
			   struct fm_facts *f)
{
	struct stat st, journal;

	if (!fs->traits.has_rep_cache)
		return;
	if (fstatat(fs->db, "rep-cache.db", &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode)) {
		fm_facts_text(f, "rep_cache", "rep-cache", "none");
	} else if (fstatat(fs->db, "rep-cache.db-journal", &journal,
			   AT_SYMLINK_NOFOLLOW) == 0 &&
		   journal.st_size > 0) {
		fm_facts_text(f, "rep_cache", "rep-cache", "%s",
			      "not looked at: a journal lies beside it, so a "
			      "write is going on or was interrupted");
	} else {
		count_rows(fs, (uint64_t)st.st_size, is_full, f);
	}
}

static void describe_txns(const struct fsfs *fs, struct fm_facts *f)
{
	const char *first[NAMED_TXNS];
	struct fsfs_names names;
	struct fm_err ignored;
	size_t n = 0, n_first = 0;

	if (fsfs_names_read(fs->db, "transactions", TXNS_MAX, &names,
			    &ignored) != 0)
		fsfs_names_release(&names);
	for (size_t i = 0; i < names.n; i++) {
		size_t len = strlen(names.at[i]);

		if (len <= 4 || strcmp(names.at[i] + len - 4, ".txn") != 0)
			continue;
		if (n++ < NAMED_TXNS)
			first[n_first++] =
				fm_arena_memdup(f->out, names.at[i], len - 4);
	}
	fm_facts_number(f, "open_transactions", "open transactions", n);
	if (names.n_seen > names.n)
		f->last->text = "at least";
	if (n)
		fm_facts_list(f, "transactions",
			      n > n_first ? "the first of them"
					  : "transactions",
			      first, n_first);
	fsfs_names_release(&names);
}

/* The walk over locks/abc/DIGEST. */
struct locks {
	uint64_t n, n_looks;
	bool is_full, is_cut;
};

static bool may_look(struct locks *l)
{
	if (!l->is_full && l->n_looks >= LOCK_LOOKS)
		l->is_cut = true;
	l->n_looks++;
	return !l->is_cut;
}

// A digest file of a locked path has a token; others list their children.
static bool is_lock(int dirfd, const char *name)
{
	struct fm_buf bytes = FM_BUF_INIT;
	struct fm_err ignored;
	bool has_token = fsfs_read_small(dirfd, name, LOCK_FILE_MAX, &bytes,
					 &ignored) == 0 &&
			 strstr(fm_buf_text(&bytes), "K 5\ntoken\n") != NULL;

	fm_buf_release(&bytes);
	return has_token;
}

static void count_locks_in(int locks_fd, const char *name, struct locks *l)
{
	int fd = openat(locks_fd, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct fsfs_names names;
	struct fm_err ignored;

	if (fd < 0)
		return;
	if (fsfs_names_read(fd, ".", TXNS_MAX, &names, &ignored) == 0)
		for (size_t i = 0; i < names.n && may_look(l); i++)
			l->n += is_lock(fd, names.at[i]);
	fsfs_names_release(&names);
	(void)close(fd);
}

static void describe_locks(const struct fsfs *fs, bool is_full,
			   struct fm_facts *f)
{
	struct locks l = {.is_full = is_full};
	struct fsfs_names names;
	struct fm_err ignored;
	int fd = openat(fs->db, "locks",
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0) {
		if (fsfs_names_read(fd, ".", TXNS_MAX, &names, &ignored) == 0)
			for (size_t i = 0; i < names.n && may_look(&l); i++)
				count_locks_in(fd, names.at[i], &l);
		fsfs_names_release(&names);
		(void)close(fd);
	}
	fm_facts_number(f, "locks", "locks", l.n);
	if (l.is_cut)
		f->last->text = "or more (--full: exact)";
}

void fsfs_detect_side(const struct fsfs *fs, bool is_full,
		      struct fm_facts *facts)
{
	describe_cache(fs, is_full, facts);
	describe_txns(fs, facts);
	describe_locks(fs, is_full, facts);
}
