// SPDX-License-Identifier: GPL-2.0-or-later
// Output stream into one new file of a stage.

#include "lib/out.h"

#include "lib/autofd.h"
#include "lib/txn_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BUFFER = 256 * 1024, LARGE = 4096 };

int fm_out_open(struct fm_out *o, const struct fm_stage *stage,
		const char *name, unsigned mode, struct fm_err *err)
{
	FM_AUTOFD int fd = openat(
		stage->dir, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	*o = (struct fm_out){.name = name, .fd = -1, .buffer = FM_BUF_INIT};
	if (fd < 0)
		return fm_err_sys(err, errno, "cannot create %s", name);
	if (txn_copy_attributes(stage->like, fd, name, err) != 0)
		return err->code;
	if (fchmod(fd, mode) != 0)
		return fm_err_sys(err, errno, "cannot set mode of %s", name);
	o->fd = fm_steal_fd(&fd);
	return 0;
}

static void flush(struct fm_out *o)
{
	if (o->sys == 0)
		o->sys = txn_write_all(o->fd, fm_buf_text(&o->buffer),
				       o->buffer.len);
	fm_buf_clear(&o->buffer);
}

void fm_out_write(struct fm_out *o, const void *p, size_t n)
{
	o->written += n;
	fm_buf_add(&o->buffer, p, n);
	if (o->buffer.len >= BUFFER)
		flush(o);
}

void fm_out_printf(struct fm_out *o, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(text))
		fm_out_write(o, text, (size_t)n);
	else if (o->sys == 0)
		o->sys = EOVERFLOW;
}

static ssize_t copy_in_kernel(struct fm_out *o, const struct fm_source *from,
			      uint64_t done)
{
	off_t at = (off_t)(from->start + done);
	ssize_t n;

	do {
		n = copy_file_range(from->fd, &at, o->fd, NULL,
				    (size_t)(from->size - done), 0);
	} while (n < 0 && errno == EINTR);
	return n;
}

// Small pieces go through the buffer: a system call each would cost more
// than the copying.
int fm_out_copy(struct fm_out *o, const struct fm_source *from,
		struct fm_err *err)
{
	uint64_t done = 0;

	if (from->fd >= 0 && from->size > BUFFER) {
		ssize_t n = 1;

		flush(o);
		while (o->sys == 0 && done < from->size && n > 0) {
			n = copy_in_kernel(o, from, done);
			if (n > 0)
				done += (uint64_t)n;
		}
		if (n < 0 && errno != EXDEV && errno != EINVAL &&
		    errno != EOPNOTSUPP && errno != ENOSYS)
			o->sys = errno;
		o->written += done;
	}
	while (o->sys == 0 && done < from->size) {
		size_t n = (size_t)fm_min_u64(from->size - done, BUFFER);

		fm_buf_reserve(&o->buffer, n);
		if (fm_source_read(from, done, o->buffer.data + o->buffer.len,
				   n, err) != 0)
			return err->code;
		o->buffer.len += n;
		o->written += n;
		done += n;
		if (o->buffer.len >= BUFFER)
			flush(o);
	}
	return 0;
}

// The kernel begins to write a large one now, so that the fsync of the first
// file of a stage finds the others on their way: one journal commit for all,
// not one for each. It is a hint; what cannot take it loses nothing.
int fm_out_finish(struct fm_out *o, struct fm_err *err)
{
	int sys;

	flush(o);
	if (o->sys == 0 && o->written >= LARGE)
		(void)sync_file_range(o->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	sys = o->sys;
	fm_out_abandon(o);
	if (sys != 0)
		return fm_err_sys(err, sys, "cannot write %s", o->name);
	return 0;
}

void fm_out_abandon(struct fm_out *o)
{
	fm_close_fd(&o->fd);
	fm_buf_release(&o->buffer);
}

int fm_stage_link(const struct fm_stage *stage, int dir, const char *from,
		  const char *to, struct fm_err *err)
{
	if (linkat(dir, from, stage->dir, to, 0) != 0)
		return fm_err_sys(err, errno, "cannot make a hard link of %s",
				  from);
	return 0;
}

int fm_stage_move(const struct fm_stage *stage, int dir, const char *from,
		  const char *to, struct fm_err *err)
{
	int sys = 0;

	if (txn_rename_new(dir, from, stage->dir, to, &sys) != 0)
		return fm_err_sys(err, sys, "cannot move %s", from);
	return 0;
}
