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
# directories of 4 beside the tree, and those into it when it has moved all.
script() {
    local top=x/db/$1 tmp=x/db/$1.reshard n dir
    mkdir -p "$tmp"
    for ((n = 0; n < $2; n++)); do
        mkdir -p "$tmp/$((n / 4)).shard"
        mv "$top/$n" "$tmp/$((n / 4)).shard/"
    done
    [ "${3-}" = renamed ] || return 0
    for dir in "$tmp"/*.shard; do
        n=${dir##*/}
        mv "$dir" "$top/${n%.shard}"
    done
    rmdir "$tmp"
}

# back TREE SHARDS FILES: from shards; so many are renamed, and when all are, so
# many files of the first moved up.
back() {
    local top=x/db/$1 k n
    for ((k = 0; k < $2; k++)); do mv "$top/$k" "$top/$k.shard"; done
    for ((n = 0; n < $3; n++)); do mv "$top/0.shard/$n" "$top/"; done
}

whole() {
    local repo=$1
    run cat "$repo/db/format"
    assert_output $'3\nlayout sharded 4'
    run svnadmin verify -q "$repo"
    assert_success
    assert_equal "$(repo_oracle "$repo")" "$(cat "$BATS_FILE_TMPDIR/oracle")"
    run find "$repo" -name '*.shard' -o -name '*.reshard' -o -name '.fsmend-*'
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
    mv x/db/revs.reshard/0.shard x/db/revs/0
    mv x/db/revs.reshard/3.shard x/db/revs/3
    both_ways
}
@test "an empty directory beside the properties" {
    script revs 25 renamed
    mkdir x/db/revprops.reshard
    both_ways
}
@test "shards in the tree itself" {
    script revs 14
    mv x/db/revs.reshard/*.shard x/db/revs
    rmdir x/db/revs.reshard
    both_ways
}

@test "stopped on the way back from shards" {
    local stage
    for stage in '3 0' '7 0' '7 2' '7 4'; do
        rm -rf x
        cp -a "$BATS_FILE_TMPDIR/flat" x
        fsconvert -q --layout=4 x
        fsconvert -q --forget x
        rm x/db/format
        # shellcheck disable=SC2086 # two words
        back revs $stage
        fsconvert -q x
        whole x
        run repo_works x
        assert_success
    done
}

@test "another layout comes after it, and both are undone" {
    local wanted
    for wanted in linear 5 sharded; do
        rm -rf x
        cp -a "$BATS_FILE_TMPDIR/flat" x
        rm x/db/format
        script revs 14
        fsconvert -q --layout=$wanted x
        run svnadmin verify -q x
        assert_success
        assert_equal "$(repo_oracle x)" "$(cat "$BATS_FILE_TMPDIR/oracle")"
        case $wanted in
            linear) assert_equal "$(repo_shard x)" 0 ;;
            sharded) assert_equal "$(repo_shard x)" 1000 ;;
            *) assert_equal "$(repo_shard x)" "$wanted" ;;
        esac
        fsconvert -q --undo x
        run cat x/db/format
        assert_output 2
        run svnadmin verify -q x
        assert_success
    done
}

@test "one shard, of which the size is not known" {
    script revs 3
    cp -a x y
    fsconvert -q --layout=4 x
    whole x
    fsconvert -q --layout=2 y
    assert_equal "$(repo_shard y)" 2
    run svnadmin verify -q y
    assert_success
}

@test "what is missing, double, misplaced or strange is refused, untouched" {
    local at=x/db/revs.reshard
    script revs 14
    repo_tree x >before
    refused() {
        run fsconvert x
        assert_failure 8
        assert_output --partial "$1"
    }
    mv x/db/revs/20 saved
    refused 'revs/20 is missing'
    mv saved x/db/revs/20
    cp -p "$at/3.shard/12" x/db/revs/12
    refused 'revs.reshard/3.shard/12 lies in two places'
    rm x/db/revs/12
    mv "$at/3.shard/13" "$at/2.shard/13"
    refused 'no shard size explains'
    mv "$at/2.shard/13" "$at/3.shard/13"
    : >"$at/notes"
    refused 'revs.reshard/notes is part of no layout'
    rm "$at/notes"
    ln -s 3.shard "$at/4.shard"
    refused 'revs.reshard/4.shard is part of no layout'
    rm "$at/4.shard"
    run fsconvert x "$PWD/copy"
    assert_failure 8
    repo_tree x >after
    run diff before after
    assert_success
}

# STEP=1 asks at every call.
@test "killed on the way, it is finished or taken back" {
    local n calls rc
    script revs 25
    mv x/db/revs.reshard/0.shard x/db/revs/0
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
        assert_equal "$(find y/db/rev* -type f | wc -l)" 50
        run fsconvert -q --layout=4 y
        assert_success
        whole y
    done
}

# Memory would follow it.
@test "a bound far above what lies there is refused, when resumed, too" {
    script revs 14
    cp x/db/current saved
    echo '99999999999 1 1' >x/db/current
    repo_tree x >before
    run fsconvert x
    assert_failure 8
    assert_output --partial 'current says 99999999999, but revs has only 25'
    repo_tree x >after
    run diff before after
    assert_success
    cp saved x/db/current
    CRASH_DIR=$PWD
    crash_shim
    POINT_DIR=$PWD
    local n mode
    for mode in link rename; do
        for n in 20 60 90; do
            rm -rf y
            cp -a "$BATS_FILE_TMPDIR/flat" y
            under "$PWD/y" FSMEND_CRASH_AT=$n -- "$BUILD/fsconvert" \
                --mode=$mode --layout=4 y || [ $? -eq 137 ]
            cp y/db/current saved
            echo '99999999999 1 1' >y/db/current
            sed -i 's/^phase switch .*/phase switch 99999999999/' \
                y/db/fsmend/journal
            run timeout 10 fsconvert --resume y
            assert_failure 8
            assert_output --partial 99999999999
            run timeout 10 fsconvert --undo y
            [ "$status" -eq 8 ] || [ "$status" -eq 0 ]
        done
    done
}
