// SPDX-License-Identifier: GPL-2.0-or-later
// One error: code, message, and the context added on its way up.

#include "lib/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fm_err_set(struct fm_err *err, enum fm_error code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	err->sys = 0;
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int fm_err_sys(struct fm_err *err, int sys, const char *fmt, ...)
{
	va_list ap;

	err->code = FM_E_IO;
	err->sys = sys;
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return fm_err_append(err, ": %s", strerror(sys));
}

int fm_err_prefix(struct fm_err *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t len;

	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	(void)snprintf(err->msg + len, sizeof(err->msg) - len, "%s", old);
	return err->code;
}

int fm_err_append(struct fm_err *err, const char *fmt, ...)
{
	size_t len = strlen(err->msg);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->msg + len, sizeof(err->msg) - len, fmt, ap);
	va_end(ap);
	return err->code;
}
