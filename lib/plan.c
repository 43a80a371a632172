// SPDX-License-Identifier: GPL-2.0-or-later
// Building a plan, and printing it step by step.

#include "lib/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

void fm_plan_init(struct fm_plan *p, struct fm_arena *out)
{
	memset(p, 0, sizeof(*p));
	p->out = out;
	p->root = -1;
	p->copy_from = -1;
}

void fm_plan_add_tree(struct fm_plan *p, const char *name, uint64_t from,
		      uint64_t to, bool is_mutable)
{
	assert(p->n_trees < FM_PLAN_MAX_TREES);
	p->trees[p->n_trees++] = (struct fm_plan_tree){
		.name = name, .from = from, .to = to, .is_mutable = is_mutable};
}

static void add_file(struct fm_plan *p, struct fm_plan_file f)
{
	assert(p->n_files < FM_PLAN_MAX_FILES);
	p->files[p->n_files++] = f;
}

void fm_plan_add_write(struct fm_plan *p, const char *path, const char *data,
		       size_t len, const char *like)
{
	add_file(p, (struct fm_plan_file){
			    .kind = FM_FILE_WRITE,
			    .path = path,
			    .data = fm_arena_memdup(p->out, data, len),
			    .len = len,
			    .like = like});
}

void fm_plan_add_mkdir(struct fm_plan *p, const char *path, const char *like)
{
	add_file(p, (struct fm_plan_file){
			    .kind = FM_FILE_MKDIR, .path = path, .like = like});
}

void fm_plan_add_remove(struct fm_plan *p, const char *path)
{
	add_file(p,
		 (struct fm_plan_file){.kind = FM_FILE_REMOVE, .path = path});
}

void fm_plan_add_note(struct fm_plan *p, const char *key, const char *value)
{
	assert(p->n_notes < FM_PLAN_MAX_NOTES);
	p->notes[p->n_notes].key = fm_arena_strdup(p->out, key);
	p->notes[p->n_notes].value = fm_arena_strdup(p->out, value);
	p->n_notes++;
}

void fm_plan_add_after(struct fm_plan *p, const char *line)
{
	assert(p->n_after < FM_PLAN_MAX_AFTER);
	p->after[p->n_after++] = fm_arena_strdup(p->out, line);
}

static const char *shape(uint64_t shard, uint64_t packed, struct fm_arena *out)
{
	if (packed)
		return fm_arena_printf(out,
				       "directories of %" PRIu64
				       ", 0 to %" PRIu64 " in packs",
				       shard, packed - 1);
	if (shard == 0)
		return "one directory";
	return fm_arena_printf(out, "directories of %" PRIu64, shard);
}

static const char *tree_step(const struct fm_plan *p,
			     const struct fm_plan_tree *t, struct fm_arena *out)
{
	static const char *const verb[] = {
		[FM_MODE_LINK] = "link",
		[FM_MODE_RENAME] = "move",
		[FM_MODE_COPY] = "copy",
		[FM_MODE_STEPS] = "make anew",
	};

	return fm_arena_printf(out, "%s %" PRIu64 " files of %s/ from %s to %s",
			       verb[p->mode], p->highest + 1, t->name,
			       shape(t->from, t->from_packed, out),
			       shape(t->to, t->to_packed, out));
}

static const char *file_step(const struct fm_plan_file *f, struct fm_arena *out)
{
	switch (f->kind) {
	case FM_FILE_MKDIR: return fm_arena_printf(out, "make %s/", f->path);
	case FM_FILE_REMOVE: return fm_arena_printf(out, "remove %s", f->path);
	case FM_FILE_WRITE: break;
	}
	return fm_arena_printf(out, "write %s (%zu bytes)", f->path, f->len);
}

// What one step does is the same for all of them.
static const char *shard_step(const struct fm_plan *p,
			      const struct fm_plan_tree *t,
			      struct fm_arena *out)
{
	uint64_t n = p->steps.to > p->steps.from ? p->steps.to - p->steps.from
						 : p->steps.from - p->steps.to;

	return fm_arena_printf(out,
			       "%s %" PRIu64 " directories of %s/, one by one, "
			       "%" PRIu64 " numbers each",
			       p->operation, n / p->steps.by, t->name,
			       p->steps.by);
}

const char *fm_plan_step(const struct fm_plan *p, size_t i,
			 struct fm_arena *out)
{
	if (i < p->n_trees && p->mode == FM_MODE_STEPS)
		return shard_step(p, &p->trees[i], out);
	if (i < p->n_trees)
		return tree_step(p, &p->trees[i], out);
	i -= p->n_trees;
	if (i < p->n_files)
		return file_step(&p->files[i], out);
	i -= p->n_files;
	if (i == 0 && p->marker && p->mode != FM_MODE_COPY &&
	    p->mode != FM_MODE_STEPS)
		return fm_arena_printf(out, "switch %s (commit point)",
				       p->marker);
	return NULL;
}
