/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of numbered files: flat (N), or in shards (N/SHARD/N).
 *
 * Knows the two shapes and how to walk them, reading only. Numbers are
 * canonical decimals: "7" is one, "07" is a name like any other. No symbolic
 * link below the top directory is followed.
 */
#ifndef FM_LIB_NUMTREE_H
#define FM_LIB_NUMTREE_H

#include "lib/err.h"

/* "18446744073709551615/18446744073709551615" and a NUL */
enum { FM_NUM_PATH = 44 };

/* The path of n below the top; shard 0 means flat. */
void fm_num_path(uint64_t shard, uint64_t n, char path[FM_NUM_PATH]);

/* Is the name a canonical decimal that fits 64 bits? */
bool fm_num_parse(const char *name, uint64_t *n);

/* Is it one with this suffix, "7.pack"? */
bool fm_num_parse_with(const char *name, const char *suffix, uint64_t *n);

/* One directory entry, as the walk meets it. */
struct fm_num_entry {
	const char *name;
	bool is_number;
	uint64_t number;    /* when is_number */
	bool is_in_shard;   /* lies in a directory whose name is a number */
	uint64_t shard;     /* that number */
	uint64_t ino;       /* d_ino */
	unsigned char type; /* DT_REG, DT_DIR, DT_LNK... never DT_UNKNOWN */
	int dirfd;          /* the directory it lies in, open during the call */
};

/* Non-zero stops the walk and is returned by it. */
typedef int fm_num_fn(void *ctx, const struct fm_num_entry *e,
		      struct fm_err *err);

/*
 * Calls fn for every entry of the top directory and of each directory in it
 * whose name is a number (the directory itself first), in the order in which
 * the file system gives them. A directory that is removed meanwhile is passed
 * over. Polls for cancellation.
 */
int fm_num_walk(int top, fm_num_fn *fn, void *ctx, struct fm_err *err);

/* Non-zero stops it and is returned. */
typedef int fm_shard_fn(void *ctx, const char *name, uint64_t k,
			struct fm_err *err);

/*
 * Calls fn for every directory in top that is named by a number, or by one with
 * the suffix (NULL: none has one), and counts them. When fn takes them away,
 * some file systems skip others: then until none is left.
 */
int fm_num_shards(int top, const char *suffix, fm_shard_fn *fn, void *ctx,
		  size_t *count, struct fm_err *err);
int fm_num_shards_until_none(int top, const char *suffix, fm_shard_fn *fn,
			     void *ctx, struct fm_err *err);

#endif
