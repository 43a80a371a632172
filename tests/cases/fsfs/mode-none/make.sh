#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f4-4
chmod 000 "$REPO/db/revs/3/13" "$REPO/db/revprops/3/14"
