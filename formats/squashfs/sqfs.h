/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private types of the squashfs format.
 *
 * An image is judged by its fields, not by its magic alone: vendors changed
 * the magic, and 1.x to 3.x exist in both byte orders.
 */
#ifndef FM_FORMATS_SQUASHFS_SQFS_H
#define FM_FORMATS_SQUASHFS_SQFS_H

#include "formats/format.h"

#include "lib/reader.h"

enum { SQFS_SUPER_MAX = 119 }; /* bytes of the largest superblock */

/* The superblock of any version, decoded and found plausible. */
struct sqfs_super {
	char magic[5]; /* as it lies there, unprintable bytes as '?' */
	bool is_big_endian;
	bool has_vendor_magic; /* neither of the two official ones */
	unsigned major, minor;
	uint32_t inodes, fragments, mkfs_time, block_size;
	unsigned block_log, flags;
	unsigned compression; /* of 4.0, else 0 */
	uint64_t bytes_used;
};

/*
 * Decodes the first bytes of an image of `size` bytes; false when they are
 * not those of any squashfs.
 */
bool sqfs_super_decode(const void *bytes, size_t n, uint64_t size,
		       struct sqfs_super *s);

/* "gzip", or what the version implies. */
const char *sqfs_compressor_name(const struct sqfs_super *s);

extern const struct fm_format sqfs_format;

#endif
