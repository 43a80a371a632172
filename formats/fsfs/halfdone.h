/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a resharding script leaves behind when it is stopped.
 *
 * tools/server-side/fsfs-reshard.py of Subversion (1.5 on; read in 1.7) knows
 * formats 1 to 3.  It takes db/format away, and for revs/, then revprops/:
 *
 *	from sharded	renames K to K.shard, and moves its files up
 *	to sharded	moves file after file, from 0 on, to K.shard in a new
 *			revs.reshard/, moves those to revs/K, removes it
 *
 * At its end it writes db/format.  Stopped anywhere, it leaves none, or an empty
 * one, and each number once: flat, in K, in K.shard or in revs.reshard/K.shard.
 * Txn files it makes none.
 */
#ifndef FM_FORMATS_FSFS_HALFDONE_H
#define FM_FORMATS_FSFS_HALFDONE_H

#include "formats/fsfs/fsfs.h"

#include "lib/plan.h"

#define FSFS_SCRIPT_SUFFIX ".shard"
#define FSFS_SCRIPT_BESIDE ".reshard"
/* What db/format said before: format 2 reads whatever format 1 holds. */
#define FSFS_SCRIPT_FORMAT "2\n"

struct fsfs_halfdone {
	size_t n_dirs;        /* of shards, wherever they lie */
	uint64_t least, most; /* shard sizes that explain all of them */
};

/* Is it that? db/format is missing or empty, and there are shards. Reads all
   names. */
bool fsfs_is_halfdone(const struct fsfs *fs, struct fsfs_halfdone *h);
/* The same from a few names: it may miss what was stopped on its way to linear. */
bool fsfs_looks_halfdone(const struct fsfs *fs);

void fsfs_plan_adopts(struct fm_plan *plan);

/* The size to go on with: the wanted one where that fits (0: none was named). */
int fsfs_halfdone_shard(const struct fsfs_halfdone *h, uint64_t wanted,
			uint64_t *shard, struct fm_err *err);

#endif
