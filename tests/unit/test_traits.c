// SPDX-License-Identifier: GPL-2.0-or-later
// db/format: what a reader accepts, and that encode and decode are inverse.

#include "formats/fsfs/fsfs.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct fsfs_traits decode(const char *s)
{
	struct fsfs_traits t;

	fsfs_traits_decode(s, s ? strlen(s) : 0, &t);
	return t;
}

static void accepts_what_subversion_writes(void **state)
{
	static const unsigned numbers[] = {1, 2, 3, 4, 6, 7, 8};

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(numbers); i++) {
		for (uint64_t shard = 0; shard <= 1000; shard += 500) {
			struct fsfs_traits t = {.shard = shard}, back;
			struct fm_buf b = FM_BUF_INIT;

			fsfs_traits_set_number(&t, numbers[i]);
			t.is_logical = t.can_be_logical && shard;
			if (!t.can_shard)
				t.shard = 0;
			fsfs_traits_encode(&t, &b);
			fsfs_traits_decode(b.data, b.len, &back);
			assert_int_equal(back.state, FSFS_FORMAT_KNOWN);
			assert_int_equal(back.number, numbers[i]);
			assert_int_equal(back.shard, t.shard);
			assert_int_equal(back.is_logical, t.is_logical);
			assert_false(back.lacks_eol);
			fm_buf_release(&b);
		}
	}
}

static void missing_means_one(void **state)
{
	struct fsfs_traits t = decode(NULL);

	(void)state;
	assert_int_equal(t.state, FSFS_FORMAT_MISSING);
	assert_int_equal(t.number, 1);
	assert_true(t.has_three_field_current);
	assert_false(t.can_shard);
}

static void knows_its_guard(void **state)
{
	(void)state;
	assert_int_equal(decode(FSFS_GUARD_TEXT).state, FSFS_FORMAT_GUARD);
	assert_int_equal(decode("fsmend: unfinished conversion").state,
			 FSFS_FORMAT_GUARD);
	assert_int_equal(decode("fsmend: something else\n").state,
			 FSFS_FORMAT_DAMAGED);
	assert_true(sizeof(FSFS_GUARD_TEXT) - 1 <= 79);
}

static void refuses_other_numbers(void **state)
{
	(void)state;
	assert_int_equal(decode("5\n").state, FSFS_FORMAT_UNKNOWN);
	assert_int_equal(decode("9\nanything\n").state, FSFS_FORMAT_UNKNOWN);
	assert_int_equal(decode("0\n").state, FSFS_FORMAT_UNKNOWN);
	assert_int_equal(decode("").state, FSFS_FORMAT_DAMAGED);
	assert_int_equal(decode("\n").state, FSFS_FORMAT_DAMAGED);
	assert_int_equal(decode("8\r\n").state, FSFS_FORMAT_DAMAGED);
	assert_int_equal(decode("-8\n").state, FSFS_FORMAT_DAMAGED);
	assert_int_equal(decode("99999999999\n").state, FSFS_FORMAT_DAMAGED);
}

static void reads_options(void **state)
{
	struct fsfs_traits t;

	(void)state;
	t = decode("8\naddressing logical\nlayout sharded 10\n");
	assert_int_equal(t.state, FSFS_FORMAT_KNOWN);
	assert_true(t.is_logical);
	assert_int_equal(t.shard, 10);
	t = decode("4\nlayout sharded 10\nlayout linear\n");
	assert_int_equal(t.shard, 0);
	assert_true(t.has_repeated_option);
	t = decode("4\nlayout sharded 10");
	assert_int_equal(t.state, FSFS_FORMAT_KNOWN);
	assert_true(t.lacks_eol);
	t = decode("4\nlayout sharded 10\n\nlayout linear\n");
	assert_int_equal(t.shard, 10);
	assert_true(t.has_trailing_text);
	t = decode("8\nlayout sharded 10\n");
	assert_false(t.is_logical);
	assert_false(t.has_addressing_line);
}

static void refuses_options(void **state)
{
	static const char *const wrong[] = {
		"2\nlayout linear\n",
		"6\naddressing physical\n",
		"4\nlayout sharded \n",
		"4\nlayout sharded 1x\n",
		"4\nlayout sharded -1\n",
		"4\nlayout sharded 2147483648\n",
		"4\nlayout\n",
		"4\nlayout linear \n",
		"8\nlayout linear\naddressing logical\n",
		"8\naddressing logical\n",
		"8\ncolour blue\n",
	};

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(wrong); i++) {
		struct fsfs_traits t = decode(wrong[i]);

		assert_int_equal(t.state, FSFS_FORMAT_DAMAGED);
		assert_string_not_equal(t.problem, "");
	}
}

static void survives_nul_and_long_lines(void **state)
{
	struct fsfs_traits t;
	char data[4096];

	(void)state;
	memset(data, 'x', sizeof(data));
	memcpy(data, "4\n", 2);
	fsfs_traits_decode(data, sizeof(data), &t);
	assert_int_equal(t.state, FSFS_FORMAT_DAMAGED);
	memcpy(data, "4\0\n", 3);
	fsfs_traits_decode(data, 3, &t);
	assert_int_equal(t.state, FSFS_FORMAT_DAMAGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_what_subversion_writes),
		cmocka_unit_test(missing_means_one),
		cmocka_unit_test(knows_its_guard),
		cmocka_unit_test(refuses_other_numbers),
		cmocka_unit_test(reads_options),
		cmocka_unit_test(refuses_options),
		cmocka_unit_test(survives_nul_and_long_lines),
	};

	return cmocka_run_group_tests_name("traits", tests, NULL, NULL);
}
