# SPDX-License-Identifier: Apache-2.0
"""torg epoch: plan, start, status, switch and rollback on a running server, with searches and writes
all the time; torg numerator on what is left."""
import json
import random
import signal
import threading
import time

from kit import tap
from kit.bicycles import Bicycles, document
from kit.binary import Place

COUNT = 700
KILLS = 4
DEADLINE_MS = 60000         # the longest: no search is lost to a busy machine
PATIENTLY = ("--wait", f"{tap.PATIENCE_S}s")


def field(name, **value):
    return {"name": name, **value}


class Client(Bicycles):
    def __init__(self):
        super().__init__(COUNT)

    def search(self, query, **more):
        return self.ok("SearcherService/Search", {"query": query, "deadlineMs": DEADLINE_MS, **more})

    def total(self, **more):
        answer = self.search({"stages": [{"limit": 1}]}, **more)
        return int(answer["answer"]["stages"][0].get("total", 0))

    def torg(self, *words, code=0):
        told = self.place.torg("epoch", *words)
        tap.equal(told.returncode, code, told.stdout + told.stderr)
        return told.stdout if code == 0 else told.stderr

    def status(self):
        return json.loads(self.torg("status", "--json"))

    def wait_compared(self, part):
        """Each epoch has a second for a query: on a busy machine one may be too late for it."""
        def compared():
            told = self.torg("compare")
            return told if part in told else None

        return tap.wait_until(compared, what=part)

    def wait_safe(self):
        tap.wait_until(lambda: self.status().get("isSafe"), what="an epoch that has everything")
        tap.wait_until(lambda: self.place.torg("epoch", "switch").returncode == 0, what="a switch")


@tap.test
def a_plan_tells_what_does_not_fit():
    with Client() as client:
        told = client.torg("plan", "--field", "price=decimal")
        tap.contains(told, f"{COUNT} documents checked, 0 would not be in the new epoch")
        told = client.torg("plan", "--field", "title=integer")
        tap.contains(told, f"{COUNT} documents checked, {COUNT} would not be in the new epoch")
        tap.contains(told, "field title: it is integer in epoch 2, not text")
        tap.contains(told, "such as bike-")
        told = client.torg("plan", "--field", "title=colour", code=2)
        tap.contains(told, "expected NAME=TYPE")
        told = client.torg("plan", "--field", "Wrong name=text", code=2)
        tap.contains(told, "fields[0].name")
        client.place.write("schema.json", json.dumps({"fields": [
            {"name": "price", "type": "DECIMAL", "options": {"scale": 3}}]}))
        told = client.torg("plan", "--schema", "schema.json")
        tap.contains(told, ", 0 would not")
        tap.equal(len(client.status()["epochs"]), 1)


class Searching(threading.Thread):
    """Asks all the time; every answer is whole and of one epoch."""

    def __init__(self, client):
        super().__init__()
        self.client, self.ended, self.epochs, self.wrong = client, False, [], []

    def wait_for(self, epoch):
        """Until it has seen the epoch itself."""
        tap.wait_until(lambda: self.epochs[-1:] == [epoch] or self.wrong, what=f"searches of epoch {epoch}")

    def run(self):
        while not self.ended:
            status, answer = self.client.place.call(
                "SearcherService/Search", {"query": {"stages": [{"limit": 1}]},
                                           "deadlineMs": DEADLINE_MS},
                self.client.place.start_key)
            total = answer.get("answer", {}).get("stages", [{}])[0].get("total")
            if status != 200 or int(total or 0) != COUNT or answer.get("isPartial"):
                self.wrong.append((status, answer))
            elif not self.epochs or self.epochs[-1] != answer["epoch"]:
                self.epochs.append(answer["epoch"])


@tap.test
def an_epoch_is_built_and_switched_to_under_searches():
    with Client() as client:
        tap.wait_until(lambda: client.total() == COUNT, what="all documents")
        searching = Searching(client)
        searching.start()
        try:
            searching.wait_for("1")
            tap.contains(client.torg("start", "--field", "price=decimal"), "building")
            tap.contains(client.torg("start", code=1), "epoch 2 of client default is being built")
            for number in range(0, COUNT, 7):
                client.put(document(number, version=2, price=number + 1))
            client.wait_safe()
            token = client.put({"pk": "bike-1", "version": 3, "fields": [
                field("title", text="bicycle 1"), field("price", decimal="10")]})
            tap.equal(client.total(wait=token), COUNT)
            tap.contains(client.torg("switch", code=1), "has no epoch that is built")
            tap.equal(client.status()["servingEpoch"], "2")
            searching.wait_for("2")
            tap.contains(client.torg("rollback"), "searches ask epoch 1")
            searching.wait_for("1")
            client.torg("rollback")
            searching.wait_for("2")
        finally:
            searching.ended = True
            searching.join()
        tap.equal(searching.wrong[:3], [])
        tap.equal(searching.epochs, ["1", "2", "1", "2"])
        told = client.place.torg("audit")
        for action in ("epoch.start", "epoch.switch", "epoch.rollback"):
            tap.contains(told.stdout, action)


@tap.test
def losses_are_told_and_need_consent():
    with Client() as client:
        client.torg("start", "--field", "title=keyword")
        client.torg("switch", *PATIENTLY)
        wide = {"pk": "bike-1", "version": 5, "fields": [
            field("title", keyword="bicycle 1"), field("price", integer="7")]}
        token = client.put(wide)                    # a keyword is a text, so it fits both
        tap.equal(client.total(wait=token), COUNT)
        tap.contains(client.torg("plan", "--epoch", "1"), "0 do not fit epoch 1")
        client.torg("start", "--field", "title=integer")
        tap.wait_until(lambda: not client.status().get("waitsFor"), what="a built epoch")
        told = client.torg("switch", code=1)
        tap.contains(told, f"{COUNT} documents checked, {COUNT} do not fit epoch 3")
        tap.contains(told, f"{COUNT} documents would not be found in epoch 3")
        tap.contains(told, "--accept-losses")
        status, answer = client.place.call("EpochService/SwitchEpoch", {}, client.place.start_key)
        tap.equal(status, 400, answer)
        tap.contains(json.dumps(answer), "accept_losses")
        tap.equal(client.total(), COUNT)
        tap.contains(client.torg("switch", "--accept-losses"), "searches ask epoch 3")
        tap.wait_until(lambda: client.total() == 0, what="an epoch that nothing fits")
        tap.contains(client.torg("rollback"), "searches ask epoch 2")
        tap.wait_until(lambda: client.total() == COUNT, what="the way back")


@tap.test
def epochs_are_compared_by_the_last_queries():
    with Client() as client:
        tap.contains(client.torg("compare", code=1), "has no other")
        tap.wait_until(lambda: client.total() == COUNT, what="all documents")
        client.torg("start", "--field", "price=keyword")
        tap.wait_until(lambda: not client.status().get("waitsFor"), what="a built epoch")
        client.wait_compared("1 of the last queries: 1 answered alike")
        client.put({"pk": "gone", "version": 1, "epoch": 2, "fields": [
            field("title", text="bicycle gone"), field("price", keyword="cheap")]})
        tap.wait_until(lambda: client.total(epoch=2) == COUNT + 1, what="a document of epoch 2")
        told = client.wait_compared("0 answered alike, 1 differently")
        tap.contains(told, f"stage 0: {COUNT} found, {COUNT + 1} in the other")


@tap.test
def a_switch_waits_for_what_is_missing():
    with Client() as client:
        tap.contains(client.torg("switch", "--wait", "soon", code=2), "expected a duration")
        tap.contains(client.torg("switch", "--wait", "1m", code=1), "has no epoch that is built")
        client.torg("start", "--field", "price=decimal")
        told = client.torg("switch", "--epoch", "7", "--wait", "1m", code=1)
        tap.contains(told, "epoch: 7 was asked for, and 2 is built")
        tap.contains(client.torg("switch", *PATIENTLY), "searches ask epoch 2")
        client.place.stop()
        tap.contains(client.torg("start"), "building")
        told = client.torg("switch", "--wait", "1m", code=1)
        tap.contains(told, "no server runs that could continue")


@tap.test
def an_epoch_that_is_built_is_given_up():
    with Client() as client:
        client.torg("abandon", code=1)
        tap.contains(client.torg("start", "--field", "price=decimal"), "building")
        tap.equal("building" in client.torg("abandon"), False)
        tap.equal(client.status()["servingEpoch"], "1")
        tap.contains(client.torg("start"), "building")
        client.wait_safe()  # it is switched to, then
        tap.equal(client.status()["servingEpoch"], "3")
        tap.contains(client.place.torg("audit").stdout, "epoch.abandon")


@tap.test
def kills_while_an_epoch_is_built_lose_nothing():
    with Client() as client:
        client.torg("start", "--field", "price=decimal")
        for number in range(KILLS):
            tap.wait_until(lambda: client.place.call("DocumentService/PutDocuments", {
                "documents": [document(number, version=5)]}, client.place.start_key)[0] == 200)
            time.sleep(random.random() * 0.3)
            client.place.stop(signal.SIGKILL)
            client.place.start("up")
        client.wait_safe()
        status = client.status()
        tap.equal(int(status["epochs"][1]["shards"][0]["pouredCount"]), COUNT)
        for epoch in ("1", "2"):
            tap.wait_until(lambda: client.total(epoch=epoch) == COUNT, what=f"epoch {epoch}")


def number_table(place, state):
    """{pk: doc_id} of a state."""
    told = place.torg("numerator", "inspect", state, "--docs-table", "docs.csv")
    tap.equal(told.returncode, 0, told.stderr)
    rows = (place.dir / "docs.csv").read_text().splitlines()[1:]
    return {row.split(",")[0]: int(row.split(",")[2]) for row in rows}


@tap.test
def numbers_are_exported_compared_and_taken_in_elsewhere():
    with Client() as client:
        tap.wait_until(lambda: client.total() == COUNT, what="all documents")
        told = client.place.torg("numerator", "export", "numbers")      # while the server runs
        tap.equal(told.returncode, 0, told.stderr)
        told = client.place.torg("numerator", "import", "numbers")
        tap.contains(told.stderr, "a server runs on the data directory: stop it")
        client.place.stop()
        told = client.place.torg("numerator", "export", "numbers")
        tap.equal(told.returncode, 0, told.stderr)
        tap.contains(told.stdout, f"keys     {COUNT}\nshard    0: numbers up to {COUNT - 1}")
        tap.equal(client.place.torg("numerator", "inspect", "numbers").stdout, told.stdout)
        version = told.stdout.split()[1]
        told = client.place.torg("numerator", "compat", "numbers", version)
        tap.equal((told.returncode, told.stdout[:4]), (0, "yes:"))
        told = client.place.torg("numerator", "compat", "1.1.1.1", "1.1.2.1")
        tap.equal((told.returncode, told.stdout[:3]), (1, "no:"))
        told = client.place.torg("numerator", "import", "numbers")
        tap.contains(told.stderr, "numbers were given in shard 0 already")
        content = bytearray((client.place.dir / "numbers").read_bytes())
        wanted = number_table(client.place, "numbers")
        taken_in_elsewhere(bytes(content), wanted)
        content[len(content) // 2] ^= 1
        (client.place.dir / "numbers").write_bytes(content)
        told = client.place.torg("numerator", "inspect", "numbers")
        tap.contains(told.stderr, "numbers: the state is damaged before byte")


def taken_in_elsewhere(state, wanted):
    """Documents that come in another order have the numbers of the state; new ones follow."""
    client = Client()
    with Place() as client.place:
        (client.place.dir / "numbers").write_bytes(state)
        told = client.place.torg("numerator", "import", "numbers")
        tap.equal(told.returncode, 0, told.stderr)
        client.place.start()
        client.put({"pk": "first", "version": 1, "fields": [field("title", text="new")]})
        client.put(*(document(i) for i in range(99, -1, -1)))
        tap.wait_until(lambda: client.total() == 101, what="all documents")
        told = client.place.torg("numerator", "export", "now")
        tap.equal(told.returncode, 0, told.stderr)
        tap.equal(number_table(client.place, "now"), {**wanted, "first": COUNT})
        told = client.place.torg("verify")
        tap.equal(told.returncode, 0, told.stdout + told.stderr)


def state_of(place, name, *options):
    place.write("offers.csv", "pk,shop_id\nbike-1,1\n")
    told = place.torg("numerator", "run", "--input-offers-table", "offers.csv", "--output-state-table", name,
                      "--key-columns", "pk", *options)
    tap.equal(told.returncode, 0, told.stderr)
    return name


@tap.test
def a_refused_import_leaves_no_client_and_no_two_numberings_of_a_version():
    client = Client()
    with Place() as client.place:
        place = client.place
        for options, part in ((("--type", "7"), "the state's type is 7, the client's is 1"),
                              (("--output-sharding-scheme", "10002"), "sharding scheme is 10002"),
                              (("--output-sharding-scheme", "4096"), "the state has 4096 shards, and a client")):
            told = place.torg("numerator", "import", state_of(place, "bad.numbers", *options))
            tap.contains(told.stderr, part)
            tap.contains(place.torg("epoch", "status").stderr, "there is no client default")
        place.start()
        status, answer = place.call("DocumentService/PutDocuments", {
            "documents": [{"pk": "nobody", "version": 1, "event": "DELETE"}]}, place.start_key)
        tap.equal(status, 200, answer)
        client.torg("start", "--renumber")              # epoch 2 has V 1, and nobody has a number yet
        place.stop()
        state = state_of(place, "1.numbers")
        state = state_of(place, "2.numbers", "--input-state-table", state, "--rebuild-state-force")
        told = place.torg("numerator", "import", state)
        tap.equal(told.returncode, 1, told.stdout)
        tap.contains(told.stderr, "has numbers of V 1 already")
        state = state_of(place, "3.numbers", "--input-state-table", state, "--rebuild-state-force")
        told = place.torg("numerator", "import", state)
        tap.equal(told.returncode, 0, told.stderr)


tap.main()
