#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
# postgres: shared_buffers=2GB max_wal_size=8GB
"""offers.py [ROUNDS] - offers read by id and written durably at the same time, through the API.

The release binary, all its roles (so the export runs beside), first on SQLite, then on PostgreSQL
with the same rows; gRPC over loopback, the load on the same cores. Rounds are interleaved, so that
both meet the same neighbours; the table shows medians. Each round has two parts: as fast as it goes
at four reads a write, and (SQLite only) at the rates of the goal, where the times of calls mean
something. Afterwards every acknowledged revision is looked for in the store.

A filled store is kept in TORG_CACHE for the next run. The copy that is measured lies where TMPDIR
says: it must be a real disk for the figures to mean anything.

TORG_BENCH_OFFERS  stored offers of 2 KB (1000000)
TORG_BENCH_SECONDS of one part (8)
TORG_BENCH_UNDER_WAY  reads, and as many writes, at the same time (128)
TORG_BENCH_STORES  sqlite,postgres
TORG_BENCH_ONCE    0: writes without an idempotency key
"""
import array
import contextlib
import hashlib
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
CACHE = pathlib.Path(os.environ.get("TORG_CACHE", pathlib.Path.home() / ".cache" / "torg"))
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
OFFERS = int(os.environ.get("TORG_BENCH_OFFERS", 1000000))
SELLERS = max(10, min(1000, OFFERS // 100))
SECONDS = int(os.environ.get("TORG_BENCH_SECONDS", 8))
UNDER_WAY = int(os.environ.get("TORG_BENCH_UNDER_WAY", 128))
STORES = os.environ.get("TORG_BENCH_STORES", "sqlite,postgres").split(",")
READ_GOAL, WRITE_GOAL = 20000, 5000
TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()
START_SECONDS = 60
TABLES = ("sequence", "api_key", "offer", "user_offer_presets", "user_offer_presets_count",
          "user_total_counters")


def say(text):
    print(f"bench offers: {text}", file=sys.stderr, flush=True)


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}


# ---- stores ----

def filled():
    """The kept store with so many offers, filled if there is none of this version."""
    version = hashlib.sha256()
    for path in sorted([*TOP.glob("sql/*.sql"), *TOP.glob("bench/offers_[fs]*.c")]):
        version.update(path.read_bytes())
    place = CACHE / "bench-offers" / f"{OFFERS}-{version.hexdigest()[:12]}"
    if place.exists():
        return place
    part = place.with_suffix(f".{os.getpid()}")
    part.mkdir(parents=True)
    say(f"filling a store with {OFFERS} offers, once")
    begin = time.monotonic()
    try:
        subprocess.run([BUILD / "bench" / "bench-offers-fill", f"sqlite:{part}/store.sqlite",
                        str(OFFERS), str(SELLERS), part / "state", part / "keys"],
                       check=True, env=environment())
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    say(f"filled in {time.monotonic() - begin:.0f} s")
    return place


def copied(value):
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def copy_to_postgres(source, url):
    """The rows of the filled store by COPY; the tables were made by torg migrate."""
    begin = time.monotonic()
    rows = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    for table in TABLES:
        columns = [row[1] for row in rows.execute(f"PRAGMA table_info({table})")]
        names = ", ".join(columns)
        psql = subprocess.Popen(["psql", "-qX", "-v", "ON_ERROR_STOP=1", url, "-c",
                                 f"TRUNCATE {table}", "-c",
                                 f"COPY {table} ({names}) FROM STDIN"],
                                stdin=subprocess.PIPE, text=True)
        with psql.stdin as out:
            for row in rows.execute(f"SELECT {names} FROM {table}"):
                out.write("\t".join(map(copied, row)) + "\n")
        if psql.wait():
            sys.exit(f"bench offers: {table} was not copied to PostgreSQL")
    rows.close()
    for sql in ("VACUUM ANALYZE", "CHECKPOINT"):
        subprocess.run(["psql", "-qX", url, "-c", sql], check=True)
    say(f"copied to PostgreSQL in {time.monotonic() - begin:.0f} s")


@contextlib.contextmanager
def database(server):
    name = f"torg_bench_{os.getpid()}"
    base = urllib.parse.urlsplit(server)
    subprocess.run(["psql", "-qX", server, "-c", f"CREATE DATABASE {name}"], check=True)
    try:
        yield urllib.parse.urlunsplit(base._replace(path=f"/{name}"))
    finally:
        subprocess.run(["psql", "-qX", server, "-c", f"DROP DATABASE {name} WITH (FORCE)"])


# ---- servers ----

def ticks_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]), int(fields[1])


def ticks_of_tree(pid):
    """Of PostgreSQL's processes: they are children of the first."""
    total = ticks_of(pid)[0]
    for each in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            ticks, parent = ticks_of(each.name)
            total += ticks if parent == pid else 0
    return total


def machine_ticks():
    """(busy, all) of all cores."""
    fields = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]))
    return sum(fields) - fields[3] - fields[4], sum(fields)


class Subject:
    """One store with the server on it; the state file goes with it."""

    def __init__(self, name, folder, url, postgres_pid=None):
        self.name, self.folder, self.postgres_pid = name, folder, postgres_pid
        self.fast, self.paced = [], []
        with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [BUILD / "torg", "up", f"--data={folder}/data", f"--store.url={url}",
                 "--listen=127.0.0.1:0", "--operator-listen="],
                cwd=folder, env=environment(), stdout=out, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        address = folder / "data" / "server.url"
        while not address.exists() or not (folder / "out").read_text().endswith("\n\n"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"bench offers: torg did not start: {(folder / 'log').read_text()}")
            time.sleep(0.05)
        self.port = address.read_text().strip().rsplit(":", 1)[1]

    def server_ticks(self):
        ticks = ticks_of(self.process.pid)[0]
        return ticks + (ticks_of_tree(self.postgres_pid) if self.postgres_pid else 0)

    def load(self, *rates):
        program = [BUILD / "bench" / "bench-offers-load", self.port, self.folder / "state",
                   self.folder / "keys", SECONDS, UNDER_WAY, UNDER_WAY, *rates]
        ticks, busy = self.server_ticks(), machine_ticks()
        begin = time.monotonic()
        output = subprocess.run(list(map(str, program)), check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        seconds = time.monotonic() - begin
        found = {name: float(value) for name, value in (each.split("=")
                                                        for each in output.split())}
        server_s = (self.server_ticks() - ticks) / TICKS
        busy = [after - before for before, after in zip(busy, machine_ticks())]
        found["server_cores"] = server_s / seconds
        found["load_cores"] = found.pop("load_cpu_s") / seconds
        found["other_cores"] = (CORES * busy[0] / busy[1]
                                - found["server_cores"] - found["load_cores"])
        calls = (found["read_per_s"] + found["write_per_s"]) * seconds
        found["server_cpu_us"] = server_s * 1000000 / max(calls, 1)
        return found

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)


def missing_revisions(folder):
    """How many acknowledged revisions the store has not; 0 is right."""
    state = array.array("q")
    with open(folder / "state", "rb") as file:
        state.frombytes(file.read())
    rows = sqlite3.connect(f"file:{folder}/store.sqlite?mode=ro", uri=True)
    stored = dict(rows.execute("SELECT id, revision FROM offer WHERE kind = 'offer'"))
    rows.close()
    return sum(stored.get(state[i], 0) < state[i + 1] >> 32 for i in range(0, len(state), 2))


def wrong_counts(folder):
    """Counts of the cabinets that are not what a recount gives."""
    rows = sqlite3.connect(f"file:{folder}/store.sqlite?mode=ro", uri=True)
    found = rows.execute(
        "SELECT COUNT(*) FROM user_offer_presets_count c WHERE counter <> (SELECT COUNT(*) FROM "
        "user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)")
    count = found.fetchone()[0]
    rows.close()
    return count


# ---- rounds ----

def prepare(stack, source):
    subjects = []
    top = pathlib.Path(tempfile.mkdtemp(prefix="torg-bench-offers-"))
    stack.callback(shutil.rmtree, top, ignore_errors=True)
    for name in STORES:
        folder = top / name
        folder.mkdir()
        for file in ("state", "keys"):
            shutil.copy(source / file, folder)
        if name == "sqlite":
            subprocess.run(["cp", "--reflink=auto", source / "store.sqlite", folder], check=True)
            subject = Subject("SQLite", folder, f"sqlite:{folder}/store.sqlite")
        elif os.environ.get("TORG_TEST_POSTGRES"):
            url = stack.enter_context(database(os.environ["TORG_TEST_POSTGRES"]))
            subprocess.run([BUILD / "torg", "migrate", f"--data={folder}/data",
                            f"--store.url={url}"], check=True, env=environment(), cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            copy_to_postgres(source / "store.sqlite", url)
            pid = int(os.environ.get("TORG_TEST_POSTGRES_PID", 0)) or None
            subject = Subject("PostgreSQL", folder, url, pid)
        else:
            say("no PostgreSQL; SQLite alone")
            continue
        stack.callback(subject.stop)
        subjects.append(subject)
    subprocess.run(["sync"], check=True)
    return subjects


def row(title, found):
    print(f"{title:24} {found['read_per_s']:8.0f} {found['read_p50_ms']:6.1f}"
          f" {found['read_p99_ms']:6.1f} {found['write_per_s']:8.0f} {found['write_p50_ms']:6.1f}"
          f" {found['write_p99_ms']:6.1f} {found['server_cpu_us']:6.1f} {found['server_cores']:7.2f}"
          f" {found['load_cores']:5.2f} {found['other_cores']:6.2f}", flush=True)


def median(rounds):
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def run(subjects):
    print(f"{OFFERS} stored offers of 2 KB, half of the writes new offers, half new content")
    print(f"{'':24} {'reads/s':>8} {'p50 ms':>6} {'p99 ms':>6} {'writes/s':>8} {'p50 ms':>6}"
          f" {'p99 ms':>6} {'CPU us':>6} {'server':>7} {'load':>5} {'others':>6}")
    for number in range(1, ROUNDS + 1):
        for subject in subjects:
            subject.fast.append(subject.load())
            row(f"{number} {subject.name}", subject.fast[-1])
            if subject.name == "SQLite":
                subject.paced.append(subject.load(READ_GOAL, WRITE_GOAL))
                row(f"{number} {subject.name}, paced", subject.paced[-1])


def tell(subjects):
    words, middles = [f"offers={OFFERS}"], {}
    print("medians")
    for subject in subjects:
        middle = middles[subject.name] = median(subject.fast)
        short = subject.name.lower()
        row(subject.name, middle)
        words += [f"{short}_{name}={middle[name]:.{digits}f}"
                  for name, digits in (("read_per_s", 0), ("write_per_s", 0), ("read_p99_ms", 1),
                                       ("write_p99_ms", 1), ("server_cpu_us", 1))]
        words.append(f"{short}_failed={sum(each['failed'] for each in subject.fast):.0f}")
        if subject.paced:
            middle = median(subject.paced)
            row(f"{subject.name}, paced", middle)
            words += [f"paced_{name}={middle[name]:.{digits}f}"
                      for name, digits in (("read_per_s", 0), ("write_per_s", 0),
                                           ("read_p99_ms", 1), ("write_p99_ms", 1),
                                           ("load_cores", 2), ("other_cores", 2))]
            good = middle["read_per_s"] >= READ_GOAL * 0.99 \
                and middle["write_per_s"] >= WRITE_GOAL * 0.99
            words.append(f"target_met={'yes' if good else 'no'}")
    if len(middles) == 2:
        words.append("times_postgres="
                     f"{middles['SQLite']['write_per_s'] / middles['PostgreSQL']['write_per_s']:.1f}")
    return words


def main():
    with contextlib.ExitStack() as stack:
        subjects = prepare(stack, filled())
        run(subjects)
        words = tell(subjects)
        for subject in subjects:
            subject.stop()
            if subject.name == "SQLite":
                words += [f"revisions_missing={missing_revisions(subject.folder)}",
                          f"counts_wrong={wrong_counts(subject.folder)}"]
        print(*words)


main()
