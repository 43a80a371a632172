#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# open.sh: what open() and close() of a file chosen at random cost, and what
# making one does, in one directory and in shards of 1000, on every file
# system that can be made here (tests/fs/mount.sh). Only root can do that.
#
#   FULL=1          a million files as well, and longer limits (half an hour)
#   OPEN_KINDS=...  these file systems only;  OPEN_SIZES=... these sizes only
#   BENCH_DIR=DIR   work directory (build/bench): 6 GB are free there
#
# Prints `name<TAB>value<TAB>unit`, and the same as a table, which is kept as
# build/open-cost.txt beside a drawing, build/open-cost.svg. What a limit cut
# short has a note of its own. All can be drawn anew from build/open-cost.tsv.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/fs/mount.sh
. "$here/../fs/mount.sh"
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"
out=$BENCH_TOP/build/open-cost

if [ "$(id -u)" -ne 0 ]; then
    bench_note 'open.sh: only root can mount file systems, not measured'
    exit 0
fi
fs_alone "$0"

if [ -n "${FULL:-}" ]; then
    sizes=(1000 10000 100000 1000000) make_limit=150 pass_limit=10
    sample=100000
else
    sizes=(1000 10000 100000) make_limit=10 pass_limit=1 sample=20000
fi
[ -z "${OPEN_SIZES:-}" ] || read -ra sizes <<<"$OPEN_SIZES"
read -ra kinds <<<"${OPEN_KINDS:-$(fs_kinds)}"
work=$BENCH_DIR/open-work
image=$work/image
dir=$work/mounted

# Many small inodes; no thread that still writes tables while we measure.
make_options() {
    case $1 in
        ext4 | ext2) echo -i 4096 -E nodiscard ;;
        btrfs) echo -m single ;;
    esac
}

mount_options() {
    case $1 in
        ext4) echo noatime,noinit_itable ;;
        tmpfs) echo size=4G,nr_inodes=0 ;;
        ntfs) echo noatime ;;
        exfat) ;;
        *) echo noatime ;;
    esac
}

# mounted KIND [MKFS-OPTION...]: a new one.
mounted() {
    local kind=$1 options=()
    shift
    read -ra options <<<"$(make_options "$kind")"
    fs_make "$kind" "$image" 6G "${options[@]}" "$@" &&
        fs_mount "$kind" "$image" "$dir" "$(mount_options "$kind")" &&
        mkdir "$dir/files"
}

# Without an index a directory takes hours to fill. With one it is filled at
# once, and then the index is taken away: what is searched is the same.
fill_indexed() {
    local rc=0
    fs_unmount "$dir"
    mounted "$1" -O dir_index
    "$BENCH_DIR/open" make "$dir/files" "$2" "$3" "$make_limit" >/dev/null || rc=$?
    fs_unmount "$dir"
    tune2fs -O ^dir_index "$image" >/dev/null
    fs_mount "$1" "$image" "$dir" "$(mount_options "$1")"
    return "$rc"
}

# cell KIND N SHARD: lines `KIND flat|sharded N WHAT MICROSECONDS COUNT NOTE`.
cell() {
    local kind=$1 n=$2 shard=$3 layout=sharded rc=0 what us count note
    [ "$shard" -gt 0 ] || layout=flat
    mounted "$kind" || { bench_note "$kind: $FS_WHY"; return; }
    "$BENCH_DIR/open" make "$dir/files" "$n" "$shard" "$make_limit" \
        >"$work/made" || rc=$?
    if [ "$rc" -eq 3 ]; then
        read -r _ us count <"$work/made" || count=0
        echo "$kind $layout $n make - $count slow"
        rc=0
        [ "$kind" = ext2 ] && { fill_indexed "$kind" "$n" "$shard" || rc=$?; } || rc=3
    elif [ "$rc" -eq 0 ]; then
        read -r _ us count <"$work/made"
        echo "$kind $layout $n make $us $count"
    fi
    if [ "$rc" -eq 0 ]; then
        "$BENCH_DIR/open" time "$dir/files" "$n" "$shard" "$pass_limit" \
            "$sample" >"$work/timed"
        while read -r what us count; do
            note=
            [ "$count" -ge 5000 ] || [ "$count" -eq "$n" ] || note=short
            echo "$kind $layout $n $what $us $count $note"
        done <"$work/timed"
    elif [ "$rc" -eq 3 ]; then
        echo "$kind $layout $n warm - 0 unmade"
        echo "$kind $layout $n cold - 0 unmade"
    else
        bench_note "$kind $layout $n: open.c ended with status $rc"
    fi
    fs_unmount "$dir"
    rm -f "$image"
}

rm -rf "$work"
mkdir -p "$work"
trap 'umount "$dir" 2>/dev/null; rm -rf "$work"' EXIT
bench_tool open
: >"$out.tsv"
for kind in "${kinds[@]}"; do
    fs_can "$kind" || { bench_note "$kind: $FS_WHY, not measured"; continue; }
    for n in "${sizes[@]}"; do
        for shard in 0 1000; do
            bench_note "open(): $kind, $n files, $([ $shard -gt 0 ] &&
                echo 'shards of 1000' || echo 'one directory')"
            cell "$kind" "$n" "$shard" | tr ' ' '\t' >>"$out.tsv"
        done
    done
done
awk -F'\t' '$5 != "-" { print "open." $1 "." $2 "." $3 "." $4 "\t" $5 "\tus" }' \
    "$out.tsv"
awk -v draw=table -f "$here/open.awk" "$out.tsv" | tee "$out.txt"
awk -v draw=svg -f "$here/open.awk" "$out.tsv" >"$out.svg"
