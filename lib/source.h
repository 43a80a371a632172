/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random-access input: a file, bytes in memory, or a window of either.
 *
 * A source knows its size, and every read is checked against it first. It is
 * plain data, borrows what it reads from (descriptor or memory), needs no
 * release, and may be read by several threads at once.
 */
#ifndef FM_LIB_SOURCE_H
#define FM_LIB_SOURCE_H

#include "lib/err.h"

struct fm_source {
	int fd;             /* -1: memory */
	const void *memory; /* of the first byte */
	uint64_t start;     /* of the window in the file */
	uint64_t size;      /* of the window, bytes */
};

void fm_source_memory(struct fm_source *s, const void *p, size_t n);

/* A regular file or a block device; its size is asked for. */
int fm_source_file(struct fm_source *s, int fd, struct fm_err *err);

/* FM_E_BOUNDS when it would reach beyond `of`. */
int fm_source_window(struct fm_source *s, const struct fm_source *of,
		     uint64_t start, uint64_t size, struct fm_err *err);

/*
 * Exactly n bytes at offset: FM_E_BOUNDS when they reach past the end, also
 * when the file has shrunk since; FM_E_IO.
 */
int fm_source_read(const struct fm_source *s, uint64_t offset, void *p,
		   size_t n, struct fm_err *err);

/*
 * Opens a file of a target for reading only: follows no symbolic link, waits
 * for nobody (a fifo), and leaves the access time alone where the kernel lets
 * us. -1 and errno on failure.
 */
int fm_open_read(int dirfd, const char *name);

#endif
