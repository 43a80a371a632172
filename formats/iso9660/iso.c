// SPDX-License-Identifier: GPL-2.0-or-later
// The ISO 9660 format's table of operations: probing and naming an image.
//
// Volume descriptors are 2048 bytes each, from sector 16 on: type at 0,
// "CD001" at 1, version at 6; the primary one (type 1) is enough to know an
// image, supplementary ones (type 2) tell of Joliet, and the first record of
// the root directory tells of Rock Ridge (its SUSP entry "SP").

#include "formats/format.h"

#include "lib/reader.h"

#include <stdio.h>
#include <string.h>

enum {
	SECTOR = 2048,
	FIRST_DESCRIPTOR = 16,
	MAX_DESCRIPTORS = 32,
	ROOT_RECORD_AT = 156,
	RECORD_FIXED = 33, /* bytes of a record before its name */
};

enum type { BOOT = 0, PRIMARY = 1, SUPPLEMENTARY = 2, TERMINATOR = 255 };

struct iso {
	char volume[33];
	uint32_t blocks, block_size;
	uint32_t root_block;
	bool has_rock_ridge, has_joliet, has_el_torito, is_enhanced;
	uint64_t file_size;
};

static void decode_primary(const unsigned char *d, struct iso *iso)
{
	struct fm_reader r;
	size_t len = 32;

	fm_reader_init(&r, d, SECTOR);
	fm_rd_seek(&r, 40);
	memcpy(iso->volume, d + 40, 32);
	while (len && (iso->volume[len - 1] == ' ' || !iso->volume[len - 1]))
		len--;
	iso->volume[len] = '\0';
	fm_rd_seek(&r, 80);
	iso->blocks = fm_rd_u32(&r);
	fm_rd_seek(&r, 128);
	iso->block_size = fm_rd_u16(&r);
	fm_rd_seek(&r, ROOT_RECORD_AT + 2);
	iso->root_block = fm_rd_u32(&r);
}

static bool is_joliet(const unsigned char *d)
{
	return memcmp(d + 88, "%/@", 3) == 0 || memcmp(d + 88, "%/C", 3) == 0 ||
	       memcmp(d + 88, "%/E", 3) == 0;
}

// The "." record of the root: name of one byte, padded to an even length,
// then the system use area, which begins with SP (possibly after 14 bytes).
static void look_for_rock_ridge(const struct fm_source *src, struct iso *iso)
{
	unsigned char record[255];
	struct fm_err ignored;
	uint64_t at = (uint64_t)iso->root_block * iso->block_size;
	size_t n;

	if (fm_source_read(src, at, record, sizeof(record), &ignored) != 0)
		return;
	n = record[0];
	for (size_t skip = 0; skip <= 14; skip += 14) {
		size_t sp = RECORD_FIXED + 1 + skip;

		if (sp + 7 <= n && memcmp(record + sp, "SP", 2) == 0 &&
		    record[sp + 4] == 0xbe && record[sp + 5] == 0xef)
			iso->has_rock_ridge = true;
	}
}

static bool read_descriptors(int fd, struct iso *iso)
{
	unsigned char d[SECTOR];
	struct fm_source src;
	struct fm_err ignored;
	bool has_primary = false;

	if (fm_source_file(&src, fd, &ignored) != 0)
		return false;
	iso->file_size = src.size;
	for (uint64_t i = 0; i < MAX_DESCRIPTORS; i++) {
		if (fm_source_read(&src, (FIRST_DESCRIPTOR + i) * SECTOR, d,
				   sizeof(d), &ignored) != 0 ||
		    memcmp(d + 1, "CD001", 5) != 0)
			break;
		if (d[0] == PRIMARY && !has_primary) {
			decode_primary(d, iso);
			has_primary = true;
		} else if (d[0] == SUPPLEMENTARY) {
			iso->has_joliet |= is_joliet(d);
			iso->is_enhanced |= d[6] == 2;
		} else if (d[0] == BOOT) {
			iso->has_el_torito |=
				memcmp(d + 7, "EL TORITO", 9) == 0;
		} else if (d[0] == TERMINATOR) {
			break;
		}
	}
	if (!has_primary || iso->block_size < 512 || iso->block_size > SECTOR)
		return false;
	look_for_rock_ridge(&src, iso);
	return true;
}

static void probe(const struct fm_place *place, struct fm_bid *bid)
{
	struct iso iso = {.blocks = 0};

	if (place->is_directory || !read_descriptors(place->fd, &iso))
		return;
	bid->confidence = 85;
	(void)snprintf(bid->what, sizeof(bid->what), "ISO 9660%s%s",
		       iso.has_rock_ridge ? ", Rock Ridge" : "",
		       iso.has_joliet ? ", Joliet" : "");
}

static int open_target(struct fm_target *t, struct fm_err *err)
{
	struct iso *iso = fm_arena_alloc(&t->out, sizeof(*iso));

	if (!read_descriptors(t->fd, iso))
		return fm_err_set(err, FM_E_FORMAT, "not an ISO 9660 image");
	t->view = iso;
	return 0;
}

static void close_target(struct fm_target *t)
{
	t->view = NULL;
}

static int describe(struct fm_target *t, const struct fm_options *opts,
		    struct fm_facts *f, struct fm_err *err)
{
	const struct iso *iso = t->view;
	uint64_t used = (uint64_t)iso->blocks * iso->block_size;

	(void)opts;
	(void)err;
	fm_facts_text(f, "volume", "volume", "%s", iso->volume);
	fm_facts_flag(f, "rock_ridge", "Rock Ridge", iso->has_rock_ridge);
	fm_facts_flag(f, "joliet", "Joliet", iso->has_joliet);
	fm_facts_flag(f, "enhanced", "ISO 9660:1999", iso->is_enhanced);
	fm_facts_flag(f, "el_torito", "bootable (El Torito)",
		      iso->has_el_torito);
	fm_facts_number(f, "block_size", "block size", iso->block_size);
	fm_facts_number(f, "bytes_used", "bytes used", used);
	fm_facts_number(f, "file_size", "file size", iso->file_size);
	if (used > iso->file_size) {
		f->is_damaged = true;
		f->advice = "the file is shorter than its volume descriptor "
			    "says: get it again from where it came from";
	} else {
		f->advice = "ISO 9660 images are named only; fsverify and "
			    "fsconvert do not handle them";
	}
	return 0;
}

const struct fm_format iso_format = {
	.name = "iso9660",
	.summary = "ISO 9660 image with Rock Ridge or Joliet",
	.probe = probe,
	.open = open_target,
	.close = close_target,
	.describe = describe,
};
