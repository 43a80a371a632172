// SPDX-License-Identifier: GPL-2.0-or-later
// The registry: its rows are complete, its checks well formed, its probes
// survive junk.

#include "formats/format.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < fm_n_formats; i++) {
		const struct fm_format *f = fm_formats[i];

		assert_non_null(f->name);
		assert_non_null(f->summary);
		assert_non_null(f->probe);
		assert_non_null(f->open);
		assert_non_null(f->close);
		assert_ptr_equal(fm_format_by_name(f->name), f);
	}
	assert_null(fm_format_by_name("ext4"));
}

static void checks_are_well_formed(void **state)
{
	(void)state;
	for (size_t i = 0; i < fm_n_formats; i++) {
		const struct fm_format *f = fm_formats[i];
		size_t len = strlen(f->name);

		for (size_t k = 0; k < f->n_checks; k++) {
			const char *id = f->checks[k].id;

			assert_memory_equal(id, f->name, len);
			assert_int_equal(id[len], '.');
			assert_non_null(strchr(id + len + 1, '.'));
			assert_string_not_equal(f->checks[k].sentence, "");
			for (size_t m = 0; m < k; m++)
				assert_string_not_equal(id, f->checks[m].id);
		}
	}
}

static const struct fm_format *probe(const void *bytes, size_t n)
{
	char name[] = "/tmp/fsmend-probe-XXXXXX";
	int fd = mkstemp(name);
	struct fm_place place = {.path = name, .fd = fd, .size = n};
	const struct fm_format *best = NULL;
	struct fm_bid bid;
	struct fm_err err;

	assert_true(fd >= 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(fd, bytes, n), n);
	assert_int_equal(fm_format_probe(&place, &best, &bid, &err), 0);
	(void)close(fd);
	return best;
}

static void junk_is_nobodys(void **state)
{
	static char junk[70000];

	(void)state;
	assert_null(probe("", 0));
	assert_null(probe("hsqs", 4));
	assert_null(probe("just some text\n", 15));
	assert_null(probe(junk, sizeof(junk)));
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (char)(i * i >> 3 ^ i);
	assert_null(probe(junk, sizeof(junk)));
	memcpy(junk, "hsqs", 4);
	assert_null(probe(junk, sizeof(junk)));
	memcpy(junk + 32768, "\1CD001\1", 7);
	junk[32768 + 128] = 0;
	assert_null(probe(junk, sizeof(junk)));
}

static void names_a_minimal_squashfs(void **state)
{
	/* The example of the format's description: 4.0, 714 inodes, zlib. */
	static unsigned char image[0x332d7] = {
		'h',  's',  'q',  's', 0xca, 0x02, 0,    0,    0xac,
		0x06, 0x0e, 0x6b, 0,   0,    0x02, 0,    0x01, 0,
		0,    0,    0x01, 0,   0x11, 0,    0x80, 0,    0x03,
		0,    0x04, 0,    0,   0,    0x61, 0x19, 0x24, 0x09,
		0,    0,    0,    0,   0xd7, 0x32, 0x03, 0};

	(void)state;
	assert_ptr_equal(probe(image, sizeof(image)),
			 fm_format_by_name("squashfs"));
}

static void names_a_tar(void **state)
{
	static char block[1024] = "name";
	unsigned sum = 0;

	(void)state;
	memcpy(block + 100, "0000644", 8);
	memcpy(block + 108, "0000000", 8);
	memcpy(block + 116, "0000000", 8);
	memcpy(block + 124, "00000000000", 12);
	memcpy(block + 136, "00000000000", 12);
	memset(block + 148, ' ', 8);
	memcpy(block + 156, "0", 1);
	memcpy(block + 257, "ustar\00000", 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)block[i];
	for (int i = 0; i < 6; i++)
		block[148 + i] = (char)('0' + (sum >> (3 * (5 - i)) & 7));
	block[154] = '\0';
	assert_ptr_equal(probe(block, sizeof(block)),
			 fm_format_by_name("archive"));
	assert_ptr_equal(probe("#mtree\n", 7), fm_format_by_name("archive"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(checks_are_well_formed),
		cmocka_unit_test(junk_is_nobodys),
		cmocka_unit_test(names_a_minimal_squashfs),
		cmocka_unit_test(names_a_tar),
	};

	return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
