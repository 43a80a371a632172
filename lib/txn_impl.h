/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the transaction layer: shared by lib/txn*.c and by nothing else.
 *
 * txn.c          the state machine: apply, resume, undo, forget
 * txn_ops.c      single changes: link, rename, write a small file, sync
 * txn_journal.c  the journal as a file: create, append, reopen, finish
 * txn_tree.c     numbered trees: open, walk, remove
 * txn_link.c     link mode: build beside, catch up
 * txn_exchange.c link mode: exchange, take back, clean up
 * txn_move.c     rename mode: move under the guard, and back
 * txn_switch.c   guard, small files, marker; and their restoration
 * txn_steps.c    directories replaced one by one, behind a pointer
 * txn_units.c    directories made anew: packs, and shards out of packs
 * txn_repack.c   rename mode: packs of one size out of those of another
 * txn_copy.c     a converted copy in another place
 * txn_place.c    that place
 * txn_adopt.c    rename mode: shards that another tool left half filled
 * txn_walk.c     sync or remove a directory with all that is in it
 *
 * Names that the layer makes begin with ".fsmend-" and are the same in every
 * run, so that resume and undo find what a crash left.
 */
#ifndef FM_LIB_TXN_IMPL_H
#define FM_LIB_TXN_IMPL_H

#include "lib/lock.h"
#include "lib/numtree.h"
#include "lib/txn.h"

#include <sys/stat.h>

#define TXN_PREFIX  ".fsmend-"
#define TXN_STAGE   TXN_PREFIX "stage" /* inside a tree: rename mode */
#define TXN_BUILT   TXN_PREFIX "new"   /* marks a staged tree: link mode */
#define TXN_UNIT    TXN_PREFIX "unit"  /* inside a tree: one at work */
#define TXN_JOURNAL "journal"

/* A directory of one shape, with the descriptor of the shard last used. */
struct txn_dirs {
	int top;
	uint64_t shard;
	uint64_t current; /* number of the open shard */
	int fd;           /* -1: none open */
};

struct txn_tree {
	const struct fm_plan_tree *plan;
	int parent;  /* directory that holds it (not the root where the
			   tree is a symbolic link) */
	char *base;  /* its name there */
	char *stage; /* name of the new tree beside it: link mode */
	int live;    /* the tree that servers see, open */
	struct timespec times[2]; /* of it, when all began */
	int staged;               /* the new tree, open; -1 */
	bool is_exchanged; /* the live name already leads to the new tree */
	uint64_t count;    /* of numbers that lie in it, 0 when not counted */
	uint64_t n;        /* numbers [0, n) are staged */
	uint64_t proved;   /* numbers [0, proved) have their inode in ino */
	uint64_t *ino;     /* of staged files by number, cap entries */
	uint64_t cap;
};

struct txn {
	struct fm_plan *plan;
	const struct fm_txn_options *opts;
	struct fm_txn_result *result;
	struct fm_arena arena;
	int jdir, jfd;                    /* journal directory and file */
	uint64_t jlen;                    /* bytes of whole lines in it */
	const struct fm_journal *journal; /* as loaded when resuming or
					       rolling back, else NULL */
	bool is_fresh;                    /* this run wrote the journal */
	struct fm_lock build_lock;
	struct fm_lock locks[FM_PLAN_MAX_LOCKS];
	bool is_locked;
	bool is_committed; /* the new marker is in force */
	double locked_since;
	uint64_t highest; /* of the trees, at the switch */
	struct txn_tree trees[FM_PLAN_MAX_TREES];
};

/* -- txn_ops.c: every function names the file in its error -- */

double txn_now(void); /* seconds, monotonic */
int txn_open_dir(int dirfd, const char *name, int *fd, struct fm_err *err);
int txn_sync_dir(int fd, const char *name, struct fm_err *err);
int txn_rename(int fromdir, const char *from, int todir, const char *to,
	       struct fm_err *err);
/* sys (may be NULL) tells ENOENT and EEXIST apart without an error text. */
int txn_rename_new(int fromdir, const char *from, int todir, const char *to,
		   int *sys);
int txn_exchange(int dirfd, const char *a, const char *b, struct fm_err *err);
/* A half-done fallback of txn_exchange is taken back. */
int txn_settle_exchange(int dirfd, const char *a, const char *b,
			struct fm_err *err);
int txn_unlink(int dirfd, const char *name, bool must_exist,
	       struct fm_err *err);
int txn_rmdir(int dirfd, const char *name, bool must_exist, struct fm_err *err);
/* Owner, mode, ACLs and times from a neighbour. EEXIST is success. */
int txn_mkdir_like(int dirfd, const char *name, int like, struct fm_err *err);
/* A new synced file `name` with these bytes, like the file (dir, like). */
int txn_write_new(int dirfd, const char *name, const char *data, size_t len,
		  int likedir, const char *like, struct fm_err *err);
/* The same, and keeps it open for writing. A file left by an error stays. */
int txn_create(int dirfd, const char *name, const char *data, size_t len,
	       int likedir, const char *like, int *created, struct fm_err *err);
int txn_write_all(int fd, const char *data, size_t len); /* 0 or errno */
int txn_sync_fd(int fd);
int txn_copy_attributes(int from, int to, const char *name, struct fm_err *err);
/* Whole small file. FM_E_IO with .sys ENOENT when missing. */
int txn_read_small(int dirfd, const char *name, struct fm_buf *out,
		   struct fm_err *err);
bool txn_exists(int dirfd, const char *name);
/* FM_E_UNSUPPORTED when a name that we are about to make is taken. */
int txn_refuse_name(int dirfd, const char *name, struct fm_err *err);
/* Temporary name of a small file: ".fsmend-tmp-" and its path, '/' as '-'. */
const char *txn_temp_name(struct txn *t, const char *path);

/* -- txn_journal.c -- */

int txn_journal_create(struct txn *t, struct fm_err *err);
int txn_journal_reopen(struct txn *t, struct fm_err *err);
int txn_journal_add(struct txn *t, const struct fm_journal_field *f, size_t n,
		    struct fm_err *err);
int txn_journal_phase(struct txn *t, const char *name, struct fm_err *err);
/* Was this phase reached (and not taken back by `reset`) before? */
bool txn_journal_had(const struct txn *t, const char *phase, const char *reset);
/* Reads what was written so far into t->journal. */
int txn_journal_load(struct txn *t, struct fm_err *err);
int txn_journal_finish(struct txn *t, struct fm_err *err);
int txn_journal_discard(struct txn *t, struct fm_err *err);

/* -- txn_tree.c -- */

int txn_tree_open(struct txn *t, struct txn_tree *tree,
		  const struct fm_plan_tree *plan, struct fm_err *err);
void txn_tree_close(struct txn_tree *tree);
/* The directory in which n lies; makes the shard (like top) if asked. */
int txn_dir_of(struct txn_dirs *d, uint64_t n, bool make, int *fd,
	       struct fm_err *err);
void txn_dirs_close(struct txn_dirs *d);
int txn_tree_sync(int top, const char *name, struct fm_err *err);
/* Directories of the tree get the times that it had. */
int txn_tree_times(struct txn_tree *tree, struct fm_err *err);
/* Fills ino[0..n) for the numbers from `first` on; absent stays 0. Other names
   are ignored. */
int txn_tree_inodes(int top, uint64_t shard, uint64_t first, uint64_t *ino,
		    uint64_t n, struct fm_err *err);
/* FM_E_UNSUPPORTED when it holds a name that no shape has. */
int txn_tree_check(struct txn *t, struct txn_tree *tree, struct fm_err *err);
/* Removes dirfd/name, a tree of numbers below `end` and of junk. */
int txn_tree_remove(struct txn *t, int dirfd, const char *name, uint64_t end,
		    struct fm_err *err);
/* How many files lie there: no bound may be far above. */
int txn_tree_count(struct txn *t, struct txn_tree *tree, struct fm_err *err);
int txn_check_bound(const struct txn *t, uint64_t highest, struct fm_err *err);
int txn_read_bound(struct txn *t, uint64_t *highest, struct fm_err *err);

/* -- txn_link.c -- */

int txn_link_build(struct txn *t, struct fm_err *err);
int txn_link_catch_up(struct txn *t, struct fm_err *err);

/* -- txn_exchange.c -- */

int txn_link_exchange(struct txn *t, struct fm_err *err);
int txn_link_exchange_back(struct txn *t, struct fm_err *err);
/* After a crash: no exchange half-done, and which ones are done. */
int txn_link_settle(struct txn *t, struct fm_err *err);
/* The live names lead to other directories after an exchange. */
int txn_link_reopen(struct txn *t, struct fm_err *err);
/* Numbers that a stale writer put where the old shape has them. */
int txn_sweep(struct txn *t, bool waits, struct fm_err *err);
int txn_link_clean(struct txn *t, struct fm_err *err);
int txn_link_remove_stage(struct txn *t, struct fm_err *err);

/* -- txn_move.c -- */

int txn_move_prepare(struct txn *t, struct fm_err *err);
int txn_move_forward(struct txn *t, struct fm_err *err);
int txn_move_back(struct txn *t, struct fm_err *err);
int txn_move_clean(struct txn *t, struct fm_err *err);

/* -- txn_switch.c -- */

enum txn_marker { TXN_OLD, TXN_GUARD, TXN_NEW, TXN_ALIEN };

/* The one that is held while building, if the plan names one. */
int txn_lock_build(struct txn *t, struct fm_err *err);
int txn_lock_all(struct txn *t, struct fm_err *err);
/* The innermost alone: numbers are written under it. */
int txn_lock_inner(struct txn *t, struct fm_err *err);
void txn_unlock_all(struct txn *t);
int txn_marker_state(struct txn *t, enum txn_marker *m, struct fm_err *err);
/* The file whose mode and owner a new marker takes. */
const char *txn_marker_like(const struct txn *t);
int txn_prepare_markers(struct txn *t, struct fm_err *err);
int txn_save_files(struct txn *t, struct fm_err *err);
int txn_guard_up(struct txn *t, struct fm_err *err);
int txn_place_files(struct txn *t, struct fm_err *err);
int txn_restore_files(struct txn *t, struct fm_err *err);
int txn_marker_set(struct txn *t, const struct fm_journal_field *bytes,
		   struct fm_err *err);
int txn_remove_temps(struct txn *t, struct fm_err *err);

/* -- txn_steps.c -- */

int txn_steps(struct txn *t, struct fm_plan *plan, struct fm_err *err);
/* After a crash: nothing half-made, nothing that a done step has replaced. */
int txn_steps_tidy(struct txn *t, struct fm_err *err);

/* -- txn_units.c -- */

enum { TXN_UNIT_NAME = FM_NUM_PATH + 16 };

/* The directory of the shard that holds `first`, or of its pack. */
void txn_unit_name(const struct fm_plan *plan, uint64_t shard, uint64_t first,
		   bool is_pack, char name[TXN_UNIT_NAME]);
/* Made and compared in TXN_UNIT, with mode and owner of the directory like. */
int txn_unit_make(struct txn *t, struct txn_tree *tree,
		  const struct fm_plan_unit *u, const char *name, int like,
		  struct fm_err *err);
/* From there to top (the tree, or its stage), whole; top is not synced. */
int txn_unit_place(struct txn_tree *tree, int top, const char *name,
		   struct fm_err *err);
/* Away from top, whole; no error if it is not there. */
int txn_unit_drop(struct txn_tree *tree, int top, const char *name,
		  struct fm_err *err);

/* -- txn_repack.c -- */

/* Every pack and every shard out of packs, from the stage into the tree. */
int txn_repack(struct txn *t, struct txn_tree *tree, struct fm_err *err);
/* And back into the stage. */
int txn_repack_back(struct txn *t, struct txn_tree *tree, struct fm_err *err);
/* FM_E_FORMAT when a pack of the old shape is not there. */
int txn_repack_look(struct txn *t, struct txn_tree *tree, struct fm_err *err);

/* -- txn_adopt.c -- */

/* Adds to tree->count what lies in such shards. */
int txn_adopt_count(struct txn *t, struct txn_tree *tree, struct fm_err *err);
/* Every number is in one of its places; fills tree->ino. */
int txn_adopt_look(struct txn *t, struct txn_tree *tree, struct fm_err *err);
/* Such shards go to the stage; may be repeated. */
int txn_adopt(struct txn *t, struct txn_tree *tree, struct fm_err *err);

/* -- txn_walk.c -- */

/* Every file and directory below fd, and fd itself. */
int txn_sync_all(int fd, const char *name, struct fm_err *err);
/* The same for thousands of them: the whole file system, where that is sure. */
int txn_sync_many(int fd, const char *name, struct fm_err *err);
/* A directory that the layer made, with all that is in it. */
int txn_remove_all(int dirfd, const char *name, struct fm_err *err);

/* -- txn_place.c -- */

/* Where a copy is to stand: see fm_plan.copy_to. */
struct txn_place {
	struct txn *t;
	int dir; /* directory that will hold the copy, open */
	const char *dir_path;
	const char *name; /* its name there, and the one while it grows */
	const char *temp;
};

/* Refuses the source itself, links, and what may not be replaced. */
int txn_place_find(struct txn_place *place, struct fm_err *err);
/* Removes what a killed run left under the temporary name. */
int txn_place_clear(struct txn_place *place, struct fm_err *err);
/* Renames; what stood there before goes. */
int txn_place_put(struct txn_place *place, struct fm_err *err);

/* -- txn_copy.c -- */

int txn_copy(struct txn *t, struct fm_err *err);

#endif
