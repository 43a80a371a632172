// SPDX-License-Identifier: GPL-2.0-or-later
// zlib streams of known length.

#include "lib/codec.h"
#include "lib/mem.h"

#include <zlib.h>

int fm_zlib_inflate(const void *in, size_t in_len, void *out, size_t out_len,
		    struct fm_err *err)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)in, .next_out = out};
	int rc;

	if (in_len > UINT32_MAX || out_len > UINT32_MAX)
		return fm_err_set(err, FM_E_LIMIT, "a zlib stream above 4 GiB");
	z.avail_in = (uInt)in_len;
	z.avail_out = (uInt)out_len;
	if (inflateInit(&z) != Z_OK)
		fm_out_of_memory();
	rc = inflate(&z, Z_FINISH);
	(void)inflateEnd(&z);
	if (rc == Z_STREAM_END && z.avail_out == 0 && z.avail_in == 0)
		return 0;
	if (rc == Z_STREAM_END)
		return fm_err_set(err, FM_E_FORMAT,
				  "a zlib stream gives %zu bytes of %zu and "
				  "leaves %u unread",
				  out_len - z.avail_out, out_len, z.avail_in);
	return fm_err_set(err, FM_E_FORMAT, "a zlib stream is damaged: %s",
			  z.msg ? z.msg : "it ends early or is too long");
}

void fm_zlib_deflate(const void *in, size_t in_len, int level,
		     struct fm_buf *out)
{
	uLong bound = compressBound((uLong)in_len);

	fm_buf_reserve(out, bound);
	if (compress2((Bytef *)out->data + out->len, &bound, in, (uLong)in_len,
		      level) != Z_OK)
		fm_out_of_memory();
	out->len += bound;
	out->data[out->len] = '\0';
}
