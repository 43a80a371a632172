#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What a resharding script leaves when it is stopped, at each of its stages, is
# finished, under a kill too, and can be taken back.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load

setup_file() {
    : "${BUILD:=$PWD/build/normal}"
    export BUILD
    # shellcheck source=tests/repos/make.sh
    . "$BATS_TEST_DIRNAME/../repos/make.sh"
    repo_kind "$BATS_FILE_TMPDIR/flat" f2-linear
    repo_oracle "$BATS_FILE_TMPDIR/flat" >"$BATS_FILE_TMPDIR/oracle"
}

setup() {
    # shellcheck source=tests/repos/make.sh
    . "$BATS_TEST_DIRNAME/../repos/make.sh"
    # shellcheck source=tests/crash/lib.sh
    . "$BATS_TEST_DIRNAME/../crash/lib.sh"
    # Its fail() is another.
    load /usr/lib/bats/bats-support/load
    bats_require_minimum_version 1.5.0
    cd "$BATS_TEST_TMPDIR" || exit
    PATH=$BUILD:$PATH
    cp -a "$BATS_FILE_TMPDIR/flat" x
    rm x/db/format
}

# script TREE LIMIT [renamed]: as the script moves the numbers below LIMIT to
# directories of 4, and renames those when it has moved all.
script() {
    local top=x/db/$1 n dir
    for ((n = 0; n < $2; n++)); do
        mkdir -p "$top/$((n / 4)).shard"
        mv "$top/$n" "$top/$((n / 4)).shard/"
    done
    [ "${3-}" = renamed ] || return 0
    for dir in "$top"/*.shard; do mv "$dir" "${dir%.shard}"; done
}

whole() {
    local repo=$1
    run cat "$repo/db/format"
    assert_output $'3\nlayout sharded 4'
    run svnadmin verify -q "$repo"
    assert_success
    assert_equal "$(repo_oracle "$repo")" "$(cat "$BATS_FILE_TMPDIR/oracle")"
    run find "$repo" -name '*.shard' -o -name '.fsmend-*'
    assert_output ''
    run fsverify -q "$repo"
    assert_success
}

# Finished, back to format 2, finished again, and in use.
both_ways() {
    run fsverify x
    assert_failure 4
    run fsdetect x
    assert_failure 4
    assert_output --partial 'fsconvert x finishes what a resharding script'
    run fsconvert "$@" x
    assert_success
    whole x
    run fsconvert -q --undo x
    assert_success
    run svnadmin verify -q x
    assert_success
    run cat x/db/format
    assert_output 2
    assert_equal "$(find x/db/revs -maxdepth 1 -type f | wc -l)" 25
    fsconvert -q --layout=4 x
    run repo_works x
    assert_success
}

@test "some revisions in shards" { script revs 14; both_ways; }
@test "all revisions in shards, not renamed" { script revs 25; both_ways; }
@test "revisions sharded, properties not" { script revs 25 renamed; both_ways; }
@test "properties half-way" {
    script revs 25 renamed
    script revprops 9
    both_ways
}
@test "all sharded, db/format missing" {
    script revs 25 renamed
    script revprops 25 renamed
    both_ways
}
@test "all sharded, db/format empty" {
    script revs 25 renamed
    script revprops 25 renamed
    : >x/db/format
    both_ways --layout=4
}
@test "shards renamed in part" {
    script revs 25
    mv x/db/revs/0.shard x/db/revs/0
    mv x/db/revs/3.shard x/db/revs/3
    both_ways
}

@test "one shard, of which the size is not known" {
    script revs 3
    run fsconvert --layout=2 x
    assert_failure 8
    assert_output --partial 'from 3 to'
    fsconvert -q --layout=4 x
    whole x
}

@test "another size, a missing and a double revision are refused, untouched" {
    script revs 14
    repo_tree x >before
    run fsconvert --layout=5 x
    assert_failure 8
    assert_output --partial '--layout=4 comes first'
    cp -p x/db/revs/20 saved
    rm x/db/revs/20
    run fsconvert x
    assert_failure 8
    assert_output --partial 'revs/20 is missing'
    cp -p saved x/db/revs/20
    cp -p x/db/revs/3.shard/12 x/db/revs/12
    run fsconvert x
    assert_failure 8
    assert_output --partial '12 lies in two places'
    rm x/db/revs/12
    mv x/db/revs/3.shard/13 x/db/revs/2.shard/13
    run fsconvert x
    assert_failure 8
    mv x/db/revs/2.shard/13 x/db/revs/3.shard/13
    repo_tree x >after
    run diff before after
    assert_success
}

# STEP=1 asks at every call.
@test "killed on the way, it is finished or taken back" {
    local n calls rc
    script revs 25 renamed
    script revprops 9
    CRASH_DIR=$PWD
    crash_shim
    POINT_DIR=$PWD
    cp -a x count
    under "$PWD/count" FSMEND_CRASH_LOG="$PWD/log" -- "$BUILD/fsconvert" count
    calls=$(wc -l <log)
    [ "$calls" -gt 100 ]
    for ((n = 1; n <= calls; n += ${STEP:-9})); do
        rm -rf y z
        cp -a x y
        rc=0
        under "$PWD/y" FSMEND_CRASH_AT="$n" -- "$BUILD/fsconvert" y || rc=$?
        assert_equal "$rc" 137
        cp -a y z
        run fsconvert -q z
        assert_success
        whole z
        [ -e y/db/fsmend/journal ] || continue
        run fsconvert -q --undo y
        assert_success
        # A tree is flat then, or as the script left it.
        run find y -name '.fsmend-*'
        assert_output ''
        assert_equal "$(cat y/db/format 2>/dev/null || echo 2)" 2
        assert_equal "$(find y/db/revs y/db/revprops -type f | wc -l)" 50
        run fsconvert -q --layout=4 y
        assert_success
        whole y
    done
}
