/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed streams; each library behind one file, lib/codec_<library>.c.
 *
 * Decoders know how much must come out and never write more: FM_E_FORMAT
 * when the stream is damaged, is shorter or longer than that, or has bytes
 * behind its end. The buffers belong to the caller. Safe in threads.
 */
#ifndef FM_LIB_CODEC_H
#define FM_LIB_CODEC_H

#include "lib/buf.h"
#include "lib/err.h"

/* One whole zlib stream (RFC 1950) to exactly out_len bytes. */
int fm_zlib_inflate(const void *in, size_t in_len, void *out, size_t out_len,
		    struct fm_err *err);

/* Appends the zlib stream of the bytes; level 0..9. */
void fm_zlib_deflate(const void *in, size_t in_len, int level,
		     struct fm_buf *out);

#endif
