# SPDX-License-Identifier: Apache-2.0
"""What buyers type is understood: misspelt lines, lines half typed, and offers like another."""
import atexit
import contextlib
import json
import signal
import sys

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402
from kit.shop import check_digit  # noqa: E402

CATALOG = {
    "attributes": [
        {"id": "color", "name": {"ru": "Цвет", "en": "Colour"}, "type": "OPTION", "filter": "LIST",
         "options": [{"id": "red", "name": {"ru": "красный", "en": "red"}},
                     {"id": "blue", "name": {"ru": "синий", "en": "blue"}}]},
        {"id": "maker", "name": {"ru": "Марка", "en": "Brand"}, "type": "TEXT",
         "lengthMax": 40},
        {"id": "wheel", "name": {"ru": "Колесо", "en": "Wheel"}, "type": "INTEGER",
         "filter": "RANGE", "min": "1", "max": "100"},
    ],
    "defaults": {"filters": ["PRICE", "CONDITION"],
                 "policy": {"titleMin": 3, "titleMax": 80, "descriptionMax": 1000,
                            "currencies": ["RUB"], "price": "REQUIRED"}},
    "categories": [
        {"id": "things", "name": {"ru": "Вещи", "en": "Things"}, "attributes": ["maker"]},
        {"id": "bikes", "parent": "things", "name": {"ru": "Велосипеды", "en": "Bicycles"},
         "attributes": ["color", "wheel"]},
        {"id": "helmets", "parent": "things", "name": {"ru": "Шлемы", "en": "Helmets"}},
        {"id": "laptops", "parent": "things", "name": {"ru": "Ноутбуки", "en": "Laptops"}},
        {"id": "phones", "parent": "things", "name": {"ru": "Телефоны", "en": "Phones"}},
    ],
}
OFFERS = [
    ("bikes", "Горный велосипед Stels Navigator", 20000, {"color": "red", "wheel": 26}),
    ("bikes", "Велосипед Stels Pilot", 15000, {"color": "blue", "wheel": 20}),
    ("bikes", "Детский велосипед Trek", 9000, {"color": "red"}),
    ("bikes", "Велосипед Stels Navigator 500", 21000, {}),
    ("helmets", "Шлем велосипедный", 3000, {}),
    ("helmets", "Шлем для велосипеда", 2000, {}),
    ("laptops", "Ноутбук Lenovo IdeaPad", 45000, {}),
    ("laptops", "Ноутбук Asus игровой", 90000, {}),
    ("phones", "Телефон Samsung Galaxy", 30000, {}),
]
SHARED = []


class Market(Place):
    """A server with the catalogue and the offers above, all found, and learnt from."""

    def __enter__(self):
        super().__enter__().start()
        self.write("catalog.json", json.dumps(CATALOG))
        applied = self.torg("catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))
        self.seller = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                                "--scope", "offers.write").stdout.strip()
        self.titles = {}
        for offer in OFFERS:
            self.publish(*offer)
        tap.wait_until(lambda: self.total(category="things") == len(OFFERS), what="all offers")
        self.until_learnt(len(OFFERS))
        return self

    def publish(self, category, title, price, values=None):
        attributes = [{"attributeId": name, "options": [value]} if name == "color" else
                      {"attributeId": name, "text": value} if name == "maker" else
                      {"attributeId": name, "integer": value}
                      for name, value in (values or {}).items()]
        status, answer = self.call("OfferService/CreateOffer", {"content": {
            "category": category, "title": title, "attributes": attributes,
            "price": {"amount": str(100 * price), "currency": "RUB"}}}, self.seller)
        tap.equal(status, 200, answer)
        self.titles[answer["id"]] = title
        return answer["id"]

    def metric(self, name, part=""):
        return chain.metric_sum(chain.fetch_text(f"{self.operators}/metrics"), name, part)

    def until_learnt(self, count):
        """Of each offer two texts: its title, and the names of its values."""
        tap.wait_until(lambda: self.metric("torg_spell_texts_total", "learnt") >= 2 * count,
                       what=f"{count} offers learnt")

    def until_searchable(self):
        """After a start: the index is opened beside the rest."""
        tap.wait_until(lambda: self.total(category="things") is not None, what="an index that is open")

    def ask(self, method, **request):
        status, answer = self.answered(f"SearchService/{method}", request)
        tap.equal((status, answer if status != 200 else ""), (200, ""))
        return answer

    def total(self, **request):
        status, answer = self.call("SearchService/SearchOffers", request)
        return int(answer.get("total", 0)) if status == 200 else None

    def found(self, text, **request):
        """(titles of what has all words, corrected text, reason) of a search."""
        answer = self.ask("SearchOffers", text=text, **request)
        corrected = answer.get("corrected", {})
        return (sorted(one["title"] for one in answer.get("offers", []) if not one.get("lacksWords")),
                corrected.get("corrected"), corrected.get("reason"))

    def lines(self, text, **request):
        """{line: count} of what is suggested."""
        answer = self.ask("Suggest", text=text, **request)
        return {one["text"]: int(one["count"]) for one in answer.get("queries", [])}


@contextlib.contextmanager
def shared():
    """One market for all who only look."""
    if not SHARED:
        SHARED.append(Market().__enter__())
        atexit.register(SHARED[0].__exit__)
    yield SHARED[0]


def titles(*words):
    return sorted(title for _, title, _, _ in OFFERS if all(word in title for word in words))


@tap.test
def misspelt_lines_find_what_was_meant():
    with shared() as market:
        laptops = titles("Ноутбук")
        tap.equal(market.found("ноутбк"), (laptops, "ноутбук", "typo"))
        tap.equal(market.found("yjen,er"), (laptops, "ноутбук", "layout"))
        tap.equal(market.found("velosiped trek"),
                  (["Детский велосипед Trek"], "велосипед trek", "transliteration"))
        # Two words without their blank are found as they are.
        tap.equal(market.found("горныйвелосипед"), (["Горный велосипед Stels Navigator"], None, None))
        tap.equal(market.found("ноутбук"), (laptops, None, None))

        # The original is offered back, and can be had.
        answer = market.ask("SearchOffers", text="ноутбк")
        tap.equal((answer["corrected"]["original"], answer["corrected"].get("originalTotal", "0")),
                  ("ноутбк", "0"))
        tap.equal(answer["times"][0]["step"], "spelling")
        tap.equal(market.found("ноутбк", keepSpelling=True), ([], None, None))
        tap.equal(market.found("ноутбк", offset=20), ([], None, None))

        # What has a sign is meant so.
        tap.equal(market.found('"ноутбк lenovo"'),
                  (["Ноутбук Lenovo IdeaPad"], '"ноутбук lenovo"', "typo"))
        tap.equal(market.found("ноутбк -lenovo"),
                  (["Ноутбук Asus игровой"], "ноутбук -lenovo", "typo"))
        tap.equal(market.found("ноутбук -леново")[0], laptops)
        tap.equal(market.found("!ноутбк"), ([], None, None))

        # A filter that leaves nothing does not make a right word wrong.
        nothing = {"id": "price", "max": "1"}
        tap.equal(market.found("ноутбук", filters=[nothing]), ([], None, None))
        tap.equal(market.found("ноутбук", category="bikes"), ([], None, None))

        # The next page is of the corrected text, whichever is sent with its cursor.
        first = market.ask("SearchOffers", text="велосепед", limit=2)
        for text in ("велосепед", "велосипед"):
            again = market.ask("SearchOffers", text=text, limit=2, cursor=first["cursor"])
            seen = [one["title"] for one in first["offers"] + again["offers"]]
            tap.equal((len(set(seen)), "corrected" in again), (4, False))
        status, answer = market.call("SearchService/SearchOffers",
                                     {"text": "шлем", "cursor": first["cursor"]})
        tap.equal(status, 400, answer)
        tap.equal(market.metric("torg_spell_corrections_total", "typo") >= 4, True)


@tap.test
def a_new_brand_is_not_corrected_and_stays_so():
    with Market() as market:
        tap.equal(market.found("samsong"), (["Телефон Samsung Galaxy"], "samsung", "typo"))
        offer = market.publish("phones", "Телефон Samsong", 5000, {"maker": "Realmi"})
        market.until_learnt(len(OFFERS) + 1)
        brand = (["Телефон Samsong"], None, None)
        tap.wait_until(lambda: market.found("samsong") == brand, what="the brand is a word")
        tap.wait_until(lambda: market.found("realmi") == brand, what="the value is a word")

        # A change that says nothing new is not learnt again.
        status, answer = market.call("OfferService/ProlongOffer", {"id": offer}, market.seller)
        tap.equal(status, 200, answer)
        tap.wait_until(lambda: market.metric("torg_spell_texts_total", "known") >= 2,
                       what="the change is seen")

        # A stop saves it: nothing is learnt again.
        tap.equal(market.stop(), 0)
        market.start()
        tap.wait_until(lambda: "spelling is open" in market.log().rpartition("stopped")[2],
                       what="spelling is open")
        market.until_searchable()
        tap.wait_until(lambda: market.found("samsong") == brand, what="the brand after a restart")
        market.publish("phones", "Телефон Hauwei", 7000)
        market.until_learnt(1)
        tap.equal(market.metric("torg_spell_texts_total", "learnt"), 2)

        # After a crash what was not saved is learnt again; it is saved now and then.
        brand = (["Телефон Hauwei"], None, None)
        tap.wait_until(lambda: market.found("hauwei") == brand, what="the brand before a crash")
        market.stop(signal.SIGKILL)
        market.start()
        market.until_searchable()
        tap.wait_until(lambda: market.found("hauwei") == brand, what="the brand after a crash")
        tap.wait_until(lambda: market.found("samsong")[1:] == (None, None), what="the first brand")


@tap.test
def what_is_typed_goes_on():
    with shared() as market:
        lines = market.lines("вел")
        tap.equal((lines["велосипед"], lines["велосипед stels"]), (5, 3))
        tap.equal((list(lines)[0], lines["велосипедный"]), ("велосипед", 1))
        answer = market.ask("Suggest", text="вел", limit=1)
        tap.equal(len(answer["queries"]), 1)
        tap.equal(answer["queries"][0]["marked"], "вел<b>осипед</b>")
        tap.equal(answer["categories"][0],
                  {"id": "bikes", "name": "Велосипеды", "count": "4", "parent": "things", "path": ["Вещи"]})
        english = market.ask("Suggest", text="bicy", language="en")
        tap.equal([one["name"] for one in english["categories"]], ["Bicycles"])

        tap.equal(market.lines("велосипед st"),
                  {"велосипед stels": 3, "велосипед stels navigator": 2,
                   "велосипед stels navigator 500": 1, "велосипед stels pilot": 1})
        tap.equal(market.lines("stels "), {"stels navigator": 2, "stels navigator 500": 1,
                                           "stels pilot": 1})
        tap.equal(market.lines("вел", category="helmets"),
                  {"велосипеда": 1, "велосипедный": 1})
        tap.equal(market.lines("yjen")["ноутбук"], 2)                   # another layout
        tap.equal(market.lines("ноутбк"), {"ноутбук": 2, "ноутбук asus игровой": 1,
                                           "ноутбук lenovo ideapad": 1})     # corrected
        tap.equal(market.lines("стел"), {"stels": 3, "stels navigator": 2,
                                         "stels navigator 500": 1, "stels pilot": 1})
        tap.equal(market.ask("Suggest", text="в"), {"categories": [
            {"id": "things", "name": "Вещи", "count": str(len(OFFERS))},
            {"id": "bikes", "name": "Велосипеды", "count": "4", "parent": "things", "path": ["Вещи"]}]})
        tap.equal((market.lines("яхта"), market.lines(""), market.lines(" - ")), ({}, {}, {}))

        for request, told in (({"text": "a" * 401}, "text: 401 bytes, at most 400"),
                              ({"text": "a", "limit": 21}, "limit: 21, at most 20"),
                              ({"text": "a", "category": "x"}, 'category: there is no "x"')):
            status, answer = market.call("SearchService/Suggest", request)
            tap.equal((status, told in answer.get("message", "")), (400, True), answer)


@tap.test
def offers_like_one_are_found():
    with shared() as market:
        ids = {title: offer for offer, title in market.titles.items()}
        like = [one["title"] for one in
                market.ask("Similar", id=ids["Горный велосипед Stels Navigator"])["offers"]]
        tap.equal(like[0], "Велосипед Stels Navigator 500")
        tap.equal("Горный велосипед Stels Navigator" in like, False)
        tap.equal(set(like[:3]), {title for category, title, _, _ in OFFERS if category == "bikes"}
                  - {"Горный велосипед Stels Navigator"})
        tap.equal(like[3:], ["Шлем для велосипеда"])    # of the category above
        one = market.ask("Similar", id=ids["Горный велосипед Stels Navigator"], limit=1)
        tap.equal([offer["title"] for offer in one["offers"]], like[:1])
        status, answer = market.call("SearchService/Similar",
                                     {"id": check_digit("1000-0000-0000-000")})
        tap.equal((status, answer.get("code")), (404, "not_found"), answer)
        status, answer = market.call("SearchService/Similar", {"id": ids["Шлем велосипедный"],
                                                               "limit": 51})
        tap.equal((status, "limit: 51, at most 50" in answer.get("message", "")), (400, True))


tap.main()
