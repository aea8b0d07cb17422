# SPDX-License-Identifier: Apache-2.0
"""The servers behind six processes are killed -9 under load and come back: Kafka, ZooKeeper, PostgreSQL;
Kafka stands still again and again; and so do a composer, and a receiver, that have a second one.

Meanwhile no process ends; buyers search; sellers write as long as PostgreSQL is there, and are refused
with `unavailable` when it is not; /livez stays, and /readyz tells which server is missing: 503 where
nothing can be done without it, else 200. When the server is back everything goes on by itself: a new
write is found, all are ready. In the end nothing acknowledged is lost, and the index has what the
offers are.

The servers are this test's own. In the environment:
TORG_OUTAGE_SECONDS=60     so long each stays away
TORG_FREEZES=100           so often Kafka stands still
TORG_FREEZE_SECONDS=20-60  so long each time; the controller's session has its usual 9 s then
"""
import json
import os
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import market  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import fetch  # noqa: E402
from kit.sites import ROLES, OwnServers, SixProcesses  # noqa: E402

SECONDS = float(os.environ.get("TORG_OUTAGE_SECONDS", "0"))
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
FREEZES = int(os.environ.get("TORG_FREEZES", "6"))
FREEZE_SECONDS = os.environ.get("TORG_FREEZE_SECONDS", "")
NAMES = {"kafka": "Kafka", "zookeeper": "ZooKeeper", "postgres": "PostgreSQL"}
REPLACED_S = 25             # 10 s are promised; between polls a member has 30
# Who cannot do anything without it.
UNREADY = {"kafka": {"composer", "indexer"}, "zookeeper": {"indexer"},
           "postgres": {"offers", "composer", "receiver", "indexer"}}


class Console(threading.Thread):
    """Reads the pipeline all the time, for which every group's coordinator is asked for its offsets."""

    def __init__(self, where, key):
        super().__init__(daemon=True)
        self.caller = market.Caller(where, key)
        self.answers, self.ended, self.trouble = 0, False, None

    def run(self):
        while not self.ended:
            try:
                status, _ = self.caller.call("PipelineService/GetPipeline", {})
                self.answers += status == 200
            except market.Broken:
                time.sleep(0.02)


class Shop:
    """Sellers and a buyer on the six."""

    def __init__(self, site):
        self.site = site
        offers = site.at("offers")
        offers.write("catalog.json", json.dumps(market.CATALOG))
        applied = site.torg("offers", "catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))
        self.sellers = [market.Seller(number, self.key(f"s{number}"), SEED, self.at("offers"), pace=0.05)
                        for number in range(3)]
        self.prober = market.Seller(9, self.key("s9"), SEED, self.at("offers"))    # it is not started
        self.buyer = market.Buyer(self.at("search"))
        for thread in (*self.sellers, self.buyer):
            thread.start()
        self.goes_on(self.bought, "searches before the first outage")

    def at(self, role):
        return lambda: self.site.at(role).url

    def key(self, name):
        return self.make_key(name, "--seller", name, "--scope", "offers.read", "--scope", "offers.write")

    def make_key(self, *words):
        made = self.site.torg("offers", "key", "create", *words)
        tap.equal((made.returncode, made.stderr), (0, ""))
        return made.stdout.strip()

    def checked(self):
        tap.equal([one.trouble for one in (*self.sellers, self.buyer) if one.trouble], [])
        for role in ROLES:
            place = self.site.at(role)
            tap.equal(place.ended(), False, f"{role} ended by itself: {place.log()[-4000:]}")
        return True

    def written(self):
        return sum(seller.acknowledged for seller in self.sellers)

    def put_off(self):
        return sum(seller.caller.put_off for seller in self.sellers)

    def bought(self):
        return self.buyer.answers

    def goes_on(self, count, what):
        """It counts ten more."""
        begin = count()
        tap.wait_until(lambda: self.checked() and count() >= begin + 10, what=what)

    def readiness(self):
        """{role: (status, text)}; the processes live."""
        answers = {}
        for role in ROLES:
            operators = self.site.at(role).operators
            tap.equal(fetch(f"{operators}/livez"), (200, "ok\n"), role)
            answers[role] = fetch(f"{operators}/readyz")
        return answers

    def wait_told(self, server):
        """Every process tells that the server is missing; some are not ready for that. On a busy machine
        another server may be silent, too, for a while."""
        said, answers = f"{NAMES[server]} has not answered for ", {}

        def is_told():
            answers.update(self.readiness())
            unready = {role for role, (status, _) in answers.items() if status != 200}
            return self.checked() and unready == UNREADY[server] and \
                all(said in text for _, text in answers.values())

        try:
            tap.wait_until(is_told, what=f"/readyz tells of {server}")
        except AssertionError as late:
            raise AssertionError(f"{late}: {answers}") from late

    def wait_well(self):
        def are_well():
            return self.checked() and set(self.readiness().values()) == {(200, "ready\n")}

        tap.wait_until(are_well, what="all are ready")

    def refuse(self):
        """A write is told that it did not take place, and why."""
        caller = market.Caller(self.at("offers"), self.prober.caller.key)
        content = market.content_of("refused", "bikes", 0, self.prober.rng)
        status, answer = caller.call("OfferService/CreateOffer", {"content": content})
        tap.equal((status, answer.get("code")), (503, "unavailable"), answer)
        tap.contains(answer.get("message", ""), "postgres")

    def find(self):
        """A new offer is written and found."""
        self.prober.publish()
        offer = list(self.prober.offers.values())[-1]
        title = offer["content"]["title"]

        def is_found():
            try:
                status, answer = market.Caller(self.at("search")).call(
                    "SearchService/SearchOffers", {"text": f'"{title}"', "keepSpelling": True})
            except market.Broken:
                return False
            return self.checked() and status == 200 and \
                offer["id"] in [one["id"] for one in answer.get("offers", [])]

        tap.wait_until(is_found, what=f"{title} is found")

    def find_all(self):
        market.wait_for_index(market.Caller(self.at("search")),
                              market.active([*self.sellers, self.prober]))

    def outage(self, name, server):
        began = time.monotonic()
        server.kill()
        tap.comment(f"{name} is killed")
        if name == "postgres":
            self.goes_on(self.put_off, "writes are refused")
            self.refuse()
        else:
            self.goes_on(self.written, f"writes without {name}")
        self.goes_on(self.bought, f"searches without {name}")
        self.wait_told(name)
        time.sleep(max(0, began + SECONDS - time.monotonic()))
        self.goes_on(self.bought, f"searches without {name}")
        server.start_again()
        back = time.monotonic()
        self.goes_on(self.written, f"writes after {name} is back")
        self.find()
        self.wait_well()
        tap.comment(f"{name} was away for {back - began:.1f} s, all was well "
                    f"{time.monotonic() - back:.1f} s later")

    def freeze(self, kafka, seconds):
        """Kafka stands still. When it goes on, its controller may have given the broker up meanwhile:
        then it knows of no group for a moment, and has to be told of by each of its clients."""
        kafka.signal(signal.SIGSTOP)
        try:
            time.sleep(seconds)
            self.goes_on(self.bought, "searches while Kafka stands still")
        finally:
            kafka.signal(signal.SIGCONT)
        self.find()

    def check(self):
        """At rest: what was acknowledged is found, and nothing else; all stages agree."""
        market.stop([*self.sellers, self.buyer])
        wanted = market.active([*self.sellers, self.prober])
        market.wait_for_index(market.Caller(self.at("search")), wanted)
        lines = chain.verify(self.site.at("searcher"), "--rebuild", "--client", "offers",
                             *self.site.backends)
        done = self.site.torg("offers", "offers", "counters", "--verify")
        tap.equal((done.returncode, done.stderr), (0, ""), done.stdout)
        tap.comment(f"{self.written()} writes acknowledged, {self.put_off()} put off, {len(wanted)} "
                    f"offers at the end, {self.buyer.answers} searches, {self.buyer.refusals} refused; "
                    f"checked {sorted(lines)}")


@tap.test
def a_server_that_is_killed_and_comes_back_loses_nothing():
    for server in NAMES:
        tap.need(server)
    tap.comment(f"seed {SEED}")
    with OwnServers() as servers, \
            SixProcesses(servers["postgres"], servers["kafka"].address,
                         servers["zookeeper"].address) as site:
        shop = Shop(site)
        for name in random.Random(SEED).sample(sorted(servers), len(servers)):
            shop.outage(name, servers[name])
        shop.check()
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])


@tap.test
def a_process_that_stands_still_is_replaced_soon():
    """Its partitions are another's when its heartbeats have not come for 6 s. What is written meanwhile
    is found then, without it."""
    for server in NAMES:
        tap.need(server)
    with OwnServers() as servers, \
            SixProcesses(servers["postgres"], servers["kafka"].address,
                         servers["zookeeper"].address) as site:
        for role in ("composer", "receiver"):
            site.double(role)
        shop = Shop(site)
        shop.find()
        market.stop([*shop.sellers, shop.buyer])
        for role in ("composer", "receiver"):
            site.at(role).process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            try:
                for _ in range(12):         # of all partitions, or nearly
                    shop.prober.publish()
                shop.find_all()
                took = time.monotonic() - began
            finally:
                site.at(role).process.send_signal(signal.SIGCONT)
            tap.comment(f"a {role} stood still: all was found {took:.1f} s later")
            tap.equal(took < tap.at_load(REPLACED_S), True, f"{role}: {took:.1f} s")
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])


def range_of(text):
    """Seconds, of 20-60."""
    low, _, high = text.partition("-")
    return float(low), float(high or low)


@tap.test
def a_kafka_that_stands_still_again_and_again_ends_nobody():
    for server in NAMES:
        tap.need(server)
    tap.comment(f"seed {SEED}")
    rng = random.Random(SEED)
    low, high = range_of(FREEZE_SECONDS or "3-6")
    if not FREEZE_SECONDS:      # what needs 9 s by Kafka's own settings
        os.environ["TORG_KAFKA_SETTINGS"] = \
            "broker.session.timeout.ms=2000 broker.heartbeat.interval.ms=500"
    with OwnServers() as servers, \
            SixProcesses(servers["postgres"], servers["kafka"].address,
                         servers["zookeeper"].address) as site:
        shop = Shop(site)
        key = shop.make_key("console", "--scope", "pipeline.read")
        consoles = [Console(shop.at("offers"), key) for _ in range(3)]
        for console in consoles:
            console.start()
        for number in range(1, FREEZES + 1):
            seconds = rng.uniform(low, high)
            shop.freeze(servers["kafka"], seconds)
            tap.comment(f"freeze {number} of {FREEZES}: {seconds:.1f} s, all live")
        tap.equal(all(console.answers for console in consoles), True)
        market.stop(consoles)
        shop.check()
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])


tap.main()
