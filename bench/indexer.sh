#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench indexer [COUNT [RATE [SECONDS [SHARDS]]]] - how fast the queue is emptied into the index
# topic, and how soon a document is there while others are written.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TORG_BUILD/bench/bench-indexer" "$dir" "${1:-50000}" "${2:-5000}" "${3:-10}" "${4:-1}"
