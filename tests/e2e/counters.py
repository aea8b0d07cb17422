# SPDX-License-Identifier: Apache-2.0
"""torg offers counters: on the directory, through a server, on PostgreSQL; while sellers write, and
killed at random moments. TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment say how often."""
import http.client
import itertools
import json
import os
import random
import sqlite3
import subprocess
import threading
import time

from kit import tap
from kit.binary import TORG, Database, Place, environment, open_sqlite
from kit.shop import BOOK, CATALOG, Shop

KILLS = tap.count(6, 60, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
OFFERS = 1000               # of the seller: four chunks, and more while it goes on
WRITERS = 2

# Each is 0 in a store that is whole.
RECOUNTS = (
    "SELECT COUNT(*) FROM user_offer_presets_count c WHERE c.counter <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)",
    "SELECT COUNT(*) FROM user_total_counters t JOIN (SELECT 'active' AS name, 2 AS preset UNION "
    "ALL SELECT 'expired', 3 UNION ALL SELECT 'banned', 5) n ON n.name = t.counter_id WHERE "
    "t.counter_value <> (SELECT COUNT(*) FROM user_offer_presets p WHERE p.seller_id = t.seller_id "
    "AND p.preset_id = n.preset AND p.offer_id % 10 = t.seq_no)",
    "SELECT COUNT(*) FROM user_offer_presets_count WHERE mark_us IS NOT NULL",
)


def break_it(place, sql):
    with open_sqlite(place.data / "store.sqlite") as base:
        base.execute(sql)


def counters(place, *words):
    return place.torg("offers", "counters", *words)


def assert_whole(place, *words):
    told = counters(place, "--verify", *words)
    tap.equal((told.returncode, told.stderr), (0, ""), told.stdout)
    tap.contains(told.stdout, " 0 differences, 0 fixed")


@tap.test
def the_command_line_is_checked():
    with Place() as place:
        told = counters(place)
        tap.equal(told.returncode, 2)
        tap.contains(told.stderr, "use --verify")
        tap.equal(place.torg("migrate").returncode, 0)
        place.start()
        told = counters(place, "--verify", "--from", "nowhere")
        tap.equal(told.returncode, 2)
        tap.contains(told.stderr, "position: expected one of an earlier answer")
        place.stop()
        told = counters(place, "--verify", "--from", "nowhere")
        tap.equal(told.returncode, 2)
        assert_whole(place)


@tap.test
def a_broken_counter_is_named_and_fixed_with_and_without_a_server():
    with Shop() as shop:
        for key in (shop.alice, shop.alice, shop.bob):
            offer = shop.ok("OfferService/CreateOffer", {"content": BOOK}, key)["id"]
        assert_whole(shop)
        for served in (True, False):
            break_it(shop, "UPDATE user_offer_presets_count SET counter = 41 "
                           "WHERE seller_id = 'alice' AND preset_id = 2")
            break_it(shop, "DELETE FROM user_offer_presets WHERE seller_id = 'bob' "
                           "AND preset_id = 2")
            told = counters(shop, "--verify", "--seller", "alice")
            tap.equal((told.returncode, told.stderr), (1, ""))
            tap.equal(told.stdout.splitlines()[0],
                      "seller alice: the count ACTIVE was 41, is 2")
            told = counters(shop, "--verify", "--json")
            tap.equal(told.returncode, 1)
            found = [one for line in told.stdout.splitlines()
                     for one in json.loads(line).get("differences", [])]
            tap.equal({(one["kind"], one["seller"], one["name"]) for one in found},
                      {("COUNT", "alice", "ACTIVE"), ("MISSING_IN_LIST", "bob", "ACTIVE")})
            told = counters(shop, "--verify", "--fix")
            tap.equal((told.returncode, told.stderr), (0, ""))
            tap.equal(told.stdout.splitlines(), [
                f"seller bob: the list ACTIVE lacks offer {offer}: fixed",
                "seller alice: the count ACTIVE was 41, is 2: fixed",
                "3 offers, 2 sellers: 2 differences, 2 fixed"])
            assert_whole(shop)
            audit = shop.torg("audit", "--limit", "2").stdout
            tap.contains(audit, "counters.fix")
            tap.contains(audit, "ACTIVE 41 -> 2")
            if served:
                tap.equal(shop.counts(shop.alice), {"ALL": 2, "ACTIVE": 2})
                tap.equal(shop.stop(), 0)


@tap.test
def it_works_on_postgres_from_a_directory_of_its_own():
    with Database() as database, Place() as server, Place() as other:
        store = f"--store.url={database.url}"
        server.start("up", store)
        server.write("catalog.json", json.dumps(CATALOG))
        tap.equal(server.torg("catalog", "apply", "catalog.json", store).returncode, 0)
        key = server.torg("key", "create", "s", "--seller", "s", "--scope", "offers.write",
                          store).stdout.strip()
        tap.equal(server.call("OfferService/CreateOffer", {"content": BOOK}, key)[0], 200)
        broken = tap.run(tap.tool("psql"), database.url, "-qc",
                         "UPDATE user_total_counters SET counter_value = 8")
        tap.equal(broken.returncode, 0, broken.stderr)
        tap.equal(other.torg("migrate", store).returncode, 0)
        (other.dir / "torg-data").mkdir(mode=0o700)
        for place, words in ((server, ["--verify"]), (other, ["--verify", "--fix"])):
            told = counters(place, *words, store)
            tap.equal((told.returncode, told.stderr), (int("--fix" not in words), ""))
            tap.contains(told.stdout, "seller s: the total active (row ")
            tap.contains(told.stdout, "was 8, is 1")
        assert_whole(server, store)


class Writer(threading.Thread):
    """Publishes, withdraws, sells and deletes until told to stop, over whichever server is there."""

    def __init__(self, shop, number):
        super().__init__(daemon=True)
        self.shop, self.rng, self.ended, self.count = shop, random.Random(f"{SEED}/{number}"), 0, 0

    def run(self):
        while not self.ended:
            try:
                offer = self.shop.call("OfferService/CreateOffer", {"content": BOOK},
                                       self.shop.alice)[1]["id"]
                for method in self.rng.choice((["WithdrawOffer"], ["MarkOfferSold"],
                                               ["DeleteOffer"], ["WithdrawOffer", "RepublishOffer"],
                                               [])):
                    self.shop.call(f"OfferService/{method}",
                                   {"id": offer, **({"where": "ON_SITE"} if "Sold" in method
                                                    else {})}, self.shop.alice)
                self.count += 1
            except (OSError, http.client.HTTPException, KeyError, TypeError):       # the server was killed
                time.sleep(0.01)


def marked(base):
    """Whether a recount is in its middle."""
    return base.execute(RECOUNTS[-1]).fetchone()[0] > 0


def wait_for_a_moment(base, command, rng):
    """Any moment; or one in the middle of a recount."""
    end = time.monotonic() + rng.uniform(0.05, 0.8)
    if rng.random() < 0.7:
        end += 60
    while time.monotonic() < end and command.poll() is None and not marked(base):
        time.sleep(0.001)


@tap.test
def killed_at_any_moment_while_sellers_write():
    """Kills now the command, now the server under it; right counters are never told to be wrong,
    and after all of it a broken one is still found and put right."""
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    with Shop() as shop:
        for _ in range(OFFERS):
            shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)
        writers = [Writer(shop, number) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        left = 0
        deadline = time.monotonic() + tap.PATIENCE_S
        for number in itertools.count():
            # On a busy machine the moment is often over before the kill: then there are more of them.
            if number >= KILLS and (left or time.monotonic() > deadline):
                break
            words = ["--verify", "--json"] + (["--fix"] if rng.random() < 0.5 else [])
            command = subprocess.Popen([TORG, "offers", "counters", *words], cwd=shop.dir,
                                       env=environment(), stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
            base = sqlite3.connect(shop.data / "store.sqlite", timeout=tap.PATIENCE_S)
            wait_for_a_moment(base, command, rng)
            victim = command if number % 2 else shop.process
            victim.kill()
            out = command.communicate(timeout=tap.PATIENCE_S)[0]
            tap.equal("differences\"" in out, False, out)
            left += marked(base)
            base.close()
            if victim is shop.process:
                shop.process.wait()
                shop.start()
        for writer in writers:
            writer.ended = 1
        for writer in writers:
            writer.join(timeout=tap.PATIENCE_S)
        tap.comment(f"{left} times a recount was left in its middle; "
                    f"{sum(writer.count for writer in writers)} offers were written meanwhile")
        tap.equal(left > 0, True, "a recount left in its middle")
        assert_whole(shop)
        break_it(shop, "UPDATE user_offer_presets_count SET counter = counter - 7 "
                       "WHERE preset_id = 1")
        told = counters(shop, "--verify", "--fix")
        tap.equal(told.returncode, 0, told.stderr)
        tap.contains(told.stdout, "1 differences, 1 fixed")
        tap.equal(shop.stop(), 0)
        with open_sqlite(shop.data / "store.sqlite") as base:
            for sql in RECOUNTS:
                tap.equal(base.execute(sql).fetchone()[0], 0, sql)


tap.main()
