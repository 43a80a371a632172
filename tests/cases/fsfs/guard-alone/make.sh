#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source=tests/cases/lib.sh
. "${BASH_SOURCE[0]%/*}/../../lib.sh"
set -eu
base f2-linear
put format "fsmend: unfinished conversion; run fsconvert --resume or --undo on this dir\n"
