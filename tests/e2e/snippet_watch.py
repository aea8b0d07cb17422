# SPDX-License-Identifier: Apache-2.0
"""Changes of snippets followed through the server: by JSON, by grpcurl and by the command; positions
that are gone on from, or are too old; how many may watch; and a server that stops under them."""
import http.client
import json
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

CONFIG = """Body { Output: JSON
  Sections { Name: "a" }
  Sections { Name: "g" Body { Sections { Name: "x" } Sections { Name: "y" } } } }
"""
METHOD = "torg.v1.SnippetService/WatchSnippets"
OF_A_CALLER = 8     # SNIPPET_WATCH_CALLER_MAX


class Shelf(Place):
    spelling = False

    def __enter__(self):
        super().__enter__()
        self.write("snippets.pb.txt", CONFIG)
        self.up()
        self.key = self.make_key("s")
        return self

    def up(self):
        self.start("up", "--snippets.config=snippets.pb.txt", "--snippets.allot=true")

    def make_key(self, name):
        return self.torg("key", "create", name, "--scope", "snippets.read", "--scope",
                         "snippets.write").stdout.strip()

    def ask(self, verb, path, body=None):
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"),
                                                timeout=tap.PATIENCE_S)
        connection.request(verb, f"/snippets/{path}", body,
                           {"Authorization": f"Bearer {self.key}", "Content-Type": "json"})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        tap.equal((verb, path, answer.status), (verb, path, 200))


class Watch:
    """One that is open: its messages, a line each."""
    def __init__(self, shelf, key=None, **request):
        self.connection = http.client.HTTPConnection(shelf.url.removeprefix("http://"),
                                                     timeout=tap.PATIENCE_S)
        self.connection.request("POST", "/" + METHOD, json.dumps(request),
                                {"Authorization": f"Bearer {key or shelf.key}",
                                 "Content-Type": "application/json"})
        self.answer = self.connection.getresponse()
        self.position = ""

    def read(self):
        message = json.loads(self.answer.readline())
        self.position = message.get("position", self.position)
        return message

    def changes(self, count):
        """So many, as short texts."""
        found = []
        while len(found) < count:
            message = self.read()
            if "error" in message:
                raise AssertionError(message)
            found += [short(change) for change in message.get("changes", [])]
        return found

    def close(self):
        self.answer.close()
        self.connection.close()


def short(change):
    if change.get("all"):
        return f"{change['name']} *"
    body = "gone" if change.get("isGone") else change.get("snippet", {}).get("text", "-")
    return f"{change['name']} {change['key']} {body}"


@tap.test
def changes_are_told_and_gone_on_from():
    with Shelf() as shelf:
        watch = Watch(shelf, names=["a", "g"])
        tap.equal(watch.read().get("changes", []), [], "the first message is the position")
        begin = watch.position
        shelf.ask("PUT", "a/k", "1")
        tap.equal(watch.changes(1), ["a k 1"])
        shelf.ask("PUT", "g/k", "2")
        tap.equal(sorted(watch.changes(2)), ["g/x k 2", "g/y k 2"])
        shelf.ask("DELETE", "a/k")
        tap.equal(watch.changes(1), ["a k gone"])
        here = watch.position
        watch.close()
        shelf.ask("PUT", "a/k", "3")
        shelf.ask("PUT", "a/other", "4")
        watch = Watch(shelf, names=["a"], position=here)
        tap.equal(watch.changes(2), ["a k 3", "a other 4"], "what came meanwhile")
        watch.close()
        watch = Watch(shelf, names=["a"], keys=["other"], position=begin)
        tap.equal(watch.changes(1), ["a other 4"], "of one key")
        watch.close()
        watch = Watch(shelf, names=["g"], withoutContents=True, position=begin)
        tap.equal(sorted(watch.changes(2)), ["g/x k -", "g/y k -"], "without contents")
        watch.close()
        shelf.stop()
        shelf.up()
        watch = Watch(shelf, names=["a"], position=here)
        tap.equal(watch.changes(2), ["a k 3", "a other 4"], "after a restart")
        watch.close()


@tap.test
def a_load_and_its_way_back_are_told():
    with Shelf() as shelf:
        shelf.write("a.jsonl", '{"key": "k", "value": 5}\n')
        watch = Watch(shelf, names=["a"])
        watch.read()
        tap.equal(shelf.torg("snippets", "load", "a", "a.jsonl").returncode, 0)
        tap.equal(watch.changes(1), ["a *"])
        tap.equal(shelf.torg("snippets", "rollback", "a").returncode, 0)
        tap.equal(watch.changes(1), ["a *"])
        watch.close()


@tap.test
def grpcurl_and_the_command_follow():
    with Shelf() as shelf:
        begin = Watch(shelf, names=["a"])
        begin.read()
        begin.close()
        for value in range(3):
            shelf.ask("PUT", f"a/k{value}", str(value))
        grpcurl = subprocess.Popen(
            [tap.tool("grpcurl"), "-plaintext", "-connect-timeout", str(tap.PATIENCE_S),
             "-max-time", str(tap.PATIENCE_S), "-H",
             f"authorization: Bearer {shelf.key}", "-d",
             json.dumps({"names": ["a"], "position": begin.position}),
             shelf.url.removeprefix("http://"), METHOD], stdout=subprocess.PIPE, text=True)
        told = ""
        while '"key": "k2"' not in told:
            line = grpcurl.stdout.readline()
            tap.equal(line != "", True, told)
            told += line
        grpcurl.kill()
        grpcurl.communicate()
        for value in range(2):
            tap.contains(told, f'"key": "k{value}"')
        shown = shelf.torg("snippets", "watch", "a", "--count=3", f"--position={begin.position}")
        tap.equal(shown.stdout, "a k0: 0\na k1: 1\na k2: 2\n", shown.stderr)
        shown = shelf.torg("snippets", "watch", "a", "--position=nonsense")
        tap.contains(shown.stderr, "not a position of a watch")
        tap.equal(shelf.torg("snippets", "watch", "nope").returncode != 0, True)
        shelf.stop()
        tap.contains(shelf.torg("snippets", "watch", "a").stderr, "no server runs")


@tap.test
def what_cannot_be_watched_is_refused():
    with Shelf() as shelf:
        def refusal(**request):
            watch = Watch(shelf, **request)
            answer = json.loads(watch.answer.read().splitlines()[-1])
            watch.close()
            return answer.get("code") or answer["error"]["code"]

        tap.equal(refusal(names=[]), "invalid_argument")
        tap.equal(refusal(names=["nope"]), "not_found")
        tap.equal(refusal(names=["a"], keys=["\n"]), "invalid_argument")
        for position in ("x", "1", "0.0.0.0.0.0.0.-1", "1." * 8, "9" * 19 + ".0" * 7):
            tap.equal((position, refusal(names=["a"], position=position)),
                      (position, "invalid_argument"))
        tap.equal(refusal(names=["a"], position="99" + ".0" * 7), "out_of_range")


@tap.test
def a_caller_has_few_and_a_stop_ends_them():
    with Shelf() as shelf:
        watches = [Watch(shelf, names=["a"]) for _ in range(OF_A_CALLER)]
        for watch in watches:
            watch.read()
        more = Watch(shelf, names=["a"])
        tap.contains(more.answer.read().decode(), "SNIPPET_WATCH_CALLER_MAX")
        more.close()
        other = Watch(shelf, shelf.make_key("other"), names=["a"])
        other.read()
        watches.pop().close()
        shelf.ask("PUT", "a/k", "1")

        def has_room():
            again = Watch(shelf, names=["a"])
            message = again.read()
            again.close()
            return "position" in message
        tap.wait_until(has_room, what="the place of the one that left")
        stopping = threading.Thread(target=shelf.stop)
        stopping.start()
        for watch in watches + [other]:
            lines = watch.answer.read().decode().splitlines()
            tap.contains(lines[-1], "the server is shutting down")
            watch.close()
        stopping.join()


tap.main()
