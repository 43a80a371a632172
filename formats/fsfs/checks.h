/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of this format as constants: fm_report_add(r, FSFS_REV_MISSING,
 * ...). checks.def is the list; it holds what is really checked, no more.
 */
#ifndef FM_FORMATS_FSFS_CHECKS_H
#define FM_FORMATS_FSFS_CHECKS_H

#include "lib/check.h"

enum fsfs_check {
#define FM_CHECK(symbol, id, severity, repair, sentence) FSFS_CHECK_##symbol,
#include "formats/fsfs/checks.def"
#undef FM_CHECK
	FSFS_N_CHECKS
};

extern const struct fm_check fsfs_checks[FSFS_N_CHECKS];

#endif
