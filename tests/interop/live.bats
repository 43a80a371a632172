#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Link mode beside live servers: clients commit, edit revision properties and
# read, directly and through a threaded svnserve, while the layout changes
# again and again.  A client may meet an error at the switch; nothing that was
# confirmed may be lost or doubled, and nothing wrong may ever be read.

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load

setup() {
    # shellcheck source=tests/interop/convert.sh
    . "$BATS_TEST_DIRNAME/convert.sh"
    WORK=$BATS_TEST_TMPDIR
    repo=$WORK/r
    server=
    clients=()
}

teardown() {
    rm -f "$WORK/go"
    [ ${#clients[@]} -eq 0 ] || kill "${clients[@]}" 2>/dev/null || :
    [ -z "$server" ] || kill "$server" || :
    wait
}

# serve: starts svnserve on a free port; sets url.
serve() {
    local try
    printf '[general]\nanon-access = write\n' >"$repo/conf/svnserve.conf"
    for try in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 20000))
        svnserve -d --foreground --threads --listen-host 127.0.0.1 \
            --listen-port "$port" -r "$WORK" 3>&- &
        server=$!
        sleep 0.3
        url=svn://127.0.0.1:$port/r
        svn ls "$url" >/dev/null 2>&1 && return
        kill "$server" 2>/dev/null || :
        echo "port $port: attempt $try failed"
    done
    return 1
}

# Errors that a client may meet at the switch (see fsconvert(1)).
allowed() {
    grep -qE 'E125006|E160006|E160013|E160004|E160043|E210002|E0000(02|17|20|21)|E170013' \
        "$1" && return
    cat "$1" >>"$WORK/unexpected"
}

# committer NAME URL: every confirmed commit is a line in NAME.done.
committer() {
    local i=0
    while [ -e "$WORK/go" ]; do
        i=$((i + 1))
        if svn mkdir -q -m "$1 $i" "$2/$1-$i" 2>"$WORK/$1.err"; then
            echo "$1-$i" >>"$WORK/$1.done"
        else
            allowed "$WORK/$1.err"
        fi
    done
}

# editor: writes counted values to the log messages of revisions 1 to 20.
editor() {
    local i=0 rev
    while [ -e "$WORK/go" ]; do
        i=$((i + 1))
        rev=$((i % 20 + 1))
        echo "edit $i" >"$WORK/value"
        if svnadmin setrevprop "$repo" -r "$rev" fsmend:edit "$WORK/value" \
            2>"$WORK/editor.err"; then
            echo "$rev edit $i" >>"$WORK/editor.done"
        else
            allowed "$WORK/editor.err"
        fi
    done
}

# reader URL: what it reads, if anything, is what was there at first.
reader() {
    local sum
    while [ -e "$WORK/go" ]; do
        if svn cat "$1/trunk/src/main.c@20" >"$WORK/read" 2>"$WORK/reader.err"
        then
            sum=$(sha256sum <"$WORK/read")
            [ "$sum" = "$(cat "$WORK/sum")" ] || echo "wrong read" \
                >>"$WORK/unexpected"
            echo >>"$WORK/reader.done"
        else
            allowed "$WORK/reader.err"
        fi
    done
}

# Every confirmed commit once, the last confirmed edit of every revision.
nothing_lost() {
    local rev
    cat "$WORK"/c?.done | sort >"$WORK/confirmed"
    svn ls "file://$repo" | sed -n 's|^\(c[0-9]-.*\)/$|\1|p' | sort \
        >"$WORK/there"
    # A commit whose answer was lost may be there unconfirmed.
    run comm -23 "$WORK/confirmed" "$WORK/there"
    refute_output
    assert_equal "$(svnlook youngest "$repo")" \
        $((24 + $(wc -l <"$WORK/there")))
    for rev in $(seq 1 20); do
        grep "^$rev " "$WORK/editor.done" | tail -1 | cut -d' ' -f2- \
            >"$WORK/last"
        svnlook propget --revprop -r "$rev" "$repo" fsmend:edit | diff - \
            "$WORK/last"
    done
}

# live KIND LAYOUT...: one conversion after the other, clients all the while.
live() {
    local kind=$1 layout before
    shift
    repo_kind "$repo" "$kind"
    svn cat "file://$repo/trunk/src/main.c@20" | sha256sum >"$WORK/sum"
    serve
    touch "$WORK/go" "$WORK/unexpected"
    committer c1 "file://$repo" 3>&- &
    clients+=($!)
    committer c2 "$url" 3>&- &
    clients+=($!)
    editor 3>&- &
    clients+=($!)
    reader "$url" 3>&- &
    clients+=($!)
    for layout in "$@"; do
        sleep 0.7
        before=$(cat "$WORK"/*.done | wc -l)
        run "$BUILD/fsconvert" -q --lock-wait=60 --layout="$layout" "$repo"
        assert_success
        assert_equal "$(layout_of "$repo")" "$layout"
        [ "$before" -gt 0 ]
    done
    sleep 0.7
    rm "$WORK/go"
    wait "${clients[@]}"
    clients=()
    run cat "$WORK/unexpected"
    refute_output
    [ "$(cat "$WORK"/*.done | wc -l)" -gt "$before" ]
    svnadmin verify -q "$repo"
    "$BUILD/fsverify" -q "$repo"
    nothing_lost
}

@test "live servers, format 2" { live f2-linear 5 linear 7 linear 4; }
@test "live servers, format 4" { live f4-linear 5 linear 7 linear 4; }
@test "live servers, format 8, physical" { live f8-linear 5 linear 7 linear 4; }
@test "live servers, format 8, logical" { live f8-4 5 7 4 6 3; }
