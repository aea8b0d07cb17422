# SPDX-License-Identifier: Apache-2.0
"""photo_shop.py - files of photos, a shop's own web server of them, and a server of ours with one
seller, for tests of photos."""
import http.server
import json
import os
import pathlib
import socket
import struct
import threading
import urllib.error
import urllib.request
import zlib

from kit import tap
from kit.binary import Place, fetch

CATALOG = {"defaults": {"policy": {"photosMin": 1, "photosMax": 5, "publish": "WITH_PHOTO",
                                   "currencies": ["RUB"], "price": "REQUIRED"}},
           "categories": [{"id": "sofas", "name": {"en": "Sofas"}}]}


# --- files ---


def png(width, height, pixel=lambda x, y: (x & 255, y & 255, 128)):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)))
                    for y in range(height)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def bomb(side):
    """A picture that is small as a file and huge in memory."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = zlib.compress(b"\0" * 1024, 9)
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def turned(jpeg, orientation):
    """The same with an EXIF orientation, and a place that nobody should learn."""
    tiff = (b"II*\0\x08\0\0\0" + struct.pack("<H", 2)
            + struct.pack("<HHII", 0x0112, 3, 1, orientation)
            + struct.pack("<HHI", 0x010e, 2, 12) + struct.pack("<I", 38) + b"\0\0\0\0"
            + b"secret-place")
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg[2:]


SOFA = png(900, 600)


# --- a shop's own web server ---


class Pictures(http.server.ThreadingHTTPServer):
    """Answers with what `files` has; an int is a status, None breaks off, a str redirects."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = {}
        self.tags = {}      # of files, for those who ask whether they have changed
        self.gate = None    # an Event that answers wait for
        self.asked = []
        self.sent = []      # whole files
        self.open = set()   # connections of those who wait for an answer
        self.busy_max = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"


def has_left(connection):
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):       # pylint: disable=invalid-name
        server = self.server
        with server.lock:   # who gave up does not wait any more, and may come again
            server.open = {one for one in server.open if not has_left(one)} | {self.connection}
            server.busy_max = max(len(server.open), server.busy_max)
        server.asked.append(self.path)
        try:
            if server.gate:
                server.gate.wait(tap.PATIENCE_S)
            self.answer(server.files.get(self.path, 404))
        except OSError:
            pass                        # who asked has left
        finally:
            with server.lock:
                server.open.discard(self.connection)

    def answer(self, what):
        tag = self.server.tags.get(self.path)
        if tag and self.headers.get("If-None-Match") == tag:
            what = 304
        if what is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(what if isinstance(what, int) else 302 if isinstance(what, str) else 200)
        if isinstance(what, str):
            self.send_header("Location", what)
        if tag:
            self.send_header("ETag", tag)
        self.end_headers()
        if isinstance(what, bytes):
            self.server.sent.append(self.path)
            self.wfile.write(what)

    def log_message(self, *_):
        pass


# --- the server under test ---


class Shop(Place):
    spelling = False
    words = ("up", "--photos.fetch=true", "--photos.private_addresses=true")

    def __enter__(self):
        super().__enter__().start(*self.words)
        self.write("catalog.json", json.dumps(CATALOG))
        tap.equal(self.torg("catalog", "apply", "catalog.json").stderr, "")
        self.key = self.torg("key", "create", "shop", "--seller", "s-1", "--scope", "offers.read",
                             "--scope", "offers.write", "--scope", "photos").stdout.strip()
        return self

    def upload(self, body, key=None):
        request = urllib.request.Request(f"{self.url}/v1/photos", data=body, method="POST",
                                         headers={"Content-Type": "application/octet-stream",
                                                  "Authorization": f"Bearer {key or self.key}"})
        return fetch(request)

    def get(self, key):
        """As a stranger; None: there is none for him."""
        return self.read(f"{self.url}/v1/photos/{key}")

    def own(self, key, credential=None):
        return self.read(urllib.request.Request(
            f"{self.url}/v1/own-photos/{key}",
            headers={"Authorization": f"Bearer {credential or self.key}"}))

    def read(self, request):
        try:
            with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
                return answer.headers["content-type"], answer.read()
        except urllib.error.HTTPError as error:
            tap.equal(error.code, 404)
            return None

    def blobs(self):
        """The files of photos and uploads that are there; the sweep may take a folder away meanwhile."""
        return sorted(name.rstrip("~") for kind in ("photos", "uploads")
                      for _, _, names in os.walk(self.data / "blobs" / kind) for name in names)

    def offer(self, *addresses):
        content = {"category": "sofas", "title": "A sofa for three",
                   "price": {"amount": "1500000", "currency": "RUB"},
                   "photos": [{"sourceUrl": address} for address in addresses]}
        status, made = self.call("OfferService/CreateOffer", {"content": content}, self.key)
        tap.equal(status, 200, made)     # what was uploaded is there at once, and waits for nobody
        uploads = [one for one in addresses if one.startswith("upload:")]
        tap.equal(made["status"] == "WAITING" or bool(uploads), True, made)
        return made["id"]

    def photos(self, offer):
        got = self.call("OfferService/GetOffer", {"id": offer}, self.key)[1]
        return got["status"], got["content"]["photos"]

    def settled(self, offer, is_done=lambda photos: True):
        """When every photo has an answer, and what is asked for holds of them."""
        def done():
            status, photos = self.photos(offer)
            answered = all(one.get("state") in ("READY", "FAILED") for one in photos)
            return (status, photos) if answered and is_done(photos) else None
        return tap.wait_until(done, what="the photos")

    def children(self):
        """The decoders of this server, by their ids."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = entry.read_text().split(") ", 1)
            except OSError:
                continue
            if "(torg-darkroom" in name and int(rest.split()[1]) == self.process.pid:
                found.append(int(entry.parent.name))
        return found
