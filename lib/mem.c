// SPDX-License-Identifier: GPL-2.0-or-later
// Checked allocation. The one place of lib that may end the program.

#include "lib/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void fm_out_of_memory(void)
{
	static const char message[] = "fsmend: out of memory\n";

	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	_exit(8);
}

static void *checked(void *p)
{
	if (!p)
		fm_out_of_memory();
	return p;
}

void *fm_alloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

void *fm_alloc_array(size_t count, size_t size)
{
	return checked(calloc(count ? count : 1, size ? size : 1));
}

void *fm_realloc_array(void *p, size_t count, size_t size)
{
	return checked(reallocarray(p, count ? count : 1, size ? size : 1));
}

char *fm_strdup(const char *s)
{
	return checked(strdup(s));
}

void fm_free(void *p)
{
	free(p);
}
