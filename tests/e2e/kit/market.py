# SPDX-License-Identifier: Apache-2.0
"""market.py - sellers who publish and change offers while servers come and go, buyers who search, and
what both must agree on afterwards.

Every write of a seller has an idempotency key and is sent again until it is answered, so that a
seller knows exactly what each of its offers is. The price of an offer counts its changes: what a
search shows tells how new it is.
"""
import http.client
import json
import random
import threading
import time
import urllib.parse

from kit import tap
from kit.binary import without_zeros

COLORS = [{"id": name, "name": {"ru": russian, "en": name}}
          for name, russian in (("red", "красный"), ("blue", "синий"), ("green", "зелёный"))]
CATALOG = {
    "attributes": [
        {"id": "color", "name": {"ru": "Цвет", "en": "Colour"}, "type": "OPTION", "filter": "LIST",
         "options": COLORS},
        {"id": "frame-size", "name": {"ru": "Рама", "en": "Frame"}, "type": "INTEGER",
         "filter": "RANGE", "min": "1", "max": "100"},
        {"id": "pages", "name": {"ru": "Страниц", "en": "Pages"}, "type": "INTEGER",
         "filter": "RANGE", "min": "1", "max": "10000"},
    ],
    "defaults": {"filters": ["PRICE", "CONDITION", "DISTANCE", "DATE", "PHOTO"],
                 "policy": {"titleMin": 3, "titleMax": 80, "descriptionMax": 1000,
                            "currencies": ["RUB"], "price": "REQUIRED"}},
    "categories": [
        {"id": "hobby", "name": {"ru": "Хобби", "en": "Hobbies"}},
        {"id": "bikes", "parent": "hobby", "name": {"ru": "Велосипеды", "en": "Bicycles"},
         "attributes": ["color", "frame-size"]},
        {"id": "books", "parent": "hobby", "name": {"ru": "Книги", "en": "Books"},
         "attributes": ["pages"], "hiddenFilters": ["CONDITION"]},
        {"id": "toys", "parent": "hobby", "name": {"ru": "Игрушки", "en": "Toys"},
         "attributes": ["color"]},
    ],
}
WORDS = ("горный", "детский", "городской", "складной", "старый", "новый", "лёгкий", "прочный")
THINGS = {"bikes": "велосипед", "books": "книга", "toys": "кубики"}
PRICE_BASE = 1000           # of the first state of an offer; each change adds one
TRANSIENT = (429, 500, 503, 504)


def is_put_off(status, answer):
    """Nothing was done, and it may be sent again; also a transaction that lost against others too often."""
    return status in TRANSIENT or (status == 409 and "given up after" in answer.get("message", ""))


class Broken(Exception):
    """No answer: whether the call took place is unknown."""


class Refused(Exception):
    """A write was refused, as it may be: nothing has changed."""


class Twice(AssertionError):
    """An offer is on two pages: it may be when it changes between them, and not at rest."""


class Caller:
    """JSON calls over one connection that is opened again when it breaks. where() gives the server's
    address, None while there is none."""

    def __init__(self, where, key=None, timeout=tap.PATIENCE_S):
        self.where, self.key, self.timeout = where, key, timeout
        self.connection, self.url = None, None
        self.put_off = 0            # answers that said: later

    def call(self, method, message, **headers):
        url = self.where()
        if not url:
            raise Broken("there is no server")
        if self.connection is None or self.url != url:
            self.connection = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc,
                                                         timeout=self.timeout)
            self.url = url
        headers = {"Content-Type": "application/json",
                   **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            self.connection.request("POST", f"/torg.v1.{method}", json.dumps(message), headers)
            answer = self.connection.getresponse()
            return answer.status, without_zeros(json.loads(answer.read()))
        except (OSError, http.client.HTTPException, ValueError) as gone:
            self.connection.close()
            self.connection = None
            raise Broken(str(gone)) from gone

    def sure(self, method, message, **headers):
        """The answer, however often the call has to be sent for it."""
        deadline = time.monotonic() + tap.PATIENCE_S
        while True:
            try:
                status, answer = self.call(method, message, **headers)
                if not is_put_off(status, answer):
                    return status, answer
                told = f"{status} {answer}"
                self.put_off += 1
            except Broken as gone:
                told = str(gone)
            if time.monotonic() > deadline:
                raise AssertionError(f"{method} had no answer in {tap.PATIENCE_S} s: {told}")
            time.sleep(0.01)

    def ok(self, method, message, **headers):
        status, answer = self.sure(method, message, **headers)
        tap.equal((method, status, answer if status != 200 else ""), (method, 200, ""))
        return answer


def content_of(name, category, version, rng):
    """Version 0 is the offer as it is published; the title changes with every fourth."""
    words = f"{WORDS[(version // 4) % len(WORDS)]} {THINGS[category]} {name}"
    content = {"category": category, "title": words, "externalId": name,
               "price": {"amount": str(PRICE_BASE + version), "currency": "RUB"}}
    if category == "books":
        content["attributes"] = [{"attributeId": "pages", "integer": rng.randrange(1, 900)}]
    else:
        content["attributes"] = [{"attributeId": "color",
                                  "options": [rng.choice(COLORS)["id"]]}]
    return content


class Seller(threading.Thread):
    """Publishes, changes, withdraws, republishes, sells and deletes its offers, until told to stop."""

    def __init__(self, number, key, seed, where, goal=60, pace=None, prefix="o"):
        super().__init__(daemon=True)
        self.number, self.goal = number, goal
        self.pace = tap.rest_s(0.1) if pace is None else pace
        self.prefix = f"{prefix}{number}"
        self.rng = random.Random(f"{seed}/{self.prefix}")
        self.caller = Caller(where, key)
        self.moderator = None       # a Caller who may ban
        self.offers = {}            # name: what the offer is
        self.idle = []              # names that are not touched any more
        self.call_count = 0
        self.acknowledged = 0
        self.published = 0
        self.opinions = 0
        self.ended = False
        self.trouble = None

    def run(self):
        try:
            while not self.ended:
                try:
                    self.act()
                except Refused:
                    pass
                time.sleep(self.pace)
        except Exception as trouble:  # noqa: B902: told by the main thread
            self.trouble = f"{type(trouble).__name__}: {trouble}"

    def write(self, method, message):
        self.call_count += 1
        status, answer = self.caller.sure(f"OfferService/{method}", message,
                                          idempotency_key=f"{self.prefix}-{self.call_count}")
        if self.is_refused(status, answer):
            raise Refused()
        tap.equal((method, status, answer if status != 200 else ""), (method, 200, ""))
        self.acknowledged += 1
        return answer

    def is_refused(self, _status, _answer):
        """Whether it may be refused; nothing has changed then."""
        return False

    def count(self):
        """Of the offers it works with."""
        return len(self.offers)

    def choose(self):
        return self.rng.choice(list(self.offers))

    def act(self):
        rng = self.rng
        if self.count() < self.goal and (not self.count() or rng.random() < 0.6):
            self.publish()
            return
        name = self.choose()
        offer = self.offers[name]
        if offer["status"] == "ACTIVE":
            move = rng.choices((self.update, self.withdraw, self.sell, self.delete, self.ban),
                               (70, 12, 6, 4, 8))[0]
            move(offer)
        elif offer["status"] in ("WITHDRAWN", "SOLD_ON_SITE"):
            self.note(offer, self.write("RepublishOffer", {"id": offer["id"]}))
        elif offer["status"] == "BANNED":
            self.opine(offer, "PASS")
        if offer["status"] == "DELETED":
            del self.offers[name]

    def publish(self):
        name = f"{self.prefix}-{self.call_count}"
        category = self.rng.choice(list(THINGS))
        content = content_of(name, category, 0, self.rng)
        offer = {"name": name, "version": 0, "category": category, "content": content}
        self.note(offer, self.write("CreateOffer", {"content": content}))
        self.offers[name] = offer
        self.published += 1

    def note(self, offer, answer):
        offer["id"], offer["status"] = answer["id"], answer["status"]
        offer["revision"] = int(answer["revision"])

    def update(self, offer):
        version = offer["version"] + 1
        content = content_of(offer["name"], offer["category"], version, self.rng)
        answer = self.write("UpdateOffer", {"id": offer["id"], "content": content,
                                            "expectedRevision": offer["revision"]})
        offer["version"], offer["content"] = version, content
        self.note(offer, answer)

    def withdraw(self, offer):
        self.note(offer, self.write("WithdrawOffer", {"id": offer["id"]}))

    def sell(self, offer):
        self.note(offer, self.write("MarkOfferSold", {"id": offer["id"], "where": "ON_SITE"}))

    def delete(self, offer):
        self.note(offer, self.write("DeleteOffer", {"id": offer["id"]}))

    def ban(self, offer):
        if self.moderator:
            self.opine(offer, "BAN")

    def opine(self, offer, verdict):
        """An opinion's revision makes it the same opinion when it is sent again."""
        self.opinions += 1
        opinion = {"offerId": offer["id"], "revision": self.opinions, "verdict": verdict}
        if verdict == "BAN":
            opinion["reasons"] = ["test"]
        self.moderator.ok("ModerationService/GiveOpinion", opinion)
        self.acknowledged += 1
        offer["status"] = "BANNED" if verdict == "BAN" else "ACTIVE"
        offer["revision"] += 1


def shown_of(content):
    return (content["title"], int(content["price"]["amount"]), content["category"])


def active(sellers):
    """{id: (title, price, category)} of all that searches must find."""
    return {offer["id"]: shown_of(offer["content"]) for seller in sellers
            for offer in seller.offers.values() if offer["status"] == "ACTIVE"}


def stop(threads):
    for thread in threads:
        thread.ended = True
    for thread in threads:
        thread.join(timeout=2 * tap.PATIENCE_S)
    tap.equal([thread.trouble for thread in threads if thread.trouble], [])
    tap.equal([thread.name for thread in threads if thread.is_alive()], [])


# --- buyers ---

def whole_answer(caller, page):
    """None of a part, or of a state that is not caught up: on a busy machine a searcher may come too late for the
    search's deadline, and one that was killed has to replay."""
    answer = caller.ok("SearchService/SearchOffers", page)
    return None if answer.get("isPartial") or answer.get("oldSeconds") else answer


def search_all(caller, **request):
    """{id: (title, price, category)} of everything, page by page; the total says the same."""
    found, cursor = {}, None
    while True:
        page = {"limit": 100, "onlyOffers": True, **request}
        if cursor:
            page["cursor"] = cursor
        answer = tap.wait_until(lambda page=page: whole_answer(caller, page), what="an answer of all shards")
        for offer in answer.get("offers", []):
            if offer["id"] in found:
                raise Twice(f"{offer['id']} was found twice")
            found[offer["id"]] = (offer["title"], int(offer["price"]["amount"]), offer["category"])
        cursor = answer.get("cursor")
        if not cursor:
            return found


def difference(found, wanted):
    """For people: the first few of what differs."""
    lines = [f"{len(found)} found, {len(wanted)} wanted"]
    for what, ids in (("not found", wanted.keys() - found.keys()),
                      ("found, and should not be", found.keys() - wanted.keys()),
                      ("found otherwise", {one for one in wanted.keys() & found.keys()
                                           if wanted[one] != found[one]})):
        some = [f"{one}: {found.get(one)}, wanted {wanted.get(one)}" for one in sorted(ids)[:5]]
        lines += [f"{len(ids)} {what}: {'; '.join(some)}"] if ids else []
    return "\n".join(lines)


def wait_for_index(caller, wanted, seconds=tap.PATIENCE_S, **request):
    """Until searches find exactly this; says what they find when they do not."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = search_all(caller, **request)
            if found == wanted:
                return
            told = difference(found, wanted)
        except Twice as twice:
            told = str(twice)
        if time.monotonic() > deadline:
            raise AssertionError(f"what is found is not what the offers are after {seconds} s: "
                                 f"{request}\n{told}")
        time.sleep(0.2)


class Buyer(threading.Thread):
    """Searches all the time. Nothing older than what it has seen of an offer is shown to it, unless the answer says
    so (oldSeconds)."""

    def __init__(self, where, pause=None):
        super().__init__(daemon=True)
        self.caller = Caller(where)
        self.pause = tap.rest_s(0.2) if pause is None else pause
        self.seen = {}              # id: the newest version seen
        self.answers = 0
        self.refusals = 0           # 503: the search answers, and has no searcher
        self.last_refusal = ""
        self.ended = False
        self.trouble = None

    def run(self):
        turn = 0
        requests = ({"category": "hobby", "order": "DEAREST"}, {"text": "велосипед"},
                    {"text": "книга", "order": "NEWEST"}, {"category": "toys", "order": "DEAREST"},
                    *({"text": f'"{word}"', "keepSpelling": True} for word in WORDS[:4]))
        try:
            while not self.ended:
                turn += 1
                self.look({"limit": 100, **requests[turn % len(requests)]})
                time.sleep(self.pause)
        except Exception as trouble:  # noqa: B902: told by the main thread
            self.trouble = f"{type(trouble).__name__}: {trouble}"

    def look(self, request):
        try:
            status, answer = self.caller.call("SearchService/SearchOffers", request)
        except Broken:
            time.sleep(0.02)
            return
        is_unknown = status == 400 and "there is no" in answer.get("message", "")
        if status in (503, 504) or is_unknown:    # its category is gone from the catalogue for now
            self.refusals += 1
            self.last_refusal = answer.get("message", "")
            return
        tap.equal(status, 200, answer)
        # The first few may all be withdrawn again; of so many some are always there, in all shards together.
        if not answer.get("offers") and len(self.seen) > 20 and request.get("category") == "hobby" \
                and not answer.get("isPartial"):
            raise AssertionError(f"nothing is found any more: {request}")
        ids = [offer["id"] for offer in answer.get("offers", [])]
        tap.equal(len(ids), len(set(ids)), f"an offer is twice on a page: {request}")
        for offer in answer.get("offers", []):
            if not offer.get("title") or "price" not in offer or "category" not in offer:
                raise AssertionError(f"an offer is not shown whole: {offer}, by {request}")
            word = request.get("text", "").strip('"')
            if word in WORDS and not offer["title"].startswith(word):
                raise AssertionError(f"{offer['title']} is found by {word}")
            version = int(offer["price"]["amount"])
            before = self.seen.get(offer["id"], version)
            if version < before and not answer.get("oldSeconds"):
                raise AssertionError(f"{offer['id']} is shown at {version}, after {before} was")
            self.seen[offer["id"]] = max(version, before)
        self.answers += 1
