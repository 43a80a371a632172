// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Lines for programs, through jansson.

#include "lib/report_json.h"

#include "lib/buf.h"
#include "lib/mem.h"
#include "lib/report_text.h"
#include "lib/version.h"

#include <assert.h>
#include <jansson.h>

enum { MAX_DEPTH = 4 };

struct fm_json {
	json_t *object[MAX_DEPTH]; /* [0] is the whole line */
	size_t depth;              /* of the innermost one */
	bool is_escaped;
};

static json_t *text(struct fm_json *j, const char *s)
{
	struct fm_buf b = FM_BUF_INIT;
	json_t *value;

	if (fm_is_utf8(s))
		return json_string(s);
	fm_escape(&b, s);
	value = json_string(fm_buf_text(&b));
	fm_buf_release(&b);
	j->is_escaped = true;
	return value;
}

static void set(struct fm_json *j, const char *key, json_t *value)
{
	(void)json_object_set_new(j->object[j->depth], key, value);
}

struct fm_json *fm_json_begin(const char *type, const char *target)
{
	struct fm_json *j = fm_alloc(sizeof(*j));

	j->object[0] = json_object();
	fm_json_text(j, "schema", FM_JSON_SCHEMA);
	fm_json_text(j, "type", type);
	fm_json_text(j, "target", target);
	return j;
}

void fm_json_text(struct fm_json *j, const char *key, const char *value)
{
	set(j, key, text(j, value));
}

void fm_json_number(struct fm_json *j, const char *key, uint64_t value)
{
	/* JSON's integers are signed here; larger ones are given as text. */
	if (value > INT64_MAX) {
		char digits[24];

		(void)snprintf(digits, sizeof(digits), "%ju", (uintmax_t)value);
		fm_json_text(j, key, digits);
		return;
	}
	set(j, key, json_integer((json_int_t)value));
}

void fm_json_real(struct fm_json *j, const char *key, double value)
{
	set(j, key, json_real(value));
}

void fm_json_flag(struct fm_json *j, const char *key, bool value)
{
	set(j, key, json_boolean(value));
}

void fm_json_list(struct fm_json *j, const char *key, const char *const *items,
		  size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(list, text(j, items[i]));
	set(j, key, list);
}

void fm_json_open(struct fm_json *j, const char *key)
{
	json_t *inner = json_object();

	assert(j->depth + 1 < MAX_DEPTH);
	set(j, key, inner);
	j->object[++j->depth] = inner;
}

void fm_json_close(struct fm_json *j)
{
	assert(j->depth > 0);
	j->depth--;
}

void fm_json_end(struct fm_json *j, FILE *out)
{
	assert(j->depth == 0);
	if (j->is_escaped)
		fm_json_flag(j, "escaped", true);
	(void)json_dumpf(j->object[0], out,
			 JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)fputc('\n', out);
	json_decref(j->object[0]);
	fm_free(j);
}

static const char *repair_name(enum fm_repair r)
{
	static const char *const names[] = {
		[FM_REPAIR_NONE] = "none",
		[FM_REPAIR_SAFE] = "safe",
		[FM_REPAIR_LOSSY] = "lossy",
	};

	return names[r];
}

static const char *state_name(enum fm_finding_state s)
{
	static const char *const names[] = {
		[FM_OPEN] = "open",
		[FM_PLANNED] = "planned",
		[FM_FIXED] = "fixed",
		[FM_REFUSED] = "refused",
	};

	return names[s];
}

static void print_finding(FILE *out, const char *target,
			  const struct fm_finding *f)
{
	struct fm_json *j = fm_json_begin("finding", target);

	fm_json_text(j, "check", f->check->id);
	fm_json_text(j, "severity", fm_severity_name(f->severity));
	if (f->where.object)
		fm_json_text(j, "object", f->where.object);
	if (f->where.path)
		fm_json_text(j, "path", f->where.path);
	if (f->where.has_offset)
		fm_json_number(j, "offset", f->where.offset);
	if (f->where.has_length)
		fm_json_number(j, "length", f->where.length);
	fm_json_text(j, "detail", f->detail);
	fm_json_text(j, "repair", repair_name(f->repair));
	fm_json_text(j, "state", state_name(f->state));
	fm_json_end(j, out);
}

void fm_json_findings(FILE *out, const char *target, const struct fm_report *r,
		      enum fm_severity at_least)
{
	for (const struct fm_finding *f = r->first; f; f = f->next)
		if (f->severity >= at_least)
			print_finding(out, target, f);
}

void fm_json_report(struct fm_json *j, const struct fm_report *r)
{
	fm_json_open(j, "found");
	for (enum fm_severity s = FM_NOTE; s <= FM_FATAL; s++)
		fm_json_number(j, fm_severity_name(s), r->by_severity[s]);
	fm_json_close(j);
	if (r->overflow) {
		fm_json_open(j, "not_listed");
		for (const struct fm_overflow *o = r->overflow; o; o = o->next)
			if (o->dropped)
				fm_json_number(j, o->check->id, o->dropped);
		fm_json_close(j);
	}
	if (r->unit) {
		fm_json_open(j, "looked_at");
		fm_json_number(j, r->unit, r->n_units);
		fm_json_close(j);
	}
	fm_json_list(j, "unchecked", r->unchecked, r->n_unchecked);
}

void fm_json_plan(struct fm_json *j, const struct fm_plan *p)
{
	static const char *const modes[] = {
		[FM_MODE_LINK] = "link",
		[FM_MODE_RENAME] = "rename",
		[FM_MODE_COPY] = "copy",
		[FM_MODE_STEPS] = "steps",
	};
	enum { MAX_STEPS = FM_PLAN_MAX_TREES + FM_PLAN_MAX_FILES + 1 };
	const char *steps[MAX_STEPS];
	struct fm_arena tmp;
	size_t n = 0;

	fm_arena_init(&tmp);
	while (n < MAX_STEPS && (steps[n] = fm_plan_step(p, n, &tmp)))
		n++;
	fm_json_text(j, "operation", p->operation);
	fm_json_text(j, "title", p->title);
	fm_json_text(j, "mode", modes[p->mode]);
	fm_json_list(j, "steps", steps, n);
	fm_arena_release(&tmp);
}
