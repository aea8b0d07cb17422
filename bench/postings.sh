#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# postings.sh - bench/postings.c: decoding and combining posting lists, beside plain arrays.
set -euo pipefail
exec "${TORG_BUILD:-build-bench}/bench/bench-postings"
