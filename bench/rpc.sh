#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rpc - unary gRPC (300 B in, 2 KB out) against nghttpd serving a POST of the same sizes.
#
# One server thread each, the same h2load, rounds interleaved; prints each round, and the medians
# of rates, of the rounds' ratios, and of the CPU time of a call.
set -euo pipefail
build=${TORG_BUILD:-build-bench}
rounds=${TORG_BENCH_ROUNDS:-5}
requests=${TORG_BENCH_REQUESTS:-200000}
clients=${TORG_BENCH_CLIENTS:-8}
streams=${TORG_BENCH_STREAMS:-32}
place=$(mktemp -d)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$place"
}
trap stop EXIT

# A gRPC frame with EchoRequest{text: 293 letters, reply_size: 2048}: 5 + 296 + 3 bytes.
python3 - "$place" <<'P'
import struct, sys
text = b"b" * 293
message = b"\x0a" + bytes([0x80 | len(text) & 0x7F, len(text) >> 7]) + text + b"\x10\x80\x10"
open(sys.argv[1] + "/request", "wb").write(b"\0" + struct.pack(">I", len(message)) + message)
open(sys.argv[1] + "/reply", "wb").write(b"x" * 2056)
P

"$build/bench/testd" --reactors 1 >"$place/testd" &
pids+=($!)
torg_pid=$!
for _ in $(seq 100); do [ -s "$place/testd" ] && break; sleep 0.05; done
torg_port=$(sed 's/.*"port":\([0-9]*\),.*/\1/' "$place/testd")
nghttpd_port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
nghttpd --no-tls --workers=1 --address=127.0.0.1 --htdocs="$place" "$nghttpd_port" \
    >"$place/nghttpd.log" 2>&1 &
pids+=($!)
nghttpd_pid=$!
for _ in $(seq 100); do
    (exec 3<>"/dev/tcp/127.0.0.1/$nghttpd_port") 2>/dev/null && break
    sleep 0.05
done

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# load URL PID OUT: appends "requests/s cpu-microseconds" to OUT; every answer must be a 2xx.
load() {
    local before after
    before=$(cpu_ticks "$2")
    h2load -n "$requests" -c "$clients" -m "$streams" -t 1 -d "$place/request" \
        -H 'content-type: application/grpc' -H 'te: trailers' "$1" >"$place/h2load"
    after=$(cpu_ticks "$2")
    grep -q "requests: $requests total, .* $requests succeeded" "$place/h2load" ||
        { cat "$place/h2load" >&2; echo "bench: not every request succeeded" >&2; exit 1; }
    sed -n 's/^finished in .*, \([0-9.]*\) req\/s.*/\1/p' "$place/h2load" |
        awk -v us="$(((after - before) * 10000))" -v n="$requests" \
            '{ printf "%.0f %.2f\n", $1, us / n }' >>"$3"
}

median() { sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

printf '%-7s %14s %14s %8s\n' round 'torg rpc/s' 'nghttpd/s' ratio
for round in $(seq "$rounds"); do
    load "http://127.0.0.1:$torg_port/torg.test.v1.EchoService/Echo" "$torg_pid" "$place/torg"
    load "http://127.0.0.1:$nghttpd_port/reply" "$nghttpd_pid" "$place/nghttpd"
    paste <(tail -1 "$place/torg") <(tail -1 "$place/nghttpd") |
        awk -v r="$round" '{ printf "%-7s %14s %14s %8.2f\n", r, $1, $3, $1 / $3 }'
done
torg=$(cut -d' ' -f1 "$place/torg" | median)
other=$(cut -d' ' -f1 "$place/nghttpd" | median)
# Neighbours come and go: the median of the rounds' ratios, not the ratio of the medians.
ratio=$(paste -d' ' "$place/torg" "$place/nghttpd" | awk '{ printf "%.2f\n", $1 / $3 }' | median)
echo "rpc_per_s=$torg nghttpd_per_s=$other ratio=$ratio" \
    "rpc_cpu_us=$(cut -d' ' -f2 "$place/torg" | median)" \
    "nghttpd_cpu_us=$(cut -d' ' -f2 "$place/nghttpd" | median)"
