# SPDX-License-Identifier: Apache-2.0
"""Random edits of thousands of offers, by calls and by feeds, while faults are put between the stages: of one
process on the embedded backends, then of six on PostgreSQL, Kafka and ZooKeeper.

Faults: kill -9, of six also several at once; a process (of six also the broker) that stands still for
seconds; records that cannot be read, in every topic; a catalogue that lacks the category of many
offers, which park; a disk that takes nothing; offers that expire. A buyer searches all the time:
nothing older is shown after something newer, and nothing that lacks the word it was found by.

At rest the index has every ACTIVE offer with its title, price and category, and nothing else: as the
sellers think (a naive model), as their cabinets say, and as searches find, page by page. Counters equal
a recount, and `torg verify --rebuild` passes.

usage: converge.py TOPIC_PUT, with TORG_CONVERGE_SECONDS (of faults), TORG_CONVERGE_OFFERS, the same as
TORG_CONVERGE_SIX_… for the six, and TORG_CRASH_SEED in the environment. With the release binary: it is
about what happens, not about memory.
"""
import json
import os
import random
import resource
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
PUT = sys.argv.pop(1)
os.environ["TORG_BIN"] = os.environ.get("TORG_RELEASE_BIN") or os.environ.get("TORG_BIN", "")
from kit import chain  # noqa: E402
from kit import market  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, open_sqlite  # noqa: E402
from kit.sites import ROLES, OneProcess, OwnKafka, SixProcesses  # noqa: E402

SECONDS = tap.count(6, 900, "TORG_CONVERGE_SECONDS")
OFFERS = tap.count(1200, 10000, "TORG_CONVERGE_OFFERS")
SIX_SECONDS = tap.count(6, 900, "TORG_CONVERGE_SIX_SECONDS")
SIX_OFFERS = tap.count(300, 5000, "TORG_CONVERGE_SIX_OFFERS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS, FEEDS = 6, 4
BY_CALLS = 0.25             # of the offers; the others come by feeds
PIECE = 500                 # events of a call
FULL_DISK_SIZE = 4096       # of a file: hardly anything can be written
WORDS = ("--searcher.checkpoint=700ms", "--registry.shards=2")
UNREADABLE = "message: a field number is out of range"   # why topic-put's records are refused
# Ignored signals stay so in the new program: a write beyond the limit fails, and no more.
OPTIONS = {"restore_signals": False}
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


class Shop:
    """A site with sellers and feeds, and the faults that happen to it."""

    def __init__(self, site, offers, seconds):
        self.site, self.goal, self.seconds = site, offers, seconds
        self.down = set()           # roles whose process does not run
        self.rng = random.Random(f"{SEED}/faults")
        self.counts = {}
        self.sellers, self.feeds = [], []

    def begin(self):
        offers = self.site.at("offers")
        offers.write("catalog.json", json.dumps(market.CATALOG))
        less = [one for one in market.CATALOG["categories"] if one["id"] != "toys"]
        offers.write("less.json", json.dumps({**market.CATALOG, "categories": less}))
        self.apply("catalog.json")
        self.moderator = self.key("m", "moderation")
        for number in range(SELLERS):
            seller = Seller(number, self.key(f"s{number}", seller=True), SEED, self.offers_url,
                            goal=int(self.goal * BY_CALLS / SELLERS), pace=0)
            seller.moderator = market.Caller(self.offers_url, self.moderator)
            self.sellers.append(seller)
        for number in range(FEEDS):
            self.feeds.append(Feed(number, self.key(f"f{number}", seller=True), self.offers_url,
                                   int(self.goal * (1 - BY_CALLS) / FEEDS)))

    def key(self, name, *scopes, seller=False):
        words = ["--seller", name] if seller else []
        for scope in scopes or ("offers.read", "offers.write"):
            words += ["--scope", scope]
        made = self.site.torg("offers", "key", "create", name, *words)
        tap.equal((made.returncode, made.stderr), (0, ""))
        return made.stdout.strip()

    def command(self, *words):
        """Again when its transaction lost against those of sellers too often, as sellers do."""
        done = tap.wait_until(lambda: self.unless_put_off(*words), what=f"an answer to {words}")
        tap.equal((done.returncode, done.stderr), (0, ""))
        return done

    def unless_put_off(self, *words):
        done = self.site.torg("offers", *words)
        return None if done.returncode and "given up after" in done.stderr else done

    def apply(self, name):
        self.command("catalog", "apply", name, "--force")

    def url(self, role):
        return None if role in self.down else self.site.at(role).url

    def offers_url(self):
        return self.url("offers")

    def search_url(self):
        return self.url("search")

    def count(self, what, more=1):
        self.counts[what] = self.counts.get(what, 0) + more

    def check_running(self, when):
        for place in self.site.all():
            tap.equal(place.ended(), False, f"a process ended by itself {when}: {place.log()[-4000:]}")

    # --- faults ---

    def fault(self):
        kinds, weights = self.kinds()
        kind = self.rng.choices(kinds, weights)[0]
        self.check_running("before")
        self.count(kind.__name__)
        kind()
        self.check_running(f"after {kind.__name__}")

    def spoil(self):
        """Records that nobody can read, some with the id of a real offer."""
        for topic in self.rng.sample(TOPICS, 2):
            offers = [offer["id"] for offer in list(self.sellers[0].offers.values())]
            key = self.rng.choice(["nobody", ""] + offers[:50])
            done = tap.run(PUT, self.topics(), topic, key)
            if f"there is no topic {topic}" in done.stderr:
                continue            # nothing has been sent to it yet
            tap.equal((done.returncode, done.stderr), (0, ""))
            self.count("unreadable")

    def expire(self):
        """The time of some offers that nobody touches any more has come."""
        chosen = [offer for seller in self.sellers for offer in seller.idle[:10]
                  if offer["status"] == "ACTIVE"]
        ids = ", ".join(offer["id"].replace("-", "") for offer in chosen)
        if chosen:
            self.run_sql(f"UPDATE offer SET expires_us = 1 WHERE kind = 'offer' AND id IN ({ids})")
        for offer in chosen:
            offer["status"] = "EXPIRED"
        for seller in self.sellers:
            del seller.idle[:10]
        self.count("expired", len(chosen))

    def freeze(self):
        self.pause(self.site.at(self.choose()).process.send_signal)

    def pause(self, send):
        """Short in CI; by hand also longer than leases last."""
        send(signal.SIGSTOP)
        time.sleep(self.rng.choice((0.3, 1, 2.5, 6, 20)) if self.seconds > 60
                   else self.rng.uniform(0.3, 2))
        send(signal.SIGCONT)

    def forget(self):
        """The catalogue lacks a category for a while: changes of its offers park, and are replayed."""
        self.apply("less.json")
        time.sleep(self.rng.uniform(0.2, 1.2))
        if self.rng.random() < 0.4:
            self.kill()
        self.apply("catalog.json")
        done = self.command("parked", "replay", "--all")
        self.count("parked", int(done.stdout.split()[0]))

    def fill(self):
        """The disk is full: files do not grow."""
        none = resource.RLIM_INFINITY
        place = self.site.at("searcher")
        resource.prlimit(place.process.pid, resource.RLIMIT_FSIZE, (FULL_DISK_SIZE, none))
        time.sleep(self.rng.uniform(0.1, 1.5))
        if self.rng.random() < 0.3:
            self.kill("searcher")       # in the middle of that; its successor has room
            return
        resource.prlimit(place.process.pid, resource.RLIMIT_FSIZE, (none, none))

    # --- what must hold ---

    def check_offers(self):
        """The model is what the cabinets say. Gives {id: (title, price, category)} of ACTIVE ones."""
        found = {}
        for seller in self.sellers:
            listed = self.list_settled(seller)
            tap.equal(listed, market.active([seller]), f"the cabinet of {seller.prefix}")
            found.update(listed)
        for feed in self.feeds:
            listed = list_active(feed.caller)
            names = {shown[0].split()[-1]: shown for shown in listed.values()}
            tap.equal(names, {name: market.shown_of(content)
                              for name, content in feed.items.items()}, f"feed {feed.number}")
            found.update(listed)
        return found

    def list_settled(self, seller):
        """Offers whose time has come end with a round of the worker, which may have died."""
        deadline = time.monotonic() + tap.PATIENCE_S
        while True:
            listed = list_active(seller.caller)
            if listed == market.active([seller]) or time.monotonic() > deadline:
                return listed
            time.sleep(0.1)

    def check_parked(self):
        def are_none_left():
            done = self.site.torg("offers", "parked", "list", "--stage", "composer")
            tap.equal(done.returncode, 0, done.stderr)
            self.site.torg("offers", "parked", "replay", "--all", "--stage", "composer")
            return done.stdout == "0 parked\n"

        tap.wait_until(are_none_left, what="no parked offers")

    def check_words(self, buyer, offers):
        """What is found by a title's words is what has them now: the title was shown, so it is
        found."""
        for word in market.WORDS:
            wanted = {one: shown for one, shown in offers.items() if shown[0].startswith(word)}
            found = market.search_all(buyer, text=f'"{word}"', keepSpelling=True)
            tap.equal(found == wanted, True, f"{word}: {market.difference(found, wanted)}")

    def check_refused(self):
        """No stage refused anything but the records that nobody can read: no document made of an
        offer, no event of a feed."""
        reader = market.Caller(self.offers_url, self.key("looker", "pipeline.read"))
        records = reader.ok("ParkedService/ListParked", {"limit": 500}).get("records", [])
        tap.equal([one for one in records if not one["reason"].startswith(UNREADABLE)], [])
        tap.comment(f"{len(records)} unreadable records are kept")

    def check_all(self):
        market.stop([*self.sellers, *self.feeds])
        began = time.monotonic()
        self.check_parked()
        offers = self.check_offers()
        buyer = market.Caller(self.search_url)
        market.wait_for_index(buyer, offers)
        self.check_words(buyer, offers)
        tap.comment(f"at rest {time.monotonic() - began:.1f} s after the last write")
        self.check_refused()
        place = self.site.at("offers")
        done = tap.run(*place.command("offers", "counters", "--verify", *self.site.backends),
                       cwd=place.dir, env=place.environment())
        tap.equal((done.returncode, done.stderr), (0, ""), done.stdout[-2000:])
        tap.comment(done.stdout.splitlines()[-1])
        lines = chain.verify(self.site.at("searcher"), "--rebuild", *self.verify_words())
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


class OneShop(Shop):
    """All of it is killed at once; what cannot be done beside a server is done then."""

    def kinds(self):
        return (self.kill, self.freeze, self.forget, self.fill), (5, 2, 2, 2)

    def choose(self):
        return "offers"

    def kill(self, _role=None):
        self.down = set(ROLES)
        self.site.place.process.kill()
        self.site.place.process.wait()
        self.spoil()
        self.expire()
        self.site.start()
        self.down = set()

    def topics(self):
        return self.site.place.data / "topics"

    def run_sql(self, sql):
        with open_sqlite(self.site.place.data / "store.sqlite") as base:
            base.execute(sql)

    def verify_words(self):
        return ()


class SixShop(Shop):
    """One process or several are killed; the others go on."""

    def __init__(self, site, database, kafka, offers, seconds):
        super().__init__(site, offers, seconds)
        self.database, self.kafka = database, kafka

    def kinds(self):
        return ((self.kill, self.kill_some, self.freeze, self.forget, self.fill, self.spoil, self.stall),
                (8, 2, 4, 2, 2, 2, 2))

    def choose(self):
        return self.rng.choice(list(ROLES))

    def kill(self, role=None):
        self.kill_these([role or self.choose()])

    def kill_some(self):
        self.kill_these(self.rng.sample(list(ROLES), self.rng.randrange(2, len(ROLES) + 1)))

    def kill_these(self, roles):
        for role in roles:
            self.count(f"kill {role}")
            self.site.at(role).process.kill()
            self.site.at(role).process.wait()
            self.down.add(role)
        time.sleep(self.rng.choice((0, 0, self.rng.uniform(0, 2))))
        if "offers" in roles:
            self.expire()
        for role in roles:
            self.site.start(role)
            self.down.discard(role)

    def stall(self):
        """The broker stands still."""
        self.pause(self.kafka.signal)

    def topics(self):
        return self.site.topics

    def run_sql(self, sql):
        """What a killed process has asked for may still be going on, and want the same rows in another order."""
        def unless_deadlocked():
            done = tap.run(tap.tool("psql"), self.database.url, "-qc", sql)
            return None if "deadlock detected" in done.stderr else done

        done = tap.wait_until(unless_deadlocked, what="an answer of PostgreSQL")
        tap.equal(done.returncode, 0, done.stderr)

    def verify_words(self):
        return ("--client", "offers", *self.site.backends)


def wait_for_offers(shop):
    """All were published, however long that takes, as long as it goes on."""
    def published():
        return sum(seller.published for seller in shop.sellers)

    def are_all():
        return all(seller.published >= seller.goal or seller.trouble for seller in shop.sellers)

    while not are_all():
        before = published()
        tap.wait_until(lambda: are_all() or published() >= before + 10, what="more offers published")


def put_to_the_test(shop):
    shop.begin()
    began = time.monotonic()
    buyer = market.Buyer(shop.search_url)
    threads = [*shop.sellers, *shop.feeds, buyer]
    for thread in threads:
        thread.start()
    while time.monotonic() < began + shop.seconds:
        time.sleep(shop.rng.uniform(0.2, 2))
        shop.fault()
        tap.equal([thread.trouble for thread in threads if thread.trouble], [])
    wait_for_offers(shop)
    market.stop([buyer])
    offers = shop.check_all()
    calls = sum(seller.acknowledged for seller in shop.sellers)
    rows = sum(feed.rows for feed in shop.feeds)
    put_off = sum(one.caller.put_off for one in (*shop.sellers, *shop.feeds))
    tap.comment(f"{shop.counts}; {calls} writes by call, {put_off} put off, {rows} rows in "
                f"{sum(feed.tasks for feed in shop.feeds)} tasks of feeds; {len(offers)} ACTIVE, "
                f"{buyer.answers} searches, {buyer.refusals} refused; "
                f"{time.monotonic() - began:.0f} s")
    for place in shop.site.all():
        tap.equal(place.stop(), 0, place.log()[-4000:])
    tap.equal(len(offers) > shop.goal * 0.8, True, f"{len(offers)} of {shop.goal} are ACTIVE")


@tap.test
def at_rest_the_index_is_what_the_offers_are():
    tap.comment(f"seed {SEED}, {OFFERS} offers, {SECONDS:.0f} s of faults")
    with OneProcess(*WORDS, **OPTIONS) as site:
        put_to_the_test(OneShop(site, OFFERS, SECONDS))


@tap.test
def so_it_is_of_six_processes():
    zookeeper = tap.need("zookeeper")
    tap.comment(f"seed {SEED}, {SIX_OFFERS} offers, {SIX_SECONDS:.0f} s of faults")
    with Database() as database, OwnKafka() as kafka, \
            SixProcesses(database, kafka.address, zookeeper, shards=2, **OPTIONS) as site:
        put_to_the_test(SixShop(site, database, kafka, SIX_OFFERS, SIX_SECONDS))


tap.main()
