// SPDX-License-Identifier: GPL-2.0-or-later
// The end of a revision file (FORMAT, "Revision files").
//
// physical   ... root node-revision LF LF changed-paths LF ROOT SP CHANGES LF
// logical    items, L2P index, P2L index, footer, length of the footer

#include "formats/fsfs/revfile.h"

#include "lib/textrec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAIL = 1024, TAG = 10, VARINT_MAX = 10 };

// The last bytes of a source, and a scratch for bytes elsewhere in it.
struct view {
	const struct fm_source *src;
	char tail[TAIL];
	size_t n_tail;
	char scratch[FSFS_TRAILER_MAX];
};

static bool fail(struct fsfs_fault *f, enum fsfs_check check, const char *fmt,
		 ...) FM_PRINTF(3, 4);

static bool fail(struct fsfs_fault *f, enum fsfs_check check, const char *fmt,
		 ...)
{
	va_list ap;

	f->check = check;
	va_start(ap, fmt);
	(void)vsnprintf(f->detail, sizeof(f->detail), fmt, ap);
	va_end(ap);
	return false;
}

static int load_tail(struct view *v, const struct fm_source *src,
		     struct fm_err *err)
{
	v->src = src;
	v->n_tail = (size_t)fm_min_u64(src->size, TAIL);
	return fm_source_read(src, src->size - v->n_tail, v->tail, v->n_tail,
			      err);
}

// Up to n bytes at `at` (fewer near the end); n <= FSFS_TRAILER_MAX.
static struct fm_text bytes_at(struct view *v, uint64_t at, size_t n)
{
	uint64_t tail_at = v->src->size - v->n_tail;
	struct fm_err ignored;

	n = (size_t)fm_min_u64(n, v->src->size - fm_min_u64(at, v->src->size));
	if (n > 0 && at >= tail_at)
		return (struct fm_text){v->tail + (at - tail_at), n};
	if (n > 0 && fm_source_read(v->src, at, v->scratch, n, &ignored) != 0)
		n = 0;
	return (struct fm_text){v->scratch, n};
}

bool fsfs_trailer_decode(const void *tail, size_t n, uint64_t size,
			 struct fsfs_trailer *t)
{
	const char *p = tail;
	struct fm_text line, root;
	size_t start;

	if (n == 0 || p[n - 1] != '\n')
		return false;
	for (start = n - 1; start > 0 && p[start - 1] != '\n'; start--)
		if (n - start >= FSFS_TRAILER_MAX)
			return false;
	if (start == 0 && n < size)
		return false;
	line = (struct fm_text){p + start, n - 1 - start};
	t->start = size - n + start;
	root = fm_text_cut(&line, ' ');
	return fm_text_number(root, INT64_MAX, &t->root) &&
	       fm_text_number(line, INT64_MAX, &t->changes);
}

static bool is_in_order(const struct fsfs_trailer *t)
{
	return t->root < t->changes && t->changes < t->start;
}

static bool take_md5(struct fm_text *rest, char md5[33])
{
	struct fm_text word = fm_text_cut(rest, ' ');

	if (word.len != 32)
		return false;
	for (size_t i = 0; i < word.len; i++)
		if (!strchr("0123456789abcdef", word.p[i]) || !word.p[i])
			return false;
	memcpy(md5, word.p, 32);
	md5[32] = '\0';
	return true;
}

bool fsfs_footer_decode(const void *tail, size_t n, uint64_t size,
			struct fsfs_footer *f)
{
	const unsigned char *p = tail;
	struct fm_text rest;
	size_t len;

	if (n == 0 || p[n - 1] == 0 || p[n - 1] >= n)
		return false;
	len = p[n - 1];
	rest = (struct fm_text){(const char *)p + n - 1 - len, len};
	f->start = size - 1 - len;
	return fm_text_number(fm_text_cut(&rest, ' '), INT64_MAX, &f->l2p) &&
	       take_md5(&rest, f->l2p_md5) &&
	       fm_text_number(fm_text_cut(&rest, ' '), INT64_MAX, &f->p2l) &&
	       take_md5(&rest, f->p2l_md5) && rest.len == 0 &&
	       f->l2p < f->p2l && f->p2l < f->start;
}

enum fsfs_ending fsfs_ending_of(const struct fm_source *src)
{
	struct fsfs_trailer trailer;
	struct fsfs_footer footer;
	struct fm_err ignored;
	struct view v;

	if (load_tail(&v, src, &ignored) != 0)
		return FSFS_ENDING_NONE;
	if (fsfs_footer_decode(v.tail, v.n_tail, src->size, &footer) &&
	    fm_text_is(bytes_at(&v, footer.l2p, TAG), "L2P-INDEX\n"))
		return FSFS_ENDING_FOOTER;
	if (fsfs_trailer_decode(v.tail, v.n_tail, src->size, &trailer) &&
	    is_in_order(&trailer))
		return FSFS_ENDING_TRAILER;
	return FSFS_ENDING_NONE;
}

// End of the last byte that is not NUL; 0 when there is none.
static uint64_t end_of_data(const struct fm_source *src)
{
	uint64_t end = src->size;
	char block[4096];
	struct fm_err ignored;

	while (end > 0) {
		size_t n = (size_t)fm_min_u64(end, sizeof(block));

		if (fm_source_read(src, end - n, block, n, &ignored) != 0)
			break;
		while (n > 0 && block[n - 1] == '\0') {
			n--;
			end--;
		}
		if (n > 0)
			break;
	}
	return end;
}

// The file ends in NUL bytes: of a lost block, or behind a good ending?
static bool diagnose_zeros(const struct fm_source *src, struct fsfs_fault *f)
{
	uint64_t end = end_of_data(src);
	struct fm_source data;
	struct fm_err ignored;

	if (end == 0)
		return fail(f, FSFS_CHECK_REV_ZEROED, "all %ju bytes are zero",
			    (uintmax_t)src->size);
	f->has_offset = true;
	f->offset = end;
	if (fm_source_window(&data, src, 0, end, &ignored) == 0 &&
	    fsfs_ending_of(&data) != FSFS_ENDING_NONE)
		return fail(f, FSFS_CHECK_REV_TRUNCATED,
			    "%ju zero bytes follow the end of the revision",
			    (uintmax_t)(src->size - end));
	return fail(f, FSFS_CHECK_REV_ZEROED, "the last %ju bytes are zero",
		    (uintmax_t)(src->size - end));
}

// What befell a file whose end does not parse.
static bool diagnose(struct view *v, enum fsfs_check form, const char *what,
		     struct fsfs_fault *f)
{
	const char *tail = v->tail;
	size_t n = v->n_tail;

	if (fm_text_is(bytes_at(v, 0, 2), "\x1f\x8b"))
		return fail(f, form, "no %s: the file begins like a gzip file",
			    what);
	if (n && tail[n - 1] == '\0')
		return diagnose_zeros(v->src, f);
	if (n >= 2 && tail[n - 2] == '\r' && tail[n - 1] == '\n')
		return fail(f, form,
			    "no %s: lines end in CR LF, as after a transfer "
			    "as text",
			    what);
	if (form == FSFS_CHECK_TRAILER_FORM && n && tail[n - 1] != '\n')
		return fail(f, FSFS_CHECK_REV_TRUNCATED,
			    "the file ends without a trailer after %ju bytes",
			    (uintmax_t)v->src->size);
	return fail(f, form, "no %s at the end of the file", what);
}

static bool check_root(struct view *v, const struct fsfs_trailer *t,
		       uint64_t revision, struct fsfs_fault *f)
{
	struct fm_text found = bytes_at(v, t->root, FSFS_TRAILER_MAX);
	struct fm_text id = fm_text_cut(&found, '\n');
	char want[FSFS_TRAILER_MAX];

	(void)snprintf(want, sizeof(want), "id: 0.0.r%ju/%ju",
		       (uintmax_t)revision, (uintmax_t)t->root);
	if (fm_text_is(id, want))
		return true;
	f->has_offset = true;
	f->offset = t->root;
	if (fm_text_starts(id, "id: 0.0.r"))
		return fail(f, FSFS_CHECK_TRAILER_ROOT,
			    "the root should be %s, but is %.*s", want + 4,
			    (int)id.len - 4, id.p + 4);
	return fail(f, FSFS_CHECK_TRAILER_ROOT,
		    "the trailer's root offset does not lead to %s", want + 4);
}

// The list follows the root's empty line and ends with one of its own.
static bool check_changes(struct view *v, const struct fsfs_trailer *t,
			  struct fsfs_fault *f)
{
	bool follows_root = is_in_order(t) &&
			    fm_text_is(bytes_at(v, t->changes - 2, 2), "\n\n");
	bool is_empty = fm_text_is(bytes_at(v, t->changes, 1), "\n");
	bool ends_well;

	if (is_empty)
		ends_well = t->start == t->changes + 1;
	else
		ends_well = t->start >= t->changes + 2 &&
			    fm_text_is(bytes_at(v, t->start - 2, 2), "\n\n");
	if (follows_root && ends_well)
		return true;
	f->has_offset = true;
	f->offset = t->changes;
	return fail(f, FSFS_CHECK_TRAILER_CHANGES,
		    "the trailer's second offset does not lead to the "
		    "changed paths");
}

bool fsfs_check_physical(const struct fm_source *src, uint64_t revision,
			 struct fsfs_fault *fault, struct fm_err *err)
{
	struct fsfs_trailer t;
	struct view v;

	*fault = (struct fsfs_fault){.has_offset = false};
	err->code = 0;
	if (src->size == 0)
		return fail(fault, FSFS_CHECK_REV_TRUNCATED,
			    "the file is empty");
	if (load_tail(&v, src, err) != 0)
		return false;
	if (!fsfs_trailer_decode(v.tail, v.n_tail, src->size, &t))
		return diagnose(&v, FSFS_CHECK_TRAILER_FORM, "trailer", fault);
	return check_root(&v, &t, revision, fault) &&
	       check_changes(&v, &t, fault);
}

// 7 bits a byte, least significant first, high bit set on all but the last.
static bool take_varint(struct fm_text *rest, uint64_t *n)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < VARINT_MAX && i < rest->len; i++) {
		uint64_t bits = (unsigned char)rest->p[i] & 0x7f;

		if (i == VARINT_MAX - 1 && bits > 1)
			return false;
		value |= bits << (7 * i);
		if (!((unsigned char)rest->p[i] & 0x80)) {
			rest->p += i + 1;
			rest->len -= i + 1;
			*n = value;
			return true;
		}
	}
	return false;
}

static bool take_tag(struct fm_text *rest, const char *tag)
{
	if (!fm_text_starts(*rest, tag))
		return false;
	rest->p += TAG;
	rest->len -= TAG;
	return true;
}

static bool is_power_of_two(uint64_t n)
{
	return n && (n & (n - 1)) == 0;
}

static bool check_l2p(struct view *v, const struct fsfs_footer *footer,
		      uint64_t first, uint64_t count, struct fsfs_fault *f)
{
	struct fm_text rest = bytes_at(v, footer->l2p, FSFS_TRAILER_MAX);
	uint64_t revision, page, n;

	f->has_offset = true;
	f->offset = footer->l2p;
	if (!take_tag(&rest, "L2P-INDEX\n"))
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the footer's first offset does not lead to an "
			    "L2P index");
	if (!take_varint(&rest, &revision) || !take_varint(&rest, &page) ||
	    !take_varint(&rest, &n) || !is_power_of_two(page))
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the header of the L2P index does not parse");
	if (revision != first || n != count)
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the L2P index is of %ju revisions from r%ju on, "
			    "not of %ju from r%ju on",
			    (uintmax_t)n, (uintmax_t)revision, (uintmax_t)count,
			    (uintmax_t)first);
	return true;
}

static bool check_p2l(struct view *v, const struct fsfs_footer *footer,
		      uint64_t first, struct fsfs_fault *f)
{
	struct fm_text rest = bytes_at(v, footer->p2l, FSFS_TRAILER_MAX);
	uint64_t revision, size, page;

	f->offset = footer->p2l;
	if (!take_tag(&rest, "P2L-INDEX\n"))
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the footer's second offset does not lead to a "
			    "P2L index");
	if (!take_varint(&rest, &revision) || !take_varint(&rest, &size) ||
	    !take_varint(&rest, &page) || !is_power_of_two(page))
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the header of the P2L index does not parse");
	if (revision != first)
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the P2L index begins with r%ju, not with r%ju",
			    (uintmax_t)revision, (uintmax_t)first);
	if (size != footer->l2p)
		return fail(f, FSFS_CHECK_INDEX_HEADER,
			    "the P2L index covers %ju bytes, but the items "
			    "end at %ju",
			    (uintmax_t)size, (uintmax_t)footer->l2p);
	return true;
}

bool fsfs_check_logical(const struct fm_source *src, uint64_t first,
			uint64_t count, struct fsfs_fault *fault,
			struct fm_err *err)
{
	struct fsfs_footer footer;
	struct view v;

	*fault = (struct fsfs_fault){.has_offset = false};
	err->code = 0;
	if (src->size == 0)
		return fail(fault, FSFS_CHECK_REV_TRUNCATED,
			    "the file is empty");
	if (load_tail(&v, src, err) != 0)
		return false;
	if (!fsfs_footer_decode(v.tail, v.n_tail, src->size, &footer))
		return diagnose(&v, FSFS_CHECK_INDEX_FOOTER, "footer", fault);
	return check_l2p(&v, &footer, first, count, fault) &&
	       check_p2l(&v, &footer, first, fault);
}
