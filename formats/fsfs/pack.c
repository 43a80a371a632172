// SPDX-License-Identifier: GPL-2.0-or-later
// Packing and unpacking: one shard a step, behind db/min-unpacked-rev.
//
//	pack    shard K -> K.pack, upward,   the pointer becomes (K+1)*S
//	unpack  K.pack -> shard K, downward, the pointer becomes K*S
//
// Revision properties go along where the format packs them; those of revision
// 0 never do. Readers follow the pointer, so every state is a valid one.

#include "formats/fsfs/convert.h"

#include "lib/numtree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct fm_journal_field pointer_bytes(struct fm_arena *out, uint64_t n)
{
	const char *text = fm_arena_printf(out, "%" PRIu64 "\n", n);

	return (struct fm_journal_field){text, strlen(text)};
}

int fsfs_plan_steps(const struct fsfs *fs, uint64_t from, uint64_t to,
		    struct fm_plan *plan, struct fm_err *err)
{
	bool packs = to > from;
	struct fsfs_current current;

	if (fsfs_current_read(fs, &current, err) != 0)
		return err->code;
	plan->operation = packs ? "pack" : "unpack";
	plan->title = fm_arena_printf(
		plan->out,
		"%s r%" PRIu64 " to r%" PRIu64 ", %" PRIu64 " shards",
		plan->operation, packs ? from : to, (packs ? to : from) - 1,
		(packs ? to - from : from - to) / fs->traits.shard);
	plan->mode = FM_MODE_STEPS;
	plan->root = fs->db;
	plan->root_path = fs->db_path;
	plan->journals = FSFS_JOURNALS;
	plan->marker = "min-unpacked-rev";
	plan->old_marker = pointer_bytes(plan->out, from);
	plan->new_marker = pointer_bytes(plan->out, to);
	plan->bound = "current";
	plan->highest = current.youngest;
	plan->junk = "svn-";
	plan->locks[plan->n_locks++] = "write-lock";
	if (fs->traits.has_pack_lock)
		plan->build_lock = "pack-lock";
	fm_plan_add_tree(plan, "revs", fs->traits.shard, fs->traits.shard,
			 false);
	fm_plan_add_tree(plan, "revprops", fs->traits.shard, fs->traits.shard,
			 true);
	plan->steps = (struct fm_plan_steps){.pointer = plan->marker,
					     .from = from,
					     .to = to,
					     .by = fs->traits.shard};
	return fsfs_plan_packs(fs, &fs->traits, plan, err);
}

static int pointer_of(const struct fm_journal *j, size_t field, uint64_t *n,
		      struct fm_err *err)
{
	const struct fm_journal_record *r =
		fm_journal_find(j, "marker", "min-unpacked-rev");
	const char *text = fm_journal_text(r, field);
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(text, "\n"),
		       text);
	if (r && fm_num_parse(digits, n))
		return 0;
	return fm_err_set(err, FM_E_FORMAT,
			  "the journal lacks its marker record");
}

int fsfs_resume_steps(const struct fsfs *fs, const struct fm_journal *j,
		      struct fm_plan *plan, struct fm_err *err)
{
	uint64_t from = 0, to = 0, now = 0;

	if (pointer_of(j, 2, &from, err) != 0 ||
	    pointer_of(j, 3, &to, err) != 0 ||
	    fsfs_min_unpacked_read(fs, &now, err) != 0 ||
	    fsfs_plan_steps(fs, from, to, plan, err) != 0)
		return err->code;
	plan->undoes = fm_journal_note(j, "undoes");
	plan->is_partial = fm_journal_note(j, FM_NOTE_MORE) != NULL;
	plan->back = fm_arena_alloc(plan->out, sizeof(*plan->back));
	fm_plan_init(plan->back, plan->out);
	return fsfs_plan_steps(fs, now, from, plan->back, err);
}

int fsfs_undo_steps(const struct fsfs *fs, const struct fm_journal *j,
		    const struct fm_options *opts, struct fm_plan *plan,
		    struct fm_err *err)
{
	uint64_t was = 0, now = 0;

	if (pointer_of(j, 2, &was, err) != 0 ||
	    fsfs_min_unpacked_read(fs, &now, err) != 0 ||
	    (was < now && fsfs_need_stopped(fs, false, opts, err) != 0))
		return err->code;
	if (was % fs->traits.shard)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "the shard size has changed since");
	return fsfs_plan_steps(fs, now, was, plan, err);
}
