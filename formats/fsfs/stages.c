// SPDX-License-Identifier: GPL-2.0-or-later
// Which conversion comes next on the way to what is wanted.

#include "formats/fsfs/convert.h"

#include "lib/numtree.h"
#include "lib/txn.h"

#include <inttypes.h>
#include <string.h>

// What the newest record carries over, if it is part of the same wish.
static int read_carry(struct fsfs_stages *st, const struct fm_options *opts,
		      struct fm_err *err)
{
	bool is_silent = !opts->layout && !opts->packs && !opts->unpacks;
	struct fm_txn_look look;
	struct fm_journal j;
	struct fm_arena tmp;
	const char *carry, *wanted;
	uint64_t shard = 0;
	int rc;

	fm_arena_init(&tmp);
	rc = fm_txn_look(st->fs->db, FSFS_JOURNALS, &tmp, &look, err);
	if (rc == 0 && look.newest) {
		rc = fm_txn_read(st->fs->db, FSFS_JOURNALS, look.newest, &tmp,
				 &j, err);
		carry = rc == 0 ? fm_journal_note(&j, "carry") : NULL;
		wanted = rc == 0 ? fm_journal_note(&j, "for") : NULL;
		if (carry && wanted && fm_num_parse(wanted, &shard) &&
		    (is_silent || shard == st->shard) &&
		    fm_num_parse(carry, &st->carry)) {
			st->follows = true;
			st->shard = shard;
		}
	}
	fm_arena_release(&tmp);
	return rc;
}

int fsfs_need_stopped(const struct fsfs *fs, bool changes_layout,
		      const struct fm_options *opts, struct fm_err *err)
{
	if (opts->is_stopped || (!changes_layout && fs->traits.has_pack_lock))
		return 0;
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s under running servers can make those of "
			  "Subversion 1.8 and older fail: stop them all, then "
			  "say --servers-stopped",
			  changes_layout ? "giving packs another layout"
					 : "unpacking");
}

static int refuse_pack(const struct fsfs_stages *st, struct fm_err *err)
{
	if (!st->fs->traits.has_min_unpacked)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "format %u has no packs: svnadmin upgrade "
				  "first",
				  st->fs->traits.number);
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "a linear layout has no packs: --layout=sharded");
}

// Where the pointer is to be in the end: whole shards only.
static int find_goal(struct fsfs_stages *st, const struct fm_options *opts,
		     struct fm_err *err)
{
	uint64_t base = st->follows ? st->carry : st->packed;
	struct fsfs_current current;

	st->goal = 0;
	if (opts->packs) {
		if (!st->fs->traits.has_min_unpacked || st->shard == 0)
			return refuse_pack(st, err);
		if (fsfs_current_read(st->fs, &current, err) != 0)
			return err->code;
		base = current.youngest + 1;
	}
	if (opts->unpacks)
		base = 0;
	st->carry = base;
	if (st->shard)
		st->goal = base / st->shard * st->shard;
	return 0;
}

// The layout changes, too. Packs become other packs in one go; but what is to
// be loose comes out of them first, shard by shard, where that is more than
// one of them: their disk space goes as it is used.
static void find_move(struct fsfs_stages *st, bool is_copy)
{
	uint64_t shard = st->fs->traits.shard;
	uint64_t rest = st->packed ? st->goal % shard : 0;
	uint64_t least = st->goal + (rest ? shard - rest : 0);

	st->next = FSFS_STAGE_LAYOUT;
	st->is_last = true;
	if (is_copy || st->packed == 0) {
		// Beside running servers, then: packs are made afterwards.
		if (!is_copy && st->goal) {
			st->is_last = false;
			st->goal = 0;
		}
	} else if (least < st->packed) {
		st->next = FSFS_STAGE_PACKS;
		st->is_last = false;
		st->goal = least;
	}
}

int fsfs_stages_find(struct fsfs_stages *st, const struct fm_options *opts,
		     struct fm_err *err)
{
	const struct fsfs_traits *now = &st->fs->traits;
	bool is_copy = opts->mode == FM_MODE_COPY;
	bool moves;

	if (opts->packs && opts->unpacks)
		return fm_err_set(err, FM_E_USAGE,
				  "--pack and --unpack exclude each other");
	if (read_carry(st, opts, err) != 0 ||
	    (now->has_min_unpacked &&
	     fsfs_min_unpacked_read(st->fs, &st->packed, err) != 0) ||
	    find_goal(st, opts, err) != 0)
		return err->code;
	moves = st->shard != now->shard;
	if (moves || is_copy) {
		find_move(st, is_copy);
	} else {
		st->next = st->goal != st->packed ? FSFS_STAGE_PACKS
						  : FSFS_STAGE_NONE;
		st->is_last = true;
	}
	if (!is_copy && st->packed &&
	    (st->next == FSFS_STAGE_LAYOUT || st->goal < st->packed))
		return fsfs_need_stopped(st->fs, moves, opts, err);
	return 0;
}

void fsfs_stages_note(const struct fsfs_stages *st, struct fm_plan *plan)
{
	if (st->next == FSFS_STAGE_NONE)
		return;
	plan->is_partial = !st->is_last;
	if (st->follows)
		fm_plan_add_note(plan, FM_NOTE_FOLLOWS, "");
	if (st->is_last)
		return;
	fm_plan_add_note(plan, FM_NOTE_MORE, "");
	fm_plan_add_note(plan, "carry",
			 fm_arena_printf(plan->out, "%" PRIu64, st->carry));
	fm_plan_add_note(plan, "for",
			 fm_arena_printf(plan->out, "%" PRIu64, st->shard));
}
