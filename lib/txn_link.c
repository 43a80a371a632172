// SPDX-License-Identifier: GPL-2.0-or-later
// Link mode: build the new trees of hard links beside the live ones while
// others go on reading and writing; under the locks catch up and exchange.
//
// What makes it safe (fsfs-format.md 14.4): files are only ever added above
// the bound or replaced by rename, never written into. A replaced file is
// seen by its inode number: the link in the stage keeps the old inode alive,
// so its number cannot come back for another file. Numbers above the bound
// are never linked: the next commit truncates such a file in place.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

enum { FEW = 32, MAX_ROUNDS = 8 };
static const double retry_seconds = 5.0;

static bool is_mount_root(int parent, const char *name, int fd)
{
	struct statx stx;
	struct stat up, here;

	if (statx(parent, name, AT_SYMLINK_NOFOLLOW, STATX_INO, &stx) == 0 &&
	    (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	return fstat(parent, &up) == 0 && fstat(fd, &here) == 0 &&
	       up.st_dev != here.st_dev;
}

static int refuse_links(const char *name, int sys, struct fm_err *err)
{
	fm_err_sys(err, sys, "cannot make a hard link of %s", name);
	switch (sys) {
	case EPERM:
	case EXDEV:
	case EMLINK:
	case EOPNOTSUPP:
	case ENOSYS:
		// Links are what is refused, not room or luck.
		return fm_err_append(err, ": use --mode=rename");
	default: return err->code;
	}
}

static bool same_file(int adir, const char *a, int bdir, const char *b)
{
	struct stat x, y;

	return fstatat(adir, a, &x, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(bdir, b, &y, AT_SYMLINK_NOFOLLOW) == 0 &&
	       x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

// Links n into the stage. A file being replaced by rename is absent for an
// instant on some file systems (1 in 4,000 edits): that is waited out.
static int link_one(struct txn_dirs *from, struct txn_dirs *to, uint64_t n,
		    struct fm_err *err)
{
	char name[FM_NUM_PATH];
	double deadline = 0;
	int source, target;

	fm_num_path(0, n, name);
	if (txn_dir_of(from, n, false, &source, err) != 0 ||
	    txn_dir_of(to, n, true, &target, err) != 0)
		return err->code;
	while (linkat(source, name, target, name, 0) != 0) {
		if (errno == EEXIST) {
			if (same_file(source, name, target, name))
				return 0;
			if (txn_unlink(target, name, false, err) != 0)
				return err->code;
			continue;
		}
		if (errno != ENOENT)
			return refuse_links(name, errno, err);
		if (deadline == 0)
			deadline = txn_now() + retry_seconds;
		if (txn_now() > deadline || fm_cancelled())
			return fm_err_set(err, FM_E_CHANGED,
					  "%s has gone while linking", name);
		(void)sched_yield();
	}
	return 0;
}

static int link_range(struct txn *t, struct txn_tree *tree, uint64_t end,
		      struct fm_err *err)
{
	struct txn_dirs from = {tree->live, tree->plan->from, 0, -1};
	struct txn_dirs to = {tree->staged, tree->plan->to, 0, -1};
	int rc = 0;

	for (uint64_t n = tree->n; n < end && rc == 0; n++) {
		rc = fm_cancel_check(err);
		if (rc == 0)
			rc = link_one(&from, &to, n, err);
		if (rc == 0) {
			tree->n = n + 1;
			t->result->moved++;
			fm_progress_step(t->opts->progress, t->result->moved);
		}
	}
	txn_dirs_close(&from);
	txn_dirs_close(&to);
	if (rc != 0)
		fm_err_prefix(err, "%s: ", tree->plan->name);
	return rc;
}

static void want_inodes(struct txn_tree *tree, uint64_t end)
{
	if (tree->cap >= end)
		return;
	// Some room for what is committed meanwhile.
	tree->ino = fm_realloc_array(tree->ino, end + 4096, sizeof(uint64_t));
	tree->cap = end + 4096;
}

static int missing(const struct txn_tree *tree, uint64_t n, const char *where,
		   struct fm_err *err)
{
	return fm_err_set(err, FM_E_CHANGED,
			  "%s/%" PRIu64 " is not in the %s tree",
			  tree->plan->name, n, where);
}

// Links one number again that was replaced since the stage was built.
static int refresh(struct txn *t, struct txn_dirs *from, struct txn_dirs *to,
		   uint64_t n, struct fm_err *err)
{
	char name[FM_NUM_PATH];
	int target;

	fm_num_path(0, n, name);
	if (txn_dir_of(to, n, true, &target, err) != 0 ||
	    txn_unlink(target, name, false, err) != 0 ||
	    link_one(from, to, n, err) != 0)
		return err->code;
	t->result->refreshed++;
	t->result->compared++;
	return 0;
}

static int check_replaced(const struct txn_tree *tree, uint64_t n, bool is_gone,
			  struct fm_err *err)
{
	if (is_gone && !tree->plan->is_mutable)
		return missing(tree, n, "live", err);
	if (!tree->plan->is_mutable)
		return fm_err_set(err, FM_E_CHANGED,
				  "%s/%" PRIu64 " was replaced while linking",
				  tree->plan->name, n);
	return 0;
}

// Proof: every number of the stage is the very file of the live tree. What
// differs in a mutable tree was edited meanwhile and is linked again.
static int compare(struct txn *t, struct txn_tree *tree, uint64_t end,
		   struct fm_err *err)
{
	struct txn_dirs from = {tree->live, tree->plan->from, 0, -1};
	struct txn_dirs to = {tree->staged, tree->plan->to, 0, -1};
	uint64_t *live = fm_alloc_array(end, sizeof(*live));
	uint64_t refreshed = t->result->refreshed;
	int rc = txn_tree_inodes(tree->live, tree->plan->from, 0, live, end,
				 err);

	for (uint64_t n = 0; n < end && rc == 0; n++) {
		if (live[n] == tree->ino[n] && live[n] != 0) {
			t->result->compared++;
			continue;
		}
		rc = check_replaced(tree, n, live[n] == 0, err);
		if (rc == 0)
			rc = refresh(t, &from, &to, n, err);
	}
	fm_free(live);
	txn_dirs_close(&from);
	txn_dirs_close(&to);
	if (rc == 0 && t->result->refreshed != refreshed)
		rc = txn_tree_sync(tree->staged, tree->stage, err);
	return rc;
}

// Numbers above the highest, under the locks: nobody's yet (an interrupted
// commit left them). They come along, so that nothing is lost.
struct rest {
	struct txn_dirs from, to;
	uint64_t highest, linked;
};

static int link_rest(void *ctx, const struct fm_num_entry *e,
		     struct fm_err *err)
{
	struct rest *r = ctx;

	if (!e->is_number || e->type != DT_REG || e->number <= r->highest ||
	    e->is_in_shard != (r->from.shard != 0))
		return 0;
	r->linked++;
	return link_one(&r->from, &r->to, e->number, err);
}

static int carry_rest(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct rest r = {.from = {tree->live, tree->plan->from, 0, -1},
			 .to = {tree->staged, tree->plan->to, 0, -1},
			 .highest = t->highest};
	int rc = fm_num_walk(tree->live, link_rest, &r, err);

	txn_dirs_close(&r.from);
	txn_dirs_close(&r.to);
	if (rc == 0 && r.linked)
		rc = txn_tree_sync(tree->staged, tree->stage, err);
	return rc;
}

// Makes or finds the stage of one tree. Its marker tells the new tree from
// the old one whatever their names are at the time.
static int open_stage(struct txn_tree *tree, struct fm_err *err)
{
	FM_AUTOFD int marker = -1;

	if (txn_mkdir_like(tree->parent, tree->stage, tree->live, err) != 0)
		return err->code;
	tree->staged = openat(tree->parent, tree->stage,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree->staged < 0)
		return fm_err_sys(err, errno, "cannot open directory %s",
				  tree->stage);
	marker = openat(tree->staged, TXN_BUILT,
			O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (marker < 0)
		return fm_err_sys(err, errno, "cannot create %s/" TXN_BUILT,
				  tree->stage);
	return 0;
}

static int refuse_mount(struct txn_tree *tree, struct fm_err *err)
{
	if (!is_mount_root(tree->parent, tree->base, tree->live))
		return 0;
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s is a mount point, which cannot be exchanged: "
			  "use --mode=rename",
			  tree->plan->name);
}

static int build_tree(struct txn *t, struct txn_tree *tree, uint64_t end,
		      struct fm_err *err)
{
	int rc = link_range(t, tree, end, err);

	if (rc != 0)
		return rc;
	rc = txn_tree_sync(tree->staged, tree->stage, err);
	if (rc == 0)
		rc = txn_sync_dir(tree->parent, tree->plan->name, err);
	return rc;
}

// The stage's own inodes, and for immutable trees the proof at once: it needs
// no lock. A mutable tree is compared under the locks.
static int prove_tree(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	int rc;

	want_inodes(tree, tree->n);
	rc = txn_tree_inodes(tree->staged, tree->plan->to, 0, tree->ino,
			     tree->n, err);
	for (uint64_t n = 0; rc == 0 && n < tree->n; n++)
		if (tree->ino[n] == 0)
			rc = missing(tree, n, "new", err);
	if (rc == 0 && !tree->plan->is_mutable)
		rc = compare(t, tree, tree->n, err);
	if (rc == 0)
		tree->proved = tree->n;
	return rc;
}

int txn_link_build(struct txn *t, struct fm_err *err)
{
	uint64_t highest = 0;
	int rc = txn_read_bound(t, &highest, err);

	fm_progress_phase(t->opts->progress, "linking",
			  (highest + 1) * t->plan->n_trees);
	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		if (t->trees[i].is_exchanged)
			continue;
		rc = refuse_mount(&t->trees[i], err);
		if (rc == 0)
			rc = open_stage(&t->trees[i], err);
		if (rc == 0)
			rc = build_tree(t, &t->trees[i], highest + 1, err);
		if (rc == 0)
			rc = prove_tree(t, &t->trees[i], err);
	}
	// What was committed meanwhile: until little is left for the locks.
	for (int round = 0; rc == 0 && round < MAX_ROUNDS; round++) {
		uint64_t now = 0;

		rc = txn_read_bound(t, &now, err);
		if (rc != 0 || now - highest < FEW)
			break;
		highest = now;
		for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++)
			if (!t->trees[i].is_exchanged)
				rc = build_tree(t, &t->trees[i], highest + 1,
						err);
	}
	return rc;
}

// The tail that came since, under the locks: link it, then prove it by stat.
static int catch_up_tail(struct txn *t, struct txn_tree *tree,
			 struct fm_err *err)
{
	struct txn_dirs to = {tree->staged, tree->plan->to, 0, -1};
	struct txn_dirs from = {tree->live, tree->plan->from, 0, -1};
	int rc = link_range(t, tree, t->highest + 1, err);
	bool grew = tree->proved <= t->highest;

	want_inodes(tree, t->highest + 1);
	for (uint64_t n = tree->proved; rc == 0 && n <= t->highest; n++) {
		char name[FM_NUM_PATH];
		struct stat st;
		int a, b;

		fm_num_path(0, n, name);
		rc = txn_dir_of(&to, n, false, &a, err);
		if (rc == 0)
			rc = txn_dir_of(&from, n, false, &b, err);
		if (rc != 0)
			break;
		if (fstatat(a, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			rc = missing(tree, n, "new", err);
		else if (!tree->plan->is_mutable &&
			 !same_file(a, name, b, name))
			rc = missing(tree, n, "live", err);
		else
			tree->ino[n] = st.st_ino;
		if (rc == 0 && !tree->plan->is_mutable)
			t->result->compared++;
		// Sync each directory once, when its last number is in.
		if (rc == 0 &&
		    (n == t->highest ||
		     (tree->plan->to && (n + 1) % tree->plan->to == 0)))
			rc = txn_sync_dir(a, name, err);
	}
	txn_dirs_close(&to);
	txn_dirs_close(&from);
	if (rc == 0 && grew) {
		tree->proved = t->highest + 1;
		rc = txn_sync_dir(tree->staged, tree->stage, err);
	}
	return rc;
}

int txn_link_catch_up(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		if (tree->is_exchanged)
			continue;
		rc = catch_up_tail(t, tree, err);
		if (rc == 0 && tree->plan->is_mutable)
			rc = compare(t, tree, t->highest + 1, err);
		if (rc == 0)
			rc = carry_rest(t, tree, err);
	}
	return rc;
}
