#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fsconvert as a user meets it: what it says, and with which status it ends.
# What it does to repositories of every kind: tests/interop.

load helper

@test "the main job, and the way back" {
    repo x 2 linear
    run fsconvert x
    assert_success
    assert_output --partial 'converted: format 2 linear to format 3 sharded 1000'
    run fsconvert x
    assert_success
    assert_output 'x: already sharded 1000, nothing to do'
    run fsconvert --undo x
    assert_success
    assert_output --partial 'undone: format 3 sharded 1000 to format 2 linear'
    run fsconvert --undo x
    assert_success
    assert_output 'x: no conversion to undo, nothing to do'
    run fsconvert --resume x
    assert_success
    assert_output --partial 'no interrupted conversion'
}

@test "--layout takes linear, sharded and numbers" {
    repo x 4 linear
    for layout in 5 sharded 1; do
        run fsconvert --layout=$layout x
        assert_success
    done
    assert_equal "$(sed -n 2p x/db/format)" 'layout sharded 1'
    for wrong in 0 -1 07 flat 2147483648 ''; do
        run -16 fsconvert "--layout=$wrong" x
    done
}

@test "--mode: link or rename" {
    repo x 4 linear
    run fsconvert --mode=rename x
    assert_success
    run -16 fsconvert --mode=copy x
}

@test "-q says nothing, -v says how long writers waited" {
    repo x 4 linear
    run fsconvert -q x
    assert_success
    refute_output
    run fsconvert -v --layout=linear x
    assert_success
    assert_output --partial 'write-lock held'
    assert_output --partial 'readers refused'
}

@test "--pack and --unpack, --servers-stopped where it matters" {
    repo x 6 4
    run fsconvert --pack x
    assert_success
    assert_output --partial 'pack r0 to r7, 2 shards'
    run -8 fsconvert --unpack x
    assert_output --partial --servers-stopped
    run fsconvert --unpack --servers-stopped x
    assert_success
    assert_output --partial 'unpack r0 to r7, 2 shards'
}

@test "--forget deletes the records, and nothing else" {
    repo x 4 linear
    fsconvert -q x
    assert_exists x/db/fsmend/0001-layout.done
    run fsconvert --forget x
    assert_success
    assert_output 'x: forgot 1 record of conversions'
    assert_not_exists x/db/fsmend
    run svnadmin verify -q x
    assert_success
}

@test "a copy: TARGET, --force, --no-proof" {
    repo x 2 linear
    run fsconvert --layout=4 x y
    assert_success
    assert_equal "$(repo_oracle x)" "$(repo_oracle y)"
    assert_equal "$(repo_shard y)" 4
    assert_equal "$(cat x/db/format)" 2
    run -8 fsconvert x y
    assert_output --partial --force
    run fsconvert --force --no-proof x y
    assert_success
    assert_equal "$(repo_shard y)" 1000
    mkdir z
    run -8 fsconvert --force x z
    assert_output --partial 'not a repository'
    run -16 fsconvert x x/inside
}

@test "a held lock is waited for, then reported; nothing has changed" {
    repo x 4 linear
    exec 9>>x/db/write-lock
    flock 9
    run -8 fsconvert --lock-wait=1 x
    assert_output --partial 'write-lock is held by another process'
    exec 9>&-
    run find x -name '.fsmend*' -o -name fsmend
    refute_output
    run svnadmin verify -q x
    assert_success
}

@test "damage is named, and the repository left alone" {
    repo x 2 linear
    rm x/db/revs/3
    repo_times x >before
    run -8 fsconvert x
    assert_output --partial fsfs.rev.missing
    repo_times x >after
    run diff before after
    assert_success
}

@test "who has it open is named at the end" {
    repo x 4 linear
    exec 9<x/db/uuid
    sleep 60 9<&9 &
    run fsconvert x
    kill $!
    exec 9<&-
    assert_success
    assert_output --partial 'Has it open now: sleep (pid '
}

@test "an absurd youngest revision is refused at once, unchecked too" {
    repo x 4 4
    for young in 4294967296 2147483647; do
        chmod u+w x/db/current
        echo $young >x/db/current
        for mode in link rename; do
            run -8 timeout 20 fsconvert --no-proof --mode=$mode --layout=7 x
            assert_output --partial 'but revs has only 9 files'
        done
    done
    assert_not_exists x/db/fsmend
}

@test "--force never replaces the source, nor a link" {
    repo x 2 linear
    repo y 2 linear
    ln -s y link
    ln -s nowhere dangling
    ln -s x self
    repo_times x >before
    for target in x ./x/ x/../x; do
        run -16 fsconvert --force x "$target"
        assert_output --partial 'is the source itself'
    done
    for target in link dangling self; do
        run -8 fsconvert --force x "$target"
        assert_output --partial 'is not a directory'
        [ -L "$target" ]
    done
    repo_times x >after
    run diff before after
    assert_success
    run find . -name '.fsmend*'
    refute_output
}

@test "a guard whose journal is lost: no false comfort" {
    repo x 4 linear
    echo 'fsmend: unfinished conversion; run fsconvert --resume or --undo on this dir' >new
    mv -f new x/db/format
    for way in --resume --undo --layout=7; do
        run -8 fsconvert $way x
        assert_output --partial 'journal, which --resume and --undo need, is lost'
    done
}

@test "while another packs: wait for its lock, look at its names after that" {
    repo x 8 4
    mkdir x/db/revs/0.pack
    : >>x/db/pack-lock
    exec 9<>x/db/pack-lock
    flock 9
    run -8 fsconvert --lock-wait=1 --layout=3 x
    assert_output --partial 'pack-lock is held by another process'
    exec 9>&-
    run -8 fsconvert --layout=3 x
    assert_output --partial 'if no other program is at work here'
    rmdir x/db/revs/0.pack
    [ "$(id -u)" -eq 0 ] || return 0
    # A lock file that we make belongs to the server, not to root.
    rm x/db/pack-lock
    chown -R 1000:1000 x
    fsconvert -q --layout=3 x
    assert_equal "$(stat -c %u x/db/pack-lock)" 1000
}
