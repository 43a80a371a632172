/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The passes of the verifier, one file each, and what they share.
 *
 * verify.c runs them in the order of this header. A pass that finds the
 * reason for which everything behind it would look broken sets .stop: the
 * reason is reported, and the passes that would repeat it are left out.
 */
#ifndef FM_FORMATS_FSFS_VERIFY_H
#define FM_FORMATS_FSFS_VERIFY_H

#include "formats/fsfs/checks.h"
#include "formats/fsfs/tree.h"

#include <stdatomic.h>
#include <sys/stat.h>

struct fsfs_verify {
	const struct fsfs *fs;
	const struct fm_options *opts;
	struct fm_report *report;
	bool has_current;  /* db/current could be read */
	uint64_t youngest; /* of `current`; later commits are left alone */
	uint64_t min_unpacked;
	struct fsfs_tree revs, revprops;
	const char *stop; /* why nothing below can be trusted, or NULL */
};

/*
 * Adds a finding. path is below the repository, object "r7"; either may be
 * NULL. _as: with another severity than the check's own.
 */
void fsfs_found(struct fm_report *r, enum fsfs_check check, const char *path,
		const char *object, const char *fmt, ...) FM_PRINTF(5, 6);
void fsfs_found_as(struct fm_report *r, enum fsfs_check check,
		   enum fm_severity severity, const char *path,
		   const char *object, const char *fmt, ...) FM_PRINTF(6, 7);

/* "r7", or "r7-r9". */
enum { FSFS_RANGE = 48 };
const char *fsfs_range_name(uint64_t first, uint64_t last,
			    char name[FSFS_RANGE]);

/* Changed within the last minute: may belong to a commit or a pack. */
bool fsfs_is_recent(const struct stat *st);

/* A name that Subversion or fsmend gives to a file being written. */
bool fsfs_is_temporary(const char *name);

/* Progress that several threads step. */
struct fsfs_progress {
	struct fm_progress *shown; /* may be NULL */
	atomic_uint_fast64_t done;
	atomic_flag is_busy;
};
void fsfs_progress_init(struct fsfs_progress *p, struct fm_progress *shown,
			const char *phase, uint64_t total);
void fsfs_progress_step(struct fsfs_progress *p, uint64_t n);

/* -- verify_small.c: format, fs-type, uuid, current, pointers -- */
void fsfs_verify_format(struct fsfs_verify *v);
void fsfs_verify_small(struct fsfs_verify *v);

/* -- verify_db.c: names in db/, directories, lock files, leftovers -- */
int fsfs_verify_db(struct fsfs_verify *v, struct fm_err *err);

/* -- verify_txn.c: transactions -- */
int fsfs_verify_txns(struct fsfs_verify *v, struct fm_err *err);

/* -- verify_layout.c: what lies where in revs/ and revprops/ -- */
int fsfs_verify_layout(struct fsfs_verify *v, struct fm_err *err);

/* -- verify_packs.c: packs against the pointer, by their names -- */
void fsfs_verify_pack_names(struct fsfs_verify *v, struct fsfs_tree *tree);

/* -- verify_gaps.c: what is missing, what lies above `current` -- */
int fsfs_verify_gaps(struct fsfs_verify *v, struct fm_err *err);

/* -- verify_files.c: each revision file's end, modes, owners -- */
int fsfs_verify_files(struct fsfs_verify *v, struct fm_err *err);

/* -- verify_pack.c: manifests and slices -- */
int fsfs_verify_packs(struct fsfs_verify *v, struct fm_err *err);

#endif
