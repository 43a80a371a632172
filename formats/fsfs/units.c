// SPDX-License-Identifier: GPL-2.0-or-later
// Units of both trees: packs, and shards whose revisions come out of packs.

#include "formats/fsfs/convert.h"
#include "formats/fsfs/repack.h"
#include "formats/fsfs/revprops.h"

enum { REVS, REVPROPS };

struct packing {
	struct fsfs_traits traits; /* of the format, not of a guard in place */
	struct fsfs_conf conf;
};

static bool is_pack(const struct fm_plan_unit *u)
{
	return u->end <= u->becomes.packed;
}

static struct fsfs_revs open_revs(const struct packing *p, int top,
				  struct fm_plan_shape shape)
{
	struct fsfs_traits traits = p->traits;
	struct fsfs_revs revs;

	traits.shard = shape.shard;
	fsfs_revs_init(&revs, top, &traits, shape.packed);
	return revs;
}

static int build_revs(const struct packing *p, const struct fm_plan_unit *u,
		      const struct fm_stage *stage, struct fm_err *err)
{
	struct fsfs_revs from = open_revs(p, u->source, u->is);
	int rc = 0;

	if (is_pack(u))
		rc = fsfs_make_pack(&from, u->first, u->end - u->first,
				    &p->conf, stage, err);
	for (uint64_t r = u->first; !is_pack(u) && r < u->end && rc == 0; r++)
		rc = fsfs_make_revision(&from, r, &p->conf, stage, err);
	fsfs_revs_release(&from);
	return rc;
}

static int build_props(const struct packing *p, const struct fm_plan_unit *u,
		       const struct fm_stage *stage, struct fm_err *err)
{
	struct fsfs_props from;
	int rc = 0;

	fsfs_props_init(&from, u->source, u->is.shard, u->is.packed);
	if (is_pack(u))
		rc = fsfs_make_props_pack(&from, u->first, u->end - u->first,
					  &p->conf, stage, err);
	for (uint64_t r = u->first; !is_pack(u) && r < u->end && rc == 0; r++)
		rc = fsfs_make_props_file(&from, r, stage, err);
	fsfs_props_release(&from);
	return rc;
}

static int build(const struct fm_plan_units *units,
		 const struct fm_plan_unit *u, const struct fm_stage *stage,
		 struct fm_err *err)
{
	return u->tree == REVS ? build_revs(units->ctx, u, stage, err)
			       : build_props(units->ctx, u, stage, err);
}

// What was made, read back: every revision byte for byte (physical) or item
// for item (logical), every property list byte for byte.
static int check(const struct fm_plan_units *units,
		 const struct fm_plan_unit *u, int top, struct fm_err *err)
{
	const struct packing *p = units->ctx;
	uint64_t n = u->end - u->first;
	int rc;

	if (u->tree == REVS) {
		struct fsfs_revs from = open_revs(p, u->source, u->is);
		struct fsfs_revs made = open_revs(p, top, u->becomes);

		rc = fsfs_check_made(&from, &made, u->first, n, err);
		fsfs_revs_release(&from);
		fsfs_revs_release(&made);
	} else {
		struct fsfs_props from, made;

		fsfs_props_init(&from, u->source, u->is.shard, u->is.packed);
		fsfs_props_init(&made, top, u->becomes.shard,
				u->becomes.packed);
		rc = fsfs_check_props(&from, &made, u->first, n, err);
		fsfs_props_release(&from);
		fsfs_props_release(&made);
	}
	return rc;
}

int fsfs_plan_packs(const struct fsfs *fs, const struct fsfs_traits *traits,
		    struct fm_plan *plan, struct fm_err *err)
{
	struct packing *p = fm_arena_alloc(plan->out, sizeof(*p));

	p->traits = *traits;
	if (fsfs_conf_read(fs, &p->conf, err) != 0)
		return err->code;
	plan->trees[REVS].has_packs = true;
	plan->trees[REVPROPS].has_packs = traits->has_packed_revprops;
	plan->trees[REVPROPS].n_loose = 1;
	plan->units = (struct fm_plan_units){
		.suffix = ".pack", .ctx = p, .build = build, .check = check};
	return 0;
}
