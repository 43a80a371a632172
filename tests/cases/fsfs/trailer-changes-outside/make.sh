#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
root=$(trailer_root revs/7)
sed -i "\$s/.*/$root 99999999/" "$REPO/db/revs/7"
chmod 444 "$REPO/db/revs/7"
