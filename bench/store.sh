#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
# store.sh - bench/store.c on a SQLite file beside a PostgreSQL server, in a schema of its own.
# The file lies where TMPDIR says: it must be a real disk for the figures to mean anything.
set -euo pipefail
dir=$(mktemp -d "${TMPDIR:-/tmp}/torg-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
postgres=()
if [ -n "${TORG_TEST_POSTGRES:-}" ]; then
    schema=bench_$$
    join='?'
    case $TORG_TEST_POSTGRES in *\?*) join='&' ;; esac
    psql -qX "$TORG_TEST_POSTGRES" -c "CREATE SCHEMA $schema"
    trap 'psql -qX "$TORG_TEST_POSTGRES" -c "DROP SCHEMA $schema CASCADE" 2>"$dir/notices"
          rm -rf "$dir"' EXIT
    postgres=("$TORG_TEST_POSTGRES${join}options=-csearch_path%3D$schema")
else
    echo "bench store: no PostgreSQL; SQLite alone" >&2
fi
"${TORG_BUILD:-build-bench}/bench/bench-store" "sqlite:$dir/store.db" "${postgres[@]}"
