# SPDX-License-Identifier: Apache-2.0
"""Hostile files and addresses of photos: refused in words, in bounded memory and time, and nobody
else's photo fails by them."""
import concurrent.futures
import http.server
import os
import random
import re
import signal
import socketserver
import struct
import threading
import urllib.request
import zlib

from kit import tap
from kit.photo_shop import SOFA, Shop, bomb, png, turned

SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
FILES = tap.count(500, 500, "TORG_HOSTILE_FILES")
MEMORY_KB_MAX = 1200 << 10          # of the server, which is built with sanitizers here
CHILD_KB_MAX = 1 << 20              # as its limit says


KINDS = 8

# --- files ---


def chunk(kind, data, size=None):
    return (struct.pack(">I", len(data) if size is None else size) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def odd_png(rng):
    """Wrong sizes, chunks that unpack to much, none at all."""
    side = rng.choice((1, 31, 64, 4000, 16001, 65535, 2**31 - 1))
    head = struct.pack(">IIBBBBB", side, rng.choice((1, 64, side)), rng.choice((1, 8, 16, 77)),
                       rng.choice((0, 2, 3, 6, 9)), 0, 0, rng.choice((0, 1)))
    packed = zlib.compress(b"\0" * rng.choice((10, 1 << 20, 20 << 20)), 9)
    middle = rng.choice((chunk(b"zTXt", b"a\0\0" + packed), chunk(b"iCCP", b"a\0\0" + packed),
                         chunk(b"IDAT", packed, rng.choice((None, 0, 2**31, 2**32 - 1))),
                         chunk(b"PLTE", os.urandom(0)), b""))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + middle + chunk(b"IDAT", packed[:999])
            + chunk(b"IEND", b""))


def odd_exif(rng, jpeg):
    """Entries that lead nowhere, round in circles, or count to four billion."""
    count = rng.choice((0, 1, 5, 65535))
    tiff = rng.choice((b"II*\0", b"MM\0*", b"XX*\0")) + struct.pack("<I", rng.choice((0, 8, 2**31)))
    tiff += struct.pack("<H", count) + b"".join(
        struct.pack("<HHII", rng.choice((0x0112, 0x8769, 0x8825)), rng.randrange(16),
                    rng.choice((1, 2**32 - 1)), rng.choice((0, 8, 255, 2**32 - 1)))
        for _ in range(min(count, 50)))
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", min(len(exif) + 2, 65535)) + exif + jpeg[2:]


def gif(width, height, frames=1):
    """A GIF of one colour, whole: the codes are for a table of four, cleared before each pixel."""
    bits, size = "", 0
    for _ in range(width * height):
        bits = f"{1:03b}{4:03b}" + bits
    bits = f"{5:03b}" + bits
    data = int(bits, 2).to_bytes((len(bits) + 7) // 8, "little")
    blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255))
    image = (b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, size) + b"\x02" + blocks + b"\0")
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, 0x91, 0, 0)
            + b"\0\0\0\xff\0\0\0\xff\0\0\0\xff"
            + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0" + image * frames + b"\x3b")


def grey_png(depth, kind, interlaced):
    """Of other depths and kinds than a camera's, whole."""
    def rows(width, height):
        size = (width * depth * (2 if kind == 4 else 1) + 7) // 8
        return (b"\0" + b"\x5a" * size) * height if width else b""
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    side = 64
    data = b"".join(rows((side - x + dx - 1) // dx, (side - y + dy - 1) // dy) for x, y, dx, dy in passes) \
        if interlaced else rows(side, side)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, depth, kind, 0, 0, interlaced))
            + (chunk(b"PLTE", bytes(range(192)) * 4) if kind == 3 else b"") + chunk(b"IDAT", zlib.compress(data))
            + chunk(b"IEND", b""))


def flipped(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice((1, 5, 100))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(content)


def mended(rng, content):
    """As flipped, but in bytes that count, and a PNG's sums are right again: its chunks are believed."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 3, 8))):
        at = rng.randrange(min(len(content), 400))
        content[at:at + 4] = rng.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\xff\xff",
                                         rng.randbytes(4)))[:len(content) - at]
    at = 8
    while content.startswith(b"\x89PNG") and at + 12 <= len(content):
        end = at + 8 + int.from_bytes(content[at:at + 4], "big")
        if end + 4 > len(content):
            break
        content[end:end + 4] = struct.pack(">I", zlib.crc32(content[at + 4:end]))
        at = end + 4
    return bytes(content)


def spliced(rng, one, other):
    """The head of one, the rest of another."""
    at = rng.randrange(1, len(one))
    return one[:at] + other[rng.randrange(len(other)):] + one[at:rng.randrange(at, len(one))]


def stranger(rng):
    """Other things under the name of a picture."""
    start = rng.choice((b"%PDF-1.7\n", b"<svg xmlns='http://www.w3.org/2000/svg'>", b"<!doctype html>",
                        b"\0\0\0\x18ftypmp42", b"\0\0\0\x1cftypheic", b"\0\0\0\x1cftypavif",
                        b"\x1a\x45\xdf\xa3", b"II*\0", b"MM\0*", b"PK\x03\x04", b"\x7fELF", b"",
                        b"GIF89a", b"GIF87a\xff\xff\xff\xff", b"\xff\xd8\xff\xe0",
                        b"RIFF\xff\xff\xff\x7fWEBPVP8X", b"RIFF\x20\0\0\0WEBPVP8L"))
    return start + rng.randbytes(rng.choice((0, 10, 1000, 100000)))


# Whole files of what is taken, beside the camera's: each is uploaded as it is, too.
OTHERS = (gif(40, 40), gif(33, 50, frames=3), *[grey_png(depth, kind, interlaced) for depth, kind, interlaced in (
    (8, 0, 0), (16, 0, 1), (1, 0, 0), (8, 3, 0), (4, 3, 1), (8, 4, 0), (16, 4, 1))])


def hostile_files(rng, jpeg, webp):
    good = (SOFA, jpeg, webp, turned(jpeg, 3), *OTHERS)
    for number in range(FILES):
        kind = number % KINDS
        if kind == 6:
            yield mended(rng, rng.choice(good))
        elif kind == 7:
            yield spliced(rng, rng.choice(good), rng.choice(good))
        elif kind == 0:
            whole = rng.choice(good)
            yield whole[:rng.randrange(1, len(whole))]
        elif kind == 1:
            yield flipped(rng, rng.choice(good))
        elif kind == 2:
            yield odd_png(rng)
        elif kind == 3:
            yield odd_exif(rng, jpeg) if rng.random() < 0.7 else turned(jpeg, rng.randrange(65536))
        elif kind == 4:
            yield stranger(rng)
        else:
            yield bomb(rng.choice((7000, 8000, 16000, 30000, 60000)))


def memory_kb(process):
    """The most that it has had."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def killed(shop):
    with urllib.request.urlopen(f"{shop.operators}/metrics", timeout=tap.PATIENCE_S) as answer:
        return int(re.search(r"^torg_photos_children_killed_total\S* (\d+)$", answer.read().decode(), re.M)[1])


@tap.test
def a_decoder_that_dies_costs_nobody_his_photo():
    """One that was used before: its photo is given to the next one, whatever it died of."""
    with Shop() as shop:
        tap.equal(shop.upload(SOFA)[0], 201)
        for death in (signal.SIGSEGV, signal.SIGKILL, signal.SIGXCPU, signal.SIGSYS):
            dead = shop.children()
            tap.equal(len(dead) >= 1, True, "a decoder")
            for one in dead:
                os.kill(one, signal.SIGSTOP)    # it takes the file, and does not get on
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                sent = [pool.submit(shop.upload, png(64 + at, 70)) for at in range(4)]
                for one in dead:
                    os.kill(one, death)
                    os.kill(one, signal.SIGCONT)
                tap.equal([one.result()[0] for one in sent], [201] * 4)
            tap.equal([one for one in shop.children() if one in dead], [], "replaced")
        tap.equal(killed(shop), 0, "none of them by a file")


@tap.beside
def a_decoder_that_takes_too_long_is_replaced():
    with Shop() as shop:
        tap.equal(shop.upload(SOFA)[0], 201)
        stopped = shop.children()[0]
        os.kill(stopped, signal.SIGSTOP)
        tap.equal(shop.upload(png(70, 70))[0], 201, "by the next one")
        tap.equal((killed(shop), stopped in shop.children()), (1, False), "killed and counted")
        tap.equal(shop.upload(png(71, 70))[0], 201)


@tap.test
def hostile_files_are_refused_in_words():
    rng = random.Random(SEED)
    with Shop() as shop:
        sizes = shop.upload(SOFA)[1]["sizes"]
        for number, whole in enumerate(OTHERS):
            status, answer = shop.upload(whole)
            tap.equal(status, 201, f"whole file {number}: {answer}")
        files = list(hostile_files(rng, shop.own(sizes[4]["key"])[1], shop.own(sizes[5]["key"])[1]))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(shop.upload, files))
        taken = 0
        for number, (status, answer) in enumerate(answers):
            if status == 201:           # a flipped bit, or a tag that means nothing
                taken += 1
                continue
            tap.equal((status, answer.get("code")), (400, "invalid_argument"),
                      f"file {number} of seed {SEED}, kind {number % KINDS}: {answer}")
            tap.equal(answer["message"] != "", True)
        tap.comment(f"seed {SEED}: {len(files)} files, {taken} of them pictures after all; "
                    f"server {memory_kb(shop.process.pid) >> 10} MB at the most")
        tap.equal(memory_kb(shop.process.pid) < MEMORY_KB_MAX, True, "memory of the server")
        tap.comment(f"{killed(shop)} decoders were killed")
        for child in shop.children():
            tap.equal(memory_kb(child) < CHILD_KB_MAX, True, "memory of a decoder")
        tap.equal(shop.upload(png(200, 100))[0], 201, "and a photo is taken as before")
        tap.equal(shop.ended(), False)


# --- addresses ---


class Evil(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Trap)
        self.done = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"


class Trap(http.server.BaseHTTPRequestHandler):
    def do_GET(self):       # pylint: disable=invalid-name
        try:
            getattr(self, self.path[1:].split("/")[0])()
        except OSError:
            pass                        # who asked has had enough

    def head(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def endless(self):
        self.head(200)
        self.wfile.write(SOFA)
        while not self.server.done.is_set():
            self.wfile.write(b"\0" * 65536)

    def drip(self):
        self.head(200, Content_Length=str(len(SOFA)))
        for byte in SOFA:
            self.wfile.write(bytes([byte]))
            if self.server.done.wait(0.5):
                return

    def silent(self):
        self.server.done.wait(tap.PATIENCE_S)

    def huge(self):
        self.head(200, Content_Length=str(1 << 40))
        self.wfile.write(SOFA)

    def loop(self):
        self.head(302, Location="/loop/" + self.path.rsplit("/", 1)[-1] + "x")

    def elsewhere(self):
        self.head(302, Location="file:///etc/passwd")

    def gopher(self):
        self.head(302, Location=f"gopher://127.0.0.1:{self.server.server_port}/_x")

    def log_message(self, *_):
        pass


PRIVATE = ("127.0.0.1", "127.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1",
           "169.254.169.254", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1",
           "255.255.255.255", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "[::1]", "[::]",
           "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[ff02::1]", "[::ffff:127.0.0.1]",
           "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]")


@tap.test
def private_addresses_of_both_families_are_refused():
    class Careful(Shop):
        words = ("up", "--photos.fetch=true")

    with Careful() as shop:
        offers = [shop.offer(*[f"http://{one}:9/{at}" for one in PRIVATE[at:at + 5]])
                  for at in range(0, len(PRIVATE), 5)]
        for offer in offers:
            status, photos = shop.settled(offer)
            tap.equal(status, "WAITING")
            for one in photos:
                tap.equal(one["state"], "FAILED", one["sourceUrl"])
                tap.contains(one["reason"], "not one of the public internet")


@tap.beside
def traps_cost_their_own_photo_alone():
    evil = Evil()
    with Shop() as shop:
        names = ("endless", "huge", "loop/", "elsewhere", "gopher")
        offer = shop.offer(*[evil.address(f"/{one}") for one in names])
        slow = shop.offer(evil.address("/drip"), evil.address("/silent"))
        # What a busy machine has not read in time is tried again.
        _, photos = shop.settled(offer, lambda photos: all(
            "larger than 16 MB" in one.get("reason", "") for one in photos[:2]))
        tap.equal([one["state"] for one in photos], ["FAILED"] * len(names))
        for one in photos[2:]:
            tap.equal(one["reason"] != "", True, one["sourceUrl"])
        good = shop.upload(SOFA)[1]
        tap.equal(shop.settled(shop.offer(good["sourceUrl"]))[0], "ACTIVE")
        _, photos = shop.settled(slow)
        for one in photos:
            tap.contains(one["reason"], "it is tried again")
        tap.equal(memory_kb(shop.process.pid) < MEMORY_KB_MAX, True, "memory of the server")
        evil.done.set()


tap.main()
