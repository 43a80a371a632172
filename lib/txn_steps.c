// SPDX-License-Identifier: GPL-2.0-or-later
// Directories replaced one by one, behind a pointer that readers follow.
//
// One step, in the order that keeps every reader right at any instant:
//
//	make     the new directory of each tree in TXN_UNIT, compared, synced
//	place    renamed into the tree (exchanged with one of that name)
//	pointer  written anew: the step is in force
//	drop     the old directory of each tree
//
// Where the target has a lock of its own against others who do the same
// (build_lock), it is held all the time, and the write lock only from the
// first mutable tree to the pointer; otherwise the write lock does both.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct step {
	struct txn *t;
	struct fm_plan *plan;
	uint64_t at, next; /* the pointer before and after */
};

static int read_pointer(const struct fm_plan *plan, uint64_t *value,
			struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	int rc = txn_read_small(plan->root, plan->steps.pointer, &b, err);

	if (rc == 0) {
		if (b.len && b.data[b.len - 1] == '\n')
			b.data[b.len - 1] = '\0';
		if (!fm_num_parse(fm_buf_text(&b), value))
			rc = fm_err_set(err, FM_E_FORMAT,
					"%s does not hold a number",
					plan->steps.pointer);
	}
	fm_buf_release(&b);
	return rc;
}

static int write_pointer(struct step *s, struct fm_err *err)
{
	const struct fm_plan *p = s->plan;
	const char *temp = txn_temp_name(s->t, p->steps.pointer);
	char text[32];
	int n = snprintf(text, sizeof(text), "%" PRIu64 "\n", s->next);
	int rc = txn_unlink(p->root, temp, false, err);

	if (rc == 0)
		rc = txn_write_new(p->root, temp, text, (size_t)n, p->root,
				   p->steps.pointer, err);
	if (rc == 0)
		rc = txn_rename(p->root, temp, p->root, p->steps.pointer, err);
	return rc ? rc : txn_sync_dir(p->root, p->root_path, err);
}

// The unit of a step, and the names of the directory that is made and of the
// one that goes. False: this tree has no packs.
static bool unit_of(const struct step *s, size_t i, struct fm_plan_unit *u,
		    char made[TXN_UNIT_NAME], char gone[TXN_UNIT_NAME])
{
	const struct txn_tree *tree = &s->t->trees[i];
	uint64_t by = s->plan->steps.by, first = fm_min_u64(s->at, s->next);
	bool packs = s->next > s->at;

	if (!tree->plan->has_packs)
		return false;
	*u = (struct fm_plan_unit){.tree = i,
				   .source = tree->live,
				   .is = {by, s->at},
				   .becomes = {by, s->next},
				   .first = first,
				   .end = first + by};
	if (u->first < tree->plan->n_loose)
		u->first = tree->plan->n_loose;
	txn_unit_name(s->plan, by, first, packs, made);
	txn_unit_name(s->plan, by, first, !packs, gone);
	return true;
}

// Mode and owner come from the directory that goes.
static int make(struct step *s, const struct fm_plan_unit *u, const char *made,
		const char *gone, struct fm_err *err)
{
	struct txn_tree *tree = &s->t->trees[u->tree];
	FM_AUTOFD int like = -1;
	int rc = txn_open_dir(tree->live,
			      txn_exists(tree->live, gone) ? gone : ".", &like,
			      err);

	if (rc == 0)
		rc = txn_unit_make(s->t, tree, u, made, like, err);
	if (rc != 0)
		fm_err_prefix(err, "%s: ", tree->plan->name);
	return rc;
}

// Loose numbers live in the directory, which therefore stays: the new ones
// join them, one by one. Nobody reads them there before the pointer moves.
static int join(struct txn_tree *tree, const struct fm_plan_unit *u,
		const char *made, struct fm_err *err)
{
	FM_AUTOFD int unit = -1, from = -1, to = -1;
	int rc = txn_open_dir(tree->live, TXN_UNIT, &unit, err);

	if (rc == 0)
		rc = txn_open_dir(unit, made, &from, err);
	if (rc == 0)
		rc = txn_open_dir(tree->live, made, &to, err);
	for (uint64_t n = u->first; rc == 0 && n < u->end; n++) {
		char name[FM_NUM_PATH];

		fm_num_path(0, n, name);
		rc = txn_rename(from, name, to, name, err);
	}
	return rc ? rc : txn_sync_dir(to, made, err);
}

static int place(struct step *s, const struct fm_plan_unit *u, const char *made,
		 struct fm_err *err)
{
	struct txn_tree *tree = &s->t->trees[u->tree];
	bool is_joined = s->next < s->at && s->next < tree->plan->n_loose;
	int rc = is_joined ? join(tree, u, made, err)
			   : txn_unit_place(tree, tree->live, made, err);

	if (rc == 0)
		rc = txn_sync_dir(tree->live, tree->plan->name, err);
	return rc ? fm_err_prefix(err, "%s: ", tree->plan->name) : 0;
}

// A shard loses its numbers, but for the loose ones; a pack goes whole.
static int drop(struct step *s, size_t i, const char *gone, struct fm_err *err)
{
	struct txn_tree *tree = &s->t->trees[i];
	FM_AUTOFD int dir = -1;
	uint64_t k;
	int rc = 0;

	if (!txn_exists(tree->live, gone))
		return 0;
	if (!fm_num_parse(gone, &k))
		return txn_remove_all(tree->live, gone, err);
	if (k > 0 || tree->plan->n_loose == 0)
		return txn_tree_remove(s->t, tree->live, gone, UINT64_MAX, err);
	rc = txn_open_dir(tree->live, gone, &dir, err);
	for (uint64_t n = tree->plan->n_loose; rc == 0 && n < s->plan->steps.by;
	     n++) {
		char name[FM_NUM_PATH];

		fm_num_path(0, n, name);
		rc = txn_unlink(dir, name, false, err);
	}
	return rc ? rc : txn_sync_dir(dir, gone, err);
}

// What a step has replaced, when it is in force; what it was to make, when
// it is not.
static int drop_all(struct step *s, bool is_in_force, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->plan->n_trees && rc == 0; i++) {
		struct txn_tree *tree = &s->t->trees[i];
		char made[TXN_UNIT_NAME], gone[TXN_UNIT_NAME];
		struct fm_plan_unit u;

		if (unit_of(s, i, &u, made, gone))
			rc = drop(s, i, is_in_force ? gone : made, err);
		if (rc == 0)
			rc = txn_remove_all(tree->live, TXN_UNIT, err);
		if (rc == 0)
			rc = txn_sync_dir(tree->live, tree->plan->name, err);
	}
	return rc;
}

static int make_all(struct step *s, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->plan->n_trees && rc == 0; i++) {
		char made[TXN_UNIT_NAME], gone[TXN_UNIT_NAME];
		struct fm_plan_unit u;

		if (!s->plan->build_lock || s->plan->trees[i].is_mutable)
			rc = txn_lock_all(s->t, err);
		if (rc == 0 && unit_of(s, i, &u, made, gone))
			rc = make(s, &u, made, gone, err);
	}
	return rc;
}

static int place_all(struct step *s, struct fm_err *err)
{
	uint64_t now = 0;
	int rc = txn_lock_all(s->t, err);

	if (rc == 0)
		rc = read_pointer(s->plan, &now, err);
	if (rc == 0 && now != s->at)
		rc = fm_err_set(err, FM_E_CHANGED,
				"%s changed from %" PRIu64 " to %" PRIu64
				" meanwhile: another tool packs",
				s->plan->steps.pointer, s->at, now);
	for (size_t i = 0; i < s->plan->n_trees && rc == 0; i++) {
		char made[TXN_UNIT_NAME], gone[TXN_UNIT_NAME];
		struct fm_plan_unit u;

		if (unit_of(s, i, &u, made, gone))
			rc = place(s, &u, made, err);
	}
	return rc;
}

// A step that is not in force leaves nothing. Whether it is, the pointer
// says, not the error: a sync can fail when all is done.
static void take_step_back(struct step *s)
{
	struct fm_err ignored;
	uint64_t now = 0;

	for (size_t i = 0; i < s->plan->n_trees; i++)
		(void)txn_remove_all(s->t->trees[i].live, TXN_UNIT, &ignored);
	(void)txn_unlink(s->plan->root,
			 txn_temp_name(s->t, s->plan->steps.pointer), false,
			 &ignored);
	if (read_pointer(s->plan, &now, &ignored) == 0 && now == s->at)
		(void)drop_all(s, false, &ignored);
}

static int one_step(struct step *s, struct fm_err *err)
{
	int rc = make_all(s, err);

	if (rc == 0)
		rc = place_all(s, err);
	if (rc == 0)
		rc = write_pointer(s, err);
	if (rc != 0)
		take_step_back(s);
	txn_unlock_all(s->t);
	if (rc != 0)
		return rc;
	s->t->result->moved++;
	return drop_all(s, true, err);
}

int txn_steps(struct txn *t, struct fm_plan *plan, struct fm_err *err)
{
	struct fm_plan_steps *p = &plan->steps;
	struct step s = {.t = t, .plan = plan};
	double since = txn_now();
	int rc = read_pointer(plan, &s.at, err);

	if (rc == 0)
		rc = txn_lock_build(t, err);
	fm_progress_phase(
		t->opts->progress, plan->operation,
		(p->to > p->from ? p->to - p->from : p->from - p->to) / p->by);
	while (rc == 0 && s.at != p->to) {
		rc = fm_cancel_check(err);
		s.next = p->to > s.at ? s.at + p->by : s.at - p->by;
		if (rc == 0)
			rc = one_step(&s, err);
		if (rc == 0)
			s.at = s.next;
		fm_progress_step(t->opts->progress, t->result->moved);
	}
	fm_lock_drop(&t->build_lock);
	t->result->phases[t->result->n_phases].name = plan->operation;
	t->result->phases[t->result->n_phases++].seconds = txn_now() - since;
	return rc;
}

int txn_steps_tidy(struct txn *t, struct fm_err *err)
{
	struct fm_plan_steps *p = &t->plan->steps;
	struct step s = {.t = t, .plan = t->plan, .at = p->from};
	uint64_t now = 0;
	bool is_in_force = true;
	int rc = read_pointer(t->plan, &now, err);

	if (rc == 0)
		rc = txn_lock_all(t, err);
	if (rc == 0)
		rc = txn_unlink(t->plan->root, txn_temp_name(t, p->pointer),
				false, err);
	while (rc == 0 && s.at != p->to) {
		is_in_force = is_in_force && s.at != now;
		s.next = p->to > s.at ? s.at + p->by : s.at - p->by;
		rc = drop_all(&s, is_in_force, err);
		s.at = s.next;
	}
	txn_unlock_all(t);
	return rc;
}
