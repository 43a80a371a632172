/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wish to stop. Signal handlers set it, long loops poll it.
 *
 * A command calls fm_cancel_install once. The first SIGINT or SIGTERM asks
 * for a stop at the next safe point (at most a second away), a second one
 * ends the process at once, which no target minds. SIGUSR1 asks for one
 * status line.
 */
#ifndef FM_LIB_CANCEL_H
#define FM_LIB_CANCEL_H

#include "lib/err.h"

/* A blocking call that a wish to stop interrupts returns EINTR. */
void fm_cancel_install(void);

bool fm_cancelled(void);

/* 0, or FM_E_CANCELLED with *err filled. */
int fm_cancel_check(struct fm_err *err);

/* True once after each SIGUSR1. */
bool fm_status_wanted(void);

#endif
