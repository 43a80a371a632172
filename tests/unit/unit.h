/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every unit test includes last: cmocka, in the order it asks for. */
#ifndef FM_TESTS_UNIT_UNIT_H
#define FM_TESTS_UNIT_UNIT_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#endif
