# SPDX-License-Identifier: Apache-2.0
"""Who may see a photo, and what becomes of those that nobody refers to: also with kill -9."""
import os
import random
import re
import signal
import time
import urllib.error
import urllib.request

from kit import tap
from kit.binary import open_sqlite
from kit.photo_shop import SOFA, Pictures, Shop, png

KILLS = tap.count(4, 40, "TORG_PHOTO_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)


KEEP_S = 2


class Forgetful(Shop):
    """Keeps what nobody refers to for two seconds."""
    words = (*Shop.words, f"--photos.keep={KEEP_S}s")

    def offered(self, picture):
        """The photo and an offer of it; None: the machine was slower than what is kept for it."""
        began = time.monotonic()
        photo = self.upload(picture)[1]
        offer = self.offer(photo["sourceUrl"])
        if time.monotonic() - began < KEEP_S:
            return photo, offer
        self.call("OfferService/DeleteOffer", {"id": offer}, self.key)
        return None

    def metrics(self):
        with urllib.request.urlopen(f"{self.operators}/metrics", timeout=tap.PATIENCE_S) as answer:
            return answer.read().decode()


def ask(shop, name, **headers):
    """(status, headers, body) of a photo as a browser asks for it."""
    request = urllib.request.Request(f"{shop.url}/v1/photos/{name}", headers={
        each.replace("_", "-"): value for each, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


@tap.test
def a_photo_is_shown_while_its_offer_is():
    with Shop() as shop:
        photo = shop.upload(SOFA)[1]
        name = photo["sizes"][0]["key"]
        other = shop.torg("key", "create", "other", "--seller", "s-2", "--scope", "offers.read")
        site = shop.torg("key", "create", "site", "--scope", "offers.read").stdout.strip()
        tap.equal((shop.get(name), shop.own(name, other.stdout.strip())), (None, None))
        tap.equal(shop.own(name)[0], "image/jpeg")
        tap.equal(shop.own(name, site)[0], "image/jpeg")
        offer = shop.offer(photo["sourceUrl"])
        tap.equal(shop.settled(offer)[0], "ACTIVE")
        tap.equal(shop.get(name), shop.own(name))
        asked, headers, body = ask(shop, name)
        tap.equal((asked, headers["cache-control"]), (200, "public, max-age=31536000, immutable"))
        tap.equal(ask(shop, name, If_None_Match=headers["etag"])[::2], (304, b""))
        tap.equal(ask(shop, name, Range="bytes=2-11")[::2], (206, body[2:12]))
        for how, seen in (("Withdraw", False), ("Republish", True), ("Delete", False)):
            status, answer = shop.call(f"OfferService/{how}Offer", {"id": offer}, shop.key)
            tap.equal((how, status), (how, 200), answer)
            tap.equal((how, shop.get(name) is not None), (how, seen))
        tap.equal(shop.own(name)[0], "image/jpeg", "his own upload, as long as it is kept")


def refused_own(shop, key, credential):
    """What is told of a photo that is not to be seen, with its address taken out."""
    request = urllib.request.Request(f"{shop.url}/v1/own-photos/{key}",
                                     headers={"Authorization": f"Bearer {credential}"})
    try:
        with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read().replace(key.encode(), b"KEY")


@tap.test
def nobody_is_told_whether_another_has_a_photo():
    with Shop() as shop:
        photo = shop.upload(SOFA)[1]
        other = shop.torg("key", "create", "other", "--seller", "s-2", "--scope",
                          "offers.read").stdout.strip()
        for address in (photo["sourceUrl"], photo["sizes"][0]["key"]):
            digest = re.search("[0-9a-f]{40,}", address)[0]
            none = address.replace(digest, digest[::-1])
            theirs = refused_own(shop, address, other)
            tap.equal((theirs[0], b"KEY" in theirs[1]), (404, True), theirs)
            tap.equal(theirs, refused_own(shop, none, other))
            tap.equal(shop.own(address)[0], "image/jpeg")


@tap.test
def an_address_shows_nobody_the_photo_of_another():
    """Strangers read the address of an upload in an offer, and its beginning in every public key."""
    with Shop() as shop:
        photo = shop.upload(SOFA)[1]
        name, whole = photo["sizes"][0]["key"], photo["sourceUrl"]
        mine = shop.offer(whole)
        tap.equal((shop.settled(mine)[0], shop.get(name)[0]), ("ACTIVE", "image/jpeg"))
        shop.call("OfferService/WithdrawOffer", {"id": mine}, shop.key)
        tap.equal(shop.get(name), None)
        other = shop.torg("key", "create", "other", "--seller", "s-2", "--scope", "offers.read",
                          "--scope", "offers.write").stdout.strip()
        draft = shop.call("DraftService/OpenDraft", {"category": "sofas"}, other)[1]["draft"]
        for address in (whole[:-24] + 24 * "0", whole):
            content = {"category": "sofas", "title": "Another sofa", "photos": [{"sourceUrl": address}],
                       "price": {"amount": "1", "currency": "RUB"}}
            status, answer = shop.call("DraftService/SaveDraft", {"id": draft["id"], "content": content}, other)
            tap.equal(status, 200, answer)
            theirs = shop.call("OfferService/CreateOffer", {"content": content}, other)[1]["id"]
            tap.equal([(address, key, refused_own(shop, key, other)[0]) for key in (name, address)],
                      [(address, key, 404) for key in (name, address)])
            got = tap.wait_until(lambda: answered(shop, theirs, other), what="an answer")  # pylint: disable=W0640
            tap.equal((got["status"], got["content"]["photos"][0]["reason"]),
                      ("WAITING", "the uploaded file is gone: upload it again"))
            tap.equal(shop.get(name), None)
        tap.equal(shop.own(name)[0], "image/jpeg")


def answered(shop, offer, credential):
    got = shop.call("OfferService/GetOffer", {"id": offer}, credential)[1]
    return got if got["content"]["photos"][0]["state"] != "WAITING" else None


@tap.test
def what_nobody_refers_to_is_swept():
    with Forgetful() as shop:
        kept, offer = tap.wait_until(lambda: shop.offered(SOFA), what="an offer in time")
        tap.equal(shop.settled(offer)[0], "ACTIVE")
        full = shop.blobs()
        tap.equal(len(full), 7, "six pictures and the upload")
        shop.upload(png(300, 300))
        tap.wait_until(lambda: shop.blobs() == full, what="the end of what no offer names")
        tap.equal(shop.get(kept["sizes"][0]["key"])[0], "image/jpeg")
        shop.call("OfferService/DeleteOffer", {"id": offer}, shop.key)
        tap.wait_until(lambda: not shop.blobs(), what="the end of the deleted one's")
        tap.equal(shop.own(kept["sizes"][0]["key"]), None)
        tap.wait_until(lambda: int(re.search(r"^torg_photos_swept_total (\d+)$", shop.metrics(),
                                             re.M)[1]) >= 2, what="both are counted")
        again, offer = tap.wait_until(lambda: shop.offered(SOFA), what="an offer in time")
        tap.equal(again["sizes"][0]["key"] != kept["sizes"][0]["key"], True, "another name")
        tap.equal(shop.settled(offer)[0], "ACTIVE")


@tap.test
def no_kill_leaves_an_orphan_or_another_ones_photo():
    """Killed while files are uploaded, fetched, scaled, stored and told to offers; decoders by themselves, too."""
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    pictures = Pictures()
    pictures.files = {f"/{number}.png": png(100 + number, 70) for number in range(12)}
    with Forgetful() as shop:
        kept = {}                       # offer: how wide its photo is
        for _ in range(KILLS):
            for number in rng.sample(range(12), 6):
                picture = png(64 + number, 80)
                what = rng.random()
                if what >= 0.7:
                    shop.upload(picture)
                elif what >= 0.35:
                    kept[shop.offer(pictures.address(f"/{number}.png"))] = 100 + number
                elif made := shop.offered(picture):
                    kept[made[1]] = 64 + number
                if rng.random() < 0.2:
                    for decoder in shop.children():
                        os.kill(decoder, signal.SIGKILL)
            for offer in [one for one in kept if rng.random() < 0.3]:
                shop.call("OfferService/DeleteOffer", {"id": offer}, shop.key)
                del kept[offer]
            time.sleep(rng.uniform(0, 3))        # killed at any moment
            shop.process.kill()
            shop.process.wait()
            shop.start(*shop.words)
        wanted = set()
        for offer, width in kept.items():   # an address that could not be asked in time is asked again
            status, photos = shop.settled(offer, lambda photos: photos[0]["state"] == "READY")
            tap.equal((status, photos[0]["sizes"][-1]["width"]), ("ACTIVE", width), "its own photo")
            wanted |= {one["key"] for one in photos[0]["sizes"]}
            tap.equal(shop.get(photos[0]["sizes"][0]["key"])[0], "image/jpeg")

        def left():
            names = set(shop.blobs())
            return {one for one in names if "." in one} == wanted and not waiting()

        def waiting():
            with open_sqlite(f"file:{shop.data / 'store.sqlite'}?mode=ro", uri=True) as base:
                return base.execute("SELECT (SELECT COUNT(*) FROM photo_trash) + "
                                    "(SELECT COUNT(*) FROM photo WHERE free_us > 0)").fetchone()[0]

        tap.wait_until(left, what="pictures of the offers that are there, and no others")


tap.main()
