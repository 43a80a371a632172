# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the crash tests ask at one point, that is: after fsconvert was killed, or
# one of its calls failed, at its N-th changing system call.  A case is a kind
# of repository, a wish and a mode:
#
#   wish   a layout, `pack`, `unpack`, or a layout and one of them: 6+pack
#   mode   link, rename, auto (whatever fsconvert chooses, servers stopped), or
#          copy (`fsconvert REPO TARGET`)
#
# case_prepare makes in $CASE
#
#   master    the repository before            old.tree    what lies there
#   done      after an undisturbed conversion  new.tree    what lies there
#   log       the calls: `N name path [path]`  oracle      the dump, as a hash
#
# Every question ends in fail() or returns 0; failures are lines in $CASE/failed.

CRASH_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${BUILD:=$CRASH_TOP/build/normal}"
GUARD='fsmend: unfinished conversion'

# shellcheck source=tests/repos/make.sh
. "$CRASH_TOP/tests/repos/make.sh"

# Memory is best: thousands of small trees are copied and thrown away.
crash_dir() {
    if [ -z "${CRASH_DIR-}" ]; then
        CRASH_DIR=$CRASH_TOP/build/crash
        [ ! -w /dev/shm ] || CRASH_DIR=/dev/shm/fsmend-crash.$$
    fi
    mkdir -p "$CRASH_DIR"
    CRASH_DIR=$(cd "$CRASH_DIR" && pwd -P)
}

crash_shim() {
    SHIM=$CRASH_DIR/shim.so
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -fPIC -shared -o "$SHIM" \
        "$CRASH_TOP/tests/crash/shim.c" -ldl || return
    # The run-time library of a sanitizer insists on being the first.
    PRELOAD="$(ldd "$BUILD/fsconvert" |
        awk '/lib(asan|tsan|ubsan)/ { print $3 }' | tr '\n' ' ')$SHIM"
}

fail() {
    echo "FAIL $KIND to $WISH, $MODE, $POINT: $*" | tee -a "$CASE/failed" >&2
    return 1
}

# under REPO VAR=VALUE... -- COMMAND...: runs COMMAND with the shim.  Its
# output goes to $POINT_DIR/out and err; the shell's own "Killed" to nowhere.
under() {
    local repo=$1 env=()
    shift
    while [ "$1" != -- ]; do
        env+=("$1")
        shift
    done
    shift
    {
        env LD_PRELOAD="$PRELOAD" FSMEND_CRASH_ROOT="$repo" "${env[@]}" "$@" \
            >"$POINT_DIR/out" 2>"$POINT_DIR/err"
    } 2>/dev/null
}

# Sets COMMAND, without its operands.
convert() {
    local part
    COMMAND=("$BUILD/fsconvert")
    case $MODE in
        link | rename) COMMAND+=(--mode="$MODE") ;;
        auto) COMMAND+=(--servers-stopped) ;;
    esac
    for part in ${WISH//+/ }; do
        case $part in
            pack | unpack) COMMAND+=("--$part") ;;
            *) COMMAND+=(--layout="$part") ;;
        esac
    done
}

# The ways on and back, with what the way there needed to be allowed.
ways() {
    RESUME=("$BUILD/fsconvert" --resume)
    UNDO=("$BUILD/fsconvert" --undo)
    [ "$MODE" != auto ] || RESUME+=(--servers-stopped)
    [ "$MODE" != auto ] || UNDO+=(--servers-stopped)
}

# --- what lies there --------------------------------------------------------

# The tree without the journals, which may stay, and without the instance id.
tree() {
    local but='^$'
    [ "$FORMAT" -lt 7 ] || but='^[0-9a-f]{64}  \./db/uuid$'
    [ -z "$ITEMS" ] || but+='|^[0-9a-f]{64}  \./db/revs/[0-9]*\.pack/pack$'
    repo_tree "$1" | grep -v ' \./db/fsmend\(/\| \|$\)' | grep -Ev "$but"
}

# One hash for the same in a quarter of the time; see what differs with tree.
tree_hash() {
    local but=()
    [ "$FORMAT" -lt 7 ] || but=(--exclude=./db/uuid)
    [ -z "$ITEMS" ] || but+=(--exclude='./db/revs/*.pack/pack')
    {
        tar -C "$1" --sort=name --mtime=@0 --numeric-owner --hard-dereference \
            --exclude=./db/fsmend "${but[@]}" -cf - .
        stat -c '%f %u:%g' "$1/db/uuid"
    } | sha256sum
}

same_tree() {
    if [ "$(tree_hash "$1")" = "$(cat "$CASE/$2.hash")" ]; then
        [ -z "$ITEMS" ] || same_dump "$1" "$(cat "$CASE/oracle")" "$3"
        return
    fi
    tree "$1" >"$POINT_DIR/tree"
    fail "$3: the tree is not the $2 one:" \
        "$(diff "$CASE/$2.tree" "$POINT_DIR/tree" | grep '^[<>]' | head -4 |
            tr '\n' ' ')"
}

same_dump() {
    [ "$(repo_oracle "$1" 2>"$POINT_DIR/svn")" = "$2" ] ||
        fail "$3: the dump differs: $(head -1 "$POINT_DIR/svn")"
}

unfinished() {
    [ -e "$1/db/fsmend/journal" ]
}

# state REPO: sets STATE to what Subversion sees: old, new, guard, or, where
# shards are packed or unpacked one by one, between.  The answer for a tree that
# was met before (a sync changes nothing) is known.
state() {
    local repo=$1 seen
    read -r seen _ <<<"$(tree_hash "$repo")"
    seen=$CASE/seen/$seen
    if [ ! -s "$seen" ]; then
        state_ask "$repo" || return
        echo "$STATE" >"$seen"
    fi
    read -r STATE <"$seen"
}

same_shape() {
    cmp -s "$1/db/format" "$2/db/format" &&
        [ "$(cat "$1/db/min-unpacked-rev" 2>/dev/null)" = \
            "$(cat "$2/db/min-unpacked-rev" 2>/dev/null)" ]
}

state_ask() {
    local repo=$1 sum
    if sum=$(repo_oracle "$repo" 2>"$POINT_DIR/svn"); then
        [ "$sum" = "$(cat "$CASE/oracle")" ] ||
            fail "Subversion reads something else than before" || return
        if same_shape "$repo" "$CASE/master"; then
            STATE=old
        elif same_shape "$repo" "$CASE/done"; then
            STATE=new
        elif [ "$MODE" = auto ]; then
            STATE=between
        else
            fail "the layout is neither the old nor the new one"
        fi
    elif grep -q E125006 "$POINT_DIR/svn" && grep -qF "$GUARD" "$POINT_DIR/svn"; then
        STATE=guard
    else
        fail "Subversion says: $(head -2 "$POINT_DIR/svn" | tr '\n' ' ')"
    fi
}

# --- going on ---------------------------------------------------------------

# run_ok REPO WHAT COMMAND...: must exit 0.
run_ok() {
    local repo=$1 what=$2 rc
    shift 2
    "$@" "$repo" >"$POINT_DIR/out" 2>"$POINT_DIR/err" </dev/null && return
    rc=$?
    fail "$what exits $rc: $(head -2 "$POINT_DIR/err" | tr '\n' ' ')"
}

fresh() {
    rm -rf "$POINT_DIR/try"
    cp -a "$POINT_DIR/repo" "$POINT_DIR/try"
}

finished() {
    same_tree "$1" new "$2" && run_ok "$1" "$2, then fsverify" \
        "$BUILD/fsverify" -q
}

# Nothing was begun, or everything was done: there is nothing to go on with,
# and what lies there must be whole.  (Exit 0 or 8; see fsconvert(1).)
check_clean() {
    if [ "$STATE" = between ]; then
        check_undo
    else
        same_tree "$POINT_DIR/repo" "$STATE" 'without a journal'
    fi
}

check_resume() {
    fresh
    run_ok "$POINT_DIR/try" --resume "${RESUME[@]}" &&
        finished "$POINT_DIR/try" --resume
}

check_again() {
    fresh
    run_ok "$POINT_DIR/try" 'the same command' "${COMMAND[@]}" &&
        finished "$POINT_DIR/try" 'the same command'
}

check_undo() {
    fresh
    run_ok "$POINT_DIR/try" --undo "${UNDO[@]}" || return
    same_tree "$POINT_DIR/try" old --undo
}

# Somebody commits and edits before the administrator comes back.
check_busy() {
    local repo=$POINT_DIR/try sum
    [ "$STATE" != guard ] || return 0
    fresh
    svn mkdir -q -m meanwhile "file://$repo/meanwhile" 2>"$POINT_DIR/svn" ||
        fail "a commit meanwhile: $(head -1 "$POINT_DIR/svn")" || return
    echo edited >"$POINT_DIR/value"
    svnadmin setrevprop "$repo" -r 3 svn:log "$POINT_DIR/value" || return
    sum=$(repo_oracle "$repo")
    run_ok "$repo" '--resume after a commit' "${RESUME[@]}" &&
        same_dump "$repo" "$sum" '--resume after a commit' || return
    svn mkdir -q -m after "file://$repo/after" 2>"$POINT_DIR/svn" ||
        fail "a commit afterwards: $(head -1 "$POINT_DIR/svn")"
}

# Killed again while it resumes or undoes.  Behind the commit point an undo is
# a conversion of its own: an --undo of that takes it back, and the next one
# the first.  Whatever it was, --resume goes where it went.
check_twice() {
    local at=$1 how=$2 want=$3 rc command=("${RESUME[@]}")
    [ "$how" != undo ] || command=("${UNDO[@]}")
    fresh
    under "$POINT_DIR/try" FSMEND_CRASH_AT="$at" -- "${command[@]}" \
        "$POINT_DIR/try"
    rc=$?
    [ "$rc" -eq 137 ] || [ "$rc" -eq 0 ] ||
        fail "--$how, to be killed at $at, exits $rc" || return
    if [ "$rc" -eq 137 ]; then
        state "$POINT_DIR/try" || return
        if unfinished "$POINT_DIR/try" || [ "$STATE" = between ]; then
            resume_twice "$at" "$how" "$want" || return
            run_ok "$POINT_DIR/try" "--$how after --$how killed at $at" \
                "${command[@]}" || return
        fi
    fi
    state "$POINT_DIR/try" || return
    if [ "$how-$STATE" = undo-new ]; then
        same_tree "$POINT_DIR/try" new "--undo, killed at $at, taken back" &&
            run_ok "$POINT_DIR/try" "--undo after that" "${UNDO[@]}" || return
    fi
    same_tree "$POINT_DIR/try" "$want" "--$how, killed at $at, and once more"
}

# An --undo that was killed before it had a record of its own leaves that of
# the conversion: --resume then goes on with that.
resume_twice() {
    local at=$1 how=$2 want=$3 repo=$POINT_DIR/again
    rm -rf "$repo"
    cp -a "$POINT_DIR/try" "$repo"
    run_ok "$repo" "--resume after --$how killed at $at" \
        "${RESUME[@]}" || return
    state "$repo" || return
    [ "$STATE" = "$want" ] || [ "$how-$STATE" = undo-new ] ||
        fail "--resume after --$how killed at $at: it is the $STATE one" ||
        return
    same_tree "$repo" "$STATE" "--resume after --$how killed at $at"
    rm -rf "$repo"
}

# --- the points -------------------------------------------------------------

# kill_point N before|after|during
kill_point() {
    local n=$1 when=$2 rc
    POINT="killed $when $n ($(sed -n "${n}p" "$CASE/log" | cut -d' ' -f2- |
        sed "s|$CASE/done/||g"))"
    if [ "$MODE" = copy ]; then
        copy_killed "$@"
        return
    fi
    rm -rf "$POINT_DIR/repo"
    cp -a "$CASE/master" "$POINT_DIR/repo"
    under "$POINT_DIR/repo" FSMEND_CRASH_AT="$n" FSMEND_CRASH_WHEN="$when" -- \
        "${COMMAND[@]}" "$POINT_DIR/repo"
    rc=$?
    [ "$rc" -eq 137 ] || fail "exits $rc before it could be killed" || return
    state "$POINT_DIR/repo" || return
    if ! unfinished "$POINT_DIR/repo"; then
        check_clean && check_again
        return
    fi
    RANDOM=$((n + 1))
    check_resume && check_again && check_undo || return
    [ $((n % ${BUSY_EVERY:-3})) -ne 0 ] || check_busy || return
    check_twice $((RANDOM % n + 1)) resume new &&
        check_twice $((RANDOM % n + 1)) undo old
}

# The text of an error, as the C library has it.
error_text() {
    case $1 in
        EACCES) echo 'Permission denied' ;;
        EDQUOT) echo 'Disk quota exceeded' ;;
        EINTR) echo 'Interrupted system call' ;;
        EIO) echo 'Input/output error' ;;
        ENOSPC) echo 'No space left on device' ;;
        EROFS) echo 'Read-only file system' ;;
    esac
}

# fault_point N ERRNO|short [ever]
fault_point() {
    local n=$1 fault=$2 ever=${3:+1} rc call path second
    read -r _ call path second <<<"$(sed -n "${n}p" "$CASE/log")"
    POINT="$fault${3:+ from then on} at $n ($call ${path#"$CASE/done/"})"
    fault_run
    rc=$?
    if [ "$rc" -eq 0 ]; then
        case $fault in
            EINTR | short) ;;
            *) fail "exits 0, the error was swallowed" || return ;;
        esac
        same_tree "$POINT_DIR/repo" new "exit 0"
        return
    fi
    [ "$rc" -eq 8 ] || fail "exits $rc" || return
    fault_message "$fault" "$path" ${second:+"$second"} || return
    if [ "$MODE" = copy ]; then
        copy_left "$ever"
    else
        fault_state "$ever"
    fi
}

# With n, fault and ever of fault_point.
fault_run() {
    local faults=(FSMEND_FAULT_AT="$n" FSMEND_FAULT="$fault"
        FSMEND_FAULT_EVER="${ever:-0}")
    rm -rf "$POINT_DIR/repo"
    if [ "$MODE" = copy ]; then
        copy_run "${faults[@]}"
    else
        cp -a "$CASE/master" "$POINT_DIR/repo"
        under "$POINT_DIR/repo" "${faults[@]}" -- "${COMMAND[@]}" \
            "$POINT_DIR/repo"
    fi
}

# fault_message ERRNO PATH [PATH]: the cause, and one of the names or, where it
# is a directory that was synced, the one above or below.
fault_message() {
    local said path
    said=$(head -2 "$POINT_DIR/err" | tr '\n' ' ')
    [ "$1" = short ] || [[ $said == *"$(error_text "$1")"* ]] ||
        fail "does not name the cause: $said" || return
    for path in "${@:2}"; do
        [[ $said != *"${path##*/}"* ]] || return 0
        [[ $said != *'sync directory rev'* ]] || return 0
    done
    fail "does not name ${*:2}: $said"
}

# One error: all was taken back, or, behind the commit point, it can be
# finished.  Errors from then on: it may have to be left, but never lost.
fault_state() {
    local ever=$1
    state "$POINT_DIR/repo" || return
    if ! unfinished "$POINT_DIR/repo"; then
        [ "$STATE" != guard ] || fail "guarded without a journal" || return
        if [ "$STATE" = between ]; then
            check_again && check_undo
            return
        fi
        same_tree "$POINT_DIR/repo" "$STATE" 'exit 8'
        return
    fi
    [ "$STATE" = new ] || [ "$STATE" = between ] || [ -n "$ever" ] ||
        fail "the change was not taken back" || return
    check_resume && check_undo
}

# --- copies -----------------------------------------------------------------

copy_run() {
    rm -rf "$POINT_DIR/copies"
    mkdir -p "$POINT_DIR/copies"
    under "$POINT_DIR/copies" "$@" -- "${COMMAND[@]}" "$CASE/master" \
        "$POINT_DIR/copies/repo"
    local rc=$?
    # Where the other questions look for it.
    rm -rf "$POINT_DIR/repo"
    [ ! -e "$POINT_DIR/copies/repo" ] ||
        cp -a "$POINT_DIR/copies/repo" "$POINT_DIR/repo"
    return "$rc"
}

# A copy is there whole, or not under its name; the source is what it was.
copy_whole() {
    [ "$(tree_hash "$CASE/master")" = "$(cat "$CASE/old.hash")" ] ||
        fail "the source changed" || return
    [ -e "$POINT_DIR/copies/repo" ] || return 0
    # The mark of what grows, taken away when all is in its place.
    rm -f "$POINT_DIR/copies/repo/.fsmend-new"
    same_tree "$POINT_DIR/copies/repo" new "the copy"
}

copy_killed() {
    local rc
    copy_run FSMEND_CRASH_AT="$1" FSMEND_CRASH_WHEN="$2"
    rc=$?
    [ "$rc" -eq 137 ] || fail "exits $rc before it could be killed" || return
    copy_whole || return
    "${COMMAND[@]}" --force "$CASE/master" "$POINT_DIR/copies/repo" \
        >"$POINT_DIR/out" 2>"$POINT_DIR/err" ||
        fail "the same command: $(head -1 "$POINT_DIR/err")" || return
    copy_whole && copy_alone repo
}

# copy_left [EVER]: after an error; errors that go on may leave the temporary
# directory, which the next run removes.
copy_left() {
    copy_whole || return
    [ -n "$1" ] || [ -e "$POINT_DIR/copies/repo" ] || copy_alone ''
}

copy_alone() {
    [ "$(ls -A "$POINT_DIR/copies")" = "$1" ] ||
        fail "left behind: $(ls -A "$POINT_DIR/copies")"
}

# --- cases ------------------------------------------------------------------

# What strace sees and the shim does not, would never be tested.
case_complete() {
    local seen target=$CASE/traced operands
    command -v strace >/dev/null || return 0
    rm -rf "$target"
    if [ "$MODE" = copy ]; then
        mkdir "$target"
        operands=("$CASE/master" "$target/repo")
    else
        cp -a "$CASE/master" "$target"
        operands=("$target")
    fi
    strace -f -y -o "$CASE/strace" -e signal=none -e trace=%file,%desc \
        "${COMMAND[@]}" "${operands[@]}" >/dev/null 2>&1 || return 0
    seen=$(grep -F "$target" "$CASE/strace" | grep -v 'resumed>' | grep -cE \
        '^[0-9]+ +(p?write(v|64)?|rename(at2?)?|link(at)?|symlink(at)?|unlink(at)?|mkdir(at)?|rmdir|f?truncate|f(data)?sync|syncfs|f?chmod(at)?|f?chown(at)?|utimensat|f?setxattr|copy_file_range|fallocate|creat)\(|^[0-9]+ +open(at)?\([^)]*O_(WRONLY|RDWR|CREAT|TRUNC)')
    rm -rf "$target"
    [ "$seen" -eq "$(wc -l <"$CASE/log")" ] ||
        fail "strace sees $seen changing calls, the shim $(wc -l <"$CASE/log")"
}

is_logical() {
    grep -qx 'addressing logical' "$1/db/format"
}

# Makes what an undisturbed run makes, and its log.
case_run() {
    if [ "$MODE" = copy ]; then
        mkdir "$CASE/copies"
        under "$CASE/copies" FSMEND_CRASH_LOG="$CASE/log" -- "${COMMAND[@]}" \
            "$CASE/master" "$CASE/copies/repo" && mv "$CASE/copies/repo" "$CASE/done"
    else
        cp -a "$CASE/master" "$CASE/done"
        under "$CASE/done" FSMEND_CRASH_LOG="$CASE/log" -- "${COMMAND[@]}" \
            "$CASE/done"
    fi
}

# case_prepare KIND WISH MODE
case_prepare() {
    KIND=$1 WISH=$2 MODE=$3 POINT=undisturbed ITEMS=
    CASE=$CRASH_DIR/$KIND-to-$WISH-$MODE
    POINT_DIR=$CASE/0
    rm -rf "$CASE"
    mkdir -p "$POINT_DIR" "$CASE/seen"
    REPO_REVS=${REPO_REVS:-12} repo_kind "$CASE/master" "$KIND" ||
        fail "cannot make the repository" || return
    FORMAT=$(head -1 "$CASE/master/db/format")
    # Logical packs that are made anew have the same items in another order.
    if is_logical "$CASE/master" && [[ $KIND-$WISH == *pack* ]]; then
        ITEMS=1
    fi
    convert
    ways
    # The lock file is made at first use, by Subversion as well.
    [ "$FORMAT" -lt 7 ] || : >>"$CASE/master/db/pack-lock"
    repo_oracle "$CASE/master" >"$CASE/oracle"
    tree "$CASE/master" >"$CASE/old.tree"
    tree_hash "$CASE/master" >"$CASE/old.hash"
    case_run || fail "exits $?: $(head -2 "$POINT_DIR/err")" || return
    [ -s "$CASE/log" ] || fail "the shim saw no call" || return
    same_dump "$CASE/done" "$(cat "$CASE/oracle")" converted || return
    tree "$CASE/done" >"$CASE/new.tree"
    tree_hash "$CASE/done" >"$CASE/new.hash"
    cp -a "$CASE/done" "$POINT_DIR/works"
    repo_works "$POINT_DIR/works" >"$POINT_DIR/out" 2>&1 ||
        fail "does not work: $(tail -2 "$POINT_DIR/out")" || return
    rm -rf "$POINT_DIR/works"
    case_complete
}
