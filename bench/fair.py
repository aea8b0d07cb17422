#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fair.py [OFFERS] - a polite searcher beside greedy ones: how much longer does it wait?

The release binary, `torg up` with so many offers (100000), all on the same cores. The polite one asks
for a page, reads it, pauses for 20 ms, and asks for another: alone, then beside 50 connections
that keep 32 calls of SearchOffers each in flight (h2load, JSON over HTTP/2, 1600 in all):

  other caller   the greedy ones show a key, the polite one does not
  same address   nobody shows a key: they differ by their connections alone
  dear           as the first, and the greedy ones ask for offset 9900
  static         nobody shows a key; the greedy ones ask for the page at /, the polite one from another address

The five by turns, in rounds: neighbours come and go. A table of p50, p90 and the worst, in
milliseconds, of the polite one; then one line. `times` is the median of the rounds' ratios of p50 to
that of the same round alone; within 5 is wanted. `work` is the CPU that the server took from each
request to its answer (p50, ms), for whomever: it depends less on what else the machine does.

TORG_BENCH_SECONDS  of one part of a round (4)
TORG_BENCH_ROUNDS   (3)
TORG_BENCH_TORG     another binary, to compare with
"""
import http.client
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
TORG = os.environ.get("TORG_BENCH_TORG", BUILD / "torg")
OFFERS = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
SECONDS = int(os.environ.get("TORG_BENCH_SECONDS", 4))
ROUNDS = int(os.environ.get("TORG_BENCH_ROUNDS", 3))
CATALOG = TOP / "demo" / "catalog.json"
METHOD = "/torg.v1.SearchService/SearchOffers"
CONNECTIONS, STREAMS = 50, 32
PAUSE_S, TIMEOUT_S, START_S, FOUND_S = 0.02, 30, 60, 600
WANTED = 5
CPU_CLOCK = 2    # of a process, of those that clock_gettime knows by its id


def start(folder):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("TORG_")}
    with open(folder / "out", "w") as out, open(folder / "log", "w") as log:
        process = subprocess.Popen(
            [TORG, "up", f"--data={folder}/data", "--listen=127.0.0.1:0", "--operator-listen=",
             "--log.level=warn"], cwd=folder, env=environment, stdout=out, stderr=log)
    deadline = time.monotonic() + START_S
    address = folder / "data" / "server.url"
    while not address.exists() or not (folder / "out").read_text().endswith("\n\n"):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"bench fair: torg did not start: {(folder / 'log').read_text()}")
        time.sleep(0.05)
    key = (folder / "data" / "start.key").read_text().strip()
    return process, address.read_text().strip(), key


def ask(url, request):
    body = urllib.request.Request(url + METHOD, data=json.dumps(request).encode(),
                                  headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(body, timeout=TIMEOUT_S) as answer:
        return json.loads(answer.read())


def fill(url, key):
    subprocess.run([str(each) for each in (BUILD / "bench" / "bench-search-load", "fill",
                                           url.rsplit(":", 1)[1], key, CATALOG, OFFERS)],
                   check=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + FOUND_S
    while int(ask(url, {"limit": 1, "onlyOffers": True}).get("total", 0)) < OFFERS:
        if time.monotonic() > deadline:
            sys.exit("bench fair: the offers are not found")
        time.sleep(0.2)


def words(url):
    """Of titles there are: what buyers look for."""
    found = ask(url, {"limit": 100, "onlyOffers": True})["offers"]
    return sorted({word for offer in found for word in offer["title"].split() if len(word) > 3})


def cpu_ms(pid):
    return time.clock_gettime(~pid << 3 | CPU_CLOCK) * 1000


def polite(url, pid, texts, seed, source="127.0.0.1"):
    """Milliseconds of each call of one who asks one thing at a time, and of the server's CPU
    meanwhile; inf: it was refused."""
    chosen = random.Random(seed)
    client = http.client.HTTPConnection(url.split("//")[1], timeout=TIMEOUT_S, source_address=(source, 0))
    times, work = [], []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        body = json.dumps({"text": chosen.choice(texts), "limit": 20})
        begun, begun_cpu = time.monotonic(), cpu_ms(pid)
        client.request("POST", METHOD, body, {"Content-Type": "application/json"})
        answer = client.getresponse()
        answer.read()
        answered = answer.status == 200
        times.append((time.monotonic() - begun) * 1000 if answered else float("inf"))
        work.append(cpu_ms(pid) - begun_cpu if answered else float("inf"))
        time.sleep(PAUSE_S)
    return times, work


def greedy(folder, url, key, request):
    """Of SearchOffers, or of the page when there is no request."""
    words = ["h2load", "-c", str(CONNECTIONS), "-m", str(STREAMS), "-D", str(SECONDS + 4)]
    if request:
        (folder / "request").write_text(json.dumps(request))
        words += ["-d", str(folder / "request"), "-H", "content-type: application/json"]
    if key:
        words += ["-H", f"authorization: Bearer {key}"]
    load = subprocess.Popen([*words, url + (METHOD if request else "/")], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    time.sleep(2)    # until all of them wait
    return load


def run_round(folder, process, url, key, texts, number):
    """What the polite one found, by part."""
    text = texts[number % len(texts)]
    page = {"text": text, "limit": 20}
    parts = {"alone": polite(url, process.pid, texts, 2 * number)}
    for part, by, request, source in (
            ("other caller", key, page, "127.0.0.1"), ("same address", "", page, "127.0.0.1"),
            ("dear", key, {**page, "offset": 9900}, "127.0.0.1"), ("static", "", None, "127.0.0.2")):
        load = greedy(folder, url, by, request)
        try:
            parts[part] = polite(url, process.pid, texts, 2 * number + 1, source)
        finally:
            load.send_signal(signal.SIGKILL)
            load.wait()
    return parts


def ratio(rounds, part, which):
    return statistics.median(statistics.median(each[part][which]) / statistics.median(each["alone"][which])
                             for each in rounds)


def main():
    with tempfile.TemporaryDirectory(prefix="torg-bench-fair-") as name:
        folder = pathlib.Path(name)
        process, url, key = start(folder)
        try:
            fill(url, key)
            texts = words(url)
            rounds = [run_round(folder, process, url, key, texts, number) for number in range(ROUNDS)]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
    figures = {}
    print(f"{'a polite searcher, ms':24} {'calls':>6} {'p50':>8} {'p90':>8} {'worst':>8} {'times':>6} "
          f"{'work':>8} {'times':>6}")
    for part in rounds[0]:
        times = sorted(time_ms for each in rounds for time_ms in each[part][0])
        worked = statistics.median(work for each in rounds for work in each[part][1])
        print(f"{part:24} {len(times):6} {statistics.median(times):8.2f} {times[int(len(times) * 0.9)]:8.2f} "
              f"{times[-1]:8.2f} {ratio(rounds, part, 0):6.1f} {worked:8.2f} {ratio(rounds, part, 1):6.1f}")
        figures[part.replace(" ", "_")] = ratio(rounds, part, 0)
    line = " ".join(f"{part}_times={value:.2f}" for part, value in figures.items() if part != "alone")
    print(f"{line} wanted_times={WANTED}")


main()
