// SPDX-License-Identifier: GPL-2.0-or-later
// What a resharding script leaves behind when it is stopped.

#include "formats/fsfs/halfdone.h"

#include "formats/fsfs/convert.h"

#include "lib/autofd.h"
#include "lib/numtree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

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

static bool shard_of_name(const char *name, uint64_t *k)
{
	size_t len = strcspn(name, ".");
	char number[FM_NUM_PATH];

	if (len == 0 || len >= sizeof(number) ||
	    (name[len] && strcmp(name + len, FSFS_SCRIPT_SUFFIX) != 0))
		return false;
	memcpy(number, name, len);
	number[len] = '\0';
	return fm_num_parse(number, k);
}

static void look(int db, const char *name, struct fsfs_halfdone *h)
{
	int top = openat(db, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FM_AUTODIR DIR *d = top >= 0 ? fdopendir(top) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		struct range r = {.is_empty = true};
		FM_AUTOFD int dir = -1;
		struct fm_err ignored;
		uint64_t k;

		if (!shard_of_name(e->d_name, &k) || k > FSFS_REVISION_MAX)
			continue;
		dir = openat(top, e->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0 || fm_num_walk(dir, widen, &r, &ignored) != 0 ||
		    r.is_empty)
			continue;
		h->n_dirs++;
		narrow(h, k, &r);
	}
}

// Only formats 1 to 3 come from that script; the number of a later one cannot
// be told from what lies there.
static bool is_later(const struct fsfs *fs)
{
	return faccessat(fs->db, "min-unpacked-rev", F_OK, 0) == 0 ||
	       faccessat(fs->db, "rep-cache.db", F_OK, 0) == 0;
}

bool fsfs_is_halfdone(const struct fsfs *fs, struct fsfs_halfdone *h)
{
	*h = (struct fsfs_halfdone){.least = 1, .most = FSFS_SHARD_MAX};
	if ((fs->traits.state != FSFS_FORMAT_MISSING &&
	     fs->traits.state != FSFS_FORMAT_DAMAGED) ||
	    fs->format_bytes.len != 0 || fs->db < 0 || is_later(fs))
		return false;
	look(fs->db, "revs", h);
	look(fs->db, "revprops", h);
	return h->n_dirs > 0;
}

int fsfs_halfdone_shard(const struct fsfs_halfdone *h, uint64_t wanted,
			uint64_t *shard, struct fm_err *err)
{
	if (h->least > h->most)
		return fm_err_set(err, FM_E_FORMAT,
				  "a resharding script was stopped half-way, "
				  "but no shard size explains what lies in "
				  "its directories");
	*shard = wanted ? wanted : FSFS_DEFAULT_SHARD;
	if (!wanted && h->least == h->most)
		*shard = h->least;
	if (*shard >= h->least && *shard <= h->most)
		return 0;
	if (h->least == h->most)
		return fm_err_set(err, FM_E_UNSUPPORTED,
				  "a resharding script was stopped half-way: "
				  "--layout=%" PRIu64 " comes first",
				  h->least);
	return fm_err_set(err, FM_E_UNSUPPORTED,
			  "a resharding script was stopped half-way: its "
			  "shards hold from %" PRIu64 " to %" PRIu64
			  " revisions; say how many with --layout",
			  h->least, h->most);
}
