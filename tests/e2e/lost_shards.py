# SPDX-License-Identifier: Apache-2.0
"""Shards that lose their files, topics that lose their beginning, searchers that come and go: all is
found again, without a new epoch and without a command.

One process on the embedded backends; and receiver, indexer and searchers as processes of their own on
PostgreSQL, Kafka and ZooKeeper, three shards of two replicas each, under load: one searcher loses its
directory, a fourth is added, one is removed, and whoever searches gets whole answers all the time.

usage: lost_shards.py, with TORG_CRASH_SEED in the environment.
"""
import os
import random
import secrets
import shutil
import struct
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, Place, open_sqlite  # noqa: E402

SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
SHARDS = 3
BOUNDED = ("--registry.index_slack=100", "--registry.index_trim_delay=0s")
FILL = "слово " * 100          # a file of the topic ends at 64 KB, so that what is before can go


# --- one process ---

class Single:
    """torg up with documents of a client, all of them large."""

    def __init__(self, place, count=120, shards=SHARDS):
        self.place, self.count, self.shards, self.version, self.key = place, count, shards, 0, None

    def start(self):
        self.place.start("up", f"--registry.shards={self.shards}", "--searcher.checkpoint=500ms", *BOUNDED)
        self.key = self.key or self.place.torg("key", "create", "all", "--scope", "*").stdout.strip()

    def kill(self):
        self.place.process.kill()
        self.place.process.wait()

    def change(self):
        """Another version of all."""
        token = self.put()
        tap.wait_until(lambda: chain.is_searchable(self.call, "default", token), what="the change")

    def put(self):
        self.version += 1
        status, answer = self.place.call("DocumentService/PutDocuments", {"documents": [
            {"pk": f"d{number}", "version": self.version, "fields": [
                {"name": "title", "text": f"велосипед {FILL}{self.version}"},
                {"name": "version", "integer": self.version}]} for number in range(self.count)]}, self.key)
        tap.equal(status, 200, answer)
        return answer["verdicts"][-1]["token"]

    def call(self, method, message):
        return self.place.call(method, message, self.key)

    def files(self, shard):
        return sorted(self.place.data.glob(f"*/topics/index.default.1/{shard:03}/*.log"))

    def first(self, shard):
        return int(self.files(shard)[0].stem)

    def whole_from(self, shard):
        """Where the topic's last pour begins, be it on its way: records from there on are needed. None: a pour is
        to begin, behind all that is there."""
        with open_sqlite(self.place.data / "store.sqlite") as base:
            rows = base.execute("SELECT is_whole, mark_offset, whole_offset FROM registry_backfill WHERE epoch = 1 "
                                "AND shard = ?", (shard,)).fetchall()
        [(is_whole, mark, whole)] = rows
        return whole if is_whole else mark if mark >= 0 else None

    def lose(self, shard):
        shutil.rmtree(self.place.data / "index" / "default" / "1" / str(shard))

    def remove(self, count):
        """Deletes the first of them, and gives their keys."""
        keys = [f"d{number}" for number in range(count)]
        self.version += 1
        status, answer = self.place.call("DocumentService/PutDocuments", {"documents": [
            {"pk": key, "version": self.version, "event": "DELETE"} for key in keys]}, self.key)
        tap.equal((status, {each["kind"] for each in answer["verdicts"]}), (200, {"ACCEPTED"}))
        return set(keys)

    def check(self, version=None, gone=()):
        wanted = {f"d{number}": version or self.version for number in range(self.count)
                  if f"d{number}" not in gone}
        tap.wait_until(lambda: chain.matches(self.whole, "default", wanted), what="all documents")
        status, answer = self.call("EpochService/GetEpochs", {"client": "default"})
        tap.equal((status, [epoch["epoch"] for epoch in answer["epochs"]]), (200, ["1"]))

    def whole(self, method, message):
        """As call; until shards are ready there is an answer without them, or none."""
        while True:
            status, answer = self.call(method, message)
            if status == 200 and not answer.get("isPartial"):
                return status, answer
            time.sleep(0.05)

    def make_short(self):
        """Changes until no topic has its beginning any more."""
        def is_short():
            self.change()
            time.sleep(tap.rest_s(0.3))         # owners look every 5 s
            return all(self.first(shard) > 0 for shard in range(SHARDS))

        tap.wait_until(is_short, what="topics that were trimmed")


@tap.test
def a_lost_directory_is_filled_again_by_a_short_topic():
    with Place() as place:
        at = Single(place)
        at.start()
        at.make_short()
        at.kill()
        for shard in range(SHARDS - 1):
            at.lose(shard)
        at.start()
        at.check()
        told = at.call("SearcherService/GetFreshness", {})[1]["shards"]
        tap.comment(f"whole after {[int(each.get('fillMs', 0)) for each in told]} ms")
        tap.contains(place.log(), "it is filled by the next pour")
        at.change()
        at.check()
        tap.equal(place.stop(), 0, place.log()[-2000:])


def ask(at, limit=100, **request):
    return at.call("SearcherService/Search", {"query": {"stages": [{"show": ["version"], "limit": limit}]},
                                              **request})


@tap.test
def a_searcher_far_behind_answers_with_what_it_has():
    with Place() as place:
        at = Single(place)
        at.start()
        at.change()
        at.check()
        fall_behind(at)
        tap.equal(place.stop(), 0, place.log()[-2000:])
        cut_topics(at)
        place.start("serve", "system", "searcher")      # nobody fills it

        def old_ones():
            told = at.call("SearcherService/GetFreshness", {})[1].get("shards", [])
            return [each for each in told if each.get("oldSeconds") and not each.get("isReady")]

        tap.wait_until(lambda: len(old_ones()) == SHARDS, what="shards with an old state")
        tap.equal(ask(at)[0], 503)
        status, answer = ask(at, oldMaxSeconds=3600)
        tap.equal((status, answer.get("oldShards")), (200, list(range(SHARDS))), answer)
        tap.equal(int(answer["oldSeconds"]) > 0, True)
        hits = answer["answer"]["stages"][0]["hits"]
        tap.equal({hit["fields"][0]["values"][0] for hit in hits}, {"1"})       # the version that it had
        tap.equal(int(answer["answer"]["stages"][0]["total"]), at.count)
        status, answer = ask(at, oldMaxSeconds=3600, wait=[at.last], deadlineMs=300)
        tap.equal(answer.get("code"), "deadline_exceeded", answer)
        tap.equal(place.stop(), 0, place.log()[-2000:])
        at.start()
        at.check()
        tap.equal(ask(at)[1].get("oldShards"), None)
        tap.equal(place.stop(), 0, place.log()[-2000:])


def crc32c(data):
    remainder = 0xffffffff
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82f63b78 if remainder & 1 else 0)
    return remainder ^ 0xffffffff


def keep_at_most(at, size):
    """So many bytes of each shard's topic, by its file `meta`: a file ends at an eighth of them, not at 64 MB."""
    [path] = at.place.data.glob("*/topics/index.default.1/meta")
    meta = bytearray(path.read_bytes())
    struct.pack_into("<Q", meta, 24, size)
    struct.pack_into("<I", meta, 32, crc32c(meta[:32]))
    path.write_bytes(meta)


def fall_behind(at):
    """Stops it, and lets the topics go on without a searcher: they have let go of all that it needs next."""
    place = at.place
    told = at.call("SearcherService/GetFreshness", {})[1]["shards"]
    ends = {each.get("shard", 0): int(each["end"]) for each in told}
    tap.equal(place.stop(), 0, place.log()[-2000:])
    keep_at_most(at, 32 << 20)
    place.start("serve", "system", "receiver", "indexer", f"--registry.shards={at.shards}",
                "--registry.index_slack=1000000000")        # no pours

    def is_behind():
        at.last = at.put()
        return all(int(at.files(shard)[-1].stem) > ends[shard] for shard in range(at.shards))

    tap.wait_until(is_behind, what="topics with files that the searcher has read nothing of")


def cut_topics(at):
    for shard in range(at.shards):
        for file in at.files(shard)[:-1]:
            file.unlink()


class Halves:
    """A lone shard that is old or new: every answer has all documents as they were, or all as they are, without
    those that were deleted since."""

    def __init__(self, at, old):
        self.at, self.old, self.new, self.gone = at, old, at.version, at.remove(100)
        self.seen = {"old": 0, "new": 0, "none": 0}

    def look(self):
        """True: the new state answers."""
        count = self.at.count
        status, answer = ask(self.at, limit=count, oldMaxSeconds=3600)
        if status != 200 or answer.get("isPartial"):
            self.seen["none"] += 1
            return False
        is_old = bool(answer.get("oldShards"))
        [stage] = answer["answer"]["stages"]
        found = {hit["pk"]: int(hit["fields"][0]["values"][0]) for hit in stage["hits"]}
        version, total = (self.old, count) if is_old else (self.new, count - len(self.gone))
        tap.equal((set(found.values()), int(stage["total"]), len(found)), ({version}, total, total), "one state")
        tap.equal(bool(found.keys() & self.gone), is_old, "what was deleted")
        self.seen["old" if is_old else "new"] += 1
        return not is_old

    def has_both(self):
        place = self.at.place.data / "index" / "default" / "1"
        return (place / "0").exists() and (place / "0.b").exists()


@tap.test
def a_kill_while_it_is_filled_leaves_an_old_state_or_a_whole_one():
    rng = random.Random(SEED)
    tap.comment(f"TORG_CRASH_SEED={SEED}")
    with Place() as place:
        at = Single(place, 900, shards=1)
        at.start()
        for _ in range(tap.count(1, 20, "TORG_REFILLS")):
            at.change()
            at.check()
            old, both = at.version, 0
            fall_behind(at)
            halves = Halves(at, old)
            tap.equal(place.stop(), 0, place.log()[-2000:])
            cut_topics(at)
            for _ in range(2):
                place.start("serve", "system", "searcher")      # nobody fills it
                tap.wait_until(lambda: halves.look() or halves.seen["old"], what="the old state")
                both += halves.has_both()
                at.kill()
            tap.equal(both, 2, "killed while there were two states")
            for _ in range(4):
                at.start()                                      # it is poured again, and filled
                until = time.monotonic() + rng.random()
                while not halves.look() and time.monotonic() < until:
                    pass
                both += halves.has_both()
                at.kill()
            at.start()
            tap.wait_until(halves.look, what="the new state")
            tap.comment(f"six kills, {both} with two states; answers between them: {halves.seen}")
            at.check(halves.new, halves.gone)
        tap.equal(place.stop(), 0, place.log()[-2000:])


@tap.test
def a_topic_without_its_beginning_is_poured_again():
    with Place() as place:
        at = Single(place)
        at.start()
        at.make_short()

        def begins_before_last_file():
            """Killed when what a new shard needs is not all in the last file; a pour may just have put it there."""
            at.change()
            at.kill()
            begin = at.whole_from(0)
            if begin is not None and int(at.files(0)[-1].stem) > begin:
                return True
            at.start()
            return False

        tap.wait_until(begins_before_last_file, what="a topic whose beginning can get lost")
        for file in at.files(0)[:-1]:
            file.unlink()
        at.lose(0)
        at.start()
        at.check()
        tap.contains(place.log(), "the topic has lost ")       # what a new shard needs, or a pour's mark
        tap.equal(place.stop(), 0, place.log()[-2000:])


def records(at):
    """Of all shards, by what their topics have from the first to the end."""
    status, told = at.call("SearcherService/GetFreshness", {})
    tap.equal(status, 200, told)
    return sum(int(each.get("offset", 0)) - at.first(each.get("shard", 0)) for each in told["shards"])


@tap.test
def topics_stay_short_over_many_changes():
    """Of a million changes of 1000 documents in `./dev test long`. Owners look at their topics every 5 s."""
    changes = tap.count(2000, 1000000, "TORG_CHANGES")
    with Place() as place:
        at = Single(place, 120 if changes < 100000 else 1000)
        at.start()
        largest = 0

        def has_let_go():
            nonlocal largest
            at.change()
            time.sleep(tap.rest_s(0.3))
            left = records(at)
            largest = max(largest, left)
            return at.version * at.count >= changes and 2 * left < at.version * at.count

        tap.wait_until(has_let_go, 100 * tap.PATIENCE_S, what="topics that are half as long as what was sent")
        tap.comment(f"{at.version * at.count} changes of {at.count} documents: {records(at)} records are left, "
                    f"{largest} at the most")
        if changes >= 100000:
            tap.equal(largest < changes // 5, True, f"{largest} records")
        at.check()
        tap.equal(place.stop(), 0, place.log()[-2000:])


@tap.test
def a_topic_without_its_end_is_poured_again():
    with Place() as place:
        at = Single(place)
        at.start()
        at.change()
        at.check()                  # a token is of one shard; the others may be on their way
        status, told = at.call("SearcherService/GetFreshness", {})
        tap.equal(status, 200, told)
        ends = {each.get("shard", 0): int(each["offset"]) for each in told["shards"]}
        tap.equal(len(ends), SHARDS)

        def is_seen():
            with open_sqlite(place.data / "store.sqlite") as base:
                rows = base.execute("SELECT shard, idx FROM registry_offset WHERE group_id = 'topic/1'").fetchall()
            return all(dict(rows).get(shard, 0) >= end for shard, end in ends.items())

        tap.wait_until(is_seen, what="the owner to have seen how far the topics go")
        at.kill()
        for file in at.files(0):
            os.truncate(file, file.stat().st_size // 2)
        at.lose(0)
        at.start()
        at.check()
        tap.contains(place.log(), "the topic ends before what was sent to it")
        at.change()
        at.check()
        tap.equal(place.stop(), 0, place.log()[-2000:])


# --- searchers that come and go ---

class Asker(threading.Thread):
    """Searches one searcher all the time; each answer has to be whole."""

    def __init__(self, place, client, key):
        super().__init__(daemon=True)
        self.place, self.client, self.connection = place, client, chain.Connection(key)
        self.ended, self.wrong, self.count = False, [], 0

    def run(self):
        while not self.ended:
            try:
                status, answer = self.connection.call(self.place.url, "SearcherService/Search", {
                    "client": self.client, "deadlineMs": 60000, "query": {"stages": [{"limit": 5}]}})
                if status != 200 or answer.get("isPartial"):
                    self.wrong.append((status, str(answer)[:300]))
                self.count += 1
            except (OSError, ValueError) as trouble:
                self.wrong.append(repr(trouble))
            time.sleep(0.02)

    def stop(self):
        self.ended = True
        self.join(tap.PATIENCE_S)
        tap.equal(self.wrong[:5], [])


class Searchers:
    """Four places for searchers. None is told where the others are: each announces itself."""

    def __init__(self, places, backends, key):
        self.places, self.backends, self.key = places, backends, key
        self.listen = [f"127.0.0.1:{tap.free_port()}" for _ in places]

    def start(self, number, shards):
        self.places[number].write("peers.key", self.key)
        self.places[number].start(
            "serve", "system", "searcher", f"--listen={self.listen[number]}",
            f"--searcher.shards={shards}", f"--searcher.address=http://{self.listen[number]}",
            "--searcher.replicas=announced",
            "--searcher.replicas_key=peers.key", "--searcher.checkpoint=500ms", *self.backends)

    def shards(self, number, client):
        """Of its own, by shard."""
        status, answer = self.places[number].call("SearcherService/GetFreshness", {"client": client},
                                                  self.key)
        tap.equal(status, 200, answer)
        return {each.get("shard", 0): each for each in answer.get("shards", [])
                if not each.get("replica")}

    def wait_ready(self, number, client, count):
        def are_ready():
            found = self.shards(number, client)
            return len(found) == count and all(each.get("isReady") for each in found.values())

        began = time.monotonic()
        tap.wait_until(are_ready, what=f"searcher {number} is whole")
        times = {shard: int(each.get("fillMs", 0)) for shard, each in
                 self.shards(number, client).items()}
        tap.comment(f"searcher {number} whole after {time.monotonic() - began:.1f} s; ms by shard: {times}")

    def knows(self, number, client, other, count):
        """Whether it has heard that the other's shards are ready."""
        status, answer = self.places[number].call("SearcherService/GetFreshness", {"client": client},
                                                  self.key)
        tap.equal(status, 200, answer)
        return count == sum(bool(each.get("isReady")) for each in answer.get("shards", [])
                            if each.get("replica", "").endswith(self.listen[other]))


def is_trimmed(place, client, key):
    """Whether each partition begins later than with 0."""
    firsts = []
    for shard in range(SHARDS):
        status, answer = place.call("TopicService/ReadTopic", {
            "topic": f"index.{client}.1", "limit": 1, "from": {"partition": shard}}, key)
        if status == 503 and "offset" in answer.get("message", ""):
            return False                        # trimmed between the look at its begin and the read
        tap.equal(status, 200, answer)
        if not answer.get("records"):
            return False
        firsts.append(int(answer["records"][0].get("offset", 0)))
    return all(firsts)


@tap.test
def searches_stay_whole_while_searchers_come_and_go():
    zookeeper, kafka = tap.need("zookeeper"), tap.need("kafka")
    tap.comment(f"seed {SEED}")
    client = f"c{secrets.token_hex(6)}"
    with Database() as database, Place() as a, Place() as b, Place() as c, Place() as d, Place() as e:
        # Topics and groups of its own: else it would take documents and refusals of other tests.
        backends = (f"--store.url={database.url}", f"--topic.url=kafka://{kafka}", f"--topic.prefix={client}.",
                    f"--coord.url=zookeeper://{zookeeper}/torg-e2e-{secrets.token_hex(6)}")
        a.start("serve", "system", "receiver", "indexer", f"--registry.shards={SHARDS}", *BOUNDED,
                *backends)
        made = a.torg("key", "create", "all", "--scope", "*", f"--store.url={database.url}")
        tap.equal(made.returncode, 0, made.stderr)
        key = made.stdout.strip()
        at = Searchers((b, c, d, e), backends, key)
        writers = [chain.Writer(number, client, key, SEED) for number in range(2)]
        for writer in writers:
            writer.url = a.url
            writer.start()
        chain.go_on(writers)
        for number, shards in enumerate(("0 1", "1 2", "2 0")):
            at.start(number, shards)
        for number in range(3):
            at.wait_ready(number, client, 2)
            for other in set(range(3)) - {number}:
                tap.wait_until(lambda: at.knows(number, client, other, 2), what="replicas that know")
        askers = [Asker(place, client, key) for place in (c, d)]
        for asker in askers:
            asker.start()
        tap.wait_until(lambda: is_trimmed(a, client, key), what="topics that were trimmed")

        b.process.kill()                                    # one loses its directory
        b.process.wait()
        shutil.rmtree(b.data / "index")
        at.start(0, "0 1")
        at.wait_ready(0, client, 2)
        tap.contains(b.log(), "it is filled by the next pour")

        at.start(3, "0 1 2")                                # a fourth comes
        at.wait_ready(3, client, 3)
        for number in (0, 2):
            tap.wait_until(lambda: at.knows(number, client, 3, 3), what="others know the fourth")
        askers[0].stop()                                    # and one goes for good
        chain.go_on(writers)
        askers.append(Asker(e, client, key))
        askers[-1].start()
        tap.equal(c.stop(), 0, c.log()[-2000:])
        for place in (b, d, e):
            tap.wait_until(lambda: "another searcher has gone" in place.log(), what="others who know it")
        chain.go_on(writers, 200)
        tap.comment(f"{[asker.count for asker in askers]} searches")
        for asker in askers[1:]:
            asker.stop()
        chain.stop(writers)

        for place in (b, d, e):
            def call(method, message, at_searcher=place):
                return (at_searcher if method.startswith("Searcher") else a).call(method, message, key)

            registry = chain.check_registry(call, writers)
            chain.check_search(call, writers, registry)
        for place in (b, d, e, a):
            tap.equal(place.stop(), 0, place.log()[-4000:])


tap.main()
