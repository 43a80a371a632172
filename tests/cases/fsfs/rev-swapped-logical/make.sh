#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
mv "$REPO/db/revs/1/7" "$REPO/x"
mv "$REPO/db/revs/2/9" "$REPO/db/revs/1/7"
mv "$REPO/x" "$REPO/db/revs/2/9"
