/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON Lines for programs: one object a line, each with "schema", "type" and
 * "target" first. A text that is not valid UTF-8 is given in the printable
 * form of lib/report_text.h, and "escaped": true is added to its object.
 *
 *	struct fm_json *j = fm_json_begin("summary", target);
 *	fm_json_number(j, "status", 0);
 *	fm_json_end(j, stdout);
 *
 * fm_json_open and fm_json_close nest one object in another.
 */
#ifndef FM_LIB_REPORT_JSON_H
#define FM_LIB_REPORT_JSON_H

#include "lib/plan.h"
#include "lib/report.h"

#include <stdio.h>

struct fm_json;

struct fm_json *fm_json_begin(const char *type, const char *target);
void fm_json_text(struct fm_json *j, const char *key, const char *value);
void fm_json_number(struct fm_json *j, const char *key, uint64_t value);
void fm_json_real(struct fm_json *j, const char *key, double value);
void fm_json_flag(struct fm_json *j, const char *key, bool value);
void fm_json_list(struct fm_json *j, const char *key, const char *const *items,
		  size_t n);
void fm_json_open(struct fm_json *j, const char *key);
void fm_json_close(struct fm_json *j);
/* Prints the line and frees the object. */
void fm_json_end(struct fm_json *j, FILE *out);

/* One "finding" object for each finding of at least this severity. */
void fm_json_findings(FILE *out, const char *target, const struct fm_report *r,
		      enum fm_severity at_least);
/* Members of a summary: counts, what was looked at, what was not checked. */
void fm_json_report(struct fm_json *j, const struct fm_report *r);
/* Members of a summary: operation, title, mode and steps. */
void fm_json_plan(struct fm_json *j, const struct fm_plan *p);

#endif
