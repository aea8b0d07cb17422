# SPDX-License-Identifier: Apache-2.0
"""Feeds on PostgreSQL: imported, compared, held, confirmed and undone as on SQLite (feed_import.py), and by several
sellers side by side, whose rows share the pages of small indexes."""
import concurrent.futures
import json

from kit import feed_generate, tap
from kit.binary import Database, Place

SELLERS = 4
ROWS = tap.count(300, 3000, "TORG_FEED_SELLER_ROWS")


class Market(Place):
    """A server on a database of its own, by torg.toml: commands use it, too."""
    spelling = False

    def __enter__(self):
        super().__enter__()
        self.database = Database().__enter__()
        self.write("torg.toml", f'[store]\nurl = "{self.database.url}"\n')
        return self.start()

    def __exit__(self, *_):
        super().__exit__(*_)
        self.database.__exit__(*_)

    def generate(self, name, count, **options):
        self.write(name, "".join(feed_generate.feed(count, **options)))

    def feed(self, *words, seller="s-1", code=0):
        done = self.torg("feed", words[0], "--seller", seller, *words[1:])
        tap.equal(done.returncode, code, done.stderr + done.stdout)
        return done.stdout

    def counts(self, name, *words, seller="s-1", code=0):
        task = json.loads(self.feed("import", "--json", *words, name, seller=seller, code=code))["task"]
        return {each: int(count) for each, count in task["counts"].items() if each != "rows" and int(count)}


@tap.test
def a_feed_goes_its_way_on_postgresql():
    with Market() as market:
        market.generate("one.yml", 100)
        market.generate("few.yml", 40)
        market.generate("next.yml", 100, changed=10, missing=5)
        tap.equal(market.counts("one.yml", "--dry-run"), {"created": 100})
        tap.equal(market.counts("one.yml"), {"created": 100})
        tap.equal(market.counts("one.yml"), {"unchanged": 100})
        changed, missing = feed_generate.counts(100, 10, 5)
        tap.equal(market.counts("next.yml"), {"updated": changed, "unchanged": 100 - missing - changed,
                                              "deleted": missing})
        tap.contains(market.feed("undo", "4"), "is undone")
        tap.equal(market.counts("one.yml"), {"unchanged": 100})
        market.counts("few.yml", code=1)
        tap.contains(market.feed("show", "6"), "is held: it would delete 60 of the 100")
        tap.contains(market.feed("confirm", "6"), "task 6 of feed main is done")
        tap.equal(market.counts("one.yml"), {"unchanged": 40, "revived": 60})
        tap.equal(market.stop(), 0)


@tap.test
def sellers_side_by_side_are_all_taken():
    with Market() as market:
        market.generate("goods.yml", ROWS)
        sellers = [f"s-{number}" for number in range(SELLERS)]
        with concurrent.futures.ThreadPoolExecutor(SELLERS) as pool:
            for outcome in ("created", "unchanged"):
                done = list(pool.map(lambda seller: market.counts("goods.yml", seller=seller), sellers))
                tap.equal(done, [{outcome: ROWS}] * SELLERS)
        tap.equal(market.stop(), 0)


tap.main()
