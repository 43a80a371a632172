/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a format offers: one constant table per format, one row in
 * formats/registry.c. An absent operation is NULL and the command says so.
 *
 * There is deliberately no `apply`: formats read and plan; applying a plan is
 * the same for all of them (lib/txn.h). Every operation but probe gets an
 * open target; none of them prints, and none changes anything on disk.
 */
#ifndef FM_FORMATS_FORMAT_H
#define FM_FORMATS_FORMAT_H

#include "lib/arena.h"
#include "lib/check.h"
#include "lib/err.h"
#include "lib/journal.h"
#include "lib/plan.h"
#include "lib/progress.h"
#include "lib/report.h"

/* One path to be probed. fd is open for reading. */
struct fm_place {
	const char *path;
	int fd;
	bool is_directory;
	uint64_t size; /* of a file or block device, bytes */
};

/*
 * A format's claim to a place: 0 "not mine" .. 100 "certain". The highest
 * wins; two strong claims (>= 50) that tie are reported, never guessed.
 */
struct fm_bid {
	int confidence;
	char what[96]; /* "squashfs 4.0, little endian" */
};

/* The user's wishes, for all operations. */
struct fm_options {
	unsigned jobs; /* 0: number of processors */
	bool is_full;  /* --full: exact instead of sampled */
	bool is_dry_run;
	struct fm_progress *progress; /* may be NULL */
	/* conversion */
	const char *layout; /* --layout, or NULL */
	enum fm_mode mode;
	bool packs, unpacks; /* --pack, --unpack */
	bool is_stopped;     /* --servers-stopped */
	const char *copy_to; /* TARGET, or NULL */
	bool replace;        /* --force */
};

/* An open target. The format owns .view; .out lives until close. */
struct fm_target {
	const struct fm_format *format;
	const char *path; /* as the user gave it */
	int fd;           /* open for reading; closed by whoever opened it */
	void *view;
	struct fm_arena out;
};

/* What fsdetect prints: one fact a line in text, one member in JSON. */
enum fm_fact_type { FM_FACT_TEXT, FM_FACT_NUMBER, FM_FACT_FLAG, FM_FACT_LIST };

struct fm_fact {
	const char *key;   /* JSON member: "min_unpacked_rev" */
	const char *label; /* text: "packed up to" */
	enum fm_fact_type type;
	const char *text; /* TEXT; of NUMBER: what to print behind it */
	uint64_t number;
	bool flag;
	const char **items; /* LIST */
	size_t n_items;
	struct fm_fact *next;
};

struct fm_facts {
	struct fm_arena *out;
	struct fm_fact *first, *last;
	const char *advice; /* one line with the exact command */
	bool is_damaged;    /* exit status 4 */
	bool is_unfinished; /* an interrupted change: exit status 8 */
};

void fm_facts_text(struct fm_facts *f, const char *key, const char *label,
		   const char *fmt, ...) FM_PRINTF(4, 5);
void fm_facts_number(struct fm_facts *f, const char *key, const char *label,
		     uint64_t n);
void fm_facts_flag(struct fm_facts *f, const char *key, const char *label,
		   bool flag);
/* items: array and strings are copied. */
void fm_facts_list(struct fm_facts *f, const char *key, const char *label,
		   const char *const *items, size_t n);

struct fm_conversion {
	const char *from, *to, *summary;
};

struct fm_format {
	const char *name;    /* "fsfs": permanent */
	const char *summary; /* one line for help */
	const struct fm_check *checks;
	size_t n_checks;
	const struct fm_conversion *conversions;
	size_t n_conversions;

	/* Reads little, changes nothing, never fails on junk. */
	void (*probe)(const struct fm_place *place, struct fm_bid *bid);
	int (*open)(struct fm_target *t, struct fm_err *err);
	void (*close)(struct fm_target *t);
	int (*describe)(struct fm_target *t, const struct fm_options *opts,
			struct fm_facts *facts, struct fm_err *err);
	/* 0 if the *run* worked, whatever it found. */
	int (*verify)(struct fm_target *t, const struct fm_options *opts,
		      struct fm_report *report, struct fm_err *err);

	/* Where this target's journals live: directory and name below it. */
	int (*journals)(struct fm_target *t, int *root, const char **name,
			struct fm_err *err);
	int (*plan_convert)(struct fm_target *t, const struct fm_options *opts,
			    struct fm_plan *plan, struct fm_err *err);
	/* The interrupted plan again, from its journal. */
	int (*plan_resume)(struct fm_target *t, const struct fm_journal *j,
			   struct fm_plan *plan, struct fm_err *err);
	/* The way back to where a finished journal started. */
	int (*plan_undo)(struct fm_target *t, const struct fm_journal *j,
			 const struct fm_options *opts, struct fm_plan *plan,
			 struct fm_err *err);
};

extern const struct fm_format *const fm_formats[];
extern const size_t fm_n_formats;

const struct fm_format *fm_format_by_name(const char *name);

/*
 * The probing contest. *best is NULL when nobody claims the place; FM_E_FORMAT
 * with both names when two strong claims tie. bid: the winner's.
 */
int fm_format_probe(const struct fm_place *place, const struct fm_format **best,
		    struct fm_bid *bid, struct fm_err *err);

#endif
