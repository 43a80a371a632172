// SPDX-License-Identifier: GPL-2.0-or-later
// The target's lock files are held as flock and as fcntl lock: a process that
// uses only one of the two is kept out by either.

#include "tests/unit/unit.h"

#include "lib/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir_name[64];
static int dir = -1;

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir_name, sizeof(dir_name), "/tmp/fsmend-lock-XXXXXX");
	if (!mkdtemp(dir_name))
		return -1;
	dir = open(dir_name, O_RDONLY | O_DIRECTORY);
	return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlinkat(dir, "lock", 0);
	(void)close(dir);
	return rmdir(dir_name);
}

// In another process: 1 when the lock could be taken, 0 when not.
static int other_gets(bool as_flock)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct flock whole = {.l_type = F_WRLCK};
		int fd = openat(dir, "lock", O_RDWR);

		if (as_flock)
			_exit(flock(fd, LOCK_EX | LOCK_NB) == 0);
		_exit(fcntl(fd, F_SETLK, &whole) == 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void both_kinds_are_held(void **state)
{
	struct fm_lock lock;
	struct fm_err err;

	(void)state;
	assert_int_equal(fm_lock_take(dir, "lock", 1000, &lock, &err), 0);
	assert_int_equal(other_gets(true), 0);
	assert_int_equal(other_gets(false), 0);
	fm_lock_drop(&lock);
	assert_int_equal(lock.fd, -1);
	assert_int_equal(other_gets(true), 1);
	assert_int_equal(other_gets(false), 1);
}

// Somebody holds one kind: the wait ends at the deadline, and says so.
static void wait_is_bounded(bool as_flock)
{
	struct fm_lock lock;
	struct fm_err err;
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct flock whole = {.l_type = F_WRLCK};
		int fd = openat(dir, "lock", O_RDWR | O_CREAT, 0644);

		if (as_flock)
			(void)flock(fd, LOCK_EX);
		else
			(void)fcntl(fd, F_SETLK, &whole);
		(void)!write(ready[1], "x", 1);
		(void)pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(fm_lock_take(dir, "lock", 200, &lock, &err),
			 FM_E_BUSY);
	assert_int_equal(lock.fd, -1);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	assert_int_equal(fm_lock_take(dir, "lock", 200, &lock, &err), 0);
	fm_lock_drop(&lock);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

static void a_held_flock_is_waited_for(void **state)
{
	(void)state;
	wait_is_bounded(true);
}

static void a_held_fcntl_lock_is_waited_for(void **state)
{
	(void)state;
	wait_is_bounded(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_kinds_are_held, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_held_flock_is_waited_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_held_fcntl_lock_is_waited_for,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
