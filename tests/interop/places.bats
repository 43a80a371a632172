#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Repositories that do not lie in one place, or belong to somebody: symbolic
# links, mount points, setgid directories, odd modes, owners, ACLs.
#
# shellcheck disable=SC2030,SC2031 # bats runs each test in a shell of its own

load /usr/lib/bats/bats-support/load
load /usr/lib/bats/bats-assert/load
load /usr/lib/bats/bats-file/load

setup() {
    # shellcheck source=tests/interop/convert.sh
    . "$BATS_TEST_DIRNAME/convert.sh"
    WORK=$BATS_TEST_TMPDIR
    REPO_REVS=12
    MOUNTED=()
    repo_make "$WORK/r" 2 linear
    repo_oracle "$WORK/r" >"$WORK/oracle"
    WHAT=$BATS_TEST_DESCRIPTION
}

teardown() {
    local m
    for m in "${MOUNTED[@]}"; do
        umount "$m" || :
    done
}

# to LAYOUT MODE: convert in place, and it must still be the same repository.
to() {
    run "$BUILD/fsconvert" -q --mode="$2" --layout="$1" "$WORK/r"
    assert_success
    refute_output
    assert_equal "$(layout_of "$WORK/r")" "$1"
    assert_equal "$(repo_oracle "$WORK/r")" "$(cat "$WORK/oracle")"
    svnadmin verify -q "$WORK/r"
    run find "$WORK" -name '.fsmend-*'
    refute_output
}

there_and_back() {
    local mode
    for mode in link rename; do
        to 4 "$mode"
        to linear "$mode"
        to 3 "$mode"
        to 5 "$mode"
        to linear "$mode"
    done
    to 4 link
    repo_works "$WORK/r"
}

@test "revs is a relative symbolic link" {
    mkdir "$WORK/elsewhere"
    mv "$WORK/r/db/revs" "$WORK/elsewhere/r-revs"
    ln -s ../../elsewhere/r-revs "$WORK/r/db/revs"
    there_and_back
    assert_equal "$(readlink "$WORK/r/db/revs")" ../../elsewhere/r-revs
}

@test "revs and revprops are absolute symbolic links" {
    local d
    mkdir "$WORK/a" "$WORK/b"
    mv "$WORK/r/db/revs" "$WORK/a/revs"
    mv "$WORK/r/db/revprops" "$WORK/b/props"
    ln -s "$WORK/a/revs" "$WORK/r/db/revs"
    ln -s "$WORK/b/props" "$WORK/r/db/revprops"
    there_and_back
    for d in revs revprops; do assert_link_exists "$WORK/r/db/$d"; done
}

@test "db is a symbolic link" {
    mv "$WORK/r/db" "$WORK/real"
    ln -s ../real "$WORK/r/db"
    there_and_back
    assert_link_exists "$WORK/r/db"
}

@test "revprops lies on another file system" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    mkdir "$WORK/m"
    mount -t tmpfs none "$WORK/m" 2>/dev/null || skip "cannot mount"
    MOUNTED+=("$WORK/m")
    mkdir "$WORK/m/props"
    cp -a "$WORK/r/db/revprops/." "$WORK/m/props"
    rm -rf "$WORK/r/db/revprops"
    ln -s "$WORK/m/props" "$WORK/r/db/revprops"
    there_and_back
}

# mount_over WHAT TREE: a tmpfs, or a directory bound, on db/TREE.
mount_over() {
    local d=$WORK/r/db/$2
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    cp -a "$d" "$WORK/saved"
    rm -rf "$d"
    mkdir "$d"
    if [ "$1" = tmpfs ]; then
        mount -t tmpfs none "$d" 2>/dev/null || skip "cannot mount"
    else
        mkdir -p "$WORK/bound"
        mount --bind "$WORK/bound" "$d" 2>/dev/null || skip "cannot mount"
    fi
    MOUNTED+=("$d")
    cp -a "$WORK/saved/." "$d"
    rm -rf "$WORK/saved"
}

# The root of a mount cannot be exchanged: link mode may refuse, then it has to
# leave all as it was and name the mode that works.
mounted() {
    settled_tree "$WORK/r" >"$WORK/tree"
    run "$BUILD/fsconvert" -q --mode=link --layout=4 "$WORK/r"
    if [ "$status" -eq 0 ]; then
        to linear rename
    else
        assert_failure 8
        assert_output --partial --mode=rename
        settled_tree "$WORK/r" | diff "$WORK/tree" -
    fi
    to 4 rename
    to linear rename
    to 5 rename
    to 4 rename
    repo_works "$WORK/r"
}

@test "revs is a mount point (tmpfs)" {
    mount_over tmpfs revs
    mounted
}

@test "revprops is a mount point (tmpfs)" {
    mount_over tmpfs revprops
    mounted
}

@test "revs is a mount point (bound directory)" {
    mount_over bind revs
    mounted
}

@test "a symbolic link beneath revs is refused" {
    "$BUILD/fsconvert" -q --layout=4 "$WORK/r"
    mv "$WORK/r/db/revs/1" "$WORK/shard"
    ln -s "$WORK/shard" "$WORK/r/db/revs/1"
    run refused "$WORK/r" --layout=linear
    assert_success
}

# attributes DIR: of directories and of revision files by number.
attributes() {
    stat -c '%a %U:%G' "$1/db/revs/" "$1/db/revprops/"
    find "$1/db/revs/" "$1/db/revprops/" -type f -printf '%m %u:%g %f\n' | sort
}

@test "setgid directories beget setgid shards" {
    local mode
    chmod 2775 "$WORK/r/db" "$WORK/r/db/revs" "$WORK/r/db/revprops"
    [ "$(id -u)" -ne 0 ] || chgrp 12345 "$WORK/r/db/revs" "$WORK/r/db/revprops"
    attributes "$WORK/r" >"$WORK/attributes"
    for mode in link rename; do
        to 4 "$mode"
        run find "$WORK/r/db/revs" "$WORK/r/db/revprops" -type d \
            ! \( -perm 2775 -group "$(stat -c %g "$WORK/r/db/revs")" \)
        refute_output
        to linear "$mode"
        attributes "$WORK/r" | diff "$WORK/attributes" -
    done
}

@test "odd modes are kept" {
    local mode
    chmod 00750 "$WORK/r/db/revs"
    chmod 00711 "$WORK/r/db/revprops"
    chmod 0640 "$WORK/r/db/revs/3" "$WORK/r/db/format"
    chmod 0600 "$WORK/r/db/revprops/4"
    attributes "$WORK/r" >"$WORK/attributes"
    for mode in link rename; do
        to 4 "$mode"
        assert_equal "$(stat -c %a "$WORK/r/db/revs/1")" 750
        assert_equal "$(stat -c %a "$WORK/r/db/revprops/0")" 711
        assert_equal "$(stat -c %a "$WORK/r/db/revs/0/3")" 640
        assert_equal "$(stat -c %a "$WORK/r/db/format")" 640
        to linear "$mode"
        attributes "$WORK/r" | diff "$WORK/attributes" -
    done
}

@test "everything new belongs to the owner of the old" {
    local mode
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    chown -R 12345:23456 "$WORK/r"
    chown 12346 "$WORK/r/db/revs/5"
    attributes "$WORK/r" >"$WORK/attributes"
    for mode in link rename; do
        to 4 "$mode"
        run find "$WORK/r" ! \( -uid 12345 -gid 23456 \) ! -name 5
        refute_output
        assert_equal "$(stat -c %u "$WORK/r/db/revs/1/5")" 12346
        to linear "$mode"
        attributes "$WORK/r" | diff "$WORK/attributes" -
    done
}

@test "access control lists are kept" {
    local mode d
    command -v setfacl >/dev/null || skip "setfacl is not installed"
    for d in revs revprops; do
        setfacl -m u:12345:rwx -d -m u:12345:rwx "$WORK/r/db/$d" 2>/dev/null ||
            skip "no ACLs on this file system"
        setfacl -m u:12345:r "$WORK/r/db/$d/2"
    done
    setfacl -m u:12345:r "$WORK/r/db/format"
    for mode in link rename; do
        to 4 "$mode"
        for d in revs revprops; do
            getfacl -cn "$WORK/r/db/$d" >"$WORK/acl"
            grep -q '^default:user:12345:rwx' "$WORK/acl"
            getfacl -cn "$WORK/r/db/$d/0" | diff "$WORK/acl" -
            run getfacl -cn "$WORK/r/db/$d/0/2"
            assert_line 'user:12345:r--'
        done
        run getfacl -cn "$WORK/r/db/format"
        assert_line 'user:12345:r--'
        to linear "$mode"
    done
}

@test "files that are hard links into a backup stay as they are" {
    local mode
    cp -al "$WORK/r" "$WORK/backup"
    repo_tree "$WORK/backup" >"$WORK/before"
    for mode in link rename; do
        to 4 "$mode"
        repo_works "$WORK/r"
        repo_oracle "$WORK/r" >"$WORK/oracle"
        repo_tree "$WORK/backup" | diff "$WORK/before" -
        to linear "$mode"
    done
    svnadmin verify -q "$WORK/backup"
}

@test "a group that the user is not in: refused, not lost" {
    local mode
    [ "$(id -u)" -eq 0 ] || skip 'only root can give files to others'
    chmod 755 "$WORK" "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$(dirname "$WORK")"
    chown -R 1000:33 "$WORK/r"
    [ -g "$WORK/r/db/revs" ] || skip 'here a new owner takes the setgid bit away'
    find "$WORK/r" -printf '%p %y %m %U:%G\n' | sort >"$WORK/before"
    for mode in link rename; do
        run setpriv --reuid=1000 --regid=1000 --clear-groups \
            "$BUILD/fsconvert" --mode=$mode --layout=4 "$WORK/r"
        assert_failure 8
        assert_output --partial 'cannot keep group 33'
        find "$WORK/r" -printf '%p %y %m %U:%G\n' | sort >"$WORK/after"
        run diff "$WORK/before" "$WORK/after"
        assert_success
    done
    run setpriv --reuid=1000 --regid=33 --clear-groups \
        "$BUILD/fsconvert" -q --layout=4 "$WORK/r"
    assert_success
    assert_equal "$(stat -c %a:%g "$WORK/r/db/revs/0")" 2755:33
}
