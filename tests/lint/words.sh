#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# words.sh: nothing unfinished is kept in the tree, whatever it is called, and
# every source says under which licence it is.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
found=0

# Spelt so that this file does not find itself.
words='TO''DO|FIX''ME|X''XX[^X]|HA''CK|place''holder|not yet impl''emented|not impl''emented|un''implemented|lorem ip''sum'
if grep -rnIE "(^|[^A-Za-z_])($words)" --include='*' \
    cmd lib formats tests completions man .ci Makefile README.md |
    grep -vE 'mktemp|\.XXX|^tests/fuzz/corpus/'; then
    found=1
fi
while read -r file; do
    head -3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || {
        echo "$file: no SPDX line"
        found=1
    }
done < <(find cmd lib formats tests completions man .ci Makefile -type f |
    grep -E '\.(c|h|def|sh|bash|bats|[1-9])$|Makefile$|^\.ci/')
exit "$found"
