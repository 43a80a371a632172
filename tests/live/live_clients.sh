# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Clients that use a repository all the time, and write down what they were
# told.  Source this file with $WORK set; clients stop when $WORK/go is gone.
#
#   committer NAME URL    commits a text of its own to the file NAME
#   editor NAME URL       adds revision properties, no name twice
#   reader NAME URL       reads old revisions, whose contents are known
#
# NAME.ops has a line for each attempt, with tabs between the fields:
#
#   operation attempt start end status revision errors
#
# Status is `ok`, `error`, `hang` or `wrong`; errors are the codes of the chain,
# or what hung.
# An attempt that failed is made again until it succeeds.

: "${LIVE_TIMEOUT:=60}" "${LIVE_TRIES:=20}"

# What both ends of a connection do when a client has waited long: their stacks,
# once for each client.  A client that gives up has nothing to show any more.
watch_hangs() {
    local pid seen=' ' end
    while [ -e "$WORK/go" ] || [ -e "$WORK/stopping" ]; do
        for pid in $(pgrep -f "^(svn|svnmucc) .*$WORK|^(svn|svnmucc) .*$URL"); do
            [ "$(ps -o etimes= -p "$pid")" -ge $((LIVE_TIMEOUT - 15)) ] \
                2>/dev/null || continue
            [[ $seen != *" $pid "* ]] || continue
            seen+="$pid "
            for end in "$pid" ${SERVER:+$SERVER $(pgrep -P "$SERVER")}; do
                echo "-- $end: $(tr '\0' ' ' <"/proc/$end/cmdline")"
                gdb -p "$end" -batch -ex 'thread apply all bt 9' 2>/dev/null \
                    </dev/null | grep -E '^(#|Thread)'
            done >>"$WORK/hangs"
        done
        sleep 2
    done
}

# attempts NAME OPERATION CHECK COMMAND...: until it succeeds.  CHECK is called
# with the output in $WORK/NAME.out: it sets `revision`, or fails when what was
# read is wrong.
attempts() {
    local name=$1 op=$2 check=$3 try start end rc status revision codes
    shift 3
    for ((try = 1; try <= LIVE_TRIES; try++)); do
        revision=- codes=- rc=0
        TOKEN=$name-$op-$try
        start=$EPOCHREALTIME
        timeout -k 2 "$LIVE_TIMEOUT" "${@//@TOKEN@/$TOKEN}" \
            >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null || rc=$?
        end=$EPOCHREALTIME
        if [ "$rc" -eq 0 ]; then
            status=ok
            "$check" "$name" || status=wrong
        else
            status=error
            codes=$(grep -oE '\bE[0-9]{6}\b' "$WORK/$name.err" | uniq |
                paste -sd,)
            [ -n "$codes" ] || codes=none
            sed "s/^/$TOKEN: /" "$WORK/$name.err" >>"$WORK/$name.errors"
        fi
        # svn looks at SIGTERM between reads only: 137 when it had to be killed.
        case $rc in 124 | 137) status=hang codes=$2 ;; esac
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$op" "$try" "$start" "$end" \
            "$status" "$revision" "$codes" >>"$WORK/$name.ops"
        [ "$status" != ok ] || return 0
    done
}

committed() {
    revision=$(sed -n 's/^r\([0-9]*\) committed by .*/\1/p' "$WORK/$1.out")
    [ -n "$revision" ]
}

# The text names the operation, the log message the attempt.
text_of() {
    printf '%s operation %s\n%s\n' "$1" "$2" \
        "$(printf '%s.%s ' "$1" {1..20} "$2")"
}

committer() {
    local name=$1 url=$2 i=0
    while [ -e "$WORK/go" ]; do
        i=$((i + 1))
        text_of "$name" "$i" >"$WORK/$name.text"
        attempts "$name" "$i" committed svnmucc --non-interactive \
            -m @TOKEN@ put "$WORK/$name.text" "$url/$name"
    done
}

edited() {
    revision=$target
}

# Three of four edits go to old revisions, one to the youngest there is: the
# files of those are linked last.  The editors meet at the same revisions.
editor() {
    local name=$1 url=$2 i=0 target
    while [ -e "$WORK/go" ]; do
        i=$((i + 1))
        target=$((i * 37 % BASE + 1))
        [ $((i % 4)) -ne 0 ] || read -r target _ <"$REPO/db/current" || continue
        attempts "$name" "$i" edited svn --non-interactive propset -q \
            --revprop -r "$target" "live:$name-$i" "value $i of $name" "$url"
    done
}

read_text() {
    revision=$target
    [ "$(cat "$WORK/$1.out")" = "revision $target" ]
}

read_message() {
    revision=$target
    [ "$(cat "$WORK/$1.out")" = "edit $target" ]
}

read_history() {
    revision=$target
    [ "$(sha256sum <"$WORK/$1.out")" = "$HISTORY" ]
}

# One connection that reads several hundred revisions.
history_of() {
    svn log --non-interactive -q -v -r 1500:1200 "$1"
}

reader() {
    local name=$1 url=$2 i=0 target
    while [ -e "$WORK/go" ]; do
        i=$((i + 1))
        target=$((RANDOM % BASE + 1))
        case $((i % 4)) in
            0) attempts "$name" "$i" read_history svn log --non-interactive \
                -q -v -r 1500:1200 "$url" ;;
            1) attempts "$name" "$i" read_message svn propget \
                --non-interactive --revprop -r "$target" svn:log "$url" ;;
            *) attempts "$name" "$i" read_text svn cat --non-interactive \
                "$url/f@$target" ;;
        esac
    done
}
