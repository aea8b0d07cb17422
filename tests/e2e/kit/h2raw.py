# SPDX-License-Identifier: Apache-2.0
"""h2raw.py - HTTP/2 by hand: a client that may send any frame, right or wrong.

A real library would refuse to send what the hostile tests need to send. Headers are written
as HPACK literals without index or Huffman code (so a test says byte for byte what goes out) and
read with the full decoder. One connection, one thread.
"""
import socket
import struct
import time

from kit import tap

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS = 0, 1, 2, 3, 4
PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 5, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8

NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = 0, 1, 2, 3
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL = 5, 6, 7, 8
COMPRESSION_ERROR, ENHANCE_YOUR_CALM = 9, 11

HEADER_TABLE_SIZE, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 1, 3, 4
MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = 5, 6

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

STATIC = """:authority|;:method|GET;:method|POST;:path|/;:path|/index.html;:scheme|http;:scheme|https
:status|200;:status|204;:status|206;:status|304;:status|400;:status|404;:status|500
accept-charset|;accept-encoding|gzip, deflate;accept-language|;accept-ranges|;accept|
access-control-allow-origin|;age|;allow|;authorization|;cache-control|;content-disposition|
content-encoding|;content-language|;content-length|;content-location|;content-range|;content-type|
cookie|;date|;etag|;expect|;expires|;from|;host|;if-match|;if-modified-since|;if-none-match|
if-range|;if-unmodified-since|;last-modified|;link|;location|;max-forwards|;proxy-authenticate|
proxy-authorization|;range|;referer|;refresh|;retry-after|;server|;set-cookie|
strict-transport-security|;transfer-encoding|;user-agent|;vary|;via|;www-authenticate|"""
STATIC = [tuple(entry.encode().split(b"|")) for entry in STATIC.replace("\n", ";").split(";")]

# HPACK's Huffman code is canonical: the code lengths of the 256 bytes ('A' = 5 bits) say it all.
HUFFMAN_LENGTHS = (
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHF"
    "IBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJIX"
    "PRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRS"
    "VVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWV")


def _huffman_codes():
    codes = {}
    code = 0
    length = 0
    for size, symbol in sorted((ord(letter) - 60, at) for at, letter in enumerate(HUFFMAN_LENGTHS)):
        code <<= size - length
        length = size
        codes[size, code] = symbol
        code += 1
    return codes


HUFFMAN = _huffman_codes()


def huffman_decode(data):
    out = bytearray()
    code = size = 0
    for byte in data:
        for bit in range(7, -1, -1):
            code = code << 1 | (byte >> bit & 1)
            size += 1
            symbol = HUFFMAN.get((size, code))
            if symbol is not None:
                out.append(symbol)
                code = size = 0
    assert size < 8 and code == (1 << size) - 1, "bad Huffman padding"
    return bytes(out)


def hpack_integer(value, prefix_bits, first=0):
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    out = bytearray([first | limit])
    value -= limit
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def hpack_literal(name, value, first=0):
    """One header as a literal; first=0x40 also puts it into the peer's dynamic table."""
    name, value = _octets(name), _octets(value)
    return (bytes([first]) + hpack_integer(len(name), 7) + name +
            hpack_integer(len(value), 7) + value)


def hpack(headers):
    return b"".join(hpack_literal(name, value) for name, value in headers)


def _octets(text):
    return text.encode() if isinstance(text, str) else text


class HpackDecoder:
    def __init__(self):
        self.table = []
        self.size_max = 4096

    def _integer(self, data, at, prefix_bits):
        limit = (1 << prefix_bits) - 1
        value = data[at] & limit
        at += 1
        if value < limit:
            return value, at
        shift = 0
        while True:
            value += (data[at] & 127) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 128:
                return value, at

    def _string(self, data, at):
        packed = data[at] & 128
        size, at = self._integer(data, at, 7)
        text = data[at:at + size]
        assert len(text) == size, "header block is cut"
        return huffman_decode(text) if packed else text, at + size

    def _entry(self, index):
        return STATIC[index - 1] if index <= len(STATIC) else self.table[index - len(STATIC) - 1]

    def _evict(self):
        while sum(len(n) + len(v) + 32 for n, v in self.table) > self.size_max:
            self.table.pop()

    def decode(self, data):
        headers = []
        at = 0
        while at < len(data):
            first = data[at]
            if first & 0x80:
                index, at = self._integer(data, at, 7)
                headers.append(self._entry(index))
                continue
            if first & 0xe0 == 0x20:
                self.size_max, at = self._integer(data, at, 5)
                self._evict()
                continue
            index, at = self._integer(data, at, 6 if first & 0x40 else 4)
            if index:
                name = self._entry(index)[0]
            else:
                name, at = self._string(data, at)
            value, at = self._string(data, at)
            headers.append((name, value))
            if first & 0x40:
                self.table.insert(0, (name, value))
                self._evict()
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


class Closed(Exception):
    """The server has closed the connection."""


class Frame:
    def __init__(self, kind, flags, stream, payload):
        self.kind, self.flags, self.stream, self.payload = kind, flags, stream, payload

    @property
    def code(self):
        """Error code of RST_STREAM or GOAWAY."""
        return struct.unpack(">I", self.payload[4:8] if self.kind == GOAWAY else self.payload[:4])[0]

    def __repr__(self):
        return f"frame {self.kind} flags {self.flags:#x} stream {self.stream} {self.payload[:40]!r}"


def frame(kind, flags=0, stream=0, payload=b""):
    payload = _octets(payload)
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", name, value) for name, value in pairs))


class Reply:
    def __init__(self):
        self.headers = {}
        self.trailers = {}
        self.body = b""
        self.reset = None   # error code of RST_STREAM
        self.goaway = None  # error code when the connection ended
        self.closed = False

    @property
    def status(self):
        return int(self.headers.get(":status", 0))

    @property
    def grpc_status(self):
        text = self.trailers.get("grpc-status", self.headers.get("grpc-status"))
        return None if text is None else int(text)

    @property
    def grpc_message(self):
        return self.trailers.get("grpc-message", self.headers.get("grpc-message", ""))

    @property
    def messages(self):
        """The gRPC messages in the body."""
        found = []
        rest = self.body
        while rest:
            size = struct.unpack(">I", rest[1:5])[0]
            found.append(rest[5:5 + size])
            rest = rest[5 + size:]
        return found

    def __repr__(self):
        return (f"status {self.status} grpc {self.grpc_status} {self.grpc_message!r} "
                f"reset {self.reset} goaway {self.goaway} closed {self.closed} body {self.body[:200]!r}")


class Connection:
    """A connected client. With hello, settings are exchanged and ours are acknowledged."""

    def __init__(self, port, tls=None, pairs=(), hello=True, timeout=tap.PATIENCE_S,
                 source="127.0.0.1"):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=timeout,
                                             source_address=(source, 0))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname="localhost")
        self.timeout = timeout
        self.input = b""
        self.decoder = HpackDecoder()
        self.next_stream = 1
        self.peer = {}
        self.scheme = "https" if tls else "http"
        self.replenish = True
        self.goaway = False    # it was told to go elsewhere
        if hello:
            self.send(PREFACE + settings(*pairs))
            while True:
                got = self.read()
                if got.kind == SETTINGS and not got.flags & ACK:
                    break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, data):
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as gone:
            raise Closed(str(gone)) from gone

    def send_frame(self, kind, flags=0, stream=0, payload=b""):
        self.send(frame(kind, flags, stream, payload))

    def _fill(self, size, deadline):
        while len(self.input) < size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no frame within the time")
            self.sock.settimeout(left)
            try:
                data = self.sock.recv(1 << 16)
            except ConnectionResetError as gone:
                raise Closed("reset") from gone
            finally:
                self.sock.settimeout(self.timeout)
            if not data:
                raise Closed("end of stream")
            self.input += data

    def read(self, timeout=None):
        """The next frame; settings are noted and acknowledged on the way."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        self._fill(9, deadline)
        size = int.from_bytes(self.input[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", self.input[3:9])
        self._fill(9 + size, deadline)
        got = Frame(kind, flags, stream & 0x7fffffff, self.input[9:9 + size])
        self.input = self.input[9 + size:]
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, size, 6):
                name, value = struct.unpack(">HI", got.payload[at:at + 6])
                self.peer[name] = value
            self.send_frame(SETTINGS, ACK)
        return got

    def ping(self):
        """Until the server has looked at all that was sent before; what it says meanwhile is lost."""
        self.send_frame(PING, 0, 0, b"all seen")
        while True:
            got = self.read()
            if got.kind == HEADERS:
                self.decoder.decode(got.payload)    # it has a memory
            elif got.kind == PING and got.flags & ACK:
                return

    def request_headers(self, path, content_type="application/grpc", method="POST", extra=()):
        headers = [(":method", method), (":scheme", self.scheme), (":path", path),
                   (":authority", "localhost")]
        if content_type:
            headers.append(("content-type", content_type))
        if content_type and content_type.startswith("application/grpc"):
            headers.append(("te", "trailers"))
        return headers + list(extra)

    def open(self, headers, end=False):
        """Sends HEADERS (raw bytes or pairs) on a new stream and gives the stream's number."""
        stream = self.next_stream
        self.next_stream += 2
        block = headers if isinstance(headers, bytes) else hpack(headers)
        self.send_frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)
        return stream

    def send_body(self, stream, body, end=True):
        """DATA frames of at most 16 KB; the server's window is the caller's business."""
        for at in range(0, len(body), 16384) or [0]:
            last = at + 16384 >= len(body)
            self.send_frame(DATA, END_STREAM if end and last else 0, stream, body[at:at + 16384])

    def call(self, path, body=b"", content_type="application/grpc", extra=(), timeout=None,
             method="POST"):
        """One whole exchange."""
        headers = self.request_headers(path, content_type, method, extra)
        try:
            stream = self.open(headers, end=not body)
            if body:
                self.send_body(stream, body)
        except Closed:
            stream = self.next_stream - 2
        return self.reply(stream, timeout)

    def reply(self, stream, timeout=None):
        """Reads until the stream ends, one way or another."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        reply = Reply()
        block = b""
        while True:
            try:
                got = self.read(deadline - time.monotonic())
            except Closed:
                reply.closed = True
                return reply
            if got.kind == GOAWAY:
                reply.goaway = got.code
                self.goaway = True
                continue
            if got.stream != stream:
                continue
            if got.kind == RST_STREAM:
                reply.reset = got.code
                return reply
            if got.kind in (HEADERS, CONTINUATION):
                block += got.payload
                if got.flags & END_HEADERS:
                    part = dict(self.decoder.decode(block))
                    block = b""
                    if reply.headers:
                        reply.trailers = part
                    else:
                        reply.headers = part
            if got.kind == DATA:
                reply.body += got.payload
                if got.payload and self.replenish and not got.flags & END_STREAM:
                    grant = struct.pack(">I", len(got.payload))
                    self.send(frame(WINDOW_UPDATE, 0, 0, grant) +
                              frame(WINDOW_UPDATE, 0, stream, grant))
            if got.kind in (HEADERS, DATA) and got.flags & END_STREAM:
                return reply

    def wait_end(self, timeout=tap.PATIENCE_S):
        """Reads on until the server ends the connection; gives GOAWAY's code, None without one."""
        deadline = time.monotonic() + timeout
        code = None
        while True:
            try:
                got = self.read(max(deadline - time.monotonic(), 0))
            except Closed:
                return code
            if got.kind == GOAWAY:
                code = got.code


def grpc_message(payload, flag=0, size=None):
    """A length-prefixed message; size lies about the length."""
    return struct.pack(">BI", flag, len(payload) if size is None else size) + payload


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field_bytes(number, payload):
    payload = _octets(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def field_int(number, value):
    return varint(number << 3) + varint(value)


def parse_message(data):
    """Field number -> list of values, of one flat protobuf message."""
    fields = {}
    at = 0

    def integer():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 128:
                return value

    while at < len(data):
        key = integer()
        if key & 7 == 0:
            value = integer()
        elif key & 7 == 2:
            size = integer()
            value = data[at:at + size]
            at += size
        else:
            size = 8 if key & 7 == 1 else 4
            value = data[at:at + size]
            at += size
        fields.setdefault(key >> 3, []).append(value)
    return fields
