// SPDX-License-Identifier: GPL-2.0-or-later
// Buffers: growing, NUL behind the end, NUL inside.

#include "tests/unit/unit.h"

#include "lib/buf.h"

#include <string.h>

static void starts_as_empty_text(void **state)
{
	struct fm_buf b = FM_BUF_INIT;

	(void)state;
	assert_string_equal(fm_buf_text(&b), "");
	fm_buf_clear(&b);
	fm_buf_add(&b, "", 0);
	assert_string_equal(fm_buf_text(&b), "");
	assert_int_equal(b.len, 0);
	fm_buf_release(&b);
}

static void grows(void **state)
{
	struct fm_buf b = FM_BUF_INIT;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		fm_buf_printf(&b, "%d,", i % 10);
		assert_int_equal(b.data[b.len], '\0');
	}
	assert_int_equal(b.len, 20000);
	assert_memory_equal(b.data + 19998, "9,", 2);
	fm_buf_release(&b);
	assert_null(b.data);
}

static void holds_any_byte(void **state)
{
	struct fm_buf b = FM_BUF_INIT;

	(void)state;
	fm_buf_add(&b, "a\0b", 3);
	fm_buf_puts(&b, "c");
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "a\0bc", 5);
	fm_buf_clear(&b);
	assert_string_equal(fm_buf_text(&b), "");
	fm_buf_release(&b);
}

static void reserves_room(void **state)
{
	struct fm_buf b = FM_BUF_INIT;

	(void)state;
	fm_buf_puts(&b, "ab");
	fm_buf_reserve(&b, 1000);
	assert_true(b.cap - b.len > 1000);
	memset(b.data + b.len, 'x', 1000);
	assert_int_equal(b.len, 2);
	fm_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_as_empty_text),
		cmocka_unit_test(grows),
		cmocka_unit_test(holds_any_byte),
		cmocka_unit_test(reserves_room),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
