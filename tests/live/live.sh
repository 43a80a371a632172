#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# live.sh [FORMAT:SERVER]...
#
# Conversions beside live servers, in full.  A repository of 5,000 revisions
# goes from flat to sharded and back again and again while clients commit, edit
# revision properties and read, through a server and directly.  One line for
# each scenario, then a sum; the status is 1 when anything was lost, doubled or
# wrong.  FORMAT is 2, 4, 6, 8 (logical, so 1000 to 137 and back) or 8u (a flat
# format 4 upgraded); SERVER is file, fork, threads or apache.
#
#   LIVE_SWITCHES=8  conversions, at least, in each
#   LIVE_COMMITS=110 commits, at least, in each
#   LIVE_DIR=DIR     where repositories are made; KEEP=1 leaves them there
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${BUILD:=$top/build/normal}" "${LIVE_SWITCHES:=8}" "${LIVE_COMMITS:=110}"
# shellcheck source=tests/live/live_clients.sh
. "$here/live_clients.sh"
# shellcheck source=tests/live/live_servers.sh
. "$here/live_servers.sh"
# shellcheck source=tests/live/live_check.sh
. "$here/live_check.sh"
# shellcheck source=tests/live/live_make.sh
. "$here/live_make.sh"

clients=() watcher=
stop() {
    touch "$WORK/stopping"
    rm -f "$WORK/go"
    [ ${#clients[@]} -eq 0 ] || wait "${clients[@]}"
    clients=()
    rm -f "$WORK/stopping"
    [ -z "$watcher" ] || wait "$watcher"
    watcher=
}

# The end of a script ends what it started.
# shellcheck disable=SC2317 # called by the trap
leave() {
    [ -z "${WORK-}" ] || { stop; serve_end; }
    [ -n "${KEEP-}" ] || rm -rf "$all"
}

client() {
    "$@" &
    clients+=($!)
}

start_clients() {
    local direct=file://$REPO i
    touch "$WORK/go" "$WORK/windows"
    watch_hangs &
    watcher=$!
    for i in 1 2 3 4; do client committer "c$i" "$URL"; done
    client reader r1 "$URL"
    client reader r2 "$URL"
    client editor e1 "$URL"
    [ "$URL" != "$direct" ] || return 0
    # Whoever uses it directly must be who the server is.
    client as_server committer c5 "$direct"
    client as_server editor e2 "$direct"
}

# A client of the same user as the server: the words go before each command.
as_server() {
    # shellcheck disable=SC2317 # called by the client
    timeout() {
        command timeout "${@:1:3}" "${AS[@]}" "${@:4}"
    }
    "$@"
}

# switch LAYOUT: a conversion; its window is a line in $WORK/windows.  The
# commit point is the time at which the new db/format was renamed into place.
switch() {
    local commit window
    "${AS[@]}" "$WORK/bin/fsconvert" --json --lock-wait=60 --layout="$1" \
        "$REPO" >"$WORK/convert" 2>&1 ||
        { fault "fsconvert: $(head -c 600 "$WORK/convert")"; return 1; }
    commit=$(stat -c %.9Z "$REPO/db/format")
    window=$(jq -r 'select(.changed) | .switch_seconds' "$WORK/convert")
    [ -n "$window" ] || { fault "nothing was converted to $1"; return 1; }
    awk -v c="$commit" -v w="$window" \
        'BEGIN { printf "%.6f %.6f\n", c - w, c }' >>"$WORK/windows"
    jq -r '"\(.locked_seconds) \(.switch_seconds) \(.misplaced) \(.refreshed)"' \
        "$WORK/convert" >>"$WORK/held"
}

commits_so_far() {
    grep -h -c -P '\tok\t' "$WORK"/c?.ops 2>/dev/null |
        awk '{ n += $1 } END { print n + 0 }'
}

# Back and forth until there was enough of both, or for five minutes.
rounds() {
    local layouts=("$@") n=0 limit=$((SECONDS + 300))
    sleep 1
    while [ "$n" -lt "$LIVE_SWITCHES" ] || [ $((n % 2)) -ne 0 ] ||
        [ "$(commits_so_far)" -lt "$LIVE_COMMITS" ]; do
        [ "$SECONDS" -lt "$limit" ] || { fault 'too slow'; return; }
        switch "${layouts[n % 2]}" || return
        n=$((n + 1))
        sleep 0.$((RANDOM % 5 + 3))
    done
    SWITCHES=$n
}

scenario() {
    local format=$1 kind=$2 name="format $1, $2" rc=0 held layouts=(1000 linear)
    [ "$format" != 8 ] || layouts=(137 1000)
    WORK=$all/$format-$kind REPO=$all/$format-$kind/r SWITCHES=0
    mkdir -p "$WORK/bin"
    cp "$BUILD/fsconvert" "$WORK/bin/"
    live_copy "$format" "$REPO" || { echo "FAIL $name: not made"; return 1; }
    BASE=$LIVE_REVISIONS
    HISTORY=$(history_of "file://$REPO" | sha256sum)
    serve "$kind" || rc=$?
    if [ "$rc" -eq 77 ]; then
        echo "skip $name: $(cat "$WORK/why")"
        return 0
    fi
    [ "$rc" -eq 0 ] || { echo "FAIL $name: $(cat "$WORK/why")"; return 1; }
    : >"$WORK/early"
    start_clients
    rounds "${layouts[@]}"
    sleep 0.7
    stop
    serve_end
    cp "$WORK/faults" "$WORK/early" 2>/dev/null
    live_check
    cat "$WORK/early" >>"$WORK/faults"
    held=$(awk '$1 > l { l = $1 } $2 > s { s = $2 } { m += $3; r += $4 }
        END { printf "locked at most %.0f ms, refused %.1f ms, refreshed %d, misplaced %d",
            l * 1000, s * 1000, r, m }' "$WORK/held")
    [ ! -s "$WORK/faults" ] || rc=1
    [ "$rc" -eq 0 ] && echo -n "ok   " || echo -n "FAIL "
    echo "$name: switches $SWITCHES, $(live_figures); $held"
    sed 's/^/     /' "$WORK/faults" | head -20
    [ ! -s "$WORK/hangs" ] || cut -c 1-110 "$WORK/hangs" | sed 's/^/     /'
    total=$((total + $(wc -l <"$WORK/confirmed")))
    [ -n "${KEEP-}" ] || [ "$rc" -ne 0 ] || rm -rf "$WORK"
    return "$rc"
}

default=()
for f in 2 4 6 8 8u; do
    for s in file fork threads apache; do default+=("$f:$s"); done
done
[ $# -gt 0 ] || set -- "${default[@]}"

base=${LIVE_DIR:-${TMPDIR:-/tmp}}
all=$(mktemp -d "$base/fsmend-live.XXXXXX")
chmod 755 "$all"
trap leave EXIT
trap 'exit 130' INT TERM
failed=0 total=0
for s; do
    scenario "${s%:*}" "${s#*:}" || failed=$((failed + 1))
done
echo "$# scenarios, $failed failed, $total commits confirmed and found"
[ "$failed" -eq 0 ]
