#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Thousands of revisions in one directory, with an index of it or without.

load common

MANY=${FS_MANY:-10000}

setup() {
    place many
}

teardown() {
    cd / && rm -rf "${WORK:-}"
}

@test "thousands of revisions, there and back" {
    local modes=(link rename) mode files
    [ "$FS_KIND" != exfat ] || modes=(rename)
    "$TOP/tests/bench/flat.sh" r "$MANY" sparse
    for mode in "${modes[@]}"; do
        run fsconvert -q --mode="$mode" r
        assert_success
        refute_output
        assert_equal "$(sed -n 2p r/db/format)" 'layout sharded 1000'
        for files in revs revprops; do
            assert_equal "$(find r/db/$files -type f | wc -l)" $((MANY + 1))
            assert_equal "$(find "r/db/$files/1" -type f | wc -l)" 1000
            assert_equal "$(find "r/db/$files" -maxdepth 1 -type f | wc -l)" 0
        done
        svnadmin verify -q -r $((MANY - 50)):"$MANY" r
        run fsconvert -q --mode="$mode" --undo r
        assert_success
        refute_output
        assert_equal "$(cat r/db/format)" 2
        assert_equal "$(find r/db/revs -maxdepth 1 -type f | wc -l)" $((MANY + 1))
        svnadmin verify -q -r 0:50 r
    done
}
