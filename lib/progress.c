// SPDX-License-Identifier: GPL-2.0-or-later
// Progress: one line that is rewritten on a terminal, or one record a line
// ("PHASE<tab>DONE<tab>TOTAL") on a descriptor of its own, for programs.
//
// A status line that SIGUSR1 asked for is printed whatever was chosen.

#include "lib/progress.h"

#include "lib/cancel.h"
#include "lib/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PER_SECOND = 10, LINE_MAX_BYTES = 160 };

struct fm_progress {
	int fd;           /* -1: silent */
	bool is_terminal; /* rewrite one line instead of adding more */
	bool is_open;     /* that line is on the screen */
	char phase[48];
	uint64_t total, done;
	double began, printed; /* seconds */
};

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

struct fm_progress *fm_progress_new(enum fm_progress_when when, int fd)
{
	struct fm_progress *p = fm_alloc(sizeof(*p));
	bool wanted = when == FM_PROGRESS_ALWAYS ||
		      (when == FM_PROGRESS_AUTO &&
		       (fd >= 0 || isatty(STDERR_FILENO)));

	p->fd = -1;
	if (wanted)
		p->fd = fd >= 0 ? fd : STDERR_FILENO;
	p->is_terminal = wanted && fd < 0 && isatty(STDERR_FILENO);
	return p;
}

void fm_progress_free(struct fm_progress *p)
{
	fm_progress_end(p);
	fm_free(p);
}

// A line that cannot be written (a full pipe, a closed terminal) is lost:
// progress must never stop the work.
static void put(int fd, const char *line)
{
	ssize_t n = write(fd, line, strlen(line));

	(void)n;
}

// "linking: 41 %, 41000 of 100000, 20500/s, 3 s left"
static void describe(const struct fm_progress *p, char *line, size_t size)
{
	double seconds = now() - p->began;
	double rate = seconds > 0 ? (double)p->done / seconds : 0;
	int n;

	if (!p->phase[0]) {
		(void)snprintf(line, size, "starting");
		return;
	}
	if (p->total == 0) {
		(void)snprintf(line, size, "%s: %" PRIu64 ", %.0f/s", p->phase,
			       p->done, rate);
		return;
	}
	n = snprintf(line, size, "%s: %.0f %%, %" PRIu64 " of %" PRIu64,
		     p->phase, 100.0 * (double)p->done / (double)p->total,
		     p->done, p->total);
	if (n > 0 && (size_t)n < size && rate > 0 && p->done <= p->total)
		(void)snprintf(line + n, size - (size_t)n,
			       ", %.0f/s, %.0f s left", rate,
			       (double)(p->total - p->done) / rate);
}

static void print_record(const struct fm_progress *p)
{
	char line[LINE_MAX_BYTES];

	(void)snprintf(line, sizeof(line), "%s\t%" PRIu64 "\t%" PRIu64 "\n",
		       p->phase, p->done, p->total);
	put(p->fd, line);
}

static void print_line(struct fm_progress *p)
{
	char text[LINE_MAX_BYTES - 16], line[LINE_MAX_BYTES];

	describe(p, text, sizeof(text));
	if (p->is_terminal)
		(void)snprintf(line, sizeof(line), "\r%s\033[K", text);
	else
		(void)snprintf(line, sizeof(line), "%s\n", text);
	put(p->fd, line);
	p->is_open = p->is_terminal;
}

static void print(struct fm_progress *p)
{
	if (p->fd < 0)
		return;
	if (p->fd == STDERR_FILENO)
		print_line(p);
	else
		print_record(p);
	p->printed = now();
}

static void answer_status(struct fm_progress *p)
{
	char text[LINE_MAX_BYTES - 16], line[LINE_MAX_BYTES];

	if (!fm_status_wanted())
		return;
	describe(p, text, sizeof(text));
	(void)snprintf(line, sizeof(line), "%s%s\n", p->is_open ? "\n" : "",
		       text);
	put(STDERR_FILENO, line);
	p->is_open = false;
}

void fm_progress_phase(struct fm_progress *p, const char *phase, uint64_t total)
{
	if (!p)
		return;
	(void)snprintf(p->phase, sizeof(p->phase), "%s", phase);
	p->total = total;
	p->done = 0;
	p->began = now();
	answer_status(p);
	if (p->began - p->printed >= 1.0 / PER_SECOND)
		print(p);
}

void fm_progress_step(struct fm_progress *p, uint64_t done)
{
	if (!p)
		return;
	p->done = done;
	answer_status(p);
	if (p->fd >= 0 && now() - p->printed >= 1.0 / PER_SECOND)
		print(p);
}

void fm_progress_end(struct fm_progress *p)
{
	if (!p)
		return;
	if (p->is_open)
		put(p->fd, "\r\033[K");
	p->is_open = false;
}
