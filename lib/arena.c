// SPDX-License-Identifier: GPL-2.0-or-later
// Arena: a chain of blocks, newest first. Sanitizer builds poison what a
// reset gives back, so that a stale pointer is seen at once.

#include "lib/arena.h"

#include "lib/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define FM_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FM_HAS_ASAN 1
#endif
#endif

#ifdef FM_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define poison(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define poison(p, n)   ((void)(p), (void)(n))
#define unpoison(p, n) ((void)(p), (void)(n))
#endif

enum { BLOCK_SIZE = 16 * 1024 };

struct fm_arena_block {
	struct fm_arena_block *next;
	size_t size, used;
	_Alignas(max_align_t) unsigned char data[];
};

void fm_arena_init(struct fm_arena *a)
{
	a->head = NULL;
}

void fm_arena_release(struct fm_arena *a)
{
	struct fm_arena_block *b, *next;

	for (b = a->head; b; b = next) {
		next = b->next;
		unpoison(b->data, b->size);
		fm_free(b);
	}
	a->head = NULL;
}

void fm_arena_reset(struct fm_arena *a)
{
	struct fm_arena_block *keep = a->head;
	struct fm_arena rest;

	if (!keep)
		return;
	rest.head = keep->next;
	fm_arena_release(&rest);
	keep->next = NULL;
	keep->used = 0;
	poison(keep->data, keep->size);
}

void *fm_arena_alloc(struct fm_arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct fm_arena_block *b = a->head;
	size_t want;
	void *p;

	if (size > SIZE_MAX / 2)
		size = SIZE_MAX / 2; /* cannot succeed: ends in lib/mem.c */
	want = (size + align - 1) / align * align;
	if (!b || b->size - b->used < want) {
		size_t block = want > BLOCK_SIZE ? want : BLOCK_SIZE;

		b = fm_alloc(sizeof(*b) + block);
		b->size = block;
		b->next = a->head;
		a->head = b;
		poison(b->data, b->size);
	}
	p = b->data + b->used;
	b->used += want;
	unpoison(p, size);
	memset(p, 0, size);
	return p;
}

void *fm_arena_array(struct fm_arena *a, size_t count, size_t size)
{
	uint64_t total;

	if (!fm_mul_u64(count, size, &total))
		total = SIZE_MAX / 2;
	return fm_arena_alloc(a, (size_t)total);
}

char *fm_arena_memdup(struct fm_arena *a, const void *p, size_t n)
{
	char *copy = fm_arena_alloc(a, n + 1);

	memcpy(copy, p, n);
	return copy;
}

char *fm_arena_strdup(struct fm_arena *a, const char *s)
{
	return fm_arena_memdup(a, s, strlen(s));
}

char *fm_arena_printf(struct fm_arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *text;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	text = fm_arena_alloc(a, (size_t)n + 1);
	(void)vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	return text;
}
