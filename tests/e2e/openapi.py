# SPDX-License-Identifier: Apache-2.0
"""/openapi.json: a validator sees it, and clients that others' tools make of it work."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import urllib.request

from kit import tap
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
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
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
    with tempfile.TemporaryDirectory() as place, Shop() as shop:
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
                    status, answer = shop.call(method, {**sample(fields, required), name: value}, key)
                    if status == 404:    # what the request is about was looked for first
                        continue
                    tried += 1
                    fault = fault_of(answer)
                    if not any(one.split("[")[0].split(".")[0] == name for one in tap.faults(fault)):
                        wrong.append((method, name, str(value)[:40], status, fault))
        tap.equal(wrong, [])
        assert tried > 80, tried
        tap.comment(f"{tried} limits were tried")


def sample(fields, required):
    """Something for what has to be there, so that the field in question is looked at."""
    kinds = {"string": "4721-0985-1360-2278", "array": [], "integer": 1}
    return {name: "1" if fields[name].get("format") == "int64" else kinds[fields[name]["type"]]
            for name in required if fields[name].get("type") in kinds}


tap.main()
