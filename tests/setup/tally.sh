#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tally.sh [TEST...]: runs tests and counts them. The last line printed is
# `N passed, N failed, N skipped`; the exit status is 1 when one failed.
#
#   (none)         all: unit programs, replayed fuzz inputs, bats files
#   unit/NAME      one unit program         fuzz/NAME   one fuzz target
#   cli/NAME       tests/cli/NAME.bats      interop     all of a folder
#   fsfs/NAME      one case in tests/cases
#
# BUILD=DIR is where the programs lie, JOBS=N how many bats tests run at once.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
: "${BUILD:=build/normal}" "${JOBS:=2}"
# The crash tests load a library in front of the sanitizer's.
: "${ASAN_OPTIONS:=verify_asan_link_order=0}"
export BUILD FSMEND_NO_POPT=1 ASAN_OPTIONS
folders=(cli interop crash cases)
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# count COMMAND...: its output, in TAP, is shown and added up. A program that
# dies without a `not ok` line, or says nothing at all, has failed as well.
count() {
    local ok bad skip rc
    "$@" 2>&1 </dev/null | tee "$log"
    rc=${PIPESTATUS[0]}
    skip=$(grep -ciE '^ok .*# *skip' "$log")
    ok=$(($(grep -c '^ok ' "$log") - skip))
    bad=$(grep -c '^not ok ' "$log")
    if [ "$bad" -eq 0 ] && { [ "$rc" -ne 0 ] || [ $((ok + skip)) -eq 0 ]; }; then
        echo "not ok - $* ended with status $rc"
        bad=1
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
    skipped=$((skipped + skip))
}

unit() {
    echo "# unit/${1##*/test_}"
    CMOCKA_MESSAGE_OUTPUT=TAP count "$1"
}

replay() {
    echo "# fuzz/${1##*/}"
    count "$1" "tests/fuzz/corpus/${1##*/}"
}

run_bats() {
    local n=("$@")
    # Without GNU parallel one after the other.
    command -v parallel >/dev/null || JOBS=1
    echo "# ${n[*]}"
    count bats --tap --jobs "$JOBS" "$@"
}

all() {
    local program folder files=()
    for program in "$BUILD"/unit/test_*; do
        [ ! -x "$program" ] || unit "$program"
    done
    for program in "$BUILD"/replay/*; do
        [ ! -x "$program" ] || replay "$program"
    done
    for folder in "${folders[@]}"; do
        [ -z "$(compgen -G "tests/$folder/*.bats")" ] || files+=("tests/$folder")
    done
    [ ${#files[@]} -eq 0 ] || run_bats "${files[@]}"
}

one() {
    case $1 in
        unit/*) unit "$BUILD/unit/test_${1#unit/}" ;;
        fuzz/*) replay "$BUILD/replay/${1#fuzz/}" ;;
        *)
            if [ -f "tests/$1.bats" ]; then
                run_bats "tests/$1.bats"
            elif [ -d "tests/cases/$1" ]; then
                CASE=${1##*/} run_bats tests/cases/run.bats
            elif [ -d "tests/$1" ]; then
                run_bats "tests/$1"
            else
                echo "tally.sh: there is no test $1" >&2
                exit 16
            fi
            ;;
    esac
}

[ $# -gt 0 ] || all
for test; do
    one "$test"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
