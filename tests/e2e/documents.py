# SPDX-License-Identifier: Apache-2.0
"""From a document to a hit: the README's tour by JSON, and what is refused on the way."""
import json
import sys
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

BIKES = [
    {"pk": "bike-1", "version": 1, "fields": [
        {"name": "title", "text": "Горный велосипед Stels"},
        {"name": "price", "integer": 15000},
        {"name": "colour", "keyword": "red"}]},
    {"pk": "bike-2", "version": 1, "fields": [
        {"name": "title", "text": "Детский велосипед"},
        {"name": "price", "integer": 5500},
        {"name": "colour", "keyword": "blue"}]},
    {"pk": "lamp-1", "version": 1, "fields": [
        {"name": "title", "text": "Лампа настольная"},
        {"name": "price", "integer": 900},
        {"name": "colour", "keyword": "blue"}]}]


class Shop:
    """A server, and what a client does with it."""

    def __init__(self, place, key=None, client=None):
        self.place, self.key, self.client = place, key or place.start_key, client

    def call(self, method, message):
        if self.client:
            message = {"client": self.client, **message}
        return self.place.call(method, message, self.key)

    def put(self, *documents, **more):
        """The verdicts, with their kind spelled out."""
        status, answer = self.call("DocumentService/PutDocuments",
                                   {"documents": list(documents), **more})
        tap.equal(status, 200, answer)
        for verdict in answer["verdicts"]:
            verdict.setdefault("kind", "ACCEPTED")
        return answer["verdicts"]

    def accept(self, *documents, **more):
        """The tokens of documents that are all accepted."""
        verdicts = self.put(*documents, **more)
        tap.equal([each["kind"] for each in verdicts], ["ACCEPTED"] * len(documents), verdicts)
        return [each["token"] for each in verdicts]

    def search(self, wait=(), **stage):
        """The only stage's answer, after the writes of the tokens are in."""
        status, answer = self.call("SearcherService/Search", {
            "query": {"stages": [stage]}, "wait": list(wait), "deadlineMs": 60000})
        tap.equal(status, 200, answer)
        tap.equal(answer.get("isPartial", False), False)
        return answer["answer"]["stages"][0]

    def find(self, text="", wait=(), **stage):
        """Keys of the hits."""
        return [hit["pk"] for hit in self.search(wait, text=text, **stage).get("hits", [])]


def shown(hit):
    return {each["name"]: each["values"] for each in hit["fields"]}


@tap.test
def the_tour():
    with Place() as place:
        shop = Shop(place.start())
        tokens = shop.accept(*BIKES)
        tap.equal(sorted(shop.find("велосипеды", tokens)), ["bike-1", "bike-2"])
        tap.equal(shop.find("велосипед", filter={"range": {"field": "price", "max": "10000"}}),
                  ["bike-2"])
        facets = shop.search(facets=[{"field": "colour"}, {"field": "price", "kind": "MIN_MAX"}])
        tap.equal(facets["facets"][0]["values"],
                  [{"value": "blue", "count": "2"}, {"value": "red", "count": "1"}])
        tap.equal((facets["facets"][1]["min"], facets["facets"][1]["max"]), ("900", "15000"))
        changes_are_seen_at_once(shop)
        deletions_are_explained(shop)
        other_types_are_refused(shop)
        traces(shop)
        tap.equal(place.stop(), 0, place.log()[-3000:])


def changes_are_seen_at_once(shop):
    for price in range(9000, 9020):
        cheaper = json.loads(json.dumps(BIKES[0]))
        cheaper["version"] = price
        cheaper["fields"][1]["integer"] = price
        token = shop.accept(cheaper)
        hits = shop.search(token, text="stels", show=["price"])["hits"]
        tap.equal([shown(hit)["price"] for hit in hits], [[str(price)]])
    older = {**BIKES[0], "version": 5}
    tap.equal(shop.put(older)[0]["kind"], "STALE")
    tap.equal(shop.put({**cheaper, "modifyTimestamp": "2026-01-01T00:00:00Z"})[0]["kind"], "STALE")
    status, stored = shop.call("DocumentService/GetDocument", {"pk": "bike-1"})
    tap.equal((status, stored["document"]["version"]), (200, "9019"))
    tap.equal(shop.put(stored["document"])[0]["kind"], "DUPLICATE")


def deletions_are_explained(shop):
    token = shop.accept({"pk": "bike-2", "version": 2, "event": "DELETE"})
    tap.equal(shop.find("велосипед", token), ["bike-1"])
    tap.equal(shop.put(BIKES[1])[0]["kind"], "STALE")
    for pk, part in (("bike-2", "delete"), ("never-sent", "")):
        status, answer = shop.call("SearcherService/Explain", {
            "pk": pk, "query": {"stages": [{"text": "велосипед"}]}})
        tap.equal(status, 200, answer)
        tap.equal(answer["explanation"].get("holds", False), False)
        tap.contains(json.dumps(answer), part)
        # What is wrong with the query is told whatever has become of the document.
        status, answer = shop.call("SearcherService/Explain", {"pk": pk, "query": {"stages": [{"limit": 10001}]}})
        tap.equal((status, list(tap.faults(answer))), (429, ["query.stages[0].limit"]), answer)
        tap.equal(shop.call("SearcherService/Explain", {"pk": pk})[0], 400)
    status, answer = shop.call("SearcherService/Explain", {
        "pk": "lamp-1", "query": {"stages": [{"text": "велосипед"}]}})
    tap.equal((status, answer["explanation"].get("holds", False)), (200, False))
    tap.contains(json.dumps(answer, ensure_ascii=False), "велосипед")


def other_types_are_refused(shop):
    verdict = shop.put({"pk": "bike-3", "version": 1, "fields": [
        {"name": "title", "text": "Велосипед"}, {"name": "price", "text": "дорого"}]})[0]
    tap.equal(verdict["kind"], "INVALID")
    reason = json.dumps(verdict["reasons"]).lower()
    for part in ("fields[1]", "price", "integer", "text"):
        tap.contains(reason, part)
    tap.equal(shop.call("DocumentService/GetDocument", {"pk": "bike-3"})[0], 404)
    # One that is refused stops no other, and all reasons are told.
    bad = {"pk": "bike-4", "version": -1, "fields": [
        {"name": "Title", "text": "x"}, {"name": "colour", "integer": 5}]}
    verdicts = shop.put(bad, {**BIKES[0], "pk": "bike-5"})
    tap.equal([each["kind"] for each in verdicts], ["INVALID", "ACCEPTED"])
    tap.equal(len(verdicts[0]["reasons"]) >= 3, True, verdicts[0])


def traces(shop):
    place = shop.place
    trace = place.torg("trace", "bike-1")
    tap.equal((trace.returncode, trace.stderr), (0, ""))
    for stage in ("received", "queued", "numbered", "sent", "indexed", "searchable"):
        tap.contains(trace.stdout, stage)
    told = json.loads(place.torg("trace", "bike-1", "--json").stdout)
    tap.equal([each.get("state", "DONE") for each in told["steps"]], ["DONE"] * 6)
    trace = place.torg("trace", "bike-2")
    tap.equal(trace.returncode, 0, trace.stderr)
    tap.contains(trace.stdout, "deleted")
    trace = place.torg("trace", "never-sent")
    tap.equal(trace.returncode, 4, trace.stdout)
    lines = chain.verify(place, "--rebuild")
    tap.equal(sorted({check for check, _ in lines}),
              ["content", "counters", "files", "index", "numbers", "queue", "registry"])
    tap.equal(lines["registry", "default"]["checkedCount"], "4")
    plain = place.torg("verify")
    tap.equal((plain.returncode, plain.stdout.count("PASS"), plain.stdout.count("FAIL")), (0, 6, 0))


@tap.test
def a_change_of_attributes_indexes_no_text():
    with Place() as place:
        shop = Shop(place.start())
        tokens = shop.accept(*BIKES)
        shop.find("x", tokens)
        for version in range(2, 12):
            bike = json.loads(json.dumps(BIKES[0]))
            bike["version"] = version
            bike["fields"][1]["integer"] = version
            shop.find("x", shop.accept(bike))       # else one takes the place of another

        def ways():     # counted a moment after they are shown
            text = chain.fetch_text(f"{place.operators}/metrics")
            return {way: chain.metric_sum(text, "torg_searcher_messages_total", f'way="{way}"')
                    for way in ("change", "put")}

        tap.wait_until(lambda: sum(ways().values()) >= 13, what="all messages to be counted")
        tap.equal(ways(), {"change": 10, "put": 3})


@tap.test
def clients_do_not_see_each_other():
    with Place() as place:
        place.start()
        first, second = Shop(place, client="first"), Shop(place, client="second")
        a = first.accept(BIKES[0], BIKES[1])
        b = second.accept({**BIKES[0], "fields": [{"name": "title", "text": "велосипед другой"},
                                                  {"name": "price", "text": "дёшево"}]})
        tap.equal(sorted(first.find("велосипед", a)), ["bike-1", "bike-2"])
        tap.equal(second.find("велосипед", b), ["bike-1"])
        tap.equal(second.find("stels"), [])
        tap.equal(second.call("DocumentService/GetDocument", {"pk": "bike-2"})[0], 404)
        second.find(wait=second.accept({"pk": "bike-1", "version": 2, "event": "DELETE"}))
        tap.equal(sorted(first.find("велосипед")), ["bike-1", "bike-2"])
        made = place.torg("key", "create", "first-only", "--client", "first",
                          "--scope", "documents", "--scope", "search")
        tap.equal(made.returncode, 0, made.stderr)
        bound = Shop(place, made.stdout.strip())
        tap.equal(sorted(bound.find("велосипед")), ["bike-1", "bike-2"])
        for method, message in (("DocumentService/GetDocument", {"pk": "bike-1"}),
                                ("DocumentService/PutDocuments", {"documents": BIKES}),
                                ("SearcherService/Search", {"query": {"stages": [{}]}}),
                                ("SchemaService/GetSchema", {})):
            status, answer = bound.call(method, {"client": "second", **message})
            tap.equal(status, 403, (method, answer))
        # A token of another client's write says nothing of it.
        status, answer = bound.call("SearcherService/GetFreshness", {"token": b[0]})
        tap.equal(status in (400, 403, 404), True, answer)
        lines = chain.verify(place, "--rebuild")
        tap.equal({client for _, client in lines if client}, {"first", "second"})


@tap.test
def who_may_not_is_refused():
    with Place() as place:
        shop = Shop(place.start())
        shop.accept(*BIKES)
        calls = (("DocumentService/PutDocuments", {"documents": BIKES}),
                 ("DocumentService/GetDocument", {"pk": "bike-1"}),
                 ("SearcherService/Search", {"query": {"stages": [{}]}}),
                 ("InspectService/TraceDocument", {"pk": "bike-1"}),
                 ("InspectService/PlanVerify", {}))
        for method, message in calls:
            tap.equal(place.call(method, message)[0], 401, method)
            tap.equal(place.call(method, message, "torg_wrong")[0], 401, method)
        made = place.torg("key", "create", "metrics-only", "--scope", "metrics")
        for method, message in calls:
            tap.equal(place.call(method, message, made.stdout.strip())[0], 403, method)


@tap.test
def limits_are_told_by_name():
    with Place() as place:
        shop = Shop(place.start())
        shop.accept(*BIKES)
        for message, part in (
                ({"documents": []}, "documents"),
                ({"documents": [BIKES[0]] * 1001}, "1000"),
                ({"client": "No Such Name", "documents": BIKES}, "client")):
            status, answer = shop.call("DocumentService/PutDocuments", message)
            tap.equal(status, 400, answer)
            tap.contains(json.dumps(answer), part)
        for document, part in (
                ({"pk": "", "version": 1, "fields": BIKES[0]["fields"]}, "pk"),
                ({"pk": "x" * 201, "version": 1, "fields": BIKES[0]["fields"]}, "200"),
                ({"pk": "a", "version": 1}, "field"),
                ({"pk": "a", "version": 1, "fields": [{"name": "title"}]}, "fields[0]"),
                ({"pk": "a", "version": 1, "fields": [{"name": "title", "text": "x"}] * 2},
                 "already"),
                ({"pk": "a", "version": 1, "fields": [{"name": "price", "decimal": "1,5"}]},
                 "price")):
            verdict = shop.put(document)[0]
            tap.equal(verdict["kind"], "INVALID", (document, verdict))
            tap.contains(json.dumps(verdict["reasons"]), part)
        tap.equal(shop.call("SchemaService/GetSchema", {})[1]["fields"][0]["name"], "title")


@tap.test
def restarts_keep_everything():
    with Place() as place:
        shop = Shop(place.start())
        tokens = shop.accept(*BIKES)
        tap.equal(len(shop.find(wait=tokens)), 3)
        tap.equal(place.stop(), 0)
        place.start()
        shop = Shop(place)
        tap.wait_until(lambda: shop.call("SearcherService/Search", {
            "query": {"stages": [{}]}})[0] == 200, what="a searcher that is ready")
        tap.equal(len(shop.find()), 3)
        chain.verify(place, "--rebuild")


@tap.test
def what_ends_is_not_found_any_more():
    with Place() as place:
        shop = Shop(place.start())
        tap.equal(len(shop.find(wait=shop.accept(BIKES[0]))), 1)
        # A slow machine may use up a short life before it is searched for: then a longer one.
        for version, life in enumerate((3, 12, 48), 1):
            soon = int(time.time()) + life
            tokens = shop.accept({**BIKES[1], "version": version, "expireTime": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(soon))})
            if len(shop.find(wait=tokens)) == 2:
                break
            tap.equal(time.time() >= soon, True, f"not found before the end of its {life} s")
        tap.wait_until(lambda: shop.find() == ["bike-1"], what="the end of a document")
        tap.wait_until(lambda: shop.call("DocumentService/GetDocument", {
            "pk": "bike-2"})[1].get("isDeleted"), what="its tombstone")
        # What was written before it ended does not bring it back; what is written now does.
        late = {**BIKES[1], "version": version, "modifyTimestamp": "2026-01-01T00:00:00Z"}
        tap.equal(shop.put(late)[0]["kind"], "STALE")
        shop.find(wait=shop.accept({**BIKES[1], "version": version + 1}))
        tap.equal(sorted(shop.find()), ["bike-1", "bike-2"])


@tap.test
def without_a_server_commands_say_what_to_do():
    with Place() as place:
        place.start()
        tap.equal(place.stop(), 0)
        result = place.torg("trace", "bike-1")
        tap.equal((result.returncode, result.stdout), (5, ""))
        tap.contains(result.stderr, "torg up")


tap.main()
