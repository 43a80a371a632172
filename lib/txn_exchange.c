// SPDX-License-Identifier: GPL-2.0-or-later
// Link mode, second half: exchange the trees, take that back, clean up.
//
// Which of two directories is the new one is told by the mark inside it
// (TXN_BUILT), so a crash between two exchanges, or a copy of the whole
// target made in that state, is read correctly.

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int mark_in(int dirfd, const char *name, bool *is_marked,
		   struct fm_err *err)
{
	FM_AUTOFD int fd = openat(
		dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*is_marked = false;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot open directory %s", name);
	*is_marked = txn_exists(fd, TXN_BUILT);
	return 0;
}

int txn_link_settle(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		rc = txn_settle_exchange(tree->parent, tree->base, tree->stage,
					 err);
		if (rc == 0)
			rc = mark_in(tree->parent, tree->base,
				     &tree->is_exchanged, err);
	}
	return rc;
}

int txn_link_exchange(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		if (!tree->is_exchanged)
			rc = txn_exchange(tree->parent, tree->base, tree->stage,
					  err);
		if (rc == 0) {
			tree->is_exchanged = true;
			rc = txn_sync_dir(tree->parent, tree->plan->name, err);
		}
	}
	return rc;
}

int txn_link_exchange_back(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		if (!tree->is_exchanged)
			continue;
		rc = txn_exchange(tree->parent, tree->base, tree->stage, err);
		if (rc == 0) {
			tree->is_exchanged = false;
			rc = txn_sync_dir(tree->parent, tree->plan->name, err);
		}
	}
	return rc;
}

// A stage is removed only when it carries the mark, or is empty: then the
// crash came between making the directory and marking it.
int txn_link_remove_stage(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];
		bool is_marked;

		rc = mark_in(tree->parent, tree->stage, &is_marked, err);
		if (rc == 0 && is_marked)
			rc = txn_tree_remove(t, tree->parent, tree->stage,
					     UINT64_MAX, err);
		else if (rc == 0)
			rc = txn_rmdir(tree->parent, tree->stage, false, err);
		if (rc == 0)
			rc = txn_sync_dir(tree->parent, tree->plan->name, err);
	}
	return rc;
}

// A writer that held the old shape across the switch (Subversion 1.8 and
// older never look again) may have put a number where the old shape has it.
static int place_number(struct txn *t, struct txn_tree *tree, uint64_t n,
			struct fm_err *err)
{
	struct txn_dirs to = {tree->live, tree->plan->to, 0, -1};
	char wrong[FM_NUM_PATH], name[FM_NUM_PATH];
	int target, rc;

	fm_num_path(tree->plan->from, n, wrong);
	fm_num_path(0, n, name);
	rc = txn_dir_of(&to, n, true, &target, err);
	if (rc == 0 && !txn_exists(target, name)) {
		struct stat st;

		if (fstatat(tree->live, wrong, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode)) {
			rc = txn_rename(tree->live, wrong, target, name, err);
			if (rc == 0)
				rc = txn_sync_dir(target, name, err);
			t->result->misplaced++;
		}
	}
	txn_dirs_close(&to);
	return rc;
}

// With `waits` for a writer who is at work just now, and has not said so yet.
// Numbers are written under the innermost lock. The others are left alone:
// who packs may hold those for hours, and had to read the new shape first.
int txn_sweep(struct txn *t, bool waits, struct fm_err *err)
{
	uint64_t since = t->highest, now = 0;
	int rc = txn_read_bound(t, &now, err);

	if (rc != 0 || (now <= since && !waits))
		return rc;
	rc = txn_lock_inner(t, err);
	// Whoever holds it that long is no writer of one number.
	if (rc == FM_E_BUSY && now <= since)
		return 0;
	if (rc == 0)
		rc = txn_read_bound(t, &now, err);
	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		for (uint64_t n = since + 1; n <= now && rc == 0; n++)
			rc = place_number(t, &t->trees[i], n, err);
		if (rc == 0)
			rc = txn_sync_dir(t->trees[i].live,
					  t->trees[i].plan->name, err);
	}
	txn_unlock_all(t);
	return rc;
}

static int reopen_live(struct txn_tree *tree, struct fm_err *err)
{
	fm_close_fd(&tree->live);
	fm_close_fd(&tree->staged);
	tree->live = openat(tree->parent, tree->base,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree->live < 0)
		return fm_err_sys(err, errno, "cannot open directory %s",
				  tree->base);
	return 0;
}

int txn_link_reopen(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++)
		rc = reopen_live(&t->trees[i], err);
	return rc;
}

struct carried {
	struct txn_tree *tree;
	uint64_t highest;
};

// In the old tree a number above the highest may go only if the new tree has
// that very file: it was carried over, or put in place by the sweep.
static int drop_carried(void *ctx, const struct fm_num_entry *e,
			struct fm_err *err)
{
	const struct carried *c = ctx;
	char path[FM_NUM_PATH];
	struct stat now, then;

	if (!e->is_number || e->type != DT_REG || e->number <= c->highest)
		return 0;
	fm_num_path(c->tree->plan->to, e->number, path);
	if (fstatat(e->dirfd, e->name, &then, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstatat(c->tree->live, path, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_ino == then.st_ino && now.st_dev == then.st_dev)
		return txn_unlink(e->dirfd, e->name, true, err);
	return 0;
}

static int remove_old(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct carried c = {tree, t->highest};
	FM_AUTOFD int old =
		openat(tree->parent, tree->stage,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (old < 0)
		return errno == ENOENT ? 0
				       : fm_err_sys(err, errno,
						    "cannot open directory %s",
						    tree->stage);
	if (fm_num_walk(old, drop_carried, &c, err) != 0)
		return err->code;
	return txn_tree_remove(t, tree->parent, tree->stage, t->highest + 1,
			       err);
}

int txn_link_clean(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	fm_progress_phase(t->opts->progress, "removing the old layout", 0);
	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		rc = remove_old(t, tree, err);
		if (rc == 0)
			rc = txn_unlink(tree->live, TXN_BUILT, false, err);
		if (rc == 0)
			rc = txn_sync_dir(tree->live, tree->plan->name, err);
		if (rc == 0)
			rc = txn_sync_dir(tree->parent, tree->plan->name, err);
	}
	return rc;
}
