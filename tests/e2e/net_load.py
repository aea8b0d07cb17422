# SPDX-License-Identifier: Apache-2.0
"""net_load.py TESTD - very many clients that do little: idle, slow, or never reading.

Ten thousand idle connections come from this process, so it raises its limit of open files (the
server is its child and inherits it). All on loopback, all ended by the server's own timeouts.
"""
import contextlib
import re
import resource
import select
import socket
import sys
import time

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
IDLE_COUNT = 10000
SPARE_COUNT = 50  # connections the limit leaves for honest clients
OVER_COUNT = 200
REFUSED = re.compile(rb"\r\ndate: \w{3}, [^\r]+GMT\r\nx-request-id: [0-9a-f]{16}\r\n\r\n{.*}$")
HEAD = (b"POST " + ECHO.encode() + b"Echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n")


class Crowd:
    """Many sockets of one kind; `alive` forgets those the server has closed."""

    def __init__(self):
        self.socks = {}
        self.poll = select.epoll()
        self.heard = {}

    def add(self, sock):
        sock.setblocking(False)
        self.socks[sock.fileno()] = sock
        self.poll.register(sock.fileno(), select.EPOLLIN | select.EPOLLRDHUP)

    def alive(self):
        """Reads what has come, drops what is closed; gives how many are still connected."""
        for number, _ in self.poll.poll(0):
            sock = self.socks.get(number)
            if sock:
                self.hear(number, sock)
        return len(self.socks)

    def hear(self, number, sock):
        try:
            data = sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.heard[number] = self.heard.get(number, b"") + data[:2000]
        else:
            self.drop(number)

    def drop(self, number):
        self.poll.unregister(number)
        self.socks.pop(number).close()

    def send(self, data):
        """To those that are still there: what the others were told is heard first."""
        for number, sock in list(self.socks.items()):
            self.hear(number, sock)
            if number in self.socks:
                try:
                    sock.send(data)
                except BlockingIOError:
                    pass
                except OSError:
                    self.drop(number)

    def close(self):
        for sock in self.socks.values():
            sock.close()
        self.socks = {}
        self.poll.close()


def fill(server, crowd, count, begin=b""):
    """Opens count connections, pausing when the listen queue is full. What they begin with is said at once:
    who is silent for too long is closed without a word."""
    address = ("127.0.0.1", server.port)
    for _ in range(count):
        sock = socket.socket()
        sock.settimeout(tap.PATIENCE_S)
        sock.connect(address)
        with contextlib.suppress(ConnectionError):    # it was slow, and has been told so
            sock.sendall(begin)
        crowd.add(sock)


def raise_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))


# --- ten thousand idle connections ---


def idle_connections(path):
    raise_limit(IDLE_COUNT * 2 + 1000)
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < IDLE_COUNT + OVER_COUNT + 500:
        lines.skip("10 000 idle connections", "the limit of open files cannot be raised")
        return
    with idle_server(path, testd.LONG_MS) as server:
        crowd = Crowd()
        with testd.Ordeal(server, "10 000 idle connections", rss_mb=160) as ordeal:
            before = server.rss_kb()
            start = time.monotonic()
            lines.run("10 000 idle connections are taken", all_taken, server, crowd)
            lines.comment(f"opened within {time.monotonic() - start:.1f} s")
            lines.run("10 000 idle connections are cheap", cheap, server, before)
            lines.run("10 000 idle connections cost no time", no_time, server)
            ordeal.goes_on()
            crowd.close()
        testd.end(server)
    with idle_server(path, 2000) as server:
        crowd = Crowd()
        fill(server, crowd, IDLE_COUNT)
        lines.run("10 000 idle connections are closed by the idle timeout", all_closed, crowd)
        lines.run("after them new connections are taken again", over_limit_is_gone, server)
        crowd.close()
        testd.end(server)


def idle_server(path, timeout_ms):
    """Two are tried: of one timeout all must stand until the last is open, on any machine."""
    return testd.Testd(path, connections=IDLE_COUNT + SPARE_COUNT, idle_timeout_ms=timeout_ms,
                       head_timeout_ms=timeout_ms)


def full_server(path):
    """A server of its own, since honest clients are refused too while it is full."""
    with testd.Testd(path, connections=SPARE_COUNT) as server:
        lines.run("beyond the limit of connections: refused with the reason", over_limit, server)
        lines.run("below the limit connections are taken again", over_limit_is_gone, server)
        testd.end(server)


def all_taken(server, crowd):
    fill(server, crowd, IDLE_COUNT)
    assert testd.wait_until(lambda: server.fd_count() >= IDLE_COUNT), \
        f"{server.fd_count()} descriptors"
    assert crowd.alive() == IDLE_COUNT, f"{crowd.alive()} are connected"


def cheap(server, before):
    each = (server.rss_kb() - before) / IDLE_COUNT
    bound = 48 if server.sanitized else 16
    assert each < bound, f"{each:.2f} KB a connection, {bound} are allowed"
    return f"{each:.2f} KB of memory a connection"


def no_time(server):
    """They must not be looked at one by one: less than a tenth of one core, honest calls included."""
    start, wall = server.cpu_s(), time.monotonic()
    time.sleep(2)
    share = (server.cpu_s() - start) / (time.monotonic() - wall)
    bound = 0.6 if server.sanitized else 0.3
    assert share < bound, f"{share:.2f} of a core"
    return f"{share:.3f} of a core with the honest clients' calls"


def over_limit(server):
    """Those beyond the limit are closed at once, and told why in HTTP/1.1."""
    socks = []
    served = told = 0
    try:
        for _ in range(OVER_COUNT):
            socks.append(server.connect())
            socks[-1].sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try:
                data = socks[-1].recv(4096)
            except ConnectionResetError:
                data = b""
            served += data.startswith(b"HTTP/1.1 200")
            told += data.startswith(b"HTTP/1.1 503") and bool(REFUSED.search(data))
    finally:
        for sock in socks:
            sock.close()
    refused = OVER_COUNT - served
    assert refused >= OVER_COUNT - SPARE_COUNT, f"only {refused} of {OVER_COUNT} were refused"
    assert told >= refused * 0.8, f"{refused} were refused, {told} were told why"
    return f"{served} served, {refused} refused, {told} were told why"


def over_limit_is_gone(server):
    """Soon: the server has to see first that those before have closed."""
    assert testd.wait_until(lambda: is_served(server)), "still refused"


def is_served(server):
    with server.connect() as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        try:
            return sock.recv(4096).startswith(b"HTTP/1.1 200")
        except ConnectionResetError:
            return False


def all_closed(crowd):
    start = time.monotonic()
    assert testd.wait_until(lambda: crowd.alive() == 0), f"{crowd.alive()} still stand"
    return f"closed after {time.monotonic() - start:.1f} s"


# --- slow clients: many at once, each sending one byte a second ---


def slow_clients(path):
    with testd.Testd(path, head_timeout_ms=3000, body_grace_ms=3000,
                     stall_timeout_ms=3000) as server:
        with testd.Ordeal(server, "slow clients", rss_mb=64):
            crowds = begin_slow(server)
            deadline = time.monotonic() + tap.PATIENCE_S
            drop_trickle = time.monotonic()
            while time.monotonic() < deadline and any(
                    c.alive() for name, (c, _) in crowds.items() if name != "an HTTP/2 body"):
                if time.monotonic() - drop_trickle >= 1:
                    drop_trickle += 1
                    for crowd, data in crowds.values():
                        crowd.send(data)
                time.sleep(0.1)
            lines.run("slow clients: an HTTP/2 body: its stream is ended", streams_ended,
                      crowds.pop("an HTTP/2 body")[0])
            for name, (crowd, _) in crowds.items():
                lines.run(f"slow clients: {name}: closed in time", is_empty, crowd)
            lines.run("slow clients: a slow head is told 408", told, crowds["a head"][0], b" 408 ")
            lines.run("slow clients: a slow body is told 408", told, crowds["a body"][0], b" 408 ")
            for crowd, _ in crowds.values():
                crowd.close()
        testd.end(server)


def begin_slow(server):
    """Each kind: how it begins, and the byte that follows every second."""
    hello = h2raw.PREFACE + h2raw.settings()
    block = h2raw.hpack([(":method", "POST"), (":scheme", "http"), (":path", ECHO + "Echo"),
                         (":authority", "a"), ("content-type", "application/grpc")])
    kinds = {
        "a head": (200, b"POST ", b"a"),
        "a body": (200, HEAD + b"Content-Length: 1000\r\n\r\n", b" "),
        "a body that stops in the middle": (50, HEAD + b"Content-Length: 1000000\r\n\r\n" + b" " * 60000,
                                            b" "),
        "a chunked body": (100, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        "an HTTP/2 head": (100, hello + h2raw.frame(h2raw.HEADERS, 0, 1, b""),
                           h2raw.frame(h2raw.CONTINUATION, 0, 1, b"\x82")),
        "an HTTP/2 body": (100, hello + h2raw.frame(h2raw.HEADERS, 4, 1, block) +
                           h2raw.frame(h2raw.DATA, 0, 1, b"\0\0\0\1\0"),
                           h2raw.frame(h2raw.DATA, 0, 1, b"x")),
        "an HTTP/2 preface": (100, h2raw.PREFACE[:4], b""),
    }
    crowds = {}
    for name, (count, begin, trickle) in kinds.items():
        crowd = Crowd()
        fill(server, crowd, count, begin)
        crowds[name] = (crowd, trickle)
    return crowds


def is_empty(crowd):
    assert crowd.alive() == 0, f"{crowd.alive()} still stand"


def streams_ended(crowd):
    """The connection may stay for other calls; the slow one has its answer or a reset."""
    testd.wait_until(lambda: ended_count(crowd) >= 100)
    ended = ended_count(crowd)
    crowd.close()
    assert ended >= 100, f"{ended} of 100 were ended"


def ended_count(crowd):
    crowd.alive()
    ended = 0
    for data in crowd.heard.values():
        while len(data) >= 9:
            size, kind, flags = int.from_bytes(data[:3], "big"), data[3], data[4]
            ended += kind == h2raw.RST_STREAM or kind == h2raw.HEADERS and bool(
                flags & h2raw.END_STREAM)
            data = data[9 + size:]
    return ended


def told(crowd, word):
    right = sum(word in data[:20] for data in crowd.heard.values())
    assert right >= 150, f"{right} of 200 were told; one heard {next(iter(crowd.heard.values()), b'')!r}"


# --- clients that never read ---


def deaf_clients(path):
    with testd.Testd(path, stall_timeout_ms=2000) as server:
        with testd.Ordeal(server, "deaf clients", rss_mb=300):
            lines.run("deaf clients: 10 answers of 8 MB that nobody reads are dropped in time",
                    deaf, server)
        testd.end(server)


def deaf(server):
    body = b'{"replySize":8000000}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    socks = []
    before = server.fd_count()
    for _ in range(10):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(tap.PATIENCE_S)
        sock.bind(("127.0.0.2", 0))     # by address: honest clients have another
        sock.connect(("127.0.0.1", server.port))
        sock.sendall(request)
        socks.append(sock)
    for sock in socks:    # all are answered: some may have been dropped by then
        with contextlib.suppress(ConnectionResetError):
            sock.recv(1, socket.MSG_PEEK)
    # Our side cannot see the end while it does not read; the server's descriptors tell it.
    try:
        assert testd.wait_until(lambda: server.fd_count() < before + 5), \
            f"{server.fd_count() - before} of 10 are still served"
    finally:
        for sock in socks:
            sock.close()


# --- a storm of connections that come and go ---


def storm(path):
    with testd.Testd(path) as server:
        with testd.Ordeal(server, "connection storm"):
            lines.run("connection storm: 3000 that reset at once", reset_storm, server)
        testd.end(server)


def reset_storm(server):
    hard = b"\1\0\0\0\0\0\0\0"
    for number in range(3000):
        sock = server.connect()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, hard)
        if number % 3:
            sock.sendall((b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", h2raw.PREFACE)[number % 2])
        sock.close()


def main():
    path = sys.argv[1]
    lines.scenario("slow clients", slow_clients, path)
    lines.scenario("deaf clients", deaf_clients, path)
    lines.scenario("connection storm", storm, path)
    lines.scenario("10 000 idle connections", idle_connections, path)
    lines.scenario("a full server", full_server, path)
    lines.done()


main()
