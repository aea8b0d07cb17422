# SPDX-License-Identifier: Apache-2.0
"""net_rest.py TESTD - resources: addresses with variables, verbs, bodies of any type, over HTTP/1.1
and, by curl, HTTP/2."""
import gzip
import http.client
import json
import subprocess
import sys

from kit import lines
from kit import tap
from kit import testd


def ask(server, verb, path, body=None, headers=None):
    """Status, headers, body."""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
    try:
        client.request(verb, path, body, headers or {})
    except (BrokenPipeError, ConnectionResetError):
        pass                            # of a body that is not taken to its end: the answer tells why
    answer = client.getresponse()
    content = answer.read()
    client.close()
    return answer.status, answer.headers, content


def seen(server, verb, path, body=None, headers=None):
    status, _, content = ask(server, verb, path, body, headers)
    assert status == 200, (status, content)
    return json.loads(content)


def variables(server):
    got = seen(server, "GET", "/v1/seen/a%2Fb%20%D0%B6?x=1&y=a+b&x=&z")
    assert got["variables"] == ["a/b ж"] and got["tail"] == [], got
    assert got["parameters"] == [["x", "1"], ["y", "a b"], ["x", ""], ["z", ""]], got
    got = seen(server, "DELETE", "/v1/seen/7/parts/8")
    assert got["variables"] == ["7", "8"], got


def tail(server):
    got = seen(server, "GET", "/v1/any/shop/rating/17%2F3/ru")
    assert got["tail"] == ["shop", "rating", "17/3", "ru"] and got["variables"] == [], got
    assert seen(server, "GET", "/v1/any/one")["tail"] == ["one"]
    assert len(seen(server, "GET", "/v1/any" + "/x" * 32)["tail"]) == 32
    for path in ("/v1/any" + "/x" * 33, "/v1/any/", "/v1/any", "/v1/any//x", "/v1/any/x/",
                 "/v1/seen/", "/v1/seen/7/parts", "/v1/seen/7/parts/8/9", "/v1/seenx/7"):
        assert ask(server, "GET", path)[0] == 404, path


def bodies(server):
    headers = {"Authorization": "Bearer good", "Content-Type": "text/plain; charset=utf-8"}
    got = seen(server, "PUT", "/v1/seen/7", "words ж".encode(), headers)
    assert got["body"] == "words ж" and got["contentType"] == headers["Content-Type"], got
    got = seen(server, "PUT", "/v1/seen/7", gzip.compress(b"packed"),
               {**headers, "Content-Encoding": "gzip"})
    assert got["body"] == "packed", got
    assert seen(server, "PUT", "/v1/seen/7", b"", headers)["body"] == ""
    status, _, content = ask(server, "PUT", "/v1/seen/7", gzip.compress(b"x" * (4 << 20) + b"x"),
                             {**headers, "Content-Encoding": "gzip"})
    assert status == 413, (status, content)
    assert ask(server, "PUT", "/v1/seen/7", b"x" * ((4 << 20) + 1), headers)[0] == 413
    assert ask(server, "PUT", "/v1/seen/7", b"x", {**headers, "Content-Encoding": "br"})[0] == 415


def answers(server):
    status, headers, content = ask(server, "POST", "/v1/seen/here")
    assert (status, headers["location"], content) == (201, "here", b""), (status, content)
    assert "content-type" not in headers, headers
    text = "a" * 8000
    status, headers, content = ask(server, "GET", f"/v1/any/{text}", None,
                                   {"Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip", headers
    assert json.loads(gzip.decompress(content))["tail"] == [text]
    status, headers, content = ask(server, "HEAD", "/v1/seen/7")
    assert (status, content) == (200, b"") and int(headers["content-length"]) > 0, headers


def verbs(server):
    status, headers, _ = ask(server, "PATCH", "/v1/seen/7", b"x")
    assert status == 405 and headers["allow"] == "GET, PUT, POST", (status, headers["allow"])
    assert ask(server, "PUT", "/v1/any/x", b"x")[0] == 405


def access(server):
    assert ask(server, "PUT", "/v1/seen/7", b"x")[0] == 401
    assert ask(server, "PUT", "/v1/seen/7", b"x", {"Authorization": "Bearer poor"})[0] == 403
    assert ask(server, "GET", "/v1/seen/7", None, {"Authorization": "Bearer none"})[0] == 401


def failures(server):
    status, headers, content = ask(server, "GET", "/v1/seen/7?fail=so")
    said = json.loads(content)
    assert status == 400 and said["code"] == "invalid_argument", (status, said)
    assert said["message"] == "fail: as asked: so" and said["details"], said
    assert headers["x-request-id"], headers
    for path in ("/v1/seen/%zz", "/v1/seen/%4", "/v1/seen/%ff", "/v1/seen/7?a=%", "/v1/any/x/%c3",
                 "/v1/seen/7?" + "a=1&" * 33):
        status, _, content = ask(server, "GET", path)
        assert status == 400 and json.loads(content)["code"] == "invalid_argument", (path, content)


def http2(server):
    done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "-X", "PUT", "--data-binary",
                           "@-", "-H", "Authorization: Bearer good", "-H", "Content-Type: x/y",
                           f"http://127.0.0.1:{server.port}/v1/seen/7?n=1"], input=b"body",
                          capture_output=True, timeout=tap.PATIENCE_S, check=True)
    got = json.loads(done.stdout)
    assert (got["variables"], got["body"], got["contentType"]) == (["7"], "body", "x/y"), got


def counted(server):
    _, text = server.operator("/metrics")
    for code in ("OK", "INVALID_ARGUMENT"):
        series = f'torg_rpc_requests_total{{method="GET /v1/seen/{{id}}",code="{code}"}}'
        assert series in text, series


def resources(path):
    with testd.Testd(path, auth=True) as server:
        lines.run("variables and parameters are decoded", variables, server)
        lines.run("the rest of a path is a list of parts", tail, server)
        lines.run("bodies come as they are, unpacked and bounded", bodies, server)
        lines.run("answers have status, headers and packed bodies", answers, server)
        lines.run("a verb that a path lacks is told those that it has", verbs, server)
        lines.run("access is that of calls", access, server)
        lines.run("errors are those of calls", failures, server)
        lines.run("HTTP/2 likewise", http2, server)
        lines.run("each is counted by its name", counted, server)
        testd.end(server)


def main():
    lines.scenario("resources", resources, sys.argv[1])
    lines.done()


main()
