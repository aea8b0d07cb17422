# SPDX-License-Identifier: Apache-2.0
"""torg ctr push: counts of clicks that were made elsewhere become rates in the index; the epoch in force changes when
a table is whole, whatever is killed meanwhile."""
import json
import os
import random
import signal
import subprocess

from kit import tap
from kit.binary import torg
from kit.shop import BOOK, Shop

COUNT = 4
PATIENTLY = ("--quiet", "--wait", f"{tap.PATIENCE_S}s")
EPOCHS = [f"2026-01-0{day}T00:00:00Z" for day in range(1, 8)]
KILLS = 3


class Market(Shop):
    def fill(self):
        made = [self.ok("OfferService/CreateOffer", {"content": {**BOOK, "title": f"A book {i}"}}, self.alice)
                for i in range(COUNT)]
        self.ids = [each["id"] for each in made]
        self.ok("SearchService/SearchOffers", {"wait": [each["freshnessToken"] for each in made]})
        return self

    def ctr(self, *words, code=0):
        done = self.torg("ctr", *words)
        tap.equal((words, done.returncode), (words, code), done.stdout + done.stderr)
        return done.stdout if not code else done.stderr

    def push(self, epoch, table, *words, code=0):
        return self.ctr("push", "--epoch", epoch, *PATIENTLY, *words, table, code=code)

    def table(self, name, clicks, header="offer,category,shows,clicks\n", looks=1000):
        rows = "".join(f"{self.ids[i]},books,{looks},{count}\n" for i, count in enumerate(clicks))
        self.write(name, header + rows)
        return name

    def status(self):
        return json.loads(self.ctr("status", "--json"))

    def epoch(self):
        return self.status().get("current", {}).get("epochTime")

    def rates(self):
        """Offers in order of their rates in the index, as far as they have one."""
        stage = {"sorts": [{"field": "ctr", "descending": True}], "filter": {"exists": "ctr"}, "limit": 50,
                 "show": ["ctr"]}
        status, answer = self.call("SearcherService/Search", {"client": "offers", "query": {"stages": [stage]},
                                                               "deadlineMs": 60000}, self.start_key)
        if status != 200:       # no offer has a rate yet
            return []
        hits = answer["answer"]["stages"][0].get("hits", [])
        return [(self.ids.index(hit["pk"]), float(hit["fields"][0]["values"][0])) for hit in hits]

    def await_only(self, wanted):
        """Of what the table before had, and this one lacks, nothing is known any more but their category."""
        def is_so():
            rates = self.rates()
            return len(rates) == 3 and rates[0][0] == wanted and rates[0][1] > rates[1][1] == rates[2][1]
        tap.wait_until(is_so, what=f"a rate of {wanted} alone")

    def await_order(self, *wanted):
        tap.wait_until(lambda: tuple(i for i, _ in self.rates()) == wanted, what=f"the order {wanted}")


@tap.test
def a_table_becomes_rates_in_the_index():
    with Market() as shop:
        shop.fill()
        tap.contains(shop.ctr("status"), "no table was pushed")
        shop.table("one.csv", [100, 300, 200])
        told = shop.push(EPOCHS[0], "one.csv")
        tap.contains(told, "2026-01-01T00:00:00Z  3 rows, in force, all rates are sent")
        shop.await_order(1, 2, 0)           # the last has none
        rates = dict(shop.rates())
        tap.equal(abs(rates[1] - (300 + 20 * 600 / 3020) / 1020) < .00001, True, rates)

        # Other formats, and a later epoch, in seconds; looks are in millionths.
        shop.write("two.tsv", f"looks\toffer_id\tclicks\n1000000000\t{shop.ids[0]}\t500\n")
        shop.push(EPOCHS[1], "two.tsv")
        shop.await_only(0)
        shop.write("three.jsonl", "".join(json.dumps({"offer": shop.ids[i], "clicks": 800 - i, "shows": 1000}) + "\n"
                                          for i in (2, 1, 0)))
        told = json.loads(shop.push("1767398400", "three.jsonl", "--json"))
        tap.equal((told["epochTime"], told["rowCount"], told["isSent"]), (EPOCHS[2], "3", True))
        shop.await_order(0, 1, 2)
        (shop.data / "blobs" / "ctr").mkdir(parents=True)
        (shop.data / "blobs" / "ctr" / "four.csv~").write_text(f"offer,clicks,shows\n{shop.ids[2]},990,1000\n")
        shop.push(EPOCHS[3], "blob:ctr/four.csv")
        shop.await_only(2)
        tap.contains(shop.torg("audit").stdout, "ctr.push")

        # It has an order of its own: neither a change of the text nor a restart undoes it.
        shop.stop()
        told = shop.push(EPOCHS[4], shop.table("five.csv", [1, 900]))     # where no server runs
        tap.contains(told, "rates are being sent")
        shop.start()
        shop.await_order(1, 0, 2)
        rows = [json.loads(shop.ctr("status", "--json"))["current"]["rowCount"]]
        tap.equal(rows, ["2"])


@tap.test
def what_is_wrong_is_named_and_changes_nothing():
    with Market() as shop:
        shop.fill()
        shop.push(EPOCHS[2], shop.table("fine.csv", [1, 2]))
        bad = shop.table("bad.csv", [1, "many", 3])
        tap.contains(shop.push(EPOCHS[3], bad, code=1),
                     'bad.csv, line 3: column clicks: "many": expected a whole number')
        shop.write("twice.csv", f"offer,clicks,shows\n{shop.ids[0]},1,1\nother,1,1\n{shop.ids[0]},1,1\n")
        for more in ((), ("--dry-run",)):
            tap.contains(shop.push(EPOCHS[3], "twice.csv", *more, code=1),
                         f'line 4, offer: "{shop.ids[0]}" comes twice')
        shop.write("other.csv", "offer,shows\nx,1\n")
        tap.contains(shop.push(EPOCHS[3], "other.csv", code=1), 'it has no column "clicks"')
        shop.write("empty.csv", "offer,clicks,shows\n")
        tap.contains(shop.push(EPOCHS[3], "empty.csv", code=1), "it has no rows")
        shop.write("cut.csv", "offer,clicks,shows\nx,1,1")
        tap.contains(shop.push(EPOCHS[3], "cut.csv", code=1), "may be cut")
        tap.contains(shop.push(EPOCHS[3], "none.csv", code=4), "none.csv")
        tap.contains(shop.push(EPOCHS[3], "fine.xls", code=1), ".avro")
        tap.contains(shop.push("yesterday", "fine.csv", code=2), "--epoch=yesterday")
        tap.contains(shop.ctr("push", "fine.csv", code=2), "--epoch TIME is needed")
        tap.contains(shop.push("2200-01-01T00:00:00Z", "fine.csv", code=1), "not in the future")
        for epoch in EPOCHS[1:3]:
            tap.contains(shop.push(epoch, "fine.csv", code=1), "epoch 2026-01-03T00:00:00")
        told = shop.push(EPOCHS[3], "fine.csv", "--dry-run")
        tap.equal(told, "2 rows are fine; the epoch in force stays\n")
        told = json.loads(shop.push(EPOCHS[3], "fine.csv", "--dry-run", "--json"))
        tap.equal((told["epochTime"], told["rowCount"], told.get("push", "0")), (EPOCHS[3], "2", "0"))
        tap.equal((shop.epoch(), shop.status().get("pushes", [])), (EPOCHS[2], []))
        # A key that may push, and not look, is asked for no more.
        key = shop.data / "operator.key"
        operator, pusher = key.read_text(), shop.key("pusher", scopes=("pipeline.control",))
        key.write_text(pusher)
        told = shop.ctr("push", "--epoch", EPOCHS[3], "--quiet", "fine.csv")
        tap.equal(told, "2026-01-04T00:00:00Z  2 rows, in force, rates are being sent\n")
        tap.contains(shop.push(EPOCHS[4], "fine.csv", code=1), "pipeline.read")
        key.write_text(operator)
        tap.equal(shop.epoch(), EPOCHS[4])
        shop.refused("permission_denied", "CtrService/BeginCtrPush", {"epochTime": EPOCHS[3]}, shop.alice)


def begin_half(shop, epoch, rows):
    """A push of a table that goes on and on: some of its rows are there when this returns."""
    pipe = shop.dir / "endless.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen(shop.command("ctr", "push", "--epoch", epoch, "--quiet", pipe.name), cwd=shop.dir,
                               env=shop.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    file = open(pipe, "w", encoding="utf-8")
    file.write("offer,clicks,shows\n" + "".join(f"o{i},1,2\n" for i in range(rows)))
    file.flush()
    os.unlink(pipe)
    return process, file


@tap.test
def a_kill_leaves_the_epoch_that_was_in_force():
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"# seed {seed}")
    draw = random.Random(seed)
    with Market() as shop:
        shop.fill()
        shop.push(EPOCHS[0], shop.table("one.csv", [1, 3, 2]))
        shop.await_order(1, 2, 0)
        for number in range(KILLS):
            rows = draw.randrange(150_000, 250_000)     # the pipe has room for some of them at most
            process, file = begin_half(shop, EPOCHS[1], rows)
            tap.wait_until(lambda: int(next(iter(shop.status().get("pushes", [])), {}).get("rowCount", 0)) > 1000 *
                           draw.randrange(1, 50), what="rows of a load")
            victim = process if number % 2 == 0 else shop.process
            victim.send_signal(signal.SIGKILL)
            victim.wait(timeout=tap.PATIENCE_S)
            try:
                file.close()
            except BrokenPipeError:
                pass
            if victim is shop.process:
                tap.equal(process.wait(timeout=tap.PATIENCE_S) != 0, True)
                shop.start()
            tap.equal(shop.epoch(), EPOCHS[0])
            shop.await_order(1, 2, 0)
        shop.push(EPOCHS[1], shop.table("two.csv", [5, 3, 2]))
        shop.await_order(0, 1, 2)
        tap.equal(shop.status().get("current", {}).get("rowCount"), "3")


tap.main()
