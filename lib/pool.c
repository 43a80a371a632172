// SPDX-License-Identifier: GPL-2.0-or-later
// Worker threads that claim items one by one and hand results over in order.
//
// A worker may run at most WINDOW items ahead of the first one that is not
// merged yet; that bounds memory. Whoever finishes that first item merges it
// and all finished ones behind it.

#include "lib/pool.h"

#include "lib/cancel.h"
#include "lib/mem.h"

#include <assert.h>
#include <pthread.h>
#include <unistd.h>

enum { WINDOW = 256, MAX_JOBS = 64 };

struct slot {
	struct fm_report report;
	struct fm_err err;
	int rc;
	bool is_done;
};

struct pool {
	fm_pool_fn *fn;
	void *ctx;
	struct fm_report *out;
	uint64_t next, end; /* items not claimed yet */
	uint64_t merged;    /* all before it are merged */
	bool is_stopped;    /* by the first error in item order */
	int rc;
	struct fm_err err;
	pthread_mutex_t mutex;
	pthread_cond_t room;
	struct slot slots[WINDOW];
};

static void fragment_init(struct fm_report *r, const struct fm_report *out)
{
	fm_report_init(r);
	if (out)
		r->policy = out->policy;
}

static int run_one(const struct pool *p, uint64_t item, struct fm_arena *tmp,
		   struct fm_report *report, struct fm_err *err)
{
	int rc = fm_cancel_check(err);

	if (rc == 0)
		rc = p->fn(p->ctx, item, tmp, report, err);
	fm_arena_reset(tmp);
	return rc;
}

static int run_alone(struct pool *p)
{
	struct fm_arena tmp;
	int rc = 0;

	fm_arena_init(&tmp);
	for (uint64_t i = p->next; i < p->end && rc == 0; i++) {
		struct fm_report fragment;

		fragment_init(&fragment, p->out);
		rc = run_one(p, i, &tmp, &fragment, &p->err);
		if (p->out)
			fm_report_merge(p->out, &fragment);
		fm_report_release(&fragment);
	}
	fm_arena_release(&tmp);
	return rc;
}

// The mutex is held.
static void merge_finished(struct pool *p)
{
	struct slot *s = &p->slots[p->merged % WINDOW];

	while (!p->is_stopped && s->is_done) {
		if (p->out)
			fm_report_merge(p->out, &s->report);
		fm_report_release(&s->report);
		s->is_done = false;
		if (s->rc != 0) {
			p->rc = s->rc;
			p->err = s->err;
			p->is_stopped = true;
		}
		p->merged++;
		s = &p->slots[p->merged % WINDOW];
	}
}

static bool claim(struct pool *p, uint64_t *item)
{
	bool has_item;

	pthread_mutex_lock(&p->mutex);
	while (!p->is_stopped && p->next < p->end &&
	       p->next - p->merged >= WINDOW)
		pthread_cond_wait(&p->room, &p->mutex);
	has_item = !p->is_stopped && p->next < p->end;
	if (has_item)
		*item = p->next++;
	pthread_mutex_unlock(&p->mutex);
	return has_item;
}

static void *work(void *arg)
{
	struct pool *p = arg;
	struct fm_arena tmp;
	uint64_t item;

	fm_arena_init(&tmp);
	while (claim(p, &item)) {
		struct slot *s = &p->slots[item % WINDOW];

		fragment_init(&s->report, p->out);
		s->rc = run_one(p, item, &tmp, &s->report, &s->err);
		pthread_mutex_lock(&p->mutex);
		s->is_done = true;
		merge_finished(p);
		pthread_cond_broadcast(&p->room);
		pthread_mutex_unlock(&p->mutex);
	}
	fm_arena_release(&tmp);
	return NULL;
}

static void run_threads(struct pool *p, unsigned jobs)
{
	pthread_t threads[MAX_JOBS];
	unsigned n = 0;

	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->room, NULL);
	while (n + 1 < jobs && pthread_create(&threads[n], NULL, work, p) == 0)
		n++;
	work(p); /* this thread is the last worker, or the only one */
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&p->room);
	pthread_mutex_destroy(&p->mutex);
	/* Items behind the one that failed. */
	for (size_t i = 0; i < WINDOW; i++)
		if (p->slots[i].is_done)
			fm_report_release(&p->slots[i].report);
}

static unsigned choose_jobs(unsigned jobs, uint64_t n_items)
{
	if (jobs == 0) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		jobs = n > 0 ? (unsigned)n : 1;
	}
	if (jobs > MAX_JOBS)
		jobs = MAX_JOBS;
	return n_items < jobs ? (unsigned)n_items : jobs;
}

int fm_pool_run(unsigned jobs, uint64_t first, uint64_t end, fm_pool_fn *fn,
		void *ctx, struct fm_report *out, struct fm_err *err)
{
	struct pool *p;
	int rc;

	assert(first <= end);
	p = fm_alloc(sizeof(*p));
	p->fn = fn;
	p->ctx = ctx;
	p->out = out;
	p->next = p->merged = first;
	p->end = end;
	jobs = choose_jobs(jobs, end - first);
	if (jobs <= 1)
		p->rc = run_alone(p);
	else
		run_threads(p, jobs);
	rc = p->rc;
	if (rc != 0)
		*err = p->err;
	fm_free(p);
	return rc;
}
