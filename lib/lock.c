// SPDX-License-Identifier: GPL-2.0-or-later
// Exclusive locks on the target's own lock files, of both kinds.

#include "lib/lock.h"

#include "lib/autofd.h"
#include "lib/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

enum { TICK_MS = 50, NFS_MAGIC = 0x6969 };

// A blocking lock call has no time-out, so a timer interrupts it again and
// again: a single shot could fall just before the call and be lost.
struct ticker {
	timer_t id;
	struct sigaction old;
};

static void on_tick(int sig)
{
	(void)sig;
}

static bool ticker_start(struct ticker *t)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL,
			      .sigev_signo = SIGALRM};
	struct itimerspec every = {
		.it_value = {.tv_nsec = TICK_MS * 1000000L},
		.it_interval = {.tv_nsec = TICK_MS * 1000000L},
	};
	struct sigaction sa = {.sa_handler = on_tick};

	(void)sigemptyset(&sa.sa_mask);
	if (sigaction(SIGALRM, &sa, &t->old) != 0)
		return false;
	if (timer_create(CLOCK_MONOTONIC, &ev, &t->id) != 0) {
		(void)sigaction(SIGALRM, &t->old, NULL);
		return false;
	}
	(void)timer_settime(t->id, 0, &every, NULL);
	return true;
}

static void ticker_stop(struct ticker *t)
{
	(void)timer_delete(t->id);
	(void)sigaction(SIGALRM, &t->old, NULL);
}

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool is_on_nfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == NFS_MAGIC;
}

// One attempt, which blocks until the lock is ours or a signal arrives.
static int attempt_flock(int fd)
{
	return flock(fd, LOCK_EX) == 0 ? 0 : errno;
}

static int attempt_fcntl(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (is_on_nfs(fd)) {
		// There flock already is a byte-range lock, maybe this very
		// one: a conflict means "ours".
		if (fcntl(fd, F_SETLK, &whole) == 0 || errno == EAGAIN ||
		    errno == EACCES)
			return 0;
		return errno;
	}
	return fcntl(fd, F_SETLKW, &whole) == 0 ? 0 : errno;
}

static int wait_for(int (*attempt)(int fd), int fd, int64_t deadline)
{
	int sys;

	do {
		sys = attempt(fd);
	} while (sys == EINTR && !fm_cancelled() && now_ms() < deadline);
	return sys;
}

int fm_lock_take(int dirfd, const char *name, unsigned wait_ms,
		 struct fm_lock *lock, struct fm_err *err)
{
	int64_t deadline = now_ms() + (int64_t)wait_ms;
	FM_AUTOFD int fd = -1;
	struct ticker ticker;
	int sys;

	lock->fd = -1;
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		    0666);
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot open lock file %s", name);
	if (!ticker_start(&ticker))
		return fm_err_sys(err, errno, "cannot start a timer");
	sys = wait_for(attempt_flock, fd, deadline);
	if (sys == 0)
		sys = wait_for(attempt_fcntl, fd, deadline);
	ticker_stop(&ticker);
	if (sys == EINTR) {
		int rc = fm_cancel_check(err);

		if (rc != 0)
			return rc;
		return fm_err_set(err, FM_E_BUSY,
				  "%s is held by another process; waited "
				  "%u.%u seconds (--lock-wait)",
				  name, wait_ms / 1000, wait_ms % 1000 / 100);
	}
	if (sys != 0)
		return fm_err_sys(err, sys, "cannot lock %s", name);
	lock->fd = fm_steal_fd(&fd);
	return 0;
}

void fm_lock_drop(struct fm_lock *lock)
{
	// Closing gives up both kinds.
	fm_close_fd(&lock->fd);
}
