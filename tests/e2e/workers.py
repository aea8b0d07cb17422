# SPDX-License-Identifier: Apache-2.0
"""Two processes with the role offers-worker share the shards, on PostgreSQL, ZooKeeper and Kafka;
one after the other is killed -9 while sellers write.

The other has all shards within the lease; in the end every committed change is in the topic, and
revisions of an offer do not go back.

usage: workers.py TOPIC_DUMP, with TORG_WORKER_KILLS and TORG_CRASH_SEED in the environment.
"""
import json
import os
import random
import re
import secrets
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import market  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, Place  # noqa: E402
from kit.shop import BOOK, CATALOG  # noqa: E402

DUMP = sys.argv.pop(1)
KILLS = tap.count(2, 20, "TORG_WORKER_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SELLERS = 8
SHARDS = 64
LEASE_S = 5                 # COORD_LEASE_MS_DEFAULT
TOPICS = ("offer-updates", "moderation-requests")
MOVES = {"ACTIVE": ("WithdrawOffer", "ProlongOffer"), "WITHDRAWN": ("RepublishOffer",)}


class Seller(threading.Thread):
    """Publishes and changes offers until told to stop."""

    def __init__(self, place, key, number):
        super().__init__(daemon=True)
        self.place, self.key, self.rng = place, key, random.Random(f"{SEED}/{number}")
        self.ended, self.trouble, self.changes = False, None, 0
        self.offers = {}            # id: (revision, status)

    def run(self):
        try:
            while not self.ended:
                self.act()
                time.sleep(tap.rest_s(0.05))
        except (AssertionError, OSError) as trouble:
            self.trouble = str(trouble)

    def act(self):
        if not self.offers or len(self.offers) < 30 and self.rng.random() < 0.3:
            method, message = "CreateOffer", {"content": BOOK}
        else:
            offer = self.rng.choice(list(self.offers))
            method, message = self.rng.choice(MOVES[self.offers[offer][1]]), {"id": offer}
        status, answer = self.place.call(f"OfferService/{method}", message, self.key)
        if status != 200 and market.is_put_off(status, answer):
            time.sleep(0.05)        # nothing was done: the store has too much to do
            return
        tap.equal(status, 200, answer)
        self.offers[answer["id"]] = (int(answer["revision"]), answer["status"])
        self.changes += 1
        time.sleep(0.005)           # a seller's pace: it is not the load that is tested


def owned(worker):
    """How many shards the process says it owns."""
    text = chain.fetch_text(f"{worker.operators}/metrics")
    found = re.search(r'^torg_coord_shards_owned\{[^}]*offers-export[^}]*\} (\d+)$', text, re.M)
    return int(found[1]) if found else 0


def sent(topic_url, topic):
    dump = tap.run(DUMP, topic_url, topic)
    tap.equal((dump.returncode, dump.stderr), (0, ""))
    found = {}
    for line in dump.stdout.splitlines():
        offer, revision = line.split()[:2]
        found.setdefault(offer, []).append(int(revision))
    return found


def ask(database, sql):
    answer = tap.run(tap.tool("psql"), database.url, "-qtAc", sql)
    tap.equal(answer.returncode, 0, answer.stderr)
    return answer.stdout.split()


def shared(workers):
    """Both have their half."""
    return [owned(worker) for worker in workers] == [SHARDS // 2] * 2


@tap.test
def the_shards_of_a_killed_worker_move_and_nothing_is_lost():
    zookeeper, kafka = tap.need("zookeeper"), tap.need("kafka")
    tap.comment(f"seed {SEED}, {KILLS} kills")
    with Database() as database, Place() as api, Place() as first, Place() as second:
        topic_url = f"kafka://{kafka}"
        backends = (f"--store.url={database.url}", f"--topic.url={topic_url}",
                    f"--coord.url=zookeeper://{zookeeper}/torg-e2e-{secrets.token_hex(6)}")
        api.start("serve", "system", "catalog", "offers", *backends)
        api.write("catalog.json", json.dumps(CATALOG))
        tap.equal(api.torg("catalog", "apply", "catalog.json", *backends).returncode, 0)
        sellers = []
        for number in range(SELLERS):
            made = api.torg("key", "create", f"s{number}", "--seller", f"s{number}", "--scope",
                            "offers.write", *backends)
            sellers.append(Seller(api, made.stdout.strip(), number))
        workers = [first, second]
        for worker in workers:
            worker.start("serve", "offers-worker", *backends)
        tap.wait_until(lambda: shared(workers), what="a half of the shards for each")
        for seller in sellers:
            seller.start()
        for number in range(KILLS):
            time.sleep(random.Random(f"{SEED}/kill/{number}").uniform(0.2, 1.5))
            victim, other = workers[number % 2], workers[1 - number % 2]
            victim.process.kill()
            victim.process.wait()
            began = time.monotonic()
            # ZooKeeper ends a session after twice the lease; the rest is for a slow machine.
            tap.wait_until(lambda: owned(other) == SHARDS, tap.at_load(2 * LEASE_S + 50),
                           "all shards for the one left")
            tap.comment(f"{SHARDS // 2} shards moved after {time.monotonic() - began:.1f} s")
            victim.start("serve", "offers-worker", *backends)
            tap.wait_until(lambda: shared(workers), what="a half of the shards for each again")
        for seller in sellers:
            seller.ended = True
        for seller in sellers:
            seller.join(timeout=tap.PATIENCE_S + 10)
        tap.equal([seller.trouble for seller in sellers if seller.trouble], [])
        tap.wait_until(lambda: ask(database, "SELECT COUNT(*) FROM queue") == ["0"],
                       what="an empty queue")
        for place in (first, second, api):
            tap.equal(place.stop(), 0, place.log()[-4000:])
        check_topics(topic_url, database, sellers)


def check_topics(topic_url, database, sellers):
    stored = dict(line.split("|") for line in ask(
        database, "SELECT id, revision FROM offer WHERE kind = 'offer'"))
    acknowledged = {offer.replace("-", ""): revision for seller in sellers
                    for offer, (revision, _) in seller.offers.items()}
    tap.equal({offer: int(stored[offer]) for offer in acknowledged}, acknowledged)
    for topic in TOPICS:
        found = {offer.replace("-", ""): all_of for offer, all_of in sent(topic_url, topic).items()}
        ours = {offer: found.get(offer, []) for offer in stored}
        back = [offer for offer, all_of in ours.items() if all_of != sorted(all_of)]
        tap.equal(back, [], f"{topic}: revisions that go back")
        behind = [offer for offer, all_of in ours.items()
                  if not all_of or all_of[-1] != int(stored[offer])]
        tap.equal(behind[:5], [], f"{topic}: {len(behind)} offers are not there as they are stored")
        tap.comment(f"{topic}: {sum(map(len, ours.values()))} records of {len(ours)} offers, "
                    f"{sum(seller.changes for seller in sellers)} changes")


tap.main()
