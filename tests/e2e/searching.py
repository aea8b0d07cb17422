# SPDX-License-Identifier: Apache-2.0
"""The whole way in one process: a document is sent, waited for, found, changed, explained, deleted;
a restart, and a kill at any moment, loses none of it."""
import itertools
import random
import time

from kit import tap
from kit.binary import Place


def put(place, documents, client="", **more):
    status, answer = place.call("DocumentService/PutDocuments",
                                {"client": client, "documents": documents, **more},
                                place.start_key)
    tap.equal(status, 200)
    kinds = {verdict.get("kind", "ACCEPTED") for verdict in answer["verdicts"]}
    tap.equal(kinds, {"ACCEPTED"}, answer)
    return [verdict["token"] for verdict in answer["verdicts"]]


def bike(number, version=1, **more):
    return {"pk": f"bike-{number}", "version": version, "fields": [
        {"name": "title", "text": more.get("title", f"Горный велосипед {number}")},
        {"name": "price", "integer": more.get("price", 1000 * number)},
        {"name": "seller", "keyword": f"seller-{number % 3}"}]}


def search(place, stage, client="", **more):
    status, answer = place.answered("SearcherService/Search",
                                    {"client": client, "query": {"stages": [stage]},
                                     "deadlineMs": 60000, **more}, place.start_key)
    tap.equal(status, 200, answer)
    return answer["answer"]["stages"][0]


def keys(stage):
    return [hit["pk"] for hit in stage.get("hits", [])]


@tap.test
def a_document_is_found_changed_and_deleted():
    with Place() as place:
        place.start()
        status, answer = place.answered("SearcherService/Search", {"query": {"stages": [{}]}},
                                        place.start_key)
        tap.equal((status, answer["code"]), (404, "not_found"))
        tokens = put(place, [bike(number) for number in range(1, 6)])
        found = search(place, {"text": "велосипед", "show": ["price"],
                               "facets": [{"field": "seller"}]}, wait=tokens)
        tap.equal(found["total"], "5")
        tap.equal([value["value"] for value in found["facets"][0]["values"]],
                  ["seller-1", "seller-2", "seller-0"])
        tokens = put(place, [bike(2, 2, price=5), bike(3, 2, title="Самокат")])
        found = search(place, {"text": "велосипед", "sorts": [{"field": "price"}],
                               "show": ["price"]}, wait=tokens)
        tap.equal(keys(found), ["bike-2", "bike-1", "bike-4", "bike-5"])
        tokens = put(place, [{"pk": "bike-1", "version": 2, "event": "DELETE"}], lane="EMERGENCY")
        tap.equal(keys(search(place, {"text": "велосипед", "sorts": [{"field": "price"}]},
                              wait=tokens)), ["bike-2", "bike-4", "bike-5"])
        tap.equal(place.stop(), 0)


@tap.test
def a_search_has_the_time_that_is_set():
    """A millisecond is too short for a write to come through: sooner or later one is told so."""
    offer = {"category": "bikes", "title": "City bicycle", "price": {"amount": "1", "currency": "RUB"},
             "attributes": [{"attributeId": "bike-type", "options": ["city"]}]}
    with Place() as place:
        place.start("up", "--searcher.deadline=1ms", "--search.deadline=1ms")
        seller = place.torg("key", "create", "s", "--seller", "s", "--scope", "offers.write").stdout.strip()
        numbers = itertools.count(1)

        def is_late(method, query, tokens):
            status, answer = place.call(method, {**query, "wait": tokens}, place.start_key)
            return (status, answer.get("code")) == (504, "deadline_exceeded")

        def publish():
            status, answer = place.call("OfferService/CreateOffer", {"content": offer}, seller)
            tap.equal(status, 200, answer)
            return [answer["freshnessToken"]]

        tap.wait_until(lambda: is_late("SearcherService/Search", {"query": {"stages": [{}]}},
                                       put(place, [bike(next(numbers))])), what="a search that is late")
        tap.wait_until(lambda: is_late("SearchService/SearchOffers", {}, publish()),
                       what="a buyer's search that is late")


def explain(place, pk, stage):
    status, answer = place.answered("SearcherService/Explain",
                                    {"pk": pk, "query": {"stages": [stage]}}, place.start_key)
    tap.equal(status, 200, answer)
    return answer["explanation"]


def texts(explanation):
    yield explanation.get("holds", False), explanation["text"]
    for part in explanation.get("parts", []):
        yield from texts(part)


@tap.test
def it_is_explained_why_a_document_is_not_found():
    with Place() as place:
        place.start()
        search(place, {}, wait=put(place, [bike(1), bike(2)]))
        stage = {"text": "велосипед", "filter": {"range": {"field": "price", "max": "1500"}}}
        tap.equal(explain(place, "bike-1", stage)["holds"], True)
        told = list(texts(explain(place, "bike-2", stage)))
        assert (False, "price is from any to 1500: it is 2000") in told, told
        told = list(texts(explain(place, "bike-1", {"text": "самокат"})))
        assert any(not holds and "самокат" in text for holds, text in told), told
        assert "never sent" in explain(place, "bike-9", stage)["text"]
        search(place, {}, wait=put(place, [{"pk": "bike-2", "version": 3, "event": "DELETE"}]))
        assert "deleted, with version 3" in explain(place, "bike-2", stage)["text"]


@tap.test
def several_shards_are_one_index():
    with Place() as place:
        place.start("up", "--registry.shards=3")
        tokens = put(place, [bike(number) for number in range(1, 41)])
        found = search(place, {"text": "велосипед", "limit": 7,
                               "sorts": [{"field": "price", "descending": True}]}, wait=tokens)
        tap.equal((found["total"], keys(found)),
                  ("40", [f"bike-{number}" for number in range(40, 33, -1)]))
        seen, pages = keys(found), 1
        while found.get("cursor"):
            found = search(place, {"text": "велосипед", "limit": 7, "cursor": found["cursor"],
                                   "sorts": [{"field": "price", "descending": True}]})
            seen, pages = seen + keys(found), pages + 1
        tap.equal((seen, pages), ([f"bike-{number}" for number in range(40, 0, -1)], 6))
        status, answer = place.call("SearcherService/GetFreshness", {}, place.start_key)
        tap.equal(sum(int(shard.get("docCount", 0)) for shard in answer["shards"]), 40)
        tap.equal(len(answer["shards"]), 3)


@tap.test
def a_key_sees_its_own_client_alone():
    with Place() as place:
        place.start()
        put(place, [bike(1)], client="bikes")
        search(place, {}, client="cars", wait=put(place, [bike(2)], client="cars"))
        key = place.torg("key", "create", "cars-reader", "--scope", "search",
                         "--client", "cars").stdout.strip()
        status, answer = place.answered("SearcherService/Search", {"query": {"stages": [{}]}}, key)
        tap.equal((status, keys(answer["answer"]["stages"][0])), (200, ["bike-2"]))
        status, answer = place.call("SearcherService/Search",
                                    {"client": "bikes", "query": {"stages": [{}]}}, key)
        tap.equal((status, answer["code"]), (403, "permission_denied"))


def wait_ready(place):
    """A restart replays; until then searches are told so."""
    deadline = time.monotonic() + tap.PATIENCE_S
    while True:
        status, answer = place.call("SearcherService/Search", {"query": {"stages": [{}]}},
                                    place.start_key)
        if status == 200:
            return
        assert answer["code"] in ("unavailable", "not_found", "deadline_exceeded"), answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.02)


@tap.test
def a_kill_loses_nothing_that_was_accepted():
    rng = random.Random(7)
    with Place() as place:
        place.start()
        expected = {}
        for turn in range(3):
            for _ in range(5):
                batch = [bike(number, turn + 1, price=rng.randrange(1000))
                         for number in rng.sample(range(1, 30), 6)]
                batch = [one for one in batch if expected.get(one["pk"], (0,))[0] < turn + 1]
                if batch:
                    put(place, batch)
                for one in batch:
                    expected[one["pk"]] = (turn + 1, one["fields"][1]["integer"])
            place.process.kill()
            place.process.wait()
            place.start()
            wait_ready(place)
            tokens = put(place, [bike(99, turn + 1)])
            found = search(place, {"limit": 100, "show": ["price"],
                                   "filter": {"not": {"in": {"field": "price",
                                                             "values": ["99000"]}}}}, wait=tokens)
            got = {hit["pk"]: int(hit["fields"][0]["values"][0]) for hit in found["hits"]}
            tap.equal(got, {pk: price for pk, (_, price) in expected.items()})


tap.main()
