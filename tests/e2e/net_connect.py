# SPDX-License-Identifier: Apache-2.0
"""Connect, gRPC-Web and CORS byte by byte against testd; real libraries are net_libraries.py's."""
import base64
import gzip
import http.client
import json
import re
import urllib.parse

from kit import tap
from kit.nettest import SERVICE, Testd

CONNECT_END, TRAILERS = 2, 0x80


def ask(server, verb, path, body=None, **headers):
    """Status, headers and body of one request over HTTP/1.1; names of headers with - as _."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
    try:
        try:
            connection.request(verb, path, body, {name.replace("_", "-"): value
                                                  for name, value in headers.items()})
        except (BrokenPipeError, ConnectionResetError):
            pass                        # of a body that is not taken to its end: the answer tells why
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def frame(message, flags=0):
    return bytes([flags]) + len(message).to_bytes(4, "big") + message


def frames(body):
    """[(flags, bytes)]; a body that ends within one is an error."""
    found = []
    while body:
        size = int.from_bytes(body[1:5], "big")
        assert len(body) >= 5 + size, f"a frame of {size} bytes is cut: {body!r}"
        found.append((body[0], body[5:5 + size]))
        body = body[5 + size:]
    return found


def trailers(block):
    return dict(line.split(": ", 1) for line in block.decode().splitlines())


def pieces_of_base64(text):
    """What gRPC-Web's text form stands for: each piece ends with its own padding."""
    return b"".join(base64.b64decode(piece, validate=True)
                    for piece in re.findall(rb"[^=]+=*", text))


@tap.test
def errors_have_connects_form():
    with Testd() as server:
        status, _, body = server.post("Fail", {"code": "INVALID", "text": "no", "fields": ["text"]})
        tap.equal((status, body["code"], body["message"]), (400, "invalid_argument", "no"))
        detail, = body["details"]
        tap.equal(detail["type"], "google.rpc.BadRequest")
        tap.equal(detail["debug"], {"fieldViolations": [
            {"field": "text", "description": "text is at fault"}]})
        assert "=" not in detail["value"], "padded"
        value = base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))
        tap.equal(value, b"\n\x18\n\x04text\x12\x10text is at fault")
        # A Protobuf caller's errors are JSON, too.
        status, headers, body = ask(server, "POST", SERVICE + "Echo", b"\xff",
                                    content_type="application/proto")
        tap.equal((status, headers["content-type"]), (400, "application/json"))
        tap.equal(json.loads(body)["code"], "invalid_argument")


@tap.test
def fields_have_the_names_of_the_callers_messages():
    fields = ["page_size", "pageSize", "inner.page_size", "by_name[\"page_size\"].page_size",
              "page_size[3]", "no_such.page_size"]
    as_json = ["pageSize", "pageSize", "inner.pageSize", "byName[\"page_size\"].pageSize",
               "pageSize[3]", "no_such.page_size"]
    with Testd() as server:
        for asked, wanted in zip(fields, as_json):
            _, _, body = server.post("Fail", {"code": "INVALID", "text": f"{asked}: too large",
                                              "fields": [asked]})
            tap.equal((list(tap.faults(body)), body["message"]), ([wanted], f"{wanted}: too large"))
        message = b"\x0a\x07INVALID\x12\x02no\x1a\x08pageSize"
        _, _, body = ask(server, "POST", SERVICE + "Fail", frame(message),
                         content_type="application/grpc-web")
        details = trailers(frames(body)[-1][1])["grpc-status-details-bin"]
        tap.contains(base64.b64decode(details), b"page_size")


@tap.test
def methods_without_side_effects_are_called_by_get():
    with Testd() as server:
        def get(method="Echo", **parameters):
            status, headers, body = ask(server, "GET", SERVICE + method + "?" +
                                        urllib.parse.urlencode(parameters))
            return status, headers, body

        request = json.dumps({"text": "ä + b & c"})
        status, headers, body = get(connect="v1", encoding="json", message=request)
        tap.equal((status, json.loads(body)["text"]), (200, "ä + b & c"))
        tap.equal(headers["cache-control"], "no-store")
        packed = base64.urlsafe_b64encode(gzip.compress(request.encode())).decode()
        for text in (packed, packed.rstrip("=")):
            status, _, body = get(encoding="json", base64="1", compression="gzip", message=text)
            tap.equal((status, json.loads(body)["text"]), (200, "ä + b & c"))
        status, headers, body = get(encoding="proto", base64="1", message="CgJoaQ")
        tap.equal((status, headers["content-type"], body),
                  (200, "application/proto", b"\x0a\x02hi"))
        for wrong, code in (({"encoding": "json"}, 400), ({"encoding": "xml", "message": "{}"}, 415),
                            ({"message": "{}"}, 415), ({"encoding": "json", "message": "{"}, 400),
                            ({"encoding": "json", "message": "%", "base64": "1"}, 400),
                            ({"encoding": "json", "message": "{}", "connect": "v2"}, 400),
                            ({"encoding": "json", "message": "{}", "compression": "br"}, 415)):
            status, _, body = get(**wrong)
            tap.equal(status, code, f"{wrong}: {body}")
        status, headers, _ = get("Fail", encoding="json", message="{}")
        tap.equal((status, headers["allow"]), (405, "POST"))


@tap.test
def versions_that_are_not_ours_are_refused():
    with Testd() as server:
        tap.equal(server.post("Echo", {}, connect_protocol_version="1")[0], 200)
        status, _, body = server.post("Echo", {}, connect_protocol_version="2")
        tap.equal((status, body["code"]), (400, "invalid_argument"))


@tap.test
def streams_of_connect_end_with_a_frame():
    with Testd() as server:
        def call(method, *messages, kind="json", **headers):
            status, got, body = ask(server, "POST", SERVICE + method, b"".join(messages),
                                    content_type="application/connect+" + kind, **headers)
            tap.equal((status, got["content-type"]), (200, "application/connect+" + kind))
            return got, frames(body)

        _, got = call("Count", frame(b'{"count":2}'))
        tap.equal([(flags, json.loads(body)["count"]) for flags, body in got[:2]],
                  [(0, "1"), (0, "2")])
        tap.equal(got[2:], [(CONNECT_END, b"{}")])
        _, got = call("Count", frame(b"\x08\x02"), kind="proto")
        tap.equal([flags for flags, _ in got], [0, 0, CONNECT_END])
        # Packed both ways.
        headers, got = call("Count", frame(gzip.compress(b'{"count":1,"replySize":50000}'), 1),
                            connect_content_encoding="gzip", connect_accept_encoding="gzip")
        tap.equal((headers["connect-content-encoding"], got[0][0]), ("gzip", 1))
        tap.equal(len(json.loads(gzip.decompress(got[0][1]))["text"]), 50000)
        # Many messages to the server, over HTTP/1.1: the whole body is one half of the talk.
        _, got = call("Collect", frame(b'{"text":"a"}'), frame(b'{"text":"b"}'))
        tap.equal(json.loads(got[0][1]), {"text": "ab", "count": "2"})
        # What goes wrong is in the last frame, whenever it does.
        for request, field in ((b'{"count":"x"}', "count"), (b'{"cuont":1}', "cuont")):
            _, got = call("Count", frame(request))
            tap.equal([flags for flags, _ in got], [CONNECT_END])
            error = json.loads(got[0][1])["error"]
            tap.equal((error["code"], list(tap.faults(error))), ("invalid_argument", [field]))


@tap.test
def streams_of_connect_are_refused_in_their_form():
    with Testd("--auth") as server:
        status, _, body = ask(server, "POST", SERVICE + "Count", frame(b"{}"),
                              content_type="application/connect+json")
        (flags, end), = frames(body)
        tap.equal((status, flags, json.loads(end)["error"]["code"]),
                  (200, CONNECT_END, "unauthenticated"))
        for method, kind, wanted in (("Chat", "application/connect+json", 505),
                                     ("Echo", "application/connect+json", 415),
                                     ("Count", "application/proto", 415),
                                     ("Collect", "application/json", 415)):
            status, headers, body = ask(server, "POST", SERVICE + method, b"", content_type=kind,
                                        authorization="Bearer good")
            tap.equal((status, json.loads(body)["code"]), (wanted, "unimplemented"), method)


@tap.test
def grpc_web_has_its_trailers_in_the_body():
    with Testd() as server:
        for kind in ("application/grpc-web", "application/grpc-web+proto",
                     "application/grpc-web-text", "application/grpc-web-text+proto"):
            is_text = "text" in kind

            def call(method, message):
                sent = frame(message)
                status, headers, body = ask(
                    server, "POST", SERVICE + method, base64.b64encode(sent) if is_text else sent,
                    content_type=kind, x_grpc_web="1")
                tap.equal((status, headers["content-type"].removesuffix("+proto")),
                          (200, kind.removesuffix("+proto")))
                return frames(pieces_of_base64(body) if is_text else body)

            echo, end = call("Echo", b"\x0a\x02hi")
            tap.equal((echo, end[0]), ((0, b"\x0a\x02hi"), TRAILERS))
            tap.equal(trailers(end[1]), {"grpc-status": "0"})
            *counted, end = call("Count", b"\x08\x03")
            tap.equal(([flags for flags, _ in counted], trailers(end[1])),
                      ([0, 0, 0], {"grpc-status": "0"}))
            end, = call("Fail", b"\x0a\x09NOT_FOUND\x12\x06gone %")
            tap.equal(trailers(end[1]), {"grpc-status": "5", "grpc-message": "gone %25"})
            end, = call("Nothing", b"")
            tap.equal((end[0], trailers(end[1])["grpc-status"]), (TRAILERS, "12"))


@tap.test
def grpc_web_in_text_comes_in_any_pieces():
    with Testd() as server:
        sent = frame(b"\x0a\x05hello")
        padded = base64.b64encode(sent[:4]) + base64.b64encode(sent[4:])
        for text, wanted in ((padded, "0"), (base64.b64encode(sent).rstrip(b"="), "0"),
                             (b"AAAA*", "3"), (b"!!!!", "3"), (b"AAAAA", "3")):
            _, _, body = ask(server, "POST", SERVICE + "Echo", text,
                             content_type="application/grpc-web-text")
            end = frames(pieces_of_base64(body))[-1][1]
            tap.equal(trailers(end)["grpc-status"], wanted, text)
        large = base64.b64encode(frame(b"\x0a" + b"\xfa\xff\xff\x01" + b"x" * ((4 << 20) - 6)))
        _, _, body = ask(server, "POST", SERVICE + "Echo", large,
                         content_type="application/grpc-web-text")
        tap.equal(trailers(frames(pieces_of_base64(body))[-1][1])["grpc-status"], "0")
        _, _, body = ask(server, "POST", SERVICE + "Echo", large + b"AAAA" * 1000,
                         content_type="application/grpc-web-text")
        tap.equal(trailers(frames(pieces_of_base64(body))[-1][1])["grpc-status"], "8")


PREFLIGHT = {"access_control_request_method": "POST",
             "access_control_request_headers": "authorization,content-type,x-own"}


@tap.test
def pages_of_other_places_may_call_when_they_are_named():
    with Testd("--cors", "https://shop.example, http://localhost:3000", "--auth") as server:
        for origin in ("https://shop.example", "http://localhost:3000"):
            status, headers, _ = ask(server, "OPTIONS", SERVICE + "Echo", origin=origin, **PREFLIGHT)
            tap.equal((status, headers["access-control-allow-origin"],
                       headers["access-control-allow-credentials"]), (204, origin, "true"))
            for name in ("authorization", "content-type", "x-own"):
                tap.contains(headers["access-control-allow-headers"], name)
            tap.contains(headers["access-control-allow-methods"], "POST")
            for asked in ("authorization,torg-seller", "Torg-Seller"):    # that is for servers
                _, headers, _ = ask(server, "OPTIONS", SERVICE + "Echo", origin=origin, **{
                    **PREFLIGHT, "access_control_request_headers": asked})
                tap.equal("torg-seller" in headers["access-control-allow-headers"].lower(), False)
                tap.contains(headers["access-control-allow-headers"], "authorization")
            assert int(headers["access-control-max-age"]) > 0
            assert "content-length" not in headers, "of an answer without a body"
            # Methods, files, addresses that are not there, refusals: the page may read all.
            for verb, path in (("POST", SERVICE + "Echo"), ("GET", "/"), ("GET", "/nothing"),
                               ("GET", "/v1/echo/hi"), ("GET", SERVICE + "Echo")):
                _, headers, _ = ask(server, verb, path, origin=origin)
                tap.equal(headers["access-control-allow-origin"], origin, path)
                tap.contains(headers["access-control-expose-headers"], "grpc-status")
                tap.contains(headers["access-control-expose-headers"], "x-request-id")
                tap.contains(",".join(headers.get_all("vary")), "origin")
        for origin in ("https://evil.example", "https://shop.example.evil", "http://shop.example",
                       "null", "https://SHOP.example"):
            status, headers, _ = ask(server, "OPTIONS", SERVICE + "Echo", origin=origin, **PREFLIGHT)
            tap.equal((status, headers["access-control-allow-origin"]), (403, None), origin)
            _, headers, _ = ask(server, "GET", "/", origin=origin)
            tap.equal(headers["access-control-allow-origin"], None)
            tap.contains(",".join(headers.get_all("vary")), "origin")
        tap.equal(ask(server, "POST", SERVICE + "Echo", "{}", content_type="application/json",
                      origin="https://shop.example")[0], 401, "an origin is no key")


@tap.test
def every_page_may_call_but_never_with_credentials():
    with Testd("--cors", "*") as server:
        status, headers, _ = ask(server, "OPTIONS", SERVICE + "Echo", origin="https://any.example",
                                 **PREFLIGHT)
        tap.equal((status, headers["access-control-allow-origin"],
                   headers["access-control-allow-credentials"]), (204, "*", None))
        _, headers, _ = ask(server, "GET", "/", origin="https://any.example")
        tap.equal((headers["access-control-allow-origin"],
                   headers["access-control-allow-credentials"]), ("*", None))
    with Testd() as server:  # nobody, as it is by default
        status, headers, _ = ask(server, "OPTIONS", SERVICE + "Echo", origin="https://any.example",
                                 **PREFLIGHT)
        tap.equal((status, headers["access-control-allow-origin"]), (405, None))


@tap.test
def origins_that_are_none_do_not_start():
    for wrong in ("shop.example", "https://shop.example/", "https://", "https://Shop.example"):
        try:
            Testd("--cors", wrong)
            raise ValueError(wrong)
        except AssertionError as told:
            tap.contains(str(told), "server.cors_origins")


tap.main()
