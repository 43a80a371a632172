// SPDX-License-Identifier: GPL-2.0-or-later
// Walking a directory of numbered files, flat or in shards.

#include "lib/numtree.h"

#include "lib/autofd.h"
#include "lib/cancel.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void fm_num_path(uint64_t shard, uint64_t n, char path[FM_NUM_PATH])
{
	if (shard)
		(void)snprintf(path, FM_NUM_PATH, "%ju/%ju",
			       (uintmax_t)(n / shard), (uintmax_t)n);
	else
		(void)snprintf(path, FM_NUM_PATH, "%ju", (uintmax_t)n);
}

bool fm_num_parse(const char *name, uint64_t *n)
{
	uint64_t value = 0;

	if (name[0] == '\0' || (name[0] == '0' && name[1] != '\0'))
		return false;
	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return false;
		if (!fm_mul_u64(value, 10, &value) ||
		    !fm_add_u64(value, (uint64_t)(*name - '0'), &value))
			return false;
	}
	*n = value;
	return true;
}

bool fm_num_parse_with(const char *name, const char *suffix, uint64_t *n)
{
	size_t len = strlen(name), tail = strlen(suffix);
	char number[FM_NUM_PATH];

	if (len <= tail || len - tail >= sizeof(number) ||
	    strcmp(name + len - tail, suffix) != 0)
		return false;
	memcpy(number, name, len - tail);
	number[len - tail] = '\0';
	return fm_num_parse(number, n);
}

// Some file systems leave the type to stat.
static unsigned char entry_type(int dirfd, const struct dirent *d)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type;
	if (fstatat(dirfd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_REG; /* gone or unreadable: opening it will say so */
	return (unsigned char)IFTODT(st.st_mode);
}

static int walk_dir(int fd, const struct fm_num_entry *shard, fm_num_fn *fn,
		    void *ctx, struct fm_err *err)
{
	FM_AUTODIR DIR *dir = fdopendir(fd);
	struct dirent *d;
	int rc;

	if (!dir) {
		int sys = errno;

		(void)close(fd);
		return fm_err_sys(err, sys, "cannot read directory");
	}
	while (errno = 0, (d = readdir(dir)) != NULL) {
		struct fm_num_entry e = {.name = d->d_name,
					 .ino = d->d_ino,
					 .dirfd = dirfd(dir)};

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		e.is_number = fm_num_parse(d->d_name, &e.number);
		e.type = entry_type(e.dirfd, d);
		if (shard) {
			e.is_in_shard = true;
			e.shard = shard->number;
		}
		rc = fm_cancel_check(err);
		if (rc == 0)
			rc = fn(ctx, &e, err);
		if (rc == 0 && !shard && e.is_number && e.type == DT_DIR) {
			int sub = openat(e.dirfd, e.name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
						 O_CLOEXEC);

			if (sub < 0 && errno == ENOENT)
				continue; /* removed since: svnadmin pack */
			if (sub < 0)
				rc = fm_err_sys(err, errno, "cannot open");
			else
				rc = walk_dir(sub, &e, fn, ctx, err);
			if (rc < 0)
				fm_err_prefix(err, "%s: ", e.name);
		}
		if (rc != 0)
			return rc;
	}
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory");
	return 0;
}

int fm_num_walk(int top, fm_num_fn *fn, void *ctx, struct fm_err *err)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fm_err_sys(err, errno, "cannot open directory");
	return walk_dir(fd, NULL, fn, ctx, err);
}

int fm_num_shards(int top, const char *suffix, fm_shard_fn *fn, void *ctx,
		  size_t *count, struct fm_err *err)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;
	uint64_t k;
	int rc = 0;

	*count = 0;
	if (!dir)
		return fm_err_sys(err, errno, "cannot read directory");
	while (rc == 0 && (errno = 0, d = readdir(dir)) != NULL) {
		if ((!fm_num_parse(d->d_name, &k) &&
		     !(suffix && fm_num_parse_with(d->d_name, suffix, &k))) ||
		    entry_type(top, d) != DT_DIR)
			continue;
		rc = fn(ctx, d->d_name, k, err);
		(*count)++;
	}
	if (rc == 0 && errno)
		return fm_err_sys(err, errno, "cannot read directory");
	return rc;
}

int fm_num_shards_until_none(int top, const char *suffix, fm_shard_fn *fn,
			     void *ctx, struct fm_err *err)
{
	size_t count = 0;
	int rc;

	do {
		rc = fm_num_shards(top, suffix, fn, ctx, &count, err);
	} while (rc == 0 && count > 0);
	return rc;
}
