// SPDX-License-Identifier: GPL-2.0-or-later
// The superblock, versions 1.0 to 4.0, either byte order.
//
// The version stands at byte 28 in every version. 1.x is 51 bytes long, 2.x
// 63, 3.x 119 (each begins with the one before it), 4.0 has 96 of its own.

#include "formats/squashfs/sqfs.h"

#include <string.h>

enum { VERSION_AT = 28, MINOR_LZMA = 76 };

static bool is_known_magic(const char *m, bool *is_vendor)
{
	static const char vendors[][5] = {"shsq", "qshs", "sqlz", "hsqt",
					  "tqsh", "nshs", "zlqs", "sqsl"};

	*is_vendor = true;
	for (size_t i = 0; i < FM_ARRAY_SIZE(vendors); i++)
		if (memcmp(m, vendors[i], 4) == 0)
			return true;
	*is_vendor = false;
	return memcmp(m, "hsqs", 4) == 0 || memcmp(m, "sqsh", 4) == 0;
}

static bool is_known_version(const struct sqfs_super *s)
{
	switch (s->major) {
	case 1: return s->minor == 0;
	case 2: return s->minor == 0 || s->minor == 1 || s->minor == MINOR_LZMA;
	case 3: return s->minor == 0 || s->minor == 1;
	case 4: return s->minor == 0;
	default: return false;
	}
}

static void decode_old(struct fm_reader *r, struct sqfs_super *s)
{
	uint32_t used_32, block_16;

	fm_rd_seek(r, 4);
	s->inodes = fm_rd_u32(r);
	used_32 = fm_rd_u32(r);
	fm_rd_seek(r, 32);
	block_16 = fm_rd_u16(r);
	s->block_log = fm_rd_u16(r);
	s->flags = fm_rd_u8(r);
	fm_rd_skip(r, 2); /* numbers of uids and gids */
	s->mkfs_time = fm_rd_u32(r);
	fm_rd_skip(r, 8); /* root inode */
	s->block_size = block_16;
	s->bytes_used = used_32;
	if (s->major >= 2) {
		s->block_size = fm_rd_u32(r);
		s->fragments = fm_rd_u32(r);
		fm_rd_skip(r, 4);
	}
	if (s->major == 3)
		s->bytes_used = fm_rd_u64(r);
}

static void decode_4(struct fm_reader *r, struct sqfs_super *s)
{
	fm_rd_seek(r, 4);
	s->inodes = fm_rd_u32(r);
	s->mkfs_time = fm_rd_u32(r);
	s->block_size = fm_rd_u32(r);
	s->fragments = fm_rd_u32(r);
	s->compression = fm_rd_u16(r);
	s->block_log = fm_rd_u16(r);
	s->flags = fm_rd_u16(r);
	fm_rd_seek(r, 40);
	s->bytes_used = fm_rd_u64(r);
}

static bool is_plausible(const struct sqfs_super *s, uint64_t size)
{
	return s->inodes != 0 && s->block_log >= 9 && s->block_log <= 20 &&
	       s->block_size == 1U << s->block_log && s->bytes_used >= 51 &&
	       s->bytes_used / 2 <= size; /* may be cut, not absurd */
}

static bool decode_in_order(const void *bytes, size_t n, uint64_t size,
			    bool is_big_endian, struct sqfs_super *s)
{
	struct fm_reader r;

	fm_reader_init(&r, bytes, n);
	r.is_big_endian = s->is_big_endian = is_big_endian;
	fm_rd_seek(&r, VERSION_AT);
	s->major = fm_rd_u16(&r);
	s->minor = fm_rd_u16(&r);
	if (r.is_past_end || !is_known_version(s))
		return false;
	if (s->major == 4)
		decode_4(&r, s);
	else
		decode_old(&r, s);
	return !r.is_past_end && is_plausible(s, size);
}

bool sqfs_super_decode(const void *bytes, size_t n, uint64_t size,
		       struct sqfs_super *s)
{
	struct sqfs_super found = {.major = 0};
	bool is_vendor;

	if (n < 4 || !is_known_magic(bytes, &is_vendor))
		return false;
	if (!decode_in_order(bytes, n, size, false, &found)) {
		memset(&found, 0, sizeof(found));
		if (!decode_in_order(bytes, n, size, true, &found))
			return false;
	}
	memcpy(found.magic, bytes, 4);
	found.has_vendor_magic = is_vendor;
	*s = found;
	return true;
}

const char *sqfs_compressor_name(const struct sqfs_super *s)
{
	static const char *const names[] = {NULL, "gzip", "lzma", "lzo",
					    "xz", "lz4",  "zstd"};

	if (s->major < 4 && (s->has_vendor_magic || s->minor == MINOR_LZMA))
		return "lzma (vendor) or zlib";
	if (s->major < 4)
		return "zlib";
	if (s->compression == 0 || s->compression >= FM_ARRAY_SIZE(names))
		return "unknown";
	return names[s->compression];
}
