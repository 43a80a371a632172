// SPDX-License-Identifier: GPL-2.0-or-later
// Random-access input with a known size.

#include "lib/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fm_source_memory(struct fm_source *s, const void *p, size_t n)
{
	*s = (struct fm_source){.fd = -1, .memory = p, .size = n};
}

int fm_source_file(struct fm_source *s, int fd, struct fm_err *err)
{
	struct stat st;
	off_t end;

	if (fstat(fd, &st) != 0)
		return fm_err_sys(err, errno, "cannot examine");
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return fm_err_set(err, FM_E_FORMAT,
				  "neither a regular file nor a block device");
	end = S_ISBLK(st.st_mode) ? lseek(fd, 0, SEEK_END) : st.st_size;
	if (end < 0)
		return fm_err_sys(err, errno, "cannot find the size");
	*s = (struct fm_source){.fd = fd, .size = (uint64_t)end};
	return 0;
}

static bool is_inside(const struct fm_source *s, uint64_t start, uint64_t n)
{
	uint64_t end;

	return fm_add_u64(start, n, &end) && end <= s->size;
}

int fm_source_window(struct fm_source *s, const struct fm_source *of,
		     uint64_t start, uint64_t size, struct fm_err *err)
{
	if (!is_inside(of, start, size))
		return fm_err_set(err, FM_E_BOUNDS,
				  "%ju bytes at offset %ju reach past the end "
				  "at %ju",
				  (uintmax_t)size, (uintmax_t)start,
				  (uintmax_t)of->size);
	*s = *of;
	s->size = size;
	if (of->fd < 0)
		s->memory = (const char *)of->memory + start;
	else
		s->start += start;
	return 0;
}

int fm_source_read(const struct fm_source *s, uint64_t offset, void *p,
		   size_t n, struct fm_err *err)
{
	char *to = p;

	if (!is_inside(s, offset, n))
		return fm_err_set(err, FM_E_BOUNDS,
				  "%zu bytes at offset %ju reach past the end "
				  "at %ju",
				  n, (uintmax_t)offset, (uintmax_t)s->size);
	if (s->fd < 0) {
		if (n)
			memcpy(p, (const char *)s->memory + offset, n);
		return 0;
	}
	offset += s->start;
	while (n) {
		ssize_t got = pread(s->fd, to, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fm_err_sys(err, errno, "cannot read");
		if (got == 0)
			return fm_err_set(err, FM_E_BOUNDS,
					  "the file ends at %ju",
					  (uintmax_t)offset);
		to += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int fm_open_read(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dirfd, name, flags | O_NOATIME);

	/* O_NOATIME is for the owner and for root only. */
	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, name, flags);
	return fd;
}
