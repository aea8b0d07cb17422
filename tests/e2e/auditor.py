# SPDX-License-Identifier: Apache-2.0
"""What got lost between two stages is told by `torg verify`, and repaired by the auditor: rows that are gone from the
outbox or from the registry, a data directory whose parts were copied at different times, tails of topics that a disk
has lost."""
import json
import os
import random
import re
import shutil
import signal
import sys

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import market  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place, open_sqlite  # noqa: E402

SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
NO_AUDITOR = "--auditor.rate=0"
EAGER = ("up", "--auditor.pause=200ms", "--auditor.rate=100000")
OFFERS = 40


class Shop(Place):
    """A server with one seller; its offers are known here as {id: (content, revision)}."""
    spelling = False

    def __enter__(self):
        super().__enter__().start("up", NO_AUDITOR)
        self.write("catalog.json", json.dumps(market.CATALOG))
        done = self.torg("catalog", "apply", "catalog.json")
        tap.equal((done.returncode, done.stderr), (0, ""))
        tap.wait_until(self.follows_catalog, what="documents that follow the catalogue")
        self.seller = self.torg("key", "create", "s", "--seller", "s", "--scope", "offers.read",
                                "--scope", "offers.write").stdout.strip()
        self.reader = self.torg("key", "create", "a", "--scope", "pipeline.read").stdout.strip()
        self.rng = random.Random(f"{SEED}/shop")
        self.count = 0
        self.offers = {}
        return self

    def follows_catalog(self):
        """Whether nothing is composed anew any more: that would bring back what a test has lost."""
        done = json.loads(self.torg("composer", "status", "--json").stdout)
        return done.get("doneVersion") == done["version"]

    def ok(self, method, message):
        status, answer = self.call(method, message, self.seller)
        tap.equal(status, 200, answer)
        return answer

    def publish(self):
        self.count += 1
        content = market.content_of(f"o{self.count}", ("bikes", "books")[self.count % 2], 0, self.rng)
        answer = self.ok("OfferService/CreateOffer", {"content": content})
        self.offers[answer["id"]] = [content, answer["revision"]]
        return answer["id"]

    def change(self, one):
        content = self.offers[one][0]
        content["price"]["amount"] = str(int(content["price"]["amount"]) + 1)
        answer = self.ok("OfferService/UpdateOffer", {
            "id": one, "content": content, "expectedRevision": self.offers[one][1]})
        self.offers[one][1] = answer["revision"]

    def delete(self, one):
        self.ok("OfferService/DeleteOffer", {"id": one, "expectedRevision": self.offers[one][1]})
        del self.offers[one]

    def wanted(self):
        return {one: market.shown_of(content) for one, (content, _) in self.offers.items()}

    def wait_for_index(self, wanted=None):
        market.wait_for_index(market.Caller(lambda: self.url), self.wanted() if wanted is None else wanted)

    def restart(self, *words, between=None, number=15):
        self.stop(number)
        if between:
            between()
        words = words or ("up", NO_AUDITOR)
        self.start(*words)
        if words[0] == "up":        # a shard that is not open yet is told by verify, too
            tap.wait_until(lambda: self.call("SearchService/SearchOffers")[0] == 200, what="an open index")

    def run_sql(self, sql, *values):
        with open_sqlite(self.data / "store.sqlite") as base:
            tap.equal(base.execute(sql, values).rowcount > 0, True, sql)

    def lose(self, write):
        """A write whose row of the outbox goes before anybody has exported it."""
        self.restart("serve", "system", "catalog", "offers")
        result = write()
        self.restart(between=lambda: self.run_sql("DELETE FROM queue"))
        return result

    def verify(self, *words):
        """Which checks failed: {check: {pk: text}}, and the exit code."""
        done = tap.run(*self.command("verify", "--json", *words), cwd=self.dir, env=self.environment())
        tap.equal(done.stderr, "")
        failed = {}
        for line in map(json.loads, done.stdout.splitlines()):
            for finding in line.get("findings", []):
                failed.setdefault(line["check"], {})[finding.get("pk", "")] = finding["text"]
        return failed, done.returncode

    def audit(self):
        status, answer = self.call("InspectService/GetAudit", {}, self.reader)
        tap.equal(status, 200, answer)
        return answer

    def wait_until_equal(self):
        """Until a whole round that began after now found nothing."""
        first = int(self.audit().get("roundCount", "0"))

        def is_equal():
            audit = self.audit()
            return int(audit.get("roundCount", "0")) > first + 1 and not int(audit.get("differenceCount", "0"))

        tap.wait_until(is_equal, what="a round without differences")


    def copy_store(self, to):
        """As SQLite copies it: of one moment."""
        with open_sqlite(self.data / "store.sqlite") as source, open_sqlite(to / "store.sqlite") as target:
            source.backup(target)

    def copy_others(self, to):
        """Topics, indexes, tickets: of one moment, too, as none is written, renamed or removed meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            tap.wait_until(lambda: tap.are_stopped(self.process.pid), what="a server that stands still")
            for path in sorted(self.data.iterdir()):
                if path.is_dir():
                    shutil.copytree(path, to / path.name)
                elif not path.name.startswith(("store.sqlite", "server.", "lock")):
                    shutil.copy(path, to / path.name)
        finally:
            self.process.send_signal(signal.SIGCONT)

    def work(self):
        """Some more offers, and changes of those that are there."""
        for _ in range(OFFERS):
            self.publish()
        for one in self.rng.sample(sorted(self.offers), OFFERS // 4):
            self.change(one)
        for one in self.rng.sample(sorted(self.offers), OFFERS // 4):
            self.delete(one)
        self.wait_for_index()

    def settle(self):
        """Searches find what the store has, whatever became of the rest."""
        listed = self.listed()
        self.wait_for_index(listed)
        self.wait_until_equal()
        self.wait_for_index(listed)
        new = self.publish()            # what comes later gets there, too
        self.change(new)
        self.wait_for_index({**listed, new: self.wanted()[new]})
        tap.comment(f"{len(listed)} offers, {self.audit().get('repairedSum', 0)} repairs")
        chain.verify(self, "--rebuild")

    def listed(self):
        """What the store says."""
        found, token = {}, ""
        while True:
            page = self.ok("CabinetService/ListOffers", {"preset": "ACTIVE", "pageSize": 100, "pageToken": token})
            for offer in page.get("offers", []):
                found[offer["id"]] = market.shown_of(offer["content"])
            token = page.get("nextPageToken")
            if not token:
                return found


def told_only(failed, check, one, part):
    tap.equal(list(failed), [check], failed)
    tap.equal(list(failed[check]), [one], failed)
    tap.contains(failed[check][one], part)


@tap.test
def a_change_that_was_never_exported_is_told_and_put_right():
    with Shop() as shop:
        kept = [shop.publish() for _ in range(3)]
        shop.wait_for_index()
        tap.equal(int(chain.verify(shop)[("offers", "offers")]["checkedCount"]), 3)

        new = shop.lose(shop.publish)
        failed, code = shop.verify()
        told_only(failed, "offers", new, "the offer is ACTIVE at revision 1, and the registry does not have it")
        tap.equal(code, 1)
        tap.equal(shop.verify("--fix")[1], 0)
        shop.wait_for_index()
        chain.verify(shop, "--rebuild")

        shop.lose(lambda: shop.change(kept[0]))
        told_only(shop.verify()[0], "offers", kept[0], "ACTIVE at revision 2")
        tap.equal(shop.verify("--fix")[1], 0)
        shop.wait_for_index()

        shop.lose(lambda: shop.delete(kept[1]))
        told_only(shop.verify()[0], "offers", kept[1], "DELETED")
        tap.equal(shop.verify("--fix")[1], 0)
        shop.wait_for_index()
        chain.verify(shop, "--rebuild")


@tap.test
def a_row_that_is_gone_from_the_registry_is_told_and_put_right():
    with Shop() as shop:
        first, second = shop.publish(), shop.publish()
        shop.wait_for_index()
        shop.restart(between=lambda: shop.run_sql("DELETE FROM registry WHERE pk = ?", first))
        failed, _ = shop.verify()
        tap.contains(failed["offers"][first], "the registry does not have it")
        shop.verify("--fix")
        tap.wait_until(lambda: shop.verify()[1] == 0, what="all that agrees")

        def delete_offer():         # nobody ever does: it stays, with its status
            number = int(second.replace("-", ""))
            shop.run_sql("DELETE FROM offer WHERE id = ?", number)

        shop.restart(between=delete_offer)
        failed, _ = shop.verify("--client", "offers")
        told_only(failed, "offers", second, "there is no such offer")
        shop.verify("--client", "offers", "--fix")
        del shop.offers[second]
        shop.wait_for_index()
        tap.equal(shop.verify("--client", "offers")[0], {})


@tap.test
def an_epoch_that_is_being_built_is_compared_too():
    with Shop() as shop:
        for _ in range(10):
            shop.publish()
        shop.wait_for_index()
        started = shop.torg("epoch", "start", "--client", "offers")
        tap.equal((started.returncode, started.stderr), (0, ""))

        def is_built():
            status = json.loads(shop.torg("epoch", "status", "--client", "offers", "--json").stdout)
            return status.get("isSafe")

        tap.wait_until(is_built, what="the second epoch")
        tap.equal(int(chain.verify(shop)["index", "offers"]["checkedCount"]), 20, "of two epochs")

        def lose():
            [topic] = shop.data.glob("topics/**/index.offers.2/**/*.log")
            os.truncate(topic, topic.stat().st_size // 2)
            shutil.rmtree(shop.data / "index" / "offers" / "2")
            # the owner of the shard would see it by where the topic ended
            shop.run_sql("DELETE FROM registry_offset WHERE group_id = 'topic/2'")

        shop.restart(between=lose)
        failed, code = shop.verify()
        tap.equal((code, list(failed)), (1, ["index"]), failed)
        for text in failed["index"].values():
            tap.contains(text, "epoch 2: it lives")
        shop.verify("--fix")
        tap.wait_until(lambda: shop.verify()[1] == 0, what="both epochs equal")


@tap.test
def a_directory_that_nobody_serves_is_verified_and_put_right():
    with Shop() as shop:
        kept = [shop.publish() for _ in range(3)]
        shop.wait_for_index()
        new = shop.lose(shop.publish)
        shop.stop()
        failed, code = shop.verify()
        tap.equal((code, list(failed)), (1, ["offers"]), failed)
        tap.equal(list(failed["offers"]), [new])
        tap.equal(shop.verify("--fix")[1], 0)
        shop.start("up", NO_AUDITOR)
        shop.wait_for_index()
        shop.stop()
        lines = chain.verify(shop, "--rebuild")
        tap.equal(int(lines["index", "offers"]["checkedCount"]), len(kept) + 1)


@tap.test
def the_auditor_repairs_without_being_asked():
    with Shop() as shop:
        kept = [shop.publish() for _ in range(4)]
        shop.wait_for_index()
        new = shop.lose(shop.publish)
        shop.lose(lambda: shop.change(kept[0]))
        shop.lose(lambda: shop.delete(kept[1]))
        tap.equal(set(shop.verify()[0]["offers"]), {new, kept[0], kept[1]})

        def spoil():
            shop.run_sql("DELETE FROM registry WHERE pk = ?", kept[2])

        shop.restart(*EAGER, between=spoil)
        shop.wait_for_index()
        shop.wait_until_equal()
        audit = shop.audit()
        tap.equal({one["pk"]: one["reason"] for one in audit["differences"] if one["check"] == "offers"},
                  {new: "missing", kept[0]: "behind", kept[1]: "behind", kept[2]: "missing"})
        tap.equal(int(audit["repairedSum"]) >= 4, True, audit)
        told = re.search(r"auditor: all equal at (\S{16})", shop.torg("status").stdout)[1]
        later = shop.audit()["equalTime"]       # rounds go on, and minutes pass
        tap.equal(audit["equalTime"][:16] <= told <= later[:16], True, (audit["equalTime"], told, later))
        tap.contains(shop.torg("verify").stdout, "auditor: all equal at ")
        chain.verify(shop, "--rebuild")


QUICK = ("up", "--auditor.pause=10ms", "--auditor.rate=1000000")


@tap.test
def what_is_parked_stands_apart():
    with Shop() as shop:
        moderator = shop.torg("key", "create", "m", "--scope", "moderation").stdout.strip()
        [one, _] = [shop.publish() for _ in range(2)]
        shop.wait_for_index()

        def decide(revision, verdict):
            status, answer = shop.call("ModerationService/GiveOpinion", {
                "offerId": one, "revision": revision, "verdict": verdict, "reasons": ["odd"]}, moderator)
            tap.equal(status, 200, answer)

        decide("1", "BAN")
        category = shop.offers[one][0]["category"]
        without = {**market.CATALOG, "categories": [
            each for each in market.CATALOG["categories"] if each["id"] != category]}
        shop.write("without.json", json.dumps(without))
        tap.equal(shop.torg("catalog", "apply", "without.json", "--force").returncode, 0)
        decide("2", "PASS")
        tap.wait_until(lambda: one in shop.torg("parked", "list").stdout, what="a parked offer")
        found = shop.torg("verify")
        tap.equal(found.returncode, 0, found.stdout)
        tap.contains(found.stdout, "1 parked (torg parked list)")
        shop.restart(*EAGER)
        shop.wait_until_equal()
        audit = shop.audit()
        tap.equal((audit.get("parkedCount"), audit.get("differences") or []), ("1", []), audit)
        tap.contains(shop.torg("status").stdout, "1 parked")


def parts_catalog(nested):
    """With parts of forty models to choose from; nested: each below a make of its own, which counts, too."""
    options = []
    for i in range(40):
        parent = {"parent": f"make{i}"} if nested else {}
        if nested:
            options.append({"id": f"make{i}", "name": {"en": f"Make {i}"}})
        options.append({"id": f"model{i}", "name": {"en": f"Model {i}"}, **parent})
    fits = {"id": "fits", "name": {"en": "Fits"}, "type": "OPTIONS", "filter": "TREE", "options": options}
    parts = {"id": "parts", "parent": "hobby", "name": {"en": "Parts"}, "attributes": ["fits"]}
    return {**market.CATALOG, "attributes": [*market.CATALOG["attributes"], fits],
            "categories": [*market.CATALOG["categories"], parts]}


@tap.test
def what_cannot_be_composed_any_more_is_parked():
    """By the recomposer; and by the auditor, should it be dropped there."""
    with Shop() as shop:
        shop.write("flat.json", json.dumps(parts_catalog(False)))
        tap.equal(shop.torg("catalog", "apply", "flat.json", "--with-epoch").returncode, 0)
        tap.wait_until(shop.follows_catalog, what="documents that follow the catalogue")
        content = {"category": "parts", "title": "Brake pad", "condition": "NEW",
                   "price": {"amount": "100", "currency": "RUB"},
                   "attributes": [{"attributeId": "fits", "options": [f"model{i}" for i in range(40)]}]}
        one = shop.ok("OfferService/CreateOffer", {"content": content})["id"]
        shop.write("nested.json", json.dumps(parts_catalog(True)))
        refused = shop.torg("catalog", "apply", "nested.json")
        tap.contains(refused.stderr, "1 stored offers would break a rule")
        tap.equal(shop.torg("catalog", "apply", "nested.json", "--force").returncode, 0)

        def is_parked():
            return one in shop.torg("parked", "list").stdout

        tap.wait_until(is_parked, what="the offer among the parked")
        tap.contains(shop.torg("parked", "list").stdout, "more than 64 options")
        tap.equal(shop.torg("parked", "drop", "--stage", "composer", one).returncode, 0)
        tap.equal(is_parked(), False)
        shop.restart(*QUICK)
        tap.wait_until(is_parked, what="the offer among the parked again")
        content["attributes"][0]["options"] = ["model1"]
        shop.ok("OfferService/UpdateOffer", {"id": one, "content": content, "expectedRevision": "1"})
        tap.wait_until(lambda: not is_parked(), what="an offer that fits")


@tap.test
def equal_ranges_are_not_gone_through():
    with Shop() as shop:
        for _ in range(20):
            shop.publish()
        shop.wait_for_index()
        shop.restart(*QUICK)
        looked = set()

        def has_looked_less():
            audit = shop.audit()
            looked.add(int(audit.get("lookedCount", "0")))
            return 20 in looked and len(looked) > 1     # the offers alone, and in their turn numbers, too

        tap.wait_until(has_looked_less, what="rounds without a look at the index")
        tap.comment(f"{sorted(looked)} of {shop.audit()['checkedCount']} keys")
        tap.equal(int(shop.audit().get("differenceSum", "0")), 0)


@tap.test
def another_content_at_the_same_version_is_put_right():
    with Shop() as shop:
        one, other = shop.publish(), shop.publish()
        shop.wait_for_index()

        def spoil():
            shop.run_sql("UPDATE registry SET (document, content, dictionary) = (SELECT document, content, "
                         "dictionary FROM registry WHERE pk = ?) WHERE pk = ?", other, one)

        shop.restart(*QUICK, between=spoil)

        def is_seen():
            return any(each["pk"] == one and each["reason"] == "content" and each["check"] == "offers"
                       for each in shop.audit().get("differences", []))

        tap.wait_until(is_seen, what="the other content to be seen")
        tap.wait_until(lambda: shop.verify("--rebuild")[1] == 0, what="all that agrees")
        shop.wait_for_index()


@tap.test
def an_index_that_lost_a_change_of_the_same_version_is_put_right():
    with Shop() as shop:
        key = shop.torg("key", "create", "all", "--scope", "*").stdout.strip()

        def put(title, moment):
            status, answer = shop.call("DocumentService/PutDocuments", {"documents": [
                {"pk": "d", "version": "1", "modifyTimestamp": moment,
                 "fields": [{"name": "title", "text": title}]}]}, key)
            tap.equal((status, answer["verdicts"][0]["kind"]), (200, "ACCEPTED"), answer)
            tap.wait_until(lambda: find(title), what=title)

        def find(text):
            status, answer = shop.call("SearcherService/Search", {"query": {"stages": [{"text": text}]}}, key)
            return status == 200 and int(answer["answer"]["stages"][0].get("total", "0"))

        index, topic = shop.data / "index", "topics/**/index.default.1/**/*.log"
        put("велосипед", "2026-01-01T00:00:00Z")
        shop.stop()
        shutil.copytree(index, shop.dir / "older")
        [size] = [path.stat().st_size for path in shop.data.glob(topic)]
        shop.start("up", NO_AUDITOR)
        put("самокат", "2026-01-01T00:00:01Z")

        def lose():
            shutil.rmtree(index)
            shutil.copytree(shop.dir / "older", index)
            for path in shop.data.glob(topic):
                os.truncate(path, size)
            shop.run_sql("DELETE FROM registry_offset WHERE group_id = 'topic/1'")      # or its owner would see it

        shop.restart(between=lose)
        tap.wait_until(lambda: find("велосипед"), what="the older content")
        tap.equal(bool(find("самокат")), False, "nobody has noticed")
        tap.equal(shop.verify()[1], 0, "versions are the same")
        shop.restart(*QUICK)
        tap.wait_until(lambda: find("самокат") and not find("велосипед"), what="the newer content")
        tap.contains([(each["check"], each["reason"]) for each in shop.audit()["differences"]],
                     ("index", "content"))


def start_on_copy(copy_first, copy_then):
    """On a directory of which a part is older than the other."""
    with Shop() as shop:
        copied = shop.dir / "copied"
        copied.mkdir()
        shop.work()
        copy_first(shop, copied)
        shop.work()
        copy_then(shop, copied)
        shop.restart(*EAGER, between=lambda: (shutil.rmtree(shop.data), copied.rename(shop.data)))
        shop.settle()


@tap.test
def topics_that_are_older_than_the_store_are_made_up_for():
    start_on_copy(Shop.copy_others, Shop.copy_store)


@tap.test
def topics_that_are_newer_than_the_store_are_put_right():
    start_on_copy(Shop.copy_store, Shop.copy_others)


@tap.test
def tails_of_topics_that_a_disk_has_lost_are_made_up_for():
    tap.comment(f"seed {SEED}")
    with Shop() as shop:
        def cut():
            sizes = {path: path.stat().st_size for path in sorted(shop.data.glob("topics/**/*.log"))}
            tap.equal(len(sizes) > 2, True, sizes)
            for path, size in sizes.items():
                os.truncate(path, size - shop.rng.randrange(size // 2 + 1))

        shop.work()
        shop.restart(*EAGER, between=cut, number=9)
        shop.settle()


tap.main()
