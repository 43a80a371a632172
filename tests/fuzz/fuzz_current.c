// SPDX-License-Identifier: GPL-2.0-or-later
// db/current, and the base 36 numbers in it.

#include "formats/fsfs/fsfs.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[FSFS_BASE36_MAX];
	struct fsfs_current c;
	struct fm_err err;
	uint64_t n;

	if (fsfs_current_decode((const char *)data, size, &c, &err) == 0) {
		assert(c.n_fields == 1 || c.n_fields == 3);
		assert(c.youngest <= FSFS_REVISION_MAX);
	}
	if (fsfs_base36_decode((const char *)data, size, &n)) {
		fsfs_base36_encode(n, text);
		assert(strlen(text) == size);
		assert(memcmp(text, data, size) == 0);
	}
	return 0;
}
