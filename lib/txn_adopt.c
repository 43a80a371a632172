// SPDX-License-Identifier: GPL-2.0-or-later
// Shards that another tool began to fill, or filled without saying so.
//
// A number of such a tree lies in one of three places: flat, in K, or in
// K<suffix> of the tool's own. Rename mode from flat to shards begins with
// moving files to TXN_STAGE/K; so what lies in K and K<suffix> goes there
// first, and the rest of the work is what it always is, both ways.

#include "lib/autofd.h"
#include "lib/mem.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

static bool is_shard_name(const struct fm_plan *plan, const char *name,
			  uint64_t *k)
{
	size_t len = strlen(name), tail = strlen(plan->adopts);
	char number[FM_NUM_PATH];

	if (fm_num_parse(name, k))
		return true;
	if (len <= tail || len - tail >= sizeof(number) ||
	    strcmp(name + len - tail, plan->adopts) != 0)
		return false;
	memcpy(number, name, len - tail);
	number[len - tail] = '\0';
	return fm_num_parse(number, k);
}

bool txn_adopts(const struct fm_plan *plan, const char *name)
{
	uint64_t k;

	return plan->adopts && is_shard_name(plan, name, &k);
}

// Calls fn for each directory of that kind; opened, with its number.
static int each(struct txn *t, int top,
		int (*fn)(void *ctx, const char *name, uint64_t k, int dir,
			  struct fm_err *err),
		void *ctx, struct fm_err *err)
{
	int own = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *d = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *e;
	int rc = 0;

	if (!d)
		return fm_err_sys(err, errno, "cannot read directory");
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL) {
		FM_AUTOFD int dir = -1;
		uint64_t k;

		if (!is_shard_name(t->plan, e->d_name, &k))
			continue;
		dir = openat(top, e->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0 && (errno == ENOTDIR || errno == ELOOP))
			continue;
		if (dir < 0)
			return fm_err_sys(err, errno,
					  "cannot open directory %s",
					  e->d_name);
		rc = fn(ctx, e->d_name, k, dir, err);
	}
	if (rc == 0 && errno)
		return fm_err_sys(err, errno, "cannot read directory");
	return rc;
}

struct look {
	struct txn *t;
	struct txn_tree *tree;
	uint64_t n; /* numbers 0 to n-1 have to be there */
	uint64_t k; /* of the directory that is read */
	bool is_flat;
};

static int note(void *ctx, const struct fm_num_entry *e, struct fm_err *err)
{
	struct look *l = ctx;
	const char *junk = l->t->plan->junk;
	uint64_t *ino;

	if (e->is_in_shard || (l->is_flat && e->type == DT_DIR) ||
	    (junk && strncmp(e->name, junk, strlen(junk)) == 0))
		return 0;
	if (!e->is_number || e->type != DT_REG ||
	    (!l->is_flat && e->number / l->tree->plan->to != l->k))
		return fm_err_set(err, FM_E_FORMAT,
				  "%s does not belong where it lies", e->name);
	if (e->number >= l->n)
		return 0;
	ino = &l->tree->ino[e->number];
	if (*ino && *ino != e->ino)
		return fm_err_set(err, FM_E_FORMAT, "%s lies in two places",
				  e->name);
	*ino = e->ino;
	return 0;
}

static int look_one(void *ctx, const char *name, uint64_t k, int dir,
		    struct fm_err *err)
{
	struct look *l = ctx;

	l->k = k;
	if (fm_num_walk(dir, note, l, err) != 0)
		return fm_err_prefix(err, "%s/", name);
	return 0;
}

int txn_adopt_look(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	struct look l = {
		.t = t, .tree = tree, .n = t->highest + 1, .is_flat = true};
	int rc;

	tree->ino = fm_alloc_array(l.n, sizeof(uint64_t));
	memset(tree->ino, 0, l.n * sizeof(uint64_t));
	rc = fm_num_walk(tree->live, note, &l, err);
	l.is_flat = false;
	if (rc == 0)
		rc = each(t, tree->live, look_one, &l, err);
	for (uint64_t n = 0; n < l.n && rc == 0; n++)
		if (tree->ino[n] == 0)
			rc = fm_err_set(err, FM_E_FORMAT,
					"%" PRIu64 " is missing", n);
	return rc ? fm_err_prefix(err, "%s/", tree->plan->name) : 0;
}

// Into a shard that is there already: K and K<suffix>, or a crash before.
static int merge(int from, int to, struct fm_err *err)
{
	int own = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *d = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *e;
	int sys = 0;

	if (!d)
		return fm_err_sys(err, errno, "cannot read directory");
	while (errno = 0, (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (txn_rename_new(from, e->d_name, to, e->d_name, &sys) != 0)
			return fm_err_sys(err, sys, "cannot move %s",
					  e->d_name);
	}
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory");
	return txn_sync_dir(to, "of a shard", err);
}

static int adopt_one(void *ctx, const char *name, uint64_t k, int dir,
		     struct fm_err *err)
{
	struct txn_tree *tree = ctx;
	FM_AUTOFD int there = -1;
	char target[FM_NUM_PATH];
	int sys = 0;

	fm_num_path(0, k, target);
	if (txn_rename_new(tree->live, name, tree->staged, target, &sys) == 0)
		return 0;
	if (sys != EEXIST && sys != ENOTEMPTY)
		return fm_err_sys(err, sys, "cannot move directory %s", name);
	if (txn_open_dir(tree->staged, target, &there, err) != 0 ||
	    merge(dir, there, err) != 0)
		return fm_err_prefix(err, "%s: ", name);
	return txn_rmdir(tree->live, name, true, err);
}

int txn_adopt(struct txn *t, struct txn_tree *tree, struct fm_err *err)
{
	int rc = 0;

	if (!t->plan->adopts)
		return 0;
	rc = each(t, tree->live, adopt_one, tree, err);
	if (rc == 0)
		rc = txn_sync_dir(tree->staged, tree->plan->name, err);
	if (rc == 0)
		rc = txn_sync_dir(tree->live, tree->plan->name, err);
	return rc;
}
