/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An inventory of revs/ or revprops/: what lies where, taken in one walk.
 *
 * Numbers at their right place cost 8 bytes each; everything else is kept in
 * lists of its own. Nothing is allocated by what a name or a pointer file
 * claims, only by what really lies there.
 *
 *	fsfs_tree_open(&tree, fs, "revs", err);
 *	fsfs_tree_collect(&tree, fs->traits.shard, err);
 *	...
 *	fsfs_tree_close(&tree);
 */
#ifndef FM_FORMATS_FSFS_TREE_H
#define FM_FORMATS_FSFS_TREE_H

#include "formats/fsfs/fsfs.h"

/* A sorted list without duplicates unless said otherwise. */
struct fsfs_numbers {
	uint64_t *at;
	size_t n, cap;
};

#define FSFS_FLAT UINT64_MAX /* not in a shard */

struct fsfs_misplaced {
	uint64_t number;
	uint64_t shard; /* directory in which it lies, or FSFS_FLAT */
};

struct fsfs_odd {
	char *path; /* below the tree */
	unsigned char type;
};

struct fsfs_tree {
	const char *name; /* "revs" */
	int fd;
	uint64_t shard;
	struct fsfs_numbers numbers;      /* files at their place */
	struct fsfs_numbers shards;       /* directories K */
	struct fsfs_numbers packs;        /* directories K.pack */
	struct fsfs_numbers linked;       /* K or R that are symbolic links */
	struct fsfs_misplaced *misplaced; /* sorted by number, shard */
	size_t n_misplaced, cap_misplaced;
	struct fsfs_odd *odd; /* names of no known kind, sorted */
	size_t n_odd, n_odd_seen;
};

/* FM_E_IO with .sys when it cannot be opened; it may be a symbolic link. */
int fsfs_tree_open(struct fsfs_tree *tree, const struct fsfs *fs,
		   const char *name, struct fm_err *err);
void fsfs_tree_close(struct fsfs_tree *tree);

/* Walks the tree afresh; shard 0 means linear. */
int fsfs_tree_collect(struct fsfs_tree *tree, uint64_t shard,
		      struct fm_err *err);

bool fsfs_numbers_have(const struct fsfs_numbers *list, uint64_t n);

/* Index of the first number that is not below n. */
size_t fsfs_numbers_find(const struct fsfs_numbers *list, uint64_t n);

/*
 * The shard size that explains where the misplaced files lie, 0 when none
 * does.
 */
uint64_t fsfs_tree_guess_shard(const struct fsfs_tree *tree);

#endif
