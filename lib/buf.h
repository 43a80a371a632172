/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growable byte buffer, always followed by a NUL that is not counted.
 * The buffer owns its bytes; .data is valid until the next change.
 */
#ifndef FM_LIB_BUF_H
#define FM_LIB_BUF_H

#include "lib/base.h"

struct fm_buf {
	char *data; /* never NULL after the first write */
	size_t len, cap;
};

#define FM_BUF_INIT                                                            \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

void fm_buf_release(struct fm_buf *b);
void fm_buf_clear(struct fm_buf *b); /* length 0, memory kept */
void fm_buf_add(struct fm_buf *b, const void *p, size_t n);
void fm_buf_puts(struct fm_buf *b, const char *s);
void fm_buf_printf(struct fm_buf *b, const char *fmt, ...) FM_PRINTF(2, 3);

/* Room for n more bytes after .len; the caller advances .len itself. */
void fm_buf_reserve(struct fm_buf *b, size_t n);

/* The text, "" when nothing was written yet. */
const char *fm_buf_text(const struct fm_buf *b);

#endif
