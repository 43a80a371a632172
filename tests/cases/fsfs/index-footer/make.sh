#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
size=$(stat -c %s "$REPO/db/revs/2/9")
poke revs/2/9 $((size - 40)) x
