// SPDX-License-Identifier: GPL-2.0-or-later
// fsconvert: brings a target into another layout or version, in place or as a
// copy; finishes, takes back or forgets earlier conversions.

#include "cmd/apply.h"
#include "cmd/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	char *layout, *mode;
	int is_resume, is_undo, is_forget, is_no_proof, is_force;
	int packs, unpacks, is_stopped;
} options;

static enum fm_mode mode;

static const struct poptOption table[] = {
	{"layout", '\0', POPT_ARG_STRING, &options.layout, 0,
	 "one directory, shards of 1000, or shards of N files",
	 "linear|sharded|N"},
	{"pack", '\0', POPT_ARG_NONE, &options.packs, 0,
	 "pack every full shard", NULL},
	{"unpack", '\0', POPT_ARG_NONE, &options.unpacks, 0,
	 "make single files of all packs", NULL},
	{"servers-stopped", '\0', POPT_ARG_NONE, &options.is_stopped, 0,
	 "no server has it open: what running ones could not stand is allowed",
	 NULL},
	{"mode", '\0', POPT_ARG_STRING, &options.mode, 0,
	 "build the new beside the old while servers run, or move the files",
	 "link|rename"},
	{"resume", '\0', POPT_ARG_NONE, &options.is_resume, 0,
	 "finish an interrupted conversion", NULL},
	{"undo", '\0', POPT_ARG_NONE, &options.is_undo, 0,
	 "take back an interrupted conversion, or else the last one", NULL},
	{"forget", '\0', POPT_ARG_NONE, &options.is_forget, 0,
	 "delete the records that --undo needs", NULL},
	{"no-proof", '\0', POPT_ARG_NONE, &options.is_no_proof, 0,
	 "leave out the checks before and after", NULL},
	{"force", '\0', POPT_ARG_NONE, &options.is_force, 0,
	 "replace an existing TARGET", NULL},
	CLI_JOBS,
	CLI_INCLUDE_SAFETY,
	CLI_INCLUDE_SELECTION,
	CLI_INCLUDE_OUTPUT,
	CLI_INCLUDE_HELP,
	POPT_TABLEEND,
};

static int check_copy(const struct cli *cli, struct fm_err *err)
{
	if (options.is_force && !cli->copy_to)
		return fm_err_set(err, FM_E_USAGE,
				  "--force is of use with a TARGET only");
	if (cli->copy_to && options.mode)
		return fm_err_set(err, FM_E_USAGE,
				  "--mode is of use without a TARGET only");
	return 0;
}

static int check(struct cli *cli, struct fm_err *err)
{
	int n = options.is_resume + options.is_undo + options.is_forget;

	if (n > 1)
		return fm_err_set(err, FM_E_USAGE,
				  "--resume, --undo and --forget exclude each "
				  "other");
	if (n && (options.layout || options.packs || options.unpacks ||
		  cli->copy_to))
		return fm_err_set(err, FM_E_USAGE,
				  "--resume, --undo and --forget go with "
				  "neither --layout, --pack, --unpack nor a "
				  "TARGET");
	if (options.mode && strcmp(options.mode, "rename") == 0)
		mode = FM_MODE_RENAME;
	else if (options.mode && strcmp(options.mode, "link") != 0)
		return fm_err_set(err, FM_E_USAGE, "--mode=%s: link or rename",
				  options.mode);
	return check_copy(cli, err);
}

static struct fm_options wishes(const struct cli_change *c)
{
	return (struct fm_options){
		.jobs = c->cli->settings.jobs,
		.is_dry_run = cli_options.is_dry_run != 0,
		.progress = c->cli->progress,
		.layout = options.layout,
		.packs = options.packs != 0,
		.unpacks = options.unpacks != 0,
		.is_stopped = options.is_stopped != 0,
		.mode = c->cli->copy_to ? FM_MODE_COPY : mode,
		.copy_to = c->cli->copy_to,
		.replace = options.is_force != 0,
	};
}

static int convert(struct cli_change *c)
{
	struct fm_options opts = wishes(c);
	struct fm_err err;

	if (c->t->format->plan_convert(c->t, &opts, &c->plan, &err) != 0)
		return cli_apply_fail(c, &err);
	return cli_carry_out(c, CLI_APPLY, NULL, "converted");
}

// No journal and no record: is there really nothing? A target that is not what
// it should be (a guard whose journal is lost) needs help all the same.
static int nothing(struct cli_change *c, const char *what)
{
	struct fm_options opts = wishes(c);
	struct fm_err err;

	if (c->t->format->plan_convert(c->t, &opts, &c->plan, &err) ==
	    FM_E_FORMAT)
		return cli_apply_fail(c, &err);
	fm_plan_init(&c->plan, &c->t->out);
	c->plan.is_empty = true;
	c->plan.title = what;
	cli_print_plan(c, "");
	return CLI_OK;
}

// The newest conversion that was finished, back to where it started.
static int undo_record(struct cli_change *c, int root, const char *journals)
{
	struct fm_options opts = wishes(c);
	struct fm_txn_look look;
	struct fm_journal j;
	struct fm_err err;

	if (fm_txn_look(root, journals, &c->t->out, &look, &err) != 0)
		return cli_apply_fail(c, &err);
	if (!look.newest)
		return nothing(c, "no conversion to undo");
	if (fm_txn_read(root, journals, look.newest, &c->t->out, &j, &err) !=
		    0 ||
	    c->t->format->plan_undo(c->t, &j, &opts, &c->plan, &err) != 0)
		return cli_apply_fail(c, &err);
	c->plan.undoes = look.newest;
	return cli_carry_out(c, CLI_APPLY, NULL, "undone");
}

// Packs are made and unmade on the way to another layout, too: then the plan
// says that there is more to come.
static bool is_same_packing(const struct fm_plan *plan)
{
	bool packs = plan->steps.to > plan->steps.from;

	if (plan->is_partial)
		return options.layout || options.packs || options.unpacks ||
		       !packs;
	return packs ? options.packs || options.layout : options.unpacks;
}

// Packs and shards that are taken over leave no choice of the mode.
static bool is_other_mode(const struct fm_plan *plan)
{
	const struct fm_plan_tree *tree = &plan->trees[0];

	if (!options.mode || mode == plan->mode ||
	    plan->mode == FM_MODE_STEPS || plan->adopts)
		return false;
	return plan->n_trees == 0 ||
	       (tree->from_packed == 0 && tree->to_packed == 0);
}

// Running the same command again goes on; another wish has to wait.
static bool is_same_wish(const struct cli *cli, const struct fm_plan *plan)
{
	uint64_t to = plan->n_trees ? plan->trees[0].to : 0;

	if (cli->copy_to || is_other_mode(plan))
		return false;
	if (plan->mode == FM_MODE_STEPS)
		return is_same_packing(plan);
	if (plan->adopts && plan->is_partial)
		return true;
	if (!options.layout || strcmp(options.layout, "sharded") == 0)
		return to != 0;
	if (strcmp(options.layout, "linear") == 0)
		return to == 0;
	return to == strtoull(options.layout, NULL, 10);
}

// Behind the commit point the way back leads through the end: finish, then
// undo the record that this leaves.
static int take_back(struct cli_change *c, const struct fm_journal *journal,
		     int root, const char *journals)
{
	struct fm_err err;
	int rc;

	c->plan.n_after = 0;
	if (cli_options.is_dry_run)
		return cli_carry_out(c, CLI_TAKE_BACK, journal, "");
	rc = cli_apply(c, CLI_TAKE_BACK, journal, &err);
	if (rc == 0) {
		cli_print_outcome(c, "taken back", CLI_OK);
		/* What came before it was for the same wish. */
		c->plan.is_partial =
			fm_journal_note(journal, FM_NOTE_FOLLOWS) != NULL;
		return CLI_OK;
	}
	if (rc != FM_E_UNSUPPORTED ||
	    cli_apply(c, CLI_RESUME, journal, &err) != 0 ||
	    cli_reopen(c->t, &err) != 0)
		return cli_apply_fail(c, &err);
	fm_plan_init(&c->plan, &c->t->out);
	return undo_record(c, root, journals);
}

// There is an unfinished journal, and nobody works on it.
static int settle(struct cli_change *c, const struct fm_journal *journal,
		  int root, const char *journals)
{
	struct fm_err err;

	if (c->t->format->plan_resume(c->t, journal, &c->plan, &err) != 0)
		return cli_apply_fail(c, &err);
	/* An interrupted --undo is finished by the next one. */
	if (options.is_undo && !c->plan.undoes)
		return take_back(c, journal, root, journals);
	if (options.is_resume || options.is_undo ||
	    (!options.is_forget && is_same_wish(c->cli, &c->plan)))
		return cli_carry_out(c, CLI_RESUME, journal, "finished");
	fm_err_set(&err, FM_E_UNFINISHED,
		   "an interrupted conversion (%s) comes first", c->plan.title);
	return cli_apply_fail(c, &err);
}

static int forget(struct cli_change *c, int root, const char *journals,
		  const struct fm_txn_look *look)
{
	unsigned n = look->n_finished;
	struct fm_err err;

	if (!cli_options.is_dry_run &&
	    fm_txn_forget(root, journals, &n, &err) != 0)
		return cli_apply_fail(c, &err);
	return cli_print_forgotten(c, n);
}

// Interrupted between two conversions of one wish: the newest record says so.
static int go_on(struct cli_change *c, int root, const char *journals,
		 const struct fm_txn_look *look)
{
	struct fm_journal j;
	struct fm_err err;

	if (!look->newest)
		return nothing(c, "no interrupted conversion");
	if (fm_txn_read(root, journals, look->newest, &c->t->out, &j, &err))
		return cli_apply_fail(c, &err);
	return fm_journal_note(&j, FM_NOTE_MORE)
		       ? convert(c)
		       : nothing(c, "no interrupted conversion");
}

static int begin(struct cli_change *c, int root, const char *journals)
{
	struct fm_txn_look look;
	struct fm_err err;

	if (fm_txn_look(root, journals, &c->t->out, &look, &err) != 0)
		return cli_apply_fail(c, &err);
	if (look.state == FM_TXN_RUNNING) {
		fm_err_set(&err, FM_E_BUSY, "another process is at work on it");
		return cli_apply_fail(c, &err);
	}
	if (look.state == FM_TXN_UNFINISHED)
		return settle(c, &look.journal, root, journals);
	if (options.is_forget)
		return forget(c, root, journals, &look);
	if ((options.is_resume || options.is_undo) && !cli_options.is_dry_run &&
	    fm_txn_tidy(root, journals, &err) != 0)
		return cli_apply_fail(c, &err);
	if (options.is_resume)
		return go_on(c, root, journals, &look);
	if (options.is_undo)
		return undo_record(c, root, journals);
	return convert(c);
}

// One wish may take several conversions: each is finished, with a record of
// its own, before the next is planned from what then lies there.
static int run(struct cli *cli, struct fm_target *t, const struct fm_bid *bid)
{
	struct cli_change c = {
		.cli = cli, .t = t, .no_proof = options.is_no_proof != 0};
	const char *journals;
	struct fm_err err;
	bool is_undo;
	int root, status;

	(void)bid;
	fm_plan_init(&c.plan, &t->out);
	if (t->format->journals(t, &root, &journals, &err) != 0)
		return cli_apply_fail(&c, &err);
	status = begin(&c, root, journals);
	while (status == CLI_OK && c.plan.is_partial &&
	       !cli_options.is_dry_run) {
		is_undo = options.is_undo || c.plan.undoes;
		if (cli_reopen(t, &err) != 0 ||
		    t->format->journals(t, &root, &journals, &err) != 0)
			return cli_apply_fail(&c, &err);
		fm_plan_init(&c.plan, &t->out);
		status =
			is_undo ? undo_record(&c, root, journals) : convert(&c);
	}
	return status;
}

static bool handles(const struct fm_format *format)
{
	return format->plan_convert != NULL;
}

static void release(void)
{
	free(options.layout);
	free(options.mode);
}

static const struct cli_command command = {
	.name = "fsconvert",
	.operands = "SOURCE [TARGET]",
	.table = table,
	.takes_copy_target = true,
	.damaged_status = CLI_FAILED,
	.handles = handles,
	.check = check,
	.run = run,
	.release = release,
};

int main(int argc, char **argv)
{
	return cli_main(argc, argv, &command);
}
