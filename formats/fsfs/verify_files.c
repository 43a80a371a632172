// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: every unpacked file once. Revision files are opened for their last
// bytes, files of revision properties are only looked at. In parallel, by
// slices of the inventory; findings come out in the order of revisions.

#include "formats/fsfs/revfile.h"
#include "formats/fsfs/verify.h"

#include "lib/autofd.h"
#include "lib/mem.h"
#include "lib/numtree.h"
#include "lib/pool.h"
#include "lib/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum { PER_ITEM = 256 };

/* Files that differ from their neighbours: only worth one note. */
struct oddities {
	uint64_t n_mode, n_owner, n_device;
	uint64_t mode_of, owner_of, device_of; /* the first of each */
};

struct files {
	struct fsfs_verify *v;
	const struct fsfs_tree *tree;
	bool is_revs;
	size_t first, end; /* of tree->numbers that are checked */
	struct stat usual; /* the first file's mode and owner */
	bool has_usual;
	dev_t device;
	struct oddities *of; /* one for each item */
	struct fsfs_progress progress;
};

/* The directory of the shard that is being worked on, kept open. */
struct shard_dir {
	int fd;
	uint64_t shard;
};

// The name of the file in *dirfd; -1 when its shard cannot be opened.
static int locate(const struct files *f, struct shard_dir *dir, uint64_t n,
		  char name[FM_NUM_PATH])
{
	uint64_t shard = f->tree->shard ? n / f->tree->shard : 0;
	char shard_name[FM_NUM_PATH];

	fm_num_path(0, n, name);
	if (f->tree->shard == 0)
		return f->tree->fd;
	if (dir->fd < 0 || dir->shard != shard) {
		fm_close_fd(&dir->fd);
		fm_num_path(0, shard, shard_name);
		dir->fd =
			openat(f->tree->fd, shard_name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		dir->shard = shard;
	}
	return dir->fd;
}

static const char *path_of(const struct files *f, uint64_t n, char path[64])
{
	char number[FM_NUM_PATH];

	fm_num_path(f->tree->shard, n, number);
	(void)snprintf(path, 64, "db/%s/%s", f->tree->name, number);
	return path;
}

static void found(const struct files *f, struct fm_report *r,
		  enum fsfs_check check, uint64_t n, const char *detail)
{
	char path[64], object[FSFS_RANGE];

	fsfs_found(r, check, path_of(f, n, path), fsfs_range_name(n, n, object),
		   "%s", detail);
}

// Opening or looking failed: packed meanwhile, forbidden, or unreadable.
static int failed(const struct files *f, struct fm_report *r, uint64_t n,
		  int sys, struct fm_err *err)
{
	struct fm_err ignored;
	uint64_t packed;
	char path[64];

	if (sys == ENOENT && f->tree->shard &&
	    fsfs_min_unpacked_read(f->v->fs, &packed, &ignored) == 0 &&
	    n < packed)
		return 0;
	if (sys == ENOENT)
		found(f, r,
		      f->is_revs ? FSFS_CHECK_REV_MISSING
				 : FSFS_CHECK_REVPROP_MISSING,
		      n, "the file has just vanished");
	else if (sys == EACCES)
		found(f, r, FSFS_CHECK_LAYOUT_MODE, n,
		      "the file cannot be read");
	else
		return fm_err_sys(err, sys, "%s", path_of(f, n, path));
	return 0;
}

static void check_stat(const struct files *f, struct fm_report *r, uint64_t n,
		       const struct stat *st, struct oddities *of)
{
	if ((st->st_mode & 0444) == 0)
		found(f, r, FSFS_CHECK_LAYOUT_MODE, n,
		      "its mode lets nobody read the file");
	else if (f->has_usual && ((st->st_mode ^ f->usual.st_mode) & 07777) &&
		 of->n_mode++ == 0)
		of->mode_of = n;
	if (f->has_usual &&
	    (st->st_uid != f->usual.st_uid || st->st_gid != f->usual.st_gid) &&
	    of->n_owner++ == 0)
		of->owner_of = n;
	if (st->st_dev != f->device && of->n_device++ == 0)
		of->device_of = n;
}

static int check_end(const struct files *f, struct fm_report *r, uint64_t n,
		     int fd, uint64_t size, struct fm_err *err)
{
	struct fm_source src = {.fd = fd, .size = size};
	struct fm_where where = {.has_offset = false};
	struct fsfs_fault fault;
	char path[64], object[FSFS_RANGE];
	bool is_good = f->v->fs->traits.is_logical
			       ? fsfs_check_logical(&src, n, 1, &fault, err)
			       : fsfs_check_physical(&src, n, &fault, err);

	if (is_good)
		return 0;
	if (err->code != 0)
		return fm_err_prefix(err, "%s: ", path_of(f, n, path));
	where.path = path_of(f, n, path);
	where.object = fsfs_range_name(n, n, object);
	where.has_offset = fault.has_offset;
	where.offset = fault.offset;
	fm_report_add(r, &fsfs_checks[fault.check], &where, "%s", fault.detail);
	return 0;
}

static int check_revision(const struct files *f, struct fm_report *r,
			  uint64_t n, int dirfd, const char *name,
			  struct oddities *of, struct fm_err *err)
{
	FM_AUTOFD int fd = fm_open_read(dirfd, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return failed(f, r, n, errno, err);
	check_stat(f, r, n, &st, of);
	return check_end(f, r, n, fd, (uint64_t)st.st_size, err);
}

static int check_revprop(const struct files *f, struct fm_report *r, uint64_t n,
			 int dirfd, const char *name, struct oddities *of,
			 struct fm_err *err)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return failed(f, r, n, errno, err);
	check_stat(f, r, n, &st, of);
	if (st.st_size == 0)
		found(f, r, FSFS_CHECK_REVPROP_SYNTAX, n, "the file is empty");
	return 0;
}

static int check_item(void *ctx, uint64_t item, struct fm_arena *tmp,
		      struct fm_report *r, struct fm_err *err)
{
	struct files *f = ctx;
	size_t first = f->first + (size_t)item * PER_ITEM;
	size_t end = first + PER_ITEM < f->end ? first + PER_ITEM : f->end;
	struct shard_dir dir = {.fd = -1};
	int rc = 0;

	(void)tmp;
	for (size_t i = first; i < end && rc == 0; i++) {
		uint64_t n = f->tree->numbers.at[i];
		char name[FM_NUM_PATH];
		int dirfd = locate(f, &dir, n, name);

		if (dirfd < 0)
			rc = failed(f, r, n, errno, err);
		else if (f->is_revs)
			rc = check_revision(f, r, n, dirfd, name, &f->of[item],
					    err);
		else
			rc = check_revprop(f, r, n, dirfd, name, &f->of[item],
					   err);
	}
	fm_close_fd(&dir.fd);
	fsfs_progress_step(&f->progress, end - first);
	return rc;
}

static void note_odd(const struct files *f, enum fsfs_check check, uint64_t n,
		     uint64_t first, const char *what)
{
	char path[64], object[FSFS_RANGE];

	if (n == 0)
		return;
	fsfs_found_as(f->v->report, check, FM_NOTE, path_of(f, first, path),
		      fsfs_range_name(first, first, object),
		      "the first of %ju in db/%s with another %s than their "
		      "neighbours",
		      (uintmax_t)n, f->tree->name, what);
}

static void note_oddities(const struct files *f, size_t n_items)
{
	struct oddities all = {.n_mode = 0};

	for (size_t i = n_items; i > 0; i--) {
		const struct oddities *of = &f->of[i - 1];

		all.n_mode += of->n_mode;
		all.n_owner += of->n_owner;
		all.n_device += of->n_device;
		if (of->n_mode)
			all.mode_of = of->mode_of;
		if (of->n_owner)
			all.owner_of = of->owner_of;
		if (of->n_device)
			all.device_of = of->device_of;
	}
	note_odd(f, FSFS_CHECK_LAYOUT_MODE, all.n_mode, all.mode_of, "mode");
	note_odd(f, FSFS_CHECK_LAYOUT_MODE, all.n_owner, all.owner_of, "owner");
	note_odd(f, FSFS_CHECK_LAYOUT_DEVICE, all.n_device, all.device_of,
		 "device");
}

// The first file's mode stands for all: commits copy it.
static void learn_usual(struct files *f)
{
	struct shard_dir dir = {.fd = -1};
	char name[FM_NUM_PATH];
	struct stat top;
	int dirfd;

	if (fstat(f->tree->fd, &top) == 0)
		f->device = top.st_dev;
	if (f->first >= f->end)
		return;
	dirfd = locate(f, &dir, f->tree->numbers.at[f->first], name);
	f->has_usual = dirfd >= 0 && fstatat(dirfd, name, &f->usual,
					     AT_SYMLINK_NOFOLLOW) == 0;
	fm_close_fd(&dir.fd);
}

static int check_tree(struct fsfs_verify *v, const struct fsfs_tree *tree,
		      struct fm_err *err)
{
	struct files f = {.v = v, .tree = tree, .is_revs = tree == &v->revs};
	size_t n_items;
	int rc;

	/* What a pack has replaced is not in use, whatever is left of it. */
	if (f.is_revs || v->fs->traits.has_packed_revprops)
		f.first = fsfs_numbers_find(&tree->numbers, v->min_unpacked);
	f.end = fsfs_numbers_find(&tree->numbers, v->youngest + 1);
	if (f.end < f.first)
		f.end = f.first;
	n_items = (f.end - f.first + PER_ITEM - 1) / PER_ITEM;
	f.of = fm_alloc_array(n_items, sizeof(*f.of));
	learn_usual(&f);
	fsfs_progress_init(&f.progress, v->opts->progress,
			   f.is_revs ? "revisions" : "revision properties",
			   f.end - f.first);
	rc = fm_pool_run(v->opts->jobs, 0, n_items, check_item, &f, v->report,
			 err);
	if (rc == 0)
		note_oddities(&f, n_items);
	fm_free(f.of);
	return rc;
}

static enum fsfs_ending ending_of(const struct fsfs_tree *tree, uint64_t n)
{
	char path[FM_NUM_PATH];
	struct fm_source src;
	struct fm_err ignored;
	FM_AUTOFD int fd = -1;

	fm_num_path(tree->shard, n, path);
	fd = fm_open_read(tree->fd, path);
	if (fd < 0 || fm_source_file(&src, fd, &ignored) != 0)
		return FSFS_ENDING_NONE;
	return fsfs_ending_of(&src);
}

/*
 * The addressing line is wrong when both the first and the last file end as
 * it does not say: one finding instead of one for each revision.
 */
static void check_addressing(struct fsfs_verify *v)
{
	const struct fsfs_numbers *list = &v->revs.numbers;
	bool is_logical = v->fs->traits.is_logical;
	enum fsfs_ending other =
		is_logical ? FSFS_ENDING_TRAILER : FSFS_ENDING_FOOTER;
	size_t first = fsfs_numbers_find(list, v->min_unpacked);
	size_t end = fsfs_numbers_find(list, v->youngest + 1);

	if (first >= end || ending_of(&v->revs, list->at[first]) != other ||
	    ending_of(&v->revs, list->at[end - 1]) != other)
		return;
	fsfs_found(v->report, FSFS_CHECK_FORMAT_OPTION, "db/format", NULL,
		   "says addressing %s, but the revision files are %s",
		   is_logical ? "logical" : "physical",
		   is_logical ? "physical" : "logical");
	v->stop = "the addressing in db/format must be put right first";
}

int fsfs_verify_files(struct fsfs_verify *v, struct fm_err *err)
{
	int rc;

	check_addressing(v);
	if (v->stop)
		return 0;
	rc = check_tree(v, &v->revs, err);
	if (rc == 0)
		rc = check_tree(v, &v->revprops, err);
	return rc;
}
