# SPDX-License-Identifier: Apache-2.0
"""An epoch with another type of a field is built, switched to and rolled back while clients write
and search all the time: no search fails, none sees a mixture of both, nothing written is lost.

The type can be told from an answer: prices are "15" as integers, "15.00" as decimals.
"""
import json
import os
import random
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
CLIENT = "alpha"
SHARDS = 2
FORMS = {"1": "integer", "2": "decimal"}       # of the price, by epoch


class Writer(chain.Writer):
    """Sends prices in the form that is taken: it learns of the switch by a refusal."""

    form = "integer"

    def make(self, pk, version):
        made = super().make(pk, version)
        for field in made["fields"]:
            if field["name"] == "price":
                price = field.pop("integer")
                field[self.form] = price if self.form == "integer" else f"{price}.00"
        return made

    def judge(self, pk, version, kind, verdict):
        if kind == "INVALID" and "is decimal in epoch 2" in json.dumps(verdict):
            self.form = "decimal"
            return False
        return super().judge(pk, version, kind, verdict)


class Searcher(threading.Thread):
    """Searches all the time; keeps what was wrong, and the epochs it has seen, in order."""

    def __init__(self, place, key):
        super().__init__(daemon=True)
        self.place, self.connection = place, chain.Connection(key)
        self.ended, self.wrong, self.epochs, self.count = False, [], [], 0

    def run(self):
        while not self.ended:
            try:
                self.ask()
                time.sleep(tap.rest_s(0.02))
            except (OSError, ValueError, KeyError) as trouble:
                self.wrong.append(repr(trouble))

    def ask(self):
        status, answer = self.connection.call(self.place.url, "SearcherService/Search", {
            "client": CLIENT, "deadlineMs": 60000,
            "query": {"stages": [{"limit": 100, "show": ["price"]}]}})
        if status != 200 or answer.get("isPartial"):
            self.wrong.append((status, answer))
            return
        epoch = answer["epoch"]
        prices = [value for hit in answer["answer"]["stages"][0].get("hits", [])
                  for field in hit.get("fields", []) for value in field["values"]]
        forms = {"decimal" if "." in price else "integer" for price in prices}
        if not prices or forms != {FORMS[epoch]}:
            self.wrong.append((epoch, forms, len(prices), self.epochs[-1:],
                               len(answer["answer"]["stages"][0].get("hits", [])), str(answer)[:300]))
        if not self.epochs or self.epochs[-1] != epoch:
            self.epochs.append(epoch)
        self.count += 1


def epoch(place, *words):
    told = place.torg("epoch", *words, "--client", CLIENT)
    tap.equal(told.returncode, 0, told.stdout + told.stderr)
    return told.stdout


def wait_for_epoch(searchers, number):
    """All searchers see it; none goes back to another by itself (see the list at the end)."""
    tap.wait_until(lambda: all(each.epochs[-1:] == [number] for each in searchers),
                   what=f"searches of epoch {number}")


@tap.test
def a_switch_under_load_fails_no_search_and_mixes_nothing():
    tap.comment(f"seed {SEED}")
    with Place() as place:
        place.start("up", f"--registry.shards={SHARDS}")
        key = place.start_key
        writers = [Writer(number, CLIENT, key, SEED, keys=150) for number in range(3)]
        for writer in writers:
            writer.url = place.url
            writer.start()
        tap.wait_until(lambda: sum(writer.acknowledged for writer in writers) > 600,
                       what="documents")

        def call(method, message):
            return place.call(method, message, key)

        def hits():
            status, answer = call("SearcherService/Search", {"client": CLIENT, "query": {
                "stages": [{"limit": 1}]}})
            return status == 200 and int(answer["answer"]["stages"][0].get("total", 0))

        tap.wait_until(lambda: hits() > 100, what="hits")
        searchers = [Searcher(place, key) for _ in range(2)]
        for searcher in searchers:
            searcher.start()
        wait_for_epoch(searchers, "1")
        epoch(place, "start", "--field", "price=decimal")
        tap.wait_until(lambda: json.loads(epoch(place, "status", "--json")).get("isSafe"), tap.PATIENCE_S,
                       "an epoch that has everything")
        tap.wait_until(lambda: place.torg("epoch", "switch", "--client", CLIENT).returncode == 0,
                       what="a switch")
        wait_for_epoch(searchers, "2")
        tap.wait_until(lambda: all(writer.form == "decimal" for writer in writers),
                       what="writers that have learned of it")
        chain.go_on(writers, 100)
        epoch(place, "rollback")
        wait_for_epoch(searchers, "1")
        chain.go_on(writers, 100)
        epoch(place, "rollback")
        wait_for_epoch(searchers, "2")
        chain.stop(writers)
        for searcher in searchers:
            searcher.ended = True
        for searcher in searchers:
            searcher.join(timeout=tap.PATIENCE_S)
        tap.equal([searcher.wrong[:3] for searcher in searchers], [[], []])
        tap.equal([searcher.epochs for searcher in searchers], [["1", "2", "1", "2"]] * 2)
        registry = chain.check_registry(call, writers)
        chain.check_search(call, writers, registry)
        chain.verify(place, "--rebuild")
        for number in (1, 2):
            chain.check_numbers(call, CLIENT, number, SHARDS)
        tap.comment(f"{sum(searcher.count for searcher in searchers)} searches, "
                    f"{sum(writer.acknowledged for writer in writers)} writes")
        tap.equal(place.stop(), 0, place.log()[-3000:])


tap.main()
