// SPDX-License-Identifier: GPL-2.0-or-later
// A pack of revision properties: revprops/K.pack/manifest names for each
// revision of the shard (but revision 0) the file START.COUNTER that holds
// its properties. A file holds a run of revisions, the first of which is
// START; edits make new files with a higher COUNTER.

#include "formats/fsfs/manifest.h"
#include "formats/fsfs/names.h"
#include "formats/fsfs/verify.h"
#include "formats/fsfs/verify_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { MANIFEST_MAX = 64 << 20, NAMES_MAX = 1 << 20, ATTEMPTS = 100 };

static void check_stray(const struct fsfs_pack *p, const char *name)
{
	struct fm_buf path = FM_BUF_INIT;
	struct stat st;

	fm_buf_printf(&path, "%s/%s", p->path, name);
	if (!fsfs_is_temporary(name))
		fsfs_found(p->report, FSFS_CHECK_LAYOUT_STRAY, path.data, NULL,
			   "no Subversion puts such a name here");
	else if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		 !fsfs_is_recent(&st))
		fsfs_found(p->report, FSFS_CHECK_JUNK_TEMP, path.data, NULL,
			   "left by an interrupted write");
	fm_buf_release(&path);
}

void fsfs_pack_strays(const struct fsfs_pack *p, const char *const *known,
		      size_t n_known)
{
	struct fsfs_names names;
	struct fm_err ignored;

	if (fsfs_names_read(p->dir, ".", NAMES_MAX, &names, &ignored) == 0) {
		for (size_t i = 0; i < names.n; i++) {
			bool is_known = false;

			for (size_t k = 0; k < n_known; k++)
				is_known |= strcmp(known[k], names.at[i]) == 0;
			if (!is_known)
				check_stray(p, names.at[i]);
		}
	}
	fsfs_names_release(&names);
}

// Was the pack rewritten under our eyes (a property edit)?
static bool is_same_manifest(const struct fsfs_pack *p,
			     const struct fm_buf *text)
{
	struct fm_buf again = FM_BUF_INIT;
	struct fm_err ignored;
	bool is_same =
		fsfs_read_small(p->dir, "manifest", MANIFEST_MAX, &again,
				&ignored) == 0 &&
		again.len == text->len &&
		memcmp(fm_buf_text(&again), fm_buf_text(text), text->len) == 0;

	fm_buf_release(&again);
	return is_same;
}

static void wrong_map(const struct fsfs_pack *p, uint64_t revision,
		      const char *name, const char *what)
{
	char object[FSFS_RANGE];

	fsfs_found(p->report, FSFS_CHECK_REVPACK_MAP, p->manifest,
		   fsfs_range_name(revision, revision, object), "%s: %s", name,
		   what);
}

// A new run begins with this revision.
static void check_run(const struct fsfs_pack *p, const struct fsfs_names *names,
		      uint64_t revision, struct fm_text text)
{
	struct fsfs_revpack_name decoded;
	char name[64];
	struct stat st;

	if (text.len >= sizeof(name) || !fsfs_revpack_name(text, &decoded)) {
		wrong_map(p, revision, "the line",
			  "not of the form START.COUNTER");
		return;
	}
	memcpy(name, text.p, text.len);
	name[text.len] = '\0';
	if (decoded.start != revision)
		wrong_map(p, revision, name,
			  "does not begin with this revision");
	else if (!fsfs_names_have(names, name))
		wrong_map(p, revision, name, "there is no such file");
	else if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		 st.st_size == 0)
		wrong_map(p, revision, name, "the file is empty");
}

static bool is_named(const struct fm_buf *text, const char *name)
{
	struct fm_reader r;
	struct fm_line line;

	fm_reader_init(&r, fm_buf_text(text), text->len);
	while (fm_text_line(&r, &line))
		if (fm_text_is(line.text, name))
			return true;
	return false;
}

static void check_orphans(const struct fsfs_pack *p,
			  const struct fsfs_names *names,
			  const struct fm_buf *text)
{
	struct fm_buf path = FM_BUF_INIT;

	for (size_t i = 0; i < names->n; i++) {
		const char *name = names->at[i];
		struct fm_text as_text = {name, strlen(name)};
		struct fsfs_revpack_name decoded;

		if (strcmp(name, "manifest") == 0 || is_named(text, name))
			continue;
		if (!fsfs_revpack_name(as_text, &decoded)) {
			check_stray(p, name);
			continue;
		}
		fm_buf_clear(&path);
		fm_buf_printf(&path, "%s/%s", p->path, name);
		fsfs_found(p->report, FSFS_CHECK_REVPACK_ORPHAN, path.data,
			   NULL, "the manifest does not name it");
	}
	fm_buf_release(&path);
}

static void check_lines(const struct fsfs_pack *p,
			const struct fsfs_names *names,
			const struct fm_buf *text)
{
	uint64_t first = p->k == 0 ? 1 : p->first;
	uint64_t expected = p->first + p->shard - first, n = 0;
	struct fm_text before = {"", 0};
	struct fm_line line = {.has_eol = true};
	struct fm_reader r;

	fm_reader_init(&r, fm_buf_text(text), text->len);
	for (; fm_text_line(&r, &line); n++) {
		bool is_same = line.text.len == before.len &&
			       memcmp(line.text.p, before.p, before.len) == 0;

		if (!is_same && n < expected)
			check_run(p, names, first + n, line.text);
		before = line.text;
	}
	if (n != expected)
		fsfs_found(p->report, FSFS_CHECK_REVPACK_MANIFEST, p->manifest,
			   p->object, "%ju lines, expected %ju", (uintmax_t)n,
			   (uintmax_t)expected);
	else if (!line.has_eol)
		fsfs_found(p->report, FSFS_CHECK_REVPACK_MANIFEST, p->manifest,
			   p->object, "the last line has no line feed");
}

int fsfs_verify_revpack(const struct fsfs_pack *p, struct fm_err *err)
{
	struct fm_buf text = FM_BUF_INIT;
	struct fsfs_names names = {.n = 0};
	struct fm_err why;
	int rc = 0;

	/* Names and manifest must be of one state of the pack. */
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		fm_buf_clear(&text);
		fsfs_names_release(&names);
		if (fsfs_read_small(p->dir, "manifest", MANIFEST_MAX, &text,
				    &why) != 0) {
			fsfs_found(p->report, FSFS_CHECK_REVPACK_MANIFEST,
				   p->manifest, p->object, "%s",
				   why.sys == ENOENT ? "the file is missing"
						     : why.msg);
			break;
		}
		rc = fsfs_names_read(p->dir, ".", NAMES_MAX, &names, err);
		if (rc != 0)
			break;
		if (!is_same_manifest(p, &text))
			continue;
		check_lines(p, &names, &text);
		check_orphans(p, &names, &text);
		break;
	}
	fsfs_names_release(&names);
	fm_buf_release(&text);
	return rc;
}
