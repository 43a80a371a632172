/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A declared check: what a finding refers to.
 *
 * Each format lists its checks once, in formats/<name>/checks.def, as rows
 *	FM_CHECK(SYMBOL, "format.object.defect", SEVERITY, REPAIR, "sentence")
 * An id is permanent: never renamed, never reused for another meaning.
 * man/fsmend-checks.7 describes every one of them; lint compares the two.
 */
#ifndef FM_LIB_CHECK_H
#define FM_LIB_CHECK_H

#include "lib/base.h"

enum fm_severity {
	FM_NOTE,  /* printed with -v only */
	FM_WARN,  /* printed; counts as a problem with --strict */
	FM_ERROR, /* a problem: wrong answers */
	FM_FATAL, /* a problem: data unreadable */
};

/* What kind of repair exists (product.md 3.3). */
enum fm_repair {
	FM_REPAIR_NONE,
	FM_REPAIR_SAFE,  /* exact: derived from primary data */
	FM_REPAIR_LOSSY, /* a guess, or something is given up */
};

struct fm_check {
	const char *id;
	enum fm_severity severity;
	enum fm_repair repair;
	const char *sentence; /* the invariant, for people */
};

#endif
