// SPDX-License-Identifier: GPL-2.0-or-later
// Both indexes of logical addressing: decode and encode, side by side.
//
//	L2P := "L2P-INDEX\n" u(first) u(page size) u(revisions) u(pages)
//	       u(pages of a revision)...
//	       { u(bytes of a page) u(entries of it) }...
//	       pages: i(value - previous value)..., previous 0 in each page
//	P2L := "P2L-INDEX\n" u(first) u(size) u(page size) u(pages)
//	       u(bytes of a page)...
//	       pages, empty or: u(offset of the first item)
//	       { u(size) i(compound - previous) i(revision - previous) u(fnv) }
//
// u is a little-endian varint of seven bits a byte, i the same of 2x for
// x >= 0 and of -2x-1 below. A value of L2P is an offset plus one, 0 for
// "no such item". compound = number * 8 + type; in each page the previous
// compound starts at 0 and the previous revision at the first one.

#include "formats/fsfs/index.h"

#include "lib/reader.h"

#include <inttypes.h>
#include <string.h>

/* An index is read whole; a pack of 1,000 large revisions stays far below. */
#define INDEX_MAX ((uint64_t)256 << 20)

enum { TAG = 10, VARINT_MAX = 10, TYPE_BITS = 3, TYPE_MASK = 7 };

static const char l2p_tag[] = "L2P-INDEX\n", p2l_tag[] = "P2L-INDEX\n";

static uint64_t take_u(struct fm_reader *r)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MAX; i++) {
		uint8_t byte = fm_rd_u8(r);

		if (i == VARINT_MAX - 1 && byte > 1)
			break; /* above 64 bits */
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return value;
	}
	r->is_past_end = true;
	return 0;
}

static int64_t take_i(struct fm_reader *r)
{
	uint64_t u = take_u(r);

	return u & 1 ? -(int64_t)(u / 2) - 1 : (int64_t)(u / 2);
}

static void put_u(struct fm_buf *out, uint64_t value)
{
	uint8_t byte;

	while (value >= 0x80) {
		byte = (uint8_t)(value | 0x80);
		fm_buf_add(out, &byte, 1);
		value >>= 7;
	}
	byte = (uint8_t)value;
	fm_buf_add(out, &byte, 1);
}

static void put_i(struct fm_buf *out, uint64_t value, uint64_t previous)
{
	if (value >= previous)
		put_u(out, 2 * (value - previous));
	else
		put_u(out, 2 * (previous - value) - 1);
}

static bool is_power_of_two(uint64_t n)
{
	return n && (n & (n - 1)) == 0;
}

static int malformed(struct fm_err *err, const char *which, const char *what)
{
	return fm_err_set(err, FM_E_FORMAT, "%s index: %s", which, what);
}

static int load(struct fm_reader *r, const struct fm_source *index,
		const char *tag, struct fm_arena *out, struct fm_err *err)
{
	const char *found;

	if (index->size > INDEX_MAX)
		return fm_err_set(err, FM_E_LIMIT,
				  "an index of %" PRIu64
				  " bytes is above the limit of %" PRIu64,
				  index->size, INDEX_MAX);
	if (fm_reader_load(r, index, 0, (size_t)index->size, out, err) != 0)
		return err->code;
	found = fm_rd_bytes(r, TAG);
	if (!found || memcmp(found, tag, TAG) != 0)
		return fm_err_set(err, FM_E_FORMAT,
				  "an index does not begin with %.3s-INDEX",
				  tag);
	return 0;
}

/* -- P2L -- */

struct p2l_state {
	struct fsfs_p2l *p2l;
	size_t cap;
	uint64_t next;   /* offset at which the next item must begin */
	bool has_filler; /* the last entry was met */
};

static int add_item(struct p2l_state *s, const struct fsfs_item *item,
		    struct fm_err *err)
{
	struct fsfs_p2l *p = s->p2l;
	uint64_t end;

	if (s->has_filler)
		return malformed(err, "P2L", "items follow the filler");
	if (item->offset != s->next)
		return malformed(err, "P2L", "items do not follow each other");
	if (!fm_add_u64(item->offset, item->size, &end))
		return malformed(err, "P2L", "an item ends beyond all files");
	if (item->offset >= p->size) {
		s->has_filler = true;
		return 0;
	}
	if (end > p->size || item->size == 0)
		return malformed(err, "P2L", "an item ends beyond the data");
	if (p->n == s->cap)
		return malformed(err, "P2L", "more items than bytes for them");
	p->items[p->n++] = *item;
	s->next = end;
	return 0;
}

static int decode_p2l_page(struct p2l_state *s, struct fm_reader *r,
			   size_t bytes, struct fm_err *err)
{
	size_t end = r->pos + bytes;
	uint64_t compound = 0, revision = s->p2l->first;
	struct fsfs_item item = {0};

	if (bytes > fm_rd_left(r))
		return malformed(err, "P2L", "a page reaches beyond its end");
	item.offset = bytes ? take_u(r) : 0;
	while (r->pos < end && !r->is_past_end) {
		item.size = take_u(r);
		compound += (uint64_t)take_i(r);
		revision += (uint64_t)take_i(r);
		item.fnv = (uint32_t)take_u(r);
		item.number = compound >> TYPE_BITS;
		item.type = (enum fsfs_item_type)(compound & TYPE_MASK);
		item.revision = revision;
		if (item.type > FSFS_ITEM_CHANGES)
			return malformed(err, "P2L", "an item of unknown type");
		if (add_item(s, &item, err) != 0)
			return err->code;
		item.offset += item.size;
	}
	if (r->is_past_end || r->pos != end)
		return malformed(err, "P2L", "a page is not used up exactly");
	return 0;
}

int fsfs_p2l_decode(const struct fm_source *index, struct fm_arena *out,
		    struct fsfs_p2l *p2l, struct fm_err *err)
{
	struct p2l_state s = {.p2l = p2l};
	struct fm_reader r, sizes;
	uint64_t pages;

	memset(p2l, 0, sizeof(*p2l));
	if (load(&r, index, p2l_tag, out, err) != 0)
		return err->code;
	p2l->first = take_u(&r);
	p2l->size = take_u(&r);
	p2l->page_size = take_u(&r);
	pages = take_u(&r);
	if (r.is_past_end || !is_power_of_two(p2l->page_size) ||
	    p2l->size == 0 || pages != (p2l->size - 1) / p2l->page_size + 1 ||
	    pages > fm_rd_left(&r))
		return malformed(err, "P2L", "its header makes no sense");
	/* No item takes fewer than four bytes. */
	s.cap = fm_rd_left(&r) / 4;
	p2l->items = fm_arena_array(out, s.cap, sizeof(*p2l->items));
	sizes = r;
	for (uint64_t i = 0; i < pages; i++)
		(void)take_u(&r);
	for (uint64_t i = 0; i < pages && !r.is_past_end; i++) {
		uint64_t bytes = take_u(&sizes);

		if (bytes > index->size)
			return malformed(err, "P2L",
					 "a page reaches beyond its end");
		if (decode_p2l_page(&s, &r, (size_t)bytes, err) != 0)
			return err->code;
	}
	if (r.is_past_end || fm_rd_left(&r) != 0)
		return malformed(err, "P2L", "its pages are not all of it");
	if (s.next != p2l->size || !s.has_filler)
		return malformed(err, "P2L", "its items do not cover the data");
	return 0;
}

struct p2l_writer {
	const struct fsfs_p2l *p2l;
	struct fm_buf sizes, pages;
	uint64_t page_end; /* of the pages closed so far */
	size_t page_start; /* of the open page in .pages */
	uint64_t compound, revision;
};

static void close_page(struct p2l_writer *w)
{
	put_u(&w->sizes, w->pages.len - w->page_start);
	w->page_start = w->pages.len;
	w->page_end += w->p2l->page_size;
	w->compound = 0;
	w->revision = w->p2l->first;
}

/* An item is listed in the page in which it ends. */
static void put_item(struct p2l_writer *w, const struct fsfs_item *item)
{
	uint64_t end = item->offset + item->size;
	uint64_t compound = item->number << TYPE_BITS | item->type;

	while (end - w->page_end > w->p2l->page_size)
		close_page(w);
	if (w->pages.len == w->page_start)
		put_u(&w->pages, item->offset);
	put_u(&w->pages, item->size);
	put_i(&w->pages, compound, w->compound);
	put_i(&w->pages, item->revision, w->revision);
	put_u(&w->pages, item->fnv);
	w->compound = compound;
	w->revision = item->revision;
}

void fsfs_p2l_encode(const struct fsfs_p2l *p2l, struct fm_buf *out)
{
	struct p2l_writer w = {.p2l = p2l,
			       .sizes = FM_BUF_INIT,
			       .pages = FM_BUF_INIT,
			       .revision = p2l->first};
	uint64_t over = p2l->size % p2l->page_size;
	struct fsfs_item filler = {.offset = p2l->size};

	for (size_t i = 0; i < p2l->n; i++) {
		put_item(&w, &p2l->items[i]);
		filler.revision = p2l->items[i].revision;
	}
	filler.size = over ? p2l->page_size - over : 0;
	put_item(&w, &filler);
	close_page(&w);
	fm_buf_add(out, p2l_tag, TAG);
	put_u(out, p2l->first);
	put_u(out, p2l->size);
	put_u(out, p2l->page_size);
	put_u(out, w.page_end / p2l->page_size);
	fm_buf_add(out, fm_buf_text(&w.sizes), w.sizes.len);
	fm_buf_add(out, fm_buf_text(&w.pages), w.pages.len);
	fm_buf_release(&w.sizes);
	fm_buf_release(&w.pages);
}

/* -- L2P -- */

static int decode_l2p_page(struct fsfs_l2p_revision *rev, struct fm_reader *r,
			   uint64_t bytes, uint64_t entries, struct fm_err *err)
{
	size_t end = r->pos + (size_t)bytes;
	uint64_t value = 0;

	if (bytes > fm_rd_left(r) || entries > bytes)
		return malformed(err, "L2P", "a page reaches beyond its end");
	for (uint64_t i = 0; i < entries; i++) {
		value += (uint64_t)take_i(r);
		rev->place[rev->n++] = value;
	}
	if (r->is_past_end || r->pos != end)
		return malformed(err, "L2P", "a page is not used up exactly");
	return 0;
}

/* The pages of one revision: all but the last are full. */
static int decode_l2p_revision(const struct fsfs_l2p *l2p,
			       struct fsfs_l2p_revision *rev, uint64_t pages,
			       struct fm_reader *table, struct fm_reader *r,
			       struct fm_arena *out, struct fm_err *err)
{
	struct fm_reader look = *table;
	uint64_t total = 0;

	for (uint64_t i = 0; i < pages; i++) {
		uint64_t bytes = take_u(&look), entries = take_u(&look);

		(void)bytes;
		if (entries > l2p->page_size || entries == 0 ||
		    (i + 1 < pages && entries != l2p->page_size))
			return malformed(err, "L2P",
					 "a page has a wrong number of items");
		total += entries;
	}
	if (look.is_past_end || total > fm_rd_left(r))
		return malformed(err, "L2P", "more items than bytes for them");
	rev->place = fm_arena_array(out, (size_t)total, sizeof(*rev->place));
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t bytes = take_u(table), entries = take_u(table);

		if (decode_l2p_page(rev, r, bytes, entries, err) != 0)
			return err->code;
	}
	return 0;
}

int fsfs_l2p_decode(const struct fm_source *index, struct fm_arena *out,
		    struct fsfs_l2p *l2p, struct fm_err *err)
{
	uint64_t revisions, pages, total = 0;
	struct fm_reader r, counts, table;

	memset(l2p, 0, sizeof(*l2p));
	if (load(&r, index, l2p_tag, out, err) != 0)
		return err->code;
	l2p->first = take_u(&r);
	l2p->page_size = take_u(&r);
	revisions = take_u(&r);
	pages = take_u(&r);
	if (r.is_past_end || !is_power_of_two(l2p->page_size) ||
	    revisions == 0 || revisions > fm_rd_left(&r) ||
	    pages > fm_rd_left(&r))
		return malformed(err, "L2P", "its header makes no sense");
	l2p->n = (size_t)revisions;
	l2p->revisions = fm_arena_array(out, l2p->n, sizeof(*l2p->revisions));
	counts = r;
	for (uint64_t i = 0; i < revisions; i++)
		total += fm_min_u64(take_u(&r), pages + 1);
	table = r;
	for (uint64_t i = 0; i < 2 * pages; i++)
		(void)take_u(&r);
	if (r.is_past_end || total != pages)
		return malformed(err, "L2P", "its tables make no sense");
	for (size_t i = 0; i < l2p->n; i++)
		if (decode_l2p_revision(l2p, &l2p->revisions[i],
					take_u(&counts), &table, &r, out,
					err) != 0)
			return err->code;
	if (fm_rd_left(&r) != 0)
		return malformed(err, "L2P", "its pages are not all of it");
	return 0;
}

/* Every revision has at least one page, and none shares one. */
void fsfs_l2p_encode(const struct fsfs_l2p *l2p, struct fm_buf *out)
{
	struct fm_buf counts = FM_BUF_INIT, table = FM_BUF_INIT,
		      data = FM_BUF_INIT;
	uint64_t pages = 0;

	for (size_t i = 0; i < l2p->n; i++) {
		const struct fsfs_l2p_revision *rev = &l2p->revisions[i];
		uint64_t own = 0;
		size_t at = 0;

		while (at < rev->n || own == 0) {
			size_t start = data.len;
			size_t n =
				(size_t)fm_min_u64(rev->n - at, l2p->page_size);
			uint64_t previous = 0;

			for (size_t k = 0; k < n; k++) {
				put_i(&data, rev->place[at + k], previous);
				previous = rev->place[at + k];
			}
			put_u(&table, data.len - start);
			put_u(&table, n);
			at += n;
			own++;
		}
		put_u(&counts, own);
		pages += own;
	}
	fm_buf_add(out, l2p_tag, TAG);
	put_u(out, l2p->first);
	put_u(out, l2p->page_size);
	put_u(out, l2p->n);
	put_u(out, pages);
	fm_buf_add(out, fm_buf_text(&counts), counts.len);
	fm_buf_add(out, fm_buf_text(&table), table.len);
	fm_buf_add(out, fm_buf_text(&data), data.len);
	fm_buf_release(&counts);
	fm_buf_release(&table);
	fm_buf_release(&data);
}

static bool names_an_item(const struct fsfs_item *item)
{
	return item->type != FSFS_ITEM_UNUSED;
}

int fsfs_l2p_from_p2l(const struct fsfs_p2l *p2l, size_t n, uint64_t page_size,
		      struct fm_arena *out, struct fsfs_l2p *l2p,
		      struct fm_err *err)
{
	l2p->first = p2l->first;
	l2p->page_size = page_size;
	l2p->n = n;
	l2p->revisions = fm_arena_array(out, n, sizeof(*l2p->revisions));
	for (size_t i = 0; i < p2l->n; i++) {
		const struct fsfs_item *item = &p2l->items[i];
		uint64_t index = item->revision - p2l->first;

		if (!names_an_item(item))
			continue;
		/* Numbers are dense: more of them than items is no index. */
		if (index >= n || item->number == 0 ||
		    item->number > p2l->n + FSFS_ITEM_IS_ROOT)
			return malformed(err, "P2L", "an item out of range");
		if (item->number >= l2p->revisions[index].n)
			l2p->revisions[index].n = (size_t)item->number + 1;
	}
	for (size_t i = 0; i < n; i++)
		l2p->revisions[i].place =
			fm_arena_array(out, l2p->revisions[i].n,
				       sizeof(*l2p->revisions[i].place));
	for (size_t i = 0; i < p2l->n; i++) {
		const struct fsfs_item *item = &p2l->items[i];
		uint64_t *place;

		if (!names_an_item(item))
			continue;
		place = &l2p->revisions[item->revision - p2l->first]
				 .place[item->number];
		if (*place)
			return malformed(err, "P2L", "an item named twice");
		*place = item->offset + 1;
	}
	return 0;
}
