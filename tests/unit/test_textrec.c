// SPDX-License-Identifier: GPL-2.0-or-later
// Text records: lines, fields, headers, canonical numbers.

#include "tests/unit/unit.h"

#include "lib/textrec.h"

#include <string.h>

static struct fm_text text(const char *s)
{
	return (struct fm_text){s, strlen(s)};
}

static void splits_lines(void **state)
{
	static const char data[] = "one\n\nt\0o\nlast";
	struct fm_reader r;
	struct fm_line line;

	(void)state;
	fm_reader_init(&r, data, sizeof(data) - 1);
	assert_true(fm_text_line(&r, &line));
	assert_true(fm_text_is(line.text, "one"));
	assert_true(line.has_eol);
	assert_true(fm_text_line(&r, &line));
	assert_int_equal(line.text.len, 0);
	assert_true(fm_text_line(&r, &line));
	assert_int_equal(line.text.len, 3);
	assert_memory_equal(line.text.p, "t\0o", 3);
	assert_true(fm_text_line(&r, &line));
	assert_true(fm_text_is(line.text, "last"));
	assert_false(line.has_eol);
	assert_false(fm_text_line(&r, &line));
}

static void cuts_fields(void **state)
{
	struct fm_text rest = text("a bc  d");

	(void)state;
	assert_true(fm_text_is(fm_text_cut(&rest, ' '), "a"));
	assert_true(fm_text_is(fm_text_cut(&rest, ' '), "bc"));
	assert_true(fm_text_is(fm_text_cut(&rest, ' '), ""));
	assert_true(fm_text_is(fm_text_cut(&rest, ' '), "d"));
	assert_true(fm_text_is(fm_text_cut(&rest, ' '), ""));
	assert_int_equal(rest.len, 0);
}

static void splits_headers(void **state)
{
	struct fm_text key, value;

	(void)state;
	assert_true(fm_text_header(text("cpath: /a: b"), &key, &value));
	assert_true(fm_text_is(key, "cpath"));
	assert_true(fm_text_is(value, "/a: b"));
	assert_true(fm_text_header(text("empty: "), &key, &value));
	assert_int_equal(value.len, 0);
	assert_false(fm_text_header(text("no:space"), &key, &value));
	assert_false(fm_text_header(text(""), &key, &value));
}

static void reads_canonical_numbers(void **state)
{
	static const char *const wrong[] = {"",
					    "-1",
					    "+1",
					    " 1",
					    "1 ",
					    "01",
					    "00",
					    "0x1",
					    "1a",
					    "18446744073709551616",
					    "99999999999999999999999"};
	uint64_t n = 5;

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(wrong); i++)
		assert_false(fm_text_number(text(wrong[i]), UINT64_MAX, &n));
	assert_true(n == 5);
	assert_true(fm_text_number(text("0"), 0, &n));
	assert_true(n == 0);
	assert_true(
		fm_text_number(text("18446744073709551615"), UINT64_MAX, &n));
	assert_true(n == UINT64_MAX);
	assert_true(fm_text_number(text("100"), 100, &n));
	assert_false(fm_text_number(text("101"), 100, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_lines),
		cmocka_unit_test(cuts_fields),
		cmocka_unit_test(splits_headers),
		cmocka_unit_test(reads_canonical_numbers),
	};

	return cmocka_run_group_tests_name("textrec", tests, NULL, NULL);
}
