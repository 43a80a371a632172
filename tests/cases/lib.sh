# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a case's make.sh may use. REPO is where the repository is to be made.
#
#   base KIND     a healthy repository (tests/repos/make.sh has the kinds)
#   put FILE TEXT new contents below REPO/db, whatever the mode of the file
#   poke FILE OFFSET BYTES   overwrites bytes (printf escapes) in place
#   cut_end FILE N   takes N bytes off the end
#
: "${REPO:?}" "${CASES_CACHE:=}"

# shellcheck source=tests/repos/make.sh
. "${BASH_SOURCE[0]%/*}/../repos/make.sh"

# Made once for all cases that begin with it.
base() {
    if [ -z "$CASES_CACHE" ]; then
        repo_kind "$REPO" "$1"
        return
    fi
    # Several may begin at once: the first one done wins.
    [ -d "$CASES_CACHE/$1" ] || {
        repo_kind "$CASES_CACHE/$1.$$" "$1" || return
        mv -T "$CASES_CACHE/$1.$$" "$CASES_CACHE/$1" 2>/dev/null ||
            rm -rf "${CASES_CACHE:?}/$1.$$"
    }
    cp -a "$CASES_CACHE/$1" "$REPO"
}

put() {
    rm -f "$REPO/db/$1"
    printf '%b' "$2" >"$REPO/db/$1"
    chmod 444 "$REPO/db/$1"
}

poke() {
    chmod u+w "$REPO/db/$1" &&
        printf '%b' "$3" | dd of="$REPO/db/$1" bs=1 seek="$2" conv=notrunc \
            status=none &&
        chmod 444 "$REPO/db/$1"
}

cut_end() {
    chmod u+w "$REPO/db/$1" && truncate -s "-$2" "$REPO/db/$1" &&
        chmod 444 "$REPO/db/$1"
}

# Offsets in the trailer of a physical revision file.
trailer_root() {
    tail -n 1 "$REPO/db/$1" | cut -d ' ' -f 1
}
trailer_changes() {
    tail -n 1 "$REPO/db/$1" | cut -d ' ' -f 2
}
