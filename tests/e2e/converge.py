# SPDX-License-Identifier: Apache-2.0
"""Random edits of 10 000 offers, by calls and by feeds, while faults are put between the stages.

Faults: kill -9; a process that stands still for seconds; records that cannot be read, in every topic;
a catalogue that lacks the category of many offers, which park; a disk that takes nothing; offers that
expire. A buyer searches all the time: nothing older is shown after something newer.

At rest the index has every ACTIVE offer with its title, price and category, and nothing else: as the
sellers think (a naive model), as their cabinets say, and as searches find, page by page. Counters equal
a recount, and `torg verify --rebuild` passes.

usage: converge.py TOPIC_PUT, with TORG_CONVERGE_SECONDS (of faults), TORG_CONVERGE_OFFERS and
TORG_CRASH_SEED in the environment. With the release binary: it is about what happens, not about memory.
"""
import json
import os
import random
import resource
import signal
import sqlite3
import sys
import threading
import time

sys.dont_write_bytecode = True
PUT = sys.argv.pop(1)
os.environ["TORG_BIN"] = os.environ.get("TORG_RELEASE_BIN") or os.environ.get("TORG_BIN", "")
import chain  # noqa: E402
import market  # noqa: E402
import tap  # noqa: E402
from binary import Place  # noqa: E402

SECONDS = float(os.environ.get("TORG_CONVERGE_SECONDS", "25"))
OFFERS = int(os.environ.get("TORG_CONVERGE_OFFERS", "10000"))
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS, FEEDS = 6, 4
BY_CALLS = 0.25             # of the offers; the others come by feeds
PIECE = 500                 # events of a call
FULL_DISK_SIZE = 4096       # of a file: hardly anything can be written
REST_S = 120
WORDS = ("up", "--searcher.checkpoint=700ms", "--registry.shards=2")
TOPICS = ("offer-updates", "documents", "index.offers.1", "moderation-opinions", "feed-events",
          "photo-results")


class Seller(market.Seller):
    """Leaves some offers alone for ever: those may be made to expire. Where the catalogue lacks the
    category a write is refused, and changes nothing."""

    def act(self):
        offer = self.offers[self.choose()] if self.published >= self.goal else None
        if offer and offer["status"] == "ACTIVE" and self.rng.random() < 0.01:
            offer["idle"] = True
            self.idle.append(offer)
        else:
            super().act()

    def worked(self):
        return [name for name, offer in self.offers.items() if not offer.get("idle")]

    def count(self):
        return len(self.worked())

    def choose(self):
        return self.rng.choice(self.worked())

    def is_refused(self, status, answer):
        return status == 400 and "toys" in json.dumps(answer)


class Feed(threading.Thread):
    """Sends its feed again and again: task after task, with offers changed, left out, and back."""

    def __init__(self, number, key, where, size):
        super().__init__(daemon=True)
        self.number, self.size = number, size
        self.rng = random.Random(f"{SEED}/feed/{number}")
        self.caller = market.Caller(where, key)
        self.versions = {}          # name: newest version ever sent
        self.items = {}             # name: content, of the feed as it is
        self.task = self.tasks = self.rows = 0
        self.ended = False
        self.trouble = None

    def run(self):
        try:
            while not self.ended or not self.task:
                self.change()
                self.send()
        except Exception as trouble:  # noqa: B902: told by the main thread
            self.trouble = f"{type(trouble).__name__}: {trouble}"

    def change(self):
        rng = self.rng
        for name in [name for name in self.items if rng.random() < 0.02]:
            del self.items[name]
        for name in [name for name in self.items if rng.random() < 0.1]:
            self.put(name)
        while len(self.items) < self.size:
            name = f"f{self.number}-{rng.randrange(self.size + self.size // 20)}"
            if name not in self.items:
                self.put(name)

    def put(self, name):
        version = self.versions[name] = self.versions.get(name, -1) + 1
        category = ("bikes", "books")[sum(name.encode()) % 2]
        content = market.content_of(name, category, version, self.rng)
        del content["externalId"]
        self.items[name] = content

    def send(self):
        """Whatever happens, the task is sent to its end; then the offers are the feed's."""
        self.task += 1
        events = [{"upsert": {"row": row, "externalId": name, "content": content}}
                  for row, (name, content) in enumerate(sorted(self.items.items()), 1)]
        events.append({"end": {"rowCount": len(self.items)}})
        for at in range(0, len(events), PIECE):
            piece = events[at:at + PIECE]
            piece[0] = {"taskId": self.task, **piece[0]}
            answer = self.caller.ok("FeedService/SendEvents", {"events": piece})
            self.rows += len(piece)
        if answer["state"] == "HELD":
            answer = self.caller.ok("FeedService/ConfirmTask", {"taskId": self.task})
        while answer["state"] == "ENDING":
            time.sleep(0.01)
            answer = self.caller.ok("FeedService/GetTask", {"taskId": self.task})
        tap.equal((answer["state"], answer["counts"].get("refused")), ("DONE", None), answer)
        self.tasks += 1


class Shop(Place):
    """The server, and the faults that happen to it."""

    def __enter__(self):
        super().__enter__()
        self.up = False
        self.rng = random.Random(f"{SEED}/faults")
        self.counts = {}
        self.sellers, self.feeds = [], []
        # Ignored signals stay so in the new program: a write beyond the limit fails, and no more.
        self.options = {"restore_signals": False}
        return self

    def begin(self):
        self.start(*WORDS)
        self.up = True
        self.write("catalog.json", json.dumps(market.CATALOG))
        less = [one for one in market.CATALOG["categories"] if one["id"] != "toys"]
        self.write("less.json", json.dumps({**market.CATALOG, "categories": less}))
        self.apply("catalog.json")
        self.moderator = self.key("m", "moderation")
        for number in range(SELLERS):
            seller = Seller(number, self.key(f"s{number}", seller=True), SEED, self.where,
                            goal=int(OFFERS * BY_CALLS / SELLERS), pace=0)
            seller.moderator = market.Caller(self.where, self.moderator)
            self.sellers.append(seller)
        for number in range(FEEDS):
            self.feeds.append(Feed(number, self.key(f"f{number}", seller=True), self.where,
                                   int(OFFERS * (1 - BY_CALLS) / FEEDS)))

    def key(self, name, *scopes, seller=False):
        words = ["--seller", name] if seller else []
        for scope in scopes or ("offers.read", "offers.write"):
            words += ["--scope", scope]
        made = self.torg("key", "create", name, *words)
        tap.equal((made.returncode, made.stderr), (0, ""))
        return made.stdout.strip()

    def apply(self, name):
        done = self.torg("catalog", "apply", name, "--force")
        tap.equal((done.returncode, done.stderr), (0, ""))

    def where(self):
        return self.url if self.up else None

    # --- faults ---

    def fault(self):
        kind = self.rng.choices((self.kill, self.freeze, self.forget, self.fill), (5, 2, 2, 2))[0]
        tap.equal(self.ended(), False, f"it ended by itself: {self.log()[-4000:]}")
        self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1
        kind()
        tap.equal(self.ended(), False, f"it ended by itself after {kind.__name__}: "
                                       f"{self.log()[-4000:]}")

    def kill(self):
        self.up = False
        self.process.kill()
        self.process.wait()
        self.spoil()
        self.expire()
        self.start(*WORDS)
        self.up = True

    def spoil(self):
        """Records that nobody can read, some with the id of a real offer."""
        for topic in self.rng.sample(TOPICS, 2):
            if not (self.data / "topics" / "topics" / topic).exists():
                continue
            offers = [offer["id"] for offer in list(self.sellers[0].offers.values())]
            key = self.rng.choice(["nobody", ""] + offers[:50])
            done = tap.run(PUT, self.data / "topics", topic, key)
            tap.equal((done.returncode, done.stderr), (0, ""))
            self.counts["unreadable"] = self.counts.get("unreadable", 0) + 1

    def expire(self):
        """The time of some offers that nobody touches any more has come."""
        chosen = [offer for seller in self.sellers for offer in seller.idle[:10]
                  if offer["status"] == "ACTIVE"]
        with sqlite3.connect(self.data / "store.sqlite") as base:
            for offer in chosen:
                base.execute("UPDATE offer SET expires_us = 1 WHERE id = ? AND kind = 'offer'",
                             (int(offer["id"].replace("-", "")),))
        base.close()
        for offer in chosen:
            offer["status"] = "EXPIRED"
        for seller in self.sellers:
            del seller.idle[:10]
        self.counts["expired"] = self.counts.get("expired", 0) + len(chosen)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(self.rng.choice((0.3, 1, 2.5, 6)) if SECONDS > 60 else self.rng.uniform(0.3, 2))
        self.process.send_signal(signal.SIGCONT)

    def forget(self):
        """The catalogue lacks a category for a while: changes of its offers park, and are replayed."""
        self.apply("less.json")
        time.sleep(self.rng.uniform(0.2, 1.2))
        if self.rng.random() < 0.4:
            self.kill()
        self.apply("catalog.json")
        done = self.torg("composer", "replay", "--all")
        tap.equal((done.returncode, done.stderr), (0, ""))
        self.counts["parked"] = self.counts.get("parked", 0) + int(done.stdout.split()[0])

    def fill(self):
        """The disk is full: files do not grow."""
        none = resource.RLIM_INFINITY
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (FULL_DISK_SIZE, none))
        time.sleep(self.rng.uniform(0.1, 1.5))
        if self.rng.random() < 0.3:
            self.kill()                 # in the middle of that; its successor has room
            return
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (none, none))

    # --- what must hold ---

    def check_offers(self):
        """The model is what the cabinets say. Gives {id: (title, price, category)} of ACTIVE ones."""
        found = {}
        for seller in self.sellers:
            listed = list_active(seller.caller)
            tap.equal(listed, market.active([seller]), f"the cabinet of {seller.prefix}")
            found.update(listed)
        for feed in self.feeds:
            listed = list_active(feed.caller)
            names = {shown[0].split()[-1]: shown for shown in listed.values()}
            tap.equal(names, {name: market.shown_of(content)
                              for name, content in feed.items.items()}, f"feed {feed.number}")
            found.update(listed)
        return found

    def check_parked(self):
        def are_none_left():
            done = self.torg("composer", "list")
            tap.equal(done.returncode, 0, done.stderr)
            self.torg("composer", "replay", "--all")
            return done.stdout == "0 parked\n"

        tap.wait_until(are_none_left, REST_S, "no parked offers")

    def check_words(self, buyer, offers):
        """What is found by a title's words is what has them now; a changed text is found a moment
        after it is shown."""
        for word in market.WORDS:
            wanted = {one: shown for one, shown in offers.items() if shown[0].startswith(word)}
            market.wait_for_index(buyer, wanted, REST_S, text=f'"{word}"', keepSpelling=True)

    def check_refused(self):
        """No document made of an offer was refused by the registry."""
        status, answer = self.call("TopicService/ListTopics", {}, self.start_key)
        tap.equal(status, 200, answer)
        dead = [one for one in answer["topics"]
                if one["name"] == "dead-documents.offers" and int(one.get("recordCount", 0))]
        tap.equal(dead, [])

    def check_all(self):
        market.stop([*self.sellers, *self.feeds])
        began = time.monotonic()
        self.check_parked()
        offers = self.check_offers()
        buyer = market.Caller(self.where)
        market.wait_for_index(buyer, offers, REST_S)
        self.check_words(buyer, offers)
        tap.comment(f"at rest {time.monotonic() - began:.1f} s after the last write")
        self.check_refused()
        done = tap.run(*self.command("offers", "counters", "--verify"), timeout=300, cwd=self.dir,
                       env=self.environment())
        tap.equal((done.returncode, done.stderr), (0, ""), done.stdout[-2000:])
        tap.comment(done.stdout.splitlines()[-1])
        lines = chain.verify(self, "--rebuild")
        tap.comment(f"verified {sorted(check for check, client in lines if client == 'offers')} in "
                    f"{time.monotonic() - began:.1f} s")
        return offers


def list_active(caller):
    found, token = {}, ""
    while True:
        page = caller.ok("CabinetService/ListOffers", {"preset": "ACTIVE", "pageSize": 100,
                                                       "pageToken": token})
        for offer in page.get("offers", []):
            found[offer["id"]] = market.shown_of(offer["content"])
        token = page.get("nextPageToken")
        if not token:
            return found


@tap.test
def at_rest_the_index_is_what_the_offers_are():
    tap.comment(f"seed {SEED}, {OFFERS} offers, {SECONDS:.0f} s of faults")
    with Shop() as shop:
        shop.begin()
        began = time.monotonic()
        buyer = market.Buyer(shop.where)
        threads = [*shop.sellers, *shop.feeds, buyer]
        for thread in threads:
            thread.start()
        while time.monotonic() < began + SECONDS:
            time.sleep(shop.rng.uniform(0.2, 2))
            shop.fault()
            tap.equal([thread.trouble for thread in threads if thread.trouble], [])
        # All were published, however long that takes.
        tap.wait_until(lambda: all(seller.published >= seller.goal or seller.trouble
                                   for seller in shop.sellers), REST_S, "all offers published")
        market.stop([buyer])
        offers = shop.check_all()
        calls = sum(seller.acknowledged for seller in shop.sellers)
        rows = sum(feed.rows for feed in shop.feeds)
        put_off = sum(one.caller.put_off for one in (*shop.sellers, *shop.feeds))
        tap.comment(f"{shop.counts}; {calls} writes by call, {put_off} put off, {rows} rows in "
                    f"{sum(feed.tasks for feed in shop.feeds)} tasks of feeds; {len(offers)} ACTIVE, "
                    f"{buyer.answers} searches, {buyer.refusals} refused; "
                    f"{time.monotonic() - began:.0f} s")
        tap.equal(shop.stop(), 0, shop.log()[-4000:])
        tap.equal(len(offers) > OFFERS * 0.8, True, f"{len(offers)} of {OFFERS} are ACTIVE")


tap.main()
