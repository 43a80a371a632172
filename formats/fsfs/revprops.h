/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Revision properties, loose (one file a revision) or packed by shard.
 *
 *	fsfs_props_init(&p, revprops_dir, shard, packed);
 *	fsfs_props_find(&p, revision, &list, &err);     verbatim bytes
 *	fsfs_props_release(&p);
 *
 * A list is valid until the next find. Revision 0 is never packed. Making:
 * each function fills one stage (lib/out.h) with the files of one directory.
 */
#ifndef FM_FORMATS_FSFS_REVPROPS_H
#define FM_FORMATS_FSFS_REVPROPS_H

#include "formats/fsfs/manifest.h"
#include "formats/fsfs/revpack.h"

#include "lib/out.h"

struct fsfs_props {
	int top;         /* directory of the shards, borrowed */
	uint64_t shard;  /* revisions a shard, 0: linear */
	uint64_t packed; /* revisions below are in packs */
	/* The pack directory and the pack file last used. */
	bool has_pack;
	uint64_t k;                      /* number of the pack */
	struct fsfs_revpack_name *names; /* one per revision of it */
	size_t n_names;
	int dir;
	bool has_file;
	struct fsfs_revpack_name name;
	struct fsfs_revpack file;
	struct fm_arena pack_arena, file_arena;
};

void fsfs_props_init(struct fsfs_props *p, int top, uint64_t shard,
		     uint64_t packed);
void fsfs_props_release(struct fsfs_props *p);

int fsfs_props_find(struct fsfs_props *p, uint64_t revision,
		    struct fm_text *list, struct fm_err *err);

/* The pack of a shard, but for revision 0: its files and its manifest. */
int fsfs_make_props_pack(struct fsfs_props *from, uint64_t first,
			 uint64_t count, const struct fsfs_conf *conf,
			 const struct fm_stage *stage, struct fm_err *err);
/* The file of one revision. */
int fsfs_make_props_file(struct fsfs_props *from, uint64_t revision,
			 const struct fm_stage *stage, struct fm_err *err);
/* Are the lists of these revisions the same, byte for byte? */
int fsfs_check_props(struct fsfs_props *from, struct fsfs_props *made,
		     uint64_t first, uint64_t count, struct fm_err *err);

#endif
