// SPDX-License-Identifier: GPL-2.0-or-later
// The FSFS format's table of operations; finding and opening a repository.
//
// An operand is REPO or REPO/db. The directory of the file system is known by
// what lies in it, not by one file alone: db/fs-type may be lost, db/format
// may be a guard. Only `db` itself may be a symbolic link here (and revs and
// revprops, which are opened by those who need them).

#include "formats/fsfs/fsfs.h"

#include "formats/fsfs/checks.h"

#include "lib/autofd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FORMAT_FILE_MAX = 4096 }; /* bytes of db/format and db/fs-type */

const struct fm_check fsfs_checks[FSFS_N_CHECKS] = {
#define FM_CHECK(symbol, id, severity, repair, sentence)                       \
	{id, severity, repair, sentence},
#include "formats/fsfs/checks.def"
#undef FM_CHECK
};

enum backend { NONE, FSFS, BDB, FSX };

static bool has_directory(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool has_file(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

// Signs of FSFS without asking db/fs-type.
static bool has_fsfs_signs(int db)
{
	return has_directory(db, "revs") && has_directory(db, "revprops");
}

static enum backend backend_of(int db)
{
	struct fm_buf type = FM_BUF_INIT;
	enum backend which = NONE;
	struct fm_err ignored;

	if (fsfs_read_small(db, "fs-type", FORMAT_FILE_MAX, &type, &ignored) !=
	    0)
		fm_buf_clear(&type);
	if (strcmp(fm_buf_text(&type), "fsx\n") == 0)
		which = FSX;
	else if (strcmp(fm_buf_text(&type), "fsfs\n") == 0)
		which = FSFS;
	else if (has_fsfs_signs(db))
		which = FSFS; /* whatever fs-type says */
	else if (strcmp(fm_buf_text(&type), "bdb\n") == 0 ||
		 has_file(db, "DB_CONFIG"))
		which = BDB;
	else if (has_directory(db, "revs") && has_file(db, "current"))
		which = FSFS;
	fm_buf_release(&type);
	return which;
}

static int open_directory(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_same(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 &&
	       sa.st_ino == sb.st_ino && sa.st_dev == sb.st_dev;
}

// The path without its last component: "repo/db/" gives "repo".
static const char *parent_path(const char *path, struct fm_arena *out)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	if ((len == 1 && path[0] == '.') ||
	    (len >= 2 && memcmp(path + len - 2, "..", 2) == 0 &&
	     (len == 2 || path[len - 3] == '/')))
		return fm_arena_printf(out, "%.*s/..", (int)len, path);
	while (len > 0 && path[len - 1] != '/')
		len--;
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len ? fm_arena_memdup(out, path, len) : ".";
}

/*
 * REPO of REPO/db: by name first, since db may be a symbolic link and ".."
 * would then be elsewhere. Left at -1 when neither holds this db.
 */
static void open_parent(const char *path, struct fm_arena *out, struct fsfs *fs)
{
	const char *parent = parent_path(path, out);

	fs->repos = open_directory(AT_FDCWD, parent);
	for (int try = 0; try < 2; try++) {
		FM_AUTOFD int db = -1;

		if (fs->repos >= 0)
			db = open_directory(fs->repos, "db");
		if (db >= 0 && is_same(db, fs->db)) {
			fs->path = parent;
			return;
		}
		fm_close_fd(&fs->repos);
		if (try == 0)
			fs->repos = open_directory(fs->db, "..");
	}
	fs->path = path;
}

static void read_format(struct fsfs *fs)
{
	struct fm_err err;
	int rc = fsfs_read_small(fs->db, "format", FORMAT_FILE_MAX,
				 &fs->format_bytes, &err);

	if (rc == 0) {
		fsfs_traits_decode(fm_buf_text(&fs->format_bytes),
				   fs->format_bytes.len, &fs->traits);
	} else if (rc == FM_E_IO && err.sys == ENOENT) {
		fsfs_traits_decode(NULL, 0, &fs->traits);
	} else {
		fm_buf_clear(&fs->format_bytes);
		memset(&fs->traits, 0, sizeof(fs->traits));
		fs->traits.state = FSFS_FORMAT_DAMAGED;
		(void)snprintf(fs->traits.problem, sizeof(fs->traits.problem),
			       "%.*s", (int)sizeof(fs->traits.problem) - 1,
			       err.msg);
	}
}

int fsfs_open(int fd, const char *path, struct fm_arena *out, struct fsfs *fs,
	      struct fm_err *err)
{
	enum backend which = NONE;

	memset(fs, 0, sizeof(*fs));
	fs->repos = -1;
	fs->db = open_directory(fd, "db");
	if (fs->db >= 0)
		which = backend_of(fs->db);
	if (which != NONE) {
		fs->repos = open_directory(fd, ".");
		fs->path = fm_arena_strdup(out, path);
		fs->db_path = fm_arena_printf(out, "%s/db", path);
	} else {
		fm_close_fd(&fs->db);
		fs->db = open_directory(fd, ".");
		if (fs->db < 0)
			return fm_err_sys(err, errno, "cannot open directory");
		which = backend_of(fs->db);
		if (which == NONE) {
			fm_close_fd(&fs->db);
			return fm_err_set(err, FM_E_FORMAT,
					  "not a Subversion repository");
		}
		fs->db_path = fm_arena_strdup(out, path);
		open_parent(fs->db_path, out, fs);
	}
	fs->is_bdb = which == BDB;
	fs->is_fsx = which == FSX;
	if (which == FSFS)
		read_format(fs);
	return 0;
}

void fsfs_close(struct fsfs *fs)
{
	fm_close_fd(&fs->repos);
	fm_close_fd(&fs->db);
	fm_buf_release(&fs->format_bytes);
}

static void probe(const struct fm_place *place, struct fm_bid *bid)
{
	static const struct {
		int confidence;
		const char *what;
	} bids[] = {
		[NONE] = {0, ""},
		[FSFS] = {90, "Subversion repository, FSFS"},
		[BDB] = {90, "Subversion repository, BerkeleyDB"},
		[FSX] = {90, "Subversion repository, FSX"},
	};
	enum backend which = NONE;

	if (place->is_directory) {
		FM_AUTOFD int db = open_directory(place->fd, "db");

		if (db >= 0)
			which = backend_of(db);
		if (which == NONE)
			which = backend_of(place->fd);
	}
	bid->confidence = bids[which].confidence;
	(void)snprintf(bid->what, sizeof(bid->what), "%s", bids[which].what);
}

static int open_target(struct fm_target *t, struct fm_err *err)
{
	struct fsfs *fs = fm_arena_alloc(&t->out, sizeof(*fs));
	int rc = fsfs_open(t->fd, t->path, &t->out, fs, err);

	t->view = rc == 0 ? fs : NULL;
	return rc;
}

static void close_target(struct fm_target *t)
{
	if (t->view)
		fsfs_close(t->view);
	t->view = NULL;
}

static int journals(struct fm_target *t, int *root, const char **name,
		    struct fm_err *err)
{
	const struct fsfs *fs = t->view;

	if (fs->is_bdb || fs->is_fsx)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "not an FSFS repository");
	*root = fs->db;
	*name = FSFS_JOURNALS;
	return 0;
}

static const struct fm_conversion conversions[] = {
	{"linear", "sharded", "--layout=sharded or --layout=N"},
	{"sharded", "linear", "--layout=linear"},
	{"sharded", "sharded", "--layout=N, another number of files"},
};

const struct fm_format fsfs_format = {
	.name = "fsfs",
	.summary = "Subversion repository, FSFS formats 1-4 and 6-8",
	.checks = fsfs_checks,
	.n_checks = FSFS_N_CHECKS,
	.conversions = conversions,
	.n_conversions = FM_ARRAY_SIZE(conversions),
	.probe = probe,
	.open = open_target,
	.close = close_target,
	.describe = fsfs_describe,
	.verify = fsfs_verify,
	.journals = journals,
	.plan_convert = fsfs_plan_convert,
	.plan_resume = fsfs_plan_resume,
	.plan_undo = fsfs_plan_undo,
};
