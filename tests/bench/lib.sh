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
    [ "$BENCH_DIR/$1" -nt "$source" ] ||
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
