#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One damaged target per folder FORMAT/NAME:
#
#   about           what is wrong, in a line
#   make.sh         makes it (REPO is where)
#   expect.verify   what fsverify finds: severity, id and place of each
#
# A new case is a new folder; CASE=NAME runs one.  EXPECT=write writes the
# expectations anew, to be read before they are committed.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load
load /usr/lib/bats/bats-file/load

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    # shellcheck source=tests/repos/make.sh
    . tests/repos/make.sh
    : "${BUILD:=build/normal}"
    export CASES_CACHE=$BATS_FILE_TMPDIR
}

# "fatal fsfs.rev.missing r3 (db/revs/3)", and what kept the rest unchecked.
findings() {
    # Offsets depend on the version of Subversion that wrote the files.
    sed -nE -e 's/, byte [0-9]+\)/)/' \
        -e 's/^[^:]*: (note|warn|error|fatal): ([^:]*): .*\[([a-z0-9.-]+)\]$/\1 \3 \2/p' \
        -e 's/^[^:]*: not checked: what lies below: /stopped: /p'
}

# one CASE: 0 when it is as expected; says what is not.
one() {
    local dir=$1 repo=$BATS_TEST_TMPDIR/repo status found want=0
    rm -rf "$repo"
    REPO=$repo bash "$dir/make.sh" >"$BATS_TEST_TMPDIR/log" 2>&1 || {
        echo "$dir: make.sh failed"
        cat "$BATS_TEST_TMPDIR/log"
        return 1
    }
    # What is fresh could belong to a commit.
    find "$repo" -exec touch -h -d 2020-01-01 {} +
    repo_times "$repo" >"$BATS_TEST_TMPDIR/before"
    "$BUILD/fsverify" -v "$repo" >"$BATS_TEST_TMPDIR/out" 2>&1
    status=$?
    found=$(findings <"$BATS_TEST_TMPDIR/out")
    [ "${EXPECT-}" != write ] || echo "$found" >"$dir/expect.verify"
    diff -u "$dir/expect.verify" - <<<"$found" || return 1
    ! grep -qE '^(error|fatal) ' <<<"$found" || want=4
    [ "$status" -eq "$want" ] || {
        echo "$dir: exit status $status, expected $want"
        cat "$BATS_TEST_TMPDIR/out"
        return 1
    }
    repo_times "$repo" | diff "$BATS_TEST_TMPDIR/before" - || {
        echo "$dir: verifying changed the target"
        return 1
    }
    # The second run says the same.
    "$BUILD/fsverify" -v "$repo" 2>&1 | diff "$BATS_TEST_TMPDIR/out" -
}

# all FORMAT SLICE: every second case or so, so that they run in parallel.
all() {
    local dir i=0 n=0 failed=0
    for dir in tests/cases/"$1"/${CASE-*}/; do
        i=$((i + 1))
        [ $((i % 4)) -eq "$2" ] || continue
        n=$((n + 1))
        assert_file_exist "${dir}about"
        one "${dir%/}" || failed=$((failed + 1))
    done
    echo "# $n cases, $failed failed"
    [ "$failed" -eq 0 ]
}

@test "fsfs: first quarter of the cases" { all fsfs 0; }
@test "fsfs: second quarter" { all fsfs 1; }
@test "fsfs: third quarter" { all fsfs 2; }
@test "fsfs: fourth quarter" { all fsfs 3; }
