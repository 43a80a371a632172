#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Packing, unpacking, and the layout of what is packed, judged by Subversion
# and by repositories that Subversion itself packed or never packed.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load
load /usr/lib/bats/bats-file/load

setup() {
    # shellcheck source=tests/interop/convert.sh
    . "$BATS_TEST_DIRNAME/convert.sh"
    # shellcheck source=tests/interop/pairs.sh
    . "$BATS_TEST_DIRNAME/pairs.sh"
    PATH=$BUILD:$PATH
    WORK=$BATS_TEST_TMPDIR
    cd "$WORK" || return
}

pointer() { cat "$1/db/min-unpacked-rev"; }

# still REPO ORACLE POINTER: sound, with these contents, packed so far.
still() {
    run svnadmin verify -q "$1"
    assert_success
    assert_equal "$(repo_oracle "$1")" "$2"
    assert_equal "$(pointer "$1")" "$3"
    run fsverify -q "$1"
    assert_success
    refute_output
    run find "$1" -name '.fsmend*'
    refute_output
}

# both KIND: repositories loose and packed, the second packed by svnadmin.
both() {
    repo_kind loose "$1"
    cp -a loose packed
    svnadmin pack -q packed
    ORACLE=$(repo_oracle loose)
}

# Every shard that Subversion packed comes out as it was before.
unpacked_alike() {
    both "$1"
    fsconvert --unpack --servers-stopped packed
    still packed "$ORACLE" 0
    run diff -r loose/db/revs packed/db/revs
    assert_success
    run diff -r loose/db/revprops packed/db/revprops
    assert_success
    run repo_works packed
    assert_success
}

# What we pack is what svnadmin packs: bytes, or (logical) at least contents.
packed_alike() {
    both "$1"
    fsconvert --pack loose
    still loose "$ORACLE" "$(pointer packed)"
    run diff -r packed/db/revprops loose/db/revprops
    assert_success
    if ! is_logical packed; then
        run diff -r packed/db/revs loose/db/revs
        assert_success
    fi
    run repo_works loose
    assert_success
}

# Packed, to other shards and back by --undo, and to linear where that exists.
reshaped() {
    local was
    both "$1"
    was=$(pointer packed)
    for layout in 1 3 7 1000; do
        fsconvert --layout=$layout --servers-stopped packed
        still packed "$ORACLE" $((was / layout * layout))
        assert_equal "$(repo_shard packed)" "$layout"
        # Subversion packs the rest, and goes on.
        cp -a packed again
        svnadmin pack -q again
        run repo_works again
        assert_success
        rm -rf again
        fsconvert --undo --servers-stopped packed
        still packed "$ORACLE" "$was"
        assert_equal "$(repo_shard packed)" 4
    done
    if is_logical packed; then
        run -8 fsconvert --layout=linear --servers-stopped packed
    else
        fsconvert --layout=linear --servers-stopped packed
        still packed "$ORACLE" 0
        assert_equal "$(repo_shard packed)" 0
    fi
}

# A converted copy of what is packed, into every shape; the source stays.
copied() {
    local layout state pack
    both "$1"
    repo_times packed >times.1
    for layout in linear 1 4 7 1000; do
        for state in loose packed kept; do
            can_be packed $layout $state || continue
            pack=()
            [ $state != loose ] || pack=(--unpack)
            [ $state != packed ] || pack=(--pack)
            fsconvert --layout=$layout "${pack[@]}" packed copy
            still copy "$ORACLE" "$(packed_then packed $layout $state)"
            assert_equal "$(layout_of copy)" $layout
            run repo_works copy
            assert_success
            rm -rf copy
        done
    done
    repo_times packed >times.2
    run diff times.1 times.2
    assert_success
}

every_pair() {
    REPO_REVS=17 repo_kind x "$1"
    run pairs_all x
    assert_success
    assert_output --regexp '^[0-9]{2,} pairs$'
}

bats_require_minimum_version 1.5.0

@test "unpacked as it was: format 4" { unpacked_alike f4-4; }
@test "unpacked as it was: format 6" { unpacked_alike f6-4; }
@test "unpacked as it was: format 8, logical" { unpacked_alike f8-4; }
@test "unpacked as it was: format 8, physical" { unpacked_alike f8-4-physical; }
@test "packed as svnadmin does: format 4" { packed_alike f4-4; }
@test "packed as svnadmin does: format 6" { packed_alike f6-4; }
@test "packed as svnadmin does: format 8, logical" { packed_alike f8-4; }
@test "packed as svnadmin does: format 8, physical" { packed_alike f8-4-physical; }
@test "packed, to other shards: format 4" { reshaped f4-4; }
@test "packed, to other shards: format 6" { reshaped f6-4; }
@test "packed, to other shards: format 8, logical" { reshaped f8-4; }
@test "packed, to other shards: format 8, physical" { reshaped f8-4-physical; }

@test "a copy of packs, in every shape: format 4" { copied f4-4; }
@test "a copy of packs, in every shape: format 8, logical" { copied f8-4; }
@test "from every shape to every other" { every_pair f6-4; }

@test "undo keeps what came after: commits, edits and packs" {
    repo_kind x f6-4
    svnadmin pack -q x
    fsconvert --layout=7 --servers-stopped x
    for i in 1 2 3 4 5 6 7 8; do
        svn mkdir -q -m "later $i" "file://$PWD/x/later$i"
    done
    printf 'edited' >log
    svnadmin setlog --bypass-hooks -r 3 x log
    svnadmin pack -q x
    ORACLE=$(repo_oracle x)
    run -8 fsconvert --undo x
    assert_output --partial --servers-stopped
    fsconvert --undo --servers-stopped x
    still x "$ORACLE" 28
    assert_equal "$(repo_shard x)" 4
    run repo_works x
    assert_success
}

@test "compressed and rewritten packs of properties" {
    local r
    repo_kind loose f6-4
    printf '[packed-revprops]\nrevprop-pack-size = 1\ncompress-packed-revprops = true\n' \
        >>loose/db/fsfs.conf
    cp -a loose packed
    svnadmin pack -q packed
    for r in 3 5 9; do
        printf 'rewritten %02000d\n' $r >log
        svnadmin setlog --bypass-hooks -r $r packed log
        svnadmin setlog --bypass-hooks -r $r loose log
    done
    ORACLE=$(repo_oracle loose)
    fsconvert --unpack --servers-stopped packed
    still packed "$ORACLE" 0
    run diff -r loose/db/revprops packed/db/revprops
    assert_success
    svnadmin pack -q loose
    fsconvert --pack packed
    run diff -r loose/db/revprops packed/db/revprops
    assert_success
}

@test "with every revision in a pack there are other shards, and back" {
    local shard
    repo_kind x f6-4
    ORACLE=$(repo_oracle x)
    fsconvert --layout=5 --pack --servers-stopped x
    still x "$ORACLE" 25
    for shard in 1 25 5; do
        fsconvert --layout=$shard --servers-stopped x
        still x "$ORACLE" 25
    done
    fsconvert --undo --servers-stopped x
    still x "$ORACLE" 25
    assert_equal "$(repo_shard x)" 25
}

@test "partly packed: the rest is packed, all is unpacked" {
    repo_kind x f6-4
    svnadmin pack -q x
    for i in 1 2 3 4 5 6; do
        svn mkdir -q -m "later $i" "file://$PWD/x/later$i"
    done
    ORACLE=$(repo_oracle x)
    fsconvert --pack x
    still x "$ORACLE" 28
    fsconvert --unpack --servers-stopped x
    still x "$ORACLE" 0
}

@test "done twice, it is done once; -n does nothing" {
    repo_kind x f8-4
    repo_times x >before
    run fsconvert -n --pack x
    assert_success
    assert_output --partial 'pack r0 to r23'
    repo_times x >after
    run diff before after
    assert_success
    fsconvert --pack x
    repo_times x >before
    run fsconvert --pack x
    assert_success
    assert_output --partial 'nothing to do'
    repo_times x >after
    run diff before after
    assert_success
}

@test "what cannot be packed is refused with the reason" {
    repo_kind old f3-4
    run -8 fsconvert --pack old
    assert_output --partial 'format 3 has no packs'
    repo_kind flat f4-linear
    run -8 fsconvert --layout=linear --pack flat
    assert_output --partial 'a linear layout has no packs'
    run -16 fsconvert --pack --unpack flat
}

@test "killed with --mode=link, which packs overrule: the same command finishes" {
    local command=(fsconvert -q --mode=link --servers-stopped --layout=6 x)
    repo_kind x f6-4
    svnadmin pack -q x
    ORACLE=$(repo_oracle x)
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -fPIC -shared -o shim.so \
        "$BATS_TEST_DIRNAME/../crash/shim.c" -ldl
    run env LD_PRELOAD="$(ldd "$(command -v fsconvert)" |
        awk '/lib(asan|tsan|ubsan)/ { print $3 }' | tr '\n' ' ')$PWD/shim.so" \
        FSMEND_CRASH_ROOT="$PWD/x" FSMEND_CRASH_AT=60 "${command[@]}"
    assert_equal "$status" 137
    [ -e x/db/fsmend/journal ]
    run "${command[@]}"
    assert_success
    still x "$ORACLE" 24
}
