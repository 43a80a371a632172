// SPDX-License-Identifier: GPL-2.0-or-later
// Units: directories that a format makes anew, a pack or a shard out of packs.
//
// A unit grows in TXN_UNIT, inside the tree (which may be a mount point), is
// compared with its source and synced there; one rename puts it in its place,
// whole. What goes takes the same way back, so that under its own name a
// directory is always complete: a crash leaves nothing to judge but TXN_UNIT.

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void txn_unit_name(const struct fm_plan *plan, uint64_t shard, uint64_t first,
		   bool is_pack, char name[TXN_UNIT_NAME])
{
	(void)snprintf(name, TXN_UNIT_NAME, "%" PRIu64 "%s", first / shard,
		       is_pack ? plan->units.suffix : "");
}

int txn_unit_make(struct txn *t, struct txn_tree *tree,
		  const struct fm_plan_unit *u, const char *name, int like,
		  struct fm_err *err)
{
	const struct fm_plan_units *units = &t->plan->units;
	FM_AUTOFD int unit = -1, dir = -1;
	struct fm_stage stage;
	int rc = txn_remove_all(tree->live, TXN_UNIT, err);

	if (rc == 0)
		rc = txn_mkdir_like(tree->live, TXN_UNIT, tree->live, err);
	if (rc == 0)
		rc = txn_open_dir(tree->live, TXN_UNIT, &unit, err);
	if (rc == 0)
		rc = txn_mkdir_like(unit, name, like, err);
	if (rc == 0)
		rc = txn_open_dir(unit, name, &dir, err);
	stage = (struct fm_stage){dir, like};
	if (rc == 0)
		rc = units->build(units, u, &stage, err);
	if (rc == 0 && !t->opts->no_proof)
		rc = units->check(units, u, unit, err);
	if (rc == 0)
		rc = u->end > u->becomes.packed ? txn_sync_many(dir, name, err)
						: txn_sync_all(dir, name, err);
	return rc;
}

int txn_unit_place(struct txn_tree *tree, int top, const char *name,
		   struct fm_err *err)
{
	FM_AUTOFD int unit = -1;
	int rc = txn_open_dir(tree->live, TXN_UNIT, &unit, err);
	int sys = 0;

	if (rc != 0)
		return rc;
	if (txn_rename_new(unit, name, top, name, &sys) != 0) {
		// Left there by somebody's crash, or loose numbers live in it.
		if (sys != EEXIST && sys != ENOTEMPTY)
			return fm_err_sys(err, sys, "cannot place %s", name);
		if (renameat2(unit, name, top, name, RENAME_EXCHANGE) != 0)
			return fm_err_sys(err, errno, "cannot exchange %s",
					  name);
	}
	return 0;
}

// By way of TXN_UNIT: never half of one under its own name.
int txn_unit_drop(struct txn_tree *tree, int top, const char *name,
		  struct fm_err *err)
{
	FM_AUTOFD int unit = -1;
	int rc, sys = 0;

	if (!txn_exists(top, name))
		return 0;
	rc = txn_remove_all(tree->live, TXN_UNIT, err);
	if (rc == 0)
		rc = txn_mkdir_like(tree->live, TXN_UNIT, tree->live, err);
	if (rc == 0)
		rc = txn_open_dir(tree->live, TXN_UNIT, &unit, err);
	if (rc == 0 && txn_rename_new(top, name, unit, name, &sys) != 0)
		rc = fm_err_sys(err, sys, "cannot set %s aside", name);
	return rc ? rc : txn_remove_all(tree->live, TXN_UNIT, err);
}
