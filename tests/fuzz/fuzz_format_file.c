// SPDX-License-Identifier: GPL-2.0-or-later
// db/format: any bytes give traits, and legal ones survive a round trip.

#include "formats/fsfs/fsfs.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsfs_traits t, back;
	struct fm_buf b = FM_BUF_INIT;

	fsfs_traits_decode((const char *)data, size, &t);
	if (t.state == FSFS_FORMAT_DAMAGED)
		assert(t.problem[0]);
	if (t.state == FSFS_FORMAT_KNOWN) {
		fsfs_traits_encode(&t, &b);
		fsfs_traits_decode(b.data, b.len, &back);
		assert(back.state == FSFS_FORMAT_KNOWN);
		assert(back.number == t.number && back.shard == t.shard);
		assert(back.is_logical == t.is_logical);
		fm_buf_release(&b);
	}
	return 0;
}
