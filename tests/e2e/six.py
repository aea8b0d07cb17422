# SPDX-License-Identifier: Apache-2.0
"""The whole way from a seller to a buyer, as one process on the embedded backends, and as six on
PostgreSQL, Kafka and ZooKeeper: offers, composer, receiver, indexer, searcher, search.

The same story is told to both, and both must answer searches alike: offers, totals, categories,
filters with their counts, order where the request defines it. Then each of the six is killed -9 in
turn while sellers write and buyers search; what the others must go on doing meanwhile is said at each
(class Kills). So it is while the index gets other numbers. In the end nothing acknowledged is lost,
and no buyer has seen an older state of an offer after a newer one.

usage: six.py TOPIC_PUT, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
"""
import csv
import json
import os
import random
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import market  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Database, fetch  # noqa: E402
from kit.sites import ROLES, OneProcess, OwnKafka, SixProcesses  # noqa: E402

PUT = sys.argv.pop(1)
KILLS = tap.count(4, 60, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
MOSCOW = {"latitude": 55.7512, "longitude": 37.6184}


class Market:
    """Keys, callers, and names for the ids, which are drawn by the server."""

    def __init__(self, site):
        self.site, self.names, self.ids = site, {}, {}
        self.wanted = {}            # name: (title, price, category)
        self.buyer = self.caller("search")
        offers = site.at("offers")
        offers.write("catalog.json", json.dumps(market.CATALOG))
        applied = site.torg("offers", "catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))
        self.seller = self.caller("offers", self.key("s", "--seller", "s"))
        self.feeder = self.caller("offers", self.key("f", "--seller", "f"))
        self.moderator = self.caller("offers", self.key("m", scopes=("moderation",)))
        self.reader = self.caller("searcher", self.key("r", scopes=("search",)))

    def caller(self, role, key=None):
        return market.Caller(lambda: self.site.at(role).url, key)

    def key(self, name, *words, scopes=("offers.read", "offers.write")):
        asked = [word for scope in scopes for word in ("--scope", scope)]
        made = self.site.torg("offers", "key", "create", name, *asked, *words)
        tap.equal((made.returncode, made.stderr), (0, ""))
        return made.stdout.strip()

    def publish(self, name, content):
        answer = self.sell("CreateOffer", {"content": content})
        self.call_it(name, answer["id"])
        self.wanted[name] = market.shown_of(content)

    def call_it(self, name, number):
        self.names[number], self.ids[name] = name, number

    def sell(self, move, message):
        return self.seller.ok(f"OfferService/{move}", message)

    def search(self, request):
        """What all shards say: one may be too late on a busy machine."""
        answers = []

        def is_whole():
            answers[:] = [market.whole_answer(self.buyer, request)]
            return answers[0] is not None

        tap.wait_until(is_whole, what="an answer of all shards")
        return answers[0]

    def settle(self):
        """Waits until searches show what this market thinks there is. Whoever sees an offer's title and
        price finds it by the words and the attributes of that version, too: no token is needed."""
        def found():
            status, answer = self.buyer.call("SearchService/SearchOffers", {"limit": 0})
            return status == 200 and int(answer.get("total", 0)) == len(self.wanted)

        tap.wait_until(found, what=f"{len(self.wanted)} offers")
        market.wait_for_index(self.buyer, {self.ids[name]: shown
                                           for name, shown in self.wanted.items()})


# --- the story ---

def bike(number, color, title=None, price=None):
    content = {"category": "bikes", "title": title or f"Горный велосипед номер {number}",
               "description": f"Рама и колёса, {color}. Ехать легко.", "externalId": f"bike-{number}",
               "price": {"amount": str(price or 100000 + 1000 * number), "currency": "RUB"},
               "condition": "NEW" if number % 3 else "USED",
               "attributes": [{"attributeId": "color", "options": [color]},
                              {"attributeId": "frame-size", "integer": 14 + number % 9}]}
    if number % 2:
        content["address"] = {"text": "дом", "point": {
            "latitude": MOSCOW["latitude"] + number / 50, "longitude": MOSCOW["longitude"]}}
    return content


def book(number):
    return {"category": "books", "title": f"Книга про велосипед, том {number}",
            "externalId": f"book-{number}", "price": {"amount": str(500 + number), "currency": "RUB"},
            "attributes": [{"attributeId": "pages", "integer": 100 + number}]}


def publish(at):
    for number in range(14):
        at.publish(f"bike-{number}", bike(number, ("red", "blue", "green")[number % 3]))
    for number in range(7):
        at.publish(f"book-{number}", book(number))


def edit(at):
    for number in (1, 4):
        name = f"bike-{number}"
        content = bike(number, "green", f"Детский велосипед номер {number}", 77000 + number)
        at.sell("UpdateOffer", {"id": at.ids[name], "expectedRevision": 1, "content": content})
        at.wanted[name] = market.shown_of(content)


def withdraw_and_sell(at):
    for number, move in ((2, "WithdrawOffer"), (3, "WithdrawOffer"), (5, "MarkOfferSold")):
        message = {"id": at.ids[f"bike-{number}"]}
        if move == "MarkOfferSold":
            message["where"] = "ELSEWHERE"
        at.sell(move, message)
        del at.wanted[f"bike-{number}"]


def ban(at):
    for number in (6, 7):
        at.moderator.ok("ModerationService/GiveOpinion", {
            "offerId": at.ids[f"bike-{number}"], "revision": 1, "verdict": "BAN",
            "reasons": ["stolen"]})
        del at.wanted[f"bike-{number}"]


def republish(at):
    at.sell("RepublishOffer", {"id": at.ids["bike-2"]})
    at.moderator.ok("ModerationService/GiveOpinion", {
        "offerId": at.ids["bike-6"], "revision": 2, "verdict": "PASS"})
    for number in (2, 6):
        at.wanted[f"bike-{number}"] = market.shown_of(
            bike(number, ("red", "blue", "green")[number % 3]))


def delete(at):
    for name in ("bike-8", "book-1", "bike-7"):
        at.sell("DeleteOffer", {"id": at.ids[name]})
        at.wanted.pop(name, None)


def feed(at):
    """Two tasks by the API: the second changes some and leaves some out; and a file by command."""
    for task, numbers, raised in ((1, range(12), 0), (2, range(2, 14), 5000)):
        events = [{"upsert": {"row": row, "externalId": f"toy-{number}", "content": {
            "category": "toys", "title": f"Кубики для детей {number}",
            "price": {"amount": str(2000 + number + raised), "currency": "RUB"},
            "attributes": [{"attributeId": "color", "options": ["blue"]}]}}}
            for row, number in enumerate(numbers, 1)]
        events[0] = {"taskId": task, **events[0]}
        done = at.feeder.ok("FeedService/SendEvents", {
            "events": events + [{"end": {"rowCount": len(numbers)}}]})
        tap.equal(done["state"], "DONE", done)
    at.site.at("offers").write("goods.csv", "id;Категория;Название;Цена;Страниц\n" + "".join(
        f"csv-{number};Книги;Словарь русского языка, часть {number};{300 + number};{200 + number}\n"
        for number in range(6)))
    done = at.site.torg("offers", "feed", "import", "--seller", "f", "--feed", "csv", "goods.csv")
    tap.equal((done.returncode, done.stderr), (0, ""), done.stdout)
    listed = at.feeder.ok("CabinetService/ListOffers", {"preset": "ACTIVE", "pageSize": 100})
    for offer in listed["offers"]:
        name = offer["content"]["externalId"]
        at.call_it(name, offer["id"])
        at.wanted[name] = market.shown_of(offer["content"])
    tap.equal(len([name for name in at.wanted if name.startswith(("toy", "csv"))]), 18)


def follow(at):
    """A write's token at the process that buyers ask, its trace at the one that has the index."""
    content = bike(50, "green", title="Велосипед, за которым смотрят")
    receipt = at.seller.ok("OfferService/CreateOffer", {"content": content})
    at.call_it("bike-50", receipt["id"])
    at.wanted["bike-50"] = market.shown_of(content)

    def is_searchable():
        status, answer = fetch(urllib.request.Request(
            f"{at.site.at('search').url}/v1/freshness/{receipt['freshnessToken']}?wait=30"))
        tap.equal(status in (200, 503, 504), True, answer)
        return status == 200 and answer.get("isSearchable")

    tap.wait_until(is_searchable, what="the token says that it is searchable")
    found = at.search({"text": "за которым смотрят", "wait": [receipt["freshnessToken"]]})
    tap.equal([one["id"] for one in found.get("offers", [])], [receipt["id"]])

    def is_traced():
        traced = at.site.torg("searcher", "trace", receipt["id"], "--json")
        tap.equal(traced.returncode, 0, traced.stderr)
        return {step.get("state", "DONE") for step in json.loads(traced.stdout)["steps"]} == {"DONE"}

    tap.wait_until(is_traced, what="every step of it is done")


def wait_for_tokens(at):
    """Who brings the token of a write finds it, or does not find what it took away, at once."""
    for name, move, is_found in (("bike-20", "CreateOffer", True), ("bike-20", "WithdrawOffer", False),
                                 ("bike-20", "RepublishOffer", True)):
        message = {"content": bike(20, "red")} if move == "CreateOffer" else {"id": at.ids[name]}
        answer = at.sell(move, message)
        at.call_it(name, answer["id"])
        found = at.search({**BIKES, "limit": 100, "onlyOffers": True,
                           "wait": [answer["freshnessToken"]]})
        names = [at.names[offer["id"]] for offer in found["offers"]]
        tap.equal(name in names, is_found, f"after {move}: {names}")
    at.wanted["bike-20"] = market.shown_of(bike(20, "red"))


BIKES = {"category": "bikes"}
STORY = (publish, edit, withdraw_and_sell, ban, republish, delete, wait_for_tokens, feed,
         follow)
RED_OR_BLUE = {"id": "a.color", "values": ["red", "blue"]}
QUERIES = (
    {}, {"text": "велосипед"}, {"text": "велосипеды", **BIKES}, {"text": "ВЕЛОСИПЕДАМИ"},
    {"text": "\"горный велосипед\""}, {"text": "велосипед -детский"}, {"text": "детские велосипеды"},
    {"text": "колеса"}, {"text": "bicycle", "language": "en"}, {"text": "кубики"},
    {"text": "словарь русский"}, {"text": "зюзя"}, {**BIKES, "filters": [RED_OR_BLUE]},
    {**BIKES, "filters": [RED_OR_BLUE, {"id": "condition", "values": ["new"]}]},
    {**BIKES, "filters": [{"id": "a.frame-size", "min": "16", "max": "19"}], "order": "CHEAPEST"},
    {"filters": [{"id": "price", "max": "99000"}], "order": "DEAREST", "limit": 100},
    {"category": "books", "order": "CHEAPEST"}, {"category": "toys", "order": "DEAREST"},
    {"category": "hobby", "order": "CHEAPEST", "limit": 7},
    {"near": MOSCOW, "order": "NEAREST", "filters": [{"id": "distance", "max": "25000"}]},
    {"near": MOSCOW, **BIKES},
    {"text": "велосипед", "strictFilters": True, "explain": True},
)


def plain_filter(one):
    """Dates are those of the run; values with the same count may stand in any order."""
    values = {value["id"]: (value["name"], value.get("count"), value.get("isChosen", False))
              for value in one.get("values", [])}
    ends = None if one.get("isDate") else (one.get("min"), one.get("max"))
    return one["id"], one["name"], one.get("kind"), values, ends, one.get("unit"), one.get("choice")


def plain_offer(at, offer):
    return (at.names[offer["id"]], offer["title"], offer.get("titleMarked"),
            offer.get("fragmentMarked"), offer["price"], offer["category"], offer.get("place"),
            offer.get("distanceM"), offer["seller"])


def picture(at, request):
    """An answer, and those of its next pages, without what may differ from run to run."""
    pages, cursor = [], None
    while True:
        answer = at.search({"keepSpelling": True, **request, **({"cursor": cursor} if cursor else {})})
        pages.append(answer)
        cursor = answer.get("cursor")
        if not cursor:
            break
    offers = [plain_offer(at, offer) for page in pages for offer in page.get("offers", [])]
    first = pages[0]
    return {"offers": offers if request.get("order") else sorted(offers, key=lambda one: one[0]),
            "pages": [len(page.get("offers", [])) for page in pages],
            "total": first.get("total"), "partial": first.get("isPartial", False),
            "corrected": first.get("corrected"),
            "categories": {one["id"]: (one["name"], one["count"], one.get("parent"))
                           for one in first.get("categories", [])},
            "filters": {one[0]: one for one in map(plain_filter, first.get("filters", []))},
            "hidden": sorted((one["id"], one["reason"]) for one in first.get("hiddenFilters", []))}


def tell(site):
    """{(chapter, request): what a buyer sees}. All requests at the begin and the end, a third of them
    in between."""
    at, seen = Market(site), {}
    for number, chapter in enumerate(STORY):
        chapter(at)
        at.settle()
        for request in QUERIES if number in (0, len(STORY) - 1) else QUERIES[number % 3::3]:
            seen[chapter.__name__, json.dumps(request, ensure_ascii=False)] = picture(at, request)
    for name in ("bike-0", "book-2", "toy-5"):
        answer = at.buyer.ok("SearchService/Similar", {"id": at.ids[name], "limit": 50})
        seen["similar", name] = {"total": len(answer["offers"]), "offers": sorted(
            at.names[offer["id"]] for offer in answer["offers"])}
    seen["spelling", "велосепед"] = tap.wait_until(lambda: corrected(at, "велосепед"),
                                                   what="a text corrected by the words of titles")
    return seen


def corrected(at, text):
    """Words are learnt beside the index, and may come a little later."""
    seen = picture(at, {"text": text, "keepSpelling": False})
    return seen["corrected"] and seen


# --- kills ---

class Kills:
    """Sellers and a buyer on the six; and what each must go on with while one of the six is down."""

    def __init__(self, site):
        self.site, self.at = site, None
        self.down = None            # the role that does not run

    def begin(self):
        self.at = at = Market(self.site)
        self.sellers = []
        for number in range(3):
            key = at.key(f"s{number}", "--seller", f"s{number}")
            seller = market.Seller(number, key, SEED, lambda: self.url("offers"))
            seller.moderator = market.Caller(lambda: self.url("offers"), at.moderator.key)
            self.sellers.append(seller)
        self.buyer = market.Buyer(lambda: self.url("search"))
        self.reader = market.Caller(lambda: self.url("searcher"), at.reader.key)
        for thread in (*self.sellers, self.buyer):
            thread.start()
        self.goes_on(self.bought, "searches before the first kill")
        tap.wait_until(lambda: self.checked() and self.buyer.seen, what="the first offers found")

    def url(self, role):
        return None if self.down == role else self.site.at(role).url

    def checked(self):
        troubles = [one.trouble for one in (*self.sellers, self.buyer) if one.trouble]
        tap.equal(troubles, [])
        return True

    def acknowledged(self):
        return sum(seller.acknowledged for seller in self.sellers)

    def bought(self):
        return self.buyer.answers

    def refused(self):
        return self.buyer.refusals

    def goes_on(self, count, what):
        """It counts ten more."""
        begin = count()
        tap.wait_until(lambda: self.checked() and count() >= begin + 10, what=what)

    def while_down(self, role):
        """Sellers write as long as the role offers is there: their writes wait in the store, or in a
        topic, for who is away. Buyers find as long as search and searcher are there; without the
        searcher the search says so and shows no empty page; its log has the searcher's address."""
        if role != "offers":
            self.goes_on(self.acknowledged, f"writes without {role}")
        if role not in ("search", "searcher"):
            self.goes_on(self.bought, f"searches without {role}")
        if role == "searcher":
            self.goes_on(self.refused, "refusals without a searcher")
            tap.wait_until(lambda: "the search is unavailable" in self.buyer.last_refusal,
                           what="the reason")     # it may have been late, too
            address = self.site.listen["searcher"]
            tap.equal(address in self.buyer.last_refusal, False, self.buyer.last_refusal)
            tap.contains(self.site.at("search").log(), address)
            answers = self.buyer.answers
            time.sleep(0.3)
            tap.equal(self.buyer.answers, answers, "answers without a searcher")
        if role == "search":
            status, answer = self.reader.sure("SearcherService/Search", {
                "client": "offers", "query": {"stages": [{}]}})
            tap.equal((status, bool(answer["answer"]["stages"][0].get("hits"))), (200, True), answer)

    def kill(self, role):
        began = time.monotonic()
        place = self.site.at(role)
        place.process.kill()
        place.process.wait()
        self.down = role
        self.while_down(role)
        if role == "composer":
            self.spoil()
        self.site.start(role)
        self.down = None
        self.goes_on(self.acknowledged, f"writes after {role} is back")
        self.goes_on(self.bought, f"searches after {role} is back")
        tap.comment(f"{role} was killed: {time.monotonic() - began:.1f} s until all went on")

    def spoil(self):
        """What the composer and the receiver cannot read: the first asks for the offer instead."""
        offers = [offer["id"] for seller in self.sellers for offer in list(seller.offers.values())]
        for topic, key in (("offer-updates", offers[0]), ("offer-updates", "nobody"),
                           ("documents", "offers/0")):
            done = tap.run(PUT, self.site.topics, topic, key)
            tap.equal((done.returncode, done.stderr), (0, ""))

    def fetched(self):
        text = chain.fetch_text(f"{self.site.at('composer').operators}/metrics")
        return chain.metric_sum(text, "torg_composer_fetched_total")

    def check(self):
        """At rest: what was acknowledged is found, and nothing else; all stages agree."""
        tap.wait_until(lambda: self.checked() and self.acknowledged() >= 30 * KILLS,
                       what="enough writes for this to mean something")
        market.stop([*self.sellers, self.buyer])
        market.wait_for_index(self.at.buyer, market.active(self.sellers))
        stored = {}
        for seller in self.sellers:
            listed = market.Caller(lambda: self.url("offers"), seller.caller.key)
            stored.update(list_offers(listed, "ACTIVE"))
        tap.equal(stored, market.active(self.sellers), "the sellers' cabinets")
        lines = chain.verify(self.site.at("searcher"), "--rebuild", "--client", "offers",
                             *self.site.backends)
        done = self.site.torg("offers", "offers", "counters", "--verify")
        tap.equal((done.returncode, done.stderr), (0, ""), done.stdout)
        tap.wait_until(self.are_none_parked, what="no parked offers")
        tap.comment(f"{self.acknowledged()} writes acknowledged, {len(stored)} offers at the end, "
                    f"{self.buyer.answers} searches, {self.buyer.refusals} refused; "
                    f"checked {sorted(lines)}")

    # --- other numbers ---

    def epoch(self, *words):
        done = self.site.torg("indexer", "epoch", *words, "--client", "offers")
        tap.equal(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def move(self, *start):
        """To an epoch with other numbers, while the indexer is killed and sellers write."""
        tap.contains(self.epoch("start", *start), "building")
        self.kill("indexer")
        self.switch()
        self.goes_on(self.acknowledged, "writes to the new numbers")
        self.goes_on(self.bought, "searches of the new numbers")

    def switch(self):
        self.epoch("switch", "--wait", f"{tap.PATIENCE_S}s")

    def numbered(self, epoch, shard):
        """Ids of offers in the order of their numbers."""
        place = self.site.at("indexer")
        for words in (("export", "--client", "offers", "--epoch", str(epoch), "--shard", str(shard), "numbers"),
                      ("inspect", "numbers", "--docs-table", "docs.csv")):
            done = place.torg("numerator", *words, *self.site.backends)
            tap.equal(done.returncode, 0, done.stdout + done.stderr)
        with open(place.dir / "docs.csv", encoding="utf-8", newline="") as table:
            rows = sorted(csv.DictReader(table), key=lambda row: int(row["doc_id"]))
        tap.equal([int(row["doc_id"]) for row in rows], list(range(len(rows))))
        return [row["pk"] for row in rows]

    def check_order(self, epoch, shards):
        """At rest: all that is on sale, the dearest first."""
        prices = {pk: shown[1] for pk, shown in market.active(self.sellers).items()}
        found = [[pk for pk in self.numbered(epoch, shard) if pk in prices] for shard in range(shards)]
        tap.equal(sorted(sum(found, [])), sorted(prices))
        for order in found:
            order = [prices[pk] for pk in order]
            tap.equal(order, sorted(order, reverse=True))

    def are_none_parked(self):
        """One that waits for its next try, since the store was away, is no fault."""
        parked = self.site.torg("offers", "parked", "list", "--stage", "composer")
        tap.equal(parked.returncode, 0, parked.stderr)
        return parked.stdout == "0 parked\n"


def list_offers(caller, preset):
    found, token = {}, ""
    while True:
        page = caller.ok("CabinetService/ListOffers", {"preset": preset, "pageSize": 100,
                                                       "pageToken": token})
        for offer in page.get("offers", []):
            found[offer["id"]] = market.shown_of(offer["content"])
        token = page.get("nextPageToken")
        if not token:
            return found


@tap.test
def six_processes_answer_as_one_does():
    zookeeper = tap.need("zookeeper")
    began = time.monotonic()
    with OneProcess() as site:
        one = tell(site)
        tap.equal(site.place.stop(), 0, site.place.log()[-4000:])
    tap.comment(f"one process: {len(one)} answers in {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    with Database() as database, OwnKafka() as kafka, \
            SixProcesses(database, kafka.address, zookeeper) as site:
        six = tell(site)
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])
    tap.comment(f"six processes: {len(six)} answers in {time.monotonic() - began:.1f} s")
    tap.equal(six.keys(), one.keys())
    for at in one:
        tap.equal(six[at], one[at], f"after {at[0]}, {at[1]}")
    hits = sum(int(answer["total"] or 0) > 0 for answer in one.values())
    tap.equal(hits > len(one) * 2 // 3, True, f"{hits} of {len(one)} found something")


@tap.test
def whichever_of_the_six_is_killed_nothing_is_lost_and_the_rest_goes_on():
    zookeeper = tap.need("zookeeper")
    tap.comment(f"seed {SEED}, {KILLS} kills")
    rng = random.Random(SEED)
    order = []
    while len(order) < KILLS:
        order += rng.sample(list(ROLES), len(ROLES))
    with Database() as database, OwnKafka() as kafka, \
            SixProcesses(database, kafka.address, zookeeper) as site:
        kills = Kills(site)
        kills.begin()
        fetched = 0
        for role in order[:KILLS]:
            time.sleep(rng.uniform(0, 0.5))
            if role == "composer":
                fetched += kills.fetched()
            kills.kill(role)
        tap.wait_until(lambda: "composer" not in order[:KILLS] or fetched + kills.fetched() > 0,
                       what="an offer read anew, since its record was unreadable")
        kills.check()
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])


@tap.test
def six_processes_get_other_numbers_under_writes_and_kills():
    zookeeper = tap.need("zookeeper")
    with Database() as database, OwnKafka() as kafka, \
            SixProcesses(database, kafka.address, zookeeper) as site:
        kills = Kills(site)
        kills.begin()
        kills.move("--shards", "6")
        kills.move("--renumber", "--by", "price")
        kills.check()
        kills.epoch("start", "--renumber", "--by", "price", "--shards", "3")    # nobody writes
        kills.switch()
        kills.check_order(4, 3)
        market.wait_for_index(kills.at.buyer, market.active(kills.sellers))
        chain.verify(site.at("searcher"), "--rebuild", "--client", "offers", *site.backends)
        for place in site.all():
            tap.equal(place.stop(), 0, place.log()[-4000:])


tap.main()
