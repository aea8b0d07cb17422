#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analysis.sh [DOCUMENTS] - bench/analysis.c: text to tokens to term ids, beside a stem for each word.
set -euo pipefail
exec "${TORG_BUILD:-build-bench}/bench/bench-analysis" "$@"
