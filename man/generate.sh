#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# generate.sh [list]: brings the list of checks in fsmend-checks.7 up to date
# from formats/*/checks.def; `list` prints it only. The text around the list
# is written by hand.
set -euo pipefail
shopt -s extglob
cd "$(dirname "$0")/.."

# The preprocessor reads the definitions: one row a line, fields between "@".
rows() {
    {
        printf '#define FM_CHECK(symbol, id, severity, repair, text) %s\n' \
            'FM_ROW id @ severity @ repair @ text'
        echo "#include \"$1\""
    } | "${CC:-cc}" -E -P -I. -x c - | tr '\n' ' ' |
        sed 's/FM_ROW */\n/g' | sed 's/" *"//g; s/"//g; s/ *@ */@/g; s/ *$//' |
        grep @ || :
}

list() {
    local definition folder id severity repair sentence
    for definition in formats/*/checks.def; do
        folder=${definition#formats/}
        echo ".Ss ${folder%/*}"
        echo '.Bl -tag -width Ds'
        while IFS=@ read -r id severity repair sentence; do
            severity=${severity#FM_}
            repair=${repair#FM_REPAIR_}
            echo ".It Sy $id Pq ${severity,,} , repair: ${repair,,}"
            # A path stays as it is written.
            [[ $sentence != [a-z]*([a-z])' '* ]] || sentence=${sentence^}
            echo "$sentence."
        done < <(rows "$definition")
        echo '.El'
    done
}

if [ "${1-}" = list ]; then
    list
    exit
fi
page=man/fsmend-checks.7
{
    sed '/^\.\\" begin generated/q' "$page"
    list
    sed -n '/^\.\\" end generated/,$p' "$page"
} >"$page.new"
mv "$page.new" "$page"
