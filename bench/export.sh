#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# export.sh [COUNT] - bench/export.c: from a seller's acknowledgement to the topic, with and without
# the bell. The directory lies where TMPDIR says: a real disk, as every change is synced.
set -euo pipefail
dir=$(mktemp -d -t torg-bench-export-XXXXXX)
trap 'rm -rf "$dir"' EXIT
"${TORG_BUILD:-build-bench}/bench/bench-export" "$dir" "${1:-200}"
