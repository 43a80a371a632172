/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target's own lock files, held exclusively as flock and as fcntl lock.
 *
 * Builds of APR differ in which of the two they use, and on Linux the two do
 * not see each other (fsfs-format.md 12.1), so both are taken, flock first.
 * The descriptor stays open while the lock is held and no other descriptor
 * of that file may be closed by this process: that would drop the fcntl lock.
 * On NFS the kernel maps flock to byte-range locks, so there a conflict of
 * the second call with the first is taken for success.
 *
 * Waiting blocks in the kernel's queue (polling would starve behind busy
 * committers) and is cut short by the deadline or by a signal.
 */
#ifndef FM_LIB_LOCK_H
#define FM_LIB_LOCK_H

#include "lib/err.h"

struct fm_lock {
	int fd; /* -1 when not held */
};

/*
 * Takes one lock, creating the file (mode 0666 less umask, as Subversion
 * does) when it is missing. wait_ms bounds the wait: FM_E_BUSY after it.
 */
int fm_lock_take(int dirfd, const char *name, unsigned wait_ms,
		 struct fm_lock *lock, struct fm_err *err);
void fm_lock_drop(struct fm_lock *lock);

#endif
