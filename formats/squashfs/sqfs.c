// SPDX-License-Identifier: GPL-2.0-or-later
// The squashfs format's table of operations: probing and naming an image.

#include "formats/squashfs/sqfs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// False when the place is too short or no squashfs.
static bool read_super(int fd, uint64_t *size, struct sqfs_super *s)
{
	unsigned char bytes[SQFS_SUPER_MAX];
	struct fm_source src;
	struct fm_err ignored;
	size_t n;

	if (fm_source_file(&src, fd, &ignored) != 0)
		return false;
	n = (size_t)fm_min_u64(src.size, sizeof(bytes));
	*size = src.size;
	return fm_source_read(&src, 0, bytes, n, &ignored) == 0 &&
	       sqfs_super_decode(bytes, n, src.size, s);
}

static const char *order_name(const struct sqfs_super *s)
{
	return s->is_big_endian ? "big endian" : "little endian";
}

static void probe(const struct fm_place *place, struct fm_bid *bid)
{
	struct sqfs_super s;
	uint64_t size;

	if (place->is_directory || !read_super(place->fd, &size, &s))
		return;
	bid->confidence = s.has_vendor_magic ? 80 : 90;
	(void)snprintf(bid->what, sizeof(bid->what), "squashfs %u.%u, %s%s",
		       s.major, s.minor, order_name(&s),
		       s.has_vendor_magic ? ", vendor variant" : "");
}

static int open_target(struct fm_target *t, struct fm_err *err)
{
	struct sqfs_super *s = fm_arena_alloc(&t->out, sizeof(*s));
	uint64_t size;

	if (!read_super(t->fd, &size, s))
		return fm_err_set(err, FM_E_FORMAT, "not a squashfs image");
	t->view = s;
	return 0;
}

static void close_target(struct fm_target *t)
{
	t->view = NULL;
}

static int describe(struct fm_target *t, const struct fm_options *opts,
		    struct fm_facts *f, struct fm_err *err)
{
	const struct sqfs_super *s = t->view;
	struct fm_source src;
	char when[32] = "";
	time_t time = s->mkfs_time;
	struct tm tm;
	int rc = fm_source_file(&src, t->fd, err);

	(void)opts;
	if (rc != 0)
		return rc;
	fm_facts_text(f, "version", "version", "%u.%u", s->major, s->minor);
	fm_facts_text(f, "byte_order", "byte order", "%s", order_name(s));
	fm_facts_text(f, "magic", "magic", "%s%s", s->magic,
		      s->has_vendor_magic ? " (vendor)" : "");
	fm_facts_text(f, "compressor", "compressor", "%s",
		      sqfs_compressor_name(s));
	fm_facts_number(f, "block_size", "block size", s->block_size);
	fm_facts_number(f, "inodes", "inodes", s->inodes);
	if (s->major >= 2)
		fm_facts_number(f, "fragments", "fragments", s->fragments);
	if (gmtime_r(&time, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fm_facts_text(f, "created", "created", "%s", when);
	fm_facts_number(f, "bytes_used", "bytes used", s->bytes_used);
	fm_facts_number(f, "file_size", "file size", src.size);
	if (s->bytes_used > src.size) {
		f->is_damaged = true;
		f->advice = "the file is shorter than its superblock says: "
			    "get it again from where it came from";
	} else {
		f->advice = "squashfs images are named only; fsverify and "
			    "fsconvert do not handle them";
	}
	return 0;
}

const struct fm_format sqfs_format = {
	.name = "squashfs",
	.summary = "squashfs image, versions 1.0 to 4.0",
	.probe = probe,
	.open = open_target,
	.close = close_target,
	.describe = describe,
};
