#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
chmod u+w "$REPO/db/revs/1/7"
truncate -s +512 "$REPO/db/revs/1/7"
chmod 444 "$REPO/db/revs/1/7"
