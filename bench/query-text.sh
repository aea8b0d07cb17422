#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# query-text.sh - bench/query_text.c: AND, OR and phrases of two words; counts, best 10, best 100.
set -euo pipefail
exec "${TORG_BUILD:-build-bench}/bench/bench-query-text" "$@"
