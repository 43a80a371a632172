// SPDX-License-Identifier: GPL-2.0-or-later
// The state machine: how a plan is applied, resumed and taken back.
//
//	journal     first block complete and synced
//	build       link mode: new trees beside the old, nobody waits
//	locks       the target's own, all of them
//	catch-up    link mode: what came or changed meanwhile
//	save        small files before and after, into the journal
//	guard       every reader refuses the target from here ...
//	trees       exchanged (link mode) or moved (rename mode)
//	files       small files
//	marker      ... to here: the commit point
//	clean       locks dropped, misplaced numbers put right, old tree gone
//	record      the journal becomes NNNN-OPERATION.done
//
// The marker file alone says which side of the window a crash fell on: old or
// guard means not committed (resume goes on, undo takes back), new means
// committed (resume cleans up).

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/txn_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void phase(struct txn *t, const char *name, double since)
{
	struct fm_txn_result *r = t->result;

	if (r->n_phases == FM_TXN_MAX_PHASES)
		return;
	r->phases[r->n_phases].name = name;
	r->phases[r->n_phases].seconds = txn_now() - since;
	r->n_phases++;
}

static int start(struct txn *t, struct fm_plan *plan,
		 const struct fm_txn_options *opts,
		 struct fm_txn_result *result, struct fm_err *err)
{
	int rc = 0;

	*t = (struct txn){.plan = plan,
			  .opts = opts,
			  .result = result,
			  .jdir = -1,
			  .jfd = -1};
	memset(result, 0, sizeof(*result));
	fm_arena_init(&t->arena);
	t->build_lock.fd = -1;
	for (size_t i = 0; i < FM_PLAN_MAX_LOCKS; i++)
		t->locks[i].fd = -1;
	for (size_t i = 0; i < FM_PLAN_MAX_TREES; i++)
		t->trees[i] = (struct txn_tree){
			.parent = -1, .live = -1, .staged = -1};
	for (size_t i = 0; i < plan->n_trees && rc == 0; i++)
		rc = txn_tree_open(t, &t->trees[i], &plan->trees[i], err);
	return rc;
}

static void finish(struct txn *t)
{
	txn_unlock_all(t);
	fm_lock_drop(&t->build_lock);
	for (size_t i = 0; i < FM_PLAN_MAX_TREES; i++)
		txn_tree_close(&t->trees[i]);
	fm_close_fd(&t->jfd);
	fm_close_fd(&t->jdir);
	fm_arena_release(&t->arena);
	fm_progress_end(t->opts->progress);
}

static int changed(const char *what, struct fm_err *err)
{
	return fm_err_set(err, FM_E_CHANGED,
			  "%s changed while the conversion was at work: "
			  "another tool wrote it",
			  what);
}

// Under the locks: is the target still the one the plan was made for?
static int check_unchanged(struct txn *t, enum txn_marker expected,
			   struct fm_err *err)
{
	enum txn_marker now;

	if (txn_marker_state(t, &now, err) != 0)
		return err->code;
	return now == expected ? 0 : changed(t->plan->marker, err);
}

static int build(struct txn *t, struct fm_err *err)
{
	double since = txn_now();
	int rc = txn_lock_build(t, err);

	if (rc == 0)
		rc = txn_link_build(t, err);
	// Given up before all are taken in their order: see fsfs-format 12.1.
	fm_lock_drop(&t->build_lock);
	phase(t, "link", since);
	return rc;
}

static int lock(struct txn *t, struct fm_err *err)
{
	double since = txn_now();
	int rc = txn_lock_all(t, err);

	phase(t, "wait for locks", since);
	return rc;
}

// From the old marker or the guard to the state in which only the window is
// left: trees built, locks held, small files saved.
static int prepare(struct txn *t, enum txn_marker marker, struct fm_err *err)
{
	bool is_link = t->plan->mode == FM_MODE_LINK;
	char highest[24];
	struct fm_journal_field f[3] = {{"phase", 5}, {"switch", 6}};
	double since;
	int rc = txn_prepare_markers(t, err);

	if (rc == 0 && is_link)
		rc = build(t, err);
	if (rc == 0)
		rc = lock(t, err);
	if (rc == 0)
		rc = check_unchanged(t, marker, err);
	// Once files move, `highest` is what the journal says.
	if (rc == 0 && (is_link || marker == TXN_OLD))
		rc = txn_read_bound(t, &t->highest, err);
	since = txn_now();
	if (rc == 0 && is_link)
		rc = txn_link_catch_up(t, err);
	else if (rc == 0 && marker == TXN_OLD)
		rc = txn_move_prepare(t, err);
	if (rc == 0)
		rc = txn_save_files(t, err);
	if (rc == 0) {
		f[2].len = (size_t)snprintf(highest, sizeof(highest),
					    "%" PRIu64, t->highest);
		f[2].data = highest;
		rc = txn_journal_add(t, f, 3, err);
	}
	phase(t, "catch up", since);
	return rc;
}

// The window itself. Readers are refused from its first line to its last.
static int window(struct txn *t, enum txn_marker marker, struct fm_err *err)
{
	double since = txn_now();
	int rc = 0;

	if (marker == TXN_OLD)
		rc = txn_guard_up(t, err);
	if (rc == 0)
		rc = t->plan->mode == FM_MODE_LINK ? txn_link_exchange(t, err)
						   : txn_move_forward(t, err);
	if (rc == 0)
		rc = txn_place_files(t, err);
	if (rc == 0)
		rc = txn_marker_set(t, &t->plan->new_marker, err);
	phase(t, "switch", since);
	t->result->switch_seconds = txn_now() - since;
	return rc;
}

static int after_commit(struct txn *t, struct fm_err *err)
{
	bool is_link = t->plan->mode == FM_MODE_LINK;
	double since = txn_now();
	int rc = 0;

	t->result->unfinished = true;
	t->is_committed = true;
	if (!txn_journal_had(t, "commit", NULL))
		rc = txn_journal_phase(t, "commit", err);
	txn_unlock_all(t);
	if (rc == 0 && is_link)
		rc = txn_link_reopen(t, err);
	if (rc == 0)
		rc = txn_sweep(t, false, err);
	if (rc == 0)
		rc = is_link ? txn_link_clean(t, err) : txn_move_clean(t, err);
	/* Whoever waited for the lock writes now, not before. */
	if (rc == 0)
		rc = txn_sweep(t, true, err);
	for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++)
		rc = txn_tree_times(&t->trees[i], err);
	if (rc == 0)
		rc = txn_remove_temps(t, err);
	if (rc == 0)
		rc = txn_journal_finish(t, err);
	phase(t, "clean up", since);
	if (rc != 0)
		return fm_err_prefix(err, "the new layout is in force, but "
					  "cleaning up failed: ");
	t->result->unfinished = false;
	return 0;
}

static int highest_of_journal(struct txn *t, struct fm_err *err)
{
	const struct fm_journal_record *r =
		fm_journal_find(t->journal, "phase", "switch");

	if (r && fm_num_parse(fm_journal_text(r, 2), &t->highest))
		return txn_check_bound(t, t->highest, err);
	return txn_read_bound(t, &t->highest, err);
}

// Takes everything back. The guard comes down last, so this too may be
// interrupted and repeated.
static int roll_back(struct txn *t, struct fm_err *err)
{
	bool is_link = t->plan->mode == FM_MODE_LINK;
	enum txn_marker marker;
	int rc = txn_journal_load(t, err);

	if (rc == 0)
		rc = txn_marker_state(t, &marker, err);
	if (rc == 0 && marker == TXN_NEW)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "the commit point is passed: finish with "
				  "--resume first, then --undo");
	if (rc == 0 && marker == TXN_GUARD) {
		rc = txn_lock_all(t, err);
		for (size_t i = 0; i < t->plan->n_trees && rc == 0; i++)
			rc = txn_tree_count(t, &t->trees[i], err);
		if (rc == 0)
			rc = highest_of_journal(t, err);
		if (rc == 0 && is_link)
			rc = txn_link_settle(t, err);
		if (rc == 0)
			rc = is_link ? txn_link_exchange_back(t, err)
				     : txn_move_back(t, err);
		if (rc == 0)
			rc = txn_restore_files(t, err);
		if (rc == 0)
			rc = txn_marker_set(t, &t->plan->old_marker, err);
	}
	if (rc == 0 && is_link)
		rc = txn_link_remove_stage(t, err);
	if (rc == 0)
		rc = txn_remove_temps(t, err);
	if (rc == 0)
		rc = txn_journal_discard(t, err);
	return rc;
}

// After an error before the commit point the target is made what it was. A
// wish to stop is different: the user may want to go on later.
static int give_up(struct txn *t, struct fm_err *err)
{
	struct fm_err second;

	t->result->unfinished = true;
	if (err->code == FM_E_CANCELLED)
		return err->code;
	if (roll_back(t, &second) == 0) {
		t->result->unfinished = false;
		return err->code;
	}
	return fm_err_append(err, "; and taking it back failed: %s",
			     second.msg);
}

static int run(struct txn *t, enum txn_marker marker, struct fm_err *err)
{
	int rc = prepare(t, marker, err);

	if (rc == 0)
		rc = window(t, marker, err);
	if (rc == 0)
		rc = after_commit(t, err);
	else
		rc = give_up(t, err);
	return rc;
}

// Steps that are in force stay so: every reader follows the pointer. When
// none is, nothing has happened.
static int run_steps(struct txn *t, struct fm_err *err)
{
	struct fm_err second;
	int rc = txn_steps(t, t->plan, err);

	if (rc == 0)
		rc = txn_journal_finish(t, err);
	t->result->unfinished = rc != 0;
	if (rc != 0 && t->is_fresh && t->result->moved == 0 &&
	    txn_journal_discard(t, &second) == 0)
		t->result->unfinished = false;
	return rc;
}

// Before the journal: what it would make its own must not be somebody's.
static int check_names(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	switch (t->plan->mode) {
	case FM_MODE_STEPS: return txn_refuse_name(tree->live, TXN_UNIT, err);
	case FM_MODE_LINK:
		if (txn_refuse_name(tree->parent, tree->stage, err) != 0)
			return err->code;
		break;
	case FM_MODE_RENAME:
	case FM_MODE_COPY: break;
	}
	return txn_tree_check(t, tree, err);
}

int fm_txn_apply(struct fm_plan *plan, const struct fm_txn_options *opts,
		 struct fm_txn_result *result, struct fm_err *err)
{
	struct txn t;
	int rc = start(&t, plan, opts, result, err);

	t.is_fresh = true;
	// Others who pack make names of their own, and hold this lock.
	if (rc == 0 && plan->mode != FM_MODE_COPY)
		rc = txn_lock_build(&t, err);
	for (size_t i = 0; i < plan->n_trees && rc == 0; i++)
		rc = check_names(&t, &t.trees[i], err);
	// Rename mode takes all locks, in their order, before it begins.
	if (plan->mode == FM_MODE_RENAME)
		fm_lock_drop(&t.build_lock);
	if (rc == 0 && plan->mode == FM_MODE_COPY) {
		rc = txn_copy(&t, err);
		finish(&t);
		return rc;
	}
	if (rc == 0)
		rc = txn_journal_create(&t, err);
	if (rc == 0)
		rc = plan->mode == FM_MODE_STEPS ? run_steps(&t, err)
						 : run(&t, TXN_OLD, err);
	finish(&t);
	return rc;
}

int fm_txn_resume(struct fm_plan *plan, const struct fm_journal *journal,
		  const struct fm_txn_options *opts,
		  struct fm_txn_result *result, struct fm_err *err)
{
	enum txn_marker marker = TXN_ALIEN;
	struct txn t;
	int rc = start(&t, plan, opts, result, err);

	(void)journal;
	if (rc == 0)
		rc = txn_journal_reopen(&t, err);
	if (rc == 0 && plan->mode == FM_MODE_STEPS) {
		rc = txn_steps_tidy(&t, err);
		result->unfinished = rc != 0;
		if (rc == 0)
			rc = run_steps(&t, err);
		finish(&t);
		return rc;
	}
	if (rc == 0)
		rc = txn_marker_state(&t, &marker, err);
	for (size_t i = 0; i < plan->n_trees && rc == 0; i++)
		rc = txn_tree_count(&t, &t.trees[i], err);
	if (rc == 0)
		rc = highest_of_journal(&t, err);
	if (rc == 0 && plan->mode == FM_MODE_LINK)
		rc = txn_link_settle(&t, err);
	if (rc == 0 && marker == TXN_ALIEN)
		rc = changed(plan->marker, err);
	if (rc == 0)
		rc = marker == TXN_NEW ? after_commit(&t, err)
				       : run(&t, marker, err);
	else
		result->unfinished = true;
	finish(&t);
	return rc;
}

static int steps_back(struct txn *t, struct fm_err *err)
{
	int rc = txn_steps_tidy(t, err);

	if (rc == 0)
		rc = txn_steps(t, t->plan->back, err);
	return rc ? rc : txn_journal_discard(t, err);
}

int fm_txn_undo(struct fm_plan *plan, const struct fm_journal *journal,
		const struct fm_txn_options *opts, struct fm_txn_result *result,
		struct fm_err *err)
{
	struct txn t;
	int rc = start(&t, plan, opts, result, err);

	(void)journal;
	if (rc == 0)
		rc = txn_journal_reopen(&t, err);
	if (rc == 0)
		rc = plan->mode == FM_MODE_STEPS ? steps_back(&t, err)
						 : roll_back(&t, err);
	result->unfinished = rc != 0;
	finish(&t);
	return rc;
}
