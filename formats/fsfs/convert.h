/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the layout conversion: convert.c (what to do), settle.c (the
 * small files that change with it), lower.c (going back to formats 1 and 2),
 * hold.c (keeps writers of the rep-cache out while it is copied).
 */
#ifndef FM_FORMATS_FSFS_CONVERT_H
#define FM_FORMATS_FSFS_CONVERT_H

#include "formats/fsfs/fsfs.h"

/* From one shape of a repository to another. Lives in the plan's arena. */
struct fsfs_conversion {
	const struct fsfs *fs;
	struct sqlite3 *held; /* of fsfs_hold_rep_cache */
	struct fsfs_traits from, to;
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

/* fm_plan.hold: a shared SQLite lock on rep-cache.db, taken or given up. */
int fsfs_hold_rep_cache(struct fm_plan *plan, bool on, struct fm_err *err);

#endif
