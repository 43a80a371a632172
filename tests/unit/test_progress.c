// SPDX-License-Identifier: GPL-2.0-or-later
// Progress and signals: NULL is silent, records are throttled, a wish to stop
// is seen, a wish for a status line once.

#include "tests/unit/unit.h"

#include "lib/cancel.h"
#include "lib/progress.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t drain(int fd, char *text, size_t room)
{
	ssize_t n = read(fd, text, room - 1);

	assert_true(n >= 0);
	text[n] = '\0';
	return (size_t)n;
}

static void null_is_silent(void **state)
{
	(void)state;
	fm_progress_phase(NULL, "phase", 3);
	fm_progress_step(NULL, 1);
	fm_progress_end(NULL);
	fm_progress_free(NULL);
}

static void records_are_throttled(void **state)
{
	struct fm_progress *p;
	char text[4096];
	unsigned lines = 0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	p = fm_progress_new(FM_PROGRESS_AUTO, fds[1]);
	fm_progress_phase(p, "linking", 100000);
	for (uint64_t i = 1; i <= 100000; i++)
		fm_progress_step(p, i);
	fm_progress_free(p);
	(void)close(fds[1]);
	(void)drain(fds[0], text, sizeof(text));
	(void)close(fds[0]);
	for (char *c = text; *c; c++)
		lines += *c == '\n';
	assert_memory_equal(text, "linking\t0\t100000\n", 17);
	/* A hundred thousand steps take well below a second, even under a
	   sanitizer a few. */
	assert_in_range(lines, 1, 60);
}

static void never_is_silent_and_still_answers(void **state)
{
	struct fm_progress *p = fm_progress_new(FM_PROGRESS_NEVER, -1);
	char text[256];
	int fds[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	fm_progress_phase(p, "reading", 4);
	(void)raise(SIGUSR1);
	fm_progress_step(p, 2);
	fm_progress_step(p, 3);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	(void)close(saved);
	(void)close(fds[1]);
	(void)drain(fds[0], text, sizeof(text));
	(void)close(fds[0]);
	assert_memory_equal(text, "reading: 50 %, 2 of 4", 21);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	fm_progress_free(p);
}

static void a_signal_is_a_wish_to_stop(void **state)
{
	struct fm_err err;

	(void)state;
	assert_false(fm_cancelled());
	assert_int_equal(fm_cancel_check(&err), 0);
	(void)raise(SIGTERM);
	assert_true(fm_cancelled());
	assert_int_equal(fm_cancel_check(&err), FM_E_CANCELLED);
	assert_int_equal(err.code, FM_E_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_is_silent),
		cmocka_unit_test(records_are_throttled),
		cmocka_unit_test(never_is_silent_and_still_answers),
		cmocka_unit_test(a_signal_is_a_wish_to_stop),
	};

	fm_cancel_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
