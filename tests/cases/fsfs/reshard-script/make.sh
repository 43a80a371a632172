#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
for tree in revs revprops; do
    mkdir "$REPO/db/$tree/0.shard"
    for r in 0 1 2 3; do mv "$REPO/db/$tree/$r" "$REPO/db/$tree/0.shard"; done
done
rm -f "$REPO/db/format"
