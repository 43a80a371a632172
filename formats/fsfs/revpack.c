// SPDX-License-Identifier: GPL-2.0-or-later
// Packed revision properties: the container, decoded and encoded.
//
//	file := varint(length) (stored bytes | zlib stream)
//	bytes := first LF count LF { size LF }*count LF blob...
//
// varint: seven bits a byte, the highest first, all but the last with the
// top bit set. Stored when the payload has the very length that is announced.

#include "formats/fsfs/revpack.h"

#include "lib/codec.h"
#include "lib/reader.h"

#include <inttypes.h>
#include <string.h>

/* Of one container; a pack holds kilobytes by default. */
#define CONTAINER_MAX ((uint64_t)1 << 30)

enum { VARINT_MAX = 10, STORE_BELOW = 512, LEVEL = 5 };

/* The split rule: an estimate of the header, and of each line in it. */
enum { HEADER_BYTES = 42, LINE_BYTES = 21 };

static bool take_varint(struct fm_reader *r, uint64_t *n)
{
	*n = 0;
	for (int i = 0; i < VARINT_MAX; i++) {
		uint8_t byte = fm_rd_u8(r);

		*n = *n << 7 | (byte & 0x7f);
		if (!(byte & 0x80))
			return !r->is_past_end;
	}
	return false;
}

static void put_varint(struct fm_buf *out, uint64_t n)
{
	uint8_t bytes[VARINT_MAX];
	size_t at = sizeof(bytes);

	bytes[--at] = n & 0x7f;
	while (n >>= 7)
		bytes[--at] = (uint8_t)(n | 0x80);
	fm_buf_add(out, bytes + at, sizeof(bytes) - at);
}

static int open_container(const char *data, size_t len, struct fm_arena *out,
			  struct fm_text *content, struct fm_err *err)
{
	struct fm_reader r;
	uint64_t n;
	char *bytes;
	size_t payload;

	fm_reader_init(&r, data, len);
	if (!take_varint(&r, &n))
		return fm_err_set(err, FM_E_FORMAT,
				  "a revision property pack has no length");
	payload = fm_rd_left(&r);
	if (n > CONTAINER_MAX || (n > payload && n / 1100 > payload))
		return fm_err_set(err, FM_E_LIMIT,
				  "a revision property pack of %zu bytes "
				  "claims %" PRIu64,
				  payload, n);
	content->len = (size_t)n;
	if (n == payload) {
		content->p = fm_rd_bytes(&r, payload);
		return 0;
	}
	bytes = fm_arena_alloc(out, (size_t)n + 1);
	content->p = bytes;
	return fm_zlib_inflate(fm_rd_bytes(&r, payload), payload, bytes,
			       (size_t)n, err);
}

static bool take_number(struct fm_reader *r, uint64_t max, uint64_t *n)
{
	struct fm_line line;

	return fm_text_line(r, &line) && line.has_eol &&
	       fm_text_number(line.text, max, n);
}

static bool decode_content(struct fm_text content, struct fm_arena *out,
			   struct fsfs_revpack *pack)
{
	struct fm_reader r;
	struct fm_line line;
	uint64_t count, size;

	fm_reader_init(&r, content.p, content.len);
	if (!take_number(&r, FSFS_REVISION_MAX, &pack->first) ||
	    !take_number(&r, fm_rd_left(&r), &count))
		return false;
	pack->n = (size_t)count;
	pack->blobs = fm_arena_array(out, pack->n, sizeof(*pack->blobs));
	for (size_t i = 0; i < pack->n; i++) {
		if (!take_number(&r, content.len, &size))
			return false;
		pack->blobs[i].len = (size_t)size;
	}
	if (!fm_text_line(&r, &line) || line.text.len)
		return false;
	for (size_t i = 0; i < pack->n; i++) {
		pack->blobs[i].p = fm_rd_bytes(&r, pack->blobs[i].len);
		if (!pack->blobs[i].p)
			return false;
	}
	return fm_rd_left(&r) == 0;
}

int fsfs_revpack_decode(const char *data, size_t len, struct fm_arena *out,
			struct fsfs_revpack *pack, struct fm_err *err)
{
	struct fm_text content = {NULL, 0};

	if (open_container(data, len, out, &content, err) != 0)
		return err->code;
	if (decode_content(content, out, pack))
		return 0;
	return fm_err_set(err, FM_E_FORMAT,
			  "a revision property pack does not parse");
}

void fsfs_revpack_encode(const struct fsfs_revpack *pack, bool is_compressed,
			 struct fm_buf *out)
{
	struct fm_buf content = FM_BUF_INIT, packed = FM_BUF_INIT;

	fm_buf_printf(&content, "%" PRIu64 "\n%zu\n", pack->first, pack->n);
	for (size_t i = 0; i < pack->n; i++)
		fm_buf_printf(&content, "%zu\n", pack->blobs[i].len);
	fm_buf_puts(&content, "\n");
	for (size_t i = 0; i < pack->n; i++)
		fm_buf_add(&content, pack->blobs[i].p, pack->blobs[i].len);
	put_varint(out, content.len);
	// As Subversion does: short or incompressible content is stored.
	if (is_compressed && content.len >= STORE_BELOW)
		fm_zlib_deflate(content.data, content.len, LEVEL, &packed);
	if (packed.len && packed.len < content.len)
		fm_buf_add(out, packed.data, packed.len);
	else
		fm_buf_add(out, content.data, content.len);
	fm_buf_release(&content);
	fm_buf_release(&packed);
}

size_t fsfs_revpack_split(const struct fm_text *blobs, size_t n,
			  uint64_t pack_size)
{
	uint64_t limit = pack_size / 10 * 9 + pack_size % 10 * 9 / 10;
	uint64_t total = HEADER_BYTES;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t size = blobs[i].len;

		if (i > 0 && (size > limit || total > limit ||
			      size + LINE_BYTES > limit - total))
			break;
		total += size + LINE_BYTES;
	}
	return i;
}
