// SPDX-License-Identifier: GPL-2.0-or-later
// The formats, one row each, and the probing contest.
//
// The order is that of the cost of a probe; it decides nothing else, since
// the highest bid wins. README (this folder) says how to add a row.

#include "formats/format.h"

#include <string.h>

extern const struct fm_format fsfs_format;
extern const struct fm_format sqfs_format;
extern const struct fm_format iso_format;
extern const struct fm_format arc_format;

const struct fm_format *const fm_formats[] = {
	&fsfs_format,
	&sqfs_format,
	&iso_format,
	&arc_format,
};
const size_t fm_n_formats = FM_ARRAY_SIZE(fm_formats);

enum { STRONG = 50 };

const struct fm_format *fm_format_by_name(const char *name)
{
	for (size_t i = 0; i < fm_n_formats; i++)
		if (strcmp(fm_formats[i]->name, name) == 0)
			return fm_formats[i];
	return NULL;
}

int fm_format_probe(const struct fm_place *place, const struct fm_format **best,
		    struct fm_bid *bid, struct fm_err *err)
{
	const struct fm_format *tied = NULL;

	*best = NULL;
	memset(bid, 0, sizeof(*bid));
	for (size_t i = 0; i < fm_n_formats; i++) {
		struct fm_bid one = {.confidence = 0};

		fm_formats[i]->probe(place, &one);
		if (one.confidence > bid->confidence) {
			*best = fm_formats[i];
			*bid = one;
			tied = NULL;
		} else if (*best && one.confidence == bid->confidence) {
			tied = fm_formats[i];
		}
	}
	if (tied && bid->confidence >= STRONG)
		return fm_err_set(err, FM_E_FORMAT,
				  "could be %s as well as %s; choose with "
				  "--format",
				  (*best)->name, tied->name);
	return 0;
}
