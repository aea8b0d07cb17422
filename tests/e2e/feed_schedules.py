# SPDX-License-Identifier: Apache-2.0
"""Feeds that `torg up` fetches by their addresses, from a web server of the test."""
import gzip
import json
import signal
import sys
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402
from kit.photo_shop import Answer, Pictures  # noqa: E402

CATALOG = {"defaults": {"policy": {"titleMin": 3, "titleMax": 50, "currencies": ["RUB"],
                                   "price": "REQUIRED"}},
           "categories": [{"id": "books", "name": {"en": "Books"}}]}


def goods(count, price=100):
    lines = [f"p{i};books;Book number {i};{price}" for i in range(1, count + 1)]
    return "\n".join(["id;category;title;price", *lines, ""]).encode()


class Shop(Place):
    spelling = False
    words = ("up", "--feeds.private_addresses=true")

    def __enter__(self):
        super().__enter__().start(*self.words)
        self.write("catalog.json", json.dumps(CATALOG))
        tap.equal(self.torg("catalog", "apply", "catalog.json").returncode, 0)
        self.alice = self.key("alice", "--seller", "alice")
        self.site = Pictures()
        return self

    def __exit__(self, *_):
        self.site.shutdown()
        self.site.server_close()
        super().__exit__()

    def key(self, name, *words, scopes=("offers.read", "offers.write")):
        asked = [word for scope in scopes for word in ("--scope", scope)]
        return self.torg("key", "create", name, *asked, *words).stdout.strip()

    def schedule(self, *words, code=0):
        result = self.torg("feed", "schedule", *words, "--seller", "alice", "--json")
        tap.equal((words, result.returncode, result.stderr if result.returncode != code else ""),
                  (words, code, ""))
        return json.loads(result.stdout) if not code else result.stderr

    def add(self, path="/goods.csv"):
        self.schedule("add", self.site.address(path))
        return self.after(1)

    def after(self, count):
        """The schedule when it has been run so many times."""
        def done():
            now = self.schedule("show")
            return now if int(now.get("runCount", 0)) >= count else None
        return tap.wait_until(done, what=f"run {count}")

    def run(self, *words):
        return self.schedule("run", *words)["runs"][0]

    def offers(self):
        _, answer = self.call("CabinetService/GetCounts", {}, self.alice)
        return {one["preset"]: int(one["count"]) for one in answer["counts"] if "count" in one}

    def metric(self, name):
        with urllib.request.urlopen(f"{self.operators}/metrics", timeout=tap.PATIENCE_S) as answer:
            lines = answer.read().decode().splitlines()
        return int(next(line.split()[-1] for line in lines if line.startswith(name)))


@tap.test
def a_file_that_has_changed_is_applied():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = gzip.compress(goods(3))
        shop.site.tags["/goods.csv"] = '"one"'
        first = shop.add()
        tap.equal((first["state"], first["runs"][0]["outcome"], first["runs"][0]["taskId"]),
                  ("ACTIVE", "APPLIED", "1"))
        tap.equal(first["runs"][0]["counts"]["created"], "3")
        tap.equal(shop.offers()["ALL"], 3)
        tap.equal(shop.run()["outcome"], "UNCHANGED")
        tap.equal(shop.site.sent, ["/goods.csv"])           # asked twice, sent once
        tap.equal(len(shop.site.asked), 2)
        tap.equal(shop.run("--again")["outcome"], "APPLIED")
        shop.site.files["/goods.csv"] = goods(3, price=200)
        shop.site.tags["/goods.csv"] = '"two"'
        changed = shop.run()
        tap.equal((changed["outcome"], changed["taskId"], changed["counts"]["updated"]),
                  ("APPLIED", "3", "3"))
        told = shop.torg("feed", "schedule", "show", "--seller", "alice").stdout
        tap.contains(told, "every 1h, active")
        tap.contains(told, "unchanged")
        tap.equal(shop.metric('torg_feed_runs_total{outcome="applied"}'), 3)
        tap.contains(shop.torg("audit").stdout, "feed.schedule.set")


@tap.test
def how_a_file_is_read_is_said_with_its_address():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = b"id;category;title;price\np1;Novels;A book;1,999\n"
        shop.add()
        tap.equal(shop.schedule("show")["runs"][0]["counts"]["refused"], "1")
        shop.schedule("add", shop.site.address("/goods.csv"), "--decimal", "point", "--category", "books")
        now = shop.after(2)
        tap.equal((now["runs"][0]["counts"]["created"], now["reading"]),
                  ("1", {"decimal": "point", "category": "books"}))
        shown = shop.torg("feed", "schedule", "show", "--seller", "alice").stdout
        tap.contains(shown, "its decimal sign is a point\nrows whose category is none of ours get books\n")
        tap.contains(shop.schedule("add", shop.site.address("/goods.csv"), "--category", "nowhere", code=2),
                     'reading.category: there is no category "nowhere"')
        shop.site.files["/odd.txt"] = "id|category|title|price\np2|books|Тихий Дон|5,50\n".encode("cp866")
        shop.schedule("add", shop.site.address("/odd.txt"), "--format", "csv", "--encoding", "cp866",
                      "--delimiter", "|", "--currency", "rub", "--decimal", "comma")
        now = shop.after(3)
        tap.equal((now["runs"][0]["counts"]["created"], now["reading"]),
                  ("1", {"decimal": "comma", "format": "csv", "encoding": "cp866", "delimiter": "|",
                         "currency": "rub"}))
        _, stored = shop.call("CabinetService/ListOffers", {}, shop.alice)
        tap.equal([(one["content"]["title"], one["content"]["price"]["amount"]) for one in stored["offers"]
                   if one["content"]["externalId"] == "p2"], [("Тихий Дон", "550")])
        for option, value, said in [("--format", "doc", "reading.format: expected one of yml"),
                                    ("--encoding", "klingon", "reading.encoding: expected the name of one"),
                                    ("--delimiter", "x", "reading.delimiter: expected one of"),
                                    ("--currency", "shells", "reading.currency: expected the code of one")]:
            tap.contains(shop.schedule("add", shop.site.address("/odd.txt"), option, value, code=2), said)


@tap.test
def a_sellers_key_reaches_his_own():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = goods(1)
        bob = shop.key("bob", "--seller", "bob")
        reader = shop.key("reader", "--seller", "alice", scopes=("offers.read",))
        wanted = {"address": shop.site.address("/goods.csv"), "periodSeconds": 600}
        tap.equal(shop.call("FeedService/SetSchedule", wanted, reader)[0], 403)
        status, made = shop.call("FeedService/SetSchedule", wanted, shop.alice)
        tap.equal((status, made["seller"], made["feed"]), (200, "alice", "main"))
        for method in ("GetSchedule", "PauseSchedule", "RemoveSchedule", "RunSchedule"):
            tap.equal(shop.call(f"FeedService/{method}", {}, bob)[0], 404)
            tap.equal(shop.call(f"FeedService/{method}", {"seller": "alice"}, bob)[0], 404)
        tap.equal(shop.call("FeedService/ListSchedules", {}, bob)[1], {})
        listed = shop.call("FeedService/ListSchedules", {}, reader)[1]["schedules"]
        tap.equal([one["feed"] for one in listed], ["main"])
        tap.equal(shop.call("FeedService/PauseSchedule", {}, shop.alice)[1]["state"], "PAUSED")
        status, refused = shop.call("FeedService/RunSchedule", {}, shop.alice)
        tap.equal((status != 200, "resume it" in refused["message"]), (True, True))
        tap.equal(shop.call("FeedService/ResumeSchedule", {}, shop.alice)[1]["state"], "ACTIVE")
        for wrong, field in (({**wanted, "address": "ftp://shop.example/"}, "address"),
                             ({**wanted, "periodSeconds": 10}, "periodSeconds")):
            status, refused = shop.call("FeedService/SetSchedule", wrong, shop.alice)
            tap.equal((status, field in json.dumps(refused)), (400, True))
        tap.equal(shop.call("FeedService/RemoveSchedule", {}, shop.alice)[0], 200)
        tap.equal(shop.call("FeedService/GetSchedule", {}, shop.alice)[0], 404)


@tap.test
def what_fails_is_told_and_tried_again():
    with Shop() as shop:
        gone = shop.add("/gone.csv")
        tap.equal((gone["state"], gone["failureCount"], gone["runs"][0]["outcome"]),
                  ("ACTIVE", 1, "FAILED"))
        tap.contains(gone["reason"], "404")
        shop.site.files["/gone.csv"] = b"<html><body>Back soon</body></html>"
        tap.equal(shop.run()["outcome"], "FAILED")
        shop.site.files["/gone.csv"] = None                 # breaks off
        tap.equal(shop.run()["outcome"], "FAILED")
        tap.equal(shop.torg("feed", "list", "--seller", "alice").stdout,
                  "feed main of seller alice has no tasks\n")
        told = shop.torg("status").stdout
        tap.contains(told, "feed main of alice: tried again after 3 runs that failed")
        tap.wait_until(lambda: shop.metric("torg_feed_schedules_failing") == 1, what="the gauge")
        shop.site.files["/gone.csv"] = goods(2)
        tap.equal(shop.run()["outcome"], "APPLIED")
        tap.equal("runs that failed" in shop.torg("status").stdout, False)


@tap.test
def a_file_that_lacks_much_is_held():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = goods(30)
        shop.add()
        shop.site.files["/goods.csv"] = goods(3)
        held = shop.run()
        tap.equal((held["outcome"], held["hold"], held["taskId"]), ("HELD", "MASS_DELETION", "2"))
        tap.contains(shop.torg("status").stdout, "feed main of alice: task 2 is held")
        shown = shop.torg("feed", "show", "--seller", "alice").stdout
        tap.contains(shown, "It would delete\n  p10                  Book number 10\n")
        tap.contains(shown, "  and 7 more\n")
        tap.equal(shop.torg("feed", "confirm", "--seller", "alice", "2").returncode, 0)
        tap.equal(shop.offers()["ALL"], 3)


class Sized(Answer):
    """Says how long a file is; the other one's files end with their connection."""

    def send_response(self, code, message=None):
        super().send_response(code, message)
        if code == 200:
            self.send_header("Content-Length", str(len(self.server.files[self.path])))


@tap.test
def a_last_line_without_a_break_is_believed_if_all_of_it_came():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = goods(20).rstrip()
        held = shop.add()["runs"][0]
        tap.equal((held["outcome"], held["hold"]), ("HELD", "CUT_SHORT"))
        tap.contains(held["reason"], "does not end with a line break")
        shop.site.files["/goods.csv"] = gzip.compress(goods(21).rstrip())   # gzip tells its end
        tap.equal(shop.run()["outcome"], "APPLIED")
        shop.site.RequestHandlerClass = Sized
        shop.site.files["/goods.csv"] = goods(22).rstrip()
        tap.equal(shop.run()["outcome"], "APPLIED")
        shop.site.files["/goods.csv"] = goods(23)[:-8]                      # "p23;books;Book number"
        held = shop.run()
        tap.equal((held["outcome"], held["hold"]), ("HELD", "CUT_SHORT"))
        tap.contains(held["reason"], "has not all its cells")
        tap.equal(shop.offers()["ALL"], 22)


@tap.test
def who_is_slow_keeps_nobody_waiting():
    """Twelve feeds of one seller, at servers that do not answer, and one of another."""
    with Shop() as shop:
        slow = [Pictures() for _ in range(12)]
        gate = threading.Event()
        began = time.monotonic()
        try:
            for number, site in enumerate(slow):
                site.gate = gate
                shop.schedule("add", site.address("/goods.csv"), "--feed", f"slow-{number}")
            tap.wait_until(lambda: any(site.asked for site in slow), what="a question")
            shop.site.files["/goods.csv"] = goods(3)
            done = shop.torg("feed", "schedule", "add", shop.site.address("/goods.csv"), "--seller", "bob")
            tap.equal(done.returncode, 0, done.stderr)

            def is_read():
                told = shop.torg("feed", "schedule", "show", "--seller", "bob", "--json")
                return json.loads(told.stdout).get("runs")

            tap.equal(tap.wait_until(is_read, what="bob's run")[0]["outcome"], "APPLIED")
            asked = sum(len(site.asked) for site in slow)           # one at a time, each given up after a minute
            tap.equal(asked <= 1 + (time.monotonic() - began) / 60, True, f"{asked} were asked")
        finally:
            gate.set()
            for site in slow:
                site.shutdown()
                site.server_close()


@tap.test
def addresses_inside_are_not_asked():
    class Careful(Shop):
        words = ("up",)

    with Careful() as shop:
        shop.site.files["/goods.csv"] = goods(1)
        refused = shop.add()
        tap.contains(refused["reason"], "not one of the public internet")
        named = shop.site.address("/goods.csv").replace("127.0.0.1", "localhost")
        shop.schedule("add", named)
        tap.contains(shop.after(2)["reason"], "not one of the public internet")
        tap.equal(shop.site.asked, [])


@tap.test
def a_killed_process_leaves_the_run_to_the_next():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = goods(3)
        shop.site.gate = threading.Event()                  # killed while it waits for the file
        shop.schedule("add", shop.site.address("/goods.csv"))
        tap.wait_until(lambda: shop.site.asked, what="the question")
        shop.stop(signal.SIGKILL)
        shop.site.gate.set()
        shop.start(*shop.words)
        tap.equal(shop.after(1)["runs"][0]["outcome"], "APPLIED")
        shop.site.files["/goods.csv"] = goods(20000)        # killed among its rows
        shop.torg("feed", "schedule", "pause", "--seller", "alice")
        shop.torg("feed", "schedule", "resume", "--seller", "alice")

        def is_read():
            status, task = shop.call("FeedService/GetTask", {"taskId": 2}, shop.alice)
            return status == 200 and int(task.get("counts", {}).get("rows", 0)) > 100

        tap.wait_until(is_read, what="the first rows")
        shop.stop(signal.SIGKILL)
        shop.start(*shop.words)
        last = shop.after(2)["runs"][0]
        tap.equal((last["outcome"], last["taskId"], last["counts"]["rows"]),
                  ("APPLIED", "2", "20000"))
        tap.equal(shop.offers()["ALL"], 20000)


@tap.test
def without_a_server_it_waits_for_one():
    with Shop() as shop:
        shop.site.files["/goods.csv"] = goods(2)
        shop.stop()
        result = shop.torg("feed", "schedule", "add", shop.site.address("/goods.csv"),
                           "--seller", "alice")
        tap.contains(result.stderr, "no server runs here")
        tap.equal(shop.site.asked, [])
        shop.start(*shop.words)
        tap.equal(shop.after(1)["runs"][0]["outcome"], "APPLIED")
        tap.contains(shop.schedule("frobnicate", code=2), "expected one of add, list")
        tap.equal(shop.torg("feed", "schedule", "list", "--seller", "alice").stdout.split()[:3],
                  ["main", "active", "1h"])
        tap.contains(shop.torg("feed", "schedule", "remove", "--seller", "alice").stdout, "no longer fetched")
        tap.equal(shop.schedule("show", code=4).startswith("torg: the feed"), True)


tap.main()
