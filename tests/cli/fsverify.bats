#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fsverify: what a user sees. What it finds is tests/cases.

load helper

@test "says that nothing was found, and what was not looked at" {
    repo r 4 4
    run fsverify r
    assert_success
    assert_line 'r: nothing found; 9 revisions looked at'
    assert_line --partial 'not checked:'
}

@test "-q prints nothing when all is well" {
    repo r 2 linear
    run fsverify -q r r/db
    assert_success
    refute_output
}

@test "a finding names the place, the check and the reason" {
    repo r 4 4
    rm -f r/db/revs/1/5
    run -4 fsverify r
    assert_line \
        'r: fatal: r5 (db/revs/1/5): the file is missing [fsfs.rev.missing]'
}

@test "notes with -v only, warnings cost nothing unless --strict" {
    repo r 4 4
    rm -f r/db/write-lock r/db/fsfs.conf
    run fsverify r
    assert_success
    assert_line --partial '[fsfs.conf.missing]'
    refute_line --partial '[fsfs.layout.lockfile]'
    run fsverify -v r
    assert_success
    assert_line --partial '[fsfs.layout.lockfile]'
    run -4 fsverify --strict r
}

@test "checks can be chosen and their severity changed" {
    repo r 4 4
    rm -f r/db/fsfs.conf r/db/revs/1/5
    run fsverify --only 'fsfs.conf.*' r
    assert_success
    refute_line --partial fsfs.rev
    run fsverify --skip 'fsfs.rev.*' -q r
    assert_success
    run -4 fsverify --severity fsfs.conf.missing=error --skip 'fsfs.rev.*' r
    assert_line --partial 'error: db/fsfs.conf'
}

@test "JSON has one object a finding and one a target" {
    repo good 4 4
    repo bad 4 4
    rm -f bad/db/revs/1/5 bad/db/revprops/1/6
    run -4 fsverify --json good bad
    [ "$(json 'select(.type == "finding") | .check' | paste -sd,)" = \
        fsfs.rev.missing,fsfs.revprop.missing ]
    [ "$(json 'select(.type == "summary") | .target' | paste -sd,)" = good,bad ]
}

@test "the report does not depend on the number of jobs" {
    local r
    repo r 2 linear
    for r in 1 3 4 7; do
        chmod u+w "r/db/revs/$r"
        truncate -s -5 "r/db/revs/$r"
    done
    for r in 1 2 3; do
        fsverify -v r >"out.$r" || :
    done
    cmp out.1 out.2
    cmp out.2 out.3
    assert_equal "$(grep -c fsfs.rev.truncated out.1)" 4
}

@test "thousands of equal findings are counted, not listed" {
    local r
    repo r 2 linear
    for ((r = 1000; r < 1300; r++)); do touch -d 2020-01-01 "r/db/revs/x$r"; done
    run fsverify r
    assert_success
    [ "$(grep -c layout.stray <<<"$output")" -le 110 ]
    assert_line --partial '300 warnings'
}

@test "an ordinary user without permission gets a finding, not a crash" {
    [ "$(id -u)" -eq 0 ] || skip 'needs root to become somebody else'
    id nobody >/dev/null || skip 'no user nobody'
    local dir
    dir=$(mktemp -d)
    repo "$dir/r" 4 4
    cp "$BUILD/fsverify" "$dir"
    chmod -R a+rX "$dir"
    chmod 000 "$dir/r/db/revs/1/5"
    chmod 700 "$dir/r/db/revprops/1"
    run -4 su nobody -s /bin/sh -c "cd $dir && ./fsverify r"
    rm -rf "$dir"
    assert_output --partial '[fsfs.layout.mode]'
}

@test "a repository that nobody may write to is read all the same" {
    repo r 8 4
    chmod -R a-w r
    same_tree r fsverify -q r
    chmod -R u+w r
}

@test "changes nothing and takes no lock" {
    command -v strace >/dev/null || skip 'no strace'
    strace -f -o probe true || skip 'strace may not trace here'
    repo r 8 4
    same_tree r fsverify -q r
    strace -f -e trace=%file,fcntl,flock -o calls fsverify -q r
    # SQLite is not opened, no lock file of Subversion is.
    run grep -E '(write-lock|txn-current-lock|pack-lock)"?, O_|flock\(.*LOCK_EX|F_SETLK' \
        calls
    assert_failure
    run grep -E 'O_(WRONLY|RDWR|CREAT)' calls
    refute_output --partial "r/db"
}

@test "a repository under commits, edits and packs is found healthy" {
    local stop=$BATS_TEST_TMPDIR/stop n=0 pids=()
    repo r 6 4
    printf '#!/bin/sh\nexit 0\n' >r/hooks/pre-revprop-change
    chmod +x r/hooks/pre-revprop-change
    (
        while [ ! -e "$stop" ]; do
            svn mkdir -q -m x "file://$PWD/r/dir$((n += 1))" || exit
        done
    ) 3>&- &
    pids+=($!)
    (
        while [ ! -e "$stop" ]; do
            svn propset -q --revprop -r $((RANDOM % 8)) svn:log "$RANDOM" \
                "file://$PWD/r" || exit
        done
    ) 3>&- &
    pids+=($!)
    (while [ ! -e "$stop" ]; do svnadmin pack -q r; done) 3>&- &
    pids+=($!)
    for ((n = 0; n < 60; n++)); do
        fsverify -q --strict r >>out 2>&1 || echo "status $?" >>out
    done
    touch "$stop"
    wait "${pids[@]}"
    run cat out
    refute_output
}

@test "other formats are named, and say that they have no verifier" {
    tar -cf a.tar --files-from /dev/null
    mkdir src
    tar -cf b.tar src
    run fsverify b.tar
    [ "$status" -ne 0 ]
    assert_output --partial archive
}

@test "an unfinished conversion: both commands, and status 8 alone" {
    repo r 4 linear
    fsconvert -q r
    # The journal of the finished one, as if it had just begun.
    mv r/db/fsmend/0001-layout.done r/db/fsmend/journal
    for command in fsverify fsdetect 'fsconvert --layout=7'; do
        # shellcheck disable=SC2086 # words
        run -8 --separate-stderr $command r
        # shellcheck disable=SC2154 # run sets it
        [[ "$output $stderr" == *'fsconvert --resume r'* ]]
        [[ "$output $stderr" == *'fsconvert --undo r'* ]]
    done
    run fsconvert --resume r
    assert_success
    run fsverify -q r
    assert_success
}
