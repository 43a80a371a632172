# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What has to hold before and after a change of layout, asked of Subversion
# itself.  Source this file, then
#
#   convert_all REPO [quick]       every layout that REPO can have, both modes
#   convert_check REPO LAYOUT MODE one of them
#
# REPO is not touched, copies are made below $WORK.  The first thing that does
# not hold is told on stderr, and the status is 1.

CONVERT_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${BUILD:=$CONVERT_TOP/build/normal}"

# shellcheck source=tests/repos/make.sh
. "$CONVERT_TOP/tests/repos/make.sh"

wrong() {
    echo "WRONG $WHAT: $*" >&2
    return 1
}

# quietly COMMAND...: exit 0 and not a word, as -q promises.
quietly() {
    local rc=0
    "$@" >"$WORK/out" 2>&1 || rc=$?
    [ "$rc" -eq 0 ] ||
        wrong "${1##*/} exits $rc: $(head -3 "$WORK/out")" || return
    [ ! -s "$WORK/out" ] || wrong "${1##*/} -q prints: $(head -3 "$WORK/out")"
}

same() {
    cmp -s "$1" "$2" ||
        wrong "$3: $(diff "$1" "$2" | grep '^[<>]' | head -4 | tr '\n' ' ')"
}

is_packed() {
    local unpacked=$1/db/min-unpacked-rev
    [ -f "$unpacked" ] && [ "$(cat "$unpacked")" -gt 0 ]
}

is_logical() {
    grep -qx 'addressing logical' "$1/db/format"
}

layout_of() {
    local n
    n=$(repo_shard "$1")
    [ "$n" -gt 0 ] && echo "$n" || echo linear
}

# Revision files with their inodes: no conversion may copy one.
inodes() {
    local d
    for d in revs revprops; do
        find "$1/db/$d/" -type f -printf "$d %f %i\n"
    done | LC_ALL=C sort
}

side_data() {
    svnadmin lslocks "$1" | LC_ALL=C sort
    svnadmin lstxns "$1" | LC_ALL=C sort
}

# The tree without journals; the lock files may be made (Subversion makes them
# at first use), format 7 gets a new instance id on line 2 of uuid, and from
# format 3 on `current` may lose its second and third field.
settled_tree() {
    repo_tree "$1" | grep -v ' \./db/\(fsmend\|pack-lock\|write-lock\)' |
        grep -v '^[0-9a-f]\{64\}  \./db/\(uuid\|current\)$'
    head -1 "$1/db/uuid"
    if [ "$(head -1 "$1/db/format")" -ge 3 ]; then
        cut -d' ' -f1 "$1/db/current"
    else
        cat "$1/db/current"
    fi
}

trees() {
    repo_tree "$1/db/revs/"
    repo_tree "$1/db/revprops/"
}

# check_dry REPO ARGUMENT...: -n touches nothing.
check_dry() {
    local repo=$1
    shift
    repo_times "$repo" >"$WORK/times.1"
    "$BUILD/fsconvert" -n "$@" "$repo" >"$WORK/out" 2>&1 ||
        wrong "-n exits $?: $(head -3 "$WORK/out")" || return
    [ -s "$WORK/out" ] || wrong '-n prints no plan' || return
    repo_times "$repo" >"$WORK/times.2"
    same "$WORK/times.1" "$WORK/times.2" '-n changed something'
}

# check_again REPO ARGUMENT...: the second run changes nothing.
check_again() {
    local repo=$1
    shift
    repo_times "$repo" >"$WORK/times.1"
    quietly "$BUILD/fsconvert" -q "$@" "$repo" || return
    repo_times "$repo" >"$WORK/times.2"
    same "$WORK/times.1" "$WORK/times.2" 'the second run changed something'
}

check_format() {
    local repo=$1 layout=$2 before=$3 number
    [ "$(layout_of "$repo")" = "$layout" ] ||
        wrong "the layout is $(layout_of "$repo")" || return
    number=$(head -1 "$repo/db/format")
    [ "$layout" = linear ] || [ "$before" -ge 3 ] || before=3
    [ "$number" = "$before" ] || wrong "the format is $number, not $before"
}

check_reads() {
    svnadmin verify -q "$1" >"$WORK/out" 2>&1 ||
        wrong "svnadmin verify: $(head -3 "$WORK/out")" || return
    [ "$(repo_oracle "$1")" = "$(cat "$WORK/oracle")" ] ||
        wrong 'the dump differs' || return
    side_data "$1" >"$WORK/side.2"
    same "$WORK/side" "$WORK/side.2" 'locks or transactions' || return
    quietly "$BUILD/fsverify" -q "$1"
}

check_works() {
    rm -rf "$WORK/works"
    cp -a "$1" "$WORK/works"
    repo_works "$WORK/works" >"$WORK/out" 2>&1 ||
        wrong "it does not work: $(tail -3 "$WORK/out")" || return
    quietly "$BUILD/fsverify" -q "$WORK/works" || return
    rm -rf "$WORK/works"
}

# Back to the old layout: the same names, bytes and modes.
check_back() {
    local repo=$1 layout=$2 mode=$3
    quietly "$BUILD/fsconvert" -q --mode="$mode" --layout="$layout" "$repo" ||
        return
    trees "$repo" >"$WORK/trees.2"
    same "$WORK/trees" "$WORK/trees.2" 'there and back' || return
    check_reads "$repo"
}

# --undo of a finished conversion: everything, the format number too.
check_undo() {
    local repo=$1
    quietly "$BUILD/fsconvert" -q --undo "$repo" || return
    settled_tree "$repo" >"$WORK/tree.2"
    same "$WORK/tree" "$WORK/tree.2" '--undo' || return
    check_reads "$repo"
}

# convert_check REPO LAYOUT MODE
convert_check() {
    local source=$1 layout=$2 mode=$3 repo=$WORK/repo old format
    WHAT="${source##*/} to $layout, $mode mode"
    old=$(layout_of "$source")
    format=$(head -1 "$source/db/format")
    rm -rf "$repo"
    cp -a "$source" "$repo"
    repo_oracle "$source" >"$WORK/oracle"
    side_data "$source" >"$WORK/side"
    trees "$repo" >"$WORK/trees"
    settled_tree "$repo" >"$WORK/tree"
    inodes "$repo" >"$WORK/inodes"

    check_dry "$repo" --mode="$mode" --layout="$layout" &&
        quietly "$BUILD/fsconvert" -q --mode="$mode" --layout="$layout" \
            "$repo" || return
    inodes "$repo" >"$WORK/inodes.2"
    same "$WORK/inodes" "$WORK/inodes.2" 'inodes' &&
        check_format "$repo" "$layout" "$format" &&
        check_reads "$repo" &&
        check_again "$repo" --mode="$mode" --layout="$layout" &&
        check_works "$repo" || return
    rm -rf "$WORK/undo"
    cp -a "$repo" "$WORK/undo"
    check_undo "$WORK/undo" && check_back "$repo" "$old" "$mode" || return
    rm -rf "$repo" "$WORK/undo"
}

# refused REPO ARGUMENT...: exit 8, a reason, nothing changed.
refused() {
    local repo=$WORK/repo source=$1 rc=0
    shift
    WHAT="${source##*/} with $*"
    rm -rf "$repo"
    cp -a "$source" "$repo"
    repo_times "$repo" >"$WORK/times.1"
    "$BUILD/fsconvert" "$@" "$repo" >"$WORK/out" 2>"$WORK/err" || rc=$?
    [ "$rc" -eq 8 ] || wrong "exits $rc, not 8: $(head -3 "$WORK/err")" || return
    grep -q "^fsconvert: .*: ." "$WORK/err" || wrong 'no reason given' || return
    repo_times "$repo" >"$WORK/times.2"
    same "$WORK/times.1" "$WORK/times.2" 'refused, yet changed' || return
    rm -rf "$repo"
}

# convert_all REPO [quick]: quick takes each layout in one of the modes.
convert_all() {
    local repo=$1 layout mode layouts modes=(link rename) i=0
    if is_packed "$repo"; then
        refused "$repo" --layout=7 # servers may be running
        return
    fi
    case $(layout_of "$repo") in
        linear) layouts=(4 1000) ;;
        4) layouts=(linear 6) ;;
        *) layouts=(linear 4) ;;
    esac
    for layout in "${layouts[@]}"; do
        if [ "$layout" = linear ] && is_logical "$repo"; then
            refused "$repo" --layout=linear || return
            continue
        fi
        if [ "${2-}" = quick ]; then
            modes=(link)
            ((i++ % 2)) && modes=(rename)
        fi
        for mode in "${modes[@]}"; do
            convert_check "$repo" "$layout" "$mode" || return
        done
    done
}
