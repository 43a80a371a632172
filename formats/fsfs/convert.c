// SPDX-License-Identifier: GPL-2.0-or-later
// Layout conversion: from what lies there and what is wanted to a plan.
//
// Contents never mention the layout (FORMAT, "Layouts"), so a conversion is
// two numbered trees that change their shape, some small files (settle.c) and
// the marker, db/format. Formats 1 and 2 have no layout option: they become 3
// when sharded.

#include "formats/fsfs/convert.h"

#include "formats/fsfs/halfdone.h"

#include "lib/autofd.h"
#include "lib/numtree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct fm_journal_field field(const struct fm_buf *b,
				     struct fm_arena *out)
{
	return (struct fm_journal_field){
		fm_arena_memdup(out, fm_buf_text(b), b->len), b->len};
}

static struct fm_journal_field encode_marker(const struct fsfs_traits *t,
					     struct fm_arena *out)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_journal_field f;

	fsfs_traits_encode(t, &b);
	f = field(&b, out);
	fm_buf_release(&b);
	return f;
}

static void add_locks(struct fm_plan *plan, const struct fsfs_traits *t)
{
	// Outermost first, as every Subversion takes them.
	if (t->has_txn_files)
		plan->locks[plan->n_locks++] = "txn-current-lock";
	if (t->has_pack_lock)
		plan->locks[plan->n_locks++] = "pack-lock";
	plan->locks[plan->n_locks++] = "write-lock";
	if (t->has_pack_lock)
		plan->build_lock = "pack-lock";
}

// What fsfs_settle may plan.
static const char *const small_files[] = {"current",       "uuid",
					  "txn-current",   "txn-current-lock",
					  "txn-protorevs", "min-unpacked-rev"};

static void add_advice(struct fm_plan *plan, const struct fsfs_conversion *c)
{
	fm_plan_add_after(plan,
			  "Restart servers of Subversion 1.8 and older that "
			  "have the repository open; newer ones notice by "
			  "themselves.");
	if (c->from.number != c->to.number)
		fm_plan_add_after(
			plan,
			fm_arena_printf(plan->out,
					"The repository is now format %u and "
					"needs Subversion %s.",
					c->to.number,
					fsfs_traits_readers(&c->to)));
	fm_plan_add_after(plan,
			  "The next incremental hotcopy into an old copy is "
			  "refused (E200007): make a new copy; backups by "
			  "file name copy everything once more.");
}

static const char *shape_name(uint64_t shard, uint64_t packed,
			      struct fm_arena *out)
{
	const char *layout = fsfs_layout_name(shard, out);

	if (packed == 0)
		return layout;
	return fm_arena_printf(out, "%s (packed below r%" PRIu64 ")", layout,
			       packed);
}

// Packs hold whole shards of revisions that exist, whatever min-unpacked-rev or
// a journal says.
static bool is_whole(uint64_t packed, uint64_t shard, uint64_t highest)
{
	return packed == 0 ||
	       (shard && packed % shard == 0 && packed <= highest + 1);
}

// Packs cannot be linked: they are made anew, while nobody reads them.
static int build_packs(const struct fsfs_conversion *c, struct fm_plan *plan,
		       struct fm_err *err)
{
	if (c->from_packed == 0 && c->to_packed == 0)
		return 0;
	if (!is_whole(c->from_packed, c->from.shard, plan->highest) ||
	    !is_whole(c->to_packed, c->to.shard, plan->highest))
		return fm_err_set(err, FM_E_FORMAT,
				  "packs that end at r%" PRIu64 " and r%" PRIu64
				  ": no whole shards, or beyond r%" PRIu64,
				  c->from_packed, c->to_packed, plan->highest);
	if (plan->mode == FM_MODE_LINK)
		plan->mode = FM_MODE_RENAME;
	if (fsfs_plan_packs(c->fs, &c->from, plan, err) != 0)
		return err->code;
	for (size_t i = 0; i < plan->n_trees; i++) {
		struct fm_plan_tree *tree = &plan->trees[i];

		tree->from_packed = tree->has_packs ? c->from_packed : 0;
		tree->to_packed = tree->has_packs ? c->to_packed : 0;
	}
	return 0;
}

// Everything of the plan but its operation and notes.
static int build(struct fsfs_conversion *c, enum fm_mode mode,
		 struct fm_plan *plan, struct fm_err *err)
{
	struct fsfs_current current;
	struct fm_arena *out = plan->out;

	if (fsfs_current_read(c->fs, &current, err) != 0)
		return err->code;
	plan->operation = "layout";
	plan->title = fm_arena_printf(
		out, "format %u %s to format %u %s", c->from.number,
		shape_name(c->from.shard, c->from_packed, out), c->to.number,
		shape_name(c->to.shard, c->to_packed, out));
	plan->mode = mode;
	plan->root = c->fs->db;
	plan->root_path = c->fs->db_path;
	plan->journals = FSFS_JOURNALS;
	plan->marker = "format";
	plan->guard = (struct fm_journal_field){FSFS_GUARD_TEXT,
						strlen(FSFS_GUARD_TEXT)};
	plan->bound = "current";
	plan->highest = current.youngest;
	plan->junk = "svn-";
	add_locks(plan, &c->from);
	fm_plan_add_tree(plan, "revs", c->from.shard, c->to.shard, false);
	fm_plan_add_tree(plan, "revprops", c->from.shard, c->to.shard, true);
	plan->settle = fsfs_settle;
	plan->file_names = small_files;
	plan->n_file_names = FM_ARRAY_SIZE(small_files);
	plan->ctx = c;
	add_advice(plan, c);
	return build_packs(c, plan, err);
}

static struct fsfs_conversion *new_conversion(struct fm_target *t,
					      struct fm_arena *out)
{
	struct fsfs_conversion *c = fm_arena_alloc(out, sizeof(*c));

	c->fs = t->view;
	c->out = out;
	c->from = c->fs->traits;
	c->to = c->from;
	return c;
}

static int parse_layout(const char *text, uint64_t *shard, struct fm_err *err)
{
	if (strcmp(text, "linear") == 0)
		*shard = 0;
	else if (strcmp(text, "sharded") == 0)
		*shard = FSFS_DEFAULT_SHARD;
	else if (!fm_num_parse(text, shard) || *shard == 0 ||
		 *shard > FSFS_SHARD_MAX)
		return fm_err_set(err, FM_E_USAGE,
				  "--layout takes linear, sharded or a number "
				  "from 1 to %d, not \"%s\"",
				  FSFS_SHARD_MAX, text);
	return 0;
}

static int refuse_state(const struct fsfs *fs, struct fm_err *err)
{
	if (fs->is_bdb)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "a BerkeleyDB repository: dump it with the "
				  "Subversion that wrote it and load the dump "
				  "into a new one");
	if (fs->is_fsx)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "an FSX repository (experimental): dump it "
				  "and load the dump into a new FSFS one");
	switch (fs->traits.state) {
	case FSFS_FORMAT_KNOWN:
	case FSFS_FORMAT_MISSING: return 0;
	case FSFS_FORMAT_GUARD:
		return fm_err_set(err, FM_E_FORMAT,
				  "db/format holds the guard of an unfinished "
				  "conversion, and its journal, which --resume "
				  "and --undo need, is lost: restore "
				  "db/" FSFS_JOURNALS " or db/format from a "
				  "backup");
	case FSFS_FORMAT_UNKNOWN:
	case FSFS_FORMAT_DAMAGED: break;
	}
	return fm_err_set(err, FM_E_UNSUPPORTED, "db/format: %s",
			  fs->traits.problem);
}

static int choose_target(struct fsfs_conversion *c,
			 const struct fm_options *opts, struct fm_err *err)
{
	// Nothing asked: linear becomes sharded, sharded stays as it is.
	if (opts->layout) {
		if (parse_layout(opts->layout, &c->to.shard, err) != 0)
			return err->code;
	} else if (c->from.shard == 0) {
		c->to.shard = FSFS_DEFAULT_SHARD;
	}
	if (c->to.shard && !c->to.can_shard)
		fsfs_traits_set_number(&c->to, FSFS_FIRST_SHARDED);
	if (c->to.shard == 0 && c->to.is_logical)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "logical addressing needs a sharded layout: "
				  "no Subversion reads a linear one");
	return 0;
}

static void add_notes(struct fm_plan *plan, const struct fsfs_conversion *c)
{
	struct fm_arena *out = plan->out;

	fm_plan_add_note(plan, "format",
			 fm_arena_printf(out, "%u", c->to.number));
	fm_plan_add_note(plan, "shard",
			 fm_arena_printf(out, "%" PRIu64, c->to.shard));
	if (c->from_packed == 0 && c->to_packed == 0)
		return;
	fm_plan_add_note(plan, "packed-from",
			 fm_arena_printf(out, "%" PRIu64, c->from_packed));
	fm_plan_add_note(plan, "packed-to",
			 fm_arena_printf(out, "%" PRIu64, c->to_packed));
}

static int refuse_target(const struct fm_options *opts, struct fm_err *err)
{
	FM_AUTOFD int fd =
		open(opts->copy_to, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || !opts->replace)
		return 0; /* nothing there, or refused where it is made */
	if (fstatat(fd, "format", &st, 0) == 0 &&
	    fstatat(fd, "db", &st, 0) == 0)
		return 0;
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "%s is not a repository: --force replaces only "
			  "those",
			  opts->copy_to);
}

// A copy is what svnadmin hotcopy makes: everything but open transactions.
static int plan_copy(const struct fsfs *fs, const struct fm_options *opts,
		     struct fm_plan *plan, struct fm_err *err)
{
	struct stat st;

	if (fs->repos < 0)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "only db/ is here: a copy needs the whole "
				  "repository");
	if (refuse_target(opts, err) != 0)
		return err->code;
	plan->title = fm_arena_printf(plan->out, "%s, as a copy in %s",
				      plan->title, opts->copy_to);
	plan->copy_to = opts->copy_to;
	plan->replace = opts->replace;
	plan->copy_from = fs->repos;
	plan->copy_base = "db";
	plan->hollow[plan->n_hollow++] = "transactions";
	plan->hollow[plan->n_hollow++] = "txn-protorevs";
	plan->omitted[plan->n_omitted++] = "rep-cache.db-journal";
	plan->n_after = 0;
	if (fstatat(fs->db, "rep-cache.db-journal", &st, 0) == 0 &&
	    st.st_size > 0) {
		plan->omitted[plan->n_omitted++] = "rep-cache.db";
		fm_plan_add_after(plan, "rep-cache.db was left out: its "
					"journal says that a commit was "
					"interrupted.");
	} else {
		plan->held = "rep-cache.db";
		plan->hold = fsfs_hold_rep_cache;
	}
	return 0;
}

static int plan_layout(struct fsfs_conversion *c, const struct fm_options *opts,
		       struct fm_plan *plan, struct fm_err *err)
{
	if (build(c, opts->mode, plan, err) != 0)
		return err->code;
	plan->old_marker = field(&c->fs->format_bytes, plan->out);
	plan->new_marker = encode_marker(&c->to, plan->out);
	add_notes(plan, c);
	if (opts->mode == FM_MODE_COPY && plan_copy(c->fs, opts, plan, err))
		return err->code;
	return fsfs_settle(plan, err);
}

// What a script began, finished: from linear, with some of it done already. If
// another layout is wanted, that comes afterwards.
static int plan_halfdone(struct fsfs_conversion *c,
			 const struct fsfs_halfdone *h,
			 const struct fm_options *opts, struct fm_plan *plan,
			 struct fm_err *err)
{
	uint64_t wanted = 0;

	if (opts->mode == FM_MODE_COPY || opts->packs)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "a resharding script was stopped half-way: "
				  "fsconvert --layout, in place, comes first");
	fsfs_traits_decode(FSFS_SCRIPT_FORMAT, strlen(FSFS_SCRIPT_FORMAT),
			   &c->from);
	c->to = c->from;
	if ((opts->layout && parse_layout(opts->layout, &wanted, err) != 0) ||
	    fsfs_halfdone_shard(h, wanted, &c->to.shard, err) != 0)
		return err->code;
	fsfs_traits_set_number(&c->to, FSFS_FIRST_SHARDED);
	if (build(c, FM_MODE_RENAME, plan, err) != 0)
		return err->code;
	plan->title = fm_arena_printf(
		plan->out, "what a resharding script began: %s", plan->title);
	fsfs_plan_adopts(plan);
	plan->old_marker = field(&c->fs->format_bytes, plan->out);
	plan->new_marker = encode_marker(&c->to, plan->out);
	add_notes(plan, c);
	fm_plan_add_note(plan, "adopts", "");
	if (opts->layout && wanted != c->to.shard) {
		struct fsfs_stages st = {.fs = c->fs, .shard = wanted};

		st.next = FSFS_STAGE_LAYOUT;
		fsfs_stages_note(&st, plan);
	}
	return fsfs_settle(plan, err);
}

int fsfs_plan_convert(struct fm_target *t, const struct fm_options *opts,
		      struct fm_plan *plan, struct fm_err *err)
{
	struct fsfs_conversion *c = new_conversion(t, plan->out);
	struct fsfs_stages st = {.fs = c->fs, .shard = 0};
	struct fsfs_halfdone h;

	if (fsfs_is_halfdone(c->fs, &h))
		return plan_halfdone(c, &h, opts, plan, err);
	if (refuse_state(c->fs, err) != 0 || choose_target(c, opts, err) != 0)
		return err->code;
	st.shard = c->to.shard;
	if (fsfs_stages_find(&st, opts, err) != 0)
		return err->code;
	c->to.shard = st.shard;
	c->from_packed = st.packed;
	c->to_packed = st.goal;
	switch (st.next) {
	case FSFS_STAGE_LAYOUT:
		if (plan_layout(c, opts, plan, err) != 0)
			return err->code;
		break;
	case FSFS_STAGE_PACKS:
		if (fsfs_plan_steps(c->fs, st.packed, st.goal, plan, err) != 0)
			return err->code;
		break;
	case FSFS_STAGE_NONE:
		plan->is_empty = true;
		plan->title = fm_arena_printf(
			plan->out, "already %s%s",
			fsfs_layout_name(c->from.shard, plan->out),
			opts->packs     ? " and packed"
			: opts->unpacks ? " and unpacked"
					: "");
		break;
	}
	fsfs_stages_note(&st, plan);
	return 0;
}

static uint64_t number_note(const struct fm_journal *j, const char *key)
{
	const char *text = fm_journal_note(j, key);
	uint64_t n = 0;

	if (!text || !fm_num_parse(text, &n))
		n = 0;
	return n;
}

// Undo, with packs by now or then: today's revisions, as many packed as were,
// and whatever has been packed since.
static int undo_packs(struct fsfs_conversion *c, const struct fm_journal *j,
		      const struct fm_options *opts, struct fm_err *err)
{
	uint64_t then = number_note(j, "packed-from");

	if (c->from.has_min_unpacked &&
	    fsfs_min_unpacked_read(c->fs, &c->from_packed, err) != 0)
		return err->code;
	if (c->from_packed == 0 && then == 0)
		return 0;
	if (c->to.shard == 0)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "revisions 0 to %" PRIu64
				  " are packed by now: fsconvert --unpack "
				  "first",
				  c->from_packed - 1);
	c->to_packed =
		fm_max_u64(c->from_packed / c->to.shard * c->to.shard, then);
	return fsfs_need_stopped(c->fs, true, opts, err);
}

static int need_marker(const struct fm_journal *j,
		       const struct fm_journal_record **marker,
		       struct fm_err *err)
{
	*marker = fm_journal_find(j, "marker", "format");
	if (*marker && (*marker)->n_fields == 5)
		return 0;
	return fm_err_set(err, FM_E_FORMAT,
			  "the journal lacks its marker record");
}

// The format as it was. No file means format 1, unless a script took it away.
static void decode_old(const struct fm_journal *j,
		       const struct fm_journal_record *marker,
		       struct fsfs_traits *was)
{
	struct fm_journal_field old = marker->field[2];

	if (fm_journal_note(j, "adopts"))
		old = (struct fm_journal_field){FSFS_SCRIPT_FORMAT,
						strlen(FSFS_SCRIPT_FORMAT)};
	fsfs_traits_decode(old.len ? old.data : NULL, old.len, was);
}

int fsfs_plan_resume(struct fm_target *t, const struct fm_journal *j,
		     struct fm_plan *plan, struct fm_err *err)
{
	struct fsfs_conversion *c = new_conversion(t, plan->out);
	const struct fm_journal_record *begin =
		fm_journal_find(j, "begin", NULL);
	const struct fm_journal_record *marker, *old;
	enum fm_mode mode = FM_MODE_LINK;

	if (strcmp(fm_journal_text(begin, 2), "steps") == 0)
		return fsfs_resume_steps(c->fs, j, plan, err);
	if (need_marker(j, &marker, err) != 0)
		return err->code;
	if (strcmp(fm_journal_text(begin, 2), "rename") == 0)
		mode = FM_MODE_RENAME;
	else if (strcmp(fm_journal_text(begin, 2), "link") != 0)
		return fm_err_set(err, FM_E_FORMAT,
				  "the journal is of an unknown mode, \"%s\"",
				  fm_journal_text(begin, 2));
	// What the repository was when the conversion began: its format file
	// may hold the guard, or the new bytes, by now.
	decode_old(j, marker, &c->from);
	c->to = c->from;
	fsfs_traits_set_number(&c->to, (unsigned)number_note(j, "format"));
	c->to.shard = number_note(j, "shard");
	c->from_packed = number_note(j, "packed-from");
	c->to_packed = number_note(j, "packed-to");
	if (build(c, mode, plan, err) != 0)
		return err->code;
	plan->old_marker = marker->field[2];
	plan->new_marker = marker->field[3];
	plan->undoes = fm_journal_note(j, "undoes");
	plan->is_partial = fm_journal_note(j, FM_NOTE_MORE) != NULL;
	if (fm_journal_note(j, "adopts"))
		fsfs_plan_adopts(plan);
	old = fm_journal_find(j, "note", "old-current");
	if (old)
		c->old_current = &old->field[2];
	return 0;
}

// The way back is a new conversion of what lies there today to the recorded
// shape. The format number goes back too, if nothing else has raised it since.
int fsfs_plan_undo(struct fm_target *t, const struct fm_journal *j,
		   const struct fm_options *opts, struct fm_plan *plan,
		   struct fm_err *err)
{
	struct fsfs_conversion *c = new_conversion(t, plan->out);
	const struct fm_journal_record *marker, *saved;
	struct fsfs_traits was, became;

	plan->is_partial = fm_journal_note(j, FM_NOTE_FOLLOWS) != NULL;
	if (plan->is_partial)
		fm_plan_add_note(plan, FM_NOTE_MORE, "");
	if (refuse_state(c->fs, err) != 0)
		return err->code;
	if (strcmp(fm_journal_text(fm_journal_find(j, "begin", NULL), 2),
		   "steps") == 0)
		return fsfs_undo_steps(c->fs, j, opts, plan, err);
	if (need_marker(j, &marker, err) != 0)
		return err->code;
	decode_old(j, marker, &was);
	fsfs_traits_decode(marker->field[3].data, marker->field[3].len,
			   &became);
	if (c->from.number == became.number)
		fsfs_traits_set_number(&c->to, was.number);
	c->to.shard = was.shard;
	if (c->to.shard == 0 && c->to.is_logical)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "the repository has logical addressing by "
				  "now, which needs a sharded layout");
	saved = fm_journal_find(j, "save", "current");
	if (!c->to.has_txn_files && saved && saved->n_fields == 5)
		c->old_current = &saved->field[3];
	if (undo_packs(c, j, opts, err) != 0 ||
	    build(c, opts->mode, plan, err) != 0)
		return err->code;
	plan->old_marker = field(&c->fs->format_bytes, plan->out);
	plan->new_marker = encode_marker(&c->to, plan->out);
	// The very bytes, where they still say what is wanted.
	if (c->to.number == was.number && c->to.is_logical == was.is_logical &&
	    marker->field[2].len)
		plan->new_marker = marker->field[2];
	add_notes(plan, c);
	if (c->old_current)
		fm_plan_add_note(plan, "old-current", c->old_current->data);
	return fsfs_settle(plan, err);
}
