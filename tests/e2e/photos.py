# SPDX-License-Identifier: Apache-2.0
"""Photos through `torg up` and a role that stands in for the one that downloads, with kill -9.

In the end every photo of every acknowledged offer is ready or failed as its address says, an offer
is shown when its category lets it, counters equal a recount, and nothing was written for answers
that were no news.

usage: photos.py PHOTOS_FAKE, with TORG_PHOTO_KILLS and TORG_CRASH_SEED in the environment.
"""
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import crashed  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place, open_sqlite  # noqa: E402

FAKE = sys.argv.pop(1)
KILLS = tap.count(5, 60, "TORG_PHOTO_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
CATALOG = {
    "defaults": {"policy": {"titleMin": 1, "titleMax": 50, "currencies": ["RUB"]}},
    "categories": [
        {"id": "at-once", "name": {"en": "At once"}},
        {"id": "with-photo", "name": {"en": "With photo"}, "policy": {"publish": "WITH_PHOTO"}},
        {"id": "or-later", "name": {"en": "Or later"},
         "policy": {"publish": "WITH_PHOTO_OR_LATER", "photoWaitS": 1}},
    ],
}
CATEGORIES = [one["id"] for one in CATALOG["categories"]]
RECOUNTS = (
    "SELECT COUNT(*) FROM user_offer_presets_count c WHERE c.counter <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)",
    "SELECT COUNT(*) FROM user_total_counters t JOIN (SELECT 'active' AS name, 2 AS preset UNION "
    "ALL SELECT 'expired', 3 UNION ALL SELECT 'banned', 5) n ON n.name = t.counter_id WHERE "
    "t.counter_value <> (SELECT COUNT(*) FROM user_offer_presets p WHERE p.seller_id = t.seller_id "
    "AND p.preset_id = n.preset AND p.offer_id % 10 = t.seq_no)",
    "SELECT COUNT(*) FROM offer o WHERE o.kind = 'offer' AND 1 <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.offer_id = o.id AND p.preset_id <> 1)",
)


class Shop(Place):
    """A server with the catalogue above and one seller."""
    spelling = False

    def __enter__(self):
        super().__enter__()
        self.words = ("up",)
        return self

    def prepare(self, *words):
        self.words = ("up", *words)
        self.start(*self.words)
        self.write("catalog.json", json.dumps(CATALOG))
        applied = self.torg("catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))
        made = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                         "--scope", "offers.write")
        self.key = made.stdout.strip()

    def ok(self, method, message):
        status, answer = self.call(method, message, self.key)
        tap.equal((method, status, answer if status != 200 else ""), (method, 200, ""))
        return answer

    def create(self, category, *photos):
        content = {"category": category, "title": "A thing",
                   "photos": [{"sourceUrl": f"https://x.example/{one}"} for one in photos]}
        return self.ok("OfferService/CreateOffer", {"content": content})

    def offer(self, name):
        return self.ok("OfferService/GetOffer", {"id": name})

    def offers(self):
        found, token = [], ""
        while True:
            page = self.ok("CabinetService/ListOffers", {"pageSize": 100, "pageToken": token})
            found += page.get("offers", [])
            token = page.get("nextPageToken", "")
            if not token:
                return found

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def counts(self):
        counts = self.ok("CabinetService/GetCounts", {})["counts"]
        return {one["preset"]: int(one["count"]) for one in counts if "count" in one}

    def drain(self):
        """The photos role runs while the server does not; how many requests it answered."""
        done = tap.run(FAKE, f"file:{self.data / 'topics'}", "drain")
        tap.equal((done.returncode, done.stderr), (0, ""))
        return len(done.stdout.splitlines())


def states(offer):
    return [photo["state"] for photo in offer["content"].get("photos", [])]


def is_settled(offer):
    """All photos answered, and the status what the category says of such photos: shown, unless it
    needs a photo and never was."""
    found = states(offer)
    wished = ["FAILED" if "bad" in photo["sourceUrl"] else "READY"
              for photo in offer["content"].get("photos", [])]
    stays = offer["content"]["category"] == "with-photo" and found and "READY" not in found
    return found == wished and (offer["status"] == "ACTIVE" or stays and "waitReason" in offer)


@tap.test
def an_offer_waits_for_its_photo_and_tells_what_failed():
    with Shop() as shop:
        shop.prepare()
        made = shop.create("with-photo", "bad", "good")
        tap.equal(made["status"], "WAITING")
        hopeless = shop.create("with-photo", "bad")
        late = shop.create("or-later", "bad")
        tap.equal(late["status"], "WAITING")
        tap.equal(shop.create("at-once", "good")["status"], "ACTIVE")
        tap.equal(shop.call("OfferService/GetOffer", {"id": made["id"]})[0], 404, "by a stranger")
        tap.wait_until(lambda: shop.offer(late["id"])["status"] == "ACTIVE", what="the time limit")
        tap.equal(shop.counts(), {"ALL": 4, "ACTIVE": 2, "WAITING": 2})
        crashed.wait_for_export(shop)
        tap.equal(shop.stop(), 0)
        tap.equal(shop.drain(), 4)
        shop.start()
        tap.wait_until(lambda: all(map(is_settled, shop.offers())), what="all settled")
        offer = shop.offer(made["id"])
        tap.equal((offer["status"], offer["revision"]), ("ACTIVE", "2"))
        failed, ready = offer["content"]["photos"]
        tap.equal((failed["state"], failed["reason"]), ("FAILED", "the address answered 404"))
        tap.equal((ready["state"], ready["sizes"][0]["width"]), ("READY", 640))
        public = shop.call("OfferService/GetOffer", {"id": made["id"]})[1]
        tap.equal("reason" in public["content"]["photos"][0], False, "shown to a stranger")
        tap.equal("replace the photos" in shop.offer(hopeless["id"])["waitReason"], True)
        tap.equal(shop.counts(), {"ALL": 4, "ACTIVE": 3, "WAITING": 1})
        tap.equal(shop.stop(), 0)


def act(shop, rng, names):
    """One change by the seller."""
    photos = [f"{rng.choice(('good', 'bad'))}-{rng.randrange(6)}"
              for _ in range(rng.randrange(4))]
    if len(names) < 60 and rng.random() < 0.6 or not names:
        names.append(shop.create(rng.choice(CATEGORIES), *photos)["id"])
        return
    offer = shop.offer(rng.choice(names))
    offer["content"]["photos"] = [{"sourceUrl": f"https://x.example/{one}"} for one in photos]
    status, answer = shop.call("OfferService/UpdateOffer",
                               {"id": offer["id"], "expectedRevision": offer["revision"],
                                "content": offer["content"]}, shop.key)
    if status == 409 and offer["content"]["category"] == "or-later":
        return                          # the end of its wait at this moment does
    tap.equal(status, 200, answer)      # a result at this moment outruns nobody


@tap.test
def photos_of_every_acknowledged_offer_are_settled_whenever_it_is_killed():
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    began, names, answered, lost = time.monotonic(), [], 0, 0
    with Shop() as shop:
        shop.prepare()
        for _ in range(KILLS):
            killer = threading.Timer(rng.uniform(0.05, 0.6), shop.process.kill)
            killer.start()
            try:
                while shop.process.poll() is None:
                    act(shop, rng, names)
            except (OSError, http.client.HTTPException):
                lost += 1               # killed: whether it took place is unknown
            killer.join()
            shop.process.wait()
            if rng.random() < 0.7:
                answered += shop.drain()
            shop.start(*shop.words)
        # What the last one left in the queue is asked for, answered, and taken.
        store = shop.data / "store.sqlite"

        def queue_is_empty():
            with open_sqlite(f"file:{store}?mode=ro", uri=True) as base:
                return base.execute("SELECT COUNT(*) FROM queue").fetchone()[0] == 0

        tap.wait_until(queue_is_empty, what="an empty queue")
        shop.kill()
        answered += shop.drain()
        shop.start(*shop.words)

        def unsettled():
            return [one for one in shop.offers() if not is_settled(one)]

        try:
            tap.wait_until(lambda: not unsettled(), what="all settled")
        except AssertionError:
            raise AssertionError(f"not settled: {json.dumps(unsettled()[:3])}") from None
        offers = shop.offers()
        tap.equal(sorted(set(names) - {one["id"] for one in offers}), [], "acknowledged and lost")
        before = {one["id"]: one["revision"] for one in offers}
        shop.kill()                     # every result comes twice, and here all of them again
        for group in (shop.data / "topics" / "offsets").iterdir():
            group.unlink()
        answered += shop.drain()
        shop.start(*shop.words)
        made = shop.create("with-photo", "good-last")
        tap.wait_until(queue_is_empty, what="an empty queue")
        shop.kill()
        shop.drain()
        shop.start(*shop.words)
        # Results of one partition come in order, of others at about the same time.
        tap.wait_until(lambda: is_settled(shop.offer(made["id"])), what="the last one")
        after = {one["id"]: one["revision"] for one in shop.offers() if one["id"] != made["id"]}
        tap.equal(after, before, "revisions after all results came again")
        tap.equal(shop.stop(), 0)
        with open_sqlite(store) as base:
            for sql in RECOUNTS:
                tap.equal(base.execute(sql).fetchone()[0], 0, sql)
    tap.comment(f"{len(offers)} offers, {answered} requests answered, {lost} calls cut off; "
                f"{time.monotonic() - began:.0f} s")


@tap.test
def a_role_beside_the_server_answers_by_kafka():
    url = f"kafka://{tap.need('kafka')}"
    with Shop() as shop:
        shop.prepare(f"--topic.url={url}")      # which makes the topics
        with open(shop.dir / "fake.log", "w") as log:
            fake = subprocess.Popen([FAKE, url, "run"], stdout=subprocess.DEVNULL, stderr=log)

        def all_settled(names):
            tap.equal(fake.poll(), None, (shop.dir / "fake.log").read_text())
            return all(is_settled(shop.offer(name)) for name in names)

        try:
            made = shop.create("with-photo", "bad", "good")
            tap.equal(made["status"], "WAITING")
            tap.wait_until(lambda: all_settled([made["id"]]),
                           what="the photo by Kafka")
            pending = [shop.create("with-photo", f"good-{i}")["id"] for i in range(20)]
            shop.kill()
            shop.start(*shop.words)
            # The dead member of the group keeps its partitions for half a minute.
            tap.wait_until(lambda: all_settled(pending), what="all photos after a kill")
            tap.equal(shop.stop(), 0)
        finally:
            fake.kill()
            fake.wait()


tap.main()
