#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4-txns
mkdir "$REPO/db/transactions/x.txn" "$REPO/db/transactions/99-1.txn"
touch "$REPO/db/txn-protorevs/x.rev" "$REPO/db/txn-protorevs/99-1.rev"
