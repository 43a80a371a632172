#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# packed.sh: what other shards cost a packed repository, compared in the same
# run on the same file system with copying db/revs by `cp --reflink=never`.
#
#   BENCH_PACKED_REVS=N   revisions (100000)
#   BENCH_PACKED_BYTES=N  of text that each brings (16000)
#   BENCH_PAIRS=N         pairs of runs (3); medians are compared
#   BENCH_DIR=DIR         work directory (build/bench); BUILD=DIR the commands
#
# The extra disk is measured in a run of its own, from the bytes that the files
# below db/ occupy, sampled all the time; the limit is the largest old shard
# and a MiB for what is small.  Prints `name<TAB>value<TAB>unit`.  Exits 1 when
# a limit was broken.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

revs=${BENCH_PACKED_REVS:-100000}
bytes=${BENCH_PACKED_BYTES:-16000}
pairs=${BENCH_PAIRS:-3}
repo=$BENCH_DIR/packed-$revs-$bytes
work=$BENCH_DIR/work-packed

make_repo() {
    bench_note "making a packed repository of $revs revisions"
    "$here/flat.sh" "$repo" "$revs" "$bytes"
    svnadmin upgrade "$repo" >/dev/null
    "$BUILD/fsconvert" -q --servers-stopped --layout=1000 --pack "$repo"
    "$BUILD/fsconvert" --forget -q "$repo"
}

# reshape SHARD NAME: timed, checked from outside.
reshape() {
    bench_timed "$2" "$BUILD/fsconvert" -v --servers-stopped --layout="$1" \
        "$repo"
    grep -qx "layout sharded $1" "$repo/db/format"
    [ "$(cat "$repo/db/min-unpacked-rev")" -gt 0 ]
    svnadmin verify -q -r "$((revs - 5)):$revs" "$repo"
}

copy() {
    bench_timed copy cp -a --reflink=never "$repo/db/revs" "$work/copy"
    rm -rf "$work/copy"
}

occupied() {
    du -s --block-size=1 "$1" 2>/dev/null | cut -f1
}

# The most that db/ occupied while a file named `stop` was not there, and how
# often that was looked at.  What goes while it is counted is no error.
watch() {
    local most=0 n=0 now
    while [ ! -e "$work/stop" ]; do
        now=$(occupied "$repo/db" || :)
        [ "${now:-0}" -le "$most" ] || most=$now
        n=$((n + 1))
    done
    echo "$most $n"
}

extra_disk() {
    local before most looks shard
    before=$(occupied "$repo/db")
    shard=$(du -s --block-size=1 "$repo"/db/revs/*.pack | sort -n | tail -1 |
        cut -f1)
    watch >"$work/most" &
    reshape 500 disk
    touch "$work/stop"
    wait
    read -r most looks <"$work/most"
    bench_say packed.extra-disk.looks "$looks" times
    bench_say packed.shard "$((shard / 1024))" KiB
    bench_limit packed.extra-disk "$(((most - before) / 1024))" \
        $(((shard >> 10) + 1024)) KiB max
    reshape 1000 disk
}

rm -rf "$work"
mkdir -p "$work"
bench_tool flat
bench_tool timed
[ -f "$repo.ready" ] || make_repo
# Whatever stops half way leaves a repository not worth keeping.
rm -f "$repo.ready"
bench_say packed.revisions "$revs" revisions
bench_say packed.bytes "$(($(occupied "$repo/db/revs") >> 20))" MiB
for ((i = 1; i <= pairs; i++)); do
    bench_note "packed, pair $i of $pairs"
    copy
    reshape 500 packed
    reshape 1000 back
done
bench_say copy "$(bench_median <"$work/times.copy")" s
for name in packed back; do
    bench_say "$name" "$(bench_median <"$work/times.$name")" s
done
bench_limit packed.per-copy "$(bench_ratio \
    "$(bench_median <"$work/times.packed")" \
    "$(bench_median <"$work/times.copy")")" 2 ratio max
bench_limit packed.memory "$(cat "$work"/peaks.{packed,back} | sort -n |
    tail -1 | awk '{ printf "%.1f\n", $1 / 1024 }')" 64 MiB max
extra_disk
"$BUILD/fsconvert" --forget -q "$repo"
rm -rf "$work"
touch "$repo.ready"
exit "$bench_broken"
