# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# File systems of every kind on image files, through loop devices and FUSE.
# Source this file, as root, in a mount namespace of its own (fs_alone), so
# that nothing stays mounted whatever happens:
#
#   fs_kinds                     all names
#   fs_make KIND IMAGE SIZE [OPTION...]   make one; options are those of mkfs
#   fs_mount KIND IMAGE DIR [OPTIONS]     mount it
#   fs_unmount DIR
#
# FS_WHY says why when one of them returns 1 because this machine cannot.

export PATH=$PATH:/usr/sbin:/sbin

# fs_alone SCRIPT ARGUMENT...: once more, where mounts are nobody else's.
fs_alone() {
    [ -z "${FS_ALONE:-}" ] || return 0
    FS_ALONE=1 exec unshare --mount --propagation private -- "$@"
}

# ext2 is that of its time: without an index of its directories.
fs_kinds() {
    echo ext4 ext2 xfs btrfs tmpfs ntfs exfat
}

fs_title() {
    case $1 in
        ext2) echo 'ext2, no dir_index' ;;
        ntfs) echo 'NTFS (ntfs-3g)' ;;
        exfat) echo 'exFAT (exfat-fuse)' ;;
        *) echo "$1" ;;
    esac
}

fs_without() {
    # shellcheck disable=SC2034 # read by whoever sources this
    FS_WHY=$*
    return 1
}

# fs_command NAME PACKAGE
fs_command() {
    command -v "$1" >/dev/null || fs_without "$1 (package $2) is not installed"
}

# fs_can KIND: can this machine make and mount it?
fs_can() {
    [ "$(id -u)" -eq 0 ] || fs_without 'only root can mount' || return
    case $1 in
        tmpfs) return 0 ;;
        ext4 | ext2) fs_command "mkfs.$1" e2fsprogs || return ;;
        xfs) fs_command mkfs.xfs xfsprogs || return ;;
        btrfs) fs_command mkfs.btrfs btrfs-progs || return ;;
        ntfs) fs_command mkntfs ntfs-3g && fs_command ntfs-3g ntfs-3g || return ;;
        exfat)
            fs_command mkfs.exfat exfatprogs &&
                fs_command mount.exfat-fuse exfat-fuse || return
            ;;
    esac
    case $1 in
        ntfs | exfat)
            [ -c /dev/fuse ] || fs_without 'there is no /dev/fuse'
            ;;
        *)
            grep -qw "$1" /proc/filesystems || modprobe "$1" 2>/dev/null ||
                fs_without "the kernel has no $1"
            ;;
    esac
}

fs_make() {
    local kind=$1 image=$2 size=$3 rc=0
    shift 3
    [ "$kind" != tmpfs ] || return 0
    rm -f "$image"
    truncate -s "$size" "$image" || return
    case $kind in
        ext4) mkfs.ext4 -qF "$@" "$image" ;;
        ext2) mkfs.ext2 -qF -O ^dir_index "$@" "$image" ;;
        xfs) mkfs.xfs -qf "$@" "$image" ;;
        btrfs) mkfs.btrfs -qf "$@" "$image" >/dev/null 2>&1 ;;
        ntfs) mkntfs -qQF "$@" "$image" >/dev/null 2>&1 ;;
        exfat) mkfs.exfat "$@" "$image" >/dev/null ;;
    esac || rc=$?
    [ "$rc" -eq 0 ] || fs_without "mkfs of $kind failed"
}

# The loop device goes with the mount: it is let go while still in use.
fs_mount_fuse() {
    local loop rc=0
    loop=$(losetup --find --show "$2") || return
    if [ "$1" = ntfs ]; then
        ntfs-3g -o "permissions${4:+,$4}" "$loop" "$3" || rc=$?
    else
        mount.exfat-fuse ${4:+-o "$4"} "$loop" "$3" >/dev/null || rc=$?
    fi
    losetup -d "$loop" || :
    return "$rc"
}

# tmpfs takes its size as an option, and has no image.
fs_mount() {
    local kind=$1 image=$2 dir=$3 options=${4-} rc=0
    mkdir -p "$dir"
    case $kind in
        tmpfs) mount -t tmpfs -o "${options:-size=1G}" none "$dir" || rc=$? ;;
        ntfs | exfat) fs_mount_fuse "$kind" "$image" "$dir" "$options" || rc=$? ;;
        *)
            mount -t "$kind" -o "loop${options:+,$options}" "$image" "$dir" ||
                rc=$?
            ;;
    esac
    [ "$rc" -eq 0 ] || fs_without "cannot mount $kind here"
}

# A file may stay open for a moment after whoever held it has ended.
fs_unmount() {
    local i
    for ((i = 0; i < 50; i++)); do
        umount "$1" 2>/dev/null && return
        sleep 0.1
    done
    umount "$1"
}
