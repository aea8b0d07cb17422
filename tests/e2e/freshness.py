# SPDX-License-Identifier: Apache-2.0
"""A write is followed to those who search: by its token, by a search that waits, by torg trace."""
import concurrent.futures
import json
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import fetch, without_zeros  # noqa: E402
from kit.shop import BIKE, BOOK, CATALOG, Shop, check_digit  # noqa: E402

STAGES = ["saved", "exported", "composed", "received", "sent", "searchable"]
WAIT = 20           # of one call; a slow machine is asked again
MANY = 48           # as long as these held threads, 16 of them could wait


class Market(Shop):
    def progress(self, token, wait=WAIT, key=None):
        request = urllib.request.Request(f"{self.url}/v1/freshness/{token}?wait={wait}")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        return fetch(request)

    def arrived(self, receipt):
        """The write is searchable; what its token says of it."""
        def searchable():
            status, answer = self.progress(receipt["freshnessToken"])
            tap.equal(status, 200, answer)
            return answer.get("isSearchable") and answer

        answer = tap.wait_until(searchable, what=f"{receipt} is searchable")
        tap.equal([one["stage"] for one in answer["stages"]], STAGES)
        tap.equal({one["state"] for one in answer["stages"]}, {"PASSED"})
        return answer

    def titles(self, **request):
        """A search waits for three seconds at the most; who is told so asks again. So does who comes before
        a server that was started again has opened its index (503)."""
        def answered():
            status, answer = self.call("SearchService/SearchOffers", {"text": "bicycle", **request})
            if status == 503 or "wait" in request and status == 504:
                return None
            tap.equal(status, 200, answer)
            return answer

        answer = tap.wait_until(answered, what="the search has seen the write")
        return [one["title"] for one in answer.get("offers", [])]

    def trace(self, *words):
        done = self.torg("trace", *words, "--json")
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def steps(self, offer):
        code, trace = self.trace(offer)
        tap.equal(code, 0, trace)
        return {one["stage"]: {"state": "DONE", **one} for one in trace["steps"]}


class HastyMarket(Market):
    """Where searches wait in vain, they do so for seconds and not for a minute."""

    def start(self, *words):
        return super().start(*(words or ("up",)), "--search.deadline=3s")


def moment(text):
    """Seconds and what follows them: digits that are zero at the end are left out by threes."""
    seconds, _, rest = text.rstrip("Z").partition(".")
    return seconds, rest.ljust(9, "0")


def bike(title):
    return {"content": {**BIKE, "title": title}}


@tap.test
def a_published_offer_is_found_and_a_banned_one_is_gone():
    with Market() as market:
        moderator = market.key("moderator", scopes=("moderation",))
        # The very first offer: there is no index yet.
        began = time.monotonic()
        receipt = market.ok("OfferService/CreateOffer", bike("First bicycle"), market.alice)
        answer = market.arrived(receipt)
        tap.comment(f"the first is searchable after {time.monotonic() - began:.3f} s")
        tap.equal(bool(answer.get("isHidden")), False)
        tap.equal("time" in answer["stages"][-1], True, answer)
        tap.equal(market.titles(), ["First bicycle"])

        for number in range(20):
            title = f"Bicycle number {number}"
            receipt = market.ok("OfferService/CreateOffer", bike(title), market.alice)
            tap.equal(title in market.titles(wait=[receipt["freshnessToken"]], limit=50), True)
        opinion = {"offerId": receipt["id"], "revision": "1", "verdict": "BAN", "reasons": ["odd"]}
        banned = market.ok("ModerationService/GiveOpinion", opinion, moderator)["receipt"]
        tap.equal(title in market.titles(wait=[banned["freshnessToken"]], limit=50), False)
        answer = market.arrived(banned)
        tap.equal(answer["isHidden"], True)
        # An older write of the same offer has passed where the newer has.
        answer = market.arrived(receipt)
        tap.equal((answer["isHidden"], answer["isSuperseded"]), (True, True))
        tap.equal(market.steps(receipt["id"])["searchable"]["state"], "ABSENT")

        # Waits for several: of documents, too.
        document = {"pk": "x", "version": 1, "fields": [{"name": "title", "text": "word"}]}
        verdict = market.ok("DocumentService/PutDocuments",
                            {"client": "offers", "documents": [document]},
                            market.start_key)["verdicts"][0]
        tokens = [verdict["token"], banned["freshnessToken"], receipt["freshnessToken"]]
        tap.equal(len(market.titles(wait=tokens, limit=50)), 20)


@tap.test
def the_composers_client_is_reserved():
    with Market() as market:
        receipt = market.ok("OfferService/CreateOffer", bike("Honest bicycle"), market.alice)
        market.arrived(receipt)
        planted = {"pk": check_digit("1000-0000-0000-000"), "version": 1,
                   "fields": [{"name": "title", "text": "Planted bicycle"}]}
        gone = {"pk": receipt["id"], "version": 1 << 40, "event": "DELETE"}
        field = {"name": "planted", "type": "KEYWORD"}
        wide = market.key("wide", scopes=("documents", "stages", "search"))
        bound = market.key("bound", "--client", "offers", scopes=("documents",))
        for key, client in ((wide, "offers"), (bound, "offers"), (bound, "")):
            for method, message in (
                    ("DocumentService/PutDocuments", {"documents": [planted]}),
                    ("DocumentService/PutDocuments", {"documents": [gone], "lane": "EMERGENCY"}),
                    ("SchemaService/DeclareSchema", {"fields": [field]})):
                status, answer = market.call(method, {"client": client, **message}, key)
                tap.equal((status, answer.get("code")), (403, "permission_denied"), answer)
                tap.contains(answer["message"], "which only the composer writes: change an offer "
                             "by OfferService (scope offers.write), or name another client")
        later = market.ok("OfferService/CreateOffer", bike("Later bicycle"), market.alice)
        tap.equal(sorted(market.titles(wait=[later["freshnessToken"]])),
                  ["Honest bicycle", "Later bicycle"])
        # What is not the composer's, and what changes nothing, is allowed as before.
        wanted = {"client": "offers", "pk": receipt["id"]}
        kept = market.ok("DocumentService/GetDocument", wanted, wide)["document"]
        tap.equal(kept["pk"], receipt["id"])
        market.ok("SchemaService/GetSchema", {"client": "offers"}, bound)
        market.ok("DocumentService/PutDocuments", {"client": "shop", "documents": [planted]}, wide)
        # An operator may take an offer out; its next change brings it back.
        gone["version"] = kept["version"]
        verdict = market.ok("DocumentService/PutDocuments",
                            {"client": "offers", "documents": [gone]},
                            market.start_key)["verdicts"][0]
        tap.equal(market.titles(wait=[verdict["token"]]), ["Later bicycle"])
        back = market.ok("OfferService/UpdateOffer",
                         {"id": receipt["id"], "expectedRevision": receipt["revision"],
                          **bike("Honest bicycle")}, market.alice)
        tap.equal(sorted(market.titles(wait=[back["freshnessToken"]])),
                  ["Honest bicycle", "Later bicycle"])


@tap.test
def a_draft_is_not_followed_before_it_is_published():
    with Market() as market:
        draft = market.ok("DraftService/OpenDraft", {"category": "books"}, market.alice)["draft"]
        code, trace = market.trace(draft["id"])
        tap.equal((code, trace["steps"][0]["state"]), (4, "ABSENT"), trace)
        saved = market.ok("DraftService/SaveDraft",
                          {"id": draft["id"], "expectedRevision": draft["revision"],
                           "content": {**BOOK, "title": "A book on bicycle tours"}}, market.alice)
        tap.equal("freshnessToken" in saved, False)
        tap.equal(market.titles(), [])
        receipt = market.ok("DraftService/PublishDraft", {"id": draft["id"]}, market.alice)
        tap.equal(market.titles(wait=[receipt["freshnessToken"]]), ["A book on bicycle tours"])
        tap.equal({step["state"] for step in market.steps(draft["id"]).values()}, {"DONE"})


def many_wait(market, token):
    """More callers than there are places for those who hold a thread: they hold none."""
    def ask(number):
        if number % 2:
            return market.progress(token, wait=1)[0]
        return market.call("SearchService/SearchOffers", {"wait": [token]})[0]

    with concurrent.futures.ThreadPoolExecutor(MANY) as callers:
        tap.equal(list(callers.map(ask, range(MANY))), [504, 200] * (MANY // 2))


@tap.test
def a_parked_offer_says_so():
    with HastyMarket() as market:
        moderator = market.key("moderator", scopes=("moderation",))
        receipt = market.ok("OfferService/CreateOffer",
                            {"content": {**BOOK, "title": "Bicycle repair"}}, market.alice)
        market.arrived(receipt)
        opinion = {"offerId": receipt["id"], "revision": "1", "verdict": "BAN", "reasons": ["odd"]}
        market.arrived(market.ok("ModerationService/GiveOpinion", opinion, moderator)["receipt"])
        without = {**CATALOG, "categories": CATALOG["categories"][:1]}
        market.write("without.json", json.dumps(without))
        applied = market.torg("catalog", "apply", "without.json", "--force")
        tap.equal(applied.returncode, 0, applied.stderr)
        opinion = {"offerId": receipt["id"], "revision": "2", "verdict": "PASS"}
        back = market.ok("ModerationService/GiveOpinion", opinion, moderator)["receipt"]

        def is_parked():
            status, answer = market.progress(back["freshnessToken"], wait=0)
            states = {one["stage"]: one["state"] for one in answer["stages"]}
            return status == 200 and states["composed"] == "STUCK"
        tap.wait_until(is_parked, what="the offer to be parked")
        status, answer = market.call("SearchService/SearchOffers",
                                     {"wait": [back["freshnessToken"]]})
        tap.equal((status, answer["code"]), (504, "deadline_exceeded"), answer)
        tap.contains(answer["message"], "wait[0]: the change is not composed yet, and it is stuck")
        many_wait(market, back["freshnessToken"])
        status, answer = market.progress(back["freshnessToken"], wait=0.2)
        stuck = next(one for one in answer["stages"] if one["state"] == "STUCK")
        tap.contains(stuck["reason"], 'is of category "books"')
        tap.contains(stuck["mend"], f"torg parked replay --stage composer {receipt['id']}")
        tap.equal(bool(stuck["since"]), True, stuck)
        made_up = back["freshnessToken"][:-1] + ("A" if back["freshnessToken"][-1] != "A" else "Q")
        tap.equal(market.progress(made_up, wait=0)[0], 400)
        steps = market.steps(receipt["id"])
        tap.equal([steps[name]["state"] for name in ("saved", "exported", "composed", "received")],
                  ["DONE", "DONE", "STUCK", "WAITING"], steps)
        tap.contains(steps["composed"]["text"], 'is of category "books"')
        tap.contains(steps["composed"]["text"], "next retry at 2")
        tap.contains(market.torg("parked", "list", "--stage", "composer").stdout, receipt["id"])
        shown = market.torg("parked", "show", receipt["id"])
        tap.contains(shown.stdout, "topic offer-updates")
        tap.contains(shown.stdout, "Bicycle repair")
        dropped = market.torg("parked", "drop", receipt["id"])
        tap.equal(dropped.returncode, 2, dropped.stderr)        # whose? --stage

        market.write("catalog.json", json.dumps(CATALOG))
        tap.equal(market.torg("catalog", "apply", "catalog.json").returncode, 0)
        replayed = market.torg("parked", "replay", receipt["id"])
        if replayed.returncode:                 # its own next try was faster
            tap.contains(replayed.stderr, f"{receipt['id']} is not parked")
        else:
            tap.contains(market.torg("audit").stdout, "parked.replay")
        market.arrived(back)
        tap.equal(market.titles(), ["Bicycle repair"])


@tap.test
def tasks_of_feeds_and_states_of_stages_have_tokens():
    with Market() as market:
        stage = market.key("stage", scopes=("stages",))
        rows = [{"upsert": {"row": row, "externalId": f"x{row}", "content": {
            **BIKE, "title": f"Bicycle {row}"}}} for row in (1, 2, 3)]
        task = market.ok("FeedService/SendEvents", {"events": [
            {"feed": "main", "taskId": 1, "open": {}}, *rows, {"end": {"rowCount": 3}}]}, market.alice)
        market.arrived(task)
        tap.wait_until(lambda: len(market.titles()) == 3, what="all of the feed")
        again = market.ok("FeedService/GetTask", {"feed": "main", "taskId": 1}, market.alice)
        tap.equal(again["freshnessToken"], task["freshnessToken"])

        receipt = market.ok("OfferService/CreateOffer", bike("Priced bicycle"), market.alice)
        put = market.ok("StageService/PutStageState", {
            "offerId": receipt["id"], "stage": "pricing", "value": "AA=="}, stage)
        market.arrived(put)
        tap.equal("Priced bicycle" in market.titles(wait=[put["freshnessToken"]]), True)
        got = market.ok("StageService/GetStageState", {"offerId": receipt["id"], "stage": "pricing"}, stage)
        tap.equal(got["freshnessToken"], put["freshnessToken"])


@tap.test
def a_ban_waits_for_nobody():
    with Market() as market:
        moderator = market.key("moderator", scopes=("moderation",))
        receipt = market.ok("OfferService/CreateOffer", bike("Odd bicycle"), market.alice)
        market.arrived(receipt)
        tap.equal(market.titles(), ["Odd bicycle"])
        market.stop()       # nobody composes any more, as if a long feed lay before the composer
        market.start("serve", "system", "catalog", "offers", "offers-worker", "receiver", "indexer", "searcher",
                     "search")
        for number in range(3):
            market.ok("OfferService/UpdateOffer", {"id": receipt["id"], "content": bike(f"Odder {number}")["content"],
                                                   "expectedRevision": str(number + 1)}, market.alice)
        banned = market.ok("ModerationService/GiveOpinion", {
            "offerId": receipt["id"], "revision": "1", "verdict": "BAN", "reasons": ["odd"]}, moderator)["receipt"]
        tap.wait_until(lambda: not market.titles(), what="the ban to be seen")
        deleted = market.ok("OfferService/DeleteOffer", {
            "id": receipt["id"], "expectedRevision": banned["revision"]}, market.alice)
        market.stop()
        market.start("up")
        tap.equal(market.arrived(deleted).get("isHidden"), True)
        tap.equal(market.titles(), [])
        checked = market.torg("verify", "--rebuild")
        tap.equal(checked.returncode, 0, checked.stdout)


@tap.test
def a_trace_shows_all_stages_with_times():
    with Market() as market:
        receipt = market.ok("OfferService/CreateOffer", bike("Bicycle"), market.alice)
        market.arrived(receipt)
        steps = market.steps(receipt["id"])
        tap.equal(list(steps), ["saved", "exported", "composed", "received", "queued", "numbered",
                                "sent", "indexed", "searchable"])
        tap.equal({one["state"] for one in steps.values()}, {"DONE"}, steps)
        times = [moment(steps[name]["time"]) for name in ("saved", "exported", "composed", "sent",
                                                          "indexed", "searchable")]
        tap.equal(times, sorted(times))
        shown = market.torg("trace", receipt["id"])
        tap.equal(shown.stdout.splitlines()[0], f"{receipt['id']} of offers")
        tap.contains(shown.stdout, "revision 1, ACTIVE")
        # Blanks instead of dashes, when it is said that an offer is meant.
        code, trace = market.trace(receipt["id"].replace("-", " "), "--client", "offers")
        tap.equal((code, trace["pk"]), (0, receipt["id"]))
        typo = receipt["id"][:-1] + str((int(receipt["id"][-1]) + 1) % 10)
        tap.contains(market.torg("trace", typo).stderr, "id: ")
        tap.equal(market.trace(check_digit("1000-0000-0000-000"))[0], 4)
        bound = market.key("bound", "--client", "shop", scopes=("pipeline.read",))
        market.refused("permission_denied", "InspectService/TraceOffer", {"id": receipt["id"]},
                       bound)


def searchable(answer):
    return answer if answer.get("isSearchable") else None


@tap.test
def wrong_tokens_are_told():
    with Market() as market:
        receipt = market.ok("OfferService/CreateOffer", bike("Bicycle"), market.alice)
        token = receipt["freshnessToken"]
        for wrong, status, told in (("bicycle", 400, "token: this is not the token of a write"),
                                    (token[:-2], 400, "token: this is not the token of a write"),
                                    (token + "?wait=31", 400, "wait: 31 s; expected 0 to 30"),
                                    (token + "?wait=-1", 400, "wait: -1 s"),
                                    (token + "?wait=NaN", 400, "wait: "),
                                    (token + "?until=now", 400, "until")):
            wrong = wrong if "?" in wrong else wrong + "?wait=0"
            got = fetch(urllib.request.Request(f"{market.url}/v1/freshness/{wrong}"))
            tap.equal((got[0], told in got[1].get("message", "")), (status, True), got)
        market.refused("invalid_argument", "SearchService/SearchOffers", {"wait": ["bicycle"]})
        market.arrived(receipt)

        # A token of a document is for who may ask for its client.
        document = {"pk": "x", "version": 1, "fields": [{"name": "title", "text": "word"}]}
        verdict = market.ok("DocumentService/PutDocuments",
                            {"client": "shop", "documents": [document]},
                            market.start_key)["verdicts"][0]
        other = market.key("other", "--client", "other", scopes=("search",))
        own = market.key("own", "--client", "shop", scopes=("search",))
        for key, status in ((None, 401), (market.alice, 403), (other, 403), (own, 200),
                            (market.start_key, 200)):
            tap.equal(market.progress(verdict["token"], key=key)[0], status)
        answer = tap.wait_until(lambda: searchable(market.progress(verdict["token"], key=own)[1]),
                                what="the document")
        tap.equal([one["stage"] for one in answer["stages"]], STAGES[3:])
        same = market.ok("FreshnessService/GetProgress", {"token": verdict["token"], "wait": 1},
                         own)
        tap.equal(same, without_zeros(answer))


tap.main()
