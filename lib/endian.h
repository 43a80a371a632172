/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Integers at byte addresses, whatever their alignment and the machine's
 * order. Callers check bounds first: parsers use lib/reader.h instead.
 */
#ifndef FM_LIB_ENDIAN_H
#define FM_LIB_ENDIAN_H

#include <stdint.h>

static inline uint16_t fm_get_le16(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] | b[1] << 8);
}

static inline uint32_t fm_get_le32(const void *p)
{
	const uint8_t *b = p;

	return fm_get_le16(b) | (uint32_t)fm_get_le16(b + 2) << 16;
}

static inline uint64_t fm_get_le64(const void *p)
{
	const uint8_t *b = p;

	return fm_get_le32(b) | (uint64_t)fm_get_le32(b + 4) << 32;
}

static inline uint16_t fm_get_be16(const void *p)
{
	const uint8_t *b = p;

	return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t fm_get_be32(const void *p)
{
	const uint8_t *b = p;

	return (uint32_t)fm_get_be16(b) << 16 | fm_get_be16(b + 2);
}

static inline uint64_t fm_get_be64(const void *p)
{
	const uint8_t *b = p;

	return (uint64_t)fm_get_be32(b) << 32 | fm_get_be32(b + 4);
}

#endif
