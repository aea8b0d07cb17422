# SPDX-License-Identifier: Apache-2.0
"""Kills `torg up` at random moments while sellers send feeds, and starts it again.

A seller sends task after task, in pieces or as one stream; what breaks is sent again from the start.
When a task is acknowledged as DONE, the seller's offers are exactly the feed's. Rows acknowledged in a
piece are never lost. In the end every offer is in both topics as it is stored, revisions of an offer
never go back, and counters equal a recount.

usage: crash_feeds.py TOPIC_DUMP, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
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
KILLS = tap.count(8, 100, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS = 3
ITEMS = 150                 # of a feed, about
PIECE = 40
CATALOG = {"defaults": {"policy": {"titleMin": 1, "titleMax": 50, "currencies": ["RUB"],
                                   "price": "REQUIRED"}},
           "categories": [{"id": "books", "name": {"en": "Books"}}]}


class Broken(Exception):
    """The server is gone: whether the call took place is unknown."""


class Seller(threading.Thread):
    def __init__(self, number, key, seed):
        super().__init__(daemon=True)
        self.key, self.rng = key, random.Random(f"{seed}/{number}")
        self.items = {}             # what the feed says
        self.task = 0
        self.state = None           # of the task, as acknowledged last
        self.rows = 0               # of the task, as acknowledged last
        self.tasks = self.undone = 0
        self.trouble = None
        self.url = None             # None: no server
        self.ended = False
        self.connection = None

    def run(self):
        try:
            while not self.ended or self.state != "DONE":
                try:
                    self.act()
                except Broken:
                    time.sleep(0.005)
        except Exception as trouble:  # noqa: B902: told by the main thread
            self.trouble = f"{type(trouble).__name__}: {trouble}"

    def act(self):
        if self.state in (None, "DONE", "UNDONE"):
            self.change()
            self.task += 1
            self.state, self.rows = "NEW", 0
        answer = self.send()
        if answer["state"] == "HELD":
            answer = self.call("ConfirmTask", {"taskId": self.task})
        while answer["state"] == "ENDING":
            answer = self.call("GetTask", {"taskId": self.task})
        if answer["state"] != "DONE":
            raise AssertionError(f"task {self.task}: {answer}")
        shown = self.shown()
        if shown != self.items:
            raise AssertionError(f"task {self.task} is DONE with {len(shown)} offers, "
                                 f"not the {len(self.items)} of the feed: {answer}")
        self.tasks += 1
        self.state = "DONE"
        if self.tasks % 5 == 0 and not self.ended:
            self.undo()

    def undo(self):
        """What it was before is there again: sent as the next task, nothing changes."""
        before = self.previous
        self.state = "UNDO"
        while True:
            try:
                answer = self.call("UndoTask", {"taskId": self.task})
                while answer["state"] == "UNDOING":
                    answer = self.call("GetTask", {"taskId": self.task})
                shown = self.shown()
                break
            except Broken:
                time.sleep(0.005)
        if answer["state"] != "UNDONE" or shown != before:
            raise AssertionError(f"task {self.task} is undone with {len(shown)} offers, "
                                 f"not {len(before)}: {answer}")
        self.items, self.undone, self.state = dict(before), self.undone + 1, "UNDONE"

    def change(self):
        rng = self.rng
        self.previous = dict(self.items)
        for name in [name for name in self.items if rng.random() < 0.1]:
            del self.items[name]
        for name in [name for name in self.items if rng.random() < 0.2]:
            self.items[name] = rng.randrange(1, 10**6)
        while len(self.items) < ITEMS or rng.random() < 0.8:
            self.items.setdefault(f"p{rng.randrange(2 * ITEMS)}", rng.randrange(1, 10**6))
            if len(self.items) > ITEMS * 1.5:
                break

    def send(self):
        """All rows and the end, in pieces; rows acknowledged before must be there."""
        events = [{"upsert": {"row": row, "externalId": name, "content": {
            "category": "books", "title": "A book", "price": {"amount": amount, "currency": "RUB"}}}}
                  for row, (name, amount) in enumerate(sorted(self.items.items()), 1)]
        events.append({"end": {"rowCount": len(self.items)}})
        answer = None
        for at in range(0, len(events), PIECE):
            piece = events[at:at + PIECE]
            piece[0] = {"taskId": self.task, **piece[0]}
            answer = self.call("SendEvents", {"events": piece})
            rows = int(answer["counts"].get("rows", 0))
            if rows < self.rows:
                raise AssertionError(f"task {self.task}: {rows} rows, {self.rows} acknowledged")
            self.rows = rows
        return answer

    def shown(self):
        found, token = {}, ""
        while True:
            answer = self.call("CabinetService/ListOffers", {"pageSize": 100, "pageToken": token})
            for offer in answer.get("offers", []):
                content = offer["content"]
                found[content["externalId"]] = int(content["price"]["amount"])
            token = answer.get("nextPageToken")
            if not token:
                return found

    def call(self, method, message):
        method = method if "/" in method else f"FeedService/{method}"
        while True:
            url = self.url
            if url:
                break
            time.sleep(0.002)
        try:
            if self.connection is None or self.connection.url != url:
                self.connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc,
                                                             timeout=tap.PATIENCE_S)
                self.connection.url = url
            self.connection.request("POST", f"/torg.v1.{method}", json.dumps(message),
                                    {"Content-Type": "application/json",
                                     "Authorization": f"Bearer {self.key}"})
            answer = self.connection.getresponse()
            status, told = answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as gone:
            self.connection = None
            raise Broken(str(gone)) from gone
        if status == 503:
            raise Broken(str(told))
        if status != 200:
            raise AssertionError(f"{method} {self.task}: {status} {told}")
        return told


@tap.test
def feeds_are_whole_whenever_it_is_killed():
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
            time.sleep(rng.uniform(0.02, 0.7))
            # On a slow machine until some tasks are done: else nothing but first rows is sent.
            tap.wait_until(lambda: any(seller.trouble for seller in sellers)
                           or sum(seller.tasks for seller in sellers) >= (number + 1) // 3,
                           what="tasks between the kills")
            for seller in sellers:
                seller.url = None
            place.process.send_signal(signal.SIGKILL)
            place.process.wait()
            place.start()
        for seller in sellers:
            seller.url, seller.ended = place.url, True
        for seller in sellers:
            seller.join(timeout=2 * tap.PATIENCE_S)
        tap.equal([seller.trouble for seller in sellers if seller.trouble], [])
        tap.equal([seller.state for seller in sellers], ["DONE"] * SELLERS)
        crashed.wait_for_export(place)
        tap.equal(place.stop(), 0)
        rows = crashed.recount(place)
        counts = crashed.check_topics(place, DUMP, rows)
        tasks = sum(seller.tasks for seller in sellers)
        tap.comment(f"{tasks} tasks done, {sum(seller.undone for seller in sellers)} undone, "
                    f"{len(rows)} offers, {sum(rows.values())} changes committed, {counts} records "
                    f"sent, 0 lost; {time.monotonic() - began:.0f} s")
        if tasks < KILLS // 3:
            raise AssertionError("the sellers did too little for this to mean anything")


tap.main()
