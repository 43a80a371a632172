// SPDX-License-Identifier: GPL-2.0-or-later
// Text records on top of the bounded reader.

#include "lib/textrec.h"

#include <string.h>

bool fm_text_line(struct fm_reader *r, struct fm_line *line)
{
	size_t left = fm_rd_left(r);
	const char *p = fm_rd_peek(r, left);
	const char *lf;

	if (left == 0 || !p)
		return false;
	lf = memchr(p, '\n', left);
	line->has_eol = lf != NULL;
	line->text.p = p;
	line->text.len = lf ? (size_t)(lf - p) : left;
	fm_rd_skip(r, line->text.len + (lf ? 1 : 0));
	return true;
}

bool fm_text_is(struct fm_text t, const char *s)
{
	return t.len == strlen(s) && memcmp(t.p, s, t.len) == 0;
}

bool fm_text_starts(struct fm_text t, const char *s)
{
	size_t n = strlen(s);

	return t.len >= n && memcmp(t.p, s, n) == 0;
}

struct fm_text fm_text_cut(struct fm_text *rest, char sep)
{
	const char *at = rest->len ? memchr(rest->p, sep, rest->len) : NULL;
	struct fm_text head = *rest;

	if (at)
		head.len = (size_t)(at - rest->p);
	rest->p += head.len + (at ? 1 : 0);
	rest->len -= head.len + (at ? 1 : 0);
	return head;
}

bool fm_text_header(struct fm_text line, struct fm_text *key,
		    struct fm_text *value)
{
	for (size_t i = 0; i + 1 < line.len; i++) {
		if (line.p[i] == ':' && line.p[i + 1] == ' ') {
			*key = (struct fm_text){line.p, i};
			*value = (struct fm_text){line.p + i + 2,
						  line.len - i - 2};
			return true;
		}
	}
	return false;
}

bool fm_text_number(struct fm_text t, uint64_t max, uint64_t *n)
{
	uint64_t value = 0;

	if (t.len == 0 || (t.len > 1 && t.p[0] == '0'))
		return false;
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
		if (!fm_mul_u64(value, 10, &value) ||
		    !fm_add_u64(value, (uint64_t)(t.p[i] - '0'), &value) ||
		    value > max)
			return false;
	}
	*n = value;
	return true;
}
