# SPDX-License-Identifier: Apache-2.0
"""/openapi.json: a validator sees it, and clients that others' tools make of it work."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import urllib.parse
import urllib.request

from kit import tap
from kit.binary import fetch
from kit.shop import Shop

CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "clients"
ENDED = "all went well\n"


def fetched(name, what):
    """A folder of tools/fetch-test-tools."""
    path = pathlib.Path(os.environ.get("TORG_CACHE", "")) / name
    if path.is_dir():
        return path
    if os.environ.get("TORG_REQUIRE"):
        raise AssertionError(f"{what} is missing: ./dev setup --test fetches it")
    raise tap.Skip(f"NO {what.upper()}: clients made of /openapi.json are not tested")


def save_document(shop, place):
    with urllib.request.urlopen(shop.url + "/openapi.json", timeout=tap.PATIENCE_S) as answer:
        text = answer.read()
    (pathlib.Path(place) / "openapi.json").write_bytes(text)
    return json.loads(text)


def run(*words, **options):
    done = tap.run(*words, **options)
    tap.equal(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
    return done.stdout


@tap.test
def a_validator_accepts_it():
    python = fetched("python", "the Python tools") / "bin/python"
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        document = save_document(shop, place)
        run(python, "-m", "openapi_spec_validator", f"{place}/openapi.json")
    # What the validator cannot know.
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            assert re.search(r"security|operationId", json.dumps(operation)), (path, verb)
    tap.equal(document["servers"], [{"url": "/"}], "where the document was fetched")
    closed = document["paths"]["/torg.v1.OfferService/CreateOffer"]["post"]
    tap.equal("security" in closed, False)
    for path in ("/torg.v1.SearchService/SearchOffers", "/torg.v1.OfferService/GetOffer"):
        tap.equal(document["paths"][path]["post"]["security"], [], path)
        assert document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
    tap.equal(document["paths"]["/v1/photos/{name}"]["get"]["security"], [])
    tap.equal(list(document["paths"]["/torg.v1.FeedService/GetReport"]["post"]["responses"]["200"]["content"]),
              ["application/x-ndjson"])
    for name, schema in document["components"]["schemas"].items():
        for field, value in schema.get("properties", {}).items():
            if "allOf" in value:
                assert "$ref" in value["allOf"][0], f"{name}.{field}: allOf around a plain field"


@tap.test
def resources_have_their_types():
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        paths = save_document(shop, place)["paths"]
    put = paths["/v1/clients/{client}/documents"]["post"]
    tap.equal([one["name"] for one in put["parameters"]], ["client", "key", "types", "format"])
    tap.equal(sorted(put["requestBody"]["content"]), ["application/json", "application/x-ndjson", "text/csv"])
    search = paths["/v1/offers/search"]["get"]
    found = search["responses"]["200"]["content"]["application/json"]["schema"]
    assert {"total", "offers", "cursor"} <= set(found["properties"]), found
    with Shop() as shop:
        # Every parameter that it tells is one, and there is no other.
        for path, key in (("/v1/offers/search", None), ("/v1/clients/shop/search", shop.key("all", scopes=("*",)))):
            listed = paths[path.replace("shop", "{client}")]["get"]["parameters"]
            names = {one["name"] for one in listed if one["in"] == "query"}
            answer = fetch(urllib.request.Request(shop.url + path + "?what=1",
                                                  headers={"Authorization": f"Bearer {key}"} if key else {}))[1]
            tap.equal(names, set(re.search(r"known are ([\w, ]+)", answer["message"]).group(1).split(", ")), path)
    binary = [(path, verb) for path, verbs in paths.items() for verb, operation in verbs.items()
              if list(operation["responses"].get("200", {}).get("content", {})) == ["application/octet-stream"]]
    tap.equal(binary, [("/v1/photos/{name}", "get")])


@tap.test
def reads_of_snippets_are_asked_by_get():
    with Shop() as shop:
        key = shop.key("all", scopes=("*",))
        for method, message, wanted in (("GetSnippets", '{"names": ["none"], "keys": ["1"]}', 200),
                                        ("DescribeSnippets", "{}", 200), ("BeginSnippetLoad", "{}", 405)):
            asked = urllib.parse.urlencode({"connect": "v1", "encoding": "json", "message": message})
            status, answer = fetch(urllib.request.Request(f"{shop.url}/torg.v1.SnippetService/{method}?{asked}",
                                                          headers={"Authorization": f"Bearer {key}"}))
            tap.equal(status, wanted, (method, answer))


@tap.test
def faults_of_resources_have_their_parameter():
    """What a parameter of an address cannot be is told with its name, as of a field."""
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        document = save_document(shop, place)
        key = shop.key("all", scopes=("*",))
        sent = {method: example for method, _, example in examples_of(document)}["DocumentService/PutDocuments"]
        tap.equal(shop.call("DocumentService/PutDocuments", sent, key)[0], 200)

        def ask(path, verb, name, value):
            request = urllib.request.Request(
                f"{shop.url}{path}?{urllib.parse.urlencode({name: value})}", b"[{}]" if verb == "post" else None,
                {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, method=verb.upper())
            return fetch(request)

        tap.wait_until(lambda: ask("/v1/clients/shop/search", "get", "q", "x")[0] != 503)
        wrong, told_of = [], set()
        for path, verbs in document["paths"].items():
            names = [(verb, one["name"]) for verb, operation in verbs.items()
                     for one in operation.get("parameters", []) if one["in"] == "query"]
            names = [] if path.startswith("/torg.v1.") else names + [(verb, "unknown") for verb, _ in names[:1]]
            for verb, name in names:
                for value in ("-1", "x" * 3000, "zz:::", "\0"):
                    status, answer = ask(path.replace("{client}", "shop"), verb, name, value)
                    faults = list(tap.faults(answer)) if status in (400, 429) else [name]
                    told_of |= {(path, name)} if status in (400, 429) else set()
                    if faults != [name] and not re.search("there is no document in it|problems", str(answer)):
                        wrong.append((path, name, value[:10], status, answer))
        tap.equal(wrong, [])
        for name in ("q", "category", "filter", "sort", "near", "limit", "offset", "cursor", "wait", "unknown"):
            tap.equal(("/v1/offers/search", name) in told_of, True, name)
        for name in ("filter", "sort", "limit", "offset", "cursor", "wait", "highlight", "any", "explain", "unknown"):
            tap.equal(("/v1/clients/{client}/search", name) in told_of, True, name)


@tap.test
def a_generated_python_client_works():
    python = fetched("python", "the Python tools") / "bin"
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        save_document(shop, place)
        (pathlib.Path(place) / "made.yaml").write_text("post_hooks: []\n"
                                                       "package_name_override: torg_client\n")
        run(python / "openapi-python-client", "generate", "--path", f"{place}/openapi.json",
            "--output-path", f"{place}/torg_client", "--meta", "none", "--config", f"{place}/made.yaml",
            cwd=place)
        tap.equal(run(python / "python", CLIENTS / "python/client.py", shop.url, shop.alice,
                      env={**os.environ, "PYTHONPATH": place}), ENDED)


@tap.test
def a_generated_typescript_client_works():
    packages = fetched("node/node_modules", "the JavaScript tools")
    node = tap.tool("node")
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        save_document(shop, place)
        shutil.copy(CLIENTS / "node/client.ts", place)
        os.symlink(packages, f"{place}/node_modules")
        run(node, packages / "openapi-typescript/bin/cli.js", "openapi.json", "-o", "schema.d.ts",
            cwd=place)
        (pathlib.Path(place) / "node.d.ts").write_text("declare const process: any;\n")
        (pathlib.Path(place) / "tsconfig.json").write_text(json.dumps({"compilerOptions": {
            "strict": True, "noUncheckedIndexedAccess": True, "skipLibCheck": True, "types": [],
            "module": "esnext", "moduleResolution": "bundler", "target": "es2022",
            "lib": ["es2022", "dom"], "preserveSymlinks": True}, "files": ["client.ts", "node.d.ts"]}))
        run(node, packages / "typescript/bin/tsc", "-p", ".", cwd=place)
        os.rename(f"{place}/client.js", f"{place}/client.mjs")
        tap.equal(run(node, "--preserve-symlinks", "--preserve-symlinks-main", f"{place}/client.mjs",
                      shop.url, shop.alice, cwd=place), ENDED)


# --- what it says of fields, and what the server says of them ---

SLOW = ("InspectService/VerifyStep", "EpochService/StartEpoch")
FAULTS = ("invalid_argument", "out_of_range")


class Hasty(Shop):
    """A search that waits for a write nobody has made is answered soon."""
    words = ("up", "--searcher.deadline=1s")


def fields_of(document, reference):
    schema = document["components"]["schemas"][reference.rsplit("/", 1)[1]]
    return schema.get("properties", {}), schema.get("required", [])


def wrong_values(document, schema, depth=0):
    """Of each kind those that are hardly ever right."""
    kind, shape = schema.get("type"), schema.get("format")
    reference = schema.get("$ref") or schema.get("allOf", [{}])[0].get("$ref")
    if reference and depth < 2:
        fields, _ = fields_of(document, reference)
        return [{}] + [{name: value} for name, field in fields.items()
                       for value in wrong_values(document, field, depth + 1)[:2]]
    if kind == "array":
        items = wrong_values(document, schema["items"], depth + 1)
        return [[items[0]] * 3000] * (depth == 0) + [[item] for item in items] if items else []
    if kind == "string":
        return {"int64": ["-1", "x"], "uint64": ["-1", "x"], "date-time": ["x"], "byte": ["?", "eHg"]}.get(
            shape, ["x" * 5000, "\1", "?!x y"])
    return {"integer": [-1, 2147483647], "number": [-1, 1e300]}.get(kind, [])


def limit_breakers(schema):
    """Values that the document says are refused."""
    if "maxItems" in schema:
        yield [{} if "$ref" in schema["items"] else "x"] * (schema["maxItems"] + 1)
    if "maximum" in schema and schema["maximum"] < 1 << 31:
        yield schema["maximum"] + 1
        if schema["minimum"] == 0 and schema["type"] == "integer":
            yield -1
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "pattern" in schema and schema.get("format") not in ("int64", "uint64"):
        yield "?!x y" * 20
    if "items" in schema:
        yield from ([value] for value in limit_breakers(schema["items"]))


def methods_of(document):
    for path, verbs in document["paths"].items():
        if path.startswith("/torg.v1.") and not path.endswith(SLOW):
            body = verbs["post"]["requestBody"]["content"]["application/json"]
            yield path.removeprefix("/torg.v1."), *fields_of(document, body["schema"]["$ref"])


def fault_of(answer):
    """Of a stream its last line has it."""
    return answer.get("error", answer)


@tap.test
def every_fault_has_its_field():
    with tempfile.TemporaryDirectory() as place, Hasty() as shop:
        document = save_document(shop, place)
        keys = [shop.key("all", scopes=("*",)), shop.alice]
        faults, unnamed = 0, []
        for method, fields, _ in methods_of(document):
            requests = [{}] + [{name: value} for name, field in fields.items()
                               for value in wrong_values(document, field)]
            for request in requests:
                for key in keys:
                    status, answer = shop.call(method, request, key)
                    assert status not in (500, 501), (method, request, answer)
                    fault = fault_of(answer)
                    if fault.get("code") in FAULTS:
                        faults += 1
                        if not tap.faults(fault):
                            unnamed.append((method, str(request)[:60], fault["message"]))
        tap.equal(unnamed, [])
        assert faults > 200, faults
        tap.comment(f"{faults} faults have their field")


@tap.test
def limits_that_it_tells_are_the_servers():
    with tempfile.TemporaryDirectory() as place, Hasty() as shop:
        document = save_document(shop, place)
        key = shop.key("all", scopes=("*",))
        tried, wrong = 0, []
        for method, fields, required in methods_of(document):
            status, answer = shop.call(method, {}, key)
            for name in required:
                tried += 1
                # one fault may be told before the others are looked at
                if status != 400 or not tap.faults(answer):
                    wrong.append((method, f"{name} is required", status, answer))
            for name, field in fields.items():
                for value in limit_breakers(field):
                    broken = {**sample(fields, required), name: value}
                    answers = [shop.call(method, broken, one) for one in (key, shop.alice)]    # some are sellers' alone
                    if answers[0][0] == 404:    # what the request is about was looked for first
                        continue
                    tried += 1
                    if not any(one.split("[")[0].split(".")[0] == name for _, answer in answers
                               for one in tap.faults(fault_of(answer))):
                        wrong.append((method, name, str(value)[:40], answers))
        tap.equal(wrong, [])
        assert tried > 80, tried
        tap.comment(f"{tried} limits were tried")


# --- below the requests' own fields ---

# A draft is kept as it is; formulas have no words to be counted.
UNCHECKED = ("DraftService/SaveDraft", "SearcherService/CountWords")
# What else has to be there, so that the field in question is looked at.
BESIDE = {"Rerank": {"count": 10}, "Facet": {"field": "price", "kind": "RANGES"}, "TextClause": {"text": "x"},
          "FieldValues": {"field": "price"}, "FilterChoice": {"id": "condition", "min": "", "max": ""}}


def schema_of(document, schema):
    """Without the reference, and of which type it was."""
    reference = schema.get("$ref") or schema.get("allOf", [{}])[0].get("$ref")
    name = reference.rsplit("/", 1)[1] if reference else None
    return name, document["components"]["schemas"][name] if name else schema


def misfits(document, schema, value, path=""):
    """What of the value the schema does not allow."""
    _, schema = schema_of(document, schema)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    kind = schema.get("type")
    if kind and not isinstance(value, kinds[kind]):
        return [f"{path} is no {kind}"]
    if kind == "array":
        too_many = [path] if len(value) > schema.get("maxItems", len(value)) else []
        return too_many + [fault for one in value for fault in misfits(document, schema["items"], one, path + "[]")]
    if kind == "string":
        return [path] if (value not in schema.get("enum", [value])
                          or len(value) > schema.get("maxLength", len(value))
                          or not re.search(schema.get("pattern", ""), value)) else []
    if kind != "object":
        return [path] if not schema.get("minimum", 0) <= value <= schema.get("maximum", value) else []
    fields = schema.get("properties", {})
    missing = [f"{path}.{name}" for name in schema.get("required", []) if name not in value]
    return missing + [fault for name, one in value.items()
                      for fault in (misfits(document, fields[name], one, f"{path}.{name}") if name in fields
                                    else [f"{path}.{name} is unknown"])]


def examples_of(document):
    for path, verbs in document["paths"].items():
        if path.startswith("/torg.v1."):
            body = verbs["post"]["requestBody"]["content"]["application/json"]
            yield path.removeprefix("/torg.v1."), body["schema"], body.get("example")


@tap.test
def every_method_has_an_example_that_fits_its_schema():
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        document = save_document(shop, place)
        faults = []
        for method, schema, example in examples_of(document):
            faults += [(method, "has none")] if example is None else \
                [(method, fault) for fault in misfits(document, schema, example)]
        tap.equal(faults, [])


def deeper(document, schema, value, make, seen=()):
    """Each field below the value that has a limit: with something that breaks it, and the request then."""
    name, schema = schema_of(document, schema)
    if name in seen or len(seen) > 6:
        return
    if schema.get("type") == "array":
        if "$ref" in schema["items"] or "allOf" in schema["items"]:
            first = value[0] if value else {}
            yield from deeper(document, schema["items"], first, lambda one: make([one]), seen)
        return
    for field, inner in schema.get("properties", {}).items():
        def remake(one, field=field):
            return make({**value, **BESIDE.get((name or "").rsplit(".", 1)[-1], {}), field: one})

        if name and len(seen) > 0:
            yield from ((name, field, broken, remake(broken)) for broken in limit_breakers(inner))
        yield from deeper(document, inner, value.get(field) or ([] if inner.get("type") == "array" else {}), remake,
                          seen + ((name,) if name else ("",)))


def told(answer):
    """Fields at fault, also of verdicts, without their indexes."""
    fault = fault_of(answer)
    reasons = [reason.get("field", "") for verdict in answer.get("verdicts", [])
               for reason in verdict.get("reasons", [])]
    return {re.sub(r"\[.*?\]", "", name).rsplit(".", 1)[-1] for name in [*tap.faults(fault), *reasons]}


def names_limit(document, name, field, answer):
    """Some are told of the message that the field is in, with the number."""
    schema = document["components"]["schemas"][name]["properties"][field]
    number = schema.get("maxItems", schema.get("maxLength", schema.get("maximum")))
    return re.search(rf"at most {number}\b", fault_of(answer).get("message", ""))


@tap.test
def limits_below_the_requests_fields_are_the_servers():
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
        document = save_document(shop, place)
        keys = [shop.key("all", scopes=("*",)), shop.alice]
        examples = {method: (schema, example) for method, schema, example in examples_of(document)}
        put = examples["DocumentService/PutDocuments"][1]
        status, answer = shop.call("DocumentService/PutDocuments", put, keys[0])
        tap.equal(status, 200, answer)
        # Explain is refused while a shard is being opened, whatever else is wrong.
        wait = [verdict["token"] for verdict in answer["verdicts"]]
        search = {**examples["SearcherService/Search"][1], "wait": wait}
        status, answer = shop.answered("SearcherService/Search", search, keys[0])
        tap.equal(status, 200, answer)
        tried, wrong, neutral = set(), [], []
        for method, (schema, example) in examples.items():
            if method.endswith(SLOW) or method in UNCHECKED:
                continue
            for name, field, broken, request in deeper(document, schema, example, lambda one: one):
                answers = [shop.call(method, request, key) for key in keys]
                if any(field in told(answer) or names_limit(document, name, field, answer) for _, answer in answers):
                    tried.add((name, field))
                elif any(status == 200 and not told(answer) for status, answer in answers):
                    wrong.append((method, name, field, str(broken)[:40], answers))
                else:   # another fault was told first: another method has to show this one
                    neutral.append((name, field, method, answers))
        tap.equal(wrong, [])
        wanted = {(name, field) for name, schema in document["components"]["schemas"].items()
                  for field, inner in schema.get("properties", {}).items()
                  if name in BELOW and any(limit_breakers(inner))}
        tap.equal(wanted - tried, set(), str([one for one in neutral if one[:2] in wanted - tried]))
        tap.comment(f"{len(tried)} limits were tried")


BELOW = {"torg.v1." + name for name in (
    "OfferContent", "OfferProperty", "Photo", "Address", "Contacts", "Query", "QueryStage", "TextClause",
    "FieldValues", "Sort", "Rerank", "Facet", "Highlight", "RawDocument", "RawField", "FieldChange", "SchemaField",
    "FilterChoice", "Event")}


def sample(fields, required):
    """Something for what has to be there, so that the field in question is looked at."""
    kinds = {"string": "4721-0985-1360-2278", "array": [], "integer": 1}
    return {name: "1" if fields[name].get("format") == "int64" else kinds[fields[name]["type"]]
            for name in required if fields[name].get("type") in kinds}


tap.main()
