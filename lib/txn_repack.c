// SPDX-License-Identifier: GPL-2.0-or-later
// Packs of one size out of those of another, one at a time.
//
// Under the guard the old directories lie in TXN_STAGE, and the new ones grow
// in the tree, upward. An old pack goes as soon as new directories hold all of
// its numbers and are synced, so that no more than one is there twice. At any
// instant, with P = from_packed,
//
//	the tree  holds the new units of [0, E)       E: their common end
//	the stage holds the old packs of [X, P)       X <= E
//
// and both ends are seen from the directories alone: a crash needs no record.
// The way back is the mirror: old packs are made from the new units, downward,
// and a new unit goes when old packs hold all of its numbers.
//
// Between the last whole new pack and P there may be a rest: it becomes a part
// of one loose shard, which numbers that never were packed join later.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/txn_impl.h"

#include <inttypes.h>

struct repack {
	struct txn *t;
	struct txn_tree *tree;
	const struct fm_plan_tree *p;
};

static void old_name(const struct repack *r, uint64_t first,
		     char name[TXN_UNIT_NAME])
{
	txn_unit_name(r->t->plan, r->p->from, first, true, name);
}

static void new_name(const struct repack *r, uint64_t first,
		     char name[TXN_UNIT_NAME])
{
	txn_unit_name(r->t->plan, r->p->to, first, first < r->p->to_packed,
		      name);
}

static struct fm_plan_unit unit_of(const struct repack *r, bool is_back,
				   uint64_t first, uint64_t end)
{
	struct fm_plan_shape was = {r->p->from, r->p->from_packed};
	struct fm_plan_shape becomes = {r->p->to, r->p->to_packed};

	return (struct fm_plan_unit){
		.tree = (size_t)(r->tree - r->t->trees),
		.source = is_back ? r->tree->live : r->tree->staged,
		.is = is_back ? becomes : was,
		.becomes = is_back ? was : becomes,
		.first = first < r->p->n_loose ? r->p->n_loose : first,
		.end = end};
}

static int make(struct repack *r, bool is_back, uint64_t first, uint64_t end,
		const char *name, struct fm_err *err)
{
	struct fm_plan_unit u = unit_of(r, is_back, first, end);
	struct txn_tree *tree = r->tree;
	int rc;

	if (!is_back && fm_cancel_check(err) != 0)
		return err->code;
	rc = txn_unit_make(r->t, tree, &u, name, tree->live, err);
	if (rc == 0)
		rc = txn_unit_place(tree, is_back ? tree->staged : tree->live,
				    name, err);
	r->t->result->moved += end - first;
	fm_progress_step(r->t->opts->progress, r->t->result->moved);
	return rc;
}

// Old packs from *next on that end at or before `end`: what was made of them
// is to last first.
static int drop_old(struct repack *r, uint64_t *next, uint64_t end,
		    struct fm_err *err)
{
	char name[TXN_UNIT_NAME];
	int rc = 0;

	if (*next < r->p->from_packed && *next + r->p->from <= end)
		rc = txn_sync_dir(r->tree->live, r->p->name, err);
	while (rc == 0 && *next < r->p->from_packed &&
	       *next + r->p->from <= end) {
		old_name(r, *next, name);
		rc = txn_unit_drop(r->tree, r->tree->staged, name, err);
		*next += r->p->from;
	}
	return rc;
}

int txn_repack(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct repack r = {t, tree, tree->plan};
	uint64_t last = r.p->to_packed, next = 0;
	int rc = txn_remove_all(tree->live, TXN_UNIT, err);

	if (last < r.p->from_packed)
		last = r.p->from_packed;
	for (uint64_t first = 0; first < last && rc == 0;) {
		uint64_t end = first < r.p->to_packed ? first + r.p->to : last;
		char name[TXN_UNIT_NAME];

		new_name(&r, first, name);
		if (!txn_exists(tree->live, name))
			rc = make(&r, false, first, end, name, err);
		if (rc == 0)
			rc = drop_old(&r, &next, end, err);
		first = end;
	}
	return rc ? rc : txn_remove_all(tree->live, TXN_UNIT, err);
}

// Where the new unit begins that ends there.
static uint64_t new_begin(const struct repack *r, uint64_t end)
{
	return end > r->p->to_packed ? r->p->to_packed : end - r->p->to;
}

// New units from the highest down, those that begin at or behind `first`: what
// was made of them is to last first.
static int drop_new(struct repack *r, uint64_t *end, uint64_t first,
		    struct fm_err *err)
{
	char name[TXN_UNIT_NAME];
	int rc = 0;

	if (*end > first && new_begin(r, *end) >= first)
		rc = txn_sync_dir(r->tree->staged, r->p->name, err);
	while (rc == 0 && *end > first && new_begin(r, *end) >= first) {
		*end = new_begin(r, *end);
		new_name(r, *end, name);
		rc = txn_unit_drop(r->tree, r->tree->live, name, err);
	}
	return rc;
}

int txn_repack_back(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct repack r = {t, tree, tree->plan};
	uint64_t end = r.p->to_packed;
	int rc = txn_remove_all(tree->live, TXN_UNIT, err);

	if (end < r.p->from_packed)
		end = r.p->from_packed;
	for (uint64_t at = r.p->from_packed; at > 0 && rc == 0;) {
		uint64_t first = at - r.p->from;
		char name[TXN_UNIT_NAME];

		old_name(&r, first, name);
		if (!txn_exists(tree->staged, name))
			rc = make(&r, true, first, at, name, err);
		if (rc == 0)
			rc = drop_new(&r, &end, first, err);
		at = first;
	}
	if (rc == 0)
		rc = drop_new(&r, &end, 0, err);
	return rc ? rc : txn_remove_all(tree->live, TXN_UNIT, err);
}

int txn_repack_look(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct repack r = {t, tree, tree->plan};
	char name[TXN_UNIT_NAME];

	for (uint64_t at = 0; at < r.p->from_packed; at += r.p->from) {
		old_name(&r, at, name);
		if (!txn_exists(tree->live, name))
			return fm_err_set(err, FM_E_FORMAT, "%s/%s is missing",
					  tree->plan->name, name);
	}
	return 0;
}
