// SPDX-License-Identifier: GPL-2.0-or-later
// Numbered trees: paths, names, the walk, and the inventory made of it.

#include "formats/fsfs/tree.h"
#include "tests/unit/unit.h"

#include "lib/numtree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top_name[64];
static struct fsfs fs = {.repos = -1, .db = -1, .db_path = "db"};

static int setup(void **state)
{
	(void)state;
	(void)snprintf(top_name, sizeof(top_name), "/tmp/fsmend-tree-XXXXXX");
	if (!mkdtemp(top_name))
		return -1;
	fs.db = open(top_name, O_RDONLY | O_DIRECTORY);
	return fs.db < 0 || mkdirat(fs.db, "revs", 0755) != 0;
}

static int drop(const char *path, const struct stat *st, int type,
		struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	(void)close(fs.db);
	return nftw(top_name, drop, 8, FTW_DEPTH | FTW_PHYS);
}

// "revs/1/" makes a directory, another path a file.
static void make(const char *path)
{
	if (path[strlen(path) - 1] == '/')
		assert_int_equal(mkdirat(fs.db, path, 0755), 0);
	else
		assert_int_equal(
			close(openat(fs.db, path, O_WRONLY | O_CREAT, 0644)),
			0);
}

static void makes_paths(void **state)
{
	char path[FM_NUM_PATH];

	(void)state;
	fm_num_path(0, 1234, path);
	assert_string_equal(path, "1234");
	fm_num_path(1000, 1234, path);
	assert_string_equal(path, "1/1234");
	fm_num_path(1, UINT64_MAX, path);
	assert_string_equal(path, "18446744073709551615/18446744073709551615");
}

static void knows_canonical_names(void **state)
{
	uint64_t n;

	(void)state;
	assert_true(fm_num_parse("0", &n));
	assert_true(fm_num_parse("18446744073709551615", &n));
	assert_true(n == UINT64_MAX);
	assert_false(fm_num_parse("18446744073709551616", &n));
	assert_false(fm_num_parse("07", &n));
	assert_false(fm_num_parse("7.old", &n));
	assert_false(fm_num_parse("", &n));
	assert_false(fm_num_parse("-1", &n));
}

static int find_seven(void *ctx, const struct fm_num_entry *e,
		      struct fm_err *err)
{
	unsigned *n = ctx;

	(void)err;
	(*n)++;
	return e->is_number && e->number == 7 && e->is_in_shard ? 77 : 0;
}

static void stops_when_told(void **state)
{
	struct fm_err err;
	unsigned n = 0;
	int top;

	(void)state;
	make("revs/1/");
	make("revs/1/7");
	top = openat(fs.db, "revs", O_RDONLY | O_DIRECTORY);
	assert_int_equal(fm_num_walk(top, find_seven, &n, &err), 77);
	assert_int_equal(n, 2);
	(void)close(top);
}

static void sorts_what_it_finds(void **state)
{
	struct fsfs_tree tree;
	struct fm_err err;

	(void)state;
	make("revs/0/");
	make("revs/1/");
	make("revs/2/");
	make("revs/3.pack/");
	make("revs/3.pack/pack");
	make("revs/1/7");
	make("revs/1/4");
	make("revs/0/3");
	make("revs/0/9"); /* belongs to shard 2 */
	make("revs/6");   /* flat */
	make("revs/2/08");
	make("revs/note");
	assert_int_equal(symlinkat("0", fs.db, "revs/5"), 0);
	assert_int_equal(fsfs_tree_open(&tree, &fs, "revs", &err), 0);
	assert_int_equal(fsfs_tree_collect(&tree, 4, &err), 0);
	assert_int_equal(tree.numbers.n, 3);
	assert_int_equal(tree.numbers.at[0], 3);
	assert_int_equal(tree.numbers.at[2], 7);
	assert_int_equal(tree.shards.n, 3);
	assert_int_equal(tree.packs.n, 1);
	assert_int_equal(tree.packs.at[0], 3);
	assert_int_equal(tree.linked.n, 1);
	assert_int_equal(tree.n_misplaced, 2);
	assert_int_equal(tree.misplaced[0].number, 6);
	assert_true(tree.misplaced[0].shard == FSFS_FLAT);
	assert_int_equal(tree.misplaced[1].number, 9);
	assert_int_equal(tree.n_odd, 2);
	assert_string_equal(tree.odd[0].path, "2/08");
	assert_string_equal(tree.odd[1].path, "note");
	assert_true(fsfs_numbers_have(&tree.numbers, 4));
	assert_false(fsfs_numbers_have(&tree.numbers, 5));
	fsfs_tree_close(&tree);
}

static void guesses_the_shard_size(void **state)
{
	struct fsfs_tree tree;
	struct fm_err err;
	char path[64];

	(void)state;
	for (int r = 0; r < 10; r++) {
		(void)snprintf(path, sizeof(path), "revs/%d/", r / 4);
		if (r % 4 == 0)
			make(path);
		(void)snprintf(path, sizeof(path), "revs/%d/%d", r / 4, r);
		make(path);
	}
	assert_int_equal(fsfs_tree_open(&tree, &fs, "revs", &err), 0);
	assert_int_equal(fsfs_tree_collect(&tree, 0, &err), 0);
	assert_int_equal(tree.numbers.n, 0);
	assert_int_equal(tree.n_misplaced, 10);
	assert_int_equal(fsfs_tree_guess_shard(&tree), 4);
	/* A file that fits no size. */
	make("revs/2/1");
	assert_int_equal(fsfs_tree_collect(&tree, 0, &err), 0);
	assert_int_equal(fsfs_tree_guess_shard(&tree), 0);
	fsfs_tree_close(&tree);
}

static void knows_suffixes(void **state)
{
	static const char *const wrong[] = {
		".pack",
		"07.pack",
		"7",
		"7.packs",
		"x7.pack",
		"7.pack.pack",
		"99999999999999999999999999999999999999999999999999.pack"};
	uint64_t k = 0;

	(void)state;
	assert_true(fm_num_parse_with("70.pack", ".pack", &k));
	assert_int_equal(k, 70);
	for (size_t i = 0; i < FM_ARRAY_SIZE(wrong); i++)
		assert_false(fm_num_parse_with(wrong[i], ".pack", &k));
}

static int add_shard(void *ctx, const char *name, uint64_t k,
		     struct fm_err *err)
{
	uint64_t *sum = ctx;

	(void)name;
	*sum += k;
	return k == 100 ? fm_err_set(err, FM_E_BUG, "told to stop") : 0;
}

static int remove_shard(void *ctx, const char *name, uint64_t k,
			struct fm_err *err)
{
	const int *top = ctx;

	(void)k;
	if (unlinkat(*top, name, AT_REMOVEDIR) == 0)
		return 0;
	return fm_err_set(err, FM_E_IO, "%s stays", name);
}

static void lists_shards(void **state)
{
	struct fm_err err;
	uint64_t sum = 0;
	size_t count = 0;
	int top = openat(fs.db, "revs", O_RDONLY | O_DIRECTORY);

	(void)state;
	make("revs/1/");
	make("revs/20.shard/");
	make("revs/03/");
	make("revs/4"); /* no directory */
	assert_int_equal(symlinkat("1", top, "5"), 0);
	assert_int_equal(
		fm_num_shards(top, NULL, add_shard, &sum, &count, &err), 0);
	assert_int_equal(sum, 1);
	assert_int_equal(count, 1);
	sum = 0;
	assert_int_equal(
		fm_num_shards(top, ".shard", add_shard, &sum, &count, &err), 0);
	assert_int_equal(sum, 21);
	assert_int_equal(count, 2);
	make("revs/100/");
	assert_int_equal(
		fm_num_shards(top, NULL, add_shard, &sum, &count, &err),
		FM_E_BUG);
	assert_int_equal(fm_num_shards_until_none(top, ".shard", remove_shard,
						  &top, &err),
			 0);
	assert_int_equal(
		fm_num_shards(top, ".shard", add_shard, &sum, &count, &err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(faccessat(top, "03", F_OK, 0), 0);
	(void)close(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_paths),
		cmocka_unit_test(knows_canonical_names),
		cmocka_unit_test(knows_suffixes),
		cmocka_unit_test_setup_teardown(lists_shards, setup, teardown),
		cmocka_unit_test_setup_teardown(stops_when_told, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sorts_what_it_finds, setup,
						teardown),
		cmocka_unit_test_setup_teardown(guesses_the_shard_size, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("numtree", tests, NULL, NULL);
}
