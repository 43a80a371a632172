// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: what is missing from 0 to the youngest revision, and what lies above.
//
// Before anything is called missing it is looked for once more by name: some
// file systems lose sight of a file that is being replaced during a listing.
// Above `current` there may be a commit that is just being finished: its
// revision file comes first, its properties next, `current` last.

#include "formats/fsfs/verify.h"

#include "lib/numtree.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

enum {
	LOOKS_MAX = 10000, /* second looks at missing files, in all */
	WAITS_MAX = 5,     /* for a commit to be finished */
	WAIT_MS = 50,
};

struct gaps {
	struct fsfs_verify *v;
	const struct fsfs_tree *tree;
	enum fsfs_check check;
	unsigned n_looks;
};

static bool is_misplaced(const struct fsfs_tree *tree, uint64_t revision)
{
	size_t low = 0, high = tree->n_misplaced;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tree->misplaced[mid].number < revision)
			low = mid + 1;
		else
			high = mid;
	}
	return low < tree->n_misplaced &&
	       tree->misplaced[low].number == revision;
}

static bool is_there(struct gaps *g, uint64_t revision)
{
	char path[FM_NUM_PATH];
	struct fm_err ignored;
	uint64_t packed;
	struct stat st;

	if (g->n_looks >= LOOKS_MAX)
		return false;
	g->n_looks++;
	if (is_misplaced(g->tree, revision))
		return true; /* which has been said */
	fm_num_path(g->tree->shard, revision, path);
	if (fstatat(g->tree->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode))
		return true;
	return g->tree->shard &&
	       fsfs_min_unpacked_read(g->v->fs, &packed, &ignored) == 0 &&
	       packed > g->v->min_unpacked && revision < packed;
}

static void report_run(struct gaps *g, uint64_t first, uint64_t end)
{
	char object[FSFS_RANGE], number[FM_NUM_PATH], path[64];

	if (first >= end)
		return;
	fm_num_path(g->tree->shard, first, number);
	(void)snprintf(path, sizeof(path), "db/%s/%s", g->tree->name, number);
	fsfs_range_name(first, end - 1, object);
	if (end - first == 1)
		fsfs_found(g->v->report, g->check, path, object,
			   "the file is missing");
	else
		fsfs_found(g->v->report, g->check, path, object,
			   "%ju files are missing", (uintmax_t)(end - first));
}

// Numbers from `first` to `end` are not in the inventory.
static void check_run(struct gaps *g, uint64_t first, uint64_t end)
{
	for (uint64_t r = first; r < end && g->n_looks < LOOKS_MAX; r++) {
		if (!is_there(g, r))
			continue;
		report_run(g, first, r);
		first = r + 1;
	}
	report_run(g, first, end);
}

static void check_gaps(struct gaps *g, uint64_t from, uint64_t youngest)
{
	const struct fsfs_numbers *list = &g->tree->numbers;
	uint64_t next = from;
	size_t i = fsfs_numbers_find(list, from);

	for (; i < list->n && list->at[i] <= youngest; i++) {
		check_run(g, next, list->at[i]);
		next = list->at[i] + 1;
	}
	check_run(g, next, youngest + 1);
}

static bool highest_of(const struct fsfs_verify *v, uint64_t *highest)
{
	const struct fsfs_numbers *lists[] = {&v->revs.numbers,
					      &v->revprops.numbers};
	bool has_any = v->min_unpacked > 0;

	*highest = has_any ? v->min_unpacked - 1 : 0;
	for (size_t i = 0; i < FM_ARRAY_SIZE(lists); i++) {
		uint64_t last;

		if (lists[i]->n == 0)
			continue;
		last = lists[i]->at[lists[i]->n - 1];
		if (!has_any || last > *highest)
			*highest = last;
		has_any = true;
	}
	return has_any;
}

// The highest revision that has both of its files.
static uint64_t highest_complete(const struct fsfs_verify *v)
{
	const struct fsfs_numbers *revs = &v->revs.numbers;

	for (size_t i = revs->n; i > 0; i--)
		if (fsfs_numbers_have(&v->revprops.numbers, revs->at[i - 1]))
			return revs->at[i - 1];
	return v->min_unpacked ? v->min_unpacked - 1 : 0;
}

static uint64_t youngest_now(const struct fsfs_verify *v)
{
	struct fsfs_current now;
	struct fm_err ignored;

	if (fsfs_current_read(v->fs, &now, &ignored) == 0 &&
	    now.youngest > v->youngest)
		return now.youngest;
	return v->youngest;
}

// Waits for `current` to come up to a revision that is complete.
static uint64_t wait_for_commit(const struct fsfs_verify *v, uint64_t revision)
{
	const struct timespec moment = {.tv_nsec = WAIT_MS * 1000000L};
	uint64_t now = youngest_now(v);

	for (unsigned i = 0; i < WAITS_MAX && now < revision; i++) {
		(void)nanosleep(&moment, NULL);
		now = youngest_now(v);
	}
	return now;
}

static bool is_recent_file(const struct fsfs_tree *tree, uint64_t revision)
{
	char path[FM_NUM_PATH];
	struct stat st;

	fm_num_path(tree->shard, revision, path);
	return fstatat(tree->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fsfs_is_recent(&st);
}

static void report_alone(struct fsfs_verify *v, const struct fsfs_tree *tree,
			 uint64_t revision)
{
	char object[FSFS_RANGE], number[FM_NUM_PATH], path[64];

	if (is_recent_file(tree, revision))
		return; /* a commit is going on */
	fm_num_path(tree->shard, revision, number);
	(void)snprintf(path, sizeof(path), "db/%s/%s", tree->name, number);
	fsfs_found_as(v->report, FSFS_CHECK_CURRENT_LOW, FM_NOTE, path,
		      fsfs_range_name(revision, revision, object),
		      "alone above db/current: left by an interrupted commit");
}

static void check_above(struct fsfs_verify *v, uint64_t now)
{
	const struct fsfs_numbers *revs = &v->revs.numbers;
	const struct fsfs_numbers *props = &v->revprops.numbers;
	uint64_t n = 0, first = 0, last = 0;
	char object[FSFS_RANGE];

	for (size_t i = fsfs_numbers_find(revs, now + 1); i < revs->n; i++) {
		if (!fsfs_numbers_have(props, revs->at[i])) {
			report_alone(v, &v->revs, revs->at[i]);
			continue;
		}
		if (n++ == 0)
			first = revs->at[i];
		last = revs->at[i];
	}
	for (size_t i = fsfs_numbers_find(props, now + 1); i < props->n; i++)
		if (!fsfs_numbers_have(revs, props->at[i]))
			report_alone(v, &v->revprops, props->at[i]);
	if (n == 1 && first == now + 1) {
		now = wait_for_commit(v, first);
		if (now >= first)
			return;
	}
	if (n == 0)
		return;
	fsfs_range_name(first, last, object);
	if (n == 1 && first == now + 1 && is_recent_file(&v->revs, first))
		fsfs_found_as(v->report, FSFS_CHECK_CURRENT_LOW, FM_NOTE,
			      "db/current", object,
			      "complete, and db/current says r%ju: a commit "
			      "may be going on",
			      (uintmax_t)now);
	else
		fsfs_found(v->report, FSFS_CHECK_CURRENT_LOW, "db/current",
			   object,
			   "%ju complete revisions lie above db/current, "
			   "which says r%ju",
			   (uintmax_t)n, (uintmax_t)now);
}

int fsfs_verify_gaps(struct fsfs_verify *v, struct fm_err *err)
{
	bool has_packed_revprops = v->fs->traits.has_packed_revprops;
	struct gaps revs = {
		.v = v, .tree = &v->revs, .check = FSFS_CHECK_REV_MISSING};
	struct gaps props = {.v = v,
			     .tree = &v->revprops,
			     .check = FSFS_CHECK_REVPROP_MISSING};
	uint64_t highest, youngest;

	(void)err;
	if (!v->has_current)
		v->youngest = highest_complete(v);
	if (!highest_of(v, &highest)) {
		fsfs_found(v->report, FSFS_CHECK_REV_MISSING, "db/revs", "r0",
			   "no revision is there at all");
		v->stop = "there are no revisions";
		return 0;
	}
	youngest = v->youngest;
	if (youngest > highest) {
		char object[FSFS_RANGE];

		fsfs_range_name(highest + 1, youngest, object);
		fsfs_found(v->report, FSFS_CHECK_CURRENT_HIGH, "db/current",
			   object,
			   "says r%ju, but r%ju is the highest revision that "
			   "is there",
			   (uintmax_t)youngest, (uintmax_t)highest);
		v->youngest = youngest = highest;
	}
	check_gaps(&revs, v->min_unpacked, youngest);
	check_gaps(&props, has_packed_revprops ? v->min_unpacked : 0, youngest);
	if (has_packed_revprops && v->min_unpacked &&
	    !fsfs_numbers_have(&v->revprops.numbers, 0))
		fsfs_found(v->report, FSFS_CHECK_REVPACK_ZERO,
			   "db/revprops/0/0", "r0", "the file is missing");
	if (v->has_current)
		check_above(v, youngest_now(v));
	return 0;
}
