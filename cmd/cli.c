// SPDX-License-Identifier: GPL-2.0-or-later
// The sequence that all commands share.

#include "cmd/cli.h"

#include "cmd/targets.h"

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/report_text.h"
#include "lib/version.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int status_of(const struct cli_command *command,
		     const struct fm_err *err)
{
	switch (err->code) {
	case FM_E_FORMAT: return command->damaged_status;
	case FM_E_CANCELLED: return CLI_CANCELLED;
	case FM_E_USAGE: return CLI_BAD_USAGE;
	default: return CLI_FAILED;
	}
}

int cli_complain(struct cli *cli, const char *target, const struct fm_err *err)
{
	fm_progress_end(cli->progress);
	(void)fflush(stdout);
	if (target)
		fm_text_printf(stderr, "%s: %s: %s", cli->command->name, target,
			       err->msg);
	else
		fm_text_printf(stderr, "%s: %s", cli->command->name, err->msg);
	(void)fputc('\n', stderr);
	return status_of(cli->command, err);
}

struct fm_json *cli_summary_begin(struct cli *cli, const char *target)
{
	struct fm_json *j = fm_json_begin("summary", target);

	fm_json_text(j, "command", cli->command->name);
	return j;
}

void cli_summary_end(struct fm_json *j, int status)
{
	fm_json_number(j, "status", (uint64_t)status);
	fm_json_end(j, stdout);
}

int cli_fail(struct cli *cli, const char *target, const struct fm_err *err)
{
	int status = cli_complain(cli, target, err);

	if (cli_options.is_json) {
		struct fm_json *j = cli_summary_begin(cli, target);

		fm_json_text(j, "error", err->msg);
		cli_summary_end(j, status);
	}
	return status;
}

int cli_open(struct cli *cli, const char *path, struct fm_place *place,
	     struct fm_target *t, struct fm_bid *bid, struct fm_err *err)
{
	const struct fm_format *format = cli->settings.format;
	int rc = 0;

	memset(t, 0, sizeof(*t));
	memset(bid, 0, sizeof(*bid));
	place->path = path;
	place->fd = -1;
	if (cli_place_open(AT_FDCWD, path, true, place, err) != 0)
		return err->code;
	if (format)
		format->probe(place, bid);
	else
		rc = fm_format_probe(place, &format, bid, err);
	if (rc != 0 || !format)
		return rc;
	t->path = path;
	t->fd = place->fd;
	fm_arena_init(&t->out);
	rc = format->open(t, err);
	if (rc == 0)
		t->format = format;
	else
		fm_arena_release(&t->out);
	return rc;
}

void cli_close(struct fm_target *t)
{
	if (!t->format)
		return;
	t->format->close(t);
	fm_arena_release(&t->out);
	t->format = NULL;
}

static int unknown(struct cli *cli, const struct fm_place *place)
{
	struct fm_err err;

	if (cli->command->unknown)
		return cli->command->unknown(cli, place);
	fm_err_set(&err,
		   place->is_directory && cli->command->takes_copy_target
			   ? FM_E_USAGE
			   : FM_E_UNSUPPORTED,
		   "of no format that is known here");
	return cli_fail(cli, place->path, &err);
}

static int run_one(struct cli *cli, const char *path)
{
	struct fm_place place;
	struct fm_target t;
	struct fm_bid bid;
	struct fm_err err;
	int status;

	if (cli_open(cli, path, &place, &t, &bid, &err) != 0) {
		status = cli_fail(cli, path, &err);
	} else if (!t.format) {
		status = unknown(cli, &place);
	} else if (cli->command->handles && !cli->command->handles(t.format)) {
		fm_err_set(&err, FM_E_UNSUPPORTED,
			   "%s does nothing with the format %s",
			   cli->command->name, t.format->name);
		status = cli_fail(cli, path, &err);
	} else {
		status = cli->command->run(cli, &t, &bid);
	}
	cli_close(&t);
	fm_close_fd(&place.fd);
	return status;
}

// The second operand of a command that writes another target.
static int take_copy_target(struct cli *cli, struct fm_err *err)
{
	const char **operands = cli->operands;

	if (!cli->command->takes_copy_target || !operands || !operands[1])
		return 0;
	if (operands[2])
		return fm_err_set(err, FM_E_USAGE,
				  "at most two operands: what to convert, and "
				  "where the converted copy goes");
	if (cli_options.is_recursive || cli_options.shard)
		return fm_err_set(err, FM_E_USAGE,
				  "--recursive and --shard go with targets "
				  "that are converted in place");
	cli->copy_to = operands[1];
	operands[1] = NULL;
	return 0;
}

static int run_all(struct cli *cli)
{
	struct cli_targets targets = {.n = 0};
	int status = CLI_OK;
	struct fm_err err;
	int rc = cli_targets_collect(cli, cli->operands, &targets, &status,
				     &err);

	if (rc != 0)
		status |= cli_complain(cli, NULL, &err);
	for (size_t i = 0; rc == 0 && i < targets.n && !fm_cancelled(); i++)
		status |= run_one(cli, targets.paths[i]);
	if (fm_cancelled())
		status |= CLI_CANCELLED;
	cli_targets_release(&targets);
	return status;
}

// popt's own files may define aliases; never for a program that runs with
// rights its user does not have, and never `exec` lines (see get_context).
static void read_aliases(poptContext con)
{
	if (getuid() == geteuid() && getgid() == getegid() &&
	    !getenv("FSMEND_NO_POPT"))
		(void)poptReadDefaultConfig(con, 0);
}

static poptContext get_context(int argc, char **argv,
			       const struct cli_command *command)
{
	poptContext con =
		poptGetContext(command->name, argc, (const char **)argv,
			       command->table, POPT_CONTEXT_NO_EXEC);

	read_aliases(con);
	return con;
}

static void print_help(poptContext con, const struct cli_command *command,
		       int wish)
{
	char operands[64];

	(void)snprintf(operands, sizeof(operands), "%s%s",
		       wish == CLI_HELP ? "[OPTION...] " : "",
		       command->operands);
	poptSetOtherOptionHelp(con, operands);
	switch (wish) {
	case CLI_HELP: poptPrintHelp(con, stdout, 0); break;
	case CLI_USAGE: poptPrintUsage(con, stdout, 0); break;
	case CLI_VERSION:
		(void)printf("%s (fsmend) %s\n", command->name, FM_VERSION);
		break;
	default: cli_dump_options(command->table);
	}
}

// 0 when there is work to do; otherwise *status is final.
static int parse(poptContext con, struct cli *cli, int *status)
{
	int wish = poptGetNextOpt(con);
	struct fm_err err = {.code = 0};

	if (wish > 0) {
		print_help(con, cli->command, wish);
		return 1;
	}
	if (wish < -1)
		fm_err_set(&err, FM_E_USAGE, "%s: %s",
			   poptBadOption(con, POPT_BADOPTION_NOALIAS),
			   poptStrerror(wish));
	cli->operands = poptGetArgs(con);
	if (err.code == 0 && cli_options_check(&cli->settings, &err) == 0 &&
	    take_copy_target(cli, &err) == 0 && cli->command->check)
		(void)cli->command->check(cli, &err);
	if (err.code == 0)
		return 0;
	*status = cli_complain(cli, NULL, &err);
	return 1;
}

// What could not be written must not pass for success.
static int close_stdout(struct cli *cli)
{
	struct fm_err err;
	bool is_bad = ferror(stdout) != 0;

	if (fflush(stdout) == 0 && !is_bad)
		return CLI_OK;
	fm_err_sys(&err, errno, "cannot write the output");
	return cli_complain(cli, NULL, &err);
}

int cli_main(int argc, char **argv, const struct cli_command *command)
{
	struct cli cli = {.command = command};
	int status = CLI_OK;
	poptContext con;

	cli_options_prepare();
	con = get_context(argc, argv, command);
	if (parse(con, &cli, &status) == 0) {
		fm_cancel_install();
		cli.progress = fm_progress_new(cli.settings.progress,
					       cli.settings.progress_fd);
		status = run_all(&cli);
	}
	status |= close_stdout(&cli);
	if (status & CLI_BAD_USAGE)
		(void)fprintf(stderr, "Try `%s --help'.\n", command->name);
	fm_progress_free(cli.progress);
	poptFreeContext(con);
	if (command->release)
		command->release();
	cli_options_release();
	return status;
}
