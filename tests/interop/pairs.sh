# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every ordered pair of shapes, a shape being a layout and whether what fills
# whole shards is packed.  Source convert.sh first, then
#
#   pairs_all REPO      from each shape that REPO can have to each
#   pairs_from REPO     from the shape it has to each
#
# REPO is not touched.  Prints how many pairs were tried; what does not hold is
# told on stderr (wrong, convert.sh), and the status is 1.

PAIRS_LAYOUTS="linear 1 4 7 1000"

# reshape REPO LAYOUT loose|packed|kept
reshape() {
    local pack=()
    case $3 in
        loose) pack=(--unpack) ;;
        packed) pack=(--pack) ;;
    esac
    quietly "$BUILD/fsconvert" -q --servers-stopped --layout="$2" \
        "${pack[@]}" "$1"
}

# can_be REPO LAYOUT loose|packed|kept: does the format have that shape?
can_be() {
    local number
    number=$(head -1 "$1/db/format")
    if [ "$2" = linear ]; then
        [ "$3" != packed ] && ! is_logical "$1"
    else
        [ "$3" != packed ] || [ "$number" -ge 4 ]
    fi
}

packed_so_far() {
    cat "$1/db/min-unpacked-rev" 2>/dev/null || echo 0
}

# Revisions that are packed in that shape: whole shards only.
packed_then() {
    local before=$1 layout=$2 state=$3 base
    case $layout-$state in
        linear-* | *-loose) echo 0; return ;;
        *-packed) base=$(($(cut -d' ' -f1 "$before/db/current") + 1)) ;;
        *) base=$(packed_so_far "$before") ;;
    esac
    echo $((base / layout * layout))
}

# pair BEFORE LAYOUT STATE
pair() {
    local before=$1 layout=$2 state=$3 repo=$WORK/pair
    rm -rf "$repo"
    cp -a "$before" "$repo"
    reshape "$repo" "$layout" "$state" || return
    [ "$(layout_of "$repo")" = "$layout" ] ||
        wrong "the layout is $(layout_of "$repo")" || return
    [ "$(packed_so_far "$repo")" = "$(packed_then "$before" "$layout" "$state")" ] ||
        wrong "packed below $(packed_so_far "$repo")" || return
    [ -z "$(find "$repo" -name '.fsmend*')" ] ||
        wrong 'something is left behind' || return
    check_reads "$repo" && check_works "$repo"
}

pairs_from() {
    local layout state
    WORK_PAIRS=0
    repo_oracle "$1" >"$WORK/oracle"
    side_data "$1" >"$WORK/side"
    for layout in $PAIRS_LAYOUTS; do
        for state in loose packed kept; do
            can_be "$1" "$layout" "$state" || continue
            WHAT="$SHAPE to $layout $state"
            pair "$1" "$layout" "$state" || return
            WORK_PAIRS=$((WORK_PAIRS + 1))
        done
    done
}

pairs_all() {
    local layout state total=0
    SHAPE="${1##*/} as it is"
    pairs_from "$1" || return
    total=$WORK_PAIRS
    for layout in $PAIRS_LAYOUTS; do
        for state in loose packed; do
            can_be "$1" "$layout" "$state" || continue
            rm -rf "$WORK/start"
            cp -a "$1" "$WORK/start"
            SHAPE="${1##*/} from $layout $state"
            # shellcheck disable=SC2034 # wrong names it (convert.sh)
            WHAT=$SHAPE
            reshape "$WORK/start" "$layout" "$state" || return
            pairs_from "$WORK/start" || return
            total=$((total + WORK_PAIRS))
        done
    done
    rm -rf "$WORK/start" "$WORK/pair"
    echo "$total pairs"
}
