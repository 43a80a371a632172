#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# options.sh: what a command's tables say about its options (--dump-options)
# is what its man page and its completions say, and each option is met in a
# test.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
: "${BUILD:=build/normal}"
found=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

report() {
    found=1
    echo "$*"
}

# The OPTIONS section: each `.It Fl` line and the line behind it.
of_page() {
    awk '/^\.Sh / { on = /^\.Sh OPTIONS/ }
         on && /^\.It Fl/ { print; getline; print }' "man/$1.1"
}

# The same two lines, made from the table.
of_table() {
    local long short argument text
    while IFS=$'\t' read -r long short argument text; do
        printf '.It '
        [ "$short" = - ] || printf 'Fl %s , ' "$short"
        printf 'Fl Fl %s' "$long"
        [ "$argument" = - ] || printf ' Ns = Ns Ar %s' "$argument"
        printf '\n%s.\n' "${text^}"
    done < <("$BUILD/$1" --dump-options)
}

for program in "$BUILD"/fs* "$BUILD"/reindex; do
    [ -x "$program" ] || continue
    command=${program##*/}
    if [ ! -e "man/$command.1" ]; then
        report "man/$command.1 is not there"
        continue
    fi
    diff -u --label "options of $command" --label "man/$command.1" \
        <(of_table "$command" | paste - - | sort) \
        <(of_page "$command" | paste - - | sort) || found=1

    completions/generate.sh "$program" "$work"
    for file in "bash/$command" "zsh/_$command" "fish/$command.fish"; do
        cmp -s "$work/$file" "completions/$file" ||
            report "completions/$file is old: run make gen"
    done

    while IFS=$'\t' read -r long _; do
        grep -qE -- "--$long\b" tests/cli/*.bats ||
            report "no test in tests/cli mentions --$long ($command)"
    done < <("$program" --dump-options)
done
exit "$found"
