# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Small FSFS repositories made by stock tools alone (svnadmin, svn, svnlook),
# and the questions that every test asks of a repository.  Source this file:
#
#   repo_make DIR FORMAT LAYOUT [packed]   FORMAT 1 2 3 4 6 7 8
#                                          LAYOUT linear, N or N/physical
#   repo_kind DIR KIND                     one of the names of repo_kinds
#   repo_kinds [packed]                    all names, or the packed ones
#   repo_oracle REPO                       one line that stands for the contents
#   repo_tree DIR / repo_times DIR         what lies on disk, without/with times
#   repo_works REPO                        does Subversion still do everything?
#
# REPO_REVS=N keeps only the first N revisions (24 are written otherwise).

# The version of Subversion that made each format.
repo_version() {
    case $1 in
        1) echo 1.3 ;;
        2) echo 1.4 ;;
        3) echo 1.5 ;;
        4) echo 1.6 ;;
        6) echo 1.8 ;;
        7) echo 1.9 ;;
        8) echo 1.10 ;;
        *) echo "repo_version: no format $1" >&2; return 1 ;;
    esac
}

# --- a dump stream ----------------------------------------------------------

# stream_props [NAME VALUE]...  sets STREAM_PROPS
stream_props() {
    STREAM_PROPS=
    while (($#)); do
        STREAM_PROPS+="K ${#1}"$'\n'"$1"$'\n'"V ${#2}"$'\n'"$2"$'\n'
        shift 2
    done
    STREAM_PROPS+=$'PROPS-END\n'
}

# stream_rev NUMBER LOG [NAME VALUE]...
stream_rev() {
    local number=$1 log=$2 date
    shift 2
    printf -v date '2004-06-%02dT08:00:%02d.%06dZ' $((number % 28 + 1)) \
        $((number % 60)) $((number * 137))
    stream_props svn:log "$log" svn:author ada svn:date "$date" "$@"
    printf 'Revision-number: %d\nProp-content-length: %d\n' "$number" \
        "${#STREAM_PROPS}"
    printf 'Content-length: %d\n\n%s\n' "${#STREAM_PROPS}" "$STREAM_PROPS"
}

# stream_node ACTION KIND PATH [TEXT|- [COPYFROM-REV COPYFROM-PATH
#             [NAME VALUE]...]]     TEXT "-" and COPYFROM-REV "-" mean none
stream_node() {
    local action=$1 kind=$2 path=$3 text=${4--} rev=${5--} from=${6-}
    shift $(($# < 6 ? $# : 6))
    printf 'Node-path: %s\nNode-action: %s\n' "$path" "$action"
    [ "$action" = delete ] || printf 'Node-kind: %s\n' "$kind"
    [ "$rev" = - ] ||
        printf 'Node-copyfrom-rev: %d\nNode-copyfrom-path: %s\n' "$rev" "$from"
    STREAM_PROPS=
    if (($#)); then
        stream_props "$@"
        printf 'Prop-content-length: %d\n' "${#STREAM_PROPS}"
    fi
    if [ "$text" = - ]; then
        text=
    else
        printf 'Text-content-length: %d\n' "${#text}"
    fi
    printf 'Content-length: %d\n\n%s%s\n\n' \
        $((${#STREAM_PROPS} + ${#text})) "$STREAM_PROPS" "$text"
}

# 24 revisions: two shards of 10, or six of 4, and a part of the next.
repo_stream() {
    local LC_ALL=C i text='' bytes='' octal STREAM_PROPS
    for ((i = 1; i < 256; i++)); do
        printf -v octal '\\%03o' "$i"
        bytes+=$octal
    done
    printf -v bytes '%b' "${bytes//\\/\\0}"
    for ((i = 0; i < 60; i++)); do
        text+="line $i: the quick brown fox number $((i * i * 7919 % 65537))"$'\n'
    done

    printf 'SVN-fs-dump-format-version: 2\n\n'
    printf 'UUID: 5eed0000-0000-4000-8000-000000000001\n\n'
    stream_rev 0 ''
    stream_rev 1 'layout'
    for i in trunk branches tags; do stream_node add dir "$i"; done
    stream_rev 2 'files'
    stream_node add dir trunk/src
    stream_node add file trunk/src/main.c "$text"
    stream_node add file trunk/README 'read me'$'\n'
    stream_node add file trunk/empty ''
    stream_rev 3 'edit'
    stream_node change file trunk/src/main.c "${text/line 7/LINE SEVEN}"
    stream_rev 4 'properties'
    stream_node change dir trunk - - '' svn:ignore '*.o' empty ''
    stream_node change file trunk/README - - '' svn:eol-style native bin "$bytes"
    stream_rev 5 'branch'
    stream_node add dir branches/one - 4 trunk
    stream_rev 6 'on the branch'
    stream_node change file branches/one/src/main.c "${text/line 9/LINE NINE}"
    stream_rev 7 'merge'
    stream_node change file trunk/src/main.c "${text/line 9/LINE NINE}"
    stream_node change dir trunk - - '' svn:mergeinfo '/branches/one:5-6'
    stream_rev 8 'tag'
    stream_node add dir tags/first - 7 trunk
    stream_rev 9 'rename'
    stream_node add file trunk/READ.txt - 8 trunk/README
    stream_node delete file trunk/README
    stream_rev 10 'replace'
    stream_node delete file trunk/empty
    stream_node add dir trunk/empty - 9 trunk/src
    stream_node change file trunk/empty/main.c "copied ${text:0:900}"
    stream_rev 11 'odd names'
    for i in 'with space' 'percent%20' 'hash#' "quote'" 'back\slash' '-dash' \
        END 'K 4' 'at@3' $'caf\xc3\xa9' $'cafe\xcc\x81' $'\xe6\x97\xa5'; do
        stream_node add file "trunk/$i" "$i"
    done
    stream_rev 12 'binary, same bytes twice'
    stream_node add file trunk/bin "$bytes$bytes" - '' svn:mime-type \
        application/octet-stream
    stream_node add file trunk/bin2 "$bytes$bytes"
    stream_rev 13 $'\xe6\x97\xa5 odd log\n\nEND\nK 3\nabc\n' custom:bin "$bytes"
    stream_node change file trunk/bin2 ''
    stream_rev 14 'nothing at all'
    stream_rev 15 'root property'
    stream_node change dir '' - - '' owner everyone
    stream_rev 16 'delete'
    stream_node delete dir branches/one
    for ((i = 17; i <= 24; i++)); do
        stream_rev "$i" "edit $i"
        stream_node change file trunk/src/main.c "${text/line $i/edit $i}"
        stream_node add file "trunk/new$i" "$i"
    done
}

# --- making repositories ----------------------------------------------------

# Revision 0 with physical addressing, the same bytes in every format.
repo_r0() {
    printf 'PLAIN\nEND\nENDREP\nid: 0.0.r0/17\ntype: dir\ncount: 0\n'
    printf 'text: 0 0 4 4 2d2977d1c96f487abe4a1e202dd03b4e\ncpath: /\n\n\n'
    printf '17 107\n'
}

# repo_create DIR FORMAT LAYOUT: empty.  Only in an empty repository may the
# layout line be edited, and revision 0 has to go where it says.
repo_create() {
    local dir=$1 format=$2 layout=$3 size=${3%/*} addressing=logical d
    svnadmin create --compatible-version "$(repo_version "$format")" "$dir" ||
        return
    [ "$format" -ge 3 ] || return 0
    case $layout in linear | */physical) addressing=physical ;; esac
    chmod u+w "$dir/db/format"
    {
        echo "$format"
        if [ "$layout" = linear ]; then
            echo 'layout linear'
        else
            echo "layout sharded $size"
        fi
        [ "$format" -lt 7 ] || echo "addressing $addressing"
    } >"$dir/db/format"
    chmod a-w "$dir/db/format"
    if [ "$layout" = linear ]; then
        for d in "$dir/db/revs" "$dir/db/revprops"; do
            mv "$d/0/0" "$d/r0" && rmdir "$d/0" && mv "$d/r0" "$d/0" || return
        done
    fi
    if [ "$format" -ge 7 ] && [ "$addressing" = physical ]; then
        d=$dir/db/revs/0
        [ "$layout" = linear ] || d+=/0
        chmod u+w "$d" && repo_r0 >"$d" && chmod a-w "$d"
    fi
}

# repo_load DIR [FIRST]: the stream, from revision FIRST on.
repo_load() {
    repo_stream | svnadmin load --no-flush-to-disk -q \
        -r "${2:-0}:${REPO_REVS:-24}" "$1"
}

repo_make() {
    repo_create "$1" "$2" "$3" && repo_load "$1" || return
    [ "${4-}" != packed ] || svnadmin pack -q "$1"
}

# What an upgrade of an old repository leaves: format 8, linear, three fields
# in `current`, ids of two styles when history goes on afterwards.
repo_upgraded() {
    local all=${REPO_REVS:-24}
    repo_create "$1" "$2" "$3" && REPO_REVS=$((all / 2)) repo_load "$1" || return
    svnadmin upgrade "$1" >/dev/null || return
    [ "${4-}" != mixed ] || repo_load "$1" $((all / 2 + 1))
}

repo_add_locks() {
    local path comment
    comment=$(mktemp)
    echo 'hands off' >"$comment"
    for path in /trunk/src/main.c /trunk/empty/main.c '/trunk/with space'; do
        svnadmin lock "$1" "$path" ada "$comment" >/dev/null || return
    done
    rm -f "$comment"
}

# A hook that kills the client leaves the transaction behind, as a crash does.
repo_add_txns() {
    local hook=$1/hooks/pre-commit file i
    file=$(mktemp)
    # shellcheck disable=SC2016 # expanded by the hook
    printf '#!/bin/sh\nkill -9 $PPID\n' >"$hook"
    chmod +x "$hook"
    for i in 1 2; do
        (
            svn import -q -m 'never finished' "$file" \
                "file://$(realpath "$1")/trunk/left$i" &
            wait $!
        ) >/dev/null 2>&1 || :
    done
    rm -f "$hook" "$file"
    [ "$(svnadmin lstxns "$1" | wc -l)" -eq 2 ]
}

# node-origins is filled for ids of formats 1 and 2 only, by requests that
# trace a node to its birth.
repo_add_origins() {
    local wc
    wc=$(mktemp -d)
    svn checkout -q "file://$(realpath "$1")/trunk" "$wc" || return
    (cd "$wc/src" && svn merge -q --accept postpone -r 10:3 \
        ^/trunk/src/main.c main.c) >/dev/null 2>&1 || :
    rm -rf "$wc"
    [ -n "$(ls "$1/db/node-origins" 2>/dev/null)" ]
}

repo_add_hooks() {
    printf '#!/bin/sh\nexit 0\n' >"$1/hooks/post-commit"
    chmod +x "$1/hooks/post-commit"
    echo 'password-db = passwd' >>"$1/conf/svnserve.conf"
}

repo_kinds() {
    local f
    if [ "${1-}" = packed ]; then
        for f in 4 6 7 8; do echo "f$f-4-packed"; done
        echo f7-4-physical-packed
        echo f8-4-physical-packed
        return
    fi
    for f in 1 2 3 4 6 7 8; do echo "f$f-linear"; done
    for f in 3 4 6 7 8; do echo "f$f-4"; done
    echo f7-4-physical
    echo f8-4-physical
    echo f1-linear-upgraded
    echo f2-linear-mixed
    echo f2-linear-origins
    echo f4-4-upgraded
    for f in f1-linear f2-linear f3-linear f4-4 f8-4; do
        echo "$f-locks"
        echo "$f-txns"
    done
    echo f4-linear-hooks
}

# repo_kind DIR KIND, e.g. f8-4-physical-packed
repo_kind() {
    local dir=$1 format layout trait
    IFS=- read -r format layout trait <<<"$2"
    format=${format#f}
    case $trait in
        '') repo_make "$dir" "$format" "$layout" ;;
        packed) repo_make "$dir" "$format" "$layout" packed ;;
        physical) repo_make "$dir" "$format" "$layout/physical" ;;
        physical-packed) repo_make "$dir" "$format" "$layout/physical" packed ;;
        upgraded) repo_upgraded "$dir" "$format" "$layout" ;;
        mixed) repo_upgraded "$dir" "$format" "$layout" mixed ;;
        origins)
            repo_upgraded "$dir" "$format" "$layout" mixed &&
                repo_add_origins "$dir"
            ;;
        locks | txns | hooks)
            repo_make "$dir" "$format" "$layout" && "repo_add_$trait" "$dir"
            ;;
        *) echo "repo_kind: no kind $2" >&2; return 1 ;;
    esac
}

# --- asking -----------------------------------------------------------------

repo_oracle() {
    local sum
    sum=$(set -o pipefail; svnadmin dump -q "$1" | sha256sum) || return
    echo "${sum%% *}"
}

# Type, mode, owner, name, link target and contents of everything below DIR.
repo_tree() {
    (
        cd "$1" || exit
        find . -printf '%y %m %U:%G %p %l\n' | LC_ALL=C sort -k4
        find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum
    )
}

# The same with the time of the last change, inode and link count instead of
# contents.  The time of access is left out: reading is allowed.  So is the size
# of directories: NTFS through FUSE tells sometimes one, sometimes another.
repo_times() {
    (cd "$1" && find . \
        \( -type d -printf '%y %m %U:%G %i %n - %T@ %C@ %p %l\n' \) -o \
        -printf '%y %m %U:%G %i %n %s %T@ %C@ %p %l\n' | LC_ALL=C sort -k9)
}

# repo_shard REPO: revisions per shard, 0 for linear.
repo_shard() {
    local n
    n=$(sed -n 's/^layout sharded //p' "$1/db/format")
    echo "${n:-0}"
}

# Every use of a repository that a conversion could break; changes REPO.
repo_works() {
    local repo url wc young
    repo=$(realpath "$1")
    url=file://$repo
    wc=$(mktemp -d) || return
    young=$(svnlook youngest "$repo") &&
        repo_works_client "$repo" "$url" "$wc" "$young" &&
        repo_works_admin "$repo" "$young" &&
        svnadmin verify -q "$repo"
    set -- $?
    rm -rf "$wc"
    return "$1"
}

# Checkout, commit, edit, copy, lock.
repo_works_client() {
    local repo=$1 url=$2 wc=$3 young=$4
    # Externals of a public dump lead to servers of others.
    svn checkout -q --ignore-externals "$url" "$wc/all" || return
    svn mkdir -q --force-log -m works "$url/works-$young" &&
        svn checkout -q "$url/works-$young" "$wc/w" || return
    echo one >"$wc/w/file"
    svn add -q "$wc/w/file" && svn commit -q --force-log -m one "$wc/w" || return
    echo two >>"$wc/w/file"
    svn commit -q --force-log -m two "$wc/w" || return
    [ "$(svn cat "$url/works-$young/file")" = $'one\ntwo' ] || return
    [ "$(svn cat "$url/works-$young/file@$((young + 2))")" = one ] || return
    svn copy -q --force-log -m copy "$url/works-$young" "$url/works-$young-copy" || return
    [ "$(svnlook youngest "$repo")" -eq $((young + 4)) ] || return
    [ "$(svnlook cat "$repo" "works-$young-copy/file")" = $'one\ntwo' ] || return
    svn lock "$url/works-$young/file" >/dev/null || return
    [[ $(svnlook lock "$repo" "works-$young/file") == 'UUID Token:'* ]] || return
    svn unlock "$url/works-$young/file" >/dev/null
}

# Revision properties, old and new; pack.
repo_works_admin() {
    local repo=$1 young=$2 rev size full
    for rev in 0 "$young" $((young + 2)); do
        echo "worked $rev" >"$repo/value"
        svnadmin setrevprop "$repo" -r "$rev" fsmend:works "$repo/value" ||
            return
        rm "$repo/value"
        [ "$(svnlook propget --revprop -r "$rev" "$repo" fsmend:works)" = \
            "worked $rev" ] || return
    done
    size=$(repo_shard "$repo")
    if [ "$size" -gt 0 ] && [ "$(head -1 "$repo/db/format")" -ge 4 ]; then
        svnadmin pack -q "$repo" || return
        full=$(((young + 5) / size * size))
        [ "$(cat "$repo/db/min-unpacked-rev")" -eq "$full" ] || return
        [ "$full" -eq 0 ] ||
            [ -f "$repo/db/revs/$((full / size - 1)).pack/pack" ]
    fi
}
