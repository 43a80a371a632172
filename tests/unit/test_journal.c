// SPDX-License-Identifier: GPL-2.0-or-later
// The journal's record format: encode and decode are inverse, a torn tail is
// dropped, and nothing that is damaged is taken for a record.

#include "tests/unit/unit.h"

#include "lib/journal.h"
#include "lib/version.h"

#include <stdio.h>
#include <string.h>

static struct fm_journal_field text(const char *s)
{
	return (struct fm_journal_field){s, strlen(s)};
}

static void begin(struct fm_buf *b, const char *version)
{
	struct fm_journal_field f[] = {text("fsmend-journal"), text(version),
				       text(FM_VERSION)};

	fm_journal_encode(b, f, 3);
}

static void add(struct fm_buf *b, const char *word, const char *key,
		struct fm_journal_field value)
{
	struct fm_journal_field f[] = {text(word), text(key), value};

	fm_journal_encode(b, f, 3);
}

static void any_bytes_survive(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_arena out;
	struct fm_journal j;
	struct fm_err err;
	char all[256];

	(void)state;
	fm_arena_init(&out);
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)i;
	begin(&b, "1");
	add(&b, "note", "all", (struct fm_journal_field){all, sizeof(all)});
	add(&b, "note", "none", text(""));
	assert_int_equal(fm_journal_decode(b.data, b.len, &out, &j, &err), 0);
	assert_false(j.is_torn);
	assert_int_equal(j.good, b.len);
	assert_int_equal(fm_journal_find(&j, "note", "all")->field[2].len, 256);
	assert_memory_equal(fm_journal_find(&j, "note", "all")->field[2].data,
			    all, 256);
	assert_string_equal(fm_journal_note(&j, "none"), "");
	assert_null(fm_journal_note(&j, "missing"));
	fm_buf_release(&b);
	fm_arena_release(&out);
}

static void the_last_record_wins(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_arena out;
	struct fm_journal j;
	struct fm_err err;

	(void)state;
	fm_arena_init(&out);
	begin(&b, "1");
	add(&b, "save", "current", text("first"));
	add(&b, "save", "current", text("second"));
	assert_int_equal(fm_journal_decode(b.data, b.len, &out, &j, &err), 0);
	assert_string_equal(
		fm_journal_text(fm_journal_find(&j, "save", "current"), 2),
		"second");
	fm_buf_release(&b);
	fm_arena_release(&out);
}

// Cut at every byte: whole lines before the cut count, the rest is torn.
static void every_torn_tail_is_dropped(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	size_t first, second;

	(void)state;
	begin(&b, "1");
	first = b.len;
	add(&b, "phase", "switch", text("60"));
	second = b.len;
	for (size_t cut = first; cut <= second; cut++) {
		struct fm_arena out;
		struct fm_journal j;
		struct fm_err err;

		fm_arena_init(&out);
		assert_int_equal(fm_journal_decode(b.data, cut, &out, &j, &err),
				 0);
		assert_int_equal(j.good, cut == second ? second : first);
		assert_int_equal(j.is_torn, cut != first && cut != second);
		assert_int_equal(fm_journal_has_phase(&j, "switch"),
				 cut == second);
		fm_arena_release(&out);
	}
	fm_buf_release(&b);
}

// Every single flipped bit in a line is noticed by its checksum.
static void every_flipped_bit_is_noticed(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	size_t first;

	(void)state;
	begin(&b, "1");
	first = b.len;
	add(&b, "save", "current", text("60 3s 2\n"));
	for (size_t bit = first * 8; bit < b.len * 8; bit++) {
		struct fm_arena out;
		struct fm_journal j;
		struct fm_err err;

		fm_arena_init(&out);
		b.data[bit / 8] = (char)(b.data[bit / 8] ^ (1 << bit % 8));
		assert_int_equal(
			fm_journal_decode(b.data, b.len, &out, &j, &err), 0);
		assert_true(j.is_torn);
		assert_null(fm_journal_find(&j, "save", "current"));
		b.data[bit / 8] = (char)(b.data[bit / 8] ^ (1 << bit % 8));
		fm_arena_release(&out);
	}
	fm_buf_release(&b);
}

static void newer_and_alien_are_refused(void **state)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_arena out;
	struct fm_journal j;
	struct fm_err err;

	(void)state;
	fm_arena_init(&out);
	begin(&b, "2");
	assert_int_equal(fm_journal_decode(b.data, b.len, &out, &j, &err),
			 FM_E_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "version 2"));
	assert_int_equal(fm_journal_decode("hello\n", 6, &out, &j, &err),
			 FM_E_FORMAT);
	assert_int_equal(fm_journal_decode("", 0, &out, &j, &err), FM_E_FORMAT);
	fm_buf_release(&b);
	fm_arena_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_survive),
		cmocka_unit_test(the_last_record_wins),
		cmocka_unit_test(every_torn_tail_is_dropped),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(newer_and_alien_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
