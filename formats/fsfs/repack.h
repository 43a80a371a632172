/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making packs and unpacked shards out of whatever holds the revisions.
 *
 * Each function fills one stage (lib/out.h) with the files of one directory:
 * "K.pack", or a shard. Bytes of physical revisions are copied as they are,
 * so that what was packed by Subversion comes out as it went in; items of
 * logical ones keep number, bytes and checksum and get new indexes.
 */
#ifndef FM_FORMATS_FSFS_REPACK_H
#define FM_FORMATS_FSFS_REPACK_H

#include "formats/fsfs/conf.h"
#include "formats/fsfs/store.h"

#include "lib/out.h"

/* A pack of revisions first .. first + count - 1. */
int fsfs_make_pack(struct fsfs_revs *from, uint64_t first, uint64_t count,
		   const struct fsfs_conf *conf, const struct fm_stage *stage,
		   struct fm_err *err);

/* The file of one revision, under its number. */
int fsfs_make_revision(struct fsfs_revs *from, uint64_t revision,
		       const struct fsfs_conf *conf,
		       const struct fm_stage *stage, struct fm_err *err);

/* Is the pack or file that was made (in dir) the same content? */
int fsfs_check_made(struct fsfs_revs *from, struct fsfs_revs *made,
		    uint64_t first, uint64_t count, struct fm_err *err);

#endif
