# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the benchmarks share: the work directory, their own small programs,
# medians and the output, which is `name<TAB>value<TAB>unit` and nothing else.

BENCH_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${BENCH_DIR:=$BENCH_TOP/build/bench}"
: "${BUILD:=$BENCH_TOP/build/normal}"
mkdir -p "$BENCH_DIR"
BENCH_DIR=$(cd "$BENCH_DIR" && pwd)

# bench_tool NAME: compiles tests/bench/NAME.c unless that was done.
bench_tool() {
    local source=$BENCH_TOP/tests/bench/$1.c
    [[ $BENCH_DIR/$1 -nt $source && $BENCH_DIR/$1 -nt ${source%/*}/bench.h ]] ||
        "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -o "$BENCH_DIR/$1" "$source" -lcrypto
}

bench_say() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3"
}

bench_note() {
    echo "# $*" >&2
}

# Of the numbers on stdin.
bench_median() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR % 2) print v[(NR + 1) / 2];
        else printf "%.4f\n", (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

bench_ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", a / b }'
}

# Let what was written before settle, so that it is not charged to what
# follows.
bench_settle() {
    sync -f "$BENCH_DIR"
}

# Once a limit was broken: what to exit with.
bench_broken=0

# bench_limit NAME VALUE LIMIT UNIT min|max
bench_limit() {
    bench_say "$1" "$2" "$4"
    bench_say "$1.limit" "$3" "$4"
    if awk -v v="$2" -v l="$3" -v k="$5" \
        'BEGIN { exit !(k == "max" ? v > l : v < l) }'; then
        bench_note "limit broken: $1 is $2 $4, wanted at $5 $3"
        # shellcheck disable=SC2034 # the status of whoever sources this
        bench_broken=1
    fi
}

# bench_timed NAME COMMAND...: one more time for times.NAME, cpu.NAME and
# peaks.NAME (up to the first dot) in $work, which the caller sets.
bench_timed() {
    local name=$1 took peak cpu
    : "${work:?}"
    shift
    bench_settle
    "$BENCH_DIR/timed" "$work/timed" "$@" >"$work/out.$name" 2>&1 ||
        { cat "$work/out.$name" >&2; exit 8; }
    read -r took peak cpu <"$work/timed"
    echo "$took" >>"$work/times.$name"
    echo "$cpu" >>"$work/cpu.$name"
    echo "$peak" >>"$work/peaks.${name%%.*}"
}
