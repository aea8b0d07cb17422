# SPDX-License-Identifier: Apache-2.0
"""A feed of 30 000 rows (in the long tests a million), twice: only what differs is touched, in little memory on both
sides.

usage: feed_large.py TOPIC_DUMP

With the release binary, since a sanitizer's memory says nothing about the program's. TORG_FEED_ROWS
sets another size.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
DUMP = sys.argv.pop(1)
RELEASE = os.environ.get("TORG_RELEASE_BIN", "")
os.environ["TORG_BIN"] = RELEASE or os.environ.get("TORG_BIN", "")
from kit import feed_generate  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import TORG, Place, environment, open_sqlite  # noqa: E402

ROWS = tap.count(30000, 1000000, "TORG_FEED_ROWS")
CHANGED, MISSING = 10, 5        # percent
MEMORY_KB_MAX = 200 << 10
MANY = 1000000


def memory_kb(pid, name="VmHWM"):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{name}:\s+(\d+) kB", status, re.M)[1])


class Watch(threading.Thread):
    """The most memory of its own that a process had: pages of mapped files are the system's."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.peak, self.ended = pid, 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.05):
            self.peak = max(self.peak, memory_kb(self.pid, "RssAnon"))

    def stop(self):
        self.ended.set()
        self.join()
        return self.peak


def run_import(place, name):
    """(summary, standard error, peak of memory in KB)"""
    with open(place.dir / "told", "w+") as told, open(place.dir / "summary", "w+") as summary:
        process = subprocess.Popen([TORG, "feed", "import", "--seller", "s-1", "--json", name],
                                   cwd=place.dir, env=environment(), stdout=summary, stderr=told)
        _, status, usage = os.wait4(process.pid, 0)
        told.seek(0)
        summary.seek(0)
        tap.equal(os.waitstatus_to_exitcode(status), 0, told.read())
        told.seek(0)
        return json.loads(summary.read()), told.read(), usage.ru_maxrss


def check_progress(name, told):
    lines = re.findall(rf"^{name}: (\d+)%, \S+ MB of \S+ MB, (\d+) rows, \d+ rows/s", told, re.M)
    if ROWS >= MANY:        # the sending alone takes longer than the pause between two lines
        assert lines, told
    tap.equal([int(rows) for _, rows in lines], sorted(int(rows) for _, rows in lines))


def counts_of(summary):
    return {name: int(count) for name, count in summary["task"]["counts"].items() if int(count)}


def exported(place):
    """{(offer, revision)} of the topic; the server is down."""
    done = tap.run(DUMP, place.data / "topics", "offer-updates")
    tap.equal((done.returncode, done.stderr), (0, ""))
    return {tuple(line.split()[:2]) for line in done.stdout.splitlines()}


def wait_for_export(place):
    def is_empty():
        with open_sqlite(f"file:{place.data / 'store.sqlite'}?mode=ro", uri=True) as base:
            return base.execute("SELECT COUNT(*) FROM queue").fetchone()[0] == 0

    tap.wait_until(is_empty, what="an empty queue")


def speed(what, summary, peak):
    tap.comment(f"{what}: {summary['task']['counts']['rows']} rows in {summary['seconds']:.1f} s, "
                f"{summary['rowsPerSecond']} rows/s; the command's peak is {peak >> 10} MB")


@tap.test
def a_large_feed_is_imported_and_the_next_touches_only_what_differs():
    if not os.access(TORG, os.X_OK):
        if os.environ.get("TORG_REQUIRE"):
            raise AssertionError(f"no release binary at {TORG}: ./dev build makes it")
        tap.skip("no release binary: ./dev build makes it")
    changed, missing = feed_generate.counts(ROWS, CHANGED, MISSING)
    began = time.monotonic()
    with Place() as place:
        place.spelling = False      # its dictionaries take 150 MB, whatever a feed has
        for name, options in (("one.yml", {}), ("two.yml", {"changed": CHANGED,
                                                            "missing": MISSING})):
            with open(place.dir / name, "w") as file:
                file.writelines(feed_generate.feed(ROWS, **options))
        place.start()
        before = {name: memory_kb(place.process.pid, name) for name in ("VmHWM", "RssAnon")}
        watch = Watch(place.process.pid)
        watch.start()
        first, told, first_peak = run_import(place, "one.yml")
        check_progress("one.yml", told)
        tap.equal(counts_of(first), {"rows": ROWS, "created": ROWS})
        speed("first", first, first_peak)
        second, told, second_peak = run_import(place, "two.yml")
        check_progress("two.yml", told)
        speed("second", second, second_peak)
        tap.equal(counts_of(second), {"rows": ROWS - missing, "updated": changed,
                                      "unchanged": ROWS - missing - changed, "deleted": missing})
        wait_for_export(place)
        grown = watch.stop() - before["RssAnon"]
        mapped = memory_kb(place.process.pid) - before["VmHWM"]
        tap.comment(f"the server grew by {grown >> 10} MB, with mapped files by {mapped >> 10} MB")
        for peak in (first_peak, second_peak, grown):
            assert 0 < peak < MEMORY_KB_MAX, f"{peak} KB"
        tap.equal(place.stop(), 0)
        with open_sqlite(place.data / "store.sqlite") as base:
            rows = base.execute("SELECT revision, COUNT(*) FROM offer WHERE kind = 'offer' GROUP BY "
                                "revision ORDER BY revision").fetchall()
        tap.equal(rows, [(1, ROWS - changed - missing), (2, changed + missing)])
        sent = exported(place)
        tap.equal(len({offer for offer, _ in sent}), ROWS)
        tap.equal(sum(revision == "2" for _, revision in sent), changed + missing)
    tap.comment(f"{time.monotonic() - began:.0f} s")


tap.main()
