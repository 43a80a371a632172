/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors and directory handles that close themselves.
 *
 *	FM_AUTOFD int fd = openat(...);
 *	...
 *	return fm_steal_fd(&fd);     hands it over
 */
#ifndef FM_LIB_AUTOFD_H
#define FM_LIB_AUTOFD_H

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

static inline void fm_close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

static inline void fm_close_dir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		(void)closedir(*dir);
	*dir = NULL;
	errno = saved;
}

static inline int fm_steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define FM_AUTOFD  __attribute__((cleanup(fm_close_fd)))
#define FM_AUTODIR __attribute__((cleanup(fm_close_dir)))

#endif
