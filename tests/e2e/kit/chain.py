# SPDX-License-Identifier: Apache-2.0
"""chain.py - clients that write documents while servers come and go, and what must hold afterwards.

A writer has keys of its own and versions that only grow, so that it knows what each key may be: what
was acknowledged last, or what was sent after that without an answer.
"""
import http.client
import json
import random
import re
import threading
import time
import urllib.parse
import urllib.request

from kit import tap
from kit.binary import without_zeros

WORDS = ("велосипед", "книга", "стол", "лампа", "ноутбук", "куртка", "диван", "bike", "phone")
COLOURS = ("red", "green", "blue")
GONE = (-1, 0)              # what a key is that was never acknowledged


class Unready(Exception):
    """A shard is being opened, or a busy machine was too slow for the search's deadline."""


class Connection:
    """JSON calls over one connection that is opened again when it breaks."""

    def __init__(self, key, timeout=tap.PATIENCE_S):
        self.key, self.timeout, self.open, self.url = key, timeout, None, None

    def call(self, url, method, message):
        if self.open is None or self.url != url:
            self.open = http.client.HTTPConnection(urllib.parse.urlparse(url).netloc,
                                                   timeout=self.timeout)
            self.url = url
        try:
            self.open.request("POST", f"/torg.v1.{method}", json.dumps(message),
                              {"Content-Type": "application/json",
                               "Authorization": f"Bearer {self.key}"})
            answer = self.open.getresponse()
            return answer.status, without_zeros(json.loads(answer.read()))
        except (OSError, http.client.HTTPException, ValueError):
            self.open.close()
            self.open = None
            raise


def document(pk, version, rng):
    """The title stays for most versions, so that many changes are of attributes alone."""
    word = WORDS[(hash_of(pk) + version // 4) % len(WORDS)]
    return {"pk": pk, "version": version, "fields": [
        {"name": "title", "text": f"{word} {pk} {WORDS[version // 8 % len(WORDS)]}"},
        {"name": "price", "integer": rng.randrange(1, 100000)},
        {"name": "colours", "keywords": rng.sample(COLOURS, rng.randrange(1, 3))},
        {"name": "version", "integer": version}]}


def hash_of(text):
    return sum(text.encode())


class Writer(threading.Thread):
    """Puts, changes and deletes documents of its keys until told to stop."""

    def __init__(self, number, client, key, seed, keys=60, batch=6):
        super().__init__(daemon=True)
        self.number, self.client = number, client
        self.rng = random.Random(f"{seed}/{number}")
        self.connection = Connection(key)
        self.keys = [f"{client}-{number}-{each}" for each in range(keys)]
        self.pace, self.batch = tap.rest_s(0.05), batch
        self.sure = {}              # pk: (version, is_alive), acknowledged
        self.maybe = {}             # pk: [(version, is_alive)], sent later, without an answer
        self.last = {}              # pk: newest version sent
        self.acknowledged = 0
        self.tokens = []            # the newest
        self.refused = 0
        self.trouble = None
        self.url = None             # None: no server
        self.ended = False

    def run(self):
        while not self.ended and not self.trouble:
            url = self.url
            if not url:
                time.sleep(0.002)
                continue
            try:
                self.act(url)
                time.sleep(self.pace)
            except (OSError, http.client.HTTPException, ValueError):
                if self.url == url:
                    time.sleep(0.01)
            except AssertionError as trouble:
                self.trouble = str(trouble)

    def act(self, url):
        chosen = self.rng.sample(self.keys, self.rng.randrange(1, self.batch + 1))
        documents, wanted = [], []
        for pk in chosen:
            version = self.last.get(pk, 0) + self.rng.choice((1, 1, 1, 5))
            alive = self.rng.random() > 0.2
            self.last[pk] = version
            self.maybe.setdefault(pk, []).append((version, alive))
            documents.append(self.make(pk, version) if alive else
                             {"pk": pk, "version": version, "event": "DELETE"})
            wanted.append((pk, version, alive))
        status, answer = self.connection.call(
            url, "DocumentService/PutDocuments", {"client": self.client, "documents": documents})
        if status in (429, 503, 504) or (status == 409 and "given up after" in answer.get("message", "")):
            self.refused += 1       # a transaction that lost against others too often is put off, too
            return
        tap.equal(status, 200, answer)
        for (pk, version, alive), verdict in zip(wanted, answer["verdicts"], strict=True):
            kind = verdict.get("kind", "ACCEPTED")
            tap.equal(verdict["pk"], pk)
            if kind == "UNAVAILABLE":
                self.refused += 1
                continue
            if not self.judge(pk, version, kind, verdict):
                self.maybe[pk].remove((version, alive))
                continue
            self.sure[pk] = (version, alive)
            self.maybe[pk] = []
            self.acknowledged += 1
            self.tokens = (self.tokens + [verdict["token"]])[-20:]

    def make(self, pk, version):
        return document(pk, version, self.rng)

    def judge(self, pk, version, kind, verdict):
        """False: it was refused, and may be."""
        tap.equal(kind, "ACCEPTED", f"{pk} at {version}: {verdict}")
        return True

    def allowed(self, pk):
        return [self.sure.get(pk, GONE)] + self.maybe.get(pk, [])


def go_on(writers, count=20):
    """Waits until each has written so many documents more."""
    goals = [(writer, writer.acknowledged + count) for writer in writers]
    tap.wait_until(lambda: all(writer.acknowledged >= goal or writer.trouble for writer, goal in goals),
                   what="writers that go on")
    tap.equal([writer.trouble for writer in writers if writer.trouble], [])


def stop(writers):
    for writer in writers:
        writer.ended = True
    for writer in writers:
        writer.join(timeout=tap.PATIENCE_S + 10)
    tap.equal([writer.trouble for writer in writers if writer.trouble], [])
    tap.equal([writer.name for writer in writers if writer.is_alive()], [])


def check_registry(call, writers):
    """Every key is as it was acknowledged, or as it was sent after that. Gives {pk: (version,
    is_alive)} of all that are there."""
    found = {}
    for writer in writers:
        for pk in writer.last:
            status, answer = call("DocumentService/GetDocument", {"client": writer.client, "pk": pk})
            state = GONE
            if status == 200:
                state = (int(answer["document"].get("version", 0)), not answer.get("isDeleted"))
            else:
                tap.equal(status, 404, answer)
            if state not in writer.allowed(pk):
                raise AssertionError(f"{pk} is {state}, and may be {writer.allowed(pk)}")
            if state != GONE:
                found[pk] = state
    return found


def search_all(call, client, page=1000):
    """{pk: version} of all hits, by pages."""
    found, cursor = {}, None
    while True:
        stage = {"limit": page, "sorts": [{"field": "version"}], "show": ["version"]}
        if cursor:
            stage["cursor"] = cursor
        status, answer = call("SearcherService/Search", {
            "client": client, "query": {"stages": [stage]}, "deadlineMs": 60000})
        if status in (503, 504) or answer.get("isPartial"):
            raise Unready(str(answer))
        tap.equal(status, 200, answer)
        part = answer["answer"]["stages"][0]
        for hit in part.get("hits", []):
            fields = {each["name"]: each["values"] for each in hit.get("fields", [])}
            tap.equal(hit["pk"] in found, False, f"{hit['pk']} was found twice")
            found[hit["pk"]] = int(fields["version"][0])
        cursor = part.get("cursor")
        if not cursor:
            return found


def check_search(call, writers, registry):
    """Searches find what lives in the registry, at its version, and nothing else."""
    for client in sorted({writer.client for writer in writers}):
        tokens = [token for writer in writers if writer.client == client for token in writer.tokens]
        for token in tokens[-3:]:
            tap.wait_until(lambda: is_searchable(call, client, token), what=f"{token} is searchable")
        wanted = {pk: version for pk, (version, alive) in registry.items()
                  if alive and pk.startswith(client + "-")}
        got = tap.wait_until(lambda: matches(call, client, wanted),
                             what=f"the index of {client} as the registry is")
        tap.equal(got, wanted)


def is_searchable(call, client, token):
    status, answer = call("SearcherService/GetFreshness", {
        "client": client, "token": token, "waitMs": 20000})
    tap.equal(status, 200, answer)
    return answer.get("isSearchable")


def matches(call, client, wanted):
    try:
        got = search_all(call, client)
    except Unready:
        return None
    return got if got == wanted else None


def check_numbers(call, client, epoch=1, shards=1):
    """No number was ever sent for two keys, and no key had two. Gives how many records there are."""
    count = 0
    for shard in range(shards):
        owners, numbers, at = {}, {}, 0
        while True:
            status, answer = call("TopicService/ReadTopic", {
                "topic": f"index.{client}.{epoch}", "limit": 1000,
                "from": {"partition": shard, "offset": at}})
            tap.equal(status, 200, answer)
            records = answer.get("records", [])
            if not records:
                break
            for record in records:
                message = json.loads(record["json"])
                sent = message.get("put") or message.get("remove")
                if sent:
                    number, pk = sent.get("docId", 0), sent["pk"]
                    tap.equal(owners.setdefault(number, pk), pk, f"number {number} of shard {shard}")
                    tap.equal(numbers.setdefault(pk, number), number, pk)
            count += len(records)
            at = int(records[-1].get("offset", 0)) + 1
    return count


def fetch_text(url):
    with urllib.request.urlopen(url, timeout=tap.PATIENCE_S) as answer:
        return answer.read().decode()


def metric_sum(text, name, part=""):
    """The sum of a metric's values whose labels have the part."""
    found = re.findall(rf"^{name}(?:{{([^}}]*)}})? (\S+)$", text, re.M)
    return sum(float(value) for labels, value in found if part in labels)


def verify(place, *options):
    """Runs torg verify; every line has to pass."""
    result = tap.run(*place.command("verify", "--json", *options), cwd=place.dir,
                     env=place.environment())
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    for line in lines:
        tap.equal((line.get("passed", False), line.get("findings", [])), (True, []), line)
    tap.equal((result.returncode, result.stderr), (0, ""))
    return {(line["check"], line.get("client", "")): line for line in lines}
