/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packed revision properties (formats with them: FORMAT, "Revprop packs").
 *
 * A pack file is one container: varint(length) and the bytes, stored or as a
 * zlib stream. Inside: first revision, count, one size a line, an empty line,
 * and the property lists one after the other, verbatim.
 */
#ifndef FM_FORMATS_FSFS_REVPACK_H
#define FM_FORMATS_FSFS_REVPACK_H

#include "formats/fsfs/conf.h"

#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/err.h"
#include "lib/textrec.h"

/* One decoded pack file: blob i belongs to revision first + i. */
struct fsfs_revpack {
	uint64_t first;
	struct fm_text *blobs;
	size_t n;
};

/* The bytes of a pack file; results live in out. FM_E_FORMAT, FM_E_LIMIT. */
int fsfs_revpack_decode(const char *data, size_t len, struct fm_arena *out,
			struct fsfs_revpack *pack, struct fm_err *err);

/* Appends the bytes of a pack file as Subversion would write it. */
void fsfs_revpack_encode(const struct fsfs_revpack *pack, bool is_compressed,
			 struct fm_buf *out);

/*
 * How many of the n property lists (of these sizes, in a row) go into one
 * pack file: the rule by which Subversion splits them. At least 1.
 */
size_t fsfs_revpack_split(const struct fm_text *blobs, size_t n,
			  uint64_t pack_size);

#endif
