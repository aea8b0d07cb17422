# SPDX-License-Identifier: Apache-2.0
"""searchers.py - several searchers, real processes: replicas of shards, one killed, one frozen.

A front without shards of its own asks the others. Whatever happens to one of them, an answer comes
by the deadline; it is whole as long as some process has each shard, and else says what is missing.
"""
import base64
import concurrent.futures
import contextlib
import http.client
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import quote

from kit import tap
from kit.testd import SANITIZER_ENV

SEARCHERD = sys.argv.pop(1)
DEADLINE_MS = 30000     # a sanitizer's build on a busy machine
SHORT_MS = 8000         # of a search that runs out of time
DEADLINE_MS_MAX = 60000    # SEARCHER_DEADLINE_MS_MAX of src/searcher/bounds.h
MANY = 150              # wait at once ...
MANY_FAR = 60           # ... where a look goes to another process
LATE_S = 20             # of an answer after its deadline, on a quiet machine
READY_S = tap.PATIENCE_S
QUERY = {"stages": [{"text": "велосипед", "limit": 20, "sorts": [{"relevance": True}, {"field": "seller"}],
                     "facets": [{"field": "seller"}]}]}


class Searcher:
    """A running searcherd; its port is known before it is."""

    def __init__(self, port, **options):
        self.port = port
        arguments = [SEARCHERD, "--port", str(port)]
        for name, value in options.items():
            arguments += ["--" + name, str(value)]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, **SANITIZER_ENV})
        tap.equal(self.process.stdout.readline().strip(), str(port).encode())

    def call(self, method, request, timeout=READY_S):
        return self._ask(timeout, "POST", "/torg.v1.SearcherService/" + method, json.dumps(request),
                         {"Content-Type": "application/json"})

    def get(self, address):
        return self._ask(READY_S, "GET", address)

    def _ask(self, timeout, *request):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(*request)
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def search(self, query=QUERY, **more):
        began = time.monotonic()
        request = {"client": "bazaar", "query": query, "deadlineMs": DEADLINE_MS, **more}
        status, answer = self.call("Search", request)
        took = time.monotonic() - began
        assert took < request["deadlineMs"] / 1000 + tap.at_load(LATE_S), f"took {took:.3f} s"
        return status, answer

    def ready_shards(self):
        status, answer = self.call("GetFreshness", {"client": "bazaar"})
        if status != 200:
            return []
        return sorted((s.get("replica", ""), s.get("shard", 0)) for s in answer.get("shards", [])
                      if s.get("isReady"))

    def wait_ready(self, count):
        deadline = time.monotonic() + READY_S
        while len(self.ready_shards()) < count:
            assert time.monotonic() < deadline, f"ready: {self.ready_shards()}"
            time.sleep(0.05)

    def tell(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    def freeze(self):
        """Returns when every thread stands still."""
        self.process.send_signal(signal.SIGSTOP)
        tap.wait_until(lambda: tap.are_stopped(self.process.pid), what="a searcher that stands still")

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Whole: leaks and races of a sanitizer's build are found here."""
        self.process.stdin.close()
        tap.equal(self.process.wait(READY_S), 0)


@contextlib.contextmanager
def searchers(*layouts):
    """Processes by their shards; the last one, the front, knows all others."""
    ports = [tap.free_port() for _ in layouts]
    urls = " ".join(f"http://127.0.0.1:{port}" for port in ports[:-1])
    running = []
    try:
        for port, shards in zip(ports[:-1], layouts):
            running.append(Searcher(port, shards=shards))
        running.append(Searcher(ports[-1], shards=layouts[-1], replicas=urls))
        running[-1].wait_ready(sum(len(shards.split()) for shards in layouts if shards != NONE))
        yield running
    finally:
        for one in running:
            if one.process.poll() is None:
                one.thaw()
                one.kill()


ALL = "0 1 2"
NONE = "9"


def page(answer):
    stage = answer["answer"]["stages"][0]
    return ([(hit["pk"], hit["score"]) for hit in stage["hits"]], stage["total"], stage["facets"])


def token(shard, idx):
    """Of version 1 of some key; a searcher without a store looks at no seal."""
    made = bytes([4, 1, 0, shard, idx, 1]) + bytes(16)
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


@tap.test
def a_front_answers_as_a_searcher_with_all_shards():
    with searchers(ALL, "0", "1 2", NONE) as (whole, first, rest, front):
        status, expected = whole.search()
        tap.equal(status, 200)
        whole.kill()
        for _ in range(10):
            status, answer = front.search()
            tap.equal(status, 200)
            assert not answer.get("isPartial"), answer.get("missingShards")
            tap.equal(page(answer), page(expected))
        for one in (first, rest, front):
            one.end()


@tap.test
def a_killed_replica_is_not_missed():
    with searchers(ALL, ALL, NONE) as (first, second, front):
        expected = page(front.search()[1])
        first.kill()
        for _ in range(20):
            status, answer = front.search()
            tap.equal(status, 200)
            assert not answer.get("isPartial")
            tap.equal(page(answer), expected)
        second.kill()
        status, answer = front.search()
        tap.equal(status, 503)
        front.end()


@tap.test
def a_frozen_replica_is_not_waited_for():
    with searchers(ALL, ALL, NONE) as (first, second, front):
        expected = page(front.search()[1])
        second.freeze()
        for _ in range(10):
            status, answer = front.search()
            tap.equal(status, 200)
            assert not answer.get("isPartial")
            tap.equal(page(answer), expected)
        second.thaw()
        for one in (first, second, front):
            one.end()


@tap.test
def a_shard_without_a_replica_is_named():
    with searchers("0 1", "2", NONE) as (first, alone, front):
        whole = front.search()[1]["answer"]["stages"][0]["total"]
        alone.freeze()
        status, answer = front.search(deadlineMs=SHORT_MS)
        tap.equal(status, 200)
        tap.equal(answer.get("missingShards"), [2])
        tap.equal(answer["isPartial"], True)
        assert 0 < int(answer["answer"]["stages"][0]["total"]) < int(whole)
        alone.thaw()
        deadline = time.monotonic() + READY_S
        while front.search()[1].get("isPartial"):
            assert time.monotonic() < deadline
        for one in (first, alone, front):
            one.end()


@contextlib.contextmanager
def garbled(port):
    """Another version of a searcher, as it were: it tells what that one has, and its answers to searches
    cannot be read. Gives its port, and how many it gave."""
    count = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path.endswith("GetFreshness"):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=READY_S)
                connection.request("POST", self.path, body, {"Content-Type": self.headers["Content-Type"]})
                answer = connection.getresponse().read()
                connection.close()
            else:
                count.append(self.path)
                answer = b"\xff" * 40
            self.send_response(200)
            self.send_header("Content-Type", "application/proto")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], count
        finally:
            server.shutdown()


@tap.test
def an_answer_that_cannot_be_read_is_not_the_requests_fault():
    with searchers(ALL, NONE) as (whole, _), garbled(whole.port) as (port, count):
        expected = page(whole.search()[1])
        both = Searcher(tap.free_port(), shards=NONE,
                        replicas=f"http://127.0.0.1:{port} http://127.0.0.1:{whole.port}")
        alone = Searcher(tap.free_port(), shards=NONE, replicas=f"http://127.0.0.1:{port}")
        try:
            both.wait_ready(6)
            for _ in range(6):                  # whoever is asked first
                status, answer = both.search()
                tap.equal((status, answer.get("isPartial", False)), (200, False), answer)
                tap.equal(page(answer), expected)
            tap.equal(len(count) > 0, True)
            alone.wait_ready(3)
            status, answer = alone.search()
            tap.equal(status, 503, answer)
            tap.contains(answer["message"], "an answer that cannot be read")
            both.end()
            alone.end()
        finally:
            for one in (both, alone):
                if one.process.poll() is None:
                    one.kill()


@contextlib.contextmanager
def relay(*fronts):
    """A process without an index that asks these for whole searches."""
    running = Searcher(tap.free_port(), fronts=" ".join(f"http://127.0.0.1:{port}" for port in fronts))
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.kill()


@tap.test
def whole_searches_go_to_whoever_answers():
    with searchers("0", ALL, ALL) as (_, first, second), relay(first.port, second.port) as front:
        expected = page(first.search()[1])
        for _ in range(4):
            status, answer = front.search()
            tap.equal((status, page(answer)), (200, expected))
        wrong = {"stages": [{"sorts": [{"field": "prize"}]}]}
        told = [(status, answer["code"], answer["message"])
                for status, answer in (front.search(wrong), first.search(wrong))]
        tap.equal(told[0], told[1])
        first.kill()
        for _ in range(10):
            status, answer = front.search()
            tap.equal((status, page(answer)), (200, expected))
        second.freeze()
        status, answer = front.search(deadlineMs=SHORT_MS)
        tap.equal((status, "127.0.0.1" in answer["message"]), (504, True), answer)
        second.thaw()
        tap.wait_until(lambda: front.search()[0] == 200, READY_S, "an answer of the one let go on")
        second.kill()
        status, answer = front.search()
        tap.equal(status, 503)
        tap.contains(answer["message"], "searcher http://127.0.0.1:")
        front.end()


@tap.test
def one_that_hangs_leaves_time_for_the_next():
    with searchers("0", ALL, ALL) as (_, first, second), relay(first.port, second.port) as front:
        expected = page(first.search()[1])
        first.freeze()
        for _ in range(6):
            status, answer = front.search()
            tap.equal((status, page(answer)), (200, expected))
        began = time.monotonic()        # by now it is known that the first does not answer
        tap.wait_until(lambda: front.search()[0] == 200 and front.search()[0] == 200, READY_S)
        tap.comment(f"two searches beside a frozen one: {time.monotonic() - began:.3f} s")
        first.thaw()
        front.end()


@tap.test
def a_search_waits_for_a_write_in_another_process():
    with searchers(ALL, NONE) as (store, front):
        query = {"stages": [{"text": "единорог"}]}
        status, answer = front.search(query, wait=[token(1, 5)], deadlineMs=SHORT_MS)
        tap.equal(status, 504)
        status, answer = front.search({"stages": [{"sorts": [{"field": "prize"}]}]})
        tap.equal((status, list(tap.faults(answer))), (400, ["query.stages[0].sorts[0].field"]))
        found = []
        waiting = threading.Thread(
            target=lambda: found.append(front.search(query, wait=[token(1, 5)],
                                                     deadlineMs=DEADLINE_MS_MAX)))
        waiting.start()
        store.tell("1 5 единорог")
        waiting.join()
        tap.equal(found[0][0], 200)
        tap.equal(found[0][1]["answer"]["stages"][0]["total"], "1")
        status, answer = front.call("GetFreshness", {"client": "bazaar", "token": token(1, 5)})
        tap.equal((status, answer["isSearchable"]), (200, True))
        status, answer = front.call("GetFreshness", {"client": "bazaar", "token": token(1, 9),
                                                     "waitMs": 50})
        tap.equal((status, answer.get("isSearchable", False)), (200, False))
        for one in (store, front):
            one.end()


def let_wait(count, search, store):
    """All are answered when the write has come; who does not wait is answered meanwhile."""
    with concurrent.futures.ThreadPoolExecutor(count) as callers:
        waiting = [callers.submit(search, token(1, 5)) for _ in range(count)]
        tap.wait_until(lambda: search(None)[0] == 200)
        tap.equal([one.result()[0] for one in waiting if one.done()], [])
        store.tell("1 5 единорог")
        return [one.result() for one in waiting]


def totals(answers):
    return [(status, answer.get("answer", {}).get("stages", [{}])[0].get("total"))
            for status, answer in answers]


def by_method(searcher):
    asked = {"client": "bazaar", "query": {"stages": [{"text": "единорог"}]},
             "deadlineMs": DEADLINE_MS_MAX}
    return lambda wait: searcher.call("Search", {**asked, "wait": [wait] if wait else []})


@tap.test
def many_searches_wait_for_a_write_and_hold_no_thread():
    """More than a searcher has threads."""
    with searchers(ALL) as (store,):
        tap.equal(totals(let_wait(MANY, by_method(store), store)), [(200, "1")] * MANY)
        store.end()


@tap.test
def many_searches_wait_for_a_shard_of_another_process_and_hold_no_thread():
    with searchers(ALL, NONE) as (store, front):
        tap.equal(totals(let_wait(MANY_FAR, by_method(front), store)), [(200, "1")] * MANY_FAR)
        for one in (store, front):
            one.end()


@tap.test
def many_searches_by_an_address_wait_and_hold_no_thread():
    with searchers(ALL, NONE) as (store, front):
        def search(wait):
            return front.get("/v1/clients/bazaar/search?limit=1&q=" + quote("единорог")
                             + ("&wait=" + wait if wait else ""))

        answers = let_wait(MANY_FAR, search, store)
        tap.equal([(status, answer.get("total")) for status, answer in answers],
                  [(200, 1)] * MANY_FAR)
        for one in (store, front):
            one.end()


tap.main()
