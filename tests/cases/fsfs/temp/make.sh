#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f6-4-packed
touch "$REPO/db/svn-AbCdEf" "$REPO/db/revs/svn-1" "$REPO/db/revprops/6/svn-2.tmp" "$REPO/db/revprops/2.pack/svn-x"
mkdir "$REPO/db/.fsmend-revs"
