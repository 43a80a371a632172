// SPDX-License-Identifier: GPL-2.0-or-later
// One line each of the two kinds of manifest.

#include "formats/fsfs/manifest.h"
#include "tests/unit/unit.h"

#include <string.h>

static bool offset(const char *s, uint64_t *n)
{
	struct fm_reader r;
	struct fm_line line;

	fm_reader_init(&r, s, strlen(s));
	return fm_text_line(&r, &line) && fsfs_manifest_offset(&line, n);
}

static void reads_offsets(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_true(offset("0\n", &n));
	assert_true(offset("357977\n", &n));
	assert_int_equal(n, 357977);
	assert_false(offset("357977", &n)); /* no LF */
	assert_false(offset("0357977\n", &n));
	assert_false(offset("12 \n", &n));
	assert_false(offset("\n", &n));
	assert_false(offset("9223372036854775808\n", &n));
}

static bool name(const char *s, struct fsfs_revpack_name *decoded)
{
	return fsfs_revpack_name((struct fm_text){s, strlen(s)}, decoded);
}

static void reads_pack_names(void **state)
{
	struct fsfs_revpack_name n;

	(void)state;
	assert_true(name("20.3", &n));
	assert_int_equal(n.start, 20);
	assert_int_equal(n.counter, 3);
	assert_false(name("20", &n));
	assert_false(name("20.", &n));
	assert_false(name(".3", &n));
	assert_false(name("20.3.1", &n));
	assert_false(name("020.3", &n));
	assert_false(name("", &n));
	assert_false(name("../20.3", &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_offsets),
		cmocka_unit_test(reads_pack_names),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}
