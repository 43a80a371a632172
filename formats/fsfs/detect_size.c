// SPDX-License-Identifier: GPL-2.0-or-later
// How large a repository is: from the pointers and a sample of its files, or
// exactly, by a walk, when asked for.

#include "formats/fsfs/detect.h"

#include "lib/numtree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES = 48 };

static bool size_at(int dirfd, const char *path, uint64_t *bytes)
{
	struct stat st;

	if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	*bytes += (uint64_t)st.st_size;
	return true;
}

// What `count` files weigh together when `n` of them weigh `bytes`.
static uint64_t scale(uint64_t bytes, uint64_t n, uint64_t count)
{
	double all = n ? (double)bytes / (double)n * (double)count : 0;

	return all < (double)INT64_MAX ? (uint64_t)all : INT64_MAX;
}

// Unpacked revisions from `from` to the youngest, every so many of them.
static uint64_t sample_files(const struct fsfs *fs, const char *tree,
			     uint64_t from, uint64_t youngest)
{
	uint64_t count = youngest + 1 - from, step, bytes = 0, n = 0;
	char number[FM_NUM_PATH], path[64];

	step = (count + SAMPLES - 1) / SAMPLES;
	for (uint64_t i = 0; i < count; i += step) {
		fm_num_path(fs->traits.shard, from + i, number);
		(void)snprintf(path, sizeof(path), "%s/%s", tree, number);
		n += size_at(fs->db, path, &bytes);
	}
	return scale(bytes, n, count);
}

static uint64_t sample_packs(const struct fsfs *fs, uint64_t n_packs)
{
	uint64_t step = (n_packs + SAMPLES - 1) / SAMPLES, bytes = 0, n = 0;
	char path[64];

	for (uint64_t k = 0; k < n_packs; k += step) {
		(void)snprintf(path, sizeof(path), "revs/%ju.pack/pack",
			       (uintmax_t)k);
		n += size_at(fs->db, path, &bytes);
	}
	return scale(bytes, n, n_packs);
}

static void estimate(const struct fsfs *fs, const struct fsfs_standing *s,
		     struct fm_facts *f)
{
	uint64_t shard = fs->traits.shard, from = s->min_unpacked;
	uint64_t n_packs = shard ? from / shard : 0;
	uint64_t n_files, bytes, widest;

	if (from > s->youngest + 1)
		return; /* a damaged pointer: nothing follows from it */
	n_files = s->youngest + 1 - from;
	bytes = sample_packs(fs, n_packs);
	if (n_files) {
		bytes += sample_files(fs, "revs", from, s->youngest);
		bytes += sample_files(fs, "revprops", from, s->youngest);
	}
	fm_facts_number(f, "revision_files", "revision files", n_files);
	if (n_packs)
		fm_facts_number(f, "packs", "packs", n_packs);
	fm_facts_number(f, "bytes", "size", bytes);
	f->last->text = "bytes, sampled (--full: exact)";
	widest = s->youngest + 1;
	if (shard) {
		uint64_t n_shards = s->youngest / shard + 1;

		widest = n_files < shard ? n_files : shard;
		widest = n_shards > widest ? n_shards : widest;
	}
	fm_facts_number(f, "largest_directory", "largest directory", widest);
	f->last->text = "entries, from the layout";
}

/* What the walk counts. */
struct census {
	uint64_t n_files, n_packs, bytes;
	uint64_t n_top, widest;
	bool has_shard;
	uint64_t shard, n_in_shard;
};

static void close_shard(struct census *c)
{
	if (c->has_shard && c->n_in_shard > c->widest)
		c->widest = c->n_in_shard;
	c->n_in_shard = 0;
}

static void count_pack(const struct fm_num_entry *e, struct census *c)
{
	DIR *dir;
	struct dirent *d;
	int fd = openat(e->dirfd, e->name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir)
		return;
	while ((d = readdir(dir)) != NULL)
		(void)size_at(dirfd(dir), d->d_name, &c->bytes);
	(void)closedir(dir);
}

static int count_entry(void *ctx, const struct fm_num_entry *e,
		       struct fm_err *err)
{
	struct census *c = ctx;

	(void)err;
	if (!e->is_in_shard) {
		c->n_top++;
	} else {
		if (!c->has_shard || c->shard != e->shard)
			close_shard(c);
		c->has_shard = true;
		c->shard = e->shard;
		c->n_in_shard++;
	}
	if (e->type == DT_DIR && !e->is_number && !e->is_in_shard) {
		c->n_packs++;
		count_pack(e, c);
	} else if (e->type == DT_REG) {
		c->n_files += e->is_number;
		(void)size_at(e->dirfd, e->name, &c->bytes);
	}
	return 0;
}

static bool take_census(const struct fsfs *fs, const char *tree,
			struct census *c)
{
	int fd = openat(fs->db, tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fm_err ignored;
	int rc;

	if (fd < 0)
		return false;
	rc = fm_num_walk(fd, count_entry, c, &ignored);
	(void)close(fd);
	close_shard(c);
	if (c->n_top > c->widest)
		c->widest = c->n_top;
	return rc == 0;
}

static bool count_exactly(const struct fsfs *fs, struct fm_facts *f)
{
	struct census revs = {.n_files = 0}, props = {.n_files = 0};

	if (!take_census(fs, "revs", &revs) ||
	    !take_census(fs, "revprops", &props))
		return false;
	fm_facts_number(f, "revision_files", "revision files", revs.n_files);
	if (revs.n_packs)
		fm_facts_number(f, "packs", "packs", revs.n_packs);
	fm_facts_number(f, "bytes", "size", revs.bytes + props.bytes);
	f->last->text = "bytes";
	fm_facts_number(f, "largest_directory", "largest directory",
			revs.widest > props.widest ? revs.widest
						   : props.widest);
	f->last->text = "entries";
	return true;
}

void fsfs_detect_size(const struct fsfs *fs, const struct fsfs_standing *s,
		      bool is_full, struct fm_facts *facts)
{
	if (is_full && count_exactly(fs, facts))
		return;
	if (s->has_youngest && s->has_min_unpacked)
		estimate(fs, s, facts);
}
