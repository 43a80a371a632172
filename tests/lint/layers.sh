#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# layers.sh: who may include whom, who may print, and who may change a file.
# The rules: cmd calls formats, formats call lib, no arrow points back; only
# the transaction layer (lib/txn*.c), lib/out.c, lib/extract.c and lib/lock.c
# make a call that can change a target. That one makes "dry run" and
# "read-only" trustworthy.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
found=0

report() {
    found=1
    echo "$*"
}

# The code of a file, comments and literal text taken out, line by line.
code() {
    sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's|//.*||' -e 's|/\*.*\*/||g' \
        -e '/\/\*/,/\*\//d' "$1"
}

# includes FILE: what it includes, without the brackets.
includes() {
    sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^>"]+)[>"].*/\1/p' "$1"
}

# allow FILE PATTERN: every project header it includes matches.
allow() {
    local header
    for header in $(includes "$1" | grep -E '^(cmd|formats|lib|tests)/|^[a-z_]+\.def$'); do
        [[ $header =~ ^($2)$ ]] || report "$1: may not include $header"
    done
}

# only HEADER PATTERN: the files that include a library's header match.
only() {
    local file
    while read -r file; do
        [[ $file =~ ^($2)$ ]] || report "$file: may not include <$1>"
    done < <(grep -lE "^#include <($1)>" cmd/*.[ch] lib/*.[ch] formats/*.[ch] \
        formats/*/*.[ch])
}

for file in cmd/*.[ch]; do
    allow "$file" 'cmd/[^/]*\.h|formats/format\.h|lib/[^/]*\.h'
done
for file in formats/*.[ch]; do
    allow "$file" 'formats/format\.h|lib/[^/]*\.h'
done
for file in formats/*/*.[ch]; do
    folder=${file%/*}
    allow "$file" "$folder/[^/]*\.(h|def)|formats/format\.h|lib/[^/]*\.h"
done
for file in lib/*.[ch]; do
    allow "$file" 'lib/[^/]*\.h'
done
for file in tests/unit/*.[ch] tests/fuzz/*.[ch]; do
    [ ! -e "$file" ] || allow "$file" \
        'tests/(unit|fuzz)/[^/]*\.h|formats/(.*/)?[^/]*\.(h|def)|lib/[^/]*\.h'
done

only 'popt\.h' 'cmd/.*'
only 'jansson\.h' 'lib/report_json\.c'
only 'archive(_entry)?\.h' 'formats/archive/.*|lib/mtree\.c'
only 'sqlite3\.h' 'formats/fsfs/.*'
only 'openssl/.*\.h' 'lib/hash\.c'
only 'libdeflate\.h|lz4.*\.h|zstd\.h|lzma\.h|lzo/.*\.h' 'lib/codec_.*\.c'
# zlib's CRC-32 alone is no codec.
only 'zlib\.h' 'lib/codec_.*\.c|lib/hash\.c|lib/journal\.c'

# deny WHAT PATTERN EXCEPTION FILE...: no call of such a function.
deny() {
    local what=$1 pattern=$2 except=$3 file hit
    shift 3
    for file; do
        [[ ! $file =~ ^($except)$ ]] || continue
        while read -r hit; do
            report "$file: $what: $hit"
        done < <(code "$file" | grep -oE "(^|[^[:alnum:]_.>])($pattern)[[:space:]]*\(.*")
    done
}

sources=(cmd/*.[ch] lib/*.[ch] formats/*.[ch] formats/*/*.[ch])
writers='lib/(txn[a-z_]*|out|lock|extract)\.[ch]'

deny 'starts a program' 'system|popen|exec[lv]p?e?|posix_spawnp?|fork' - \
    "${sources[@]}"
deny 'changes a file' \
    'rename(at2?)?|unlink(at)?|link(at)?|symlink(at)?|mkdir(at)?|rmdir|remove|pwritev?2?|f?truncate(64)?|fallocate|posix_fallocate|copy_file_range|f?chmod(at)?|[fl]?chown(at)?|utimensat|futimens|utimes?|[fl]?setxattr|[fl]?removexattr|creat|mk(o)?stemps?|tmpfile|mknod(at)?|mkfifo(at)?' \
    "$writers" "${sources[@]}"
# Progress and status lines go to standard error.
deny 'writes to a descriptor' 'writev?' "$writers|lib/(progress|mem)\.c" \
    "${sources[@]}"
deny 'prints' \
    'v?f?printf|f?puts|f?putc|putchar|fwrite|perror|psignal' \
    'lib/report_(text|json)\.c' lib/*.[ch] formats/*.[ch] formats/*/*.[ch]
deny 'ends the process' '_?_?exit|_Exit|quick_exit|abort' \
    'lib/(mem|cancel)\.c' lib/*.[ch] formats/*.[ch] formats/*/*.[ch]
deny 'allocates' 'malloc|calloc|realloc(array)?|strdup|strndup|v?asprintf' \
    'lib/mem\.c' "${sources[@]}"

for file in "${sources[@]}"; do
    [[ ! $file =~ ^($writers)$ ]] || continue
    while read -r hit; do
        report "$file: opens for writing: $hit"
    done < <(code "$file" | grep -E 'O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)')
    while read -r hit; do
        report "$file: opens for writing: $hit"
    done < <(grep -E 'f(re)?d?open\([^;]*"[^"]*[wa+]' "$file")
done
exit "$found"
