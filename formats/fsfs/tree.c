// SPDX-License-Identifier: GPL-2.0-or-later
// Taking the inventory of a tree of numbered files (FORMAT, "Layouts").

#include "formats/fsfs/tree.h"

#include "lib/autofd.h"
#include "lib/mem.h"
#include "lib/numtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { ODD_MAX = 1000 }; /* names kept; further ones are counted */

static void add(struct fsfs_numbers *list, uint64_t n)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 64;
		list->at = fm_realloc_array(list->at, list->cap,
					    sizeof(*list->at));
	}
	list->at[list->n++] = n;
}

static void add_misplaced(struct fsfs_tree *tree, uint64_t n, uint64_t shard)
{
	if (tree->n_misplaced == tree->cap_misplaced) {
		tree->cap_misplaced =
			tree->cap_misplaced ? tree->cap_misplaced * 2 : 64;
		tree->misplaced =
			fm_realloc_array(tree->misplaced, tree->cap_misplaced,
					 sizeof(*tree->misplaced));
	}
	tree->misplaced[tree->n_misplaced++] =
		(struct fsfs_misplaced){.number = n, .shard = shard};
}

static void add_odd(struct fsfs_tree *tree, const struct fm_num_entry *e)
{
	struct fm_buf path = FM_BUF_INIT;

	if (tree->n_odd_seen++ >= ODD_MAX)
		return;
	if (e->is_in_shard)
		fm_buf_printf(&path, "%ju/", (uintmax_t)e->shard);
	fm_buf_puts(&path, e->name);
	if (!tree->odd)
		tree->odd = fm_alloc_array(ODD_MAX, sizeof(*tree->odd));
	tree->odd[tree->n_odd].path = fm_strdup(path.data);
	tree->odd[tree->n_odd++].type = e->type;
	fm_buf_release(&path);
}

// "12.pack" is the pack of shard 12.
static bool is_pack(const struct fm_num_entry *e, uint64_t *shard)
{
	static const char suffix[] = ".pack";
	const size_t n = sizeof(suffix) - 1;
	size_t len = strlen(e->name);
	char number[32];

	if (e->is_in_shard || e->type != DT_DIR || len <= n ||
	    len - n >= sizeof(number) || strcmp(e->name + len - n, suffix) != 0)
		return false;
	memcpy(number, e->name, len - n);
	number[len - n] = '\0';
	return fm_num_parse(number, shard);
}

static int visit(void *ctx, const struct fm_num_entry *e, struct fm_err *err)
{
	struct fsfs_tree *tree = ctx;
	uint64_t pack;
	bool is_right;

	(void)err;
	if (is_pack(e, &pack)) {
		add(&tree->packs, pack);
		return 0;
	}
	if (!e->is_number || e->number > FSFS_REVISION_MAX) {
		add_odd(tree, e);
		return 0;
	}
	if (e->type == DT_DIR && !e->is_in_shard) {
		add(&tree->shards, e->number);
		return 0;
	}
	if (e->type == DT_LNK)
		add(&tree->linked, e->number);
	else if (e->type != DT_REG)
		add_odd(tree, e);
	if (e->type != DT_REG)
		return 0;
	is_right = tree->shard ? e->is_in_shard &&
					 e->shard == e->number / tree->shard
			       : !e->is_in_shard;
	if (is_right)
		add(&tree->numbers, e->number);
	else
		add_misplaced(tree, e->number,
			      e->is_in_shard ? e->shard : FSFS_FLAT);
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_misplaced(const void *a, const void *b)
{
	const struct fsfs_misplaced *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->shard < y->shard ? -1 : x->shard > y->shard;
}

static int compare_odd(const void *a, const void *b)
{
	const struct fsfs_odd *x = a, *y = b;

	return strcmp(x->path, y->path);
}

// A directory that changes while it is read may show a name twice.
static void sort_numbers(struct fsfs_numbers *list)
{
	size_t n = 0;

	if (list->n == 0)
		return;
	qsort(list->at, list->n, sizeof(*list->at), compare_u64);
	for (size_t i = 0; i < list->n; i++)
		if (n == 0 || list->at[n - 1] != list->at[i])
			list->at[n++] = list->at[i];
	list->n = n;
}

static void forget(struct fsfs_tree *tree)
{
	fm_free(tree->numbers.at);
	fm_free(tree->shards.at);
	fm_free(tree->packs.at);
	fm_free(tree->linked.at);
	fm_free(tree->misplaced);
	for (size_t i = 0; i < tree->n_odd; i++)
		fm_free(tree->odd[i].path);
	fm_free(tree->odd);
	*tree = (struct fsfs_tree){.name = tree->name, .fd = tree->fd};
}

int fsfs_tree_open(struct fsfs_tree *tree, const struct fsfs *fs,
		   const char *name, struct fm_err *err)
{
	*tree = (struct fsfs_tree){.name = name};
	tree->fd = openat(fs->db, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->fd < 0)
		return fm_err_sys(err, errno, "%s/%s", fs->db_path, name);
	return 0;
}

void fsfs_tree_close(struct fsfs_tree *tree)
{
	forget(tree);
	fm_close_fd(&tree->fd);
}

int fsfs_tree_collect(struct fsfs_tree *tree, uint64_t shard,
		      struct fm_err *err)
{
	int rc;

	forget(tree);
	tree->shard = shard;
	rc = fm_num_walk(tree->fd, visit, tree, err);
	if (rc != 0)
		return fm_err_prefix(err, "%s: ", tree->name);
	sort_numbers(&tree->numbers);
	sort_numbers(&tree->shards);
	sort_numbers(&tree->packs);
	sort_numbers(&tree->linked);
	if (tree->n_misplaced)
		qsort(tree->misplaced, tree->n_misplaced,
		      sizeof(*tree->misplaced), compare_misplaced);
	if (tree->n_odd)
		qsort(tree->odd, tree->n_odd, sizeof(*tree->odd), compare_odd);
	return 0;
}

size_t fsfs_numbers_find(const struct fsfs_numbers *list, uint64_t n)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->at[mid] < n)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool fsfs_numbers_have(const struct fsfs_numbers *list, uint64_t n)
{
	size_t i = fsfs_numbers_find(list, n);

	return i < list->n && list->at[i] == n;
}

/*
 * R in directory K allows the sizes from R/(K+1)+1 to R/K: intersected over
 * all files that leaves few, and one when any shard is full.
 */
uint64_t fsfs_tree_guess_shard(const struct fsfs_tree *tree)
{
	uint64_t low = 1, high = UINT64_MAX;

	for (size_t i = 0; i < tree->n_misplaced; i++) {
		uint64_t r = tree->misplaced[i].number;
		uint64_t k = tree->misplaced[i].shard;

		if (k == FSFS_FLAT)
			continue;
		if (r / (k + 1) + 1 > low)
			low = r / (k + 1) + 1;
		if (k && r / k < high)
			high = r / k;
	}
	if (low > high || tree->n_misplaced == 0)
		return 0;
	return low <= 1000 && high >= 1000 ? 1000 : low;
}
