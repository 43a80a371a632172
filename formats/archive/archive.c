// SPDX-License-Identifier: GPL-2.0-or-later
// The archive format's table of operations: probing and naming through
// libarchive.
//
// Only the filters that libarchive decodes itself are enabled (none that
// would start a program), and only the first header is read. mtree has no
// magic that libarchive insists on, so its signature is asked for here.

#include "formats/format.h"

#include "lib/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

enum { CHUNK = 64 * 1024, PROBE_MAX = 16 * CHUNK };

// What libarchive reads from: the file's beginning, and no more.
struct input {
	struct fm_source src;
	uint64_t pos;
	unsigned char chunk[CHUNK];
};

struct kind {
	char format[40]; /* "POSIX ustar format" */
	char filter[24]; /* "gzip", "" when none */
};

static la_ssize_t read_input(struct archive *a, void *ctx, const void **p)
{
	struct input *in = ctx;
	uint64_t end = fm_min_u64(in->src.size, PROBE_MAX);
	size_t n = (size_t)fm_min_u64(end - in->pos, CHUNK);
	struct fm_err err;

	if (fm_source_read(&in->src, in->pos, in->chunk, n, &err) != 0) {
		archive_set_error(a, err.sys, "%s", err.msg);
		return -1;
	}
	in->pos += n;
	*p = in->chunk;
	return (la_ssize_t)n;
}

static bool is_mtree(const struct fm_source *src)
{
	static const char signature[] = "#mtree";
	char start[sizeof(signature) - 1];
	struct fm_err ignored;

	return fm_source_read(src, 0, start, sizeof(start), &ignored) == 0 &&
	       memcmp(start, signature, sizeof(start)) == 0;
}

static bool read_first_header(struct archive *a, struct input *in,
			      struct kind *kind)
{
	struct archive_entry *entry;
	const char *format, *filter;
	int rc;

	(void)archive_read_support_filter_gzip(a);
	(void)archive_read_support_filter_bzip2(a);
	(void)archive_read_support_filter_xz(a);
	(void)archive_read_support_filter_lzma(a);
	(void)archive_read_support_filter_lz4(a);
	(void)archive_read_support_filter_zstd(a);
	(void)archive_read_support_format_tar(a);
	(void)archive_read_support_format_cpio(a);
	(void)archive_read_support_format_zip_streamable(a);
	if (archive_read_open(a, in, NULL, read_input, NULL) != ARCHIVE_OK)
		return false;
	rc = archive_read_next_header(a, &entry);
	if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
		return false; /* an end without an entry is no archive either */
	format = archive_format_name(a);
	filter = archive_filter_count(a) > 1 ? archive_filter_name(a, 0) : "";
	(void)snprintf(kind->format, sizeof(kind->format), "%s",
		       format ? format : "archive");
	(void)snprintf(kind->filter, sizeof(kind->filter), "%s", filter);
	return true;
}

static bool identify(int fd, struct input *in, struct kind *kind)
{
	struct fm_err ignored;
	struct archive *a;
	bool is_one = false;

	memset(kind, 0, sizeof(*kind));
	in->pos = 0;
	if (fm_source_file(&in->src, fd, &ignored) != 0 || in->src.size == 0)
		return false;
	if (is_mtree(&in->src)) {
		(void)snprintf(kind->format, sizeof(kind->format), "mtree");
		return true;
	}
	a = archive_read_new();
	if (a) {
		is_one = read_first_header(a, in, kind);
		(void)archive_read_free(a);
	}
	return is_one;
}

static void probe(const struct fm_place *place, struct fm_bid *bid)
{
	struct input in;
	struct kind kind;

	if (place->is_directory || !identify(place->fd, &in, &kind))
		return;
	bid->confidence = 60;
	(void)snprintf(bid->what, sizeof(bid->what), "%s%s%s", kind.format,
		       kind.filter[0] ? ", " : "", kind.filter);
}

static int open_target(struct fm_target *t, struct fm_err *err)
{
	struct kind *kind = fm_arena_alloc(&t->out, sizeof(*kind));
	struct input in;

	if (!identify(t->fd, &in, kind))
		return fm_err_set(err, FM_E_FORMAT, "not an archive");
	t->view = kind;
	return 0;
}

static void close_target(struct fm_target *t)
{
	t->view = NULL;
}

static int describe(struct fm_target *t, const struct fm_options *opts,
		    struct fm_facts *f, struct fm_err *err)
{
	const struct kind *kind = t->view;
	struct fm_source src;
	int rc = fm_source_file(&src, t->fd, err);

	(void)opts;
	if (rc != 0)
		return rc;
	fm_facts_text(f, "archive_format", "archive format", "%s",
		      kind->format);
	fm_facts_text(f, "filter", "compression", "%s",
		      kind->filter[0] ? kind->filter : "none");
	fm_facts_number(f, "file_size", "file size", src.size);
	f->advice = "archives are named only; fsverify and fsconvert do not "
		    "handle them";
	return 0;
}

const struct fm_format arc_format = {
	.name = "archive",
	.summary = "tar, cpio, zip or mtree, compressed or not",
	.probe = probe,
	.open = open_target,
	.close = close_target,
	.describe = describe,
};
