// SPDX-License-Identifier: GPL-2.0-or-later
// fsverify: runs a format's checks and prints what they found. Changes
// nothing.

#include "cmd/cli.h"
#include "cmd/outcome.h"

#include "lib/mem.h"
#include "lib/report_text.h"
#include "lib/txn.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As popt fills it: arrays of strings, NULL at the end.
static struct {
	char **only, **skip, **levels;
	int is_strict;
} options;

// The same, checked.
static struct fm_policy policy;

static const struct poptOption table[] = {
	{"only", '\0', POPT_ARG_ARGV, &options.only, 0,
	 "make only checks whose id matches; may be repeated", "GLOB"},
	{"skip", '\0', POPT_ARG_ARGV, &options.skip, 0,
	 "leave out checks whose id matches; may be repeated", "GLOB"},
	{"severity", '\0', POPT_ARG_ARGV, &options.levels, 0,
	 "change the severity of a check: note, warn, error or fatal",
	 "ID=LEVEL"},
	{"strict", '\0', POPT_ARG_NONE, &options.is_strict, 0,
	 "warnings count as problems", NULL},
	CLI_JOBS,
	CLI_INCLUDE_SELECTION,
	CLI_INCLUDE_OUTPUT,
	CLI_INCLUDE_HELP,
	POPT_TABLEEND,
};

static bool is_known(const char *glob)
{
	for (size_t i = 0; i < fm_n_formats; i++)
		for (size_t k = 0; k < fm_formats[i]->n_checks; k++)
			if (fnmatch(glob, fm_formats[i]->checks[k].id, 0) == 0)
				return true;
	return false;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

// A misspelt id would silently check nothing, or everything.
static int take_globs(const char *option, char *const *list,
		      const struct fm_policy_rule **rules, size_t *n,
		      struct fm_err *err)
{
	struct fm_policy_rule *r;

	*n = count(list);
	if (*n == 0)
		return 0;
	*rules = r = fm_alloc_array(*n, sizeof(*r));
	for (size_t i = 0; i < *n; i++) {
		r[i].glob = list[i];
		if (!is_known(list[i]))
			return fm_err_set(err, FM_E_USAGE,
					  "--%s=%s: no check has such an id",
					  option, list[i]);
	}
	return 0;
}

static int take_levels(struct fm_err *err)
{
	struct fm_policy_rule *r;
	size_t n = count(options.levels);

	if (n == 0)
		return 0;
	policy.levels = r = fm_alloc_array(n, sizeof(*r));
	for (policy.n_levels = 0; policy.n_levels < n; r++) {
		char *text = options.levels[policy.n_levels++];
		char *equals = strrchr(text, '=');

		if (!equals || !fm_severity_parse(equals + 1, &r->severity))
			return fm_err_set(err, FM_E_USAGE,
					  "--severity=%s: not ID=LEVEL with "
					  "note, warn, error or fatal",
					  text);
		*equals = '\0';
		r->glob = text;
		if (!is_known(text))
			return fm_err_set(err, FM_E_USAGE,
					  "--severity=%s: no check has such "
					  "an id",
					  text);
	}
	return 0;
}

static int check(struct cli *cli, struct fm_err *err)
{
	int rc = take_globs("only", options.only, &policy.only, &policy.n_only,
			    err);

	(void)cli;
	if (rc == 0)
		rc = take_globs("skip", options.skip, &policy.skip,
				&policy.n_skip, err);
	if (rc == 0)
		rc = take_levels(err);
	return rc;
}

static int status_of(const struct fm_report *r)
{
	uint64_t n = r->by_severity[FM_ERROR] + r->by_severity[FM_FATAL];

	if (options.is_strict)
		n += r->by_severity[FM_WARN];
	return n ? CLI_PROBLEMS : CLI_OK;
}

// --quiet prints what makes the exit status, so that cron mails on trouble.
static enum fm_severity printed_from(void)
{
	if (cli_options.is_verbose)
		return FM_NOTE;
	if (cli_options.is_quiet && !options.is_strict)
		return FM_ERROR;
	return FM_WARN;
}

static void print_findings(const char *path, const struct fm_report *r)
{
	if (cli_options.is_json)
		fm_json_findings(stdout, path, r, printed_from());
	else
		fm_text_findings(stdout, path, r, printed_from());
}

static void print(struct cli *cli, const char *path, const char *format,
		  const struct fm_report *r, int status)
{
	fm_progress_end(cli->progress);
	print_findings(path, r);
	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(cli, path);

		fm_json_text(j, "format", format);
		fm_json_report(j, r);
		cli_summary_end(j, status);
	} else if (!cli_options.is_quiet) {
		fm_text_summary(stdout, path, r);
	}
}

// An unfinished change is more than a finding, and what else there is to see
// follows from it: the status is that of a run that failed.
static int check_unfinished(struct cli *cli, struct fm_target *t)
{
	struct fm_txn_look look = {.state = FM_TXN_CLEAN};
	const char *name;
	struct fm_err err;
	int root;

	if (!t->format->journals ||
	    t->format->journals(t, &root, &name, &err) != 0 ||
	    fm_txn_look(root, name, &t->out, &look, &err) != 0 ||
	    look.state != FM_TXN_UNFINISHED)
		return CLI_OK;
	fm_err_set(&err, FM_E_UNFINISHED,
		   "an unfinished change: finish it with: %s, or take it back "
		   "with: %s",
		   cli_quoted_command(&t->out, "fsconvert --resume", t->path),
		   cli_quoted_command(&t->out, "fsconvert --undo", t->path));
	return cli_complain(cli, t->path, &err);
}

static int run(struct cli *cli, struct fm_target *t, const struct fm_bid *bid)
{
	struct fm_options opts = {.jobs = cli->settings.jobs,
				  .progress = cli->progress};
	struct fm_report report;
	struct fm_err err;
	int status = check_unfinished(cli, t);

	(void)bid;
	fm_report_init(&report);
	report.policy = &policy;
	if (t->format->verify(t, &opts, &report, &err) != 0) {
		/* What was found so far is still worth knowing. */
		print_findings(t->path, &report);
		status |= cli_fail(cli, t->path, &err);
	} else {
		if (status == CLI_OK)
			status = status_of(&report);
		print(cli, t->path, t->format->name, &report, status);
	}
	fm_report_release(&report);
	return status;
}

static bool handles(const struct fm_format *format)
{
	return format->verify != NULL;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static void release(void)
{
	free_list(options.only);
	free_list(options.skip);
	free_list(options.levels);
	fm_free((void *)policy.only);
	fm_free((void *)policy.skip);
	fm_free((void *)policy.levels);
}

static const struct cli_command command = {
	.name = "fsverify",
	.operands = "PATH...",
	.table = table,
	.damaged_status = CLI_PROBLEMS,
	.handles = handles,
	.check = check,
	.run = run,
	.release = release,
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv, &command);
}
