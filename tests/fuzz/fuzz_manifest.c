// SPDX-License-Identifier: GPL-2.0-or-later
// Manifests of both kinds, line by line.

#include "formats/fsfs/manifest.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsfs_revpack_name name;
	struct fm_reader r;
	struct fm_line line;
	uint64_t offset;
	size_t n = 0;

	fm_reader_init(&r, data, size);
	while (fm_text_line(&r, &line)) {
		n += line.text.len + line.has_eol;
		if (fsfs_manifest_offset(&line, &offset))
			assert(offset <= INT64_MAX);
		if (fsfs_revpack_name(line.text, &name))
			assert(name.start <= INT64_MAX);
	}
	assert(n == size);
	return 0;
}
