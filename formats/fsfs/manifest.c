// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of manifests (FORMAT, "Packs").

#include "formats/fsfs/manifest.h"

bool fsfs_manifest_offset(const struct fm_line *line, uint64_t *offset)
{
	return line->has_eol && fm_text_number(line->text, INT64_MAX, offset);
}

bool fsfs_revpack_name(struct fm_text text, struct fsfs_revpack_name *name)
{
	struct fm_text rest = text;
	struct fm_text start = fm_text_cut(&rest, '.');

	return fm_text_number(start, INT64_MAX, &name->start) &&
	       fm_text_number(rest, INT64_MAX, &name->counter);
}
