// SPDX-License-Identifier: GPL-2.0-or-later
// The window of a switch: locks, guard, small files, version marker.
//
// Everything that can be made beforehand is: inside the window there are only
// renames and syncs. The directory is synced between guard, trees and marker,
// since a file system may persist renames in any order: a new tree under an
// old marker would be misread.

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_TEMP  TXN_PREFIX "tmp-guard"
#define MARKER_TEMP TXN_PREFIX "tmp-marker"

static const char kind_none[] = "none", kind_file[] = "file",
		  kind_dir[] = "dir";

static bool same_bytes(const struct fm_journal_field *f, const struct fm_buf *b)
{
	return f->len == b->len &&
	       (f->len == 0 || memcmp(f->data, b->data, f->len) == 0);
}

// A lock file that is missing is made as Subversion would make it, but never
// owned by root in a repository that belongs to a server's user.
static int make_lock_file(struct txn *t, const char *name, struct fm_err *err)
{
	FM_AUTOFD int fd = -1;

	if (txn_exists(t->plan->root, name))
		return 0;
	if (txn_create(t->plan->root, name, "", 0, t->plan->root,
		       t->plan->bound, &fd, err) == 0)
		return 0;
	return err->sys == EEXIST ? 0 : err->code;
}

int txn_lock_build(struct txn *t, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;

	if (!p->build_lock || t->is_locked || t->build_lock.fd >= 0)
		return 0;
	if (make_lock_file(t, p->build_lock, err) != 0)
		return err->code;
	return fm_lock_take(p->root, p->build_lock, t->opts->lock_wait_ms,
			    &t->build_lock, err);
}

static int lock_from(struct txn *t, size_t first, struct fm_err *err)
{
	int rc = 0;

	if (t->is_locked)
		return 0;
	for (size_t i = first; i < t->plan->n_locks && rc == 0; i++) {
		// The new format may do without it, and it is gone.
		if (t->is_committed &&
		    !txn_exists(t->plan->root, t->plan->locks[i]))
			continue;
		rc = make_lock_file(t, t->plan->locks[i], err);
		if (rc == 0)
			rc = fm_lock_take(t->plan->root, t->plan->locks[i],
					  t->opts->lock_wait_ms, &t->locks[i],
					  err);
	}
	t->is_locked = true;
	t->locked_since = txn_now();
	if (rc != 0)
		txn_unlock_all(t);
	return rc;
}

int txn_lock_all(struct txn *t, struct fm_err *err)
{
	return lock_from(t, 0, err);
}

int txn_lock_inner(struct txn *t, struct fm_err *err)
{
	return lock_from(t, t->plan->n_locks ? t->plan->n_locks - 1 : 0, err);
}

void txn_unlock_all(struct txn *t)
{
	if (!t->is_locked)
		return;
	for (size_t i = t->plan->n_locks; i-- > 0;)
		fm_lock_drop(&t->locks[i]);
	t->is_locked = false;
	t->result->locked_seconds += txn_now() - t->locked_since;
}

int txn_marker_state(struct txn *t, enum txn_marker *m, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	struct fm_buf b = FM_BUF_INIT;
	int rc = txn_read_small(p->root, p->marker, &b, err);

	*m = TXN_ALIEN;
	// An old marker of no bytes stands for "there was no such file".
	if (rc == FM_E_IO && err->sys == ENOENT && p->old_marker.len == 0) {
		*m = TXN_OLD;
		rc = 0;
	} else if (rc == 0 && same_bytes(&p->old_marker, &b))
		*m = TXN_OLD;
	else if (rc == 0 && same_bytes(&p->guard, &b))
		*m = TXN_GUARD;
	else if (rc == 0 && same_bytes(&p->new_marker, &b))
		*m = TXN_NEW;
	fm_buf_release(&b);
	return rc;
}

static int prepare(struct txn *t, const char *temp,
		   const struct fm_journal_field *bytes, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;

	if (txn_unlink(p->root, temp, false, err) != 0)
		return err->code;
	return txn_write_new(p->root, temp, bytes->data, bytes->len, p->root,
			     txn_marker_like(t), err);
}

const char *txn_marker_like(const struct txn *t)
{
	const struct fm_plan *p = t->plan;

	return txn_exists(p->root, p->marker) ? p->marker : p->bound;
}

int txn_prepare_markers(struct txn *t, struct fm_err *err)
{
	int rc = prepare(t, GUARD_TEMP, &t->plan->guard, err);

	return rc ? rc : prepare(t, MARKER_TEMP, &t->plan->new_marker, err);
}

int txn_guard_up(struct txn *t, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	int rc = txn_rename(p->root, GUARD_TEMP, p->root, p->marker, err);

	return rc ? rc : txn_sync_dir(p->root, p->root_path, err);
}

int txn_marker_set(struct txn *t, const struct fm_journal_field *bytes,
		   struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	int rc = 0;

	if (bytes->len == 0) {
		rc = txn_unlink(p->root, p->marker, false, err);
		return rc ? rc : txn_sync_dir(p->root, p->root_path, err);
	}
	// Prepared before the window, except when this takes something back.
	if (bytes != &p->new_marker || !txn_exists(p->root, MARKER_TEMP))
		rc = prepare(t, MARKER_TEMP, bytes, err);
	if (rc == 0)
		rc = txn_rename(p->root, MARKER_TEMP, p->root, p->marker, err);
	return rc ? rc : txn_sync_dir(p->root, p->root_path, err);
}

// What lies at a path now: kind, and the bytes of a file.
static int look_at(struct txn *t, const char *path, const char **kind,
		   struct fm_buf *bytes, struct fm_err *err)
{
	struct stat st;

	*kind = kind_none;
	fm_buf_clear(bytes);
	if (fstatat(t->plan->root, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT
			       ? 0
			       : fm_err_sys(err, errno, "cannot read %s", path);
	*kind = S_ISDIR(st.st_mode) ? kind_dir : kind_file;
	if (S_ISDIR(st.st_mode))
		return 0;
	return txn_read_small(t->plan->root, path, bytes, err);
}

static int save_one(struct txn *t, const struct fm_plan_file *f,
		    struct fm_err *err)
{
	const struct fm_journal_record *before = NULL;
	struct fm_journal_field field[5] = {fm_journal_string("save"),
					    fm_journal_string(f->path)};
	struct fm_buf now = FM_BUF_INIT;
	enum txn_marker marker;
	const char *kind;
	int rc = txn_marker_state(t, &marker, err);

	if (rc == 0)
		rc = look_at(t, f->path, &kind, &now, err);
	// With the guard up the file may be the new one already: what a
	// crashed run saved before it is the truth.
	if (rc == 0 && marker == TXN_GUARD && t->journal)
		before = fm_journal_find(t->journal, "save", f->path);
	if (rc == 0) {
		field[2] = before ? before->field[2] : fm_journal_string(kind);
		field[3] = before ? before->field[3]
				  : (struct fm_journal_field){fm_buf_text(&now),
							      now.len};
		field[4] = (struct fm_journal_field){f->data ? f->data : "",
						     f->len};
		rc = txn_journal_add(t, field, 5, err);
	}
	fm_buf_release(&now);
	return rc;
}

static int prepare_file(struct txn *t, const struct fm_plan_file *f,
			struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	const char *temp = txn_temp_name(t, f->path);
	const char *like = txn_exists(p->root, f->path) ? f->path : f->like;

	if (f->kind != FM_FILE_WRITE)
		return 0;
	if (txn_unlink(p->root, temp, false, err) != 0)
		return err->code;
	return txn_write_new(p->root, temp, f->data, f->len, p->root, like,
			     err);
}

int txn_save_files(struct txn *t, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	int rc = p->settle ? p->settle(t->plan, err) : 0;

	for (size_t i = 0; i < p->n_files && rc == 0; i++) {
		rc = save_one(t, &p->files[i], err);
		if (rc == 0)
			rc = prepare_file(t, &p->files[i], err);
	}
	return rc;
}

static int place_one(struct txn *t, const struct fm_plan_file *f,
		     struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	FM_AUTOFD int like = -1;

	switch (f->kind) {
	case FM_FILE_WRITE:
		return txn_rename(p->root, txn_temp_name(t, f->path), p->root,
				  f->path, err);
	case FM_FILE_MKDIR:
		like = openat(p->root, f->like,
			      O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (like < 0)
			return fm_err_sys(err, errno, "cannot open %s",
					  f->like);
		return txn_mkdir_like(p->root, f->path, like, err);
	case FM_FILE_REMOVE: break;
	}
	// Set aside, to be deleted after the commit point: undo needs it whole.
	if (!txn_exists(p->root, f->path))
		return 0;
	return txn_rename(p->root, f->path, p->root, txn_temp_name(t, f->path),
			  err);
}

int txn_place_files(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < t->plan->n_files && rc == 0; i++)
		rc = place_one(t, &t->plan->files[i], err);
	return rc ? rc : txn_sync_dir(t->plan->root, t->plan->root_path, err);
}

// Takes one small file back to what was saved. A file that somebody else has
// written since (a stale writer's `current`) is right as it is.
static int restore_one(struct txn *t, const struct fm_journal_record *r,
		       struct fm_err *err)
{
	const char *path = fm_journal_text(r, 1), *was = fm_journal_text(r, 2);
	const struct fm_plan *p = t->plan;
	const char *kind, *temp = txn_temp_name(t, path);
	struct fm_buf now = FM_BUF_INIT;
	bool is_ours;
	int rc = look_at(t, path, &kind, &now, err);

	is_ours = rc == 0 && (kind == kind_none || kind == kind_dir ||
			      same_bytes(&r->field[4], &now));
	fm_buf_release(&now);
	if (!is_ours || strcmp(was, kind_dir) == 0)
		return rc;
	if (strcmp(was, kind_none) == 0)
		return kind == kind_dir ? txn_rmdir(p->root, path, false, err)
					: txn_unlink(p->root, path, false, err);
	if (kind == kind_none && txn_exists(p->root, temp))
		return txn_rename(p->root, temp, p->root, path, err);
	rc = txn_unlink(p->root, temp, false, err);
	if (rc == 0)
		rc = txn_write_new(p->root, temp, r->field[3].data,
				   r->field[3].len, p->root,
				   kind == kind_none ? p->bound : path, err);
	return rc ? rc : txn_rename(p->root, temp, p->root, path, err);
}

int txn_restore_files(struct txn *t, struct fm_err *err)
{
	int rc = 0;

	if (!t->journal)
		return 0;
	for (const struct fm_journal_record *r = t->journal->first;
	     r && rc == 0; r = r->next)
		if (strcmp(fm_journal_text(r, 0), "save") == 0 &&
		    r == fm_journal_find(t->journal, "save",
					 fm_journal_text(r, 1)))
			rc = restore_one(t, r, err);
	return rc ? rc : txn_sync_dir(t->plan->root, t->plan->root_path, err);
}

static int remove_temp(struct txn *t, const char *path, struct fm_err *err)
{
	const char *temp = txn_temp_name(t, path);
	struct stat st;

	if (fstatat(t->plan->root, temp, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode))
		return txn_rmdir(t->plan->root, temp, false, err);
	return txn_unlink(t->plan->root, temp, false, err);
}

int txn_remove_temps(struct txn *t, struct fm_err *err)
{
	const struct fm_plan *p = t->plan;
	int rc = txn_unlink(p->root, GUARD_TEMP, false, err);

	if (rc == 0)
		rc = txn_unlink(p->root, MARKER_TEMP, false, err);
	for (size_t i = 0; i < p->n_files && rc == 0; i++)
		rc = remove_temp(t, p->files[i].path, err);
	if (!t->journal)
		return rc;
	for (const struct fm_journal_record *r = t->journal->first;
	     r && rc == 0; r = r->next)
		if (strcmp(fm_journal_text(r, 0), "save") == 0)
			rc = remove_temp(t, fm_journal_text(r, 1), err);
	return rc;
}
