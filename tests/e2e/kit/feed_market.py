# SPDX-License-Identifier: Apache-2.0
"""feed_market.py - a server with the demo catalogue, and torg feed on its data directory."""
import json

from kit import feed_generate
from kit import tap
from kit.binary import Place


class Market(Place):
    """A server with the demo catalogue, or its data directory alone, and feeds in files."""
    spelling = False

    def import_feed(self, *words, seller="s-1", code=0):
        done = self.torg("feed", "import", "--seller", seller, *words)
        tap.equal(done.returncode, code, done.stderr + done.stdout)
        return done

    def counts(self, *words, **options):
        """What an import did: the counts of its task that are not 0."""
        return counts_of(json.loads(self.import_feed(*words, "--json", **options).stdout)["task"])

    def feed(self, *words, seller="s-1", code=0):
        done = self.torg("feed", words[0], "--seller", seller, *words[1:])
        tap.equal(done.returncode, code, done.stderr + done.stdout)
        return done

    def rows(self, *words, seller="s-1"):
        return [json.loads(line) for line in
                self.feed("report", *words, seller=seller).stdout.splitlines()]

    def key(self, seller):
        made = self.torg("key", "create", seller, "--scope", "offers.read", "--scope",
                         "offers.write", "--seller", seller)
        return made.stdout.strip()

    def active(self, key):
        counts = self.call("CabinetService/GetCounts", {}, key)[1]["counts"]
        return {one["preset"]: int(one["count"]) for one in counts if "count" in one}.get("ACTIVE", 0)

    def generate(self, name, count, **options):
        text = "".join(feed_generate.feed(count, **options))
        (self.dir / name).write_text(text)
        return text


class Running(Market):
    def __enter__(self):
        return super().__enter__().start()


def counts_of(task):
    return {name: int(count) for name, count in task.get("counts", {}).items()
            if name != "rows" and int(count)}
