// SPDX-License-Identifier: GPL-2.0-or-later
// The squashfs superblock of any version and byte order.

#include "formats/squashfs/sqfs.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sqfs_super s;

	if (sqfs_super_decode(data, size, size, &s)) {
		assert(s.major >= 1 && s.major <= 4);
		assert(s.block_size == 1U << s.block_log);
		assert(sqfs_compressor_name(&s)[0]);
	}
	return 0;
}
