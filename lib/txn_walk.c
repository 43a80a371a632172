// SPDX-License-Identifier: GPL-2.0-or-later
// Whole directories of ours: sync them, remove them. Never through a link.

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>

// Where syncfs() is known to make all durable, and to say so when it fails. On
// a FUSE or a network file system it may not even ask the other side.
static bool has_syncfs(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return false;
	switch ((unsigned long)fs.f_type) {
	case EXT4_SUPER_MAGIC: /* ext2 and ext3 too */
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC: return true;
	default: return false;
	}
}

int txn_sync_many(int fd, const char *name, struct fm_err *err)
{
	if (!has_syncfs(fd))
		return txn_sync_all(fd, name, err);
	if (syncfs(fd) != 0)
		return fm_err_sys(err, errno, "cannot sync %s", name);
	return 0;
}

int txn_sync_all(int fd, const char *name, struct fm_err *err)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *d;

	if (!dir)
		return fm_err_sys(err, errno, "cannot read directory %s", name);
	while (errno = 0, (d = readdir(dir)) != NULL) {
		FM_AUTOFD int sub = -1;
		struct stat st;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		sub = openat(fd, d->d_name,
			     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (sub < 0 && errno == ELOOP)
			continue;
		if (sub < 0 || fstat(sub, &st) != 0)
			return fm_err_sys(err, errno, "cannot open %s",
					  d->d_name);
		if (S_ISDIR(st.st_mode)) {
			if (txn_sync_all(sub, d->d_name, err) != 0)
				return err->code;
		} else if (txn_sync_fd(sub) != 0) {
			return fm_err_sys(err, errno, "cannot sync %s",
					  d->d_name);
		}
	}
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory %s", name);
	return txn_sync_dir(fd, name, err);
}

int txn_remove_all(int dirfd, const char *name, struct fm_err *err)
{
	int fd = openat(dirfd, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return fm_err_sys(err, errno, "cannot open directory %s", name);
	while (errno = 0, (d = readdir(dir)) != NULL) {
		struct stat st;
		int rc;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return fm_err_sys(err, errno, "cannot read %s",
					  d->d_name);
		rc = S_ISDIR(st.st_mode) ? txn_remove_all(fd, d->d_name, err)
					 : txn_unlink(fd, d->d_name, true, err);
		if (rc != 0)
			return rc;
	}
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory %s", name);
	return txn_rmdir(dirfd, name, true, err);
}
