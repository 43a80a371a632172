// SPDX-License-Identifier: GPL-2.0-or-later
// Packing and unpacking: one shard a step, behind db/min-unpacked-rev.
//
//	pack    shard K -> K.pack, upward,   the pointer becomes (K+1)*S
//	unpack  K.pack -> shard K, downward, the pointer becomes K*S
//
// Revision properties go along where the format packs them; those of revision
// 0 never do. Readers follow the pointer, so every state is a valid one.

#include "formats/fsfs/convert.h"
#include "formats/fsfs/repack.h"
#include "formats/fsfs/revprops.h"

#include "lib/autofd.h"
#include "lib/numtree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REVS, REVPROPS };

struct packing {
	const struct fsfs *fs;
	struct fsfs_conf conf;
	bool packs; /* else unpacks */
};

// The shard that a step away from `at` is about.
static uint64_t shard_of(const struct packing *p, uint64_t at)
{
	uint64_t k = at / p->fs->traits.shard;

	return p->packs ? k : k - 1;
}

static void names(const struct fm_plan *plan, size_t tree, uint64_t at,
		  const char **made, const char **gone)
{
	const struct packing *p = plan->ctx;
	uint64_t k = shard_of(p, at);
	const char *loose = fm_arena_printf(plan->out, "%" PRIu64, k);
	const char *pack = fm_arena_printf(plan->out, "%" PRIu64 ".pack", k);

	*made = p->packs ? pack : loose;
	*gone = p->packs ? loose : pack;
	if (tree == REVPROPS && !p->fs->traits.has_packed_revprops)
		*made = *gone = NULL;
}

static int open_tree(const struct packing *p, size_t tree, int *fd,
		     struct fm_err *err)
{
	const char *name = tree == REVS ? "revs" : "revprops";

	*fd = openat(p->fs->db, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return fm_err_sys(err, errno, "cannot open %s", name);
	return 0;
}

static int build_revs(const struct packing *p, int top, uint64_t at,
		      const struct fm_stage *stage, struct fm_err *err)
{
	uint64_t size = p->fs->traits.shard, first = shard_of(p, at) * size;
	struct fsfs_revs from;
	int rc = 0;

	fsfs_revs_init(&from, top, &p->fs->traits, at);
	if (p->packs)
		rc = fsfs_make_pack(&from, first, size, &p->conf, stage, err);
	for (uint64_t i = 0; !p->packs && i < size && rc == 0; i++)
		rc = fsfs_make_revision(&from, first + i, &p->conf, stage, err);
	fsfs_revs_release(&from);
	return rc;
}

// The file of revision 0 stays the very same one.
static int keep_zero(int top, const struct fm_stage *stage, struct fm_err *err)
{
	FM_AUTOFD int dir = openat(
		top, "0", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0)
		return fm_err_sys(err, errno, "cannot open revprops/0");
	return fm_stage_link(stage, dir, "0", "0", err);
}

static int build_props(const struct packing *p, int top, uint64_t at,
		       const struct fm_stage *stage, struct fm_err *err)
{
	uint64_t size = p->fs->traits.shard, first = shard_of(p, at) * size;
	struct fsfs_props from;
	int rc = 0;

	fsfs_props_init(&from, top, size, at);
	if (p->packs)
		rc = fsfs_make_props_pack(&from, first, size, &p->conf, stage,
					  err);
	else if (first == 0)
		rc = keep_zero(top, stage, err);
	for (uint64_t r = first ? first : 1;
	     !p->packs && r < first + size && rc == 0; r++)
		rc = fsfs_make_props_file(&from, r, stage, err);
	fsfs_props_release(&from);
	return rc;
}

static int build(struct fm_plan *plan, size_t tree, uint64_t at,
		 const struct fm_stage *stage, struct fm_err *err)
{
	const struct packing *p = plan->ctx;
	FM_AUTOFD int top = -1;

	if (open_tree(p, tree, &top, err) != 0)
		return err->code;
	return tree == REVS ? build_revs(p, top, at, stage, err)
			    : build_props(p, top, at, stage, err);
}

// What was made, read back: every revision byte for byte (physical) or item
// for item (logical), every property list byte for byte.
static int check(struct fm_plan *plan, size_t tree, uint64_t at, int made_top,
		 struct fm_err *err)
{
	const struct packing *p = plan->ctx;
	uint64_t size = p->fs->traits.shard, first = shard_of(p, at) * size;
	uint64_t made_packed = p->packs ? first + size : 0;
	FM_AUTOFD int top = -1;
	int rc;

	if (open_tree(p, tree, &top, err) != 0)
		return err->code;
	if (tree == REVS) {
		struct fsfs_revs from, made;

		fsfs_revs_init(&from, top, &p->fs->traits, at);
		fsfs_revs_init(&made, made_top, &p->fs->traits, made_packed);
		rc = fsfs_check_made(&from, &made, first, size, err);
		fsfs_revs_release(&from);
		fsfs_revs_release(&made);
	} else {
		struct fsfs_props from, made;
		uint64_t skip = first == 0;

		fsfs_props_init(&from, top, size, at);
		fsfs_props_init(&made, made_top, size, made_packed);
		rc = fsfs_check_props(&from, &made, first + skip, size - skip,
				      err);
		fsfs_props_release(&from);
		fsfs_props_release(&made);
	}
	return rc;
}

static struct fm_journal_field pointer_bytes(struct fm_arena *out, uint64_t n)
{
	const char *text = fm_arena_printf(out, "%" PRIu64 "\n", n);

	return (struct fm_journal_field){text, strlen(text)};
}

int fsfs_plan_steps(const struct fsfs *fs, uint64_t from, uint64_t to,
		    struct fm_plan *plan, struct fm_err *err)
{
	struct packing *p = fm_arena_alloc(plan->out, sizeof(*p));
	struct fsfs_current current;

	p->fs = fs;
	p->packs = to > from;
	if (fsfs_conf_read(fs, &p->conf, err) != 0 ||
	    fsfs_current_read(fs, &current, err) != 0)
		return err->code;
	plan->operation = p->packs ? "pack" : "unpack";
	plan->title = fm_arena_printf(
		plan->out,
		"%s r%" PRIu64 " to r%" PRIu64 ", %" PRIu64 " shards",
		plan->operation, p->packs ? from : to,
		(p->packs ? to : from) - 1,
		(p->packs ? to - from : from - to) / fs->traits.shard);
	plan->mode = FM_MODE_STEPS;
	plan->root = fs->db;
	plan->root_path = fs->db_path;
	plan->journals = FSFS_JOURNALS;
	plan->marker = "min-unpacked-rev";
	plan->old_marker = pointer_bytes(plan->out, from);
	plan->new_marker = pointer_bytes(plan->out, to);
	plan->bound = "current";
	plan->highest = current.youngest;
	plan->junk = "svn-";
	plan->locks[plan->n_locks++] = "write-lock";
	if (fs->traits.has_pack_lock)
		plan->build_lock = "pack-lock";
	fm_plan_add_tree(plan, "revs", fs->traits.shard, fs->traits.shard,
			 false);
	fm_plan_add_tree(plan, "revprops", fs->traits.shard, fs->traits.shard,
			 true);
	plan->steps = (struct fm_plan_steps){
		.pointer = plan->marker,
		.from = from,
		.to = to,
		.by = fs->traits.shard,
		.names = names,
		.build = build,
		.check = check,
	};
	plan->trees[REVPROPS].n_loose = 1;
	plan->ctx = p;
	return 0;
}

static int pointer_of(const struct fm_journal *j, size_t field, uint64_t *n,
		      struct fm_err *err)
{
	const struct fm_journal_record *r =
		fm_journal_find(j, "marker", "min-unpacked-rev");
	const char *text = fm_journal_text(r, field);
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%.*s", (int)strcspn(text, "\n"),
		       text);
	if (r && fm_num_parse(digits, n))
		return 0;
	return fm_err_set(err, FM_E_FORMAT,
			  "the journal lacks its marker record");
}

int fsfs_resume_steps(const struct fsfs *fs, const struct fm_journal *j,
		      struct fm_plan *plan, struct fm_err *err)
{
	uint64_t from = 0, to = 0, now = 0;

	if (pointer_of(j, 2, &from, err) != 0 ||
	    pointer_of(j, 3, &to, err) != 0 ||
	    fsfs_min_unpacked_read(fs, &now, err) != 0 ||
	    fsfs_plan_steps(fs, from, to, plan, err) != 0)
		return err->code;
	plan->undoes = fm_journal_note(j, "undoes");
	plan->is_partial = fm_journal_note(j, "carry") != NULL;
	plan->back = fm_arena_alloc(plan->out, sizeof(*plan->back));
	fm_plan_init(plan->back, plan->out);
	return fsfs_plan_steps(fs, now, from, plan->back, err);
}

int fsfs_undo_steps(const struct fsfs *fs, const struct fm_journal *j,
		    const struct fm_options *opts, struct fm_plan *plan,
		    struct fm_err *err)
{
	uint64_t was = 0, now = 0;

	if (pointer_of(j, 2, &was, err) != 0 ||
	    fsfs_min_unpacked_read(fs, &now, err) != 0 ||
	    (was < now && fsfs_need_stopped(fs, false, opts, err) != 0))
		return err->code;
	if (was % fs->traits.shard)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "the shard size has changed since");
	return fsfs_plan_steps(fs, now, was, plan, err);
}
