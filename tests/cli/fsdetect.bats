#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fsdetect: what it says of repositories, images, archives and junk.

load helper

@test "says what a linear repository is and which command to run" {
    repo r 2 linear
    run fsdetect r
    assert_success
    assert_line --regexp '^r: Subversion repository, FSFS$'
    assert_line --regexp '^  FSFS format +2$'
    assert_line --regexp '^  layout +linear$'
    assert_line --regexp '^  youngest revision +8$'
    assert_line --regexp '^  can be read by +Subversion 1\.4 and later$'
    assert_line --regexp '^  advice: fsconvert r '
}

@test "says so where nothing needs to be done" {
    repo r 8 4
    run fsdetect r
    assert_success
    assert_line --regexp '^  addressing +logical$'
    assert_line --regexp '^  layout +sharded 4$'
    assert_line --partial 'nothing to convert; fsverify r '
}

@test "REPO/db is REPO, with and without a slash, from inside too" {
    repo r 4 linear
    for path in r/db r/db/ ./r/db; do
        run fsdetect "$path"
        assert_success
        assert_line --partial 'repository format'
    done
    cd r/db
    run fsdetect .
    assert_success
    assert_line --partial 'repository format'
}

@test "db and revs may be symbolic links" {
    repo r 4 linear
    mv r/db real
    ln -s ../real r/db
    mv real/revs revs
    ln -s ../revs real/revs
    run fsdetect r r/db
    assert_success
    assert_line --regexp '^  revision files +9$'
}

@test "every format and layout is named in JSON" {
    local f
    for f in 1 2 3 4 6 7 8; do
        REPO_REVS=2 repo "r$f" "$f" linear
    done
    run fsdetect --json r1 r2 r3 r4 r6 r7 r8
    assert_success
    [ "$(json 'select(.type == "summary") | .facts.fsfs_format' | paste -sd,)" \
        = 1,2,3,4,6,7,8 ]
    [ "$(json '.facts.layout' | sort -u)" = linear ]
    [ "$(json '.schema' | sort -u)" = fsmend/1 ]
    [ "$(json '.damaged' | sort -u)" = false ]
}

@test "counts packs, rows, transactions and locks" {
    repo_kind r f8-4-txns
    repo_add_locks r
    svnadmin pack -q r
    run fsdetect --json r
    assert_success
    [ "$(json .facts.min_unpacked_rev)" -eq 24 ]
    [ "$(json .facts.packs)" -eq 6 ]
    [ "$(json .facts.open_transactions)" -eq 2 ]
    [ "$(json '.facts.transactions | length')" -eq 2 ]
    [ "$(json .facts.locks)" -eq 3 ]
    [ "$(json .facts.rep_cache_rows)" -eq \
        "$(svnadmin verify -q r && sqlite_rows r)" ]
}

# Rows of the rep-cache, by the commit that stored them.
sqlite_rows() {
    python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/db/rep-cache.db")
print(db.execute("SELECT COUNT(*) FROM rep_cache").fetchone()[0])' "$1"
}

@test "--full counts what is sampled otherwise" {
    repo r 6 4
    run fsdetect --full --json r
    assert_success
    [ "$(json .facts.revision_files)" -eq 9 ]
    [ "$(json .facts.bytes)" -eq "$(find r/db/revs r/db/revprops -type f \
        -printf '%s\n' | awk '{ n += $1 } END { print n }')" ]
    [ "$(json .facts.largest_directory)" -eq 4 ]
}

@test "a rep-cache with a journal beside it is left alone" {
    repo r 8 4
    echo x >r/db/rep-cache.db-journal
    run fsdetect r
    assert_success
    assert_line --partial 'a journal lies beside it'
    assert_file_exist r/db/rep-cache.db-journal
}

@test "advice quotes the path for a shell" {
    repo "it's a repo" 2 linear
    run fsdetect "it's a repo"
    assert_success
    assert_line --partial "fsconvert 'it'\"'\"'s a repo' "
}

@test "damage is named, and costs exit status 4" {
    repo r 8 4
    rm -f r/db/current
    run -4 fsdetect r
    assert_line --partial 'advice: fsverify r'
    repo s 4 4
    echo 5 >s/format5
    rm -f s/db/format
    echo 5 >s/db/format
    run -4 fsdetect s
    assert_line --partial 'unreleased'
    repo t 4 4
    rm -f t/db/format
    printf '4\nlayout linear\n' >t/db/format
    run -4 fsdetect t
    assert_line --partial 'revision 0 is not where db/format says'
}

@test "a guard is an unfinished conversion: exit status 8" {
    repo r 2 linear
    rm -f r/db/format
    echo 'fsmend: unfinished conversion; run fsconvert --resume' >r/db/format
    run -8 fsdetect r
    assert_line --partial 'guard'
}

@test "BerkeleyDB and FSX are recognised and get advice" {
    mkdir -p b/db x/db/revs x/db/revprops
    touch b/db/DB_CONFIG
    echo bdb >b/db/fs-type
    run fsdetect b
    assert_success
    assert_line --partial BerkeleyDB
    assert_line --partial 'svnadmin dump b'
    rm b/db/fs-type
    run fsdetect b
    assert_success
    assert_line --partial BerkeleyDB
    echo fsx >x/db/fs-type
    run fsdetect x
    assert_success
    assert_line --partial FSX
}

@test "a lost fs-type does not hide FSFS" {
    repo r 4 4
    rm -f r/db/fs-type
    run fsdetect r
    assert_success
    assert_line --regexp 'layout +sharded 4'
}

@test "names squashfs and archives" {
    mkdir src
    echo text >src/file
    mksquashfs src a.sqfs -quiet -no-progress >/dev/null
    tar -cf a.tar src
    tar -czf a.tgz src
    printf '#mtree\nfile type=file\n' >a.mtree
    run fsdetect a.sqfs a.tar a.tgz a.mtree
    assert_success
    assert_line 'a.sqfs: squashfs 4.0, little endian'
    assert_line --regexp '^a\.tar: GNU tar format$'
    assert_line --regexp '^a\.tgz: GNU tar format, gzip$'
    assert_line 'a.mtree: mtree'
}

@test "names ISO 9660" {
    command -v genisoimage >/dev/null || skip 'no genisoimage'
    mkdir src
    echo text >src/file
    genisoimage -quiet -R -J -V 'A VOLUME' -o a.iso src
    run fsdetect a.iso
    assert_success
    assert_line 'a.iso: ISO 9660, Rock Ridge, Joliet'
    assert_line --regexp '^  volume +A VOLUME$'
}

@test "what is nothing of these is unknown: exit status 4" {
    : >empty
    head -c 100000 /dev/zero >zeros
    echo text >text
    mkdir plain
    for path in empty zeros text plain; do
        run -4 fsdetect "$path"
        assert_output --partial unknown
    done
}

@test "changes nothing" {
    repo r 8 4
    same_tree r fsdetect r
    same_tree r fsdetect --full --json r
}

@test "stays fast: a few hundred system calls" {
    command -v strace >/dev/null || skip 'no strace'
    strace -f -o probe true || skip 'strace may not trace here'
    repo r 2 linear
    # Half a million revisions would not make it more.
    strace -f -o calls fsdetect r >/dev/null
    [ "$(wc -l <calls)" -lt 500 ]
}
