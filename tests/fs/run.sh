#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.sh [KIND...]: the tests of conversions on other file systems, each made
# on an image file and mounted (mount.sh names them). Only root can do that.
#
#   FS_TESTS='interop/convert ...'   these only, as tests/setup/tally.sh names them
#   FS_SIZE=2G  FS_MANY=10000        of the image; revisions in many.bats
#   INTEROP=full                     every layout in both modes, as make interop
#
# The tests keep what they make below TMPDIR, so that is where the file system
# is. The last lines count, one for each: `KIND: N passed, N failed, N skipped`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 8
# shellcheck source=tests/fs/mount.sh
. tests/fs/mount.sh
: "${BUILD:=$PWD/build/normal}" "${FS_SIZE:=2G}"
export BUILD FS_DIR FS_KIND FS_ALONE=${FS_ALONE:-}

if [ "$(id -u)" -ne 0 ]; then
    echo 'run.sh: only root can mount file systems: nothing tested' >&2
    exit 0
fi
fs_alone tests/fs/run.sh "$@"
[ $# -gt 0 ] || read -ra kinds < <(fs_kinds)
[ $# -eq 0 ] || kinds=("$@")
work=$(mktemp -d)
chmod 755 "$work"
trap 'umount "$work"/on-* 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
sums=()
rc=0

# bats itself wants symbolic links, so on exFAT only the tests' work lies there.
on() {
    local tests=(interop/convert interop/places interop/pack cli/fsconvert)
    local tmp=$FS_DIR
    if [ "$FS_KIND" = exfat ]; then
        tests=(fs/nolinks)
        tmp=$work/side
        mkdir -p "$tmp"
    fi
    tests+=(fs/many fs/space)
    [ -z "${FS_TESTS:-}" ] || read -ra tests <<<"$FS_TESTS"
    TMPDIR=$tmp tests/setup/tally.sh "${tests[@]}"
}

for FS_KIND in "${kinds[@]}"; do
    FS_DIR=$work/on-$FS_KIND
    echo "## $FS_KIND"
    if ! { fs_can "$FS_KIND" &&
        fs_make "$FS_KIND" "$work/image" "$FS_SIZE" &&
        fs_mount "$FS_KIND" "$work/image" "$FS_DIR"; }; then
        sums+=("$FS_KIND: 0 passed, 0 failed, all skipped: $FS_WHY")
        continue
    fi
    chmod 755 "$FS_DIR"
    on | tee "$work/log"
    [ "${PIPESTATUS[0]}" -eq 0 ] || rc=1
    sums+=("$FS_KIND: $(tail -1 "$work/log")")
    fs_unmount "$FS_DIR"
    rm -f "$work/image"
done
printf '%s\n' "${sums[@]}"
exit "$rc"
