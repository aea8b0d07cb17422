# SPDX-License-Identifier: Apache-2.0
"""net_hostile_http1.py TESTD - request smuggling, limits and nonsense over HTTP/1.1 and TLS.

A smuggling case is one request whose end two servers could see differently, and behind it
a call of EchoService/Fail. The case is held when it is refused with one answer, the connection is
closed, and the server's own count of Fail calls has not moved.
"""
import re
import signal
import socket
import ssl
import sys
import time
import warnings

from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
TARGET = (ECHO + "Echo").encode()

FAIL_BODY = b'{"code":"NOT_FOUND","text":"smuggled"}'
SMUGGLED = (b"POST " + ECHO.encode() + b"Fail HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            b"Content-Length: " + str(len(FAIL_BODY)).encode() + b"\r\n\r\n" + FAIL_BODY)
HEAD = b"POST " + TARGET + b" HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


def exchange(server, data, timeout=tap.PATIENCE_S, half_close=False, pause_s=0):
    """Sends it all, reads to the end of the connection: (bytes, was it closed by the server)."""
    with server.connect(timeout) as sock:
        parts = data if isinstance(data, list) else [data]
        out = b""
        try:
            for part in parts:
                sock.sendall(part)
                time.sleep(pause_s)
            if half_close:
                sock.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            sock.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                got = sock.recv(65536)
            except (TimeoutError, socket.timeout):
                return out, False
            except ConnectionResetError:
                return out, True
            if not got:
                return out, True
            out += got
        return out, False


def answers(data):
    """The status of every HTTP/1.x answer in the bytes; bodies are skipped by their length."""
    found = []
    while data.startswith(b"HTTP/1."):
        head, _, rest = data.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        status = int(lines[0].split()[1])
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if status == 100:
            data = rest
            continue
        found.append(status)
        data = rest[int(headers.get(b"content-length", b"0")):]
    return found, data


def refused(server, request, statuses=frozenset([*range(400, 500), 501, 505]), must_answer=True):
    """One answer of these statuses, the connection closed, nothing behind it executed."""
    before = server.calls("Fail")
    data, closed = exchange(server, request + SMUGGLED)
    found, rest = answers(data)
    assert server.calls("Fail") == before, f"the smuggled call was executed: {data[:600]!r}"
    assert closed, f"the connection stays open: {data[:600]!r}"
    if not data and not must_answer:
        return
    assert len(found) == 1 and found[0] in statuses and not rest, f"{found} {data[:600]!r}"
    assert b"onnection: close" in data, f"the close is not announced: {data[:600]!r}"


CHUNKED = b"Transfer-Encoding: chunked\r\n"
BODY = b'{"text":"x"}'
CHUNK = b"c\r\n" + BODY + b"\r\n0\r\n\r\n"
LENGTH = b"Content-Length: 12\r\n"

SMUGGLING = [
    ("Content-Length and Transfer-Encoding", HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNK),
    ("Transfer-Encoding and Content-Length", HEAD + CHUNKED + LENGTH + b"\r\n" + CHUNK),
    ("two different Content-Lengths",
     HEAD + LENGTH + b"Content-Length: 0\r\n\r\n" + BODY),
    ("two equal Content-Lengths", HEAD + LENGTH + LENGTH + b"\r\n" + BODY),
    ("a list of Content-Lengths", HEAD + b"Content-Length: 12, 12\r\n\r\n" + BODY),
    ("Content-Length with plus", HEAD + b"Content-Length: +12\r\n\r\n" + BODY),
    ("negative Content-Length", HEAD + b"Content-Length: -12\r\n\r\n" + BODY),
    ("hexadecimal Content-Length", HEAD + b"Content-Length: 0xc\r\n\r\n" + BODY),
    ("Content-Length with a fraction", HEAD + b"Content-Length: 12.0\r\n\r\n" + BODY),
    ("Content-Length with inner space", HEAD + b"Content-Length: 1 2\r\n\r\n" + BODY),
    ("empty Content-Length", HEAD + b"Content-Length:\r\n\r\n" + BODY),
    ("Content-Length beyond 64 bits",
     HEAD + b"Content-Length: 18446744073709551628\r\n\r\n" + BODY),
    ("Content-Length of 1000 digits", HEAD + b"Content-Length: " + b"0" * 998 + b"12x\r\n\r\n" + BODY),
    ("Transfer-Encoding chunked twice", HEAD + CHUNKED + CHUNKED + b"\r\n" + CHUNK),
    ("Transfer-Encoding: chunked, chunked",
     HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: xchunked", HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: chunkedx", HEAD + b"Transfer-Encoding: chunkedx\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: chunked, identity",
     HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: gzip, chunked",
     HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: identity", HEAD + b"Transfer-Encoding: identity\r\n\r\n" + CHUNK),
    ("Transfer-Encoding: chunked;q=1", HEAD + b"Transfer-Encoding: chunked;q=1\r\n\r\n" + CHUNK),
    ("quoted Transfer-Encoding", HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n' + CHUNK),
    ("Transfer-Encoding behind a vertical tab",
     HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNK),
    ("tab before the colon", HEAD + b"Transfer-Encoding\t: chunked\r\n\r\n" + CHUNK),
    ("space before the colon", HEAD + b"Content-Length : 12\r\n\r\n" + BODY),
    ("Transfer-Encoding on a folded line",
     HEAD + LENGTH + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNK),
    ("a folded line", HEAD + LENGTH + b"X-Long: a\r\n b\r\n\r\n" + BODY),
    ("a folded first line", b"POST " + TARGET + b" HTTP/1.1\r\n Host: a\r\n" + LENGTH + b"\r\n" + BODY),
    ("a bare CR in a value", HEAD + LENGTH + b"X: a\rTransfer-Encoding: chunked\r\n\r\n" + BODY),
    ("a bare LF ends a header", HEAD + b"X: a\n" + LENGTH + b"\r\n" + BODY),
    ("a bare LF ends the head", HEAD + LENGTH + b"\n" + BODY),
    ("a bare CR ends the head", HEAD + LENGTH + b"\r\r\n" + BODY),
    ("NUL in a value", HEAD + LENGTH + b"X: a\0b\r\n\r\n" + BODY),
    ("NUL in a name", HEAD + LENGTH + b"X\0Y: a\r\n\r\n" + BODY),
    ("a name in brackets", HEAD + LENGTH + b"X(Y): a\r\n\r\n" + BODY),
    ("no name", HEAD + LENGTH + b": a\r\n\r\n" + BODY),
    ("no colon", HEAD + LENGTH + b"nonsense\r\n\r\n" + BODY),
    ("chunk size beyond 64 bits",
     HEAD + CHUNKED + b"\r\n1000000000000000c\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk size with a sign", HEAD + CHUNKED + b"\r\n+c\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk size with 0x", HEAD + CHUNKED + b"\r\n0xc\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk size missing", HEAD + CHUNKED + b"\r\n\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk size behind a space", HEAD + CHUNKED + b"\r\n c\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk longer than its size", HEAD + CHUNKED + b"\r\nb\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk size ended by a bare LF", HEAD + CHUNKED + b"\r\nc\n" + BODY + b"\r\n0\r\n\r\n"),
    ("chunk ended by a bare LF", HEAD + CHUNKED + b"\r\nc\r\n" + BODY + b"\n0\r\n\r\n"),
    ("chunk extension flood",
     HEAD + CHUNKED + b"\r\nc;" + b"a=b;" * 20000 + b"\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("bare LF in a chunk extension",
     HEAD + CHUNKED + b"\r\nc;a\nb\r\n" + BODY + b"\r\n0\r\n\r\n"),
    ("trailer flood", HEAD + CHUNKED + b"\r\nc\r\n" + BODY + b"\r\n0\r\n" + b"X: y\r\n" * 20000 + b"\r\n"),
    ("two Hosts", HEAD + b"Host: b\r\n" + LENGTH + b"\r\n" + BODY),
    ("no Host", b"POST " + TARGET + b" HTTP/1.1\r\n" + LENGTH + b"\r\n" + BODY),
    ("a space in the path",
     b"POST " + TARGET + b" x HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY),
    ("control bytes in the path",
     b"POST " + TARGET + b"\x01 HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY),
    ("CONNECT", b"CONNECT localhost:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("CONNECT with a body", b"CONNECT localhost:80 HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY),
]
# These do not look like HTTP: closing without an answer is as good.
NOT_HTTP = [
    ("a verb of brackets", b"P(ST " + TARGET + b" HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY),
    ("a verb in small letters",
     b"post " + TARGET + b" HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY),
    ("a protocol of another kind", b"GET / RTSP/1.0\r\nHost: a\r\n\r\n"),
    ("no protocol (HTTP/0.9)", b"GET /\r\n"),
]
ODD_VERSIONS = [
    ("HTTP/1.2", b"GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
    ("HTTP/3.0", b"GET / HTTP/3.0\r\nHost: a\r\n\r\n"),
    ("HTTP/2.0 without its preface", b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    ("HTTP/1.1 with a tail", b"GET / HTTP/1.12\r\nHost: a\r\n\r\n"),
]


# --- right requests that look odd must keep working: refusing everything would pass the rest ---


def honest_chunked(server):
    request = (HEAD + CHUNKED + b"\r\n5;name=value\r\n" + BODY[:5] + b"\r\n7\r\n" + BODY[5:] +
               b"\r\n0\r\nX-Trailer: 1\r\n\r\n")
    before = server.calls("Fail")
    data, _ = exchange(server, request + SMUGGLED.replace(b"Host: a", b"Host: a\r\nConnection: close"))
    found, _ = answers(data)
    assert found == [200, 404], f"{found} {data[:500]!r}"
    assert server.calls("Fail") == before + 1, "the count of Fail calls does not see calls"


def honest_pipeline(server):
    request = HEAD + LENGTH + b"\r\n" + BODY
    data, _ = exchange(server, request * 20 + HEAD + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY)
    found, _ = answers(data)
    assert found == [200] * 21, found


def honest_bytes(server):
    """A request of one byte a packet is the same request."""
    request = HEAD + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY
    data, _ = exchange(server, [bytes([byte]) for byte in request], pause_s=0.001)
    found, _ = answers(data)
    assert found == [200], f"{found} {data[:500]!r}"


def garbage_behind_body(server):
    before = server.calls("Fail")
    data, closed = exchange(server, HEAD + LENGTH + b"\r\n" + BODY + b"}garbage\r\n\r\n" + SMUGGLED)
    found, _ = answers(data)
    assert closed and found == [200, 400], f"{found} {data[:500]!r}"
    assert server.calls("Fail") == before, "what is behind garbage was executed"


def behind_close(server):
    """Nothing is executed behind a request that closes the connection."""
    before = server.calls("Fail")
    data, closed = exchange(server, HEAD + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY + SMUGGLED)
    found, _ = answers(data)
    assert closed and found == [200], f"{found} {data[:500]!r}"
    assert server.calls("Fail") == before, "executed behind Connection: close"


def absolute_form(server):
    """A server must take it, and the path inside is what counts."""
    data, _ = exchange(server, b"POST http://localhost" + TARGET + b" HTTP/1.1\r\nHost: localhost\r\n"
                       b"Content-Type: application/json\r\nConnection: close\r\n" + LENGTH +
                       b"\r\n" + BODY)
    found, _ = answers(data)
    assert found in ([200], [400]), f"{found} {data[:500]!r}"


def http10_closes(server):
    data, closed = exchange(server, HEAD.replace(b"1.1", b"1.0") + LENGTH + b"\r\n" + BODY)
    found, _ = answers(data)
    assert closed and found == [200], f"{found} {data[:500]!r}"


def http10_chunked(server):
    """Framing that HTTP/1.0 did not know: answered or refused, and the end of the connection."""
    before = server.calls("Fail")
    request = HEAD.replace(b"1.1", b"1.0") + b"Connection: keep-alive\r\n" + CHUNKED + b"\r\n" + CHUNK
    data, closed = exchange(server, request + SMUGGLED)
    found, _ = answers(data)
    assert server.calls("Fail") == before, f"the smuggled call was executed: {data[:600]!r}"
    assert closed and found in ([200], [400], [501]), f"{found} {data[:500]!r}"


def http10_keep_alive(server):
    """Keep-alive may be honoured or not; it must be said, and never both."""
    request = HEAD.replace(b"1.1", b"1.0") + b"Connection: keep-alive\r\n" + LENGTH + b"\r\n" + BODY
    data, closed = exchange(server, request + HEAD + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY)
    found, _ = answers(data)
    said = b"connection: keep-alive" in data.lower()
    assert closed and found == [200, 200][:1 + said], f"says keep-alive: {said}, {found}: {data[:500]!r}"


def head_has_no_body(server):
    data, _ = exchange(server, b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
                       b"GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    first, _, rest = data.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200") and rest.startswith(b"HTTP/1.1 404"), data[:600]


# --- limits ---


def limit(server, request, statuses, half_close=False):
    data, closed = exchange(server, request, half_close=half_close)
    found, _ = answers(data)
    assert found and found[0] in statuses, f"{found} {data[:500]!r}"
    assert b'"message":"' in data, f"no reason is told: {data[:800]!r}"
    assert closed, f"the connection stays open: {data[:500]!r}"


def limits(server):
    line = b"GET / HTTP/1.1\r\nHost: a\r\n"
    lines.run("limit: a header of 1 MB: 431", limit, server,
            line + b"X: " + b"a" * (1 << 20) + b"\r\n\r\n", {431})
    lines.run("limit: a header name of 1 MB: 431", limit, server,
            line + b"a" * (1 << 20) + b": x\r\n\r\n", {400, 431})
    lines.run("limit: 5000 headers: 431", limit, server, line + b"X: y\r\n" * 5000 + b"\r\n", {431},
              True)
    lines.run("limit: headers without end: 431", limit, server, line + b"X: y\r\n" * 500000, {431})
    lines.run("limit: a URL of 1 MB: 414 or 431", limit, server,
            b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: a\r\n\r\n", {414, 431})
    lines.run("limit: a verb of 1 MB: 4xx", limit, server, b"G" * (1 << 20) + b" / HTTP/1.1\r\n\r\n",
            {400, 405, 431, 501})
    lines.run("limit: a declared body of 10 GB: 413 before it is sent", limit, server,
            HEAD + b"Content-Length: 10000000000\r\n\r\n", {413})
    lines.run("limit: a declared body of 10 GB, Expect: 413 and no 100", expect_refused, server)
    chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
    lines.run("limit: a chunked body without end: 413", limit, server,
            HEAD + CHUNKED + b"\r\n" + chunk * 40, {413})
    lines.run("limit: 4 MB of one-byte chunks cost little time", tiny_chunks, server)


def tiny_chunks(server):
    spent = server.cpu_s()
    data, _ = exchange(server, HEAD + b"Connection: close\r\n" + CHUNKED + b"\r\n" +
                       b"1\r\n \r\n" * 700000 + b"0\r\n\r\n")
    spent = server.cpu_s() - spent
    assert answers(data)[0] in ([400], [413]), data[:500]
    assert spent < (8 if server.sanitized else 2), f"{spent:.1f} s of processor"
    return f"{spent:.2f} s of processor"


def expect_refused(server):
    data, closed = exchange(server, HEAD + b"Expect: 100-continue\r\nContent-Length: 10000000000\r\n\r\n")
    assert b"100 Continue" not in data and answers(data)[0] == [413] and closed, data[:500]


def large_head_taken(server):
    """What honest proxies send is no attack: 16 KB of headers."""
    data, _ = exchange(server, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" +
                       b"".join(b"X-%d: %s\r\n" % (n, b"v" * 800) for n in range(20)) + b"\r\n")
    assert answers(data)[0] == [200], data[:300]


# --- nonsense ---


def nonsense(server, data):
    got, closed = exchange(server, data, half_close=True)
    assert closed, f"stays open: {got[:300]!r}"
    assert not got or got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 505", b"\0\0")), got[:300]


def half_request(server):
    """A client that goes away in the middle of a request is forgotten, not answered with a call."""
    before, fds = server.calls("Fail"), server.fd_count()
    for cut in [*range(1, len(SMUGGLED) - 1, 23), len(SMUGGLED) - 1]:
        with server.connect() as sock:
            sock.sendall(SMUGGLED[:cut])
    assert testd.wait_until(lambda: server.fd_count() <= fds), "it does not see that they are gone"
    assert server.calls("Fail") == before, "half a request was executed"


def pipeline_without_reading(server, honest):
    """10 000 pipelined requests of 64 KB answers, nothing is read: the server must stop reading."""
    request = (b"POST " + TARGET + b" HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
               b"Content-Length: 19\r\n\r\n" + b'{"replySize":65536}')
    own = honest.count
    before = server.calls("Echo")
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(1)
        sock.connect(("127.0.0.1", server.port))
        sent = 0
        try:
            while sent < 10000:
                sock.sendall(request * 10)
                sent += 10
        except OSError:
            pass
        time.sleep(1)
        # Socket buffers hold some 6 MB, a hundred answers.
        executed = server.calls("Echo") - before - 2 * (honest.count - own)
        assert executed < 1000, f"{executed} calls were executed for a client that reads nothing"
    return f"{executed} calls were executed of {sent}"


# --- TLS ---


def tls_garbage(server, data):
    with server.connect() as sock:
        sock.sendall(data)
        sock.settimeout(tap.PATIENCE_S)
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            pass


def tls_old_version(server):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    warnings.simplefilter("ignore", DeprecationWarning)
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        with server.connect() as sock:
            context.wrap_socket(sock, server_hostname="localhost").close()
    except (ssl.SSLError, ConnectionResetError):
        return
    raise AssertionError("TLS 1.1 was accepted")


def tls_unknown_protocol(server):
    """ALPN that names nothing we speak: refused, or answered as HTTP/1.1, never a hang."""
    context = server.tls.context(alpn=("spdy/3",))
    try:
        with server.connect() as sock, \
                context.wrap_socket(sock, server_hostname="localhost") as tls:
            tls.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            got = tls.recv(100)
            assert got.startswith(b"HTTP/1.1 200"), got
    except (ssl.SSLError, ConnectionResetError):
        pass


def tls_rubbish(server):
    """A whole handshake, then rubbish in place of records."""
    context = server.tls.context(alpn=("http/1.1",))
    with server.connect() as sock:
        tls = context.wrap_socket(sock, server_hostname="localhost", do_handshake_on_connect=True)
        raw = socket.socket(fileno=tls.detach())
        raw.settimeout(tap.PATIENCE_S)
        raw.sendall(b"\x17\x03\x03\x00\x20" + b"\xee" * 32)
        try:
            while raw.recv(4096):
                pass
        except ConnectionResetError:
            pass
        raw.close()


def tls_stalled(server):
    """100 handshakes that never go on: closed by the head timeout, not held for ever."""
    socks = [server.connect() for _ in range(100)]
    for number, sock in enumerate(socks):
        if number % 2:
            sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
    deadline = time.monotonic() + tap.PATIENCE_S
    try:
        for sock in socks:
            sock.settimeout(max(deadline - time.monotonic(), 0.1))
            try:
                while sock.recv(4096):
                    pass
            except ConnectionResetError:
                pass
    finally:
        for sock in socks:
            sock.close()


def tls_leavers(server):
    """300 that ask and leave: answers written to closed sockets must not kill the server."""
    context = server.tls.context(alpn=("http/1.1",))
    body = b'{"milliseconds":3}'
    request = (b"POST " + ECHO.encode() + b"Sleep HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body) + body)
    for number in range(300):
        with server.connect() as sock, \
                context.wrap_socket(sock, server_hostname="localhost") as tls:
            tls.sendall(request * 3)
            if number % 2:
                tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            time.sleep(0.001 * (number % 5))
        assert server.alive(), f"exit code {server.process.poll()} after {number + 1}"


def ignores_sigpipe(server):
    """No answer may depend on luck: the signal is ignored, or blocked where we write."""
    for text in tap.thread_files(server.process.pid, "status"):
        held = int(re.search(r"SigBlk:\s+(\w+)", text)[1], 16) | \
            int(re.search(r"SigIgn:\s+(\w+)", text)[1], 16)
        name = re.search(r"Name:\s+(\S+)", text)[1]
        if not name.startswith("reactor"):
            continue  # only these write to clients
        assert held >> (signal.SIGPIPE - 1) & 1, f"SIGPIPE kills thread {name}"


def tls_tests(path, certificates):
    with testd.Testd(path, tls=certificates) as server:
        with testd.Ordeal(server, "TLS nonsense"):
            lines.run("TLS: garbage instead of a ClientHello is closed", tls_garbage, server,
                      bytes(range(256)) * 20)
            lines.run("TLS: a cut ClientHello of another length is closed", tls_garbage, server,
                      b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00\x16\x03\x01\x00\x01\x00")
            lines.run("TLS: plain HTTP is closed", tls_garbage, server,
                      b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            lines.run("TLS: plain HTTP/2 is closed", tls_garbage, server,
                      b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9)
            lines.run("TLS: rubbish behind a handshake is closed", tls_rubbish, server)
            lines.run("TLS: version 1.1 is refused", tls_old_version, server)
            lines.run("TLS: an unknown ALPN name", tls_unknown_protocol, server)
            lines.run("TLS: SIGPIPE cannot end the server", ignores_sigpipe, server)
        with testd.Ordeal(server, "TLS leavers"):
            lines.run("TLS: clients that ask and leave", tls_leavers, server)
        testd.end(server)


def tls_stalls(path, certificates):
    with testd.Testd(path, tls=certificates, head_timeout_ms=1500) as server:
        with testd.Ordeal(server, "TLS stalls"):
            lines.run("TLS: stalled handshakes are closed", tls_stalled, server)
        testd.end(server)


def plain_tests(path):
    with testd.Testd(path) as server:
        lines.run("HTTP/1.1: chunks, extension and trailer; a second request is executed",
                honest_chunked, server)
        lines.run("HTTP/1.1: 21 pipelined requests", honest_pipeline, server)
        lines.run("HTTP/1.1: one byte a packet", honest_bytes, server)
        lines.run("HTTP/1.1: HEAD has no body", head_has_no_body, server)
        lines.run("HTTP/1.1: absolute form", absolute_form, server)
        lines.run("HTTP/1.0 closes", http10_closes, server)
        lines.run("HTTP/1.0 with keep-alive", http10_keep_alive, server)
        with testd.Ordeal(server, "smuggling"):
            for name, request in SMUGGLING:
                lines.run(f"smuggling: {name}", refused, server, request)
            lines.run("smuggling: chunks under HTTP/1.0", http10_chunked, server)
            for name, request in NOT_HTTP:
                lines.run(f"smuggling: {name}", refused, server, request,
                          {400, 405, 501, 505}, False)
            for name, request in ODD_VERSIONS:
                lines.run(f"version: {name}", refused, server, request, {400, 426, 505})
            lines.run("smuggling: garbage behind a body", garbage_behind_body, server)
            lines.run("smuggling: behind Connection: close", behind_close, server)
        with testd.Ordeal(server, "limits", rss_mb=48):
            limits(server)
            lines.run("limit: 16 KB of honest headers are taken", large_head_taken, server)
        with testd.Ordeal(server, "nonsense"):
            for name, data in [("zeros", b"\0" * 5000), ("0xff", b"\xff" * 5000),
                               ("line ends", b"\r\n" * 50000), ("spaces", b" " * 50000),
                               ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"a" * 500),
                               ("nothing", b""), ("half a preface", b"PRI * HTTP/2.0\r\n"),
                               ("a wrong preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r" + b"x" * 50)]:
                lines.run(f"nonsense: {name}", nonsense, server, data)
            lines.run("nonsense: clients that leave in the middle", half_request, server)
        with testd.Ordeal(server, "pipelining without reading", rss_mb=32) as ordeal:
            lines.run("pipelining without reading is held back", pipeline_without_reading, server,
                      ordeal.honest)
        testd.end(server)


def main():
    path = sys.argv[1]
    certificates = testd.Certificates()
    lines.scenario("HTTP/1.1", plain_tests, path)
    lines.scenario("TLS", tls_tests, path, certificates)
    lines.scenario("TLS: stalled handshakes", tls_stalls, path, certificates)
    lines.done()


main()
