# SPDX-License-Identifier: Apache-2.0
"""net_hostile_messages.py TESTD - messages too big, too deep, packed bombs, cut or not UTF-8."""
import gzip
import http.client
import json
import struct
import sys
import zlib

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd
from kit.h2raw import field_bytes, field_int, grpc_message

ECHO = testd.ECHO
EVERYTHING, CHILD, MANY_CHILDREN, CHOICE_CHILD = 3, 13, 17, 25
INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, INTERNAL = 3, 8, 12, 13

# What a client may be told about a message that is wrong, by gRPC's own rules and by ours.
WRONG = {INVALID_ARGUMENT, RESOURCE_EXHAUSTED, INTERNAL}


def call(server, body, method="Echo", extra=(), timeout=tap.PATIENCE_S, end=True):
    """One gRPC call with this body, on a connection of its own, held to the server's windows."""
    with server.http2(timeout=timeout) as client:
        stream = client.open(client.request_headers(ECHO + method, extra=extra),
                             end=end and not body)
        try:
            send_within_window(client, stream, body, end)
        except h2raw.Closed:
            pass
        return client.early if client.early else client.reply(stream, timeout)


def send_within_window(client, stream, body, end):
    """Sends as the windows allow; stops when the answer comes first."""
    client.early = None
    windows = {0: 65535, stream: client.peer.get(h2raw.INITIAL_WINDOW_SIZE, 65535)}
    at = 0
    while at < len(body):
        size = min(16384, len(body) - at, windows[0], windows[stream])
        if size > 0:
            last = end and at + size == len(body)
            client.send_frame(h2raw.DATA, h2raw.END_STREAM if last else 0, stream,
                              body[at:at + size])
            at += size
            windows[0] -= size
            windows[stream] -= size
            continue
        got = client.read()
        if got.kind == h2raw.WINDOW_UPDATE and got.stream in windows:
            windows[got.stream] += struct.unpack(">I", got.payload)[0]
        elif got.kind in (h2raw.HEADERS, h2raw.RST_STREAM) and got.stream == stream:
            # Put it back, so that reply() sees the answer whole.
            client.input = h2raw.frame(got.kind, got.flags, got.stream, got.payload) + client.input
            return
        elif got.kind == h2raw.GOAWAY:
            client.early = h2raw.Reply()
            client.early.goaway = got.code
            return


def refused(reply, statuses=WRONG):
    assert reply.grpc_status in statuses, f"{reply}"
    assert reply.grpc_message, f"no reason is told: {reply}"
    return f"{reply.grpc_status}: {reply.grpc_message[:120]}"


def post(server, body, headers=(), path=ECHO + "Echo"):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
    try:
        client.request("POST", path, body, {"Content-Type": "application/json", **dict(headers)})
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        answer = client.getresponse()
        return answer.status, answer.read()
    finally:
        client.close()


def post_refused(server, body, statuses, word=b"", headers=()):
    status, text = post(server, body, headers)
    assert status in statuses and word in text, f"{status} {text[:400]!r}"
    assert json.loads(text)["message"], text[:400]
    return f"{status} {text[:150].decode('utf-8', 'replace')}"


# --- gRPC framing ---


def framing_tests(server):
    x = field_bytes(1, "x")
    lines.run("gRPC: 100 MB declared, not sent",
            lambda: refused(call(server, grpc_message(x, size=100 << 20), end=False),
                            {RESOURCE_EXHAUSTED}))
    lines.run("gRPC: 4 GB - 1 declared",
            lambda: refused(call(server, grpc_message(x, size=0xffffffff), end=False),
                            {RESOURCE_EXHAUSTED}))
    lines.run("gRPC: 16 MB declared and sent",
            lambda: refused(call(server, grpc_message(field_bytes(1, b"x" * (16 << 20)))),
                            {RESOURCE_EXHAUSTED}))
    lines.run("gRPC: a message shorter than declared",
            lambda: refused(call(server, grpc_message(x, size=len(x) + 1))))
    lines.run("gRPC: a prefix that is cut", lambda: refused(call(server, b"\0\0\0")))
    lines.run("gRPC: no message at all", lambda: refused(call(server, b""), WRONG | {UNIMPLEMENTED}))
    lines.run("gRPC: two messages for a unary method",
            lambda: refused(call(server, grpc_message(x) * 2), WRONG | {UNIMPLEMENTED}))
    lines.run("gRPC: a flag that does not exist",
            lambda: refused(call(server, grpc_message(x, flag=7))))
    lines.run("gRPC: packed without grpc-encoding",
            lambda: refused(call(server, grpc_message(gzip.compress(x), flag=1))))
    lines.run("gRPC: packed, but not gzip",
            lambda: refused(call(server, grpc_message(b"not gzip", flag=1),
                                 extra=[("grpc-encoding", "gzip")])))
    lines.run("gRPC: packed and cut",
            lambda: refused(call(server, grpc_message(gzip.compress(x * 100)[:-9], flag=1),
                                 extra=[("grpc-encoding", "gzip")])))
    lines.run("gRPC: packed with a wrong checksum", lambda: refused(call(
        server, grpc_message(gzip.compress(x)[:-8] + b"\1\2\3\4" + gzip.compress(x)[-4:], flag=1),
        extra=[("grpc-encoding", "gzip")])))
    lines.run("gRPC: an encoding nobody knows: UNIMPLEMENTED, and what we accept",
            unknown_encoding, server)
    lines.run("gRPC: packed well is taken", packed_taken, server)
    lines.run("gRPC: a stream of 100 000 small messages", many_messages, server)
    lines.run("gRPC: a bad message in the middle of a stream",
            lambda: refused(call(server, grpc_message(x) * 3 + grpc_message(b"\xff\xff"), "Collect")))
    lines.run("gRPC: a stream that declares 100 MB",
            lambda: refused(call(server, grpc_message(x) + grpc_message(x, size=100 << 20), "Collect",
                                 end=False), {RESOURCE_EXHAUSTED}))


def unknown_encoding(server):
    reply = call(server, grpc_message(b"x", flag=1), extra=[("grpc-encoding", "snappy")])
    assert reply.grpc_status == UNIMPLEMENTED, f"{reply}"
    accepted = {**reply.headers, **reply.trailers}.get("grpc-accept-encoding", "")
    assert "gzip" in accepted, f"{reply.headers} {reply.trailers}"


def packed_taken(server):
    reply = call(server, grpc_message(gzip.compress(field_bytes(1, "packed")), flag=1),
                 extra=[("grpc-encoding", "gzip")])
    assert reply.grpc_status == 0, f"{reply}"
    assert h2raw.parse_message(reply.messages[0])[1] == [b"packed"], f"{reply}"


def many_messages(server):
    reply = call(server, grpc_message(b"") * 100000, "Collect")
    assert reply.grpc_status == 0, f"{reply}"
    assert h2raw.parse_message(reply.messages[0])[2] == [100000], f"{reply}"


# --- bombs ---


def zeros_gz(size):
    """size bytes of zeros in about a thousandth: one packed megabyte again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = b"\0" * (1 << 20)
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    count = size >> 20
    checksum = 0
    for _ in range(count):
        checksum = zlib.crc32(piece, checksum)
    return (b"\x1f\x8b\x08" + b"\0" * 6 + b"\x03" + packed * count + b"\x03\0" +
            struct.pack("<II", checksum, size & 0xffffffff))


def bomb_tests(server, bomb):
    lines.run("gzip bomb: 1 GB by gRPC", lambda: refused(
        call(server, grpc_message(bomb, flag=1), extra=[("grpc-encoding", "gzip")]),
        {RESOURCE_EXHAUSTED}))
    lines.run("gzip bomb: 1 GB in a stream", lambda: refused(
        call(server, grpc_message(bomb, flag=1), "Collect", extra=[("grpc-encoding", "gzip")]),
        {RESOURCE_EXHAUSTED}))
    lines.run("gzip bomb: 1 GB by JSON", post_refused, server, bomb, {413}, b"",
            {"Content-Encoding": "gzip"})
    lines.run("gzip bomb: four at once on one connection", four_bombs, server, bomb)
    lines.run("gzip bomb: a bomb in a bomb", post_refused, server, gzip.compress(bomb), {400, 413},
            b"", {"Content-Encoding": "gzip"})
    lines.run("gzip bomb: encodings stacked", post_refused, server, gzip.compress(bomb), {400, 415},
            b"", {"Content-Encoding": "gzip, gzip"})


def four_bombs(server, bomb):
    """On one connection, so that what one connection may hold is tried too."""
    with server.http2() as client:
        body = grpc_message(bomb[:200000], flag=1)
        streams = []
        for _ in range(4):
            streams.append(client.open(client.request_headers(
                ECHO + "Echo", extra=[("grpc-encoding", "gzip")])))
            client.send_body(streams[-1], body)
        ended = set()
        while len(ended) < len(streams):
            try:
                got = client.read()
            except h2raw.Closed:
                return
            if got.kind == h2raw.RST_STREAM or (got.kind == h2raw.HEADERS and
                                                got.flags & h2raw.END_STREAM):
                ended.add(got.stream)


# --- depth ---


def nested_proto(depth, number, wrap=EVERYTHING):
    """A message nested so deep, written from the inside; sizes kept as counts, not copies."""
    parts = []
    size = 0
    for _ in range(depth):
        head = h2raw.varint(number << 3 | 2) + h2raw.varint(size)
        parts.append(head)
        size += len(head)
    parts.append(h2raw.varint(wrap << 3 | 2) + h2raw.varint(size))
    return b"".join(reversed(parts))


def nested_json(depth, opening, closing, inner="{}"):
    return (opening * depth + inner + closing * depth).encode()


def depth_tests(server):
    for depth in (1000, 100000, 700000):
        for name, number in (("child", CHILD), ("many_children", MANY_CHILDREN),
                             ("choice_child", CHOICE_CHILD)):
            body = grpc_message(nested_proto(depth, number))
            lines.run(f"protobuf: {name} {depth} deep",
                    lambda b=body: refused(call(server, b)))
    entry = nested_map(2000)
    lines.run("protobuf: maps 2000 deep", lambda: refused(call(server, grpc_message(entry))))
    lines.run("protobuf: unknown groups 100 000 deep",
            lambda: refused(call(server, grpc_message(b"\xf3\x01" * 100000))))
    lines.run("protobuf: 20 deep is taken", lambda: accepted(server, nested_proto(20, CHILD)))
    for name, body in [
            ("arrays 100 000 deep", b"[" * 100000),
            ("objects 100 000 deep", nested_json(100000, '{"everything":{"child":', "}}")),
            ("children 100 000 deep", b'{"everything":' + nested_json(100000, '{"child":', "}") + b"}"),
            ("arrays of children 50 000 deep",
             b'{"everything":' + nested_json(50000, '{"manyChildren":[', "]}") + b"}"),
            ("maps 50 000 deep",
             b'{"everything":' + nested_json(50000, '{"childMap":{"1":', "}}") + b"}"),
            ("arrays in an unknown field", b'{"nonsense":' + b"[" * 100000 + b"]" * 100000 + b"}"),
            ("1000 deep", b'{"everything":' + nested_json(1000, '{"child":', "}") + b"}")]:
        lines.run(f"JSON: {name}", post_refused, server, body, {400, 413})
    lines.run("JSON: 20 deep is taken", json_taken, server,
            b'{"everything":' + nested_json(20, '{"child":', "}") + b"}")


def nested_map(depth):
    body = b""
    for _ in range(depth):
        body = field_bytes(19, field_int(1, 1) + field_bytes(2, body))
    return field_bytes(EVERYTHING, body)


def accepted(server, message):
    reply = call(server, grpc_message(message))
    assert reply.grpc_status == 0, f"{reply}"


def json_taken(server, body):
    status, text = post(server, body)
    assert status == 200, f"{status} {text[:300]!r}"


# --- amplification: a small message must not become a large one in memory ---


def amplification_tests(server):
    empty_child = h2raw.varint(MANY_CHILDREN << 3 | 2) + b"\0"
    many = field_bytes(EVERYTHING, empty_child * 1300000)
    lines.run("protobuf: 1.3 million empty children in 4 MB", no_harm, server, many)
    packed = field_bytes(EVERYTHING, field_bytes(14, b"\1" * 4000000))
    lines.run("protobuf: 4 million packed numbers", no_harm, server, packed)
    strings = field_bytes(EVERYTHING, field_bytes(15, b"") * 1300000)
    lines.run("protobuf: 1.3 million empty strings", no_harm, server, strings)
    lines.run("protobuf: a reply of 2 GB is asked for",
              lambda: no_harm(server, field_int(2, 0x7fffffff)))
    lines.run("protobuf: a reply of negative size",
            lambda: no_harm(server, field_int(2, -1)))


def no_harm(server, message):
    """Taken or refused, both are right; what counts is the memory, which the ordeal looks at."""
    reply = call(server, grpc_message(message))
    assert reply.grpc_status is not None, f"{reply}"
    return f"status {reply.grpc_status} {reply.grpc_message[:100]}"


# --- text ---


def text_tests(server):
    for name, raw in [("a lone continuation", b"\x80"), ("a cut sequence", b"\xe2\x82"),
                      ("an overlong slash", b"\xc0\xaf"), ("a surrogate", b"\xed\xa0\x80"),
                      ("beyond Unicode", b"\xf4\x90\x80\x80"), ("0xff", b"a\xffb")]:
        lines.run(f"UTF-8: {name} by gRPC",
                lambda r=raw: refused(call(server, grpc_message(field_bytes(1, r)))))
        lines.run(f"UTF-8: {name} by JSON", post_refused, server, b'{"text":"' + raw + b'"}', {400})
        lines.run(f"UTF-8: {name} as a JSON key", post_refused, server, b'{"' + raw + b'":1}', {400})
    for name, raw in [("a lone surrogate", rb'{"text":"\ud800"}'), ("a raw control byte", b'{"text":"\1"}'),
                      ("a NUL", b'{"text":"a\0b"}'), ("UTF-16", '{"text":"x"}'.encode("utf-16")),
                      ("a number of 100 000 digits",
                       b'{"everything":{"anInt64":' + b"9" * 100000 + b"}}"),
                      ("an exponent beyond double", b'{"everything":{"aDouble":1e999999}}'),
                      ("a key twice", b'{"text":"a","text":"b"}'),
                      ("a comment", b'{/**/"text":"a"}')]:
        lines.run(f"JSON: {name}", post_refused, server, raw, {400})
    for name, raw in [("a cut varint", b"\x0a\xff"), ("a length beyond the end", b"\x0a\x7fx"),
                      ("a length beyond 64 bits", b"\x0a" + b"\xff" * 9 + b"\x01x"),
                      ("a varint of 11 bytes", b"\x10" + b"\x80" * 10 + b"\x01"),
                      ("field number 0", b"\x02\x01x"), ("wire type 7", b"\x0f"),
                      ("an end of group alone", b"\x0c")]:
        lines.run(f"protobuf: {name}",
                lambda r=raw: refused(call(server, grpc_message(r))))
    lines.run("gRPC: metadata that is not base64", lambda: bad_metadata(server))
    lines.run("gRPC: deadlines that are nonsense", bad_deadlines, server)


def bad_metadata(server):
    reply = call(server, grpc_message(field_bytes(1, "x")), extra=[("x-bin", "%%%")])
    assert reply.grpc_status is not None or reply.reset, f"{reply}"


def bad_deadlines(server):
    for text in ("", "S", "-1S", "1", "123456789S", "99999999H", "1X", "1.5S", " 1S", "0n"):
        reply = call(server, grpc_message(field_bytes(1, "x")), extra=[("grpc-timeout", text)])
        assert reply.grpc_status is not None or reply.reset, f"{text!r}: {reply}"


def messages(path):
    bomb = zeros_gz(1 << 30)
    lines.comment(f"the bomb: 1 GB of zeros in {len(bomb)} bytes")
    with testd.Testd(path) as server:
        with testd.Ordeal(server, "gRPC framing", rss_mb=48):
            framing_tests(server)
        with testd.Ordeal(server, "gzip bombs", rss_mb=48):
            bomb_tests(server, bomb)
        with testd.Ordeal(server, "deep nesting", rss_mb=48):
            depth_tests(server)
        with testd.Ordeal(server, "amplification", rss_mb=640):
            amplification_tests(server)
        with testd.Ordeal(server, "broken text and fields"):
            text_tests(server)
        testd.end(server)


def main():
    lines.scenario("messages", messages, sys.argv[1])
    lines.done()


main()
