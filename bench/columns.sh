#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# columns.sh - bench/columns.c: attributes by position beside an array of structs.
set -euo pipefail
"${TORG_BUILD:-build-bench}/bench/bench-columns"
