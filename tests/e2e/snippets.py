# SPDX-License-Identifier: Apache-2.0
"""Snippets through the server: odd addresses and bodies, a config that changes under it, pages whose
snippets are late, and kills while they are written."""
import http.client
import itertools
import json
import os
import random
import re
import signal
import sys
import threading
import urllib.parse

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

CONFIG = """Body { Output: JSON
  Sections { Name: "a" }
  Sections { Name: "g" Body { Sections { Name: "x" } Sections { Name: "y" } } }
  Sections { Name: "text" Body { Output: TEXT } }
  Sections { Name: "raw" Body { Output: BINARY } } %s }
"""
KILLS = tap.count(3, 100, "TORG_KILL_COUNT")
WRITERS = 4


class Shelf(Place):
    """A server with the config above, and a key for it."""
    spelling = False

    def __enter__(self):
        super().__enter__()
        self.configure()
        self.up()
        made = self.torg("key", "create", "s", "--scope", "snippets.read", "--scope",
                         "snippets.write")
        self.key = made.stdout.strip()
        return self

    def configure(self, more=""):
        self.write("snippets.new", CONFIG % more)
        os.replace(self.dir / "snippets.new", self.dir / "snippets.pb.txt")     # half of it is another one

    def up(self, *words):
        self.start("up", "--snippets.config=snippets.pb.txt", "--snippets.allot=true", *words)

    def ask(self, verb, path, body=None, kind="json", key=None, place=None, prefix="/snippets/"):
        """(status, answer) of /snippets/PATH, which is sent as it is."""
        connection = http.client.HTTPConnection(place or self.url.removeprefix("http://"),
                                                timeout=tap.PATIENCE_S)
        headers = {"Authorization": f"Bearer {key or self.key}"}
        if kind:
            headers["Content-Type"] = kind
        connection.request(verb, prefix + path, body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text else None

    def put(self, path, body, kind="json"):
        return self.ask("PUT", path, body, kind)[0]

    def get(self, path):
        status, answer = self.ask("GET", path)
        return answer if status == 200 else status


@tap.test
def odd_addresses_and_bodies():
    with Shelf() as shelf:
        for key in ("k", "a b", "a/b", "%", "é", "..", "?x", "x" * 300, "🐲", "'; --", "{}"):
            path = "a/" + urllib.parse.quote(key, safe="")
            tap.equal((key, shelf.put(path, "1")), (key, 200))
            tap.equal((key, shelf.get(path)), (key, {"a": 1}))
        for path in ("a", "a/", "/k", "nope/k", "a/k/ru/x", "A/k", "a/" + "x" * 301, "a/%00",
                     "a/%ff", "a/k/r%20u", "a/%0a", "../a/k", "g/z/w/v", "%61%2Fk"):
            status = shelf.put(path, "1")
            tap.equal((path, 400 <= status < 500), (path, True))
        for body in ("", "{", "nul", "[" * 100 + "]" * 100, '{"a":1,"a":2}', '"\\ud800"', "1" * 500,
                     b"\xff", '"' + "x" * (1 << 20) + '"'):
            status = shelf.put("a/k", body)
            tap.equal((body[:20], 400 <= status < 500), (body[:20], True))
        tap.equal(shelf.get("a/k"), {"a": 1}, "what is refused changes nothing")
        tap.equal(shelf.put("a/k", "1", "text/csv"), 400)
        tap.equal(shelf.put("text/k", "кто".encode(), None), 200)
        tap.equal(shelf.get("text/k"), {"text": "кто"})
        tap.equal(shelf.put("raw/k", b"\x00\xff", "binary"), 200)
        tap.equal(shelf.get("raw/k"), {"raw": {"base64": "AP8="}})
        tap.equal(shelf.put("raw/big", b"x" * (1 << 20), "binary"), 200)
        tap.equal(shelf.ask("GET", "a/k", key="torg_0123456789_none")[0], 401)
        tap.equal(shelf.ask("POST", "a/k", "1")[0], 405)


@tap.test
def a_port_of_their_own_needs_no_prefix():
    with Shelf() as shelf:
        shelf.stop()
        shelf.up("--snippets.listen=127.0.0.1:0")
        place = "127.0.0.1:" + re.search(r'"snippets have a port of their own".*"port":(\d+)', shelf.log())[1]
        at_root = {"place": place, "prefix": "/"}
        tap.equal(shelf.ask("PUT", "a/o1", b'{"stars": 5}', **at_root)[0], 200)
        told = (200, {"a": {"stars": 5}})
        tap.equal(shelf.ask("GET", "a/o1", **at_root), told)
        tap.equal(shelf.ask("GET", "a/o1", place=place), told)
        tap.equal(shelf.ask("GET", "a/o1"), told)
        tap.equal(shelf.ask("GET", "a/o1", prefix="/")[0], 404, "elsewhere the prefix is needed")
        tap.equal(shelf.ask("PUT", "a/o1", b"{}", key="wrong", **at_root)[0], 401)
        tap.equal(shelf.ask("PUT", "torg.v1.SearchService/SearchOffers", b"{}", **at_root)[0], 404)
        tap.equal(shelf.ask("DELETE", "a/o1", **at_root)[0], 200)
        tap.equal(shelf.ask("GET", "a/o1")[0], 404)
        tap.equal(shelf.stop(), 0)
        refused = shelf.torg("up", "--listen=127.0.0.1:0", "--operator-listen=", "--snippets.listen=0.0.0.0:0",
                             "--data=fresh")
        tap.contains(refused.stderr, "snippets.listen")


@tap.test
def a_config_changes_without_a_restart():
    with Shelf() as shelf:
        tap.equal(shelf.get("new/k"), 404)
        shelf.configure('Sections { Name: "new" }')
        tap.wait_until(lambda: shelf.put("new/k", "1") == 200, what="the new snippet")
        tap.equal(shelf.get("new/k"), {"new": 1})
        shelf.configure('Sections { Name: "new" Body { Output: NONSENSE } }')
        asked = ("SnippetService/DescribeSnippets", {}, shelf.key)
        tap.wait_until(lambda: "line 5" in shelf.call(*asked)[1].get("refused", ""),
                       what="the refusal")
        tap.equal(shelf.get("new/k"), {"new": 1}, "the previous one stays in use")
        shelf.configure('Sections { Name: "new" } Sections { Name: "newer" }')
        tap.wait_until(lambda: shelf.put("newer/k", "1") == 200, what="the newer one")
        tap.equal(shelf.call(*asked)[1].get("refused", ""), "")
        lines = (shelf.dir / "key_prefixes.txt").read_text().split("\n")
        numbers = [line.split()[0] for line in lines if line and line[0] != "#"]
        tap.equal((len(numbers), len(set(numbers))), (7, 7))


@tap.test
def a_prefix_is_freed_when_nothing_is_stored_under_it():
    with Shelf() as shelf:
        def free():
            return shelf.torg("snippets", "prefixes", "--free=old", "snippets.pb.txt")

        shelf.configure('Sections { Name: "old" }')
        tap.wait_until(lambda: shelf.put("old/k", "1") == 200, what="the snippet")
        refused = free()
        tap.equal(refused.returncode != 0, True)
        tap.contains(refused.stderr, "1 rows are still stored under the prefix of old")
        tap.contains((shelf.dir / "key_prefixes.txt").read_text(), " old\n")
        tap.equal(shelf.ask("DELETE", "old/k")[0], 200)
        shelf.configure()
        tap.wait_until(lambda: "no snippet or group" in shelf.ask("GET", "old/k")[1]["message"],
                       what="a config without it")
        freed = free()
        tap.equal(freed.returncode, 0, freed.stderr)
        tap.equal(" old\n" in (shelf.dir / "key_prefixes.txt").read_text(), False)


@tap.test
def a_page_is_sent_what_has_changed():
    with Shelf() as shelf:
        def ask(known=""):
            asked = {"names": ["a", "text"], "keys": ["o-1", "o-2"], "knownState": known}
            while True:     # a busy machine may have none in time, and says so
                answer = shelf.call("SearchService/GetPageSnippets", asked)[1]
                if not answer.get("lacksSnippets"):
                    return answer

        def texts(answer):
            return [(each["key"], each["text"]) for each in answer.get("snippets", [])]

        empty = ask()
        tap.equal((texts(empty), ask(empty["state"]).get("unchanged")), ([], True))
        shelf.put("a/o-1", '"\\"one\\""')
        first = ask(empty["state"])
        tap.equal((texts(first), first.get("unchanged", False)), ([("o-1", '"\\"one\\""')], False))
        again = ask(first["state"])
        tap.equal((texts(again), again.get("unchanged"), again["state"]), ([], True, first["state"]))
        shelf.put("text/o-2", "два".encode(), "text")
        second = ask(first["state"])
        tap.equal(texts(second), [("o-1", '"\\"one\\""'), ("o-2", "два")])
        shelf.ask("DELETE", "a/o-1")
        tap.equal(texts(ask(second["state"])), [("o-2", "два")])
        shelf.ask("DELETE", "text/o-2")
        tap.equal(ask()["state"], empty["state"])


@tap.test
def a_page_has_snippets_of_its_own():
    with Shelf() as shelf:
        def ask(**asked):
            while True:     # a busy machine may have none in time, and says so
                status, answer = shelf.call("SearchService/SearchOffers", {"pageSnippetNames": ["a"], **asked})
                if status != 200 or not answer.get("lacksSnippets"):
                    return status, sorted(each["key"] for each in answer.get("snippets", []))

        long = "слово " * 33
        for key in ("category:bikes", "query:велосипед bmx", "seller:s-17", "query:" + long.strip()[:140]):
            tap.equal(shelf.put("a/" + urllib.parse.quote(key, safe=""), "1"), 200, key)
        tap.equal(ask(text="  Велосипед\tBMX ", category="bikes", pageSnippetKeys=["seller:s-17"]),
                  (200, ["category:bikes", "query:велосипед bmx", "seller:s-17"]))
        tap.equal(ask(text="велосипед", keepSpelling=True), (200, []))
        tap.equal(ask(text=long, category="bikes", keepSpelling=True), (200, ["category:bikes"]))   # by a hash
        tap.equal(ask(pageSnippetKeys=["x" * 301])[0], 400)


@tap.test
def what_comes_by_a_topic_is_stored_and_deleted():
    with Shelf() as shelf:
        shelf.configure('Sections { Name: "stock" Body { InputTopic: "stock" InputForLB: JSON '
                        'KeyExtractor: "message-key" } }')

        def write(body):
            (shelf.dir / "record").write_text(body)
            return shelf.torg("topic", "write", "stock", shelf.dir / "record", "--key", "o-1").returncode

        tap.wait_until(lambda: write('{"left": 3}') == 0, what="the topic of the new config")
        tap.wait_until(lambda: shelf.get("stock/o-1") == {"stock": {"left": 3}}, what="the record")
        tap.equal(write(""), 0)
        tap.wait_until(lambda: shelf.get("stock/o-1") == 404, what="its end")


@tap.test
def a_language_is_told_by_the_header():
    with Shelf() as shelf:
        def ask(verb, body, language):
            connection = http.client.HTTPConnection(shelf.url.removeprefix("http://"), timeout=tap.PATIENCE_S)
            connection.request(verb, "/snippets/text/o-1", body, {
                "Authorization": f"Bearer {shelf.key}", "Content-Type": "text/plain", "Content-Language": language})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            return answer.status

        tap.equal((ask("PUT", b"hello", "en"), ask("PUT", "привет".encode(), "ru")), (200, 200))
        tap.equal((shelf.get("text/o-1/en"), shelf.get("text/o-1/ru")), ({"text": "hello"}, {"text": "привет"}))
        tap.equal(ask("DELETE", None, "en"), 200)
        tap.equal((shelf.get("text/o-1/en"), shelf.get("text/o-1/ru")), (404, {"text": "привет"}))


def write_until_it_dies(shelf, number, written, values):
    """Groups under keys of its own; what was acknowledged goes into written."""
    for value in values:
        key = f"w{number}-{random.randrange(20)}"
        try:
            if shelf.put(f"g/{key}", str(value)) != 200:
                return
        except (OSError, http.client.HTTPException):
            written.setdefault(key, []).append((value, False))
            return
        written.setdefault(key, []).append((value, True))


def check(shelf, written):
    """Each key has its last acknowledged value, or one that was under way; both of the group alike."""
    for key, values in written.items():
        sure = max((value for value, is_sure in values if is_sure), default=None)
        possible = {value for value, is_sure in values if not is_sure} | {sure}
        found = shelf.get(f"g/{key}")
        if sure is None and found == 404:
            continue
        tap.equal((key, len(set(found.values())), len(found)), (key, 1, 2))
        tap.equal((key, found["g/x"] in possible and (sure is None or found["g/x"] >= sure)),
                  (key, True), f"{found}, {values[-3:]}")


@tap.test
def nothing_acknowledged_is_lost_by_kills():
    with Shelf() as shelf:
        written = [{} for _ in range(WRITERS)]
        values = [itertools.count(1) for _ in range(WRITERS)]
        for _ in range(KILLS):
            threads = [threading.Thread(target=write_until_it_dies,
                                        args=(shelf, i, written[i], values[i]))
                       for i in range(WRITERS)]
            before = sum(len(each) for own in written for each in own.values())
            for thread in threads:
                thread.start()
            tap.wait_until(lambda: sum(len(each) for own in written for each in own.values()) >
                           before + 100, what="a hundred writes")
            shelf.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
            shelf.up()
            for own in written:
                check(shelf, own)
                for key in own:
                    found = shelf.get(f"g/{key}")
                    own[key] = [(found["g/x"], True)] if found != 404 else []


tap.main()
