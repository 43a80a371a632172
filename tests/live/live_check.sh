# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Was everything that clients were told the truth?  Asked of Subversion when
# they have ended.  Source this file after live_clients.sh; $WORK, $REPO, $BASE.
#
#   live_check     a line for each fault in $WORK/faults, status 1 if any
#   live_figures   the figures of the run, in one line
#
# $WORK/windows has a line for each switch: begin and end, in seconds.

# The kinds that fsconvert(1) counts on; then others that were seen at a switch.
# Over DAV an answer that breaks off is E175009, and properties that could not
# be read are E200017, as if there were none.
LIVE_KINDS='E125006 E160006 E160013 E160004 E000020 E000021 E000002'
LIVE_KINDS_MORE='E160043 E000017 E175008 E175002 E210002'
LIVE_KINDS_DAV='E175009 E200017'

# The clock of files is read once a tick, at most 10 ms apart.
: "${LIVE_SLACK:=0.010}"

fault() {
    echo "$*" >>"$WORK/faults"
}

all_ops() {
    local file name
    for file in "$WORK"/*.ops; do
        name=${file##*/}
        sed "s/^/${name%.ops}\t/" "$file"
    done
}

# Fields: name op try start end status revision codes.
#
# A hang of one kind is Subversion's own, and is counted, not hidden: `svn log
# -v` through svnserve (1.14.2).  When the properties of a revision cannot be
# read after its changed paths were sent, the server puts `done ( failure ...`
# into the list that is still open, and each end waits for the other for ever.
check_attempts() {
    local dav=
    [[ $URL != http:* ]] || dav=$LIVE_KINDS_DAV
    awk -F'\t' -v slack="$LIVE_SLACK" -v kinds="$LIVE_KINDS \
        $LIVE_KINDS_MORE $dav" '
        BEGIN { n = split(kinds, k, " "); for (i = 1; i <= n; i++) good[k[i]] = 1 }
        FILENAME ~ /windows$/ { split($0, w, " "); from[++m] = w[1]; to[m] = w[2]; next }
        { last[$1 " " $2] = $6 }
        $6 == "wrong" { print "wrong read: " $0 }
        $6 == "hang" && $8 != "log" { print "hang: " $0 }
        $6 != "error" && $6 != "hang" { next }
        {
            inside = 0
            for (i = 1; i <= m; i++)
                if ($4 <= to[i] + slack && $5 >= from[i] - slack) inside = 1
            if (!inside) print "an error with no switch in sight: " $0
            if ($6 == "hang") next
            n = split($8, code, ","); known = 0
            for (i = 1; i <= n; i++) if (code[i] in good) known = 1
            if (!known) print "an error of an unknown kind: " $0
        }
        END { for (op in last) if (last[op] != "ok")
            print "never succeeded: " op " (" last[op] ")" }
    ' "$WORK/windows" "$WORK/all" >>"$WORK/faults"
}

# The log of all revisions, as: r REVISION MESSAGE, p REVISION NAME VALUE.
read_log() {
    svn log --xml --with-all-revprops -r 0:HEAD "file://$REPO" >"$WORK/log" ||
        { fault 'the log cannot be read'; return; }
    awk '
        match($0, /revision="[0-9]+"/) { r = substr($0, RSTART + 10, RLENGTH - 11) }
        match($0, /<msg>[^<]*/) { print "r", r, substr($0, RSTART + 5, RLENGTH - 5) }
        match($0, /name="live:[^<]*/) {
            split(substr($0, RSTART + 11, RLENGTH - 11), part, "\">")
            print "p", r, part[1], part[2]
        }' "$WORK/log" >"$WORK/told"
}

# Every commit confirmed is in its revision; every revision was asked for, by
# an operation that has no other.
check_commits() {
    local young
    young=$(svnlook youngest "$REPO") || fault 'no youngest revision'
    awk -v base="$BASE" '$1 == "r" && $2 > base { print $2, $3 }' \
        "$WORK/told" | sort >"$WORK/there"
    awk -F'\t' '$1 ~ /^c/ && $6 == "ok" { print $7, $1 "-" $2 "-" $3 }' \
        "$WORK/all" | sort >"$WORK/confirmed"
    {
        comm -23 "$WORK/confirmed" "$WORK/there" | sed 's/^/lost commit: /'
        # Landed, though the client saw an error: it would be made twice.
        comm -13 "$WORK/confirmed" "$WORK/there" |
            sed 's/^/commit landed with an error: /'
        cut -d' ' -f2 "$WORK/there" | sed 's/-[0-9]*$//' | sort | uniq -d |
            sed 's/^/doubled commit: /'
    } >>"$WORK/faults"
    [ "$(wc -l <"$WORK/there")" -eq $((young - BASE)) ] ||
        fault "revisions up to $young, but $(wc -l <"$WORK/there") in the log"
}

check_texts() {
    local rev token name op
    while read -r rev token; do
        IFS=- read -r name op _ <<<"$token"
        text_of "$name" "$op" >"$WORK/expected"
        svn cat -r "$rev" "file://$REPO/$name@$rev" 2>&1 |
            cmp -s - "$WORK/expected" || fault "svn cat r$rev: not $token"
        svnlook cat -r "$rev" "$REPO" "$name" 2>&1 |
            cmp -s - "$WORK/expected" || fault "svnlook cat r$rev: not $token"
    done <"$WORK/confirmed"
}

check_edits() {
    awk '$1 == "p" { $1 = ""; print substr($0, 2) }' "$WORK/told" |
        sort >"$WORK/there"
    awk -F'\t' '$1 ~ /^e/ && $6 == "ok" {
        print $7, $1 "-" $2, "value", $2, "of", $1 }' "$WORK/all" |
        sort >"$WORK/edited"
    comm -23 "$WORK/edited" "$WORK/there" |
        sed 's/^/lost edit: /' >>"$WORK/faults"
}

check_leftovers() {
    find "$REPO" -name '.fsmend*' | sed 's/^/left behind: /' >>"$WORK/faults"
    find "$REPO/db/fsmend" -mindepth 1 ! -name '*.done' 2>/dev/null |
        sed 's/^/left behind: /' >>"$WORK/faults"
    svnadmin verify -q "$REPO" >"$WORK/verify" 2>&1 ||
        fault "svnadmin verify: $(head -3 "$WORK/verify" | tr '\n' ' ')"
    "$BUILD/fsverify" -q "$REPO" >"$WORK/verify" 2>&1 ||
        fault "fsverify: $(head -3 "$WORK/verify" | tr '\n' ' ')"
}

live_check() {
    : >"$WORK/faults"
    all_ops >"$WORK/all"
    check_attempts
    read_log
    check_commits
    check_texts
    check_edits
    check_leftovers
    [ ! -s "$WORK/faults" ]
}

# The kind of an error is the last known code of its chain, the cause; a star
# marks what is not among the first.  The longest wait includes what was tried
# again, but not the operations that hung.
live_figures() {
    awk -F'\t' -v named="$LIVE_KINDS" -v more="$LIVE_KINDS_MORE $LIVE_KINDS_DAV" '
        BEGIN {
            n = split(named, k, " "); for (i = 1; i <= n; i++) mark[k[i]] = ""
            n = split(more, k, " "); for (i = 1; i <= n; i++) mark[k[i]] = "*"
        }
        $3 == 1 { began[$1 " " $2] = $4 }
        $6 == "hang" { hung[$1 " " $2] = 1; hangs++ }
        $6 == "ok" {
            done[substr($1, 1, 1)]++
            waited = $5 - began[$1 " " $2]
            if (waited > longest && !hung[$1 " " $2]) longest = waited
            if ($3 > tries) tries = $3
        }
        $6 == "error" {
            n = split($8, code, ","); kind = $8
            for (i = 1; i <= n; i++)
                if (code[i] in mark) kind = code[i] mark[code[i]]
            errors++; count[kind]++
        }
        $6 == "wrong" { wrong++ }
        END {
            printf "commits %d, edits %d, reads %d, errors %d", done["c"],
                done["e"], done["r"], errors
            sep = " ("
            for (kind in count) { printf "%s%s %d", sep, kind, count[kind]; sep = ", " }
            printf "%s, tries at most %d, hangs %d, longest wait %.2f s, wrong %d\n",
                errors ? ")" : "", tries, hangs, longest, wrong
        }' "$WORK/all"
}
