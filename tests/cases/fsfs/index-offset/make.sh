#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
size=$(stat -c %s "$REPO/db/revs/2/9")
length=$(tail -c 1 "$REPO/db/revs/2/9" | od -An -tu1)
at=$((size - 1 - length))
digit=$(dd if="$REPO/db/revs/2/9" bs=1 skip="$at" count=1 status=none)
poke revs/2/9 "$at" "$((digit % 9 + 1))"
