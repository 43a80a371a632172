#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# all.sh [NAME...]: every check of the sources, or the named ones; what fails
# is counted, the others still run.
#
# CLANG_FORMAT and CLANG_TIDY name other versions of those two.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
: "${BUILD:=build/normal}" "${JOBS:=2}"
: "${CLANG_FORMAT:=clang-format}" "${CLANG_TIDY:=clang-tidy}"
export BUILD

mapfile -t c_files < <(find cmd lib formats tests -name '*.c' | sort)
mapfile -t h_files < <(find cmd lib formats tests -name '*.h' | sort)
mapfile -t shell_files < <(
    find tests completions man -name '*.sh' -o -name '*.bash' -o -name '*.bats' |
        grep -vE '^completions/bash/|^tests/cases/.*/make\.sh$' | sort
    echo .ci/run
)

format() {
    "$CLANG_FORMAT" --dry-run -Werror "${c_files[@]}" "${h_files[@]}"
}

# The objects' own flags, without what only gcc knows.
tidy() {
    local flags
    flags="-std=c11 -I. -D_GNU_SOURCE $(cat "$BUILD/cflags")"
    # Every check is an error, so the status tells; how many warnings the
    # headers of the system have is said on stderr, by several at a time.
    # shellcheck disable=SC2016 # sh -c expands them
    printf '%s\n' "${c_files[@]}" |
        xargs -P "$JOBS" -n 4 sh -c \
            'tidy=$1 flags=$2; shift 2; exec "$tidy" -quiet "$@" -- $flags' \
            sh "$CLANG_TIDY" "$flags" >"$out.tidy" 2>"$out.tidy.err" && return
    cat "$out.tidy"
    grep -v 'generated\.$' "$out.tidy.err"
    return 1
}

static() {
    cppcheck --quiet --std=c11 --language=c -j "$JOBS" -I. -D_GNU_SOURCE \
        --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --error-exitcode=1 cmd lib formats
}

# The many small ones are not looked at together with what they include.
shell() {
    printf '%s\n' "${shell_files[@]}" |
        xargs -P "$JOBS" -n 8 shellcheck --external-sources &&
        find tests/cases -name make.sh -print0 |
        xargs -0r -P "$JOBS" -n 50 shellcheck --exclude=SC1091,SC2154
}

pages() {
    mandoc -T lint -W warning man/*.[1-9] 2>&1 |
        grep -v 'referenced manual not found' | tee "$out.pages"
    [ ! -s "$out.pages" ]
}

checks=(format tidy static shell pages)
for script in tests/lint/*.sh; do
    name=${script##*/}
    [ "$name" = all.sh ] || checks+=("${name%.sh}")
done
[ $# -eq 0 ] || checks=("$@")

out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT
failed=0
for check in "${checks[@]}"; do
    run=$check
    [ ! -f "tests/lint/$check.sh" ] || run=tests/lint/$check.sh
    if "$run" >"$out" 2>&1; then
        echo "ok $check"
    else
        echo "not ok $check"
        failed=$((failed + 1))
    fi
    sed 's/^/    /' "$out"
done
[ "$failed" -eq 0 ]
