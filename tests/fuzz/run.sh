#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [NAME...]: fuzzes the named targets, or all, for TIME seconds each.
# New inputs are collected in $BUILD/corpus/NAME; one that crashes is left in
# $BUILD and named. Keep it: give it a telling name in tests/fuzz/corpus/NAME.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
: "${BUILD:=build/fuzz}" "${TIME:=60}"

names=("$@")
if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        name=${source##*/fuzz_}
        names+=("${name%.c}")
    done
fi
failed=0
for name in "${names[@]}"; do
    mkdir -p "$BUILD/corpus/$name"
    seeds=("$BUILD/corpus/$name")
    [ ! -d "tests/fuzz/corpus/$name" ] || seeds+=("tests/fuzz/corpus/$name")
    echo "fuzzing $name for $TIME s"
    "$BUILD/fuzz_$name" -max_total_time="$TIME" -print_final_stats=1 \
        -artifact_prefix="$BUILD/$name-" "${seeds[@]}" >"$BUILD/$name.log" 2>&1
    rc=$?
    grep -E '^stat::number_of_executed|^Test unit written|ERROR|SUMMARY' \
        "$BUILD/$name.log"
    [ "$rc" -eq 0 ] || failed=$((failed + 1))
done
echo "${#names[@]} fuzzed, $failed failed"
[ "$failed" -eq 0 ]
