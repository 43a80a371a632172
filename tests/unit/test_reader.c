// SPDX-License-Identifier: GPL-2.0-or-later
// Bounded reading: no take passes the end, and one that would is remembered.

#include "tests/unit/unit.h"

#include "lib/endian.h"
#include "lib/reader.h"
#include "lib/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};

static void reads_both_orders(void **state)
{
	struct fm_reader r;

	(void)state;
	fm_reader_init(&r, bytes, sizeof(bytes));
	assert_int_equal(fm_rd_u8(&r), 1);
	assert_int_equal(fm_rd_u16(&r), 0x0302);
	assert_int_equal(fm_rd_u32(&r), 0x07060504);
	assert_int_equal(fm_rd_left(&r), 1);
	fm_rd_seek(&r, 0);
	assert_true(fm_rd_u64(&r) == 0x0807060504030201);
	fm_rd_seek(&r, 0);
	r.is_big_endian = true;
	assert_true(fm_rd_u64(&r) == 0x0102030405060708);
	fm_rd_seek(&r, 2);
	assert_int_equal(fm_rd_u16(&r), 0x0304);
	assert_int_equal(fm_rd_u32(&r), 0x05060708);
	assert_false(r.is_past_end);
}

static void remembers_the_end(void **state)
{
	struct fm_reader r;

	(void)state;
	fm_reader_init(&r, bytes, sizeof(bytes));
	fm_rd_skip(&r, 6);
	assert_int_equal(fm_rd_u32(&r), 0);
	assert_true(r.is_past_end);
	/* What is left cannot be taken any more. */
	assert_int_equal(fm_rd_u8(&r), 0);
	assert_int_equal(fm_rd_left(&r), 0);
	assert_null(fm_rd_peek(&r, 1));
}

static void refuses_wild_positions(void **state)
{
	struct fm_reader r;

	(void)state;
	fm_reader_init(&r, bytes, sizeof(bytes));
	assert_null(fm_rd_peek(&r, SIZE_MAX));
	assert_false(r.is_past_end);
	fm_rd_seek(&r, sizeof(bytes));
	assert_false(r.is_past_end);
	fm_rd_seek(&r, sizeof(bytes) + 1);
	assert_true(r.is_past_end);
	fm_reader_init(&r, bytes, sizeof(bytes));
	fm_rd_skip(&r, SIZE_MAX);
	assert_true(r.is_past_end);
}

static void windows_stay_inside(void **state)
{
	struct fm_source all, part, deep;
	struct fm_err err;
	char two[2];

	(void)state;
	fm_source_memory(&all, bytes, sizeof(bytes));
	assert_int_equal(fm_source_window(&part, &all, 2, 4, &err), 0);
	assert_int_equal(fm_source_read(&part, 2, two, 2, &err), 0);
	assert_int_equal(two[0], 5);
	assert_int_equal(fm_source_read(&part, 3, two, 2, &err), FM_E_BOUNDS);
	assert_int_equal(fm_source_read(&part, UINT64_MAX, two, 2, &err),
			 FM_E_BOUNDS);
	assert_int_equal(fm_source_window(&deep, &part, 4, 0, &err), 0);
	assert_int_equal(fm_source_window(&deep, &part, 4, 1, &err),
			 FM_E_BOUNDS);
	assert_int_equal(fm_source_window(&deep, &part, UINT64_MAX, 2, &err),
			 FM_E_BOUNDS);
}

static void reads_files(void **state)
{
	char name[] = "/tmp/fsmend-reader-XXXXXX";
	int fd = mkstemp(name);
	struct fm_source all, part;
	struct fm_reader r;
	struct fm_arena arena;
	struct fm_err err;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	fm_arena_init(&arena);
	assert_int_equal(fm_source_file(&all, fd, &err), 0);
	assert_int_equal(all.size, sizeof(bytes));
	assert_int_equal(fm_source_window(&part, &all, 4, 4, &err), 0);
	assert_int_equal(fm_reader_load(&r, &part, 2, 2, &arena, &err), 0);
	assert_int_equal(fm_rd_u16(&r), 0x0807);
	/* A size that is a lie costs no memory. */
	assert_int_equal(
		fm_reader_load(&r, &part, 0, SIZE_MAX / 4, &arena, &err),
		FM_E_BOUNDS);
	/* A file that has shrunk since. */
	assert_int_equal(ftruncate(fd, 5), 0);
	assert_int_equal(fm_reader_load(&r, &part, 0, 4, &arena, &err),
			 FM_E_BOUNDS);
	fm_arena_release(&arena);
	(void)close(fd);
}

static void does_not_follow_links(void **state)
{
	char dir[] = "/tmp/fsmend-reader-XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("/dev/null", path), 0);
	fd = fm_open_read(-1, path);
	assert_int_equal(fd, -1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_orders),
		cmocka_unit_test(remembers_the_end),
		cmocka_unit_test(refuses_wild_positions),
		cmocka_unit_test(windows_stay_inside),
		cmocka_unit_test(reads_files),
		cmocka_unit_test(does_not_follow_links),
	};

	return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
