# SPDX-License-Identifier: Apache-2.0
"""A catalogue that the index cannot take as it is: told, refused, and taken with an epoch; nothing is lost."""
import copy
import json
import sys

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

FIELD_MAX = 8000            # of an epoch: DOCUMENT_SCHEMA_COUNT_MAX
CATALOG = {
    "attributes": [{"id": "frame-size", "name": {"en": "Frame"}, "type": "DECIMAL", "filter": "RANGE",
                    "min": "1", "max": "100", "digits": 1}],
    "categories": [{"id": "bikes", "name": {"en": "Bicycles"}, "attributes": ["frame-size"]}],
}


def finer():
    catalog = copy.deepcopy(CATALOG)
    catalog["attributes"][0]["digits"] = 2
    return catalog


KINDS = {"INTEGER": "RANGE", "OPTION": "LIST", "FLAG": "TOGGLE", "OPTIONS": "LIST", "DECIMAL": "RANGE"}


def attribute(number):
    kind = list(KINDS)[number % len(KINDS)]
    made = {"id": f"n{number}", "name": {"en": f"N {number}"}, "type": kind, "filter": KINDS[kind]}
    if kind.startswith("OPTION"):
        made["options"] = [{"id": name, "name": {"en": name.title()}} for name in ("red", "green", "blue")]
    return made


def wide(categories, attributes):
    """Ten attributes in each branch, and its leaves have them all."""
    branches = attributes // 10
    catalog = {"attributes": [attribute(number) for number in range(attributes)]}
    catalog["categories"] = [
        {"id": f"b{branch}", "name": {"en": f"Branch {branch}"},
         "attributes": [f"n{branch * 10 + each}" for each in range(10)]} for branch in range(branches)]
    catalog["categories"] += [
        {"id": f"leaf{leaf}", "name": {"en": f"Leaf {leaf}"}, "parent": f"b{leaf % branches}"}
        for leaf in range(categories - branches)]
    return catalog


def crowded(count):
    """So many attributes that are two fields each, a hundred in a category."""
    catalog = {"attributes": [{"id": f"n{number}", "name": {"en": f"N {number}"}, "type": "INTEGER",
                               "filter": "LIST"} for number in range(count)]}
    catalog["categories"] = [
        {"id": f"c{first}", "name": {"en": f"C {first}"},
         "attributes": [f"n{number}" for number in range(first, min(first + 100, count))]}
        for first in range(0, count, 100)]
    return catalog


class Market(Place):
    spelling = False

    def __enter__(self):
        super().__enter__().start()
        self.run("apply", CATALOG)
        self.seller = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                                "--scope", "offers.write").stdout.strip()
        return self

    def run(self, verb, catalog, *words, code=0):
        self.write("catalog.json", json.dumps(catalog))
        done = self.torg("catalog", verb, "catalog.json", *words)
        tap.equal(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def save(self, method, title, size, **more):
        content = {"category": "bikes", "title": title,
                   "attributes": [{"attributeId": "frame-size", "decimal": size}]}
        status, answer = self.call(f"OfferService/{method}", {"content": content, **more},
                                   self.seller)
        tap.equal(status, 200, answer)
        return answer

    def total(self, **request):
        status, answer = self.call("SearchService/SearchOffers", request)
        return int(answer.get("total", "0")) if status == 200 else None

    def parked(self):
        return int(json.loads(self.torg("parked", "list", "--json").stdout).get("count", "0"))


@tap.test
def finer_digits_need_an_epoch_and_lose_nothing():
    with Market() as market:
        offer = market.save("CreateOffer", "Mountain one", "17.5")
        tap.wait_until(lambda: market.total(text="mountain") == 1, what="the first offer")
        said = market.run("diff", finer())
        tap.contains(said, "an epoch is needed")
        tap.contains(said, "frame-size: field \"a.frame-size\" has 1 digits after the point in epoch 1")
        said = market.run("apply", finer(), code=1)
        tap.contains(said, "frame-size")
        tap.contains(said, "--with-epoch")
        tap.contains(market.run("diff", CATALOG), "0 changed")
        said = market.run("apply", finer(), "--with-epoch")
        tap.contains(said, "version 3 is in use")
        tap.contains(said, "torg epoch switch --client offers")
        market.save("UpdateOffer", "Gravel one", "17.55", id=offer["id"],
                    expectedRevision=offer["revision"])
        market.save("CreateOffer", "Gravel two", "19.25")
        switched = market.torg("epoch", "switch", "--client", "offers", "--wait", f"{tap.PATIENCE_S}s")
        tap.equal(switched.returncode, 0, switched.stdout + switched.stderr)
        tap.wait_until(lambda: market.total(text="gravel") == 2, what="both, as they are now")
        tap.equal(market.total(text="mountain"), 0)
        tap.wait_until(lambda: market.parked() == 0, what="nothing that waits")
        tap.contains(market.run("diff", finer()), "0 changed")


@tap.test
def no_more_attributes_than_an_epoch_has_fields():
    with Market() as market:
        standard = 23 + 3                               # and what is told of clicks
        fits = crowded((FIELD_MAX - standard - 1) // 2)         # and the one that the epoch has
        over = crowded((FIELD_MAX - standard) // 2 + 1)
        market.save("CreateOffer", "Mountain one", "17.5")
        tap.wait_until(lambda: market.total(text="mountain") == 1, what="the first offer")
        for verb in ("check", "apply"):
            tap.contains(market.run(verb, over, code=1),
                         f"the limit is {FIELD_MAX}")
        tap.contains(market.run("diff", over), f"the limit is {FIELD_MAX}")
        tap.equal("the limit" in market.run("diff", fits), False)


@tap.test
def thousands_of_attributes_work_from_the_check_to_the_filters():
    with Market() as market:
        catalog = wide(15000, 5000)
        last = next(one for one in reversed(catalog["categories"]) if one.get("parent") == "b499")
        tap.contains(market.run("check", catalog), "15000 categories")
        tap.contains(market.run("diff", catalog), "15000 added")
        tap.contains(market.run("apply", catalog), "version 3 is in use")
        for number in range(3):
            content = {"category": last["id"], "title": f"Wide thing {number}", "attributes": [
                {"attributeId": "n4995", "integer": str(100 + number)},
                {"attributeId": "n4996", "options": ["green" if number else "red"]},
                {"attributeId": "n4997", "flag": number == 1},
                {"attributeId": "n4998", "options": ["red", "blue"]},
                {"attributeId": "n4999", "decimal": f"{number}.5"}]}
            status, answer = market.call("OfferService/CreateOffer", {"content": content}, market.seller)
            tap.equal(status, 200, answer)
        tap.wait_until(lambda: market.total(text="wide") == 3, what="the offers")
        status, answer = market.call("SearchService/SearchOffers", {"category": last["id"]})
        tap.equal((status, sorted(one["id"] for one in answer["filters"] if one["id"].startswith("a.n"))),
                  (200, [f"a.n{number}" for number in range(4995, 5000)]), answer)
        listed = next(one for one in answer["filters"] if one["id"] == "a.n4996")
        tap.equal(sorted((one["id"], one["count"]) for one in listed["values"]),
                  [("green", "2"), ("red", "1")])
        for chosen, total in [({"id": "a.n4996", "values": ["green"]}, 2),
                              ({"id": "a.n4998", "values": ["blue"]}, 3),
                              ({"id": "a.n4995", "min": "102"}, 1),
                              ({"id": "a.n4999", "max": "1.5"}, 2)]:
            tap.equal((chosen, market.total(category=last["id"], filters=[chosen])), (chosen, total))
        catalog["attributes"][-1]["digits"] = 2
        tap.contains(market.run("apply", catalog, "--with-epoch"), "version 4 is in use")
        switched = market.torg("epoch", "switch", "--client", "offers", "--wait", f"{tap.PATIENCE_S}s")
        tap.equal(switched.returncode, 0, switched.stdout + switched.stderr)
        tap.wait_until(lambda: market.total(category=last["id"], filters=[{"id": "a.n4999", "max": "1.5"}]) == 2,
                       what="the filter in the new epoch")


tap.main()
