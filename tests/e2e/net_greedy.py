# SPDX-License-Identifier: Apache-2.0
"""net_greedy.py TESTD - clients that take more than their share: threads of streams.

Whoever is greedy is told so or cut off; everybody else is served as before.
"""
import contextlib
import sys

import h2raw
import lines
import testd
from h2raw import DATA, END_STREAM, HEADERS

ECHO = testd.ECHO
WATCH = "/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
KEY = [("authorization", "Bearer good")]
RESOURCE_EXHAUSTED, UNAVAILABLE = 8, 14

# As in src/base/limits.h.
ANONYMOUS_STREAMS, ANONYMOUS_STREAMS_CONNECTION = 16, 4


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
        served = 0
        for _ in range(6):
            begun = watch(stack.enter_context(server.http2()), 64)
            mine = begun.count(True)
            served += mine
            assert mine <= ANONYMOUS_STREAMS_CONNECTION, f"{mine} streams on one connection"
            for refusal in begun:
                if refusal is not True:
                    check_refusal(refusal, "at most 4 streams without a key",
                                  "all 16 streams without a key are taken")
        assert served == ANONYMOUS_STREAMS, f"{served} streams were served"
        client = stack.enter_context(server.http2())
        assert watch(client, 64, KEY) == [True] * 64, "a key does not help"
        reply = stack.enter_context(server.http2()).call(
            ECHO + "Count", h2raw.grpc_message(h2raw.field_int(1, 3)), extra=KEY)
        assert reply.grpc_status == 0 and len(reply.messages) == 3, reply
        return f"{served} of 384 keyless streams were served"


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


def main():
    with testd.Testd(sys.argv[1], auth=True) as server:
        lines.run("streams: those without a key have a share of their own", keyless_streams, server)
        testd.end(server)
    lines.run("streams: those without a key end", keyless_streams_end, sys.argv[1])
    lines.done()


main()
