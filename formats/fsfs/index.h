/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two indexes of a file with logical addressing (FORMAT, "Indexes"):
 *
 *	P2L  what lies at each offset: items in a row, without holes
 *	L2P  where each item of each revision lies
 *
 * Decoding checks everything that the bytes alone can say and hands out whole
 * indexes or FM_E_FORMAT with the reason. Encoding gives the bytes that
 * Subversion itself would write. Results live in the arena `out`. Pure
 * functions: safe in threads.
 */
#ifndef FM_FORMATS_FSFS_INDEX_H
#define FM_FORMATS_FSFS_INDEX_H

#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/err.h"
#include "lib/source.h"

enum fsfs_item_type {
	FSFS_ITEM_UNUSED,
	FSFS_ITEM_FILE_REP,
	FSFS_ITEM_DIR_REP,
	FSFS_ITEM_FILE_PROPS,
	FSFS_ITEM_DIR_PROPS,
	FSFS_ITEM_NODEREV,
	FSFS_ITEM_CHANGES,
};

/* Item numbers with a meaning of their own. */
enum { FSFS_ITEM_IS_CHANGES = 1, FSFS_ITEM_IS_ROOT = 2 };

/* Page sizes when fsfs.conf says nothing: entries, and bytes. */
enum { FSFS_L2P_PAGE = 8192, FSFS_P2L_PAGE = 1 << 20 };

struct fsfs_item {
	uint64_t offset, size; /* bytes in the file */
	enum fsfs_item_type type;
	uint32_t fnv; /* checksum of the bytes, 0 when unused */
	uint64_t revision, number;
};

/* Items cover [0, size) in order. The filler at the end is not among them. */
struct fsfs_p2l {
	uint64_t first;     /* first revision of the file */
	uint64_t size;      /* bytes of item data: offset of the L2P index */
	uint64_t page_size; /* bytes, a power of two */
	struct fsfs_item *items;
	size_t n;
};

/* Offset plus one of item `number`, 0 when there is none. */
struct fsfs_l2p_revision {
	uint64_t *place;
	size_t n;
};

struct fsfs_l2p {
	uint64_t first;
	uint64_t page_size; /* entries, a power of two */
	struct fsfs_l2p_revision *revisions;
	size_t n;
};

/* index: a source that is exactly the bytes of one index. */
int fsfs_p2l_decode(const struct fm_source *index, struct fm_arena *out,
		    struct fsfs_p2l *p2l, struct fm_err *err);
int fsfs_l2p_decode(const struct fm_source *index, struct fm_arena *out,
		    struct fsfs_l2p *l2p, struct fm_err *err);

void fsfs_p2l_encode(const struct fsfs_p2l *p2l, struct fm_buf *out);
void fsfs_l2p_encode(const struct fsfs_l2p *l2p, struct fm_buf *out);

/*
 * The L2P index that belongs to a P2L one, exactly: n revisions from its
 * first on. FM_E_FORMAT when an item is named twice or out of range.
 */
int fsfs_l2p_from_p2l(const struct fsfs_p2l *p2l, size_t n, uint64_t page_size,
		      struct fm_arena *out, struct fsfs_l2p *l2p,
		      struct fm_err *err);

#endif
