// SPDX-License-Identifier: GPL-2.0-or-later
// The transaction layer on numbered trees of its own, with no format in
// sight: every shape to every other in both modes, undo, resume, a tree that
// changes meanwhile, and others who get in the way.

#include "tests/unit/unit.h"

#include "lib/mem.h"
#include "lib/numtree.h"
#include "lib/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 25 }; /* numbers 0..24 */

static const char old_text[] = "old\n", new_text[] = "new\n",
		  guard_text[] = "guard\n";

struct fixture {
	char path[64];
	int dir;
	struct fm_arena arena;
	struct fm_plan plan;
	struct fm_txn_options opts;
	struct fm_txn_result result;
	struct fm_err err;
};

static void write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
}

static char *read_file(int dir, const char *name, char text[64])
{
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return NULL;
	n = read(fd, text, 63);
	assert_true(n >= 0);
	text[n] = '\0';
	(void)close(fd);
	return text;
}

static void number_path(const char *tree, uint64_t shard, uint64_t n,
			char path[128])
{
	char number[FM_NUM_PATH];

	fm_num_path(shard, n, number);
	(void)snprintf(path, 128, "%s/%s", tree, number);
}

static void make_tree(int dir, const char *tree, uint64_t shard)
{
	char path[128], text[128];

	assert_int_equal(mkdirat(dir, tree, 0755), 0);
	for (uint64_t n = 0; n < COUNT; n++) {
		if (shard && n % shard == 0) {
			(void)snprintf(path, sizeof(path), "%s/%ju", tree,
				       (uintmax_t)(n / shard));
			assert_int_equal(mkdirat(dir, path, 02750), 0);
		}
		number_path(tree, shard, n, path);
		(void)snprintf(text, sizeof(text), "%s %ju", tree,
			       (uintmax_t)n);
		write_file(dir, path, text);
	}
}

// Every number in its place with its own text, and nothing else in the tree.
static void assert_tree(int dir, const char *tree, uint64_t shard)
{
	char path[128], text[128], found[64], command[256], count[32];
	FILE *f;

	for (uint64_t n = 0; n < COUNT; n++) {
		number_path(tree, shard, n, path);
		(void)snprintf(text, sizeof(text), "%s %ju", tree,
			       (uintmax_t)n);
		assert_non_null(read_file(dir, path, found));
		assert_string_equal(found, text);
	}
	(void)snprintf(command, sizeof(command),
		       "find /proc/%d/fd/%d/%s -type f | wc -l", (int)getpid(),
		       dir, tree);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(count, sizeof(count), f));
	assert_int_equal(atoi(count), COUNT);
	(void)pclose(f);
}

static void assert_text(struct fixture *x, const char *name, const char *text)
{
	char found[64];

	if (!text) {
		assert_null(read_file(x->dir, name, found));
		return;
	}
	assert_non_null(read_file(x->dir, name, found));
	assert_string_equal(found, text);
}

static const char *const small_files[] = {"bound", "extra", "extra-dir",
					  "superfluous"};

static int settle(struct fm_plan *plan, struct fm_err *err)
{
	(void)err;
	plan->n_files = 0;
	fm_plan_add_write(plan, "bound", "24 after\n", 9, "bound");
	fm_plan_add_write(plan, "extra", "made\n", 5, "bound");
	fm_plan_add_mkdir(plan, "extra-dir", "a");
	fm_plan_add_remove(plan, "superfluous");
	return 0;
}

static struct fm_journal_field field(const char *s)
{
	return (struct fm_journal_field){s, strlen(s)};
}

static void make_plan(struct fixture *x, enum fm_mode mode, uint64_t from,
		      uint64_t to)
{
	struct fm_plan *p = &x->plan;

	fm_plan_init(p, &x->arena);
	p->operation = "reshape";
	p->title = "test";
	p->mode = mode;
	p->root = x->dir;
	p->root_path = x->path;
	p->journals = "journals";
	p->marker = "marker";
	p->old_marker = field(old_text);
	p->new_marker = field(new_text);
	p->guard = field(guard_text);
	p->bound = "bound";
	p->highest = COUNT - 1;
	p->locks[p->n_locks++] = "lock";
	fm_plan_add_tree(p, "a", from, to, false);
	fm_plan_add_tree(p, "b", from, to, true);
	p->settle = settle;
	p->file_names = small_files;
	p->n_file_names = FM_ARRAY_SIZE(small_files);
}

static void begin(struct fixture *x, uint64_t shard)
{
	memset(x, 0, sizeof(*x));
	(void)snprintf(x->path, sizeof(x->path), "/tmp/fsmend-txn-XXXXXX");
	assert_non_null(mkdtemp(x->path));
	x->dir = open(x->path, O_RDONLY | O_DIRECTORY);
	assert_true(x->dir >= 0);
	fm_arena_init(&x->arena);
	make_tree(x->dir, "a", shard);
	make_tree(x->dir, "b", shard);
	write_file(x->dir, "marker", old_text);
	write_file(x->dir, "bound", "24 before\n");
	write_file(x->dir, "superfluous", "kept\n");
	x->opts.lock_wait_ms = 200;
}

static void end(struct fixture *x)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", x->path);
	assert_int_equal(system(command), 0);
	(void)close(x->dir);
	fm_arena_release(&x->arena);
}

// No name of the layer's own is left anywhere.
static void assert_tidy(struct fixture *x)
{
	char command[160];

	(void)snprintf(command, sizeof(command),
		       "test -z \"$(find '%s' -name '.fsmend*')\"", x->path);
	assert_int_equal(system(command), 0);
}

static void assert_old(struct fixture *x, uint64_t shard)
{
	assert_text(x, "marker", old_text);
	assert_text(x, "bound", "24 before\n");
	assert_text(x, "superfluous", "kept\n");
	assert_text(x, "extra", NULL);
	assert_int_equal(faccessat(x->dir, "extra-dir", F_OK, 0), -1);
	assert_int_equal(faccessat(x->dir, "journals", F_OK, 0), -1);
	assert_tree(x->dir, "a", shard);
	assert_tree(x->dir, "b", shard);
	assert_tidy(x);
}

static void assert_new(struct fixture *x, uint64_t shard)
{
	assert_text(x, "marker", new_text);
	assert_text(x, "bound", "24 after\n");
	assert_text(x, "superfluous", NULL);
	assert_text(x, "extra", "made\n");
	assert_int_equal(faccessat(x->dir, "extra-dir", F_OK, 0), 0);
	assert_int_equal(
		faccessat(x->dir, "journals/0001-reshape.done", F_OK, 0), 0);
	assert_tree(x->dir, "a", shard);
	assert_tree(x->dir, "b", shard);
	assert_tidy(x);
}

static const uint64_t shapes[] = {0, 1, 4, 7, 1000};
static const enum fm_mode modes[] = {FM_MODE_LINK, FM_MODE_RENAME};

#define FOR_ALL(mode, from, to)                                                \
	for (size_t m_ = 0; m_ < 2; m_++)                                      \
		for (size_t f_ = 0; f_ < FM_ARRAY_SIZE(shapes); f_++)          \
			for (size_t t_ = 0; t_ < FM_ARRAY_SIZE(shapes); t_++)  \
				if (f_ != t_ && ((mode) = modes[m_], 1) &&     \
				    ((from) = shapes[f_], 1) &&                \
				    ((to) = shapes[t_], 1))

static void every_shape_becomes_every_other(void **state)
{
	enum fm_mode mode;
	uint64_t from, to;

	(void)state;
	FOR_ALL(mode, from, to)
	{
		struct fixture x;

		begin(&x, from);
		make_plan(&x, mode, from, to);
		assert_int_equal(
			fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err), 0);
		assert_new(&x, to);
		assert_int_equal(x.result.compared, 2 * COUNT);
		assert_false(x.result.unfinished);
		end(&x);
	}
}

// A stray name where the last step before the commit point must put its own:
// the error comes as late as it can, and everything is taken back.
static void late_error_is_taken_back(void **state)
{
	enum fm_mode mode;
	uint64_t from, to;

	(void)state;
	FOR_ALL(mode, from, to)
	{
		struct fixture x;

		begin(&x, from);
		make_plan(&x, mode, from, to);
		assert_int_equal(mkdirat(x.dir, "extra", 0755), 0);
		write_file(x.dir, "extra/in the way", "");
		assert_true(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err) <
			    0);
		assert_false(x.result.unfinished);
		assert_int_equal(unlinkat(x.dir, "extra/in the way", 0), 0);
		assert_int_equal(unlinkat(x.dir, "extra", AT_REMOVEDIR), 0);
		assert_old(&x, from);
		end(&x);
	}
}

// Missing, wherever it is: seen before the first file moves.
static void a_missing_number_is_seen_in_time(void **state)
{
	static const uint64_t missing[] = {0, 11, COUNT - 1};
	enum fm_mode mode;
	uint64_t from, to;

	(void)state;
	FOR_ALL(mode, from, to)
	{
		struct fixture x;
		char path[128];

		if (mode != FM_MODE_RENAME)
			continue;
		for (size_t i = 0; i < FM_ARRAY_SIZE(missing); i++) {
			begin(&x, from);
			make_plan(&x, mode, from, to);
			number_path("b", from, missing[i], path);
			assert_int_equal(unlinkat(x.dir, path, 0), 0);
			assert_int_equal(fm_txn_apply(&x.plan, &x.opts,
						      &x.result, &x.err),
					 FM_E_FORMAT);
			assert_false(x.result.unfinished);
			number_path("b", 0, missing[i], path);
			assert_non_null(strstr(x.err.msg, path));
			assert_text(&x, "marker", old_text);
			assert_tree(x.dir, "a", from);
			assert_tidy(&x);
			end(&x);
		}
	}
}

static void a_held_lock_leaves_all_as_it_was(void **state)
{
	struct fixture x;
	int fd;

	(void)state;
	begin(&x, 0);
	make_plan(&x, FM_MODE_LINK, 0, 4);
	write_file(x.dir, "lock", "");
	fd = openat(x.dir, "lock", O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err),
			 FM_E_BUSY);
	assert_old(&x, 0);
	(void)close(fd);
	end(&x);
}

// Another tool has rewritten the marker since the plan was made.
static void an_alien_marker_is_never_replaced(void **state)
{
	struct fixture x;

	(void)state;
	begin(&x, 4);
	make_plan(&x, FM_MODE_LINK, 4, 7);
	x.plan.old_marker = field("something else\n");
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err),
			 FM_E_CHANGED);
	assert_old(&x, 4);
	end(&x);
}

static void unfinished_journal_keeps_others_out(void **state)
{
	struct fixture x;
	struct fm_txn_look look;

	(void)state;
	begin(&x, 0);
	make_plan(&x, FM_MODE_LINK, 0, 4);
	assert_int_equal(mkdirat(x.dir, "journals", 0755), 0);
	write_file(x.dir, "journals/journal", "not ours\n");
	assert_int_equal(
		fm_txn_look(x.dir, "journals", &x.arena, &look, &x.err),
		FM_E_FORMAT);
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err),
			 FM_E_UNFINISHED);
	assert_text(&x, "journals/journal", "not ours\n");
	assert_int_equal(unlinkat(x.dir, "journals/journal", 0), 0);
	(void)unlinkat(x.dir, "journals", AT_REMOVEDIR);
	assert_old(&x, 0);
	end(&x);
}

// What lies under a name of the layer's, with no journal, is somebody's.
static void names_that_are_taken_are_left_alone(void **state)
{
	static const char *const names[] = {".fsmend-a", "b/.fsmend-stage"};
	char path[64];

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(names); i++) {
		for (size_t m = 0; m < FM_ARRAY_SIZE(modes); m++) {
			struct fixture x;

			begin(&x, 0);
			make_plan(&x, modes[m], 0, 4);
			assert_int_equal(mkdirat(x.dir, names[i], 0755), 0);
			(void)snprintf(path, sizeof(path), "%s/keep", names[i]);
			write_file(x.dir, path, "mine");
			if (fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err))
				assert_int_equal(x.err.code, FM_E_UNSUPPORTED);
			else
				assert_int_equal(i + m, 1);
			assert_text(&x, path, "mine");
			/* Refused before a journal could be resumed. */
			if (x.err.code)
				assert_int_equal(
					faccessat(x.dir, "journals", F_OK, 0),
					-1);
			end(&x);
		}
	}
}

static void add_record(struct fm_buf *b, const char *const *words, size_t n)
{
	struct fm_journal_field f[FM_JOURNAL_MAX_FIELDS];

	for (size_t i = 0; i < n; i++)
		f[i] = fm_journal_string(words[i]);
	fm_journal_encode(b, f, n);
}

// Whoever owns the target can write a journal; root may undo it.
static void a_journal_leads_nowhere_else(void **state)
{
	static const char *const names[] = {"../victim", "/tmp/fsmend-victim",
					    "a/0",       ".hidden",
					    "lock",      "marker",
					    "a",         "journals",
					    ""};

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(names); i++) {
		const char *first[] = {"fsmend-journal", "1", "0"};
		const char *save[] = {"save", names[i], "file", "pwned", "x"};
		struct fm_buf b = FM_BUF_INIT;
		struct fixture x;
		struct fm_txn_look look;

		begin(&x, 0);
		make_plan(&x, FM_MODE_RENAME, 0, 4);
		write_file(x.dir, "lock", "");
		assert_int_equal(mkdirat(x.dir, "journals", 0755), 0);
		add_record(&b, first, 3);
		add_record(&b, save, 5);
		write_file(x.dir, "journals/journal", fm_buf_text(&b));
		write_file(x.dir, "marker", guard_text);
		assert_int_equal(
			fm_txn_look(x.dir, "journals", &x.arena, &look, &x.err),
			0);
		assert_int_equal(fm_txn_undo(&x.plan, &look.journal, &x.opts,
					     &x.result, &x.err),
				 FM_E_FORMAT);
		assert_int_equal(fm_txn_resume(&x.plan, &look.journal, &x.opts,
					       &x.result, &x.err),
				 FM_E_FORMAT);
		assert_text(&x, "marker", guard_text);
		assert_text(&x, "lock", "");
		assert_int_equal(faccessat(x.dir, "../victim", F_OK, 0), -1);
		fm_buf_release(&b);
		end(&x);
	}
}

static void a_record_to_undo_is_a_record(void **state)
{
	const char *first[] = {"fsmend-journal", "1", "0"};
	struct fm_buf b = FM_BUF_INIT;
	struct fixture x;
	struct fm_txn_look look;

	(void)state;
	begin(&x, 0);
	make_plan(&x, FM_MODE_LINK, 0, 4);
	x.plan.undoes = "../bound";
	assert_int_equal(mkdirat(x.dir, "journals", 0755), 0);
	add_record(&b, first, 3);
	write_file(x.dir, "journals/journal", fm_buf_text(&b));
	assert_int_equal(
		fm_txn_look(x.dir, "journals", &x.arena, &look, &x.err), 0);
	assert_int_equal(fm_txn_resume(&x.plan, &look.journal, &x.opts,
				       &x.result, &x.err),
			 FM_E_FORMAT);
	assert_text(&x, "bound", "24 before\n");
	fm_buf_release(&b);
	end(&x);
}

// A fifo in its place must not make us wait for a writer.
static void a_fifo_is_no_journal(void **state)
{
	struct fixture x;
	struct fm_txn_look look;

	(void)state;
	begin(&x, 0);
	assert_int_equal(mkdirat(x.dir, "journals", 0755), 0);
	assert_int_equal(mkfifoat(x.dir, "journals/journal", 0644), 0);
	assert_int_equal(
		fm_txn_look(x.dir, "journals", &x.arena, &look, &x.err),
		FM_E_FORMAT);
	assert_non_null(strstr(x.err.msg, "not a regular file"));
	end(&x);
}

static void records_are_counted_and_forgotten(void **state)
{
	struct fixture x;
	struct fm_txn_look look;
	unsigned deleted;

	(void)state;
	begin(&x, 0);
	make_plan(&x, FM_MODE_LINK, 0, 4);
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err), 0);
	assert_string_equal(x.result.record, "0001-reshape.done");
	make_plan(&x, FM_MODE_RENAME, 4, 7);
	x.plan.old_marker = field(new_text);
	x.plan.new_marker = field("newer\n");
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err), 0);
	assert_string_equal(x.result.record, "0002-reshape.done");
	assert_int_equal(
		fm_txn_look(x.dir, "journals", &x.arena, &look, &x.err), 0);
	assert_int_equal(look.state, FM_TXN_CLEAN);
	assert_int_equal(look.n_finished, 2);
	assert_string_equal(look.newest, "0002-reshape.done");
	assert_int_equal(fm_txn_forget(x.dir, "journals", &deleted, &x.err), 0);
	assert_int_equal(deleted, 2);
	assert_int_equal(faccessat(x.dir, "journals", F_OK, 0), -1);
	end(&x);
}

// An interrupted commit left numbers above the highest, and an empty shard:
// they come along, and come back.
static void numbers_above_the_highest_come_along(void **state)
{
	enum fm_mode mode;
	uint64_t from, to;

	(void)state;
	FOR_ALL(mode, from, to)
	{
		struct fixture x;
		char path[128];

		begin(&x, from);
		make_plan(&x, mode, from, to);
		write_file(x.dir, "bound", "20 of 24\n");
		if (from) {
			(void)snprintf(path, sizeof(path), "a/%ju",
				       (uintmax_t)(COUNT / from + 1));
			assert_int_equal(mkdirat(x.dir, path, 0755), 0);
		}
		assert_int_equal(
			fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err), 0);
		assert_tree(x.dir, "a", to);
		assert_tree(x.dir, "b", to);
		assert_tidy(&x);
		end(&x);
	}
}

// What no shape has is not ours to move, to drop or to leave behind.
static void alien_names_are_refused(void **state)
{
	static const char *const names[] = {"a/7.old", "b/0.pack", "a/07",
					    "b/README"};

	(void)state;
	for (size_t i = 0; i < FM_ARRAY_SIZE(names); i++) {
		struct fixture x;

		begin(&x, 4);
		make_plan(&x, FM_MODE_LINK, 4, 7);
		write_file(x.dir, names[i], "");
		assert_int_equal(
			fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err),
			FM_E_UNSUPPORTED);
		assert_non_null(strstr(x.err.msg, names[i]));
		assert_int_equal(unlinkat(x.dir, names[i], 0), 0);
		assert_old(&x, 4);
		end(&x);
	}
}

// Shards take mode, setgid bit and times from the tree, small files from what they
// replace, and a new small file from its neighbour.
static void attributes_come_from_neighbours(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 1234567},
					  {.tv_sec = 1234567}};
	struct fixture x;
	struct stat st;

	(void)state;
	begin(&x, 0);
	assert_int_equal(fchmodat(x.dir, "a", 02711, 0), 0);
	assert_int_equal(utimensat(x.dir, "b", times, 0), 0);
	assert_int_equal(fchmodat(x.dir, "bound", 0640, 0), 0);
	assert_int_equal(fchmodat(x.dir, "marker", 0440, 0), 0);
	make_plan(&x, FM_MODE_LINK, 0, 4);
	assert_int_equal(fm_txn_apply(&x.plan, &x.opts, &x.result, &x.err), 0);
	assert_int_equal(fstatat(x.dir, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 02711);
	assert_int_equal(fstatat(x.dir, "a/3", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 02711);
	assert_int_equal(fstatat(x.dir, "bound", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fstatat(x.dir, "extra", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fstatat(x.dir, "marker", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0440);
	assert_int_equal(fstatat(x.dir, "b", &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1234567);
	assert_int_equal(fstatat(x.dir, "b/3", &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1234567);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_becomes_every_other),
		cmocka_unit_test(late_error_is_taken_back),
		cmocka_unit_test(a_missing_number_is_seen_in_time),
		cmocka_unit_test(a_held_lock_leaves_all_as_it_was),
		cmocka_unit_test(an_alien_marker_is_never_replaced),
		cmocka_unit_test(unfinished_journal_keeps_others_out),
		cmocka_unit_test(names_that_are_taken_are_left_alone),
		cmocka_unit_test(a_journal_leads_nowhere_else),
		cmocka_unit_test(a_record_to_undo_is_a_record),
		cmocka_unit_test(a_fifo_is_no_journal),
		cmocka_unit_test(records_are_counted_and_forgotten),
		cmocka_unit_test(numbers_above_the_highest_come_along),
		cmocka_unit_test(alien_names_are_refused),
		cmocka_unit_test(attributes_come_from_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
