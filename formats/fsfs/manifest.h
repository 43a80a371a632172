/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line each of the two kinds of manifest. Pure functions.
 */
#ifndef FM_FORMATS_FSFS_MANIFEST_H
#define FM_FORMATS_FSFS_MANIFEST_H

#include "lib/textrec.h"

/* One line of revs/K.pack/manifest: an offset in decimal. */
bool fsfs_manifest_offset(const struct fm_line *line, uint64_t *offset);

/* One line of revprops/K.pack/manifest: START.COUNTER, a file's name. */
struct fsfs_revpack_name {
	uint64_t start, counter;
};
bool fsfs_revpack_name(struct fm_text text, struct fsfs_revpack_name *name);

#endif
