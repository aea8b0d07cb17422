# SPDX-License-Identifier: Apache-2.0
"""net_idle.py TESTD - connections that fall silent, and reactors that stand still.

The server has one reactor for clients, so whatever holds it up holds up every client: honest ones go
on beside each test, and SIGTERM has to end the process afterwards.
"""
import http.client
import json
import os
import sys
import tempfile

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
IDLE_MS = 1000
TURN_MS = 500
UNAVAILABLE = 14
MESSAGE = h2raw.grpc_message(h2raw.field_bytes(1, "x"))


def http1(server):
    if server.tls:
        return http.client.HTTPSConnection("localhost", server.port, timeout=tap.PATIENCE_S,
                                           context=server.tls.context(alpn=("http/1.1",)))
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)


def http2(server):
    context = server.tls.context(alpn=("h2",)) if server.tls else None
    return h2raw.Connection(server.port, tls=context, timeout=tap.PATIENCE_S)


def echo1(client):
    client.request("POST", ECHO + "Echo", json.dumps({"text": "x"}),
                   {"Content-Type": "application/json"})
    answer = client.getresponse()
    assert answer.status == 200 and json.loads(answer.read())["text"] == "x", answer.status


def echo2(client):
    reply = client.call(ECHO + "Echo", MESSAGE)
    if reply.grpc_status is None and (reply.closed or reply.reset == h2raw.REFUSED_STREAM):
        raise h2raw.Closed(str(reply))    # it was idle for too long before it asked
    assert reply.grpc_status == 0, reply


# --- idle connections ---


def connected(server):
    client = http1(server)
    client.connect()
    return client


def called1(server):
    client = http1(server)
    echo1(client)
    return client


def called2(server):
    client = http2(server)
    echo2(client)
    return client


def at(server, act):
    return testd.in_time(server, lambda: act(server))


def silent(server):
    """Nothing is ever said: closed, in whatever protocol it would have been."""
    client = at(server, connected)
    assert client.sock.recv(1) == b"", "it is not closed"
    client.close()


def silent_after_a_call(server):
    client = at(server, called1)
    assert client.sock.recv(1) == b"", "it is not closed"
    client.close()


def silent_http2(server):
    with at(server, http2) as client:
        code = client.wait_end(tap.PATIENCE_S)
    assert code == 0, f"GOAWAY's code is {code}"


def silent_http2_after_a_call(server):
    with at(server, called2) as client:
        code = client.wait_end(tap.PATIENCE_S)
    assert code == 0, f"GOAWAY's code is {code}"


def many_silent_http2(server):
    clients = [at(server, http2) for _ in range(50)]
    codes = [client.wait_end(tap.PATIENCE_S) for client in clients]
    assert codes == [0] * len(clients), codes
    for client in clients:
        client.close()


def is_refused(client):
    try:
        client.sock.send(h2raw.frame(h2raw.PING, 0, 0, b"12345678"))
        return False
    except OSError:
        return True


def silent_http2_that_never_leaves(server):
    """GOAWAY is not answered by a close: what is said is thrown away for a moment, then refused."""
    with at(server, http2) as client:
        code = client.wait_end(tap.PATIENCE_S)
        assert code == 0, f"GOAWAY's code is {code}"
        assert testd.wait_until(lambda: is_refused(client), tap.PATIENCE_S), "it is still open"


def opened(server):
    client = http2(server)
    stream = client.open(client.request_headers(ECHO + "Chat"))
    client.ping()
    return client, stream


def open_stream(server):
    """A stream without a word is no idle connection: others come and go, it is answered."""
    client, stream = at(server, opened)
    with client:
        for _ in range(2):
            silent_http2(server)
        client.send_body(stream, MESSAGE)
        reply = client.reply(stream)
        assert reply.grpc_status == 0 and len(reply.messages) == 1, reply
        code = client.wait_end(tap.PATIENCE_S)
    assert code == 0, f"GOAWAY's code is {code}"


def silent_streams(path):
    """A stream whose client says nothing ends with the reason; one that has said all goes on."""
    with testd.Testd(path, reactors=1, stream_silence_ms=300) as server, http2(server) as client, \
            http2(server) as watcher:
        watch = watcher.open(watcher.request_headers("/grpc.health.v1.Health/Watch"))
        watcher.send_body(watch, h2raw.grpc_message(b""))
        for sent in (b"", h2raw.grpc_message(b"x" * 100)[:50], MESSAGE):    # no word, half of one, one
            stream = client.open(client.request_headers(ECHO + "Chat"))
            if sent:
                client.send_body(stream, sent, end=False)
            reply = client.reply(stream)
            assert reply.grpc_status == UNAVAILABLE, reply
            assert "nothing has come for 0.3 s" in reply.grpc_message, reply
            assert len(reply.messages) == (sent == MESSAGE), reply
        watcher.send_frame(h2raw.PING, 0, 0, b"12345678")
        while (got := watcher.read()).kind != h2raw.PING or not got.flags:
            ended = got.kind == h2raw.RST_STREAM or got.flags & h2raw.END_STREAM
            assert got.stream != watch or not ended, f"the watch has ended: {got}"
        testd.end(server)


IDLE = [
    ("a connection that says nothing is closed", silent),
    ("HTTP/1.1 is closed when it is silent after a call", silent_after_a_call),
    ("HTTP/2 that says nothing gets GOAWAY and is closed", silent_http2),
    ("HTTP/2 that is silent after a call gets GOAWAY and is closed", silent_http2_after_a_call),
    ("fifty such connections at once are closed", many_silent_http2),
    ("HTTP/2 that does not close its side is closed all the same", silent_http2_that_never_leaves),
    ("a connection with an open stream stays, and is closed when that has ended", open_stream),
]


def idle(path, name, tls):
    with testd.Testd(path, tls=tls, reactors=1, idle_timeout_ms=IDLE_MS) as server:
        honest = testd.Honest(server)
        honest.start()
        for words, test in IDLE:
            lines.run(f"{name}: {words}", test, server)
        honest.stop()
        lines.run(f"{name}: honest clients go on", honest.check)
        with at(server, http2) as client:  # is told to go, whatever it is about to say
            testd.end(server)
            client.wait_end(tap.PATIENCE_S)


# --- a reactor that stands still ---


def block(server, path):
    """Holds the reactor until there is such a file."""
    client = http1(server)
    client.request("POST", ECHO + "Block", json.dumps({"text": path}),
                   {"Content-Type": "application/json"})
    return client


def is_told(server):
    return server.operator("/readyz") == (
        503, f"not ready: reactor-0 is stuck for more than {TURN_MS} ms, busy with Block\n")


def stuck(server, path):
    client = block(server, path)
    assert testd.wait_until(lambda: is_told(server), tap.PATIENCE_S), \
        f"/readyz says {server.operator('/readyz')}"
    assert server.operator("/livez")[0] == 200
    assert "a reactor is stuck" in server.log_text(), server.log_text()
    with open(path, "w", encoding="ascii"):
        pass
    assert client.getresponse().status == 200
    assert testd.wait_until(lambda: server.operator("/readyz") == (200, "ready\n"),
                            tap.PATIENCE_S), server.operator("/readyz")
    assert "a reactor goes on" in server.log_text(), server.log_text()
    client.close()


def watched(path):
    with tempfile.TemporaryDirectory() as folder, \
            testd.Testd(path, reactors=1, turn_ms_max=TURN_MS) as server:
        lines.run("a reactor that is held is named at /readyz and in the log until it goes on",
                  stuck, server, os.path.join(folder, "go"))
        testd.end(server)


def main():
    path = sys.argv[1]
    lines.scenario("idle", idle, path, "plain", None)
    lines.scenario("idle, TLS", idle, path, "TLS", testd.Certificates())
    lines.run("a stream whose client is silent ends", silent_streams, path)
    lines.scenario("watched", watched, path)
    lines.done()


main()
