// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a revision file, both addressings: what is wrong is said in
// words, and offsets that are accepted lie within the file.

#include "formats/fsfs/revfile.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsfs_fault fault;
	struct fsfs_footer footer;
	struct fm_source src;
	struct fm_err err;

	fm_source_memory(&src, data, size);
	if (!fsfs_check_physical(&src, 0, &fault, &err)) {
		assert(err.code == 0);
		assert(fault.detail[0]);
	}
	if (!fsfs_check_logical(&src, 0, 1, &fault, &err)) {
		assert(err.code == 0);
		assert(fault.detail[0]);
	}
	if (fsfs_footer_decode(data, size, size, &footer))
		assert(footer.p2l < size);
	(void)fsfs_ending_of(&src);
	return 0;
}
