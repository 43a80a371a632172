// SPDX-License-Identifier: GPL-2.0-or-later
// fsdetect: names the format, version and traits of each path. Changes
// nothing, not even access times where the kernel lets us.

#include "cmd/cli.h"

#include "lib/report_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int is_full;

static const struct poptOption table[] = {
	{"full", '\0', POPT_ARG_NONE, &is_full, 0,
	 "exact numbers where others are sampled", NULL},
	CLI_INCLUDE_SELECTION,
	CLI_INCLUDE_OUTPUT,
	CLI_INCLUDE_HELP,
	POPT_TABLEEND,
};

static void print_heading(const char *path, const char *what)
{
	fm_text_put(stdout, path);
	(void)fputs(": ", stdout);
	fm_text_put(stdout, what);
	(void)fputc('\n', stdout);
}

static void print_value(const struct fm_fact *f)
{
	switch (f->type) {
	case FM_FACT_TEXT: fm_text_put(stdout, f->text); break;
	case FM_FACT_NUMBER:
		(void)printf("%" PRIu64, f->number);
		if (f->text)
			fm_text_printf(stdout, " %s", f->text);
		break;
	case FM_FACT_FLAG: (void)fputs(f->flag ? "yes" : "no", stdout); break;
	case FM_FACT_LIST:
		for (size_t i = 0; i < f->n_items; i++) {
			(void)fputs(i ? ", " : "", stdout);
			fm_text_put(stdout, f->items[i]);
		}
		if (f->n_items == 0)
			(void)fputs("none", stdout);
		break;
	}
}

static void print_facts(const struct fm_facts *facts)
{
	int width = 0;

	for (const struct fm_fact *f = facts->first; f; f = f->next)
		if ((int)strlen(f->label) > width)
			width = (int)strlen(f->label);
	for (const struct fm_fact *f = facts->first; f; f = f->next) {
		(void)printf("  %-*s  ", width, f->label);
		print_value(f);
		(void)fputc('\n', stdout);
	}
	if (facts->advice)
		print_heading("  advice", facts->advice);
}

static void print_conversions(const struct fm_format *format)
{
	for (size_t i = 0; i < format->n_conversions; i++) {
		const struct fm_conversion *c = &format->conversions[i];

		(void)printf("  from %s to %s: fsconvert %s\n", c->from, c->to,
			     c->summary);
	}
}

static void fill_json(struct fm_json *j, const struct fm_facts *facts)
{
	fm_json_open(j, "facts");
	for (const struct fm_fact *f = facts->first; f; f = f->next) {
		switch (f->type) {
		case FM_FACT_TEXT: fm_json_text(j, f->key, f->text); break;
		case FM_FACT_NUMBER:
			fm_json_number(j, f->key, f->number);
			break;
		case FM_FACT_FLAG: fm_json_flag(j, f->key, f->flag); break;
		case FM_FACT_LIST:
			fm_json_list(j, f->key, f->items, f->n_items);
			break;
		}
	}
	fm_json_close(j);
	if (facts->advice)
		fm_json_text(j, "advice", facts->advice);
	fm_json_flag(j, "damaged", facts->is_damaged);
	fm_json_flag(j, "unfinished", facts->is_unfinished);
}

static int print(struct cli *cli, const struct fm_target *t, const char *what,
		 const struct fm_facts *facts)
{
	int status = (facts->is_damaged ? CLI_PROBLEMS : CLI_OK) |
		     (facts->is_unfinished ? CLI_FAILED : CLI_OK);

	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(cli, t->path);

		fm_json_text(j, "format", t->format->name);
		fm_json_text(j, "what", what);
		fill_json(j, facts);
		cli_summary_end(j, status);
	} else {
		print_heading(t->path, what);
		if (!cli_options.is_quiet)
			print_facts(facts);
		if (cli_options.is_verbose)
			print_conversions(t->format);
	}
	return status;
}

static int run(struct cli *cli, struct fm_target *t, const struct fm_bid *bid)
{
	struct fm_options opts = {.is_full = is_full != 0,
				  .progress = cli->progress};
	struct fm_facts facts = {.out = &t->out};
	const char *what = bid->what[0] ? bid->what : t->format->summary;
	struct fm_err err;

	if (t->format->describe &&
	    t->format->describe(t, &opts, &facts, &err) != 0)
		return cli_fail(cli, t->path, &err);
	fm_progress_end(cli->progress);
	return print(cli, t, what, &facts);
}

static int unknown(struct cli *cli, const struct fm_place *place)
{
	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(cli, place->path);

		fm_json_text(j, "format", "unknown");
		cli_summary_end(j, CLI_PROBLEMS);
	} else {
		print_heading(place->path, "unknown");
	}
	return CLI_PROBLEMS;
}

static const struct cli_command command = {
	.name = "fsdetect",
	.operands = "PATH...",
	.table = table,
	.damaged_status = CLI_PROBLEMS,
	.run = run,
	.unknown = unknown,
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv, &command);
}
