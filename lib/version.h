/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one place that names the version (semantic: see README, Release). */
#ifndef FM_LIB_VERSION_H
#define FM_LIB_VERSION_H

#define FM_VERSION "0.1.0"

/* "schema" of every JSON object that a command prints. */
#define FM_JSON_SCHEMA "fsmend/1"

#endif
