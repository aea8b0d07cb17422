#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shard.sh [DOCUMENTS] - bench/shard.c: a shard in a directory, filled, changed, closed, opened.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"${TORG_BUILD:-build-bench}/bench/bench-shard" "$dir/shard" "${1:-200000}"
