// SPDX-License-Identifier: GPL-2.0-or-later
// Collecting what fsdetect prints.

#include "formats/format.h"

#include <stdarg.h>
#include <stdio.h>

static struct fm_fact *append(struct fm_facts *f, const char *key,
			      const char *label, enum fm_fact_type type)
{
	struct fm_fact *fact = fm_arena_alloc(f->out, sizeof(*fact));

	fact->key = key;
	fact->label = label;
	fact->type = type;
	if (f->last)
		f->last->next = fact;
	else
		f->first = fact;
	f->last = fact;
	return fact;
}

void fm_facts_text(struct fm_facts *f, const char *key, const char *label,
		   const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	append(f, key, label, FM_FACT_TEXT)->text =
		fm_arena_strdup(f->out, text);
}

void fm_facts_number(struct fm_facts *f, const char *key, const char *label,
		     uint64_t n)
{
	append(f, key, label, FM_FACT_NUMBER)->number = n;
}

void fm_facts_flag(struct fm_facts *f, const char *key, const char *label,
		   bool flag)
{
	append(f, key, label, FM_FACT_FLAG)->flag = flag;
}

void fm_facts_list(struct fm_facts *f, const char *key, const char *label,
		   const char *const *items, size_t n)
{
	struct fm_fact *fact = append(f, key, label, FM_FACT_LIST);

	fact->items = fm_arena_array(f->out, n, sizeof(*fact->items));
	for (size_t i = 0; i < n; i++)
		fact->items[i] = fm_arena_strdup(f->out, items[i]);
	fact->n_items = n;
}
