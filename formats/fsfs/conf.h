/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db/fsfs.conf: the keys that shape what lies on disk.
 *
 * A missing file, section or key means the default; a value that does not
 * parse is FM_E_FORMAT with section, key and value. (FORMAT, "fsfs.conf")
 */
#ifndef FM_FORMATS_FSFS_CONF_H
#define FM_FORMATS_FSFS_CONF_H

#include "formats/fsfs/fsfs.h"

struct fsfs_conf {
	/* [packed-revprops] */
	uint64_t revprop_pack_size; /* bytes */
	bool compresses_revprops;
	/* [io] */
	uint64_t l2p_page_size; /* entries */
	uint64_t p2l_page_size; /* bytes */
};

int fsfs_conf_read(const struct fsfs *fs, struct fsfs_conf *conf,
		   struct fm_err *err);

/* The same from bytes. */
int fsfs_conf_decode(const char *data, size_t len, struct fsfs_conf *conf,
		     struct fm_err *err);

#endif
