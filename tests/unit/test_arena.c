// SPDX-License-Identifier: GPL-2.0-or-later
// Arenas: zero-filled, aligned, reusable after a reset.

#include "tests/unit/unit.h"

#include "lib/arena.h"

#include <string.h>

static void is_aligned_and_zero(void **state)
{
	struct fm_arena a;

	(void)state;
	fm_arena_init(&a);
	for (size_t size = 1; size < 200; size++) {
		unsigned char *p = fm_arena_alloc(&a, size);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, size);
	}
	fm_arena_release(&a);
}

static void is_zero_again_after_reset(void **state)
{
	struct fm_arena a;
	unsigned char *p;

	(void)state;
	fm_arena_init(&a);
	memset(fm_arena_alloc(&a, 1000), 0xff, 1000);
	fm_arena_reset(&a);
	p = fm_arena_alloc(&a, 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	fm_arena_release(&a);
}

static void holds_more_than_a_block(void **state)
{
	struct fm_arena a;
	char *small, *large;

	(void)state;
	fm_arena_init(&a);
	small = fm_arena_strdup(&a, "small");
	large = fm_arena_array(&a, 1000, 1000);
	large[1000 * 1000 - 1] = 'x';
	assert_string_equal(small, "small");
	fm_arena_reset(&a);
	assert_string_equal(fm_arena_strdup(&a, "again"), "again");
	fm_arena_release(&a);
}

static void copies_text(void **state)
{
	struct fm_arena a;

	(void)state;
	fm_arena_init(&a);
	assert_string_equal(fm_arena_memdup(&a, "abcdef", 3), "abc");
	assert_string_equal(fm_arena_printf(&a, "r%d of %s", 7, "x"),
			    "r7 of x");
	fm_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_aligned_and_zero),
		cmocka_unit_test(is_zero_again_after_reset),
		cmocka_unit_test(holds_more_than_a_block),
		cmocka_unit_test(copies_text),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
