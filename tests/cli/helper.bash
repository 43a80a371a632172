# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of the commands share. A test file begins with
#
#   load helper
#
# and finds the commands under test in PATH, bats' assertions loaded, itself
# in a directory of its own, and the makers of repositories (tests/repos).

bats_require_minimum_version 1.5.0
load "${BATS_LIB_DIR:-/usr/lib/bats}/bats-support/load"
load "${BATS_LIB_DIR:-/usr/lib/bats}/bats-assert/load"
load "${BATS_LIB_DIR:-/usr/lib/bats}/bats-file/load"

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
: "${BUILD:=$TOP/build/normal}"
export LC_ALL=C FSMEND_NO_POPT=1
PATH=$BUILD:$PATH

# shellcheck source=tests/repos/make.sh
. "$TOP/tests/repos/make.sh"

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# repo NAME FORMAT LAYOUT: a small repository; made once in a test file.
repo() {
    local made=$BATS_FILE_TMPDIR/$2-${3//\//-}
    (
        flock 9
        [ -e "$made" ] || REPO_REVS=${REPO_REVS:-8} repo_make "$made" "$2" "$3"
    ) 9>"$made.lock"
    cp -a -- "$made" "$1"
}

# What looks for leaks does not work under strace.
strace() {
    ASAN_OPTIONS=detect_leaks=0 command strace "$@"
}

# same_tree DIR COMMAND...: it must not change anything, times included. Ends
# with the status of the command.
same_tree() {
    local before dir=$1 rc=0
    shift
    before=$(repo_times "$dir")
    "$@" || rc=$?
    assert_equal "$(repo_times "$dir")" "$before" || return
    return "$rc"
}

# json FILTER: applied to the objects in $output.
json() {
    # shellcheck disable=SC2154 # run sets it
    jq -r "$1" <<<"$output"
}
