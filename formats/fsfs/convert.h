/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the layout conversion: convert.c (what to do), settle.c (the
 * small files that change with it), lower.c (going back to formats 1 and 2),
 * stages.c (several conversions for one wish), pack.c (packing, unpacking),
 * units.c (single packs, and shards out of packs), hold.c (keeps writers of
 * the rep-cache out while it is copied).
 */
#ifndef FM_FORMATS_FSFS_CONVERT_H
#define FM_FORMATS_FSFS_CONVERT_H

#include "formats/fsfs/fsfs.h"

/* From one shape of a repository to another. Lives in the plan's arena. */
struct fsfs_conversion {
	const struct fsfs *fs;
	struct sqlite3 *held; /* of fsfs_hold_rep_cache */
	struct fsfs_traits from, to;
	uint64_t from_packed, to_packed; /* revisions below are in packs */
	struct fm_arena *out;
	/* Going back below format 3: what `current` said when the repository
	   left it, from the record that is undone; or NULL. */
	const struct fm_journal_field *old_current;
};

/* The small files of the plan, from what lies there now (fm_plan.settle). */
int fsfs_settle(struct fm_plan *plan, struct fm_err *err);

/*
 * May the contents be read by a format below 3? FM_E_UNSUPPORTED with the
 * first obstacle. On success *current holds the bytes of `current`.
 */
int fsfs_lower_check(const struct fsfs_conversion *c, struct fm_buf *current,
		     struct fm_err *err);

/*
 * A wish may take several conversions, each with a journal of its own: what
 * will be single files is unpacked shard by shard before the layout changes,
 * and what is packed later comes after it. The records carry what comes next:
 *
 *	note carry N    revisions below N are to be packed in the end
 *	note for S      the wanted shard size
 *
 * FM_NOTE_MORE and FM_NOTE_FOLLOWS (lib/journal.h) tie the records together; an
 * undo that has another to do after it says FM_NOTE_MORE, too.
 */
enum fsfs_stage { FSFS_STAGE_NONE, FSFS_STAGE_PACKS, FSFS_STAGE_LAYOUT };

struct fsfs_stages {
	const struct fsfs *fs;
	uint64_t shard; /* wanted */
	enum fsfs_stage next;
	uint64_t packed, goal; /* the pointer now, and after this stage */
	bool is_last, follows;
	uint64_t carry;
};

int fsfs_stages_find(struct fsfs_stages *st, const struct fm_options *opts,
		     struct fm_err *err);
void fsfs_stages_note(const struct fsfs_stages *st, struct fm_plan *plan);

/*
 * Unpacking while servers of Subversion 1.8 and older run, or N to M, can give
 * them wrong answers: FM_E_UNSUPPORTED unless --servers-stopped was said.
 */
int fsfs_need_stopped(const struct fsfs *fs, bool changes_layout,
		      const struct fm_options *opts, struct fm_err *err);

/* plan.units, and what the two trees of the plan may have. traits: of the
   repository, whose db/format may hold the guard by now. */
int fsfs_plan_packs(const struct fsfs *fs, const struct fsfs_traits *traits,
		    struct fm_plan *plan, struct fm_err *err);

/*
 * Packing (to > from) or unpacking: db/min-unpacked-rev goes from one multiple
 * of the shard size to the other, a shard a step.
 */
int fsfs_plan_steps(const struct fsfs *fs, uint64_t from, uint64_t to,
		    struct fm_plan *plan, struct fm_err *err);

/* The same from the journal of an interrupted one, and the way back. */
int fsfs_resume_steps(const struct fsfs *fs, const struct fm_journal *j,
		      struct fm_plan *plan, struct fm_err *err);
int fsfs_undo_steps(const struct fsfs *fs, const struct fm_journal *j,
		    const struct fm_options *opts, struct fm_plan *plan,
		    struct fm_err *err);

/* fm_plan.hold: a shared SQLite lock on rep-cache.db, taken or given up. */
int fsfs_hold_rep_cache(struct fm_plan *plan, bool on, struct fm_err *err);

#endif
