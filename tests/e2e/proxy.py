# SPDX-License-Identifier: Apache-2.0
"""A process that stands still is left by its callers: HAProxy, with the settings of docs/processes.md, has two
behind it, one of which is frozen (SIGSTOP) under steady calls: searches by HTTP/1.1 and by gRPC, and writes, which
their senders repeat.

No time is measured: how soon callers are moved is what the settings say, and they are added up.
"""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import h2raw  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, Place  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "processes.md"
CALLERS = 4
MOVED_MS = 1000
AROUND = """defaults
    mode http
    timeout client 60s
frontend callers
    bind 127.0.0.1:{port}
    default_backend torg-search
"""


def settings():
    return re.search(r"^backend torg-search\n(?:    .*\n)+", PAGE.read_text(), re.M)[0]


def number(text, name):
    return int(re.search(rf"{name} +(\d+)", text)[1])


def for_grpc(lines):
    """As the page says it: servers are spoken to by HTTP/2, their operators' ports are not."""
    return re.sub(r"(server \w \S+ check)", r"\1 check-proto h1 proto h2", lines)


def for_writes(lines):
    """Likewise: nothing is sent again by the proxy."""
    lines, count = re.subn(r"    retry-on .*\n", "", lines)
    tap.equal(count, 1, lines)
    return lines


class Proxy:
    """HAProxy before the places, which answers tell of."""

    def __init__(self, places, lines):
        self.port = tap.free_port()
        for name, place in zip("ab", places):
            at, operators = (url.strip().split("//")[1].rstrip("/") for url in (place.url, place.operators))
            lines, count = re.subn(rf"server {name} \S+ (check.*) port \d+",
                                   rf"server {name} {at} \1 port {operators.split(':')[1]}", lines)
            tap.equal(count, 1, lines)
        config = places[0].dir / "haproxy.cfg"
        # A busy machine must not be taken for one that stands still: the order of events is tried, not the times.
        lines = re.sub(r"timeout check +\d+ms", "timeout check 30s", lines)
        lines = re.sub(r"timeout connect +\d+ms", "timeout connect 60s", lines)
        lines = re.sub(r"timeout server +\d+s", "timeout server 900s", lines)
        config.write_text(AROUND.format(port=self.port) + lines + "    http-response set-header front %s\n")
        self.log = open(places[0].dir / "haproxy.log", "w")
        self.process = subprocess.Popen([tap.tool("haproxy"), "-db", "-f", str(config)],
                                        stdout=self.log, stderr=self.log)

    def post(self, method, message, **headers):
        """(status, which one has answered, the answer)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=tap.PATIENCE_S)
        try:
            connection.request("POST", f"/torg.v1.{method}", json.dumps(message).encode(),
                               {"Content-Type": "application/json", **headers})
            answer = connection.getresponse()
            return answer.status, answer.getheader("front"), answer.read()
        finally:
            connection.close()

    def search(self):
        return self.post("SearchService/SearchOffers", {})[:2]

    def search_by_grpc(self):
        def taken():
            """Clients of gRPC send a refused stream again by themselves."""
            with h2raw.Connection(self.port) as connection:
                reply = connection.call("/torg.v1.SearchService/SearchOffers", h2raw.grpc_message(b""))
                return reply.reset != h2raw.REFUSED_STREAM and reply

        reply = tap.wait_until(taken, what="an answer to a stream")
        return (200, reply.headers["front"]) if reply.grpc_status == 0 else (repr(reply), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=tap.PATIENCE_S)
        self.log.close()


class Caller(threading.Thread):
    def __init__(self, call):
        super().__init__(daemon=True)
        self.call, self.answers, self.ended = call, [], False

    def run(self):
        while not self.ended:
            try:
                self.answers.append(self.call())
            except (OSError, http.client.HTTPException, h2raw.Closed) as trouble:
                self.answers.append((repr(trouble), None))
            time.sleep(0.05)        # they are steady, and no load


class Seller:
    """Writes offer after offer; one that was not acknowledged is sent again, with its idempotency key."""

    def __init__(self, proxy, key, name):
        self.proxy, self.key, self.name, self.ids = proxy, key, name, []

    def write(self):
        content = {"category": "bikes", "title": f"Bicycle {self.name} {len(self.ids)}",
                   "price": {"amount": "1500000", "currency": "RUB"},
                   "attributes": [{"attributeId": "bike-type", "options": ["city"]}]}
        status, front, answer = self.proxy.post("OfferService/CreateOffer", {"content": content}, **{
            "Authorization": f"Bearer {self.key}", "Idempotency-Key": f"{self.name}-{len(self.ids)}"})
        if status == 200:
            self.ids.append(json.loads(answer)["id"])
        return status, front


def seen(callers):
    return {answer for caller in callers for answer in caller.answers}


def freeze_one(a, calls):
    """Steady calls of both, of the other alone while the first is frozen, of both again; all answers there were."""
    callers = [Caller(call) for call in calls]
    both = {(200, "a"), (200, "b")}

    def since(marks):
        return {answer for caller, mark in zip(callers, marks) for answer in caller.answers[mark:]}

    def marks():
        return [len(caller.answers) for caller in callers]

    try:
        for caller in callers:
            caller.start()
        tap.wait_until(lambda: both <= seen(callers), what="answers of both")
        a.process.send_signal(signal.SIGSTOP)
        before = marks()

        # Two calls of each may have been under way, or answered already: whoever gets on further was moved.
        def all_went_on():
            return all(len(caller.answers) > count + 20 for caller, count in zip(callers, before))

        tap.wait_until(all_went_on, what="callers who are moved")
        tap.equal({caller.answers[-1] for caller in callers}, {(200, "b")})
        a.process.send_signal(signal.SIGCONT)
        again = marks()
        tap.wait_until(lambda: (200, "a") in since(again), what="the first again")
    finally:
        a.process.send_signal(signal.SIGCONT)
        for caller in callers:
            caller.ended = True
        for caller in callers:
            if caller.ident:
                caller.join(timeout=tap.PATIENCE_S)
    return seen(callers)


def is_up(call):
    try:
        return call()[0] == 200
    except (OSError, h2raw.Closed):
        return False


@tap.test
def the_settings_move_callers_within_a_second():
    lines = settings()
    wait = number(lines, "timeout check")
    tap.equal(number(lines, "fall"), 2)
    slowest = number(lines, " inter") + wait + number(lines, "fastinter") + wait
    if slowest >= MOVED_MS:
        raise AssertionError(f"two checks may take {slowest} ms")
    tap.contains(lines, "on-marked-down shutdown-sessions")


def searches_go_to_the_other(lines, call):
    with Place() as a, Place() as b:
        a.start()
        b.start()
        with Proxy((a, b), lines) as proxy:
            tap.wait_until(lambda: is_up(lambda: call(proxy)), what="the proxy")
            answers = freeze_one(a, [lambda: call(proxy)] * CALLERS)
        tap.equal(answers, {(200, "a"), (200, "b")})       # none has failed
        tap.equal(a.stop(), 0, a.log()[-2000:])
        tap.equal(b.stop(), 0, b.log()[-2000:])


@tap.beside
def calls_go_to_the_other_while_a_front_stands_still():
    searches_go_to_the_other(settings(), Proxy.search)


@tap.beside
def so_do_those_by_grpc():
    searches_go_to_the_other(for_grpc(settings()), Proxy.search_by_grpc)


@tap.beside
def writes_that_are_repeated_are_made_once():
    with Database() as database, Place() as a, Place() as b:
        store = f"--store.url={database.url}"
        a.start("up", store)
        b.start("up", store)
        made = a.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read", "--scope", "offers.write", store)
        tap.equal((made.returncode, made.stderr), (0, ""))
        key = made.stdout.strip()
        tap.wait_until(lambda: b.call("CabinetService/GetCounts", key=key)[0] == 200, what="the key at both")
        with Proxy((a, b), for_writes(settings())) as proxy:
            sellers = [Seller(proxy, key, f"s{number}") for number in range(CALLERS)]
            tap.wait_until(lambda: is_up(sellers[0].write), what="the proxy")
            answers = freeze_one(a, [seller.write for seller in sellers])
            for seller in sellers:      # the last one may have been under way
                tap.wait_until(lambda: is_up(seller.write), what="a write")     # noqa: B023
        # A front that a busy machine holds up, or its database, says so itself: that is repeated, too.
        tap.equal({status for status, front in answers if front} - {503, 504}, {200})
        told = {status for status, front in answers if not front}
        if not told <= {502, 503, 504}:
            raise AssertionError(f"who repeats a write is told {told}")
        # What the frozen one had taken is done when it goes on, after the other has: it is the same write.
        ids = [each for seller in sellers for each in seller.ids]
        tap.equal(len(set(ids)), len(ids))

        def kept():
            _, counts = b.call("CabinetService/GetCounts", key=key)
            return int(next(one["count"] for one in counts["counts"] if one["preset"] == "ACTIVE"))

        tap.equal(kept(), len(ids))
        tap.equal((a.stop(), b.stop()), (0, 0))


tap.main()
