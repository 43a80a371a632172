// SPDX-License-Identifier: GPL-2.0-or-later
// Text for people.

#include "lib/report_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

// The code point at s and its length in bytes; 0 when it is no valid UTF-8.
// Overlong forms, surrogates and what lies above U+10FFFF are not valid.
static size_t decode_utf8(const unsigned char *s, uint32_t *point)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	if (len == 0)
		return 0;
	*point = len == 1 ? s[0] : s[0] & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80) /* also the NUL at the end */
			return 0;
		*point = *point << 6 | (s[i] & 0x3fU);
	}
	if (*point < least[len] || *point > 0x10ffff ||
	    (*point >= 0xd800 && *point <= 0xdfff))
		return 0;
	return len;
}

// Controls, and what makes a terminal show letters in another order.
static bool is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	return !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) &&
	       c != 0x200e && c != 0x200f && c != 0x061c && c != 0xfeff;
}

void fm_escape(struct fm_buf *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		uint32_t c = 0;
		size_t len = decode_utf8(p, &c);

		if (len && is_printable(c)) {
			fm_buf_add(out, p, len);
			if (c == '\\')
				fm_buf_puts(out, "\\");
			p += len;
			continue;
		}
		for (size_t i = 0; i < (len ? len : 1); i++)
			fm_buf_printf(out, "\\x%02x", p[i]);
		p += len ? len : 1;
	}
}

bool fm_is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;

	while (*p) {
		size_t len = decode_utf8(p, &c);

		if (len == 0)
			return false;
		p += len;
	}
	return true;
}

void fm_text_put(FILE *out, const char *s)
{
	struct fm_buf b = FM_BUF_INIT;

	fm_escape(&b, s);
	(void)fputs(fm_buf_text(&b), out);
	fm_buf_release(&b);
}

void fm_text_printf(FILE *out, const char *fmt, ...)
{
	struct fm_buf b = FM_BUF_INIT;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	fm_buf_reserve(&b, (size_t)n + 1);
	va_start(ap, fmt);
	(void)vsnprintf(b.data, (size_t)n + 1, fmt, ap);
	va_end(ap);
	fm_text_put(out, b.data);
	fm_buf_release(&b);
}

static void put_where(FILE *out, const struct fm_where *w)
{
	bool has_path = w->path != NULL;

	if (w->object)
		fm_text_put(out, w->object);
	if (w->object && (has_path || w->has_offset))
		(void)fputs(" (", out);
	if (has_path)
		fm_text_put(out, w->path);
	if (w->has_offset)
		(void)fprintf(out, "%sbyte %" PRIu64, has_path ? ", " : "",
			      w->offset);
	if (w->has_offset && w->has_length)
		(void)fprintf(out, ", %" PRIu64 " bytes", w->length);
	if (w->object && (has_path || w->has_offset))
		(void)fputc(')', out);
	if (w->object || has_path || w->has_offset)
		(void)fputs(": ", out);
}

void fm_text_finding(FILE *out, const char *target, const struct fm_finding *f)
{
	static const char *const states[] = {
		[FM_OPEN] = "",
		[FM_PLANNED] = ", repair planned",
		[FM_FIXED] = ", repaired",
		[FM_REFUSED] = ", not repaired",
	};

	fm_text_put(out, target);
	(void)fprintf(out, ": %s: ", fm_severity_name(f->severity));
	put_where(out, &f->where);
	fm_text_put(out, f->detail);
	(void)fprintf(out, " [%s%s]\n", f->check->id, states[f->state]);
}

// Counted only, of a check whose findings are shown.
static bool is_cut_off(const struct fm_report *r, const struct fm_overflow *o,
		       enum fm_severity at_least)
{
	for (const struct fm_finding *f = r->first; f && o->dropped;
	     f = f->next)
		if (f->check == o->check && f->severity >= at_least)
			return true;
	return false;
}

void fm_text_findings(FILE *out, const char *target, const struct fm_report *r,
		      enum fm_severity at_least)
{
	for (const struct fm_finding *f = r->first; f; f = f->next)
		if (f->severity >= at_least)
			fm_text_finding(out, target, f);
	for (const struct fm_overflow *o = r->overflow; o; o = o->next) {
		if (!is_cut_off(r, o, at_least))
			continue;
		fm_text_put(out, target);
		(void)fprintf(out, ": and %" PRIu64 " more of [%s]\n",
			      o->dropped, o->check->id);
	}
}

static void put_count(FILE *out, bool *is_first, uint64_t n, const char *noun)
{
	if (n == 0)
		return;
	(void)fprintf(out, "%s%" PRIu64 " %s%s", *is_first ? "" : ", ", n, noun,
		      n == 1 ? "" : "s");
	*is_first = false;
}

void fm_text_summary(FILE *out, const char *target, const struct fm_report *r)
{
	bool is_first = true;

	fm_text_put(out, target);
	(void)fputs(": ", out);
	put_count(out, &is_first, r->by_severity[FM_FATAL], "fatal error");
	put_count(out, &is_first, r->by_severity[FM_ERROR], "error");
	put_count(out, &is_first, r->by_severity[FM_WARN], "warning");
	put_count(out, &is_first, r->by_severity[FM_NOTE], "note");
	if (is_first)
		(void)fputs("nothing found", out);
	if (r->unit)
		(void)fprintf(out, "; %" PRIu64 " %s looked at", r->n_units,
			      r->unit);
	(void)fputc('\n', out);
	for (size_t i = 0; i < r->n_unchecked; i++) {
		fm_text_put(out, target);
		(void)fputs(": not checked: ", out);
		fm_text_put(out, r->unchecked[i]);
		(void)fputc('\n', out);
	}
}

// What it takes, and whom it keeps waiting.
static const char *cost(const struct fm_plan *p)
{
	switch (p->mode) {
	case FM_MODE_LINK:
		return "takes the space of directories only; writers wait for "
		       "the switch alone";
	case FM_MODE_RENAME:
		return "takes the space of directories only; nobody can read "
		       "or write while the files move";
	case FM_MODE_COPY: return "takes the space of a copy; nobody waits";
	case FM_MODE_STEPS: break;
	}
	return "takes the space of one directory that is made anew; writers "
	       "wait a moment for each";
}

void fm_text_plan(FILE *out, const char *target, const char *verb,
		  const struct fm_plan *p)
{
	struct fm_arena tmp;
	const char *step;

	fm_arena_init(&tmp);
	fm_text_printf(out, "%s: %s: %s", target, verb, p->title);
	(void)fputc('\n', out);
	for (size_t i = 0; (step = fm_plan_step(p, i, &tmp)); i++) {
		(void)fputs("  ", out);
		fm_text_put(out, step);
		(void)fputc('\n', out);
		fm_arena_reset(&tmp);
	}
	(void)fprintf(out, "  %s\n", cost(p));
	fm_arena_release(&tmp);
}
