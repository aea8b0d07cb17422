#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""search.py [OFFERS [ROUNDS [auditor]]] - pages of SearchOffers a second, idle and while offers change.

The release binary, `torg up` (one process, embedded backends, the demo catalogue), the load on the
same cores, messages over HTTP/1.1. First so many offers (1000000) are put as documents of the client
`offers`, made by the composer's code, through the receiver; when the last is found the rounds begin.
A round has three parts: one caller, whose times mean something; as many as keep all cores busy; the
same while 1000 offers a second change through the receiver, half of them their text. Then one caller
types: Suggest for the first letters of words, by how many there are. The mix of
requests is that of bench/search_sample.h; their words are made up and not learnt by the speller, so
they are not corrected (`./dev bench spell`: some 25 µs a word). Medians are shown, and at last one
line of them.

With `auditor`: the same data, in turns without the auditor and with one that begins round after round; the server
is started anew for each turn. Of each part the medians of both, and what one is to the other.

`core` is the time within the two questions to the searcher, as answers tell it (StepTime), beside
the whole call of the single caller. That is by the clock: on a busy machine the CPU's share says
more, which perf (if it is there) finds out in a last part, by the folders that functions are of;
what the C library and the kernel do is counted for the one who called, where that can be seen.

TORG_BENCH_SECONDS  of one part (6)
TORG_BENCH_CALLERS  of the busy parts (16)
TORG_BENCH_CHANGES  a second (1000)
"""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
OFFERS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
IN_TURNS = sys.argv[3:] == ["auditor"]
AUDITOR = {"off": ["--auditor.rate=0"], "on": ["--auditor.pause=100ms"]}
SECONDS = int(os.environ.get("TORG_BENCH_SECONDS", 6))
CALLERS = int(os.environ.get("TORG_BENCH_CALLERS", 16))
CHANGES = int(os.environ.get("TORG_BENCH_CHANGES", 1000))
PROFILE_CALLERS, PROFILE_TOP = 2, 25
CORE = ("index", "query")
ASKING = ("step_page_us", "step_filters_us")    # the steps that ask the searcher
CATALOG = TOP / "demo" / "catalog.json"
START_SECONDS, FOUND_SECONDS = 60, 900
TYPED = (1, 2, 3, 5)    # letters
PARTS = (("alone", 1, 0), ("busy", CALLERS, 0), ("changing", CALLERS, CHANGES))


def say(text):
    print(f"bench search: {text}", file=sys.stderr, flush=True)


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}


class Server:
    def __init__(self, folder, options=()):
        with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [BUILD / "torg", "up", f"--data={folder}/data", "--listen=127.0.0.1:0",
                 "--operator-listen=", "--log.level=warn", *options],
                cwd=folder, env=environment(), stdout=out, stderr=log)
        deadline = time.monotonic() + START_SECONDS + OFFERS / 1000
        address = folder / "data" / "server.url"
        while not address.exists() or not (folder / "out").read_text().endswith("\n\n"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"bench search: torg did not start: {(folder / 'log').read_text()}")
            time.sleep(0.05)
        self.url = address.read_text().strip()
        self.key = (folder / "data" / "start.key").read_text().strip()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(120)
            except subprocess.TimeoutExpired:
                self.process.kill()

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def resident_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def load(self, *words):
        done = subprocess.run(
            list(map(str, [BUILD / "bench" / "bench-search-load", words[0],
                           self.url.rsplit(":", 1)[1], self.key, CATALOG, OFFERS, *words[1:]])),
            stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit("bench search: the load has failed, see above")
        done = done.stdout
        return {name: float(value) for name, value in (each.split("=") for each in done.split())}

    def total(self):
        request = urllib.request.Request(
            f"{self.url}/torg.v1.SearchService/SearchOffers",
            data=json.dumps({"limit": 1, "onlyOffers": True}).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(json.loads(answer.read()).get("total", 0))
        except urllib.error.HTTPError as error:
            if error.code != 503:       # its shard is being opened
                raise
            return 0

    def part(self, callers, changes):
        begin, began = self.cpu_s(), time.monotonic()
        found = self.load("ask", callers, SECONDS, changes)
        found["server_cores"] = (self.cpu_s() - begin) / (time.monotonic() - began)
        # of all calls, those of the first second too
        found["server_us"] = found["server_cores"] * 1e6 / max(1, found["pages_per_s"])
        steps = {name: us for name, us in found.items() if name.startswith("step_")}
        found["core_us"] = sum(steps.pop(name, 0) for name in ASKING)
        found["own_us"] = sum(steps.values())
        return found


def fill(server):
    begin = time.monotonic()
    rate = server.load("fill")["filled_per_s"]
    while server.total() < OFFERS:
        if time.monotonic() - begin > FOUND_SECONDS + OFFERS / 1000:
            sys.exit(f"bench search: {server.total()} of {OFFERS} are found, and no more come")
        time.sleep(0.2)
    seconds = time.monotonic() - begin
    say(f"{OFFERS} offers taken at {rate:.0f}/s, all found after {seconds:.0f} s")
    return seconds


def folders():
    """Which folder of src/ each function is of; those of a name in several are left out."""
    found = {}
    for archive in sorted((BUILD / "src").glob("*/*.a")):
        listing = subprocess.run(["nm", "--defined-only", archive], capture_output=True, text=True)
        for line in listing.stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tT":
                found.setdefault(words[2].split(".")[0], set()).add(archive.parent.name)
    return {name: places.pop() for name, places in found.items() if len(places) == 1}


def owner_of(sample, owners):
    """The folder a sample belongs to: what a library does is done for who has called it."""
    leaf = ""
    for line in sample:
        words = line.split()
        if len(words) < 3 or words[1] == "[unknown]":
            continue
        symbol = words[1].split("+")[0].split(".")[0]
        leaf = leaf or symbol
        if words[-1].endswith("/torg)") and symbol in owners:
            return owners[symbol], leaf if leaf == symbol else f"{symbol}: {leaf}"
    return "elsewhere", leaf


def profile(server, folder):
    """The CPU's share of each folder while pages are asked for, in percent; None: no perf."""
    data = folder / "perf.data"
    if not shutil.which("perf"):
        return None
    perf = subprocess.Popen(["perf", "record", "-q", "-g", "-F", "499", "-p",
                             str(server.process.pid), "-o", data],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server.part(PROFILE_CALLERS, 0)
    perf.send_signal(signal.SIGINT)
    perf.wait()
    told = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym,dso"], capture_output=True,
                          text=True).stdout
    owners, folder_count, symbol_count, count = folders(), {}, {}, 0
    for sample in filter(None, map(str.splitlines, told.split("\n\n"))):
        owner, symbol = owner_of(sample, owners)
        folder_count[owner] = folder_count.get(owner, 0) + 1
        symbol_count[owner, symbol] = symbol_count.get((owner, symbol), 0) + 1
        count += 1
    shares = {owner: 100 * each / count for owner, each in folder_count.items()}
    top = [(100 * each / count, *name) for name, each in symbol_count.items()]
    for share, owner, symbol in sorted(top, reverse=True)[:PROFILE_TOP]:
        say(f"  {share:5.1f} %  {owner:12} {symbol}")
    return shares or None


def measure_typing(server):
    """Suggest by how many letters were typed, one caller."""
    print(f"{'Suggest':16} {'calls/s':>9} {'mean ms':>8} {'p50 ms':>8} {'p99 ms':>8}")
    told = ""
    for letters in TYPED:
        found = server.load("type", 1, SECONDS, letters)
        mean = found["mean_us"] / 1000
        print(f"{letters:2} letters       {found['pages_per_s']:9.0f} {mean:8.2f}"
              f" {found['p50_ms']:8.2f} {found['p99_ms']:8.2f}", flush=True)
        told += f" suggest{letters}_mean_ms={mean:.2f} suggest{letters}_p99_ms={found['p99_ms']:.2f}"
    return told


def row(title, found):
    print(f"{title:16} {found['pages_per_s']:9.0f} {found['p50_ms']:8.2f} {found['p99_ms']:8.2f}"
          f" {found['core_us']:9.0f} {found['own_us']:9.0f} {found['server_us']:10.0f}"
          f" {found['server_cores']:6.2f} {found['changes_per_s']:9.0f}", flush=True)


def measure(server):
    rounds = {name: [] for name, _, _ in PARTS}
    print(f"{'':16} {'pages/s':>9} {'p50 ms':>8} {'p99 ms':>8} {'core µs':>9} {'own µs':>9}"
          f" {'CPU µs':>10} {'cores':>6} {'changes/s':>9}")
    for number in range(ROUNDS):
        for name, callers, changes in PARTS:
            rounds[name].append(server.part(callers, changes))
            row(f"{number + 1} {name}", rounds[name][-1])
    return {name: {key: statistics.median(one.get(key, 0) for one in found) for key in found[0]}
            for name, found in rounds.items()}


def compare_auditor(folder):
    """A line for each part: medians without and with it."""
    found = {name: {part: [] for part, _, _ in PARTS} for name in AUDITOR}
    server = Server(folder, AUDITOR["off"])
    try:
        fill(server)
    finally:
        server.stop()
    for number in range(ROUNDS):
        for name in (list(AUDITOR) if number % 2 else reversed(AUDITOR)):
            server = Server(folder, AUDITOR[name])
            try:
                while server.total() < OFFERS:      # until the shard is ready
                    time.sleep(0.2)
                for part, callers, changes in PARTS:
                    found[name][part].append(server.part(callers, changes))
                    row(f"{number + 1} {part} {name}", found[name][part][-1])
            finally:
                server.stop()
    for part, _, _ in PARTS:
        middle = {name: {key: statistics.median(one[key] for one in found[name][part])
                         for key in ("pages_per_s", "p50_ms", "p99_ms")} for name in AUDITOR}
        print(f"search auditor part={part} " + " ".join(
            f"{key}_off={middle['off'][key]:.2f} {key}_on={middle['on'][key]:.2f} "
            f"{key}_ratio={middle['on'][key] / middle['off'][key]:.3f}" for key in middle["on"]), flush=True)


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="torg-bench-search-"))
    if IN_TURNS:
        try:
            compare_auditor(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return
    server = Server(folder)
    try:
        seconds = fill(server)
        found = measure(server)
        typing = measure_typing(server)
        resident = server.resident_mb()
        shares = profile(server, folder)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print("medians")
    for name, each in found.items():
        row(name, each)
    alone, busy, changing = (found[name] for name, _, _ in PARTS)
    share = alone["core_us"] / alone["mean_us"]
    say(f"a page has {busy['bytes']:.0f} bytes, {busy['offers']:.1f} offers and"
        f" {busy['filters']:.1f} filters; a request finds {busy['hits']:.0f} offers")
    core = ""
    if shares:
        say("CPU by folder: " + ", ".join(f"{name} {part:.0f} %" for name, part in
                                          sorted(shares.items(), key=lambda one: -one[1])[:12]))
        known = 100 - shares.get("elsewhere", 0)
        core = f" core_cpu_share={sum(shares.get(name, 0) for name in CORE) / max(1, known):.2f}"
    print(f"offers={OFFERS} fill_s={seconds:.0f} pages_per_s={busy['pages_per_s']:.0f}"
          f" p99_ms={busy['p99_ms']:.2f} changing_pages_per_s={changing['pages_per_s']:.0f}"
          f" changing_p99_ms={changing['p99_ms']:.2f} changes_per_s={changing['changes_per_s']:.0f}"
          f" alone_p50_ms={alone['p50_ms']:.3f} alone_p99_ms={alone['p99_ms']:.3f}"
          f" alone_mean_us={alone['mean_us']:.0f} core_us={alone['core_us']:.0f}"
          f" core_share={share:.2f}{core} server_us={busy['server_us']:.0f}"
          f" resident_mb={resident:.0f} callers={CALLERS} rounds={ROUNDS}{typing}")


main()
