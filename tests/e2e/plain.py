# SPDX-License-Identifier: Apache-2.0
"""Documents as plain JSON, JSON lines and CSV, searched by an address, answered in plain JSON."""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

BIKES = [
    {"id": 1, "title": "City bicycle", "price": 150, "colour": "red", "createdAt": "2026-11-15"},
    {"id": 2, "title": "Mountain bicycle", "price": 250.5, "colour": "blue", "tags": ["new", "fast"],
     "maker": {"name": "Stels", "place": {"lat": 55.75, "lon": 37.62}}, "parts": [{"kind": "carbon fork"}]},
    {"id": "lamp-1", "title": "Desk lamp", "price": 9, "colour": "blue", "used": True}]


class Door:
    """A client's documents, by HTTP as anybody would."""

    def __init__(self, place, client="shop", key=None):
        self.place, self.client, self.key = place, client, key or place.start_key
        self.wait = ""

    def ask(self, verb, path, body=None, content_type="application/json", **parameters):
        url = f"{self.place.url}/v1/{path}"
        if parameters:
            url += "?" + urllib.parse.urlencode(parameters)
        request = urllib.request.Request(url, data=body, method=verb)
        request.add_header("Content-Type", content_type)
        if self.key:
            request.add_header("Authorization", f"Bearer {self.key}")
        try:
            with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as fault:
            return fault.code, json.loads(fault.read())

    def put(self, documents, status=200, **more):
        body = documents if isinstance(documents, bytes) else json.dumps(documents).encode()
        got, answer = self.ask("POST", f"clients/{self.client}/documents", body, **more)
        tap.equal(got, status, answer)
        self.wait = answer.get("wait") or self.wait
        return answer

    def search(self, status=200, **parameters):
        """The answer, once the last write is in."""
        got, answer = self.ask("GET", f"clients/{self.client}/search", wait=self.wait, **parameters)
        tap.equal(got, status, answer)
        return answer

    def ids(self, **parameters):
        return [hit["id"] for hit in self.search(**parameters)["hits"]]


@tap.test
def what_is_put_is_what_is_found():
    with Place() as place:
        door = Door(place.start())
        answer = door.put(BIKES)
        tap.equal([answer[name] for name in ("accepted", "unchanged", "refused")], [3, 0, 0])
        found = door.search(q="bicycles", sort="price")
        tap.equal(found["total"], 2)
        tap.equal([{name: value for name, value in hit.items() if name[0] != "_"} for hit in found["hits"]], BIKES[:2])
        tap.equal(door.put(BIKES)["unchanged"], 3)

        tap.equal(door.ids(filter="price<10"), ["lamp-1"])
        tap.equal(door.ids(filter="price < 9"), [])
        tap.equal(door.ids(filter="price >= 9 AND NOT colour = red", sort="-price"), [2, "lamp-1"])
        tap.equal(door.ids(filter="tags IN (fast, slow) OR used = true", sort="price"), ["lamp-1", 2])
        tap.equal(door.ids(filter="createdAt >= 2026-11-01"), [1])
        tap.equal(door.ids(filter="maker.place NEAR (55.7, 37.6, 20km)"), [2])
        tap.equal(door.ids(filter="maker.name EXISTS"), [2])
        # words of what is no text are found as well
        tap.equal(door.ids(q="carbon"), [2])
        tap.equal(door.ids(q="stels bicycle"), [2])

        found = door.search(facets="colour,price", limit=0)
        tap.equal(found["facets"], {"colour": {"blue": 2, "red": 1}})
        tap.equal(found["ranges"], {"price": {"min": 9, "max": 250.5}})
        tap.equal(found["hits"], [])
        marked = door.search(q="lamp", highlight="title", fields="title")["hits"][0]
        tap.equal((marked["title"], marked["_marked"]), ("Desk lamp", {"title": "Desk <b>lamp</b>"}))
        tap.equal("id" in marked, False)

        first = door.search(sort="price", limit=2)
        second = door.search(sort="price", limit=2, cursor=first["cursor"])
        tap.equal([hit["id"] for hit in first["hits"] + second["hits"]], ["lamp-1", 1, 2])
        why = door.search(q="bicycle", explain="lamp-1")["explanation"]
        tap.equal(why["holds"], False)


@tap.test
def lines_tables_and_single_objects_are_documents():
    with Place() as place:
        door = Door(place.start())
        lines = "\n".join(json.dumps(each) for each in BIKES).encode()
        tap.equal(door.put(lines)["accepted"], 3)
        table = "id;Название;Цена\n7;Стол письменный;12,5\n8;Стул;40\n"
        door.put(table.encode(), content_type="text/csv")
        tap.equal(door.ids(q="стулья"), ["8"])
        tap.equal(door.put({"id": 9, "title": "One"})["accepted"], 1)
        tap.equal(door.put(b"sku,n\nA,1\nB,2\n", content_type="text/csv; charset=utf-8", key="sku")["accepted"], 2)
        tap.equal(door.search(filter="n >= 2")["hits"], [{"sku": "B", "n": "2"}])

        status, document = door.ask("GET", "clients/shop/documents/9")
        tap.equal((status, document), (200, {"id": 9, "title": "One"}))
        status, answer = door.ask("DELETE", "clients/shop/documents/9")
        tap.equal((status, answer["accepted"]), (200, 1))
        tap.equal(door.ask("GET", "clients/shop/documents/9")[0], 404)
        door.wait = answer["wait"]
        tap.equal(door.ids(q="one"), [])


@tap.test
def many_documents_are_put_by_one_request_and_the_bad_ones_are_told():
    with Place() as place:
        door = Door(place.start())
        documents = [{"id": i, "title": f"Thing {i}", "n": i} for i in range(2500)]
        documents[1700]["n"] = "many"
        del documents[3]["id"]
        answer = door.put(documents)
        tap.equal((answer["accepted"], answer["refused"]), (2498, 2))
        tap.equal([(each["document"], each["field"]) for each in answer["problems"]], [(4, "id"), (1701, "n")])
        tap.equal(door.search(filter="n >= 1000", limit=0)["total"], 1499)
        # what the receiver refuses is told by the sender's own name, too
        answer = door.put([{"id": "x" * 300, "n": 1}], status=400)
        tap.equal((answer["accepted"], answer["problems"][0]["field"]), (0, "pk"))
        answer = door.put([{"id": 1, "n": 1.23456}], status=400)
        tap.equal(answer["problems"][0]["field"], "n")


@tap.test
def what_is_wrong_is_told():
    with Place() as place:
        door = Door(place.start())
        door.put(BIKES)
        for parameters, told in [
                ({"filter": "price <"}, "filter, character 8: the text ends here: expected a value"),
                ({"filter": "prize < 5"}, 'filter: there is no field "prize"'),
                ({"filter": "price < cheap"}, 'filter: "cheap" cannot be of field "price"'),
                ({"sort": "prize"}, 'sort: no document has a field "prize"'),
                ({"facets": "title"}, "facets: "),
                ({"limit": "lots"}, "limit: "),
                ({"colour": "red"}, "colour: is not a parameter of a search"),
                ({"cursor": "&"}, "cursor: ")]:
            tap.contains(door.search(status=400, **parameters)["message"], told)
        status, answer = door.ask("POST", "clients/shop/documents", b'[{"id": 1,]')
        tap.equal(status, 400)
        tap.contains(answer["message"], "the JSON: line 1, column")
        status, answer = door.ask("POST", "clients/offers/documents", b'[{"id": 1}]')
        tap.equal(status, 200)  # the start key is an operator's
        tap.equal(door.ask("PUT", "clients/shop/documents", b"")[0], 405)
        tap.equal(door.ask("GET", "clients/nobody/search")[0], 404)


@tap.test
def access_is_that_of_the_typed_calls():
    with Place() as place:
        door = Door(place.start())
        door.put(BIKES)
        door.search()       # the index is there
        tap.equal(Door(place, key="torg_none").ask("GET", "clients/shop/search")[0], 401)
        reader = place.torg("key", "create", "reader", "--scope", "search", "--client", "shop").stdout.strip()
        writer = place.torg("key", "create", "writer", "--scope", "documents").stdout.strip()
        tap.equal(Door(place, key=reader).ask("GET", "clients/shop/search")[0], 200)
        tap.equal(Door(place, key=reader).ask("GET", "clients/other/search")[0], 403)
        tap.equal(Door(place, key=reader).ask("POST", "clients/shop/documents", b"[]")[0], 403)
        tap.equal(Door(place, key=writer).ask("GET", "clients/shop/search")[0], 403)
        status, answer = Door(place, key=writer).ask("POST", "clients/offers/documents", b'[{"id": 1}]')
        tap.equal(status, 403)
        tap.contains(answer["message"], "only the composer writes")
        names = Door(place, key=reader).ask("GET", "clients")[1]["clients"]
        tap.equal([each["name"] for each in names], ["shop"])
        fields = Door(place, key=reader).ask("GET", "clients/shop/fields")[1]["fields"]
        tap.equal({each["name"]: each["type"] for each in fields}["price"], "decimal")


@tap.test
def documents_that_were_typed_are_shown_by_their_types():
    with Place() as place:
        door = Door(place.start())
        status, answer = place.call("DocumentService/PutDocuments", {"client": "shop", "documents": [
            {"pk": "a", "fields": [
                {"name": "title", "text": "Chair"}, {"name": "n", "integer": 7},
                {"name": "price", "decimal": "12.50"}, {"name": "used", "boolean": True},
                {"name": "tags", "keywords": ["x"]}, {"name": "at", "point": {"latitude": 1.5, "longitude": 2}}]}]},
            place.start_key)
        tap.equal(status, 200, answer)
        door.wait = answer["verdicts"][0]["token"]
        tap.equal(door.search()["hits"], [
            {"id": "a", "title": "Chair", "n": 7, "price": 12.5, "used": True, "tags": ["x"],
             "at": {"lat": 1.5, "lon": 2}}])


@tap.test
def offers_are_searched_by_an_address():
    with Place() as place:
        door = Door(place.start())
        seller = place.torg("key", "create", "s", "--seller", "s-1", "--scope", "offers.write").stdout.strip()
        tokens = []
        for title, price, kind in [("City bicycle", "1500050", "city"), ("Mountain bicycle", "2500000", "mountain")]:
            status, offer = place.call("OfferService/CreateOffer", {"content": {
                "category": "bikes", "title": title, "price": {"amount": price, "currency": "RUB"},
                "attributes": [{"attributeId": "bike-type", "options": [kind]}]}}, seller)
            tap.equal(status, 200, offer)
            tokens.append(offer["freshnessToken"])
        door.key = None  # every visitor may
        for token in tokens:
            status, answer = door.ask("GET", "offers/search", q="bicycles", sort="cheapest", wait=token)
            tap.equal(status, 200, answer)
        tap.equal(answer["total"], 2)
        tap.equal([(offer["title"], offer["price"], offer["currency"]) for offer in answer["offers"]],
                  [("City bicycle", 15000.5, "RUB"), ("Mountain bicycle", 25000, "RUB")])
        for text, titles in [("price < 15000.5", []), ("price <= 15000.5", ["City bicycle"]),
                             ("price > 15000.5 AND bike-type = mountain", ["Mountain bicycle"]),
                             ("bike-type IN (city, mountain) AND price = 1..20000", ["City bicycle"])]:
            status, answer = door.ask("GET", "offers/search", q="bicycle", filter=text)
            tap.equal(([offer["title"] for offer in answer["offers"]], status), (titles, 200), text)
        status, answer = door.ask("GET", "offers/search", q="bicycle", facets="true", language="en")
        price = [each for each in answer["filters"] if each["id"] == "price"][0]
        tap.equal((price["min"], price["max"]), (15000.5, 25000))
        tap.contains(json.dumps(answer["categories"]), "Bicycles")
        status, answer = door.ask("GET", "offers/search", filter="color = red OR color = blue")
        tap.equal(status, 400)
        tap.contains(answer["message"], "OR: of offers a filter has conditions joined by AND")


tap.main()
