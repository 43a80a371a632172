#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# readme.sh: every path that README.md names exists, every folder (of the two
# upper levels) is named there, and so is every target of the Makefile that it mentions.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
found=0

# In backquotes: a path has a slash, or is a file of the top level.
# shellcheck disable=SC2016
while read -r path; do
    [ -e "${path%/}" ] || {
        echo "README.md names $path, which is not there"
        found=1
    }
done < <(grep -oE '`[A-Za-z0-9_.][A-Za-z0-9_./-]*`' README.md | tr -d '`' |
    grep -E '^(cmd|lib|formats|tests|completions|man|\.ci)(/|$)|^(Makefile|LICENSE)$|^\.clang' |
    sort -u)

while read -r folder; do
    grep -qF "\`$folder/\`" README.md || {
        echo "README.md does not name the folder $folder/"
        found=1
    }
done < <(git ls-files 2>/dev/null | grep / | sed 's|/[^/]*$||' |
    cut -d/ -f1-2 | grep -vE '^\.ci|^completions/' | sort -u)

while read -r target; do
    grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" Makefile || {
        echo "README.md names make $target, which the Makefile does not have"
        found=1
    }
done < <(grep -oE '\bmake [a-z]+' README.md | cut -d' ' -f2 | sort -u)
exit "$found"
