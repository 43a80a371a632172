#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f4-4
mv "$REPO/db/revs/2" "$REPO/db/revs/2.old"
