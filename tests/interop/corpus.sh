#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# corpus.sh [built|dumps|pairs|one REPO]
#
# Converts every repository of the shared corpus (120 made by its generator,
# and its dumps loaded by every compatible version) to other layouts in both
# modes, and asks Subversion before and after; see convert.sh.  `pairs`: from
# every shape to every other, packed ones too; see pairs.sh.  Without the corpus
# it says so and exits 0.
#
#   CORPUS=DIR     the corpus (../shared/corpus/fsfs beside the checkout)
#   CORPUS_DIR=DIR where repositories are made and kept (build/corpus)
#   JOBS=2         at a time
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/interop/convert.sh
. "$here/convert.sh"
# shellcheck source=tests/interop/pairs.sh
. "$here/pairs.sh"
: "${CORPUS:=$CONVERT_TOP/../shared/corpus/fsfs}"
: "${CORPUS_DIR:=$CONVERT_TOP/build/corpus}"
: "${JOBS:=2}"

# Work in memory where there is some.
base=$CONVERT_TOP/build
[ ! -w /dev/shm ] || base=/dev/shm

# The generator leaves LIST.tsv as its last step.
make_corpus() {
    [ -s "$CORPUS_DIR/LIST.tsv" ] && return
    echo "# making the corpus in $CORPUS_DIR" >&2
    "$CORPUS/make-corpus.sh" "$CORPUS_DIR" >/dev/null
}

# one REPO: prints ok, skip or FAIL and why.
one() {
    local name=${1##*/} why
    WORK=$(mktemp -d "$base/fsmend-interop.XXXXXX")
    if why=$(convert_all "$1" "${INTEROP:-full}" 2>&1); then
        echo "ok $name"
    else
        echo "FAIL $name: $why"
    fi
    rm -rf "$WORK"
}

# dump FILE VERSION: loads it and converts; a dump that this version cannot
# hold is no failure.
dump() {
    local file=$1 version=$2 name repo dir
    name=$(basename "$file" .svndump)-$version
    dir=$(mktemp -d "$base/fsmend-dump.XXXXXX")
    repo=$dir/$name
    svnadmin create --compatible-version "$version" "$repo" 2>/dev/null
    if svnadmin load --no-flush-to-disk -q "$repo" <"$file" >"$dir/out" 2>&1
    then
        INTEROP=quick one "$repo"
    else
        echo "skip $name: $(grep -m1 -o 'E[0-9]\{6\}.*' "$dir/out")"
    fi
    rm -rf "$dir"
}

# pairs REPO
pairs() {
    local name=${1##*/} out
    WORK=$(mktemp -d "$base/fsmend-pairs.XXXXXX")
    if out=$(pairs_all "$1" 2>&1); then
        echo "ok $name: $out"
    else
        echo "FAIL $name: $out"
    fi
    rm -rf "$WORK"
}

each() {
    local what=$1
    export BUILD CORPUS_DIR
    xargs -d '\n' -P "$JOBS" -n 1 "$0" "$what"
}

# built one|pairs
built() {
    make_corpus || return
    find "$CORPUS_DIR" -mindepth 2 -maxdepth 2 -name format -printf '%h\n' |
        sort | each "$1"
}

dumps() {
    local file version
    for file in "$CORPUS"/dumps/*.svndump; do
        for version in 1.1 1.4 1.5 1.6 1.8 1.9 1.10; do
            echo "$file:$version"
        done
    done | each dump
}

tally() {
    tee "$tmp" | grep -v '^ok '
    echo "$1: $(grep -c '^ok ' "$tmp") ok, $(grep -c '^skip ' "$tmp") skipped," \
        "$(grep -c '^FAIL ' "$tmp") failed"
    ! grep -q '^FAIL ' "$tmp"
}

case ${1-} in
    one) one "$2"; exit ;;
    pair) pairs "$2"; exit ;;
    dump) dump "${2%:*}" "${2##*:}"; exit ;;
esac
if [ ! -x "$CORPUS/make-corpus.sh" ]; then
    echo "skipped: no corpus at $CORPUS"
    exit 0
fi
tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
rc=0
[ "${1-built}" != built ] || built one | tally built || rc=1
if [ "${1-pairs}" = pairs ]; then
    built pair | tally pairs || rc=1
    awk '/^ok / { n += $(NF - 1) } END { print n + 0, "pairs in all" }' "$tmp"
fi
[ "${1-dumps}" != dumps ] || dumps | tally dumps || rc=1
exit "$rc"
