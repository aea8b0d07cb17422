# SPDX-License-Identifier: Apache-2.0
"""Buyers search what sellers publish: the whole way in one process, by the API."""
import copy
import json
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place, fetch  # noqa: E402
from kit.market import CATALOG  # noqa: E402

MOSCOW = {"latitude": 55.7512, "longitude": 37.6184}
PETERSBURG = {"latitude": 59.9386, "longitude": 30.3141}
FREE_PORTS = ("--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0")    # nobody else's may be in the way


class Market(Place):
    """A server with the market's catalogue, a seller, and offers that were found by a search."""

    def __init__(self, *options):
        super().__init__()
        self.words = ("up", *options)

    def __enter__(self):
        super().__enter__().start(*self.words)
        self.apply(CATALOG)
        self.seller = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                                "--scope", "offers.write").stdout.strip()
        self.ids = {}
        for number, color in enumerate(("red", "red", "red", "blue", "blue", "green")):
            self.publish(f"bike-{number}", "bikes", f"Горный велосипед номер {number}",
                         1000 * (number + 1), attributes=[
                             {"attributeId": "color", "options": [color]},
                             {"attributeId": "frame-size", "integer": 15 + number}],
                         condition="NEW" if number < 4 else "USED",
                         point=MOSCOW if number % 2 else PETERSBURG)
        for number in range(3):
            self.publish(f"book-{number}", "books", f"Книга про велосипед, том {number}",
                         300 + number, attributes=[{"attributeId": "pages",
                                                    "integer": 100 + number}])
        self.until(self.has_all, "nine offers")
        return self

    def has_all(self):
        """The index of the first documents is made with them: not there at once."""
        status, answer = self.call("SearchService/SearchOffers", {"text": "велосипед"})
        return status == 200 and answer.get("total") == "9"

    def apply(self, catalog):
        self.write("catalog.json", json.dumps(catalog))
        applied = self.torg("catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))

    def publish(self, name, category, title, price, attributes=(), condition=None, point=None,
                currency="RUB"):
        content = {"category": category, "title": title, "attributes": list(attributes),
                   "price": {"amount": str(100 * price), "currency": currency}}
        if condition:
            content["condition"] = condition
        if point:
            content["address"] = {"text": "дом", "point": point}
        status, answer = self.call("OfferService/CreateOffer", {"content": content}, self.seller)
        tap.equal(status, 200, answer)
        self.ids[name] = answer["id"]

    def found(self, **request):
        status, answer = self.answered("SearchService/SearchOffers", request)
        tap.equal((status, answer.get("message")), (200, None))
        answer.setdefault("total", "0")
        return answer

    def get(self, path):
        """None: it came too late for its deadline."""
        status, answer = fetch(urllib.request.Request(self.url + path))
        tap.equal(status in (200, 503, 504), True, answer)
        return answer if status == 200 else None

    def name_of(self, offer):
        return next(name for name, value in self.ids.items() if value == offer["id"])

    def names(self, **request):
        return [self.name_of(offer) for offer in self.found(**request).get("offers", [])]

    def until(self, condition, what):
        tap.wait_until(condition, what=what)


def filter_of(answer, name):
    return next((one for one in answer["filters"] if one["id"] == name), None)


def counts(one):
    return {value["id"]: int(value.get("count", 0)) for value in one["values"]}


@tap.test
def a_buyer_finds_narrows_and_pages():
    with Market() as market:
        answer = market.found(text="велосипеды", limit=4)
        tap.equal(answer["total"], "9")
        tap.equal({one["id"]: int(one["count"]) for one in answer["categories"]},
                  {"hobby": 9, "bikes": 6, "books": 3})
        tap.equal("<b>велосипед</b>" in answer["offers"][0]["titleMarked"], True)

        # Most of what was found are bicycles: their attributes are offered, those of books not.
        tap.equal(counts(filter_of(answer, "a.color")), {"red": 3, "blue": 2, "green": 1})
        tap.equal(filter_of(answer, "a.color")["name"], "Цвет")
        frame = filter_of(answer, "a.frame-size")
        tap.equal((frame["min"], frame["max"]), ("15", "20"))
        tap.equal(filter_of(answer, "a.pages"), None)
        tap.equal([filter_of(answer, name)["coverage"]
                   for name in ("price", "condition", "a.color", "a.frame-size")],
                  ["9", "6", "6", "6"])
        strict = market.found(text="велосипед", strictFilters=True, explain=True)
        tap.equal(filter_of(strict, "a.color"), None)
        tap.equal(filter_of(strict, "condition"), None)
        hidden = {one["id"]: one["reason"] for one in strict["hiddenFilters"]}
        tap.equal(hidden["a.color"], "1 of the 2 categories found have it")

        # A filter's own counts do not see it; those of others do.
        answer = market.found(text="велосипед", category="bikes",
                              filters=[{"id": "a.color", "values": ["red"]}])
        tap.equal(answer["total"], "3")
        tap.equal(counts(filter_of(answer, "a.color")), {"red": 3, "blue": 2, "green": 1})
        chosen = [one["id"] for one in filter_of(answer, "a.color")["values"]
                  if one.get("isChosen")]
        tap.equal(chosen, ["red"])
        tap.equal(counts(filter_of(answer, "condition")), {"new": 3})
        tap.equal(filter_of(answer, "a.color")["coverage"], "3")
        tap.equal(filter_of(answer, "price")["max"], "300000")

        # What was chosen can be taken back, though nothing is left, and whatever else is found.
        answer = market.found(text="велосипед", filters=[
            {"id": "a.color", "values": ["green"]}, {"id": "price", "max": "100000"}])
        tap.equal(answer["total"], "0")
        color = filter_of(answer, "a.color")
        tap.equal((counts(color), color["values"][-1]["name"], color["values"][-1]["isChosen"]),
                  ({"red": 1, "green": 0}, "зелёный", True))
        answer = market.found(text="книга", filters=[{"id": "a.frame-size", "min": "1"}])
        tap.equal((answer["total"], filter_of(answer, "a.frame-size")["choice"]["min"]),
                  ("0", "1"))
        answer = market.found(filters=[{"id": "photo", "values": ["true"]}])
        tap.equal((answer["total"], counts(filter_of(answer, "photo"))), ("0", {"true": 0}))

        tap.equal(market.names(category="books", order="CHEAPEST"),
                  ["book-0", "book-1", "book-2"])
        tap.equal(market.names(category="bikes", order="DEAREST", limit=2), ["bike-5", "bike-4"])
        tap.equal(market.names(filters=[{"id": "price", "min": "200000", "max": "300000"}],
                               order="CHEAPEST"), ["bike-1", "bike-2"])
        near = market.found(near=MOSCOW, order="NEAREST", category="bikes",
                            filters=[{"id": "distance", "max": "1000"}])
        tap.equal(near["total"], "3")
        tap.equal(near["offers"][0].get("distanceM", 0) < 10, True)

        pages, cursor = [], None
        while cursor is None or cursor:
            request = {"text": "велосипед", "limit": 4, "onlyOffers": True}
            if cursor:
                request["cursor"] = cursor
            answer = market.found(**request)
            pages.append([one["id"] for one in answer.get("offers", [])])
            cursor = answer.get("cursor", "")
        tap.equal([len(page) for page in pages], [4, 4, 1])
        tap.equal(len({one for page in pages for one in page}), 9)

        english = market.found(text="bicycle", language="en")
        tap.equal(english["total"], "6")
        tap.equal(filter_of(english, "a.color")["name"], "Colour")
        tap.equal({one["name"] for one in english["categories"]}, {"Hobbies", "Bicycles"})


@tap.test
def what_sellers_do_is_seen():
    with Market() as market:
        offer = market.ids["bike-0"]
        began = time.monotonic()
        status, answer = market.call("OfferService/WithdrawOffer", {"id": offer}, market.seller)
        tap.equal(status, 200, answer)
        market.until(lambda: market.found(text="велосипед")["total"] == "8", "one less")
        status, answer = market.call("OfferService/RepublishOffer", {"id": offer}, market.seller)
        tap.equal(status, 200, answer)
        market.until(lambda: market.found(text="велосипед")["total"] == "9", "it is back")
        tap.comment(f"gone and back in {time.monotonic() - began:.3f} s")


def with_currencies(*currencies):
    catalog = copy.deepcopy(CATALOG)
    catalog["defaults"]["policy"]["currencies"] = currencies
    return catalog


@tap.test
def prices_of_several_currencies_are_not_compared():
    with Market() as market:
        market.apply(with_currencies("RUB", "USD"))
        dollars = {"dollar-bike", "dollar-book"}
        market.publish("dollar-bike", "bikes", "Велосипед из-за моря", 50, currency="USD")
        market.publish("dollar-book", "books", "Книга про велосипед за морем", 7, currency="USD")
        market.until(lambda: market.found(text="велосипед")["total"] == "11", "two more")

        answer = market.found(text="велосипед")
        price = filter_of(answer, "price")
        tap.equal((answer["currency"], price["unit"], price["min"], price["max"],
                   price["coverage"]), ("RUB", "RUB", "30000", "600000", "9"))
        tap.equal({one["id"]: one["price"] for one in answer["offers"]}[market.ids["dollar-bike"]],
                  {"amount": "5000", "currency": "USD"})
        tap.equal(market.names(filters=[{"id": "price", "max": "10000"}]), [])
        tap.equal(set(market.names(filters=[{"id": "price", "min": "1"}])),
                  set(market.ids) - dollars)
        for order, first in (("CHEAPEST", "book-0"), ("DEAREST", "bike-5")):
            names = market.names(order=order)
            tap.equal((names[0], set(names[-2:])), (first, dollars))
        tap.equal(market.found(onlyOffers=True)["currency"], "RUB")
        for name in ("dollar-bike", "bike-0"):
            status, answer = market.answered("SearchService/Similar", {"id": market.ids[name]})
            tap.equal((status, len(answer.get("offers", []))), (200, 10), answer)

        # Another one comes first: what is told is so at once, and documents follow.
        market.apply(with_currencies("USD", "RUB"))
        market.until(lambda: market.found()["currency"] == "USD", "the catalogue is in use")
        tap.equal(set(market.names(filters=[{"id": "price", "min": "1"}])) - dollars, set())
        market.until(lambda: set(market.names(order="DEAREST")[:2]) == dollars,
                     "all are composed anew")
        answer = market.found(filters=[{"id": "price", "min": "600"}], order="CHEAPEST")
        price = filter_of(answer, "price")
        tap.equal(([one["id"] for one in answer["offers"]], price["unit"], price["min"],
                   price["max"]), ([market.ids["dollar-book"], market.ids["dollar-bike"]], "USD",
                                   "700", "5000"))
        tap.equal(market.found(text="номер 0")["offers"][0]["price"],
                  {"amount": "100000", "currency": "RUB"})


def with_jobs():
    """Beside the market's: jobs, which have a salary and no price; frames are listed."""
    catalog = copy.deepcopy(CATALOG)
    catalog["attributes"][1]["filter"] = "LIST"
    for one in catalog["categories"]:
        if one["id"] == "bikes":
            one["filters"] = ["DELIVERY", "EXCHANGE"]
    catalog["categories"].append(
        {"id": "jobs", "name": {"ru": "Работа", "en": "Jobs"}, "filters": ["SALARY", "SELLER_KIND"],
         "hiddenFilters": ["PRICE", "CONDITION"], "policy": {"price": "FORBIDDEN"}})
    catalog["categories"].append({"id": "drivers", "parent": "jobs",
                                  "name": {"ru": "Водители", "en": "Drivers"}})
    return catalog


@tap.test
def some_categories_have_filters_of_their_own():
    with Market() as market:
        market.apply(with_jobs())

        def publish(name, **content):
            status, answer = market.call("OfferService/CreateOffer", {"content": content}, market.seller)
            tap.equal(status, 200, answer)
            market.ids[name] = answer["id"]

        for name, kind, pay in (
                ("month", "BUSINESS", {"min": "8000000", "max": "12000000", "period": "MONTH"}),
                ("hour", "BUSINESS", {"min": "40000", "period": "HOUR"}),       # 66 000 a month
                ("shift", "PRIVATE", {"max": "1000000", "period": "SHIFT"})):   # 150 000
            publish(name, category="drivers", title=f"Водитель, {name}", sellerKind=kind,
                    salary={"currency": "RUB", **pay})
        for name in ("swap", "sent"):
            publish(name, category="bikes", title="Велосипед с доставкой", delivery=name == "sent",
                    exchange=name == "swap", price={"amount": "100", "currency": "RUB"},
                    attributes=[{"attributeId": "frame-size", "integer": 17}])
        market.until(lambda: market.found()["total"] == "14", "all are found")

        answer = market.found(category="jobs")
        tap.equal([one["id"] for one in answer["filters"]],
                  ["salary", "salary_period", "seller_kind", "date"])
        tap.equal([filter_of(answer, name) for name in ("price", "condition", "delivery", "exchange")],
                  [None] * 4)
        salary = filter_of(answer, "salary")
        tap.equal((salary["min"], salary["max"], salary["unit"], salary["coverage"]),
                  ("6600000", "15000000", "RUB", "3"))
        tap.equal(counts(filter_of(answer, "salary_period")), {"month": 1, "hour": 1, "shift": 1})
        tap.equal(counts(filter_of(answer, "seller_kind")), {"business": 2, "private": 1})
        shown = {one["id"]: one["salary"] for one in answer["offers"]}
        tap.equal(shown[market.ids["hour"]], {"min": "40000", "currency": "RUB", "period": "HOUR"})
        plain = tap.wait_until(lambda: market.get("/v1/offers/search?category=jobs"), what="an answer")
        said = {one["id"]: one for one in plain["offers"]}[market.ids["hour"]]
        tap.equal((said["salary_min"], said["salary_currency"], "currency" in said), (400, "RUB", False))
        for ends, names in (({"min": "10000000"}, {"month", "shift"}), ({"max": "7000000"}, {"hour"}),
                            ({"min": "7000000", "max": "9000000"}, {"month"}),
                            ({"min": "15000001"}, set())):
            tap.equal(set(market.names(filters=[{"id": "salary", **ends}])), names, ends)
        tap.equal(market.names(filters=[{"id": "seller_kind", "values": ["private"]}]), ["shift"])

        # A sum in a text is what is paid where nothing of the kind has a price.
        for text, request in (("водитель от 100 тыс", {}), ("работа водителем от 100000", {"category": "jobs"})):
            answer = market.found(text=text, onlyOffers=True, **request)
            tap.equal({market.name_of(one) for one in answer["offers"] if not one.get("lacksWords")},
                      {"month", "shift"}, text)
            money = next(one for one in answer["understood"] if one["text"].startswith("от"))
            tap.equal((money["as"], money["choice"]), ("salary", {"id": "salary", "min": "10000000"}))
        answer = market.found(text="горный велосипед от 5000", onlyOffers=True)
        tap.equal(({market.name_of(one) for one in answer["offers"]},
                   [(one["as"], one["choice"]["id"]) for one in answer["understood"] if "choice" in one]),
                  ({"bike-4", "bike-5"}, [("price", "price")]))

        # The further pages go by what the first one took the sum for: pay, or nothing at all.
        for text, order, names in (("водитель от 100 тыс", "CHEAPEST", ["month", "shift"]),
                                   ("водитель от 100 тыс", "BEST", ["month", "shift"]),
                                   ("водитель от 900 тыс", "CHEAPEST", ["hour", "month", "shift"])):
            met, cursor = [], ""
            while cursor is not None and len(met) <= len(names):
                answer = market.found(text=text, order=order, limit=1, onlyOffers=True,
                                      **({"cursor": cursor} if cursor else {}))
                met += [market.name_of(one) for one in answer["offers"]]
                cursor = answer.get("cursor")
            tap.equal(sorted(met), names, f"{text}, {order}")

        # Of what most of the hits have, and strictly of what all of them have.
        answer = market.found(category="bikes")
        tap.equal(counts(filter_of(answer, "delivery")), {"true": 1})
        tap.equal(market.names(filters=[{"id": "delivery", "values": ["true"]}]), ["sent"])
        tap.equal(market.names(filters=[{"id": "exchange", "values": ["true"]}]), ["swap"])
        strict = market.found(strictFilters=True, explain=True)
        tap.equal([filter_of(strict, name) for name in ("price", "salary", "delivery")], [None] * 3)
        tap.equal({one["id"]: one["reason"] for one in strict["hiddenFilters"]}["salary"],
                  "1 of the 3 categories found have it")

        # Numbers of a list are values, in their order, when all are composed anew.
        def frames():
            one = filter_of(market.found(category="bikes"), "a.frame-size")
            return one and [(each["id"], each["count"]) for each in one["values"]]

        market.until(lambda: frames() == [("15", "1"), ("16", "1"), ("17", "3"), ("18", "1"),
                                          ("19", "1"), ("20", "1")], "frames are listed")
        tap.equal(set(market.names(filters=[{"id": "a.frame-size", "values": ["15", "20"]}])),
                  {"bike-0", "bike-5"})
        tap.equal(set(market.names(filters=[{"id": "a.frame-size", "min": "19"}])),
                  {"bike-4", "bike-5"})
        status, answer = market.call("OfferService/CreateOffer", {"content": {
            "category": "books", "title": "Книга", "delivery": True,
            "price": {"amount": "1", "currency": "RUB"}}}, market.seller)
        tap.equal((status, "offers of this category have no delivery" in json.dumps(answer)), (400, True))


@tap.test
def a_wrong_request_is_told_what_is_wrong():
    with Market() as market:
        for request, told in (
                ({"text": "я" * 300}, "text: 600 bytes, at most 400"),
                ({"limit": 101}, "limit: 101, a page has at most 100"),
                ({"category": "cars"}, 'category: there is no "cars"'),
                ({"filters": [{"id": "a.weight", "values": ["1"]}]},
                 'filters[0].id: "a.weight" is not a filter'),
                ({"filters": [{"id": "price", "values": ["1"]}]},
                 'filters[0]: "price" is chosen by min and max'),
                ({"filters": [{"id": "price", "min": "1"}, {"id": "price", "max": "2"}]},
                 'filters[1].id: "price" is there twice'),
                ({"filters": [{"id": "distance", "max": "5"}]}, "near: a distance needs"),
                ({"order": "NEAREST"}, "near: is not set"),
                ({"near": {"latitude": 95, "longitude": 0}}, "near: 95, 0 is not a place on earth"),
                ({"filters": [{"id": "photo", "values": ["yes"]}]},
                 'filters[0].values: "yes" is not true or false'),
                ({"filters": [{"id": "photo", "values": ["true"]}, {"id": "price", "max": "1,5"}]},
                 'filters[1].max: "1,5" is not an integer'),
                ({"filters": [{"id": "date", "min": "yesterday"}]},
                 'filters[0].min: "yesterday" is not a date, as 2026-11-15'),
                ({"filters": [{"id": "a.frame-size", "min": "15 in"}]},
                 'filters[0].min: "15 in" is not an integer'),
                ({"filters": [{"id": "photo", "values": ["true"]},
                              {"id": "price", "min": "900", "max": "1000"},
                              {"id": "a.frame-size", "min": "20", "max": "15"}]},
                 'filters[2]: "a.frame-size" has min 20 above max 15: swap them'),
                ({"filters": [{"id": "date", "min": "2026-11-16", "max": "2026-11-15"}]},
                 'filters[0]: "date" has min 2026-11-16 above max 2026-11-15'),
                ({"offset": 20, "cursor": "AAAA"}, "offset: leave it out with a cursor")):
            status, answer = market.call("SearchService/SearchOffers", request)
            tap.equal((status, told in answer.get("message", "")), (400, True), answer)
        # One value, and one day, are ranges.
        for one in ({"id": "price", "min": "1", "max": "1"},
                    {"id": "date", "min": "2020-02-29", "max": "2020-02-29"}):
            tap.equal(market.found(filters=[one])["total"], "0")


@tap.test
def parked_records_are_for_operators():
    with Place() as place:
        place.start()
        for name, bound, status in (("other", ("--client", "shop"), 403),
                                    ("own", ("--client", "offers"), 403), ("all", (), 200)):
            key = place.torg("key", "create", name, *bound, "--scope",
                             "pipeline.read", "--scope", "pipeline.control").stdout.strip()
            for method in ("ListParked", "ReplayParked"):
                told, answer = place.call(f"ParkedService/{method}", {"all": True}
                                          if method == "ReplayParked" else {}, key)
                tap.equal(told, status, f"{name}: {answer}")


@tap.test
def before_the_first_offer_nothing_is_found():
    with Place() as place:
        place.start()
        status, answer = place.answered("SearchService/SearchOffers", {"text": "велосипед"}, whole=True)
        tap.equal((status, answer["offers"], answer["total"]), (200, [], "0"))


def please(market, field="appeal", **appeals):
    """As the task `clicks` does: how much these offers are clicked, by what is usual in their category."""
    changes = [{"pk": market.ids[name.replace("_", "-")], "sequence": 1, "fields": [
        {"name": field, "decimal": appeal, "options": {"side": True, "scale": 6}}]}
        for name, appeal in appeals.items()]
    status, answer = market.call("DocumentService/PutFields", {"client": "offers", "changes": changes},
                                 market.start_key)
    tap.equal((status, [one.get("kind", "ACCEPTED") for one in answer.get("verdicts", [])]),
              (200, ["ACCEPTED"] * len(appeals)), answer)


@tap.test
def what_is_clicked_rises_among_its_equals():
    request = {"text": "велосипед номер", "onlyOffers": True}
    with Market() as market:
        before = market.names(**request)        # nobody has clicked: the order of the words
        tap.equal(sorted(before[6:]), ["book-0", "book-1", "book-2"], "those that lack a word are last")
        please(market, bike_4="3.5", bike_0="0.000001", book_1="100")
        market.until(lambda: market.names(**request)[0] == "bike-4", "the one that is clicked is first")
        market.until(lambda: market.names(**request)[5:7] == ["bike-0", "book-1"],
                     "the one that nobody wants is last of its equals, and nothing is before whole matches")
        after = market.names(**request)
        tap.equal(sorted(after), sorted(before), "none is hidden")
        tap.equal([name for name in after if name not in ("bike-4", "bike-0", "book-1")],
                  [name for name in before if name not in ("bike-4", "bike-0", "book-1")])
        page = market.found(**request, limit=4)
        rest = market.names(**request, limit=10, cursor=page["cursor"])
        tap.equal(rest, after[4:], "by pages, too")
        tap.equal(market.stop(), 0)
        market.start("up", "--search.clicks=false")
        market.until(market.has_all, "the offers again")
        tap.equal(market.names(**request), before, "without the setting")


@tap.test
def some_places_are_for_new_offers():
    request = {"text": "велосипед номер", "onlyOffers": True}
    with Market("--search.new_every=3") as market:
        words = market.names(**request)
        please(market, "looks", **{f"bike_{number}": "50" for number in range(6) if f"bike-{number}" != words[5]})
        market.until(lambda: market.names(**request)[2] == words[5], "the only one that few have looked at is third")
        names = market.names(**request)
        tap.equal(names, [*words[:2], words[5], *words[2:5], *words[6:]], "all others as they were")
        page = market.found(**request, limit=2)
        rest = market.names(**request, limit=10, cursor=page["cursor"])
        tap.equal(rest, names[2:], "by pages, too")


def act(market, front, session, page, *deeds):
    """Deeds: a kind, and the place from 1, of the offers of a page; a front end's sessions are visitors."""
    events = [{"id": str(number), "kind": kind, "offerId": page["offers"][place - 1]["id"], "position": place,
               "queryId": f"{page['queryId']}.{session}"} for number, (kind, place) in enumerate(deeds)]
    status, answer = market.call("EventService/RecordEvents", {"session": session, "events": events}, front)
    tap.equal((status, answer.get("counted")), (200, len(events)), answer)


@tap.test
def two_formulas_take_turns_and_are_credited():
    by_size = "score * (1 + default(a.frame-size, 0))"
    request = {"text": "велосипед номер", "onlyOffers": True}
    with Market(f"--search.experiment={by_size}", "--search.clicks=false") as market:
        pages = [market.found(**request, session=f"v{number}") for number in range(8)]
        for page in pages:
            names = sorted(market.name_of(offer) for offer in page["offers"])
            tap.equal(names, [f"bike-{number}" for number in range(6)] + [f"book-{number}" for number in range(3)])
            tap.equal([offer.get("lacksWords", False) for offer in page["offers"]], [False] * 6 + [True] * 3)
            tap.equal(market.name_of(page["offers"][0]) == "bike-5" or market.name_of(page["offers"][1]) == "bike-5",
                      True, "the largest is the tried formula's first")
        tap.equal(len({page["queryId"] for page in pages}), 8, "visits have lists of their own")
        first = market.found(**request, session="v1", limit=4)
        rest = market.found(**request, session="v1", limit=10, cursor=first["cursor"])
        tap.equal([offer["id"] for offer in first["offers"] + rest["offers"]],
                  [offer["id"] for offer in pages[1]["offers"]], "by pages, too")
        tap.equal("queryId" in market.found(**request, order="NEWEST"), False)
        front = market.torg("key", "create", "front", "--scope", "offers.read").stdout.strip()
        for number, page in enumerate(pages):
            size = 1 if market.name_of(page["offers"][0]) == "bike-5" else 2    # where the tried one's first stands
            act(market, front, f"v{number}", page, ("SHOW", 1), ("SHOW", 2), ("CLICK", size), ("CONTACT", size))
        tap.equal(market.call("ExperimentService/ListExperiments", {})[0], 401)
        told = json.loads(market.torg("experiment", "list", "--json").stdout)["experiments"]
        tap.equal([(one["isRunning"], one["control"]["formula"], one["tried"]["formula"]) for one in told],
                  [(True, "score", by_size)])
        tried, control = told[0]["tried"], told[0]["control"]
        tap.equal([tried[name] for name in ("shows", "clicks", "contacts", "listsWon")], ["8"] * 4)
        tap.equal((control["shows"], control.get("clicks", "0")), ("8", "0"))
        tap.equal(told[0]["lists"]["low"] > 0.5, True)
        tap.contains(market.torg("experiment", "list").stdout, "it is better")
        tap.equal(market.stop(), 0)
        tap.contains(market.torg("experiment", "list").stdout, "over, since")
        refused = market.torg("up", *FREE_PORTS, "--search.experiment=score * sise")
        tap.contains(refused.stderr, 'search.experiment: byte 9: "sise" is neither a field nor a function')


@tap.test
def the_operator_s_formula_decides_the_order():
    by_size = "score * (1 + min(default(a.frame-size, 0), 40) / 40)"
    by_place = "score / (1 + default(near, 0) / 100000)"
    request = {"text": "велосипед номер", "onlyOffers": True, "explain": True}
    with Market(f"--ranking.best={by_size} | bikes: {by_place}") as market:
        tap.equal(market.names(**request)[:6], [f"bike-{number}" for number in (5, 4, 3, 2, 1, 0)])
        tap.equal(market.names(**request)[6:], market.names(**request, offset=6), "partial matches stay behind")
        _, page = market.call("SearchService/SearchOffers", {**request, "limit": 2})
        tap.equal(page["ranking"]["formula"], by_size)
        rest = market.names(**request, limit=4, cursor=page["cursor"])
        tap.equal(rest, [f"bike-{number}" for number in (3, 2, 1, 0)], "by pages, too")
        near = market.names(**request, category="bikes", near=MOSCOW)
        tap.equal([int(name[-1]) % 2 for name in near[:6]], [1, 1, 1, 0, 0, 0], "those of Moscow first")
        far = market.names(**request, category="bikes", near=PETERSBURG)
        tap.equal([int(name[-1]) % 2 for name in far[:6]], [0, 0, 0, 1, 1, 1])
        tap.equal(len(market.names(**request, category="bikes")), 6, "without a point")
        tap.equal(market.stop(), 0)
        refused = market.torg("up", *FREE_PORTS, "--ranking.best=score | bikes: score * sise")
        tap.equal(refused.returncode != 0, True)
        tap.contains(refused.stderr, 'ranking.best, category bikes: byte 9: "sise" is neither a field nor a function')


tap.main()
