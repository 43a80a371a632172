// SPDX-License-Identifier: GPL-2.0-or-later
// Stores: revision files and packs, opened, with what is needed to find a
// revision in them.

#include "formats/fsfs/store.h"

#include "formats/fsfs/manifest.h"
#include "formats/fsfs/revfile.h"

#include "lib/autofd.h"
#include "lib/numtree.h"
#include "lib/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A line has at most 20 digits and its LF. */
enum { LINE_MAX = 21, MANIFEST_MAX = 64 << 20 };

int fsfs_manifest_read(int pack_dir, uint64_t count, uint64_t size,
		       struct fm_arena *out, uint64_t **offsets,
		       struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_reader r;
	struct fm_line line;
	uint64_t n = 0;
	int rc = fsfs_read_small(pack_dir, "manifest", MANIFEST_MAX, &b, err);

	if (rc == 0 && count > b.len)
		rc = fm_err_set(err, FM_E_FORMAT,
				"manifest: fewer than %" PRIu64 " lines",
				count);
	if (rc != 0) {
		fm_buf_release(&b);
		return rc;
	}
	*offsets = fm_arena_array(out, (size_t)count + 1, sizeof(**offsets));
	fm_reader_init(&r, b.data, b.len);
	while (n < count && fm_text_line(&r, &line) &&
	       fsfs_manifest_offset(&line, &(*offsets)[n]) &&
	       (*offsets)[n] < size &&
	       (n == 0 ? (*offsets)[0] == 0
		       : (*offsets)[n] > (*offsets)[n - 1]))
		n++;
	if (n != count || fm_rd_left(&r) != 0)
		rc = fm_err_set(err, FM_E_FORMAT,
				"manifest: line %" PRIu64
				" is missing, no offset or out of order",
				n + 1);
	(*offsets)[count] = size;
	fm_buf_release(&b);
	return rc;
}

// 3, 4, ... , 2, 1: the order in which a commit writes them.
static uint64_t place_of(const struct fsfs_item *item)
{
	return item->number > FSFS_ITEM_IS_ROOT ? item->number
						: UINT64_MAX - item->number;
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = place_of(*(const struct fsfs_item *const *)a);
	uint64_t y = place_of(*(const struct fsfs_item *const *)b);

	return x < y ? -1 : x > y;
}

// Sorts the items by revision (counting), then each revision by place.
static int sort_items(struct fsfs_store *s, struct fm_err *err)
{
	size_t n = (size_t)s->count;
	size_t *next;

	s->start = fm_arena_array(&s->arena, n + 1, sizeof(*s->start));
	next = fm_arena_array(&s->arena, n, sizeof(*next));
	s->items = fm_arena_array(&s->arena, s->p2l.n, sizeof(*s->items));
	for (size_t i = 0; i < s->p2l.n; i++) {
		const struct fsfs_item *item = &s->p2l.items[i];

		if (item->type == FSFS_ITEM_UNUSED)
			continue;
		if (item->revision < s->first ||
		    item->revision - s->first >= s->count)
			return fm_err_set(err, FM_E_FORMAT,
					  "an item belongs to another "
					  "revision");
		s->start[item->revision - s->first + 1]++;
	}
	for (size_t i = 0; i < n; i++) {
		s->start[i + 1] += s->start[i];
		next[i] = s->start[i];
	}
	for (size_t i = 0; i < s->p2l.n; i++) {
		const struct fsfs_item *item = &s->p2l.items[i];

		if (item->type != FSFS_ITEM_UNUSED)
			s->items[next[item->revision - s->first]++] = item;
	}
	for (size_t i = 0; i < n; i++)
		qsort(s->items + s->start[i], s->start[i + 1] - s->start[i],
		      sizeof(*s->items), by_place);
	return 0;
}

const struct fsfs_item **fsfs_store_items(const struct fsfs_store *s,
					  uint64_t revision, size_t *n)
{
	size_t i = (size_t)(revision - s->first);

	*n = s->start[i + 1] - s->start[i];
	return s->items + s->start[i];
}

static int read_index(struct fsfs_store *s, struct fm_err *err)
{
	char tail[FSFS_FOOTER_MAX];
	size_t n = (size_t)fm_min_u64(s->source.size, sizeof(tail));
	struct fsfs_footer footer;
	struct fm_source index;
	struct fsfs_l2p l2p;

	if (fm_source_read(&s->source, s->source.size - n, tail, n, err) != 0)
		return err->code;
	if (!fsfs_footer_decode(tail, n, s->source.size, &footer))
		return fm_err_set(err, FM_E_FORMAT,
				  "the footer does not "
				  "parse");
	if (fm_source_window(&index, &s->source, footer.p2l,
			     footer.start - footer.p2l, err) != 0 ||
	    fsfs_p2l_decode(&index, &s->arena, &s->p2l, err) != 0 ||
	    fm_source_window(&index, &s->source, footer.l2p,
			     footer.p2l - footer.l2p, err) != 0 ||
	    fsfs_l2p_decode(&index, &s->arena, &l2p, err) != 0)
		return err->code;
	if (s->p2l.first != s->first || s->p2l.size != footer.l2p ||
	    l2p.first != s->first || l2p.n != s->count)
		return fm_err_set(err, FM_E_FORMAT,
				  "its indexes are of other revisions");
	return sort_items(s, err);
}

static void close_store(struct fsfs_revs *r)
{
	if (!r->is_open)
		return;
	fm_close_fd(&r->store.fd);
	fm_arena_release(&r->store.arena);
	r->is_open = false;
}

void fsfs_revs_init(struct fsfs_revs *r, int top, const struct fsfs_traits *t,
		    uint64_t packed)
{
	*r = (struct fsfs_revs){.top = top,
				.shard = t->shard,
				.is_logical = t->is_logical,
				.packed = packed};
}

void fsfs_revs_release(struct fsfs_revs *r)
{
	close_store(r);
}

static int open_pack(struct fsfs_revs *r, uint64_t k, struct fm_err *err)
{
	struct fsfs_store *s = &r->store;
	char name[FM_NUM_PATH + sizeof(".pack")];
	FM_AUTOFD int dir = -1;

	(void)snprintf(name, sizeof(name), "%" PRIu64 ".pack", k);
	dir = openat(r->top, name,
		     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fm_err_sys(err, errno, "cannot open %s", name);
	s->is_pack = true;
	s->first = k * r->shard;
	s->count = r->shard;
	s->fd = fm_open_read(dir, "pack");
	if (s->fd < 0)
		return fm_err_sys(err, errno, "cannot open %s/pack", name);
	if (fm_source_file(&s->source, s->fd, err) != 0 ||
	    (r->is_logical
		     ? read_index(s, err)
		     : fsfs_manifest_read(dir, s->count, s->source.size,
					  &s->arena, &s->offsets, err)) != 0)
		return fm_err_prefix(err, "%s/", name);
	return 0;
}

static int open_file(struct fsfs_revs *r, uint64_t revision, struct fm_err *err)
{
	struct fsfs_store *s = &r->store;
	char name[FM_NUM_PATH];

	fm_num_path(r->shard, revision, name);
	s->is_pack = false;
	s->first = revision;
	s->count = 1;
	s->fd = fm_open_read(r->top, name);
	if (s->fd < 0)
		return fm_err_sys(err, errno, "cannot open %s", name);
	if (fm_source_file(&s->source, s->fd, err) != 0 ||
	    (r->is_logical && read_index(s, err) != 0))
		return fm_err_prefix(err, "%s: ", name);
	s->offsets = fm_arena_array(&s->arena, 2, sizeof(*s->offsets));
	s->offsets[1] = s->source.size;
	return 0;
}

int fsfs_revs_find(struct fsfs_revs *r, uint64_t revision,
		   const struct fsfs_store **store, struct fm_err *err)
{
	struct fsfs_store *s = &r->store;
	int rc = 0;

	*store = s;
	if (r->is_open && revision >= s->first &&
	    revision - s->first < s->count)
		return 0;
	close_store(r);
	*s = (struct fsfs_store){.fd = -1};
	fm_arena_init(&s->arena);
	r->is_open = true;
	rc = revision < r->packed ? open_pack(r, revision / r->shard, err)
				  : open_file(r, revision, err);
	if (rc != 0)
		close_store(r);
	return rc;
}

uint64_t fsfs_store_run(const struct fsfs_store *s, uint64_t revision,
			uint64_t end)
{
	return fm_min_u64(s->first + s->count, end) - revision;
}

int fsfs_store_slice(const struct fsfs_store *s, uint64_t revision,
		     uint64_t count, struct fm_source *slice,
		     struct fm_err *err)
{
	uint64_t i = revision - s->first;

	return fm_source_window(slice, &s->source, s->offsets[i],
				s->offsets[i + count] - s->offsets[i], err);
}
