#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f3-4
rm -rf "$REPO/db/txn-current" "$REPO/db/txn-current-lock" "$REPO/db/txn-protorevs"
