// SPDX-License-Identifier: GPL-2.0-or-later
// Applying a plan, with checks before and after.

#include "cmd/apply.h"

#include "cmd/outcome.h"

#include "lib/autofd.h"
#include "lib/report_text.h"

#include <stdio.h>

int cli_apply(struct cli_change *c, enum cli_apply_how how,
	      const struct fm_journal *journal, struct fm_err *err)
{
	struct fm_txn_options opts = {
		.lock_wait_ms = c->cli->settings.lock_wait_ms,
		.progress = c->cli->progress,
		.no_proof = c->no_proof,
	};
	int rc = 0;

	switch (how) {
	case CLI_APPLY:
		rc = fm_txn_apply(&c->plan, &opts, &c->result, err);
		break;
	case CLI_RESUME:
		rc = fm_txn_resume(&c->plan, journal, &opts, &c->result, err);
		break;
	case CLI_TAKE_BACK:
		rc = fm_txn_undo(&c->plan, journal, &opts, &c->result, err);
		break;
	}
	fm_progress_end(c->cli->progress);
	return rc;
}

int cli_reopen(struct fm_target *t, struct fm_err *err)
{
	t->format->close(t);
	return t->format->open(t, err);
}

// Findings of the checks before or after a conversion are diagnostics here.
// Returns how many problems there are, or a negative error.
static int count_problems(struct cli_change *c, struct fm_err *err)
{
	struct fm_options opts = {.jobs = c->cli->settings.jobs,
				  .progress = c->cli->progress};
	struct fm_report report;
	int n;

	if (c->no_proof || !c->t->format->verify)
		return 0;
	fm_report_init(&report);
	n = c->t->format->verify(c->t, &opts, &report, err);
	fm_progress_end(c->cli->progress);
	if (n == 0 && fm_report_worst(&report, FM_ERROR)) {
		(void)fflush(stdout);
		fm_text_findings(stderr, c->t->path, &report, FM_ERROR);
		n = 1;
	}
	fm_report_release(&report);
	return n;
}

static int check_before(struct cli_change *c, struct fm_err *err)
{
	// What a plan takes over is no good layout yet: it looks for itself.
	int n = c->plan.adopts ? 0 : count_problems(c, err);

	if (n > 0)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "not touched, since the checks before a "
				  "conversion found problems");
	return n;
}

// A copy is another target: it is opened for the checks.
static int check_after(struct cli_change *c, struct fm_err *err)
{
	struct cli_change other = *c;
	struct fm_place place;
	struct fm_target t;
	struct fm_bid bid;
	int n;

	if (!c->plan.copy_to)
		return cli_reopen(c->t, err) == 0 ? count_problems(c, err)
						  : err->code;
	other.t = &t;
	n = cli_open(c->cli, c->plan.copy_to, &place, &t, &bid, err);
	if (n == 0 && t.format)
		n = count_problems(&other, err);
	else if (n == 0)
		n = fm_err_set(err, FM_E_FORMAT, "%s: is no %s",
			       c->plan.copy_to, c->t->format->name);
	cli_close(&t);
	fm_close_fd(&place.fd);
	return n;
}

// Applies the plan, or shows it; then looks at the result.
int cli_carry_out(struct cli_change *c, enum cli_apply_how how,
		  const struct fm_journal *journal, const char *verb)
{
	int status = CLI_OK;
	struct fm_err err;
	int n;

	if (c->plan.is_empty || cli_options.is_dry_run) {
		cli_print_plan(c, how == CLI_TAKE_BACK ? "would take back"
						       : "would change");
		return CLI_OK;
	}
	if ((how == CLI_APPLY && check_before(c, &err) != 0) ||
	    cli_apply(c, how, journal, &err) != 0)
		return cli_apply_fail(c, &err);
	n = check_after(c, &err);
	if (n < 0)
		return cli_apply_fail(c, &err);
	if (n > 0)
		status = CLI_PROBLEMS;
	cli_print_outcome(c, verb, status);
	return status;
}
