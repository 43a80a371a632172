// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: the names in db/. What must be there, and what should not.

#include "formats/fsfs/names.h"
#include "formats/fsfs/verify.h"

#include "lib/autofd.h"
#include "lib/source.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 10000 };

static const char *const known[] = {
	"current",
	"format",
	"fs-type",
	"fsfs.conf",
	FSFS_JOURNALS,
	"locks",
	"min-unpacked-rev",
	"node-origins",
	"pack-lock",
	"rep-cache.db",
	"rep-cache.db-journal",
	"revprops",
	"revs",
	"transactions",
	"txn-current",
	"txn-current-lock",
	"txn-protorevs",
	"uuid",
	"write-lock",
};

static bool is_known(const char *name)
{
	for (size_t i = 0; i < FM_ARRAY_SIZE(known); i++)
		if (strcmp(known[i], name) == 0)
			return true;
	return false;
}

// Of development versions of 1.7 and 1.8.
static bool is_development_file(const char *name)
{
	return fnmatch("revprop-generation*", name, 0) == 0 ||
	       strcmp(name, "revprops.db") == 0 ||
	       strcmp(name, "min-unpacked-revprop") == 0;
}

static bool exists(const struct fsfs_verify *v, const char *name,
		   struct stat *st)
{
	return fstatat(v->fs->db, name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void check_directory(struct fsfs_verify *v, const char *name)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "db/%s", name);
	if (!exists(v, name, &st))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_DIRECTORY, path, NULL,
			   "the directory is missing: commits fail");
	else if (!S_ISDIR(st.st_mode))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_DIRECTORY, path, NULL,
			   "not a directory");
}

static void check_lock_file(struct fsfs_verify *v, const char *name)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "db/%s", name);
	if (!exists(v, name, &st))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_LOCKFILE, path, NULL,
			   "the file is missing; Subversion makes it when it "
			   "needs it");
}

static void check_needed(struct fsfs_verify *v)
{
	const struct fsfs_traits *t = &v->fs->traits;
	struct stat st;

	check_directory(v, "transactions");
	if (t->has_txn_files)
		check_directory(v, "txn-protorevs");
	check_lock_file(v, "write-lock");
	if (t->has_txn_files)
		check_lock_file(v, "txn-current-lock");
	if (t->has_conf && !exists(v, "fsfs.conf", &st))
		fsfs_found(v->report, FSFS_CHECK_CONF_MISSING, "db/fsfs.conf",
			   NULL,
			   "the file is missing: defaults apply, but svnadmin "
			   "hotcopy fails");
	if (exists(v, "rep-cache.db-journal", &st) && st.st_size > 0 &&
	    !fsfs_is_recent(&st))
		fsfs_found(v->report, FSFS_CHECK_REPCACHE_JOURNAL,
			   "db/rep-cache.db-journal", NULL,
			   "a write was interrupted; the next commit rolls it "
			   "back");
}

// Whether it is an SQLite file at all; its contents are another pass.
static void check_rep_cache(struct fsfs_verify *v)
{
	static const char magic[16] = "SQLite format 3";
	FM_AUTOFD int fd = fm_open_read(v->fs->db, "rep-cache.db");
	char start[sizeof(magic)];
	struct fm_source src;
	struct fm_err err;

	if (fd < 0 || fm_source_file(&src, fd, &err) != 0 || src.size == 0)
		return;
	if (fm_source_read(&src, 0, start, sizeof(start), &err) != 0 ||
	    memcmp(start, magic, sizeof(magic)) != 0)
		fsfs_found(v->report, FSFS_CHECK_REPCACHE_OPEN,
			   "db/rep-cache.db", NULL,
			   "not an SQLite database: commits fail; it can be "
			   "removed, which only costs sharing");
}

static void check_unknown(struct fsfs_verify *v, const char *name)
{
	struct fm_buf path = FM_BUF_INIT;
	struct stat st;

	fm_buf_printf(&path, "db/%s", name);
	if (is_development_file(name))
		fsfs_found(v->report, FSFS_CHECK_JUNK_DEV, path.data, NULL,
			   "left by a development version; nobody reads it");
	else if (!fsfs_is_temporary(name))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_STRAY, path.data, NULL,
			   "no Subversion puts such a name here");
	else if (exists(v, name, &st) && !fsfs_is_recent(&st))
		fsfs_found(v->report, FSFS_CHECK_JUNK_TEMP, path.data, NULL,
			   "left by an interrupted write");
	fm_buf_release(&path);
}

int fsfs_verify_db(struct fsfs_verify *v, struct fm_err *err)
{
	struct fsfs_names names;
	int rc = fsfs_names_read(v->fs->db, ".", NAMES_MAX, &names, err);

	if (rc == 0) {
		check_needed(v);
		check_rep_cache(v);
		for (size_t i = 0; i < names.n; i++)
			if (!is_known(names.at[i]))
				check_unknown(v, names.at[i]);
	}
	fsfs_names_release(&names);
	return rc;
}
