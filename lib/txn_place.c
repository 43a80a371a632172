// SPDX-License-Identifier: GPL-2.0-or-later
// Where a copy goes: beside its name while it grows, then under it.

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

// A copy inside its own source would copy itself.
static int refuse_inside(struct txn_place *place, struct fm_err *err)
{
	FM_AUTOFD int fd = fcntl(place->dir, F_DUPFD_CLOEXEC, 0);
	struct stat source, here, up;

	if (fstat(place->t->plan->copy_from, &source) != 0)
		return fm_err_sys(err, errno, "cannot read the source");
	while (fd >= 0 && fstat(fd, &here) == 0) {
		int parent;

		if (here.st_ino == source.st_ino &&
		    here.st_dev == source.st_dev)
			return fm_err_set(err, FM_E_USAGE,
					  "%s lies inside its own source",
					  place->t->plan->copy_to);
		parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (parent < 0 || fstat(parent, &up) != 0)
			break;
		fm_close_fd(&fd);
		fd = parent;
		if (up.st_ino == here.st_ino && up.st_dev == here.st_dev)
			return 0;
	}
	return fm_err_sys(err, errno, "cannot find the way up from %s",
			  place->t->plan->copy_to);
}

// What stands there may be replaced, but not the source itself, under whatever
// name, nor a link: whatever that leads to is not ours to judge.
static int refuse_existing(struct txn_place *place, struct fm_err *err)
{
	struct stat source, there;

	if (fstatat(place->dir, place->name, &there, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT
			       ? 0
			       : fm_err_sys(err, errno, "cannot read %s",
					    place->t->plan->copy_to);
	if (fstat(place->t->plan->copy_from, &source) != 0)
		return fm_err_sys(err, errno, "cannot read the source");
	if (there.st_ino == source.st_ino && there.st_dev == source.st_dev)
		return fm_err_set(err, FM_E_USAGE, "%s is the source itself",
				  place->t->plan->copy_to);
	if (!S_ISDIR(there.st_mode))
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%s is not a directory: --force replaces "
				  "only repositories",
				  place->t->plan->copy_to);
	return 0;
}

int txn_place_find(struct txn_place *place, struct fm_err *err)
{
	char *path = fm_arena_strdup(&place->t->arena, place->t->plan->copy_to);
	size_t len = strlen(path);
	char *slash;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	slash = strrchr(path, '/');
	place->name = slash ? slash + 1 : path;
	if (!*place->name || strcmp(place->name, ".") == 0 ||
	    strcmp(place->name, "..") == 0)
		return fm_err_set(err, FM_E_USAGE, "%s is no name for a copy",
				  place->t->plan->copy_to);
	place->temp =
		fm_arena_printf(&place->t->arena, TXN_PREFIX "%s", place->name);
	if (slash)
		*slash = '\0';
	place->dir_path = !slash ? "." : *path ? path : "/";
	place->dir = open(place->dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (place->dir < 0)
		return fm_err_sys(err, errno, "cannot open directory of %s",
				  place->t->plan->copy_to);
	if (txn_exists(place->dir, place->name) && !place->t->plan->replace)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "%s exists already: --force replaces it",
				  place->t->plan->copy_to);
	if (refuse_existing(place, err) != 0)
		return err->code;
	return refuse_inside(place, err);
}

int txn_place_put(struct txn_place *place, struct fm_err *err)
{
	int rc, sys = 0;

	if (!txn_exists(place->dir, place->name)) {
		if (txn_rename_new(place->dir, place->temp, place->dir,
				   place->name, &sys) != 0)
			return fm_err_sys(err, sys, "cannot rename to %s",
					  place->name);
		return txn_sync_dir(place->dir, place->dir_path, err);
	}
	rc = txn_exchange(place->dir, place->name, place->temp, err);
	if (rc == 0)
		rc = txn_sync_dir(place->dir, place->dir_path, err);
	if (rc == 0)
		rc = txn_remove_all(place->dir, place->temp, err);
	return rc;
}

// A killed run leaves a marked directory under the temporary name. One that
// is not marked, and not empty, is somebody's.
int txn_place_clear(struct txn_place *place, struct fm_err *err)
{
	FM_AUTOFD int fd =
		openat(place->dir, place->temp,
		       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct fm_err ignored;

	if (fd >= 0 && txn_exists(fd, TXN_BUILT))
		return txn_remove_all(place->dir, place->temp, err);
	if (fd >= 0)
		(void)txn_rmdir(place->dir, place->temp, false, &ignored);
	return txn_refuse_name(place->dir, place->temp, err);
}
