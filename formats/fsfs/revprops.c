// SPDX-License-Identifier: GPL-2.0-or-later
// Revision properties: finding the list of a revision, and making the files
// of a pack or of a shard out of lists.
//
//	revprops/K/R             loose
//	revprops/K.pack/manifest one line START.COUNTER per revision (but 0)
//	revprops/K.pack/START.COUNTER    a container (revpack.c)

#include "formats/fsfs/revprops.h"

#include "lib/autofd.h"
#include "lib/numtree.h"
#include "lib/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 256 << 20, MANIFEST_MAX = 64 << 20 };

/* Pack files are written anew by later edits, loose ones as well: by rename. */
enum { PACK_MODE = 0644, LOOSE_MODE = 0444 };

void fsfs_props_init(struct fsfs_props *p, int top, uint64_t shard,
		     uint64_t packed)
{
	*p = (struct fsfs_props){
		.top = top, .shard = shard, .packed = packed, .dir = -1};
	fm_arena_init(&p->pack_arena);
	fm_arena_init(&p->file_arena);
}

void fsfs_props_release(struct fsfs_props *p)
{
	fm_close_fd(&p->dir);
	fm_arena_release(&p->pack_arena);
	fm_arena_release(&p->file_arena);
	p->has_pack = p->has_file = false;
}

// First revision that a pack holds: revision 0 stays outside.
static uint64_t first_of(const struct fsfs_props *p, uint64_t k)
{
	return k == 0 ? 1 : k * p->shard;
}

static int read_manifest(struct fsfs_props *p, uint64_t k, struct fm_err *err)
{
	uint64_t n = (k + 1) * p->shard - first_of(p, k);
	struct fm_buf b = FM_BUF_INIT;
	struct fm_reader r;
	struct fm_line line;
	int rc = fsfs_read_small(p->dir, "manifest", MANIFEST_MAX, &b, err);

	if (rc == 0 && n > b.len)
		rc = fm_err_set(err, FM_E_FORMAT,
				"manifest: fewer than %" PRIu64 " lines", n);
	if (rc == 0) {
		p->names = fm_arena_array(&p->pack_arena, (size_t)n,
					  sizeof(*p->names));
		p->n_names = 0;
		fm_reader_init(&r, fm_buf_text(&b), b.len);
		while (p->n_names < n && fm_text_line(&r, &line) &&
		       line.has_eol &&
		       fsfs_revpack_name(line.text, &p->names[p->n_names]))
			p->n_names++;
		if (p->n_names < n || fm_rd_left(&r) != 0)
			rc = fm_err_set(err, FM_E_FORMAT,
					"manifest: line %zu is missing or "
					"names no file",
					p->n_names + 1);
	}
	fm_buf_release(&b);
	return rc;
}

static int open_pack(struct fsfs_props *p, uint64_t k, struct fm_err *err)
{
	char name[FM_NUM_PATH + sizeof(".pack")];
	int rc;

	if (p->has_pack && p->k == k)
		return 0;
	p->has_pack = p->has_file = false;
	fm_close_fd(&p->dir);
	fm_arena_reset(&p->pack_arena);
	(void)snprintf(name, sizeof(name), "%" PRIu64 ".pack", k);
	p->dir = openat(p->top, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->dir < 0)
		return fm_err_sys(err, errno, "cannot open %s", name);
	rc = read_manifest(p, k, err);
	if (rc != 0)
		return fm_err_prefix(err, "%s/", name);
	p->k = k;
	p->has_pack = true;
	return 0;
}

static int open_file(struct fsfs_props *p, const struct fsfs_revpack_name *name,
		     struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	char path[64];
	const char *data;
	int rc;

	if (p->has_file && p->name.start == name->start &&
	    p->name.counter == name->counter)
		return 0;
	p->has_file = false;
	fm_arena_reset(&p->file_arena);
	(void)snprintf(path, sizeof(path), "%" PRIu64 ".%" PRIu64, name->start,
		       name->counter);
	rc = fsfs_read_small(p->dir, path, LIST_MAX, &b, err);
	if (rc == 0) {
		data = fm_arena_memdup(&p->file_arena, fm_buf_text(&b), b.len);
		rc = fsfs_revpack_decode(data, b.len, &p->file_arena, &p->file,
					 err);
		if (rc != 0)
			fm_err_prefix(err, "%" PRIu64 ".pack/%s: ", p->k, path);
	}
	fm_buf_release(&b);
	p->name = *name;
	p->has_file = rc == 0;
	return rc;
}

static int find_packed(struct fsfs_props *p, uint64_t revision,
		       struct fm_text *list, struct fm_err *err)
{
	uint64_t k = revision / p->shard;
	const struct fsfs_revpack_name *name;

	if (open_pack(p, k, err) != 0)
		return err->code;
	name = &p->names[revision - first_of(p, k)];
	if (open_file(p, name, err) != 0)
		return err->code;
	if (revision < p->file.first || revision - p->file.first >= p->file.n)
		return fm_err_set(err, FM_E_FORMAT,
				  "%" PRIu64 ".pack/%" PRIu64 ".%" PRIu64
				  " does not hold r%" PRIu64,
				  k, name->start, name->counter, revision);
	*list = p->file.blobs[revision - p->file.first];
	return 0;
}

static int find_loose(struct fsfs_props *p, uint64_t revision,
		      struct fm_text *list, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	char path[FM_NUM_PATH];
	int rc;

	fm_num_path(p->shard, revision, path);
	rc = fsfs_read_small(p->top, path, LIST_MAX, &b, err);
	p->has_file = false;
	fm_arena_reset(&p->file_arena);
	if (rc == 0) {
		list->p =
			fm_arena_memdup(&p->file_arena, fm_buf_text(&b), b.len);
		list->len = b.len;
	}
	fm_buf_release(&b);
	return rc;
}

int fsfs_props_find(struct fsfs_props *p, uint64_t revision,
		    struct fm_text *list, struct fm_err *err)
{
	if (revision == 0 || revision >= p->packed)
		return find_loose(p, revision, list, err);
	return find_packed(p, revision, list, err);
}

/* -- making -- */

static int write_pack_file(const struct fm_stage *stage,
			   const struct fsfs_revpack *pack,
			   const struct fsfs_conf *conf,
			   struct fm_out *manifest, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_out out;
	char name[64];
	int rc;

	(void)snprintf(name, sizeof(name), "%" PRIu64 ".0", pack->first);
	for (size_t i = 0; i < pack->n; i++)
		fm_out_printf(manifest, "%s\n", name);
	rc = fm_out_open(&out, stage, name, PACK_MODE, err);
	if (rc != 0)
		return rc;
	fsfs_revpack_encode(pack, conf->compresses_revprops, &b);
	fm_out_write(&out, b.data, b.len);
	fm_buf_release(&b);
	return fm_out_finish(&out, err);
}

// All lists of a shard are held at once: a pack is made of whole files, and
// where one ends depends on all before.
static int write_pack_files(struct fsfs_props *from, uint64_t first,
			    uint64_t count, const struct fsfs_conf *conf,
			    const struct fm_stage *stage,
			    struct fm_out *manifest, struct fm_err *err)
{
	struct fm_arena tmp;
	struct fm_text *lists;
	int rc = 0;

	fm_arena_init(&tmp);
	lists = fm_arena_array(&tmp, (size_t)count, sizeof(*lists));
	for (uint64_t i = 0; i < count && rc == 0; i++) {
		rc = fsfs_props_find(from, first + i, &lists[i], err);
		if (rc == 0)
			lists[i].p =
				fm_arena_memdup(&tmp, lists[i].p, lists[i].len);
	}
	for (uint64_t at = 0; at < count && rc == 0;) {
		struct fsfs_revpack pack = {.first = first + at,
					    .blobs = lists + at};

		pack.n = fsfs_revpack_split(lists + at, (size_t)(count - at),
					    conf->revprop_pack_size);
		rc = write_pack_file(stage, &pack, conf, manifest, err);
		at += pack.n;
	}
	fm_arena_release(&tmp);
	return rc;
}

int fsfs_make_props_pack(struct fsfs_props *from, uint64_t first,
			 uint64_t count, const struct fsfs_conf *conf,
			 const struct fm_stage *stage, struct fm_err *err)
{
	struct fm_out manifest;
	int rc;

	rc = fm_out_open(&manifest, stage, "manifest", PACK_MODE, err);
	if (rc != 0)
		return rc;
	rc = write_pack_files(from, first, count, conf, stage, &manifest, err);
	if (rc == 0)
		return fm_out_finish(&manifest, err);
	fm_out_abandon(&manifest);
	return rc;
}

int fsfs_make_props_file(struct fsfs_props *from, uint64_t revision,
			 const struct fm_stage *stage, struct fm_err *err)
{
	char name[FM_NUM_PATH];
	struct fm_text list;
	struct fm_out out;
	int rc = fsfs_props_find(from, revision, &list, err);

	if (rc != 0)
		return rc;
	fm_num_path(0, revision, name);
	rc = fm_out_open(&out, stage, name, LOOSE_MODE, err);
	if (rc != 0)
		return rc;
	fm_out_write(&out, list.p, list.len);
	return fm_out_finish(&out, err);
}

int fsfs_check_props(struct fsfs_props *from, struct fsfs_props *made,
		     uint64_t first, uint64_t count, struct fm_err *err)
{
	for (uint64_t r = first; r - first < count; r++) {
		struct fm_text a, b;

		if (fsfs_props_find(from, r, &a, err) != 0 ||
		    fsfs_props_find(made, r, &b, err) != 0)
			return err->code;
		if (a.len != b.len || memcmp(a.p, b.p, a.len) != 0)
			return fm_err_set(err, FM_E_CHANGED,
					  "properties of r%" PRIu64
					  " came out other than they went in",
					  r);
	}
	return 0;
}
