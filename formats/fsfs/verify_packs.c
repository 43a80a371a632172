// SPDX-License-Identifier: GPL-2.0-or-later
// Packs against db/min-unpacked-rev, by their names alone. Below the pointer
// every shard must be a pack, from it on none.
//
// Nothing here loops up to the pointer: it may be any number. Loops run over
// what lies there, and what is missing between is a range.

#include "formats/fsfs/verify.h"

#include <fcntl.h>
#include <stdio.h>

enum { LOOKS_MAX = 10000 }; /* second looks at missing packs */

// Files of unpacked shard k; revision 0's properties are never packed.
static bool has_files(const struct fsfs_verify *v, const struct fsfs_tree *tree,
		      uint64_t k)
{
	uint64_t first, end;
	size_t i;

	if (!fm_mul_u64(k, tree->shard, &first) ||
	    !fm_add_u64(first, tree->shard, &end))
		return false;
	if (tree == &v->revprops && k == 0)
		first = 1;
	i = fsfs_numbers_find(&tree->numbers, first);
	return i < tree->numbers.n && tree->numbers.at[i] < end;
}

static const char *pack_path(const struct fsfs_tree *tree, uint64_t k,
			     const char *suffix, char path[64])
{
	(void)snprintf(path, 64, "db/%s/%ju%s", tree->name, (uintmax_t)k,
		       suffix);
	return path;
}

static bool is_recent_dir(const struct fsfs_tree *tree, uint64_t k,
			  const char *suffix)
{
	char name[40];
	struct stat st;

	(void)snprintf(name, sizeof(name), "%ju%s", (uintmax_t)k, suffix);
	return fstatat(tree->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	       fsfs_is_recent(&st);
}

static void check_above(struct fsfs_verify *v, const struct fsfs_tree *tree,
			uint64_t n_packed)
{
	size_t i = fsfs_numbers_find(&tree->packs, n_packed);
	uint64_t low = 0, first = 0, last = 0;
	char path[64];

	for (; i < tree->packs.n; i++) {
		uint64_t k = tree->packs.at[i];

		if (!has_files(v, tree, k)) {
			if (low++ == 0)
				first = k;
			last = k;
		} else if (!is_recent_dir(tree, k, ".pack")) {
			fsfs_found(v->report, FSFS_CHECK_PACK_PARTIAL,
				   pack_path(tree, k, ".pack", path), NULL,
				   "left by an interrupted pack; the unpacked "
				   "shard is in use");
		}
	}
	if (low == 0)
		return;
	fsfs_found(v->report, FSFS_CHECK_MINUNPACKED_LOW, "db/min-unpacked-rev",
		   NULL,
		   "says %ju, but %ju packs above it (%ju.pack to %ju.pack in "
		   "db/%s) hold revisions that lie nowhere else",
		   (uintmax_t)v->min_unpacked, (uintmax_t)low, (uintmax_t)first,
		   (uintmax_t)last, tree->name);
	v->stop = "db/min-unpacked-rev must be put right first";
}

// A pack that was finished after the walk had passed.
static bool has_appeared(const struct fsfs_tree *tree, uint64_t k)
{
	char name[40];
	struct stat st;

	(void)snprintf(name, sizeof(name), "%ju.pack", (uintmax_t)k);
	return fstatat(tree->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void report_missing(struct fsfs_verify *v, const struct fsfs_tree *tree,
			   uint64_t first, uint64_t end)
{
	enum fsfs_check check = tree == &v->revs ? FSFS_CHECK_REV_MISSING
						 : FSFS_CHECK_REVPROP_MISSING;
	char object[FSFS_RANGE], path[64];

	if (first == end)
		return;
	fsfs_range_name(first * tree->shard, end * tree->shard - 1, object);
	pack_path(tree, first, ".pack", path);
	if (end - first == 1)
		fsfs_found(v->report, check, path, object,
			   "the pack is missing");
	else
		fsfs_found(v->report, check, path, object,
			   "%ju packs are missing", (uintmax_t)(end - first));
}

static void missing_packs(struct fsfs_verify *v, const struct fsfs_tree *tree,
			  uint64_t first, uint64_t end)
{
	uint64_t last_look = fm_min_u64(end, first + LOOKS_MAX);

	for (uint64_t k = first; k < last_look; k++) {
		if (!has_appeared(tree, k))
			continue;
		report_missing(v, tree, first, k);
		first = k + 1;
	}
	report_missing(v, tree, first, end);
}

// Shards from `first` to `end` have no pack: unpacked, or lost?
static void check_hole(struct fsfs_verify *v, const struct fsfs_tree *tree,
		       uint64_t first, uint64_t end, uint64_t *n_unpacked)
{
	size_t i = fsfs_numbers_find(&tree->shards, first);

	for (; i < tree->shards.n && tree->shards.at[i] < end; i++) {
		uint64_t k = tree->shards.at[i];

		if (!has_files(v, tree, k))
			continue;
		missing_packs(v, tree, first, k);
		first = k + 1;
		if (!has_appeared(tree, k))
			(*n_unpacked)++;
	}
	missing_packs(v, tree, first, end);
}

static void check_below(struct fsfs_verify *v, const struct fsfs_tree *tree,
			uint64_t n_packed)
{
	uint64_t next = 0, n_unpacked = 0;

	for (size_t i = 0; i < tree->packs.n; i++) {
		if (tree->packs.at[i] >= n_packed)
			break;
		check_hole(v, tree, next, tree->packs.at[i], &n_unpacked);
		next = tree->packs.at[i] + 1;
	}
	check_hole(v, tree, next, n_packed, &n_unpacked);
	if (n_unpacked == 0)
		return;
	fsfs_found(v->report, FSFS_CHECK_MINUNPACKED_HIGH,
		   "db/min-unpacked-rev", NULL,
		   "says %ju, but db/%s holds unpacked shards below that "
		   "(%ju of them)",
		   (uintmax_t)v->min_unpacked, tree->name,
		   (uintmax_t)n_unpacked);
	v->stop = "db/min-unpacked-rev must be put right first";
}

static void check_leftovers(struct fsfs_verify *v, const struct fsfs_tree *tree,
			    uint64_t n_packed)
{
	char path[64];

	for (size_t i = 0; i < tree->shards.n; i++) {
		uint64_t k = tree->shards.at[i];

		if (k >= n_packed)
			break;
		if (!fsfs_numbers_have(&tree->packs, k) ||
		    (tree == &v->revprops && k == 0 && !has_files(v, tree, k)))
			continue;
		/* A pack removes its originals last. */
		if (!is_recent_dir(tree, k, "") &&
		    !is_recent_dir(tree, k, ".pack"))
			fsfs_found(v->report, FSFS_CHECK_PACK_LEFTOVER,
				   pack_path(tree, k, "", path), NULL,
				   "left by an interrupted pack; the pack is "
				   "in use");
	}
}

void fsfs_verify_pack_names(struct fsfs_verify *v, struct fsfs_tree *tree)
{
	const struct fsfs_traits *t = &v->fs->traits;
	bool can_pack =
		tree->shard && (tree == &v->revs ? t->has_min_unpacked
						 : t->has_packed_revprops);
	char path[64];

	if (can_pack) {
		uint64_t n_packed = v->min_unpacked / tree->shard;

		check_above(v, tree, n_packed);
		check_below(v, tree, n_packed);
		check_leftovers(v, tree, n_packed);
		return;
	}
	for (size_t i = 0; i < tree->packs.n; i++)
		fsfs_found(v->report, FSFS_CHECK_PACK_PARTIAL,
			   pack_path(tree, tree->packs.at[i], ".pack", path),
			   NULL,
			   "a pack, which a repository with this db/format "
			   "does not read");
}
