// SPDX-License-Identifier: GPL-2.0-or-later
// What a resharding script leaves behind when it is stopped.

#include "formats/fsfs/halfdone.h"

#include "formats/fsfs/convert.h"

#include "lib/autofd.h"
#include "lib/numtree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct range {
	uint64_t low, high;
	bool is_empty;
};

static int widen(void *ctx, const struct fm_num_entry *e, struct fm_err *err)
{
	struct range *r = ctx;

	(void)err;
	if (!e->is_number || e->is_in_shard || e->type != DT_REG)
		return 0;
	if (r->is_empty || e->number < r->low)
		r->low = e->number;
	if (r->is_empty || e->number > r->high)
		r->high = e->number;
	r->is_empty = false;
	return 0;
}

// R lies in K: K <= R / size < K + 1.
static void narrow(struct fsfs_halfdone *h, uint64_t k, const struct range *r)
{
	h->least = fm_max_u64(h->least, r->high / (k + 1) + 1);
	if (k > 0)
		h->most = fm_min_u64(h->most, r->low / k);
}

struct top {
	struct fsfs_halfdone *h;
	int fd;
};

static int look_one(void *ctx, const char *name, uint64_t k, struct fm_err *err)
{
	const struct top *top = ctx;
	struct range r = {.is_empty = true};
	FM_AUTOFD int dir = openat(
		top->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0 || k > FSFS_REVISION_MAX ||
	    fm_num_walk(dir, widen, &r, err) != 0 || r.is_empty)
		return 0; /* judged when it is taken over */
	top->h->n_dirs++;
	narrow(top->h, k, &r);
	return 0;
}

static void look(int db, const char *name, struct fsfs_halfdone *h)
{
	FM_AUTOFD int fd = openat(db, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct top top = {h, fd};
	struct fm_err ignored;
	size_t count;

	if (fd >= 0)
		(void)fm_num_shards(fd, FSFS_SCRIPT_SUFFIX, look_one, &top,
				    &count, &ignored);
}

// Only formats 1 to 3 come from that script; the number of a later one cannot
// be told from what lies there.
static bool is_later(const struct fsfs *fs)
{
	return faccessat(fs->db, "min-unpacked-rev", F_OK, 0) == 0 ||
	       faccessat(fs->db, "rep-cache.db", F_OK, 0) == 0;
}

static bool may_be_halfdone(const struct fsfs *fs)
{
	return (fs->traits.state == FSFS_FORMAT_MISSING ||
		fs->traits.state == FSFS_FORMAT_DAMAGED) &&
	       fs->format_bytes.len == 0 && fs->db >= 0 && !is_later(fs);
}

static const char *const places[] = {"revs", "revs" FSFS_SCRIPT_BESIDE,
				     "revprops", "revprops" FSFS_SCRIPT_BESIDE};

bool fsfs_is_halfdone(const struct fsfs *fs, struct fsfs_halfdone *h)
{
	*h = (struct fsfs_halfdone){.least = 1, .most = FSFS_SHARD_MAX};
	if (!may_be_halfdone(fs))
		return false;
	for (size_t i = 0; i < FM_ARRAY_SIZE(places); i++)
		look(fs->db, places[i], h);
	return h->n_dirs > 0;
}

// The first to be moved is 0, of revisions before properties.
bool fsfs_looks_halfdone(const struct fsfs *fs)
{
	struct stat st;

	return may_be_halfdone(fs) &&
	       (fstatat(fs->db, "revs/0", &st, 0) != 0 ||
		!S_ISREG(st.st_mode)) &&
	       (faccessat(fs->db, "revs" FSFS_SCRIPT_BESIDE, F_OK, 0) == 0 ||
		faccessat(fs->db, "revs/0" FSFS_SCRIPT_SUFFIX, F_OK, 0) == 0 ||
		faccessat(fs->db, "revs/0", F_OK, 0) == 0);
}

void fsfs_plan_adopts(struct fm_plan *plan)
{
	plan->adopts = FSFS_SCRIPT_SUFFIX;
	plan->adopts_beside = FSFS_SCRIPT_BESIDE;
}

int fsfs_halfdone_shard(const struct fsfs_halfdone *h, uint64_t wanted,
			uint64_t *shard, struct fm_err *err)
{
	if (h->least > h->most)
		return fm_err_set(err, FM_E_FORMAT,
				  "a resharding script was stopped half-way, "
				  "but no shard size explains what lies in "
				  "its directories");
	*shard = wanted;
	if (*shard < h->least || *shard > h->most)
		*shard = FSFS_DEFAULT_SHARD;
	if (*shard < h->least || *shard > h->most)
		*shard = h->least;
	return 0;
}
