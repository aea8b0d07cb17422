#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lexicon.sh [FORMS] - bench/lexicon.c: a lexicon of many words; seven million are fifty million offers'.
set -euo pipefail
exec "${TORG_BUILD:-build-bench}/bench/bench-lexicon" "$@"
