// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open make DIR N SHARD LIMIT          N empty files, SHARD in a directory
 * open time DIR N SHARD LIMIT SAMPLE   open() and close() them at random
 *
 * With SHARD 0 file R is DIR/R, else DIR/K/R with K = R / SHARD, as Subversion
 * names revisions.  LIMIT bounds what one pass may take, in seconds: a linear
 * search through a million names would not end.
 *
 * make prints `make MICROSECONDS-PER-FILE FILES`, and exits 3 when the limit
 * stopped it.  time prints `warm` and `cold` in the same way: the mean of a
 * pass over SAMPLE different files, the median of 3 to 31 passes.  Warm means
 * that each has been opened just before; cold, that the kernel dropped what
 * it knew of names and inodes (drop_caches, for root only).
 */
#include "bench.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PASSES = 31, OPENS = 30000, CHECK_EVERY = 16, STOPPED = 3 };

static const char *dir;
static unsigned long n_files, shard;
static double limit;

static void enter(void)
{
	if (chdir(dir))
		die(dir);
}

static void name_of(char name[48], unsigned long r)
{
	if (shard)
		snprintf(name, 48, "%lu/%lu", r / shard, r);
	else
		snprintf(name, 48, "%lu", r);
}

static int make(void)
{
	double start = now();
	unsigned long r;

	enter();
	for (r = 0; r < n_files; r++) {
		char name[48];
		int fd;

		if (r % CHECK_EVERY == 0 && now() - start > limit)
			break;
		if (shard && r % shard == 0) {
			snprintf(name, sizeof(name), "%lu", r / shard);
			if (mkdir(name, 0755))
				die(name);
		}
		name_of(name, r);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0444);
		if (fd < 0 || close(fd))
			die(name);
	}
	if (r)
		printf("make %.3f %lu\n", (now() - start) * 1e6 / (double)r, r);
	return r < n_files ? STOPPED : 0;
}

/* xorshift: the same sample for every file system. */
static unsigned long random_below(unsigned long bound)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned long)(state % bound);
}

/* The first of a random permutation: no file comes twice. */
static unsigned long *choose(unsigned long sample)
{
	unsigned long *all = malloc(n_files * sizeof(*all));

	if (!all)
		die("malloc");
	for (unsigned long i = 0; i < n_files; i++)
		all[i] = i;
	for (unsigned long i = 0; i < sample; i++) {
		unsigned long j = i + random_below(n_files - i);
		unsigned long t = all[i];

		all[i] = all[j];
		all[j] = t;
	}
	return all;
}

/* Microseconds per file. *n is lowered where the limit stops the pass. */
static double pass(const unsigned long *files, unsigned long *n)
{
	double start = now(), took;
	unsigned long i;

	for (i = 0; i < *n; i++) {
		char name[48];
		int fd;

		if (i && i % CHECK_EVERY == 0 && now() - start > limit)
			break;
		name_of(name, files[i]);
		fd = open(name, O_RDONLY);
		if (fd < 0)
			die(name);
		close(fd);
	}
	took = now() - start;
	*n = i;
	return took * 1e6 / (double)i;
}

/* Only what has been written can be dropped. */
static void drop(void)
{
	int fd;

	if (chdir("/"))
		die("/");
	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
	if (fd < 0 || write(fd, "2\n", 2) != 2)
		die("drop_caches");
	close(fd);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A small sample takes more of them. */
static int passes_over(unsigned long sample)
{
	unsigned long passes = OPENS / (sample + 1) | 1;

	if (passes < 3)
		return 3;
	return passes > MAX_PASSES ? MAX_PASSES : (int)passes;
}

/* The median of several passes; is_cold: each after drop(). */
static void measure(const char *what, const unsigned long *files,
		    unsigned long n, int is_cold)
{
	double us[MAX_PASSES];
	int passes = passes_over(n);

	for (int i = 0; i < passes; i++) {
		if (is_cold) {
			drop();
			enter();
		}
		us[i] = pass(files, &n);
	}
	qsort(us, (size_t)passes, sizeof(us[0]), by_value);
	printf("%s %.3f %lu\n", what, us[passes / 2], n);
}

static void time_all(unsigned long sample)
{
	unsigned long *files, n;

	if (sample > n_files)
		sample = n_files;
	n = sample;
	files = choose(sample);
	enter();
	(void)pass(files, &n);
	measure("warm", files, n, 0);
	if (geteuid() == 0)
		measure("cold", files, sample, 1);
	free(files);
}

int main(int argc, char **argv)
{
	int is_make = argc == 6 && !strcmp(argv[1], "make");

	if (!is_make && !(argc == 7 && !strcmp(argv[1], "time"))) {
		fputs("usage: open make DIR N SHARD LIMIT\n"
		      "       open time DIR N SHARD LIMIT SAMPLE\n",
		      stderr);
		return 16;
	}
	dir = realpath(argv[2], NULL);
	if (!dir)
		die(argv[2]);
	n_files = strtoul(argv[3], NULL, 10);
	shard = strtoul(argv[4], NULL, 10);
	limit = strtod(argv[5], NULL);
	if (!n_files || limit <= 0 || (!is_make && !strtoul(argv[6], NULL, 10)))
		return 16;
	if (is_make)
		return make();
	time_all(strtoul(argv[6], NULL, 10));
	return 0;
}
