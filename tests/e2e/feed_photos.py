# SPDX-License-Identifier: Apache-2.0
"""A feed whose rows name photos by address, of several web servers: the import does not wait for them,
they follow behind, each offer is shown with its own photo, and the report tells those that could not be had.

500 rows; in the long tests 100 000. TORG_FEED_PHOTO_ROWS sets another number.
"""
import http.server
import os
import struct
import sys
import threading
import time
import zlib

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import open_sqlite  # noqa: E402
from kit.photo_shop import Shop, png  # noqa: E402

ROWS = tap.count(500, 100000, "TORG_FEED_PHOTO_ROWS")
SERVERS = 4             # each asked at its own pace
GONE = 50               # every so many-th photo is not there
SIDES = 8               # photos differ in width, so that another's is seen
BASES = [png(64 + at, 48) for at in range(SIDES)]
HEAD_SIZE = 8 + 25      # of a PNG: what stands before its first chunk of data


def width_of(number):
    return 64 + number % SIDES


def picture(number):
    """Another file for each row: the number stands in a chunk of its own."""
    base, text = BASES[number % SIDES], b"row\0%d" % number
    chunk = struct.pack(">I", len(text)) + b"tEXt" + text + struct.pack(">I", zlib.crc32(b"tEXt" + text))
    return base[:HEAD_SIZE] + chunk + base[HEAD_SIZE:]


def is_gone(number):
    return number % GONE == 0


class Files(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):       # pylint: disable=invalid-name
        number = int(self.path.strip("/").partition(".")[0])
        body = b"" if is_gone(number) else picture(number)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def feed(servers):
    yield "<yml_catalog><shop><categories><category id='1'>Sofas</category></categories><offers>\n"
    for number in range(1, ROWS + 1):
        port = servers[number % len(servers)].server_port
        yield (f"<offer id='s{number}'><name>Диван «Уют» {number}</name><price>{5000 + number}</price>"
               f"<categoryId>1</categoryId><picture>http://127.0.0.1:{port}/{number}.png</picture></offer>\n")
    yield "</offers></shop></yml_catalog>\n"


def photo_states(shop):
    """How many offers are shown, and how many wait."""
    counts = shop.call("CabinetService/GetCounts", {}, shop.key)[1]["counts"]
    found = {one["preset"]: int(one.get("count", 0)) for one in counts}
    return found.get("ACTIVE", 0), found.get("WAITING", 0)


def queue_is_empty(shop):
    with open_sqlite(f"file:{shop.data / 'store.sqlite'}?mode=ro", uri=True) as base:
        return base.execute("SELECT COUNT(*) FROM queue").fetchone()[0] == 0


@tap.test
def photos_of_a_feed_follow_behind_it():
    servers = [Files() for _ in range(SERVERS)]
    gone = ROWS // GONE
    with Shop() as shop:
        with open(shop.dir / "goods.yml", "w") as file:
            file.writelines(feed(servers))
        began = time.monotonic()
        done = shop.torg("feed", "import", "--seller", "s-1", "--quiet", "goods.yml")
        tap.equal(done.returncode, 0, done.stderr)
        imported_s = time.monotonic() - began
        shown, waiting = photo_states(shop)
        tap.equal(shown + waiting, ROWS)
        tap.comment(f"{ROWS} rows in {imported_s:.1f} s, {ROWS / imported_s:.0f} rows/s; "
                    f"{shown} of their photos were there by then")
        tap.wait_until(lambda: photo_states(shop) == (ROWS - gone, gone), 4 * tap.PATIENCE_S,
                       "every photo that is there")
        took_s = time.monotonic() - began
        tap.comment(f"all {ROWS - gone} photos {took_s - imported_s:.1f} s behind the import, "
                    f"{ROWS / took_s:.0f} photos/s")
        offers = {one["content"]["externalId"]: one
                  for one in shop.call("CabinetService/ListOffers", {"pageSize": 100}, shop.key)[1]["offers"]}
        tap.equal(len(offers) >= 50, True, "a page of them")
        for offer in offers.values():
            number, photo = int(offer["content"]["externalId"][1:]), offer["content"]["photos"][0]
            if is_gone(number):
                tap.equal((offer["status"], photo["state"]), ("WAITING", "FAILED"))
                tap.contains(photo["reason"], "HTTP status 404")
            else:
                tap.equal((offer["status"], photo["state"]), ("ACTIVE", "READY"), photo)
                tap.equal(photo["sizes"][-1]["width"], width_of(number), "its own photo")
        failed = shop.torg("feed", "report", "--seller", "s-1").stdout
        tap.equal(failed.count("HTTP status 404"), gone, "told by the report")
        tap.wait_until(lambda: queue_is_empty(shop), what="an empty queue")


tap.main()
