# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of this folder share. They run as root, in a mount namespace
# of their own: tests/fs/run.sh sees to both. FS_KIND is the file system, and
# $WORK lies on it: FS_DIR, or a mount that the test makes itself (small).

bats_require_minimum_version 1.5.0
load "${BATS_LIB_DIR:-/usr/lib/bats}/bats-support/load"
load "${BATS_LIB_DIR:-/usr/lib/bats}/bats-assert/load"

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
: "${BUILD:=$TOP/build/normal}"
export LC_ALL=C.UTF-8 FSMEND_NO_POPT=1 FS_ALONE
PATH=$BUILD:$PATH

# shellcheck source=tests/fs/mount.sh
. "$TOP/tests/fs/mount.sh"
# shellcheck source=tests/interop/convert.sh
. "$TOP/tests/interop/convert.sh"

# place NAME: a directory for this test alone on the file system of this run.
place() {
    [ -n "${FS_DIR:-}" ] || skip 'tests/fs/run.sh runs this'
    # shellcheck disable=SC2034 # read by convert.sh
    WORK=$FS_DIR/$1.$BATS_TEST_NUMBER
    rm -rf "$WORK"
    mkdir "$WORK"
    cd "$WORK" || return
}

# small SIZE [MOUNT-OPTIONS [MKFS-OPTION...]]: a file system for this test.
small() {
    local size=$1 options=${2-}
    [ -n "${FS_DIR:-}" ] || skip 'tests/fs/run.sh runs this'
    shift $(($# < 2 ? $# : 2))
    WORK=$BATS_TEST_TMPDIR/small
    fs_make "$FS_KIND" "$BATS_TEST_TMPDIR/image" "$size" "$@" ||
        skip "$FS_WHY"
    fs_mount "$FS_KIND" "$BATS_TEST_TMPDIR/image" "$WORK" "$options" ||
        skip "$FS_WHY"
    SMALL=$WORK
    cd "$WORK" || return
}

no_small() {
    cd / || return
    [ -z "${SMALL:-}" ] || fs_unmount "$SMALL"
}

# untouched TREE REPO: as it was, and nothing of ours lies about.
untouched() {
    settled_tree "$2" | diff "$1" - || return
    run find "$2" -name '.fsmend*' -o -name fsmend
    assert_success
    refute_output
    run svnadmin verify -q "$2"
    assert_success
}
