// SPDX-License-Identifier: GPL-2.0-or-later
// The journal as a file.
//
// A journal appears under its name only when its first block is complete and
// synced, so there is no half-made one. Whoever works on a target holds a
// flock on the journal directory: that tells a running change from an
// interrupted one. Reopening copies the intact lines to a new file, which
// drops a torn tail and keeps the mode of the target's own files (0444) from
// getting in the way of an ordinary user.

#include "lib/autofd.h"
#include "lib/txn_impl.h"
#include "lib/version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#define JOURNAL_TEMP TXN_PREFIX "tmp-journal"
#define DONE_SUFFIX  ".done"

enum { RETRY_MS = 20 };

static const char *number(struct txn *t, uint64_t n)
{
	return fm_arena_printf(&t->arena, "%" PRIu64, n);
}

static void add_line(struct fm_buf *b, size_t n,
		     const struct fm_journal_field *f)
{
	fm_journal_encode(b, f, n);
}

static void first_block(struct txn *t, struct fm_buf *b)
{
	static const char *const mode[] = {"link", "rename", "copy", "steps"};
	const struct fm_plan *p = t->plan;
	struct fm_journal_field f[5];

	f[0] = fm_journal_string("fsmend-journal");
	f[1] = fm_journal_string(number(t, FM_JOURNAL_VERSION));
	f[2] = fm_journal_string(FM_VERSION);
	add_line(b, 3, f);
	f[0] = fm_journal_string("begin");
	f[1] = fm_journal_string(p->operation);
	f[2] = fm_journal_string(mode[p->mode]);
	add_line(b, 3, f);
	for (size_t i = 0; i < p->n_notes; i++) {
		f[0] = fm_journal_string("note");
		f[1] = fm_journal_string(p->notes[i].key);
		f[2] = fm_journal_string(p->notes[i].value);
		add_line(b, 3, f);
	}
	if (p->undoes) {
		f[0] = fm_journal_string("note");
		f[1] = fm_journal_string("undoes");
		f[2] = fm_journal_string(p->undoes);
		add_line(b, 3, f);
	}
	f[0] = fm_journal_string("marker");
	f[1] = fm_journal_string(p->marker);
	f[2] = p->old_marker;
	f[3] = p->new_marker;
	f[4] = p->guard;
	add_line(b, 5, f);
	for (size_t i = 0; i < p->n_trees; i++) {
		f[0] = fm_journal_string("tree");
		f[1] = fm_journal_string(p->trees[i].name);
		f[2] = fm_journal_string(number(t, p->trees[i].from));
		f[3] = fm_journal_string(number(t, p->trees[i].to));
		add_line(b, 4, f);
	}
	f[0] = fm_journal_string("ready");
	add_line(b, 1, f);
}

static int open_directory(struct txn *t, bool make, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;

	if (make && txn_mkdir_like(p->root, p->journals, p->root, err) != 0)
		return err->code;
	t->jdir = openat(p->root, p->journals,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (t->jdir < 0)
		return fm_err_sys(err, errno, "cannot open directory %s",
				  p->journals);
	// fm_txn_look takes the lock for an instant: try for a while.
	for (unsigned waited = 0; flock(t->jdir, LOCK_EX | LOCK_NB) != 0;
	     waited += RETRY_MS) {
		struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};

		if (errno != EWOULDBLOCK)
			return fm_err_sys(err, errno, "cannot lock %s",
					  p->journals);
		if (waited >= 10 * RETRY_MS)
			return fm_err_set(err, FM_E_BUSY,
					  "another fsmend command works on "
					  "this target");
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int start_file(struct txn *t, const char *data, size_t len,
		      struct fm_err *err)
{
	const struct fm_plan *p = t->plan;

	if (txn_unlink(t->jdir, JOURNAL_TEMP, false, err) != 0 ||
	    txn_create(t->jdir, JOURNAL_TEMP, data, len, p->root,
		       txn_marker_like(t), &t->jfd, err) != 0)
		return err->code;
	t->jlen = len;
	return 0;
}

// Closed first: NFS and FUSE give a file that is removed while open another
// name until it is closed, and the directory would not become empty.
static int remove_file(struct txn *t, const char *name, bool must_exist,
		       struct fm_err *err)
{
	fm_close_fd(&t->jfd);
	return txn_unlink(t->jdir, name, must_exist, err);
}

// The journal under its name, or nothing at all.
static int publish(struct txn *t, struct fm_err *err)
{
	const char *dir = t->plan->journals;
	struct fm_err ignored;
	int rc, sys = 0;

	if (txn_rename_new(t->jdir, JOURNAL_TEMP, t->jdir, TXN_JOURNAL, &sys) !=
	    0) {
		rc = sys == EEXIST
			     ? fm_err_set(err, FM_E_UNFINISHED,
					  "%s/" TXN_JOURNAL " is there already",
					  dir)
			     : fm_err_sys(err, sys,
					  "cannot create %s/" TXN_JOURNAL, dir);
		(void)remove_file(t, JOURNAL_TEMP, false, &ignored);
		return rc;
	}
	rc = txn_sync_dir(t->jdir, dir, err);
	if (rc == 0)
		rc = txn_sync_dir(t->plan->root, t->plan->root_path, err);
	if (rc != 0)
		(void)txn_journal_discard(t, &ignored);
	return rc;
}

int txn_journal_create(struct txn *t, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	struct fm_err ignored;
	int rc = open_directory(t, true, err);

	if (rc != 0)
		return rc;
	first_block(t, &b);
	rc = start_file(t, b.data, b.len, err);
	fm_buf_release(&b);
	if (rc == 0)
		rc = publish(t, err);
	else
		(void)remove_file(t, JOURNAL_TEMP, false, &ignored);
	// Not empty when there are records: then it stays.
	if (rc != 0)
		(void)txn_rmdir(t->plan->root, t->plan->journals, false,
				&ignored);
	return rc;
}

bool txn_journal_had(const struct txn *t, const char *phase, const char *reset)
{
	bool had = false;

	if (!t->journal)
		return false;
	for (const struct fm_journal_record *r = t->journal->first; r;
	     r = r->next) {
		if (strcmp(fm_journal_text(r, 0), "phase") != 0)
			continue;
		if (strcmp(fm_journal_text(r, 1), phase) == 0)
			had = true;
		else if (reset && strcmp(fm_journal_text(r, 1), reset) == 0)
			had = false;
	}
	return had;
}

int txn_journal_load(struct txn *t, struct fm_err *err)
{
	struct fm_journal *j = fm_arena_alloc(&t->arena, sizeof(*j));
	struct fm_buf b = FM_BUF_INIT;
	int rc = txn_read_small(t->jdir, TXN_JOURNAL, &b, err);

	if (rc == 0)
		rc = fm_journal_decode(b.data, b.len, &t->arena, j, err);
	if (rc == 0)
		t->journal = j;
	fm_buf_release(&b);
	return rc;
}

// "0007-layout.done" gives 7, any other name 0.
static unsigned done_number(const char *name)
{
	size_t len = strlen(name), suffix = strlen(DONE_SUFFIX);
	char *end;
	unsigned long n;

	if (len <= suffix || strcmp(name + len - suffix, DONE_SUFFIX) != 0)
		return 0;
	n = strtoul(name, &end, 10);
	return end != name && *end == '-' && n < 1000000 ? (unsigned)n : 0;
}

// A checksum keeps accidents out, not malice: whoever owns the target can write
// a journal, and root may be the one who undoes it. So only the names that the
// format itself would plan are believed.
static bool is_own_name(const struct txn *t, const char *name)
{
	for (size_t i = 0; i < t->plan->n_file_names; i++)
		if (strcmp(name, t->plan->file_names[i]) == 0)
			return true;
	return false;
}

static int check_names(const struct txn *t, struct fm_err *err)
{
	const char *undoes = t->plan->undoes;

	for (const struct fm_journal_record *r = t->journal->first; r;
	     r = r->next) {
		const char *name = fm_journal_text(r, 1);

		if (strcmp(fm_journal_text(r, 0), "save") != 0)
			continue;
		if (r->n_fields != 5 || strlen(name) != r->field[1].len ||
		    !is_own_name(t, name))
			return fm_err_set(err, FM_E_FORMAT,
					  "the journal names %s, which no "
					  "conversion changes",
					  name);
	}
	if (undoes && (strchr(undoes, '/') || done_number(undoes) == 0))
		return fm_err_set(err, FM_E_FORMAT,
				  "the journal names %s, which is no record",
				  undoes);
	return 0;
}

int txn_journal_reopen(struct txn *t, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	int rc = open_directory(t, false, err);

	if (rc == 0)
		rc = txn_journal_load(t, err);
	if (rc == 0)
		rc = check_names(t, err);
	if (rc == 0)
		rc = txn_read_small(t->jdir, TXN_JOURNAL, &b, err);
	if (rc == 0)
		rc = start_file(t, b.data, t->journal->good, err);
	if (rc == 0)
		rc = txn_rename(t->jdir, JOURNAL_TEMP, t->jdir, TXN_JOURNAL,
				err);
	if (rc == 0)
		rc = txn_sync_dir(t->jdir, t->plan->journals, err);
	fm_buf_release(&b);
	return rc;
}

int txn_journal_add(struct txn *t, const struct fm_journal_field *f, size_t n,
		    struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	int sys;

	fm_journal_encode(&b, f, n);
	sys = txn_write_all(t->jfd, b.data, b.len);
	if (sys == 0 && txn_sync_fd(t->jfd) != 0)
		sys = errno;
	if (sys == 0)
		t->jlen += b.len;
	else
		(void)!ftruncate(t->jfd, (off_t)t->jlen);
	fm_buf_release(&b);
	if (sys != 0)
		return fm_err_sys(err, sys, "cannot write %s/" TXN_JOURNAL,
				  t->plan->journals);
	return 0;
}

int txn_journal_phase(struct txn *t, const char *name, struct fm_err *err)
{
	struct fm_journal_field f[2] = {fm_journal_string("phase"),
					fm_journal_string(name)};

	return txn_journal_add(t, f, 2, err);
}

// Calls nothing, keeps the newest: directories of journals are small.
static int scan_done(int jdir, struct fm_txn_look *look, struct fm_arena *out,
		     struct fm_err *err)
{
	unsigned newest = 0;
	struct dirent *d;
	int fd = openat(jdir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir)
		return fm_err_sys(err, errno, "cannot read journals");
	while (errno = 0, (d = readdir(dir)) != NULL) {
		unsigned n = done_number(d->d_name);

		if (n == 0)
			continue;
		look->n_finished++;
		if (n > newest) {
			newest = n;
			look->newest = fm_arena_strdup(out, d->d_name);
		}
	}
	return errno ? fm_err_sys(err, errno, "cannot read journals") : 0;
}

static int after_end(struct txn *t, struct fm_err *err)
{
	struct fm_err ignored;

	if (txn_sync_dir(t->jdir, t->plan->journals, err) != 0)
		return err->code;
	// Not empty: the records of other changes lie there.
	(void)txn_rmdir(t->plan->root, t->plan->journals, false, &ignored);
	return txn_sync_dir(t->plan->root, t->plan->root_path, err);
}

int txn_journal_finish(struct txn *t, struct fm_err *err)
{
	struct fm_txn_look look = {0};
	struct fm_txn_result *r = t->result;

	if (t->plan->undoes) {
		if (txn_unlink(t->jdir, t->plan->undoes, false, err) != 0 ||
		    remove_file(t, TXN_JOURNAL, true, err) != 0)
			return err->code;
		return after_end(t, err);
	}
	if (scan_done(t->jdir, &look, &t->arena, err) != 0)
		return err->code;
	(void)snprintf(r->record, sizeof(r->record), "%04u-%s" DONE_SUFFIX,
		       (look.newest ? done_number(look.newest) : 0) + 1,
		       t->plan->operation);
	if (txn_rename(t->jdir, TXN_JOURNAL, t->jdir, r->record, err) != 0)
		return err->code;
	return txn_sync_dir(t->jdir, t->plan->journals, err);
}

int txn_journal_discard(struct txn *t, struct fm_err *err)
{
	if (remove_file(t, JOURNAL_TEMP, false, err) != 0 ||
	    remove_file(t, TXN_JOURNAL, false, err) != 0)
		return err->code;
	return after_end(t, err);
}

static int open_journals(int root, const char *journals, int *fd,
			 struct fm_err *err)
{
	*fd = openat(root, journals,
		     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0 && errno != ENOENT)
		return fm_err_sys(err, errno, "cannot open directory %s",
				  journals);
	return 0;
}

static bool is_running(int jdir)
{
	return flock(jdir, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

int fm_txn_look(int root, const char *journals, struct fm_arena *out,
		struct fm_txn_look *look, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	FM_AUTOFD int jdir = -1;
	int rc;

	*look = (struct fm_txn_look){.state = FM_TXN_CLEAN};
	rc = open_journals(root, journals, &jdir, err);
	if (rc != 0 || jdir < 0)
		return rc;
	rc = scan_done(jdir, look, out, err);
	if (rc != 0)
		return rc;
	rc = txn_read_small(jdir, TXN_JOURNAL, &b, err);
	if (rc == 0) {
		look->state =
			is_running(jdir) ? FM_TXN_RUNNING : FM_TXN_UNFINISHED;
		rc = fm_journal_decode(b.data, b.len, out, &look->journal, err);
		if (rc != 0)
			fm_err_prefix(err, "%s/" TXN_JOURNAL ": ", journals);
	} else if (rc == FM_E_IO && err->sys == ENOENT) {
		rc = 0;
	}
	fm_buf_release(&b);
	return rc;
}

int fm_txn_read(int root, const char *journals, const char *name,
		struct fm_arena *out, struct fm_journal *j, struct fm_err *err)
{
	struct fm_buf b = FM_BUF_INIT;
	FM_AUTOFD int jdir = -1;
	int rc;

	rc = open_journals(root, journals, &jdir, err);
	if (rc != 0)
		return rc;
	rc = txn_read_small(jdir, name, &b, err);
	if (rc == 0)
		rc = fm_journal_decode(fm_buf_text(&b), b.len, out, j, err);
	fm_buf_release(&b);
	return rc ? fm_err_prefix(err, "%s/%s: ", journals, name) : 0;
}

// Deletes every finished journal. n: how many.
static int delete_done(struct txn *t, unsigned *n, struct fm_err *err)
{
	struct fm_txn_look look;
	int rc;

	for (;;) {
		look = (struct fm_txn_look){0};
		rc = scan_done(t->jdir, &look, &t->arena, err);
		if (rc == 0 && look.newest)
			rc = txn_unlink(t->jdir, look.newest, true, err);
		if (rc != 0 || !look.newest)
			return rc;
		(*n)++;
	}
}

static int tidy(int root, const char *journals, unsigned *n_deleted,
		struct fm_err *err)
{
	struct fm_plan plan = {
		.root = root, .journals = journals, .root_path = "the target"};
	struct txn t = {.plan = &plan, .jdir = -1, .jfd = -1};
	int rc = open_journals(root, journals, &t.jdir, err);

	if (rc != 0 || t.jdir < 0)
		return rc;
	fm_close_fd(&t.jdir);
	fm_arena_init(&t.arena);
	rc = open_directory(&t, false, err);
	if (rc == 0)
		rc = txn_unlink(t.jdir, JOURNAL_TEMP, false, err);
	if (rc == 0 && n_deleted)
		rc = delete_done(&t, n_deleted, err);
	if (rc == 0)
		rc = after_end(&t, err);
	fm_close_fd(&t.jdir);
	fm_arena_release(&t.arena);
	return rc;
}

int fm_txn_forget(int root, const char *journals, unsigned *n_deleted,
		  struct fm_err *err)
{
	*n_deleted = 0;
	return tidy(root, journals, n_deleted, err);
}

int fm_txn_tidy(int root, const char *journals, struct fm_err *err)
{
	return tidy(root, journals, NULL, err);
}
