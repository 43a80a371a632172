/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Failure of our own work (damage in a target is a finding: report.h).
 *
 * A function that can fail returns 0 or a negative FM_E_* and takes a
 * struct fm_err * as its last parameter. The error is filled where the fault
 * is seen and prefixed on the way up by those who know more; one fault, one
 * message. A message is one line without newline; bytes of a target in it are
 * escaped by whoever prints it. A struct fm_err is plain data: no release.
 */
#ifndef FM_LIB_ERR_H
#define FM_LIB_ERR_H

#include "lib/base.h"

enum fm_error {
	FM_E_IO = -1,          /* a system call failed: .sys has errno */
	FM_E_FORMAT = -2,      /* the target is not what it claims to be */
	FM_E_UNSUPPORTED = -3, /* understood, and refused with the reason */
	FM_E_BOUNDS = -4,      /* read past the end of a file or a record */
	FM_E_LIMIT = -5,       /* a size from the target is above our limit */
	FM_E_BUSY = -6,        /* locked by another process */
	FM_E_CHANGED = -7,     /* the target changed under our hands */
	FM_E_CANCELLED = -8,   /* a signal asked us to stop */
	FM_E_USAGE = -9,       /* the command line makes no sense */
	FM_E_UNFINISHED = -10, /* an interrupted change must be settled first */
	FM_E_BUG = -11,        /* our own mistake */
};

struct fm_err {
	int code; /* enum fm_error, 0 when unset */
	int sys;  /* errno of FM_E_IO, else 0 */
	char msg[768];
};

/* Fills *err and returns code. */
int fm_err_set(struct fm_err *err, enum fm_error code, const char *fmt, ...)
	FM_PRINTF(3, 4);

/* Fills *err with FM_E_IO and ": strerror(sys)" appended; returns FM_E_IO. */
int fm_err_sys(struct fm_err *err, int sys, const char *fmt, ...)
	FM_PRINTF(3, 4);

/* Puts context in front of the message; returns err->code. */
int fm_err_prefix(struct fm_err *err, const char *fmt, ...) FM_PRINTF(2, 3);

/* Appends to the message (advice, say); returns err->code. */
int fm_err_append(struct fm_err *err, const char *fmt, ...) FM_PRINTF(2, 3);

#endif
