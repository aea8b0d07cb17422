# SPDX-License-Identifier: Apache-2.0
"""net_fair.py TESTD - whose turn it is, and how much one may ask for: by key, address and connection.

Nothing is measured by the clock: who is served is told by what has been answered by then.
"""
import contextlib
import http.client
import json
import socket
import sys

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
RESOURCE_EXHAUSTED = 8
GREEDY_ADDRESS = "127.0.0.2"
CALLS = 240     # greedy ones; below a connection's streams
BURST_S = 10    # NET_RATE_BURST_S of src/net/bounds.h


def sleep(client, milliseconds, extra=()):
    stream = client.open(client.request_headers(ECHO + "Sleep", extra=list(extra)))
    client.send_body(stream, h2raw.grpc_message(h2raw.field_int(1, milliseconds)))
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


def turns(path, greedy_address, greedy_connections):
    """Many calls of one caller wait; another one's are answered as if they did not."""
    with testd.Testd(path, workers=2) as server, contextlib.ExitStack() as stack:
        greedy = [stack.enter_context(server.http2(source=greedy_address))
                  for _ in range(greedy_connections)]
        per_connection = CALLS // greedy_connections
        for client in greedy:
            for _ in range(per_connection):
                sleep(client, 20)
        for client in greedy:    # all have been seen
            client.ping()
        polite = http1(server)
        for _ in range(10):
            answer, text = call(polite, path="Sleep", body={"milliseconds": 1})
            assert answer.status == 200, text
        done = server.calls("Sleep") - 10
        assert done < CALLS / 2, f"{done} of {CALLS} greedy calls went first"
        return f"{done} of {CALLS} greedy calls were answered beside 10 polite ones"


def late_calls(path):
    """What would wait for longer than its deadline is told so before it has waited."""
    with testd.Testd(path, workers=1) as server, server.http2() as client:
        for _ in range(3):    # the server learns what they take
            assert client.reply(sleep(client, 300)).grpc_status == 0
        for _ in range(20):
            sleep(client, 300)
        client.ping()
        before = server.calls("Sleep")
        reply = client.reply(sleep(client, 1, [("grpc-timeout", "2S")]))
        assert reply.grpc_status == RESOURCE_EXHAUSTED, reply
        assert "deadline" in reply.grpc_message, reply
        assert server.calls("Sleep") - before < 4, "it was told when it was late"


# --- rates ---


def rates(path):
    """A burst, then 429 with what is left and when to come back; others are not concerned."""
    with testd.Testd(path, address_rate=2) as server:
        client = http1(server)
        for left in range(2 * BURST_S - 1, 5, -1):
            answer, text = call(client)
            assert answer.status == 200, text
            assert answer.headers["RateLimit-Limit"] == "2", answer.headers
            assert left <= int(answer.headers["RateLimit-Remaining"]), answer.headers
        while answer.status == 200:    # it fills up meanwhile
            answer, text = call(client)
        assert answer.status == 429 and json.loads(text)["code"] == "resource_exhausted", text
        assert "this address asks for more than its 2 calls a second" in text, text
        assert int(answer.headers["Retry-After"]) == 1, answer.headers
        assert answer.headers["RateLimit-Remaining"] == "0", answer.headers
        answer, text = call(http1(server, GREEDY_ADDRESS))
        assert answer.status == 200, text
        with server.http2() as grpc:
            reply = grpc.call(ECHO + "Echo", h2raw.grpc_message(b""))
            assert reply.grpc_status == RESOURCE_EXHAUSTED, reply
            assert reply.headers["retry-after"] == "1", reply.headers


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
        assert call(second, headers=good)[0].status == 429, "at another address"
        assert call(first, headers=poor)[0].status == 200, "another key"


def costs(path):
    """What takes the CPU is charged for it: few such calls use up what many small ones may take."""
    with testd.Testd(path, address_rate=10) as server:
        client = http1(server)
        for count in range(1, 10 * BURST_S):
            answer, text = call(client, body={"text": "", "replySize": 16 << 20})
            if answer.status != 200:
                break
        assert answer.status == 429, f"{count} calls were answered"
        return f"{count} large answers took what {10 * BURST_S} small ones may"


def wrong_keys(path):
    """Guessing keys is paid for by the address."""
    with testd.Testd(path, address_rate=2, auth=True) as server:
        client = http1(server)
        seen = [call(client, headers={"Authorization": "Bearer guess"})[0].status
                for _ in range(6)]
        assert seen[0] == 401 and seen[-1] == 429, seen


def proxies(path):
    """Behind a proxy that is named, clients are counted by what it says; others are not believed."""
    with testd.Testd(path, address_rate=1, proxies="127.0.0.1,10.0.0.0/8") as server:
        client = http1(server)

        def status(forwarded, client=client):
            return call(client, headers={"X-Forwarded-For": forwarded})[0].status

        while status("203.0.113.7") == 200:
            pass
        assert status("203.0.113.8") == 200, "another client"
        assert status("203.0.113.8, 10.1.2.3") == 200, "by way of two proxies"
        assert status("1.1.1.1, 203.0.113.7") == 429, "what a client wrote is not its address"
        liar = http1(server, GREEDY_ADDRESS)
        seen = [status(f"203.0.113.{number}", liar) for number in range(20, 40)]
        assert 429 in seen, "who is no proxy was believed"


# --- connections ---


def is_refused(sock):
    """Asks for nothing: whether the server has closed it, and said so."""
    sock.settimeout(tap.PATIENCE_S)
    return sock.recv(1000).startswith(b"HTTP/1.1 503 ")


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
        assert testd.wait_until(
            lambda: call(http1(server, GREEDY_ADDRESS))[0].status == 200), "it is not given back"


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
        with server.connect() as mute, server.connect() as kept:
            client = http1(server)
            client.sock = kept
            assert call(client)[0].status == 200
            assert mute.recv(1000) == b"", "something was said"
            assert call(client)[0].status == 200, "one that has asked before was closed, too"


def main():
    path = sys.argv[1]
    lines.run("another address does not wait behind 240 calls", turns, path, GREEDY_ADDRESS, 1)
    lines.run("another connection does not wait behind 8 with 240 calls", turns, path,
              "127.0.0.1", 8)
    lines.run("what cannot meet its deadline is refused early", late_calls, path)
    lines.run("rates by address and key", rates, path)
    lines.run("rates by key", key_rates, path)
    lines.run("calls are charged what they cost", costs, path)
    lines.run("wrong keys are charged to the address", wrong_keys, path)
    lines.run("clients behind proxies", proxies, path)
    lines.run("connections by address", connections, path)
    lines.run("the operators' port has its own connections", operators, path)
    lines.run("ten seconds to the first byte", silent, path)
    lines.done()


main()
