# SPDX-License-Identifier: Apache-2.0
"""Web servers of sellers: slow ones hold up nobody else's photos, and what has not changed is not
fetched again."""
import base64
import threading

from kit import tap
from kit.photo_shop import SOFA, Pictures, Shop, png


@tap.test
def a_slow_server_holds_up_no_other():
    slow, quick = Pictures(), Pictures()
    slow.gate = threading.Event()                   # nobody is answered before it opens
    slow.files = {f"/{n}.png": png(64 + n, 64) for n in range(40)}
    quick.files = {f"/{n}.png": png(64, 65 + n) for n in range(10)}
    with Shop() as shop:
        late = [shop.offer(slow.address(f"/{n}.png")) for n in range(40)]
        tap.wait_until(lambda: slow.asked, what="the first question to the slow server")
        for number in range(10):
            status, _ = shop.settled(shop.offer(quick.address(f"/{number}.png")),
                                     lambda photos: photos[0]["state"] == "READY")
            tap.equal(status, "ACTIVE")
        tap.equal([one for one in late if shop.photos(one)[0] == "ACTIVE"], [])
        slow.gate.set()
        for offer in late:
            status, _ = shop.settled(offer, lambda photos: photos[0]["state"] == "READY")
            tap.equal(status, "ACTIVE")
        tap.equal(slow.busy_max <= 8, True, f"{slow.busy_max} questions at once")


@tap.test
def a_silent_server_does_not_keep_the_patient_from_others():
    """The lane for slow servers asks a silent one once a minute, however many photos of it wait."""
    silent, slow = Pictures(), Pictures()
    silent.gate, slow.gate = threading.Event(), threading.Event()
    slow.files = {"/a.png": SOFA}
    with Shop() as shop:
        late = [shop.offer(silent.address(f"/{n}.png")) for n in range(60)]
        tap.wait_until(lambda: "photo-fetch" in shop.torg("parked", "list").stdout,
                       what="a request of the silent server that is parked")
        tap.wait_until(lambda: all(shop.photos(one)[1][0]["state"] == "FAILED" for one in late),
                       what="that all of them are told")
        tap.equal(len(silent.asked) < len(late), True, f"{len(silent.asked)} questions for {len(late)} photos")
        offer = shop.offer(slow.address("/a.png"))
        tap.wait_until(lambda: len(slow.asked) >= 2, what="a second question, with more time")
        slow.gate.set()
        status, _ = shop.settled(offer, lambda photos: photos[0]["state"] == "READY")
        tap.equal(status, "ACTIVE")
        silent.gate.set()


def checks(x, y):
    return ((x // 9 * 37 + y // 7 * 91) % 256,) * 3


def likeness(shop, offer):
    """What the stage of photos keeps with it."""
    if not hasattr(shop, "stages"):
        shop.stages = shop.torg("key", "create", "stages", "--scope", "stages").stdout.strip()
    kept = shop.call("StageService/GetStageState", {"offerId": offer, "stage": "photos"}, shop.stages)[1]
    return base64.b64decode(kept.get("value", "")).decode()


@tap.test
def an_uploaded_photo_waits_for_no_server():
    """Everything that fetches photos waits for a server that says nothing; what was uploaded is ready."""
    silent = Pictures()
    silent.gate = threading.Event()
    with Shop() as shop:
        late = [shop.offer(silent.address(f"/{n}.png")) for n in range(40)]
        tap.wait_until(lambda: silent.asked, what="the first question to the silent server")
        for number in range(3):
            photo = shop.upload(png(100 + number, 80, checks))[1]
            status, photos = shop.photos(shop.offer(photo["sourceUrl"]))
            tap.equal((status, photos[0]["state"], photos[0]["sizes"]), ("ACTIVE", "READY", photo["sizes"]))
            tap.equal(shop.get(photo["sizes"][0]["key"])[0], "image/jpeg")
        same = shop.offer(photo["sourceUrl"])
        tap.wait_until(lambda: '"sellers":1' in likeness(shop, same), what="that it stands in others, too")
        tap.equal([one for one in late if shop.photos(one)[0] == "ACTIVE"], [])
        silent.gate.set()


@tap.test
def what_has_not_changed_is_not_fetched_again():
    pictures = Pictures()
    pictures.files = {"/a.png": SOFA, "/b.png": png(100, 100)}
    pictures.tags = {"/a.png": '"one"'}
    with Shop() as shop:
        first = shop.settled(shop.offer(pictures.address("/a.png")))[1][0]
        second = shop.settled(shop.offer(pictures.address("/a.png")))[1][0]
        tap.equal((second["state"], second["sizes"], second["preview"]),
                  ("READY", first["sizes"], first["preview"]))
        tap.equal(pictures.sent, ["/a.png"], "files that were sent")
        pictures.files["/a.png"] = png(300, 300)
        pictures.tags["/a.png"] = '"two"'
        third = shop.settled(shop.offer(pictures.address("/a.png")))[1][0]
        tap.equal((third["sizes"][-1]["width"], pictures.sent), (300, ["/a.png", "/a.png"]))
        for _ in range(2):              # a server that tells nothing is asked for all of it
            shop.settled(shop.offer(pictures.address("/b.png")))
        tap.equal(pictures.sent.count("/b.png"), 2)


@tap.test
def an_unchanged_photo_that_was_swept_is_fetched():
    class Forgetful(Shop):
        words = (*Shop.words, "--photos.keep=20s")    # longer than an offer is on its way to refer to it

    pictures = Pictures()
    pictures.files = {"/a.png": SOFA}
    pictures.tags = {"/a.png": '"one"'}
    with Forgetful() as shop:
        offer = shop.offer(pictures.address("/a.png"))
        tap.equal(shop.settled(offer)[0], "ACTIVE")
        shop.call("OfferService/DeleteOffer", {"id": offer}, shop.key)
        tap.wait_until(lambda: not shop.blobs(), what="the sweep")
        status, photos = shop.settled(shop.offer(pictures.address("/a.png")))
        tap.equal((status, photos[0]["state"]), ("ACTIVE", "READY"))
        tap.equal(shop.get(photos[0]["sizes"][0]["key"])[0], "image/jpeg")


tap.main()
