#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# outside.sh [VALUES] - bench/outside.c: a column from outside, from the blob store to its use. The
# files lie where TMPDIR says.
set -euo pipefail
dir=$(mktemp -d "${TMPDIR:-/tmp}/torg-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
"${TORG_BUILD:-build-bench}/bench/bench-outside" "$dir" "${1:-10000000}"
