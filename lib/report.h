/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: damage in a target is data, not an error.
 *
 * A verifier calls fm_report_add for everything it sees and goes on; policy
 * (severity, selection, limits) lives here. Findings come out in the order
 * they were added; parallel passes fill one report per item and merge them in
 * item order, so the same input gives the same report for any --jobs.
 * After `per_check` findings of one check further ones are counted, not kept.
 *
 *	fm_report_init(&r); r.policy = &policy;
 *	fm_report_add(&r, &check, &where, "expected %d, found %d", a, b);
 *	fm_report_release(&r);
 *
 * A report owns all text in it. Not safe for use by two threads at once.
 */
#ifndef FM_LIB_REPORT_H
#define FM_LIB_REPORT_H

#include "lib/arena.h"
#include "lib/check.h"

#include <stdio.h>

/* Where a finding is. Absent parts are absent, not zero. */
struct fm_where {
	const char *path;   /* below the target, or NULL */
	const char *object; /* in the user's terms ("r1042"), or NULL */
	bool has_offset, has_length;
	uint64_t offset, length; /* bytes */
};

enum fm_finding_state { FM_OPEN, FM_PLANNED, FM_FIXED, FM_REFUSED };

struct fm_finding {
	const struct fm_check *check;
	enum fm_severity severity; /* after policy */
	enum fm_repair repair;
	enum fm_finding_state state;
	struct fm_where where;
	const char *detail; /* one sentence: expected and found */
	struct fm_finding *next;
};

/* One --severity=ID=LEVEL, --only=GLOB or --skip=GLOB. */
struct fm_policy_rule {
	const char *glob;
	enum fm_severity severity; /* of --severity only */
};

struct fm_policy {
	const struct fm_policy_rule *only, *skip, *levels;
	size_t n_only, n_skip, n_levels;
	uint64_t per_check; /* findings kept of one check; 0 = 100 */
};

/* Findings of one check above the limit. */
struct fm_overflow {
	const struct fm_check *check;
	uint64_t kept, dropped;
	struct fm_overflow *next;
};

struct fm_report {
	const struct fm_policy *policy; /* may be NULL */
	struct fm_arena arena;
	struct fm_finding *first, *last;
	struct fm_overflow *overflow;
	uint64_t by_severity[FM_FATAL + 1]; /* counts, dropped ones too */
	/* What was not checked, one sentence each (never NULL entries). */
	const char **unchecked;
	size_t n_unchecked;
	/* What was looked at, e.g. "revisions", 60. */
	const char *unit;
	uint64_t n_units;
};

void fm_report_init(struct fm_report *r);
void fm_report_release(struct fm_report *r);

/* Adds a finding with the check's own severity, or with `severity`. */
void fm_report_add(struct fm_report *r, const struct fm_check *check,
		   const struct fm_where *where, const char *fmt, ...)
	FM_PRINTF(4, 5);
void fm_report_add_as(struct fm_report *r, const struct fm_check *check,
		      enum fm_severity severity, const struct fm_where *where,
		      const char *fmt, ...) FM_PRINTF(5, 6);

/* "Clean" without saying what was not checked is a lie: say it. */
void fm_report_unchecked(struct fm_report *r, const char *fmt, ...)
	FM_PRINTF(2, 3);

/* Appends all of src, and empties it. */
void fm_report_merge(struct fm_report *dst, struct fm_report *src);

/* Does the policy select this check at all? */
bool fm_policy_selects(const struct fm_policy *p, const struct fm_check *c);

/* The first finding of this severity or above, or NULL. */
const struct fm_finding *fm_report_worst(const struct fm_report *r,
					 enum fm_severity at_least);

const char *fm_severity_name(enum fm_severity s);
bool fm_severity_parse(const char *name, enum fm_severity *s);

#endif
