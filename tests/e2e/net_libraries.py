# SPDX-License-Identifier: Apache-2.0
"""Libraries that nobody here wrote against testd: connect-go, connect-node, connect-web, grpc-web.

The last two run in Chromium, on a page of another origin: browsers' own rules (CORS) hold there.
"""
import functools
import http.server
import os
import pathlib
import shutil
import tempfile
import threading
import urllib.parse

from kit import tap
from kit.browser import Browser
from kit.nettest import Testd

TOP = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = TOP / "tests/clients/node"
ENDED = "all went well"


def modules():
    """Folder of the packages that tools/fetch-test-tools has fetched."""
    path = pathlib.Path(os.environ.get("TORG_CACHE", "")) / "node/node_modules"
    if path.is_dir():
        return path
    if os.environ.get("TORG_REQUIRE"):
        raise AssertionError("the JavaScript clients are missing: ./dev setup --test fetches them")
    raise tap.Skip("NO JAVASCRIPT CLIENTS: connect-node, connect-web and grpc-web are not tested")


def make_types(place):
    """The descriptor set that clients read their messages from."""
    made = tap.run(tap.tool("protoc"), "--include_imports", f"--descriptor_set_out={place}/types",
                   "-I", TOP / "tests/proto", "-I", TOP / "proto", "-I", "/usr/include",
                   "echo.proto", "google/rpc/error_details.proto")
    tap.equal(made.returncode, 0, made.stderr)
    return f"{place}/types"


def url(server):
    return f"http://127.0.0.1:{server.port}"


@tap.test
def connect_go_speaks_all_protocols():
    with Testd() as server, Testd("--auth") as closed:
        got = tap.run(tap.tool("connect-go-client"), url(server), url(closed))
        tap.equal((got.returncode, got.stdout.splitlines()[-1]), (0, ENDED), got.stdout + got.stderr)


@tap.test
def connect_node_speaks_all_protocols():
    packages = modules()
    with tempfile.TemporaryDirectory() as place, Testd() as server, Testd("--auth") as closed:
        for name in ("cases.mjs", "node.mjs"):
            shutil.copy(CLIENTS / name, place)
        os.symlink(packages, f"{place}/node_modules")
        got = tap.run(tap.tool("node"), f"{place}/node.mjs", make_types(place), url(server), url(closed))
        tap.equal((got.returncode, (got.stdout.splitlines() or [""])[-1]), (0, ENDED),
                  got.stdout + got.stderr)


class Files(http.server.BaseHTTPRequestHandler):
    """The page's own server: its files, the packages and the types."""

    def __init__(self, packages, types, *arguments):
        self.packages, self.types = packages, types
        super().__init__(*arguments)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        file = CLIENTS / path[1:]
        if path == "/types":
            file = pathlib.Path(self.types)
        elif path.startswith("/modules/"):
            file = self.packages / path.removeprefix("/modules/")
        kind = {".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript"}
        if not file.is_file():
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", kind.get(file.suffix, "application/octet-stream"))
        self.end_headers()
        self.wfile.write(file.read_bytes())

    def log_message(self, *_):
        pass


@tap.test
def libraries_work_in_a_browser_on_a_page_of_another_origin():
    packages = modules()
    with tempfile.TemporaryDirectory() as place, \
            http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(
                Files, packages, make_types(place))) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{files.server_port}"
        with Testd("--cors", origin) as server, Testd("--auth", "--cors", origin) as closed, \
                Browser() as browser:
            page = browser.page(f"{origin}/page.html?" + urllib.parse.urlencode(
                {"server": url(server), "closed": url(closed)}))
            page.wait("said.some((line) => line == 'all went well' || line.startsWith('FAILED'))",
                      "the clients")
            said = page.js("said")
            tap.equal(said[-1], ENDED, f"{said} {page.errors}")
            for name in ("connect-web, binary true", "connect-web, gRPC-Web", "grpc-web, text"):
                assert any(name in line for line in said), said
            page.call("Page.close")
        files.shutdown()


@tap.test
def browsers_keep_pages_out_that_are_not_named():
    packages = modules()
    with tempfile.TemporaryDirectory() as place, \
            http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(
                Files, packages, make_types(place))) as files:
        threading.Thread(target=files.serve_forever, daemon=True).start()
        with Testd("--cors", "https://shop.example") as server, Browser() as browser:
            page = browser.page(f"http://127.0.0.1:{files.server_port}/page.html")
            failed = page.js(f"fetch('{url(server)}/').then(() => 'read', (error) => error.name)")
            tap.equal(failed, "TypeError")
        files.shutdown()


tap.main()
