// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's record format. See journal.h for the grammar.

#include "lib/journal.h"

#include "lib/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { CRC_DIGITS = 8 };

static const char first_word[] = "fsmend-journal";

static uint32_t crc_of(const char *p, size_t n)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const Bytef *)p, n);
}

static void encode_field(struct fm_buf *out, const struct fm_journal_field *f)
{
	if (f->len == 0)
		fm_buf_puts(out, "%");
	for (size_t i = 0; i < f->len; i++) {
		unsigned char c = (unsigned char)f->data[i];

		if (c < '!' || c > '~' || c == '%')
			fm_buf_printf(out, "%%%02X", c);
		else
			fm_buf_add(out, &c, 1);
	}
}

void fm_journal_encode(struct fm_buf *out, const struct fm_journal_field *field,
		       size_t n)
{
	size_t start = out->len;
	uint32_t crc;

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fm_buf_puts(out, " ");
		encode_field(out, &field[i]);
	}
	crc = crc_of(out->data + start, out->len - start);
	fm_buf_printf(out, " %08" PRIx32 "\n", crc);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

// Decodes one field in place of text; false when it is malformed.
static bool decode_field(const char *text, size_t len, struct fm_arena *out,
			 struct fm_journal_field *f)
{
	char *to = fm_arena_alloc(out, len + 1);

	f->data = to;
	f->len = 0;
	if (len == 1 && text[0] == '%')
		return true;
	for (size_t i = 0; i < len; i++) {
		int hi, lo;

		if (text[i] != '%') {
			to[f->len++] = text[i];
			continue;
		}
		if (len - i < 3)
			return false;
		hi = hex_digit(text[i + 1]);
		lo = hex_digit(text[i + 2]);
		if (hi < 0 || lo < 0)
			return false;
		to[f->len++] = (char)(hi * 16 + lo);
		i += 2;
	}
	return true;
}

static bool decode_line(const char *line, size_t len, struct fm_arena *out,
			struct fm_journal_record *r)
{
	char want[CRC_DIGITS + 1];
	size_t body = len - CRC_DIGITS - 1;
	size_t start = 0;

	if (len < CRC_DIGITS + 2 || line[body] != ' ')
		return false;
	(void)snprintf(want, sizeof(want), "%08" PRIx32, crc_of(line, body));
	if (memcmp(want, line + body + 1, CRC_DIGITS) != 0)
		return false;
	while (start <= body) {
		const char *space = memchr(line + start, ' ', body - start);
		size_t end = space ? (size_t)(space - line) : body;

		if (r->n_fields == FM_JOURNAL_MAX_FIELDS ||
		    !decode_field(line + start, end - start, out,
				  &r->field[r->n_fields]))
			return false;
		r->n_fields++;
		start = end + 1;
	}
	return true;
}

static int check_first(const struct fm_journal *j, struct fm_err *err)
{
	const char *version;

	if (!j->first || strcmp(fm_journal_text(j->first, 0), first_word) != 0)
		return fm_err_set(err, FM_E_FORMAT,
				  "not a journal of fsmend: its first line "
				  "does not parse");
	version = fm_journal_text(j->first, 1);
	if (strtoul(version, NULL, 10) > FM_JOURNAL_VERSION)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "journal version %s, written by fsmend %s; "
				  "this is fsmend %s, which knows version %d",
				  version, fm_journal_text(j->first, 2),
				  FM_VERSION, FM_JOURNAL_VERSION);
	return 0;
}

int fm_journal_decode(const char *data, size_t len, struct fm_arena *out,
		      struct fm_journal *j, struct fm_err *err)
{
	*j = (struct fm_journal){0};
	while (j->good < len) {
		const char *line = data + j->good;
		const char *eol = memchr(line, '\n', len - j->good);
		struct fm_journal_record *r;

		r = fm_arena_alloc(out, sizeof(*r));
		if (!eol || !decode_line(line, (size_t)(eol - line), out, r)) {
			j->is_torn = true;
			break;
		}
		if (j->last)
			j->last->next = r;
		else
			j->first = r;
		j->last = r;
		j->good += (size_t)(eol - line) + 1;
	}
	return check_first(j, err);
}

struct fm_journal_field fm_journal_string(const char *s)
{
	return (struct fm_journal_field){s, strlen(s)};
}

const char *fm_journal_text(const struct fm_journal_record *r, size_t i)
{
	return r && i < r->n_fields ? r->field[i].data : "";
}

const struct fm_journal_record *fm_journal_find(const struct fm_journal *j,
						const char *word,
						const char *key)
{
	const struct fm_journal_record *found = NULL;

	for (const struct fm_journal_record *r = j->first; r; r = r->next)
		if (strcmp(fm_journal_text(r, 0), word) == 0 &&
		    (!key || strcmp(fm_journal_text(r, 1), key) == 0))
			found = r;
	return found;
}

const char *fm_journal_note(const struct fm_journal *j, const char *key)
{
	const struct fm_journal_record *r = fm_journal_find(j, "note", key);

	return r ? fm_journal_text(r, 2) : NULL;
}

bool fm_journal_has_phase(const struct fm_journal *j, const char *name)
{
	return fm_journal_find(j, "phase", name) != NULL;
}
