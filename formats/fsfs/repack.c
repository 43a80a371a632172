// SPDX-License-Identifier: GPL-2.0-or-later
// Making packs and unpacked files of revision data.
//
// Order of items (logical). A file of one revision: as a commit writes them,
// by number from 3 up, then the root node-revision, then the changed paths.
// A pack made of packs keeps their order, which Subversion has tuned; one
// made of files begins with what is read together when history is walked:
// changed paths, file properties, directory properties, then the rest.

#include "formats/fsfs/repack.h"

#include "formats/fsfs/revfile.h"

#include "lib/autofd.h"
#include "lib/hash.h"
#include "lib/mem.h"
#include "lib/numtree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MODE = 0444, CHUNK = 256 * 1024 };

/* A logical file while it grows: its items at their new places. */
struct growing {
	struct fm_out out;
	struct fsfs_item *items;
	size_t n, cap;
};

static void note_item(struct growing *g, const struct fsfs_item *item)
{
	if (g->n == g->cap) {
		g->cap = g->cap ? 2 * g->cap : 256;
		g->items =
			fm_realloc_array(g->items, g->cap, sizeof(*g->items));
	}
	g->items[g->n] = *item;
	g->items[g->n].offset = g->out.written;
	g->n++;
}

static int add_item(struct growing *g, const struct fsfs_store *s,
		    const struct fsfs_item *item, struct fm_err *err)
{
	struct fm_source bytes;

	note_item(g, item);
	if (fm_source_window(&bytes, &s->source, item->offset, item->size,
			     err) != 0)
		return err->code;
	return fm_out_copy(&g->out, &bytes, err);
}

// Indexes and footer behind the items.
static int add_indexes(struct growing *g, uint64_t first, uint64_t count,
		       const struct fsfs_conf *conf, struct fm_err *err)
{
	struct fsfs_p2l p2l = {.first = first,
			       .size = g->out.written,
			       .page_size = conf->p2l_page_size,
			       .items = g->items,
			       .n = g->n};
	char l2p_md5[FM_HASH_TEXT], p2l_md5[FM_HASH_TEXT], footer[256];
	struct fm_buf b = FM_BUF_INIT;
	uint64_t l2p_at = g->out.written, p2l_at;
	struct fm_arena tmp;
	struct fsfs_l2p l2p;
	int n, rc;

	fm_arena_init(&tmp);
	rc = fsfs_l2p_from_p2l(&p2l, (size_t)count, conf->l2p_page_size, &tmp,
			       &l2p, err);
	if (rc == 0) {
		fsfs_l2p_encode(&l2p, &b);
		fm_hash_bytes(FM_MD5, b.data, b.len, l2p_md5);
		fm_out_write(&g->out, b.data, b.len);
		p2l_at = g->out.written;
		fm_buf_clear(&b);
		fsfs_p2l_encode(&p2l, &b);
		fm_hash_bytes(FM_MD5, b.data, b.len, p2l_md5);
		fm_out_write(&g->out, b.data, b.len);
		n = snprintf(footer, sizeof(footer),
			     "%" PRIu64 " %s %" PRIu64 " %s", l2p_at, l2p_md5,
			     p2l_at, p2l_md5);
		// The last byte of the file is the footer's length.
		footer[n] = (char)n;
		fm_out_write(&g->out, footer, (size_t)n + 1);
	}
	fm_buf_release(&b);
	fm_arena_release(&tmp);
	return rc;
}

static int finish(struct growing *g, int rc, struct fm_err *err)
{
	if (rc == 0)
		rc = fm_out_finish(&g->out, err);
	else
		fm_out_abandon(&g->out);
	fm_free(g->items);
	return rc;
}

/* -- packs -- */

static bool is_wanted(const struct fsfs_item *item, uint64_t first,
		      uint64_t count)
{
	return item->type != FSFS_ITEM_UNUSED && item->revision >= first &&
	       item->revision - first < count;
}

// What is read together: 0 changed paths, 1 and 2 properties, 3 the rest.
static int rank_of(const struct fsfs_item *item)
{
	switch (item->type) {
	case FSFS_ITEM_CHANGES: return 0;
	case FSFS_ITEM_FILE_PROPS: return 1;
	case FSFS_ITEM_DIR_PROPS: return 2;
	default: return 3;
	}
}

enum { RANKS = 4 };

// All wanted items of one store, in its order; of files only those of a rank.
static int add_store(struct growing *g, const struct fsfs_store *s,
		     uint64_t first, uint64_t count, int rank,
		     struct fm_err *err)
{
	for (size_t i = 0; i < s->p2l.n; i++) {
		const struct fsfs_item *item = &s->p2l.items[i];

		if (!is_wanted(item, first, count) ||
		    (!s->is_pack && rank_of(item) != rank))
			continue;
		if (add_item(g, s, item, err) != 0)
			return err->code;
	}
	return 0;
}

static int pack_items(struct growing *g, struct fsfs_revs *from, uint64_t first,
		      uint64_t count, struct fm_err *err)
{
	const struct fsfs_store *s = NULL;

	for (int rank = 0; rank < RANKS; rank++) {
		for (uint64_t r = first; r - first < count;
		     r = s->first + s->count) {
			if (fsfs_revs_find(from, r, &s, err) != 0)
				return err->code;
			// A pack gives all its items in the first round.
			if (s->is_pack && rank > 0)
				continue;
			if (add_store(g, s, first, count, rank, err) != 0)
				return err->code;
		}
	}
	return 0;
}

static int pack_logical(struct fsfs_revs *from, uint64_t first, uint64_t count,
			const struct fsfs_conf *conf,
			const struct fm_stage *stage, struct fm_err *err)
{
	struct growing g = {.n = 0};
	int rc = fm_out_open(&g.out, stage, "pack", FILE_MODE, err);

	if (rc != 0)
		return rc;
	rc = pack_items(&g, from, first, count, err);
	if (rc == 0)
		rc = add_indexes(&g, first, count, conf, err);
	return finish(&g, rc, err);
}

// The revisions of one store that follow each other, in one piece.
static int add_run(struct fm_out *pack, struct fm_out *manifest,
		   const struct fsfs_store *s, uint64_t revision, uint64_t n,
		   struct fm_err *err)
{
	uint64_t i = revision - s->first, at = pack->written;
	struct fm_source slice;

	for (uint64_t k = 0; k < n; k++)
		fm_out_printf(manifest, "%" PRIu64 "\n",
			      at + s->offsets[i + k] - s->offsets[i]);
	if (fsfs_store_slice(s, revision, n, &slice, err) != 0)
		return err->code;
	return fm_out_copy(pack, &slice, err);
}

static int pack_physical(struct fsfs_revs *from, uint64_t first, uint64_t count,
			 const struct fm_stage *stage, struct fm_err *err)
{
	struct fm_out pack, manifest;
	int rc = fm_out_open(&pack, stage, "pack", FILE_MODE, err);
	uint64_t n;

	if (rc != 0)
		return rc;
	rc = fm_out_open(&manifest, stage, "manifest", FILE_MODE, err);
	for (uint64_t r = first; r - first < count && rc == 0; r += n) {
		const struct fsfs_store *s;

		rc = fsfs_revs_find(from, r, &s, err);
		if (rc != 0)
			break;
		n = fsfs_store_run(s, r, first + count);
		rc = add_run(&pack, &manifest, s, r, n, err);
	}
	if (rc == 0)
		rc = fm_out_finish(&pack, err);
	if (rc == 0)
		rc = fm_out_finish(&manifest, err);
	fm_out_abandon(&pack);
	fm_out_abandon(&manifest);
	return rc;
}

int fsfs_make_pack(struct fsfs_revs *from, uint64_t first, uint64_t count,
		   const struct fsfs_conf *conf, const struct fm_stage *stage,
		   struct fm_err *err)
{
	if (from->is_logical)
		return pack_logical(from, first, count, conf, stage, err);
	return pack_physical(from, first, count, stage, err);
}

/* -- single revisions -- */

static int revision_logical(const struct fsfs_store *s, uint64_t revision,
			    const struct fsfs_conf *conf, struct growing *g,
			    struct fm_err *err)
{
	const struct fsfs_item **list;
	size_t n;
	int rc = 0;

	list = fsfs_store_items(s, revision, &n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_item(g, s, list[i], err);
	if (rc == 0 && n == 0)
		rc = fm_err_set(err, FM_E_FORMAT,
				"r%" PRIu64 " has no items in its pack",
				revision);
	if (rc == 0)
		rc = add_indexes(g, revision, 1, conf, err);
	return rc;
}

int fsfs_make_revision(struct fsfs_revs *from, uint64_t revision,
		       const struct fsfs_conf *conf,
		       const struct fm_stage *stage, struct fm_err *err)
{
	struct growing g = {.n = 0};
	char name[FM_NUM_PATH];
	const struct fsfs_store *s;
	struct fm_source slice;
	int rc = fsfs_revs_find(from, revision, &s, err);

	if (rc != 0)
		return rc;
	fm_num_path(0, revision, name);
	rc = fm_out_open(&g.out, stage, name, FILE_MODE, err);
	if (rc != 0)
		return rc;
	if (from->is_logical) {
		rc = revision_logical(s, revision, conf, &g, err);
	} else {
		rc = fsfs_store_slice(s, revision, 1, &slice, err);
		if (rc == 0)
			rc = fm_out_copy(&g.out, &slice, err);
	}
	return finish(&g, rc, err);
}

/* -- proof -- */

static int differs(uint64_t revision, struct fm_err *err)
{
	return fm_err_set(err, FM_E_CHANGED,
			  "r%" PRIu64 " came out other than it went in",
			  revision);
}

static int same_bytes(const struct fm_source *a, const struct fm_source *b,
		      char *buffer, bool *is_same, struct fm_err *err)
{
	*is_same = a->size == b->size;
	for (uint64_t at = 0; at < a->size && *is_same; at += CHUNK) {
		size_t n = (size_t)fm_min_u64(a->size - at, CHUNK);

		if (fm_source_read(a, at, buffer, n, err) != 0 ||
		    fm_source_read(b, at, buffer + CHUNK, n, err) != 0)
			return err->code;
		*is_same = memcmp(buffer, buffer + CHUNK, n) == 0;
	}
	return 0;
}

static int same_item(const struct fsfs_store *a, const struct fsfs_item *x,
		     const struct fsfs_store *b, const struct fsfs_item *y,
		     char *buffer, bool *is_same, struct fm_err *err)
{
	struct fm_source p, q;

	*is_same = x->number == y->number && x->type == y->type &&
		   x->fnv == y->fnv;
	if (!*is_same)
		return 0;
	if (fm_source_window(&p, &a->source, x->offset, x->size, err) != 0 ||
	    fm_source_window(&q, &b->source, y->offset, y->size, err) != 0)
		return err->code;
	return same_bytes(&p, &q, buffer, is_same, err);
}

static int same_logical(const struct fsfs_store *a, const struct fsfs_store *b,
			uint64_t revision, uint64_t count, char *buffer,
			struct fm_err *err)
{
	const struct fsfs_item **x, **y;
	bool is_same = true;
	size_t n, m;
	int rc = 0;

	for (uint64_t r = revision; r - revision < count && rc == 0; r++) {
		x = fsfs_store_items(a, r, &n);
		y = fsfs_store_items(b, r, &m);
		is_same = n == m;
		for (size_t i = 0; i < n && rc == 0 && is_same; i++)
			rc = same_item(a, x[i], b, y[i], buffer, &is_same, err);
		if (rc == 0 && !is_same)
			rc = differs(r, err);
	}
	return rc;
}

// Their lengths one by one, their bytes in one piece.
static int same_physical(const struct fsfs_store *a, const struct fsfs_store *b,
			 uint64_t revision, uint64_t count, char *buffer,
			 struct fm_err *err)
{
	const uint64_t *x = a->offsets + (revision - a->first);
	const uint64_t *y = b->offsets + (revision - b->first);
	struct fm_source p, q;
	bool is_same = true;

	for (uint64_t i = 0; i < count; i++)
		if (x[i + 1] - x[i] != y[i + 1] - y[i])
			return differs(revision + i, err);
	if (fsfs_store_slice(a, revision, count, &p, err) != 0 ||
	    fsfs_store_slice(b, revision, count, &q, err) != 0 ||
	    same_bytes(&p, &q, buffer, &is_same, err) != 0)
		return err->code;
	if (!is_same && count == 1)
		return differs(revision, err);
	// Which of them it is.
	for (uint64_t i = 0; i < count && !is_same; i++)
		if (same_physical(a, b, revision + i, 1, buffer, err) != 0)
			return err->code;
	return 0;
}

int fsfs_check_made(struct fsfs_revs *from, struct fsfs_revs *made,
		    uint64_t first, uint64_t count, struct fm_err *err)
{
	char *buffer = fm_alloc(2 * (size_t)CHUNK);
	uint64_t end = first + count, n;
	int rc = 0;

	for (uint64_t r = first; r < end && rc == 0; r += n) {
		const struct fsfs_store *a, *b;

		rc = fsfs_revs_find(from, r, &a, err);
		if (rc == 0)
			rc = fsfs_revs_find(made, r, &b, err);
		if (rc != 0)
			break;
		n = fsfs_store_run(b, r, fsfs_store_run(a, r, end) + r);
		rc = from->is_logical ? same_logical(a, b, r, n, buffer, err)
				      : same_physical(a, b, r, n, buffer, err);
	}
	fm_free(buffer);
	return rc;
}
