// SPDX-License-Identifier: GPL-2.0-or-later
// The small files of db/: current, base 36, reading within a limit.

#include "formats/fsfs/fsfs.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int decode(const char *s, size_t len, struct fsfs_current *c)
{
	struct fm_err err;

	return fsfs_current_decode(s, len, c, &err);
}

static void reads_both_shapes(void **state)
{
	struct fsfs_current c;

	(void)state;
	assert_int_equal(decode("60\n", 3, &c), 0);
	assert_int_equal(c.youngest, 60);
	assert_int_equal(c.n_fields, 1);
	assert_false(c.lacks_eol);
	assert_int_equal(decode("60 1z 2\n", 8, &c), 0);
	assert_int_equal(c.n_fields, 3);
	assert_int_equal(c.next_node, 36 + 35);
	assert_int_equal(c.next_copy, 2);
	assert_int_equal(decode("0", 1, &c), 0);
	assert_true(c.lacks_eol);
}

static void refuses_the_rest(void **state)
{
	static const struct {
		const char *s;
		size_t len;
	} wrong[] = {
		{"", 0},           {"\n", 1},
		{"\0\0\0", 3},     {"60 1\n", 5},
		{"60 1 2 3\n", 9}, {"60  1 2\n", 8},
		{"60 \n", 4},      {" 60\n", 4},
		{"060\n", 4},      {"60\n\n", 4},
		{"60\r\n", 4},     {"60\0\n", 4},
		{"60 Z 2\n", 7},   {"60 01 2\n", 8},
		{"-1\n", 3},       {"9223372036854775807\n", 20},
		{"x\n", 2},        {"60 1 aaaaaaaaaaaaaaaaaaaaaaa\n", 29},
	};
	struct fsfs_current c;

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(wrong); i++)
		assert_int_equal(decode(wrong[i].s, wrong[i].len, &c),
				 FM_E_FORMAT);
}

static void counts_in_base_36(void **state)
{
	static const uint64_t numbers[] = {
		0, 1, 9, 10, 35, 36, 1295, 1296, 1u << 31, UINT64_MAX};
	char text[FSFS_BASE36_MAX];
	uint64_t n;

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(numbers); i++) {
		fsfs_base36_encode(numbers[i], text);
		assert_true(fsfs_base36_decode(text, strlen(text), &n));
		assert_true(n == numbers[i]);
	}
	assert_string_equal(text, "3w5e11264sgsf");
	assert_false(fsfs_base36_decode("3w5e11264sgsg", 13, &n));
	assert_false(fsfs_base36_decode("", 0, &n));
	assert_false(fsfs_base36_decode("A", 1, &n));
}

static void reads_within_a_limit(void **state)
{
	char dir[] = "/tmp/fsmend-small-XXXXXX";
	struct fm_buf b = FM_BUF_INIT;
	struct fm_err err;
	int dirfd, fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	fd = openat(dirfd, "file", O_WRONLY | O_CREAT, 0644);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	(void)close(fd);
	assert_int_equal(fsfs_read_small(dirfd, "file", 10, &b, &err), 0);
	assert_string_equal(fm_buf_text(&b), "0123456789");
	fm_buf_clear(&b);
	assert_int_equal(fsfs_read_small(dirfd, "file", 9, &b, &err),
			 FM_E_LIMIT);
	assert_int_equal(fsfs_read_small(dirfd, "none", 9, &b, &err), FM_E_IO);
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(mkfifoat(dirfd, "fifo", 0644), 0);
	assert_int_equal(fsfs_read_small(dirfd, "fifo", 9, &b, &err),
			 FM_E_FORMAT);
	assert_int_equal(symlinkat("file", dirfd, "link"), 0);
	assert_int_equal(fsfs_read_small(dirfd, "link", 99, &b, &err), FM_E_IO);
	assert_int_equal(unlinkat(dirfd, "file", 0), 0);
	assert_int_equal(unlinkat(dirfd, "fifo", 0), 0);
	assert_int_equal(unlinkat(dirfd, "link", 0), 0);
	(void)close(dirfd);
	assert_int_equal(rmdir(dir), 0);
	fm_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_shapes),
		cmocka_unit_test(refuses_the_rest),
		cmocka_unit_test(counts_in_base_36),
		cmocka_unit_test(reads_within_a_limit),
	};

	return cmocka_run_group_tests_name("smallfile", tests, NULL, NULL);
}
