# SPDX-License-Identifier: Apache-2.0
"""torg queue list, show, replay, drop: through a server and on the directory; and the indexer killed
at random moments while documents are written, embedded. TORG_CRASH_KILLS and TORG_CRASH_SEED in the
environment say how often."""
import http.client
import json
import os
import random
import signal
import threading
import time

from kit import tap
from kit.binary import Place, open_sqlite

KILLS = tap.count(5, 60, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
KEYS = 30
TOPIC = "index.default.1"


def document(pk, version, price):
    if price is None:
        return {"pk": pk, "version": version, "event": "DELETE"}
    return {"pk": pk, "version": version, "fields": [
        {"name": "title", "text": f"thing {pk}"}, {"name": "price", "integer": price}]}


def put(place, *documents):
    status, answer = place.call("DocumentService/PutDocuments", {"documents": documents},
                                place.start_key)
    tap.equal(status, 200, answer)
    tap.equal([v["kind"] for v in answer["verdicts"]], ["ACCEPTED"] * len(documents), answer)


def query(place, sql):
    with open_sqlite(place.data / "store.sqlite") as base:
        return base.execute(sql).fetchall()


def queue(place, *words):
    return place.torg("queue", *words)


def told(place, *words):
    result = queue(place, *words)
    tap.equal((result.returncode, result.stderr), (0, ""), result.stdout)
    return result.stdout


def lanes(place):
    """By name; JSON leaves out that of MAIN, whose number is zero."""
    found = json.loads(told(place, "list", "--json"))["lanes"]
    tap.equal(sorted(lane.get("lane", "MAIN") for lane in found), ["BACKFILL", "EMERGENCY", "FAILED", "MAIN"])
    return {lane.get("lane", "MAIN"): lane for lane in found}


def failed(place, *words):
    return json.loads(told(place, "list", "--failed", "--json", *words)).get("documents", [])


def park(place):
    """Two documents whose stored form is damaged; the indexer finds out with its one try."""
    place.start("serve", "system", "receiver")
    put(place, document("good", 1, 1), document("bad-1", 1, 1), document("bad-2", 1, 1))
    place.stop()
    query(place, "CREATE TABLE saved AS SELECT pk, document FROM registry")
    query(place, "UPDATE registry SET document = X'07' WHERE pk LIKE 'bad%'")
    place.start("up", "--registry.try_count=1")
    tap.wait_until(lambda: lanes(place)["FAILED"].get("parkedCount") == "2", what="parked ones")


def mend(place):
    query(place, "UPDATE registry SET document = (SELECT document FROM saved s "
                 "WHERE s.pk = registry.pk)")


def read_index(place):
    """What a searcher would hold: {pk: version}."""
    at, found, ticket = 0, {}, 0
    while True:
        result = place.torg("topic", "read", TOPIC, "--from", f"0:{at}", "--limit", "1000", "--json")
        tap.equal((result.returncode, result.stderr), (0, ""))
        records = json.loads(result.stdout).get("records", [])
        if not records:
            return found
        for record in records:
            at = int(record.get("offset", 0)) + 1
            message = json.loads(record["json"])
            if int(message["ticket"]) < ticket:
                continue
            ticket = int(message["ticket"])
            if "put" in message:
                number, pk = message["put"].get("docId", 0), message["put"]["pk"]
                kept = found.get(number)
                assert not kept or kept[0] == pk, f"number {number} of {kept} was given to {pk}"
                version = int(message["put"]["version"])
                assert not kept or kept[1] <= version, f"{pk} went back from {kept} to {version}"
                found[number] = (pk, version)
            elif "remove" in message:
                found.pop(message["remove"].get("docId", 0), None)


@tap.test
def lanes_are_told_with_and_without_a_server():
    with Place() as place:
        place.start()
        put(place, document("a", 1, 10), document("b", 1, 10))
        tap.wait_until(lambda: lanes(place)["MAIN"].get("offset") == "2", what="the offset")
        shown = told(place, "list").splitlines()
        tap.equal(shown[0].split(), ["CLIENT", "SHARD", "LANE", "OFFSET", "END", "WAITING",
                                     "PARKED", "OLDEST"])
        tap.equal(shown[2].split(), ["default", "0", "main", "2", "2", "0", "0", "-"])
        place.stop()
        tap.equal(told(place, "list").splitlines(), shown)
        tap.equal(dict(read_index(place).values()), {"a": 1, "b": 1})


@tap.test
def a_command_line_that_is_wrong_is_refused():
    with Place() as place:
        tap.equal(queue(place, "replay").returncode, 2)
        tap.equal(queue(place, "replay", "x", "--all").returncode, 2)
        tap.equal(queue(place, "drop").returncode, 2)
        tap.equal(queue(place, "list", "--limit", "0").returncode, 2)
        place.start()
        put(place, document("a", 1, 10))
        for word in ("show", "replay", "drop"):
            result = queue(place, word, "nowhere")
            tap.equal(result.returncode, 4, result.stderr)
            tap.contains(result.stderr, "no document nowhere of client default has failed")
        tap.equal(queue(place, "list", "--client", "nobody").returncode, 4)


@tap.test
def parked_documents_are_shown_replayed_and_dropped():
    with Place() as place:
        park(place)
        shown = told(place, "list", "--parked")
        tap.contains(shown, "bad-1  version 1  1 try  parked")
        tap.equal([f["pk"] for f in failed(place, "--pk", "bad-2")], ["bad-2"])
        one = told(place, "show", "bad-1")
        tap.contains(one, "next      never: parked, torg queue replay tries it again")
        mend(place)
        tap.contains(told(place, "show", "bad-1"), '"text":"thing bad-1"')
        tap.equal(told(place, "replay", "bad-1"), "1 to be tried again\n")
        tap.wait_until(lambda: [f["pk"] for f in failed(place)] == ["bad-2"], what="the replay")
        tap.contains(told(place, "drop", "bad-2"), "bad-2 of client default is dropped")
        tap.equal(failed(place), [])
        actions = place.torg("audit").stdout
        tap.contains(actions, "queue.replay")
        tap.contains(actions, "queue.drop")
        tap.equal(dict(read_index(place).values()), {"good": 1, "bad-1": 1})


@tap.test
def the_directory_is_enough_when_no_server_runs():
    with Place() as place:
        park(place)
        place.stop()
        tap.equal([f["pk"] for f in failed(place, "--parked")], ["bad-1", "bad-2"])
        tap.contains(told(place, "show", "bad-2"), "reason    ")
        mend(place)
        tap.equal(told(place, "replay", "--all"), "2 to be tried again\n")
        place.start()
        tap.wait_until(lambda: not failed(place), what="the replay")
        tap.equal(dict(read_index(place).values()), {"good": 1, "bad-1": 1, "bad-2": 1})


@tap.test
def a_newer_write_takes_a_parked_one_off():
    with Place() as place:
        park(place)
        put(place, document("bad-1", 2, 2), document("bad-2", 2, None))
        tap.wait_until(lambda: not failed(place), what="the newer ones")
        tap.wait_until(lambda: dict(read_index(place).values()) == {"good": 1, "bad-1": 2},
                       what="the newer one in the index")


class Writer(threading.Thread):
    """Writes and deletes documents until told to stop, over whichever server is there."""

    def __init__(self, place, seed):
        super().__init__(daemon=True)
        self.place, self.rng = place, random.Random(seed)
        self.versions = {}
        self.acknowledged = {}      # pk: (version, is there)
        self.ended = False

    def run(self):
        while not self.ended:
            pk = f"k{self.rng.randrange(KEYS)}"
            version = self.versions[pk] = self.versions.get(pk, 0) + 1
            price = None if self.rng.randrange(4) == 0 else version
            try:
                status, answer = self.place.call(
                    "DocumentService/PutDocuments", {"documents": [document(pk, version, price)]},
                    self.place.start_key)
                if status == 200 and answer["verdicts"][0]["kind"] == "ACCEPTED":
                    self.acknowledged[pk] = (version, price is not None)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)    # no server


@tap.test
def killed_at_random_nothing_is_lost():
    tap.comment(f"seed {SEED}, {KILLS} kills")
    rng = random.Random(SEED)
    with Place() as place:
        place.start()
        writer = Writer(place, SEED)
        writer.start()
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.05, 0.6))
            place.stop(signal.SIGKILL)
            place.start()
        writer.ended = True
        writer.join()
        tap.wait_until(lambda: all(int(lane.get("lag", 0)) == 0 for lane in lanes(place).values()),
                       what="an empty queue")
        kept = dict(query(place, "SELECT pk, version FROM registry WHERE status = 1"))
        for pk, (version, is_there) in writer.acknowledged.items():
            assert not is_there or kept.get(pk, 0) >= version or writer.versions[pk] > version, pk
        found = read_index(place).values()
        tap.equal(len(found), len(dict(found)), "a key has two numbers")
        tap.equal(dict(found), kept)
        tap.wait_until(lambda: query(place, "SELECT COUNT(*) FROM registry_queue") == [(0,)],
                       what="a queue without rows")
        tap.comment(f"{sum(writer.versions.values())} writes")


tap.main()
