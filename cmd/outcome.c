// SPDX-License-Identifier: GPL-2.0-or-later
// What a command that changes targets prints about one of them.

#include "cmd/outcome.h"

#include "lib/buf.h"
#include "lib/holders.h"
#include "lib/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More than that are not worth a line each. */
enum { HOLDERS_MAX = 4 };

const char *cli_quoted_command(struct fm_arena *out, const char *command,
			       const char *path)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789/._-+,:@%=";
	struct fm_buf b = FM_BUF_INIT;
	const char *text;

	if (path[0] && path[0] != '-' && path[strspn(path, safe)] == '\0')
		return fm_arena_printf(out, "%s %s", command, path);
	fm_buf_printf(&b, "%s %s'", command, path[0] == '-' ? "-- " : "");
	for (; *path; path++) {
		if (*path == '\'')
			fm_buf_puts(&b, "'\\''");
		else
			fm_buf_add(&b, path, 1);
	}
	fm_buf_puts(&b, "'");
	text = fm_arena_strdup(out, fm_buf_text(&b));
	fm_buf_release(&b);
	return text;
}

int cli_apply_fail(struct cli_change *c, const struct fm_err *err)
{
	struct fm_arena *out = &c->t->out;
	const char *path = c->t->path;
	const char *resume =
		cli_quoted_command(out, "fsconvert --resume", path);
	const char *undo = cli_quoted_command(out, "fsconvert --undo", path);
	bool is_unfinished =
		c->result.unfinished || err->code == FM_E_UNFINISHED;
	int status = cli_complain(c->cli, path, err);

	if (is_unfinished) {
		fm_text_printf(stderr, "  to finish it:    %s", resume);
		(void)fputc('\n', stderr);
	}
	if (is_unfinished && !c->plan.undoes) {
		fm_text_printf(stderr, "  to take it back: %s", undo);
		(void)fputc('\n', stderr);
	}
	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(c->cli, path);

		fm_json_text(j, "error", err->msg);
		fm_json_flag(j, "unfinished", is_unfinished);
		if (is_unfinished)
			fm_json_text(j, "resume", resume);
		if (is_unfinished && !c->plan.undoes)
			fm_json_text(j, "undo", undo);
		cli_summary_end(j, status);
	}
	return status;
}

void cli_print_plan(struct cli_change *c, const char *verb)
{
	const char *path = c->t->path;

	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(c->cli, path);

		fm_json_text(j, "format", c->t->format->name);
		fm_json_flag(j, "changed", false);
		fm_json_flag(j, "dry_run", cli_options.is_dry_run != 0);
		if (c->plan.is_empty)
			fm_json_text(j, "title", c->plan.title);
		else
			fm_json_plan(j, &c->plan);
		cli_summary_end(j, CLI_OK);
	} else if (!c->plan.is_empty) {
		fm_text_plan(stdout, path, verb, &c->plan);
	} else if (!cli_options.is_quiet) {
		fm_text_printf(stdout, "%s: %s, nothing to do", path,
			       c->plan.title);
		(void)fputc('\n', stdout);
	}
}

static void print_json(struct cli_change *c, int status)
{
	const struct fm_txn_result *r = &c->result;
	struct fm_json *j = cli_summary_begin(c->cli, c->t->path);

	fm_json_text(j, "format", c->t->format->name);
	fm_json_flag(j, "changed", true);
	fm_json_flag(j, "dry_run", false);
	fm_json_plan(j, &c->plan);
	fm_json_number(j, "files", r->moved);
	fm_json_number(j, "compared", r->compared);
	fm_json_number(j, "refreshed", r->refreshed);
	fm_json_number(j, "misplaced", r->misplaced);
	fm_json_real(j, "locked_seconds", r->locked_seconds);
	fm_json_real(j, "switch_seconds", r->switch_seconds);
	fm_json_open(j, "phases");
	for (size_t i = 0; i < r->n_phases; i++)
		fm_json_real(j, r->phases[i].name, r->phases[i].seconds);
	fm_json_close(j);
	if (r->record[0])
		fm_json_text(j, "record", r->record);
	if (c->plan.copy_to)
		fm_json_text(j, "copy", c->plan.copy_to);
	fm_json_list(j, "after", c->plan.after, c->plan.n_after);
	cli_summary_end(j, status);
}

static void print_phases(const struct fm_txn_result *r)
{
	for (size_t i = 0; i < r->n_phases; i++)
		(void)printf("  %-18s %.3f s\n", r->phases[i].name,
			     r->phases[i].seconds);
	if (r->locked_seconds > 0)
		(void)printf("  %-18s %.1f ms\n  %-18s %.1f ms\n",
			     "write-lock held", r->locked_seconds * 1000,
			     "readers refused", r->switch_seconds * 1000);
	if (r->refreshed)
		(void)printf("  %" PRIu64 " files changed meanwhile were "
			     "taken again\n",
			     r->refreshed);
	if (r->misplaced)
		(void)printf("  %" PRIu64 " files written in the old layout "
			     "were put in place\n",
			     r->misplaced);
}

// Servers that hold the target open may have to be told: name them.
static void name_holders(struct cli_change *c)
{
	struct fm_holder list[HOLDERS_MAX];
	size_t n;

	if (c->plan.copy_to)
		return;
	n = fm_holders_find(c->t->fd, list, FM_ARRAY_SIZE(list));
	for (size_t i = 0; i < n; i++)
		fm_plan_add_after(&c->plan,
				  fm_arena_printf(&c->t->out,
						  "Has it open now: %s "
						  "(pid %d).",
						  list[i].name, list[i].pid));
}

void cli_print_outcome(struct cli_change *c, const char *verb, int status)
{
	const struct fm_txn_result *r = &c->result;

	if (c->plan.n_after)
		name_holders(c);
	if (cli_options.is_json) {
		print_json(c, status);
		return;
	}
	if (cli_options.is_quiet)
		return;
	fm_text_printf(stdout, "%s: %s: %s", c->t->path, verb, c->plan.title);
	if (r->moved)
		(void)printf("; %" PRIu64 " files, %" PRIu64 " compared",
			     r->moved, r->compared);
	(void)fputc('\n', stdout);
	if (cli_options.is_verbose)
		print_phases(r);
	for (size_t i = 0; i < c->plan.n_after; i++) {
		(void)fputs("  ", stdout);
		fm_text_put(stdout, c->plan.after[i]);
		(void)fputc('\n', stdout);
	}
}

int cli_print_forgotten(struct cli_change *c, unsigned n)
{
	bool is_dry = cli_options.is_dry_run != 0;

	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(c->cli, c->t->path);

		fm_json_text(j, "format", c->t->format->name);
		fm_json_flag(j, "changed", n && !is_dry);
		fm_json_flag(j, "dry_run", is_dry);
		fm_json_number(j, "forgotten", n);
		cli_summary_end(j, CLI_OK);
	} else if (!cli_options.is_quiet) {
		fm_text_printf(stdout, "%s: %s%u record%s of conversions",
			       c->t->path, is_dry ? "would forget " : "forgot ",
			       n, n == 1 ? "" : "s");
		(void)fputc('\n', stdout);
	}
	return CLI_OK;
}
