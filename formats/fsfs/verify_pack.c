// SPDX-License-Identifier: GPL-2.0-or-later
// Pass: the packs below db/min-unpacked-rev, one item each, in parallel.
//
//	revs/K.pack/pack	physical: the S revision files in a row
//	revs/K.pack/manifest	physical: S lines, the offset of each
//	revprops/K.pack/	(verify_revpack.c)

#include "formats/fsfs/verify_pack.h"

#include "formats/fsfs/manifest.h"
#include "formats/fsfs/revfile.h"
#include "formats/fsfs/verify.h"

#include "lib/autofd.h"
#include "lib/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* A line has at most 20 bytes; more than this is no manifest. */
enum { MANIFEST_MAX = 64 << 20, SMALL_PACK = 4 << 20 };

struct packs {
	struct fsfs_verify *v;
	const struct fsfs_tree *tree;
	size_t n;
	struct fsfs_progress progress;
};

static void found_slice(const struct fsfs_pack *p, uint64_t revision,
			uint64_t start, bool is_last,
			const struct fsfs_fault *fault)
{
	struct fm_where where = {.path = p->file, .has_offset = true};
	enum fsfs_check check = fault->check;
	char object[FSFS_RANGE];

	/* The end of an inner slice is where the manifest says it is. */
	if (!is_last && (check == FSFS_CHECK_TRAILER_FORM ||
			 check == FSFS_CHECK_TRAILER_ROOT ||
			 check == FSFS_CHECK_REV_TRUNCATED))
		check = FSFS_CHECK_MANIFEST_BOUNDARY;
	where.object = fsfs_range_name(revision, revision, object);
	where.offset = start + (fault->has_offset ? fault->offset : 0);
	fm_report_add(p->report, &fsfs_checks[check], &where,
		      "the slice from %ju on: %s", (uintmax_t)start,
		      fault->detail);
}

static int check_slice(const struct fsfs_pack *p, const struct fm_source *pack,
		       uint64_t revision, uint64_t start, uint64_t end,
		       struct fm_err *err)
{
	struct fsfs_fault fault;
	struct fm_source slice;
	int rc = fm_source_window(&slice, pack, start, end - start, err);

	if (rc != 0)
		return rc;
	if (fsfs_check_physical(&slice, revision, &fault, err))
		return 0;
	if (err->code != 0)
		return fm_err_prefix(err, "%s: ", p->file);
	found_slice(p, revision, start, end == pack->size, &fault);
	return 0;
}

static void wrong_order(const struct fsfs_pack *p, uint64_t revision,
			const char *what)
{
	char object[FSFS_RANGE];

	fsfs_found(p->report, FSFS_CHECK_MANIFEST_ORDER, p->manifest,
		   fsfs_range_name(revision, revision, object), "%s", what);
}

/*
 * Offsets in order are checked slice by slice; the first one out of order
 * ends that, since every later boundary would be a guess.
 */
static int check_slices(const struct fsfs_pack *p, const struct fm_buf *text,
			const struct fm_source *pack, struct fm_err *err)
{
	uint64_t n = 0, start = 0, offset;
	struct fm_reader r;
	struct fm_line line;
	int rc = 0;

	fm_reader_init(&r, fm_buf_text(text), text->len);
	for (; rc == 0 && fm_text_line(&r, &line); n++) {
		uint64_t revision = p->first + n;

		if (n == p->shard)
			break; /* too many: said by the caller */
		if (!fsfs_manifest_offset(&line, &offset)) {
			wrong_order(p, revision, "not an offset");
			return 0;
		}
		if (n == 0 ? offset != 0 : offset <= start) {
			wrong_order(p, revision,
				    n == 0 ? "the first offset is not 0"
					   : "not above the offset before it");
			return 0;
		}
		if (offset >= pack->size) {
			wrong_order(p, revision, "beyond the end of the pack");
			return 0;
		}
		if (n > 0)
			rc = check_slice(p, pack, revision - 1, start, offset,
					 err);
		start = offset;
	}
	if (rc == 0 && n == p->shard)
		rc = check_slice(p, pack, p->first + n - 1, start, pack->size,
				 err);
	return rc;
}

static uint64_t count_lines(const struct fm_buf *text)
{
	uint64_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

// A pack of small revisions is read in one piece: two reads for each of them
// would cost more than all its bytes.
static int small_into_memory(struct fm_source *pack, struct fm_arena *tmp,
			     struct fm_err *err)
{
	size_t n = (size_t)pack->size;
	char *bytes;

	if (pack->size > SMALL_PACK)
		return 0;
	bytes = fm_arena_alloc(tmp, n + 1);
	if (fm_source_read(pack, 0, bytes, n, err) != 0)
		return err->code;
	fm_source_memory(pack, bytes, n);
	return 0;
}

static int check_physical(const struct fsfs_pack *p,
			  const struct fm_source *pack, struct fm_err *err)
{
	struct fm_buf text = FM_BUF_INIT;
	uint64_t n_lines;
	int rc = fsfs_read_small(p->dir, "manifest", MANIFEST_MAX, &text, err);

	if (rc != 0) {
		fsfs_found(p->report, FSFS_CHECK_MANIFEST_COUNT, p->manifest,
			   p->object, "%s",
			   err->sys == ENOENT ? "the file is missing"
					      : err->msg);
		fm_buf_release(&text);
		return 0;
	}
	n_lines = count_lines(&text);
	if (n_lines != p->shard)
		fsfs_found(p->report, FSFS_CHECK_MANIFEST_COUNT, p->manifest,
			   p->object, "%ju lines, expected %ju",
			   (uintmax_t)n_lines, (uintmax_t)p->shard);
	else if (text.data[text.len - 1] != '\n')
		fsfs_found(p->report, FSFS_CHECK_MANIFEST_COUNT, p->manifest,
			   p->object, "text follows the last line feed");
	rc = check_slices(p, &text, pack, err);
	fm_buf_release(&text);
	return rc;
}

static int check_logical(const struct fsfs_pack *p,
			 const struct fm_source *pack, struct fm_err *err)
{
	struct fm_where where = {.path = p->file, .object = p->object};
	struct fsfs_fault fault;

	if (fsfs_check_logical(pack, p->first, p->shard, &fault, err))
		return 0;
	if (err->code != 0)
		return fm_err_prefix(err, "%s: ", p->file);
	where.has_offset = fault.has_offset;
	where.offset = fault.offset;
	fm_report_add(p->report, &fsfs_checks[fault.check], &where, "%s",
		      fault.detail);
	return 0;
}

static void check_names(const struct fsfs_pack *p, bool is_logical)
{
	static const char *const known[] = {"pack", "manifest"};

	fsfs_pack_strays(p, known, is_logical ? 1 : 2);
}

static int check_revision_pack(const struct fsfs_pack *p, bool is_logical,
			       struct fm_arena *tmp, struct fm_err *err)
{
	FM_AUTOFD int fd = fm_open_read(p->dir, "pack");
	struct fm_source pack;
	struct stat st;
	int rc, sys = fd < 0 ? errno : 0;

	check_names(p, is_logical);
	if (sys == ENOENT || sys == EACCES) {
		fsfs_found(p->report,
			   sys == ENOENT ? FSFS_CHECK_REV_MISSING
					 : FSFS_CHECK_LAYOUT_MODE,
			   p->file, p->object,
			   sys == ENOENT ? "the pack file is missing"
					 : "the pack file cannot be read");
		return 0;
	}
	if (sys)
		return fm_err_sys(err, sys, "%s", p->file);
	if (fstat(fd, &st) == 0 && (st.st_mode & 0444) == 0)
		fsfs_found(p->report, FSFS_CHECK_LAYOUT_MODE, p->file,
			   p->object, "its mode lets nobody read the file");
	rc = fm_source_file(&pack, fd, err);
	if (rc == 0 && !is_logical)
		rc = small_into_memory(&pack, tmp, err);
	if (rc != 0)
		return fm_err_prefix(err, "%s: ", p->file);
	return is_logical ? check_logical(p, &pack, err)
			  : check_physical(p, &pack, err);
}

static int check_item(void *ctx, uint64_t item, struct fm_arena *tmp,
		      struct fm_report *r, struct fm_err *err)
{
	struct packs *packs = ctx;
	const struct fsfs_tree *tree = packs->tree;
	bool is_revs = tree == &packs->v->revs;
	uint64_t k = tree->packs.at[item];
	struct fsfs_pack p = {.report = r, .shard = tree->shard, .k = k};
	char object[FSFS_RANGE], dir[64];
	FM_AUTOFD int fd = -1;
	int rc;

	(void)snprintf(dir, sizeof(dir), "%ju.pack", (uintmax_t)k);
	fd = openat(tree->fd, dir,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	p.path = fm_arena_printf(tmp, "db/%s/%s", tree->name, dir);
	if (fd < 0)
		return fm_err_sys(err, errno, "%s", p.path);
	p.dir = fd;
	p.first = k * tree->shard; /* k lies below the pointer */
	p.object = fsfs_range_name(p.first, p.first + tree->shard - 1, object);
	p.file = fm_arena_printf(tmp, "%s/pack", p.path);
	p.manifest = fm_arena_printf(tmp, "%s/manifest", p.path);
	rc = is_revs ? check_revision_pack(&p, packs->v->fs->traits.is_logical,
					   tmp, err)
		     : fsfs_verify_revpack(&p, err);
	fsfs_progress_step(&packs->progress, 1);
	return rc;
}

static int check_packs(struct fsfs_verify *v, const struct fsfs_tree *tree,
		       const char *phase, struct fm_err *err)
{
	struct packs packs = {.v = v, .tree = tree};

	if (tree->shard == 0)
		return 0;
	packs.n =
		fsfs_numbers_find(&tree->packs, v->min_unpacked / tree->shard);
	fsfs_progress_init(&packs.progress, v->opts->progress, phase, packs.n);
	return fm_pool_run(v->opts->jobs, 0, packs.n, check_item, &packs,
			   v->report, err);
}

int fsfs_verify_packs(struct fsfs_verify *v, struct fm_err *err)
{
	int rc = check_packs(v, &v->revs, "packs", err);

	if (rc == 0 && v->fs->traits.has_packed_revprops)
		rc = check_packs(v, &v->revprops, "revision property packs",
				 err);
	return rc;
}
