#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# flat.sh DIR N [sparse|BYTES]: a linear format 2 repository of N revisions, as
# old servers have them, made in seconds.  Needs svnadmin for the empty repository
# and a C compiler for the rest (see flat.c).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

[ $# -ge 2 ] || { echo "usage: flat.sh DIR N [sparse|BYTES]" >&2; exit 16; }
bench_tool flat
rm -rf "$1"
svnadmin create --compatible-version 1.4 "$1"
"$BENCH_DIR/flat" "$@"
