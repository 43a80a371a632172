#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
chmod u+w "$REPO/db/revs/7"
truncate -s +4096 "$REPO/db/revs/7"
chmod 444 "$REPO/db/revs/7"
