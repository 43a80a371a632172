#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f6-4-packed
touch "$REPO/db/README" "$REPO/db/revs/07" "$REPO/db/revprops/6/24.orig" "$REPO/db/revs/2.pack/notes" "$REPO/db/txn-protorevs/x"
