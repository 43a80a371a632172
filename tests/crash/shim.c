// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An LD_PRELOAD library that stands between a program and the kernel, counts
 * the calls that change something below one directory, and at the N-th of them
 * kills the program or lets the call fail.
 *
 *   FSMEND_CRASH_ROOT=DIR[:DIR]  what counts (absolute, no symbolic links)
 *   FSMEND_CRASH_LOG=FILE        appends `N name path [path]` for each call
 *   FSMEND_CRASH_AT=N            SIGKILL at call N (from 1) ...
 *   FSMEND_CRASH_WHEN=before|after|during   (during: half of a write is done)
 *   FSMEND_FAULT_AT=N            call N fails ...
 *   FSMEND_FAULT=ENOSPC...|short with this error; short: half of it is written
 *   FSMEND_FAULT_EVER=1          so do later ones (no space: those that need it)
 *
 * Every wrapper describes its call as a site and hands it to run(), the only
 * place that decides anything.  All go to the kernel through syscall(2), so
 * no other name of libc has to be looked up; what libc does inside itself (stdio
 * writing to a file of the target) is not seen: crash.sh compares the log with
 * strace to notice that.
 */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum trait {
	ALLOCATES = 1, /* may need space */
	SIZE_IN_2 = 2, /* writes; the argument that says how much */
	SIZE_IN_4 = 4,
};

/* What a call is called and which paths it concerns. */
struct site {
	const char *name;
	unsigned int traits;
	bool inside; /* below the root */
	char path[2][PATH_MAX];
};

struct args {
	long a[6];
};

static const struct {
	const char *name;
	int value;
} errors[] = {
	{"EACCES", EACCES}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
	{"EINVAL", EINVAL}, {"EIO", EIO},       {"EMLINK", EMLINK},
	{"ENOSPC", ENOSPC}, {"EPERM", EPERM},   {"EROFS", EROFS},
};

static struct {
	bool ready;
	long (*call)(long, ...);
	const char *root;
	int log;
	long crash_at, fault_at;
	bool after, during, fault_ever, fault_short;
	int fault;
} shim;

static atomic_long count;

static long env_number(const char *name)
{
	const char *s = getenv(name);

	return s ? strtol(s, NULL, 10) : 0;
}

static void __attribute__((constructor)) setup(void)
{
	const char *when = getenv("FSMEND_CRASH_WHEN");
	const char *fault = getenv("FSMEND_FAULT");
	const char *log = getenv("FSMEND_CRASH_LOG");
	void *sym;

	if (shim.ready)
		return;
	sym = dlsym(RTLD_NEXT, "syscall");
	memcpy(&shim.call, &sym, sizeof(sym));
	shim.root = getenv("FSMEND_CRASH_ROOT");
	shim.crash_at = env_number("FSMEND_CRASH_AT");
	shim.after = when && !strcmp(when, "after");
	shim.during = when && !strcmp(when, "during");
	shim.fault_at = env_number("FSMEND_FAULT_AT");
	shim.fault_ever = env_number("FSMEND_FAULT_EVER") != 0;
	shim.fault_short = fault && !strcmp(fault, "short");
	for (size_t i = 0; fault && i < sizeof(errors) / sizeof(*errors); i++)
		if (!strcmp(fault, errors[i].name))
			shim.fault = errors[i].value;
	shim.log = -1;
	if (log)
		shim.log = (int)shim.call(
			SYS_openat, AT_FDCWD, log,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fault && !shim.fault && !shim.fault_short) {
		fputs("shim: unknown FSMEND_FAULT\n", stderr);
		abort();
	}
	shim.ready = true;
}

/* --- which paths count --------------------------------------------------- */

static bool below_root(const char *path)
{
	const char *root = shim.root;

	while (root && *root) {
		size_t len = strcspn(root, ":");

		if (len && !strncmp(path, root, len) &&
		    (path[len] == '/' || !path[len]))
			return true;
		root += len + (root[len] == ':');
	}
	return false;
}

static void name_of_fd(int fd, char out[PATH_MAX])
{
	char link[64];
	long n;

	if (fd == AT_FDCWD)
		strcpy(link, "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = shim.call(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = '\0';
}

static void site_path(struct site *s, int which, int dirfd, const char *path)
{
	char *out = s->path[which];
	size_t len = 0;

	out[0] = '\0';
	if (!path)
		path = "";
	if (path[0] != '/') {
		name_of_fd(dirfd, out);
		len = strlen(out);
		if (path[0] && len < PATH_MAX - 1)
			out[len++] = '/';
	}
	if (path[0])
		snprintf(out + len, PATH_MAX - len, "%s", path);
	if (below_root(out))
		s->inside = true;
}

static void site_init(struct site *s, const char *name, unsigned int traits)
{
	if (!shim.ready)
		setup();
	s->name = name;
	s->traits = traits;
	s->inside = false;
	s->path[0][0] = s->path[1][0] = '\0';
}

/* --- the decision --------------------------------------------------------- */

static void die_now(void)
{
	shim.call(SYS_kill, shim.call(SYS_getpid), SIGKILL);
	for (;;)
		shim.call(SYS_pause);
}

static void log_site(const struct site *s, long number)
{
	char line[2 * PATH_MAX + 64];
	int n;

	if (shim.log < 0)
		return;
	n = snprintf(line, sizeof(line), "%ld %s %s%s%s\n", number, s->name,
		     s->path[0], s->path[1][0] ? " " : "", s->path[1]);
	shim.call(SYS_write, shim.log, line, (size_t)n);
}

static bool halve(const struct site *s, struct args *args)
{
	long *size = s->traits & SIZE_IN_2 ? &args->a[2] : &args->a[4];

	if (!(s->traits & (SIZE_IN_2 | SIZE_IN_4)) || *size < 2)
		return false;
	*size /= 2;
	return true;
}

static bool faulty(const struct site *s, long number)
{
	bool space = shim.fault == ENOSPC || shim.fault == EDQUOT;

	if (!shim.fault_at || number < shim.fault_at)
		return false;
	if (number == shim.fault_at)
		return true;
	return shim.fault_ever && (!space || s->traits & ALLOCATES);
}

static long run(const struct site *s, long nr, struct args args)
{
	long number = 0, result;
	bool last = false;
	int saved = errno;

	if (s->inside) {
		number = atomic_fetch_add(&count, 1) + 1;
		log_site(s, number);
		last = number == shim.crash_at;
		if (last && !shim.after && !(shim.during && halve(s, &args)))
			die_now();
		if (faulty(s, number)) {
			if (!shim.fault_short) {
				errno = shim.fault;
				return -1;
			}
			halve(s, &args);
		}
	}
	errno = saved;
	result = shim.call(nr, args.a[0], args.a[1], args.a[2], args.a[3],
			   args.a[4], args.a[5]);
	if (last)
		die_now();
	return result;
}

static long run_at(const char *name, unsigned int traits, int dirfd,
		   const char *path, long nr, struct args args)
{
	struct site s;

	site_init(&s, name, traits);
	site_path(&s, 0, dirfd, path);
	return run(&s, nr, args);
}

static long run_fd(const char *name, unsigned int traits, int fd, long nr,
		   struct args args)
{
	return run_at(name, traits, fd, "", nr, args);
}

/* Both names of a rename or link; `nr` takes (from, path, to, path, flags). */
static int run_two(const char *name, int from, const char *old, int to,
		   const char *new, long nr, unsigned int flags)
{
	struct site s;

	site_init(&s, name, ALLOCATES);
	site_path(&s, 0, from, old);
	site_path(&s, 1, to, new);
	return (int)run(
		&s, nr,
		(struct args){{from, (long)old, to, (long)new, (long)flags}});
}

/* --- opening --------------------------------------------------------------- */

static int open_common(const char *name, int dirfd, const char *path, int flags,
		       mode_t mode)
{
	struct args args = {{dirfd, (long)path, flags, (long)mode}};
	bool changes =
		(flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);

	if (!shim.ready)
		setup();
	if (!changes)
		return (int)shim.call(SYS_openat, dirfd, path, flags, mode);
	return (int)run_at(name, ALLOCATES, dirfd, path, SYS_openat, args);
}

static mode_t mode_of(int flags, va_list ap)
{
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		return va_arg(ap, mode_t);
	return 0;
}

int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_common("open", AT_FDCWD, path, flags, mode);
}

int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return open_common("openat", dirfd, path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
	return open_common("creat", AT_FDCWD, path,
			   O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* What a fortified program calls when it passes no mode. */
int __open_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open_common("open", AT_FDCWD, path, flags, 0);
}

int __openat_2(int dirfd, const char *path, int flags)
{
	return open_common("openat", dirfd, path, flags, 0);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int dirfd, const char *path, int flags, ...)
	__attribute__((alias("openat")));
int creat64(const char *path, mode_t mode) __attribute__((alias("creat")));
int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));
int __openat64_2(int dirfd, const char *path, int flags)
	__attribute__((alias("__openat_2")));

/* --- contents -------------------------------------------------------------- */

ssize_t write(int fd, const void *data, size_t size)
{
	return run_fd("write", ALLOCATES | SIZE_IN_2, fd, SYS_write,
		      (struct args){{fd, (long)data, (long)size}});
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return run_fd("pwrite", ALLOCATES | SIZE_IN_2, fd, SYS_pwrite64,
		      (struct args){{fd, (long)data, (long)size, offset}});
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
	__attribute__((alias("pwrite")));

/* Gathered first, so that one call stays one call and can be cut short. */
static ssize_t gathered(int fd, const struct iovec *iov, int n, off_t offset)
{
	size_t size = 0, at = 0;
	ssize_t result;
	char *all;

	for (int i = 0; i < n; i++)
		size += iov[i].iov_len;
	all = malloc(size + 1);
	if (!all)
		abort();
	for (int i = 0; i < n; i++) {
		memcpy(all + at, iov[i].iov_base, iov[i].iov_len);
		at += iov[i].iov_len;
	}
	result = offset < 0 ? write(fd, all, size)
			    : pwrite(fd, all, size, offset);
	free(all);
	return result;
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	return gathered(fd, iov, n, -1);
}

ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	return gathered(fd, iov, n, offset);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t offset)
	__attribute__((alias("pwritev")));

ssize_t copy_file_range(int in, off_t *in_at, int out, off_t *out_at,
			size_t size, unsigned int flags)
{
	return run_fd("copy_file_range", ALLOCATES | SIZE_IN_4, out,
		      SYS_copy_file_range,
		      (struct args){{in, (long)in_at, out, (long)out_at,
				     (long)size, (long)flags}});
}

int ftruncate(int fd, off_t size)
{
	return (int)run_fd("ftruncate", ALLOCATES, fd, SYS_ftruncate,
			   (struct args){{fd, size}});
}

int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

int fallocate(int fd, int mode, off_t offset, off_t size)
{
	return (int)run_fd("fallocate", ALLOCATES, fd, SYS_fallocate,
			   (struct args){{fd, mode, offset, size}});
}

int fallocate64(int fd, int mode, off_t offset, off_t size)
	__attribute__((alias("fallocate")));

int fsync(int fd)
{
	return (int)run_fd("fsync", 0, fd, SYS_fsync, (struct args){{fd}});
}

int fdatasync(int fd)
{
	return (int)run_fd("fdatasync", 0, fd, SYS_fdatasync,
			   (struct args){{fd}});
}

int syncfs(int fd)
{
	return (int)run_fd("syncfs", 0, fd, SYS_syncfs, (struct args){{fd}});
}

/* --- names ----------------------------------------------------------------- */

int renameat2(int from, const char *old, int to, const char *new,
	      unsigned int flags)
{
	return run_two("renameat2", from, old, to, new, SYS_renameat2, flags);
}

int renameat(int from, const char *old, int to, const char *new)
{
	return run_two("renameat", from, old, to, new, SYS_renameat2, 0);
}

int rename(const char *old, const char *new)
{
	return run_two("rename", AT_FDCWD, old, AT_FDCWD, new, SYS_renameat2,
		       0);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
	return run_two("linkat", from, old, to, new, SYS_linkat,
		       (unsigned int)flags);
}

int link(const char *old, const char *new)
{
	return run_two("link", AT_FDCWD, old, AT_FDCWD, new, SYS_linkat, 0);
}

int symlinkat(const char *target, int dirfd, const char *path)
{
	return (int)run_at("symlinkat", ALLOCATES, dirfd, path, SYS_symlinkat,
			   (struct args){{(long)target, dirfd, (long)path}});
}

int symlink(const char *target, const char *path)
{
	return symlinkat(target, AT_FDCWD, path);
}

int unlinkat(int dirfd, const char *path, int flags)
{
	return (int)run_at(flags & AT_REMOVEDIR ? "rmdirat" : "unlinkat", 0,
			   dirfd, path, SYS_unlinkat,
			   (struct args){{dirfd, (long)path, flags}});
}

int unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
	return (int)run_at("mkdirat", ALLOCATES, dirfd, path, SYS_mkdirat,
			   (struct args){{dirfd, (long)path, (long)mode}});
}

int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

/* --- attributes ------------------------------------------------------------ */

int fchmod(int fd, mode_t mode)
{
	return (int)run_fd("fchmod", 0, fd, SYS_fchmod,
			   (struct args){{fd, (long)mode}});
}

/* The kernel call has no flags; AT_SYMLINK_NOFOLLOW is not used with it. */
int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	if (flags) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)run_at("fchmodat", 0, dirfd, path, SYS_fchmodat,
			   (struct args){{dirfd, (long)path, (long)mode}});
}

int chmod(const char *path, mode_t mode)
{
	return fchmodat(AT_FDCWD, path, mode, 0);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	return (int)run_fd("fchown", 0, fd, SYS_fchown,
			   (struct args){{fd, (long)uid, (long)gid}});
}

int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
	return (int)run_at("fchownat", 0, dirfd, path, SYS_fchownat,
			   (struct args){{dirfd, (long)path, (long)uid,
					  (long)gid, flags}});
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	return fchownat(AT_FDCWD, path, uid, gid, 0);
}

int utimensat(int dirfd, const char *path, const struct timespec times[2],
	      int flags)
{
	return (int)run_at(
		"utimensat", 0, dirfd, path, SYS_utimensat,
		(struct args){{dirfd, (long)path, (long)times, flags}});
}

int futimens(int fd, const struct timespec times[2])
{
	return (int)run_fd("futimens", 0, fd, SYS_utimensat,
			   (struct args){{fd, 0, (long)times, 0}});
}

int fsetxattr(int fd, const char *name, const void *value, size_t size,
	      int flags)
{
	return (int)run_fd("fsetxattr", ALLOCATES, fd, SYS_fsetxattr,
			   (struct args){{fd, (long)name, (long)value,
					  (long)size, flags}});
}

/* A program may reach renameat2 by its number, where libc is old. */
long syscall(long nr, ...)
{
	struct args args;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		args.a[i] = va_arg(ap, long);
	va_end(ap);
	if (!shim.ready)
		setup();
	if (nr == SYS_renameat2)
		return renameat2((int)args.a[0], (const char *)args.a[1],
				 (int)args.a[2], (const char *)args.a[3],
				 (unsigned int)args.a[4]);
	return shim.call(nr, args.a[0], args.a[1], args.a[2], args.a[3],
			 args.a[4], args.a[5]);
}
