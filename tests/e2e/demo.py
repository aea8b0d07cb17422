# SPDX-License-Identifier: Apache-2.0
"""`torg demo`: a shop that fills itself, is searchable, has photos, and lives."""
import datetime
import json
import re
import signal
import subprocess
import urllib.error
import urllib.request

from kit import tap
from kit.binary import TORG, Place, environment, open_sqlite
from kit.demo import Demo
from kit.photo_shop import SOFA

OFFERS = 150
OFFERS_OF_KILLED = 250


@tap.test
def it_fills_itself_and_lives():
    with Demo() as demo:
        demo.filled("--offers", str(OFFERS), "--changes", "20")
        tap.contains(demo.out(), f"saved {OFFERS}, searchable ")
        tap.contains(demo.out(), f"{OFFERS} offers were published and are searchable")
        tap.wait_until(lambda: demo.total() > OFFERS * 9 // 10, what="those that come with their photos")
        found = demo.search(category="electronics", limit=50)
        tap.equal(len(found["offers"]) > 5 and len(found["filters"]) > 3, True, "filters")
        dates_are_spread(demo)
        photos_are_served(demo)
        mine = a_visitor_s_own_photo_is_shown(demo)
        keys_open_what_they_should(demo)
        snippets_are_glued_and_change(demo)
        changes_become_visible(demo)
        buyers_look_and_click(demo)
        # robots have changed others all the time
        tap.equal(demo.call("OfferService/GetOffer", {"id": mine["id"]}, key=demo.seller)[1], mine)
        tap.equal(demo.stop(signal.SIGINT), 0)
        tap.equal(complaints(demo.log()), [])


def dates_are_spread(demo):
    """Over weeks, not over the minute in which the shop was filled."""
    created, cursor = [], ""
    while True:
        answer = demo.search(limit=100, onlyOffers=True, order="NEWEST", **({"cursor": cursor} if cursor else {}))
        created += [offer["createTime"][:10] for offer in answer.get("offers", [])]
        cursor = answer.get("cursor", "")
        if not cursor:
            break
    days = [datetime.date.fromisoformat(day) for day in created]
    tap.equal(len(set(days)) >= 10, True, sorted(set(created)))
    tap.equal(14 <= (max(days) - min(days)).days <= 21, True, (created[0], created[-1]))


def complaints(log):
    """What the log tells a newcomer. A machine that stood still for longer than a lease or a consumer's
    session lasts has cost the process its shards, which it takes again: those warnings are true."""
    events = [json.loads(line) for line in log.splitlines()]
    stood_still = any(one["event"].startswith(("session lost", "consumer was silent")) for one in events)
    return [one for one in events if one["level"] != "warn" or not stood_still]


def snippets_of(demo):
    """Of the newest offers, which change: {(key, name): text}."""
    found = demo.search(onlyOffers=True, limit=20, order="NEWEST", language="en",
                        snippetNames=["badge", "rating", "delivery"])
    return {(each["key"], each["name"]): each["text"]
            for offer in found["offers"] for each in offer.get("snippets", [])}


def snippets_are_glued_and_change(demo):
    seen = tap.wait_until(lambda: snippets_of(demo), what="snippets")

    def changed():
        """Against all that was seen: newer offers push those of the beginning from the page."""
        now = snippets_of(demo)
        found = any(seen.get(place) not in (None, text) for place, text in now.items())
        seen.update(now)
        return found

    tap.wait_until(changed, what="changed ones")


def some_photos(demo):
    """They are made beside the filling, and shown when they are there."""
    found = demo.search(category="electronics", limit=50)
    shown = [offer for offer in found["offers"] if "photo" in offer]
    tap.equal([offer for offer in shown if not offer.get("photoPreview") or offer["photoWidth"] != 240], [],
              "each is scaled and has a preview")
    return len(shown) > 5 and [offer["photo"] for offer in shown]


def photos_are_served(demo):
    keys = tap.wait_until(lambda: some_photos(demo), what="photos")
    status, headers, body = demo.get("/v1/photos/" + keys[0])
    tap.equal((status, headers["content-type"]), (200, "image/jpeg"))
    tap.equal(body.startswith(b"\xff\xd8\xff") and body.endswith(b"\xff\xd9"), True)
    tap.contains(headers["cache-control"], "immutable")
    tap.equal(headers["x-content-type-options"], "nosniff")
    tap.contains(headers["content-security-policy"], "default-src 'none'")
    tap.contains(headers["content-security-policy"], "sandbox")
    again = demo.get("/v1/photos/" + keys[0], **{"If-None-Match": headers["etag"]})
    tap.equal((again[0], again[2]), (304, b""))
    for path, wanted in [("/v1/photos/nothing.svg", 404), ("/v1/photos/", 404),
                         ("/v1/photos/..%2f..%2fDEMO", 400), ("/v1/photos/../DEMO", 400),
                         ("/v1/photos/" + "x" * 200, 400), ("/v1/photos/%00", 404)]:
        tap.equal((path, demo.get(path)[0]), (path, wanted))
    request = urllib.request.Request(f"{demo.url}/v1/photos/{keys[0]}", method="HEAD")
    with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
        tap.equal((answer.status, answer.read(), int(answer.headers["content-length"])),
                  (200, b"", len(body)))
    request = urllib.request.Request(f"{demo.url}/v1/photos/{keys[0]}", data=b"x")
    try:
        urllib.request.urlopen(request, timeout=tap.PATIENCE_S)
        raise AssertionError("a photo was posted")
    except urllib.error.HTTPError as error:
        tap.equal(error.code, 405)


def a_visitor_s_own_photo_is_shown(demo):
    """As on any server: what is uploaded is what is seen, and an address that is none says why."""
    request = urllib.request.Request(f"{demo.url}/v1/photos", data=SOFA, method="POST",
                                     headers={"Authorization": f"Bearer {demo.seller}"})
    with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
        mine = json.load(answer)
    content = {"category": "kitchenware", "title": "Zebrano pot", "price": {"amount": "100", "currency": "RUB"},
               "photos": [{"sourceUrl": mine["sourceUrl"]}, {"sourceUrl": "http://127.0.0.1:9/a.jpg"}]}
    status, made = demo.call("OfferService/CreateOffer", {"content": content}, key=demo.seller)
    tap.equal(status, 200, made)

    def answered():
        photos = demo.call("OfferService/GetOffer", {"id": made["id"]}, key=demo.seller)[1]["content"]["photos"]
        return all(one.get("state") in ("READY", "FAILED") for one in photos) and photos

    photos = tap.wait_until(answered, what="both photos")
    tap.equal((photos[0]["state"], photos[0]["sizes"]), ("READY", mine["sizes"]))
    tap.equal(photos[1]["state"], "FAILED")
    tap.contains(photos[1]["reason"], "not one of the public internet")
    return demo.call("OfferService/GetOffer", {"id": made["id"]}, key=demo.seller)[1]


def keys_open_what_they_should(demo):
    status, counts = demo.call("CabinetService/GetCounts", key=demo.seller)
    tap.equal(status, 200)
    tap.equal(int(counts["counts"][0]["count"]) > 0, True, "the seller of the link has offers")
    tap.equal(demo.call("KeyService/ListKeys", key=demo.seller)[0], 403)
    tap.equal(demo.call("KeyService/ListKeys", key=demo.operator)[0], 200)


def changes_become_visible(demo):
    """Others' prices, sales and bans: what is found differs after a while."""
    def picture():
        pages = [demo.search(onlyOffers=True, limit=100, offset=start, order="NEWEST")
                 for start in (0, 100, 200)]
        return {offer["id"]: offer.get("price", {}).get("amount")
                for page in pages for offer in page.get("offers", [])}

    before = picture()

    def moved():
        now = picture()
        return ([one for one in before if one in now and now[one] != before[one]],
                [one for one in before if one not in now],
                [one for one in now if one not in before])

    tap.wait_until(lambda: all(moved()), what="prices, ends and new offers")


def buyers_look_and_click(demo):
    def counts():
        with open_sqlite(f"file:{demo.data / 'store.sqlite'}?mode=ro", uri=True) as base:
            return base.execute("SELECT sum(shows), sum(clicks), sum(looks) FROM click_hour").fetchone()

    shows, clicks, looks = tap.wait_until(lambda: (counts()[1] or 0) > 1 and counts(), what="clicks")
    tap.equal(clicks < shows, True, "they look more than they click")
    tap.equal(looks < shows * 1_000_000, True, "and further than at the first")


@tap.test
def a_second_start_goes_on_with_what_is_there():
    with Demo() as demo:
        demo.filled("--offers", "120", "--changes", "0")
        keys = demo.seller, demo.operator
        tap.wait_until(lambda: demo.total() == 120, what="all offers")
        tap.equal(demo.stop(), 0)
        demo.filled("--changes", "0")
        tap.equal("filling" in demo.out(), False, "it is full")
        tap.equal((demo.seller, demo.operator), keys)
        tap.wait_until(lambda: demo.total() == 120, what="the same offers")
        tap.equal(demo.stop(), 0)
        demo.filled("--offers", "150", "--changes", "0")
        tap.contains(demo.out(), "30 offers were published")
        tap.wait_until(lambda: demo.total() == 150, what="thirty more")
        tap.equal(demo.stop(), 0)
        demo.filled("--offers", "10", "--changes", "0")
        tap.wait_until(lambda: demo.total() == 150, what="nothing less")


@tap.test
def killed_while_filling_it_completes_without_doubles():
    with Demo() as demo:
        for _ in range(2):
            demo.begin("--offers", str(OFFERS_OF_KILLED), "--changes", "0")
            seen = tap.wait_until(lambda: demo.total() + 1, what="the index") - 1
            tap.wait_until(lambda: demo.total() > min(seen + 60, OFFERS_OF_KILLED - 30) or
                           "operator " in demo.out(), what="some offers")
            demo.process.kill()
            demo.process.wait()
        demo.filled("--offers", str(OFFERS_OF_KILLED), "--changes", "0")
        tap.wait_until(lambda: demo.total() == OFFERS_OF_KILLED, what="every offer once")
        ids = demo.offers_by_external_id()
        doubled = {name: found for name, found in ids.items() if len(found) > 1}
        tap.equal((len(ids), doubled), (OFFERS_OF_KILLED, {}))
        tap.equal(demo.stop(), 0)


@tap.test
def it_keeps_to_itself():
    with Demo() as demo:
        for words, reason in [(["--offers", "0"], "from 1 to 1000000"),
                              (["--offers", "many"], "--offers=many"),
                              (["--offers", "1000001"], "from 1 to 1000000"),
                              (["--changes", "-1"], "from 0 to 1000"),
                              (["--changes", "1001"], "from 0 to 1000"),
                              (["--listen", "0.0.0.0:0"], "loopback"),
                              (["--store.url=sqlite:x"], "store.url is set"),
                              (["here"], "")]:
            done = demo.torg("demo", *words)
            tap.equal((words, done.returncode), (words, 2))
            tap.contains(done.stderr, reason)
            tap.equal(demo.data.exists(), False, "nothing was made")
        demo.data = demo.dir / "real"
        demo.start("up", "--data=real")
        tap.equal(demo.stop(), 0)
        done = demo.torg("demo", "--data=real", "--listen=127.0.0.1:0")
        tap.equal(done.returncode, 3)
        tap.contains(done.stderr, "another server")
        tap.equal((demo.data / "DEMO").exists(), False)


@tap.test
def a_quiet_log_keeps_it_running():
    with Place() as place:
        place.start("up", "--log.level=error")
        tap.equal(place.call("SystemService/GetSystem")[0], 200)
        tap.equal(place.stop(), 0)


tap.main()
