// SPDX-License-Identifier: GPL-2.0-or-later
// Shards that another tool began to fill, or filled without saying so.
//
// A number of such a tree lies in one of these places: flat, in K, in K<suffix>,
// or in K<suffix> of a directory beside the tree. Rename mode from flat to
// shards begins with moving files to TXN_STAGE/K; so all of those go there
// first, and the rest of the work is what it always is, both ways.

#include "lib/autofd.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

static const char *beside_name(struct txn *t, const struct txn_tree *tree)
{
	return fm_arena_printf(&t->arena, "%s%s", tree->plan->name,
			       t->plan->adopts_beside);
}

// -1 in *fd: there is none.
static int open_beside(struct txn *t, const struct txn_tree *tree, int *fd,
		       struct fm_err *err)
{
	const char *name = beside_name(t, tree);

	*fd = -1;
	if (!txn_exists(t->plan->root, name))
		return 0;
	return txn_open_dir(t->plan->root, name, fd, err);
}

/* -- before -- */

struct sum {
	struct txn_tree *tree;
	int top;
};

static int add_file(void *ctx, const struct fm_num_entry *e, struct fm_err *err)
{
	struct txn_tree *tree = ctx;

	(void)err;
	tree->count += e->is_number && e->type == DT_REG;
	return 0;
}

// K of the tree itself is counted with what is flat.
static int add_shard(void *ctx, const char *name, uint64_t k,
		     struct fm_err *err)
{
	struct sum *s = ctx;
	FM_AUTOFD int dir = -1;

	if (s->top == s->tree->live && fm_num_parse(name, &k))
		return 0;
	if (txn_open_dir(s->top, name, &dir, err) != 0)
		return err->code;
	return fm_num_walk(dir, add_file, s->tree, err);
}

int txn_adopt_count(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct sum s = {tree, tree->live};
	FM_AUTOFD int beside = -1;
	size_t count;
	int rc;

	if (!t->plan->adopts)
		return 0;
	rc = open_beside(t, tree, &beside, err);
	if (rc == 0)
		rc = fm_num_shards(s.top, t->plan->adopts, add_shard, &s,
				   &count, err);
	s.top = beside;
	if (rc == 0 && beside >= 0)
		rc = fm_num_shards(s.top, t->plan->adopts, add_shard, &s,
				   &count, err);
	return rc;
}

struct look {
	struct txn *t;
	struct txn_tree *tree;
	int top;
	bool is_flat;
	uint64_t k; /* of the shard that is read */
};

static int note(void *ctx, const struct fm_num_entry *e, struct fm_err *err)
{
	struct look *l = ctx;
	const char *junk = l->t->plan->junk;
	uint64_t *ino;

	if (e->is_in_shard || (l->is_flat && e->type == DT_DIR) ||
	    (junk && strncmp(e->name, junk, strlen(junk)) == 0))
		return 0;
	if (!e->is_number || e->type != DT_REG ||
	    (!l->is_flat && e->number / l->tree->plan->to != l->k))
		return fm_err_set(err, FM_E_FORMAT,
				  "%s does not belong where it lies", e->name);
	if (e->number > l->t->highest)
		return 0;
	ino = &l->tree->ino[e->number];
	if (*ino && *ino != e->ino)
		return fm_err_set(err, FM_E_FORMAT, "%s lies in two places",
				  e->name);
	*ino = e->ino;
	return 0;
}

static int look_one(void *ctx, const char *name, uint64_t k, struct fm_err *err)
{
	struct look *l = ctx;
	FM_AUTOFD int dir = -1;

	l->k = k;
	if (txn_open_dir(l->top, name, &dir, err) != 0)
		return err->code;
	if (fm_num_walk(dir, note, l, err) != 0)
		return fm_err_prefix(err, "%s/", name);
	return 0;
}

// Beside the tree: it is removed in the end, with nothing in it.
static int shards_alone(void *ctx, const struct fm_num_entry *e,
			struct fm_err *err)
{
	const struct look *l = ctx;
	uint64_t k;

	if (e->is_in_shard ||
	    (e->type == DT_DIR &&
	     (e->is_number ||
	      fm_num_parse_with(e->name, l->t->plan->adopts, &k))))
		return 0;
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s is part of no layout: move it elsewhere first",
			  e->name);
}

static int look_top(struct look *l, int top, const char *name,
		    struct fm_err *err)
{
	bool is_tree = top == l->tree->live;
	size_t count;
	int rc;

	l->top = top;
	l->is_flat = true;
	rc = fm_num_walk(top, is_tree ? note : shards_alone, l, err);
	l->is_flat = false;
	if (rc == 0)
		rc = fm_num_shards(top, l->t->plan->adopts, look_one, l, &count,
				   err);
	return rc ? fm_err_prefix(err, "%s/", name) : 0;
}

int txn_adopt_look(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct look l = {.t = t, .tree = tree};
	uint64_t n = t->highest + 1;
	FM_AUTOFD int beside = -1;
	int rc = open_beside(t, tree, &beside, err);

	tree->ino = fm_alloc_array(n, sizeof(uint64_t));
	memset(tree->ino, 0, n * sizeof(uint64_t));
	if (rc == 0)
		rc = look_top(&l, tree->live, tree->plan->name, err);
	if (rc == 0 && beside >= 0)
		rc = look_top(&l, beside, beside_name(t, tree), err);
	for (uint64_t i = 0; i < n && rc == 0; i++)
		if (tree->ino[i] == 0)
			rc = fm_err_set(err, FM_E_FORMAT,
					"%s/%" PRIu64 " is missing",
					tree->plan->name, i);
	return rc;
}

/* -- taking over -- */

struct adopt {
	struct txn_tree *tree;
	int top; /* where the shards lie */
};

struct merge {
	int to;
	size_t count;
};

static int merge_one(void *ctx, const struct fm_num_entry *e,
		     struct fm_err *err)
{
	struct merge *m = ctx;
	int sys = 0;

	m->count++;
	if (txn_rename_new(e->dirfd, e->name, m->to, e->name, &sys) == 0)
		return 0;
	return fm_err_sys(err, sys, "cannot move %s", e->name);
}

// Into a shard that is there already: K and K<suffix>, or a crash before.
static int merge(int from, int to, const char *name, struct fm_err *err)
{
	struct merge m = {.to = to};
	int rc = 0;

	do {
		m.count = 0;
		rc = fm_num_walk(from, merge_one, &m, err);
	} while (rc == 0 && m.count > 0);
	return rc ? rc : txn_sync_dir(to, name, err);
}

static int adopt_one(void *ctx, const char *name, uint64_t k,
		     struct fm_err *err)
{
	struct adopt *a = ctx;
	FM_AUTOFD int from = -1, to = -1;
	char target[FM_NUM_PATH];
	int rc, sys = 0;

	fm_num_path(0, k, target);
	if (txn_rename_new(a->top, name, a->tree->staged, target, &sys) == 0)
		return 0;
	if (sys != EEXIST && sys != ENOTEMPTY)
		return fm_err_sys(err, sys, "cannot move directory %s", name);
	rc = txn_open_dir(a->top, name, &from, err);
	if (rc == 0)
		rc = txn_open_dir(a->tree->staged, target, &to, err);
	if (rc == 0)
		rc = merge(from, to, target, err);
	if (rc != 0)
		return fm_err_prefix(err, "%s: ", name);
	return txn_rmdir(a->top, name, true, err);
}

static int adopt_top(struct txn *t, struct txn_tree *tree, int top,
		     const char *name, struct fm_err *err)
{
	struct adopt a = {tree, top};
	int rc = fm_num_shards_until_none(top, t->plan->adopts, adopt_one, &a,
					  err);

	if (rc == 0)
		rc = txn_sync_dir(tree->staged, tree->plan->name, err);
	return rc ? rc : txn_sync_dir(top, name, err);
}

int txn_adopt(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	FM_AUTOFD int beside = -1;
	int rc;

	if (!t->plan->adopts)
		return 0;
	rc = open_beside(t, tree, &beside, err);
	if (rc == 0)
		rc = adopt_top(t, tree, tree->live, tree->plan->name, err);
	if (rc == 0 && beside >= 0) {
		const char *name = beside_name(t, tree);

		rc = adopt_top(t, tree, beside, name, err);
		if (rc == 0)
			rc = txn_rmdir(t->plan->root, name, true, err);
		if (rc == 0)
			rc = txn_sync_dir(t->plan->root, t->plan->root_path,
					  err);
	}
	return rc;
}
