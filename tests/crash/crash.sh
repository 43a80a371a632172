#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# crash.sh [quick|full|fault] [KIND WISH MODE [N [WHEN|ERRNO [ever]]]]
#
# Kills fsconvert at every changing system call and asks each time: does
# Subversion see the old repository, the new one or the guard, do --resume and
# the same command finish, does --undo take back, also when that is killed?
#
#   quick   a few cases, and of calls that differ only in numbers the first and
#           the last
#   full    every case, every call, writes also half done; then fault
#   packed  of those the cases that pack, unpack or copy
#   fault   every call fails, with every error it may meet
#
# With operands: that case alone, or that call alone, whose repository then
# stays in the directory that is printed.  JOBS=2 points at a time; BUILD=DIR
# the commands; CRASH_DIR=DIR the work directory.  Prints `N points, F failures`.
set -uo pipefail

# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"
: "${JOBS:=2}"

# KIND WISH [MODE...], link and rename unless it says something else.
cases() {
    case $1 in
        quick)
            echo f2-linear 4
            echo f4-4 linear
            echo f8-4 6
            echo f6-4-packed 6 auto
            echo f8-4 pack auto
            echo f4-4-packed linear auto
            ;;
        fault)
            echo f2-linear 4
            echo f4-4 linear
            echo f8-4 6
            echo f2-linear 4 copy
            echo f6-4-packed 6 auto
            echo f8-4-packed 3 auto
            echo f4-4-packed linear auto
            echo f8-4 pack auto
            echo f6-4-packed unpack auto
            ;;
        full)
            echo f1-linear 4
            echo f2-linear 4
            echo f2-linear-txns 4
            echo f3-4 linear
            echo f4-linear 4
            echo f4-linear 1000
            echo f4-4 linear
            echo f4-4 6
            echo f6-4 3
            echo f8-linear 4
            echo f8-4-physical linear
            echo f8-4 6
            cases packed
            ;;
        packed)
            echo f4-4 pack auto
            echo f7-4-physical pack auto
            echo f8-4 pack auto
            echo f4-linear 4+pack auto
            echo f8-4 6+pack auto
            echo f4-4-packed unpack auto
            echo f6-4-packed unpack auto
            echo f8-4-packed unpack auto
            echo f4-4-packed 3 auto
            echo f6-4-packed 6 auto
            echo f7-4-physical-packed 5 auto
            echo f8-4-packed 3 auto
            echo f8-4-packed 6 auto
            echo f6-4-packed 1000 auto
            echo f6-4-packed linear auto
            echo f8-4-packed 6+unpack auto
            echo f2-linear 4 copy
            echo f6-4-packed 6 copy
            echo f8-4-packed 6+unpack copy
            ;;
    esac
}

# The points of a case, one a line: arguments of kill_point or fault_point.
# quick: of calls that differ only in numbers the first and the last.
points_quick() {
    awk '{ key = $2 $NF; gsub("/[0-9]+", "/N", key)
           if (!(key in first)) first[key] = NR
           last[key] = NR
           if ($2 ~ /write/ && !(key in half)) half[key] = NR }
         END { for (key in first) print first[key], "before"
               for (key in last)
                   if (last[key] != first[key]) print last[key], "before"
               for (key in half) print half[key], "during"
               print NR, "after" }' "$CASE/log" | sort -n
}

points_full() {
    awk '{ print NR, "before"
           if ($2 ~ /write|copy_file/) print NR, "during" }
         END { print NR, "after" }' "$CASE/log"
}

points_fault() {
    awk '{ print NR, "EIO"; print NR, "EACCES"
           if ($2 !~ /unlink|rmdir|sync|chmod|chown|utim/) {
               print NR, "ENOSPC"; print NR, "EDQUOT"; print NR, "ENOSPC ever" }
           print NR, "EROFS ever"
           if ($2 ~ /write|open|sync|truncate/) print NR, "EINTR"
           if ($2 ~ /write|copy_file/) print NR, "short" }' "$CASE/log"
}

# worker I POINT-FUNCTION: every JOBS-th line of $CASE/points.
worker() {
    local i=$1 ask=$2 line args
    POINT_DIR=$CASE/$i
    mkdir -p "$POINT_DIR"
    while read -r line; do
        read -ra args <<<"$line"
        "$ask" "${args[@]}"
    done < <(awk -v n="$JOBS" -v i="$i" 'NR % n == i' "$CASE/points")
    rm -rf "$POINT_DIR"
}

# run_case SET KIND WISH MODE
run_case() {
    local set=$1 ask=kill_point i n failed
    shift
    [ "$set" != fault ] || ask=fault_point
    if case_prepare "$@"; then
        "points_${set/packed/full}" >"$CASE/points"
        for ((i = 0; i < JOBS; i++)); do
            worker "$i" "$ask" &
        done
        wait
    fi
    touch "$CASE/points" "$CASE/failed"
    n=$(wc -l <"$CASE/points")
    failed=$(wc -l <"$CASE/failed")
    echo "$* ($set): $n points, $failed failures"
    n_points=$((n_points + n))
    n_failed=$((n_failed + failed))
    [ "$failed" -ne 0 ] || rm -rf "$CASE"
}

run_set() {
    local kind wish modes mode
    while read -r kind wish modes; do
        for mode in ${modes:-link rename}; do
            run_case "$1" "$kind" "$wish" "$mode"
        done
    done < <(cases "$1")
}

# One call, asked in the foreground; the repository is kept.
run_point() {
    local n=$1 how=$2 ask=kill_point
    case $how in before | after | during) ;; *) ask=fault_point ;; esac
    POINT_DIR=$CASE/1
    mkdir -p "$POINT_DIR"
    "$ask" "$n" "$how" ${3+"$3"} && echo "as it should be"
    echo "see $POINT_DIR"
}

set=${1:-quick}
n_points=0
n_failed=0
crash_dir
crash_shim || exit 8
if [ $# -ge 5 ]; then
    case_prepare "$2" "$3" "$4" && run_point "$5" "${6:-before}" ${7+"$7"}
    exit
elif [ $# -ge 4 ]; then
    run_case "$set" "$2" "$3" "$4"
else
    run_set "$set"
    [ "$set" != full ] || run_set fault
fi
echo "$n_points points, $n_failed failures"
[ "$n_failed" -ne 0 ] || rm -rf "$CRASH_DIR"
[ "$n_failed" -eq 0 ]
