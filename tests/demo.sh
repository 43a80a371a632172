#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh: an old repository, made by stock Subversion, is looked at, brought
# into a sharded layout, checked and committed to. Every command is printed
# before it runs; the demonstration ends at the first one that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${BUILD:=$PWD/build/normal}"
PATH=$BUILD:$PATH
export LC_ALL=C FSMEND_NO_POPT=1

# shellcheck source=tests/repos/make.sh
. tests/repos/make.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Sixty revisions: a file that is edited, and a branch from revision 20.
stream() {
    local i STREAM_PROPS
    printf 'SVN-fs-dump-format-version: 2\n\n'
    stream_rev 0 ''
    stream_rev 1 'layout'
    stream_node add dir trunk
    stream_node add dir branches
    stream_rev 2 'first version'
    stream_node add file trunk/main.c "version 2"$'\n'
    for ((i = 3; i <= 60; i++)); do
        stream_rev "$i" "edit $i"
        stream_node change file trunk/main.c "version $i"$'\n'
        [ "$i" -ne 21 ] || stream_node add dir branches/stable - 20 trunk
    done
}

say() {
    printf '\n== %s\n' "$*"
}

run() {
    printf '$ %s\n' "$*"
    "$@"
}

say "A repository as Subversion 1.4 made it: every revision in one directory."
svnadmin create --compatible-version 1.4 "$work/repo"
stream | svnadmin load -q "$work/repo"
cd "$work"
run cat repo/db/format
run sh -c 'ls repo/db/revs | wc -l'
before=$(svnadmin dump -q repo | sha256sum)

say "What is it?"
run fsdetect repo

say "What would be done? (Nothing is changed.)"
run fsconvert --dry-run repo

say "Convert it. Servers may go on reading and committing."
run fsconvert -v repo
run cat repo/db/format
run ls repo/db/revs

say "Is all well? Silence and status 0 mean yes."
run fsverify -q repo
run svnadmin verify -q repo
after=$(svnadmin dump -q repo | sha256sum)
[ "$before" = "$after" ]
echo "The dump is the same as before, byte by byte."

say "Take it back, byte by byte, and do it again."
run fsconvert --undo repo
run cat repo/db/format
run fsconvert -q repo

say "A commit and a revision property, as always."
run svn mkdir -q -m "after the conversion" "file://$work/repo/trunk/new"
run svnlook youngest repo
echo edited >log
run svnadmin setrevprop repo -r 61 svn:log log
run svnadmin verify -q repo

say "Once more: there is nothing to do."
run fsconvert repo

say "All of it worked."
