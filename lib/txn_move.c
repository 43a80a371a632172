// SPDX-License-Identifier: GPL-2.0-or-later
// Rename mode: every file is moved, under the guard and all locks.
//
// Flat and sharded names clash (flat "3" is a file, sharded "3" a directory),
// so shards pass through TXN_STAGE, a directory inside the tree itself: the
// tree may be a mount point. Two moves, both idempotent, both reversible:
//
//	shift   whole shard directories between the tree and the stage
//	files   single files between two shapes
//
//	from flat:     files (tree -> stage/K/N), then shift (stage/K -> tree/K)
//	from sharded:  shift (tree/K -> stage/K), then files (stage/K/N -> tree)
//
// A file is under exactly one of its two names at any time. The journal says
// which of the two moves is over; within a move the directories tell. Packs
// are shifted with the shards, and made anew in between: txn_repack.c.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

static int open_stage(struct txn_tree *tree, bool make, struct fm_err *err)
{
	if (tree->staged >= 0)
		return 0;
	if (make && txn_mkdir_like(tree->live, TXN_STAGE, tree->live, err) != 0)
		return err->code;
	tree->staged = openat(tree->live, TXN_STAGE,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tree->staged < 0 && (make || errno != ENOENT))
		return fm_err_sys(err, errno,
				  "cannot open directory " TXN_STAGE);
	return 0;
}

// Both names there: a rename that a power cut doubled, or two files.
static int settle_double(int adir, int bdir, const char *name,
			 struct fm_err *err)
{
	struct stat a, b;

	if (fstatat(adir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstatat(bdir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	    a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		return txn_unlink(adir, name, true, err);
	return fm_err_set(err, FM_E_CHANGED,
			  "%s exists in the old and in the new place", name);
}

// On the way back a number that is in neither place was never there: that must
// not keep the rest from going home.
static int move_one(struct txn_dirs *from, struct txn_dirs *to, uint64_t n,
		    bool is_back, struct fm_err *err)
{
	char name[FM_NUM_PATH];
	int source, target, sys = 0;

	fm_num_path(0, n, name);
	if (txn_dir_of(to, n, true, &target, err) != 0)
		return err->code;
	if (txn_dir_of(from, n, false, &source, err) != 0) {
		// Its shard was emptied and removed before a crash.
		return is_back || txn_exists(target, name) ? 0 : err->code;
	}
	if (txn_rename_new(source, name, target, name, &sys) == 0)
		return 0;
	if (sys == ENOENT && (is_back || txn_exists(target, name)))
		return 0;
	if (sys == EEXIST)
		return settle_double(source, target, name, err);
	return fm_err_sys(err, sys, "cannot move %s", name);
}

// Numbers above the highest belong to nobody yet (an interrupted commit left
// them); they move along, so that nothing is lost and nothing stays behind.
struct rest {
	struct txn_dirs *from, *to;
	uint64_t highest, moved;
};

// Numbers [n_loose, this) are, or will be, in packs: units hold them.
static uint64_t end_of_units(const struct fm_plan_tree *p)
{
	return fm_max_u64(p->from_packed, p->to_packed);
}

static int move_rest(void *ctx, const struct fm_num_entry *e,
		     struct fm_err *err)
{
	struct rest *r = ctx;

	if (!e->is_number || e->type != DT_REG || e->number <= r->highest ||
	    e->is_in_shard != (r->from->shard != 0))
		return 0;
	r->moved++;
	return move_one(r->from, r->to, e->number, true, err);
}

static int move_files(struct txn *t, struct txn_dirs from, struct txn_dirs to,
		      const struct fm_plan_tree *p, bool may_stop,
		      struct fm_err *err)
{
	struct rest rest = {.from = &from, .to = &to, .highest = t->highest};
	int rc = 0;

	for (uint64_t n = 0; n <= t->highest && rc == 0; n++) {
		if (n >= p->n_loose && n < end_of_units(p))
			n = end_of_units(p);
		if (n > t->highest)
			break;
		rc = may_stop ? fm_cancel_check(err) : 0;
		if (rc == 0)
			rc = move_one(&from, &to, n, !may_stop, err);
		t->result->moved++;
		fm_progress_step(t->opts->progress, t->result->moved);
	}
	// Some file systems skip entries while others go: until none is left.
	do {
		rest.moved = 0;
		if (rc == 0)
			rc = fm_num_walk(from.top, move_rest, &rest, err);
	} while (rc == 0 && rest.moved);
	txn_dirs_close(&from);
	txn_dirs_close(&to);
	// New places first: never a moment in which a name is in neither.
	if (rc == 0)
		rc = txn_tree_sync(to.top, p->name, err);
	if (rc == 0)
		rc = txn_tree_sync(from.top, p->name, err);
	return rc;
}

struct shift {
	int from, to;
};

static int shift_one(void *ctx, const char *name, uint64_t k,
		     struct fm_err *err)
{
	struct shift *s = ctx;
	int sys = 0;

	(void)k;
	if (txn_rename_new(s->from, name, s->to, name, &sys) == 0)
		return 0;
	return fm_err_sys(err, sys, "cannot move directory %s", name);
}

static int shift_shards(struct txn *t, int from, int to, const char *name,
			struct fm_err *err)
{
	struct shift s = {from, to};
	int rc = fm_num_shards_until_none(from, t->plan->units.suffix,
					  shift_one, &s, err);

	if (rc == 0)
		rc = txn_sync_dir(to, name, err);
	if (rc == 0)
		rc = txn_sync_dir(from, name, err);
	return rc;
}

// Directories of shards that the files have left, but for numbers below `end`,
// which packs hold now. Stale temporary files go with them; anything else keeps
// its directory, and stops us.
struct drop {
	struct txn *t;
	int dir;
	uint64_t end;
};

static int drop_one(void *ctx, const char *name, uint64_t k, struct fm_err *err)
{
	struct drop *d = ctx;

	(void)k;
	return txn_tree_remove(d->t, d->dir, name, d->end, err);
}

static int drop_shards(struct txn *t, int dir, uint64_t end, struct fm_err *err)
{
	struct drop d = {t, dir, end};

	return fm_num_shards_until_none(dir, NULL, drop_one, &d, err);
}

// Phases of one tree: "filed-revs", "shifted-revs" and "moved-revs". An undo
// may be interrupted too, and then resumed or undone: it writes "turned-revs"
// before it takes back anything, so that not all is moved from there on, and
// "back-revs" when it has reached the state before the first phase.
#define TXN_MOVED  "moved"
#define TXN_TURNED "turned"
#define TXN_BACK   "back"

static const char *phase_name(struct txn *t, const char *what,
			      const struct txn_tree *tree)
{
	return fm_arena_printf(&t->arena, "%s-%s", what, tree->plan->name);
}

static int phase_over(struct txn *t, const char *what,
		      const struct txn_tree *tree, struct fm_err *err)
{
	return txn_journal_phase(t, phase_name(t, what, tree), err);
}

static bool was_moved(struct txn *t, const struct txn_tree *tree)
{
	return txn_journal_had(t, phase_name(t, TXN_MOVED, tree),
			       phase_name(t, TXN_TURNED, tree));
}

static bool was_over(struct txn *t, const char *what,
		     const struct txn_tree *tree)
{
	return txn_journal_had(t, phase_name(t, what, tree),
			       phase_name(t, TXN_BACK, tree));
}

// flat -> sharded
static int forward_from_flat(struct txn *t, struct txn_tree *tree,
			     struct fm_err *err)
{
	const struct fm_plan_tree *p = tree->plan;
	struct txn_dirs flat = {tree->live, 0, 0, -1};
	struct txn_dirs stage = {tree->staged, p->to, 0, -1};
	int rc = 0;

	if (!was_over(t, "filed", tree)) {
		rc = txn_adopt(t, tree, err);
		if (rc == 0)
			rc = move_files(t, flat, stage, p, true, err);
		if (rc == 0)
			rc = phase_over(t, "filed", tree, err);
	}
	if (rc == 0)
		rc = shift_shards(t, tree->staged, tree->live, p->name, err);
	return rc;
}

// sharded -> anything
static int forward_from_shards(struct txn *t, struct txn_tree *tree,
			       struct fm_err *err)
{
	const struct fm_plan_tree *p = tree->plan;
	struct txn_dirs stage = {tree->staged, p->from, 0, -1};
	struct txn_dirs live = {tree->live, p->to, 0, -1};
	int rc = 0;

	if (!was_over(t, "shifted", tree)) {
		rc = shift_shards(t, tree->live, tree->staged, p->name, err);
		if (rc == 0)
			rc = phase_over(t, "shifted", tree, err);
	}
	if (rc == 0 && end_of_units(p))
		rc = txn_repack(t, tree, err);
	if (rc == 0)
		rc = move_files(t, stage, live, p, true, err);
	return rc;
}

// Which numbers are moved, as a count of inodes: those behind all units.
static uint64_t n_moved(const struct txn *t, const struct fm_plan_tree *p)
{
	return t->highest + 1 - fm_min_u64(t->highest + 1, end_of_units(p));
}

static int prove(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	uint64_t first = end_of_units(tree->plan), n = n_moved(t, tree->plan);
	uint64_t *now = fm_alloc_array(n, sizeof(*now));
	int rc =
		txn_tree_inodes(tree->live, tree->plan->to, first, now, n, err);

	for (uint64_t i = 0; i < n && rc == 0; i++) {
		// After a crash the inodes from before are not known.
		if (now[i] == 0 || (tree->ino && tree->ino[i] != now[i]))
			rc = fm_err_set(err, FM_E_CHANGED,
					"%s/%" PRIu64
					" is not the file that was moved",
					tree->plan->name, first + i);
		t->result->compared++;
	}
	fm_free(now);
	return rc;
}

// Before the guard: once files move, a number that is missing would be found
// too late.
int txn_move_prepare(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];
		uint64_t first = end_of_units(tree->plan);
		uint64_t n = n_moved(t, tree->plan);

		if (t->plan->adopts) {
			rc = txn_adopt_look(t, tree, err);
			continue;
		}
		tree->ino = fm_alloc_array(n, sizeof(uint64_t));
		rc = txn_tree_inodes(tree->live, tree->plan->from, first,
				     tree->ino, n, err);
		for (uint64_t k = 0; k < n && rc == 0; k++)
			if (tree->ino[k] == 0)
				rc = fm_err_set(err, FM_E_FORMAT,
						"%s/%" PRIu64 " is missing",
						tree->plan->name, first + k);
		if (rc == 0)
			rc = txn_repack_look(t, tree, err);
	}
	return rc;
}

int txn_move_forward(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	fm_progress_phase(t->opts->progress, "moving",
			  (t->highest + 1) * t->plan->n_trees);
	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		if (!was_moved(t, tree)) {
			rc = open_stage(tree, true, err);
			if (rc == 0)
				rc = tree->plan->from
					     ? forward_from_shards(t, tree, err)
					     : forward_from_flat(t, tree, err);
			if (rc == 0)
				rc = phase_over(t, TXN_MOVED, tree, err);
		}
		if (rc == 0)
			rc = prove(t, tree, err);
		if (rc != 0)
			fm_err_prefix(err, "%s: ", tree->plan->name);
	}
	return rc;
}

static int back_one(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	const struct fm_plan_tree *p = tree->plan;
	int rc = open_stage(tree, false, err);

	if (rc != 0 || tree->staged < 0)
		return rc; /* no stage: nothing was moved yet */
	if (was_moved(t, tree))
		rc = phase_over(t, TXN_TURNED, tree, err);
	if (rc != 0)
		return rc;
	if (p->from == 0) {
		struct txn_dirs flat = {tree->live, 0, 0, -1};
		struct txn_dirs stage = {tree->staged, p->to, 0, -1};

		// Shards may stand in the tree only once all were filed.
		if (was_over(t, "filed", tree)) {
			rc = shift_shards(t, tree->live, tree->staged, p->name,
					  err);
			if (rc == 0)
				rc = phase_over(t, TXN_BACK, tree, err);
		} else {
			rc = txn_adopt(t, tree, err);
		}
		if (rc == 0)
			rc = move_files(t, stage, flat, p, false, err);
		if (rc == 0)
			rc = drop_shards(t, tree->staged, 0, err);
	} else {
		struct txn_dirs stage = {tree->staged, p->from, 0, -1};
		struct txn_dirs live = {tree->live, p->to, 0, -1};

		if (was_over(t, "shifted", tree)) {
			rc = move_files(t, live, stage, p, false, err);
			if (rc == 0 && end_of_units(p))
				rc = txn_repack_back(t, tree, err);
			if (rc == 0 && p->to)
				rc = drop_shards(t, tree->live, 0, err);
			if (rc == 0)
				rc = phase_over(t, TXN_BACK, tree, err);
		}
		if (rc == 0)
			rc = shift_shards(t, tree->staged, tree->live, p->name,
					  err);
	}
	if (rc == 0)
		rc = txn_rmdir(tree->live, TXN_STAGE, false, err);
	if (rc == 0)
		rc = txn_sync_dir(tree->live, p->name, err);
	return rc;
}

int txn_move_back(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		rc = back_one(t, &t->trees[i], err);
		if (rc != 0)
			fm_err_prefix(err, "%s: ", t->trees[i].plan->name);
	}
	return rc;
}

int txn_move_clean(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &t->trees[i];

		rc = open_stage(tree, false, err);
		if (rc == 0 && tree->staged >= 0 && tree->plan->from)
			rc = drop_shards(t, tree->staged, tree->plan->to_packed,
					 err);
		if (rc == 0)
			rc = txn_rmdir(tree->live, TXN_STAGE, false, err);
		if (rc == 0)
			rc = txn_sync_dir(tree->live, tree->plan->name, err);
		if (rc != 0)
			fm_err_prefix(err, "%s: ", tree->plan->name);
	}
	return rc;
}
