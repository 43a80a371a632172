// SPDX-License-Identifier: GPL-2.0-or-later
// Verifying a repository: the order of the passes, and their small helpers.
//
// What is checked here (checks.def has each invariant in a sentence):
//
//	small files	format, fs-type, uuid, current, min-unpacked-rev
//	names in db/	directories, lock files, leftovers, stray names
//	transactions	names, halves, txn-current
//	layout		every revision and revision property file is there,
//			once, in its place, readable
//	packs		there, in order, manifests
//	revision files	trailer or footer, zero-filled, cut off, swapped
//
// Facts for later passes: `current` is read before anything else, so what
// committers add meanwhile is above it and left alone. No lock is taken. What
// could belong to a commit or a pack that goes on just now (it is younger
// than a minute, or gone at a second look) is at most a note.

#include "formats/fsfs/verify.h"

#include "lib/cancel.h"
#include "lib/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RECENT_SECONDS = 60, FORMAT_FILE_MAX = 4096 };

static void add_finding(struct fm_report *r, enum fsfs_check check,
			enum fm_severity severity, const char *path,
			const char *object, const char *fmt, va_list ap)
	FM_PRINTF(6, 0);

static void add_finding(struct fm_report *r, enum fsfs_check check,
			enum fm_severity severity, const char *path,
			const char *object, const char *fmt, va_list ap)
{
	struct fm_where where = {.path = path, .object = object};
	char detail[700];

	(void)vsnprintf(detail, sizeof(detail), fmt, ap);
	fm_report_add_as(r, &fsfs_checks[check], severity, &where, "%s",
			 detail);
}

void fsfs_found(struct fm_report *r, enum fsfs_check check, const char *path,
		const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(r, check, fsfs_checks[check].severity, path, object, fmt,
		    ap);
	va_end(ap);
}

void fsfs_found_as(struct fm_report *r, enum fsfs_check check,
		   enum fm_severity severity, const char *path,
		   const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_finding(r, check, severity, path, object, fmt, ap);
	va_end(ap);
}

const char *fsfs_range_name(uint64_t first, uint64_t last,
			    char name[FSFS_RANGE])
{
	if (first == last)
		(void)snprintf(name, FSFS_RANGE, "r%ju", (uintmax_t)first);
	else
		(void)snprintf(name, FSFS_RANGE, "r%ju-r%ju", (uintmax_t)first,
			       (uintmax_t)last);
	return name;
}

bool fsfs_is_recent(const struct stat *st)
{
	return time(NULL) - st->st_mtime < RECENT_SECONDS;
}

bool fsfs_is_temporary(const char *name)
{
	size_t len = strlen(name);

	return strncmp(name, "svn-", 4) == 0 ||
	       strncmp(name, ".fsmend-", 8) == 0 ||
	       (len > 4 && strcmp(name + len - 4, ".tmp") == 0);
}

void fsfs_progress_init(struct fsfs_progress *p, struct fm_progress *shown,
			const char *phase, uint64_t total)
{
	p->shown = shown;
	atomic_init(&p->done, 0);
	atomic_flag_clear(&p->is_busy);
	fm_progress_phase(shown, phase, total);
}

void fsfs_progress_step(struct fsfs_progress *p, uint64_t n)
{
	uint64_t done = atomic_fetch_add(&p->done, n) + n;

	/* Another thread is printing: it says nearly the same. */
	if (atomic_flag_test_and_set(&p->is_busy))
		return;
	fm_progress_step(p->shown, done);
	atomic_flag_clear(&p->is_busy);
}

/*
 * An unfinished conversion explains whatever lies about: then nothing else
 * is said, unless its process is still at work.
 */
static int check_journal(struct fsfs_verify *v, struct fm_err *err)
{
	struct fm_txn_look look = {.state = FM_TXN_CLEAN};
	struct fm_arena tmp;
	int rc;

	fm_arena_init(&tmp);
	rc = fm_txn_look(v->fs->db, FSFS_JOURNALS, &tmp, &look, err);
	if (rc == FM_E_FORMAT || rc == FM_E_UNSUPPORTED) {
		fsfs_found(v->report, FSFS_CHECK_GUARD_STALE,
			   "db/" FSFS_JOURNALS "/journal", NULL, "%s",
			   err->msg);
		v->stop = "an unfinished conversion is in the way";
		rc = 0;
	} else if (rc == 0 && look.state == FM_TXN_UNFINISHED) {
		fsfs_found(v->report, FSFS_CHECK_GUARD_STALE,
			   "db/" FSFS_JOURNALS "/journal", NULL,
			   "a conversion was interrupted: run fsconvert "
			   "--resume or --undo");
		v->stop = "an unfinished conversion is in the way";
	} else if (rc == 0 && look.state == FM_TXN_RUNNING) {
		rc = fm_err_set(err, FM_E_BUSY,
				"a conversion of this repository is running");
	}
	fm_arena_release(&tmp);
	return rc;
}

static int read_pointers(struct fsfs_verify *v)
{
	struct fsfs_current current;
	struct fm_err ignored;

	v->has_current = fsfs_current_read(v->fs, &current, &ignored) == 0;
	v->youngest = v->has_current ? current.youngest : 0;
	if (fsfs_min_unpacked_read(v->fs, &v->min_unpacked, &ignored) != 0)
		v->min_unpacked = 0;
	return 0;
}

// A conversion that switched meanwhile makes all that was seen worthless.
static int check_unchanged(const struct fsfs *fs, struct fm_err *err)
{
	struct fm_buf now = FM_BUF_INIT;
	int rc = fsfs_read_small(fs->db, "format", FORMAT_FILE_MAX, &now, err);
	bool is_same = now.len == fs->format_bytes.len &&
		       memcmp(fm_buf_text(&now), fm_buf_text(&fs->format_bytes),
			      now.len) == 0;

	fm_buf_release(&now);
	if (is_same || (rc != 0 && fs->traits.state != FSFS_FORMAT_KNOWN))
		return 0;
	return fm_err_set(err, FM_E_CHANGED,
			  "db/format changed while the repository was being "
			  "verified; run the command again");
}

static int run_passes(struct fsfs_verify *v, struct fm_err *err)
{
	int rc = check_journal(v, err);

	if (rc != 0)
		return rc;
	read_pointers(v);
	fsfs_verify_format(v);
	fsfs_verify_small(v);
	if (v->stop)
		return 0;
	rc = fsfs_verify_db(v, err);
	if (rc == 0)
		rc = fsfs_verify_txns(v, err);
	if (rc == 0)
		rc = fsfs_verify_layout(v, err);
	if (rc == 0 && !v->stop)
		rc = fsfs_verify_files(v, err);
	if (rc == 0 && !v->stop)
		rc = fsfs_verify_packs(v, err);
	if (rc == 0)
		rc = check_unchanged(v->fs, err);
	return rc;
}

int fsfs_verify(struct fm_target *t, const struct fm_options *opts,
		struct fm_report *report, struct fm_err *err)
{
	struct fsfs_verify v = {
		.fs = t->view,
		.opts = opts,
		.report = report,
		.revs = {.fd = -1},
		.revprops = {.fd = -1},
	};
	int rc;

	if (v.fs->is_bdb || v.fs->is_fsx)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%s repositories cannot be verified; dump "
				  "it with svnadmin and load it into a new "
				  "repository",
				  v.fs->is_bdb ? "BerkeleyDB" : "FSX");
	rc = run_passes(&v, err);
	report->unit = "revisions";
	if (rc == 0 && v.stop)
		fm_report_unchecked(report, "what lies below: %s", v.stop);
	else if (rc == 0)
		report->n_units = v.youngest + 1;
	if (rc == 0)
		fm_report_unchecked(report,
				    "the contents of revisions, revision "
				    "properties, the rep-cache and locks");
	fsfs_tree_close(&v.revs);
	fsfs_tree_close(&v.revprops);
	return rc;
}
