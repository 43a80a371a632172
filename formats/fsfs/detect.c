// SPDX-License-Identifier: GPL-2.0-or-later
// What a repository is, in a few hundred system calls whatever its size.

#include "formats/fsfs/detect.h"

#include "formats/fsfs/halfdone.h"

#include "lib/textrec.h"
#include "lib/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { SMALL_MAX = 4096 };

const char *fsfs_shell_word(const char *path, struct fm_arena *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	struct fm_buf word = FM_BUF_INIT;
	const char *copy;

	if (path[0] == '-')
		fm_buf_puts(&word, "./");
	if (path[0] && strspn(path, plain) == strlen(path)) {
		fm_buf_puts(&word, path);
	} else {
		fm_buf_puts(&word, "'");
		for (; *path; path++)
			if (*path == '\'')
				fm_buf_puts(&word, "'\"'\"'");
			else
				fm_buf_add(&word, path, 1);
		fm_buf_puts(&word, "'");
	}
	copy = fm_arena_strdup(out, word.data);
	fm_buf_release(&word);
	return copy;
}

// The first advice stands. Between before and after: the path, quoted.
static void advise(struct fm_facts *f, const char *before, const char *path,
		   const char *after)
{
	if (!f->advice)
		f->advice =
			fm_arena_printf(f->out, "%s%s%s", before,
					fsfs_shell_word(path, f->out), after);
}

static void describe_other(const struct fsfs *fs, struct fm_facts *f)
{
	fm_facts_text(f, "back_end", "back end", "%s",
		      fs->is_bdb ? "BerkeleyDB" : "FSX");
	if (fs->is_bdb)
		advise(f,
		       "convert it with svnadmin of the version that made it: "
		       "svnadmin dump ",
		       fs->path,
		       " | svnadmin load NEW, NEW being an FSFS repository");
	else
		advise(f,
		       "no released Subversion reads it; with the version "
		       "that made it: svnadmin dump ",
		       fs->path, "");
}

// REPO/format, when it is a number.
static void describe_repos(const struct fsfs *fs, struct fm_facts *f)
{
	struct fm_buf bytes = FM_BUF_INIT;
	struct fm_reader r;
	struct fm_line line;
	struct fm_err ignored;
	uint64_t number;

	if (fs->repos >= 0 && fsfs_read_small(fs->repos, "format", SMALL_MAX,
					      &bytes, &ignored) == 0) {
		fm_reader_init(&r, fm_buf_text(&bytes), bytes.len);
		if (fm_text_line(&r, &line) &&
		    fm_text_number(line.text, UINT32_MAX, &number))
			fm_facts_number(f, "repository_format",
					"repository format", number);
	}
	fm_buf_release(&bytes);
}

// False when nothing more can be said of this repository.
static bool describe_format(const struct fsfs *fs, struct fm_facts *f)
{
	const struct fsfs_traits *t = &fs->traits;

	switch (t->state) {
	case FSFS_FORMAT_GUARD:
		fm_facts_text(f, "guard", "guard", "%s",
			      "an unfinished conversion keeps every program "
			      "out");
		f->is_unfinished = true;
		return false;
	case FSFS_FORMAT_DAMAGED:
	case FSFS_FORMAT_UNKNOWN:
		fm_facts_text(f, "problem", "problem", "db/format: %s",
			      t->problem);
		f->is_damaged = true;
		advise(f, "fsverify ", fs->path, "");
		return false;
	case FSFS_FORMAT_MISSING:
	case FSFS_FORMAT_KNOWN: break;
	}
	fm_facts_number(f, "fsfs_format", "FSFS format", t->number);
	if (t->state == FSFS_FORMAT_MISSING)
		f->last->text = "(db/format is missing, which means 1)";
	fm_facts_text(f, "layout", "layout", "%s",
		      fsfs_layout_name(t->shard, f->out));
	if (t->shard)
		fm_facts_number(f, "shard_size", "shard size", t->shard);
	fm_facts_text(f, "addressing", "addressing", "%s",
		      t->is_logical ? "logical" : "physical");
	return true;
}

static void problem(const struct fsfs *fs, struct fm_facts *f,
		    const struct fm_err *err)
{
	if (!f->is_damaged) /* fsverify tells of all of them */
		fm_facts_text(f, "problem", "problem", "%s", err->msg);
	f->is_damaged = true;
	advise(f, "fsverify ", fs->path, "");
}

static void describe_standing(const struct fsfs *fs, struct fsfs_standing *s,
			      struct fm_facts *f)
{
	const struct fsfs_traits *t = &fs->traits;
	struct fsfs_current current;
	struct fm_err err;

	if (fsfs_current_read(fs, &current, &err) == 0) {
		s->has_youngest = true;
		s->youngest = current.youngest;
		fm_facts_number(f, "youngest", "youngest revision",
				current.youngest);
	} else {
		problem(fs, f, &err);
	}
	if (!t->has_min_unpacked || t->shard == 0) {
		s->has_min_unpacked = true;
		return;
	}
	if (fsfs_min_unpacked_read(fs, &s->min_unpacked, &err) != 0) {
		problem(fs, f, &err);
		return;
	}
	s->has_min_unpacked = true;
	fm_facts_number(f, "min_unpacked_rev", "first unpacked revision",
			s->min_unpacked);
	fm_facts_text(f, "packed_revprops", "revision properties", "%s",
		      s->min_unpacked == 0      ? "not packed"
		      : !t->has_packed_revprops ? "not packed (this format "
						  "cannot)"
						: "packed like the revisions");
}

static void describe_uuids(const struct fsfs *fs, struct fm_facts *f)
{
	struct fm_buf bytes = FM_BUF_INIT;
	struct fm_reader r;
	struct fm_line line;
	struct fm_err err;

	if (fsfs_read_small(fs->db, "uuid", SMALL_MAX, &bytes, &err) != 0) {
		problem(fs, f, &err);
	} else {
		fm_reader_init(&r, fm_buf_text(&bytes), bytes.len);
		if (fm_text_line(&r, &line))
			fm_facts_text(f, "uuid", "UUID", "%.*s",
				      (int)fm_min_u64(line.text.len, 100),
				      line.text.p);
		if (fs->traits.has_instance_id && fm_text_line(&r, &line))
			fm_facts_text(f, "instance_id", "instance id", "%.*s",
				      (int)fm_min_u64(line.text.len, 100),
				      line.text.p);
	}
	fm_buf_release(&bytes);
}

static void describe_versions(const struct fsfs_traits *t, struct fm_facts *f)
{
	static const char *const svndiffs[] = {"0", "1", "2"};

	fm_facts_list(f, "svndiff", "svndiff versions", svndiffs,
		      t->max_svndiff + 1);
	fm_facts_text(f, "readers", "can be read by", "Subversion %s",
		      fsfs_traits_readers(t));
}

static void describe_journals(const struct fsfs *fs, struct fm_facts *f)
{
	struct fm_txn_look look = {.state = FM_TXN_CLEAN};
	struct fm_err err;
	const char *text = "none";

	if (fm_txn_look(fs->db, FSFS_JOURNALS, f->out, &look, &err) != 0) {
		fm_facts_text(f, "journal", "conversion", "%s", err.msg);
		f->is_unfinished = true;
		f->advice = NULL;
		advise(f,
		       "a journal that cannot be read is in the way: "
		       "fsverify ",
		       fs->path, " tells more");
		return;
	}
	if (look.state == FM_TXN_UNFINISHED) {
		text = "interrupted";
		f->is_unfinished = true;
		f->advice = NULL;
		advise(f, "fsconvert --resume ", fs->path,
		       fm_arena_printf(f->out,
				       " finishes the interrupted conversion, "
				       "fsconvert --undo %s takes it back",
				       fsfs_shell_word(fs->path, f->out)));
	} else if (look.state == FM_TXN_RUNNING) {
		text = "running";
	}
	fm_facts_text(f, "journal", "unfinished conversion", "%s", text);
	fm_facts_number(f, "finished_journals", "finished conversions",
			look.n_finished);
	if (look.newest)
		f->last->text =
			fm_arena_printf(f->out, "(newest: %s)", look.newest);
}

// Does revision 0 (or its pack) lie where the layout says?
static bool is_layout_true(const struct fsfs *fs)
{
	const char *path = fs->traits.shard ? "revs/0/0" : "revs/0";
	struct stat st;

	if (fstatat(fs->db, path, &st, 0) == 0 && S_ISREG(st.st_mode))
		return true;
	return fs->traits.shard && fstatat(fs->db, "revs/0.pack", &st, 0) == 0;
}

static void describe_advice(const struct fsfs *fs, struct fm_facts *f)
{
	if (!is_layout_true(fs)) {
		f->is_damaged = true;
		advise(f, "revision 0 is not where db/format says: fsverify ",
		       fs->path, " tells more");
	} else if (fs->traits.shard == 0) {
		advise(f, "fsconvert ", fs->path,
		       " makes it sharded, in place, while servers go on");
	} else {
		advise(f, "nothing to convert; fsverify ", fs->path,
		       " checks it");
	}
}

static void describe_halfdone(const struct fsfs *fs, struct fm_facts *f)
{
	if (!fsfs_looks_halfdone(fs))
		return;
	f->is_damaged = true;
	fm_facts_text(f, "resharding", "resharding script", "stopped half-way");
	advise(f, "fsconvert ", fs->path,
	       " finishes what a resharding script began");
}

int fsfs_describe(struct fm_target *t, const struct fm_options *opts,
		  struct fm_facts *facts, struct fm_err *err)
{
	const struct fsfs *fs = t->view;
	struct fsfs_standing standing = {.has_youngest = false};

	(void)err;
	if (fs->is_bdb || fs->is_fsx) {
		describe_other(fs, facts);
		return 0;
	}
	describe_repos(fs, facts);
	describe_halfdone(fs, facts);
	if (describe_format(fs, facts)) {
		describe_standing(fs, &standing, facts);
		describe_versions(&fs->traits, facts);
		describe_uuids(fs, facts);
		fsfs_detect_size(fs, &standing, opts->is_full, facts);
		fsfs_detect_side(fs, opts->is_full, facts);
		describe_advice(fs, facts);
	}
	describe_journals(fs, facts);
	if (facts->is_unfinished)
		advise(facts, "restore db/format of ", fs->path,
		       " from a backup: its guard has no readable journal");
	return 0;
}
