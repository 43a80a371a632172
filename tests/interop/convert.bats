#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A change of layout of every kind of repository, judged by Subversion.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load
load /usr/lib/bats/bats-file/load

setup() {
    # shellcheck source=tests/interop/convert.sh
    . "$BATS_TEST_DIRNAME/convert.sh"
    WORK=$BATS_TEST_TMPDIR
}

# One kind in all its layouts; INTEROP=full takes both modes for each.
kind() {
    repo_kind "$WORK/$1" "$1"
    run convert_all "$WORK/$1" "${INTEROP:-quick}"
    assert_success
    refute_output
}

@test "format 1" { kind f1-linear; }
@test "format 2" { kind f2-linear; }
@test "format 3, linear" { kind f3-linear; }
@test "format 4, linear" { kind f4-linear; }
@test "format 6, linear" { kind f6-linear; }
@test "format 7, linear" { kind f7-linear; }
@test "format 8, linear" { kind f8-linear; }
@test "format 3, sharded" { kind f3-4; }
@test "format 4, sharded" { kind f4-4; }
@test "format 6, sharded" { kind f6-4; }
@test "format 7, logical" { kind f7-4; }
@test "format 8, logical" { kind f8-4; }
@test "format 7, sharded, physical" { kind f7-4-physical; }
@test "format 8, sharded, physical" { kind f8-4-physical; }
@test "format 1, upgraded" { kind f1-linear-upgraded; }
@test "format 2, upgraded and committed to" { kind f2-linear-mixed; }
@test "format 2, upgraded, with node-origins" { kind f2-linear-origins; }
@test "format 4, upgraded" { kind f4-4-upgraded; }
@test "format 1 with locks" { kind f1-linear-locks; }
@test "format 2 with locks" { kind f2-linear-locks; }
@test "format 3 with locks" { kind f3-linear-locks; }
@test "format 4 with locks" { kind f4-4-locks; }
@test "format 8 with locks" { kind f8-4-locks; }
@test "format 1 with open transactions" { kind f1-linear-txns; }
@test "format 2 with open transactions" { kind f2-linear-txns; }
@test "format 3 with open transactions" { kind f3-linear-txns; }
@test "format 4 with open transactions" { kind f4-4-txns; }
@test "format 8 with open transactions" { kind f8-4-txns; }
@test "hooks and configuration" { kind f4-linear-hooks; }

@test "packed repositories are refused while servers may run" {
    local packed
    for packed in $(repo_kinds packed); do
        kind "$packed"
    done
}

@test "few revisions: at the borders of shards" {
    local revs
    for revs in 0 1 3 4 5; do
        REPO_REVS=$revs repo_make "$WORK/r$revs" 2 linear
        WHAT=$revs convert_check "$WORK/r$revs" 4 link
        REPO_REVS=$revs repo_make "$WORK/s$revs" 6 4
        WHAT=$revs convert_check "$WORK/s$revs" linear rename
        rm -rf "$WORK/r$revs" "$WORK/s$revs"
    done
}

@test "one revision per shard" {
    repo_make "$WORK/r" 4 linear
    convert_check "$WORK/r" 1 link
}

@test "without options linear becomes 1000, sharded stays" {
    repo_make "$WORK/r" 2 linear
    run "$BUILD/fsconvert" -q "$WORK/r"
    assert_success
    refute_output
    assert_equal "$(cat "$WORK/r/db/format")" $'3\nlayout sharded 1000'
    repo_make "$WORK/s" 6 4
    repo_times "$WORK/s" >"$WORK/before"
    run "$BUILD/fsconvert" "$WORK/s"
    assert_success
    repo_times "$WORK/s" | diff "$WORK/before" -
}

@test "REPO/db means REPO" {
    repo_make "$WORK/r" 2 linear
    run "$BUILD/fsconvert" -q --layout=4 "$WORK/r/db"
    assert_success
    svnadmin verify -q "$WORK/r"
    assert_equal "$(repo_shard "$WORK/r")" 4
}

@test "a converted copy leaves the source alone" {
    local kind oracle
    for kind in f2-linear-locks f4-4 f8-4-txns; do
        repo_kind "$WORK/$kind" "$kind"
        oracle=$(repo_oracle "$WORK/$kind")
        repo_times "$WORK/$kind" >"$WORK/before"
        run "$BUILD/fsconvert" -q --layout=5 "$WORK/$kind" "$WORK/$kind.new"
        assert_success
        refute_output
        repo_times "$WORK/$kind" | diff "$WORK/before" -
        assert_equal "$(repo_oracle "$WORK/$kind.new")" "$oracle"
        assert_equal "$(repo_shard "$WORK/$kind.new")" 5
        repo_works "$WORK/$kind.new"
        repo_times "$WORK/$kind" | diff "$WORK/before" -
    done
}

@test "a raised format 2 goes back while nothing was committed" {
    repo_make "$WORK/r" 2 linear
    "$BUILD/fsconvert" -q --layout=4 "$WORK/r"
    cp -a "$WORK/r" "$WORK/committed"
    run "$BUILD/fsconvert" -q --undo "$WORK/r"
    assert_success
    assert_equal "$(cat "$WORK/r/db/format")" 2
    repo_works "$WORK/r"

    svn mkdir -q -m new "file://$WORK/committed/new"
    repo_times "$WORK/committed" >"$WORK/before"
    run "$BUILD/fsconvert" --undo "$WORK/committed"
    assert_failure 8
    assert_output --partial format
    repo_times "$WORK/committed" | diff "$WORK/before" -
}
