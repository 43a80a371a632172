/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded cursor over bytes that came from a target.
 *
 * A take function that would pass the end returns 0 (or NULL) and sets the
 * sticky flag .is_past_end; test it once after a group of takes, before any
 * value is used. A parser cannot read what it has not asked for.
 *
 *	fm_reader_init(&r, bytes, n);
 *	a = fm_rd_u32(&r);
 *	b = fm_rd_u16(&r);
 *	if (r.is_past_end)
 *		...
 *
 * Plain data: no release. The bytes are borrowed.
 */
#ifndef FM_LIB_READER_H
#define FM_LIB_READER_H

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/source.h"

struct fm_reader {
	const uint8_t *data;
	size_t pos, end;
	bool is_big_endian; /* order of fm_rd_u16 and wider */
	bool is_past_end;   /* sticky */
};

void fm_reader_init(struct fm_reader *r, const void *p, size_t n);

/* Reads n bytes of a source into `out` and starts there. */
int fm_reader_load(struct fm_reader *r, const struct fm_source *s,
		   uint64_t offset, size_t n, struct fm_arena *out,
		   struct fm_err *err);

uint8_t fm_rd_u8(struct fm_reader *r);
uint16_t fm_rd_u16(struct fm_reader *r);
uint32_t fm_rd_u32(struct fm_reader *r);
uint64_t fm_rd_u64(struct fm_reader *r);

/* The next n bytes, taken, or only looked at. */
const void *fm_rd_bytes(struct fm_reader *r, size_t n);
const void *fm_rd_peek(const struct fm_reader *r, size_t n);

void fm_rd_skip(struct fm_reader *r, size_t n);
void fm_rd_seek(struct fm_reader *r, size_t pos);
size_t fm_rd_left(const struct fm_reader *r);

#endif
