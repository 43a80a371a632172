/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that several commands share, as popt tables.
 *
 * A command's own table includes the shared ones it wants (CLI_INCLUDE_*), so
 * that a word means the same everywhere. popt writes through pointers: the
 * one cli_options below is what the shared tables point at, and the only
 * global state of a command besides the like struct of its own options.
 */
#ifndef FM_CMD_OPTIONS_H
#define FM_CMD_OPTIONS_H

#include "formats/format.h"

#include "lib/err.h"

#include <popt.h>

/* As popt fills it. Strings are popt's copies, freed by cli_options_release. */
struct cli_options {
	/* Selection */
	char *files_from, *shard, *format;
	int is_null_separated, is_recursive;
	char *jobs; /* of commands that have CLI_JOBS in their table */
	/* Output */
	int is_quiet, is_verbose, is_json;
	char *progress, *progress_fd;
	/* Safety */
	int is_dry_run;
	char *lock_wait;
};
extern struct cli_options cli_options;

extern struct poptOption cli_selection_table[];
extern struct poptOption cli_output_table[];
extern struct poptOption cli_safety_table[];
extern struct poptOption cli_help_table[];

#define CLI_INCLUDE(table, heading)                                            \
	{                                                                      \
		NULL, '\0', POPT_ARG_INCLUDE_TABLE, table, 0, heading, NULL    \
	}
#define CLI_INCLUDE_SELECTION CLI_INCLUDE(cli_selection_table, "Selection:")
#define CLI_INCLUDE_OUTPUT    CLI_INCLUDE(cli_output_table, "Output:")
#define CLI_INCLUDE_SAFETY    CLI_INCLUDE(cli_safety_table, "Safety:")
#define CLI_INCLUDE_HELP      CLI_INCLUDE(cli_help_table, "Help:")

/* A row for the table of a command that can use several processors. */
#define CLI_JOBS                                                               \
	{                                                                      \
		"jobs", 'j', POPT_ARG_STRING, &cli_options.jobs, 0,            \
			"use N processors (default: all there are)", "N"       \
	}

/* What poptGetNextOpt returns for the rows of the help table. */
enum cli_help_value {
	CLI_HELP = 1,
	CLI_USAGE,
	CLI_VERSION,
	CLI_DUMP_OPTIONS,
};

/* The shared options, checked and converted. */
struct cli_settings {
	const struct fm_format *format; /* --format, or NULL: probe */
	uint64_t shard, n_shards;       /* n_shards 0: all targets */
	unsigned jobs;                  /* --jobs, 0: all processors */
	enum fm_progress_when progress;
	int progress_fd;       /* -1: none given */
	unsigned lock_wait_ms; /* --lock-wait */
};

/* Names that only the registry knows go into the help text. */
void cli_options_prepare(void);
int cli_options_check(struct cli_settings *s, struct fm_err *err);
void cli_options_release(void);

/*
 * A number up to max, with K, M or G (powers of 1024) behind it;
 * FM_E_USAGE naming the option.
 */
int cli_number(const char *option, const char *text, uint64_t max,
	       uint64_t *value, struct fm_err *err);

/*
 * --dump-options: LONG<tab>SHORT<tab>ARGUMENT<tab>DESCRIPTION, "-": none. The
 * words to choose from are the ones with "|" between them, in either column.
 */
void cli_dump_options(const struct poptOption *table);

#endif
