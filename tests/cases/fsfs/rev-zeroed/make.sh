#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
size=$(stat -c %s "$REPO/db/revs/24")
rm -f "$REPO/db/revs/24"
truncate -s "$size" "$REPO/db/revs/24"
chmod 444 "$REPO/db/revs/24"
