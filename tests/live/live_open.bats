#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is open across a switch: long commits, and writers of Subversion 1.8 and
# older, which look at the layout once and then write where it was.  And that
# the checks of the live test notice what they are for.
#
# shellcheck disable=SC2034 # variables of the files that are loaded

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load

setup() {
    WORK=$BATS_TEST_TMPDIR all=$BATS_TEST_TMPDIR LIVE_REVISIONS=300
    top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    : "${BUILD:=$top/build/normal}"
    # shellcheck source=tests/live/live_make.sh
    . "$BATS_TEST_DIRNAME/live_make.sh"
    # shellcheck source=tests/live/live_servers.sh
    . "$BATS_TEST_DIRNAME/live_servers.sh"
    # shellcheck source=tests/live/live_clients.sh
    . "$BATS_TEST_DIRNAME/live_clients.sh"
    # shellcheck source=tests/live/live_check.sh
    . "$BATS_TEST_DIRNAME/live_check.sh"
    REPO=$WORK/r BASE=$LIVE_REVISIONS
}

teardown() {
    rm -f "$WORK/go"
    [ -z "${writer-}" ] || kill -9 "$writer" 2>/dev/null || :
    serve_end
}

# The other layout of a format: flat to sharded, logical from size to size.
convert() {
    "$BUILD/fsconvert" -q --lock-wait=60 --layout="$1" "$REPO"
}

other_layout() {
    case $1 in 8) echo 7 ;; *) echo 1000 ;; esac
}

well() {
    svnadmin verify -q "$REPO"
    "$BUILD/fsverify" -q "$REPO"
    run find "$REPO" -name '.fsmend*'
    refute_output
}

# --- long commits -----------------------------------------------------------

# A commit whose hook waits until it is told to go on.
holding_hook() {
    mkfifo "$WORK/held" "$WORK/release"
    # shellcheck disable=SC2016 # expanded by the hook
    printf '#!/bin/sh\n[ "$(svnlook log -t "$2" "$1")" = long ] || exit 0\n%s\n%s\n' \
        "echo >'$WORK/held'" "read -r _ <'$WORK/release'" \
        >"$REPO/hooks/pre-commit"
    chmod +x "$REPO/hooks/pre-commit"
}

# An error at the switch is a clean one: a known kind, and nothing landed.
failed_cleanly() {
    local code
    for code in $LIVE_KINDS $LIVE_KINDS_MORE; do
        ! grep -q "$code" "$WORK/long.err" || return 0
    done
    cat "$WORK/long.err"
    return 1
}

# landed YOUNGEST: the long commit is there, by itself or when made again.
landed() {
    local young
    if [ "$rc" -ne 0 ]; then
        failed_cleanly
        assert_equal "$(svnlook youngest "$REPO")" "$1"
        rm -f "$REPO/hooks/pre-commit"
        svnmucc -m long put "$WORK/big" "$URL/long" >/dev/null
        echo "# $BATS_TEST_DESCRIPTION: failed cleanly, landed when made again:" \
            "$(grep -oE 'E[0-9]{6}' "$WORK/long.err" | uniq | paste -sd,)" >&3
    fi
    young=$(svnlook youngest "$REPO")
    assert_equal "$young" $(($1 + 1))
    svnlook cat -r "$young" "$REPO" long | cmp - "$WORK/big"
    svn cat "$URL/long@$young" | cmp - "$WORK/big"
    well
}

# held FORMAT SERVER [others]: a commit waits in its hook while the layout
# changes, and while others commit.
held() {
    local young=$BASE
    live_copy "$1" "$REPO"
    serve "$2" 3>&-
    holding_hook
    head -c 3000000 /dev/urandom >"$WORK/big"
    svnmucc -m long put "$WORK/big" "$URL/long" 2>"$WORK/long.err" \
        >/dev/null 3>&- &
    writer=$!
    timeout 60 cat "$WORK/held" >/dev/null
    convert "$(other_layout "$1")"
    if [ "${3-}" = others ]; then
        svn mkdir -q -m other "file://$REPO/other"
        young=$((young + 1))
    fi
    timeout 60 sh -c "echo >'$WORK/release'"
    rc=0
    wait "$writer" || rc=$?
    writer=
    landed "$young"
}

# slow FORMAT SERVER: a client that falls silent in the middle of a large text.
slow() {
    local try
    live_copy "$1" "$REPO"
    serve "$2" 3>&-
    head -c 40000000 /dev/urandom >"$WORK/big"
    svnmucc -m long put "$WORK/big" "$URL/long" 2>"$WORK/long.err" \
        >/dev/null 3>&- &
    writer=$!
    for try in {1..1000}; do
        try=$(find "$REPO/db" -path '*/db/t*' -type f -size +2M 2>/dev/null)
        [ -z "$try" ] || break
        sleep 0.01
    done
    kill -STOP "$writer"
    [ -n "$(svnadmin lstxns "$REPO")" ]
    convert "$(other_layout "$1")"
    assert_equal "$(svnlook youngest "$REPO")" "$BASE"
    kill -CONT "$writer"
    rc=0
    wait "$writer" || rc=$?
    writer=
    landed "$BASE"
}

@test "held commit, format 2, file" { held 2 file; }
@test "held commit, format 2, threads" { held 2 threads; }
@test "held commit, format 4, fork" { held 4 fork; }
@test "held commit, format 6, threads" { held 6 threads; }
@test "held commit, format 8, threads" { held 8 threads; }
@test "held commit, format 8 upgraded, fork" { held 8u fork; }
@test "held commit while others commit, format 2" { held 2 threads others; }
@test "held commit while others commit, format 4" { held 4 fork others; }
@test "held commit while others commit, format 6" { held 6 threads others; }
@test "held commit while others commit, format 8" { held 8 threads others; }
@test "slow commit, format 2, fork" { slow 2 fork; }
@test "slow commit, format 4, threads" { slow 4 threads; }
@test "slow commit, format 6, fork" { slow 6 fork; }
@test "slow commit, format 8, threads" { slow 8 threads; }
@test "slow commit, format 8 upgraded, threads" { slow 8u threads; }

# --- writers that hold the old layout ---------------------------------------

# place LAYOUT REVISION: where it lies below revs/.
place() {
    case $1 in linear) echo "$2" ;; *) echo "$(($2 / $1))/$2" ;; esac
}

# stale OLD NEW: as a server of 1.8 does it: under the write-lock, revision
# and properties where the old layout has them, then current.  The revision is a
# real one, committed in a copy that was not converted.
stale() {
    local n=$((BASE + 1)) from to
    (
        until grep -qx "$2" "$REPO/db/format"; do :; done
        flock 9
        for d in revs revprops; do
            from=$WORK/twin/db/$d/$(place "$1" "$n")
            to=$REPO/db/$d/$(place "$1" "$n")
            mkdir -p "${to%/*}"
            cp -p "$from" "$to"
        done
        cp -p "$WORK/twin/db/current" "$REPO/db/.stale"
        mv "$REPO/db/.stale" "$REPO/db/current"
        touch "$WORK/stale.done"
    ) 9<>"$REPO/db/write-lock"
}

twin() {
    cp -a "$REPO" "$WORK/twin"
    echo stale >"$WORK/text"
    svnmucc -m stale put "$WORK/text" "file://$WORK/twin/stale"
}

# misplaced FORMAT OLD NEW LINE: while fsconvert removes the old layout, slowly.
misplaced() {
    local n=$((BASE + 1))
    live_copy "$1" "$REPO"
    [ "$1" != 2 ] || convert linear
    twin
    stale "$2" "$4" 3>&- &
    writer=$!
    run strace -f -qq -e trace=unlinkat -e inject=unlinkat:delay_enter=2000 \
        -o /dev/null "$BUILD/fsconvert" -v --layout="$3" "$REPO"
    assert_success
    assert_output --partial '2 files written in the old layout were put in place'
    wait "$writer"
    writer=
    [ -e "$WORK/stale.done" ]
    [ -f "$REPO/db/revs/$(place "$3" "$n")" ]
    assert_equal "$(svnlook youngest "$REPO")" "$n"
    assert_equal "$(svnlook cat "$REPO" stale)" stale
    well
    svn mkdir -q -m on "file://$REPO/on"
}

@test "misplaced while fsconvert cleans up, format 4, flat to 1000" {
    misplaced 4 linear 1000 'layout sharded 1000'
}

@test "misplaced while fsconvert cleans up, format 6, flat to 7" {
    misplaced 6 linear 7 'layout sharded 7'
}

@test "misplaced while fsconvert cleans up, format 8, 1000 to 7" {
    misplaced 8 1000 7 'layout sharded 7'
}

# packing FORMAT LOCK: somebody begins to pack at the switch, and goes on long.
packing() {
    live_copy "$1" "$REPO"
    (
        until grep -qx 'layout sharded 7' "$REPO/db/format"; do :; done
        flock 9
        exec sleep 120
    ) 9<>"$REPO/db/$2" 3>&- &
    writer=$!
    run strace -f -qq -e trace=unlinkat -e inject=unlinkat:delay_enter=2000 \
        -o /dev/null "$BUILD/fsconvert" -q --lock-wait=2 --layout=7 "$REPO"
    assert_success
    refute_output
    # It still has the lock, so fsconvert went by.
    run flock -n "$REPO/db/$2" true
    assert_failure
    well
}

@test "a pack that begins at the switch and takes long, format 4" {
    packing 4 write-lock
}

@test "a pack that begins at the switch and takes long, format 8" {
    packing 8 pack-lock
}

# after FORMAT OLD NEW: a server that was not restarted, after all is over.
after() {
    live_copy "$1" "$REPO"
    twin
    convert "$3"
    stale "$2" "layout sharded $3" 3>&-
    run svnlook cat "$REPO" stale
    assert_failure
    run "$BUILD/fsverify" "$REPO"
    assert_failure 4
    assert_output --partial '[fsfs.layout.misplaced]'
    "$BUILD/fsverify" --help | grep -q -e --repair ||
        skip 'found; fsverify has no --repair yet'
    run "$BUILD/fsverify" --repair "$REPO"
    assert_failure 1
    assert_equal "$(svnlook cat "$REPO" stale)" stale
    well
}

@test "misplaced after fsconvert ended, format 4" { after 4 linear 1000; }
@test "misplaced after fsconvert ended, format 8" { after 8 1000 7; }

# Names of transactions: a writer of format 2 takes the first that is free, and
# may do so after the counter of format 3 was set.
@test "transactions of format 2 writers never meet those of format 3" {
    local i
    live_copy 2 "$REPO"
    convert 1000
    for i in 0 1 2 3 4; do
        mkdir "$REPO/db/transactions/$((BASE + i))-$i.txn"
    done
    for i in 0 1 2 3 4; do
        svn mkdir -q -m "$i" "file://$REPO/d$i"
    done
    assert_equal "$(svnlook youngest "$REPO")" $((BASE + 5))
}

# --- the checks themselves --------------------------------------------------

# A short run that was well, and then something is broken on purpose.
a_run() {
    live_copy 4 "$REPO"
    HISTORY='' URL=file://$REPO
    touch "$WORK/go" "$WORK/windows"
    committer c1 "$URL" 3>&- &
    editor e1 "$URL" 3>&- &
    reader r1 "$URL" 3>&- &
    until [ "$(cat "$WORK"/*.ops 2>/dev/null | wc -l)" -gt 24 ] &&
        [ "$(wc -l <"$WORK/c1.ops")" -gt 3 ] &&
        [ "$(wc -l <"$WORK/e1.ops")" -gt 3 ]; do sleep 0.1; done
    rm "$WORK/go"
    wait
}

must_find() {
    run live_check
    assert_failure
    run cat "$WORK/faults"
    assert_output --partial "$1"
}

@test "the checks notice what is lost, doubled or wrong" {
    local young
    LIVE_REVISIONS=1600 BASE=1600
    a_run
    sed -i '/\twrong\t/d' "$WORK/r1.ops" # HISTORY is not known here
    cp -a "$WORK" "$BATS_TEST_TMPDIR.good"
    live_check || { cat "$WORK/faults"; false; }
    young=$(svnlook youngest "$REPO")

    # The last commit is gone, with no trace.
    rm "$REPO/db/revs/$young" "$REPO/db/revprops/$young"
    echo $((young - 1)) >"$REPO/db/current"
    must_find "lost commit: $young"
    rm -rf "$REPO" && cp -a "$BATS_TEST_TMPDIR.good/r" "$REPO"

    # The file of a commit in the middle is dropped.
    rm "$REPO/db/revs/$((young - 2))"
    must_find "svn cat r$((young - 2))"
    rm -rf "$REPO" && cp -a "$BATS_TEST_TMPDIR.good/r" "$REPO"

    # An edit that was confirmed is taken back.
    sed -n 2p "$WORK/e1.ops" >"$WORK/second"
    svnadmin delrevprop "$REPO" -r "$(cut -f6 "$WORK/second")" live:e1-2
    must_find 'lost edit: '
    rm -rf "$REPO" && cp -a "$BATS_TEST_TMPDIR.good/r" "$REPO"

    # A commit that nobody was told of; and one made twice.
    svn mkdir -q -m c1-1-2 "file://$REPO/twice"
    must_find 'doubled commit: c1-1'
    rm -rf "$REPO" && cp -a "$BATS_TEST_TMPDIR.good/r" "$REPO"

    # Errors: without a switch, of another kind, never overcome; wrong reads.
    cp "$WORK/r1.ops" "$WORK/kept"
    printf '999\t1\t5.0\t6.0\terror\t-\tE160006\n' >>"$WORK/r1.ops"
    must_find 'an error with no switch in sight'
    echo '5.5 5.6' >"$WORK/windows"
    must_find 'never succeeded: r1 999'
    cp "$WORK/kept" "$WORK/r1.ops"
    printf '999\t1\t5.0\t6.0\terror\t-\tE200002\n' >>"$WORK/r1.ops"
    must_find 'an error of an unknown kind'
    cp "$WORK/kept" "$WORK/r1.ops"
    printf '999\t1\t5.0\t6.0\twrong\t7\t-\n' >>"$WORK/r1.ops"
    must_find 'wrong read'
}
