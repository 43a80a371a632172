/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress: phase, share done, rate, time left; at most 10 lines a second.
 *
 * Every function accepts NULL, which is silent: callers never ask. A step
 * costs a few instructions, so loops call it for each item.
 */
#ifndef FM_LIB_PROGRESS_H
#define FM_LIB_PROGRESS_H

#include "lib/base.h"

struct fm_progress;

enum fm_progress_when {
	FM_PROGRESS_AUTO,
	FM_PROGRESS_ALWAYS,
	FM_PROGRESS_NEVER
};

/* fd < 0: stderr, and with AUTO only if that is a terminal. */
struct fm_progress *fm_progress_new(enum fm_progress_when when, int fd);
void fm_progress_free(struct fm_progress *p);

/* Begins a phase of `total` items (0: unknown), named in the user's terms. */
void fm_progress_phase(struct fm_progress *p, const char *phase,
		       uint64_t total);
/* `done` of them are done now. Also answers SIGUSR1. */
void fm_progress_step(struct fm_progress *p, uint64_t done);
/* Ends the line, before anything else is printed. */
void fm_progress_end(struct fm_progress *p);

#endif
