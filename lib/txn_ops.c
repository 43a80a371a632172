// SPDX-License-Identifier: GPL-2.0-or-later
// Single changes to the file system, each with an error that names the file.

#include "lib/autofd.h"
#include "lib/source.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <time.h>

enum { SMALL_LIMIT = 1 << 20, ACL_LIMIT = 64 * 1024 };

double txn_now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int txn_sync_fd(int fd)
{
	int rc;

	do {
		rc = fsync(fd);
	} while (rc != 0 && errno == EINTR);
	return rc;
}

int txn_sync_dir(int fd, const char *name, struct fm_err *err)
{
	// Some file systems cannot sync a directory, and say so.
	if (txn_sync_fd(fd) != 0 && errno != EINVAL && errno != EOPNOTSUPP)
		return fm_err_sys(err, errno, "cannot sync directory %s", name);
	return 0;
}

int txn_open_dir(int dirfd, const char *name, int *fd, struct fm_err *err)
{
	*fd = openat(dirfd, name,
		     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return fm_err_sys(err, errno, "cannot open directory %s", name);
	return 0;
}

int txn_rename(int fromdir, const char *from, int todir, const char *to,
	       struct fm_err *err)
{
	if (renameat(fromdir, from, todir, to) != 0)
		return fm_err_sys(err, errno, "cannot rename %s to %s", from,
				  to);
	return 0;
}

// Renames without replacing. exFAT, FAT and NTFS through FUSE give EINVAL for
// the flag: there, absence is checked first, under the locks we hold.
int txn_rename_new(int fromdir, const char *from, int todir, const char *to,
		   int *sys)
{
	if (renameat2(fromdir, from, todir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL || errno == ENOSYS) {
		if (txn_exists(todir, to)) {
			*sys = EEXIST;
			return -1;
		}
		if (renameat(fromdir, from, todir, to) == 0)
			return 0;
	}
	*sys = errno;
	return -1;
}

#define XCHG TXN_PREFIX "exchange"

// Where the kernel or the file system cannot exchange two names, three renames
// do it; the guard is up, and txn_settle_exchange finds a half-done one.
int txn_exchange(int dirfd, const char *a, const char *b, struct fm_err *err)
{
	int rc;

	if (renameat2(dirfd, a, dirfd, b, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return fm_err_sys(err, errno, "cannot exchange %s and %s", a,
				  b);
	rc = txn_rename(dirfd, a, dirfd, XCHG, err);
	if (rc == 0)
		rc = txn_rename(dirfd, b, dirfd, a, err);
	if (rc == 0)
		rc = txn_rename(dirfd, XCHG, dirfd, b, err);
	return rc;
}

int txn_settle_exchange(int dirfd, const char *a, const char *b,
			struct fm_err *err)
{
	if (!txn_exists(dirfd, XCHG))
		return 0;
	if (!txn_exists(dirfd, a))
		return txn_rename(dirfd, XCHG, dirfd, a, err);
	if (!txn_exists(dirfd, b))
		return txn_rename(dirfd, XCHG, dirfd, b, err);
	return 0;
}

int txn_unlink(int dirfd, const char *name, bool must_exist, struct fm_err *err)
{
	if (unlinkat(dirfd, name, 0) == 0 || (errno == ENOENT && !must_exist))
		return 0;
	return fm_err_sys(err, errno, "cannot remove %s", name);
}

int txn_rmdir(int dirfd, const char *name, bool must_exist, struct fm_err *err)
{
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 ||
	    (errno == ENOENT && !must_exist))
		return 0;
	return fm_err_sys(err, errno, "cannot remove directory %s", name);
}

static int copy_acl(int from, int to, const char *which)
{
	char value[ACL_LIMIT];
	ssize_t n = fgetxattr(from, which, value, sizeof(value));

	if (n < 0)
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -1;
	return fsetxattr(to, which, value, (size_t)n, 0);
}

// An ordinary user may not give files away: what the kernel then gives a new
// file (the user, and the group by the setgid bit) is what Subversion's own
// files would get.
static int copy_owner(const struct stat *st, int to)
{
	struct stat now;

	if (fstat(to, &now) != 0)
		return -1;
	if (now.st_uid == st->st_uid && now.st_gid == st->st_gid)
		return 0;
	if (fchown(to, st->st_uid, st->st_gid) == 0)
		return 0;
	if (errno != EPERM || geteuid() == 0)
		return -1;
	(void)!fchown(to, (uid_t)-1, st->st_gid);
	return 0;
}

// The mode comes last: it tells a finished directory from one that a crash
// left without (see txn_mkdir_like).
int txn_copy_attributes(int from, int to, const char *name, struct fm_err *err)
{
	struct stat st, now;

	if (fstat(from, &st) != 0 || fstat(to, &now) != 0)
		return fm_err_sys(err, errno, "cannot read mode for %s", name);
	if (copy_owner(&st, to) != 0)
		return fm_err_sys(err, errno, "cannot set owner of %s", name);
	if (copy_acl(from, to, "system.posix_acl_access") != 0 ||
	    (S_ISDIR(now.st_mode) && S_ISDIR(st.st_mode) &&
	     copy_acl(from, to, "system.posix_acl_default") != 0))
		return fm_err_sys(err, errno, "cannot set ACL of %s", name);
	if (fchmod(to, st.st_mode & 07777) != 0)
		return fm_err_sys(err, errno, "cannot set mode of %s", name);
	// The kernel drops the setgid bit in silence for a user who is not in
	// the group: servers would then write files that others cannot read.
	if (fstat(to, &now) != 0)
		return fm_err_sys(err, errno, "cannot read mode of %s", name);
	if (now.st_gid != st.st_gid ||
	    (now.st_mode & 07777) != (st.st_mode & 07777))
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "cannot keep group %ju and mode %04o of %s: "
				  "run this as root, or as a member of the "
				  "group",
				  (uintmax_t)st.st_gid,
				  (unsigned)st.st_mode & 07777, name);
	return 0;
}

// A mode that nobody else gives a directory: made, but its owner, ACL and
// mode are not set yet. Until then nobody but us may look in.
#define UNFINISHED_DIR (S_ISVTX | S_IRWXU)

static bool is_unfinished(const struct stat *st)
{
	return (st->st_mode & S_ISVTX) &&
	       (st->st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int txn_mkdir_like(int dirfd, const char *name, int like, struct fm_err *err)
{
	FM_AUTOFD int fd = -1;
	struct stat st;
	bool is_new = mkdirat(dirfd, name, UNFINISHED_DIR) == 0;

	if (!is_new && errno != EEXIST)
		return fm_err_sys(err, errno, "cannot make directory %s", name);
	fd = openat(dirfd, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return fm_err_sys(err, errno, "cannot open directory %s", name);
	// One that was there already keeps what it has. What is new is not
	// judged by its mode: NTFS through FUSE drops the sticky bit.
	if ((!is_new && !is_unfinished(&st)) ||
	    txn_copy_attributes(like, fd, name, err) == 0)
		return 0;
	(void)unlinkat(dirfd, name, AT_REMOVEDIR);
	return err->code;
}

int txn_write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int txn_create(int dirfd, const char *name, const char *data, size_t len,
	       int likedir, const char *like, int *created, struct fm_err *err)
{
	FM_AUTOFD int from = fm_open_read(likedir, like);
	FM_AUTOFD int fd = -1;
	int sys;

	if (from < 0)
		return fm_err_sys(err, errno, "cannot open %s", like);
	fd = openat(dirfd, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot create %s", name);
	sys = txn_write_all(fd, data, len);
	if (sys != 0)
		return fm_err_sys(err, sys, "cannot write %s", name);
	if (txn_copy_attributes(from, fd, name, err) != 0)
		return err->code;
	if (txn_sync_fd(fd) != 0)
		return fm_err_sys(err, errno, "cannot sync %s", name);
	*created = fm_steal_fd(&fd);
	return 0;
}

int txn_write_new(int dirfd, const char *name, const char *data, size_t len,
		  int likedir, const char *like, struct fm_err *err)
{
	FM_AUTOFD int fd = -1;

	return txn_create(dirfd, name, data, len, likedir, like, &fd, err);
}

int txn_read_small(int dirfd, const char *name, struct fm_buf *out,
		   struct fm_err *err)
{
	FM_AUTOFD int fd = fm_open_read(dirfd, name);
	struct stat st;
	ssize_t n;

	fm_buf_clear(out);
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot open %s", name);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return fm_err_set(err, FM_E_FORMAT, "%s is not a regular file",
				  name);
	do {
		fm_buf_reserve(out, 4096);
		n = read(fd, out->data + out->len, 4096);
		if (n > 0)
			out->len += (size_t)n;
	} while ((n > 0 && out->len <= SMALL_LIMIT) ||
		 (n < 0 && errno == EINTR));
	if (n < 0)
		return fm_err_sys(err, errno, "cannot read %s", name);
	if (out->len > SMALL_LIMIT)
		return fm_err_set(err, FM_E_LIMIT, "%s is larger than %d bytes",
				  name, SMALL_LIMIT);
	out->data[out->len] = '\0';
	return 0;
}

bool txn_exists(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

// Nothing is unfinished, so a name of ours that is there is not ours.
int txn_refuse_name(int dirfd, const char *name, struct fm_err *err)
{
	if (!txn_exists(dirfd, name))
		return 0;
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s is there already and belongs to no conversion: "
			  "move it away first",
			  name);
}

const char *txn_temp_name(struct txn *t, const char *path)
{
	char *name = fm_arena_printf(&t->arena, TXN_PREFIX "tmp-%s", path);

	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '-';
	return name;
}
