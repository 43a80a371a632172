#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where there are no hard links, no symbolic ones, no modes and no owners:
# exFAT. The tests of tests/interop need those, so here is what is left.

load common

setup() {
    place nolinks
    ln -s a probe 2>/dev/null && skip 'for file systems without links'
    SIDE=$BATS_TEST_TMPDIR
    # Working copies are no business of this file system.
    export TMPDIR=$SIDE
}

teardown() {
    cd / && rm -rf "${WORK:-}"
}

# kept LAYOUT: judged by Subversion and by ourselves.
kept() {
    run svnadmin verify -q r
    assert_success
    assert_equal "$(repo_oracle r)" "$(cat "$SIDE/oracle")"
    assert_equal "$(layout_of r)" "$1"
    run fsverify -q r
    assert_success
    refute_output
    run find r -name '.fsmend*'
    refute_output
}

# refused_links REPO: by the cause, and with the way that works.
refused_links() {
    settled_tree r >"$SIDE/tree"
    run fsconvert --layout=7 r
    assert_failure 8
    assert_output --partial 'cannot make a hard link'
    assert_output --partial --mode=rename
    untouched "$SIDE/tree" r
}

rename_kind() {
    local layout layouts=(7) was
    repo_kind r "$1"
    repo_oracle r >"$SIDE/oracle"
    side_data r >"$SIDE/side"
    was=$(layout_of r)
    refused_links
    is_logical r || [ "$was" = linear ] || layouts+=(linear)
    for layout in "${layouts[@]}"; do
        run fsconvert -q --mode=rename --layout="$layout" r
        assert_success
        refute_output
        kept "$layout"
        side_data r | diff "$SIDE/side" -
        run fsconvert -q --mode=rename --undo r
        assert_success
        refute_output
        kept "$was"
        side_data r | diff "$SIDE/side" -
    done
    run fsconvert -q --mode=rename --layout=7 r
    assert_success
    run repo_works r
    assert_success
}

@test "format 1" { rename_kind f1-linear; }
@test "format 2" { rename_kind f2-linear; }
@test "format 3, linear" { rename_kind f3-linear; }
@test "format 4, sharded" { rename_kind f4-4; }
@test "format 6, linear" { rename_kind f6-linear; }
@test "format 6, sharded" { rename_kind f6-4; }
@test "format 7, logical" { rename_kind f7-4; }
@test "format 8, logical" { rename_kind f8-4; }
@test "format 8, sharded, physical" { rename_kind f8-4-physical; }
@test "format 2, upgraded and committed to" { rename_kind f2-linear-mixed; }
@test "format 8 with locks" { rename_kind f8-4-locks; }

@test "--undo without --mode names the mode that works" {
    repo_kind r f4-linear
    repo_oracle r >"$SIDE/oracle"
    fsconvert -q --mode=rename --layout=4 r
    run fsconvert --undo r
    if [ "$status" -ne 0 ]; then
        assert_failure 8
        assert_output --partial --mode=rename
        kept 4
        fsconvert -q --mode=rename --undo r
    fi
    kept linear
}

@test "packs: made, taken apart, and made for other shards" {
    local kind
    for kind in f4-4 f6-4 f8-4; do
        repo_kind r $kind
        repo_oracle r >"$SIDE/oracle"
        fsconvert -q --pack r
        assert_equal "$(cat r/db/min-unpacked-rev)" 24
        kept 4
        fsconvert -q --layout=7 --servers-stopped --mode=rename r
        assert_equal "$(cat r/db/min-unpacked-rev)" 21
        kept 7
        fsconvert -q --unpack --servers-stopped r
        assert_equal "$(cat r/db/min-unpacked-rev)" 0
        kept 7
        rm -rf r
    done
}

@test "a converted copy" {
    repo_kind s f2-linear
    repo_oracle s >"$SIDE/oracle"
    repo_tree s >"$SIDE/tree"
    run fsconvert -q --layout=5 s r
    assert_success
    kept 5
    repo_tree s | diff "$SIDE/tree" -
}

@test "stopped half way: resumed, or taken back" {
    local way layout n
    for n in 20 40 60; do
        for way in resume undo; do
            rm -rf r
            repo_kind r f4-linear
            repo_oracle r >"$SIDE/oracle"
            run strace -f -qq -o "$SIDE/strace" -e trace=renameat,renameat2 \
                -e inject=renameat:signal=KILL:when=$n \
                fsconvert --mode=rename --layout=4 r
            [ "$status" -ne 0 ]
            run ! svnadmin verify -q r
            run fsconvert -q --$way r
            assert_success
            layout=4
            [ $way = resume ] || layout=linear
            kept $layout
        done
    done
}
