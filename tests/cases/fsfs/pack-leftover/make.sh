#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f6-4-packed
mkdir "$REPO/db/revs/2"
echo rest >"$REPO/db/revs/2/8"
