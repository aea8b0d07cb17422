# SPDX-License-Identifier: Apache-2.0
"""Numberings belong to epochs: torg epoch start --shards and --renumber, also by a field, beside the numbers that
serve, under writes, searches and kills; switched to, back, and dropped with the numbers that nobody has any more."""
import csv
import json
import random
import signal
import sqlite3
import threading
import time

from kit import tap
from kit.bicycles import Bicycles, document

COUNT = 600
KILLS = 3
RANKED_COUNT = 2000         # while so many get their numbers, some kill meets them
DEADLINE_MS = 60000         # the longest: no search is lost to a busy machine
PATIENTLY = ("--wait", f"{tap.PATIENCE_S}s")


class Client(Bicycles):
    def __init__(self, *options, count=COUNT):
        super().__init__(count, *options)

    def keys(self, **more):
        """Of all documents that are found, in the order of prices; as often as they are."""
        found, offset = [], 0
        while True:
            answer = self.ok("SearcherService/Search", {"query": {"stages": [{
                "limit": 100, "offset": offset, "sorts": [{"field": "price"}]}]},
                "deadlineMs": DEADLINE_MS, **more})
            tap.equal(bool(answer.get("isPartial")), False, answer)
            hits = answer["answer"]["stages"][0].get("hits", [])
            found += [hit["pk"] for hit in hits]
            offset += len(hits)
            if not hits:
                return found

    def wait_keys(self, wanted, what, **more):
        # Before the first document is in, there is no price to sort by; a shard may still be opened.
        tap.wait_until(lambda: self.place.call("SearcherService/Search", {
            "query": {"stages": [{"limit": 1, "sorts": [{"field": "price"}]}]}, **more},
            self.place.start_key)[0] == 200, what="the first document")
        tap.wait_until(lambda: sorted(self.keys(**more)) == sorted(wanted), what=what)

    def torg(self, *words, code=0):
        told = self.place.torg(*words)
        tap.equal(told.returncode, code, told.stdout + told.stderr)
        return told.stdout if code == 0 else told.stderr

    def epochs(self):
        return json.loads(self.torg("epoch", "status", "--json"))["epochs"]

    def verify(self):
        told = self.place.torg("verify", "--rebuild")
        tap.equal(told.returncode, 0, told.stdout + told.stderr)

    def spaces(self):
        """{(V, shard): numbers that are given} of the store."""
        with sqlite3.connect(f"file:{self.place.data}/store.sqlite?mode=ro", uri=True,
                             timeout=tap.PATIENCE_S) as base:
            rows = base.execute("SELECT n.rebuild, n.shard, (SELECT COUNT(*) FROM number_slot s WHERE "
                                "s.space = n.space AND s.shard = n.shard) FROM number_space n").fetchall()
        return {(rebuild, shard): count for rebuild, shard, count in rows}

    def numbered(self, epoch):
        """Keys of the epoch's first shard in the order of their numbers, which are 0, 1, 2, ... and no others."""
        self.torg("numerator", "export", "--epoch", str(epoch), f"{epoch}.numbers")
        self.torg("numerator", "inspect", f"{epoch}.numbers", "--docs-table", f"{epoch}.csv")
        with open(f"{self.place.dir}/{epoch}.csv", encoding="utf-8", newline="") as table:
            rows = sorted(csv.DictReader(table), key=lambda row: int(row["doc_id"]))
        tap.equal([int(row["doc_id"]) for row in rows], list(range(len(rows))))
        return [row["pk"] for row in rows]

    def freshness(self):
        """{(epoch, shard): T.S.V.G} as searchers tell it."""
        answer = self.ok("SearcherService/GetFreshness", {})
        return {(int(one["epoch"]), int(one.get("shard", 0))): one.get("numbers", "")
                for one in answer["shards"]}


class Writing(threading.Thread):
    """Changes, deletes and adds documents all the time; what it was told of is what there is."""

    def __init__(self, client, seed):
        super().__init__()
        self.client, self.random, self.ended = client, random.Random(seed), False
        self.versions = dict.fromkeys(range(COUNT), 1)
        self.gone = set()

    def draw(self):
        number = self.random.randrange(COUNT + 100)
        put = document(number, self.versions.get(number, 0) + 1)
        if self.random.random() < 0.2:
            put = {"pk": put["pk"], "version": put["version"], "event": "DELETE"}
        return number, put

    def write(self, number, put):
        status, _ = self.client.place.call("DocumentService/PutDocuments", {"documents": [put]},
                                           self.client.place.start_key)
        if status != 200:
            return False
        self.versions[number] = put["version"]
        (self.gone.add if "event" in put else self.gone.discard)(number)
        return True

    def run(self):
        """What was sent when the server was killed is sent again as it was: it may have been taken."""
        drawn = None
        while not self.ended or drawn:
            drawn = drawn or self.draw()
            try:
                drawn = None if self.write(*drawn) else drawn
            except OSError:
                pass

    def finish(self):
        self.ended = True
        self.join()
        return [f"bike-{number}" for number in self.versions if number not in self.gone]


def journey(client, writing, start, shards, kills=0):
    """From the epoch that serves to one with other numbers; what there is then."""
    draw = writing.random
    tap.contains(client.torg("epoch", "start", *start), "building")
    for _ in range(kills):
        time.sleep(draw.random() * 0.4)                             # a kill anywhere in what goes on
        client.place.stop(signal.SIGKILL)
        client.place.start("up", *client.options)
    client.torg("epoch", "switch", *PATIENTLY)
    wanted = writing.finish()
    client.wait_keys(wanted, "all documents, each once, in the new epoch")
    epochs = client.epochs()
    tap.equal([len(one["shards"]) for one in epochs], shards, epochs)
    return wanted


@tap.test
def an_index_is_resharded_under_writes_and_kills():
    seed = random.randrange(1 << 30)
    print(f"# seed {seed}")
    with Client() as client:
        client.wait_keys([f"bike-{i}" for i in range(COUNT)], "all documents")
        writing = Writing(client, seed)
        writing.start()
        try:
            wanted = journey(client, writing, ("--shards", "2"), [1, 2], KILLS)
        finally:
            writing.ended = True
        client.wait_keys(wanted, "the old epoch is filled all the time", epoch=1)
        told = [one["numbers"] for one in client.epochs()]
        tap.equal([one.split(".")[1:] for one in told], [["1", "0"], ["2", "1"]])
        client.verify()
        numbers = client.freshness()
        tap.equal(set(numbers), {(1, 0), (2, 0), (2, 1)})
        for (epoch, _), place in numbers.items():
            tap.equal(place.rsplit(".", 1)[0], told[epoch - 1])
        tap.contains(client.torg("epoch", "rollback"), "searches ask epoch 1")
        client.wait_keys(wanted, "all documents on the way back")
        tap.contains(client.torg("epoch", "drop", code=1), "epoch 2 is written")
        token = client.put(document(5000))
        wanted.append("bike-5000")
        tap.equal(sorted(client.keys(wait=token)), sorted(wanted))
        tap.contains(client.torg("epoch", "rollback"), "searches ask epoch 2")
        tap.equal(sorted(client.keys(wait=token)), sorted(wanted))   # a token of a write is good for both
        tap.equal({rebuild for rebuild, _ in client.spaces()}, {0, 1})
        tap.equal("kept" in client.torg("epoch", "drop"), False)
        tap.wait_until(lambda: {rebuild for rebuild, _ in client.spaces()} == {1}, what="the old numbers to go")
        tap.equal(sorted(client.keys()), sorted(wanted))
        client.verify()
        client.place.stop()
        client.place.start("up", *client.options)
        client.wait_keys(wanted, "all documents after a restart")
        tap.contains(client.torg("audit"), "epoch.drop")


@tap.test
def documents_are_numbered_anew_without_holes():
    with Client() as client:
        client.wait_keys([f"bike-{i}" for i in range(COUNT)], "all documents")
        client.put(*({"pk": f"bike-{i}", "version": 2, "event": "DELETE"} for i in range(0, COUNT, 2)))
        wanted = [f"bike-{i}" for i in range(1, COUNT, 2)]
        client.wait_keys(wanted, "every second document")
        tap.contains(client.torg("epoch", "start", "--renumber"), "building")
        client.torg("epoch", "switch", *PATIENTLY)
        client.wait_keys(wanted, "every second document, in the new epoch")
        client.torg("epoch", "drop")
        tap.wait_until(lambda: client.spaces() == {(1, 0): COUNT // 2}, what="numbers of the living alone")
        told = client.torg("numerator", "export", "numbers")
        tap.contains(told, f"shard    0: numbers up to {COUNT // 2 - 1}")
        client.verify()


def price_of(number):
    return number * 7919 % 50       # many have the same


@tap.test
def documents_are_numbered_in_the_order_of_a_field():
    with Client() as client:
        prices = {f"bike-{i}": price_of(i) for i in range(COUNT)}
        client.put(*(document(i, 2, price=price_of(i)) for i in range(COUNT)))
        client.put(*({"pk": f"bare-{i}", "version": 1, "fields": [{"name": "title", "text": "no price"}]}
                     for i in range(20)))
        for epoch, words, wanted in ((2, (), sorted(prices.values(), reverse=True)),
                                     (3, ("--ascending",), sorted(prices.values()))):
            client.torg("epoch", "start", "--renumber", "--by", "price", *words)
            client.torg("epoch", "switch", *PATIENTLY)
            order = client.numbered(epoch)
            tap.equal([prices[pk] for pk in order[:COUNT]], wanted)
            tap.equal(sorted(order[COUNT:]), sorted(f"bare-{i}" for i in range(20)))
            token = client.put(document(5000 + epoch, price=1000))
            tap.contains(str(client.keys(wait=token)), f"bike-{5000 + epoch}")
            tap.equal(client.numbered(epoch)[-1], f"bike-{5000 + epoch}")   # whatever its rank
            prices[f"bike-{5000 + epoch}"] = 1000
            client.put({"pk": f"bike-{5000 + epoch}", "version": 2, "event": "DELETE"})
        client.verify()


class WritingSome(Writing):
    """Every second document is left alone."""

    def draw(self):
        number, put = super().draw()
        while number % 2:
            number, put = super().draw()
        return number, put


@tap.test
def numbers_follow_a_field_through_writes_and_kills():
    seed = random.randrange(1 << 30)
    print(f"# seed {seed}")
    with Client(count=RANKED_COUNT) as client:
        for first in range(0, RANKED_COUNT, COUNT):
            client.put(*(document(i, 2, price=price_of(i))
                         for i in range(first, min(first + COUNT, RANKED_COUNT))))
        alone = [f"bike-{i}" for i in range(1, RANKED_COUNT, 2)]
        writing = WritingSome(client, seed)
        writing.versions = dict.fromkeys(range(RANKED_COUNT), 2)
        writing.start()
        try:
            wanted = journey(client, writing, ("--renumber", "--by", "price"), [1, 1], KILLS)
        finally:
            writing.ended = True
        client.wait_keys(wanted, "the old epoch is filled all the time", epoch=1)
        order = [int(pk[5:]) for pk in client.numbered(2) if pk in set(alone)]
        tap.equal(len(order), len(alone))
        tap.equal([price_of(i) for i in order], sorted((price_of(i) for i in order), reverse=True))
        client.verify()


@tap.test
def what_cannot_be_is_refused_with_the_reason():
    with Client("--registry.shards", "2") as client:
        tap.contains(client.torg("epoch", "start", "--by", "price", code=2), "--by=price: say --renumber, too")
        tap.contains(client.torg("epoch", "start", "--renumber", "--ascending", code=2), "say --by FIELD, too")
        tap.contains(client.torg("epoch", "start", "--renumber", "--by", "prize", code=2),
                     'renumberBy: the new epoch has no field "prize"')
        tap.contains(client.torg("epoch", "start", "--renumber", "--by", "title", code=2),
                     'field "title" is text, which has no order of numbers')
        tap.contains(client.torg("epoch", "start", "--shards", "none", code=2), "--shards=none: expected a number")
        tap.contains(client.torg("epoch", "start", "--shards", "65", code=2), "from 1 to 64")
        told = client.torg("epoch", "start", "--shards", "3", code=2)
        tap.contains(told, "shardCount: 3; client default writes by 2 shards")
        tap.contains(client.torg("epoch", "drop", code=1), "has no epoch to go back to")
        client.torg("epoch", "start", "--shards", "4")
        client.torg("epoch", "switch", *PATIENTLY)
        client.wait_keys([f"bike-{i}" for i in range(COUNT)], "all documents in four shards")
        client.torg("epoch", "start", "--shards", "2")          # and fewer again: two feed two
        client.torg("epoch", "switch", *PATIENTLY)
        client.wait_keys([f"bike-{i}" for i in range(COUNT)], "all documents in two shards")
        client.verify()
        tap.equal({one["numbers"].split(".", 1)[1] for one in client.epochs()}, {"4.1", "2.2"})


tap.main()
