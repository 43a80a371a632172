/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One pack that is being verified: what verify_pack.c and verify_revpack.c
 * share. Everything is borrowed and lives as long as the item.
 */
#ifndef FM_FORMATS_FSFS_VERIFY_PACK_H
#define FM_FORMATS_FSFS_VERIFY_PACK_H

#include "lib/err.h"
#include "lib/report.h"

struct fsfs_pack {
	struct fm_report *report;
	int dir;              /* K.pack, open */
	uint64_t k, shard;    /* its number, revisions a shard */
	uint64_t first;       /* revision */
	const char *object;   /* "r20-r23" */
	const char *path;     /* "db/revs/5.pack" */
	const char *file;     /* "db/revs/5.pack/pack" */
	const char *manifest; /* "db/revs/5.pack/manifest" */
};

/* Reports the names in the pack that are not among the known ones. */
void fsfs_pack_strays(const struct fsfs_pack *p, const char *const *known,
		      size_t n_known);

/* A pack of revision properties: its manifest against its files. */
int fsfs_verify_revpack(const struct fsfs_pack *p, struct fm_err *err);

#endif
