// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: where revisions and their properties lie. One walk over each tree,
// then every question is answered from the inventory.
//
// Order matters: a layout line that does not match the directories, or a
// pointer that does not match the packs, would make every revision look
// missing, so these come first and end the pass.

#include "formats/fsfs/halfdone.h"
#include "formats/fsfs/verify.h"

#include "lib/numtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Packs that come up during a walk: how often it is repeated. */
enum { ATTEMPTS = 4 };

// False when the directory is missing or unreadable (with a finding).
static int open_tree(struct fsfs_verify *v, struct fsfs_tree *tree,
		     const char *name, struct fm_err *err)
{
	char path[32];
	int rc = fsfs_tree_open(tree, v->fs, name, err);

	if (rc == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "db/%s", name);
	if (err->sys == EACCES)
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_MODE, path, NULL,
			   "the directory cannot be read");
	else if (err->sys == ENOENT || err->sys == ENOTDIR)
		fsfs_found_as(v->report, FSFS_CHECK_LAYOUT_DIRECTORY, FM_FATAL,
			      path, NULL, "no such directory");
	else
		return rc;
	v->stop = "revs/ or revprops/ cannot be opened";
	return 0;
}

static void check_top(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	struct stat st, top, db;
	char path[32];

	(void)snprintf(path, sizeof(path), "db/%s", tree->name);
	if (fstatat(v->fs->db, tree->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_DEVICE, path, NULL,
			   "a symbolic link");
	if (fstat(tree->fd, &top) != 0 || fstat(v->fs->db, &db) != 0)
		return;
	if (top.st_dev != db.st_dev)
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_DEVICE, path, NULL,
			   "on another device than db/");
	if ((top.st_mode & 0444) == 0 || (top.st_mode & 0111) == 0)
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_MODE, path, NULL,
			   "mode %04o lets nobody read the directory",
			   (unsigned)top.st_mode & 07777);
}

// A shard that may not be read is a finding, and the end of this pass.
static int collect(struct fsfs_verify *v, struct fsfs_tree *tree,
		   struct fm_err *err)
{
	int rc = fsfs_tree_collect(tree, v->fs->traits.shard, err);

	if (rc == FM_E_IO && err->sys == EACCES) {
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_MODE, NULL, NULL, "%s",
			   err->msg);
		v->stop = "a directory cannot be read";
		return 0;
	}
	return rc;
}

static int collect_both(struct fsfs_verify *v, struct fm_err *err)
{
	struct fm_err ignored;
	uint64_t before, after;
	int rc = 0;

	/* A pack that is made during the walk moves files from shards. */
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		before = v->min_unpacked;
		rc = collect(v, &v->revs, err);
		if (rc == 0 && !v->stop)
			rc = collect(v, &v->revprops, err);
		if (rc == FM_E_IO && err->sys == ENOENT && i + 1 < ATTEMPTS)
			continue; /* a shard was removed under our eyes */
		if (rc != 0 || v->stop ||
		    fsfs_min_unpacked_read(v->fs, &after, &ignored) != 0 ||
		    after == before)
			break;
		v->min_unpacked = after;
	}
	return rc;
}

// Subversion's script for resharding, stopped: see halfdone.h. One finding, not
// one for each revision that it has moved.
static bool check_script(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	struct stat st;
	char path[32];
	size_t n = 0;
	uint64_t k;

	(void)snprintf(path, sizeof(path), "%s" FSFS_SCRIPT_BESIDE, tree->name);
	n += fstatat(v->fs->db, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     S_ISDIR(st.st_mode);
	for (size_t i = 0; i < tree->n_odd; i++)
		n += tree->odd[i].type == DT_DIR &&
		     fm_num_parse_with(tree->odd[i].path, FSFS_SCRIPT_SUFFIX,
				       &k);
	if (n == 0)
		return false;
	(void)snprintf(path, sizeof(path), "db/%s", tree->name);
	fsfs_found(v->report, FSFS_CHECK_LAYOUT_MISPLACED, path, NULL,
		   "revisions lie in directories of a resharding script, which "
		   "was stopped half-way: fsconvert finishes what it began");
	v->stop = "what a resharding script began must be finished first";
	return true;
}

static void check_odd(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	struct fm_buf path = FM_BUF_INIT;
	struct stat st;

	for (size_t i = 0; i < tree->n_odd; i++) {
		const char *odd = tree->odd[i].path;
		const char *slash = strrchr(odd, '/');

		fm_buf_clear(&path);
		fm_buf_printf(&path, "db/%s/%s", tree->name, odd);
		if (fstatat(tree->fd, odd, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue; /* gone: it was a temporary file */
		if (!fsfs_is_temporary(slash ? slash + 1 : odd))
			fsfs_found(v->report, FSFS_CHECK_LAYOUT_STRAY,
				   path.data, NULL, "%s",
				   S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)
					   ? "no Subversion puts such a name "
					     "here"
					   : "neither a file nor a directory");
		else if (!fsfs_is_recent(&st))
			fsfs_found(v->report, FSFS_CHECK_JUNK_TEMP, path.data,
				   NULL, "left by an interrupted write");
	}
	if (tree->n_odd_seen > tree->n_odd)
		fm_report_unchecked(v->report,
				    "%ju more unknown names in db/%s",
				    (uintmax_t)(tree->n_odd_seen - tree->n_odd),
				    tree->name);
	fm_buf_release(&path);
}

static void check_links(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	char path[64];

	for (size_t i = 0; i < tree->linked.n; i++) {
		(void)snprintf(path, sizeof(path), "db/%s/%ju", tree->name,
			       (uintmax_t)tree->linked.at[i]);
		fsfs_found_as(v->report, FSFS_CHECK_LAYOUT_DEVICE, FM_ERROR,
			      path, NULL,
			      "a symbolic link, which is not followed: put a "
			      "real directory or file in its place");
	}
	if (tree->linked.n)
		v->stop = "symbolic links must be replaced first";
}

static void describe_place(const struct fsfs_tree *tree,
			   const struct fsfs_misplaced *m, struct fm_buf *path)
{
	fm_buf_clear(path);
	if (m->shard == FSFS_FLAT)
		fm_buf_printf(path, "db/%s/%ju", tree->name,
			      (uintmax_t)m->number);
	else
		fm_buf_printf(path, "db/%s/%ju/%ju", tree->name,
			      (uintmax_t)m->shard, (uintmax_t)m->number);
}

static void one_misplaced(struct fsfs_verify *v, const struct fsfs_tree *tree,
			  const struct fsfs_misplaced *m, struct fm_buf *path)
{
	char object[FSFS_RANGE];

	describe_place(tree, m, path);
	fsfs_range_name(m->number, m->number, object);
	if (fsfs_numbers_have(&tree->numbers, m->number))
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_DUPLICATE, path->data,
			   object, "also lies where it belongs");
	else if (m->number > v->youngest && v->has_current)
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_MISPLACED, path->data,
			   object,
			   "above db/current and not where the layout says: "
			   "a process with the old layout wrote it");
	else
		fsfs_found(v->report, FSFS_CHECK_LAYOUT_MISPLACED, path->data,
			   object, "the layout says %s",
			   tree->shard == 0 ? "not in a shard"
					    : "another directory");
}

// The layout line is wrong: one finding instead of one for each revision.
static void wrong_layout(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	bool is_missing = v->fs->traits.state == FSFS_FORMAT_MISSING;
	enum fsfs_check check = is_missing ? FSFS_CHECK_FORMAT_NUMBER
					   : FSFS_CHECK_LAYOUT_MISPLACED;
	uint64_t guess = fsfs_tree_guess_shard(tree);
	const struct fsfs_misplaced *first = &tree->misplaced[0];
	char what[64] = "several directories";
	char object[FSFS_RANGE];

	if (first->shard == FSFS_FLAT)
		(void)snprintf(what, sizeof(what), "one directory (linear)");
	else if (guess)
		(void)snprintf(what, sizeof(what), "shards of %ju",
			       (uintmax_t)guess);
	fsfs_range_name(first->number,
			tree->misplaced[tree->n_misplaced - 1].number, object);
	fsfs_found(v->report, check, "db/format", object,
		   "%zu of %zu files in db/%s lie in %s, but db/format %s",
		   tree->n_misplaced, tree->n_misplaced + tree->numbers.n,
		   tree->name, what,
		   is_missing         ? "is missing, which means linear"
		   : tree->shard == 0 ? "says linear"
				      : "says other shards");
	v->stop = "the files do not lie as db/format says";
}

// A few misplaced files are an accident, a quarter is another layout.
static bool is_wrong_layout(const struct fsfs_tree *tree)
{
	return tree->n_misplaced > tree->numbers.n / 4;
}

static void check_misplaced(struct fsfs_verify *v, const struct fsfs_tree *tree)
{
	struct fm_buf path = FM_BUF_INIT;

	for (size_t i = 0; i < tree->n_misplaced; i++)
		one_misplaced(v, tree, &tree->misplaced[i], &path);
	/* Empty shards: nothing is misplaced, but nothing should be there. */
	for (size_t i = 0; tree->shard == 0 && i < tree->shards.n; i++) {
		char dir[64];

		(void)snprintf(dir, sizeof(dir), "db/%s/%ju", tree->name,
			       (uintmax_t)tree->shards.at[i]);
		if (tree->n_misplaced == 0)
			fsfs_found(v->report, FSFS_CHECK_LAYOUT_STRAY, dir,
				   NULL, "an empty directory");
	}
	fm_buf_release(&path);
}

int fsfs_verify_layout(struct fsfs_verify *v, struct fm_err *err)
{
	struct fsfs_tree *trees[] = {&v->revs, &v->revprops};
	int rc = open_tree(v, &v->revs, "revs", err);

	if (rc == 0)
		rc = open_tree(v, &v->revprops, "revprops", err);
	if (rc != 0 || v->stop)
		return rc;
	for (size_t i = 0; i < FM_ARRAY_SIZE(trees); i++)
		check_top(v, trees[i]);
	rc = collect_both(v, err);
	if (rc != 0 || v->stop)
		return rc;
	for (size_t i = 0; i < FM_ARRAY_SIZE(trees); i++) {
		if (check_script(v, trees[i]))
			continue;
		check_odd(v, trees[i]);
		check_links(v, trees[i]);
	}
	for (size_t i = 0; i < FM_ARRAY_SIZE(trees) && !v->stop; i++)
		if (is_wrong_layout(trees[i]))
			wrong_layout(v, trees[i]);
	for (size_t i = 0; i < FM_ARRAY_SIZE(trees) && !v->stop; i++)
		check_misplaced(v, trees[i]);
	for (size_t i = 0; i < FM_ARRAY_SIZE(trees) && !v->stop; i++)
		fsfs_verify_pack_names(v, trees[i]);
	if (!v->stop)
		rc = fsfs_verify_gaps(v, err);
	return rc;
}
