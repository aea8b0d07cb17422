# SPDX-License-Identifier: Apache-2.0
"""A shard's directory looked into without a server: torg index query, torg index inspect.

index.py INDEX_FILL: the program that makes the directory (index_fill.c says what is in it).
"""
import base64
import fcntl
import json
import pathlib
import re
import shutil
import sys
import tempfile

from kit import tap
from kit.binary import TOP, torg

FILL = sys.argv.pop(1)
PLACE = tempfile.TemporaryDirectory(prefix="torg-index-")
BAZAAR = pathlib.Path(PLACE.name) / "bazaar"


def fill(path, count):
    result = tap.run(FILL, path, str(count))
    tap.equal(result.returncode, 0, result.stderr)
    return path


def run(query, *words, directory=BAZAAR):
    text = query if isinstance(query, str) else json.dumps(query, ensure_ascii=False)
    return torg("index", "query", str(directory), text, *words)


def ask(stage, base=None):
    """The answer to one stage."""
    query = {"stages": [stage], **({"baseFilter": base} if base else {})}
    result = run(query, "--json")
    tap.equal(result.returncode, 0, result.stderr)
    return json.loads(result.stdout)["stages"][0]


def ids(stage, base=None):
    return [hit["id"] for hit in ask(stage, base).get("hits", [])]


def by_filter(condition):
    return ids({"filter": condition})


def refused(query, *parts, code=2):
    result = run(query)
    tap.equal((result.returncode, result.stdout), (code, ""), result.stderr)
    tap.equal(result.stderr.count("\n"), 1, result.stderr)
    for part in parts:
        tap.contains(result.stderr, part)


def in_stage(**stage):
    return {"stages": [stage]}


def files_of(directory):
    """All but the lock, which holds the number of the process that had it last."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and path.name != "lock")


# Text.

@tap.test
def a_line_means_words_phrases_minus_prefixes_and_typos():
    tap.equal(sorted(ids({"text": "велосипед"})), [1, 2, 7])
    tap.equal(ids({"text": "!велосипеды"}), [2])
    tap.equal(sorted(ids({"text": "велосипед -детский"})), [1, 7])
    tap.equal(ids({"text": '"road bike"'}), [3])
    tap.equal(ids({"text": '"bike road"'}), [])
    tap.equal(ids({"text": "пис*"}), [8])
    tap.equal(ids({"text": "телефан~"}), [5])
    tap.equal(ids({"text": "велосипед диван"}), [])
    tap.equal(sorted(ids({"text": "велосипед диван", "anyWord": True})), [1, 2, 4, 7])
    tap.equal(ids({"text": "iphone 128gb"}), [5])


@tap.test
def clauses_name_their_fields_and_kinds():
    tap.equal(ids({"clauses": [{"text": "телефон", "fields": ["body"]}]}), [5])
    tap.equal(ids({"clauses": [{"text": "iphone", "fields": ["body"]}]}), [])
    tap.equal(ids({"text": "велосипед", "clauses": [{"text": "горный", "occur": "NOT"}],
                   "sorts": [{"field": "price"}]}), [2, 1])
    tap.equal(sorted(ids({"clauses": [{"text": text, "occur": "SHOULD"}
                                      for text in ("велосипед", "горный", "ремонт")],
                          "shouldMin": 2})), [7])
    heavy, light = ({"clauses": [{"text": "диван", "occur": "SHOULD", "boost": boost},
                                 {"text": "шины", "occur": "SHOULD"}]} for boost in (9, 0.1))
    tap.equal((ids(heavy), ids(light)), ([4, 6], [6, 4]))


@tap.test
def parts_of_tied_words_are_enough_where_not_all_are_needed():
    def parts(text, **more):
        return sorted(ids({"text": text, "anyWord": True, "tiedParts": True, **more}))

    tap.equal(sorted(ids({"text": "кожаный-стол", "anyWord": True})), [])
    tap.equal(parts("кожаный-стол"), [4, 8])
    tap.equal(parts("iphone16"), [5])                   # the number alone finds nothing ...
    tap.equal(parts("x15"), [])                         # ... and a letter neither
    for text in ("road-bike", "road-bike велосипед", "iphone15 шины", "wi-fi диван"):
        whole, some = ids({"text": text}), parts(text, notAll=True)
        tap.equal(sorted(whole + some), parts(text), text)
        tap.equal(len(set(whole) & set(some)), 0, text)
    alone = ids({"text": "кожаный-стол", "tiedParts": True})        # all words are needed: all of them, side by side
    tap.equal(alone, [])
    many = "-".join(["стол"] * 80)                      # more than a query has room for: they are left out
    tap.equal(parts(many), [])


@tap.test
def numbers_may_count_less_than_words():
    def first(text, boost):
        return ids({"text": text, "anyWord": True, "numberBoost": boost})[0]

    tap.equal((first("велосипед 16", 0.01), first("велосипед 16", 9)), (2, 6))
    tap.equal((first("велосипед 128гб", 0.01), first("велосипед 128гб", 9)), (2, 5))
    refused(in_stage(text="диван", numberBoost=-1), "numberBoost")


# Filters.

@tap.test
def filters_of_every_kind_read_values_by_the_type_of_their_field():
    tap.equal(by_filter({"in": {"field": "seller", "values": ["boris", "gleb", "nobody"]}}),
              [3, 5, 6])
    tap.equal(by_filter({"in": {"field": "tags", "values": ["gift"]}}), [2, 7])
    tap.equal(by_filter({"in": {"field": "price", "values": ["5500", "7000"]}}), [2, 7])
    tap.equal(by_filter({"in": {"field": "weight", "values": ["14.50", "7.2"]}}), [1, 3])
    tap.equal(by_filter({"in": {"field": "used", "values": ["false"]}}), [1, 3, 8])
    tap.equal(by_filter({"range": {"field": "price", "min": "18000", "max": "60000"}}), [4, 5, 6])
    tap.equal(by_filter({"range": {"field": "weight", "max": "7.2"}}), [3, 5])
    tap.equal(by_filter({"range": {"field": "date", "min": "2026-11-06"}}), [6, 7])
    tap.equal(by_filter({"range": {"field": "date", "max": "2026-11-02"}}), [1, 2])
    tap.equal(by_filter({"range": {"field": "date", "min": "2026-11-07T03:00:00+03:00",
                                   "max": "2026-11-07T00:00:00Z"}}), [7])
    tap.equal(by_filter({"not": {"exists": "price"}}), [8])
    tap.equal(by_filter({"subtree": {"field": "category", "values": ["transport/cars", "home"]}}),
              [4, 6, 8])
    tap.equal(by_filter({"box": {"field": "point",
                                 "southWest": {"latitude": 55.6, "longitude": 37},
                                 "northEast": {"latitude": 55.77, "longitude": 38}}}), [1, 4, 6])
    tap.equal(by_filter({"radius": {"field": "point", "meters": 5000,
                                    "center": {"latitude": 55.79, "longitude": 37.61}}}), [1, 6, 7])
    cheap = {"range": {"field": "price", "max": "10000"}}
    vera = {"in": {"field": "seller", "values": ["vera"]}}
    tap.equal(by_filter({"or": {"of": [cheap, vera]}}), [2, 4, 7, 8])
    tap.equal(by_filter({"and": {"of": [cheap, {"not": {"in": {"field": "tags",
                                                               "values": ["urgent"]}}}]}}), [2])
    tap.equal(by_filter({"or": {}}), [])
    tap.equal(len(by_filter({"and": {}})), 8)


# Order and pages.

@tap.test
def hits_are_sorted_reranked_and_capped():
    tap.equal(ids({"sorts": [{"field": "price"}]}), [2, 7, 1, 6, 4, 5, 3, 8])
    tap.equal(ids({"sorts": [{"field": "price", "descending": True}]}), [3, 5, 4, 6, 1, 7, 2, 8])
    tap.equal(ids({"sorts": [{"field": "point", "from": {"latitude": 55.75, "longitude": 37.6}}],
                   "limit": 3}), [1, 6, 7])
    tap.equal(ids({"sorts": [{"field": "seller"}, {"field": "price", "descending": True}]}),
              [1, 7, 2, 3, 5, 6, 4, 8])
    tap.equal(ids({"text": "велосипед", "sorts": [{"formula": "score * 0 - price"}]}), [2, 7, 1])
    tap.equal(ids({"sorts": [{"field": "price"}],
                   "rerank": {"formula": "weight", "count": 3}}), [7, 1, 2, 6, 4, 5, 3, 8])
    tap.equal(ids({"sorts": [{"field": "price"}], "cap": {"field": "seller", "count": 1}}),
              [2, 6, 4, 5])


@tap.test
def a_cursor_goes_through_all_pages_and_knows_its_query():
    box = fill(pathlib.Path(PLACE.name) / "boxes", 108)
    stage = {"text": "box", "limit": 17, "sorts": [{"field": "price", "descending": True}]}
    found = []
    while True:
        result = run(in_stage(**stage), "--json", directory=box)
        tap.equal(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)["stages"][0]
        tap.equal(answer["total"], "100")
        found += [hit["id"] for hit in answer["hits"]]
        if "cursor" not in answer:
            break
        stage["cursor"] = answer["cursor"]
    tap.equal(found, list(range(108, 8, -1)))
    result = run(in_stage(**{**stage, "text": "empty"}), directory=box)
    tap.equal(result.returncode, 2)
    tap.contains(result.stderr, "cursor: belongs to another query")
    result = run(in_stage(text="box", limit=17), directory=box)
    shown = re.search(r'next page: "cursor": "([^"]+)"', result.stdout)[1]
    result = run(in_stage(text="box", limit=90, cursor=shown), directory=box)
    tap.contains(result.stdout, "100 hits, 83 shown")
    offset = run(in_stage(text="box", offset=98, limit=9, noTotal=True), "--json", directory=box)
    answer = json.loads(offset.stdout)["stages"][0]
    tap.equal((len(answer["hits"]), "total" in answer), (2, False))


# Facets and what is shown.

@tap.test
def facets_count_values_ranges_trees_and_ends():
    answer = ask({"filter": {"in": {"field": "seller", "values": ["anna"]}}, "limit": 0, "facets": [
        {"field": "seller", "limit": 2},
        {"name": "own", "field": "seller", "seesOwnFilter": True},
        {"field": "price", "kind": "RANGES", "bounds": ["0", "7000", "20000"]},
        {"name": "weights", "field": "weight", "kind": "MIN_MAX"},
        {"name": "days", "field": "date", "kind": "MIN_MAX"},
        {"field": "category", "kind": "TREE"},
        {"field": "used"}]})
    tap.equal((answer["total"], "hits" in answer), ("3", False))
    facets = {facet["name"]: facet for facet in answer["facets"]}
    counts = {name: [(value["value"], value["count"]) for value in facet.get("values", [])]
              for name, facet in facets.items()}
    tap.equal(counts["seller"], [("anna", "3"), ("boris", "2")])
    tap.equal(facets["seller"]["otherCount"], "2")
    tap.equal(counts["own"], [("anna", "3")])
    tap.equal(facets["price"]["values"], [{"value": "0", "count": "1", "below": "7000"},
                                          {"value": "7000", "count": "2", "below": "20000"}])
    tap.equal((facets["weights"]["min"], facets["weights"]["max"]), ("9.80", "15.75"))
    tap.equal((facets["days"]["min"], facets["days"]["max"]),
              ("2026-11-01T00:00:00Z", "2026-11-07T00:00:00Z"))
    tap.equal(counts["category"], [("transport", "3"), ("transport/bikes", "3")])
    tap.equal(counts["used"], [("true", "2"), ("false", "1")])


@tap.test
def shown_fields_are_written_by_type_and_words_are_marked():
    hit = ask({"text": "городские", "show": ["*"],
               "highlight": {"before": "[", "after": "]"}})["hits"][0]
    tap.equal({field["name"]: field["values"] for field in hit["fields"]}, {
        "title": ["Городской велосипед Форвард"],
        "body": ["Почти новый, рама 19 дюймов, тормоза дисковые"], "seller": ["anna"],
        "tags": ["new", "urgent"], "category": ["transport/bikes"], "price": ["12000"],
        "weight": ["14.50"], "date": ["2026-11-01T00:00:00Z"], "used": ["false"],
        "point": ["55.7512, 37.6184"], "note": ["звонить вечером"]})
    tap.equal(hit["highlights"][0],
              {"name": "title", "values": ["[Городской] велосипед Форвард"]})
    hit = ask({"text": "ремонт", "show": ["price", "title", "note"],
               "highlight": {"fields": ["body"], "escapeHtml": True}})["hits"][0]
    tap.equal([field["name"] for field in hit["fields"]], ["price", "title"])
    tap.equal(hit["highlights"], [{"name": "body", "values": [
        "Горный велосипед, требует <b>ремонта</b> &lt;срочно&gt;"]}])


@tap.test
def stages_share_a_base_filter():
    query = {"baseFilter": {"subtree": {"field": "category", "values": ["transport"]}},
             "stages": [{"name": "page", "text": "велосипед", "show": ["title"]},
                        {"name": "all", "limit": 0}]}
    answer = json.loads(run(query, "--json").stdout)
    tap.equal([(stage["name"], stage["total"]) for stage in answer["stages"]],
              [("page", "3"), ("all", "5")])
    tap.equal(answer["offset"], "8")
    text = run(query).stdout
    tap.contains(text, "page: 3 hits, 3 shown:")
    tap.contains(text, "all: 5 hits, 0 shown")


@tap.test
def a_table_is_aligned_and_safe_on_a_terminal():
    result = run(in_stage(text="стол", show=["title", "seller", "price"]))
    lines = result.stdout.splitlines()
    tap.equal(lines[0], "1 hit, 1 shown:")
    tap.equal(re.sub(r"\d+\.\d{3}", "S.SSS", "\n".join(lines[2:4])),
              "id  score  title            seller  price\n8   S.SSS  Стол письменный  vera    ")
    tap.equal(bool(re.fullmatch(r"\d+\.\d{3} ms", lines[-1])), True, lines)


# Why.

def outline(result):
    tap.equal(result.returncode, 0, result.stderr)
    return result.stdout.splitlines()


@tap.test
def explain_tells_of_hits_and_misses_as_a_tree():
    query = in_stage(text="велосипед -детский",
                     filter={"and": {"of": [{"range": {"field": "weight", "max": "15"}},
                                            {"range": {"field": "date", "min": "2026-11-01"}}]}})
    lines = outline(run(query, "--explain", "1"))
    tap.equal(lines[0], "+ document 1 is a hit")
    tap.equal(all(line.lstrip().startswith("+") for line in lines), True, lines)
    lines = outline(run(query, "--explain", "7"))
    tap.equal(lines[0], "- document 7 is not a hit")
    tap.contains("\n".join(lines), "    - weight is from any to 15.00: it is 15.75")
    tap.contains("\n".join(lines), "    + date is from 2026-11-01T00:00:00Z to any: it is 2026-11-07")
    lines = outline(run(query, "--explain=2"))
    tap.contains("\n".join(lines), '- must not have word "детский": it has')
    lines = outline(run(query, "--explain", "4294967295"))
    tap.contains("\n".join(lines), "  - the index does not have the document")
    tree = json.loads(run(query, "--explain", "7", "--json").stdout)
    tap.equal(("holds" in tree, tree["text"]), (False, "document 7 is not a hit"))
    result = run(query, "--explain", "seven")
    tap.equal(result.returncode, 2)
    tap.contains(result.stderr, '--explain: "seven" is not the number of a document')


# What is refused.

@tap.test
def a_bad_query_is_refused_with_the_path_to_its_cause():
    refused('{"stages": [', "JSON")
    refused('{"stages": [{"txt": "bike"}]}', "stages[0].txt")
    refused({}, "stages: 0 of them; expected 1 to 8")
    refused(in_stage(filter={"in": {"field": "prize", "values": ["1"]}}),
            'stages[0].filter.in.field: there is no field "prize"')
    deep = {"and": {"of": [{"exists": "price"}, {"range": {"field": "price", "min": "cheap"}}]}}
    refused(in_stage(filter={"not": deep}),
            'stages[0].filter.not.and.of[1].range.min: "cheap" cannot be of field "price": '
            "it is an integer")
    refused(in_stage(filter={"range": {"field": "weight", "max": "1.234"}}),
            "filter.range.max", "at most 2 digits")
    refused(in_stage(filter={"range": {"field": "date", "max": "2026-02-30"}}), "it is a date")
    refused(in_stage(filter={"in": {"field": "used", "values": ["true", "yes"]}}),
            "filter.in.values[1]", "true or false")
    refused(in_stage(filter={"range": {"field": "seller", "min": "a"}}),
            'range.field: field "seller" is a keyword')
    refused(in_stage(filter={"exists": "title"}), 'filter.exists: field "title" is a text')
    refused(in_stage(filter={}), "filter: an empty filter")
    refused(in_stage(filter={"exists": "price", "in": {}}), "filter")
    refused(in_stage(filter={"radius": {"field": "point", "meters": 1}}), "center: a point")
    refused(in_stage(filter={"radius": {"field": "point", "meters": 1, "center":
                                        {"latitude": 91}}}), "is not a place on earth")
    refused({"baseFilter": {"exists": "x"}, "stages": [{}]}, "baseFilter.exists: there is no")
    refused({"stages": [{}, {"sorts": [{"field": "tags"}]}]}, "stages[1].sorts[0].field", "multiple")
    refused(in_stage(sorts=[{"field": "price", "relevance": True}]), "sorts[0]: expected exactly one")
    refused(in_stage(sorts=[{"formula": "price +"}]), "formula")
    refused(in_stage(clauses=[{"text": "x", "fields": ["seller"]}]), "clauses[0].fields[0]")
    refused(in_stage(clauses=[{"text": "x", "kind": "NEARLY"}]), "clauses[0].kind")
    refused(in_stage(facets=[{"field": "price"}]), "facets[0].field", "RANGES")
    refused(in_stage(facets=[{"field": "price", "kind": "RANGES", "bounds": ["2", "1"]}]),
            "facets[0].bounds[1]: bounds must ascend")
    refused(in_stage(show=["title", "*"]), 'show[1]: there is no field "*"')
    refused(in_stage(show=["title", "price", "title"]), 'show[2]: field "title" is named twice')
    refused(in_stage(sorts=[{"formula": "prize"}]), 'stages[0]: sort.formula: byte 1: "prize"')
    refused(in_stage(highlight={"fields": ["price"]}), "highlight.fields[0]", "texts")
    for side in ("before", "after"):
        refused(in_stage(highlight={side: "x" * 65}), f"stages[0].highlight.{side}: 65 bytes",
                "at most 64", "short tag", code=1)
    refused(in_stage(highlight={"fragmentCount": 33}), "highlight.fragmentCount", code=1)
    refused(in_stage(cap={"field": "tags", "count": 1}), "cap.field", "multiple keyword")
    refused(in_stage(limit=10001), "stages[0].limit", "cursor", code=1)
    refused(in_stage(text="x" * 9000), "stages[0].text", code=1)
    refused(in_stage(cursor=base64.b64encode(b"nonsense").decode()), "cursor")


@tap.test
def an_answer_that_would_be_too_large_is_refused():
    boxes = fill(pathlib.Path(PLACE.name) / "many", 10008)
    stage = {"text": "box", "limit": 10000, "show": ["*"],
             "highlight": {"before": "<" * 64, "after": ">" * 64}}
    result = run({"stages": [stage] * 8}, directory=boxes)
    tap.equal((result.returncode, result.stdout), (1, ""))
    tap.contains(result.stderr, "]: what is shown of the hits has more than 33554432 bytes")
    result = run({"stages": [{**stage, "limit": 5}] * 8}, directory=boxes)
    tap.equal(result.stdout.count("10000 hits, 5 shown"), 8, result.stderr)


@tap.test
def filters_nested_too_deep_are_refused():
    tree = {"exists": "price"}
    for _ in range(16):
        tree = {"not": tree}
    refused(in_stage(filter=tree), "nested deeper than 16", code=1)
    tap.equal(by_filter(tree["not"]), [8])


@tap.test
def a_directory_that_is_no_shard_or_is_damaged_is_refused_by_name():
    with tempfile.TemporaryDirectory(prefix="torg-index-") as place:
        place = pathlib.Path(place)
        for command in ("query", "inspect"):
            words = [in_stage()] if command == "query" else []
            result = torg("index", command, str(place / "none"), *map(json.dumps, words))
            tap.equal(result.returncode, 4, result.stderr)
            tap.contains(result.stderr, "there is no shard in")
            tap.equal((place / "none").exists(), False)
        names = [path.relative_to(BAZAAR) for path in files_of(BAZAAR) if path.stat().st_size]
        tap.equal(len(names) > 5, True, names)
        for number, name in enumerate(names):
            copy = place / str(number)
            shutil.copytree(BAZAAR, copy)
            data = bytearray((copy / name).read_bytes())
            data[len(data) // 2] ^= 0x10
            (copy / name).write_bytes(data)
            result = torg("index", "inspect", "--check", str(copy))
            tap.equal(result.returncode, 1, f"{name}: {result.stdout}{result.stderr}")
            tap.contains(result.stderr, str(name))
        (copy / "shard").write_bytes(b"nonsense")
        result = run(in_stage(), directory=copy)
        tap.equal(result.returncode, 1, result.stdout)
        tap.contains(result.stderr, f"{copy}/shard")


@tap.test
def a_directory_in_use_is_left_alone():
    with open(BAZAAR / "lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = run(in_stage())
        tap.equal(result.returncode, 5, result.stderr)
        tap.contains(result.stderr, "a server has it open")


@tap.test
def looking_changes_nothing():
    def state():
        return {path: path.read_bytes() for path in files_of(BAZAAR)}
    before = state()
    tap.equal(len(ids({})), 8)
    result = torg("index", "inspect", str(BAZAAR), "--json")
    tap.equal(json.loads(result.stdout)["documents"], 8)
    tap.equal(state() == before, True)


# The page that explains all this.

def steady(text):
    """Lines without what every run has its own of."""
    text = re.sub(r'[\d.]+ ms\n|"microseconds":"\d+"|"cursor": "[^"]+"', "", text)
    return [line.rstrip() for line in text.splitlines()]


@tap.test
def the_examples_of_the_document_give_what_it_says():
    document = (TOP / "docs/query-language.md").read_text()
    examples = re.findall(r"```console\n\$ torg index query bazaar '(.*?)'( --\S+( \d+)?)?\n(.*?)```",
                          document, re.S)
    tap.equal(len(examples) >= 8, True, f"{len(examples)} examples")
    for query, option, _, wanted in examples:
        result = run(query, *option.split())
        tap.equal(steady(result.stdout + result.stderr), steady(wanted), query)


fill(BAZAAR, 8)
tap.main()
