// SPDX-License-Identifier: GPL-2.0-or-later
// From operands to the list of targets.
//
// --recursive walks with openat and follows no link below the operand. What
// is recognised is taken and not descended into; what is not is passed over
// in silence, since looking is what the option asks for.

#include "cmd/targets.h"

#include "lib/autofd.h"
#include "lib/buf.h"
#include "lib/cancel.h"
#include "lib/mem.h"
#include "lib/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 64 };

// What a walk below one operand carries along.
struct search {
	struct cli *cli;
	struct cli_targets *found;
	int *status;
};

int cli_place_open(int dirfd, const char *name, bool follow,
		   struct fm_place *place, struct fm_err *err)
{
	int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct fm_source src;
	struct stat st;

	place->fd = openat(dirfd, name, flags | (follow ? 0 : O_NOFOLLOW));
	if (place->fd < 0)
		return fm_err_sys(err, errno, "cannot open");
	if (fstat(place->fd, &st) != 0) {
		fm_err_sys(err, errno, "cannot stat");
	} else if (S_ISDIR(st.st_mode)) {
		place->is_directory = true;
		place->size = 0;
		return 0;
	} else if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
		fm_err_set(err, FM_E_FORMAT,
			   "neither a directory nor a file nor a block device");
	} else if (fm_source_file(&src, place->fd, err) == 0) {
		place->is_directory = false;
		place->size = src.size;
		return 0;
	}
	fm_close_fd(&place->fd);
	return err->code;
}

static uint64_t hash(const char *name)
{
	uint64_t h = 0xcbf29ce484222325U; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3U;
	return h;
}

static void add(const struct cli *cli, struct cli_targets *t, const char *path)
{
	const struct cli_settings *s = &cli->settings;

	if (s->n_shards && hash(path) % s->n_shards != s->shard % s->n_shards)
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->paths =
			fm_realloc_array(t->paths, t->cap, sizeof(*t->paths));
	}
	t->paths[t->n++] = fm_strdup(path);
}

static bool is_wanted(const struct cli *cli, const struct fm_place *place)
{
	const struct fm_format *f = cli->settings.format;
	struct fm_bid bid = {.confidence = 0};
	struct fm_err ignored;

	if (f)
		f->probe(place, &bid);
	else if (fm_format_probe(place, &f, &bid, &ignored) != 0)
		return true; /* ambiguous: running into it says so */
	return f && bid.confidence > 0 &&
	       (!cli->command->handles || cli->command->handles(f));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// The names in a directory, sorted; fd is taken over.
static int list_names(int fd, struct cli_targets *names, struct fm_err *err)
{
	FM_AUTODIR DIR *dir = fdopendir(fd);
	const struct cli no_shard = {.command = NULL};
	struct dirent *d;

	if (!dir) {
		(void)close(fd);
		return fm_err_sys(err, errno, "cannot read directory");
	}
	errno = 0;
	while ((d = readdir(dir)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			add(&no_shard, names, d->d_name);
	if (errno)
		return fm_err_sys(err, errno, "cannot read directory");
	if (names->n)
		qsort(names->paths, names->n, sizeof(*names->paths), by_name);
	return 0;
}

static void complain(struct search *s, const char *path, struct fm_err *err)
{
	*s->status |= cli_complain(s->cli, path, err);
}

static void search_directory(struct search *s, int fd, struct fm_buf *path,
			     unsigned depth);

// One name in the open directory whose path is in *path.
static void search_entry(struct search *s, int dir, const char *name,
			 struct fm_buf *path, unsigned depth)
{
	struct fm_place place = {.fd = -1};
	size_t len = path->len;
	struct fm_err err;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode) ||
	      S_ISBLK(st.st_mode)))
		return;
	if (path->len && path->data[path->len - 1] != '/')
		fm_buf_puts(path, "/");
	fm_buf_puts(path, name);
	place.path = path->data;
	if (cli_place_open(dir, name, false, &place, &err) != 0)
		complain(s, path->data, &err);
	else if (is_wanted(s->cli, &place))
		add(s->cli, s->found, path->data);
	else if (place.is_directory)
		search_directory(s, fm_steal_fd(&place.fd), path, depth + 1);
	fm_close_fd(&place.fd);
	path->len = len;
	path->data[len] = '\0';
}

static void search_directory(struct search *s, int fd, struct fm_buf *path,
			     unsigned depth)
{
	struct cli_targets names = {.n = 0};
	FM_AUTOFD int dir = dup(fd); /* list_names closes the other */
	struct fm_err err;

	if (dir < 0)
		(void)fm_err_sys(&err, errno, "cannot open");
	else if (depth > MAX_DEPTH)
		(void)fm_err_set(&err, FM_E_LIMIT,
				 "more than %d directories deep", MAX_DEPTH);
	else
		err.code = 0;
	if (err.code != 0)
		(void)close(fd);
	else
		(void)list_names(fd, &names, &err);
	if (err.code != 0)
		complain(s, fm_buf_text(path), &err);
	for (size_t i = 0; i < names.n && !fm_cancelled(); i++)
		search_entry(s, dir, names.paths[i], path, depth);
	cli_targets_release(&names);
}

static void search(struct search *s, const char *operand)
{
	struct fm_place place = {.path = operand, .fd = -1};
	struct fm_buf path = FM_BUF_INIT;
	struct fm_err err;

	/* Whatever is no directory is worked on as if --recursive was not
	   given: its errors are reported there. */
	if (cli_place_open(AT_FDCWD, operand, true, &place, &err) != 0 ||
	    !place.is_directory || is_wanted(s->cli, &place)) {
		add(s->cli, s->found, operand);
	} else {
		fm_buf_puts(&path, operand);
		search_directory(s, fm_steal_fd(&place.fd), &path, 0);
	}
	fm_close_fd(&place.fd);
	fm_buf_release(&path);
}

static void take(struct search *s, const char *operand)
{
	if (cli_options.is_recursive)
		search(s, operand);
	else
		add(s->cli, s->found, operand);
}

static int take_lines(struct search *s, FILE *in, struct fm_err *err)
{
	int end = cli_options.is_null_separated ? '\0' : '\n';
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int rc = 0;

	while (!fm_cancelled() && (n = getdelim(&line, &size, end, in)) > 0) {
		if (line[n - 1] == end)
			line[--n] = '\0';
		if (n > 0)
			take(s, line);
	}
	if (ferror(in) && !fm_cancelled())
		rc = fm_err_sys(err, errno, "%s: cannot read",
				cli_options.files_from);
	free(line);
	return rc;
}

static int take_file(struct search *s, struct fm_err *err)
{
	const char *name = cli_options.files_from;
	FILE *in;
	int rc;

	if (strcmp(name, "-") == 0)
		return take_lines(s, stdin, err);
	in = fopen(name, "re");
	if (!in)
		return fm_err_sys(err, errno, "%s: cannot open", name);
	rc = take_lines(s, in, err);
	(void)fclose(in);
	return rc;
}

int cli_targets_collect(struct cli *cli, const char **operands,
			struct cli_targets *t, int *status, struct fm_err *err)
{
	struct search s = {.cli = cli, .found = t, .status = status};

	if (cli_options.files_from && operands)
		return fm_err_set(err, FM_E_USAGE,
				  "operands and --files-from exclude each "
				  "other");
	if (cli_options.files_from)
		return take_file(&s, err);
	if (!operands)
		return fm_err_set(err, FM_E_USAGE, "nothing to work on");
	for (; *operands && !fm_cancelled(); operands++)
		take(&s, *operands);
	return 0;
}

void cli_targets_release(struct cli_targets *t)
{
	for (size_t i = 0; i < t->n; i++)
		fm_free(t->paths[i]);
	fm_free(t->paths);
	memset(t, 0, sizeof(*t));
}
