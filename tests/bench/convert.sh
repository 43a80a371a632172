#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# convert.sh: what a change of layout costs, compared in the same run on the
# same file system with the bare system calls it is made of (raw.c), and with
# `svnadmin dump | svnadmin load`.
#
#   BENCH_REVS=N       revisions (100000); BENCH_SPARSE=1: root nodes only
#   BENCH_PAIRS=N      pairs of runs for each mode (3); medians are compared
#   BENCH_DUMP_REVS=N  revisions that are dumped and loaded (5000, or all when
#                      fewer); the time for all is scaled up linearly
#   BENCH_DIR=DIR      work directory (build/bench); BUILD=DIR the commands
#
# Prints `name<TAB>value<TAB>unit`.  Exits 1 when a limit was broken.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/bench/lib.sh
. "$here/lib.sh"

revs=${BENCH_REVS:-100000}
pairs=${BENCH_PAIRS:-3}
dump_revs=${BENCH_DUMP_REVS:-5000}
[ "$dump_revs" -le "$revs" ] || dump_revs=$revs
repo=$BENCH_DIR/flat-$revs
work=$BENCH_DIR/work

# The small files of db/ as they were; revs and revprops stay where they are.
save_small() {
    rm -rf "$work/small"
    mkdir -p "$work/small"
    find "$repo/db" -mindepth 1 -maxdepth 1 ! -name revs ! -name revprops \
        -exec cp -a {} "$work/small" \;
}

# Whatever converted it: flat again, format 2 again.
make_flat() {
    "$BENCH_DIR/raw" back "$repo/db" "$revs" >"$work/back"
    find "$repo/db" -mindepth 1 -maxdepth 1 ! -name revs ! -name revprops \
        -exec rm -rf {} \;
    cp -a "$work/small/." "$repo/db"
    bench_settle
}

run_raw() {
    bench_timed "raw.$1" "$BENCH_DIR/raw" "$1" "$repo/db" "$revs"
    make_flat
}

run_convert() {
    bench_timed "convert.$1" "$BUILD/fsconvert" -v --mode="$1" --layout=1000 "$repo"
    grep -qx 'layout sharded 1000' "$repo/db/format"
    svnadmin verify -q -r "$((revs - 5)):$revs" "$repo"
    make_flat
}

compare() {
    local mode=$1 i what raw ours
    for ((i = 1; i <= pairs; i++)); do
        bench_note "$mode mode, pair $i of $pairs"
        if ((i % 2)); then
            run_raw "$mode"
            run_convert "$mode"
        else
            run_convert "$mode"
            run_raw "$mode"
        fi
    done
    grep "^raw\.$mode\." "$work/out.raw.$mode"
    for what in cpu times; do
        raw=$(bench_median <"$work/$what.raw.$mode")
        ours=$(bench_median <"$work/$what.convert.$mode")
        if [ "$what" = cpu ]; then
            bench_say "raw.$mode.cpu" "$raw" s
            bench_say "convert.$mode.cpu" "$ours" s
            bench_say "convert.$mode.cpu-per-raw" \
                "$(bench_ratio "$ours" "$raw")" ratio
        fi
    done
    bench_say "raw.$mode" "$raw" s
    bench_say "convert.$mode" "$ours" s
    bench_limit "convert.$mode.per-raw" "$(bench_ratio "$ours" "$raw")" 1.8 \
        ratio max
}

# What -v says about the time the write-lock was held.
locked() {
    local held
    held=$(sed -n 's/.*write-lock held[^0-9]*\([0-9.]*\) *\(ms\|s\)\b.*/\1 \2/p' \
        "$work/out.convert.$1" |
        awk '{ s += $2 == "ms" ? $1 / 1000 : $1 } END { if (NR) print s }')
    if [ -z "$held" ]; then
        bench_note "fsconvert -v does not say how long the write-lock was held"
        bench_broken=1
        return
    fi
    if [ "$1" = link ]; then
        bench_limit convert.link.write-lock "$held" 1 s max
    else
        bench_say "convert.$1.write-lock" "$held" s
    fi
}

# dump_load NAME OPTION...: the first revisions, scaled to all.
dump_load() {
    local name=$1 start end
    shift
    rm -rf "$work/loaded"
    svnadmin create --compatible-version 1.5 "$work/loaded"
    bench_settle
    start=$(date +%s.%N)
    svnadmin dump -q -r "0:$dump_revs" "$repo" |
        svnadmin load -q "$@" "$work/loaded"
    end=$(date +%s.%N)
    dump_load_s=$(awk -v a="$start" -v b="$end" -v n="$revs" -v m="$dump_revs" \
        'BEGIN { printf "%.3f\n", (b - a) * n / m }')
    bench_say "dump-load.$name.measured" "$(awk -v a="$start" -v b="$end" \
        'BEGIN { printf "%.3f\n", b - a }')" s
    bench_say "dump-load.$name" "$dump_load_s" s
    rm -rf "$work/loaded"
}

detect() {
    local i
    for ((i = 0; i < 9; i++)); do
        "$BENCH_DIR/timed" "$work/timed" "$BUILD/fsdetect" "$repo" >/dev/null
        cut -d' ' -f1 "$work/timed"
    done | bench_median >"$work/detect"
    bench_limit fsdetect.wall \
        "$(awk '{ printf "%.2f\n", $1 * 1000 }' "$work/detect")" 20 ms max
    if command -v strace >/dev/null; then
        strace -f -c -o "$work/strace" "$BUILD/fsdetect" "$repo" >/dev/null
        bench_limit fsdetect.calls \
            "$(awk '$NF == "total" { print $4 }' "$work/strace")" 400 calls max
    fi
}

rm -rf "$work"
mkdir -p "$work"
bench_tool flat
bench_tool raw
bench_tool timed
if [ ! -f "$BENCH_DIR/flat-$revs.ready" ]; then
    bench_note "making a flat repository of $revs revisions"
    "$here/flat.sh" "$repo" "$revs" ${BENCH_SPARSE:+sparse}
fi
# Whatever stops half way leaves a repository not worth keeping.
rm -f "$BENCH_DIR/flat-$revs.ready"
bench_say revisions "$revs" revisions
save_small
detect
compare link
locked link
compare rename
locked rename
bench_limit convert.memory "$(sort -n "$work/peaks.convert" | tail -1 |
    awk '{ printf "%.1f\n", $1 / 1024 }')" 64 MiB max
bench_say dump-load.revisions "$dump_revs" revisions
ours=$(bench_median <"$work/times.convert.link")
dump_load no-flush --no-flush-to-disk
bench_say dump-load.no-flush.per-convert "$(bench_ratio "$dump_load_s" "$ours")" \
    ratio
dump_load default
bench_limit dump-load.default.per-convert \
    "$(bench_ratio "$dump_load_s" "$ours")" 100 ratio min
rm -rf "$work"
touch "$BENCH_DIR/flat-$revs.ready"
exit "$bench_broken"
