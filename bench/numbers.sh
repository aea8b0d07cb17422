#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
# numbers.sh [KEYS [BATCH]] - bench/numbers.c on a SQLite file, and on PostgreSQL in a schema of its
# own. The file lies where TMPDIR says.
set -euo pipefail
dir=$(mktemp -d "${TMPDIR:-/tmp}/torg-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
bench=${TORG_BUILD:-build-bench}/bench/bench-numbers
"$bench" "sqlite:$dir/store.db" "$@"
[ -n "${TORG_TEST_POSTGRES:-}" ] || exit 0
schema=bench_$$
join='?'
case $TORG_TEST_POSTGRES in *\?*) join='&' ;; esac
psql -qX "$TORG_TEST_POSTGRES" -c "CREATE SCHEMA $schema"
"$bench" "$TORG_TEST_POSTGRES${join}options=-csearch_path%3D$schema" "$@"
psql -qX "$TORG_TEST_POSTGRES" -c "DROP SCHEMA $schema CASCADE" 2>"$dir/notices"
