#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
cut_end revs/3/12 40
chmod u+w "$REPO/db/revs/3/12"
truncate -s +40 "$REPO/db/revs/3/12"
chmod 444 "$REPO/db/revs/3/12"
