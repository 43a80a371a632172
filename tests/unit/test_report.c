// SPDX-License-Identifier: GPL-2.0-or-later
// Findings: order, limits, policy, merging.

#include "tests/unit/unit.h"

#include "lib/report.h"

#include <string.h>

static const struct fm_check a = {"t.a.x", FM_ERROR, FM_REPAIR_SAFE, "a"};
static const struct fm_check b = {"t.b.x", FM_NOTE, FM_REPAIR_NONE, "b"};

static unsigned count(const struct fm_report *r)
{
	unsigned n = 0;

	for (const struct fm_finding *f = r->first; f; f = f->next)
		n++;
	return n;
}

static void owns_its_text(void **state)
{
	struct fm_where where = {.has_offset = true, .offset = 7};
	char path[] = "db/revs/1";
	struct fm_report r;

	(void)state;
	fm_report_init(&r);
	where.path = path;
	fm_report_add(&r, &a, &where, "expected %d", 5);
	memset(path, 'x', sizeof(path) - 1);
	assert_string_equal(r.first->where.path, "db/revs/1");
	assert_null(r.first->where.object);
	assert_string_equal(r.first->detail, "expected 5");
	assert_int_equal(r.first->where.offset, 7);
	assert_int_equal(r.first->severity, FM_ERROR);
	assert_int_equal(r.first->repair, FM_REPAIR_SAFE);
	fm_report_release(&r);
}

static void counts_beyond_the_limit(void **state)
{
	struct fm_policy policy = {.per_check = 3};
	struct fm_report r;

	(void)state;
	fm_report_init(&r);
	r.policy = &policy;
	for (int i = 0; i < 10; i++) {
		fm_report_add(&r, &a, NULL, "%d", i);
		fm_report_add(&r, &b, NULL, "%d", i);
	}
	assert_int_equal(count(&r), 6);
	assert_int_equal(r.by_severity[FM_ERROR], 10);
	for (struct fm_overflow *o = r.overflow; o; o = o->next)
		assert_int_equal(o->dropped, 7);
	fm_report_release(&r);
}

static void obeys_the_policy(void **state)
{
	const struct fm_policy_rule levels[] = {{"t.*", FM_WARN},
						{"t.a.*", FM_FATAL}};
	const struct fm_policy_rule skip[] = {{"t.b.*", FM_NOTE}};
	struct fm_policy policy = {.levels = levels, .n_levels = 2};
	struct fm_report r;

	(void)state;
	fm_report_init(&r);
	r.policy = &policy;
	fm_report_add(&r, &a, NULL, "x");
	fm_report_add(&r, &b, NULL, "x");
	assert_int_equal(r.first->severity, FM_FATAL);
	assert_int_equal(r.last->severity, FM_WARN);
	assert_ptr_equal(fm_report_worst(&r, FM_NOTE), r.first);
	fm_report_release(&r);

	policy = (struct fm_policy){.skip = skip, .n_skip = 1};
	fm_report_init(&r);
	r.policy = &policy;
	fm_report_add(&r, &a, NULL, "x");
	fm_report_add(&r, &b, NULL, "x");
	assert_int_equal(count(&r), 1);
	assert_null(fm_report_worst(&r, FM_FATAL));
	fm_report_release(&r);

	policy = (struct fm_policy){.only = skip, .n_only = 1};
	assert_false(fm_policy_selects(&policy, &a));
	assert_true(fm_policy_selects(&policy, &b));
}

static void merges_in_order(void **state)
{
	struct fm_policy policy = {.per_check = 4};
	struct fm_report all, part;

	(void)state;
	fm_report_init(&all);
	all.policy = &policy;
	for (int i = 0; i < 3; i++) {
		fm_report_init(&part);
		part.policy = &policy;
		fm_report_add(&part, &a, NULL, "%d", 2 * i);
		fm_report_add(&part, &a, NULL, "%d", 2 * i + 1);
		fm_report_unchecked(&part, "part %d", i);
		part.n_units = 5;
		fm_report_merge(&all, &part);
		assert_null(part.first);
		fm_report_release(&part);
	}
	assert_int_equal(count(&all), 4);
	assert_string_equal(all.last->detail, "3");
	assert_int_equal(all.overflow->dropped, 2);
	assert_int_equal(all.by_severity[FM_ERROR], 6);
	assert_int_equal(all.n_units, 15);
	assert_int_equal(all.n_unchecked, 3);
	assert_string_equal(all.unchecked[2], "part 2");
	fm_report_release(&all);
}

static void names_severities(void **state)
{
	enum fm_severity s;

	(void)state;
	for (int i = FM_NOTE; i <= FM_FATAL; i++) {
		assert_true(fm_severity_parse(
			fm_severity_name((enum fm_severity)i), &s));
		assert_int_equal(s, i);
	}
	assert_false(fm_severity_parse("grave", &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owns_its_text),
		cmocka_unit_test(counts_beyond_the_limit),
		cmocka_unit_test(obeys_the_policy),
		cmocka_unit_test(merges_in_order),
		cmocka_unit_test(names_severities),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
