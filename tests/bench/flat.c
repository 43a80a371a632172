// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flat DIR N [sparse|BYTES]: fills the FSFS repository DIR, freshly made by
 * `svnadmin create --compatible-version 1.4`, with N revisions.
 *
 * r1 adds the file /f, every later revision edits it; each revision is a whole
 * valid file of physical layout: file text, file node-revision, root directory,
 * root node-revision, changed paths, trailer.  With BYTES the text has that many
 * more.  With "sparse" a revision holds the root node-revision and an empty list
 * of changes, nothing else, so that a million of them need no hashing.
 * `svnadmin verify` accepts all three.
 */
#include "bench.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PAD = 32 * 1024, MAX_FILE = MAX_PAD + 1024 };

struct text {
	char bytes[MAX_FILE];
	size_t len;
};

static void __attribute__((format(printf, 2, 3)))
add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->bytes + t->len, MAX_FILE - t->len, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= MAX_FILE - t->len)
		abort();
	t->len += (size_t)n;
}

static void md5_hex(const struct text *t, char hex[33])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int len = 0;

	if (!EVP_Digest(t->bytes, t->len, md, &len, EVP_md5(), NULL))
		abort();
	for (unsigned int i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", md[i]);
}

static void write_file(int dir, const char *name, const struct text *t,
		       mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, t->bytes, t->len) != (ssize_t)t->len ||
	    close(fd))
		die(name);
}

/* Text as incompressible as stored deltas are, the same in every run. */
static void add_noise(struct text *t, size_t n)
{
	static unsigned long long seed = 2007;

	for (size_t end = t->len + n; t->len < end; t->len++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		t->bytes[t->len] = (char)(seed >> 56);
	}
}

/* A plain representation; the rep string that cites it goes to `cite`. */
static void add_plain(struct text *rev, unsigned long r,
		      const struct text *body, struct text *cite)
{
	char hex[33] = "";

	md5_hex(body, hex);
	add(cite, "text: %lu %zu %zu %zu %s\n", r, rev->len, body->len,
	    body->len, hex);
	add(rev, "PLAIN\n");
	if (body->len > MAX_FILE - rev->len)
		abort();
	memcpy(rev->bytes + rev->len, body->bytes, body->len);
	rev->len += body->len;
	add(rev, "ENDREP\n");
}

/*
 * One revision.  `file_at` and `root_at` are the offsets of the two node
 * revisions: of the previous revision on entry, of this one on return.
 */
static void build_full(struct text *rev, unsigned long r, size_t pad,
		       size_t *file_at, size_t *root_at)
{
	static struct text body, cite; /* too large to be cleared each time */
	size_t file_now, root_now;

	body.len = cite.len = 0;
	add(&body, "revision %lu\n", r);
	add_noise(&body, pad);
	add_plain(rev, r, &body, &cite);
	file_now = rev->len;
	add(rev, "id: 1.0.r%lu/%zu\ntype: file\n", r, file_now);
	if (r > 1)
		add(rev, "pred: 1.0.r%lu/%zu\n", r - 1, *file_at);
	add(rev, "count: %lu\n%.*scpath: /f\ncopyroot: 0 /\n\n", r - 1,
	    (int)cite.len, cite.bytes);

	body.len = cite.len = 0;
	add(&body, "file 1.0.r%lu/%zu", r, file_now);
	cite.len = 0;
	add(&cite, "%.*s", (int)body.len, body.bytes);
	body.len = 0;
	add(&body, "K 1\nf\nV %zu\n%.*s\nEND\n", cite.len, (int)cite.len,
	    cite.bytes);
	cite.len = 0;
	add_plain(rev, r, &body, &cite);
	root_now = rev->len;
	add(rev, "id: 0.0.r%lu/%zu\ntype: dir\npred: 0.0.r%lu/%zu\n", r,
	    root_now, r - 1, *root_at);
	add(rev, "count: %lu\n%.*scpath: /\ncopyroot: 0 /\n\n", r,
	    (int)cite.len, cite.bytes);

	body.len = rev->len;
	add(rev, "%s.0.t%lu-1 %s true false /f\n\n\n", r > 1 ? "1" : "_0",
	    r - 1, r > 1 ? "modify" : "add");
	add(rev, "%zu %zu\n", root_now, body.len);
	*file_at = file_now;
	*root_at = root_now;
}

static void build_sparse(struct text *rev, unsigned long r, size_t *root_at)
{
	size_t changes;

	add(rev, "id: 0.0.r%lu/0\ntype: dir\npred: 0.0.r%lu/%zu\ncount: %lu\n",
	    r, r - 1, *root_at, r);
	add(rev, "text: 0 0 4 4 2d2977d1c96f487abe4a1e202dd03b4e\n"
		 "cpath: /\ncopyroot: 0 /\n\n");
	changes = rev->len;
	add(rev, "\n0 %zu\n", changes);
	*root_at = 0;
}

static void build_revprops(struct text *t, unsigned long r)
{
	char date[32], log[32];
	int log_len = snprintf(log, sizeof(log), "edit %lu", r);

	snprintf(date, sizeof(date), "2004-%02lu-%02luT%02lu:%02lu:00.%06luZ",
		 r / 40320 % 12 + 1, r / 1440 % 28 + 1, r / 60 % 24, r % 60,
		 r % 1000000);
	add(t, "K 10\nsvn:author\nV 3\nada\nK 8\nsvn:date\nV %zu\n%s\n",
	    strlen(date), date);
	add(t, "K 7\nsvn:log\nV %d\n%s\nEND\n", log_len, log);
}

static int open_dir(const char *repo, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/db/%s", repo, name);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	bool sparse = argc == 4 && !strcmp(argv[3], "sparse");
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long pad = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	static struct text current, rev, props;
	size_t file_at = 0, root_at = 17; /* where r0 has its root */
	int db, revs, revprops;

	if (n < 1 || argc > 4 || pad > MAX_PAD ||
	    (argc == 4 && !sparse && !pad)) {
		fputs("usage: flat DIR N [sparse|BYTES]\n", stderr);
		return 16;
	}
	db = open_dir(argv[1], ".");
	revs = open_dir(argv[1], "revs");
	revprops = open_dir(argv[1], "revprops");
	umask(022);
	for (unsigned long r = 1; r <= n; r++) {
		char name[24];

		rev.len = props.len = 0;
		if (sparse)
			build_sparse(&rev, r, &root_at);
		else
			build_full(&rev, r, pad, &file_at, &root_at);
		build_revprops(&props, r);
		snprintf(name, sizeof(name), "%lu", r);
		write_file(revs, name, &rev, 0444);
		write_file(revprops, name, &props, 0444);
	}
	add(&current, "%lu %s 1\n", n, sparse ? "1" : "2");
	write_file(db, "current", &current, 0644);
	return 0;
}
