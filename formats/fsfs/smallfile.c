// SPDX-License-Identifier: GPL-2.0-or-later
// The small files of db/: read whole, then decoded from memory.
//
//	current           YOUNGEST LF, or YOUNGEST NODE COPY LF (formats 1-2)
//	min-unpacked-rev  REVISION LF

#include "formats/fsfs/fsfs.h"

#include "lib/autofd.h"
#include "lib/numtree.h"
#include "lib/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { POINTER_MAX = 256 }; /* bytes of a pointer file, generously */

enum { STEP = 4096, FIRST_STEP_MAX = 1 << 20 };

// All of it and the byte that would show there is more, if that is reasonable.
static size_t first_step(const struct stat *st)
{
	return st->st_size > 0 && st->st_size < FIRST_STEP_MAX
		       ? (size_t)st->st_size + 1
		       : STEP;
}

int fsfs_read_small(int dirfd, const char *name, size_t limit,
		    struct fm_buf *out, struct fm_err *err)
{
	FM_AUTOFD int fd = fm_open_read(dirfd, name);
	struct stat st;
	size_t start = out->len;

	if (fd < 0)
		return fm_err_sys(err, errno, "%s", name);
	if (fstat(fd, &st) != 0)
		return fm_err_sys(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return fm_err_set(err, FM_E_FORMAT, "%s: not a regular file",
				  name);
	/* Its size may change meanwhile: what counts is what is read. */
	for (;;) {
		size_t room = limit + 1 - (out->len - start);
		size_t step = out->len > start ? STEP : first_step(&st);
		ssize_t n;

		if (room == 0)
			return fm_err_set(err, FM_E_LIMIT,
					  "%s: larger than %zu bytes", name,
					  limit);
		if (room > step)
			room = step;
		fm_buf_reserve(out, room);
		n = read(fd, out->data + out->len, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fm_err_sys(err, errno, "%s", name);
		if (n == 0)
			break;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
	return 0;
}

static int digit36(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	return -1;
}

bool fsfs_base36_decode(const char *s, size_t len, uint64_t *n)
{
	uint64_t value = 0;

	if (len == 0 || (len > 1 && s[0] == '0'))
		return false;
	for (size_t i = 0; i < len; i++) {
		int digit = digit36(s[i]);

		if (digit < 0 || !fm_mul_u64(value, 36, &value) ||
		    !fm_add_u64(value, (uint64_t)digit, &value))
			return false;
	}
	*n = value;
	return true;
}

void fsfs_base36_encode(uint64_t n, char text[FSFS_BASE36_MAX])
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	char reversed[FSFS_BASE36_MAX];
	size_t len = 0;

	do {
		reversed[len++] = digits[n % 36];
		n /= 36;
	} while (n);
	for (size_t i = 0; i < len; i++)
		text[i] = reversed[len - 1 - i];
	text[len] = '\0';
}

// A field up to a space or the end, as a text in `word`.
static bool take_word(const char **p, const char *end, char *word, size_t size)
{
	const char *start = *p;
	size_t len;

	while (*p < end && **p != ' ')
		(*p)++;
	len = (size_t)(*p - start);
	if (len == 0 || len >= size || memchr(start, '\0', len))
		return false;
	memcpy(word, start, len);
	word[len] = '\0';
	return true;
}

int fsfs_current_decode(const char *data, size_t len, struct fsfs_current *c,
			struct fm_err *err)
{
	const char *p = data, *end = data + len;
	char word[3][32];

	memset(c, 0, sizeof(*c));
	if (len == 0)
		return fm_err_set(err, FM_E_FORMAT, "the file is empty");
	if (end[-1] == '\n')
		end--;
	else
		c->lacks_eol = true;
	for (unsigned i = 0;; i++) {
		if (i == 3 || !take_word(&p, end, word[i], sizeof(word[i])))
			return fm_err_set(err, FM_E_FORMAT,
					  "not one or three numbers");
		c->n_fields++;
		if (p == end)
			break;
		p++; /* the space */
	}
	if (c->n_fields == 2)
		return fm_err_set(err, FM_E_FORMAT, "not one or three numbers");
	if (!fm_num_parse(word[0], &c->youngest) ||
	    c->youngest > FSFS_REVISION_MAX)
		return fm_err_set(err, FM_E_FORMAT,
				  "does not begin with a revision number");
	if (c->n_fields == 3 &&
	    (!fsfs_base36_decode(word[1], strlen(word[1]), &c->next_node) ||
	     !fsfs_base36_decode(word[2], strlen(word[2]), &c->next_copy)))
		return fm_err_set(err, FM_E_FORMAT,
				  "the next ids are not numbers in base 36");
	return 0;
}

int fsfs_current_read(const struct fsfs *fs, struct fsfs_current *c,
		      struct fm_err *err)
{
	struct fm_buf bytes = FM_BUF_INIT;
	int rc;

	memset(c, 0, sizeof(*c));
	rc = fsfs_read_small(fs->db, "current", POINTER_MAX, &bytes, err);
	if (rc == 0) {
		rc = fsfs_current_decode(fm_buf_text(&bytes), bytes.len, c,
					 err);
		if (rc != 0)
			fm_err_prefix(err, "current: ");
	}
	fm_buf_release(&bytes);
	return rc;
}

// Digits and one LF; nothing else is written by any version.
static int decode_min_unpacked(const struct fm_buf *bytes, uint64_t *rev,
			       struct fm_err *err)
{
	char word[32];

	if (bytes->len < 2 || bytes->len > sizeof(word) ||
	    bytes->data[bytes->len - 1] != '\n')
		return fm_err_set(err, FM_E_FORMAT,
				  "min-unpacked-rev: not a number and LF");
	memcpy(word, bytes->data, bytes->len - 1);
	word[bytes->len - 1] = '\0';
	if (strlen(word) != bytes->len - 1 || !fm_num_parse(word, rev) ||
	    *rev > FSFS_REVISION_MAX)
		return fm_err_set(err, FM_E_FORMAT,
				  "min-unpacked-rev: not a revision number");
	return 0;
}

int fsfs_min_unpacked_read(const struct fsfs *fs, uint64_t *rev,
			   struct fm_err *err)
{
	struct fm_buf bytes = FM_BUF_INIT;
	int rc;

	*rev = 0;
	if (!fs->traits.has_min_unpacked)
		return 0;
	rc = fsfs_read_small(fs->db, "min-unpacked-rev", POINTER_MAX, &bytes,
			     err);
	if (rc == 0)
		rc = decode_min_unpacked(&bytes, rev, err);
	fm_buf_release(&bytes);
	return rc;
}
