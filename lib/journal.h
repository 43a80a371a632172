/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal's record format: encode, decode, look-up. No policy, no files.
 *
 * A journal is text, one record a line:
 *
 *	WORD [FIELD...] CRC LF
 *
 * Fields are separated by one space; a byte outside "!".."~", and '%' itself,
 * is written as %XX; the empty field is "%". CRC is the CRC-32 (zlib) of all
 * bytes before the space in front of it, eight lower case hex digits. Lines
 * are only ever appended and each is synced, so the one thing a crash can do
 * is to tear the last line: decoding stops at the first line that does not
 * parse and says how many bytes were good.
 *
 * Records, in the order in which they appear (man/fsmend-journal.5):
 *
 *	fsmend-journal 1 VERSION        always first: journal version, tool
 *	begin OPERATION MODE            what is being done, link or rename
 *	note KEY VALUE                  what the format needs to plan it again
 *	marker PATH OLD NEW GUARD       version marker: its three contents
 *	tree NAME FROM TO               numbered tree, shard sizes (0: flat)
 *	ready                           the first block is complete
 *	save PATH KIND OLD NEW          before the switch: file (bytes before,
 *	                                after), none (did not exist) or dir
 *	phase NAME [N]                  a phase has begun
 */
#ifndef FM_LIB_JOURNAL_H
#define FM_LIB_JOURNAL_H

#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/err.h"

enum { FM_JOURNAL_VERSION = 1, FM_JOURNAL_MAX_FIELDS = 8 };

struct fm_journal_field {
	const char *data; /* NUL follows, bytes may hold NUL too */
	size_t len;
};

struct fm_journal_record {
	struct fm_journal_field field[FM_JOURNAL_MAX_FIELDS]; /* 0: the word */
	size_t n_fields;
	struct fm_journal_record *next;
};

struct fm_journal {
	struct fm_journal_record *first, *last;
	size_t good; /* bytes of whole, intact lines */
	bool is_torn;
};

/* Appends one line. Fields: n of them, field[0] is the word. */
void fm_journal_encode(struct fm_buf *out, const struct fm_journal_field *field,
		       size_t n);

/* FM_E_UNSUPPORTED for a newer journal, FM_E_FORMAT for no journal at all. */
int fm_journal_decode(const char *data, size_t len, struct fm_arena *out,
		      struct fm_journal *j, struct fm_err *err);

/* The last record with this word whose first field is key (NULL: any). */
const struct fm_journal_record *fm_journal_find(const struct fm_journal *j,
						const char *word,
						const char *key);

struct fm_journal_field fm_journal_string(const char *s);

/* Text of field i ("" when absent); value of a note, or NULL. */
const char *fm_journal_text(const struct fm_journal_record *r, size_t i);
/* Keys of notes about conversions that belong to one wish, each with a record
   of its own: another comes after this one; this one comes after another. */
#define FM_NOTE_MORE    "more"
#define FM_NOTE_FOLLOWS "follows"

const char *fm_journal_note(const struct fm_journal *j, const char *key);
bool fm_journal_has_phase(const struct fm_journal *j, const char *name);

#endif
