/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fsdetect says of a repository: the parts that need more than a few
 * system calls. None of them fails: what cannot be found out is said so.
 */
#ifndef FM_FORMATS_FSFS_DETECT_H
#define FM_FORMATS_FSFS_DETECT_H

#include "formats/fsfs/fsfs.h"

/* Where the repository stands, as far as it could be read. */
struct fsfs_standing {
	bool has_youngest, has_min_unpacked;
	uint64_t youngest, min_unpacked;
};

/* Revision files, size, largest directory. */
void fsfs_detect_size(const struct fsfs *fs, const struct fsfs_standing *s,
		      bool is_full, struct fm_facts *facts);

/* Rows of the rep-cache, open transactions, locks. */
void fsfs_detect_side(const struct fsfs *fs, bool is_full,
		      struct fm_facts *facts);

/* The path as one word of a shell. */
const char *fsfs_shell_word(const char *path, struct fm_arena *out);

#endif
