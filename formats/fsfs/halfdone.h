/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a resharding script leaves behind when it is stopped.
 *
 * tools/server-side/fsfs-reshard.py of Subversion (1.5 on) takes db/format
 * away, moves the files of revs/ and then of revprops/ to directories named
 * K.shard, renames those to K, and writes db/format at its end.  Stopped
 * anywhere, it leaves no db/format, or an empty one, and numbers in up to three
 * places: flat, in K.shard, in K.  Every file is there, once.
 */
#ifndef FM_FORMATS_FSFS_HALFDONE_H
#define FM_FORMATS_FSFS_HALFDONE_H

#include "formats/fsfs/fsfs.h"

#define FSFS_SCRIPT_SUFFIX ".shard"
/* What db/format said before: format 2 reads whatever format 1 holds. */
#define FSFS_SCRIPT_FORMAT "2\n"

struct fsfs_halfdone {
	size_t n_dirs;        /* K and K.shard, in both trees */
	uint64_t least, most; /* shard sizes that explain all of them */
};

/* Does it look like that? db/format is missing or empty, and there are
   directories with numbers. */
bool fsfs_is_halfdone(const struct fsfs *fs, struct fsfs_halfdone *h);

/* The size to go on with: the wanted one (0: none was named). */
int fsfs_halfdone_shard(const struct fsfs_halfdone *h, uint64_t wanted,
			uint64_t *shard, struct fm_err *err);

#endif
