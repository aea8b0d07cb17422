#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# numerator.sh [COUNT [SQLITE_COUNT]] - bench/numerator.c in a directory where TMPDIR says: 50 million
# keys take some 8 GB of it and of memory. SQLITE_COUNT: of how many keys SQLite is measured.
set -euo pipefail
dir=$(mktemp -d "${TMPDIR:-/tmp}/torg-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
"${TORG_BUILD:-build-bench}/bench/bench-numerator" "$dir" "$@"
