/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output stream into one new file, for formats that make content.
 *
 * The transaction layer hands a format the directory in which it stages
 * (struct fm_stage); the format fills it with files and never touches
 * anything else. Every file is new (an existing name is an error) and buffered;
 * an unfinished one goes with the stage. The layer syncs the stage as a whole.
 *
 *	fm_out_open(&o, stage, "manifest", 0644, &err);
 *	fm_out_write(&o, p, n); fm_out_printf(&o, ...);    errors stick
 *	fm_out_finish(&o, &err);                           and come out here
 */
#ifndef FM_LIB_OUT_H
#define FM_LIB_OUT_H

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/source.h"

/* Where a format may put new files, and whom they belong to. */
struct fm_stage {
	int dir;  /* open directory */
	int like; /* an open file whose owner and ACL new ones take */
};

struct fm_out {
	const char *name;
	int fd;
	uint64_t written; /* bytes handed over so far: the next offset */
	int sys;          /* errno of the first failure, 0 */
	struct fm_buf buffer;
};

/* mode: permission bits; umask does not apply. */
int fm_out_open(struct fm_out *o, const struct fm_stage *stage,
		const char *name, unsigned mode, struct fm_err *err);
void fm_out_write(struct fm_out *o, const void *p, size_t n);
void fm_out_printf(struct fm_out *o, const char *fmt, ...) FM_PRINTF(2, 3);

/* The bytes of a source, in the kernel where it can. FM_E_IO, FM_E_BOUNDS. */
int fm_out_copy(struct fm_out *o, const struct fm_source *from,
		struct fm_err *err);

/* Flushes and closes; the first failure of all. */
int fm_out_finish(struct fm_out *o, struct fm_err *err);
/* Closes without a word, after another error. */
void fm_out_abandon(struct fm_out *o);

/* A hard link to a file that is already right. */
int fm_stage_link(const struct fm_stage *stage, int dir, const char *from,
		  const char *to, struct fm_err *err);
/* A file of another directory, moved here. */
int fm_stage_move(const struct fm_stage *stage, int dir, const char *from,
		  const char *to, struct fm_err *err);

#endif
