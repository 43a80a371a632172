/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text records: lines and "key: value", scanned within their bounds.
 *
 * A piece of text is a pointer and a length into the reader's bytes: nothing
 * is copied and nothing is NUL-terminated, since the bytes may hold NUL.
 */
#ifndef FM_LIB_TEXTREC_H
#define FM_LIB_TEXTREC_H

#include "lib/reader.h"

struct fm_text {
	const char *p;
	size_t len;
};

struct fm_line {
	struct fm_text text; /* without the LF */
	bool has_eol;
};

/* The next line; false when no byte is left. */
bool fm_text_line(struct fm_reader *r, struct fm_line *line);

bool fm_text_is(struct fm_text t, const char *s);
bool fm_text_starts(struct fm_text t, const char *s);

/* Cuts the text up to the first `sep` off *rest (all of it when none). */
struct fm_text fm_text_cut(struct fm_text *rest, char sep);

/* "key: value"; false when there is no ": ". */
bool fm_text_header(struct fm_text line, struct fm_text *key,
		    struct fm_text *value);

/* A canonical decimal (no sign, no leading zeros) not above max. */
bool fm_text_number(struct fm_text t, uint64_t max, uint64_t *n);

#endif
