# SPDX-License-Identifier: Apache-2.0
"""Columns from outside: made in Python or by torg column build from exported numbers, loaded and dropped without a
restart, used in formulas, sorts, filters and facets, refused with the reason, across shards, epochs and kills."""
import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import time

from kit import column, tap
from kit.binary import Place
from kit.bicycles import Bicycles, document

COUNT = 300
PATIENTLY = ("--wait", f"{tap.PATIENCE_S}s")
KILLS = 4


class Client(Bicycles):
    def __init__(self, *options):
        super().__init__(COUNT, *options)

    def __enter__(self):
        super().__enter__()
        tap.wait_until(lambda: self.search({"limit": 0})[0] == 200 and
                       self.total({"limit": 0}) == COUNT, what="all documents")
        return self

    def torg(self, *words, code=0):
        told = self.place.torg(*words)
        tap.equal(told.returncode, code, told.stdout + told.stderr)
        return told.stdout if code == 0 else told.stderr

    def search(self, stage, **more):
        return self.place.call("SearcherService/Search", {"query": {"stages": [stage]}, "deadlineMs": 60000, **more},
                               self.place.start_key)

    def found(self, stage, **more):
        status, answer = self.search(stage, **more)
        tap.equal(status, 200, answer)
        return answer["answer"]["stages"][0]

    def answers(self):
        return self.search({"limit": 0, "sorts": [{"field": "price"}]})[0] == 200

    def total(self, stage, **more):
        return int(self.found({"limit": 0, **stage}, **more).get("total", 0))

    def keys(self, stage, **more):
        return [hit["pk"] for hit in self.found({"limit": 100, **stage}, **more).get("hits", [])]

    def numbers(self, shard=0, *options):
        """Exported: ((T, S, V, G), {pk: number}, the file)"""
        name, table = f"{shard}.numbers", f"{self.place.dir}/{shard}.csv"
        self.torg("numerator", "export", "--shard", str(shard), *options, name)
        told = self.torg("numerator", "inspect", name, "--docs-table", table)
        version = told.split("version")[1].split()[0]
        with open(table, encoding="utf-8") as file:
            docs = {row["pk"]: int(row["doc_id"]) for row in csv.DictReader(file)}
        return tuple(int(one) for one in version.split(".")), docs, name

    def write(self, name, numbers, docs, value, shard=0, count=None, **options):
        """A file with value(pk) for each document."""
        values = [None] * (count or max(docs.values(), default=-1) + 1)
        for pk, number in docs.items():
            values[number] = value(pk)
        column.write(f"{self.place.dir}/{name}", numbers, values, shard=shard, **options)
        return name

    def load(self, *files, **options):
        return self.torg("column", "load", *PATIENTLY, *files, **options)

    def columns(self):
        return json.loads(self.torg("column", "list", "--json")).get("columns", [])


def score(pk):
    number = int(pk.split("-")[1])
    return None if number % 10 == 3 else (number * 37 % 101 - 50) / 100


def scored(low=-9.0):
    return sorted((f"bike-{i}" for i in range(COUNT) if score(f"bike-{i}") is not None and score(f"bike-{i}") >= low),
                  key=lambda pk: -score(pk))


def check_queries(client, docs):
    """Filter, sort, formula, facet, what is shown and explained, beside plain Python."""
    above = {"range": {"field": "x.score", "min": "0.25"}}
    tap.equal(client.total({"filter": above}), len(scored(.25)))
    tap.equal(client.total({"filter": {"exists": "x.score"}}), len(scored()))
    order = sorted(scored(), key=lambda pk: (-score(pk), docs[pk]))[:50]
    tap.equal(client.keys({"limit": 50, "sorts": [{"field": "x.score", "descending": True}]}), order)
    wanted = sorted(docs, key=lambda pk: (-(2 * (score(pk) or 0) + int(pk[5:]) / 1000), docs[pk]))[:50]
    tap.equal(client.keys({"limit": 50, "sorts": [{"formula": "default(x.score, 0) * 2 + price / 1000"}]}), wanted)
    stage = client.found({"limit": 1, "filter": above, "show": ["x.score"],
                          "facets": [{"field": "x.score", "kind": "MIN_MAX", "seesOwnFilter": True}]})
    values = [score(pk) for pk in scored(.25)]
    tap.equal((float(stage["facets"][0]["min"]), float(stage["facets"][0]["max"])), (min(values), max(values)))
    shown = stage["hits"][0]
    tap.equal(float(shown["fields"][0]["values"][0]), score(shown["pk"]))
    told = client.ok("SearcherService/Explain", {"query": {"stages": [{"filter": above}]}, "pk": order[0]})
    tap.contains(json.dumps(told), "x.score")


@tap.test
def a_column_made_in_python_is_used_at_once():
    with Client() as client:
        status, answer = client.search({"sorts": [{"field": "x.score"}]})
        tap.equal(status, 400, answer)
        numbers, docs, _ = client.numbers()
        name = client.write("score.0.column", numbers, docs, score, count=COUNT + 50, digits=2)
        # Numbers that nobody has yet have values, too: those of whoever had them when the file was made.
        values = column.read(f"{client.place.dir}/{name}")[3]
        column.write(f"{client.place.dir}/{name}", numbers, values[:COUNT] + [7.77] * 50, digits=2)
        tap.contains(client.load(name), f"x.score: {COUNT + 50} numbers, made from {'.'.join(map(str, numbers))}")
        check_queries(client, docs)
        young = client.put(document(5000))
        tap.equal(client.total({"filter": {"exists": "x.score"}}, wait=young), len(scored()))
        tap.equal(client.total({"filter": {"in": {"field": "x.score", "values": ["7.77"]}}}), 0)
        tap.equal(client.keys({"filter": {"range": {"field": "price", "min": "5000"}}}), ["bike-5000"])
        client.put({"pk": "bike-5000", "version": 2, "event": "DELETE"})
        tap.wait_until(lambda: client.total({}) == COUNT, what="it to be gone")
        listed, = client.columns()
        tap.equal((listed["name"], listed["digits"], listed["epochs"], listed["fitsServing"], listed["readyCount"]),
                  ("score", 2, ["1"], True, 1), listed)
        tap.contains(client.torg("column", "list"), "1 of 1")
        for number in signal.SIGTERM, signal.SIGKILL:
            client.place.stop(number)
            client.place.start("up", *client.options)
            tap.wait_until(client.answers, what="a search")
            check_queries(client, docs)                     # it is there as soon as the shard is
        client.load(client.write("score.0.column", numbers, docs, lambda pk: .5, digits=2))
        tap.equal(client.total({"filter": {"in": {"field": "x.score", "values": ["0.5"]}}}), COUNT)
        tap.contains(client.torg("column", "drop", "score"), "x.score is dropped")
        tap.wait_until(lambda: client.search({"sorts": [{"field": "x.score"}]})[0] == 400, what="the drop")
        tap.wait_until(lambda: not os.listdir(f"{client.place.data}/columns"), what="its files to go")
        tap.contains(client.torg("column", "drop", "score", code=4), "has no column")
        tap.contains(client.torg("column", "list"), "has no columns")
        tap.contains(client.torg("audit"), "column.load")
        client.torg("verify")


@tap.test
def values_by_key_become_values_by_number():
    with Client("--registry.shards", "2") as client:
        parts = [client.numbers(shard) for shard in (0, 1)]
        files = [file for _, _, file in parts]
        everyone = {**parts[0][1], **parts[1][1]}
        tap.equal(len(everyone), COUNT)
        lines = "".join(json.dumps({"pk": pk, "clicks": "" if score(pk) is None else str(score(pk))}) + "\n"
                        for pk in everyone)
        client.place.write("values.jsonl", lines + json.dumps({"pk": "nobody", "clicks": "1"}) + "\n")
        build = ("column", "build", "--values", "values.jsonl", "--value-column", "clicks", "--digits", "2")
        told = client.torg(*build, "--output", "score", *files)
        tap.contains(told, f"{len(scored())} values, {COUNT - len(scored())} empty, 1 of keys without a number")
        for shard, (numbers, docs, _) in enumerate(parts):
            read = column.read(f"{client.place.dir}/score.{shard}.column")
            tap.equal(read[:3], (numbers, shard, 2))
            tap.equal({pk: read[3][number] for pk, number in docs.items()}, {pk: score(pk) for pk in docs})
        tap.contains(client.torg(*build, "--output", "score", files[0], code=2), "no numbers of shard 1")
        tap.contains(client.torg(*build, "--output", "score", files[0], files[0], code=2), "both of shard 0")
        (client.place.dir / "copy.numbers").write_bytes((client.place.dir / files[1]).read_bytes())
        tap.contains(client.torg(*build, "--output", "score", files[1], "copy.numbers", code=2),
                     f"{files[1]} and copy.numbers are both of shard 1")
        client.place.write("bad.csv", "pk,value\nbike-1,many\n")
        tap.contains(client.torg("column", "build", "--values", "bad.csv", "--output", "bad", *files, code=2),
                     'value "many": expected a number')
        tap.contains(client.load("score.0.column", code=2), "2 shards: give a file for each")
        client.load("score.1.column", "score.0.column")
        check = {pk: number for _, docs, _ in parts for pk, number in docs.items()}
        tap.equal(client.total({"filter": {"range": {"field": "x.score", "min": "0.25"}}}), len(scored(.25)))
        got = client.keys({"sorts": [{"formula": "x.score"}], "limit": 100})
        tap.equal([score(pk) for pk in got], [score(pk) for pk in scored()[:100]], check)
        tap.equal(client.columns()[0]["readyCount"], 2)


def refused(client, file, part, *options, code=1):
    tap.contains(client.torg("column", "load", *options, file, code=code), part)


@tap.test
def what_does_not_fit_or_is_broken_is_refused_with_the_reason():
    with Client() as client:
        numbers, docs, _ = client.numbers()
        kind, scheme, rebuild, generation = numbers
        good = client.write("good.0.column", numbers, docs, score, digits=2)
        with open(f"{client.place.dir}/{good}", "rb") as file:
            whole = file.read()

        def spoil(name, data):
            with open(f"{client.place.dir}/{name}", "wb") as file:
                file.write(data)
            return name

        refused(client, spoil("short.column", whole[:-1]), "bytes, and")
        refused(client, spoil("torn.column", whole[:100]), "not the file of a column")
        refused(client, spoil("bad.column", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]), "checksum differs")
        refused(client, spoil("long.column", whole + b"\0"), "bytes, and")
        refused(client, "missing.column", "missing.column", code=4)
        other = client.write("v.column", (kind, scheme, rebuild + 1, 1), docs, score, digits=2)
        refused(client, other, f"it was made from the numbers {kind}.{scheme}.{rebuild + 1}.1")
        other = client.write("t.column", (kind + 1, scheme, rebuild, 1), docs, score)
        refused(client, other, f"and client default has {kind}.{scheme}.{rebuild}")
        other = client.write("g.column", (kind, scheme, rebuild, generation + 1), docs, score)
        refused(client, other, f"of generation {generation + 1}, and the numbers have {generation}")
        refused(client, client.write("s.column", numbers, docs, score, shard=1), "which there is not", code=2)
        refused(client, good, "is not that of a column", "--name", "Bad Name", code=2)
        refused(client, good, "a letter first", "--name", "1st", code=2)
        tap.equal(client.columns(), [])
        blobs = f"{client.place.data}/blobs"
        tap.equal([name for _, _, files in os.walk(f"{blobs}/columns") for name in files], [])   # nothing is left
        client.load("--name", "good", good)
        refused(client, client.write("d.column", numbers, docs, score, digits=3), "2 digits after the point, and this "
                "one 3", "--name", "good")
        client.put({"pk": "bike-1", "version": 2, "fields": [{"name": "x.mine", "integer": 1}]})
        refused(client, good, "have a field x.mine of their own", "--name", "mine")
        for i in range(31):
            client.torg("column", "load", "--name", f"n{i}", good)
        refused(client, good, "32 columns, which is the limit", "--name", "more")


@tap.test
def a_column_belongs_to_its_numbers():
    with Client() as client:
        numbers, docs, _ = client.numbers()
        client.load("--name", "score", client.write("old.column", numbers, docs, score, digits=2))
        client.put(*({"pk": f"bike-{i}", "version": 2, "event": "DELETE"} for i in range(0, COUNT, 2)))
        client.torg("epoch", "start", "--renumber")
        client.torg("epoch", "switch", *PATIENTLY)
        told = client.torg("column", "list")
        tap.contains(told, "does not fit: it does not fit epoch 2, which serves and has the numbers")
        formula = {"sorts": [{"formula": "default(x.score, 5) + price / 1000"}], "limit": 1}
        tap.wait_until(lambda: client.search(formula)[0] == 200, what="the name in the new epoch")
        tap.equal(client.total({"filter": {"exists": "x.score"}}), 0)               # nobody has a value there
        tap.equal(client.total({"filter": {"exists": "x.score"}}, epoch=1), sum(
            score(f"bike-{i}") is not None for i in range(1, COUNT, 2)))            # in the old one they have
        tap.contains(client.torg("column", "load", "--name", "late", "old.column"), "does not fit epoch 2")
        client.torg("column", "drop", "late")
        fresh, docs, _ = client.numbers()
        tap.equal(fresh[2], numbers[2] + 1)
        client.load("--name", "score", client.write("new.column", fresh, docs, score, digits=2))
        check = [score(pk) for pk in docs if score(pk) is not None]
        tap.equal(client.total({"filter": {"exists": "x.score"}}), len(check))
        tap.equal([one.get("epochs") for one in client.columns()], [["1"], ["2"]])
        client.torg("epoch", "drop")
        tap.wait_until(lambda: [one.get("epochs") for one in client.columns()] == [["2"]],
                       what="the old one to go with its numbers")
        tap.equal(client.total({"filter": {"exists": "x.score"}}), len(check))


def number(client, offers, output, *options):
    """A run of a batch over these bicycles; the state, and the table of all its keys."""
    client.place.write("offers.csv", "pk\n" + "".join(f"bike-{one}\n" for one in offers))
    client.torg("numerator", "run", "--input-offers-table", "offers.csv", "--output-state-table", output, *options)
    told = client.torg("numerator", "inspect", output, "--docs-table", "docs.csv")
    return told, (client.place.dir / "docs.csv").read_text()


def build(client, state, *bikes):
    client.place.write("values.csv", "pk,value\n" + "".join(f"bike-{one},{one}\n" for one in bikes))
    client.torg("column", "build", "--values", "values.csv", "--output", "x", state)
    return "x.0.column"


def scores(client):
    return {pk: client.keys({"filter": {"in": {"field": "x.score", "values": [str(pk)]}}}) for pk in range(1, 6)}


@tap.test
def states_that_went_their_own_ways_are_told_apart():
    """Both have given a number in the same generation of the same T.S.V, to different bicycles."""
    client = Client()
    with Place() as client.place:
        number(client, [1], "1.numbers")
        client.torg("numerator", "import", "1.numbers")
        client.place.start("up")
        client.put(document(1))
        tap.wait_until(lambda: client.answers() and client.total({}) == 1, what="the first")
        client.put(document(2))
        tap.wait_until(lambda: client.total({}) == 2, what="the second")
        (_, _, _, generation), docs, _ = client.numbers()
        tap.equal((generation, docs), (2, {"bike-1": 0, "bike-2": 1}))
        told, table = number(client, [1, 3], "2.numbers", "--input-state-table", "1.numbers")
        tap.contains(told, "version  1.1.0.2")
        tap.contains(table, "bike-3,0,1,2")                 # as bike-2 has
        again, _ = number(client, [1, 3], "again.numbers", "--input-state-table", "1.numbers")
        tap.equal(again, told, "the same run is the same state")
        refused(client, build(client, "2.numbers", 1, 3), "has gone its own way", "--name", "score")
        tap.equal(client.columns(), [])
        client.load("--name", "score", build(client, "1.numbers", 1))
        tap.equal(scores(client), {1: ["bike-1"], 2: [], 3: [], 4: [], 5: []})
        client.load("--name", "score", build(client, "0.numbers", 1, 2))        # as it was exported
        tap.equal(scores(client), {1: ["bike-1"], 2: ["bike-2"], 3: [], 4: [], 5: []})


@tap.test
def servers_that_go_on_from_one_state_are_told_apart():
    """Both go on with the numbers that one has exported, and give the next one to different bicycles."""
    first, second = Client(), Client()
    with Place() as first.place, Place() as second.place:
        first.place.start("up")
        first.put(document(1))
        tap.wait_until(lambda: first.answers() and first.total({}) == 1, what="the first")
        _, _, state = first.numbers()
        shutil.copy(first.place.dir / state, second.place.dir / "taken.numbers")
        old = (first.place.dir / build(first, state, 1)).read_bytes()
        second.torg("numerator", "import", "taken.numbers")
        second.place.start("up")
        first.put(document(3))
        tap.wait_until(lambda: first.total({}) == 2, what="the third")
        for one in (1, 2):
            second.put(document(one))
            tap.wait_until(lambda one=one: second.answers() and second.total({}) == one, what="one more")
        (*_, generation), docs, state = first.numbers()
        tap.equal((second.numbers()[0][3], docs), (generation, {"bike-1": 0, "bike-3": 1}))
        (second.place.dir / "new.0.column").write_bytes((first.place.dir / build(first, state, 1, 3)).read_bytes())
        (second.place.dir / "old.0.column").write_bytes(old)
        refused(second, "new.0.column", "has gone its own way", "--name", "score")
        second.load("--name", "score", "old.0.column")
        tap.equal(scores(second), {1: ["bike-1"], 2: [], 3: [], 4: [], 5: []})


@tap.test
def a_run_on_exported_numbers_makes_columns_for_others():
    client = Client()
    with Place() as client.place:
        client.place.start("up")
        client.put(document(1))
        tap.wait_until(lambda: client.answers() and client.total({}) == 1, what="the first")
        client.put(document(2))
        tap.wait_until(lambda: client.total({}) == 2, what="the second")
        (_, _, _, generation), docs, state = client.numbers()
        tap.equal(docs, {"bike-1": 0, "bike-2": 1})
        _, table = number(client, [1, 4], "run.numbers", "--input-state-table", state)
        tap.contains(table, f"bike-4,0,2,{generation + 1}")
        tap.contains(table, "bike-2,0,1,")                  # it was away once: its number is not given away
        client.put(document(5))
        tap.wait_until(lambda: client.total({}) == 3, what="the third")
        tap.equal(client.numbers()[0][3], generation + 1)
        refused(client, build(client, "run.numbers", 1, 4), "has gone its own way", "--name", "score")
        _, table = number(client, [1, 2, 5], "same.numbers", "--input-state-table", state)
        client.torg("numerator", "run", "--input-offers-table", "offers.csv", "--input-state-table", "0.numbers",
                    "--output-state-table", "known.numbers")        # brings nothing new, and is the same numbers
        client.load("--name", "score", build(client, "known.numbers", 1, 2, 5))
        tap.equal(scores(client), {1: ["bike-1"], 2: ["bike-2"], 3: [], 4: [], 5: ["bike-5"]})


@tap.test
def a_kill_leaves_the_old_or_the_new():
    seed = random.randrange(1 << 30)
    print(f"# seed {seed}")
    draw = random.Random(seed)
    with Client() as client:
        numbers, docs, _ = client.numbers()
        for value in (0, 1):
            client.write(f"{value}.column", numbers, docs, lambda pk, value=value: value, count=1 << 18, width=8)
        client.load("--name", "same", "0.column")

        def counts():
            return [client.total({"filter": {"in": {"field": "x.same", "values": [str(value)]}}}) for value in (0, 1)]

        for i in range(1, KILLS + 1):
            client.torg("column", "load", "--name", "same", f"{i % 2}.column")
            time.sleep(draw.random() * 0.3)                 # anywhere in the fetch, or behind it
            client.place.stop(signal.SIGKILL)
            client.place.start("up", *client.options)
            tap.wait_until(client.answers, what="a search")
            got = counts()
            tap.equal(got in ([COUNT, 0], [0, COUNT]), True, got)                   # never some of each, nor none
            wanted = [0, COUNT] if i % 2 else [COUNT, 0]
            tap.wait_until(lambda wanted=wanted: counts() == wanted, what="the load that was acknowledged")
        names = os.listdir(f"{client.place.data}/columns")
        tap.equal(len(names), 1, names)                     # no draft, no older load
        with sqlite3.connect(f"file:{client.place.data}/store.sqlite?mode=ro", uri=True) as base:
            tap.equal(base.execute("SELECT COUNT(*) FROM outside_column").fetchone(), (1,))


tap.main()
