#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sizes.sh: names what has grown large. A warning, for a reviewer to decide.
cd "$(dirname "$0")/../.." || exit 8

find cmd lib formats tests \( -name '*.[ch]' -o -name '*.sh' -o -name '*.bats' \) |
    sort | xargs awk '
    function limit(name) {
        if (name ~ /^cmd\/(fs|reindex)[a-z]*\.c$/) return 250
        return name ~ /\.h$/ ? 200 : 600
    }
    function close_file() {
        if (last && lines > limit(last))
            print "warning: " last " has " lines " lines, more than " limit(last)
    }
    FNR == 1 { close_file(); last = FILENAME }
    { lines = FNR }
    FILENAME ~ /\.c$/ && /^{/ { start = FNR; head = before }
    FILENAME ~ /\.c$/ && /^}/ && start {
        if (FNR - start - 1 > 80)
            print "warning: " FILENAME ":" start ": " FNR - start - 1 \
                " lines in one function"
        start = 0
    }
    END { close_file() }'
exit 0
