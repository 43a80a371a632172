/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checked allocation: the only callers of malloc and free.
 *
 * These are for small allocations of our own. One that fails ends the program
 * with status 8: commands are short lived, and a target survives sudden death
 * anyway. A size that came from a target is compared with a stated limit
 * first and gives FM_E_LIMIT; it never reaches these functions unchecked.
 */
#ifndef FM_LIB_MEM_H
#define FM_LIB_MEM_H

#include "lib/base.h"

void *fm_alloc(size_t size);                     /* zero-filled */
void *fm_alloc_array(size_t count, size_t size); /* zero-filled, checked */
void *fm_realloc_array(void *p, size_t count, size_t size);
char *fm_strdup(const char *s);
void fm_free(void *p);

/* For libraries that allocate on their own and say that they could not. */
_Noreturn void fm_out_of_memory(void);

#endif
