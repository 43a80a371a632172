/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command that changes targets prints about one of them: its plan,
 * what was done, or why not and how to go on.
 */
#ifndef FM_CMD_OUTCOME_H
#define FM_CMD_OUTCOME_H

#include "cmd/apply.h"

/* Complains about an error of a change, with the way on and the way back. */
int cli_apply_fail(struct cli_change *c, const struct fm_err *err);

/* The plan of a dry run, or that there is nothing to do. */
void cli_print_plan(struct cli_change *c, const char *verb);

/* `TARGET: VERB: title; counts`, and what to do now. */
void cli_print_outcome(struct cli_change *c, const char *verb, int status);

/* How many records of earlier changes were deleted. */
int cli_print_forgotten(struct cli_change *c, unsigned n);

/* "command 'path'", quoted for a shell. */
const char *cli_quoted_command(struct fm_arena *out, const char *command,
			       const char *path);

#endif
