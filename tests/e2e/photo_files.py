# SPDX-License-Identifier: Apache-2.0
"""Photos from their files to buyers: uploaded or fetched, decoded in a confined process, scaled, told
to the offer; and whatever else sellers and their servers send."""
import base64
import os
import pathlib
import shutil
import signal
import sys

from kit import tap
from kit.binary import TORG
from kit.photo_shop import SOFA, Pictures, Shop, bomb, png, turned


# --- the ordinary way ---


@tap.test
def an_upload_becomes_sizes_and_the_offer_is_shown():
    with Shop() as shop:
        status, photo = shop.upload(SOFA)
        tap.equal(status, 201, photo)
        tap.equal([(one["width"], one["height"], one["key"].rsplit(".")[-1])
                   for one in photo["sizes"]],
                  [(240, 160, "jpg"), (240, 160, "webp"), (640, 427, "jpg"), (640, 427, "webp"),
                   (900, 600, "jpg"), (900, 600, "webp")])
        tap.equal(len(base64.b64decode(photo["preview"])), 25, "cells of a preview")
        for one in photo["sizes"]:
            kind, body = shop.own(one["key"])
            tap.equal((kind, len(body)), (f"image/{'webp' if 'webp' in one['key'] else 'jpeg'}",
                                          one["size"]))
        offer = shop.offer(photo["sourceUrl"])
        status, photos = shop.settled(offer)
        tap.equal((status, photos[0]["state"], photos[0]["sizes"]),
                  ("ACTIVE", "READY", photo["sizes"]))
        tap.equal(photos[0]["preview"], photo["preview"])
        tap.equal(shop.upload(SOFA)[1], photo, "the same file is the same photo")
        found = tap.wait_until(lambda: shop.answered("SearchService/SearchOffers", {"text": "sofa"})[1]
                               .get("offers"), what="the offer in the search")
        tap.equal([found[0][name] for name in ("photo", "photoWidth", "photoHeight", "photoPreview")],
                  [photo["sizes"][0]["key"], 240, 160, photo["preview"]])
        tap.equal(shop.stop(), 0)


@tap.test
def colours_stay_what_they_are():
    """A picture without a profile is sRGB: pure colours most of all are not moved by the way to it."""
    with Shop() as shop:
        for colour in ((30, 30, 220), (220, 30, 30), (20, 180, 60), (128, 128, 128)):
            status, photo = shop.upload(png(300, 200, lambda x, y, colour=colour: colour))
            tap.equal(status, 201, photo)
            cell = int.from_bytes(base64.b64decode(photo["preview"])[1:3], "big")
            got = ((cell >> 11) * 255 // 31, (cell >> 5 & 63) * 255 // 63, (cell & 31) * 255 // 31)
            tap.equal([one for one, other in zip(got, colour) if abs(one - other) > 10], [], (got, colour))


@tap.test
def an_address_is_fetched():
    pictures = Pictures()
    pictures.files = {"/a.png": SOFA, "/moved": "/a.png", "/page": b"<!doctype html><p>hello"}
    with Shop() as shop:
        offer = shop.offer(pictures.address("/moved"), pictures.address("/gone"),
                           pictures.address("/page"))
        status, photos = shop.settled(offer, lambda photos: not any(
            "it is tried again" in one.get("reason", "") for one in photos))
        tap.equal((status, [one["state"] for one in photos]),
                  ("ACTIVE", ["READY", "FAILED", "FAILED"]))
        tap.contains(photos[1]["reason"], "HTTP status 404")
        tap.contains(photos[2]["reason"], "a web page, not a picture")
        tap.wait_until(lambda: "photo-fetch" not in shop.torg("parked", "list").stdout,
                       what="nothing is parked")


@tap.test
def a_silent_server_is_asked_again():
    pictures = Pictures()
    pictures.files = {"/a.png": None}
    with Shop() as shop:
        offer = shop.offer(pictures.address("/a.png"))
        _, photos = shop.settled(offer)
        tap.equal(photos[0]["state"], "FAILED")
        tap.contains(photos[0]["reason"], "it is tried again")
        tap.wait_until(lambda: "photo-fetch" in shop.torg("parked", "list").stdout,
                       what="the parked request")
        pictures.files = {"/a.png": SOFA}
        status, _ = shop.settled(offer, lambda photos: photos[0]["state"] == "READY")
        tap.equal(status, "ACTIVE")
        tap.wait_until(lambda: "photo-fetch" not in shop.torg("parked", "list").stdout,
                       what="the end of the parked request")


@tap.test
def a_kill_in_the_middle_loses_no_photo():
    pictures = Pictures()
    pictures.files = {f"/{n}.png": png(64 + n, 64) for n in range(20)}
    with Shop() as shop:
        offers = [shop.offer(pictures.address(f"/{n}.png")) for n in range(20)]
        tap.wait_until(lambda: len(pictures.asked) >= 5, what="some of them asked for")
        shop.process.kill()
        shop.process.wait()
        shop.start(*shop.words)
        for offer in offers:    # what a busy machine could not fetch in time is tried again
            status, _ = shop.settled(offer, lambda photos: photos[0]["state"] == "READY")
            tap.equal(status, "ACTIVE")


# --- what strangers send ---


@tap.test
def other_files_are_refused_in_words():
    with Shop() as shop:
        jpeg = shop.own(shop.upload(SOFA)[1]["sizes"][4]["key"])[1]
        for body, words in [
                (b"", "empty"), (b"hello", "not a picture"), (SOFA[:2000], "damaged or cut short"),
                (jpeg[:len(jpeg) // 2], "damaged or cut short"),
                (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"), (b"%PDF-1.7", "PDF"),
                (b"\0\0\0\x18ftypmp42" + b"\0" * 100, "video"),
                (b"\0\0\0\x18ftypheic" + b"\0" * 100, "HEIC"), (b"II*\0" + b"\0" * 99, "TIFF"),
                (png(31, 100), "at least 32"), (bomb(8000), "50 million"),
                (bomb(30000), "16000 on a side"), (bomb(7000), "damaged or cut short"),
                (b"GIF89a" + b"\xff" * 200, "picture"), (b"\xff\xd8\xff" + b"\xff" * 5000, "picture"),
                (b"RIFF\x20\0\0\0WEBPVP8 " + b"\x7f" * 64, "picture")]:
            status, answer = shop.upload(body)
            tap.equal((status, answer.get("code")), (400, "invalid_argument"), str(body[:20]))
            tap.contains(answer["message"], words)
        tap.equal(shop.upload(b"x" * ((16 << 20) + 1))[0], 413)
        poor = shop.torg("key", "create", "poor", "--scope", "search").stdout.strip()
        tap.equal((shop.upload(SOFA, poor)[0], shop.upload(SOFA, "none")[0]), (403, 401))
        tap.equal(shop.upload(SOFA)[0], 201, "and a photo is taken as before")
        tap.equal(shop.ended(), False)


@tap.test
def a_photo_is_turned_upright_and_tells_no_place():
    with Shop() as shop:
        jpeg = shop.own(shop.upload(SOFA)[1]["sizes"][4]["key"])[1]
        status, photo = shop.upload(turned(jpeg, 6))
        tap.equal(status, 201, photo)
        tap.equal((photo["sizes"][-1]["width"], photo["sizes"][-1]["height"]), (600, 900))
        for one in photo["sizes"]:
            body = shop.own(one["key"])[1]
            tap.equal(b"secret-place" in body, False, one["key"])


@tap.test
def a_decoder_that_dies_is_replaced():
    with Shop() as shop:
        tap.equal(shop.upload(SOFA)[0], 201)
        first = shop.children()
        tap.equal(len(first), 1, "decoders")
        os.kill(first[0], signal.SIGKILL)
        status, answer = shop.upload(png(100, 100))
        tap.equal(status, 201, answer)
        tap.equal([one for one in shop.children() if one in first], [])
        opened = {os.readlink(one) for one in
                  pathlib.Path(f"/proc/{shop.children()[0]}/fd").iterdir()}
        tap.equal([one for one in opened if not one.startswith(("socket:", "/dev/null"))], [])
        limits = pathlib.Path(f"/proc/{shop.children()[0]}/status").read_text()
        tap.contains(limits, "Seccomp:\t2")
        tap.contains(limits, "NoNewPrivs:\t1")


class Clumsy(Shop):
    """Its decoders die of the first file they get, as often as is said."""

    def start(self, *words):
        place = self.dir / "bin"
        place.mkdir()
        shutil.copy(TORG, place / "torg")       # which takes the decoder beside it
        (place / "torg-darkroom").write_text(
            f"#!{sys.executable} -IS\nimport os\n"
            f"with open({str(self.dir / 'deaths')!r}, 'r+') as file:\n"
            f"    left = int(file.read())\n    file.seek(0)\n    file.write(str(max(left - 1, 0)))\n"
            f"if left:\n    os.write(1, b'r')\n    os.read(0, 8)\n    os._exit(1)\n"
            f"os.execv({str(pathlib.Path(TORG).parent / 'torg-darkroom')!r}, ['torg-darkroom'])\n")
        (place / "torg-darkroom").chmod(0o755)
        self.options["executable"] = str(place / "torg")
        (self.dir / "deaths").write_text("0")
        return super().start(*words)

    def die(self, times):
        for decoder in self.children():
            os.kill(decoder, signal.SIGKILL)
        (self.dir / "deaths").write_text(str(times))


@tap.test
def a_file_is_not_blamed_for_one_death_of_its_decoder():
    pictures = Pictures()
    pictures.files = {"/a.png": SOFA, "/b.png": png(80, 80)}
    with Clumsy() as shop:
        shop.die(2)
        status, photos = shop.settled(shop.offer(pictures.address("/a.png")),
                                      lambda photos: photos[0]["state"] == "READY")
        tap.equal(status, "ACTIVE", photos)
        shop.die(3)
        _, photos = shop.settled(shop.offer(pictures.address("/b.png")),
                                 lambda photos: "it is tried again" not in photos[0].get("reason", ""))
        tap.equal(photos[0]["reason"], "the picture cannot be decoded: it is damaged, or too much for memory")
        shop.die(1)
        status, answer = shop.upload(png(81, 80))
        tap.equal(status, 201, answer)
        shop.die(2)
        status, answer = shop.upload(png(82, 80))
        tap.equal(status, 400, answer)
        tap.contains(str(answer), "the picture cannot be decoded")


@tap.test
def addresses_of_this_machine_are_refused():
    pictures = Pictures()
    pictures.files = {"/a.png": SOFA}

    class Careful(Shop):
        words = ("up", "--photos.fetch=true")

    with Careful() as shop:
        names = [pictures.address("/a.png"),
                 f"http://localhost:{pictures.server_port}/a.png",
                 f"http://[::ffff:127.0.0.1]:{pictures.server_port}/a.png"]
        status, photos = shop.settled(shop.offer(*names))
        tap.equal((status, [one["state"] for one in photos]), ("WAITING", ["FAILED"] * 3))
        for one in photos:
            tap.contains(one["reason"], "not one of the public internet")
        tap.equal(pictures.asked, [], "requests that reached the machine")


tap.main()
