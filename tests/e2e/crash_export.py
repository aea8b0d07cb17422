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
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
from kit import crashed  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

DUMP = sys.argv.pop(1)
KILLS = tap.count(12, 200, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS = 6
OFFERS_MAX = 40             # of a seller: then it changes those it has
MOVES = {"ACTIVE": ("WithdrawOffer", "ProlongOffer", "MarkOfferSold", "DeleteOffer"),
         "WITHDRAWN": ("RepublishOffer",), "SOLD_ON_SITE": ("RepublishOffer",), "DELETED": ()}
CATALOG = {"defaults": {"policy": {"titleMin": 1, "titleMax": 50, "currencies": ["RUB"],
                                   "price": "REQUIRED"}},
           "categories": [{"id": "books", "name": {"en": "Books"}}]}
CONTENT = {"category": "books", "title": "A book", "price": {"amount": 500, "currency": "RUB"}}


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
                        urllib.parse.urlparse(url).netloc, timeout=tap.PATIENCE_S)
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
        for number in range(KILLS):
            for seller in sellers:
                seller.url = place.url
            time.sleep(rng.uniform(0.01, 0.5))
            # On a slow machine a little more: else the kills meet nothing.
            tap.wait_until(lambda: any(seller.trouble for seller in sellers)
                           or sum(seller.changes for seller in sellers) >= 10 * (number + 1),
                           what="changes between the kills")
            for seller in sellers:          # told before: a late one would meet a refused port
                seller.url = None if rng.random() < 0.5 else seller.url
            place.process.send_signal(signal.SIGKILL)
            place.process.wait()
            for seller in sellers:
                seller.url = None
            place.start()
        for seller in sellers:
            seller.ended = True
            seller.join(timeout=tap.PATIENCE_S + 10)
        tap.equal([seller.trouble for seller in sellers if seller.trouble], [])
        crashed.wait_for_export(place)
        tap.equal(place.stop(), 0)
        rows = crashed.recount(place)
        lost = [offer for offer, revision in acknowledged.items()
                if rows.get(crashed.digits(offer), 0) < revision]
        tap.equal(lost[:5], [], f"acknowledged and lost ({len(lost)})")
        counts = crashed.check_topics(place, DUMP, rows)
        changes = sum(seller.changes for seller in sellers)
        tap.comment(f"{changes} changes acknowledged on {len(rows)} offers, "
                    f"{sum(rows.values())} committed, {counts} records sent, 0 lost; "
                    f"{time.monotonic() - began:.0f} s")
        if changes < 10 * KILLS:
            raise AssertionError("the sellers did too little for this to mean anything")


tap.main()
