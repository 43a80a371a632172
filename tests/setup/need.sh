#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# need.sh GROUP...: what the named groups need on Debian 12 and does not lie
# here yet is installed when run by root; anybody else is told the one command
# to run. NO_INSTALL=1: nothing is ever installed, only what is missing named.
# Silent when all is there, and where there is no dpkg to ask.
set -eu

command -v dpkg-query >/dev/null || exit 0

packages() {
    case $1 in
        build)
            echo gcc libc6-dev make pkg-config
            echo libarchive-dev zlib1g-dev libpopt-dev libjansson-dev
            echo libsqlite3-dev libssl-dev
            ;;
        demo) echo subversion ;;
        test)
            echo bats bats-support bats-assert bats-file parallel
            echo libcmocka-dev subversion jq strace sqlite3 acl
            echo squashfs-tools genisoimage libarchive-tools
            ;;
        servers) echo apache2-bin libapache2-mod-svn gdb ;;
        lint)
            echo clang-format clang-tidy cppcheck shellcheck mandoc
            ;;
        fs)
            echo e2fsprogs xfsprogs btrfs-progs ntfs-3g
            echo exfatprogs exfat-fuse
            ;;
        fuzz | clang) echo clang libclang-rt-14-dev ;;
        *)
            echo "need.sh: no group named $1" >&2
            exit 16
            ;;
    esac
}

wanted=
for group; do
    wanted="$wanted $(packages "$group")"
done
# shellcheck disable=SC2086
have=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted \
    2>/dev/null | sed -n 's/ installed$//p')
missing=
for package in $wanted; do
    case "
$have
" in *"
$package
"*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0

if [ -n "${NO_INSTALL:-}" ]; then
    echo "missing packages:$missing" >&2
    exit 0 # what cannot do without them says so
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "missing packages; run:" >&2
    echo "sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { apt-get update -q && apt-get install -y -q --no-install-recommends \
    $missing; } >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "need.sh: the installation failed" >&2
    exit 1
fi
