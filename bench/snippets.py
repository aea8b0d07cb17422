#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snippets.py [SNIPPETS [ROUNDS]] - durable PUTs, GETs and pages of snippets, beside Redis.

The release binary, `torg up` (one process, embedded backends), with so many snippets (1000000) of
200 bytes of JSON loaded before: by `torg snippets load`, whose time, memory and disk are told, and
the time of a restart over them. Then in turns:

put    PUT /snippets/NAME/KEY by h2load, synced before each answer; and SET of redis-benchmark to a
       Redis with appendonly yes and appendfsync always, the same count of callers and size
get    GET /snippets/NAME/KEY; and GET of Redis
page   one caller: GetSnippets of 20 keys x 5 names, p50 and p99; and one MGET of 100 keys of Redis
search one caller: SearchOffers of a page of 20 offers that have all 5 snippets, and without naming them

The load is made on the same cores. Medians of the rounds (3) are shown, with the least and the most
of them; ratios are of one round each, as the machine may be another in the next. The directory lies
where TMPDIR says: it must be a real disk for PUT to mean anything.

TORG_BENCH_CALLERS   at a time (64)
TORG_BENCH_REQUESTS  of a part (20000)
"""
import base64
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
SNIPPETS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
CALLERS = int(os.environ.get("TORG_BENCH_CALLERS", 64))
REQUESTS = int(os.environ.get("TORG_BENCH_REQUESTS", 20000))
NAMES = [f"n{i}" for i in range(5)]
PAGE_KEYS, PAGES, START_SECONDS = 20, 2000, 120
OFFER = {"content": {"category": "bikes", "title": "City bicycle",
                     "price": {"amount": "1500000", "currency": "RUB"},
                     "attributes": [{"attributeId": "bike-type", "options": ["city"]}]}}
CONNECTIONS = 8
BODY = json.dumps({"stars": 4.5, "text": "x" * 170})
CONFIG = "Body { Output: JSON\n%s}\n" % "".join(
    f'  Sections {{ Name: "{name}" }}\n' for name in NAMES)


def say(text):
    print(f"bench snippets: {text}", file=sys.stderr, flush=True)


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}


def torg(folder, *arguments):
    return subprocess.run([BUILD / "torg", *arguments, f"--data={folder}/data"], check=True,
                          cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True).stdout


def memory_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Torg:
    def __init__(self, folder):
        began = time.monotonic()
        with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [BUILD / "torg", "up", f"--data={folder}/data", "--listen=127.0.0.1:0",
                 "--operator-listen=", "--log.level=warn",
                 "--limits.key_rate=0", "--limits.address_rate=0",     # one caller has all that there is
                 f"--snippets.config={folder}/snippets.pb.txt"],
                cwd=folder, env=environment(), stdout=out, stderr=log)
        while not (folder / "out").read_text().endswith("\n\n"):
            if self.process.poll() is not None or time.monotonic() > began + START_SECONDS:
                sys.exit("bench snippets: the server does not start:\n" +
                         (folder / "log").read_text())
            time.sleep(0.01)
        self.start_s = time.monotonic() - began
        self.url = (folder / "data" / "server.url").read_text().split()[0].rstrip("/")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Redis:
    def __init__(self, folder):
        self.socket = folder / "redis.sock"
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", folder,
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL)
        while not self.socket.exists():
            time.sleep(0.01)

    def run(self, *command):
        out = subprocess.run(
            ["redis-benchmark", "-s", self.socket, "-c", str(CALLERS), "-n", str(REQUESTS),
             "-r", str(SNIPPETS), "-d", str(len(BODY)), "--csv", *command],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(out.splitlines()[-1].split(",")[1].strip('"'))

    def page(self):
        keys = ["key:__rand_int__"] * (PAGE_KEYS * len(NAMES))
        out = subprocess.run(
            ["redis-benchmark", "-s", self.socket, "-c", "1", "-n", str(PAGES), "-r",
             str(SNIPPETS), "--csv", "mget", *keys], check=True, stdout=subprocess.PIPE,
            text=True).stdout
        fields = [field.strip('"') for field in out.splitlines()[-1].split('",')]
        return float(fields[4]), float(fields[6])    # p50, p99

    def stop(self):
        self.process.terminate()
        self.process.wait()


def h2load(folder, key, uris, count, connections, streams, *more):
    """Requests a second, and the times of all in milliseconds."""
    (folder / "uris").write_text("".join(uri + "\n" for uri in uris))
    times = folder / "times"
    times.unlink(missing_ok=True)
    out = subprocess.run(
        ["h2load", "-n", str(count), "-c", str(connections), "-m", str(streams), "-t", "1",
         "-i", folder / "uris", f"--log-file={times}", "-H", f"authorization: Bearer {key}", *more],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    if f"{count} succeeded" not in out or f"status codes: {count} 2xx" not in out:
        sys.exit("bench snippets: not every request succeeded:\n" + out)
    rate = float(out.split("finished in")[1].split(",")[1].split()[0])
    return rate, sorted(int(line.split("\t")[2]) / 1000 for line in times.read_text().splitlines())


def keys_of(count):
    return [f"o-{random.randrange(max(1, SNIPPETS // len(NAMES)))}" for _ in range(count)]


def put(folder, server, key):
    body = folder / "body"
    body.write_text(BODY)
    uris = [f"{server.url}/snippets/{random.choice(NAMES)}/{one}" for one in keys_of(REQUESTS)]
    return h2load(folder, key, uris, REQUESTS, CONNECTIONS, CALLERS // CONNECTIONS, "-d", str(body),
                  "-H", ":method: PUT", "-H", "content-type: application/json")[0]


def get(folder, server, key):
    uris = [f"{server.url}/snippets/{random.choice(NAMES)}/{one}" for one in keys_of(REQUESTS)]
    return h2load(folder, key, uris, REQUESTS, CONNECTIONS, CALLERS // CONNECTIONS)[0]


def page(folder, server, key):
    body = folder / "page"
    body.write_text(json.dumps({"names": NAMES, "keys": keys_of(PAGE_KEYS)}))
    _, times = h2load(folder, key, [f"{server.url}/torg.v1.SnippetService/GetSnippets"], PAGES, 1, 1,
                      "-d", str(body), "-H", "content-type: application/json")
    return times[len(times) // 2], times[len(times) * 99 // 100]


def ask(server, method, message, key):
    request = urllib.request.Request(f"{server.url}/torg.v1.{method}", json.dumps(message).encode(),
                                     {"content-type": "application/json",
                                      "authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


def make_offers(folder, server, key):
    """A page of offers, found, each with all snippets."""
    seller = torg(folder, "key", "create", "seller", "--seller", "s-1", "--scope", "offers.read",
                  "--scope", "offers.write").strip()
    made = [ask(server, "OfferService/CreateOffer", OFFER, seller) for _ in range(PAGE_KEYS)]
    for offer in made:
        for name in NAMES:
            ask(server, "SnippetService/PutSnippet",
                {"name": name, "key": offer["id"], "format": "JSON",
                 "body": base64.b64encode(BODY.encode()).decode()}, key)
    found = ask(server, "SearchService/SearchOffers",
                {"text": "bicycle", "onlyOffers": True, "limit": PAGE_KEYS, "snippetNames": NAMES,
                 "wait": [offer["freshnessToken"] for offer in made[-1:]]}, key)
    got = sum(len(offer.get("snippets", [])) for offer in found["offers"])
    if len(found["offers"]) < PAGE_KEYS or got < PAGE_KEYS * len(NAMES):
        say(f"a page has {len(found['offers'])} offers and {got} snippets")


def search(folder, server, key, names):
    body = folder / "search"
    body.write_text(json.dumps({"text": "bicycle", "limit": PAGE_KEYS, "snippetNames": names}))
    _, times = h2load(folder, key, [f"{server.url}/torg.v1.SearchService/SearchOffers"], PAGES, 1, 1,
                      "-d", str(body), "-H", "content-type: application/json")
    return times[len(times) // 2], times[len(times) * 99 // 100]


def fill(folder):
    """Loads them all; the time, and how the process and the disk look then."""
    server = Torg(folder)
    began = time.monotonic()
    for name in NAMES:
        with open(folder / "file", "w") as out:
            for i in range(SNIPPETS // len(NAMES)):
                out.write(f'{{"key": "o-{i}", "value": {BODY}}}\n')
        torg(folder, "snippets", "load", name, str(folder / "file"), "--quiet")
    spent = time.monotonic() - began
    memory = memory_mb(server.process.pid)
    server.stop()
    disk = sum(file.stat().st_size for file in (folder / "data").glob("store.sqlite*")) >> 20
    server = Torg(folder)
    print(f"{SNIPPETS} snippets of {len(BODY)} bytes: loaded in {spent:.1f} s, {memory:.0f} MB of "
          f"memory then, {disk} MB on disk, a restart takes {server.start_s:.2f} s, "
          f"{memory_mb(server.process.pid):.0f} MB of memory after it", flush=True)
    return server


def measure(folder, server, redis, key):
    results = {}

    def note(name, value):
        results.setdefault(name, []).append(value)

    for turn in range(ROUNDS):
        say(f"round {turn + 1} of {ROUNDS}")
        for name, torg_part, redis_part in (("put", put, ("-t", "set")), ("get", get, ("-t", "get"))):
            before = cpu_s(server.process.pid)
            note(f"torg {name}", torg_part(folder, server, key))
            note(f"torg {name} cpu", (cpu_s(server.process.pid) - before) * 1e6 / REQUESTS)
            before = cpu_s(redis.process.pid)
            note(f"redis {name}", redis.run(*redis_part))
            note(f"redis {name} cpu", (cpu_s(redis.process.pid) - before) * 1e6 / REQUESTS)
        for who, (p50, p99) in (("torg", page(folder, server, key)), ("redis", redis.page())):
            note(f"{who} p50", p50)
            note(f"{who} p99", p99)
        for kind, names in (("with", NAMES), ("without", [])):
            before = cpu_s(server.process.pid)
            p50, p99 = search(folder, server, key, names)
            note(f"{kind} p50", p50)
            note(f"{kind} p99", p99)
            note(f"{kind} cpu", (cpu_s(server.process.pid) - before) * 1e6 / PAGES)
    return results


def spread(values, digits=0):
    """The median, and what it lies between."""
    return (f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to "
            f"{max(values):.{digits}f})")


def show(results):
    for name in ("put", "get"):
        ours, theirs = results[f"torg {name}"], results[f"redis {name}"]
        print(f"{name}: Torg {spread(ours)}/s, {spread(results[f'torg {name} cpu'])} us of CPU; "
              f"Redis {spread(theirs)}/s, {spread(results[f'redis {name} cpu'])} us; "
              f"{spread([a / b for a, b in zip(ours, theirs)], 2)} times")
    for who, what in (("torg", f"a page of {PAGE_KEYS} keys x {len(NAMES)} names"),
                      ("redis", "MGET of as many of Redis"), ("with", "SearchOffers with them"),
                      ("without", "without")):
        cpu = f", {spread(results[f'{who} cpu'])} us of CPU" if f"{who} cpu" in results else ""
        print(f"{what}: p50 {spread(results[f'{who} p50'], 2)} ms, p99 "
              f"{spread(results[f'{who} p99'], 2)} ms{cpu}")
    for part in ("p50", "p99"):
        ratios = [a / b for a, b in zip(results[f"with {part}"], results[f"without {part}"])]
        print(f"{part} with them to without: {spread(ratios, 2)} times")


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="torg-bench-snippets-"))
    server = redis = None
    try:
        (folder / "snippets.pb.txt").write_text(CONFIG)
        subprocess.run([BUILD / "torg", "snippets", "prefixes", "--allot",
                        folder / "snippets.pb.txt"], check=True, env=environment(),
                       stdout=subprocess.DEVNULL)
        server = fill(folder)
        redis = Redis(folder)
        key = torg(folder, "key", "create", "bench", "--scope", "snippets.read", "--scope",
                   "snippets.write").strip()
        make_offers(folder, server, key)
        show(measure(folder, server, redis, key))
        print(f"load of the machine: {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    finally:
        for one in (server, redis):
            if one:
                one.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
