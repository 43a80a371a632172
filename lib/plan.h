/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan: the ordered, printable list of intended changes to one target.
 *
 * Formats build plans, lib/txn.c applies them. Steps are rules ("every
 * revision from one shape to another"), not two million records: the file
 * system itself shows how far a rule has come. All text and arrays of a plan
 * live in the arena that its maker was given.
 *
 * Every plan has one marker: a small file whose replacement by rename is the
 * commit point. Its three contents are old, guard (which makes every program
 * refuse the target meanwhile) and new.
 */
#ifndef FM_LIB_PLAN_H
#define FM_LIB_PLAN_H

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/journal.h"
#include "lib/out.h"

enum fm_mode {
	FM_MODE_LINK,   /* build the new tree of hard links, then exchange */
	FM_MODE_RENAME, /* move files while the guard is up */
	FM_MODE_COPY,   /* write another target, leave this one alone */
	FM_MODE_STEPS, /* directories replaced one by one, each at once valid */
};

/* A numbered tree (lib/numtree.h) that changes its shape. */
struct fm_plan_tree {
	const char *name;  /* below the root: "revs" */
	uint64_t from, to; /* shard sizes, 0 = flat */
	bool is_mutable;   /* files may be replaced by others meanwhile */
	/* Packs (fm_plan_units): may this tree have them, how many numbers
	   are in packs before and after (RENAME, COPY), and how many from 0
	   on never are. */
	bool has_packs;
	uint64_t from_packed, to_packed;
	uint64_t n_loose;
};

/*
 * Numbers may lie together in a pack, a directory with the name of their shard
 * and a suffix, whose files the format alone knows. A unit is a directory that
 * is made anew: a pack, or a shard out of packs. The transaction layer gives
 * the format a place for it, has it compared, and puts it under its name.
 */
struct fm_plan;

struct fm_plan_shape {
	uint64_t shard;  /* numbers a directory, 0 = flat */
	uint64_t packed; /* numbers below this are in packs */
};

struct fm_plan_unit {
	size_t tree;
	int source; /* open: the top directory where the numbers lie now */
	struct fm_plan_shape is, becomes; /* there, and in the unit */
	uint64_t first, end;              /* numbers [first, end) */
};

struct fm_plan_units {
	const char *suffix; /* of a pack's name; NULL: there are no packs */
	void *ctx;          /* owned by the format */
	/* Fills the stage; compares what is in top/NAME with the source. */
	int (*build)(const struct fm_plan_units *units,
		     const struct fm_plan_unit *unit,
		     const struct fm_stage *stage, struct fm_err *err);
	int (*check)(const struct fm_plan_units *units,
		     const struct fm_plan_unit *unit, int top,
		     struct fm_err *err);
};

/*
 * FM_MODE_STEPS: in each step one unit of every tree is made, put in place,
 * and only then the directory that it replaces goes. A pointer file says how
 * far it is: a number that every reader follows, so the target is valid after
 * each step, and between any two calls.
 */
struct fm_plan_steps {
	const char *pointer; /* file below the root that holds the number */
	uint64_t from, to;   /* its value before and after all */
	uint64_t by;         /* what one step adds to it, or takes away */
};

/* A small file that changes at the switch. */
enum fm_plan_file_kind { FM_FILE_WRITE, FM_FILE_MKDIR, FM_FILE_REMOVE };

struct fm_plan_file {
	enum fm_plan_file_kind kind;
	const char *path; /* below the root */
	const char *data; /* of WRITE */
	size_t len;
	const char *like; /* whose mode and owner a new file takes */
};

struct fm_plan_note {
	const char *key, *value;
};

enum {
	FM_PLAN_MAX_TREES = 4,
	FM_PLAN_MAX_FILES = 8,
	FM_PLAN_MAX_NOTES = 12,
	FM_PLAN_MAX_LOCKS = 3,
	FM_PLAN_MAX_HOLLOW = 4,
	FM_PLAN_MAX_AFTER = 8
};

struct fm_plan {
	struct fm_arena *out;
	const char *operation; /* one word: "layout" */
	const char *title;     /* "layout linear to sharded 1000" */
	enum fm_mode mode;
	bool is_empty; /* nothing to do; title says why */

	int root;              /* directory of the target, open */
	const char *root_path; /* its name, for messages */
	const char *journals;  /* directory of journals below it */

	const char *marker; /* file below root: "format" */
	/* An old one of length 0: there was no such file. */
	struct fm_journal_field old_marker, guard, new_marker;

	const char *bound; /* file whose first decimal is the highest
				   number of every tree, read again as needed */
	uint64_t highest;  /* that number when the plan was made */

	const char *locks[FM_PLAN_MAX_LOCKS]; /* outermost first */
	size_t n_locks;
	const char *build_lock; /* the one to hold while building, or NULL */
	/* Of RENAME from flat: numbers may lie in shards already, named K or
	   K with this suffix, as another tool left them; also in a directory
	   of the root named like the tree with the other one. Or NULL. */
	const char *adopts, *adopts_beside;
	const char *junk; /* prefix of stale temporary names that may go with
			     the old trees, or NULL */

	struct fm_plan_tree trees[FM_PLAN_MAX_TREES];
	size_t n_trees;
	struct fm_plan_file files[FM_PLAN_MAX_FILES];
	size_t n_files;
	struct fm_plan_note notes[FM_PLAN_MAX_NOTES];
	size_t n_notes;

	/* Every path that .files may ever name: what a journal says beyond
	   that is not believed. */
	const char *const *file_names;
	size_t n_file_names;
	/* Recomputes .files from what lies there; called under the locks. */
	int (*settle)(struct fm_plan *plan, struct fm_err *err);
	void *ctx; /* of settle, owned by the format */

	struct fm_plan_units units;
	struct fm_plan_steps steps;
	struct fm_plan *back; /* of STEPS resumed: from here to the start */
	bool is_partial;      /* plan again afterwards: there is more to do */

	const char *undoes; /* record (NNNN-...) that this plan takes back */
	const char *after[FM_PLAN_MAX_AFTER]; /* last lines for the user */
	size_t n_after;

	/* FM_MODE_COPY: a new target at copy_to, where nothing is yet (or an
	   old one that `replace` allows to go). copy_from is the directory
	   to copy, and the plan's root lies below it as copy_base ("" when
	   they are the same). */
	const char *copy_to;
	bool replace;
	int copy_from;
	const char *copy_base;
	/* Below the root: directories that stay empty, names left out. */
	const char *hollow[FM_PLAN_MAX_HOLLOW];
	size_t n_hollow;
	const char *omitted[FM_PLAN_MAX_HOLLOW];
	size_t n_omitted;
	/* A file that others write in place: copied before the bound is
	   read, while hold(plan, true) keeps writers out; "" when it must be
	   left out. NULL: none. */
	const char *held;
	int (*hold)(struct fm_plan *plan, bool on, struct fm_err *err);
};

void fm_plan_init(struct fm_plan *p, struct fm_arena *out);
void fm_plan_add_tree(struct fm_plan *p, const char *name, uint64_t from,
		      uint64_t to, bool is_mutable);
void fm_plan_add_write(struct fm_plan *p, const char *path, const char *data,
		       size_t len, const char *like);
void fm_plan_add_mkdir(struct fm_plan *p, const char *path, const char *like);
void fm_plan_add_remove(struct fm_plan *p, const char *path);
void fm_plan_add_note(struct fm_plan *p, const char *key, const char *value);
void fm_plan_add_after(struct fm_plan *p, const char *line);

/* One line per step, for --dry-run; step 0.. until it returns NULL. */
const char *fm_plan_step(const struct fm_plan *p, size_t i,
			 struct fm_arena *out);

#endif
