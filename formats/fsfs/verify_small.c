// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: the small files, each by itself. They are read again here, since what
// counts is their exact bytes.

#include "formats/fsfs/verify.h"

#include "lib/textrec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { SMALL_MAX = 4096 };

// False, with a finding, when the file is missing or cannot be read.
static bool read_file(struct fsfs_verify *v, int dir, const char *name,
		      const char *path, enum fsfs_check check,
		      struct fm_buf *bytes)
{
	struct fm_err err;

	fm_buf_clear(bytes);
	if (fsfs_read_small(dir, name, SMALL_MAX, bytes, &err) == 0)
		return true;
	if (err.code == FM_E_IO && err.sys == ENOENT)
		fsfs_found(v->report, check, path, NULL, "the file is missing");
	else /* the message begins with the name, which the path says */
		fsfs_found(v->report, check, path, NULL, "%s",
			   err.msg + strlen(name) + strlen(": "));
	return false;
}

static void check_guard(struct fsfs_verify *v)
{
	fsfs_found(v->report, FSFS_CHECK_GUARD_STALE, "db/format", NULL,
		   "an unfinished conversion left its guard and no journal: "
		   "every program refuses this repository");
	v->stop = "db/format is the guard of an unfinished conversion";
}

// A number that is damaged or unknown: nothing follows from it.
static void check_number(struct fsfs_verify *v)
{
	const struct fsfs_traits *t = &v->fs->traits;
	enum fsfs_check check = FSFS_CHECK_FORMAT_NUMBER;

	if (t->state == FSFS_FORMAT_DAMAGED && t->number != 0)
		check = t->is_logical && t->shard == 0
				? FSFS_CHECK_FORMAT_LOGICAL_LINEAR
				: FSFS_CHECK_FORMAT_OPTION;
	fsfs_found(v->report, check, "db/format", NULL, "%s", t->problem);
	v->stop = "db/format must be put right first";
}

/*
 * No file means format 1, which is what Subversion takes it for. A format 1
 * repository was made by 1.3 or older and says 3 in REPO/format.
 */
static void check_missing(struct fsfs_verify *v)
{
	static const char *const later[] = {"min-unpacked-rev", "txn-current",
					    "fsfs.conf"};
	struct stat st;

	for (size_t i = 0; i < FM_ARRAY_SIZE(later); i++) {
		if (fstatat(v->fs->db, later[i], &st, AT_SYMLINK_NOFOLLOW))
			continue;
		fsfs_found(v->report, FSFS_CHECK_FORMAT_NUMBER, "db/format",
			   NULL,
			   "the file is missing, which means format 1, but "
			   "db/%s is of a later format",
			   later[i]);
		v->stop = "db/format must be put back first";
		return;
	}
	fsfs_found_as(v->report, FSFS_CHECK_FORMAT_NUMBER, FM_NOTE, "db/format",
		      NULL, "the file is missing, which means format 1");
}

void fsfs_verify_format(struct fsfs_verify *v)
{
	const struct fsfs_traits *t = &v->fs->traits;

	if (v->stop)
		return;
	switch (t->state) {
	case FSFS_FORMAT_GUARD: check_guard(v); return;
	case FSFS_FORMAT_MISSING: check_missing(v); return;
	case FSFS_FORMAT_UNKNOWN:
	case FSFS_FORMAT_DAMAGED: check_number(v); return;
	case FSFS_FORMAT_KNOWN: break;
	}
	if (t->has_repeated_option)
		fsfs_found(v->report, FSFS_CHECK_FORMAT_OPTION, "db/format",
			   NULL, "an option stands there twice");
	if (t->can_be_logical && !t->has_addressing_line)
		fsfs_found(v->report, FSFS_CHECK_FORMAT_OPTION, "db/format",
			   NULL,
			   "no line names the addressing, which means "
			   "physical");
	if (t->lacks_eol)
		fsfs_found(v->report, FSFS_CHECK_FORMAT_EOL, "db/format", NULL,
			   "the last line has no line feed");
	if (t->has_trailing_text)
		fsfs_found(v->report, FSFS_CHECK_FORMAT_EOL, "db/format", NULL,
			   "text follows an empty line: Subversion does not "
			   "read it");
}

static void check_repos_format(struct fsfs_verify *v, struct fm_buf *bytes)
{
	if (v->fs->repos < 0) {
		fm_report_unchecked(v->report,
				    "the directory above db/: not found");
		return;
	}
	if (!read_file(v, v->fs->repos, "format", "format",
		       FSFS_CHECK_REPOS_FORMAT, bytes))
		return;
	if (strcmp(fm_buf_text(bytes), "3\n") != 0 &&
	    strcmp(fm_buf_text(bytes), "5\n") != 0)
		fsfs_found(v->report, FSFS_CHECK_REPOS_FORMAT, "format", NULL,
			   "expected 3 or 5 and a line feed");
}

static void check_fs_type(struct fsfs_verify *v, struct fm_buf *bytes)
{
	if (read_file(v, v->fs->db, "fs-type", "db/fs-type",
		      FSFS_CHECK_FSTYPE_VALUE, bytes) &&
	    strcmp(fm_buf_text(bytes), "fsfs\n") != 0)
		fsfs_found(v->report, FSFS_CHECK_FSTYPE_VALUE, "db/fs-type",
			   NULL, "expected fsfs and a line feed");
}

// 8-4-4-4-12 hex digits.
static bool is_uuid(const struct fm_line *line)
{
	if (line->text.len != 36 || !line->has_eol)
		return false;
	for (size_t i = 0; i < 36; i++) {
		char c = line->text.p[i];
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		bool is_hex = (c >= '0' && c <= '9') ||
			      (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

		if (is_dash ? c != '-' : !is_hex)
			return false;
	}
	return true;
}

static void check_uuid(struct fsfs_verify *v, struct fm_buf *bytes)
{
	static const char path[] = "db/uuid";
	struct fm_reader r;
	struct fm_line line;

	if (!read_file(v, v->fs->db, "uuid", path, FSFS_CHECK_UUID_REPOS,
		       bytes))
		return;
	fm_reader_init(&r, fm_buf_text(bytes), bytes->len);
	if (!fm_text_line(&r, &line) || !is_uuid(&line))
		fsfs_found(v->report, FSFS_CHECK_UUID_REPOS, path, NULL,
			   "the first line is not a UUID");
	if (v->fs->traits.has_instance_id &&
	    (!fm_text_line(&r, &line) || !is_uuid(&line)))
		fsfs_found(v->report, FSFS_CHECK_UUID_INSTANCE, path, NULL,
			   "the second line is missing or not a UUID");
	if (fm_rd_left(&r) > 0 && v->fs->traits.number != 0)
		fsfs_found(v->report, FSFS_CHECK_UUID_FORM, path, NULL,
			   "%zu bytes too many", fm_rd_left(&r));
}

static void check_current(struct fsfs_verify *v, struct fm_buf *bytes)
{
	static const char path[] = "db/current";
	const struct fsfs_traits *t = &v->fs->traits;
	struct fsfs_current current;
	struct fm_err err;

	if (!read_file(v, v->fs->db, "current", path, FSFS_CHECK_CURRENT_SYNTAX,
		       bytes))
		return;
	if (fsfs_current_decode(fm_buf_text(bytes), bytes->len, &current,
				&err) != 0) {
		fsfs_found(v->report, FSFS_CHECK_CURRENT_SYNTAX, path, NULL,
			   "%s", err.msg);
		return;
	}
	if (current.lacks_eol)
		fsfs_found_as(v->report, FSFS_CHECK_CURRENT_SYNTAX, FM_WARN,
			      path, NULL, "the line feed at the end is lost");
	if (v->stop)
		return; /* the format is not known */
	if (t->has_three_field_current && current.n_fields != 3)
		fsfs_found(v->report, FSFS_CHECK_CURRENT_FORM, path, NULL,
			   "format %u needs three fields, found one",
			   t->number);
	if (!t->has_three_field_current && current.n_fields == 3)
		fsfs_found_as(v->report, FSFS_CHECK_CURRENT_FORM, FM_NOTE, path,
			      NULL,
			      "three fields, as an upgrade leaves them until "
			      "the next commit");
}

static void pointer_is_wrong(struct fsfs_verify *v, const char *what)
{
	fsfs_found(v->report, FSFS_CHECK_MINUNPACKED_FORM,
		   "db/min-unpacked-rev", NULL, "%s", what);
	v->stop = "db/min-unpacked-rev must be put right first";
}

// Commits and a pack may have passed since `current` was read.
static uint64_t youngest_now(const struct fsfs_verify *v)
{
	struct fsfs_current now;
	struct fm_err ignored;

	return fsfs_current_read(v->fs, &now, &ignored) == 0 ? now.youngest
							     : v->youngest;
}

static void check_min_unpacked(struct fsfs_verify *v)
{
	static const char path[] = "db/min-unpacked-rev";
	const struct fsfs_traits *t = &v->fs->traits;
	struct fm_err err;
	struct stat st;
	uint64_t rev;

	if (!t->has_min_unpacked) {
		if (fstatat(v->fs->db, "min-unpacked-rev", &st,
			    AT_SYMLINK_NOFOLLOW) == 0)
			fsfs_found_as(v->report, FSFS_CHECK_MINUNPACKED_FORM,
				      FM_WARN, path, NULL,
				      "format %u has no such file: an upgrade "
				      "was interrupted and the next one will "
				      "fail",
				      t->number);
		return;
	}
	if (fsfs_min_unpacked_read(v->fs, &rev, &err) != 0)
		pointer_is_wrong(v, err.sys == ENOENT ? "the file is missing"
						      : err.msg);
	else if (t->shard == 0 && rev != 0)
		pointer_is_wrong(v, "a linear repository has no packs, the "
				    "value must be 0");
	else if (t->shard != 0 && rev % t->shard != 0)
		pointer_is_wrong(v, "not a multiple of the shard size");
	else if (v->has_current && rev > v->youngest + 1 &&
		 rev > youngest_now(v) + 1)
		pointer_is_wrong(v, "above the youngest revision plus one");
}

void fsfs_verify_small(struct fsfs_verify *v)
{
	struct fm_buf bytes = FM_BUF_INIT;

	check_repos_format(v, &bytes);
	check_fs_type(v, &bytes);
	check_uuid(v, &bytes);
	check_current(v, &bytes);
	if (!v->stop)
		check_min_unpacked(v);
	fm_buf_release(&bytes);
}
