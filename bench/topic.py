#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: kafka
"""topic.py [ROUNDS] - 1 KB messages a second, durable: the embedded topics, Kafka beside them.

Rounds are interleaved, so that both meet the same neighbours; the table shows medians. `grouped`
is 16 callers with 32 messages a call, `single` 64 callers with one each. The directory lies where
TMPDIR says: it must be a real disk for the figures to mean anything. Kafka here is one broker on
the same disk, which by its defaults acknowledges from the page cache, before any sync.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ.get("TORG_BUILD", "build-bench"), "bench", "bench-topic")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SHAPES = {"grouped": (300000, 16, 32), "single": (60000, 64, 1)}    # messages, callers, a call


def run(url, shape):
    output = subprocess.run([PROGRAM, url, *map(str, SHAPES[shape])], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return {name: float(value) for name, value in (pair.split("=") for pair in output.split())}


def main():
    kafka = os.environ.get("TORG_TEST_KAFKA")
    if not kafka:
        print("bench topic: no Kafka; the embedded topics alone", file=sys.stderr)
    results = {}
    for _ in range(ROUNDS):
        for shape in SHAPES:
            directory = tempfile.mkdtemp(prefix="torg-bench-topic-")
            try:
                results.setdefault(("embedded", shape), []).append(run(f"file:{directory}", shape))
            finally:
                shutil.rmtree(directory)
            if kafka:
                results.setdefault(("kafka", shape), []).append(run(f"kafka://{kafka}", shape))
    print(f"{'backend':10} {'shape':8} {'produced/s':>12} {'consumed/s':>12} {'p99 of a call, ms':>18}")
    summary = []
    for (backend, shape), rounds in sorted(results.items()):
        middle = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        print(f"{backend:10} {shape:8} {middle['produced']:12.0f} {middle['consumed']:12.0f}"
              f" {middle['p99_us'] / 1000:18.1f}")
        summary += [f"{backend}_{shape}_produced={middle['produced']:.0f}",
                    f"{backend}_{shape}_consumed={middle['consumed']:.0f}"]
    best = results["embedded", "grouped"]
    produced = statistics.median(each["produced"] for each in best)
    consumed = statistics.median(each["consumed"] for each in best)
    good = produced >= 50000 and consumed >= 200000
    print(*summary, f"target_met={'yes' if good else 'no'}")


main()
