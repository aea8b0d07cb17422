# SPDX-License-Identifier: Apache-2.0
"""Another catalogue is applied to a running server: offers follow it, in the background, through kills."""
import copy
import datetime
import json
import os
import random
import signal
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402
from kit.market import CATALOG  # noqa: E402

BIKES = int(os.environ.get("TORG_RECOMPOSE_OFFERS", "300"))     # more than one page
BOOKS = 10
KILLS = tap.count(2, 20, "TORG_RECOMPOSE_KILLS")


def category(catalog, name):
    return next(one for one in catalog["categories"] if one["id"] == name)


class Market(Place):
    """A server with bicycles and books."""
    spelling = False

    def __enter__(self):
        super().__enter__().start()
        self.apply(CATALOG)
        self.seller = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                                "--scope", "offers.write").stdout.strip()
        colors = ("red", "blue", "green")
        self.bikes = [self.publish("bikes", f"Горная машина {number}",
                                   [{"attributeId": "color", "options": [colors[number % 3]]}])
                      for number in range(BIKES)]
        self.books = [self.publish("books", f"Сказки, том {number}", [])
                      for number in range(BOOKS)]
        tap.wait_until(lambda: self.total(text="машина") == BIKES
                       and self.total(text="сказки") == BOOKS, what="all offers")
        return self

    def apply(self, catalog, *words):
        self.write("catalog.json", json.dumps(catalog, ensure_ascii=False))
        applied = self.torg("catalog", "apply", "catalog.json", *words)
        tap.equal((applied.returncode, applied.stderr), (0, ""))

    def publish(self, where, title, attributes):
        content = {"category": where, "title": title, "attributes": attributes,
                   "price": {"amount": "100000", "currency": "RUB"}}
        status, answer = self.call("OfferService/CreateOffer", {"content": content}, self.seller)
        tap.equal(status, 200, answer)
        return {"id": answer["id"], "content": content, "revision": int(answer["revision"])}

    def total(self, **request):
        status, answer = self.answered("SearchService/SearchOffers", request)
        return int(answer.get("total", "0")) if status == 200 else None

    def progress(self):
        shown = self.torg("composer", "status", "--json")
        tap.equal((shown.returncode, shown.stderr), (0, ""))
        return {name: int(value) for name, value in json.loads(shown.stdout).items()
                if name.endswith(("version", "Version", "Count"))}

    def count(self, name):
        """What a page of everything says that the category has."""
        status, answer = self.answered("SearchService/SearchOffers", {"limit": 1})
        tap.equal(status, 200)
        return next((int(one["count"]) for one in answer["categories"] if one["id"] == name), 0)

    def is_done(self):
        progress = self.progress()
        return progress.get("doneVersion") == progress["version"]

    def change(self, offer, price):
        """A live change, and how long it took until a search saw it."""
        offer["content"]["price"]["amount"] = str(price)
        began = time.monotonic()
        status, answer = self.call("OfferService/UpdateOffer", {
            "id": offer["id"], "content": offer["content"],
            "expectedRevision": str(offer["revision"])}, self.seller)
        tap.equal(status, 200, answer)
        offer["revision"] = int(answer["revision"])
        found = tap.wait_until(lambda: self.seen(answer["freshnessToken"]),
                               what="a search that has seen the change")
        price_now = next(one["price"]["amount"] for one in found["offers"]
                         if one["id"] == offer["id"])
        tap.equal(price_now, str(price), "a search that waits for a change sees it")
        return time.monotonic() - began

    def seen(self, token):
        """The books after the write; None: three seconds were not enough, it is to be asked again."""
        status, found = self.call("SearchService/SearchOffers", {
            "text": "сказки", "limit": 100, "onlyOffers": True, "wait": [token]})
        tap.equal(status in (200, 504), True, found)
        return found if status == 200 else None


class Changes(threading.Thread):
    """Books change all the time."""

    def __init__(self, market):
        super().__init__(daemon=True)
        self.market = market
        self.stopping = threading.Event()
        self.times = []
        self.error = None

    def run(self):
        price = 100000
        try:
            while not self.stopping.wait(0.02):
                price += 1
                self.times.append(self.market.change(
                    self.market.books[price % BOOKS], price))
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def end(self):
        self.stopping.set()
        self.join()
        if self.error:
            raise self.error


def another():
    """Bicycles move to another branch and get another name, as do the colour and one of its values."""
    catalog = copy.deepcopy(CATALOG)
    catalog["categories"].insert(0, {"id": "sport", "name": {"ru": "Спорт", "en": "Sport"}})
    bikes = category(catalog, "bikes")
    bikes["parent"] = "sport"
    bikes["name"] = {"ru": "Двухколёсные", "en": "Twowheelers"}
    color = catalog["attributes"][0]
    color["name"] = {"ru": "Окраска", "en": "Paint"}
    color["options"][0]["name"] = {"ru": "алый", "en": "scarlet"}
    return catalog


def filter_of(answer, name):
    return next((one for one in answer["filters"] if one["id"] == name), None)


@tap.test
def pages_and_filters_follow_while_live_changes_go_on():
    with Market() as market:
        tap.wait_until(market.is_done, what="the first catalogue is followed")
        tap.equal((market.total(text="двухколёсный"), market.total(text="алый")), (0, 0))
        changes = Changes(market)
        changes.start()
        market.apply(another())
        seen = {"bikes": set(), "sport": set()}

        def look():
            """Documents get their new place one by one; nobody misses one meanwhile."""
            for name, numbers in seen.items():
                numbers.update((market.total(category=name), market.count(name)))
            return market.total(text="двухколёсный") == BIKES and market.is_done()

        tap.wait_until(look, what="the new name finds them, and the second catalogue is followed")
        tap.equal(seen["bikes"], {BIKES})
        tap.equal(seen["sport"] - {None, 0}, {BIKES})    # the old catalogue does not have it
        tap.wait_until(lambda: len(changes.times) > 5 or changes.error, what="live changes that go on")
        changes.end()
        tap.equal(market.total(category="hobby"), BOOKS)
        tap.equal(market.total(text="велосипед"), 0)        # the old name
        reds = len(range(0, BIKES, 3))
        tap.equal((market.total(text="алый"), market.total(text="красный")), (reds, 0))
        status, answer = market.answered("SearchService/SearchOffers", {"text": "машина"})
        tap.equal(status, 200)
        color = filter_of(answer, "a.color")
        tap.equal((color["name"], {one["id"]: (one["name"], int(one["count"]))
                                   for one in color["values"]}["red"]),
                  ("Окраска", ("алый", reds)))
        progress = market.progress()
        tap.equal({name: progress[name] for name in ("offerCount", "seenCount", "sentCount")},
                  {"offerCount": BIKES, "seenCount": BIKES, "sentCount": BIKES})
        text = market.torg("composer", "status").stdout
        tap.equal(f"the last time: {BIKES} composed again" in text, True, text)
        verified = market.torg("verify")
        tap.equal(verified.returncode, 0, verified.stdout + verified.stderr)


@tap.test
def what_is_still_to_be_composed_anew_is_told():
    with Market() as market:
        tap.wait_until(market.is_done, what="all documents followed the first version")
        market.apply(another())
        applied = datetime.datetime.now(datetime.timezone.utc)

        def pipeline():
            status, answer = market.call("PipelineService/GetPipeline", {}, market.start_key)
            tap.equal(status, 200, answer)
            return answer

        def read_at(answer=None):
            told = (answer or pipeline())["time"]
            return datetime.datetime.fromisoformat(told.replace("Z", "+00:00"))

        def is_calm():
            answer = pipeline()
            return read_at(answer) > applied and "catalog" not in answer \
                and all(one.get("state", "OK") == "OK" for one in answer["stages"])
        tap.wait_until(is_calm, what="a pipeline where nothing waits")
        tap.equal(market.is_done(), True, "nothing waits when all documents follow")
        tap.wait_until(lambda: market.total(text="алый") == BIKES // 3, what="the new words are found")

        market.apply(CATALOG)
        applied = datetime.datetime.now(datetime.timezone.utc)

        tap.wait_until(lambda: read_at() > applied, what="a reading of after the change")
        tap.wait_until(lambda: "\ncatalogue: " not in market.torg("status").stdout,
                       what="a status that tells of no catalogue")
        tap.equal(market.is_done(), True, "a status is silent when all documents follow")


@tap.test
def a_category_that_is_gone_takes_its_offers_along_and_brings_them_back():
    with Market() as market:
        without = copy.deepcopy(CATALOG)
        without["categories"] = [one for one in without["categories"] if one["id"] != "bikes"]
        market.apply(without, "--force")
        tap.wait_until(lambda: market.total(text="машина") == 0, what="they are hidden")
        tap.wait_until(market.is_done, what="it is followed")
        tap.equal(market.progress()["hiddenCount"], BIKES)
        tap.equal(market.total(text="сказки"), BOOKS)
        market.apply(CATALOG)
        tap.wait_until(lambda: market.total(text="машина") == BIKES, what="they are back")


@tap.test
def a_kill_at_any_moment_loses_nothing():
    seed = int(os.environ.get("TORG_SEED", str(random.randrange(1 << 30))))
    print(f"# TORG_SEED={seed}", flush=True)
    draw = random.Random(seed)
    with Market() as market:
        name = None
        for number in range(KILLS):
            name = ("Кентавры", "Драконы", "Единороги")[number % 3] + "-" * (number // 3)
            catalog = copy.deepcopy(CATALOG)
            category(catalog, "bikes")["name"] = {"ru": name, "en": f"Name {number}"}
            market.apply(catalog)
            time.sleep(draw.uniform(2.3, 3.5))      # it begins after 2.5 s
            market.stop(signal.SIGKILL)
            market.start()
        tap.wait_until(lambda: market.total(text=name) == BIKES, what="all have the last name")
        tap.wait_until(market.is_done, what="it is followed")
        tap.equal([market.total(text=old) for old in ("велосипед", "кентавры", "драконы")],
                  [BIKES if old == name.lower() else 0
                   for old in ("велосипед", "кентавры", "драконы")])
        tap.equal(market.total(text="машина"), BIKES)
        verified = market.torg("verify")
        tap.equal(verified.returncode, 0, verified.stdout + verified.stderr)


tap.main()
