/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of a revision are: in a file of its own, or in a pack.
 *
 * A store is one such file, open; fsfs_revs finds and keeps the store of a
 * revision. Both addressings are told apart here and nowhere above:
 *
 *	physical	a revision is a slice of bytes, trailer included
 *	logical		a revision is a set of items (index.h), scattered over
 *			the file in any order
 *
 *	fsfs_revs_init(&r, fs->db, "revs", &traits, packed);
 *	fsfs_revs_find(&r, revision, &store, &err);
 *	fsfs_revs_release(&r);
 *
 * A store is valid until the next find. Reading only; one thread at a time.
 */
#ifndef FM_FORMATS_FSFS_STORE_H
#define FM_FORMATS_FSFS_STORE_H

#include "formats/fsfs/fsfs.h"
#include "formats/fsfs/index.h"

#include "lib/source.h"

struct fsfs_store {
	int fd;
	bool is_pack;
	struct fm_source source; /* the whole file */
	uint64_t first, count;   /* revisions in it */
	uint64_t *offsets;       /* physical: count + 1 of them */
	struct fsfs_p2l p2l;     /* logical */
	/* Logical: the items by revision, those of first + i from start[i]
	   on, each as a commit writes them: by number from 3 up, then the
	   root node-revision (2), then the changed paths (1). */
	const struct fsfs_item **items;
	size_t *start; /* count + 1 of them */
	struct fm_arena arena;
};

struct fsfs_revs {
	int top;        /* directory of the shards, borrowed */
	uint64_t shard; /* revisions a shard, 0: linear */
	bool is_logical;
	uint64_t packed;         /* revisions below are in packs */
	struct fsfs_store store; /* of the last find */
	bool is_open;
};

void fsfs_revs_init(struct fsfs_revs *r, int top, const struct fsfs_traits *t,
		    uint64_t packed);
void fsfs_revs_release(struct fsfs_revs *r);

int fsfs_revs_find(struct fsfs_revs *r, uint64_t revision,
		   const struct fsfs_store **store, struct fm_err *err);

/* How many revisions from this one on, below `end`, the store holds. */
uint64_t fsfs_store_run(const struct fsfs_store *s, uint64_t revision,
			uint64_t end);

/* Physical: the bytes of `count` revisions of the store. */
int fsfs_store_slice(const struct fsfs_store *s, uint64_t revision,
		     uint64_t count, struct fm_source *slice,
		     struct fm_err *err);

/* Logical: the items of one revision of the store, n of them. */
const struct fsfs_item **fsfs_store_items(const struct fsfs_store *s,
					  uint64_t revision, size_t *n);

/* The manifest of a physical pack: count offsets, and the end. */
int fsfs_manifest_read(int pack_dir, uint64_t count, uint64_t size,
		       struct fm_arena *out, uint64_t **offsets,
		       struct fm_err *err);

#endif
