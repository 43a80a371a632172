// SPDX-License-Identifier: GPL-2.0-or-later
// The shared option tables, and the check of what they brought.

#include "cmd/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEFAULT_LOCK_WAIT = 10,
	MAX_LOCK_WAIT = 1000000, /* seconds */
	MAX_JOBS = 4096,
};

struct cli_options cli_options;

// Filled from the registry: a new format needs no edit here.
static char format_help[128] = "skip probing: ";

struct poptOption cli_selection_table[] = {
	{"files-from", '\0', POPT_ARG_STRING, &cli_options.files_from, 0,
	 "read targets from FILE (- is standard input), one a line", "FILE"},
	{"null", '0', POPT_ARG_NONE, &cli_options.is_null_separated, 0,
	 "targets in FILE end with a NUL byte", NULL},
	{"recursive", '\0', POPT_ARG_NONE, &cli_options.is_recursive, 0,
	 "take every target found below a directory", NULL},
	{"shard", '\0', POPT_ARG_STRING, &cli_options.shard, 0,
	 "take part I of N of the targets, by a hash of the name", "I/N"},
	{"format", '\0', POPT_ARG_STRING, &cli_options.format, 0, format_help,
	 "NAME"},
	POPT_TABLEEND,
};

struct poptOption cli_output_table[] = {
	{"quiet", 'q', POPT_ARG_NONE, &cli_options.is_quiet, 0,
	 "print less; nothing where all is well", NULL},
	{"verbose", 'v', POPT_ARG_NONE, &cli_options.is_verbose, 0,
	 "print more", NULL},
	{"json", '\0', POPT_ARG_NONE, &cli_options.is_json, 0,
	 "print JSON Lines", NULL},
	{"progress", '\0', POPT_ARG_STRING, &cli_options.progress, 0,
	 "show progress on standard error", "auto|always|never"},
	{"progress-fd", 'C', POPT_ARG_STRING, &cli_options.progress_fd, 0,
	 "write progress records to descriptor FD", "FD"},
	POPT_TABLEEND,
};

struct poptOption cli_safety_table[] = {
	{"dry-run", 'n', POPT_ARG_NONE, &cli_options.is_dry_run, 0,
	 "print what would be done, change nothing", NULL},
	{"lock-wait", '\0', POPT_ARG_STRING, &cli_options.lock_wait, 0,
	 "wait so long for locks of others (default 10)", "SECONDS"},
	POPT_TABLEEND,
};

struct poptOption cli_help_table[] = {
	{"help", 'h', POPT_ARG_NONE, NULL, CLI_HELP, "show this help", NULL},
	{"usage", '\0', POPT_ARG_NONE, NULL, CLI_USAGE, "show a short usage",
	 NULL},
	{"version", 'V', POPT_ARG_NONE, NULL, CLI_VERSION, "show the version",
	 NULL},
	{"dump-options", '\0', POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, NULL,
	 CLI_DUMP_OPTIONS, "list the options for programs", NULL},
	POPT_TABLEEND,
};

void cli_options_prepare(void)
{
	for (size_t i = 0; i < fm_n_formats; i++) {
		size_t used = strlen(format_help);

		(void)snprintf(format_help + used, sizeof(format_help) - used,
			       "%s%s", i ? "|" : "", fm_formats[i]->name);
	}
}

int cli_number(const char *option, const char *text, uint64_t max,
	       uint64_t *value, struct fm_err *err)
{
	static const char units[] = "KMG";
	uint64_t n = 0, unit = 1;
	const char *p = text;
	const char *u;

	while (*p >= '0' && *p <= '9') {
		if (!fm_mul_u64(n, 10, &n) ||
		    !fm_add_u64(n, (uint64_t)(*p - '0'), &n))
			goto bad;
		p++;
	}
	if (p == text)
		goto bad;
	u = *p ? strchr(units, *p) : NULL;
	if (u) {
		unit = (uint64_t)1 << (10 * (u - units + 1));
		p++;
	}
	if (*p || !fm_mul_u64(n, unit, &n) || n > max)
		goto bad;
	*value = n;
	return 0;
bad:
	return fm_err_set(err, FM_E_USAGE,
			  "--%s=%s: not a number from 0 to %ju", option, text,
			  (uintmax_t)max);
}

static int check_progress(struct cli_settings *s, struct fm_err *err)
{
	static const char *const names[] = {
		[FM_PROGRESS_AUTO] = "auto",
		[FM_PROGRESS_ALWAYS] = "always",
		[FM_PROGRESS_NEVER] = "never",
	};
	const char *wish = cli_options.progress;
	uint64_t fd = 0;
	int rc;

	s->progress = FM_PROGRESS_AUTO;
	for (size_t i = 0; wish && i < FM_ARRAY_SIZE(names); i++) {
		if (strcmp(wish, names[i]) == 0) {
			s->progress = (enum fm_progress_when)i;
			wish = NULL;
		}
	}
	if (wish)
		return fm_err_set(err, FM_E_USAGE,
				  "--progress=%s: auto, always or never", wish);
	s->progress_fd = -1;
	if (!cli_options.progress_fd)
		return 0;
	rc = cli_number("progress-fd", cli_options.progress_fd, 1 << 20, &fd,
			err);
	if (rc == 0)
		s->progress_fd = (int)fd;
	return rc;
}

/*
 * I counts from 0 or from 1, as the caller's job numbers do: it is taken
 * modulo N, so either way N jobs cover every target once.
 */
static int check_shard(struct cli_settings *s, struct fm_err *err)
{
	const char *text = cli_options.shard;
	const char *slash = text ? strchr(text, '/') : NULL;
	struct fm_arena tmp;
	int rc;

	if (!text)
		return 0;
	if (!slash)
		return fm_err_set(err, FM_E_USAGE, "--shard=%s: not I/N", text);
	fm_arena_init(&tmp);
	rc = cli_number("shard",
			fm_arena_memdup(&tmp, text, (size_t)(slash - text)),
			UINT32_MAX, &s->shard, err);
	if (rc == 0)
		rc = cli_number("shard", slash + 1, UINT32_MAX, &s->n_shards,
				err);
	if (rc == 0 && (s->n_shards == 0 || s->shard > s->n_shards))
		rc = fm_err_set(err, FM_E_USAGE, "--shard=%s: no such part",
				text);
	fm_arena_release(&tmp);
	return rc;
}

int cli_options_check(struct cli_settings *s, struct fm_err *err)
{
	uint64_t seconds = DEFAULT_LOCK_WAIT, jobs = 0;
	int rc;

	memset(s, 0, sizeof(*s));
	if (cli_options.is_null_separated && !cli_options.files_from)
		return fm_err_set(err, FM_E_USAGE,
				  "--null is of use with --files-from only");
	if (cli_options.is_quiet && cli_options.is_verbose)
		return fm_err_set(err, FM_E_USAGE,
				  "--quiet and --verbose exclude each other");
	if (cli_options.format) {
		s->format = fm_format_by_name(cli_options.format);
		if (!s->format)
			return fm_err_set(err, FM_E_USAGE,
					  "--format=%s: no such format",
					  cli_options.format);
	}
	rc = check_shard(s, err);
	if (rc == 0)
		rc = check_progress(s, err);
	if (rc == 0 && cli_options.lock_wait)
		rc = cli_number("lock-wait", cli_options.lock_wait,
				MAX_LOCK_WAIT, &seconds, err);
	if (rc == 0 && cli_options.jobs)
		rc = cli_number("jobs", cli_options.jobs, MAX_JOBS, &jobs, err);
	s->jobs = (unsigned)jobs;
	s->lock_wait_ms = (unsigned)seconds * 1000;
	return rc;
}

void cli_options_release(void)
{
	free(cli_options.files_from);
	free(cli_options.shard);
	free(cli_options.format);
	free(cli_options.jobs);
	free(cli_options.progress);
	free(cli_options.progress_fd);
	free(cli_options.lock_wait);
	memset(&cli_options, 0, sizeof(cli_options));
}
