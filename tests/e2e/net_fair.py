# SPDX-License-Identifier: Apache-2.0
"""net_fair.py TESTD - whose turn it is, and how much one may ask for: by key, address and connection.

Nothing is measured by the clock: who is served is told by what has been answered by then.
"""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import re
import socket
import struct
import sys
import tempfile
import time

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
RESOURCE_EXHAUSTED = 8
GREEDY_ADDRESS = "127.0.0.2"
SELLER_CALLS = 60    # of each key
CALLS = 240     # greedy ones; below a connection's streams
GREEDY_MS, POLITE_MS = 2, 1    # told apart by it
WRONG_COST = 10    # tokens, of a key that is none
BURST_S = 10    # NET_RATE_BURST_S of src/net/bounds.h


def sleep(client, milliseconds, extra=(), until=""):
    stream = client.open(client.request_headers(ECHO + "Sleep", extra=list(extra)))
    client.send_body(stream, h2raw.grpc_message(h2raw.field_int(1, milliseconds) +
                                                h2raw.field_bytes(2, until)))
    return stream


def call(client, text="hello", headers=(), path="Echo", body=None):
    client.request("POST", ECHO + path, json.dumps(body if body is not None else {"text": text}),
                   {"Content-Type": "application/json", **dict(headers)})
    answer = client.getresponse()
    return answer, answer.read().decode()


def http1(server, address="127.0.0.1"):
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S,
                                      source_address=(address, 0))


# --- turns ---


def begun(server):
    """In which order calls of Sleep have begun: how long each was to sleep."""
    return [int(found) for found in re.findall(r"sleep began.*?milliseconds\W+(\d+)",
                                               server.whole_log())]


def turns(path, greedy_address, greedy_connections):
    """Many calls of one caller wait; another one's, which come behind all of them, go before most."""
    with testd.Testd(path, workers=2) as server, contextlib.ExitStack() as stack:
        until = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "go")
        greedy = [stack.enter_context(server.http2(source=greedy_address))
                  for _ in range(greedy_connections)]
        for client in greedy:
            for _ in range(CALLS // greedy_connections):
                sleep(client, GREEDY_MS, until=until)
            client.ping()    # all have been seen
        polite = stack.enter_context(server.http2())
        streams = [sleep(polite, POLITE_MS, until=until) for _ in range(10)]
        polite.ping()
        assert testd.wait_until(lambda: len(begun(server)) == 2), begun(server)
        with open(until, "w", encoding="ascii"):
            pass
        for _ in streams:
            while not polite.read().flags & h2raw.END_STREAM:
                pass
        order = begun(server)
        last = max(at for at, found in enumerate(order) if found == POLITE_MS)
        assert order.count(POLITE_MS) == 10 and last < CALLS / 2, f"{last} went before the last one"
        return f"the last of 10 polite calls was number {last + 1} of {CALLS + 10}"


def seller_turns(path):
    """Keys of one seller have turns together: another caller has half of them, not a third."""
    with testd.Testd(path, workers=2, auth=True) as server, contextlib.ExitStack() as stack:
        until = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "go")

        def ask(name, count, milliseconds):
            client = stack.enter_context(server.http2())
            for _ in range(count):
                sleep(client, milliseconds, [("authorization", f"Bearer {name}")], until)
            client.ping()    # all have been seen

        ask("poor", 2, 1)
        assert testd.wait_until(lambda: len(begun(server)) == 2), begun(server)
        for name, milliseconds in (("tom-1", 20), ("tom-2", 20), ("good", 21)):
            ask(name, SELLER_CALLS, milliseconds)
        with open(until, "w", encoding="ascii"):
            pass
        assert testd.wait_until(lambda: len(begun(server)) >= SELLER_CALLS + 2)
        others = begun(server)[2:SELLER_CALLS + 2].count(21)
        assert others > SELLER_CALLS * 5 / 12, f"{others} of {SELLER_CALLS} were of another caller"
        return f"{others} of the first {SELLER_CALLS} were of another caller"


def late_calls(path):
    """What would wait for longer than its deadline is told so before it has waited."""
    with testd.Testd(path, workers=1) as server, server.http2() as client, \
            tempfile.TemporaryDirectory() as folder:
        until = os.path.join(folder, "go")
        for _ in range(8):    # the server learns what they take
            assert client.reply(sleep(client, 300)).grpc_status == 0
        for _ in range(CALLS):
            sleep(client, 300, until=until)
        client.ping()
        before = server.calls("Sleep")
        reply = client.reply(sleep(client, 1, [("grpc-timeout", "20S")]))
        assert reply.grpc_status == RESOURCE_EXHAUSTED, reply
        assert "deadline" in reply.grpc_message, reply
        assert server.calls("Sleep") - before <= 1, "others were answered before"
        with server.http2() as other:    # a turn of its own comes in time
            stream = sleep(other, 1, [("grpc-timeout", "30S")])
            other.ping()
            with open(until, "w", encoding="ascii"):
                pass
            assert other.reply(stream).grpc_status == 0


# --- rates ---


def spent(ask):
    """Asks until it is refused: what is left fills up with time. The refusal."""
    while True:
        answer, text = ask()
        if answer.status != 200:
            assert answer.status == 429, (answer.status, text)
            return answer, text


def is_spent(ask, other):
    """Whether what ask() has used up is used up for other(), too; a slow machine tries it again."""
    def both():
        spent(ask)
        return other()
    return testd.wait_until(both)


def rates(path):
    """A burst, then 429 with what is left and when to come back; others are not concerned."""
    with testd.Testd(path, address_rate=2) as server:
        client = http1(server)
        dear = 5    # tokens: a page fault or a cold cache may cost a call a millisecond of CPU more
        for left in range(2 * BURST_S - 1, 2 * dear, -1):
            answer, text = call(client)
            assert answer.status == 200, text
            assert answer.headers["RateLimit-Limit"] == "2", answer.headers
            assert left - dear <= int(answer.headers["RateLimit-Remaining"]), answer.headers
        answer, text = spent(lambda: call(client))
        assert json.loads(text)["code"] == "resource_exhausted", text
        assert "this address asks for more than its 2 calls a second" in text, text
        assert 1 <= int(answer.headers["Retry-After"]) <= dear, answer.headers
        assert answer.headers["RateLimit-Remaining"] == "0", answer.headers
        answer, text = call(http1(server, GREEDY_ADDRESS))
        assert answer.status == 200, text
        with server.http2() as grpc:
            def refused():
                reply = grpc.call(ECHO + "Echo", h2raw.grpc_message(b""))
                assert reply.grpc_status in (0, RESOURCE_EXHAUSTED), reply
                return reply.grpc_status and int(reply.headers["retry-after"]) >= 1

            assert is_spent(lambda: call(client), refused), "gRPC has a rate of its own"


def key_rates(path):
    """A key's rate is its own, wherever it is used; an address is not charged for keys."""
    with testd.Testd(path, address_rate=1, key_rate=2, auth=True) as server:
        good, poor = {"Authorization": "Bearer good"}, {"Authorization": "Bearer poor"}
        first, second = http1(server), http1(server, GREEDY_ADDRESS)
        while True:
            answer, text = call(first, headers=good)
            if answer.status != 200:
                break
            assert answer.headers["RateLimit-Limit"] == "2", answer.headers
        assert answer.status == 429 and "this key asks for more" in text, text
        assert is_spent(lambda: call(first, headers=good),
                        lambda: call(second, headers=good)[0].status == 429), "at another address"
        assert call(first, headers=poor)[0].status == 200, "another key"


def seller_rates(path):
    """Keys of one seller have a rate together; others are not concerned."""
    with testd.Testd(path, seller_rate=2, auth=True) as server:
        client = http1(server)

        def ask(name):
            return call(client, headers={"Authorization": f"Bearer {name}"})

        answer, text = spent(lambda: ask("tom-1"))
        assert "this seller asks for more than its 2 calls a second" in text, text
        assert answer.headers["RateLimit-Limit"] == "2", answer.headers
        assert is_spent(lambda: ask("tom-1"), lambda: ask("tom-2")[0].status == 429), "another key"
        assert ask("good")[0].status == 200, "another seller"


def costs(path):
    """What takes the CPU is charged for it: few such calls use up what many small ones may take."""
    with testd.Testd(path, address_rate=1) as server:    # a slow client does not wait them back
        client = http1(server)
        for count in range(1, BURST_S):
            answer, text = call(client, body={"text": "", "replySize": 16 << 20})
            if answer.status != 200:
                break
        assert answer.status == 429, f"{count} calls were answered"
        return f"{count} large answers took what {BURST_S} small ones may"


def looks(path):
    """Who waits for something is charged for every look at it, and looks no oftener than it can pay."""
    look_s = 0.005    # LOOK_US of programs/testd_seen.c
    with testd.Testd(path, address_rate=1) as server:
        client = http1(server)
        start = time.monotonic()
        client.request("GET", "/v1/look", headers={"Connect-Timeout-Ms": "3000"})
        assert client.getresponse().status == 504
        count = server.whole_log().count("looked")
        may = (1 * BURST_S + (time.monotonic() - start)) / 1000 / look_s + 2
        assert 1 <= count <= may, f"{count} looks in {time.monotonic() - start:.1f} s"
        return f"{count} looks"


def answer_of(client, verb, path, headers):
    client.request(verb, path, headers=headers)
    answer = client.getresponse()
    return answer, answer.read().decode()


ASKER_COUNT = 8
UNPAID = [    # what is asked, how it is answered, and how many of such a token pays for
    ("files", "GET", "/", {}, 200, 10),
    ("files that are known", "GET", "/", {"If-None-Match": "*"}, 304, 10),
    ("files of folders", "GET", "/files/one", {"Range": "bytes=0-0"}, 206, 10),
    ("preflights", "OPTIONS", ECHO + "Echo", {"Origin": "https://a.example",
                                              "Access-Control-Request-Method": "POST"}, 204, 10),
    ("other pages' preflights", "OPTIONS", ECHO + "Echo", {
        "Origin": "https://b.example", "Access-Control-Request-Method": "POST"}, 403, 1),
    ("what is not there", "GET", "/nothing", {}, 404, 1),
    ("methods that are not there", "POST", "/torg.test.v1.EchoService/No", {}, 404, 1),
    ("other verbs", "PUT", "/", {}, 405, 1),
    ("other verbs of a folder", "PUT", "/files/one", {}, 405, 1),
    ("other verbs of a resource", "PATCH", "/v1/seen/1", {}, 405, 1),
    ("other types", "POST", ECHO + "Echo", {"Content-Type": "text/plain"}, 415, 1),
    ("bad heads", "GET", "/", {"Torg-Seller": "a", "torg-seller": "b"}, 400, 1),
    ("calls without a key", "POST", ECHO + "Echo", {"Content-Type": "application/json"}, 401, 1),
]


def unpaid(path):
    """What is answered without a handler is paid for, too, and is refused when nothing is left."""
    for words, verb, address, headers, wanted, count_of_token in UNPAID:
        with testd.Testd(path, address_rate=1, auth=True, cors="https://a.example") as server:
            def ask(_):
                client = http1(server)    # a bad head closes its connection
                answer, text = answer_of(client, verb, address, headers)
                client.close()
                return answer, text

            start, count, refused = time.monotonic(), 0, []
            with concurrent.futures.ThreadPoolExecutor(ASKER_COUNT) as pool:
                while not refused:        # side by side: one by one a busy machine may be slower than the rate
                    got = list(pool.map(ask, range(2 * ASKER_COUNT)))
                    refused = [answer for answer, _ in got if answer.status == 429]
                    wrong = [(answer.status, text) for answer, text in got if answer.status not in (429, wanted)]
                    assert not wrong, (words, wrong)
                    count += len(got) - len(refused)
                    may = (BURST_S + time.monotonic() - start) * count_of_token + 1
                    assert count <= may, f"{words}: {count} were answered"
            answer = refused[0]
            assert int(answer.headers["Retry-After"]) >= 1, (words, answer.headers)
            assert call(http1(server, GREEDY_ADDRESS), headers={"Authorization": "Bearer good"}
                        )[0].status == 200, words
            assert server.operator("/livez")[0] == 200
    with testd.Testd(path, key_rate=1, auth=True) as server:    # a key pays for itself
        poor = {"Authorization": "Bearer poor"}
        answer, text = spent(lambda: forbidden(http1(server), poor))
        assert "this key asks for more" in text, text


def forbidden(client, headers):
    answer, text = answer_of(client, "PUT", "/v1/seen/1", headers)
    if answer.status == 403:
        answer.status = 200
    return answer, text


def paused(server):
    text = server.operator("/metrics")[1]
    return next(value for name, _, value in testd.parse_metrics(text)
                if name == "torg_net_stream_pauses_total")


def streams_pay(path):
    """A stream is charged while it lasts, and waits when its caller has nothing left; others do not."""
    with testd.Testd(path, address_rate=1, auth=True) as server, server.http2() as client, \
            server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 1 << 30)],
                         source=GREEDY_ADDRESS) as other:
        stream = client.open(client.request_headers(ECHO + "Chat", extra=[
            ("authorization", "Bearer poor")]))
        mine = other.open(other.request_headers("/grpc.reflection.v1.ServerReflection/"
                                                "ServerReflectionInfo"))
        asked = h2raw.grpc_message(h2raw.field_bytes(4, "torg.test.v1.EchoService"))
        other.send(h2raw.frame(h2raw.WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))

        def ask():    # a name that is looked up, and a description of some KB
            other.send(h2raw.frame(h2raw.DATA, 0, mine, asked))
            while other.read().kind != h2raw.DATA:
                pass
            return paused(server) > 0

        assert testd.wait_until(ask, step_s=0), "it was never charged"
        client.send_body(stream, h2raw.grpc_message(h2raw.field_bytes(1, "still here")))
        reply = client.reply(stream)
        assert reply.grpc_status == 0 and len(reply.messages) == 1, reply


def wrong_keys(path):
    """Guessing keys is paid for by the address."""
    with testd.Testd(path, address_rate=2, auth=True) as server:
        client = http1(server)
        def guess():
            return call(client, headers={"Authorization": "Bearer guess"})[0].status

        start, count = time.monotonic(), 1
        assert guess() == 401
        while guess() == 401:
            count += 1
            may = (2 * BURST_S + 2 * (time.monotonic() - start)) / WRONG_COST + 1
            assert count <= may, f"{count} guesses"


def proxies(path):
    """Behind a proxy that is named, clients are counted by what it says; others are not believed."""
    with testd.Testd(path, address_rate=1, proxies="127.0.0.1,10.0.0.0/8") as server:
        client = http1(server)

        def status(forwarded, client=client):
            return call(client, headers={"X-Forwarded-For": forwarded})[0].status

        def ask():
            return call(client, headers={"X-Forwarded-For": "203.0.113.7"})

        spent(ask)
        assert status("203.0.113.8") == 200, "another client"
        assert status("203.0.113.8, 10.1.2.3") == 200, "by way of two proxies"
        assert is_spent(ask, lambda: status("1.1.1.1, 203.0.113.7") == 429), \
            "what a client wrote is not its address"
        liar = http1(server, GREEDY_ADDRESS)
        numbers = itertools.count()
        assert testd.wait_until(lambda: status(f"203.0.{next(numbers) % 250}.1", liar) == 429,
                                step_s=0), "who is no proxy was believed"


# --- connections ---


def is_refused(sock):
    """Asks for nothing: whether the server has closed it, and said so."""
    sock.settimeout(tap.PATIENCE_S)
    return sock.recv(1000).startswith(b"HTTP/1.1 503 ")


def is_served(client):
    """False, too, when it was closed before it could ask."""
    try:
        return call(client)[0].status == 200
    except testd.GONE:
        return False
    finally:
        client.close()


def connections(path):
    """One address has its share of connections; others, and operators, have theirs."""
    with testd.Testd(path, connections=100, address_connections=10) as server, \
            contextlib.ExitStack() as stack:
        def connect(address):
            return stack.enter_context(socket.create_connection(
                ("127.0.0.1", server.port), timeout=tap.PATIENCE_S, source_address=(address, 0)))

        for _ in range(10):
            kept = connect(GREEDY_ADDRESS)
        assert is_refused(connect(GREEDY_ADDRESS)), "an eleventh was taken"
        assert call(http1(server))[0].status == 200
        kept.close()
        assert testd.wait_until(lambda: is_served(http1(server, GREEDY_ADDRESS))), "it is not given back"


def scarce_connections(path):
    """When three quarters of all are taken, an address that has 256 gets no more; others do."""
    with testd.Testd(path, connections=400, address_connections=350) as server, \
            contextlib.ExitStack() as stack:
        def connect(address):
            return stack.enter_context(server.connect(source=address))

        for _ in range(300):
            connect(GREEDY_ADDRESS)
        assert testd.wait_until(lambda: open_connections(server) >= 300)
        assert is_refused(connect(GREEDY_ADDRESS)), "it got one more"
        for _ in range(50):
            kept = connect("127.0.0.3")
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert kept.recv(100).startswith(b"HTTP/1.1 200 "), "another address got none"


def open_connections(server):
    return next(value for name, _, value in testd.parse_metrics(server.operator("/metrics")[1])
                if name == "torg_net_connections")


def dear_credentials(path):
    """A credential that is dear to check is checked when its address can pay for that."""
    with testd.Testd(path, address_rate=1, auth=True) as server:
        client = http1(server)
        spent(lambda: forbidden_as_served(client))
        start = time.monotonic()
        before = server.whole_log().count("a dear credential")
        with concurrent.futures.ThreadPoolExecutor(ASKER_COUNT) as pool:
            statuses = set(pool.map(lambda _: call(http1(server), headers={"Authorization": "Bearer dear-x"})[0].status,
                                    range(4 * ASKER_COUNT)))
        count = server.whole_log().count("a dear credential") - before
        assert 429 in statuses and count <= time.monotonic() - start + 2, (statuses, count)
        assert call(client, headers={"Authorization": "Bearer good"})[0].status == 200


def forbidden_as_served(client):
    answer, text = answer_of(client, "POST", ECHO + "Echo", {"Content-Type": "application/json"})
    if answer.status == 401:
        answer.status = 200
    return answer, text


def operators(path):
    """Silent connections fill the server: operators see its health all the same."""
    with testd.Testd(path, connections=20, head_timeout_ms=60000) as server, \
            contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(server.connect())
        assert is_refused(stack.enter_context(server.connect()))
        assert server.operator("/livez")[0] == 200


def silent(path):
    """Who opens a connection and says nothing has a head's time, not an idle connection's."""
    with testd.Testd(path, head_timeout_ms=300, idle_timeout_ms=600000) as server:
        with server.connect() as mute:
            client = testd.in_time(server, lambda: asked(server))
            assert mute.recv(1000) == b"", "something was said"
            assert call(client)[0].status == 200, "one that has asked before was closed, too"
            client.close()


def asked(server):
    """A client that has had its first answer."""
    client = http1(server)
    status = call(client)[0].status
    if status == 408:
        raise h2raw.Closed("told that it is slow")
    assert status == 200, status
    return client


def main():
    path = sys.argv[1]
    lines.run("another address does not wait behind 240 calls", turns, path, GREEDY_ADDRESS, 1)
    lines.run("another connection does not wait behind 8 with 240 calls", turns, path,
              "127.0.0.1", 8)
    lines.run("keys of one seller have turns together", seller_turns, path)
    lines.run("what cannot meet its deadline is refused early", late_calls, path)
    lines.run("rates by address and key", rates, path)
    lines.run("rates by key", key_rates, path)
    lines.run("rates by seller", seller_rates, path)
    lines.run("calls are charged what they cost", costs, path)
    lines.run("files and refusals are paid for", unpaid, path)
    lines.run("looks of a call that waits are charged", looks, path)
    lines.run("streams are charged while they last", streams_pay, path)
    lines.run("wrong keys are charged to the address", wrong_keys, path)
    lines.run("clients behind proxies", proxies, path)
    lines.run("connections by address", connections, path)
    lines.run("connections by address when they are scarce", scarce_connections, path)
    lines.run("credentials that are dear to check", dear_credentials, path)
    lines.run("the operators' port has its own connections", operators, path)
    lines.run("ten seconds to the first byte", silent, path)
    lines.done()


main()
