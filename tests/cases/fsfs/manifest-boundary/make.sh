#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f6-4-packed
m=$REPO/db/revs/2.pack/manifest
second=$(sed -n 2p "$m")
sed -i "2s/.*/$((second + 1))/" "$m"
chmod 444 "$m"
