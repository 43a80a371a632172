// SPDX-License-Identifier: GPL-2.0-or-later
// Numbered trees as the transaction layer handles them: open, sync, remove.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOUND_SLACK = 10000 };

// The tree itself may be a symbolic link, followed once, here: the new tree
// then belongs beside the directory it leads to.
static int find_parent(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	const char *name = tree->plan->name;
	char path[PATH_MAX], real[PATH_MAX];
	struct stat st;
	char *slash;
	int n;

	if (fstatat(t->plan->root, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return fm_err_sys(err, errno, "cannot find %s", name);
	if (!S_ISLNK(st.st_mode)) {
		tree->base = fm_arena_strdup(&t->arena, name);
		return txn_open_dir(t->plan->root, ".", &tree->parent, err);
	}
	n = snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", t->plan->root,
		     name);
	if (n < 0 || (size_t)n >= sizeof(path) || !realpath(path, real))
		return fm_err_sys(err, errno, "cannot follow %s", name);
	slash = strrchr(real, '/');
	if (!slash || !slash[1])
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%s is a link to %s: cannot work there", name,
				  real);
	tree->base = fm_arena_strdup(&t->arena, slash + 1);
	*slash = '\0';
	return txn_open_dir(AT_FDCWD, real[0] ? real : "/", &tree->parent, err);
}

int txn_tree_open(struct txn *t, struct txn_tree *tree,
		  const struct fm_plan_tree *plan, struct fm_err *err)
{
	struct stat st;

	*tree = (struct txn_tree){
		.plan = plan, .parent = -1, .live = -1, .staged = -1};
	if (find_parent(t, tree, err) != 0)
		return err->code;
	tree->stage = fm_arena_printf(&t->arena, TXN_PREFIX "%s", tree->base);
	if (txn_open_dir(tree->parent, tree->base, &tree->live, err) != 0)
		return err->code;
	if (fstat(tree->live, &st) != 0)
		return fm_err_sys(err, errno, "cannot read %s", plan->name);
	tree->times[0] = st.st_atim;
	tree->times[1] = st.st_mtim;
	return 0;
}

void txn_tree_close(struct txn_tree *tree)
{
	fm_close_fd(&tree->parent);
	fm_close_fd(&tree->live);
	fm_close_fd(&tree->staged);
	fm_free(tree->ino);
	tree->ino = NULL;
}

void txn_dirs_close(struct txn_dirs *d)
{
	fm_close_fd(&d->fd);
}

int txn_dir_of(struct txn_dirs *d, uint64_t n, bool make, int *fd,
	       struct fm_err *err)
{
	char name[FM_NUM_PATH];
	uint64_t k;

	*fd = d->top;
	if (d->shard == 0)
		return 0;
	k = n / d->shard;
	if (d->fd < 0 || d->current != k) {
		txn_dirs_close(d);
		fm_num_path(0, k, name);
		if (make && txn_mkdir_like(d->top, name, d->top, err) != 0)
			return err->code;
		if (txn_open_dir(d->top, name, &d->fd, err) != 0)
			return err->code;
		d->current = k;
	}
	*fd = d->fd;
	return 0;
}

int txn_tree_sync(int top, const char *name, struct fm_err *err)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir)
		return fm_err_sys(err, errno, "cannot read directory %s", name);
	while (errno = 0, (d = readdir(dir)) != NULL) {
		FM_AUTOFD int sub = -1;
		uint64_t n;

		if (!fm_num_parse(d->d_name, &n) || d->d_type == DT_REG)
			continue;
		sub = openat(top, d->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0 && errno == ENOTDIR)
			continue;
		if (sub < 0)
			return fm_err_sys(err, errno, "cannot open %s/%s", name,
					  d->d_name);
		if (txn_sync_dir(sub, d->d_name, err) != 0)
			return fm_err_prefix(err, "%s: ", name);
	}
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory %s", name);
	return txn_sync_dir(top, name, err);
}

static int set_times(void *ctx, const struct fm_num_entry *e,
		     struct fm_err *err)
{
	const struct txn_tree *tree = ctx;

	if (e->type != DT_DIR || !e->is_number || e->is_in_shard)
		return 0;
	if (utimensat(e->dirfd, e->name, tree->times, AT_SYMLINK_NOFOLLOW) != 0)
		return fm_err_sys(err, errno, "cannot set times of %s",
				  e->name);
	return 0;
}

int txn_tree_times(struct txn_tree *tree, struct fm_err *err)
{
	int rc = 0;

	if (tree->plan->to)
		rc = fm_num_walk(tree->live, set_times, tree, err);
	if (rc == 0 && futimens(tree->live, tree->times) != 0)
		rc = fm_err_sys(err, errno, "cannot set times of %s",
				tree->plan->name);
	return rc;
}

#define STRAY_ADVICE "if no other program is at work here, move it away"

static int count_one(void *ctx, const struct fm_num_entry *e,
		     struct fm_err *err)
{
	uint64_t *count = ctx;

	(void)err;
	*count += e->is_number && e->type == DT_REG;
	return 0;
}

// Wherever a run that is resumed may have put them.
int txn_tree_count(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	FM_AUTOFD int stage =
		openat(tree->live, TXN_STAGE,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	tree->count = 0;
	rc = fm_num_walk(tree->live, count_one, &tree->count, err);
	if (rc == 0 && stage >= 0)
		rc = fm_num_walk(stage, count_one, &tree->count, err);
	if (rc == 0)
		rc = txn_adopt_count(t, tree, err);
	return rc ? fm_err_prefix(err, "%s: ", tree->plan->name) : 0;
}

struct name_ctx {
	const struct txn *t;
	uint64_t *count;
};

static bool has_suffix(const char *name, const char *suffix)
{
	uint64_t k;

	return suffix && fm_num_parse_with(name, suffix, &k);
}

static int check_name(void *ctx, const struct fm_num_entry *e,
		      struct fm_err *err)
{
	struct name_ctx *c = ctx;
	const char *junk = c->t->plan->junk;

	(void)count_one(c->count, e, err);
	if (e->is_number &&
	    (e->type == DT_REG || (e->type == DT_DIR && !e->is_in_shard)))
		return 0;
	if (e->type == DT_DIR && !e->is_in_shard &&
	    (has_suffix(e->name, c->t->plan->units.suffix) ||
	     has_suffix(e->name, c->t->plan->adopts)))
		return 0;
	if (junk && e->type == DT_REG &&
	    strncmp(e->name, junk, strlen(junk)) == 0)
		return 0;
	if (e->is_in_shard)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%" PRIu64
				  "/%s is part of no layout: " STRAY_ADVICE,
				  e->shard, e->name);
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s is part of no layout: " STRAY_ADVICE, e->name);
}

int txn_tree_check(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct name_ctx c = {t, &tree->count};

	if (fm_num_walk(tree->live, check_name, &c, err) != 0)
		return fm_err_prefix(
			err, err->code == FM_E_UNSUPPORTED ? "%s/" : "%s: ",
			tree->plan->name);
	return txn_adopt_count(t, tree, err);
}

struct inode_ctx {
	uint64_t shard, first, n;
	uint64_t *ino;
};

static int note_inode(void *ctx, const struct fm_num_entry *e,
		      struct fm_err *err)
{
	struct inode_ctx *c = ctx;

	(void)err;
	if (!e->is_number || e->type != DT_REG || e->number < c->first ||
	    e->number - c->first >= c->n)
		return 0;
	// Only the file in its right place counts.
	if (c->shard ? e->is_in_shard && e->shard == e->number / c->shard
		     : !e->is_in_shard)
		c->ino[e->number - c->first] = e->ino;
	return 0;
}

int txn_tree_inodes(int top, uint64_t shard, uint64_t first, uint64_t *ino,
		    uint64_t n, struct fm_err *err)
{
	struct inode_ctx c = {
		.shard = shard, .first = first, .n = n, .ino = ino};

	memset(ino, 0, n * sizeof(*ino));
	return fm_num_walk(top, note_inode, &c, err);
}

static bool may_go(const struct txn *t, const char *name, uint64_t end)
{
	const char *junk = t->plan->junk;
	uint64_t n;

	return (fm_num_parse(name, &n) && n < end) ||
	       (junk && strncmp(name, junk, strlen(junk)) == 0);
}

// One pass over a directory: removes what may go. Some file systems skip
// entries when others are removed while reading, so the caller repeats.
static int remove_pass(struct txn *t, int top, int depth, uint64_t end,
		       bool *removed, char *stays, struct fm_err *err)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir)
		return fm_err_sys(err, errno, "cannot read directory");
	*removed = false;
	stays[0] = '\0';
	while (errno = 0, (d = readdir(dir)) != NULL) {
		const char *name = d->d_name;
		uint64_t n;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    strcmp(name, TXN_BUILT) == 0)
			continue;
		if (fm_cancel_check(err) != 0)
			return err->code;
		if (depth == 0 && d->d_type != DT_REG &&
		    fm_num_parse(name, &n)) {
			struct stat st;

			if (fstatat(top, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISDIR(st.st_mode)) {
				if (txn_tree_remove(t, top, name, end, err))
					return err->code;
				*removed = true;
				continue;
			}
		}
		if (!may_go(t, name, end)) {
			(void)snprintf(stays, NAME_MAX + 1, "%s", name);
			continue;
		}
		if (txn_unlink(top, name, false, err) != 0)
			return err->code;
		*removed = true;
	}
	return errno ? fm_err_sys(err, errno, "cannot read directory") : 0;
}

int txn_tree_remove(struct txn *t, int dirfd, const char *name, uint64_t end,
		    struct fm_err *err)
{
	FM_AUTOFD int fd = -1;
	char stays[NAME_MAX + 1] = "";
	bool removed = false, is_shard;
	uint64_t k;

	if (!txn_exists(dirfd, name))
		return 0;
	if (txn_open_dir(dirfd, name, &fd, err) != 0)
		return err->code;
	is_shard = fm_num_parse(name, &k);
	do {
		if (remove_pass(t, fd, is_shard, end, &removed, stays, err))
			return fm_err_prefix(err, "%s: ", name);
		// The mark goes last: without it a stage is not known as ours.
		if (!stays[0] && txn_unlink(fd, TXN_BUILT, false, err) != 0)
			return err->code;
		if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return fm_err_sys(err, errno,
					  "cannot remove directory %s", name);
	} while (removed);
	return fm_err_set(err, FM_E_CHANGED,
			  "%s holds %s, which is not ours to remove", name,
			  stays[0] ? stays : "another file");
}

// Memory and loops follow the bound: it must not be far above what is there.
// (Others may commit between the count and now.)
int txn_check_bound(const struct txn *t, uint64_t highest, struct fm_err *err)
{
	for (size_t i = 0; i < t->plan->n_trees; i++) {
		const struct txn_tree *tree = &t->trees[i];
		uint64_t packed = tree->plan->from_packed;

		// With nothing loose, the bound is one below what is packed.
		if (highest == UINT64_MAX || highest + 1 < packed ||
		    (highest + 1 - packed) / 2 > tree->count + BOUND_SLACK)
			return fm_err_set(err, FM_E_FORMAT,
					  "%s says %" PRIu64 ", but %s has "
					  "only %" PRIu64 " files",
					  t->plan->bound, highest,
					  tree->plan->name, tree->count);
	}
	return 0;
}

int txn_read_bound(struct txn *t, uint64_t *highest, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	const char *p;
	char digits[24];
	size_t n = 0;
	int rc = txn_read_small(t->plan->root, t->plan->bound, &b, err);

	p = fm_buf_text(&b);
	while (rc == 0 && n < sizeof(digits) - 1 && p[n] >= '0' &&
	       p[n] <= '9') {
		digits[n] = p[n];
		n++;
	}
	digits[n] = '\0';
	if (rc == 0 && !fm_num_parse(digits, highest))
		rc = fm_err_set(err, FM_E_FORMAT,
				"%s does not begin with a number",
				t->plan->bound);
	fm_buf_release(&b);
	return rc ? rc : txn_check_bound(t, *highest, err);
}
