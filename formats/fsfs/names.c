// SPDX-License-Identifier: GPL-2.0-or-later
// A directory's names in sorted order.

#include "formats/fsfs/names.h"

#include "lib/autofd.h"
#include "lib/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void add(struct fsfs_names *names, const char *name)
{
	if ((names->n & (names->n + 1)) == 0) /* 0, 1, 3, 7...: full */
		names->at = fm_realloc_array(names->at, 2 * names->n + 1,
					     sizeof(*names->at));
	names->at[names->n++] = fm_strdup(name);
}

int fsfs_names_read(int dirfd, const char *name, size_t limit,
		    struct fsfs_names *names, struct fm_err *err)
{
	FM_AUTODIR DIR *dir = NULL;
	struct dirent *d;
	int fd = openat(dirfd, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*names = (struct fsfs_names){.n = 0};
	if (fd >= 0)
		dir = fdopendir(fd);
	if (!dir) {
		int sys = errno;

		fm_close_fd(&fd);
		return fm_err_sys(err, sys, "%s", name);
	}
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (names->n_seen++ < limit)
			add(names, d->d_name);
	}
	if (errno)
		return fm_err_sys(err, errno, "%s", name);
	if (names->n)
		qsort(names->at, names->n, sizeof(*names->at), compare);
	return 0;
}

void fsfs_names_release(struct fsfs_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		fm_free(names->at[i]);
	fm_free(names->at);
	*names = (struct fsfs_names){.n = 0};
}

bool fsfs_names_have(const struct fsfs_names *names, const char *name)
{
	return names->n && bsearch(&name, names->at, names->n,
				   sizeof(*names->at), compare) != NULL;
}
