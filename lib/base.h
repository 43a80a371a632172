/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every file may rely on: attributes, array size, checked arithmetic.
 * Sizes, offsets and counts that came from a target are added and multiplied
 * with the helpers here and with nothing else.
 */
#ifndef FM_LIB_BASE_H
#define FM_LIB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define FM_MUST_CHECK        __attribute__((warn_unused_result))
#define FM_ARRAY_SIZE(a)     (sizeof(a) / sizeof((a)[0]))

/* Each returns false, and leaves *sum or *product alone, on overflow. */
static inline bool fm_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t s;

	if (__builtin_add_overflow(a, b, &s))
		return false;
	*sum = s;
	return true;
}

static inline bool fm_mul_u64(uint64_t a, uint64_t b, uint64_t *product)
{
	uint64_t p;

	if (__builtin_mul_overflow(a, b, &p))
		return false;
	*product = p;
	return true;
}

static inline uint64_t fm_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t fm_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
