#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# checks.sh: man/fsmend-checks.7 lists the checks of every formats/*/checks.def
# with the same ids, severities, repairs and sentences, in the same order; no
# id stands there twice, and each begins with the name of its folder.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
found=0

diff -u --label 'formats/*/checks.def' --label man/fsmend-checks.7 \
    <(man/generate.sh list) \
    <(sed -n '/^\.\\" begin generated/,/^\.\\" end generated/p' \
        man/fsmend-checks.7 | grep -v '^\.\\" \(begin\|end\) generated') || {
    echo 'run make gen'
    found=1
}
for definition in formats/*/checks.def; do
    folder=${definition#formats/}
    folder=${folder%/*}
    ids=$(grep -oE '"[a-z0-9]+(\.[a-z0-9-]+)+"' "$definition" | tr -d '"')
    for id in $(sort <<<"$ids" | uniq -d); do
        echo "$definition: $id stands there twice"
        found=1
    done
    while read -r id; do
        [[ $id == "$folder".*.* ]] || {
            echo "$definition: $id is not $folder.OBJECT.DEFECT"
            found=1
        }
    done <<<"$ids"
done
exit "$found"
