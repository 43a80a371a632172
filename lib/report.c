// SPDX-License-Identifier: GPL-2.0-or-later
// Collecting findings. Policy is applied here, once, as each one is added.

#include "lib/report.h"

#include "lib/mem.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>

enum { DEFAULT_PER_CHECK = 100 };

static const char *const severity_names[] = {
	[FM_NOTE] = "note",
	[FM_WARN] = "warn",
	[FM_ERROR] = "error",
	[FM_FATAL] = "fatal",
};

void fm_report_init(struct fm_report *r)
{
	memset(r, 0, sizeof(*r));
	fm_arena_init(&r->arena);
}

void fm_report_release(struct fm_report *r)
{
	fm_arena_release(&r->arena);
	fm_free(r->unchecked);
	memset(r, 0, sizeof(*r));
}

static bool matches(const struct fm_policy_rule *rules, size_t n,
		    const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(rules[i].glob, id, 0) == 0)
			return true;
	return false;
}

bool fm_policy_selects(const struct fm_policy *p, const struct fm_check *c)
{
	if (!p)
		return true;
	if (p->n_only && !matches(p->only, p->n_only, c->id))
		return false;
	return !matches(p->skip, p->n_skip, c->id);
}

static enum fm_severity decide(const struct fm_policy *p,
			       const struct fm_check *c, enum fm_severity s)
{
	/* The last rule on the command line wins. */
	for (size_t i = 0; p && i < p->n_levels; i++)
		if (fnmatch(p->levels[i].glob, c->id, 0) == 0)
			s = p->levels[i].severity;
	return s;
}

static struct fm_overflow *tally(struct fm_report *r, const struct fm_check *c)
{
	struct fm_overflow *o;

	for (o = r->overflow; o; o = o->next)
		if (o->check == c)
			return o;
	o = fm_arena_alloc(&r->arena, sizeof(*o));
	o->check = c;
	o->next = r->overflow;
	r->overflow = o;
	return o;
}

static bool within_limit(struct fm_report *r, const struct fm_check *c)
{
	uint64_t limit = DEFAULT_PER_CHECK;
	struct fm_overflow *o = tally(r, c);

	if (r->policy && r->policy->per_check)
		limit = r->policy->per_check;
	if (o->kept < limit) {
		o->kept++;
		return true;
	}
	o->dropped++;
	return false;
}

static const char *own(struct fm_report *r, const char *s)
{
	return s ? fm_arena_strdup(&r->arena, s) : NULL;
}

static void append(struct fm_report *r, const struct fm_finding *from)
{
	struct fm_finding *f = fm_arena_alloc(&r->arena, sizeof(*f));

	*f = *from;
	f->next = NULL;
	f->detail = own(r, from->detail);
	f->where.path = own(r, from->where.path);
	f->where.object = own(r, from->where.object);
	if (r->last)
		r->last->next = f;
	else
		r->first = f;
	r->last = f;
}

static FM_PRINTF(5, 0) void add(struct fm_report *r,
				const struct fm_check *check,
				enum fm_severity severity,
				const struct fm_where *where, const char *fmt,
				va_list ap)
{
	struct fm_finding f = {.check = check, .repair = check->repair};
	char detail[768];

	if (!fm_policy_selects(r->policy, check))
		return;
	f.severity = decide(r->policy, check, severity);
	r->by_severity[f.severity]++;
	if (!within_limit(r, check))
		return;
	(void)vsnprintf(detail, sizeof(detail), fmt, ap);
	f.detail = detail;
	if (where)
		f.where = *where;
	append(r, &f);
}

void fm_report_add(struct fm_report *r, const struct fm_check *check,
		   const struct fm_where *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(r, check, check->severity, where, fmt, ap);
	va_end(ap);
}

void fm_report_add_as(struct fm_report *r, const struct fm_check *check,
		      enum fm_severity severity, const struct fm_where *where,
		      const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(r, check, severity, where, fmt, ap);
	va_end(ap);
}

static void add_unchecked(struct fm_report *r, const char *text)
{
	size_t n = r->n_unchecked;

	r->unchecked =
		fm_realloc_array(r->unchecked, n + 1, sizeof(*r->unchecked));
	r->unchecked[n] = fm_arena_strdup(&r->arena, text);
	r->n_unchecked++;
}

void fm_report_unchecked(struct fm_report *r, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_unchecked(r, text);
}

void fm_report_merge(struct fm_report *dst, struct fm_report *src)
{
	for (const struct fm_finding *f = src->first; f; f = f->next)
		if (within_limit(dst, f->check))
			append(dst, f);
	for (const struct fm_overflow *o = src->overflow; o; o = o->next)
		tally(dst, o->check)->dropped += o->dropped;
	for (size_t i = 0; i < FM_ARRAY_SIZE(dst->by_severity); i++)
		dst->by_severity[i] += src->by_severity[i];
	for (size_t i = 0; i < src->n_unchecked; i++)
		add_unchecked(dst, src->unchecked[i]);
	dst->n_units += src->n_units;
	fm_report_release(src);
	fm_report_init(src);
	src->policy = dst->policy;
}

const struct fm_finding *fm_report_worst(const struct fm_report *r,
					 enum fm_severity at_least)
{
	const struct fm_finding *worst = NULL;

	for (const struct fm_finding *f = r->first; f; f = f->next)
		if (f->severity >= at_least &&
		    (!worst || f->severity > worst->severity))
			worst = f;
	return worst;
}

const char *fm_severity_name(enum fm_severity s)
{
	return severity_names[s];
}

bool fm_severity_parse(const char *name, enum fm_severity *s)
{
	for (size_t i = 0; i < FM_ARRAY_SIZE(severity_names); i++) {
		if (strcmp(name, severity_names[i]) == 0) {
			*s = (enum fm_severity)i;
			return true;
		}
	}
	return false;
}
