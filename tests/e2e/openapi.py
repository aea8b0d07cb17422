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


tap.main()
