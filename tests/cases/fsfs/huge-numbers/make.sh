#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f8-4
put current "9223372036854775806\n"
touch "$REPO/db/revs/18446744073709551615"
mkdir "$REPO/db/revs/9223372036854775807.pack"
