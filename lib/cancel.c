// SPDX-License-Identifier: GPL-2.0-or-later
// The wish to stop: two counters, set by signal handlers, read by loops.
//
// A signal that was ignored when the command began (nohup, a shell's
// background job) stays ignored. SIGPIPE is ignored: a reader that went away
// must not stop a change half way; the failed write is noticed at the end.

#include "lib/cancel.h"

#include <signal.h>
#include <unistd.h>

enum { STATUS_CANCELLED = 32 };

static volatile sig_atomic_t stop_requests;
static volatile sig_atomic_t status_requests;

static void on_stop(int sig)
{
	(void)sig;
	if (stop_requests)
		_exit(STATUS_CANCELLED);
	stop_requests = 1;
}

static void on_status(int sig)
{
	(void)sig;
	status_requests = 1;
}

static void install(int sig, void (*handler)(int), int flags)
{
	struct sigaction old, act = {.sa_handler = handler, .sa_flags = flags};

	(void)sigemptyset(&act.sa_mask);
	if (sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		(void)sigaction(sig, &act, NULL);
}

void fm_cancel_install(void)
{
	install(SIGINT, on_stop, 0);
	install(SIGTERM, on_stop, 0);
	install(SIGHUP, on_stop, 0);
	install(SIGUSR1, on_status, SA_RESTART);
	install(SIGPIPE, SIG_IGN, 0);
}

bool fm_cancelled(void)
{
	return stop_requests != 0;
}

int fm_cancel_check(struct fm_err *err)
{
	if (!fm_cancelled())
		return 0;
	return fm_err_set(err, FM_E_CANCELLED, "stopped by a signal");
}

bool fm_status_wanted(void)
{
	if (!status_requests)
		return false;
	status_requests = 0;
	return true;
}
