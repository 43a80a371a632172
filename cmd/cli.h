/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence that all commands share: parse, find the targets, open each
 * through the registry, run, print, choose the exit status.
 *
 * A command is a constant struct cli_command; its main is
 *
 *	return cli_main(argc, argv, &command);
 *
 * Results go to stdout, diagnostics to stderr as `command: target: message`.
 * With --json every target gets exactly one "summary" object, also when it
 * could not be opened.
 */
#ifndef FM_CMD_CLI_H
#define FM_CMD_CLI_H

#include "cmd/options.h"
#include "formats/format.h"

#include "lib/report_json.h"

/* Exit status: a bit set as in fsck(8), ORed over all targets. */
enum cli_status {
	CLI_OK = 0,
	CLI_CORRECTED = 1, /* something was repaired */
	CLI_PROBLEMS = 4,  /* problems remain; fsdetect: not recognised */
	CLI_FAILED = 8,    /* the run itself failed, or was refused */
	CLI_BAD_USAGE = 16,
	CLI_CANCELLED = 32, /* stopped by a signal */
};

/* One run of a command. */
struct cli {
	const struct cli_command *command;
	struct cli_settings settings;
	struct fm_progress *progress;
	const char **operands; /* NULL-terminated, or NULL: none */
	const char *copy_to;   /* second operand, where a command takes one */
};

struct cli_command {
	const char *name;
	const char *operands; /* for the usage line */
	const struct poptOption *table;
	bool takes_copy_target; /* a second operand is what to write */
	/* Status for a target that is not what it claims to be. */
	int damaged_status;
	/* Does it do anything with this format? (NULL: with each.) */
	bool (*handles)(const struct fm_format *format);
	/* Checks the command's own options: 0 or FM_E_USAGE. */
	int (*check)(struct cli *cli, struct fm_err *err);
	/* Works on one target and prints; returns bits of the exit status. */
	int (*run)(struct cli *cli, struct fm_target *t,
		   const struct fm_bid *bid);
	/* What is there and is of no known format (NULL: an error). */
	int (*unknown)(struct cli *cli, const struct fm_place *place);
	/* Frees what popt left in the command's own options (or NULL). */
	void (*release)(void);
};

int cli_main(int argc, char **argv, const struct cli_command *command);

/* Prints `command: target: message` (target may be NULL); returns the bit. */
int cli_complain(struct cli *cli, const char *target, const struct fm_err *err);

/* The same, and the target's JSON summary. */
int cli_fail(struct cli *cli, const char *target, const struct fm_err *err);

/* The summary of a target: begun, filled by the caller, ended with status. */
struct fm_json *cli_summary_begin(struct cli *cli, const char *target);
void cli_summary_end(struct fm_json *j, int status);

/*
 * Opens path and finds out its format (--format, or the highest bid). On
 * success the target is open: cli_close. *format is NULL, and nothing is
 * open but place->fd, when no format claims it.
 */
int cli_open(struct cli *cli, const char *path, struct fm_place *place,
	     struct fm_target *t, struct fm_bid *bid, struct fm_err *err);
void cli_close(struct fm_target *t);

#endif
