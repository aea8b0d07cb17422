# SPDX-License-Identifier: Apache-2.0
"""The catalogue: its commands with and without a server, its service, its versions."""
import copy
import json
import urllib.request

from kit import tap
from kit.binary import TOP, Database, Place, fetch, without_zeros

DEMO = TOP / "demo/catalog.json"
GOLDEN = TOP / "tests/e2e/golden"

SMALL = {
    "defaults": {"filters": ["PRICE", "CONDITION"]},
    "attributes": [
        {"id": "color", "name": {"ru": "Цвет", "en": "Colour"}, "type": "OPTION", "filter": "LIST",
         "options": [{"id": "red", "name": {"ru": "Красный", "en": "Red"}},
                     {"id": "blue", "name": {"ru": "Синий", "en": "Blue"}}]},
        {"id": "mileage", "name": {"ru": "Пробег", "en": "Mileage"}, "type": "INTEGER",
         "filter": "RANGE", "min": "0", "max": "1000000"}],
    "categories": [
        {"id": "cars", "name": {"ru": "Машины", "en": "Cars"}, "attributes": ["color", "mileage"]},
        {"id": "new", "parent": "cars", "name": {"ru": "Новые", "en": "New"},
         "hidden": ["mileage"]},
        {"id": "old", "parent": "cars", "name": {"ru": "Старые", "en": "Old"}}]}


def changed():
    """SMALL with one change of every kind."""
    other = copy.deepcopy(SMALL)
    other["defaults"]["policy"] = {"photosMax": 5}
    other["attributes"][0]["options"][1] = {"id": "green", "name": {"ru": "Зелёный"}}
    other["attributes"].append({"id": "year", "name": {"ru": "Год"}, "type": "YEAR"})
    other["categories"][0]["name"]["en"] = "Automobiles"
    other["categories"][0]["attributes"].append("year")
    other["categories"][1]["overrides"] = [{"id": "year", "min": "2020"}]
    other["categories"][2] = {"id": "retro", "parent": "cars", "name": {"ru": "Ретро"}}
    return other


def broken():
    """SMALL with faults of several kinds."""
    other = copy.deepcopy(SMALL)
    other["attributes"][1]["min"] = "x"
    other["attributes"].append({"id": "paint", "name": {"ru": "цвет"}, "type": "TEXT"})
    other["categories"][1]["parent"] = "carz"
    other["categories"][2]["attributes"] = ["paint", "wheels"]
    other["categories"].append({"id": "a", "parent": "b", "name": {"ru": "А"}})
    other["categories"].append({"id": "b", "parent": "a", "name": {"ru": "Б"}})
    return other


def golden(name, text):
    wanted = (GOLDEN / name).read_text()
    if text != wanted:
        raise AssertionError(f"{name} is not what was printed:\n{text}")


def write(place, name, catalog):
    place.write(name, json.dumps(catalog, ensure_ascii=False))


@tap.test
def check_tells_every_fault_and_needs_nothing():
    with Place() as place:
        write(place, "bad.json", broken())
        result = place.torg("catalog", "check", "bad.json")
        tap.equal((result.returncode, result.stdout), (1, ""))
        golden("catalog_check.txt", result.stderr)
        result = place.torg("catalog", "check", str(DEMO), "--json")
        tap.equal(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        tap.equal(found["categoryCount"] >= 150 and found["topCount"] >= 12
                  and found["attributeCount"] >= 60, True, found)
        document = (TOP / "docs/catalog.md").read_text()
        place.write("example.json", document.split("```json\n")[1].split("```")[0])
        tap.equal(place.torg("catalog", "check", "example.json").stdout,
                  "example.json: 2 categories in 1 branches on 2 levels, 2 attributes: "
                  "nothing wrong\n")
        place.write("torn.json", '{"categories": [')
        result = place.torg("catalog", "check", "torn.json")
        tap.equal(result.returncode, 1)
        tap.contains(result.stderr, "torg: torn.json: ")
        tap.equal(place.torg("catalog", "check", "none.json").returncode, 4)
        tap.equal(place.data.exists(), False, "no data directory was made")


@tap.test
def diff_and_apply_work_on_the_directory_when_no_server_runs():
    with Place() as place:
        write(place, "one.json", SMALL)
        write(place, "two.json", changed())
        tap.equal(place.torg("catalog", "diff", "one.json").returncode, 4, "there is no directory")
        result = place.torg("catalog", "apply", "one.json")
        tap.equal(result.returncode, 0, result.stderr)
        golden("catalog_first.txt", result.stdout)
        result = place.torg("catalog", "diff", "two.json")
        tap.equal(result.returncode, 0, result.stderr)
        golden("catalog_diff.txt", result.stdout)
        result = place.torg("catalog", "apply", "one.json")
        tap.contains(result.stdout, "nothing differs: version 1 stays in use\n")
        result = place.torg("catalog", "apply", "two.json", "--expect", "7")
        tap.equal(result.returncode, 1)
        tap.contains(result.stderr, "version 1 of the catalogue is in use, not 7")
        tap.equal(place.torg("catalog", "apply", "two.json", "--expect", "one").returncode, 2)
        result = place.torg("catalog", "apply", "two.json", "--expect", "1", "--json")
        change = json.loads(result.stdout)
        tap.equal((change["fromVersion"], change["toVersion"]), ("1", "2"))
        write(place, "bad.json", broken())
        result = place.torg("catalog", "apply", "bad.json")
        tap.equal(result.returncode, 1)
        golden("catalog_check.txt", result.stderr)
        tap.contains(place.torg("audit").stdout, "catalog.apply")
        change = json.loads(place.torg("catalog", "diff", "two.json", "--json").stdout)
        tap.equal(change["fromVersion"], "2")


@tap.test
def an_empty_store_gets_the_demo_by_up_and_by_nothing_else():
    with Place() as place:
        place.start("serve", "catalog", "system")
        tap.equal(place.call("CatalogService/ListChildren"), (200, {}))
        tap.equal(place.stop(), 0)
        place.start()
        tap.contains(place.log(), "there was no catalogue: the demo's is in use now")
        status, answer = place.call("CatalogService/ListChildren")
        tap.equal((status, answer["version"], len(answer["categories"]) >= 12), (200, "1", True))
        tap.equal(place.stop(), 0)
        write(place, "one.json", SMALL)
        tap.equal(place.torg("catalog", "apply", "one.json").returncode, 0)
        place.start()
        status, answer = place.call("CatalogService/ListChildren")
        tap.equal([one["id"] for one in answer["categories"]], ["cars"])
        tap.equal(place.log().count("the demo's is in use now"), 1)
        tap.equal(place.stop(), 0)


@tap.test
def apply_reaches_a_running_server_without_a_restart():
    with Place() as place:
        write(place, "one.json", SMALL)
        write(place, "two.json", changed())
        place.torg("catalog", "apply", "one.json")
        place.start()
        request = {"id": "cars", "language": "en"}
        tap.equal(place.call("CatalogService/GetCategory", request)[1]["name"], "Cars")
        result = place.torg("catalog", "diff", "two.json")
        golden("catalog_diff.txt", result.stdout)
        result = place.torg("catalog", "apply", "two.json")
        tap.equal(result.returncode, 0, result.stderr)
        tap.contains(result.stdout, "version 2 is in use")
        answer = place.call("CatalogService/GetCategory", request)[1]
        tap.equal((answer["name"], answer["version"]), ("Automobiles", "2"))
        result = place.torg("catalog", "apply", str(DEMO), "--expect", "1")
        tap.equal(result.returncode, 1)
        tap.contains(result.stderr, "version 2 of the catalogue is in use, not 1")
        tap.equal(place.torg("catalog", "apply", str(DEMO)).returncode, 0)
        tap.equal(place.stop(), 0)


@tap.test
def a_change_that_breaks_stored_offers_names_them_and_is_held():
    with Place() as place:
        write(place, "one.json", SMALL)
        place.torg("catalog", "apply", "one.json")
        place.start()
        seller = place.torg("key", "create", "shop", "--scope", "offers.write", "--seller",
                            "s-1").stdout.strip()
        content = {"category": "old", "title": "An old car", "condition": "USED",
                   "price": {"amount": "100000", "currency": "RUB"}}
        status, receipt = place.call("OfferService/CreateOffer", {"content": content}, seller)
        tap.equal(status, 200, receipt)
        offer = receipt["id"]
        stricter = copy.deepcopy(SMALL)
        stricter["categories"][0]["overrides"] = [{"id": "mileage", "required": True}]
        write(place, "two.json", stricter)
        # Through the server, and on the directory once it has stopped.
        for running in (True, False):
            if not running:
                tap.equal(place.stop(), 0)
            result = place.torg("catalog", "diff", "two.json")
            tap.contains(result.stdout, "! 1 stored offers of old would break a rule: ")
            tap.contains(result.stdout, f'"Mileage" (mileage) is required here\n    {offer}\n')
            result = place.torg("catalog", "apply", "two.json")
            tap.equal(result.returncode, 1)
            tap.contains(result.stderr, "1 stored offers would break a rule, in 1 categories")
            tap.contains(result.stderr, "by force (--force)")
            tap.contains(result.stderr, offer)
        result = place.torg("catalog", "apply", "two.json", "--force")
        tap.equal(result.returncode, 0, result.stderr)
        tap.contains(result.stdout, "version 2 is in use\n")


@tap.test
def the_service_answers_without_a_key_in_the_language_asked_for():
    with Place() as place:
        place.start()

        def ask(method, message=None, **headers):
            request = urllib.request.Request(
                f"{place.url}/torg.v1.CatalogService/{method}",
                data=json.dumps(message or {}).encode(),
                headers={"Content-Type": "application/json", **headers})
            return fetch(request)

        status, cars = ask("GetCategory", {"id": "cars"})
        tap.equal((status, cars["name"], cars["parent"]), (200, "Легковые автомобили", "transport"))
        tap.equal(ask("GetCategory", {"id": "cars", "language": "en"})[1]["name"], "Cars")
        tap.equal(ask("GetCategory", {"id": "cars"}, **{"Accept-Language": "en-GB,ru;q=0.5"})[1]
                  ["name"], "Cars")
        year = next(one for one in cars["attributes"] if one["id"] == "year")
        tap.equal((year["origin"], year["required"]), ("transport", True))
        tap.equal(cars["policy"]["publish"], "WITH_PHOTO")
        jobs = ask("GetCategory", {"id": "vacancies.it"})[1]
        tap.equal(("SALARY" in jobs["filters"], "CONDITION" in jobs["filters"]), (True, False))
        path = ask("GetPath", {"id": "cars.new", "language": "en"})[1]["categories"]
        tap.equal([one["name"] for one in path], ["Transport", "Cars", "New"])
        below = ask("ListChildren", {"id": "cars"})[1]["categories"]
        tap.equal([one["id"] for one in below], ["cars.used", "cars.new", "cars.retro"])
        found = ask("SearchCategories", {"query": "мобильник", "limit": 1})[1]["matches"]
        tap.equal([(one["category"]["id"], one["path"]) for one in found],
                  [("phones.smartphones", ["Электроника", "Телефоны и связь"])])
        found = ask("SearchCategories", {"query": "jeans", "under": "men"})[1]["matches"]
        tap.equal([one["category"]["id"] for one in found], ["men.trousers"])
        both = {"categories": ["cars", "motorcycles"], "common": True}
        shared = ask("ListAttributes", both)[1]["attributes"]
        tap.equal([one["id"] for one in shared],
                  ["year", "color", "country", "mileage", "power", "fuel"])
        either = ask("ListAttributes", {**both, "common": False})[1]["attributes"]
        vin = next(one for one in either if one["id"] == "vin")
        tap.equal(vin["categories"], ["cars"])
        twice = {"categories": ["cars", "motorcycles", "cars"] * 60}    # told once each
        tap.equal(ask("ListAttributes", twice)[1]["attributes"], either)
        for method, message, wanted in [
                ("GetCategory", {"id": "none"}, 404), ("GetPath", {}, 404),
                ("ListChildren", {"id": "none"}, 404),
                ("SearchCategories", {"query": "x", "under": "none"}, 404),
                ("SearchCategories", {"query": "x", "limit": 101}, 400),
                ("SearchCategories", {"query": "x" * 201}, 400),
                ("ListAttributes", {}, 400), ("ListAttributes", {"categories": ["x"] * 201}, 400),
                ("ListAttributes", {"categories": ["cars", "none"]}, 404)]:
            tap.equal(ask(method, message)[0], wanted, (method, message))
        tap.equal(place.stop(), 0)


@tap.test
def changing_needs_the_scope_and_tells_faults_by_field():
    with Place() as place:
        place.torg("key", "create", "first", "--scope", "admin")
        place.start()
        reader, editor = (place.torg("key", "create", name, "--scope", scope).stdout.strip()
                          for name, scope in [("reader", "search"), ("editor", "catalog")])
        for method in ("CheckCatalog", "DiffCatalog", "ApplyCatalog"):
            message = {"catalog": SMALL}
            tap.equal(place.call(f"CatalogService/{method}", message)[0], 401, method)
            tap.equal(place.call(f"CatalogService/{method}", message, reader)[0], 403, method)
            tap.equal(place.call(f"CatalogService/{method}", {}, editor)[0], 400, method)
            status, answer = place.call(f"CatalogService/{method}", {"catalog": broken()}, editor)
            tap.equal((status, answer["code"]), (400, "invalid_argument"), method)
            tap.equal(set(tap.faults(answer)) >=
                      {"attributes[1].min", "categories[1].parent"}, True, answer)
        tap.equal(place.call("CatalogService/GetCatalog")[0], 401)
        status, whole = place.call_whole("CatalogService/GetCatalog", {}, reader)
        tap.equal((status, whole["version"], whole["appliedBy"]), (200, "1", "local"))
        tap.equal(len(whole["catalog"]["categories"]),
                  len(json.loads(DEMO.read_text())["categories"]))
        # What comes out goes in, and is the same.
        status, answer = place.call("CatalogService/ApplyCatalog", {
            "catalog": whole["catalog"], "expectedVersion": "1"}, editor)
        tap.equal((status, answer["toVersion"]), (200, "1"))
        status, answer = place.call("CatalogService/ApplyCatalog", {
            "catalog": SMALL, "expectedVersion": "9"}, editor)
        tap.equal((status, answer["code"]), (409, "aborted"))
        status, answer = place.call("CatalogService/ApplyCatalog", {
            "catalog": SMALL, "expectedVersion": "1"}, editor)
        tap.equal((status, answer["toVersion"]), (200, "2"))
        status, whole = place.call("CatalogService/GetCatalog", {"version": "2"}, reader)
        tap.equal((whole["appliedBy"], whole["catalog"]), ("editor", without_zeros(SMALL)))
        tap.equal(place.call("CatalogService/GetCatalog", {"version": "3"}, reader)[0], 404)
        tap.equal(place.call("CatalogService/CheckCatalog", {"packed": "AAAA"}, editor)[0], 400)
        tap.equal(place.stop(), 0)


@tap.test
def what_one_server_applies_the_other_follows():
    with Database() as database, Place() as first, Place() as second:
        store = f"--store.url={database.url}"
        first.start("up", store)
        second.start("up", store)
        write(first, "one.json", SMALL)
        result = first.torg("catalog", "apply", "one.json", store)
        tap.equal(result.returncode, 0, result.stderr)
        tap.wait_until(lambda: second.call("CatalogService/ListChildren")[1]["version"] == "2")
        tap.equal((first.stop(), second.stop()), (0, 0))


tap.main()
