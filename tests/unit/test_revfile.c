// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a revision file. Revision 0 of both kinds is known byte for
// byte; every change of one byte of its end must be noticed.

#include "formats/fsfs/revfile.h"
#include "tests/unit/unit.h"

#include <string.h>

static const char physical_0[] =
	"PLAIN\nEND\nENDREP\n"
	"id: 0.0.r0/17\ntype: dir\ncount: 0\n"
	"text: 0 0 4 4 2d2977d1c96f487abe4a1e202dd03b4e\ncpath: /\n\n"
	"\n17 107\n";

// Items of 107 bytes, L2P at 107, P2L at 131, footer at 179.
static const char logical_0[] =
	"PLAIN\nEND\nENDREP\n"
	"id: 0.0.r0/2\ntype: dir\ncount: 0\n"
	"text: 0 3 4 4 2d2977d1c96f487abe4a1e202dd03b4e\ncpath: /\n\n"
	"\n"
	"L2P-INDEX\n\x00\x80\x40\x01\x01\x01\x06\x04\x00\xd6\x01\xb1\x01\x21"
	"P2L-INDEX\n\x00\x6b\x80\x80\x40\x01\x1f\x00\x11\x34\x00\xf5\xd6\x8c"
	"\x81\x06\x59\x09\x00\xc8\xfc\xf6\x81\x04\x01\x0d\x00\x9d\x9e\xa9\x94"
	"\x0f\x95\xff\x3f\x1b\x00\x00"
	"107 4ee826c7290508829f5acb14d0e26d72 "
	"131 b1754ac6e481d792be0bcd2649b33b01\x49";

static bool check(const char *data, size_t n, bool is_logical,
		  uint64_t revision, struct fsfs_fault *fault)
{
	struct fm_source src;
	struct fm_err err;
	bool is_good;

	fm_source_memory(&src, data, n);
	is_good = is_logical
			  ? fsfs_check_logical(&src, revision, 1, fault, &err)
			  : fsfs_check_physical(&src, revision, fault, &err);
	assert_true(is_good || err.code == 0);
	return is_good;
}

static void accepts_revision_0(void **state)
{
	struct fsfs_fault fault;

	(void)state;
	assert_int_equal(sizeof(physical_0) - 1, 115);
	assert_int_equal(sizeof(logical_0) - 1, 253);
	assert_true(check(physical_0, 115, false, 0, &fault));
	assert_true(check(logical_0, 253, true, 0, &fault));
}

static void notices_another_revision(void **state)
{
	struct fsfs_fault fault;

	(void)state;
	assert_false(check(physical_0, 115, false, 1, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_TRAILER_ROOT);
	assert_false(check(logical_0, 253, true, 1, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_INDEX_HEADER);
}

static void notices_every_changed_byte_of_the_trailer(void **state)
{
	struct fsfs_fault fault;
	char copy[sizeof(physical_0)];

	(void)state;
	for (size_t i = 106; i < 115; i++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(copy, physical_0, sizeof(copy));
			copy[i] = (char)(copy[i] ^ (1 << bit));
			assert_false(check(copy, 115, false, 0, &fault));
			assert_string_not_equal(fault.detail, "");
		}
	}
}

static void notices_every_cut(void **state)
{
	struct fsfs_fault fault;

	(void)state;
	for (size_t n = 0; n < 115; n++)
		assert_false(check(physical_0, n, false, 0, &fault));
	for (size_t n = 0; n < 253; n++)
		assert_false(check(logical_0, n, true, 0, &fault));
	assert_false(check(physical_0, 0, false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_REV_TRUNCATED);
}

static void tells_zeros_apart(void **state)
{
	static char data[8192];
	struct fsfs_fault fault;

	(void)state;
	assert_false(check(data, sizeof(data), false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_REV_ZEROED);
	assert_false(fault.has_offset);
	memcpy(data, physical_0, 115);
	assert_false(check(data, sizeof(data), false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_REV_TRUNCATED);
	assert_int_equal(fault.offset, 115);
	memcpy(data, logical_0, 253);
	assert_false(check(data, sizeof(data), true, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_REV_TRUNCATED);
	assert_int_equal(fault.offset, 253);
	memset(data, 'x', 100);
	memset(data + 100, 0, sizeof(data) - 100);
	assert_false(check(data, sizeof(data), false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_REV_ZEROED);
	assert_int_equal(fault.offset, 100);
}

static void names_well_known_accidents(void **state)
{
	struct fsfs_fault fault;

	(void)state;
	assert_false(check("\x1f\x8b\x08\0\0\0", 6, false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_TRAILER_FORM);
	assert_non_null(strstr(fault.detail, "gzip"));
	assert_false(check("abc\r\n17 107\r\n", 13, false, 0, &fault));
	assert_int_equal(fault.check, FSFS_CHECK_TRAILER_FORM);
	assert_non_null(strstr(fault.detail, "CR LF"));
}

static void tells_the_addressing(void **state)
{
	struct fm_source src;

	(void)state;
	fm_source_memory(&src, physical_0, 115);
	assert_int_equal(fsfs_ending_of(&src), FSFS_ENDING_TRAILER);
	fm_source_memory(&src, logical_0, 253);
	assert_int_equal(fsfs_ending_of(&src), FSFS_ENDING_FOOTER);
	fm_source_memory(&src, "nothing of the kind", 19);
	assert_int_equal(fsfs_ending_of(&src), FSFS_ENDING_NONE);
	fm_source_memory(&src, "", 0);
	assert_int_equal(fsfs_ending_of(&src), FSFS_ENDING_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_revision_0),
		cmocka_unit_test(notices_another_revision),
		cmocka_unit_test(notices_every_changed_byte_of_the_trailer),
		cmocka_unit_test(notices_every_cut),
		cmocka_unit_test(tells_zeros_apart),
		cmocka_unit_test(names_well_known_accidents),
		cmocka_unit_test(tells_the_addressing),
	};

	return cmocka_run_group_tests_name("revfile", tests, NULL, NULL);
}
