#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
sed "s/\$/\r/" "$REPO/db/revs/9" >"$REPO/x"
rm -f "$REPO/db/revs/9"
mv "$REPO/x" "$REPO/db/revs/9"
chmod 444 "$REPO/db/revs/9"
