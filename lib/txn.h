/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying a plan: the only code that changes a target (with lib/out.c for
 * single output files and lib/lock.c for lock files).
 *
 * The contract (product.md 2.2): killed or powered off at any instant the
 * target is the old one, the new one, or refused by every program that reads
 * it; the same command, or --resume, finishes; --undo takes it back. The
 * journal in <root>/<journals>/journal holds the intent before the first
 * visible change; a finished one is kept as NNNN-OPERATION.done.
 *
 * Sequence of a caller:
 *	fm_txn_look     is there an unfinished change? (reads only)
 *	fm_txn_apply    a new plan
 *	fm_txn_resume   the same plan, made again from the journal's notes
 *	fm_txn_undo     ... taken back, while the commit point is not reached
 *	fm_txn_forget   delete the finished journals
 *
 * Errors: FM_E_BUSY another process holds a lock or works on the target;
 * FM_E_CHANGED somebody changed it under our hands; FM_E_CANCELLED stopped at
 * a safe point; FM_E_IO with path and cause. After an error before the commit
 * point apply has already taken everything back, unless result.unfinished.
 */
#ifndef FM_LIB_TXN_H
#define FM_LIB_TXN_H

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/journal.h"
#include "lib/plan.h"
#include "lib/progress.h"

enum fm_txn_state {
	FM_TXN_CLEAN,      /* no unfinished journal */
	FM_TXN_UNFINISHED, /* one, and nobody works on it */
	FM_TXN_RUNNING,    /* one, and another process works on it */
};

struct fm_txn_look {
	enum fm_txn_state state;
	struct fm_journal journal; /* when UNFINISHED or RUNNING */
	const char *newest;        /* name of the newest finished one or NULL */
	unsigned n_finished;
};

/* root: the target's directory; journals: name of the directory below it. */
int fm_txn_look(int root, const char *journals, struct fm_arena *out,
		struct fm_txn_look *look, struct fm_err *err);

/* Reads one finished journal by name. */
int fm_txn_read(int root, const char *journals, const char *name,
		struct fm_arena *out, struct fm_journal *j, struct fm_err *err);

enum { FM_TXN_MAX_PHASES = 16 };

struct fm_txn_phase {
	const char *name; /* "link", "wait", "catch-up", "switch", "remove" */
	double seconds;
	uint64_t items;
};

struct fm_txn_options {
	unsigned lock_wait_ms;
	struct fm_progress *progress;
	bool no_proof; /* nothing beyond identity is compared */
};

/* What was done, for -v and for the summary. */
struct fm_txn_result {
	struct fm_txn_phase phases[FM_TXN_MAX_PHASES];
	size_t n_phases;
	double locked_seconds; /* write lock held, in all */
	double switch_seconds; /* readers refused: guard up to marker new */
	uint64_t moved;        /* files linked or moved */
	uint64_t compared;     /* proved identical (by inode, or by bytes) */
	uint64_t refreshed;    /* relinked at catch-up: edited meanwhile */
	uint64_t misplaced;    /* put right after the switch */
	bool unfinished;       /* journal left: --resume or --undo */
	char record[64];       /* NNNN-OPERATION.done */
};

int fm_txn_apply(struct fm_plan *plan, const struct fm_txn_options *opts,
		 struct fm_txn_result *result, struct fm_err *err);
int fm_txn_resume(struct fm_plan *plan, const struct fm_journal *journal,
		  const struct fm_txn_options *opts,
		  struct fm_txn_result *result, struct fm_err *err);
/* FM_E_UNSUPPORTED after the commit point: resume, then undo the record. */
int fm_txn_undo(struct fm_plan *plan, const struct fm_journal *journal,
		const struct fm_txn_options *opts, struct fm_txn_result *result,
		struct fm_err *err);
/* Nothing is unfinished, but a run that was killed before its journal was
   complete may have left a trace: removes that. */
int fm_txn_tidy(int root, const char *journals, struct fm_err *err);
int fm_txn_forget(int root, const char *journals, unsigned *n_deleted,
		  struct fm_err *err);

#endif
