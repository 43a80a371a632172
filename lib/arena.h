/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arena: memory that is freed all at once.
 *
 * Every operation gets two: `out` for results, which live as long as the
 * target, and `tmp`, which the caller resets after each item. Nothing that
 * lies in `out` may point into `tmp`. Not safe for use by two threads at once.
 */
#ifndef FM_LIB_ARENA_H
#define FM_LIB_ARENA_H

#include "lib/base.h"

struct fm_arena {
	struct fm_arena_block *head;
};

void fm_arena_init(struct fm_arena *a);
void fm_arena_release(struct fm_arena *a);

/* Frees what was allocated, keeps one block for reuse. */
void fm_arena_reset(struct fm_arena *a);

/* Zero-filled, aligned for any type. */
void *fm_arena_alloc(struct fm_arena *a, size_t size);
void *fm_arena_array(struct fm_arena *a, size_t count, size_t size);
char *fm_arena_strdup(struct fm_arena *a, const char *s);

/* n bytes plus a terminating NUL. */
char *fm_arena_memdup(struct fm_arena *a, const void *p, size_t n);
char *fm_arena_printf(struct fm_arena *a, const char *fmt, ...) FM_PRINTF(2, 3);

#endif
