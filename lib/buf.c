// SPDX-License-Identifier: GPL-2.0-or-later
// Growable byte buffer.

#include "lib/buf.h"

#include "lib/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fm_buf_release(struct fm_buf *b)
{
	fm_free(b->data);
	*b = (struct fm_buf)FM_BUF_INIT;
}

void fm_buf_clear(struct fm_buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void fm_buf_reserve(struct fm_buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 64;

	if (n > SIZE_MAX / 4)
		n = SIZE_MAX / 4; /* cannot succeed: ends in lib/mem.c */
	if (b->data && b->cap - b->len > n)
		return;
	while (cap - b->len <= n)
		cap *= 2;
	b->data = fm_realloc_array(b->data, cap, 1);
	b->cap = cap;
	b->data[b->len] = '\0';
}

void fm_buf_add(struct fm_buf *b, const void *p, size_t n)
{
	fm_buf_reserve(b, n);
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void fm_buf_puts(struct fm_buf *b, const char *s)
{
	fm_buf_add(b, s, strlen(s));
}

void fm_buf_printf(struct fm_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		fm_buf_reserve(b, (size_t)n + 1);
		(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

const char *fm_buf_text(const struct fm_buf *b)
{
	return b->data ? b->data : "";
}
