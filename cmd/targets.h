/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which targets a command works on: its operands, or the lines of
 * --files-from; with --recursive what is recognised below them; of all those
 * the part that --shard selects. Order: as given, below a directory by name.
 */
#ifndef FM_CMD_TARGETS_H
#define FM_CMD_TARGETS_H

#include "cmd/cli.h"

struct cli_targets {
	char **paths; /* owned */
	size_t n, cap;
};

/*
 * Adds to t. Directories that cannot be read are complained about and set
 * bits in *status; an unreadable list of targets is an error.
 */
int cli_targets_collect(struct cli *cli, const char **operands,
			struct cli_targets *t, int *status, struct fm_err *err);
void cli_targets_release(struct cli_targets *t);

/* Opens what the user named (links are followed) and looks what it is. */
int cli_place_open(int dirfd, const char *name, bool follow,
		   struct fm_place *place, struct fm_err *err);

#endif
