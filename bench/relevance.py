#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: postgres
"""relevance.py [--quick] [--sets a,b] [--engines a,b] [--without a,b] [--show N] - is what is meant found, and first?

Judged searches: Medlars and CISI (public; TORG_RELEVANCE_DATA names their folder), `hardware` (made-up titles of
a hardware shop, with queries that name a thing and some of its properties), `store` and `store-kept` (a larger shop
whose things share their words; the two halves of its queries: one to look at, one that is only measured), `demo`
(offers of `torg demo`; one is known and asked for with words dropped, added, misspelt, in another order, as synonyms,
in other units). The same titles and texts are searched by SearchOffers of the release binary, SQLite FTS5 (BM25, any
word; fts5-porter: stems), Tantivy (BM25, any word and all, tantivy-stem: stems; tools/fetch-bench-tools builds it) and
PostgreSQL (ts_rank, any word).

One table: nDCG@10, MRR, recall@50, the share of queries that found nothing, milliseconds a query. --quick: Torg and
FTS5 alone, fewer queries. --without spelling,synonyms: Torg without them. --show: the queries on which Torg is furthest
behind FTS5.
"""
import argparse
import collections
import contextlib
import csv
import json
import math
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TOP / "bench" / "relevance"), str(TOP / "bench" / "peers")]
import engines      # noqa: E402
import sets         # noqa: E402

BUILD = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench"))
TORG = os.environ.get("TORG_BIN", str(BUILD / "torg"))
CACHE = pathlib.Path(os.environ.get("TORG_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "torg"))
DATA = pathlib.Path(os.environ.get("TORG_RELEVANCE_DATA", TOP.parent / "shared" / "data" / "relevance"))
DEPTH = 50
START_SECONDS = 300
LEARN_SECONDS = 30
ACTIVE, WAITING = 2, 8     # presets of the cabinet
CATALOG = {
    "defaults": {"policy": {"publish": "AT_ONCE", "currencies": ["RUB"], "price": "ALLOWED", "titleMin": 1,
                            "titleMax": 500, "descriptionMax": 16000, "lifetimeDays": 30}},
    "categories": [{"id": "goods", "name": {"ru": "Товары", "en": "Goods"}}],
}


def say(text):
    print(f"bench relevance: {text}", file=sys.stderr, flush=True)


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}


# Engines: fill with (id, title, text), then ask for ids.

class Server:
    """torg in a folder of its own."""

    def __init__(self, *words):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="torg-relevance-"))
        with open(self.dir / "out", "w") as out, open(self.dir / "log", "w") as log:
            self.process = subprocess.Popen(
                [TORG, words[0], f"--data={self.dir}/data", "--listen=127.0.0.1:0", "--log.level=warn",
                 *words[1:]],
                cwd=self.dir, env=environment(), stdout=out, stderr=log)
        self.wait(lambda: (self.dir / "data" / "server.url").exists(), "its address")
        self.url = (self.dir / "data" / "server.url").read_text().strip()

    def wait(self, ready, what):
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"bench relevance: waited for {what} in vain: {(self.dir / 'log').read_text()}")
            time.sleep(.1)

    def torg(self, *words):
        done = subprocess.run([TORG, *words, f"--data={self.dir}/data"], cwd=self.dir, env=environment(),
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"bench relevance: torg {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def call(self, body):
        request = urllib.request.Request(f"{self.url}/torg.v1.SearchService/SearchOffers",
                                         data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def total(self):
        try:
            return int(self.call({"limit": 1, "onlyOffers": True}).get("total", 0))
        except OSError:
            return -1

    def count_offers(self, preset):
        """Of all sellers."""
        with contextlib.closing(sqlite3.connect(f"file:{self.dir}/data/store.sqlite?mode=ro", uri=True)) as base:
            return base.execute("select count(*) from user_offer_presets where preset_id = ?",
                                (preset,)).fetchone()[0]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.dir)


class Torg:
    without = ()        # settings of search that are off

    def __init__(self):
        self.server = None
        self.numbers = None

    @classmethod
    def flags(cls):
        return [f"--search.{name}=false" for name in cls.without]

    def fill(self, docs):
        self.server = Server("up", "--operator-listen=", "--feeds.guard_share=100", *self.flags())
        (self.server.dir / "catalog.json").write_text(json.dumps(CATALOG))
        self.server.torg("catalog", "apply", "catalog.json", "--force")
        with open(self.server.dir / "feed.jsonl", "w") as file:
            for number, title, text in docs:
                file.write(json.dumps({"id": number, "category": "goods", "title": title[:490], "price": 100,
                                       **({"description": text} if text else {})}, ensure_ascii=False) + "\n")
        self.server.torg("feed", "import", "--seller", "s", "--quiet", "--report", "rows.csv", "feed.jsonl")
        with open(self.server.dir / "rows.csv", newline="") as file:
            self.numbers = {row["offer_id"]: row["external_id"] for row in csv.DictReader(file)}
        self.server.wait(lambda: self.server.total() >= len(docs), "the offers")
        self.learnt(docs)

    def learnt(self, docs):
        """Waits until spelling has learnt the titles: one of their words, misspelt, is put right."""
        if "spelling" in self.without:
            return
        counts = collections.Counter(word for _, title, _ in docs for word in WORD.findall(title)
                                     if len(word) > 7 and word.isalpha())
        words = [word[:4] + word[5] + word[4] + word[6:] for word, _ in counts.most_common(5)]
        deadline = time.monotonic() + LEARN_SECONDS
        while time.monotonic() < deadline:
            if any("corrected" in self.server.call({"text": word}) for word in words):
                return
            time.sleep(.2)
        say("spelling corrects nothing")

    def serve(self, server, docs):
        """A server that is full."""
        self.server, self.numbers = server, {}
        self.learnt(docs)

    def ask(self, text):
        answer = self.server.call({"text": text.encode()[:400].decode(errors="ignore"), "limit": DEPTH,
                                   "onlyOffers": True})
        return [self.numbers.get(each["id"], each["id"]) for each in answer.get("offers", [])]

    def stop(self):
        if self.server:
            self.server.stop()


WORD = re.compile(r"\w+")


class Fts5:
    def __init__(self, tokenizer="unicode61"):
        self.tokenizer = tokenizer

    def fill(self, docs):
        self.base = sqlite3.connect(":memory:")
        self.base.execute("create virtual table doc using fts5(id unindexed, title, text,"
                          f" tokenize='{self.tokenizer}')")
        self.base.executemany("insert into doc values (?, ?, ?)", docs)

    def ask(self, text):
        line = " OR ".join(f'"{word}"' for word in WORD.findall(text))
        if not line:
            return []
        return [row[0] for row in self.base.execute(
            "select id from doc where doc match ? order by bm25(doc, 0, 3, 1) limit ?", (line, DEPTH))]

    def stop(self):
        pass


def stemmer():
    """Russian and English stems of words, by Snowball."""
    try:
        import snowballstemmer
    except ImportError as missing:
        raise LookupError(str(missing)) from missing
    russian, english = (snowballstemmer.stemmer(each) for each in ("russian", "english"))
    return lambda words: [(english if word.isascii() else russian).stemWord(word) for word in words]


class Tantivy:
    """BM25 over words as they stand, or over their stems, by the peer of bench core; any word, or all."""

    def __init__(self, op="or", is_stemmed=False):
        self.op = op
        self.stem = stemmer() if is_stemmed else None
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="torg-relevance-"))
        try:
            argv = engines.command("tantivy", BUILD, CACHE)[0]
        except engines.Missing as missing:
            raise LookupError(str(missing)) from missing
        self.engine = engines.Engine("tantivy", argv, self.dir / "log").start()

    def words(self, text):
        words = WORD.findall(text.lower())
        return " ".join(self.stem(words) if self.stem else words)

    def fill(self, docs):
        self.ids = [doc[0] for doc in docs]
        with open(self.dir / "corpus", "w") as file:
            for place, (_, title, text) in enumerate(docs):
                file.write("\t".join((str(place), self.words(title), self.words(text), "goods", "b", "c", "s", "1", "1",
                                      "new", "no")) + "\n")
        self.engine.ask(f"index\tdir={self.dir}/index\tcorpus={self.dir}/corpus\tanalysis=tokens")
        self.engine.ask(f"open\tdir={self.dir}/index")

    def ask(self, text):
        words = self.words(text)
        if not words:
            return []
        answer = self.engine.ask(f"query\top={self.op}\twords={words}\tforms={words}\ttop={DEPTH}")
        return [self.ids[int(hit.split(":")[0])] for hit in answer.get("hits", "").split(",") if hit]

    def stop(self):
        self.engine.stop()
        shutil.rmtree(self.dir)


class Postgres:
    def __init__(self):
        self.url = os.environ.get("TORG_TEST_POSTGRES")
        if not self.url:
            raise LookupError("no server: TORG_TEST_POSTGRES is not set")

    def psql(self, text):
        done = subprocess.run(["psql", self.url, "-qAtX", "-v", "ON_ERROR_STOP=1", "-f", "-"], input=text,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"bench relevance: psql: {done.stderr}")
        return done.stdout

    @staticmethod
    def quoted(text):
        return "'" + text.replace("'", "''").replace("\0", "") + "'"

    def fill(self, docs):
        rows = ",\n".join(f"({self.quoted(a)},{self.quoted(b)},{self.quoted(c)})" for a, b, c in docs)
        self.psql("set standard_conforming_strings = on; drop table if exists bench_relevance;"
                  "create table bench_relevance (id text, title text, body text);"
                  f"insert into bench_relevance values {rows};"
                  "alter table bench_relevance add words tsvector;"
                  "update bench_relevance set words ="
                  " setweight(to_tsvector('russian', title), 'A') || to_tsvector('russian', body);"
                  "create index on bench_relevance using gin (words);")

    def ask_all(self, queries):
        lines = []
        for number, text in queries:
            words = " | ".join(WORD.findall(text.replace("'", " "))) or "nothing"
            lines.append(f"select {self.quoted(number)} || E'\\t' || id from bench_relevance,"
                         f" to_tsquery('russian', {self.quoted(words)}) q where words @@ q"
                         f" order by ts_rank(words, q, 1) desc, id limit {DEPTH};")
        found = collections.defaultdict(list)
        for line in self.psql("\n".join(lines)).splitlines():
            number, document = line.split("\t")
            found[number].append(document)
        return found

    def stop(self):
        self.psql("drop table if exists bench_relevance;")


ENGINES = {"torg": Torg, "fts5": Fts5, "fts5-porter": lambda: Fts5("porter unicode61"), "tantivy": Tantivy,
           "tantivy-all": lambda: Tantivy("and"), "tantivy-stem": lambda: Tantivy(is_stemmed=True),
           "postgres": Postgres}


# Figures.

def gain(grade):
    return 2 ** grade - 1


def figures(queries, grades, found):
    ndcg = reciprocal = recall = empty = 0
    count = 0
    for number, _ in queries:
        right = grades.get(number, {})
        if not right:
            continue
        count += 1
        ids = found[number]
        empty += not ids
        best = sum(gain(grade) / math.log2(i + 2) for i, grade in enumerate(sorted(right.values(), reverse=True)[:10]))
        ndcg += sum(gain(right.get(each, 0)) / math.log2(i + 2) for i, each in enumerate(ids[:10])) / best
        reciprocal += next((1 / (i + 1) for i, each in enumerate(ids) if each in right), 0)
        recall += sum(each in right for each in ids[:DEPTH]) / min(len(right), DEPTH)
    return [value / max(1, count) for value in (ndcg, reciprocal, recall, empty)]


def ask_all(engine, queries):
    if hasattr(engine, "ask_all"):
        return engine.ask_all(queries)
    return {number: engine.ask(text) for number, text in queries}


def show(made, found, other, count):
    """The queries on which Torg is furthest behind."""
    rows = []
    for query in made.queries:
        mine = figures([query], made.grades, found)[0]
        theirs = figures([query], made.grades, other)[0]
        rows.append((mine - theirs, mine, theirs, query))
    titles = {doc[0]: doc[1] for doc in made.docs}
    for difference, mine, theirs, query in sorted(rows)[:count]:
        print(f"  {mine:.2f} (FTS5 {theirs:.2f}) {query[0]}: {query[1]}")
        for each in found[query[0]][:3]:
            print(f"      {made.grades[query[0]].get(each, 0)} {titles.get(each, '?')}")
        for each in other[query[0]][:2]:
            print(f"      FTS5 {made.grades[query[0]].get(each, 0)} {titles.get(each, '?')}")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", default="med,cisi,hardware,store,store-kept,demo")
    parser.add_argument("--engines", default="")
    parser.add_argument("--without", default="")
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    return parser.parse_args()


def demo_set(query_count, options):
    """(the set, the demo that has it)"""
    server = Server("demo", f"--offers={2000 if options.quick else 5000}", "--changes=0",
                    "--operator-listen=127.0.0.1:0", *Torg.flags())
    say("filling a demo")
    server.wait(lambda: "are searchable" in (server.dir / "out").read_text(), "the demo")
    server.wait(lambda: not server.count_offers(WAITING) and server.total() == server.count_offers(ACTIVE),
                "offers that are shown with their photos alone")
    offers, cursor = [], ""
    while True:
        answer = server.call({"limit": 100, "onlyOffers": True, "order": "NEWEST",
                              **({"cursor": cursor} if cursor else {})})
        offers += [(each["id"], each["title"], each.get("fragmentMarked", "")) for each in answer.get("offers", [])]
        cursor = answer.get("cursor", "")
        if not cursor:
            return sets.from_offers(offers, query_count), server


def main():
    options = arguments()
    Torg.without = tuple(name for name in options.without.split(",") if name)
    count = options.queries or (270 if options.quick else 900)
    names = (options.engines or ("torg,fts5" if options.quick else ",".join(ENGINES))).split(",")
    rows = []
    for name in options.sets.split(","):
        server = None
        if name in ("med", "cisi"):
            if not (DATA / f"{name}-docs.tsv").exists():
                say(f"{DATA} does not have {name}: left out")
                continue
            made = sets.read_public(DATA, name)
        elif name == "hardware":
            made = sets.hardware(8000 if options.quick else 20000, count)
        elif name in ("store", "store-kept"):
            made = sets.store(12000 if options.quick else 30000, count, name == "store-kept")
        else:
            made, server = demo_set(count, options)
        results = {}
        for engine_name in names:
            try:
                engine = ENGINES[engine_name]()
            except (KeyError, LookupError) as error:
                say(f"{engine_name}: {error}")
                continue
            if engine_name == "torg" and server:
                engine.serve(server, made.docs)
            else:
                engine.fill(made.docs)
            begin = time.monotonic()
            results[engine_name] = ask_all(engine, made.queries)
            seconds = time.monotonic() - begin
            engine.stop()
            rows.append((name, engine_name, *figures(made.queries, made.grades, results[engine_name]),
                         seconds * 1000 / len(made.queries)))
        if options.show and "torg" in results:
            print("  nothing was found for:",
                  *(f"«{text}»" for number, text in made.queries if not results["torg"][number]))
        if options.show and "torg" in results and "fts5" in results:
            show(made, results["torg"], results["fts5"], options.show)
        if name == "demo" and "torg" in results:
            for kind in sets.KINDS:
                mine = [query for query in made.queries if query[0].startswith(kind + "-")]
                print(f"  demo {kind:9}", *(f"{each} {figures(mine, made.grades, found)[0]:.3f}"
                                            for each, found in results.items()))
    print(f"{'set':10} {'engine':11} {'nDCG@10':>8} {'MRR':>6} {'rec@50':>7} {'empty':>7} {'ms':>6}")
    for row in rows:
        print(f"{row[0]:10} {row[1]:11} {row[2]:8.3f} {row[3]:6.3f} {row[4]:7.3f} {row[5]:6.1%} {row[6]:6.1f}")


main()
