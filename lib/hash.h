/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Digests behind one small interface: libcrypto's, and the FNV variant that
 * one format uses.
 *
 *	fm_hash_init(&h, FM_MD5);
 *	fm_hash_add(&h, p, n); ...
 *	fm_hash_text(&h, text);      ends it: lower case hex
 *
 * fm_hash_release is needed only when fm_hash_text was not reached.
 */
#ifndef FM_LIB_HASH_H
#define FM_LIB_HASH_H

#include "lib/base.h"

enum fm_hash_kind { FM_MD5, FM_SHA1, FM_SHA256 };

/* Hex digits and a NUL of the longest. */
enum { FM_HASH_TEXT = 65 };

struct fm_hash {
	void *state;
};

void fm_hash_init(struct fm_hash *h, enum fm_hash_kind kind);
void fm_hash_add(struct fm_hash *h, const void *p, size_t n);
void fm_hash_text(struct fm_hash *h, char text[FM_HASH_TEXT]);
void fm_hash_release(struct fm_hash *h);

/* All at once. */
void fm_hash_bytes(enum fm_hash_kind kind, const void *p, size_t n,
		   char text[FM_HASH_TEXT]);

#endif
