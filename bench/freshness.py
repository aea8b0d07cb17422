#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""freshness.py [auditor] - how long after its acknowledgement a document is found, through the whole chain.

The release binary, `torg up` (one process, embedded backends), the load on the same cores. Documents
of about 400 bytes come in batches of 20 and one by one, at a steady rate whatever the server does;
of the single ones some are waited for: from the acknowledgement until a searcher says that the
change is searchable. First alone, then while documents are poured again in the lane backfill as
fast as they are taken.

With `auditor`: the first part alone, in turns on a server without the auditor and on one whose auditor begins round
after round, each on a directory of its own; medians of both and what one is to the other, of the server's CPU for a
document, too (of all its threads: on a busy machine that alone says something).

TORG_BENCH_ROUNDS   of each, with `auditor` (5)
TORG_BENCH_RATE     documents a second (5000)
TORG_BENCH_SECONDS  of the first part (20)
TORG_BENCH_REPOUR   documents poured again in the second part (1000000)
"""
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TOP / "tests" / "e2e"))
sys.dont_write_bytecode = True
from kit.chain import Connection  # noqa: E402

TORG = os.environ.get("TORG_BIN", str(TOP / "build-bench" / "torg"))
RATE = int(os.environ.get("TORG_BENCH_RATE", "5000"))
SECONDS = int(os.environ.get("TORG_BENCH_SECONDS", "20"))
REPOUR = int(os.environ.get("TORG_BENCH_REPOUR", "1000000"))
ROUNDS = int(os.environ.get("TORG_BENCH_ROUNDS", "5"))
AUDITOR = {"off": ["--auditor.rate=0"], "on": ["--auditor.pause=100ms"]}
COMPARED = ("ack_p99", "fresh_p50", "fresh_p99", "cpu_us")
BATCH, POUR_BATCH = 20, 500
SINGLES = RATE // 10            # a second, of the rate
SINGLE_THREADS, BATCH_THREADS, POUR_THREADS = 8, 4, 2
KEYS = 200000                   # of the steady load: most documents are changes
WORDS = ("велосипед горный stels книга детская стол дубовый лампа ноутбук lenovo куртка зимняя диван "
         "угловой телефон samsung коляска гитара аквариум шкаф зеркало ковёр принтер кресло").split()


def say(text):
    print(f"bench freshness: {text}", file=sys.stderr, flush=True)


def document(pk, version, rng):
    return {"pk": pk, "version": version, "fields": [
        {"name": "title", "text": " ".join(rng.choices(WORDS, k=5))},
        {"name": "body", "text": " ".join(rng.choices(WORDS, k=25))},
        {"name": "seller", "keyword": f"s{rng.randrange(5000)}"},
        {"name": "category", "category": rng.choice(("transport/bikes", "home/furniture", "books"))},
        {"name": "price", "integer": rng.randrange(100, 100000)}]}


class Load:
    """Versions of the steady load are nanoseconds: each write is newer than all before."""

    def __init__(self, url, key):
        self.url, self.key = url, key
        self.lock = threading.Lock()
        self.acks, self.fresh, self.sent, self.late, self.failed = [], [], 0, 0, 0
        self.until = 0

    def put(self, connection, documents, lane="MAIN"):
        status, answer = connection.call(self.url, "DocumentService/PutDocuments",
                                         {"documents": documents, "lane": lane})
        kinds = [each.get("kind", "ACCEPTED") for each in answer.get("verdicts", ())]
        if status != 200 or set(kinds) - {"ACCEPTED", "STALE"}:
            self.failed += 1
            if self.failed < 5:
                say(f"HTTP {status}: {str(answer)[:300]}")
            return None
        return answer["verdicts"]

    def steady(self, number, interval, count, waits):
        rng = random.Random(f"{number}/{count}")
        connection = Connection(self.key, timeout=60)
        due = time.monotonic() + rng.random() * interval
        while True:
            now = time.monotonic()
            if due > now:
                time.sleep(due - now)
            elif now - due > 1:
                self.late += 1
                due = now
            due += interval
            if time.monotonic() > self.until:
                return
            documents = [document(f"k{rng.randrange(KEYS)}", time.time_ns() // 1000, rng)
                         for _ in range(count)]
            documents = list({each["pk"]: each for each in documents}.values())
            began = time.monotonic()
            verdicts = self.put(connection, documents)
            acked = time.monotonic()
            if not verdicts:
                continue
            token = verdicts[0].get("token")
            fresh = None
            if waits and token and rng.random() < 0.25:
                status, answer = connection.call(self.url, "SearcherService/GetFreshness",
                                                 {"token": token, "waitMs": 30000})
                if status == 200 and answer.get("isSearchable"):
                    fresh = time.monotonic() - acked
                else:
                    fresh = 30.0
            with self.lock:
                self.sent += len(documents)
                self.acks.append(acked - began)
                if fresh is not None:
                    self.fresh.append(fresh)

    def run(self, until):
        self.until = until
        threads = [threading.Thread(target=self.steady, args=(
            number, SINGLE_THREADS / SINGLES, 1, True)) for number in range(SINGLE_THREADS)]
        threads += [threading.Thread(target=self.steady, args=(
            number, BATCH_THREADS * BATCH / (RATE - SINGLES), BATCH, False))
            for number in range(BATCH_THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def steady_process(url, key, seconds, stop, out):
    """Runs in a process of its own: until the time is over, or it is told to stop."""
    load = Load(url, key)
    began = time.monotonic()
    watcher = threading.Thread(target=watch, args=(load, began + seconds, stop))
    load.until = began + seconds
    watcher.start()
    load.run(began + seconds)
    watcher.join()
    out.put({"acks": load.acks, "fresh": load.fresh, "sent": load.sent, "late": load.late,
             "failed": load.failed, "seconds": time.monotonic() - began})


def watch(load, until, stop):
    while time.monotonic() < until and not stop.wait(0.1):
        pass
    load.until = 0


def pour_process(url, key, first, count, out):
    load = Load(url, key)
    rng = random.Random(first)
    connection = Connection(key, timeout=60)
    began = time.monotonic()
    for at in range(first, first + count, POUR_BATCH):
        load.put(connection, [document(f"p{number}", 1, rng)
                              for number in range(at, min(at + POUR_BATCH, first + count))],
                 "BACKFILL")
    out.put({"seconds": time.monotonic() - began, "failed": load.failed})


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else float("nan")


def row(name, part):
    fresh, acks = part["fresh"], part["acks"]
    figures = {"rate": part["sent"] / part["seconds"], "samples": len(fresh),
               "ack_p50": quantile(acks, .5) * 1000, "ack_p99": quantile(acks, .99) * 1000,
               "fresh_p50": quantile(fresh, .5) * 1000, "fresh_p99": quantile(fresh, .99) * 1000,
               "fresh_max": max(fresh, default=float("nan")) * 1000}
    print(f"{name:<22}{figures['rate']:>9.0f}{figures['ack_p50']:>10.1f}{figures['ack_p99']:>9.1f}"
          f"{figures['fresh_p50']:>11.1f}{figures['fresh_p99']:>9.1f}{figures['fresh_max']:>9.1f}"
          f"{figures['samples']:>9}", flush=True)
    if part["failed"] or part["late"]:
        print(f"  {part['failed']} calls failed; the load was behind by a second {part['late']} times")
    return figures


def measure(url, key, cpu, repour=REPOUR, name="alone"):
    context = multiprocessing.get_context("spawn")
    out, stop = context.Queue(), context.Event()
    print(f"{'':<22}{'docs/s':>9}{'ack p50':>10}{'p99':>9}{'fresh p50':>11}{'p99':>9}{'max':>9}"
          f"{'samples':>9}   (ms)")
    warm = context.Process(target=steady_process, args=(url, key, min(5, SECONDS), stop, out))
    warm.start()
    out.get()
    warm.join()
    begun = cpu()
    one = context.Process(target=steady_process, args=(url, key, SECONDS, stop, out))
    one.start()
    part = out.get()
    first = row(name, part) | {"cpu_us": (cpu() - begun) * 1e6 / max(1, part["sent"])}
    one.join()
    if not repour:
        return first, None, None
    poured = context.Queue()
    share = REPOUR // POUR_THREADS
    pourers = [context.Process(target=pour_process, args=(url, key, n * share, share, poured))
               for n in range(POUR_THREADS)]
    two = context.Process(target=steady_process, args=(url, key, 7200, stop, out))
    begun = time.monotonic()
    two.start()
    for each in pourers:
        each.start()
    for each in pourers:
        if poured.get()["failed"]:
            say("some batches of the re-pour failed")
    taken = time.monotonic() - begun
    wait_for_backfill(url, key)
    whole = time.monotonic() - begun
    stop.set()
    second = row("beside a re-pour", out.get())
    for each in [two, *pourers]:
        each.join()
    print(f"re-pour of {REPOUR} documents: taken in {taken:.0f} s, indexed after {whole:.0f} s "
          f"({REPOUR / whole:.0f} documents/s)")
    return first, second, whole


def wait_for_backfill(url, key):
    """The last document that was poured is found."""
    connection = Connection(key, timeout=60)
    rng = random.Random(0)
    status, answer = connection.call(url, "DocumentService/PutDocuments", {
        "documents": [document("last", time.time_ns() // 1000, rng)], "lane": "BACKFILL"})
    token = answer["verdicts"][0]["token"]
    while True:
        status, answer = connection.call(url, "SearcherService/GetFreshness",
                                         {"token": token, "waitMs": 20000})
        if status == 200 and answer.get("isSearchable"):
            return


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1]
    return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def serve(options, measuring):
    """What is measured on a server of its own; it may ask what CPU that has taken."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="torg-bench-"))
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("TORG_")}
    with open(place / "out", "w") as out, open(place / "log", "w") as log:
        server = subprocess.Popen([TORG, "up", "--listen=127.0.0.1:0",
                                   "--operator-listen=127.0.0.1:0", *options],
                                  cwd=place, env=environment, stdout=out, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not (place / "out").read_text().endswith("\n\n"):
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"bench freshness: no server: {(place / 'log').read_text()[-2000:]}")
            time.sleep(0.05)
        url = (place / "torg-data" / "server.url").read_text()
        return measuring(url, (place / "torg-data" / "start.key").read_text().strip(), lambda: cpu_s(server))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=120)
        shutil.rmtree(place)


def compare_auditor():
    found = {name: [] for name in AUDITOR}
    for number in range(ROUNDS):
        for name in (list(AUDITOR) if number % 2 else reversed(AUDITOR)):
            found[name].append(serve(AUDITOR[name], lambda url, key, cpu, title=f"{number + 1} auditor {name}":
                                     measure(url, key, cpu, 0, title)[0]))
    middle = {name: {key: statistics.median(one[key] for one in all_of) for key in all_of[0]}
              for name, all_of in found.items()}
    print("freshness " + " ".join(
        f"{key}_{name}={middle[name][key]:.1f}" for key in ("rate", *COMPARED) for name in AUDITOR) + " " + " ".join(
        f"{key}_ratio={middle['on'][key] / middle['off'][key]:.3f}" for key in COMPARED))


def main():
    if sys.argv[1:] == ["auditor"]:
        compare_auditor()
        return
    if sys.argv[1:]:
        sys.exit("usage: freshness.py [auditor]")
    first, second, whole = serve([], measure)
    line = {"rate": first["rate"], "ack_p99_ms": first["ack_p99"], "fresh_p50_ms": first["fresh_p50"],
            "fresh_p99_ms": first["fresh_p99"]}
    if second:
        line |= {"repour": REPOUR, "repour_s": whole, "repour_fresh_p50_ms": second["fresh_p50"],
                 "repour_fresh_p99_ms": second["fresh_p99"],
                 "repour_fresh_max_ms": second["fresh_max"]}
    print("freshness " + " ".join(f"{name}={value:.1f}" for name, value in line.items()))


if __name__ == "__main__":
    main()
