/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names in one directory, sorted, so that what is said about them does
 * not depend on the file system. At most `limit` are kept; all are counted.
 */
#ifndef FM_FORMATS_FSFS_NAMES_H
#define FM_FORMATS_FSFS_NAMES_H

#include "lib/err.h"

struct fsfs_names {
	char **at;
	size_t n;
	uint64_t n_seen;
};

/* FM_E_IO (.sys) when it cannot be opened; no symbolic link is followed. */
int fsfs_names_read(int dirfd, const char *name, size_t limit,
		    struct fsfs_names *names, struct fm_err *err);
void fsfs_names_release(struct fsfs_names *names);

bool fsfs_names_have(const struct fsfs_names *names, const char *name);

#endif
