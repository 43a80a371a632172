// SPDX-License-Identifier: GPL-2.0-or-later
// A converted copy in another place. The source is only read.
//
// The copy grows under a temporary name beside its own, is compared with the
// source, synced, and renamed at the end; a crash leaves the temporary name,
// which the next run removes. Order matters while others commit: the file
// that is written in place first, then the bound, then every number up to it.

#include "lib/autofd.h"
#include "lib/cancel.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)1 << 20)

enum { DEPTH_MAX = 64 };

struct copy {
	struct txn *t;
	struct txn_place place;
	int top, root;         /* of the copy: as copy_from, as plan->root */
	struct stat root_stat; /* of the source's root */
	char *buffer;          /* two chunks */
};

static int copy_bytes(struct copy *c, int from, int to, const char *name,
		      struct fm_err *err)
{
	ssize_t n;

	// In the kernel where it can: shared extents, or no copy through us.
	do {
		n = copy_file_range(from, NULL, to, NULL, CHUNK * 64, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP &&
	    errno != ENOSYS)
		return fm_err_sys(err, errno, "cannot copy %s", name);
	for (;;) {
		int sys;

		n = read(from, c->buffer, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fm_err_sys(err, errno, "cannot read %s", name);
		if (n == 0)
			return 0;
		sys = txn_write_all(to, c->buffer, (size_t)n);
		if (sys != 0)
			return fm_err_sys(err, sys, "cannot write %s", name);
	}
}

static int copy_times(int from, int to, const char *name, struct fm_err *err)
{
	struct timespec ts[2];
	struct stat st;

	if (fstat(from, &st) != 0)
		return fm_err_sys(err, errno, "cannot read times of %s", name);
	ts[0] = st.st_atim;
	ts[1] = st.st_mtim;
	if (futimens(to, ts) != 0)
		return fm_err_sys(err, errno, "cannot set times of %s", name);
	return 0;
}

static bool same_bytes(struct copy *c, int a, int b)
{
	off_t at = 0;
	ssize_t n, m;

	do {
		n = pread(a, c->buffer, CHUNK, at);
		m = pread(b, c->buffer + CHUNK, CHUNK, at);
		if (n < 0 || n != m ||
		    memcmp(c->buffer, c->buffer + CHUNK, (size_t)n) != 0)
			return false;
		at += n;
	} while (n > 0);
	return true;
}

// `from` is open: what it shows is one version, even if it is replaced now.
static int copy_open(struct copy *c, int from, int to_dir, const char *name,
		     struct fm_err *err)
{
	FM_AUTOFD int to = openat(
		to_dir, name,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (to < 0)
		return fm_err_sys(err, errno, "cannot create %s", name);
	if (copy_bytes(c, from, to, name, err) != 0 ||
	    txn_copy_attributes(from, to, name, err) != 0 ||
	    copy_times(from, to, name, err) != 0)
		return err->code;
	if (!c->t->opts->no_proof) {
		if (!same_bytes(c, from, to))
			return fm_err_set(err, FM_E_CHANGED,
					  "%s differs from its source", name);
		c->t->result->compared++;
	}
	// Starts writing it out; the wait comes in one pass at the end.
	(void)sync_file_range(to, 0, 0, SYNC_FILE_RANGE_WRITE);
	return 0;
}

static int copy_number(struct copy *c, struct txn_dirs *from,
		       struct txn_dirs *to, uint64_t n, struct fm_err *err)
{
	char name[FM_NUM_PATH];
	int source, target, tries = 1000;

	fm_num_path(0, n, name);
	if (txn_dir_of(from, n, false, &source, err) != 0 ||
	    txn_dir_of(to, n, true, &target, err) != 0)
		return err->code;
	for (;;) {
		FM_AUTOFD int fd =
			openat(source, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

		// Being replaced by rename at this very moment.
		if (fd < 0 && errno == ENOENT && --tries > 0)
			continue;
		if (fd < 0)
			return fm_err_sys(err, errno, "cannot open %s", name);
		return copy_open(c, fd, target, name, err);
	}
}

// A pack, or the part of a loose shard that comes out of packs.
static int copy_unit(struct copy *c, struct txn_tree *tree, int top,
		     uint64_t first, uint64_t end, struct fm_err *err)
{
	const struct fm_plan_tree *p = tree->plan;
	const struct fm_plan_units *units = &c->t->plan->units;
	struct fm_plan_unit u = {.tree = (size_t)(tree - c->t->trees),
				 .source = tree->live,
				 .is = {p->from, p->from_packed},
				 .becomes = {p->to, p->to_packed},
				 .first = fm_max_u64(first, p->n_loose),
				 .end = end};
	char name[TXN_UNIT_NAME] = ".";
	FM_AUTOFD int dir = -1;
	struct fm_stage stage;
	int rc = 0;

	if (p->to) {
		txn_unit_name(c->t->plan, p->to, first, first < p->to_packed,
			      name);
		rc = txn_mkdir_like(top, name, tree->live, err);
	}
	if (rc == 0)
		rc = txn_open_dir(top, name, &dir, err);
	stage = (struct fm_stage){dir, tree->live};
	if (rc == 0)
		rc = units->build(units, &u, &stage, err);
	if (rc == 0 && !c->t->opts->no_proof)
		rc = units->check(units, &u, top, err);
	c->t->result->moved += end - first;
	return rc;
}

// Up to where packs reach before or after.
static int copy_units(struct copy *c, struct txn_tree *tree, int top,
		      uint64_t *next, struct fm_err *err)
{
	const struct fm_plan_tree *p = tree->plan;
	uint64_t end, last = fm_max_u64(p->from_packed, p->to_packed);
	int rc = 0;

	for (*next = 0; *next < last && rc == 0; *next = end) {
		uint64_t room = p->to ? p->to - *next % p->to : last;

		end = fm_min_u64(*next + room, last);
		rc = fm_cancel_check(err);
		if (rc == 0)
			rc = copy_unit(c, tree, top, *next, end, err);
		fm_progress_step(c->t->opts->progress, c->t->result->moved);
	}
	return rc;
}

static int copy_tree(struct copy *c, struct txn_tree *tree, struct fm_err *err)
{
	uint64_t next = 0;
	struct txn_dirs from = {tree->live, tree->plan->from, 0, -1};
	struct txn_dirs to = {-1, tree->plan->to, 0, -1};
	FM_AUTOFD int top = -1;
	struct txn *t = c->t;
	int rc = txn_mkdir_like(c->root, tree->plan->name, tree->live, err);

	if (rc == 0)
		rc = txn_open_dir(c->root, tree->plan->name, &top, err);
	to.top = top;
	if (rc == 0)
		rc = copy_units(c, tree, top, &next, err);
	for (uint64_t n = 0; n <= t->highest && rc == 0; n++) {
		if (n >= tree->plan->n_loose && n < next)
			n = next;
		if (n > t->highest)
			break;
		rc = fm_cancel_check(err);
		if (rc == 0)
			rc = copy_number(c, &from, &to, n, err);
		fm_progress_step(t->opts->progress, ++t->result->moved);
	}
	txn_dirs_close(&from);
	txn_dirs_close(&to);
	if (rc != 0)
		fm_err_prefix(err, "%s: ", tree->plan->name);
	return rc;
}

static bool is_in(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

// Names of the root that are made otherwise, or not at all.
static bool is_left_out(const struct copy *c, const char *name)
{
	const struct fm_plan *p = c->t->plan;

	for (size_t i = 0; i < p->n_trees; i++)
		if (strcmp(p->trees[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < p->n_files; i++)
		if (p->files[i].kind != FM_FILE_MKDIR &&
		    strcmp(p->files[i].path, name) == 0)
			return true;
	return strcmp(name, p->marker) == 0 || strcmp(name, p->bound) == 0 ||
	       strcmp(name, p->journals) == 0 ||
	       (p->held && strcmp(name, p->held) == 0) ||
	       is_in(p->omitted, p->n_omitted, name) ||
	       strncmp(name, TXN_PREFIX, strlen(TXN_PREFIX)) == 0 ||
	       (p->junk && strncmp(name, p->junk, strlen(p->junk)) == 0);
}

static int copy_symlink(int from, int to, const char *name, struct fm_err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return fm_err_sys(err, errno, "cannot read link %s", name);
	target[n] = '\0';
	if (symlinkat(target, to, name) != 0)
		return fm_err_sys(err, errno, "cannot make link %s", name);
	return 0;
}

static int copy_dir(struct copy *c, int from, int to, int depth,
		    struct fm_err *err);

static int copy_entry(struct copy *c, int from, int to, const char *name,
		      int depth, bool is_root, struct fm_err *err)
{
	const struct fm_plan *p = c->t->plan;
	FM_AUTOFD int source = -1, target = -1;
	struct stat st;
	int rc;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT
			       ? 0
			       : fm_err_sys(err, errno, "cannot read %s", name);
	// The root itself may be a link (db): followed, as when it was opened.
	if (S_ISLNK(st.st_mode) &&
	    !(depth == 0 && strcmp(name, p->copy_base) == 0))
		return copy_symlink(from, to, name, err);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%s is neither file, directory nor link",
				  name);
	source = openat(from, name,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK |
				(S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW));
	if (source < 0)
		return errno == ENOENT
			       ? 0
			       : fm_err_sys(err, errno, "cannot open %s", name);
	if (S_ISREG(st.st_mode))
		return copy_open(c, source, to, name, err);
	rc = txn_mkdir_like(to, name, source, err);
	if (rc == 0 && !(is_root && is_in(p->hollow, p->n_hollow, name))) {
		rc = txn_open_dir(to, name, &target, err);
		if (rc == 0)
			rc = copy_dir(c, source, target, depth + 1, err);
	}
	return rc;
}

static int copy_dir(struct copy *c, int from, int to, int depth,
		    struct fm_err *err)
{
	int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;
	struct stat st;
	bool is_root;

	if (!dir || fstat(from, &st) != 0)
		return fm_err_sys(err, errno, "cannot read directory");
	if (depth > DEPTH_MAX)
		return fm_err_set(err, FM_E_LIMIT,
				  "directories are nested deeper than %d",
				  DEPTH_MAX);
	is_root = st.st_ino == c->root_stat.st_ino &&
		  st.st_dev == c->root_stat.st_dev;
	if (is_root)
		c->root = fcntl(to, F_DUPFD_CLOEXEC, 0);
	while (errno = 0, (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0 ||
		    (is_root && is_left_out(c, d->d_name)))
			continue;
		if (copy_entry(c, from, to, d->d_name, depth, is_root, err))
			return fm_err_prefix(err, depth ? "" : "copy: ");
	}
	return errno ? fm_err_sys(err, errno, "cannot read directory") : 0;
}

static int copy_held(struct copy *c, struct fm_err *err)
{
	struct fm_plan *p = c->t->plan;
	FM_AUTOFD int fd = -1;
	struct fm_err later;
	int rc;

	if (!p->held || !*p->held || !txn_exists(p->root, p->held))
		return 0;
	rc = p->hold(p, true, err);
	if (rc != 0)
		return rc;
	fd = openat(p->root, p->held, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		rc = fm_err_sys(err, errno, "cannot open %s", p->held);
	else
		rc = copy_open(c, fd, c->root, p->held, err);
	// Closing our descriptor would drop the holder's fcntl lock: last.
	if (p->hold(p, false, &later) != 0 && rc == 0) {
		*err = later;
		rc = err->code;
	}
	return rc;
}

static int write_file(struct copy *c, const char *path, const char *data,
		      size_t len, const char *like, struct fm_err *err)
{
	const struct fm_plan *p = c->t->plan;

	return txn_write_new(c->root, path, data, len, p->root,
			     txn_exists(p->root, path) ? path : like, err);
}

static bool plan_writes(const struct fm_plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_files; i++)
		if (strcmp(p->files[i].path, path) == 0)
			return true;
	return false;
}

// The small files as the conversion wants them, the bound as it was when the
// numbers were copied, and the marker.
static int write_files(struct copy *c, const struct fm_buf *bound,
		       struct fm_err *err)
{
	const struct fm_plan *p = c->t->plan;
	int rc = 0;

	for (size_t i = 0; i < p->n_files && rc == 0; i++) {
		const struct fm_plan_file *f = &p->files[i];

		if (f->kind == FM_FILE_WRITE)
			rc = write_file(c, f->path, f->data, f->len, f->like,
					err);
		else if (f->kind == FM_FILE_MKDIR &&
			 !txn_exists(c->root, f->path)) {
			FM_AUTOFD int like = -1;

			rc = txn_open_dir(p->root, f->like, &like, err);
			if (rc == 0)
				rc = txn_mkdir_like(c->root, f->path, like,
						    err);
		}
	}
	if (rc == 0 && !plan_writes(p, p->bound))
		rc = write_file(c, p->bound, fm_buf_text(bound), bound->len,
				p->bound, err);
	if (rc == 0)
		rc = write_file(c, p->marker, p->new_marker.data,
				p->new_marker.len, p->bound, err);
	return rc;
}

// The bound, its bytes and the small files of the plan, all of one moment.
static int settle(struct copy *c, struct fm_buf *bound, struct fm_err *err)
{
	struct fm_plan *p = c->t->plan;
	uint64_t after = 0;
	int rc;

	do {
		rc = txn_read_bound(c->t, &c->t->highest, err);
		if (rc == 0)
			rc = txn_read_small(p->root, p->bound, bound, err);
		if (rc == 0)
			rc = p->settle(p, err);
		if (rc == 0)
			rc = txn_read_bound(c->t, &after, err);
	} while (rc == 0 && after != c->t->highest);
	return rc;
}

static int fill(struct copy *c, struct fm_err *err)
{
	struct fm_plan *p = c->t->plan;
	struct fm_buf bound = FM_BUF_INIT;
	int rc = copy_dir(c, p->copy_from, c->top, 0, err);

	if (rc == 0 && c->root < 0)
		rc = fm_err_set(err, FM_E_BUG, "the root was not met");
	if (rc == 0)
		rc = copy_held(c, err);
	if (rc == 0)
		rc = settle(c, &bound, err);
	fm_progress_phase(c->t->opts->progress, "copying",
			  (c->t->highest + 1) * p->n_trees);
	for (size_t i = 0; i < p->n_trees && rc == 0; i++)
		rc = copy_tree(c, &c->t->trees[i], err);
	if (rc == 0)
		rc = write_files(c, &bound, err);
	if (rc == 0)
		rc = txn_sync_many(c->top, c->place.temp, err);
	fm_buf_release(&bound);
	return rc;
}

int txn_copy(struct txn *t, struct fm_err *err)
{
	struct copy c = {
		.t = t, .place = {.t = t, .dir = -1}, .top = -1, .root = -1};
	double since = txn_now();
	struct fm_err second;
	int rc = txn_place_find(&c.place, err);

	if (rc == 0 && fstat(t->plan->root, &c.root_stat) != 0)
		rc = fm_err_sys(err, errno, "cannot read %s",
				t->plan->root_path);
	if (rc == 0)
		rc = txn_place_clear(&c.place, err);
	if (rc == 0)
		rc = txn_mkdir_like(c.place.dir, c.place.temp,
				    t->plan->copy_from, err);
	if (rc == 0) {
		c.buffer = fm_alloc(2 * CHUNK);
		rc = txn_open_dir(c.place.dir, c.place.temp, &c.top, err);
		if (rc == 0)
			rc = txn_write_new(c.top, TXN_BUILT, "", 0,
					   t->plan->root, t->plan->bound, err);
		if (rc == 0)
			rc = fill(&c, err);
		if (rc == 0)
			rc = txn_place_put(&c.place, err);
		if (rc == 0)
			rc = txn_unlink(c.top, TXN_BUILT, true, err);
		if (rc != 0 &&
		    txn_remove_all(c.place.dir, c.place.temp, &second) != 0)
			fm_err_append(err, "; and %s stays: %s", c.place.temp,
				      second.msg);
		fm_free(c.buffer);
	}
	fm_close_fd(&c.root);
	fm_close_fd(&c.top);
	fm_close_fd(&c.place.dir);
	t->result->phases[0].name = "copy";
	t->result->phases[0].seconds = txn_now() - since;
	t->result->n_phases = 1;
	return rc;
}
