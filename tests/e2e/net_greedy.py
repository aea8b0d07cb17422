# SPDX-License-Identifier: Apache-2.0
"""net_greedy.py TESTD - clients that take more than their share: threads, and memory of answers.

Whoever is greedy is told so or cut off; everybody else is served as before.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import sys

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd
from kit.h2raw import (DATA, END_STREAM, HEADERS, PING, RST_STREAM, WINDOW_UPDATE, Closed, frame,
                       settings)

ECHO = testd.ECHO
WATCH = "/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
# The same server without sanitizers, beside the release binary.
RELEASE = pathlib.Path(os.environ.get("TORG_RELEASE_BIN", pathlib.Path(__file__).resolve().parents[2] /
                                      "build-sim" / "torg")).parent / "bench" / "testd"
KEY = [("authorization", "Bearer good")]
RESOURCE_EXHAUSTED, UNAVAILABLE = 8, 14

# As in src/net/bounds.h.
ANONYMOUS_STREAMS, ANONYMOUS_STREAMS_ADDRESS, ANONYMOUS_STREAMS_CONNECTION = 16, 8, 4
STREAMS_CALLER, STREAMS_CONNECTION, STREAMS_SCARCE = 64, 64, 16
BODY_CALLER_MB, BODY_SERVER_MB = 64, 256
CALL_ADDRESS_PART = 4
UNSENT_CALLER_MB = 64
LOOSE_MB = 64
UNSENT_CONNECTION_MB, UNSENT_SHED_MB, UNSENT_SERVER_MB = 8, 192, 256


# --- streams ---


def watch(client, count, extra=()):
    """Opens watches and gives how each began: True when it is served, else its reply."""
    streams = []
    for _ in range(count):
        streams.append(client.open(client.request_headers(WATCH, extra=extra)))
        client.send_body(streams[-1], h2raw.grpc_message(b""))
    begun = {}
    while len(begun) < count:
        got = client.read()
        if got.kind == HEADERS and got.flags & END_STREAM:
            begun[got.stream] = dict(client.decoder.decode(got.payload))
        elif got.kind == HEADERS:
            client.decoder.decode(got.payload)
        elif got.kind == DATA:
            begun[got.stream] = True
    return [begun[stream] for stream in streams]


def check_refusal(refusal, *texts):
    assert int(refusal["grpc-status"]) == RESOURCE_EXHAUSTED, refusal
    assert any(text in refusal["grpc-message"] for text in texts), refusal
    assert int(refusal["retry-after"]) >= 1, refusal


def keyless_streams(server):
    """Watches without a key fill their own share; who has a key gets streams beside them."""
    with contextlib.ExitStack() as stack:
        served = {"127.0.1.1": 0, "127.0.1.2": 0, "127.0.1.3": 0}
        for source in served:
            for _ in range(3):
                begun = watch(stack.enter_context(server.http2(source=source)), 64)
                mine = begun.count(True)
                served[source] += mine
                assert mine <= ANONYMOUS_STREAMS_CONNECTION, f"{mine} streams on one connection"
                for refusal in begun:
                    if refusal is not True:
                        check_refusal(refusal, "a connection has at most 4 streams without a key",
                                      "an address has at most 8 streams without a key",
                                      "all 16 streams without a key are taken")
        assert max(served.values()) == ANONYMOUS_STREAMS_ADDRESS, f"by address: {served}"
        served = sum(served.values())
        assert served == ANONYMOUS_STREAMS, f"{served} streams were served"
        client = stack.enter_context(server.http2())
        assert watch(client, 60, KEY) == [True] * 60, "a key does not help"
        reply = stack.enter_context(server.http2()).call(
            ECHO + "Count", h2raw.grpc_message(h2raw.field_int(1, 3)), extra=KEY)
        assert reply.grpc_status == 0 and len(reply.messages) == 3, reply
        return f"{served} of 576 keyless streams were served"


def one_keys_streams(path):
    """One key, however many connections it has, leaves streams to other keys."""
    with testd.Testd(path, auth=True) as server:
        with contextlib.ExitStack() as stack:
            served = 0
            for _ in range(5):
                for begun in watch(stack.enter_context(server.http2()), STREAMS_CONNECTION, KEY):
                    served += begun is True
                    if begun is not True:
                        check_refusal(begun, "a caller has at most 64 streams at once")
            assert served == STREAMS_CALLER, f"{served} streams of one key were served"
            client = stack.enter_context(server.http2())
            other = [("authorization", "Bearer poor")]
            begun = watch(client, STREAMS_CONNECTION, other)
            assert begun == [True] * STREAMS_CONNECTION, f"{begun.count(True)} of another key"
        with server.http2() as client:    # those that have ended are given back
            assert testd.wait_until(lambda: watch(client, 1, KEY) == [True]), "they stay taken"
        testd.end(server)
        return f"{served} of 320 streams of one key were served"


def scarce_streams(path):
    """When half of all threads are taken, nobody gets more than sixteen."""
    with testd.Testd(path, auth=True) as server:
        with contextlib.ExitStack() as stack:
            for name in ("good", "poor"):
                key = [("authorization", f"Bearer {name}")]
                client = stack.enter_context(server.http2())
                assert watch(client, STREAMS_CALLER, key) == [True] * STREAMS_CALLER, name
            served = 0
            for name in ("tom-1", "tom-2"):    # of one seller
                key = [("authorization", f"Bearer {name}")]
                for begun in watch(stack.enter_context(server.http2()), STREAMS_CONNECTION, key):
                    served += begun is True
                    if begun is not True:
                        check_refusal(begun, "a caller has at most 16 now")
            assert served == STREAMS_SCARCE, f"{served} streams of a third caller were served"
        testd.end(server)
        return f"{served} of 128 streams of a third caller were served"


def pour(client, size):
    """Begins a message of some MB and sends so much of it: its stream, or the text that refused it."""
    stream = client.open(client.request_headers(ECHO + "Collect"))
    piece = b"x" * (16 << 10)
    client.send(frame(DATA, 0, stream, struct.pack(">BI", 0, size + 1)))
    windows = {stream: (256 << 10) - 5}    # the connection's is wider than what one stream has
    while size > 0:
        while windows[stream] < len(piece):
            got = client.read()
            if got.kind == WINDOW_UPDATE and got.stream == stream:
                windows[stream] += struct.unpack(">I", got.payload)[0]
            elif got.kind == HEADERS and got.stream == stream and got.flags & END_STREAM:
                return dict(client.decoder.decode(got.payload))["grpc-message"]
        client.send(frame(DATA, 0, stream, piece))
        windows[stream] -= len(piece)
        size -= len(piece)
    return stream


def half_messages(path):
    """Messages of streams that do not come to their end are counted like bodies."""
    size = 240 << 14
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        served, refused = 0, []
        for _ in range(45):    # 170 MB
            client = stack.enter_context(server.http2(source="127.0.1.1"))
            got = pour(client, size)
            served += isinstance(got, int)
            refused += [] if isinstance(got, int) else [got]
        held = served * size >> 20
        assert refused and set(refused) == {"you send too many large bodies at once: end some before you "
                                            "begin others"}, (served, set(refused))
        assert BODY_CALLER_MB <= held <= BODY_SERVER_MB // 2 + 4, f"{held} MB are held"
        other = stack.enter_context(server.http2())
        assert isinstance(pour(other, size), int), "another address was refused"
        return f"{held} MB of 170 were held"


def keyless_streams_end(path):
    """A stream without a key makes room for others after a while; one with a key goes on."""
    with testd.Testd(path, auth=True, anonymous_stream_ms=700) as server:
        with server.http2() as keyless, server.http2() as keyed:
            kept = keyed.open(keyed.request_headers(ECHO + "Chat", extra=KEY))
            for method, asked in ((WATCH, h2raw.grpc_message(b"")), (REFLECT, b"")):
                stream = keyless.open(keyless.request_headers(method))
                if asked:
                    keyless.send_body(stream, asked)
                reply = keyless.reply(stream)
                assert reply.grpc_status == UNAVAILABLE, f"{method}: {reply}"
                assert "begin it again" in reply.grpc_message, f"{method}: {reply}"
            keyed.send_body(kept, h2raw.grpc_message(h2raw.field_bytes(1, "still here")))
            reply = keyed.reply(kept)
            assert reply.grpc_status == 0 and len(reply.messages) == 1, reply
        testd.end(server)


# --- answers that nobody takes ---


def metric(server, name):
    status, text = server.operator("/metrics")
    assert status == 200, f"/metrics answers {status}"
    return next(value for found, _, value in testd.parse_metrics(text) if found == name)


def unsent_mb(server):
    return metric(server, "torg_net_unsent_bytes") / (1 << 20)


def grown_mb(server, before_kb):
    """Beside what it held before; a sanitizer's shadow is an eighth, and its heap is loose."""
    return (server.rss_kb() - before_kb) / 1024 / (1.5 if server.sanitized else 1)


def wait_for_pong(client):
    """Until the server has looked at all that was sent before."""
    client.send_frame(PING, 0, 0, b"all seen")
    while client.read().kind != PING:
        pass


def ask_for(client, size):
    stream = client.open(client.request_headers(ECHO + "Echo"))
    client.send_body(stream, h2raw.grpc_message(h2raw.field_int(2, size)))
    return stream


def calls_wait(server):
    """200 answers of 1 MB without a window: few are made; once the client reads, it gets all."""
    before = server.rss_kb()
    with server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)]) as client:
        streams = {ask_for(client, 1 << 20): 0 for _ in range(200)}
        wait_for_pong(client)
        held, grown = unsent_mb(server), grown_mb(server, before)
        assert 1 <= held <= UNSENT_CONNECTION_MB + 4, f"{held} MB are unsent"
        assert grown < 64, f"{grown} MB are held"
        client.send(settings((h2raw.INITIAL_WINDOW_SIZE, 2 << 20)) +
                    frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 400 << 20)))
        ended = 0
        while ended < len(streams):
            got = client.read()
            if got.kind == DATA:
                streams[got.stream] += len(got.payload)
            ended += got.kind == HEADERS and bool(got.flags & END_STREAM)
        sizes = set(streams.values())
        assert len(sizes) == 1 and sizes.pop() > 1 << 20, "some answers are not whole"
    assert testd.wait_until(lambda: unsent_mb(server) < 1), f"{unsent_mb(server)} MB stay counted"
    return f"{held:.0f} MB of 200 were counted, {grown:.0f} MB held"


def deaf_http2(server, source):
    """A connection that asks for 12 times 1 MB in 1 KB and takes nothing."""
    client = server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)], source=source)
    with contextlib.suppress(Closed):    # it may be the one that is closed, before it has asked for all
        for _ in range(12):
            ask_for(client, 1 << 20)
        wait_for_pong(client)
    return client


def ask_http1(sock, size):
    body = json.dumps({"replySize": size})
    sock.sendall((f"POST {ECHO}Echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                  f"Content-Length: {len(body)}\r\n\r\n{body}").encode())


def deaf_http1(server, source):
    """4 MB, of which the socket's buffers may take what they like."""
    sock = server.connect(source=source)
    ask_http1(sock, 4 << 20)
    with contextlib.suppress(ConnectionResetError):
        sock.recv(1, socket.MSG_PEEK)  # the answer is made
    return sock


class Slow:
    """An honest client that takes an answer of 4 MB piece by piece."""

    def __init__(self, server):
        self.client = server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)])
        self.stream = ask_for(self.client, 4 << 20)
        self.client.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 64 << 20)))
        self.size = 0

    def read(self, count):
        self.client.send(frame(WINDOW_UPDATE, 0, self.stream, struct.pack(">I", count)))
        wanted = self.size + count
        while self.size < wanted:
            got = self.client.read()
            if got.kind == DATA:
                self.size += len(got.payload)
            elif got.kind == HEADERS and got.flags & END_STREAM:
                break


def deaf_clients(server, kind, count):
    """What they hold together is bounded; they are closed, and nobody else is."""
    before = server.rss_kb()
    closed = metric(server, "torg_net_unsent_closed_total")
    most = most_grown = 0
    with contextlib.ExitStack() as stack:
        slow = Slow(server)
        stack.callback(slow.client.close)
        for number in range(1, count + 1):    # each from an address of its own
            stack.callback(kind(server, f"127.0.1.{number}").close)
            slow.read(16 << 10)
            most = max(most, unsent_mb(server))
            most_grown = max(most_grown, grown_mb(server, before))
        assert testd.wait_until(lambda: unsent_mb(server) <= UNSENT_SHED_MB), unsent_mb(server)
        closed = metric(server, "torg_net_unsent_closed_total") - closed
        assert closed >= 1, "nobody was closed"
        assert most <= UNSENT_SERVER_MB, f"{most} MB were unsent"
        assert most_grown < UNSENT_SERVER_MB + 64, f"{most_grown} MB were held"
        while slow.size < 4 << 20:
            size = slow.size
            slow.read(512 << 10)
            assert slow.size > size, "the slow reader was cut off"
        reply = stack.enter_context(server.http2()).call(
            ECHO + "Echo", h2raw.grpc_message(h2raw.field_int(2, 2 << 20)))
        assert reply.grpc_status == 0 and len(reply.body) > 2 << 20, reply
    assert testd.wait_until(lambda: unsent_mb(server) < 1), f"{unsent_mb(server)} MB stay counted"
    return (f"{closed:.0f} of {count} were closed; {most:.0f} MB counted, {most_grown:.0f} MB held "
            "at the most")


def one_caller(path):
    """Many connections of one address: it is refused more before the server has to close somebody."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.callback(deaf_http2(server, "127.0.1.1").close)
        held = unsent_mb(server)
        assert held <= UNSENT_CALLER_MB + 20, f"{held} MB are held for one address"
        reply = stack.enter_context(server.http2(source="127.0.1.1")).call(
            ECHO + "Echo", h2raw.grpc_message(b""))
        check_refusal(reply.headers, "too many answers to you are not taken yet")
        reply = stack.enter_context(server.http2()).call(ECHO + "Echo", h2raw.grpc_message(b""))
        assert reply.grpc_status == 0, reply
        assert metric(server, "torg_net_unsent_closed_total") == 0, "somebody was closed"
        return f"{held:.0f} MB of 160 were held"


def one_callers_small_answers(path):
    """The same with answers that are too small to be counted one by one."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        for number in range(20):
            client = stack.enter_context(server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)],
                                                      source="127.0.1.1"))
            for _ in range(150):
                ask_for(client, 16 << 10)
            wait_for_pong(client)
        assert testd.wait_until(lambda: unsent_mb(server) > UNSENT_CALLER_MB), unsent_mb(server)
        refused = stack.enter_context(server.http2(source="127.0.1.1"))
        assert testd.wait_until(lambda: refused.call(
            ECHO + "Echo", h2raw.grpc_message(b"")).grpc_status == RESOURCE_EXHAUSTED), \
            f"{unsent_mb(server)} MB are held for one address, and it may go on"
        reply = stack.enter_context(server.http2()).call(ECHO + "Echo", h2raw.grpc_message(b""))
        assert reply.grpc_status == 0, reply
        return f"{unsent_mb(server):.0f} MB of {number + 1} connections were held"


def bad_heads(client):
    """Refused before anybody has looked at who asks."""
    headers = client.request_headers(ECHO + "Echo", "application/json",
                                     extra=[("authorization", "Bearer one")] * 2)
    return [client.open(headers, end=True) for _ in range(4)], "400"


def late_calls(client):
    """Answered while their handlers still run."""
    headers = client.request_headers(ECHO + "Sleep", "application/json",
                                     extra=[("connect-timeout-ms", "1")])
    streams = [client.open(headers) for _ in range(4)]
    for stream in streams:
        client.send_body(stream, b'{"milliseconds":60000}')
    return streams, "504"


def refused_first(path, begin):
    """What a connection holds is its caller's, whatever answer it held first."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        for number in range(20):
            client = stack.enter_context(server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)],
                                                      source="127.0.1.1"))
            waiting, status = begin(client)
            while waiting:
                got = client.read()
                if got.kind == HEADERS:
                    waiting.remove(got.stream)
                    reply = dict(client.decoder.decode(got.payload))
                    # Once the address holds too much, a late call is refused before it is late.
                    assert reply[":status"] in (status, "429"), reply
            wait_for_pong(client)    # the server counts these answers, and none other
            for _ in range(150):
                ask_for(client, 16 << 10)
            wait_for_pong(client)
        assert testd.wait_until(lambda: unsent_mb(server) > UNSENT_CALLER_MB), unsent_mb(server)
        other = stack.enter_context(server.http2(source="127.0.1.1"))
        assert testd.wait_until(lambda: other.call(
            ECHO + "Echo", h2raw.grpc_message(b"")).grpc_status == RESOURCE_EXHAUSTED), \
            f"{unsent_mb(server)} MB are held for one address, and it may go on"
        reply = stack.enter_context(server.http2()).call(ECHO + "Echo", h2raw.grpc_message(b""))
        assert reply.grpc_status == 0, reply
        return f"{unsent_mb(server):.0f} MB of {number + 1} connections were held"


def slow_reader(path):
    """Four KB now and then, however often, are not taking an answer: it is reset."""
    with testd.Testd(path, stall_timeout_ms=8000) as server:
        with server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)]) as client:
            stream = ask_for(client, 1 << 20)
            client.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 64 << 20)))
            for _ in range(60):    # some 800 bytes a second, for as long as it goes
                client.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 4 << 10)))
                with contextlib.suppress(TimeoutError):
                    while True:
                        got = client.read(timeout=5)
                        if got.kind == RST_STREAM:
                            return
            raise AssertionError("it was never reset")


def small_bodies(path):
    """Bodies of 60 KB that do not end count against what the server holds, too."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        refused = 0
        for number in range(24):    # each from an address of its own
            client = stack.enter_context(server.http2(source=f"127.0.1.{number + 1}"))
            refused += begin_bodies(client, 200)
        assert 0 < refused < 2400, f"{refused} of 4800 bodies of 60 KB were refused"
        return f"{refused} of 4800 were refused"


def begin_bodies(client, count):
    """Sends 60 KB of each, and not the end; how many were refused."""
    body = b"x" * (16 << 10)
    begin = struct.pack(">BI", 0, 64 << 10)    # of a message that is longer than what comes
    for _ in range(count):
        stream = client.open(client.request_headers(ECHO + "Echo"))
        client.send(frame(DATA, 0, stream, begin) + frame(DATA, 0, stream, body) * 3 +
                    frame(DATA, 0, stream, body[:12 << 10]))
    return len(refusals(client))


def one_callers_bodies(path):
    """Bodies of one address leave room for those of others."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        refused = 0
        for _ in range(24):
            client = stack.enter_context(server.http2(source="127.0.1.1"))
            refused += begin_bodies(client, 200)
        held = (4800 - refused) * 60 // 1024
        assert BODY_CALLER_MB <= held <= BODY_SERVER_MB // 2 + 1, f"{held} MB are held"
        other = stack.enter_context(server.http2())
        assert begin_bodies(other, 200) == 0, "another address was refused"
        client.close()
        stream = other.open(other.request_headers(ECHO + "Echo"))
        other.send_body(stream, h2raw.grpc_message(h2raw.field_bytes(1, "x" * (32 << 10))))
        assert other.reply(stream).grpc_status == 0
        return f"{held} MB of 281 were held"


HEAD_PIECE_KB, HEAD_KB = 4, 28


def begin_heads(client, count):
    """Heads of 28 KB, a few bytes each: they name seven times what the table has. How many were refused."""
    piece = h2raw.hpack_literal("x-piece", "x" * 4000, 0x40)    # to be kept; 62 from now on
    for number in range(count):
        stream, client.next_stream = client.next_stream, client.next_stream + 2
        block = h2raw.hpack(client.request_headers(ECHO + "Echo")) + \
            (piece if number == 0 else b"\xbe") + b"\xbe" * (HEAD_KB // HEAD_PIECE_KB - 1)
        client.send_frame(HEADERS, h2raw.END_HEADERS, stream, block)
    return len(refusals(client))


def large_heads(path):
    """Heads are counted like bodies, whole or not, and so are requests behind one in work."""
    with testd.Testd(path) as server, contextlib.ExitStack() as stack:
        refused = sum(begin_heads(stack.enter_context(server.http2(source="127.0.1.1")), 250)
                      for _ in range(24))
        held = (24 * 250 - refused) * HEAD_KB // 1024
        assert BODY_CALLER_MB <= held <= BODY_SERVER_MB // 2 + 1, f"{held} MB are held"
        more = b"x-more: " + b"x" * (20 << 10)
        for source, greedy in (("127.0.1.1", True), ("127.0.1.2", False)):
            with server.connect(source=source) as half:
                half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + more)
                if not greedy:
                    half.sendall(b"\r\n\r\n")
                status = half.recv(100).split()[1]
                assert status == (b"429" if greedy else b"200"), (source, status)
            with server.connect(source=source) as behind:
                body = b'{"milliseconds": 1000}'
                behind.sendall(b"POST " + ECHO.encode() + b"Sleep HTTP/1.1\r\nHost: x\r\n"
                               b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                               b"GET / HTTP/1.1\r\nHost: x\r\n%b" % (len(body), body, more))
                head = b""
                while b"\r\n\r\n" not in head:
                    head += behind.recv(1000)
                closes = b"connection: close" in head
                assert head.split()[1] == b"200" and closes == greedy, (source, head)
        other = stack.enter_context(server.http2())
        assert begin_heads(other, 200) == 0, "another address was refused"
        return f"{held} MB of {24 * 250 * HEAD_KB // 1024} were held"


def refusals(client):
    """What has been refused by now: the texts."""
    texts = {}
    for _ in range(2):    # the first is answered before the refusals, the second behind them
        client.send_frame(PING, 0, 0, b"all seen")
        while True:
            got = client.read()
            if got.kind == HEADERS:
                texts[got.stream] = dict(client.decoder.decode(got.payload)).get("grpc-message", "")
            elif got.kind == DATA:    # as JSON has it
                texts[got.stream] += got.payload.decode()
            elif got.kind == PING:
                break
    return list(texts.values())


def one_callers_calls(path, content_type):
    """Calls of one address, on however many connections, leave room for those of others."""
    calls = 600
    with testd.Testd(path, calls=calls, reactors=1) as server, contextlib.ExitStack() as stack:
        served = 0
        for _ in range(4):
            client = stack.enter_context(server.http2(source="127.0.1.1"))
            for _ in range(200):
                client.open(client.request_headers(ECHO + "Echo", content_type=content_type))
            served += 200
            for refusal in refusals(client):
                assert "this address has too many calls at once" in refusal, refusal
                served -= 1
        assert calls // CALL_ADDRESS_PART <= served <= calls // 2 + 1, f"{served} calls are there"
        reply = stack.enter_context(server.http2()).call(ECHO + "Echo", h2raw.grpc_message(b""))
        assert reply.grpc_status == 0, reply
        return f"{served} of 800 calls of one address, where {calls} may be at once"


def one_loops_calls(path):
    """Where there are many loops, an idle server's calls are for whoever comes, on any of them."""
    calls = 1600    # of which 100 for each loop, where they would be shared out
    with testd.Testd(path, calls=calls, reactors=16) as server, contextlib.ExitStack() as stack:
        def begin(source):
            client = stack.enter_context(server.http2(source=source))
            for _ in range(250):
                client.open(client.request_headers(ECHO + "Echo"))
            return 250 - len(refusals(client))

        first = begin("127.0.1.1")
        assert first == 250, f"{first} of 250 calls of one connection were served"
        served = first + sum(begin("127.0.1.1") for _ in range(11))
        assert served <= calls * 3 // 4, f"{served} calls of one address are there"
        others = begin("127.0.1.2")
        assert others >= calls // CALL_ADDRESS_PART // 16 * 2, f"{others} of another address"
        return f"{served} of 3000 calls of one address, {others} of another, of {calls} at once"


def refusals_do_not_count(path):
    """Calls that were refused, and whose refusals nobody takes, leave room for others' calls."""
    calls = 600
    bad = [("authorization", "Bearer one")] * 2
    with testd.Testd(path, calls=calls, reactors=1) as server, contextlib.ExitStack() as stack:
        for extra in [()] * 6 + [bad] * 6:    # twice 1200
            client = stack.enter_context(server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)],
                                                      source="127.0.1.1"))
            for _ in range(200):
                client.open(client.request_headers(ECHO + "Echo", "application/json", extra=extra))
            wait_for_pong(client)
        for _ in range(2):
            other = stack.enter_context(server.http2(source="127.0.1.2"))
            reply = other.call(ECHO + "Echo", h2raw.grpc_message(b""))
            assert reply.grpc_status == 0, reply
        reply = stack.enter_context(server.http2(source="127.0.1.1")).call(
            ECHO + "Echo", h2raw.grpc_message(b""))
        check_refusal(reply.headers, "this address has too many calls at once")
        return f"2400 calls of one address, where {calls} may be at once"


def late_calls_count(path):
    """Nor does an address have more by calls that are answered while their handlers run."""
    calls = 600
    with testd.Testd(path, calls=calls, reactors=1) as server, contextlib.ExitStack() as stack:
        taken = 0
        for _ in range(8):
            client = stack.enter_context(server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)],
                                                      source="127.0.1.1"))
            waiting = sum((late_calls(client)[0] for _ in range(25)), [])
            while waiting:
                got = client.read()
                if got.kind == HEADERS:
                    waiting.remove(got.stream)
                    taken += dict(client.decoder.decode(got.payload))[":status"] == "504"
        assert taken <= calls // 2, f"{taken} answers of one address are held"
        reply = stack.enter_context(server.http2()).call(ECHO + "Echo", h2raw.grpc_message(b""))
        assert reply.grpc_status == 0, reply
        return f"{taken} of 800 late calls of one address, where {calls} may be at once"


def memory_goes_back():
    """After a burst the system has its memory again; a sanitizer's heap would tell nothing of it."""
    if not RELEASE.exists():
        raise tap.Skip(f"no release build of testd at {RELEASE}")
    with testd.Testd(str(RELEASE)) as server:
        before = server.rss_kb()
        with contextlib.ExitStack() as stack:
            for number in range(24):
                begin_bodies(stack.enter_context(server.http2(source=f"127.0.1.{number + 1}")), 200)
            for number in range(60):
                stack.callback(deaf_http2(server, f"127.0.2.{number + 1}").close)
            peak = grown_mb(server, before)
        assert peak > 6 * LOOSE_MB, f"it grew by {peak} MB: that is no burst"
        assert testd.wait_until(lambda: grown_mb(server, before) < 3 * LOOSE_MB), \
            f"{grown_mb(server, before)} MB of {peak} stay"
        stays = grown_mb(server, before)
        testd.end(server)
        return f"it grew by {peak:.0f} MB, {stays:.0f} stay"


def very_large(path):
    """So many at once that nobody can be closed before the limit: the rest is told to come later."""
    with testd.Testd(path, reactors=1) as server, contextlib.ExitStack() as stack:
        socks = [stack.enter_context(server.connect()) for _ in range(24)]
        for sock in socks:    # all have been taken
            ask_http1(sock, 1)
            while not sock.recv(4096).endswith(b"}"):
                pass
        server.process.send_signal(signal.SIGSTOP)  # it finds all of them at once
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)
        for sock in socks:
            ask_http1(sock, 16 << 20)
        server.process.send_signal(signal.SIGCONT)
        refused = 0
        for sock in socks:
            with contextlib.suppress(ConnectionResetError):
                head = sock.recv(4096).decode("latin-1")
                if head.startswith("HTTP/1.1 429"):
                    refused += 1
                    assert "retry-after: 1" in head and "ask for less at once" in head, head
                else:
                    assert not head or head.startswith("HTTP/1.1 200"), head
        assert refused >= 24 - UNSENT_SERVER_MB // 16, f"{refused} of 24 were refused"
        for sock in socks:
            sock.close()
        assert testd.wait_until(lambda: unsent_mb(server) < 1), f"{unsent_mb(server)} MB stay"
        testd.end(server)
        return f"{refused} of 24 answers of 16 MB were refused"


def unread_answers(path):
    with testd.Testd(path) as server:
        with testd.Ordeal(server, "unread answers", rss_mb=UNSENT_SERVER_MB + 64):
            lines.run("unread answers: a connection's next calls wait", calls_wait, server)
            lines.run("unread answers: HTTP/2 clients that read nothing", deaf_clients, server,
                      deaf_http2, 40)
            lines.run("unread answers: HTTP/1.1 clients that read nothing", deaf_clients, server,
                      deaf_http1, 80)
        testd.end(server)


def main():
    with testd.Testd(sys.argv[1], auth=True) as server:
        lines.run("streams: those without a key have a share of their own", keyless_streams, server)
        testd.end(server)
    lines.run("streams: one key leaves some to others", one_keys_streams, sys.argv[1])
    lines.run("streams: few of each when half are taken", scarce_streams, sys.argv[1])
    lines.run("streams: messages that do not end", half_messages, sys.argv[1])
    lines.run("streams: those without a key end", keyless_streams_end, sys.argv[1])
    lines.scenario("unread answers", unread_answers, sys.argv[1])
    lines.run("unread answers: of one caller on many connections", one_caller, sys.argv[1])
    lines.run("unread answers: small ones of one caller", one_callers_small_answers, sys.argv[1])
    lines.run("unread answers: small ones behind bad heads", refused_first, sys.argv[1], bad_heads)
    lines.run("unread answers: small ones behind late calls", refused_first, sys.argv[1],
              late_calls)
    lines.run("unread answers: a slow reader", slow_reader, sys.argv[1])
    lines.run("bodies that do not end", small_bodies, sys.argv[1])
    lines.run("bodies that do not end: of one caller", one_callers_bodies, sys.argv[1])
    lines.run("heads that are large", large_heads, sys.argv[1])
    lines.run("calls that do not end: of one caller", one_callers_calls, sys.argv[1],
              "application/grpc")
    lines.run("calls that do not end: of one caller, in JSON", one_callers_calls, sys.argv[1],
              "application/json")
    lines.run("calls that do not end: of one loop", one_loops_calls, sys.argv[1])
    lines.run("calls that were refused leave room for others", refusals_do_not_count, sys.argv[1])
    lines.run("calls that are late count", late_calls_count, sys.argv[1])
    lines.run("memory goes back after a burst", memory_goes_back)
    lines.run("unread answers: very large ones are refused", very_large, sys.argv[1])
    lines.done()


main()
