// SPDX-License-Identifier: GPL-2.0-or-later
// Workers: every item once, results in item order for any number of them,
// the first error in item order wins.

#include "tests/unit/unit.h"

#include "lib/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 2000 };

static const struct fm_check check = {.id = "unit.item.odd",
				      .severity = FM_WARN,
				      .sentence = "an item is even"};

struct run {
	atomic_uint calls[ITEMS];
	uint64_t fails_at, fails_too; /* ITEMS: none */
};

static int work(void *ctx, uint64_t item, struct fm_arena *tmp,
		struct fm_report *report, struct fm_err *err)
{
	struct run *run = ctx;
	char *text = fm_arena_printf(tmp, "%ju", (uintmax_t)item);

	atomic_fetch_add(&run->calls[item], 1);
	if (item == run->fails_at || item == run->fails_too)
		return fm_err_set(err, FM_E_IO, "item %s", text);
	for (uint64_t i = 0; i < item % 7; i++) /* unequal work */
		(void)fm_arena_alloc(tmp, 100);
	if (item % 2)
		fm_report_add(report, &check, NULL, "%s", text);
	report->n_units++;
	return 0;
}

static void collect(unsigned jobs, struct run *run, struct fm_report *report,
		    int *rc, struct fm_err *err)
{
	static const struct fm_policy all = {.per_check = ITEMS};

	fm_report_init(report);
	report->policy = &all;
	*rc = fm_pool_run(jobs, 0, ITEMS, work, run, report, err);
}

static void results_come_in_item_order(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 8; jobs++) {
		struct run run = {.fails_at = ITEMS, .fails_too = ITEMS};
		struct fm_report report;
		struct fm_err err;
		uint64_t item = 1;
		int rc;

		collect(jobs, &run, &report, &rc, &err);
		assert_int_equal(rc, 0);
		assert_int_equal(report.n_units, ITEMS);
		assert_int_equal(report.by_severity[FM_WARN], ITEMS / 2);
		for (const struct fm_finding *f = report.first; f;
		     f = f->next, item += 2) {
			char text[24];

			(void)snprintf(text, sizeof(text), "%ju",
				       (uintmax_t)item);
			assert_string_equal(f->detail, text);
		}
		assert_int_equal(item, ITEMS + 1);
		for (size_t i = 0; i < ITEMS; i++)
			assert_int_equal(run.calls[i], 1);
		fm_report_release(&report);
	}
}

static void first_error_in_item_order_wins(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 8; jobs++) {
		struct run run = {.fails_at = 1234, .fails_too = 777};
		struct fm_report report;
		struct fm_err err;
		int rc;

		collect(jobs, &run, &report, &rc, &err);
		assert_int_equal(rc, FM_E_IO);
		assert_string_equal(err.msg, "item 777");
		/* What came before it is there, what came behind is not. */
		assert_int_equal(report.n_units, 777);
		fm_report_release(&report);
	}
}

static void no_items_and_no_report_are_fine(void **state)
{
	struct run run = {.fails_at = ITEMS, .fails_too = ITEMS};
	struct fm_err err;

	(void)state;
	assert_int_equal(fm_pool_run(4, 5, 5, work, &run, NULL, &err), 0);
	assert_int_equal(fm_pool_run(0, 0, 50, work, &run, NULL, &err), 0);
	assert_int_equal(run.calls[49], 1);
	assert_int_equal(run.calls[50], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_come_in_item_order),
		cmocka_unit_test(first_error_in_item_order_wins),
		cmocka_unit_test(no_items_and_no_report_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
