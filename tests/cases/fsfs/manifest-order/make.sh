#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f6-4-packed
m=$REPO/db/revs/2.pack/manifest
{
    sed -n 1p "$m"
    sed -n 3p "$m"
    sed -n 2p "$m"
    sed -n 4p "$m"
} >"$REPO/x"
rm -f "$m"
mv "$REPO/x" "$m"
chmod 444 "$m"
