/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a revision file, or of one revision's slice of a pack: the
 * trailer (physical addressing) or the footer (logical).
 *
 * Both checks look at a source that is exactly the file or slice, read a
 * kilobyte of it and rarely more, and give back the first fault they meet.
 * Pure functions: safe in threads.
 */
#ifndef FM_FORMATS_FSFS_REVFILE_H
#define FM_FORMATS_FSFS_REVFILE_H

#include "formats/fsfs/checks.h"

#include "lib/source.h"

/* "ROOT SP CHANGES LF" at the end of the file. */
struct fsfs_trailer {
	uint64_t root, changes; /* offsets of the two */
	uint64_t start;         /* of the trailer itself */
};

/* "L2P SP MD5 SP P2L SP MD5", then one byte: its length. */
struct fsfs_footer {
	uint64_t l2p, p2l; /* offsets of the two indexes */
	uint64_t start;    /* of the footer: end of the second index */
	char l2p_md5[33], p2l_md5[33];
};

/* Bytes of the end that the decoders want to see (fewer: the whole file). */
enum { FSFS_TRAILER_MAX = 64, FSFS_FOOTER_MAX = 256 };

/* tail: the last n bytes of a file of `size` bytes. Syntax only. */
bool fsfs_trailer_decode(const void *tail, size_t n, uint64_t size,
			 struct fsfs_trailer *t);
bool fsfs_footer_decode(const void *tail, size_t n, uint64_t size,
			struct fsfs_footer *f);

struct fsfs_fault {
	enum fsfs_check check;
	bool has_offset;
	uint64_t offset;
	char detail[200];
};

/* False when something is wrong; FM_E_IO in err->code when unreadable. */
bool fsfs_check_physical(const struct fm_source *src, uint64_t revision,
			 struct fsfs_fault *fault, struct fm_err *err);

/* first .. first+count-1 are the revisions of this file or pack. */
bool fsfs_check_logical(const struct fm_source *src, uint64_t first,
			uint64_t count, struct fsfs_fault *fault,
			struct fm_err *err);

/* What the end of the file looks like, whatever db/format says. */
enum fsfs_ending { FSFS_ENDING_NONE, FSFS_ENDING_TRAILER, FSFS_ENDING_FOOTER };
enum fsfs_ending fsfs_ending_of(const struct fm_source *src);

#endif
