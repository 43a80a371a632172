/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for people: findings, plans, and the escaping of all of it.
 *
 * Whatever is printed may hold names that came from a target or from the
 * command line, so everything goes through fm_escape: valid, printable UTF-8
 * is left alone, every other byte becomes \xHH and a backslash two of them.
 * Printers write to the stream they were handed and keep nothing; errors of
 * the stream are left to whoever closes it.
 */
#ifndef FM_LIB_REPORT_TEXT_H
#define FM_LIB_REPORT_TEXT_H

#include "lib/buf.h"
#include "lib/plan.h"
#include "lib/report.h"

#include <stdio.h>

/* Appends s in its printable form. */
void fm_escape(struct fm_buf *out, const char *s);

/* Valid UTF-8 without NUL inside? (Control characters may be in it.) */
bool fm_is_utf8(const char *s);

/* Prints s in its printable form. */
void fm_text_put(FILE *out, const char *s);

/* printf, escaped as a whole; newlines of fmt's own do not survive. */
void fm_text_printf(FILE *out, const char *fmt, ...) FM_PRINTF(2, 3);

/* TARGET: error: r1042 (revs/1/1042, byte 17): sentence [id] */
void fm_text_finding(FILE *out, const char *target, const struct fm_finding *f);

/* All findings of at least this severity, and what was counted only. */
void fm_text_findings(FILE *out, const char *target, const struct fm_report *r,
		      enum fm_severity at_least);

/* One line: what was found and what was looked at; then what was not. */
void fm_text_summary(FILE *out, const char *target, const struct fm_report *r);

/* The plan of a dry run: `TARGET: VERB: title`, and one line a step. */
void fm_text_plan(FILE *out, const char *target, const char *verb,
		  const struct fm_plan *p);

#endif
