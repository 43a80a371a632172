// SPDX-License-Identifier: GPL-2.0-or-later
// Looking through /proc/PID/fd for a directory's files.

#include "lib/holders.h"

#include "lib/autofd.h"
#include "lib/numtree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool read_link(int dirfd, const char *name, char path[PATH_MAX])
{
	ssize_t n = readlinkat(dirfd, name, path, PATH_MAX - 1);

	if (n < 0)
		return false;
	path[n] = '\0';
	return true;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 &&
	       (path[n] == '\0' || path[n] == '/');
}

static bool holds(int proc, const char *pid, const char *top)
{
	char name[PATH_MAX], path[PATH_MAX];
	struct dirent *d;
	int fd;
	FM_AUTODIR DIR *dir = NULL;

	(void)snprintf(name, sizeof(name), "%s/fd", pid);
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return false;
	}
	while ((d = readdir(dir)) != NULL)
		if (read_link(fd, d->d_name, path) && is_below(path, top))
			return true;
	return false;
}

static void read_name(int proc, const char *pid, char name[32])
{
	char path[NAME_MAX + 8];
	ssize_t n = -1;
	FM_AUTOFD int fd = -1;

	(void)snprintf(path, sizeof(path), "%.32s/comm", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, name, 31);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

size_t fm_holders_find(int dir, struct fm_holder *list, size_t max)
{
	char self[32], top[PATH_MAX];
	FM_AUTODIR DIR *proc = opendir("/proc");
	struct dirent *d;
	size_t n = 0;
	uint64_t pid;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", dir);
	if (!proc || !read_link(AT_FDCWD, self, top))
		return 0;
	while (n < max && (d = readdir(proc)) != NULL) {
		if (!fm_num_parse(d->d_name, &pid) ||
		    pid == (uint64_t)getpid() ||
		    !holds(dirfd(proc), d->d_name, top))
			continue;
		list[n].pid = (int)pid;
		read_name(dirfd(proc), d->d_name, list[n].name);
		n++;
	}
	return n;
}
