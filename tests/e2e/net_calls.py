# SPDX-License-Identifier: Apache-2.0
"""net_calls.py TESTD - real clients: grpcurl, curl and python's http.client, plain and TLS."""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
SERVICE = "torg.test.v1.EchoService"
HOUR_MS = 3600 * 1000    # what sleeps so long ends before for another reason


def run(*arguments, data=None, timeout=tap.PATIENCE_S):
    """Exit code, stdout, stderr."""
    done = subprocess.run(arguments, input=data, capture_output=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


# --- grpcurl: one list of calls, on the plain and on the TLS server ---


class Grpcurl:
    def __init__(self, server, client=None):
        self.server = server
        self.flags = ["-plaintext"]
        if server.tls:
            self.flags = ["-cacert", server.tls.file("ca.pem"), "-authority", "localhost"]
        if client:
            self.flags += ["-cert", server.tls.file(client + ".pem"), "-key",
                           server.tls.file(client + ".key")]

    def __call__(self, *arguments, data=None, flags=()):
        command = [tap.tool("grpcurl"), *self.flags, "-connect-timeout", str(tap.PATIENCE_S),
                   "-max-time", str(tap.PATIENCE_S), *flags]
        if data is not None:
            command += ["-d", data if isinstance(data, str) else json.dumps(data)]
        return run(*command, f"127.0.0.1:{self.server.port}", *arguments)

    def ok(self, *arguments, data=None, flags=()):
        code, out, wrong = self(*arguments, data=data, flags=flags)
        assert code == 0, f"exit code {code}: {out.decode()} {wrong}"
        return out.decode()


def messages_of(text):
    """The JSON objects grpcurl prints one after another."""
    decoder = json.JSONDecoder()
    found = []
    text = text.strip()
    while text:
        value, size = decoder.raw_decode(text)
        found.append(value)
        text = text[size:].strip()
    return found


def lists_services(grpcurl):
    listed = grpcurl.ok("list").split()
    for name in (SERVICE, "grpc.health.v1.Health"):
        assert name in listed, f"{name} is not among {listed}"
    assert any(name.startswith("grpc.reflection.") for name in listed), listed


def lists_methods(grpcurl):
    listed = grpcurl.ok("list", SERVICE).split()
    wanted = [f"{SERVICE}.{name}"
              for name in ("Block", "Chat", "Collect", "Count", "Echo", "Fail", "Sleep")]
    assert sorted(listed) == wanted, listed


def describes_message(grpcurl):
    text = grpcurl.ok("describe", "torg.test.v1.Everything")
    for part in ("map<string, int64> a_map = 18", "oneof choice", "Color a_color = 12"):
        assert part in text.replace(".torg.test.v1.Everything.", ""), text


def describes_unknown(grpcurl):
    code, _, wrong = grpcurl("describe", "torg.test.v1.Nothing")
    assert code != 0 and "not found" in wrong.lower(), f"{code} {wrong}"


def calls_unary(grpcurl):
    asked = {"text": "Привет, grpc", "everything": {
        "anInt64": "-9223372036854775808", "aColor": "COLOR_DARK_GREEN", "aMap": {"k": "7"},
        "aTimestamp": "2024-02-29T12:00:00.500Z", "someBytes": "AAEC",
        "child": {"manyString": ["a", "b"]}}}
    got = json.loads(grpcurl.ok(SERVICE + "/Echo", data=asked))
    assert got["text"] == asked["text"] and got["everything"] == asked["everything"], got


def calls_server_stream(grpcurl):
    got = messages_of(grpcurl.ok(SERVICE + "/Count", data={"count": 50}))
    assert len(got) == 50, f"{len(got)} messages"


def calls_client_stream(grpcurl):
    data = "".join(json.dumps({"text": f"part {n}"}) for n in range(20))
    got = json.loads(grpcurl.ok(SERVICE + "/Collect", data=data))
    assert got["count"] == "20", got


def calls_both_streams(grpcurl):
    data = "".join(json.dumps({"text": f"part {n}"}) for n in range(20))
    got = messages_of(grpcurl.ok(SERVICE + "/Chat", data=data))
    assert [message["text"] for message in got] == [f"part {n}" for n in range(20)], got


def tells_error_details(grpcurl):
    code, _, wrong = grpcurl(SERVICE + "/Fail", data={"code": "INVALID", "text": "no good",
                                                      "fields": ["price", "title"]})
    assert code == 64 + 3, f"exit code {code}: {wrong}"
    assert "InvalidArgument" in wrong and "no good" in wrong, wrong
    for part in ("google.rpc.BadRequest", "price", "title"):
        assert part in wrong, wrong


def tells_not_found(grpcurl):
    code, _, wrong = grpcurl(SERVICE + "/Fail", data={"code": "NOT_FOUND", "text": "лот 7"})
    assert code == 64 + 5 and "лот 7" in wrong, f"exit code {code}: {wrong}"


def unknown_method(grpcurl):
    code, _, wrong = grpcurl("grpc.health.v1.Health/Check", data={"service": "no.such.Service"})
    assert code == 64 + 5, f"health of an unknown service: {code} {wrong}"


def keeps_deadline(grpcurl):
    """The time of grpcurl begins when it does: on a busy machine it may be up before the call is made,
    which says nothing of the call; then it has more."""
    server, seconds = grpcurl.server, 0.5
    sleepers = server.whole_log().count("sleep began")
    while True:
        code, _, wrong = grpcurl(SERVICE + "/Sleep", data={"milliseconds": HOUR_MS},
                                 flags=["-max-time", str(seconds)])
        if server.whole_log().count("sleep began") > sleepers:
            break
        assert code != 0 and seconds < tap.PATIENCE_S, f"exit code {code} after {seconds} s: {wrong}"
        seconds *= 4
    assert code == 64 + 4, f"exit code {code}: {wrong}"


def checks_health(grpcurl):
    got = json.loads(grpcurl.ok("grpc.health.v1.Health/Check", data={}))
    assert got == {"status": "SERVING"}, got
    got = json.loads(grpcurl.ok("grpc.health.v1.Health/Check", data={"service": SERVICE}))
    assert got == {"status": "SERVING"}, got


GRPCURL_TESTS = [
    ("lists services by reflection", lists_services),
    ("lists methods by reflection", lists_methods),
    ("describes a message by reflection", describes_message),
    ("is told that a message is unknown", describes_unknown),
    ("calls a unary method", calls_unary),
    ("calls a server stream", calls_server_stream),
    ("calls a client stream", calls_client_stream),
    ("calls a stream both ways", calls_both_streams),
    ("is told the fields at fault", tells_error_details),
    ("is told what was not found", tells_not_found),
    ("asks the health of an unknown service", unknown_method),
    ("passes a deadline", keeps_deadline),
    ("asks grpc.health.v1", checks_health),
]


def grpcurl_tests(plain, secure):
    for place, server in (("plain", plain), ("TLS", secure)):
        for name, test in GRPCURL_TESTS:
            lines.run(f"grpcurl, {place}: {name}", test, Grpcurl(server))


# --- the server's deadline, seen without a client that gives up by itself ---


def server_keeps_deadline(server):
    with server.http2() as client:
        start = time.monotonic()
        reply = client.call(ECHO + "Sleep", h2raw.grpc_message(h2raw.field_int(1, HOUR_MS)),
                            extra=[("grpc-timeout", "300m")])
        assert reply.grpc_status == 4, f"{reply}"
        assert time.monotonic() - start > 0.25, f"{time.monotonic() - start:.2f} s"


def unknown_grpc_method(server):
    with server.http2() as client:
        reply = client.call(ECHO + "Nothing", h2raw.grpc_message(b""))
        assert reply.status == 200 and reply.grpc_status == 12, f"{reply}"
        reply = client.call("/no.Service/Nothing", h2raw.grpc_message(b""))
        assert reply.status == 200 and reply.grpc_status == 12, f"{reply}"


def cancelled_call_frees_worker(path):
    """Sleeps that the client has reset must not hold the workers till their end."""
    with testd.Testd(path, workers=2) as server, server.http2() as client:
        for _ in range(4):
            stream = client.open(client.request_headers(ECHO + "Sleep"))
            client.send_body(stream, h2raw.grpc_message(h2raw.field_int(1, HOUR_MS)))
            client.send_frame(h2raw.RST_STREAM, 0, stream, b"\0\0\0\x08")
        for _ in range(4):
            reply = client.call(ECHO + "Sleep", h2raw.grpc_message(h2raw.field_int(1, 1)),
                                timeout=tap.PATIENCE_S)
            assert reply.grpc_status == 0, f"{reply}"


# --- curl ---


class Answer:
    def __init__(self, server, path, *flags, data=None, content_type="application/json"):
        base = f"http://127.0.0.1:{server.port}"
        command = ["curl", "-sS", "-m", str(tap.PATIENCE_S), "-D", "-"]
        if server.tls:
            base = f"https://localhost:{server.port}"
            command += ["--cacert", server.tls.file("ca.pem"), "--resolve",
                        f"localhost:{server.port}:127.0.0.1"]
        if data is not None:
            command += ["--data-binary", "@-", "-H", f"Content-Type: {content_type}",
                        "-H", "Expect:"]
            data = data if isinstance(data, bytes) else json.dumps(data).encode()
        command += [*flags, "-w", "%{stderr}%{http_version} %{http_code}", base + path]
        self.exit_code, out, told = run(*command, data=data)
        self.version, _, status = told.rpartition("\n")[2].partition(" ")
        self.status = int(status or 0)
        head, _, self.body = out.partition(b"\r\n\r\n")
        self.headers = {}
        for line in head.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        self.told = told

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"curl {self.exit_code} HTTP/{self.version} {self.status} {self.headers} " \
               f"{self.body[:300]!r} {self.told}"


def curl_json(server, flags, version):
    asked = {"text": "Привет \u0001", "everything": {
        "anInt64": "9007199254740993", "aColor": "COLOR_RED", "aDuration": "1.500s",
        "manyInt64": ["1", "-2"], "childMap": {"3": {"aBool": True}}}}
    got = Answer(server, ECHO + "Echo", *flags, data=asked)
    assert got.status == 200 and got.version == version, f"{got}"
    assert got.headers["content-type"].startswith("application/json"), f"{got}"
    assert got.json()["text"] == asked["text"], f"{got}"
    back = got.json()["everything"]  # with zeros, which were not sent
    assert back.pop("childMap")["3"]["aBool"] is True, f"{got}"
    assert all(back[name] == value for name, value in asked["everything"].items()
               if name != "childMap"), f"{got}"


def curl_error(server, flags, version):
    got = Answer(server, ECHO + "Fail", *flags, data={"code": "NOT_FOUND", "text": "no lot 7"})
    assert got.status == 404 and got.version == version, f"{got}"
    assert got.json()["code"] == "not_found" and "no lot 7" in got.json()["message"], f"{got}"


def curl_names_violations(server):
    got = Answer(server, ECHO + "Fail", data={"code": "INVALID", "text": "bad",
                                              "fields": ["price", "title"]})
    assert got.status == 400, f"{got}"
    assert list(tap.faults(got.json())) == ["price", "title"], f"{got}"


def curl_unknown_field(server):
    got = Answer(server, ECHO + "Echo", data={"text": "x", "colour": 1})
    assert got.status == 400 and b"colour" in got.body, f"{got}"
    got = Answer(server, ECHO + "Echo", data={"everything": {"child": {"tpyo": 1}}})
    assert got.status == 400 and b"tpyo" in got.body, f"{got}"


def curl_bad_json(server):
    for body in (b"", b"{", b'{"text":"x"}}', b'{"text":1}', b"[]", b'{"text":"x",}',
                 b'{"everything":{"anInt32":2147483648}}', b'{"everything":{"aColor":"BLUE"}}'):
        got = Answer(server, ECHO + "Echo", data=body)
        assert got.status == 400, f"{body} {got}"
        assert got.json()["code"] == "invalid_argument", f"{got}"


def curl_not_found(server):
    for path in ("/no/such/page", ECHO + "Nothing", "/no.Service/Echo", "/%2e%2e/etc/passwd",
                 "/../../etc/passwd"):
        got = Answer(server, path, "--path-as-is", data={})
        assert got.status in (404, 405, 501), f"{path} {got}"
    got = Answer(server, "/no/such/page")
    assert got.status == 404, f"{got}"


def curl_wrong_verb(server):
    for verb in ("HEAD", "PUT", "DELETE"):
        got = Answer(server, ECHO + "Echo", "-X", verb)
        assert got.status == 405, f"{verb} {got}"
        assert "POST" in got.headers.get("allow", ""), f"405 must name what is allowed: {got}"


def curl_get(server, flags, version):
    got = Answer(server, "/v1/echo/%D0%BC%D0%B8%D1%80%20a+b", *flags)
    assert got.status == 200 and got.json()["text"] == "мир a+b", f"{got}"
    assert got.headers["cache-control"] == "no-store", f"{got}"
    got = Answer(server, "/v1/echo/x?replySize=3&", *flags)
    assert got.json()["text"] == "xxx", f"{got}"
    # A body is read and forgotten, whatever it is said to be.
    got = Answer(server, "/v1/echo/x", *flags, "-X", "GET", "-H", "content-encoding: gzip",
                 data={"text": "y"})
    assert got.status == 200 and got.json()["text"] == "x", f"{got}"
    for path, told in (("/v1/echo/x?nothing=1", "nothing"), ("/v1/echo/x?text=y", "text"),
                       ("/v1/echo/x?replySize=many", "replySize"), ("/v1/echo/x%f", "%f"),
                       ("/v1/echo/%ff", "%ff"), ("/v1/echo/x?%zz=1", "%zz")):
        got = Answer(server, path, *flags, "-g")
        assert got.status == 400 and told in got.json()["message"], f"{path} {got}"
    got = Answer(server, "/v1/echo/x", *flags, data={})
    assert got.status == 405 and got.headers["allow"] == "GET", f"{got}"
    assert Answer(server, "/v1/echo/", *flags).status == 404


def curl_wrong_type(server):
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                         "application/xml"):
        got = Answer(server, ECHO + "Echo", data=b"{}", content_type=content_type)
        assert got.status == 415, f"{content_type} {got}"


def curl_gzip_request(server, flags, version):
    body = gzip.compress(json.dumps({"text": "packed " * 3000}).encode())
    got = Answer(server, ECHO + "Echo", *flags, "-H", "Content-Encoding: gzip", data=body)
    assert got.status == 200 and got.version == version, f"{got}"
    assert got.json()["text"] == "packed " * 3000, f"{got}"


def curl_gzip_reply(server, flags, version):
    got = Answer(server, ECHO + "Echo", *flags, "-H", "Accept-Encoding: gzip",
                 data={"replySize": 100000})
    assert got.headers.get("content-encoding") == "gzip" and got.version == version, f"{got}"
    assert len(got.body) < 50000, f"{len(got.body)} bytes"
    assert len(json.loads(gzip.decompress(got.body))["text"]) == 100000
    got = Answer(server, ECHO + "Echo", *flags, data={"replySize": 100000})
    assert "content-encoding" not in got.headers, f"{got}"
    assert len(got.json()["text"]) == 100000
    got = Answer(server, ECHO + "Echo", *flags, "-H", "Accept-Encoding: gzip;q=0, identity",
                 data={"replySize": 100000})
    assert "content-encoding" not in got.headers, f"q=0 refuses gzip: {got.headers}"


def curl_refuses_unknown_encoding(server):
    got = Answer(server, ECHO + "Echo", "-H", "Content-Encoding: br", data=b"xxxx")
    assert got.status == 415, f"{got}"


def curl_file(server, flags, version):
    got = Answer(server, "/", *flags)
    assert got.status == 200 and got.version == version, f"{got}"
    assert got.headers["content-type"].startswith("text/html"), f"{got}"
    assert "default-src 'none'" in got.headers["content-security-policy"], f"{got.headers}"
    assert got.headers["x-content-type-options"] == "nosniff", f"{got.headers}"
    tag = got.headers["etag"]
    again = Answer(server, "/", *flags, "-H", f"If-None-Match: {tag}")
    assert again.status == 304 and not again.body, f"{again}"
    assert again.headers["etag"] == tag, f"{again}"
    other = Answer(server, "/", *flags, "-H", 'If-None-Match: "other"')
    assert other.status == 200 and other.body == got.body, f"{other}"
    head = Answer(server, "/", *flags, "-I", "-o", os.devnull)
    assert head.status == 200 and not head.body, f"{head}"
    assert int(head.headers["content-length"]) == len(got.body), f"{head}"
    packed = Answer(server, "/", *flags, "-H", "Accept-Encoding: gzip")
    assert packed.headers.get("content-encoding") == "gzip", f"{packed}"
    assert gzip.decompress(packed.body) == got.body
    assert "accept-encoding" in packed.headers.get("vary", "").lower(), f"{packed.headers}"


def curl_deadline(server):
    got = Answer(server, ECHO + "Sleep", "-H", "Connect-Timeout-Ms: 300",
                 data={"milliseconds": HOUR_MS})
    assert got.status == 504 and got.json()["code"] == "deadline_exceeded", f"{got}"


def curl_keeps_connection(server):
    """Two requests, one connection: curl says so by its connection count."""
    base = f"http://127.0.0.1:{server.port}" + ECHO + "Echo"
    code, out, wrong = run("curl", "-sS", "-m", str(tap.PATIENCE_S), "-H", "Content-Type: application/json", "-d",
                           "{}", "-w", "%{num_connects}\n", base, base)
    assert code == 0 and re.sub(rb"{.*?}", b"", out).split() == [b"1", b"0"], f"{out} {wrong}"


def curl_expect_continue(server):
    got = Answer(server, ECHO + "Echo", "-H", "Expect: 100-continue", "--expect100-timeout", "5",
                 data={"text": "x" * 2000000})
    assert got.exit_code == 0, f"{got}"
    assert b"x" * 2000000 in got.body or got.status == 200, f"{got}"


def curl_tests(plain, secure):
    ways = [("HTTP/1.1", plain, ["--http1.1"], "1.1"),
            ("HTTP/2 by prior knowledge", plain, ["--http2-prior-knowledge"], "2"),
            ("HTTPS, ALPN http/1.1", secure, ["--http1.1"], "1.1"),
            ("HTTPS, ALPN h2", secure, ["--http2"], "2")]
    for way, server, flags, version in ways:
        lines.run(f"curl, {way}: calls by JSON", curl_json, server, flags, version)
        lines.run(f"curl, {way}: gets an error as JSON", curl_error, server, flags, version)
        lines.run(f"curl, {way}: sends gzip", curl_gzip_request, server, flags, version)
        lines.run(f"curl, {way}: gets gzip when it asks", curl_gzip_reply, server, flags, version)
        lines.run(f"curl, {way}: a method that is read by GET", curl_get, server, flags, version)
        lines.run(f"curl, {way}: a file, its ETag, 304, HEAD, gzip", curl_file, server, flags,
                version)
    lines.run("curl: 400 names the fields at fault", curl_names_violations, plain)
    lines.run("curl: 400 names the unknown field", curl_unknown_field, plain)
    lines.run("curl: 400 for JSON that is broken or does not fit", curl_bad_json, plain)
    lines.run("curl: 404 for what is not there", curl_not_found, plain)
    lines.run("curl: 405 for another verb, with Allow", curl_wrong_verb, plain)
    lines.run("curl: 415 for another content type", curl_wrong_type, plain)
    lines.run("curl: 415 for an unknown content encoding", curl_refuses_unknown_encoding, plain)
    lines.run("curl: 504 when the deadline passes", curl_deadline, plain)
    lines.run("curl: a connection is kept", curl_keeps_connection, plain)
    lines.run("curl: Expect: 100-continue", curl_expect_continue, plain)


# --- operators ---


def operators_port(server):
    assert server.operator("/livez")[0] == 200
    assert server.operator("/readyz")[0] == 200
    assert server.operator("/nothing")[0] == 404


def operators_apart(server):
    """The operators' pages are not on the public port."""
    for path in ("/metrics", "/livez", "/readyz"):
        got = Answer(server, path)
        assert got.status == 404, f"{path} {got}"


def metrics_count(server):
    before = server.calls("Echo")
    for _ in range(3):
        Answer(server, ECHO + "Echo", data={})
    assert testd.wait_until(lambda: server.calls("Echo") == before + 3), \
        f"{before} before, {server.calls('Echo')} after 3 calls"
    _, text = server.operator("/metrics")
    kinds = {line.split()[3] for line in text.splitlines() if line.startswith("# TYPE")}
    assert {"counter", "gauge", "histogram"} <= kinds, kinds
    buckets = [(labels, value) for name, labels, value in testd.parse_metrics(text)
               if name.endswith("_bucket") and any("Echo" in v for v in labels.values())]
    assert any(labels.get("le") == "+Inf" for labels, _ in buckets), buckets


# --- client certificates ---


def certificate_names_client(secure):
    got = Answer(secure, ECHO + "Echo", "--cert", secure.tls.file("client.pem"), "--key",
                 secure.tls.file("client.key"), data={"text": "x"})
    assert got.status == 200, f"{got}"


def stranger_refused(secure):
    got = Answer(secure, ECHO + "Echo", "--cert", secure.tls.file("stranger.pem"), "--key",
                 secure.tls.file("stranger.key"), data={"text": "x"})
    assert got.exit_code != 0 and got.status == 0, f"{got}"


def certificate_required(path, certificates):
    with testd.Testd(path, tls=certificates, client_required=True) as server:
        got = Answer(server, ECHO + "Echo", data={"text": "x"})
        assert got.exit_code != 0 and got.status == 0, f"without one: {got}"
        got = Answer(server, ECHO + "Echo", "--cert", certificates.file("client.pem"), "--key",
                     certificates.file("client.key"), data={"text": "x"})
        assert got.status == 200, f"with one: {got}"
        code = server.stop()
        assert code == 0, f"exit code {code}\n{server.log_text()}"


# --- overload and drain ---


def overload(path):
    """One worker and a full queue: the next one is told to come again, and does not wait for it."""
    with testd.Testd(path, workers=1) as server:
        busy = [fill_queue(server) for _ in range(17)]
        for client in busy:
            client.ping()    # all have been seen: who came before would wait for an hour
        assert testd.wait_until(lambda: ask_sleep(server).status == 429), "never 429"
        got = ask_sleep(server)
        assert got.status == 429 and got.json()["code"] == "resource_exhausted", f"{got}"
        assert int(got.headers["retry-after"]) >= 1, f"{got}"
        with server.http2() as client:
            reply = client.call(ECHO + "Sleep", h2raw.grpc_message(h2raw.field_int(1, 1)))
            assert reply.grpc_status == 8, f"{reply}"
            assert "retry-after" in {**reply.headers, **reply.trailers}, f"{reply.headers}"
        got = Answer(server, ECHO + "Echo", data={"text": "x"})
        assert got.status == 200, f"calls that need no worker go on: {got}"
        for client in busy:
            client.close()
        assert testd.wait_until(lambda: ask_sleep(server).status == 200), \
            "the server does not come back"
        code = server.stop()
        assert code == 0, f"exit code {code}\n{server.log_text()}"


def fill_queue(server):
    """250 calls that would sleep for an hour each: seventeen such fill the queue of 4096."""
    client = server.http2()
    for _ in range(250):
        stream = client.open(client.request_headers(ECHO + "Sleep"))
        client.send_body(stream, h2raw.grpc_message(h2raw.field_int(1, HOUR_MS)))
    return client


def ask_sleep(server):
    return Answer(server, ECHO + "Sleep", data={"milliseconds": 1})


def drain(path, flags, version):
    with testd.Testd(path) as server, tempfile.TemporaryDirectory() as folder:
        results = []
        until = os.path.join(folder, "go")
        caller = threading.Thread(target=lambda: results.append(
            Answer(server, ECHO + "Sleep", *flags, data={"until": until})))
        caller.start()
        assert testd.wait_until(lambda: "sleep began" in server.log_text()), "no call"
        server.process.send_signal(15)
        assert testd.wait_until(lambda: not accepts(server)), "still accepts connections"
        assert not results, f"the call was not waited for: {results[0]}"
        with open(until, "w", encoding="ascii"):
            pass
        caller.join(tap.PATIENCE_S)
        code = server.process.wait(tap.PATIENCE_S)
        assert results[0].status == 200 and results[0].version == version, f"{results[0]}"
        assert code == 0, f"exit code {code}\n{server.log_text()}"


def accepts(server):
    try:
        server.connect().close()
        return True
    except OSError:
        return False


def drain_says_goaway(path):
    with testd.Testd(path) as server, server.http2() as client:
        stream = client.open(client.request_headers(ECHO + "Sleep"))
        client.send_body(stream, h2raw.grpc_message(h2raw.field_int(1, 1000)))
        assert testd.wait_until(lambda: "sleep began" in server.log_text()), "no call"
        server.process.send_signal(15)
        reply = client.reply(stream)
        assert reply.grpc_status == 0, f"{reply}"
        assert reply.goaway in (0, None), f"{reply}"
        assert client.wait_end() == 0 or reply.goaway == 0, "no GOAWAY"
        assert server.process.wait(tap.PATIENCE_S) == 0, server.log_text()


def calls(path):
    certificates = testd.Certificates()
    with testd.Testd(path) as plain, testd.Testd(path, tls=certificates) as secure:
        grpcurl_tests(plain, secure)
        lines.run("gRPC: the server ends a call at its deadline", server_keeps_deadline, plain)
        lines.run("gRPC: UNIMPLEMENTED for what is not there", unknown_grpc_method, plain)
        lines.run("gRPC: a cancelled call frees its worker", cancelled_call_frees_worker, path)
        curl_tests(plain, secure)
        lines.run("operators: /livez /readyz", operators_port, plain)
        lines.run("operators: their pages are on their port only", operators_apart, plain)
        lines.run("operators: /metrics is well formed and counts calls", metrics_count, plain)
        lines.run("TLS: a client certificate is accepted", certificate_names_client, secure)
        lines.run("TLS: a stranger's certificate is refused", stranger_refused, secure)
        lines.run("TLS: a client certificate can be required", certificate_required, path,
                certificates)
        lines.run("overload: 429, RESOURCE_EXHAUSTED, Retry-After", overload, path)
        lines.run("SIGTERM: an HTTP/1.1 call in flight is answered, exit code 0", drain, path,
                ["--http1.1"], "1.1")
        lines.run("SIGTERM: an HTTP/2 call in flight is answered, exit code 0", drain, path,
                ["--http2-prior-knowledge"], "2")
        lines.run("SIGTERM: HTTP/2 clients are told by GOAWAY", drain_says_goaway, path)
        testd.end(plain)
        testd.end(secure)


def main():
    lines.scenario("calls", calls, sys.argv[1])
    lines.done()


main()
