/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private types of the FSFS format: an open repository and its traits.
 *
 * Nobody but traits.c compares format numbers: code asks for a trait by name.
 * The facts are from the format description in FORMAT (this folder).
 */
#ifndef FM_FORMATS_FSFS_FSFS_H
#define FM_FORMATS_FSFS_FSFS_H

#include "formats/format.h"

#include "lib/arena.h"
#include "lib/buf.h"
#include "lib/err.h"

/* The guard: what db/format holds while a conversion is in its window. */
#define FSFS_GUARD_TEXT                                                        \
	"fsmend: unfinished conversion; run fsconvert --resume or --undo "     \
	"on this dir\n"

/* The directory below db/ that holds the journals. */
#define FSFS_JOURNALS "fsmend"

/* Shard sizes: what Subversion makes, and the largest it can parse (int). */
#define FSFS_DEFAULT_SHARD 1000
#define FSFS_SHARD_MAX     INT32_MAX

/* The lowest format number that has a layout option. */
#define FSFS_FIRST_SHARDED 3

/* Revision numbers are of type long; one more must fit, too. */
#define FSFS_REVISION_MAX ((uint64_t)INT64_MAX - 1)

/* What makes it one, whatever follows. */
#define FSFS_GUARD_START "fsmend: unfinished conversion"

enum fsfs_format_state {
	FSFS_FORMAT_KNOWN,   /* 1-4, 6-8, options legal */
	FSFS_FORMAT_MISSING, /* no file: means format 1, linear */
	FSFS_FORMAT_GUARD,   /* our guard: an unfinished conversion */
	FSFS_FORMAT_UNKNOWN, /* a number we do not handle (5, 9...) */
	FSFS_FORMAT_DAMAGED, /* does not parse; .problem says how */
};

/* db/format, decoded, and what follows from the number. */
struct fsfs_traits {
	enum fsfs_format_state state;
	char problem[160]; /* of DAMAGED and UNKNOWN: one sentence */
	unsigned number;   /* 1 for MISSING; 0 when line 1 is no number */
	uint64_t shard;    /* revisions a shard, 0 = linear */
	bool is_logical;   /* addressing */
	bool has_layout_line, has_addressing_line; /* written explicitly */
	bool has_repeated_option;                  /* the last one counts */
	bool lacks_eol;                            /* last line without LF */
	bool has_trailing_text; /* text after an empty line: ignored by all */

	/* By number (format sheet 2.2), false for unknown numbers. */
	bool can_shard;     /* layout option */
	bool has_txn_files; /* txn-current, txn-current-lock, protorevs */
	bool has_three_field_current; /* node and copy ids in `current` */
	bool has_min_unpacked;        /* min-unpacked-rev, packed revisions */
	bool has_conf;                /* fsfs.conf */
	bool has_rep_cache;
	bool has_packed_revprops;
	bool can_be_logical; /* addressing option */
	bool has_pack_lock;
	bool has_instance_id;  /* second line of uuid */
	unsigned max_svndiff;  /* 0, 1 or 2 */
	unsigned repos_format; /* of REPO/format as stock makes it: 3 or 5 */
};

/* An open repository. All descriptors are directories, open for reading. */
struct fsfs {
	int repos;                  /* REPO, -1 when only db was reachable */
	int db;                     /* REPO/db */
	const char *path;           /* REPO, for messages */
	const char *db_path;        /* REPO/db, for messages */
	bool is_bdb;                /* BerkeleyDB back end */
	bool is_fsx;                /* FSX back end */
	struct fm_buf format_bytes; /* db/format as it lies there */
	struct fsfs_traits traits;
};

/* -- traits.c -- */

/* Decodes the bytes of db/format (NULL: the file is missing). Never fails. */
void fsfs_traits_decode(const char *data, size_t len, struct fsfs_traits *t);

/* The bytes of db/format for these number, shard and addressing. */
void fsfs_traits_encode(const struct fsfs_traits *t, struct fm_buf *out);

/* What a format number brings with it; number, shard, addressing are kept. */
void fsfs_traits_set_number(struct fsfs_traits *t, unsigned number);

/* "1.4 and later" etc.: versions of Subversion that can read it. */
const char *fsfs_traits_readers(const struct fsfs_traits *t);

/* "linear", or "sharded 1000" (in out). */
const char *fsfs_layout_name(uint64_t shard, struct fm_arena *out);

/* -- fsfs.c -- */

/* Opens REPO (or REPO/db): fails only when nothing of it can be read. */
int fsfs_open(int fd, const char *path, struct fm_arena *out, struct fsfs *fs,
	      struct fm_err *err);
void fsfs_close(struct fsfs *fs);

/* -- smallfile.c: the small files of db/ -- */

/*
 * Reads a small file of db/ whole: FM_E_IO (.sys says ENOENT etc.),
 * FM_E_LIMIT above `limit` bytes. No symbolic link is followed.
 */
int fsfs_read_small(int dirfd, const char *name, size_t limit,
		    struct fm_buf *out, struct fm_err *err);

/* db/current. fields: 1 or 3; ids are numbers in base 36 (formats 1-2). */
struct fsfs_current {
	uint64_t youngest;
	unsigned n_fields;
	uint64_t next_node, next_copy;
	bool lacks_eol;
};

/* FM_E_FORMAT with the reason when it does not parse. */
int fsfs_current_decode(const char *data, size_t len, struct fsfs_current *c,
			struct fm_err *err);
int fsfs_current_read(const struct fsfs *fs, struct fsfs_current *c,
		      struct fm_err *err);

/* db/min-unpacked-rev; 0 for formats that have none. */
int fsfs_min_unpacked_read(const struct fsfs *fs, uint64_t *rev,
			   struct fm_err *err);

/* Base 36 as in ids: digits 0-9a-z, no leading zeros, fits 64 bits. */
bool fsfs_base36_decode(const char *s, size_t len, uint64_t *n);
enum { FSFS_BASE36_MAX = 14 };
void fsfs_base36_encode(uint64_t n, char text[FSFS_BASE36_MAX]);

/* -- the operations, one file each -- */

int fsfs_describe(struct fm_target *t, const struct fm_options *opts,
		  struct fm_facts *facts, struct fm_err *err);
int fsfs_verify(struct fm_target *t, const struct fm_options *opts,
		struct fm_report *report, struct fm_err *err);
int fsfs_plan_convert(struct fm_target *t, const struct fm_options *opts,
		      struct fm_plan *plan, struct fm_err *err);
int fsfs_plan_resume(struct fm_target *t, const struct fm_journal *j,
		     struct fm_plan *plan, struct fm_err *err);
int fsfs_plan_undo(struct fm_target *t, const struct fm_journal *j,
		   const struct fm_options *opts, struct fm_plan *plan,
		   struct fm_err *err);

extern const struct fm_format fsfs_format;

#endif
