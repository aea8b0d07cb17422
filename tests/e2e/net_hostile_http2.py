# SPDX-License-Identifier: Apache-2.0
"""net_hostile_http2.py TESTD - floods, bombs and misuse over HTTP/2.

A flood is ended by the server (GOAWAY or close) long before the test has sent all of it; a
misuse gets the error of RFC 9113 and its call is not executed.
"""
import select
import socket
import struct
import sys
import time

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd
from kit.h2raw import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PRIORITY,
                   RST_STREAM, SETTINGS, WINDOW_UPDATE, Closed, frame, settings)

ECHO = testd.ECHO
ECHO_BODY = h2raw.grpc_message(h2raw.field_bytes(1, "x"))
REFILL_PER_S = 100  # NET_FLOOD_REFILL_PER_S of src/net/bounds.h
FLOOD_MAX = 100000  # when the answers are read
FLOOD_SECONDS = tap.PATIENCE_S  # of a flood that the server ends
DEAF_SECONDS = 6    # of one whose answers are not read: the server may just stop reading


def word(number):
    return struct.pack(">I", number)


class Drained:
    """Sends without end and throws away what comes back; tells when the server has had enough."""

    def __init__(self, client):
        self.client = client
        self.sent = 0
        self.ours, self.theirs = (f":{end[1]:04X}" for end in (client.sock.getsockname(),
                                                               client.sock.getpeername()))

    def is_read(self):
        """Whether the server has read all that was sent: its side of the socket holds nothing."""
        with open("/proc/net/tcp", encoding="ascii") as table:
            for line in table:
                words = line.split()
                if words[1].endswith(self.theirs) and words[2].endswith(self.ours):
                    return words[4].endswith(":00000000")
        return True

    def take_input(self):
        """Once the server has read all, it may say stop: what waits for it would not be counted."""
        sock = self.client.sock
        while not self.is_read():
            select.select([sock], [], [], 0.001)
        sock.setblocking(False)
        try:
            while True:
                data = sock.recv(1 << 16)
                if not data:
                    raise Closed("end of stream")
                self.client.input += data
        except BlockingIOError:
            pass
        except ConnectionResetError as gone:
            raise Closed("reset") from gone
        finally:
            sock.settimeout(self.client.timeout)
        if len(self.client.input) > 1 << 20:
            self.client.input = self.client.input[-4096:]


def flood(server, batch, count_max=FLOOD_MAX, read=True, pairs=(), prepare=None):
    """Sends batch(n) until the server ends the connection; gives how many were taken."""
    seconds = FLOOD_SECONDS if read else DEAF_SECONDS
    with server.http2(pairs=pairs) as client:
        if prepare:
            prepare(client)
        client.timeout = seconds
        client.sock.settimeout(seconds)
        deadline = time.monotonic() + seconds
        link = Drained(client)
        try:
            while link.sent < count_max and time.monotonic() < deadline:
                data, size = batch(client)
                client.send(data)
                link.sent += size
                if read:
                    link.take_input()
                else:
                    time.sleep(0.001)
            client.wait_end(seconds)
            if not read:
                return link.sent  # it has ended, late
        except Closed:
            return link.sent
        except TimeoutError:
            assert not read, f"the connection still stands after {link.sent}"
            return link.sent  # blocked: the server does not read any more, which bounds it too
    raise AssertionError(f"the connection still stands after {link.sent}")


def check_flood(server, batch, most, **options):
    start = time.monotonic()
    sent = flood(server, batch, **options)
    most += int((time.monotonic() - start) * REFILL_PER_S)
    assert sent <= most, f"ended only after {sent}, {most} are plenty"
    return f"ended after at most {sent}"


def repeat(data, size=100):
    return lambda client: (data * size, size)


def echo_request(client, end=False):
    block = h2raw.hpack(client.request_headers(ECHO + "Echo"))
    stream = client.next_stream
    client.next_stream += 2
    return stream, frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)


def rapid_reset(client):
    data = b""
    for _ in range(50):
        stream, head = echo_request(client)
        data += head + frame(DATA, END_STREAM, stream, ECHO_BODY) + frame(RST_STREAM, 0, stream, word(8))
    return data, 50


def rapid_reset_sleep(client):
    """Calls that need a worker: reset ones must not pile up behind the workers."""
    data = b""
    for _ in range(50):
        stream, _ = echo_request(client)
        block = h2raw.hpack(client.request_headers(ECHO + "Sleep"))
        data += frame(HEADERS, END_HEADERS, stream, block) + \
            frame(DATA, END_STREAM, stream, h2raw.grpc_message(h2raw.field_int(1, 50))) + \
            frame(RST_STREAM, 0, stream, word(8))
    return data, 50


def provoked_reset(client):
    """The server is made to reset: a window update of zero on a stream that waits for its body."""
    data = b""
    for _ in range(50):
        stream, head = echo_request(client)
        data += head + frame(WINDOW_UPDATE, 0, stream, word(0))
    return data, 50


def open_one(client):
    client.open(client.request_headers(ECHO + "Collect"))


def begin_head(client):
    stream = client.next_stream
    client.send(frame(HEADERS, 0, stream, h2raw.hpack(client.request_headers(ECHO + "Echo"))))


FLOODS = [
    ("rapid reset", rapid_reset, 10000, {}),
    ("rapid reset of calls that need a worker", rapid_reset_sleep, 10000, {}),
    ("provoked resets", provoked_reset, 10000, {}),
    ("CONTINUATION of small headers",
     repeat(frame(CONTINUATION, 0, 1, h2raw.hpack_literal("x", "y"))), 10000, {"prepare": begin_head}),
    ("empty CONTINUATION", repeat(frame(CONTINUATION, 0, 1)), 10000, {"prepare": begin_head}),
    ("SETTINGS", repeat(settings((4, 65535))), 10000, {}),
    ("SETTINGS, answers not read", repeat(settings((4, 65535))), 1 << 30,
     {"read": False, "count_max": 1 << 30}),
    ("SETTINGS of 2000 pairs", repeat(settings(*[(4, 65535)] * 2000), 10), 10000, {}),
    ("SETTINGS acknowledged without need", repeat(frame(SETTINGS, ACK)), 10000, {}),
    ("PING", repeat(frame(PING, 0, 0, b"12345678")), 10000, {}),
    ("PING, answers not read", repeat(frame(PING, 0, 0, b"12345678")), 1 << 30,
     {"read": False, "count_max": 1 << 30}),
    ("PING acknowledged without need", repeat(frame(PING, ACK, 0, b"12345678")), 10000, {}),
    ("empty DATA", repeat(frame(DATA, 0, 1)), 10000, {"prepare": open_one}),
    ("DATA of padding only", repeat(frame(DATA, 8, 1, b"\x05" + b"\0" * 5)), 10000,
     {"prepare": open_one}),
    ("WINDOW_UPDATE of 1", repeat(frame(WINDOW_UPDATE, 0, 0, word(1))), 10000, {}),
    ("WINDOW_UPDATE of 1 on a stream", repeat(frame(WINDOW_UPDATE, 0, 1, word(1))), 10000,
     {"prepare": open_one}),
    ("PRIORITY", repeat(frame(PRIORITY, 0, 1, word(0) + b"\x10")), 10000, {}),
    ("RST_STREAM of closed streams", repeat(frame(RST_STREAM, 0, 1, word(8))), 10000,
     {"prepare": lambda client: client.call(ECHO + "Echo", ECHO_BODY)}),
]


# --- misuse: the right error, nothing executed ---


def not_executed(server, act):
    """Runs act on a new connection; the count of Fail calls must not move."""
    before = server.calls("Fail")
    with server.http2() as client:
        act(client)
    assert server.calls("Fail") == before, "the call was executed"


def connection_error(server, *data, codes):
    def act(client):
        try:
            for part in data:
                client.send(part)
            code = client.wait_end()
        except Closed:
            code = None
        assert code is None or code in codes, f"GOAWAY {code}, expected {codes}"
    not_executed(server, act)


FAIL = ECHO + "Fail"
FAIL_BODY = h2raw.grpc_message(h2raw.field_bytes(1, "NOT_FOUND"))
PSEUDO = [(":method", "POST"), (":scheme", "http"), (":path", FAIL), (":authority", "localhost")]
GRPC = [("content-type", "application/grpc"), ("te", "trailers")]

MALFORMED = [
    ("an upper-case header name", PSEUDO + GRPC + [("X-Upper", "1")]),
    ("Connection", PSEUDO + GRPC + [("connection", "keep-alive")]),
    ("Transfer-Encoding", PSEUDO + GRPC + [("transfer-encoding", "chunked")]),
    ("Upgrade", PSEUDO + GRPC + [("upgrade", "h2c")]),
    ("Keep-Alive", PSEUDO + GRPC + [("keep-alive", "1")]),
    ("TE other than trailers", PSEUDO + [("content-type", "application/grpc"), ("te", "gzip")]),
    ("no :method", PSEUDO[1:] + GRPC),
    ("no :scheme", PSEUDO[:1] + PSEUDO[2:] + GRPC),
    ("no :path", PSEUDO[:2] + PSEUDO[3:] + GRPC),
    ("an empty :path", PSEUDO[:2] + [(":path", "")] + PSEUDO[3:] + GRPC),
    ("two :path", PSEUDO + [(":path", FAIL)] + GRPC),
    ("two :method", PSEUDO + [(":method", "POST")] + GRPC),
    ("an unknown pseudo-header", PSEUDO + [(":magic", "1")] + GRPC),
    ("a pseudo-header of answers", PSEUDO + [(":status", "200")] + GRPC),
    ("a pseudo-header behind the others", PSEUDO[:3] + GRPC + PSEUDO[3:]),
    ("NUL in a value", PSEUDO + GRPC + [("x", b"a\0b")]),
    ("line end in a value", PSEUDO + GRPC + [("x", b"a\r\nb: c")]),
    ("line end in a name", PSEUDO + GRPC + [(b"x\r\ny", "1")]),
    ("a space in a name", PSEUDO + GRPC + [("x y", "1")]),
    ("an empty name", PSEUDO + GRPC + [("", "1")]),
    ("a wrong content-length", PSEUDO + GRPC + [("content-length", "3")]),
    ("two content-lengths", PSEUDO + GRPC + [("content-length", str(len(FAIL_BODY)))] * 2),
    ("a content-length with a sign", PSEUDO + GRPC + [("content-length", f"+{len(FAIL_BODY)}")]),
    ("a line end in :path", PSEUDO[:2] + [(":path", FAIL + "\r\nx: y")] + PSEUDO[3:] + GRPC),
    ("CONNECT", [(":method", "CONNECT"), (":authority", "localhost:80")]),
]


def malformed(server, headers):
    def act(client):
        try:
            stream = client.open(headers)
            client.send_body(stream, FAIL_BODY)
        except Closed:
            return
        reply = client.reply(stream)
        assert reply.reset or reply.closed or 400 <= reply.status < 600, f"{reply}"
    not_executed(server, act)


def next_call_works(server):
    """A malformed request costs its own stream, not the connection's others."""
    with server.http2() as client:
        stream = client.open(PSEUDO + GRPC + [("connection", "close")])
        reply = client.reply(stream)
        assert reply.reset == h2raw.PROTOCOL_ERROR, f"{reply}"
        reply = client.call(ECHO + "Echo", ECHO_BODY)
        assert reply.grpc_status == 0, f"{reply}"


def head_of_fail(stream, end_headers=True):
    return frame(HEADERS, END_HEADERS if end_headers else 0, stream, h2raw.hpack(PSEUDO + GRPC))


MISUSES = [
    ("an even stream number", [head_of_fail(2), frame(DATA, END_STREAM, 2, FAIL_BODY)], {1}),
    ("stream 0 with HEADERS", [head_of_fail(0)], {1}),
    ("stream 0 with DATA", [frame(DATA, END_STREAM, 0, FAIL_BODY)], {1}),
    ("DATA on an idle stream", [frame(DATA, END_STREAM, 7, FAIL_BODY)], {1}),
    ("RST_STREAM on an idle stream", [frame(RST_STREAM, 0, 7, word(8))], {1}),
    ("WINDOW_UPDATE on an idle stream", [frame(WINDOW_UPDATE, 0, 7, word(8))], {1}),
    ("a head cut by another frame", [head_of_fail(1, False), frame(PING, 0, 0, b"12345678")], {1}),
    ("a head cut by another stream's", [head_of_fail(1, False), head_of_fail(3)], {1}),
    ("CONTINUATION without a head", [frame(CONTINUATION, END_HEADERS, 1, b"")], {1}),
    ("a frame larger than allowed", [frame(DATA, 0, 1, b"x" * 20000)], {1, 6}),
    ("a frame of 16 MB announced", [b"\xff\xff\xff" + struct.pack(">BBI", DATA, 0, 1)], {1, 6}),
    ("HEADERS with more padding than bytes",
     [frame(HEADERS, END_HEADERS | 8, 1, b"\xff" + h2raw.hpack(PSEUDO))], {1}),
    ("PING of 7 bytes", [frame(PING, 0, 0, b"1234567")], {6}),
    ("SETTINGS of 5 bytes", [frame(SETTINGS, 0, 0, b"12345")], {6}),
    ("SETTINGS on a stream", [frame(SETTINGS, 0, 1)], {1}),
    ("SETTINGS with a frame size of 1", [settings((5, 1))], {1}),
    ("SETTINGS with a window of 2^31", [settings((4, 1 << 31))], {3}),
    ("PUSH_PROMISE from a client", [frame(5, END_HEADERS, 1, word(2))], {1}),
    ("WINDOW_UPDATE of 0 on the connection", [frame(WINDOW_UPDATE, 0, 0, word(0))], {1}),
    ("WINDOW_UPDATE beyond 2^31 on the connection",
     [frame(WINDOW_UPDATE, 0, 0, word(0x7fffffff)) * 2], {3}),
    ("a header block that is not HPACK", [frame(HEADERS, END_HEADERS, 1, b"\xff" * 50)], {9}),
    ("an index that no table has", [frame(HEADERS, END_HEADERS, 1, b"\xfe")], {9}),
    ("a table of 1 GB", [frame(HEADERS, END_HEADERS, 1, h2raw.hpack_integer(1 << 30, 5, 0x20))], {9}),
    ("a header that promises 2 GB",
     [frame(HEADERS, END_HEADERS, 1, b"\0" + h2raw.hpack_integer(1 << 31, 7))], {9}),
]


def backwards(server):
    """A stream below the last one was closed by it; what comes on it is ignored or an error."""
    def act(client):
        client.send(frame(HEADERS, END_HEADERS, 9, h2raw.hpack(PSEUDO + GRPC)) + head_of_fail(3) +
                    frame(DATA, END_STREAM, 3, FAIL_BODY) + frame(PING, 0, 0, b"12345678"))
        try:
            while client.read().kind not in (PING, GOAWAY):
                pass
        except Closed:
            pass
    not_executed(server, act)


def unknown_frames(server):
    """They are to be ignored; that must cost next to nothing."""
    data = frame(0xbb, 0, 0, b"x") * 1000
    spent = server.cpu_s()
    with server.http2() as client:
        try:
            for _ in range(200):
                client.send(data)
            client.call(ECHO + "Echo", ECHO_BODY)
        except Closed:
            return "ended by the server"
    spent = server.cpu_s() - spent
    assert spent < (4 if server.sanitized else 1), f"{spent:.2f} s of processor"
    return f"200 000 frames cost {spent:.2f} s of processor"


def window_beyond_stream(server):
    with server.http2() as client:
        stream = client.open(client.request_headers(ECHO + "Collect"))
        client.send(frame(WINDOW_UPDATE, 0, stream, word(0x7fffffff)) * 2)
        reply = client.reply(stream)
        assert reply.reset == h2raw.FLOW_CONTROL_ERROR or reply.goaway == 3 or reply.closed, f"{reply}"


def body_beyond_window(server):
    """A client that ignores the server's window is cut off: that window is the memory bound."""
    with server.http2() as client:
        window = client.peer.get(h2raw.INITIAL_WINDOW_SIZE, 65535)
        try:
            # Chat waits for a worker's read; nothing drains while the head is not whole.
            stream = client.open(client.request_headers(ECHO + "Echo"))
            block = frame(DATA, 0, stream, b"\0" + struct.pack(">I", 3 << 20) + b"x" * 16379)
            rest = frame(DATA, 0, stream, b"x" * 16384)
            client.send(block + rest * 1024)
            reply = client.reply(stream)
        except Closed:
            return "closed"
        # Echo collects a unary body, so the window is refilled; beyond the message limit it ends.
        assert reply.reset or reply.closed or reply.goaway is not None or reply.grpc_status, \
            f"16 MB were swallowed (window {window}): {reply}"
        return f"{reply}"


def head_of(server, headers):
    """The server's reply to a big head: refused with a reason, or the stream or connection ended."""
    with server.http2() as client:
        block = h2raw.hpack(headers)
        before = server.calls("Fail")
        try:
            first, rest = block[:16000], block[16000:]
            client.send(frame(HEADERS, 0 if rest else END_HEADERS, 1, first))
            while rest:
                first, rest = rest[:16000], rest[16000:]
                client.send(frame(CONTINUATION, 0 if rest else END_HEADERS, 1, first))
            client.send(frame(DATA, END_STREAM, 1, FAIL_BODY))
            reply = client.reply(1)
        except Closed:
            reply = None
        assert server.calls("Fail") == before, "the call was executed"
        assert reply is None or reply.reset or reply.closed or reply.status == 431 or \
            reply.grpc_status in (8, 3), f"{reply}"
        return "closed" if reply is None else f"{reply}"


def hpack_bomb(server):
    """One entry of 4 KB, named ten thousand times: 40 MB of headers in 14 KB."""
    before = server.calls("Fail")
    for _ in range(10):
        with server.http2() as client:
            block = h2raw.hpack(PSEUDO + GRPC) + h2raw.hpack_literal("x", "v" * 3900, 0x40) + \
                b"\xbe" * 10000
            try:
                client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
                reply = client.reply(1)
            except Closed:
                continue
            assert reply.reset or reply.closed or reply.status == 431 or reply.grpc_status == 8, \
                f"{reply}"
    assert server.calls("Fail") == before, "the call was executed"


def big_table_asked(server):
    """A client allows a table of 4 GB: the server's own encoder must not use it."""
    with server.http2(pairs=[(h2raw.HEADER_TABLE_SIZE, 0xffffffff)]) as client:
        client.decoder.size_max = 4096
        for number in range(300):
            reply = client.call(ECHO + "Echo", h2raw.grpc_message(h2raw.field_bytes(1, str(number))))
            assert reply.grpc_status == 0, f"{reply}"


def too_many_streams(server):
    with server.http2() as client:
        most = client.peer.get(h2raw.MAX_CONCURRENT_STREAMS)
        assert most and most <= 1000, f"SETTINGS_MAX_CONCURRENT_STREAMS is {most}"
        for _ in range(most + 50):
            client.open(client.request_headers(ECHO + "Echo"))
        refused = 0
        try:
            while refused < 50:
                got = client.read()
                refused += got.kind == RST_STREAM and got.code in (1, 7)
                if got.kind == GOAWAY:
                    return f"GOAWAY {got.code}"
        except Closed:
            return "closed"
        return f"{refused} of 50 too many were refused"


def zero_window(server):
    """200 answers of 256 KB wait for a window that never opens: the client is dropped in time."""
    with server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)]) as client:
        ask = h2raw.grpc_message(h2raw.field_int(2, 256 << 10))
        start = time.monotonic()
        ended = 0
        try:    # who is slow to ask may be dropped before it has asked for all
            for _ in range(100):
                client.send_body(client.open(client.request_headers(ECHO + "Echo")), ask)
            for _ in range(20):
                client.send_body(client.open(client.request_headers(ECHO + "Count")), h2raw.grpc_message(
                    h2raw.field_int(1, 1000) + h2raw.field_int(2, 65536)))
            while ended < 120:
                got = client.read()
                ended += got.kind == RST_STREAM or (got.kind == HEADERS and bool(got.flags & END_STREAM))
        except Closed:
            ended = 120
        assert ended == 120, f"{ended} of 120 stalled streams were ended"
        return f"ended after {time.monotonic() - start:.1f} s"


def never_reads(server):
    """The same by sockets that are not read at all: 10 of them, 4 endless streams each."""
    block = h2raw.hpack([(":method", "POST"), (":scheme", "http"), (":path", ECHO + "Count"),
                         (":authority", "localhost"), *GRPC])
    ask = h2raw.grpc_message(h2raw.field_int(1, 100000) + h2raw.field_int(2, 65536))
    data = h2raw.PREFACE + settings((4, 0x7fffffff)) + frame(WINDOW_UPDATE, 0, 0, word(0x7fff0000))
    for number in range(4):
        data += frame(HEADERS, END_HEADERS, number * 2 + 1, block)
        data += frame(DATA, END_STREAM, number * 2 + 1, ask)
    before = server.fd_count()
    socks = [deaf_socket(server, data) for _ in range(10)]
    start = time.monotonic()
    # Our side cannot see the end while it does not read; the server's descriptors tell it.
    try:
        assert testd.wait_until(lambda: server.fd_count() < before + 4), \
            f"{server.fd_count() - before} of 10 are still served"
    finally:
        for sock in socks:
            sock.close()
    return f"dropped after {time.monotonic() - start:.1f} s"


def deaf_socket(server, data):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(tap.PATIENCE_S)
    sock.connect(("127.0.0.1", server.port))
    sock.sendall(data)
    try:
        sock.recv(1, socket.MSG_PEEK)    # it is served
    except ConnectionResetError:
        pass                             # and was
    return sock


def trickled_window(server):
    """A window that opens by one byte a time holds 1 MB for a client that takes next to nothing."""
    with server.http2(pairs=[(h2raw.INITIAL_WINDOW_SIZE, 0)]) as client:
        stream = client.open(client.request_headers(ECHO + "Echo"))
        client.send_body(stream, h2raw.grpc_message(h2raw.field_int(2, 1 << 20)))
        start = time.monotonic()
        while time.monotonic() - start < tap.PATIENCE_S:
            try:
                client.send(frame(WINDOW_UPDATE, 0, stream, word(1)))
                while True:
                    got = client.read(0.25)
                    if got.kind == RST_STREAM:
                        return f"reset after {time.monotonic() - start:.1f} s"
            except TimeoutError:
                pass
            except Closed:
                return f"ended after {time.monotonic() - start:.1f} s"
    raise AssertionError("an answer may be taken as slowly as the client likes")


def unfinished_bodies(server, ordeal, connections, streams, size_max_mb):
    """Bodies that are nearly whole and never end: what they hold together is bounded."""
    before = server.rss_kb()
    body = h2raw.grpc_message(b"\0" * 3900000, size=4000000)
    clients = []
    try:
        for _ in range(connections):
            clients.append(server.http2())
            clients[-1].timeout = 3    # what is not taken meanwhile waits for a window
            try:
                for _ in range(streams):
                    stream = clients[-1].open(clients[-1].request_headers(ECHO + "Echo"))
                    pour(clients[-1], stream, body)
            except (Closed, TimeoutError):
                pass
        grown = (server.rss_kb() - before) >> 10
        ordeal.goes_on()
    finally:
        for client in clients:
            client.close()
    assert grown < size_max_mb, f"{grown} MB are held, {size_max_mb} are allowed"
    return f"{grown} MB were held of {connections * streams * 4} sent"


def pour(client, stream, body):
    """Sends as the windows allow; gives up when the stream is refused."""
    client.windows = getattr(client, "windows", 65535)
    window = client.peer[h2raw.INITIAL_WINDOW_SIZE]
    at = 0
    while at < len(body):
        size = min(16384, len(body) - at, window, client.windows)
        if size > 0:
            client.send_frame(DATA, 0, stream, body[at:at + size])
            at += size
            window -= size
            client.windows -= size
            continue
        got = client.read()
        if got.kind == WINDOW_UPDATE:
            grant = struct.unpack(">I", got.payload)[0]
            client.windows += grant if got.stream == 0 else 0
            window += grant if got.stream == stream else 0
        elif got.stream == stream and got.kind in (HEADERS, RST_STREAM):
            return


def trickled_head(server):
    """A head of one byte a time, each in its CONTINUATION, is ended by the head timeout."""
    with server.http2() as client:
        client.send(frame(HEADERS, 0, 1, b""))
        block = h2raw.hpack(PSEUDO + GRPC)
        start = time.monotonic()
        try:
            for byte in block:
                client.send(frame(CONTINUATION, 0, 1, bytes([byte])))
                time.sleep(0.2)
            client.wait_end()
        except Closed:
            pass
        return f"ended after {time.monotonic() - start:.1f} s"
    raise AssertionError("a head may take as long as the client likes")


def silent(server, data):
    """A connection that stops in the middle of its first bytes is closed by the head timeout."""
    with server.connect() as sock:
        sock.sendall(data)
        start = time.monotonic()
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            pass
        return f"ended after {time.monotonic() - start:.1f} s"


def stalls(path):
    with testd.Testd(path, head_timeout_ms=1500, stall_timeout_ms=1500) as server:
        with testd.Ordeal(server, "stalls", rss_mb=64):
            lines.run("stall: a window that never opens", zero_window, server)
            lines.run("stall: a window that opens by bytes", trickled_window, server)
            lines.run("stall: sockets that are never read", never_reads, server)
            lines.run("stall: a head of one byte a time", trickled_head, server)
            lines.run("stall: half a preface", silent, server, h2raw.PREFACE[:10])
            lines.run("stall: a head that is not finished", silent, server,
                    h2raw.PREFACE + settings() + frame(HEADERS, 0, 1, b"\x82"))
        testd.end(server)


def floods_and_misuse(path):
    with testd.Testd(path) as server:
        for name, batch, most, options in FLOODS:
            with testd.Ordeal(server, f"flood of {name}"):
                lines.run(f"flood of {name}: ended by the server",
                        lambda b=batch, m=most, o=options: check_flood(server, b, m, **o))
        with testd.Ordeal(server, "malformed requests"):
            for name, headers in MALFORMED:
                lines.run(f"malformed: {name}", malformed, server, headers)
            lines.run("malformed: the connection's other calls go on", next_call_works, server)
        with testd.Ordeal(server, "misuse"):
            for name, data, codes in MISUSES:
                lines.run(f"misuse: {name}",
                        lambda d=data, c=codes: connection_error(server, *d, codes=c))
            lines.run("misuse: a stream number that went backwards", backwards, server)
            lines.run("misuse: 200 000 frames of an unknown kind", unknown_frames, server)
            lines.run("misuse: WINDOW_UPDATE beyond 2^31 on a stream", window_beyond_stream, server)
            lines.run("misuse: a body beyond the window", body_beyond_window, server)
            lines.run("misuse: more streams than allowed", too_many_streams, server)
        with testd.Ordeal(server, "big heads", rss_mb=32):
            lines.run("limit: a header of 1 MB", head_of, server,
                    PSEUDO + GRPC + [("x", "v" * (1 << 20))])
            lines.run("limit: 5000 headers", head_of, server,
                    PSEUDO + GRPC + [("x", "v")] * 5000)
            lines.run("limit: a path of 100 KB", head_of, server,
                    PSEUDO[:2] + [(":path", FAIL + "?" + "v" * 100000)] + PSEUDO[3:] + GRPC)
            lines.run("HPACK bomb", hpack_bomb, server)
            lines.run("a client's table of 4 GB is not filled", big_table_asked, server)
        with testd.Ordeal(server, "unfinished bodies", rss_mb=640) as ordeal:
            lines.run("unfinished bodies: of one connection", unfinished_bodies, server, ordeal, 1,
                      20, 48)
            lines.run("unfinished bodies: of many connections", unfinished_bodies, server, ordeal,
                      20, 7, 340)
        testd.end(server)


def main():
    lines.scenario("HTTP/2", floods_and_misuse, sys.argv[1])
    lines.scenario("stalls: HTTP/2", stalls, sys.argv[1])
    lines.done()


main()
