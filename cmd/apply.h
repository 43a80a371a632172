/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying a plan and saying what happened: shared by the commands that
 * change a target.
 *
 * cli_apply gives the plan to the transaction layer; on failure it complains,
 * names the commands that go on and go back when something is left undone,
 * and returns bits of the exit status.
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
	bool no_proof;
	struct fm_txn_result result;
};

int cli_apply(struct cli_change *c, enum cli_apply_how how,
	      const struct fm_journal *journal, struct fm_err *err);

/* Complains about an error of a change, with the way on and back. */
int cli_apply_fail(struct cli_change *c, const struct fm_err *err);

/* Prints the plan of a dry run, or that there is nothing to do. */
void cli_print_plan(struct cli_change *c, const char *verb);
/* Prints what was done: `TARGET: VERB: title; counts`. */
void cli_print_outcome(struct cli_change *c, const char *verb, int status);

/* Prints how many records of earlier changes were deleted. */
int cli_print_forgotten(struct cli_change *c, unsigned n);

/* "command --option 'path'", quoted for a shell. */
const char *cli_quoted_command(struct fm_arena *out, const char *command,
			       const char *path);

#endif
