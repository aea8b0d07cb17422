#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
# postgres: shared_buffers=1GB max_wal_size=4GB
"""registry.py [ROUNDS] - durable documents a second, through the API.

The release binary with the role receiver, on SQLite and on PostgreSQL; the load on the same cores.
Rounds are interleaved, so that both meet the same neighbours; the table shows medians. A round has
four parts: new documents and new versions, in batches of 100 (16 callers) and one by one (64
callers). A document has eight fields, some 700 bytes; only what is ACCEPTED counts. Afterwards the
last new document is read back.

The stores lie where TMPDIR says: it must be a real disk for the figures to mean anything.

TORG_BENCH_SECONDS  of one part (4)
TORG_BENCH_STORES   sqlite,postgres
"""
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SECONDS = int(os.environ.get("TORG_BENCH_SECONDS", 4))
STORES = os.environ.get("TORG_BENCH_STORES", "sqlite,postgres").split(",")
BATCH_GOAL, SINGLE_GOAL = 20000, 5000
UPDATED = 20000       # documents that get new versions: the first of those in batches
START_SECONDS = 60
# name, callers, documents a call, new ones?
PARTS = (("batch_insert", 16, 100, True), ("batch_update", 16, 100, False),
         ("single_insert", 64, 1, True), ("single_update", 64, 1, False))


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}


@contextlib.contextmanager
def database(server):
    name = f"torg_bench_{os.getpid()}"
    base = urllib.parse.urlsplit(server)
    subprocess.run(["psql", "-qX", server, "-c", f"CREATE DATABASE {name}"], check=True)
    try:
        yield urllib.parse.urlunsplit(base._replace(path=f"/{name}"))
    finally:
        subprocess.run(["psql", "-qX", server, "-c", f"DROP DATABASE {name} WITH (FORCE)"])


class Subject:
    """A server with the role receiver on one store."""

    def __init__(self, name, folder, url):
        self.name, self.folder, self.rounds, self.next = name, folder, [], 0
        with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [BUILD / "torg", "serve", "receiver", f"--data={folder}/data",
                 f"--store.url={url}", "--listen=127.0.0.1:0", "--operator-listen="],
                cwd=folder, env=environment(), stdout=out, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        address = folder / "data" / "server.url"
        while not address.exists() or not (folder / "out").read_text().endswith("\n\n"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"bench registry: torg did not start: {(folder / 'log').read_text()}")
            time.sleep(0.05)
        self.port = address.read_text().strip().rsplit(":", 1)[1]
        self.key = (folder / "data" / "start.key").read_text().strip()

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def load(self, callers, batch, is_new):
        first, count = (self.next, 0) if is_new else (0, min(UPDATED, self.next))
        begin = self.cpu_s()
        done = subprocess.run(
            list(map(str, [BUILD / "bench" / "bench-registry-load", self.port, self.key, callers,
                           batch, SECONDS, first, count])),
            check=True, stdout=subprocess.PIPE, text=True).stdout
        found = {name: float(value) for name, value in (each.split("=") for each in done.split())}
        found["server_cores"] = (self.cpu_s() - begin) / (SECONDS + 1)
        if is_new:
            self.next = int(found["next"])
        return found

    def round(self):
        self.rounds.append({name: self.load(callers, batch, is_new)
                            for name, callers, batch, is_new in PARTS})

    def has_last(self):
        """Whether the last document that was sent as new can be read back."""
        done = subprocess.run(
            ["curl", "-sS", "-H", f"Authorization: Bearer {self.key}", "-H",
             "Content-Type: application/json", "-d", f'{{"pk": "bicycle-{self.next - 1:08}"}}',
             f"http://127.0.0.1:{self.port}/torg.v1.DocumentService/GetDocument"],
            capture_output=True, text=True, check=True)
        return '"document"' in done.stdout

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


def prepare(stack):
    subjects = []
    top = pathlib.Path(tempfile.mkdtemp(prefix="torg-bench-registry-"))
    stack.callback(shutil.rmtree, top, ignore_errors=True)
    for name in STORES:
        folder = top / name
        folder.mkdir()
        if name == "sqlite":
            subject = Subject("SQLite", folder, f"sqlite:{folder}/store.sqlite")
        elif os.environ.get("TORG_TEST_POSTGRES"):
            subject = Subject("PostgreSQL", folder,
                              stack.enter_context(database(os.environ["TORG_TEST_POSTGRES"])))
        else:
            print("bench registry: no PostgreSQL; SQLite alone", file=sys.stderr)
            continue
        stack.callback(subject.stop)
        subjects.append(subject)
    return subjects


def row(title, found):
    print(f"{title:32} {found['documents_per_s']:10.0f} {found['p50_ms']:8.1f}"
          f" {found['p99_ms']:8.1f} {found['server_cores']:7.2f}", flush=True)


def main():
    words, middles = [], {}
    with contextlib.ExitStack() as stack:
        subjects = prepare(stack)
        print(f"{'':32} {'docs/s':>10} {'p50 ms':>8} {'p99 ms':>8} {'cores':>7}")
        for number in range(1, ROUNDS + 1):
            for subject in subjects:
                subject.round()
                for part, found in subject.rounds[-1].items():
                    row(f"{number} {subject.name} {part}", found)
        print("medians")
        for subject in subjects:
            for part, *_ in PARTS:
                rounds = [each[part] for each in subject.rounds]
                middle = {name: statistics.median(each[name] for each in rounds)
                          for name in rounds[0]}
                middles[subject.name, part] = middle
                row(f"{subject.name} {part}", middle)
                short = f"{subject.name.lower()}_{part}"
                words += [f"{short}_per_s={middle['documents_per_s']:.0f}",
                          f"{short}_p99_ms={middle['p99_ms']:.1f}"]
            refused = sum(found["refused"] for each in subject.rounds for found in each.values())
            words += [f"{subject.name.lower()}_refused={refused:.0f}",
                      f"{subject.name.lower()}_last_is_there={'yes' if subject.has_last() else 'no'}"]
    if "SQLite" in {name for name, _ in middles}:
        good = all(middles["SQLite", part]["documents_per_s"]
                   >= (BATCH_GOAL if "batch" in part else SINGLE_GOAL) for part, *_ in PARTS)
        words.append(f"target_met={'yes' if good else 'no'}")
    print(*words)


main()
