# SPDX-License-Identifier: Apache-2.0
"""binary.py - the program under test: commands run to their end, servers started and stopped."""
import contextlib
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from kit import tap

TOP = pathlib.Path(__file__).resolve().parents[3]
TORG = os.environ.get("TORG_BIN", str(TOP / "build-test" / "torg"))
FREE_PORTS = ("--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0")
# A search that a busy machine holds up for seconds is answered all the same, with its snippets, and never
# from the state before a restart: tests of these limits set them themselves. Processes that ask each other
# have the usual ones.
PATIENT_SEARCHES = ("--search.deadline=60s", "--searcher.deadline=60s", "--snippets.page_wait=10s",
                    "--search.old_max=0s")


def environment(**more):
    """Ours without settings: a variable of the test runner must not configure the server. Nobody
    fetches photos: the addresses of most tests are made up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}
    return {**kept, "TORG_PHOTOS_FETCH": "false", **more}


looked_for_leaks = set()


def torg(*words, cwd=None, **variables):
    """Runs a command to its end. The first of its kind is looked at for leaks, and knows who allocated what;
    that takes a third of its time, and tests that wait ask often."""
    kind = words[:2]
    if kind in looked_for_leaks:
        variables = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=1",
                     **variables}
    looked_for_leaks.add(kind)
    return tap.run(TORG, *words, cwd=cwd, env=environment(**variables))


class Place:
    """A working directory that is gone afterwards, and the server that runs in it."""

    spelling = True     # False: what buyers type is no matter of the test; opening it takes seconds

    def __enter__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="torg-e2e-"))
        self.data = self.dir / "torg-data"
        self.process = None
        self.options = {}           # of Popen
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir)

    def torg(self, *words, **variables):
        return torg(*words, cwd=self.dir, **variables)

    def command(self, *words):
        return [TORG, *words]

    def environment(self):
        return environment()

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def start(self, *words):
        """Starts `torg up` on free ports and waits for its welcome."""
        words = words or ("up",)
        with open(self.dir / "out", "w") as out, open(self.dir / "log", "a") as log:
            self.process = subprocess.Popen(
                [TORG, *words, "--operator-listen=127.0.0.1:0"]
                + ([] if any(w.startswith("--listen") for w in words)
                   else ["--listen=127.0.0.1:0"])
                + ([] if self.spelling or words[0] != "up" else ["--search.spelling=false"])
                + [each for each in PATIENT_SEARCHES if words[0] == "up" and not any(
                    word.startswith(each.partition("=")[0]) for word in words)],
                cwd=self.dir, env=environment(), stdout=out, stderr=log, **self.options)
        tap.wait_until(lambda: self.out().endswith("\n\n") or self.ended(), what="the welcome")
        if self.ended():
            raise AssertionError(f"torg ended: {self.log()}")
        self.url = (self.data / "server.url").read_text()
        self.operators = re.search(r"operators +(https?://[^/]+)/", self.out())[1]
        has_start_key = "start key" in self.out()
        self.start_key = (self.data / "start.key").read_text() if has_start_key else None
        return self

    def ended(self):
        return self.process.poll() is not None

    def out(self):
        return (self.dir / "out").read_text()

    def log(self):
        return (self.dir / "log").read_text()

    def stop(self, number=signal.SIGTERM):
        """Sends the signal, and gives the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=tap.PATIENCE_S)

    def call(self, method, message=None, key=None):
        """A call by JSON: (HTTP status, answer), of which zeros are left out: most tests ask what is
        there. `call_whole` is the answer as it came."""
        status, answer = self.call_whole(method, message, key)
        return status, without_zeros(answer)

    def answered(self, method, message=None, key=None, whole=False):
        """As call(), of a search: it has seconds by the server's clock, which a busy machine may not give
        it. Then it is told so, or answered in part, and is asked again."""
        told = None

        def ask():
            nonlocal told
            told = (self.call_whole if whole else self.call)(method, message, key)
            is_late = told[0] in (503, 504) or (told[0] == 200 and told[1].get("isPartial"))
            return not is_late
        try:
            tap.wait_until(ask, what=f"an answer to {method}")
        except AssertionError as late:
            raise AssertionError(f"{late}: {told}") from None
        return told

    def call_whole(self, method, message=None, key=None):
        """A search has seconds, and is answered 504 when a busy machine needs longer: that is asked again.
        Of one that waits for a write this may be the answer."""
        request = urllib.request.Request(
            f"{self.url}/torg.v1.{method}", data=json.dumps(message or {}).encode(),
            headers={"Content-Type": "application/json"})
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        is_search = method.startswith(("SearchService/", "SearcherService/")) and "wait" not in (message or {})
        deadline = time.monotonic() + tap.PATIENCE_S
        while True:
            status, answer = fetch(request)
            if status != 504 or not is_search or time.monotonic() > deadline:
                return status, answer


def without_zeros(value):
    """The same without members that are 0, false or empty."""
    if isinstance(value, list):
        return [without_zeros(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: without_zeros(each) for name, each in value.items()
            if each not in (0, False, "0", [], {})}


@contextlib.contextmanager
def proxy():
    """Variables that name a proxy which never answers, and whether it was asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}"

        def was_asked():
            try:
                server.accept()[0].close()
            except BlockingIOError:
                return False
            return True

        yield {name: address for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY",
                                          "all_proxy", "ALL_PROXY")}, was_asked


class Database:
    """A database of this test's own, dropped afterwards."""

    def __enter__(self):
        self.server = tap.need("postgres")
        self.name = f"torg_e2e_{os.getpid()}_{secrets.token_hex(4)}"
        self.run(f"CREATE DATABASE {self.name} TEMPLATE template0")     # which nobody can be connected to
        base, _, query = self.server.partition("?")
        scheme, _, rest = base.partition("://")
        self.url = f"{scheme}://{rest.split('/')[0]}/{self.name}" + (f"?{query}" if query else "")
        return self

    def __exit__(self, *_):
        """Who is connected is sent away, and has five seconds to go: on a busy machine some need longer."""
        tap.wait_until(lambda: self.ask(f"DROP DATABASE {self.name} WITH (FORCE)").returncode == 0,
                       what=f"{self.name} is dropped")

    def ask(self, sql):
        return tap.run(tap.tool("psql"), self.server, "-qc", sql)

    def run(self, sql):
        result = self.ask(sql)
        tap.equal(result.returncode, 0, result.stderr)


@contextlib.contextmanager
def open_sqlite(path, **options):
    """A store's file, for one transaction, and closed. `with sqlite3.connect` alone leaves it open until
    garbage is collected: then its log is deleted, be it while the directory is being removed."""
    base = sqlite3.connect(path, timeout=tap.PATIENCE_S, **options)
    try:
        with base:
            yield base
    finally:
        base.close()


def fetch(request):
    try:
        with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
            status, body = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, body = error.code, error.read()
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body.decode()
