# SPDX-License-Identifier: Apache-2.0
"""Real clients against testd: curl and grpcurl, over plain TCP and TLS."""
import email.utils
import gzip
import http.client
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time

from kit import tap
from kit.h2raw import field_bytes, field_int
from kit.nettest import (DATA, GOAWAY, HEADERS, RST_STREAM, SERVICE, Http2, Testd, frame, message,
                     request_headers)

HOUR_MS = 3600 * 1000    # what sleeps so long ends before for another reason
JSON = ("-H", "content-type: application/json")


def curl(*args):
    return tap.run(tap.tool("curl"), "-sS", "-m", tap.PATIENCE_S, *args)


def grpcurl(server, *args, tls=(), data=None):
    options = ["-connect-timeout", tap.PATIENCE_S, "-max-time", tap.PATIENCE_S, *(tls or ["-plaintext"])]
    if data is not None:
        options += ["-d", data]
    return tap.run(tap.tool("grpcurl"), *options, f"127.0.0.1:{server.port}", *args)


def make_certificates(place):
    """A self-signed server certificate, an authority, and a client certificate signed by it."""
    def openssl(*args):
        result = tap.run(tap.tool("openssl"), *args, cwd=place)
        assert result.returncode == 0, result.stderr

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    new = ["req", "-x509", *key, "-days", "2"]
    openssl(*new, "-keyout", "server.key", "-out", "server.pem", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=IP:127.0.0.1")
    openssl(*new, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority")
    openssl("req", *key, "-keyout", "client.key", "-out", "client.csr", "-subj", "/CN=robot")
    openssl("x509", "-req", "-in", "client.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "2", "-out", "client.pem")


@tap.test
def curl_speaks_json_on_both_versions():
    with Testd() as server:
        for version in ("--http1.1", "--http2-prior-knowledge"):
            result = curl(version, *JSON, "-H", "x-request-id: mine-7", "-D", "-", "-d",
                          '{"text":"ä","everything":{"anInt64":"5"}}', server.url("Echo"))
            head, body = re.split(r"\r\n\r\n|\n\n", result.stdout, maxsplit=1)
            tap.contains(head, "200")
            tap.contains(head, "x-request-id: mine-7")
            got = json.loads(body)
            tap.equal((got["text"], got["count"], got["everything"]["anInt64"]), ("ä", "0", "5"))


@tap.test
def json_errors_carry_status_code_and_fields():
    wanted = {"INVALID": (400, "invalid_argument"), "NOT_FOUND": (404, "not_found"),
              "EXISTS": (409, "already_exists"), "DENIED": (403, "permission_denied"),
              "UNAUTHENTICATED": (401, "unauthenticated"), "LIMIT": (429, "resource_exhausted"),
              "PRECONDITION": (400, "failed_precondition"), "CONFLICT": (409, "aborted"),
              "RANGE": (400, "out_of_range"), "UNSUPPORTED": (501, "unimplemented"),
              "INTERNAL": (500, "internal"), "UNAVAILABLE": (503, "unavailable"),
              "CORRUPT": (500, "data_loss"), "TIMEOUT": (504, "deadline_exceeded"),
              "CANCELLED": (499, "canceled"), "STALE": (409, "aborted")}
    with Testd() as server:
        for code, (status, name) in wanted.items():
            got, headers, body = server.post("Fail", {"code": code, "text": 'why "x"', "fields": ["a.b"]})
            told = 'why "x"'
            if code in ("INTERNAL", "CORRUPT"):     # what is wrong inside is for the log
                told = f"something is wrong here: our log has it as request {headers['x-request-id']}"
            tap.equal((got, body["code"], body["message"]), (status, name, told), code)
            tap.equal(tap.faults(body), {"a.b": "a.b is at fault"})
        for text, told in (("postgres: cannot connect to 10.1.2.3", "try again later"),
                           ("shard 3 does not answer", "shard 3 does not answer")):
            _, _, body = server.post("Fail", {"code": "UNAVAILABLE", "text": text})
            tap.contains(body["message"], told)
            tap.equal("10.1.2.3" in body["message"], False)
        tap.contains(server.log_text(), "10.1.2.3")
        status, _, body = server.post("Echo", {"nonsense": 1})
        tap.equal((status, body["code"]), (400, "invalid_argument"))
        tap.contains(json.dumps(body), "nonsense")


@tap.test
def wrong_requests_are_told_what_is_right():
    with Testd() as server:
        def ask(verb, path, body=None, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
            connection.request(verb, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        status, headers, _ = ask("GET", SERVICE + "Fail")
        tap.equal((status, headers["allow"]), (405, "POST"))
        status, headers, _ = ask("PUT", SERVICE + "Echo")
        tap.equal((status, headers["allow"]), (405, "GET, POST"))
        tap.equal(ask("POST", "/nowhere", "{}")[0], 404)
        tap.equal(ask("POST", SERVICE + "Echo", "a=b")[0], 415)
        status, headers, _ = ask("POST", "/", "x")
        tap.equal((status, headers["allow"]), (405, "GET, HEAD"))
        status, _, body = server.post("Collect", {})
        tap.equal((status, body["code"]), (415, "unimplemented"))
        tap.contains(body["message"], "application/connect+json")


@tap.test
def files_have_tags_and_are_packed():
    with Testd() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)

        def get(verb="GET", **headers):
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(verb, "/", None, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        status, headers, plain = get()
        tap.equal(status, 200)
        tap.contains(plain.decode(), "testd")
        status, packed_headers, packed = get(accept_encoding="gzip, br")
        tap.equal(packed_headers["content-encoding"], "gzip")
        tap.equal(gzip.decompress(packed), plain)
        tap.equal(get(accept_encoding="zstd;q=0, gzip;q=0")[1]["content-encoding"], None)
        _, zstd_headers, zstd = get(accept_encoding="gzip, zstd")
        tap.equal((zstd_headers["content-encoding"], zstd[:4]), ("zstd", b"\x28\xb5\x2f\xfd"))
        opened = subprocess.run([tap.tool("zstd"), "-dc"], input=zstd, capture_output=True, check=True)
        tap.equal(opened.stdout, plain)
        tags = {each["etag"] for each in (headers, packed_headers, zstd_headers)}
        tap.equal(len(tags), 3, "each coding is another representation")
        for known in ("*", 'W/' + headers["etag"], f'"other", {headers["etag"]}'):
            tap.equal(get(if_none_match=known)[0::2], (304, b""), known)
        tap.equal(get(if_none_match=headers["etag"])[0::2], (304, b""))
        tap.equal(get(if_none_match='"other"')[0], 200)
        status, head_headers, body = get("HEAD")
        tap.equal((status, head_headers["content-length"], body), (200, str(len(plain)), b""))


@tap.test
def parts_of_files_are_served():
    with Testd() as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)

        def get(part, verb="GET", **headers):
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(verb, "/", None, {**({"range": part} if part else {}), **headers})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

        _, headers, whole = get(None)
        tap.equal(headers["accept-ranges"], "bytes")
        size, tag = len(whole), headers["etag"]
        for part, first, end in (("bytes=0-0", 0, 1), ("bytes=5-9", 5, 10), ("bytes=5-", 5, size),
                                 ("bytes=-7", size - 7, size), ("bytes=0-99999", 0, size),
                                 ("bytes=-99999", 0, size)):
            status, headers, body = get(part, accept_encoding="gzip, zstd")
            tap.equal((status, headers["content-range"], body),
                      (206, f"bytes {first}-{end - 1}/{size}", whole[first:end]), part)
            tap.equal((headers["content-length"], headers["etag"]), (str(end - first), tag))
        for part in (f"bytes={size}-", "bytes=-0", "bytes=99999-100000"):
            status, headers, _ = get(part)
            tap.equal((status, headers["content-range"]), (416, f"bytes */{size}"), part)
        for part in ("bytes=5-4", "lines=1-2", "bytes=a-b", "bytes=", "bytes=-", "bytes=1-2,4-5"):
            tap.equal(get(part)[0::2], (200, whole), part)
        tap.equal(get("bytes=0-1", if_range=tag)[0], 206)
        tap.equal(get("bytes=0-1", if_range='"other"')[0], 200)
        tap.equal(get("bytes=0-1", if_none_match=tag)[0], 304)
        tap.equal(get("bytes=0-1", "HEAD")[0], 200)


@tap.test
def every_answer_has_a_date_and_an_id():
    with Testd() as server:
        for request in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", b"GET / HTTP/1.1\nHost: x\n\n",
                        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"):
            before = time.time()
            with server.connect() as plain:
                plain.sendall(request)
                plain.shutdown(socket.SHUT_WR)
                answer = b"".join(iter(lambda: plain.recv(65536), b"")).decode()
            date = re.search(r"\r\ndate: (\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)\r\n", answer)
            assert date, answer
            moment = email.utils.parsedate_to_datetime(date[1]).timestamp()
            assert before - 2 < moment < time.time() + 1, answer    # it has whole seconds
            assert re.search(r"\r\nx-request-id: \S{16}\r\n", answer), answer
            assert "allback" not in answer, answer
            if b"HTTP/1.1\r\n\r\n" in request:
                tap.contains(answer, "a request has exactly one Host header")


@tap.test
def json_is_packed_both_ways():
    with Testd() as server:
        body = gzip.compress(b'{"replySize":100000}')
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
        connection.request("POST", SERVICE + "Echo", body, {
            "content-type": "application/json", "content-encoding": "gzip",
            "accept-encoding": "gzip"})
        answer = connection.getresponse()
        packed = answer.read()
        tap.equal(answer.headers["content-encoding"], "gzip")
        tap.equal(len(json.loads(gzip.decompress(packed))["text"]), 100000)
        assert len(packed) < 10000


@tap.test
def grpc_is_packed_both_ways():
    """What is worth it: small answers go as they are, which the frame's first byte tells."""
    for size, wanted in ((100000, 1), (100, 0)):
        with Testd() as server, tempfile.TemporaryDirectory() as place:
            request = gzip.compress(b"\x10" + varint(size))
            with open(f"{place}/request", "wb") as out:
                out.write(b"\1" + len(request).to_bytes(4, "big") + request)
            got = curl("--http2-prior-knowledge", "-H", "content-type: application/grpc",
                       "-H", "te: trailers", "-H", "grpc-encoding: gzip",
                       "-H", "grpc-accept-encoding: gzip", "--data-binary", f"@{place}/request",
                       "-o", f"{place}/answer", "-D", "-",
                       f"http://127.0.0.1:{server.port}{SERVICE}Echo")
            tap.contains(got.stdout, "grpc-status: 0")
            tap.contains(got.stdout, "grpc-encoding: gzip")
            with open(f"{place}/answer", "rb") as answer:
                frame_head, body = answer.read(5), answer.read()
            tap.equal((frame_head[0], int.from_bytes(frame_head[1:], "big")), (wanted, len(body)))
            plain = gzip.decompress(body) if wanted else body
            assert size < len(plain) < size + 20, len(plain)


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def check_grpc(server, **options):
    listed = grpcurl(server, "list", **options)
    tap.contains(listed.stdout, "torg.test.v1.EchoService")
    tap.contains(listed.stdout, "grpc.health.v1.Health")
    described = grpcurl(server, "describe", "torg.test.v1.EchoService", **options)
    tap.contains(described.stdout, "rpc Chat ( stream .torg.test.v1.EchoRequest )")
    service = "torg.test.v1.EchoService/"
    got = grpcurl(server, service + "Echo", data='{"text":"hi"}', **options)
    tap.equal(json.loads(got.stdout), {"text": "hi"}, got.stderr)
    got = grpcurl(server, service + "Count", data='{"count":3}', **options)
    tap.equal(re.findall(r'"count": "(\d)"', got.stdout), ["1", "2", "3"], got.stderr)
    got = grpcurl(server, service + "Collect", data='{"text":"a"}{"text":"b"}', **options)
    tap.equal(json.loads(got.stdout), {"text": "ab", "count": "2"}, got.stderr)
    got = grpcurl(server, service + "Chat", data='{"text":"a"}{"text":"b"}', **options)
    tap.equal(re.findall(r'"text": "(\w)"', got.stdout), ["a", "b"], got.stderr)
    got = grpcurl(server, "grpc.health.v1.Health/Check", **options)
    tap.contains(got.stdout, "SERVING")


@tap.test
def grpcurl_finds_and_calls_every_kind_of_method():
    with Testd() as server:
        check_grpc(server)
        got = grpcurl(server, "torg.test.v1.EchoService/Fail",
                      data='{"code":"INVALID","text":"bad","fields":["offer.price"]}')
        for part in ("InvalidArgument", "bad", "google.rpc.BadRequest", "offer.price is at fault"):
            tap.contains(got.stderr, part)


@tap.test
def tls_carries_everything_and_certificates_name_the_caller():
    with tempfile.TemporaryDirectory() as place:
        make_certificates(place)
        file = lambda name: os.path.join(place, name)
        with Testd("--tls", file("server.pem"), file("server.key"), "--client-ca", file("ca.pem"),
                   "--auth") as server:
            certificate = ["--cert", file("client.pem"), "--key", file("client.key")]
            for version in ("--http1.1", "--http2"):
                result = curl(version, "--cacert", file("server.pem"), *certificate, *JSON,
                              "-w", "%{http_version}", "-d", '{"text":"hi"}',
                              server.url("Echo", "https"))
                tap.equal(result.stdout, '{"text":"hi","count":"0","principal":"robot"}' + version[6:],
                          result.stderr)
            result = curl("--cacert", file("server.pem"), *JSON, "-d", "{}",
                          server.url("Echo", "https"))
            tap.contains(result.stdout, "unauthenticated")
            big = curl("--http2", "--cacert", file("server.pem"), *certificate, *JSON,
                       "-d", '{"replySize":3000000}', server.url("Echo", "https"))
            tap.equal(len(json.loads(big.stdout)["text"]), 3000000)
        with Testd("--tls", file("server.pem"), file("server.key")) as server:
            check_grpc(server, tls=["-cacert", file("server.pem")])
            plain = curl(server.url("Echo"), "-d", "{}")
            assert plain.returncode != 0, "plain text on a TLS port"


@tap.test
def keys_and_scopes_are_checked():
    with Testd("--auth") as server:
        tap.equal(server.post("Echo", {})[0], 401)
        tap.equal(server.post("Echo", {}, authorization="Bearer bad")[0], 401)
        tap.equal(server.post("Echo", {}, authorization="Bearer good")[2]["principal"], "good")
        tap.equal(server.post("Fail", {"code": "RANGE"})[2]["code"], "out_of_range")  # public
        status, _, body = server.post("Count", {"count": 1}, authorization="Bearer poor")
        tap.equal((status, body["code"]), (403, "permission_denied"))
        tap.contains(body["message"], "echo")
        _, _, body = server.post("Count", {"count": 1}, authorization="Bearer good")
        tap.equal(body, {"count": "1"})


@tap.test
def deadlines_end_calls_on_both_sides():
    server, timeout_ms = Testd(), 200
    while "sleep began" not in server.log_text():    # its time may be up before a worker has it
        status, _, body = server.post("Sleep", {"milliseconds": HOUR_MS},
                                      connect_timeout_ms=str(timeout_ms))
        tap.equal((status, body["code"]), (504, "deadline_exceeded"))
        timeout_ms *= 4
    server.wait_for_cancelled(1)
    with Http2(server) as client:
        client.send(frame(HEADERS, 4, 1, request_headers("Collect", ("grpc-timeout", "200m"))))
        kinds = []
        for kind, flags, stream, _ in client.frames():
            kinds.append(kind)
            if kind == HEADERS and flags & 1:
                break
    code, errors = server.stop()
    tap.equal(code, 0, errors)


@tap.test
def clients_that_leave_cancel_their_calls():
    server = Testd()
    with Http2(server) as client:  # a reset stream
        client.send(frame(HEADERS, 4, 1, request_headers("Sleep")) +
                    frame(DATA, 1, 1, message(field_int(1, HOUR_MS))))
        server.wait_for_sleepers(1)
        client.send(frame(RST_STREAM, 0, 1, b"\0\0\0\x08"))
        with server.connect() as plain:  # a closed connection
            body = b'{"milliseconds":%d}' % HOUR_MS
            plain.sendall(f"POST {SERVICE}Sleep HTTP/1.1\r\nHost: x\r\n"
                          "Content-Type: application/json\r\n"
                          f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            server.wait_for_sleepers(2)
    server.wait_for_cancelled(2)
    code, errors = server.stop()
    tap.equal(code, 0, errors)


@tap.test
def back_pressure_holds_both_directions():
    """26 MB through Chat arrive whole; a client that does not read is stopped in its sending."""
    with Testd() as server:
        server.is_well()
        before = server.memory_kb()
        count = 400
        script = "".join('{"text":"%s"}' % ("a" * 65536) for _ in range(count))
        got = subprocess.run([tap.tool("grpcurl"), "-plaintext", "-connect-timeout", str(tap.PATIENCE_S),
                              "-max-time", str(tap.PATIENCE_S), "-d", "@",
                              f"127.0.0.1:{server.port}", "torg.test.v1.EchoService/Chat"],
                             input=script, capture_output=True, text=True, timeout=tap.PATIENCE_S, check=False)
        tap.equal(got.stdout.count('"count"'), count, got.stderr)
        assert server.memory_kb() - before < 64 << 10, server.memory_kb() - before
        with Http2(server) as client:  # its handler reads one message: the window stays shut
            client.send(frame(HEADERS, 4, 1, request_headers("Count")) +
                        frame(DATA, 0, 1, message(b"\x08\xa0\x8d\x06\x10\x90\x4e")) +
                        frame(DATA, 0, 1, b"a" * 16384) * 200)
            for kind, _, _, payload in client.frames():
                if kind in (GOAWAY, RST_STREAM):
                    tap.equal(payload[-4:], b"\0\0\0\x03", "FLOW_CONTROL_ERROR")
                    break
            else:
                raise AssertionError("3 MB were taken that nobody has read")
        server.is_well()


@tap.test
def sigterm_finishes_what_is_in_flight():
    server = Testd("--reactors", "1")    # who is told is told before who is answered
    results = []
    with tempfile.TemporaryDirectory() as folder, Http2(server) as client:
        until = os.path.join(folder, "go")
        thread = threading.Thread(
            target=lambda: results.append(server.post("Sleep", {"until": until})))
        thread.start()
        client.send(frame(HEADERS, 4, 1, request_headers("Sleep")) +
                    frame(DATA, 1, 1, message(field_bytes(2, until))))
        server.wait_for_sleepers(2)
        server.process.terminate()
        kinds = []
        for got in client.frames():
            kinds.append(got[0])
            if got[0] == GOAWAY:    # both are told before their answers come
                with open(until, "w", encoding="ascii"):
                    pass
        thread.join()
    tap.equal(results[0][0], 200)
    tap.equal(results[0][1]["connection"], "close")
    assert GOAWAY in kinds and DATA in kinds, kinds
    assert kinds.index(GOAWAY) < kinds.index(DATA), "told before the answer came"
    tap.equal(server.wait()[0], 0)
    try:
        server.connect().close()
        raise AssertionError("still listening")
    except ConnectionRefusedError:
        pass


@tap.test
def operators_see_readiness_and_metrics():
    with Testd() as server:
        server.is_well()
        for path, wanted in (("/livez", "ok\n"), ("/readyz", "ready\n")):
            tap.equal(curl(f"http://127.0.0.1:{server.operator_port}{path}").stdout, wanted)
        text = curl(f"http://127.0.0.1:{server.operator_port}/metrics").stdout
        tap.contains(text, f'torg_rpc_requests_total{{method="{SERVICE}Echo",code="OK"}} 1')
        tap.contains(text, f'torg_rpc_duration_seconds_count{{method="{SERVICE}Echo"}} 1')
        tap.contains(curl(f"http://127.0.0.1:{server.port}/metrics").stdout, "not_found")


tap.main()
