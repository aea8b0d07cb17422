# SPDX-License-Identifier: Apache-2.0
"""Kills `torg up` at random moments while sellers publish and change offers, and starts it again.

In the end every acknowledged change is in the store and in both topics, at its revision or a newer
one; revisions of an offer never go back; the queue is empty; counters equal a recount.

usage: crash_export.py TOPIC_DUMP, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
"""
import http.client
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
import tap  # noqa: E402
from binary import Place  # noqa: E402

DUMP = sys.argv.pop(1)
KILLS = int(os.environ.get("TORG_CRASH_KILLS", "40"))
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS = 6
OFFERS_MAX = 40             # of a seller: then it changes those it has
TOPICS = ("offer-updates", "moderation-requests")
MOVES = {"ACTIVE": ("WithdrawOffer", "ProlongOffer", "MarkOfferSold", "DeleteOffer"),
         "WITHDRAWN": ("RepublishOffer",), "SOLD_ON_SITE": ("RepublishOffer",), "DELETED": ()}
CATALOG = {"defaults": {"policy": {"titleMin": 1, "titleMax": 50, "currencies": ["RUB"],
                                   "price": "REQUIRED"}},
           "categories": [{"id": "books", "name": {"en": "Books"}}]}
CONTENT = {"category": "books", "title": "A book", "price": {"amount": 500, "currency": "RUB"}}

# Each is 0 in a store that is whole.
RECOUNTS = (
    "SELECT COUNT(*) FROM user_offer_presets_count c WHERE c.counter <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)",
    "SELECT COUNT(*) FROM user_offer_presets p WHERE NOT EXISTS (SELECT 1 FROM "
    "user_offer_presets_count c WHERE c.seller_id = p.seller_id AND c.preset_id = p.preset_id)",
    "SELECT COUNT(*) FROM user_total_counters t JOIN (SELECT 'active' AS name, 2 AS preset UNION "
    "ALL SELECT 'expired', 3 UNION ALL SELECT 'banned', 5) n ON n.name = t.counter_id WHERE "
    "t.counter_value <> (SELECT COUNT(*) FROM user_offer_presets p WHERE p.seller_id = t.seller_id "
    "AND p.preset_id = n.preset AND p.offer_id % 10 = t.seq_no)",
    "SELECT COUNT(*) FROM offer o WHERE o.kind = 'offer' AND 1 <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.offer_id = o.id AND p.preset_id <> 1)",
    "SELECT COUNT(*) FROM queue",
)


class Seller(threading.Thread):
    """Publishes and changes offers until told to stop, over whichever server is there."""

    def __init__(self, number, key, seed):
        super().__init__(daemon=True)
        self.key, self.rng = key, random.Random(f"{seed}/{number}")
        self.offers = {}            # id: (revision, status), as acknowledged last
        self.changes = 0
        self.trouble = None
        self.url = None             # None: no server
        self.ended = False

    def run(self):
        connection = None
        while not self.ended and not self.trouble:
            url = self.url
            if not url:
                time.sleep(0.002)
                continue
            try:
                if connection is None or connection.url != url:
                    connection = http.client.HTTPConnection(
                        urllib.parse.urlparse(url).netloc, timeout=20)
                    connection.url = url
                self.act(connection)
            except (OSError, http.client.HTTPException):
                connection = None           # killed: whether it took place is unknown
                if self.url == url:
                    time.sleep(0.005)
            except AssertionError as trouble:
                self.trouble = str(trouble)

    def act(self, connection):
        if len(self.offers) < OFFERS_MAX and self.rng.random() < 0.3 or not self.offers:
            status, answer = self.call(connection, "CreateOffer", {"content": CONTENT})
            tap.equal(status, 200, answer)
        else:
            offer = self.rng.choice(list(self.offers))
            moves = MOVES[self.offers[offer][1]]
            if not moves:
                del self.offers[offer]      # it is looked at in the store all the same
                return
            message = {"id": offer}
            move = self.rng.choice(moves) if self.rng.random() < 0.9 else "DeleteOffer"
            if move == "MarkOfferSold":
                message["where"] = "ON_SITE"
            status, answer = self.call(connection, move, message)
            if status != 200:               # a change without an answer had taken place
                status, answer = self.call(connection, "GetOffer", {"id": offer})
                tap.equal(status, 200, answer)
        self.note(answer)

    def call(self, connection, method, message):
        connection.request("POST", f"/torg.v1.OfferService/{method}", json.dumps(message),
                           {"Content-Type": "application/json",
                            "Authorization": f"Bearer {self.key}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def note(self, answer):
        revision = int(answer["revision"])
        before = self.offers.get(answer["id"], (0,))[0]
        if revision < before:
            raise AssertionError(f"{answer['id']}: {revision} after {before} was acknowledged")
        self.offers[answer["id"]] = (revision, answer["status"])
        acknowledged[answer["id"]] = revision
        self.changes += 1


acknowledged = {}           # id: newest revision; sellers have offers of their own


def sent(place, topic):
    """{id: revisions in order} of a topic; the server is down."""
    dump = tap.run(DUMP, place.data / "topics", topic)
    tap.equal((dump.returncode, dump.stderr), (0, ""))
    found = {}
    for line in dump.stdout.splitlines():
        offer, revision = line.split()[:2]
        found.setdefault(offer, []).append(int(revision))
    return found


def check_topic(place, topic, stored):
    found = sent(place, topic)
    back = [offer for offer, all_of in found.items() if all_of != sorted(all_of)]
    tap.equal(back, [], f"{topic}: revisions that go back")
    last = {offer: all_of[-1] for offer, all_of in found.items()}
    behind = [offer for offer, revision in stored.items() if last.get(offer) != revision]
    tap.equal(behind[:5], [], f"{topic}: {len(behind)} offers are not there as they are stored")
    return sum(len(all_of) for all_of in found.values())


def digits(text):
    return int(text.replace("-", ""))


@tap.test
def every_acknowledged_change_is_exported_whenever_it_is_killed():
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    began = time.monotonic()
    with Place() as place:
        place.start()
        place.write("catalog.json", json.dumps(CATALOG))
        tap.equal(place.torg("catalog", "apply", "catalog.json").returncode, 0)
        sellers = []
        for number in range(SELLERS):
            made = place.torg("key", "create", f"s{number}", "--seller", f"s{number}", "--scope",
                              "offers.read", "--scope", "offers.write")
            sellers.append(Seller(number, made.stdout.strip(), SEED))
        for seller in sellers:
            seller.start()
        for _ in range(KILLS):
            for seller in sellers:
                seller.url = place.url
            time.sleep(rng.uniform(0.01, 0.5))
            for seller in sellers:          # told before: a late one would meet a refused port
                seller.url = None if rng.random() < 0.5 else seller.url
            place.process.send_signal(signal.SIGKILL)
            place.process.wait()
            for seller in sellers:
                seller.url = None
            place.start()
        for seller in sellers:
            seller.ended = True
            seller.join(timeout=30)
        tap.equal([seller.trouble for seller in sellers if seller.trouble], [])
        store = place.data / "store.sqlite"

        def queue_is_empty():
            with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as base:
                return base.execute("SELECT COUNT(*) FROM queue").fetchone()[0] == 0

        tap.wait_until(queue_is_empty, what="an empty queue")
        tap.equal(place.stop(), 0)
        with sqlite3.connect(store) as base:
            for sql in RECOUNTS:
                tap.equal(base.execute(sql).fetchone()[0], 0, sql)
            rows = dict(base.execute("SELECT id, revision FROM offer WHERE kind = 'offer'"))
        lost = [offer for offer, revision in acknowledged.items()
                if rows.get(digits(offer), 0) < revision]
        tap.equal(lost[:5], [], f"acknowledged and lost ({len(lost)})")
        dashed = {f"{i:016d}": i for i in rows}
        stored = {"-".join(text[at:at + 4] for at in range(0, 16, 4)): rows[i]
                  for text, i in dashed.items()}
        counts = [check_topic(place, topic, stored) for topic in TOPICS]
        changes = sum(seller.changes for seller in sellers)
        tap.comment(f"{changes} changes acknowledged on {len(rows)} offers, "
                    f"{sum(rows.values())} committed, {counts} records sent, 0 lost; "
                    f"{time.monotonic() - began:.0f} s")
        if changes < 10 * KILLS:
            raise AssertionError("the sellers did too little for this to mean anything")


tap.main()
