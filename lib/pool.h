/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Worker threads for pure functions on separate items.
 *
 * fn runs once for each item of [first, end), on any thread, with an arena of
 * its own (reset after each item) and a report fragment of its own. Fragments
 * are merged into `out` in item order, so a report does not depend on `jobs`.
 * The first error in item order is returned; later items may or may not have
 * run. fn must not write anything that another item reads.
 */
#ifndef FM_LIB_POOL_H
#define FM_LIB_POOL_H

#include "lib/err.h"
#include "lib/report.h"

typedef int fm_pool_fn(void *ctx, uint64_t item, struct fm_arena *tmp,
		       struct fm_report *report, struct fm_err *err);

/* out may be NULL when fn reports nothing. jobs 0 = number of processors. */
int fm_pool_run(unsigned jobs, uint64_t first, uint64_t end, fm_pool_fn *fn,
		void *ctx, struct fm_report *out, struct fm_err *err);

#endif
