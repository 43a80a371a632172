// SPDX-License-Identifier: GPL-2.0-or-later
// Going back below format 3: may the older readers have these revisions?
//
// Looked at: every node-revision of every revision written since the
// repository left the older format (all of them when that is not known).
// Obstacles: ids of the newer form (N-REV), representation strings of more
// than five fields, svndiff of a later version. The next free node and copy
// ids, which `current` must hold there, are counted on the way.
//
// A revision is walked as FORMAT, "Revision files", says: from the trailer to
// the root, then through every directory entry that lies in this revision.
// Writers below format 4 store directories PLAIN; any other one is refused.

#include "formats/fsfs/convert.h"

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/numtree.h"
#include "lib/reader.h"
#include "lib/source.h"
#include "lib/textrec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRAILER = 64, NODEREV_MAX = 16 * 1024, DIR_MAX = 64 << 20 };

struct scan {
	const struct fsfs_conversion *c;
	struct fm_source file;
	uint64_t rev;
	uint64_t next_node, next_copy;
	struct fm_arena tmp;  /* of one node-revision */
	struct fm_arena list; /* of one revision: todo */
	uint64_t *todo;       /* offsets of node-revisions not looked at yet */
	size_t n_todo, cap, n_seen;
};

static int obstacle(const struct scan *s, struct fm_err *err, const char *what)
{
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "r%" PRIu64 " %s: format %u cannot say that", s->rev,
			  what, s->c->to.number);
}

static int malformed(const struct scan *s, struct fm_err *err, const char *what)
{
	return fm_err_set(err, FM_E_FORMAT, "r%" PRIu64 ": %s", s->rev, what);
}

static int push(struct scan *s, uint64_t offset, struct fm_err *err)
{
	// No node-revision is shorter than 32 bytes: more of them than fit
	// means that entries lead in circles.
	if (++s->n_seen > s->file.size / 32 + 1)
		return malformed(s, err, "its directories form a loop");
	if (s->n_todo == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		uint64_t *todo = fm_arena_array(&s->list, cap, sizeof(*todo));

		if (s->n_todo)
			memcpy(todo, s->todo, s->n_todo * sizeof(*todo));
		s->todo = todo;
		s->cap = cap;
	}
	s->todo[s->n_todo++] = offset;
	return 0;
}

// One part of an id, node or copy: base 36, maybe "-REV" behind it.
static int count_part(struct scan *s, struct fm_text part, uint64_t *next,
		      struct fm_err *err)
{
	uint64_t n;

	if (memchr(part.p, '-', part.len))
		return obstacle(s, err, "holds an id with a revision in it");
	if (!fsfs_base36_decode(part.p, part.len, &n))
		return malformed(s, err, "an id does not parse");
	if (n >= *next)
		*next = n + 1;
	return 0;
}

// NODE.COPY.rREV/OFFSET
static int take_id(struct scan *s, struct fm_text id, uint64_t *rev,
		   uint64_t *offset, struct fm_err *err)
{
	struct fm_text node = fm_text_cut(&id, '.');
	struct fm_text copy = fm_text_cut(&id, '.');
	struct fm_text number = fm_text_cut(&id, '/');

	if (number.len < 2 || number.p[0] != 'r')
		return malformed(s, err, "an id does not parse");
	number.p++;
	number.len--;
	if (!fm_text_number(number, FSFS_REVISION_MAX, rev) ||
	    !fm_text_number(id, INT64_MAX, offset))
		return malformed(s, err, "an id does not parse");
	if (count_part(s, node, &s->next_node, err) != 0)
		return err->code;
	return count_part(s, copy, &s->next_copy, err);
}

// A directory listing: K and V lines, values "file ID" and "dir ID".
static int take_entries(struct scan *s, uint64_t offset, uint64_t size,
			struct fm_err *err)
{
	struct fm_reader r;
	struct fm_line line;

	if (size > DIR_MAX)
		return fm_err_set(err, FM_E_LIMIT,
				  "r%" PRIu64 ": a directory of %" PRIu64
				  " bytes is above the limit of %d",
				  s->rev, size, DIR_MAX);
	if (fm_reader_load(&r, &s->file, offset, (size_t)size, &s->tmp, err))
		return err->code;
	while (fm_text_line(&r, &line) && !fm_text_is(line.text, "END")) {
		struct fm_text kind, length = line.text;
		uint64_t n, rev = 0, at = 0;

		kind = fm_text_cut(&length, ' ');
		if (!fm_text_number(length, size, &n))
			return malformed(s, err, "a directory does not parse");
		if (fm_text_is(kind, "V")) {
			struct fm_text value = {fm_rd_bytes(&r, (size_t)n),
						(size_t)n};

			if (!value.p)
				break;
			(void)fm_text_cut(&value, ' ');
			if (take_id(s, value, &rev, &at, err) != 0)
				return err->code;
			if (rev == s->rev && push(s, at, err) != 0)
				return err->code;
		} else {
			fm_rd_skip(&r, (size_t)n);
		}
		fm_rd_skip(&r, 1);
	}
	if (r.is_past_end)
		return malformed(s, err, "a directory does not parse");
	return 0;
}

// What stands at a representation of this revision: its header line, and for
// a delta the svndiff version behind it.
static int take_rep(struct scan *s, struct fm_text string, bool is_dir,
		    struct fm_err *err)
{
	uint64_t rev, offset, size;
	struct fm_text word[3];
	struct fm_reader r;
	struct fm_line line;
	const char *magic;
	size_t n;

	for (size_t i = 0; i < 3; i++)
		word[i] = fm_text_cut(&string, ' ');
	if (!fm_text_number(word[0], FSFS_REVISION_MAX, &rev) ||
	    !fm_text_number(word[1], INT64_MAX, &offset) ||
	    !fm_text_number(word[2], INT64_MAX, &size))
		return malformed(s, err,
				 "a representation string does not "
				 "parse");
	(void)fm_text_cut(&string, ' ');
	(void)fm_text_cut(&string, ' ');
	if (string.len)
		return obstacle(s, err, "records SHA-1 checksums");
	if (rev != s->rev)
		return 0;
	if (offset >= s->file.size)
		return malformed(s, err,
				 "a representation lies beyond its "
				 "end");
	n = (size_t)fm_min_u64(s->file.size - offset, 128);
	if (fm_reader_load(&r, &s->file, offset, n, &s->tmp, err) != 0)
		return err->code;
	if (!fm_text_line(&r, &line))
		return malformed(s, err, "a representation has no header");
	if (fm_text_is(line.text, "PLAIN"))
		return is_dir ? take_entries(s, offset + 6, size, err) : 0;
	if (is_dir)
		return obstacle(s, err, "stores a directory as a delta");
	magic = fm_rd_bytes(&r, 4);
	if (!magic || memcmp(magic, "SVN", 3) != 0)
		return malformed(s, err, "a delta does not begin with SVN");
	if ((unsigned char)magic[3] > s->c->to.max_svndiff)
		return obstacle(s, err, "holds a delta of a later version");
	return 0;
}

static int take_noderev(struct scan *s, uint64_t offset, struct fm_err *err)
{
	struct fm_text key, value, text = {NULL, 0}, props = {NULL, 0};
	bool is_dir = false, has_id = false;
	uint64_t rev = 0, at = 0;
	struct fm_reader r;
	struct fm_line line;
	size_t n;

	if (offset >= s->file.size)
		return malformed(s, err, "a node-revision lies beyond its end");
	n = (size_t)fm_min_u64(s->file.size - offset, NODEREV_MAX);
	if (fm_reader_load(&r, &s->file, offset, n, &s->tmp, err) != 0)
		return err->code;
	while (fm_text_line(&r, &line) && line.text.len) {
		if (!fm_text_header(line.text, &key, &value))
			return malformed(s, err,
					 "a node-revision does not parse");
		if (fm_text_is(key, "id")) {
			has_id = true;
			if (take_id(s, value, &rev, &at, err) != 0)
				return err->code;
		} else if (fm_text_is(key, "type")) {
			is_dir = fm_text_is(value, "dir");
		} else if (fm_text_is(key, "text")) {
			text = value;
		} else if (fm_text_is(key, "props")) {
			props = value;
		}
	}
	if (!has_id)
		return malformed(s, err, "a node-revision has no id");
	if (text.p && take_rep(s, text, is_dir, err) != 0)
		return err->code;
	return props.p ? take_rep(s, props, false, err) : 0;
}

// The trailer's first number: where the root node-revision is.
static int find_root(struct scan *s, uint64_t *root, struct fm_err *err)
{
	size_t n = (size_t)fm_min_u64(s->file.size, TRAILER);
	struct fm_reader r;
	struct fm_text text;
	const char *eol;

	if (fm_reader_load(&r, &s->file, s->file.size - n, n, &s->tmp, err))
		return err->code;
	text.p = fm_rd_bytes(&r, n);
	text.len = n;
	if (n < 2 || text.p[n - 1] != '\n')
		return malformed(s, err, "the trailer is missing");
	eol = memrchr(text.p, '\n', n - 1);
	if (!eol)
		return malformed(s, err, "the trailer is missing");
	text.len = n - 1 - (size_t)(eol + 1 - text.p);
	text.p = eol + 1;
	if (!fm_text_number(fm_text_cut(&text, ' '), INT64_MAX, root))
		return malformed(s, err, "the trailer does not parse");
	return 0;
}

static int scan_revision(struct scan *s, uint64_t rev, struct fm_err *err)
{
	char path[sizeof("revs/") + FM_NUM_PATH], number[FM_NUM_PATH];
	FM_AUTOFD int fd = -1;
	uint64_t root = 0;
	int rc;

	fm_num_path(s->c->from.shard, rev, number);
	(void)snprintf(path, sizeof(path), "revs/%s", number);
	fd = fm_open_read(s->c->fs->db, path);
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot open %s", path);
	s->rev = rev;
	s->n_todo = s->n_seen = s->cap = 0;
	rc = fm_source_file(&s->file, fd, err);
	if (rc == 0)
		rc = find_root(s, &root, err);
	if (rc == 0)
		rc = push(s, root, err);
	while (rc == 0 && s->n_todo) {
		rc = take_noderev(s, s->todo[--s->n_todo], err);
		fm_arena_reset(&s->tmp);
	}
	fm_arena_reset(&s->list);
	return rc;
}

int fsfs_lower_check(const struct fsfs_conversion *c, struct fm_buf *current,
		     struct fm_err *err)
{
	struct scan s = {.c = c, .next_node = 1, .next_copy = 1};
	struct fsfs_current now, old = {0};
	char node[FSFS_BASE36_MAX], copy[FSFS_BASE36_MAX];
	uint64_t first = 0;
	int rc = fsfs_current_read(c->fs, &now, err);

	if (rc == 0 && c->old_current &&
	    fsfs_current_decode(c->old_current->data, c->old_current->len, &old,
				err) == 0 &&
	    old.n_fields == 3) {
		first = old.youngest + 1;
		s.next_node = old.next_node;
		s.next_copy = old.next_copy;
	}
	fm_arena_init(&s.tmp);
	fm_arena_init(&s.list);
	for (uint64_t r = first; rc == 0 && r <= now.youngest; r++) {
		rc = fm_cancel_check(err);
		if (rc == 0)
			rc = scan_revision(&s, r, err);
	}
	fm_arena_release(&s.tmp);
	fm_arena_release(&s.list);
	if (rc != 0)
		return rc;
	fsfs_base36_encode(s.next_node, node);
	fsfs_base36_encode(s.next_copy, copy);
	fm_buf_clear(current);
	fm_buf_printf(current, "%" PRIu64 " %s %s\n", now.youngest, node, copy);
	return 0;
}
