#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fast part of `make crash`: fsconvert is killed at the first and the last
# call of each kind.  crash.sh says what is asked at each point.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load

# In memory where there is some: a hundred small trees for each point.
setup() {
    DIR=$BATS_TEST_TMPDIR
    [ ! -w /dev/shm ] || DIR=$(mktemp -d /dev/shm/fsmend-bats.XXXXXX)
}

teardown() {
    rm -rf "$DIR"
}

# points KIND LAYOUT MODE
points() {
    CRASH_DIR=$DIR JOBS=1 run "$BATS_TEST_DIRNAME/crash.sh" quick "$@"
    assert_success
    assert_line --regexp '^[1-9][0-9]* points, 0 failures$'
}

@test "killed: format 2 to shards, link mode" { points f2-linear 4 link; }
@test "killed: format 2 to shards, rename mode" { points f2-linear 4 rename; }
@test "killed: shards to linear, link mode" { points f4-4 linear link; }
@test "killed: shards to linear, rename mode" { points f4-4 linear rename; }
@test "killed: logical, other shards, link mode" { points f8-4 6 link; }
@test "killed: logical, other shards, rename mode" { points f8-4 6 rename; }
