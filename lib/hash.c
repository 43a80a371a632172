// SPDX-License-Identifier: GPL-2.0-or-later
// Digests through libcrypto's EVP interface. That MD5 is no longer safe
// against an adversary does not matter here: the formats prescribe it.

#include "lib/hash.h"

#include "lib/mem.h"

#include <openssl/evp.h>
#include <stdio.h>

// Allocation and the choice of a built-in digest are all that can fail.
static void check(int ok)
{
	if (!ok)
		fm_out_of_memory();
}

void fm_hash_init(struct fm_hash *h, enum fm_hash_kind kind)
{
	const EVP_MD *md = NULL;

	switch (kind) {
	case FM_MD5: md = EVP_md5(); break;
	case FM_SHA1: md = EVP_sha1(); break;
	case FM_SHA256: md = EVP_sha256(); break;
	}
	h->state = EVP_MD_CTX_new();
	check(h->state != NULL && EVP_DigestInit_ex(h->state, md, NULL));
}

void fm_hash_add(struct fm_hash *h, const void *p, size_t n)
{
	check(EVP_DigestUpdate(h->state, p, n));
}

void fm_hash_text(struct fm_hash *h, char text[FM_HASH_TEXT])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned int n = 0;

	check(EVP_DigestFinal_ex(h->state, bytes, &n));
	for (unsigned int i = 0; i < n; i++)
		(void)snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	fm_hash_release(h);
}

void fm_hash_release(struct fm_hash *h)
{
	EVP_MD_CTX_free(h->state);
	h->state = NULL;
}

void fm_hash_bytes(enum fm_hash_kind kind, const void *p, size_t n,
		   char text[FM_HASH_TEXT])
{
	struct fm_hash h;

	fm_hash_init(&h, kind);
	fm_hash_add(&h, p, n);
	fm_hash_text(&h, text);
}
