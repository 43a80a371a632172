#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
sed "s/\$/\r/" "$REPO/db/revs/2/9" >"$REPO/x"
rm -f "$REPO/db/revs/2/9"
mv "$REPO/x" "$REPO/db/revs/2/9"
chmod 444 "$REPO/db/revs/2/9"
