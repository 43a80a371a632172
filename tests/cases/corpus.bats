#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The shared corpus, which lies beside the checkout or not at all: 69
# repositories with one known fault each, and healthy ones, in which nothing
# may be found.  CORPUS and CORPUS_DIR name other places.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load
load /usr/lib/bats/bats-file/load

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    : "${BUILD:=build/normal}" "${CORPUS:=../shared/corpus/fsfs}"
    : "${CORPUS_DIR:=build/corpus}"
    export BUILD
}

# Sorted ids of what is found, but for modes that differ; "-" for none.
ids() {
    local found
    found=$("$BUILD/fsverify" -v "$1" 2>&1 |
        sed -nE 's/^[^:]*: ([a-z]+): [^:]*: .*\[([a-z0-9.-]+)\]$/\1 \2/p' |
        grep -v '^note fsfs.layout.mode$' | cut -d ' ' -f 2 | sort -u |
        paste -sd ' ')
    echo "${found:--}"
}

@test "faulty repositories of the shared corpus" {
    [ -d "$CORPUS/corrupt" ] || skip 'no shared corpus'
    local archive name dir=$BATS_TEST_TMPDIR
    while IFS=$'\t' read -r name _; do
        [[ $name != \#* ]] || continue
        archive=$CORPUS/corrupt/$name.tar.gz
        assert_file_exist "$archive"
        tar -xzf "$archive" -C "$dir"
        find "$dir/$name" -exec touch -h -d 2020-01-01 {} +
        printf '%s\t%s\n' "$name" "$(ids "$dir/$name")"
        rm -rf "${dir:?}/$name"
    done <tests/cases/corrupt.tsv >"$dir/found"
    run diff -u <(grep -v '^#' tests/cases/corrupt.tsv) "$dir/found"
    assert_success
    # None of them is left out.
    run diff <(find "$CORPUS/corrupt" -name '*.tar.gz' -printf '%f\n' | sort |
        sed 's|\.tar\.gz$||') \
        <(cut -f 1 "$dir/found")
    assert_success
}

@test "healthy repositories of the shared corpus" {
    [ -s "$CORPUS_DIR/LIST.tsv" ] || skip "no built corpus in $CORPUS_DIR"
    local repo n=0
    for repo in "$CORPUS_DIR"/*/; do
        n=$((n + 1))
        run "$BUILD/fsverify" -q --strict "$repo"
        assert_success
        refute_output
    done
    [ "$n" -ge 100 ]
}

@test "healthy repositories of every kind" {
    # shellcheck source=tests/repos/make.sh
    . tests/repos/make.sh
    local kind repo
    for kind in $(repo_kinds) $(repo_kinds packed); do
        repo=$BATS_TEST_TMPDIR/$kind
        repo_kind "$repo" "$kind"
        run "$BUILD/fsverify" -q --strict "$repo"
        assert_success
        refute_output
        rm -rf "$repo"
    done
}
