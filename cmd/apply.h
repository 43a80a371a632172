/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying a plan: shared by the commands that change a target.
 *
 *	struct cli_change c = {.cli = cli, .t = t};
 *	fm_plan_init(&c.plan, &t->out);
 *	... a format fills c.plan ...
 *	status = cli_carry_out(&c, CLI_APPLY, NULL, "converted");
 */
#ifndef FM_CMD_APPLY_H
#define FM_CMD_APPLY_H

#include "cmd/cli.h"

#include "lib/txn.h"

enum cli_apply_how {
	CLI_APPLY,     /* a new plan */
	CLI_RESUME,    /* an interrupted one, forwards */
	CLI_TAKE_BACK, /* an interrupted one, backwards */
};

/* One change of one target. */
struct cli_change {
	struct cli *cli;
	struct fm_target *t;
	struct fm_plan plan;
	bool no_proof; /* leave out the checks before and after */
	struct fm_txn_result result;
};

/* Hands the plan to the transaction layer, and does nothing else. */
int cli_apply(struct cli_change *c, enum cli_apply_how how,
	      const struct fm_journal *journal, struct fm_err *err);

/*
 * Prints the plan when nothing is to be done (or --dry-run); else checks the
 * target, applies the plan, checks the result and prints it. Returns bits of
 * the exit status.
 */
int cli_carry_out(struct cli_change *c, enum cli_apply_how how,
		  const struct fm_journal *journal, const char *verb);

/* The format's view of a target, made anew after a change. */
int cli_reopen(struct fm_target *t, struct fm_err *err);

#endif
