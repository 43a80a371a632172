// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps writers of rep-cache.db out while its bytes are copied.
//
// SQLite writes the file in place. A read transaction holds its shared lock,
// under which no writer may touch the file; the copy is then one consistent
// state. The database is opened read-only: nothing is rolled back here.

#include "formats/fsfs/convert.h"

#include "lib/autofd.h"

#include <sqlite3.h>
#include <stdio.h>

enum { BUSY_MS = 5000 };

int fsfs_hold_rep_cache(struct fm_plan *plan, bool on, struct fm_err *err)
{
	struct fsfs_conversion *c = plan->ctx;
	int rc = 0;

	if (!on) {
		(void)sqlite3_close(c->held);
		c->held = NULL;
		return 0;
	}
	if (sqlite3_open_v2(fm_arena_printf(plan->out, "%s/%s", plan->root_path,
					    plan->held),
			    &c->held, SQLITE_OPEN_READONLY,
			    NULL) != SQLITE_OK ||
	    sqlite3_busy_timeout(c->held, BUSY_MS) != SQLITE_OK ||
	    sqlite3_exec(c->held, "BEGIN; SELECT count(*) FROM sqlite_master",
			 NULL, NULL, NULL) != SQLITE_OK) {
		rc = fm_err_set(err, FM_E_IO, "cannot read %s: %s", plan->held,
				c->held ? sqlite3_errmsg(c->held)
					: "no memory");
		(void)sqlite3_close(c->held);
		c->held = NULL;
	}
	return rc;
}
