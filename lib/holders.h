/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has files of a directory open, as far as /proc lets us see.
 *
 * An ordinary user sees own processes only, root sees all; a server between
 * two requests may hold nothing. The answer helps people, it proves nothing.
 */
#ifndef FM_LIB_HOLDERS_H
#define FM_LIB_HOLDERS_H

#include "lib/base.h"

struct fm_holder {
	int pid;
	char name[32]; /* of the program, as /proc/PID/comm has it */
};

/*
 * Processes but this one with a descriptor open at or below the directory
 * `dir`: fills up to `max` of them, lowest pid first as /proc lists them, and
 * returns how many it filled.
 */
size_t fm_holders_find(int dir, struct fm_holder *list, size_t max);

#endif
