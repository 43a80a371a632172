# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The large repositories of the live test.  Source this file with $all set to a
# folder; `live_copy FORMAT DIR` makes one of $LIVE_REVISIONS revisions, and
# the first of each format is kept to copy from.  Each has the file /f, which
# reads "revision N" in revision N.

: "${LIVE_REVISIONS:=5000}"
LIVE_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/repos/make.sh
. "$LIVE_TOP/tests/repos/make.sh"

# Flat, of a format that svnadmin makes sharded only: the files are the same.
live_flat() {
    local d
    live_copy 2 "$2.old" && repo_create "$2" "$1" linear || return
    for d in revs revprops; do
        rm -rf "$2/db/$d" && mv "$2.old/db/$d" "$2/db/" || return
    done
    echo "$LIVE_REVISIONS" >"$2/db/current"
    rm -rf "$2.old"
}

live_make() {
    case $1 in
        2) "$LIVE_TOP/tests/bench/flat.sh" "$2" "$LIVE_REVISIONS" ;;
        4 | 6) live_flat "$1" "$2" ;;
        8u) live_copy 4 "$2" && svnadmin upgrade "$2" >/dev/null ;;
        8)
            live_copy 2 "$2.old" && repo_create "$2" 8 1000 &&
                svnadmin dump -q "$2.old" |
                svnadmin load -q --no-flush-to-disk "$2" && rm -rf "$2.old"
            ;;
    esac
}

live_copy() {
    local made=$all/made-$1
    if [ ! -d "$made" ]; then
        live_make "$1" "$made" || return
        svnadmin verify -q "$made" || return
        printf '#!/bin/sh\nexit 0\n' >"$made/hooks/pre-revprop-change"
        chmod +x "$made/hooks/pre-revprop-change"
    fi
    cp -a "$made" "$2"
}
