// SPDX-License-Identifier: GPL-2.0-or-later
// --dump-options: the tables as text. Completions are made from it, man pages
// and tests are compared with it, so none of them can fall behind.

#include "cmd/options.h"

#include <stdio.h>

static bool is_end(const struct poptOption *o)
{
	return !o->longName && !o->shortName && !o->arg;
}

void cli_dump_options(const struct poptOption *table)
{
	for (const struct poptOption *o = table; !is_end(o); o++) {
		unsigned kind = o->argInfo & POPT_ARG_MASK;
		char name[2] = {o->shortName ? o->shortName : '-', '\0'};

		if (kind == POPT_ARG_INCLUDE_TABLE) {
			cli_dump_options(o->arg);
			continue;
		}
		if (o->argInfo & POPT_ARGFLAG_DOC_HIDDEN)
			continue;
		(void)printf("%s\t%s\t%s\t%s\n", o->longName, name,
			     o->argDescrip ? o->argDescrip : "-", o->descrip);
	}
}
