# SPDX-License-Identifier: Apache-2.0
"""What the e2e tests of net/ share: the test server, raw HTTP/1.1 and HTTP/2 clients.

The first argument of a test program is the path of testd; the others pick tests.
"""
import http.client
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile

from kit import tap

SERVICE = "/torg.test.v1.EchoService/"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = (
    0, 1, 2, 3, 4, 6, 7, 8, 9)
ENHANCE_YOUR_CALM = 11
# A client that a busy machine holds up is not cut off: tests of these limits set them themselves.
PATIENT = [word for flag in ("head-timeout", "body-grace", "idle-timeout", "stall-timeout")
           for word in (f"--{flag}-ms", "600000")]


TESTD = sys.argv.pop(1)


class Testd:
    """The server under test: `with Testd("--auth") as server`."""

    def __init__(self, *options):
        # Freed memory that a sanitizer keeps back would be measured as used.
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
                       ":quarantine_size_mb=4:thread_local_quarantine_size_kb=64"}
        self.log = tempfile.TemporaryFile("a+")  # appended to: reading it moves no writer
        self.process = subprocess.Popen([TESTD, *PATIENT, *options], stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, env=environment)
        line = self.process.stdout.readline()
        assert line, "testd did not start: " + self.log_text()
        ports = json.loads(line)
        self.port, self.operator_port = ports["port"], ports["operator_port"]

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        code, errors = self.stop()
        if kind is None:
            assert code == 0, f"testd ended with {code}: {errors}"
        else:
            tap.comment(f"testd ended with {code}: {errors}")

    def stop(self):
        self.process.terminate()
        return self.wait()

    def wait(self):
        try:
            self.process.communicate(timeout=tap.PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError("testd did not end: " + self.log_text())
        return self.process.returncode, self.log_text()

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for_sleepers(self, count):
        """Until that many calls of Sleep have begun since the start."""
        tap.wait_until(lambda: self.log_text().count("sleep began") >= count, what="a call")

    def wait_for_cancelled(self, count):
        """Until that many calls of Sleep have been cancelled since the start."""
        tap.wait_until(lambda: self.log_text().count("sleep was cancelled") >= count, what="its end")

    def memory_kb(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def url(self, method, scheme="http"):
        return f"{scheme}://127.0.0.1:{self.port}{SERVICE}{method}"

    def connect(self, timeout=tap.PATIENCE_S):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def post(self, method, body, **headers):
        """JSON over HTTP/1.1 on a fresh connection: status, headers, decoded body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=tap.PATIENCE_S)
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        connection.request("POST", SERVICE + method, body, {
            "content-type": "application/json",
            **{name.replace("_", "-"): value for name, value in headers.items()}})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, json.loads(content)

    def is_well(self):
        """An honest client is served."""
        status, _, body = self.post("Echo", {"text": "still here"})
        assert (status, body.get("text")) == (200, "still here"), (status, body)

    def raw(self, request, timeout=tap.PATIENCE_S):
        """Sends bytes, returns everything until the server closes; it may have heard enough before the end."""
        with self.connect(timeout) as connection:
            try:
                connection.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(connection)

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.operator_port, timeout=tap.PATIENCE_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        return next((float(line.split()[1]) for line in text.splitlines()
                     if line.startswith(name + " ")), 0.0)


def read_all(connection):
    parts = []
    try:
        while True:
            part = connection.recv(65536)
            if not part:
                break
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


# --- HTTP/2 by hand ---

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header_block(headers):
    """HPACK literals, never indexed, no Huffman code."""
    block = b""
    for name, value in headers:
        block += b"\x10" + hpack_text(name) + hpack_text(value)
    return block


def hpack_text(text):
    size, data = len(text), text.encode()
    if size < 127:
        return bytes([size]) + data
    size -= 127
    head = b"\x7f"
    while size >= 128:
        head += bytes([size & 127 | 128])
        size >>= 7
    return head + bytes([size]) + data


def request_headers(method, *more, kind="application/grpc"):
    return header_block([(":method", "POST"), (":scheme", "http"), (":path", SERVICE + method),
                         (":authority", "test"), ("content-type", kind), ("te", "trailers"), *more])


def message(payload):
    return b"\0" + struct.pack(">I", len(payload)) + payload


class Http2:
    PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    def __init__(self, server, settings=b""):
        self.socket = server.connect()
        self.buffer = b""
        self.socket.sendall(self.PREFACE + frame(SETTINGS, 0, 0, settings))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """Sends what the server takes; true while it does."""
        try:
            self.socket.sendall(data)
            return True
        except (BrokenPipeError, ConnectionResetError):
            return False

    def read_frame(self):
        """(kind, flags, stream, payload), or None at the end."""
        while len(self.buffer) < 9 or len(self.buffer) < 9 + self.size():
            try:
                part = self.socket.recv(65536)
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            self.buffer += part
        size = self.size()
        kind, flags, stream = struct.unpack(">BBI", self.buffer[3:9])
        payload, self.buffer = self.buffer[9:9 + size], self.buffer[9 + size:]
        return kind, flags, stream, payload

    def size(self):
        return int.from_bytes(self.buffer[:3], "big")

    def frames(self):
        while True:
            got = self.read_frame()
            if got is None:
                return
            yield got

    def goaway(self):
        """The code of the GOAWAY that ends the connection; None when it ends without one."""
        code = None
        for kind, _, _, payload in self.frames():
            if kind == GOAWAY:
                code = struct.unpack(">I", payload[4:8])[0]
        return code
