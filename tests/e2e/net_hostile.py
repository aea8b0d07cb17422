# SPDX-License-Identifier: Apache-2.0
"""Hostile input against testd: each is refused cheaply, and honest clients are served meanwhile."""
import gzip
import socket
import struct
import threading
import time

import tap
from nettest import (CONTINUATION, DATA, ENHANCE_YOUR_CALM, HEADERS, PING, PRIORITY, RST_STREAM,
                     SERVICE, SETTINGS, WINDOW_UPDATE, Http2, Testd, frame, header_block, message,
                     read_all, request_headers)

MESSAGE_SIZE_MAX = 4 << 20
JSON_HEAD = (f"POST {SERVICE}Echo HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n")
HONEST = (JSON_HEAD + "Content-Length: 2\r\n\r\n{}").encode()


@tap.test
def oversized_heads_are_refused_with_the_limit():
    with Testd() as server:
        for filler in ("X-Big: " + "a" * 40000 + "\r\n",
                       "X-Many: a\r\n" * 200 + "Connection: close\r\n"):
            answer = server.raw((JSON_HEAD + filler + "\r\n").encode())
            assert answer.startswith(b"HTTP/1.1 431 "), answer[:200]
            assert b"resource_exhausted" in answer, answer
        answer = server.raw(b"GET /" + b"a" * 100000)  # no end in sight
        assert answer.startswith(b"HTTP/1.1 431 "), answer[:200]
        with Http2(server) as client:
            block = request_headers("Echo", *[("x-many", "a" * 30)] * 300)
            client.send(frame(HEADERS, 1 | 4, 1, block))
            flags = next(got[1] for got in client.frames() if got[0] == HEADERS and got[2] == 1)
            assert flags & 1, "an error without a body"
        server.is_well()


@tap.test
def oversized_bodies_and_messages_are_refused():
    with Testd() as server:
        big = '{"text":"' + "a" * (MESSAGE_SIZE_MAX + 1000) + '"}'
        answer = server.raw((JSON_HEAD + f"Content-Length: {len(big)}\r\n\r\n").encode())
        assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]  # before the body is sent
        chunked = (JSON_HEAD + "Transfer-Encoding: chunked\r\n\r\n").encode()
        with server.connect() as client:
            client.sendall(chunked)
            try:
                for _ in range(100):
                    client.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                pass
            answer = read_all(client)
            assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
        with Http2(server) as client:  # a frame that announces 1 GB
            client.send(frame(HEADERS, 4, 1, request_headers("Echo")) +
                        frame(DATA, 0, 1, b"\0" + struct.pack(">I", 1 << 30) + b"abc"))
            for kind, flags, stream, _ in client.frames():
                if kind == HEADERS and stream == 1:
                    assert flags & 1, "an error without more"
                    break
            else:
                raise AssertionError("no answer")
        server.is_well()


@tap.test
def gzip_bombs_are_refused():
    bomb = gzip.compress(b" " * (200 << 20))
    with Testd() as server:
        server.is_well()
        before = server.memory_kb()
        status, _, body = server.post("Echo", bomb, content_encoding="gzip")
        assert status == 413 and "unpacks" in body["message"], (status, body)
        grown = server.memory_kb() - before
        assert grown < 64 << 10, f"grew by {grown} KB"
        server.is_well()


@tap.test
def deep_nesting_is_refused():
    with Testd() as server:
        for body in ('{"everything":' + '{"child":' * 5000 + "{}" + "}" * 5001,
                     '{"everything":' + "[" * 100000):
            status, _, answer = server.post("Echo", body)
            assert status in (400, 413), (status, answer)
        nested = b""
        for _ in range(5000):
            nested = b"\x6a" + varint(len(nested)) + nested
        nested = b"\x1a" + varint(len(nested)) + nested
        with server.connect() as client:
            client.sendall((JSON_HEAD.replace("json", "proto") +
                            f"Content-Length: {len(nested)}\r\nConnection: close\r\n\r\n")
                           .encode() + nested)
            answer = read_all(client)
        assert answer.split()[1] in (b"400", b"413"), answer[:300]
        server.is_well()


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


@tap.test
def smuggled_requests_are_refused_and_the_connection_closed():
    chunked = JSON_HEAD + "Transfer-Encoding: chunked\r\n"
    second = "GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n"
    variants = {
        "length and chunked": JSON_HEAD + "Content-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "chunked and length": chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n",
        "two lengths": JSON_HEAD + "Content-Length: 2\r\nContent-Length: 30\r\n\r\n{}",
        "two equal lengths": JSON_HEAD + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "list of lengths": JSON_HEAD + "Content-Length: 2, 2\r\n\r\n{}",
        "signed length": JSON_HEAD + "Content-Length: +2\r\n\r\n{}",
        "hex length": JSON_HEAD + "Content-Length: 0x2\r\n\r\n{}",
        "blank before colon": JSON_HEAD + "Content-Length : 2\r\n\r\n{}",
        "folded header": JSON_HEAD + "X-A: b\r\n c\r\nContent-Length: 2\r\n\r\n{}",
        "folded encoding": JSON_HEAD + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        "bare line feeds": (JSON_HEAD + "Content-Length: 2\r\n\r\n").replace("\r\n", "\n") + "{}",
        "one bare line feed": JSON_HEAD + "X-A: b\nContent-Length: 2\r\n\r\n{}",
        "carriage return in a value": JSON_HEAD + "X-A: b\rc\r\nContent-Length: 2\r\n\r\n{}",
        "bad chunk size": chunked + "\r\nzz\r\n{}\r\n0\r\n\r\n",
        "signed chunk size": chunked + "\r\n+2\r\n{}\r\n0\r\n\r\n",
        "chunk size overflow": chunked + "\r\n10000000000000002\r\n{}\r\n0\r\n\r\n",
        "chunk without its end": chunked + "\r\n2\r\n{}xx0\r\n\r\n",
        "chunk ended by line feed": chunked + "\r\n2\n{}\r\n0\r\n\r\n",
        "other encoding": JSON_HEAD + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "chunked not last": JSON_HEAD + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "zero byte": JSON_HEAD + "X-A: a\0b\r\nContent-Length: 2\r\n\r\n{}",
        "no host": JSON_HEAD.replace("Host: test\r\n", "") + "Content-Length: 2\r\n\r\n{}",
        "two hosts": JSON_HEAD + "Host: other\r\nContent-Length: 2\r\n\r\n{}",
        "two encodings": chunked + "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    }
    wrong = []
    with Testd() as server:
        for name, request in variants.items():
            answer = server.raw((request + second).encode())
            if not answer.startswith(b"HTTP/1.1 400 ") or answer.count(b"HTTP/1.1 ") != 1 or \
                    b"connection: close" not in answer:
                wrong.append((name, answer[:120]))
        server.is_well()
    assert not wrong, wrong


@tap.test
def honest_pipelining_is_served_in_order():
    with Testd() as server, server.connect() as client:
        for i in range(50):
            body = '{"text":"%d"}' % i
            client.sendall((JSON_HEAD + f"Content-Length: {len(body)}\r\n\r\n" + body).encode())
        client.sendall((JSON_HEAD + "Connection: close\r\nContent-Length: 2\r\n\r\n{}").encode())
        answer = read_all(client)
        places = [answer.index(b'{"text":"%d"}' % i) for i in range(50)]
        assert places == sorted(places) and answer.count(b"HTTP/1.1 200 ") == 51, answer[-500:]


@tap.test
def slow_clients_are_cut_off_and_told():
    """A byte a second: in the head, in the body, in an HTTP/2 head. Others are served meanwhile."""
    with Testd() as server:
        body = (JSON_HEAD + "Content-Length: 100000\r\n\r\n").encode()
        block = request_headers("Echo")
        http2 = Http2.PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, 1, 1, block)
        clients = [(server.connect(), HONEST, 0), (server.connect(), body + b"{" * 1000, len(body)),
                   (server.connect(), http2 + frame(CONTINUATION, 4, 1, b"a" * 100), len(http2))]
        start = time.monotonic()
        answers = [None] * len(clients)

        def dribble(number):
            client, data, at = clients[number]
            client.sendall(data[:at])
            client.settimeout(1)
            received = b""
            while time.monotonic() < start + 25:
                try:
                    client.sendall(data[at:at + 1])
                    at += 1
                    part = client.recv(65536)
                    received += part
                    if not part:
                        break
                except socket.timeout:
                    continue
                except OSError:
                    break
            answers[number] = (time.monotonic() - start, received)

        threads = [threading.Thread(target=dribble, args=(i,)) for i in range(len(clients))]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            server.is_well()
            time.sleep(0.5)
        for thread in threads:
            thread.join()
        assert all(seconds < 20 for seconds, _ in answers), [a[0] for a in answers]
        assert answers[0][1].startswith(b"HTTP/1.1 408 "), answers[0]
        assert answers[1][1].startswith(b"HTTP/1.1 408 "), answers[1]
        for client, _, _ in clients:
            client.close()


def flood(name, client, data, count):
    """Sends data over and over; the code of the GOAWAY, None when it was just cut off."""
    code = [None]
    reader = threading.Thread(target=lambda: code.__setitem__(0, client.goaway()))
    reader.start()
    for _ in range(count):
        if not client.send(data):
            break
    reader.join(20)
    assert not reader.is_alive(), "the connection is still open after " + name
    return code[0]


@tap.test
def cheap_frame_floods_are_cut_off():
    open_stream = frame(HEADERS, 4, 1, request_headers("Collect"))
    floods = {
        "PING": (b"", frame(PING, 0, 0, b"12345678") * 500),
        "SETTINGS": (b"", frame(SETTINGS, 0, 0) * 500),
        "PRIORITY": (b"", frame(PRIORITY, 0, 1, b"\0\0\0\0\x10") * 500),
        "WINDOW_UPDATE": (b"", frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\x01") * 500),
        "empty DATA": (open_stream, frame(DATA, 0, 1) * 500),
    }
    with Testd() as server:
        for name, (first, data) in floods.items():
            before = server.metric("net_floods_total")
            with Http2(server) as client:
                client.send(first)
                code = flood(name, client, data, 40)
            assert code in (ENHANCE_YOUR_CALM, None), (name, code)
            assert server.metric("net_floods_total") == before + 1, name
            server.is_well()


@tap.test
def rapid_reset_is_cut_off():
    with Testd() as server:
        with Http2(server) as client:
            stream = 1
            for _ in range(200):
                data = b""
                for _ in range(50):
                    data += frame(HEADERS, 4, stream, request_headers("Echo"))
                    data += frame(RST_STREAM, 0, stream, b"\0\0\0\x08")
                    stream += 2
                if not client.send(data):
                    break
            answered = client.goaway()
        assert answered in (ENHANCE_YOUR_CALM, None), answered
        assert server.metric("net_floods_total") == 1
        server.is_well()


@tap.test
def continuation_flood_is_cut_off():
    with Testd() as server:
        before = server.memory_kb()
        with Http2(server) as client:
            client.send(frame(HEADERS, 0, 1, request_headers("Echo")))
            block = header_block([("x-a", "b" * 1000)] * 10)
            code = flood("CONTINUATION", client, frame(CONTINUATION, 0, 1, block) * 10, 1000)
        assert code in (ENHANCE_YOUR_CALM, None), code
        assert server.metric("net_floods_total") == 1
        assert server.memory_kb() - before < 32 << 10
        server.is_well()


@tap.test
def ten_thousand_idle_connections_are_held_cheaply():
    with Testd() as server:
        server.is_well()
        before = server.memory_kb()
        idle = []
        try:
            for i in range(10000):
                client = server.connect()
                idle.append(client)
                if i % 2:  # half have been served once and stay
                    client.sendall(HONEST)
                    assert client.recv(4096).startswith(b"HTTP/1.1 200"), i
            server.is_well()
            grown = server.memory_kb() - before
            tap.comment(f"10000 idle connections took {grown} KB")
            assert grown < 100 << 10, f"{grown} KB for 10000 connections"
            idle[1].sendall(HONEST)
            assert idle[1].recv(4096).startswith(b"HTTP/1.1 200")
        finally:
            for client in idle:
                client.close()
        tap.wait_until(lambda: server.metric("net_connections") < 10, 20, "connections gone")


@tap.test
def a_client_that_does_not_read_blocks_only_its_stream():
    """1 GB asked for and not read: the handler waits, memory stays, others are served."""
    with Testd() as server:
        server.is_well()
        before = server.memory_kb()
        count = message(b"\x08" + varint(100000) + b"\x10" + varint(10000))
        with Http2(server, struct.pack(">HI", 4, (1 << 31) - 1)) as client:
            client.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", (1 << 31) - 1 - 65535)) +
                        frame(HEADERS, 4, 1, request_headers("Count")) + frame(DATA, 1, 1, count))
            time.sleep(1)
            server.is_well()
            assert server.memory_kb() - before < 32 << 10, server.memory_kb() - before
        server.is_well()


@tap.test
def overload_answers_429_with_retry_after():
    with Testd("--workers", "1") as server:
        clients = []
        for _ in range(6):  # 6 * 250 calls: one works, 1024 wait, the rest is refused
            client = Http2(server)
            data = b""
            for stream in range(1, 500, 2):
                data += frame(HEADERS, 4, stream, request_headers("Sleep"))
                data += frame(DATA, 1, stream, message(b"\x08" + varint(5000)))
            client.send(data)
            clients.append(client)
        tap.wait_until(lambda: server.metric("net_overloads_total") > 100, 20, "overload")
        status, headers, body = server.post("Sleep", {"milliseconds": 1})
        assert status == 429 and body["code"] == "resource_exhausted", (status, body)
        assert headers["retry-after"] == "1"
        server.is_well()  # what runs on the reactor is not concerned
        for client in clients:
            client.socket.close()
        status, _, body = 429, None, None
        deadline = time.monotonic() + 20
        while status == 429 and time.monotonic() < deadline:
            status, _, body = server.post("Sleep", {"milliseconds": 1})
        assert status == 200, (status, body)


tap.main()
