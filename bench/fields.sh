#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench fields [DOCUMENTS [CHANGES]] - changes of side fields through the chain: durable, sent, in the index's columns.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TORG_BUILD/bench/bench-fields" "$dir" "${1:-100000}" "${2:-300000}"
