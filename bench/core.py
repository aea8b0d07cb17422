#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
"""core.py [DOCUMENTS] [--engines a,b] [--fresh] [--quick] [--picture FILE] - the index core beside
Tantivy, Lucene, SQLite FTS5 and PostgreSQL.

One run, the same generated listings, the same queries; engines take turns every twenty queries, each
times itself, and what they answer is compared. docs/core-bench.md says what is measured and how to
read it. Listings and indexes are kept in TORG_CACHE and used again; the results lie beside them.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "bench" / "peers"))
import check        # noqa: E402
import engines      # noqa: E402
import report       # noqa: E402

BUILD = pathlib.Path(os.environ.get("TORG_BUILD") or TOP / "build-bench")
CACHE = pathlib.Path(os.environ.get("TORG_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "torg"))
FORMAT = 2              # of the listings: another number makes them anew
SEED = 1
BATCH = 20              # queries before it is the next engine's turn
RATE = 5000             # changes a second
PICTURE = TOP / "docs" / "core.svg"
PICTURE_DOCUMENTS = 1000000     # fewer are a trial: not for the docs unless asked for
OWN_DOCUMENTS = 200000  # for the run in which each engine does its own analysis
FACETS = "category,brand,city,condition,delivery"
MIX = ("top10_and", "top10_or", "count_and", "page")    # while changes come in


def say(text):
    print(f"bench core: {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("documents", nargs="?", type=int, default=1000000)
    parser.add_argument("--engines", default=",".join(engines.NAMES))
    parser.add_argument("--fresh", action="store_true", help="make the indexes anew")
    parser.add_argument("--quick", action="store_true",
                        help="few queries, once: only whether the answers agree")
    parser.add_argument("--picture", default=None, help="where to draw the table; docs/core.svg for a million")
    return parser.parse_args()


class Pace:
    """How long everything takes."""
    rounds = 5
    warm_seconds = 4            # on all classes before the first
    warm_seconds_lucene = 20    # ... in which the JVM compiles
    class_warm_seconds = 1
    class_seconds = 4           # of an engine and class; who has used them up sits out the rest
    load_seconds = 10
    load_seconds_max = 25       # for engines that cannot take so many changes
    query_count = 1000          # of a class, at most

    def hurry(self):
        self.rounds, self.query_count = 1, 40
        self.warm_seconds = self.warm_seconds_lucene = self.class_warm_seconds = 0
        self.load_seconds, self.load_seconds_max = 1, 30


PACE = Pace()


# The listings and the queries.

def change_count(documents):
    return min(RATE * Pace.load_seconds, documents // 2)


def corpus(documents):
    """The folder of the listings; made once."""
    folder = CACHE / "bench-core" / f"{documents}-{SEED}-{FORMAT}"
    if not (folder / "meta").exists():
        say(f"writing {documents} listings")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            subprocess.run([BUILD / "bench" / "peers" / "bench-core-corpus", scratch, str(documents),
                            str(SEED), str(change_count(documents))], check=True)
            for each in sorted(pathlib.Path(scratch).iterdir(), key=lambda path: path.name == "meta"):
                each.rename(folder / each.name)         # meta last: then all is there
    return folder


def ask_line(**parts):
    return "query\t" + "\t".join(f"{name}={value}" for name, value in parts.items() if value != "")


def classes(folder):
    """name: lines of queries, by class; shuffled, so that whoever stops early has had a sample."""
    sets = {}
    for line in (folder / "queries.tsv").read_text().splitlines():
        kind, frequency, stems, forms, category, low, high, condition = line.split("\t")
        words = {"words": stems, "forms": forms, "class": frequency}
        filters = {"category": category, "price": f"{low}..{high}", "condition": condition}
        page = {"top": 20, "total": 1, "facets": FACETS}

        def put(name, **parts):
            sets.setdefault(name, []).append(ask_line(**parts))

        if kind == "single":
            put("top10_word", op="and", **words, fields="text", top=10)
        elif kind == "pair":
            for op in ("and", "or"):
                put(f"top10_{op}", op=op, **words, top=10)
                put(f"top10_{op}_text", op=op, **words, fields="text", top=10)
                put(f"count_{op}", op=op, **words, total=1)
                put(f"top100_{op}", op=op, **words, top=100, total=1)
        elif kind == "phrase":
            put("top10_phrase", op="phrase", **words, top=10)
            put("count_phrase", op="phrase", **words, total=1)
        elif kind == "page":
            sort = "price" if len(sets.get("page", ())) % 2 else "date"
            put("page", op="and", **words, **filters, sort=sort, **page)
        else:
            put("browse", **filters, sort="date", **page)
    for name, lines in sets.items():
        random.Random(name).shuffle(lines)
    return {name: sets[name][:PACE.query_count] for name in report.CLASSES if name in sets}


def class_of(line):
    """How frequent the words are; empty for a query without."""
    return dict(word.split("=", 1) for word in line.split("\t")[1:]).get("class", "")


# Making indexes.

def fingerprint(files):
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def make_index(engine, folder, analysis, limit, key, fresh):
    """Figures of the index in folder/index-ENGINE-ANALYSIS; made unless it is there."""
    place = folder / f"index-{engine.name}-{analysis}"
    kept = folder / f"index-{engine.name}-{analysis}.json"
    if not fresh and place.exists() and kept.exists() and engine.name != "postgres":
        figures = json.loads(kept.read_text())
        if figures["key"] == key and figures["documents"] == limit:
            return figures
    kept.unlink(missing_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    source = "tokens.tsv" if analysis == "tokens" and engine.name != "torg" else "raw.tsv"
    say(f"{engine.name} indexes {limit} documents ({source})")
    engine.start()
    cpu = engine.cpu_s()
    answer = engine.ask(f"index\tdir={place}\tcorpus={folder / source}\tanalysis={analysis}"
                        f"\tlimit={limit}")
    figures = {"key": key, "documents": limit, "wall_s": int(answer["ns"]) / 1e9,
               "cpu_s": engine.cpu_s() - cpu, "segments": int(answer.get("segments", 0)),
               "memory": engine.memory()[0], "disk": engines.disk_bytes(place)}
    if engine.name == "postgres":
        engine.ask("open")
        figures["disk"] = int(engine.ask("sizes")["disk"])
    engine.stop()
    kept.write_text(json.dumps(figures))
    return figures


# Measuring.

def take_turns(crowd, lines, seconds, keep):
    """Batches in turn; keep(engine, number of the query, answer) sees every answer."""
    used = dict.fromkeys((engine.name for engine in crowd), 0)
    for start in range(0, len(lines), BATCH):
        turn = start // BATCH % len(crowd)
        for engine in crowd[turn:] + crowd[:turn]:
            if used[engine.name] > seconds:
                continue
            begin = time.monotonic()
            for i, answer in enumerate(engine.ask_all(lines[start:start + BATCH])):
                keep(engine.name, start + i, answer)
            used[engine.name] += time.monotonic() - begin
    return used


def warm(engine, sets):
    """Some of every class, again and again, for the engine's time."""
    end = time.monotonic() + (PACE.warm_seconds_lucene if engine.name == "lucene"
                              else PACE.warm_seconds)
    start = 0
    while time.monotonic() < end:
        for lines in sets.values():
            engine.ask_all([lines[(start + i) % len(lines)] for i in range(BATCH)])
            if time.monotonic() > end:
                break
        start += BATCH


def measure(crowd, sets):
    """times[class][engine]: ns of each query; answers[class][number][engine]: the last answer."""
    times, answers = {}, {}
    for name, lines in sets.items():
        say(f"{name}: {len(lines)} queries")
        times[name] = {engine.name: [] for engine in crowd}
        answers[name] = {}
        if PACE.class_warm_seconds:
            take_turns(crowd, lines, PACE.class_warm_seconds, lambda *_: None)

        def keep(engine, number, answer, name=name):
            times[name][engine].append((number, int(answer["ns"])))
            answers[name].setdefault(number, {})[engine] = answer

        active = list(crowd)
        for _ in range(PACE.rounds):
            used = take_turns(active, lines, PACE.class_seconds / PACE.rounds, keep)
            active = [each for each in active if used[each.name] <= PACE.class_seconds / PACE.rounds]
            if not active:
                break
    return times, answers


def run_mix(engine, lines, until):
    """Queries one after the other until the condition holds; their ns."""
    found = []
    number = 0
    while not until():
        for answer in engine.ask_all([lines[(number + i) % len(lines)] for i in range(5)]):
            found.append(int(answer["ns"]))
        number += 5
    return found


def under_changes(engine, place, folder, sets, documents):
    """Latency idle and while changes come in, and what attribute-only changes reach."""
    lines = [line for name in MIX for line in sets[name][:100]]
    random.Random(7).shuffle(lines)
    work = place
    kind = "raw" if engine.name == "torg" else "tokens"
    changes = folder / f"changes.{kind}.tsv"
    count = min(RATE * PACE.load_seconds, change_count(documents))
    if engine.name != "postgres":
        work = place.with_name(place.name + "-work")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(place, work)
    try:
        engine.start()
        engine.ask(f"open\tdir={work}")
        end = time.monotonic() + PACE.warm_seconds
        run_mix(engine, lines, lambda: time.monotonic() > end)
        end = time.monotonic() + PACE.load_seconds
        idle = run_mix(engine, lines, lambda: time.monotonic() > end)
        engine.ask(f"change\tfile={changes}\trate={RATE}\tlimit={count}"
                   f"\tseconds={PACE.load_seconds_max}")
        limit = time.monotonic() + PACE.load_seconds_max
        busy = run_mix(engine, lines, lambda: int(engine.ask("applied")["applied"]) >= count
                       or time.monotonic() > limit)
        done = engine.ask("wait")
        figures = {"idle": idle, "busy": busy, "applied": int(done["applied"]),
                   "rate": int(done["applied"]) / (int(done["ns"]) / 1e9)}
        engines.wait_for_quiet(engine)
        figures["after"] = [] if figures["applied"] < count else engine.ask_all(
            [line for name in MIX for line in sets[name][-30:]])
        engine.ask(f"rank\tfile={changes}\tlimit={count}\tseconds={PACE.load_seconds}")
        done = engine.ask("wait")
        figures["rank_rate"] = int(done["applied"]) / (int(done["ns"]) / 1e9)
        return figures
    finally:
        engine.stop()
        if work != place:
            shutil.rmtree(work, ignore_errors=True)


# All of it.

def crowd_of(names, log_folder):
    """The engines that are there."""
    found, keys, versions = [], {}, {}
    for name in names:
        try:
            argv, files, version = engines.command(name, BUILD, CACHE)
        except engines.Missing as reason:
            say(f"without {name}: {reason}")
            continue
        found.append(engines.Engine(name, argv, log_folder / f"{name}.log"))
        keys[name] = fingerprint(files)
        versions[name] = version
    return found, keys, versions


def main():
    options = arguments()
    if options.quick:
        PACE.hurry()
    folder = corpus(options.documents)
    meta = dict(line.split("=") for line in (folder / "meta").read_text().splitlines())
    crowd, keys, versions = crowd_of(options.engines.split(","), folder)
    if not crowd:
        sys.exit("bench core: no engine is there")
    results = {"documents": options.documents, "meta": meta, "versions": versions, "index": {},
               "own": {}, "memory": {}, "changes": {}, "engines": [each.name for each in crowd]}
    for engine in crowd:
        results["index"][engine.name] = make_index(engine, folder, "tokens", options.documents,
                                                   keys[engine.name], options.fresh)
        if engine.name in ("tantivy", "lucene"):
            results["own"][engine.name] = make_index(
                engine, folder, "own", min(options.documents, OWN_DOCUMENTS), keys[engine.name],
                options.fresh)
    sets = classes(folder)
    try:
        for engine in crowd:
            engines.forget(folder / f"index-{engine.name}-tokens")
            engine.start().ask(f"open\tdir={folder}/index-{engine.name}-tokens")
            warm(engine, sets)
        times, answers = measure(crowd, sets)
        for engine in crowd:
            results["memory"][engine.name] = engine.memory()
            if engine.name == "torg":
                results["structures"] = engine.ask("sizes")
    finally:
        for engine in crowd:
            engine.stop()
    results["times"] = times
    results["classes"] = {name: [class_of(line) for line in lines] for name, lines in sets.items()}
    problems = check.compare(answers)
    after = {}
    for engine in crowd:
        say(f"{engine.name}: {RATE} changes a second")
        figures = under_changes(engine, folder / f"index-{engine.name}-tokens", folder, sets,
                                options.documents)
        if figures["after"]:
            after[engine.name] = figures["after"]
        else:
            say(f"{engine.name} did not take all changes: not compared afterwards")
        del figures["after"]
        results["changes"][engine.name] = figures
    problems += check.compare_after(after)
    problems += engines.bad_ends
    results["problems"] = problems
    (folder / "results.json").write_text(json.dumps(results))
    report.show(results)
    picture = options.picture
    if not picture and options.documents >= PICTURE_DOCUMENTS and not options.quick:
        picture = PICTURE
    if picture:
        pathlib.Path(picture).write_text(report.picture(results))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
