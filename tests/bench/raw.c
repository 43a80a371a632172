// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * raw link|rename|back DB N: the bare system calls that a change of layout of
 * N revisions cannot do without, and nothing else: no checks, no journal.
 *
 *   link    link every file into shards of 1000 beside the old tree, sync each
 *           new directory, exchange the trees, unlink the old names
 *   rename  rename every file into shards of 1000, sync each directory
 *   back    rename everything from shards to one directory again
 *
 * Prints `raw.MODE.PHASE<TAB>seconds<TAB>s`.  `format` is not touched: the
 * repository is unusable between "link" or "rename" and "back".
 */
#include "bench.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARD = 1000 };

static const char *const trees[] = {"revs", "revprops"};
static const char *mode;
static double total;

static void phase(const char *name, double since)
{
	double took = now() - since;

	total += took;
	printf("raw.%s.%s\t%.3f\ts\n", mode, name, took);
}

static int open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		die(name);
	return fd;
}

static int make_dir(int at, const char *name)
{
	if (mkdirat(at, name, 0755))
		die(name);
	return open_dir(at, name);
}

static void sync_dir(int fd)
{
	if (fsync(fd))
		die("fsync");
}

static void number(char name[24], unsigned long n)
{
	snprintf(name, 24, "%lu", n);
}

/* Old flat names into stage/K/R, by link or by rename. */
static void fill(int old, int stage, unsigned long n, int by_link)
{
	char name[24];
	int shard = -1;

	for (unsigned long r = 0; r <= n; r++) {
		number(name, r / SHARD);
		if (r % SHARD == 0) {
			if (shard >= 0)
				close(shard);
			shard = make_dir(stage, name);
		}
		number(name, r);
		if (by_link ? linkat(old, name, shard, name, 0)
			    : renameat(old, name, shard, name))
			die(name);
	}
	close(shard);
}

static void sync_shards(int stage, unsigned long n)
{
	char name[24];

	for (unsigned long k = 0; k <= n / SHARD; k++) {
		int fd;

		number(name, k);
		fd = open_dir(stage, name);
		sync_dir(fd);
		close(fd);
	}
	sync_dir(stage);
}

static void unlink_all(int dir, unsigned long n)
{
	char name[24];

	for (unsigned long r = 0; r <= n; r++) {
		number(name, r);
		if (unlinkat(dir, name, 0))
			die(name);
	}
}

static void forward(int db, unsigned long n, int by_link)
{
	double t = now();
	int old[2], stage[2];

	for (int i = 0; i < 2; i++) {
		char name[24];

		snprintf(name, sizeof(name), ".raw-%s", trees[i]);
		old[i] = open_dir(db, trees[i]);
		stage[i] = make_dir(db, name);
		fill(old[i], stage[i], n, by_link);
	}
	phase(by_link ? "link" : "rename", t);

	t = now();
	for (int i = 0; i < 2; i++)
		sync_shards(stage[i], n);
	sync_dir(db);
	phase("fsync", t);

	t = now();
	for (int i = 0; i < 2; i++) {
		char name[24];

		snprintf(name, sizeof(name), ".raw-%s", trees[i]);
		if (renameat2(db, name, db, trees[i], RENAME_EXCHANGE))
			die(name);
	}
	sync_dir(db);
	phase("switch", t);

	t = now();
	for (int i = 0; i < 2; i++) {
		char name[24];

		snprintf(name, sizeof(name), ".raw-%s", trees[i]);
		if (by_link)
			unlink_all(old[i], n);
		if (unlinkat(db, name, AT_REMOVEDIR))
			die(name);
	}
	sync_dir(db);
	phase("remove", t);
}

static void backward(int db, unsigned long n)
{
	double t = now();

	for (int i = 0; i < 2; i++) {
		int old = open_dir(db, trees[i]);
		int flat = make_dir(db, ".raw-flat");

		for (unsigned long r = 0; r <= n; r++) {
			char from[48], to[24];

			snprintf(from, sizeof(from), "%lu/%lu", r / SHARD, r);
			number(to, r);
			if (renameat(old, from, flat, to))
				die(from);
		}
		for (unsigned long k = 0; k <= n / SHARD; k++) {
			char name[24];

			number(name, k);
			if (unlinkat(old, name, AT_REMOVEDIR))
				die(name);
		}
		if (unlinkat(db, trees[i], AT_REMOVEDIR) ||
		    renameat(db, ".raw-flat", db, trees[i]))
			die(trees[i]);
		sync_dir(flat);
		close(flat);
		close(old);
	}
	sync_dir(db);
	phase("rename", t);
}

int main(int argc, char **argv)
{
	unsigned long n;
	int db;

	if (argc != 4) {
		fputs("usage: raw link|rename|back DB N\n", stderr);
		return 16;
	}
	mode = argv[1];
	n = strtoul(argv[3], NULL, 10);
	db = open(argv[2], O_RDONLY | O_DIRECTORY);
	if (db < 0)
		die(argv[2]);
	if (!strcmp(mode, "back"))
		backward(db, n);
	else
		forward(db, n, !strcmp(mode, "link"));
	printf("raw.%s\t%.3f\ts\n", mode, total);
	return 0;
}
