# SPDX-License-Identifier: Apache-2.0
"""Receiver, two indexers and a searcher as processes of their own, on PostgreSQL, Kafka and
ZooKeeper; each is killed -9 in turn while clients write, and an indexer is frozen until its shards
have another owner, then let go on.

In the end every acknowledged write is found at its version, `torg verify --rebuild` passes, and no
number was given twice.

usage: crash_roles.py, with TORG_ROLE_KILLS and TORG_CRASH_SEED in the environment.
"""
import os
import random
import secrets
import signal
import sys
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, Place  # noqa: E402

KILLS = tap.count(4, 40, "TORG_ROLE_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SHARDS = 4


def metric(place, name, part=""):
    return chain.metric_sum(chain.fetch_text(f"{place.operators}/metrics"), name, part)


def owned(indexer, client):
    return metric(indexer, "torg_coord_shards_owned", f"registry-queue.{client}")


class Roles:
    """The processes, and how each is started."""

    def __init__(self, places, backends):
        self.receiver, self.first, self.second, self.searcher = places
        self.words = {
            self.receiver: ("serve", "system", "receiver", f"--registry.shards={SHARDS}",
                            f"--listen=127.0.0.1:{tap.free_port()}", *backends),
            self.first: ("serve", "indexer", *backends),
            self.second: ("serve", "indexer", *backends),
            self.searcher: ("serve", "system", "searcher", "--searcher.checkpoint=500ms",
                            *backends)}

    def start(self, place):
        place.start(*self.words[place])

    def all(self):
        return list(self.words)


def freeze(frozen, other, client, writers):
    """Stops the process until all its shards are the other's, and lets it go on."""
    had = tap.wait_until(lambda: owned(frozen, client), what="shards of the one to be frozen")
    frozen.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    tap.wait_until(lambda: owned(other, client) == SHARDS, what="all shards taken over")
    tap.comment(f"{had:.0f} shards of a frozen indexer moved after {time.monotonic() - began:.1f} s")
    chain.go_on(writers)            # the new owner works meanwhile
    frozen.process.send_signal(signal.SIGCONT)
    tap.wait_until(lambda: owned(frozen, client) == SHARDS / 2, tap.PATIENCE_S,
                   "a half of the shards for each again")


@tap.test
def nothing_acknowledged_is_lost_whichever_process_is_killed():
    zookeeper, kafka = tap.need("zookeeper"), tap.need("kafka")
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    began = time.monotonic()
    client = f"c{secrets.token_hex(6)}"         # its topics are of this run alone
    with Database() as database, Place() as a, Place() as b, Place() as c, Place() as d:
        roles = Roles((a, b, c, d), (
            f"--store.url={database.url}", f"--topic.url=kafka://{kafka}",
            f"--coord.url=zookeeper://{zookeeper}/torg-e2e-{secrets.token_hex(6)}"))
        for place in roles.all():
            roles.start(place)
        made = a.torg("key", "create", "writer", "--scope", "*", f"--store.url={database.url}")
        tap.equal(made.returncode, 0, made.stderr)
        key = made.stdout.strip()
        writers = [chain.Writer(number, client, key, SEED) for number in range(3)]
        for writer in writers:
            writer.url = a.url
            writer.start()
        indexers = (b, c)
        tap.wait_until(lambda: [owned(each, client) for each in indexers] == [SHARDS / 2] * 2,
                       what="a half of the shards for each indexer")
        for number in range(KILLS):
            time.sleep(rng.uniform(0.3, 2))
            # On a slow machine a little more: else the kills meet nothing.
            tap.wait_until(lambda: any(writer.trouble for writer in writers)
                           or sum(writer.acknowledged for writer in writers) >= 20 * (number + 1),
                           what="writes between the kills")
            victim = roles.all()[number % 4]
            victim.process.kill()
            victim.process.wait()
            time.sleep(rng.uniform(0, 0.5))
            roles.start(victim)
        tap.wait_until(lambda: [owned(each, client) for each in indexers] == [SHARDS / 2] * 2,
                       what="a half of the shards for each indexer after the kills")
        freeze(b, c, client, writers)
        chain.go_on(writers)
        chain.stop(writers)
        tap.comment(f"{time.monotonic() - began:.0f} s of kills")

        def call(method, message):
            place = d if method.startswith(("Searcher", "Topic")) else a
            return place.call(method, message, key)

        registry = chain.check_registry(call, writers)
        chain.check_search(call, writers, registry)
        lines = chain.verify(d, "--rebuild", "--client", client)
        records = chain.check_numbers(call, client, shards=SHARDS)
        stale = metric(d, "torg_searcher_messages_total", 'way="stale"')
        acknowledged = sum(writer.acknowledged for writer in writers)
        tap.comment(f"{acknowledged} writes acknowledged on {len(registry)} keys, {records} records "
                    f"sent, {stale:.0f} of replaced owners left alone; "
                    f"{time.monotonic() - began:.0f} s; checked {sorted(lines)}")
        for place in roles.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])
        if acknowledged < 20 * KILLS:
            raise AssertionError("the clients did too little for this to mean anything")


tap.main()
