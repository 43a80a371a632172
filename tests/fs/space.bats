#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# File systems that are full, read-only, under quota, or oddly made. Each test
# makes its own, of the kind in FS_KIND.

load common

setup() {
    SIDE=$BATS_TEST_TMPDIR
}

teardown() {
    no_small
}

# The smallest that mkfs makes.
small_size() {
    case $FS_KIND in
        xfs) echo 300M ;;
        btrfs) echo 120M ;;
        *) echo 20M ;;
    esac
}

# To the last block and inode. The small files are there to be taken away again
# a few at a time, and a megabyte when they are gone.
fill() {
    local i
    head -c 1M /dev/zero >filler.2
    cat /dev/zero >filler 2>/dev/null || :
    sync -f .
    cat /dev/zero >>filler 2>/dev/null || :
    for ((i = 0; i < 10000; i++)); do
        printf '%4096s' '' >"crumb.$i" || break
    done 2>/dev/null
    sync -f .
    for ((; i < 20000; i++)); do
        : >"crumb.$i" || break
    done 2>/dev/null
}

# A megabyte, then two at a time; fails when nothing is left.
less_filler() {
    [ -e filler.2 ] || [ -e filler ]
    if [ -e filler.2 ]; then
        rm filler.2
    else
        truncate -s -2M filler 2>/dev/null || rm filler
    fi
}

# full MODE: with more and more room, until it is enough. Each time it must
# succeed, or fail as promised; and it must have failed at least once (xfs takes
# its room in large pieces, so no more than that).
full() {
    local mode=$1 failed=0 gap=0 crumbs mkfs=()
    # btrfs: names and contents share their room.
    [ "$FS_KIND" != btrfs ] || mkfs=(--mixed)
    small "$(small_size)" "$(full_options)" "${mkfs[@]}"
    REPO_REVS=24 repo_make r 4 linear
    settled_tree r >"$SIDE/tree"
    repo_oracle r >"$SIDE/oracle"
    fill
    mapfile -t crumbs < <(find . -maxdepth 1 -name 'crumb.*' | sort -V)
    until run fsconvert --mode="$mode" --layout=1 r && [ "$status" -eq 0 ]; do
        assert_failure 8
        assert_output --partial 'No space left on device'
        failed=$((failed + 1))
        half_way "$mode" || untouched "$SIDE/tree" r
        [ "$gap" -lt "${#crumbs[@]}" ] || less_filler
        gap=$((2 * gap + 1))
        rm -f "${crumbs[@]:0:gap}"
        sync -f .
    done
    echo "# $FS_KIND, $mode: refused $failed times before there was room" >&3
    assert_equal "$(repo_oracle r)" "$(cat "$SIDE/oracle")"
    assert_equal "$(repo_shard r)" 1
    run svnadmin verify -q r
    assert_success
    [ "$failed" -ge 1 ]
}

# NTFS needs room for a rename, and in rename mode the way back is one: there
# the guard may have to stay up until there is room. It says what to do, and
# that works.
half_way() {
    [ "$FS_KIND-$1" = ntfs-rename ] && [[ $output == *' --undo r'* ]] ||
        return 1
    run ! svnadmin verify -q r
    assert_output --partial 'run fsconvert --resume or --undo'
    rm -f filler.2
    run fsconvert -q --undo r
    assert_success
    untouched "$SIDE/tree" r
    head -c 1M /dev/zero >filler.2 2>/dev/null || :
}

# Names take nothing from the size of a tmpfs: its inodes run out instead.
full_options() {
    [ "$FS_KIND" != tmpfs ] || echo size=20M,nr_inodes=400
}

@test "a full file system, link mode" {
    [ "$FS_KIND" != exfat ] || skip 'exFAT has no hard links'
    full link
}

@test "a full file system, rename mode" { full rename; }

@test "mounted read-only: looked at and checked, not converted" {
    local options=remount,ro
    small "$(small_size)"
    REPO_REVS=8 repo_make r 2 linear
    settled_tree r >"$SIDE/tree"
    case $FS_KIND in
        ntfs | exfat)
            cd /
            fs_unmount "$SMALL"
            fs_mount "$FS_KIND" "$BATS_TEST_TMPDIR/image" "$SMALL" ro
            cd "$SMALL"
            ;;
        *) mount -o "$options" "$SMALL" ;;
    esac
    run ! touch probe
    run fsdetect r
    assert_success
    run fsverify -q r
    assert_success
    for mode in link rename; do
        run fsconvert --mode=$mode r
        assert_failure 8
        assert_output --partial 'Read-only file system'
    done
    settled_tree r | diff "$SIDE/tree" -
}

# That of btrfs holds for root as well, and needs nothing of the kernel.
@test "over quota: refused, and nothing is left" {
    local room refused=0
    [ "$FS_KIND" = btrfs ] || skip 'tried on btrfs only'
    small 200M
    btrfs quota enable .
    REPO_REVS=24 repo_make r 4 linear
    settled_tree r >"$SIDE/tree"
    repo_oracle r >"$SIDE/oracle"
    sync -f .
    btrfs quota rescan -w . >/dev/null
    for room in 64 128 256 512 1024 2048; do
        # It may be too little even for writing down the limit.
        btrfs qgroup limit none .
        btrfs qgroup limit $((room * 1024 + $(used))) . 2>/dev/null || continue
        for mode in link rename; do
            run fsconvert --mode=$mode --layout=1 r
            [ "$status" -ne 0 ] || break 2
            assert_failure 8
            assert_output --partial 'Disk quota exceeded'
            refused=$((refused + 1))
            untouched "$SIDE/tree" r
        done
    done
    echo "# $FS_KIND, quota: refused $refused times before there was room" >&3
    [ "$refused" -ge 2 ]
    btrfs qgroup limit none .
    run fsconvert --layout=1 r
    assert_success
    assert_equal "$(repo_oracle r)" "$(cat "$SIDE/oracle")"
}

# In bytes, what the quota counts now.
used() {
    sync -f .
    btrfs qgroup show --raw . | awk '$1 == "0/5" { print $2 }'
}

# there_and_back REPO: in both modes, every inode compared.
there_and_back() {
    repo_oracle "$1" >"$SIDE/oracle"
    for mode in link rename; do
        for layout in 4 linear; do
            run fsconvert -q --mode=$mode --layout=$layout "$1"
            assert_success
            refute_output
            assert_equal "$(repo_oracle "$1")" "$(cat "$SIDE/oracle")"
        done
    done
    run repo_works "$1"
    assert_success
}

@test "xfs with small inodes and large directory blocks" {
    [ "$FS_KIND" = xfs ] || skip 'for xfs'
    small 300M '' -m crc=0 -i size=256 -n size=16384
    repo_make r 4 linear
    there_and_back r
}

@test "xfs with the smallest inodes of today and large directory blocks" {
    [ "$FS_KIND" = xfs ] || skip 'for xfs'
    small 300M '' -i size=512 -n size=65536
    repo_make r 4 linear
    there_and_back r
}

@test "btrfs with the smallest and the largest nodes" {
    [ "$FS_KIND" = btrfs ] || skip 'for btrfs'
    for size in 4096 65536; do
        small 200M '' -n "$size"
        repo_make r 4 linear
        there_and_back r
        no_small
        SMALL=
    done
}

@test "ext4 with blocks of 1 KiB and the smallest inodes" {
    [ "$FS_KIND" = ext4 ] || [ "$FS_KIND" = ext2 ] || skip 'for ext4 and ext2'
    small 64M '' -b 1024 -I 128
    repo_make r 4 linear
    there_and_back r
}
