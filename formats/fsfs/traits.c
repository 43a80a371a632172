// SPDX-License-Identifier: GPL-2.0-or-later
// db/format to named traits, and back. The only file that compares numbers.
//
//	format := number LF { option LF }
//	option := "layout linear" | "layout sharded " digits      (3 and later)
//	        | "addressing physical" | "addressing logical"    (7 and later)
//
// Options come in any order, the last one of a kind counts, and reading stops
// at the first empty line (FORMAT, "The format file").

#include "formats/fsfs/fsfs.h"

#include <stdio.h>
#include <string.h>

// Subversion parses the shard size as an int.
enum { SHARD_MAX = INT32_MAX };

// What each number allows. Number 5 was never released and is refused.
static const struct {
	unsigned number;
	const char *readers;
	unsigned svndiff, repos_format;
} numbers[] = {
	{1, "1.1 and later", 0, 3},  {2, "1.4 and later", 1, 5},
	{3, "1.5 and later", 1, 5},  {4, "1.6 and later", 1, 5},
	{6, "1.8 and later", 1, 5},  {7, "1.9 and later", 1, 5},
	{8, "1.10 and later", 2, 5},
};

void fsfs_traits_set_number(struct fsfs_traits *t, unsigned number)
{
	t->number = number;
	t->max_svndiff = 0;
	t->repos_format = 0;
	for (size_t i = 0; i < FM_ARRAY_SIZE(numbers); i++) {
		if (numbers[i].number == number) {
			t->max_svndiff = numbers[i].svndiff;
			t->repos_format = numbers[i].repos_format;
		}
	}
	if (t->repos_format == 0)
		number = 0; /* unknown: nothing is allowed */
	t->has_three_field_current = number == 1 || number == 2;
	t->can_shard = number >= 3;
	t->has_txn_files = number >= 3;
	t->has_min_unpacked = number >= 4;
	t->has_conf = number >= 4;
	t->has_rep_cache = number >= 4;
	t->has_packed_revprops = number >= 6;
	t->can_be_logical = number >= 7;
	t->has_pack_lock = number >= 7;
	t->has_instance_id = number >= 7;
}

const char *fsfs_traits_readers(const struct fsfs_traits *t)
{
	for (size_t i = 0; i < FM_ARRAY_SIZE(numbers); i++)
		if (numbers[i].number == t->number)
			return numbers[i].readers;
	return "unknown";
}

const char *fsfs_layout_name(uint64_t shard, struct fm_arena *out)
{
	if (shard == 0)
		return "linear";
	return fm_arena_printf(out, "sharded %ju", (uintmax_t)shard);
}

void fsfs_traits_encode(const struct fsfs_traits *t, struct fm_buf *out)
{
	fm_buf_printf(out, "%u\n", t->number);
	if (t->can_shard && t->shard)
		fm_buf_printf(out, "layout sharded %ju\n", (uintmax_t)t->shard);
	else if (t->can_shard)
		fm_buf_puts(out, "layout linear\n");
	if (t->can_be_logical)
		fm_buf_printf(out, "addressing %s\n",
			      t->is_logical ? "logical" : "physical");
}

static void damaged(struct fsfs_traits *t, const char *problem)
{
	t->state = FSFS_FORMAT_DAMAGED;
	(void)snprintf(t->problem, sizeof(t->problem), "%s", problem);
}

static bool is_text(const char *line, size_t len, const char *text)
{
	return len == strlen(text) && memcmp(line, text, len) == 0;
}

// Digits only; leading zeros are accepted, as Subversion does.
static bool decode_number(const char *s, size_t len, uint64_t max, uint64_t *n)
{
	uint64_t value = 0;

	if (len == 0)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(s[i] - '0');
		if (value > max)
			return false;
	}
	*n = value;
	return true;
}

static bool decode_layout(const char *line, size_t len, struct fsfs_traits *t)
{
	static const char sharded[] = "layout sharded ";
	const size_t skip = sizeof(sharded) - 1;

	if (is_text(line, len, "layout linear"))
		t->shard = 0;
	else if (len <= skip || memcmp(line, sharded, skip) != 0 ||
		 !decode_number(line + skip, len - skip, SHARD_MAX, &t->shard))
		return false;
	t->has_repeated_option |= t->has_layout_line;
	t->has_layout_line = true;
	return true;
}

static bool decode_addressing(const char *line, size_t len,
			      struct fsfs_traits *t)
{
	if (is_text(line, len, "addressing logical"))
		t->is_logical = true;
	else if (is_text(line, len, "addressing physical"))
		t->is_logical = false;
	else
		return false;
	t->has_repeated_option |= t->has_addressing_line;
	t->has_addressing_line = true;
	return true;
}

static void decode_option(const char *line, size_t len, struct fsfs_traits *t)
{
	if (t->can_shard && decode_layout(line, len, t))
		return;
	if (t->can_be_logical && decode_addressing(line, len, t))
		return;
	t->state = FSFS_FORMAT_DAMAGED;
	(void)snprintf(t->problem, sizeof(t->problem),
		       "format %u has no option line \"%.*s\"", t->number,
		       len > 60 ? 60 : (int)len, line);
}

static void decode_first_line(const char *line, size_t len,
			      struct fsfs_traits *t)
{
	uint64_t number;

	if (!decode_number(line, len, UINT32_MAX, &number)) {
		damaged(t, "the first line is not a number");
		return;
	}
	fsfs_traits_set_number(t, (unsigned)number);
	if (t->repos_format != 0) {
		t->state = FSFS_FORMAT_KNOWN;
		return;
	}
	t->state = FSFS_FORMAT_UNKNOWN;
	(void)snprintf(t->problem, sizeof(t->problem),
		       number == 5 ? "format %u is of an unreleased Subversion"
				   : "format %u is not one of 1-4 and 6-8",
		       t->number);
}

static bool is_guard(const char *data, size_t len)
{
	static const char start[] = FSFS_GUARD_START;

	return len >= sizeof(start) - 1 &&
	       memcmp(data, start, sizeof(start) - 1) == 0;
}

void fsfs_traits_decode(const char *data, size_t len, struct fsfs_traits *t)
{
	size_t pos = 0;

	memset(t, 0, sizeof(*t));
	if (!data) {
		fsfs_traits_set_number(t, 1);
		t->state = FSFS_FORMAT_MISSING;
		return;
	}
	if (is_guard(data, len)) {
		t->state = FSFS_FORMAT_GUARD;
		return;
	}
	if (len == 0) {
		damaged(t, "the file is empty");
		return;
	}
	t->lacks_eol = data[len - 1] != '\n';
	for (unsigned line = 0; pos < len; line++) {
		const char *start = data + pos;
		const char *lf = memchr(start, '\n', len - pos);
		size_t n = lf ? (size_t)(lf - start) : len - pos;

		pos += lf ? n + 1 : n;
		if (line == 0) {
			decode_first_line(start, n, t);
		} else if (n == 0) {
			t->has_trailing_text = pos < len;
			break;
		} else {
			decode_option(start, n, t);
		}
		if (t->state != FSFS_FORMAT_KNOWN)
			return;
	}
	if (t->is_logical && t->shard == 0)
		damaged(t, "logical addressing with a linear layout");
}
