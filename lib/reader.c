// SPDX-License-Identifier: GPL-2.0-or-later
// Bounded cursor: every access goes through fm_rd_bytes or fm_rd_peek.

#include "lib/reader.h"

#include "lib/endian.h"

void fm_reader_init(struct fm_reader *r, const void *p, size_t n)
{
	*r = (struct fm_reader){.data = p, .end = n};
}

int fm_reader_load(struct fm_reader *r, const struct fm_source *s,
		   uint64_t offset, size_t n, struct fm_arena *out,
		   struct fm_err *err)
{
	uint64_t end;
	void *bytes;
	int rc;

	/* Before memory is spent on a size that may be a lie. */
	if (!fm_add_u64(offset, n, &end) || end > s->size)
		return fm_err_set(err, FM_E_BOUNDS,
				  "%zu bytes at offset %ju reach past the end "
				  "at %ju",
				  n, (uintmax_t)offset, (uintmax_t)s->size);
	bytes = fm_arena_alloc(out, n);
	rc = fm_source_read(s, offset, bytes, n, err);
	fm_reader_init(r, bytes, rc == 0 ? n : 0);
	return rc;
}

const void *fm_rd_peek(const struct fm_reader *r, size_t n)
{
	if (r->is_past_end || n > r->end - r->pos)
		return NULL;
	return r->data + r->pos;
}

const void *fm_rd_bytes(struct fm_reader *r, size_t n)
{
	const void *p = fm_rd_peek(r, n);

	if (p)
		r->pos += n;
	else
		r->is_past_end = true;
	return p;
}

uint8_t fm_rd_u8(struct fm_reader *r)
{
	const uint8_t *p = fm_rd_bytes(r, 1);

	return p ? *p : 0;
}

uint16_t fm_rd_u16(struct fm_reader *r)
{
	const void *p = fm_rd_bytes(r, 2);

	if (!p)
		return 0;
	return r->is_big_endian ? fm_get_be16(p) : fm_get_le16(p);
}

uint32_t fm_rd_u32(struct fm_reader *r)
{
	const void *p = fm_rd_bytes(r, 4);

	if (!p)
		return 0;
	return r->is_big_endian ? fm_get_be32(p) : fm_get_le32(p);
}

uint64_t fm_rd_u64(struct fm_reader *r)
{
	const void *p = fm_rd_bytes(r, 8);

	if (!p)
		return 0;
	return r->is_big_endian ? fm_get_be64(p) : fm_get_le64(p);
}

void fm_rd_skip(struct fm_reader *r, size_t n)
{
	(void)fm_rd_bytes(r, n);
}

void fm_rd_seek(struct fm_reader *r, size_t pos)
{
	if (pos > r->end)
		r->is_past_end = true;
	else
		r->pos = pos;
}

size_t fm_rd_left(const struct fm_reader *r)
{
	return r->is_past_end ? 0 : r->end - r->pos;
}
