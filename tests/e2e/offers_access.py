# SPDX-License-Identifier: Apache-2.0
"""Every method of the services of offers and of epochs, called by everybody: who may, who may not, and why not.

The methods are asked of the server: one without a row in the table below fails the test.
"""
import re
import urllib.parse
import urllib.request

from kit import tap
from kit.binary import fetch
from kit.shop import BIKE, BOOK, Shop

SERVICES = ("OfferService", "DraftService", "CabinetService", "ModerationService", "StageService",
            "CountersService", "EpochService")
OK, DENIED, MISSING, UNKNOWN, WRONG = ("ok", "permission_denied", "not_found", "unauthenticated",
                                       "invalid_argument")

# The callers: scopes, and the seller the key is bound to. `owner` has the offers and the draft.
CALLERS = {
    "nobody": None,
    "owner": (("offers.read", "offers.write"), "alice"),
    "owner's reader": (("offers.read",), "alice"),
    "owner's writer": (("offers.write",), "alice"),
    "other seller": (("offers.read", "offers.write"), "bob"),
    "site": (("offers.read", "offers.write"), ""),
    "searcher": (("search",), ""),
    "moderator": (("moderation",), ""),
    "stage": (("stages",), ""),
    "looker": (("pipeline.read",), ""),
    "operator": (("epochs",), ""),
    "admin": (("admin",), ""),
}


def answers(default=DENIED, **given):
    """What each caller is answered: `default`, unless the keywords (_ for blanks) say other."""
    told = {"nobody": UNKNOWN}
    told.update({name.replace("_s_", "'s ").replace("_", " "): code
                 for name, code in given.items()})
    return {caller: told.get(caller, default) for caller in CALLERS}


NO_CLIENT = {"client": "nobody-has-this"}

# What a seller may do with his own.
WRITE = answers(owner=OK, owner_s_writer=OK, other_seller=MISSING)
READ = answers(default=MISSING, nobody=MISSING, owner=OK, owner_s_reader=OK, site=OK, moderator=OK)
# Of what a seller has himself there is no foreign one to name: he gets his own, told apart below.
CABINET = answers(owner=OK, owner_s_reader=OK, other_seller=OK)
DRAFT = answers(owner=OK, owner_s_writer=OK, other_seller=MISSING, site=WRONG)

# method: (the message, what each caller is answered); the offer is withdrawn, unless said.
CASES = {
    "OfferService/GetOffer": (lambda at: {"id": at.offer}, READ),
    "OfferService/GetOffers": (lambda at: {"ids": [at.offer]}, answers(default=OK, nobody=OK)),
    "OfferService/CreateOffer": (lambda at: {"content": BOOK},
                                 answers(owner=OK, owner_s_writer=OK, other_seller=OK)),
    "OfferService/UpdateOffer": (lambda at: {"id": at.offer, "content": BIKE,
                                             "expectedRevision": at.revision()}, WRITE),
    "OfferService/ProlongOffer": (lambda at: {"id": at.active}, WRITE),
    "OfferService/WithdrawOffer": (lambda at: {"id": at.fresh()}, WRITE),
    "OfferService/RepublishOffer": (lambda at: {"id": at.withdrawn()}, WRITE),
    "OfferService/MarkOfferSold": (lambda at: {"id": at.fresh(), "where": "ELSEWHERE"}, WRITE),
    "OfferService/DeleteOffer": (lambda at: {"id": at.fresh()}, WRITE),
    # Before the other seller opens a draft: afterwards he would be answered with that.
    "DraftService/GetDraft": (lambda at: at.draft() and {}, DRAFT),
    "DraftService/OpenDraft": (lambda at: {},
                               answers(owner=OK, owner_s_writer=OK, other_seller=OK, site=OK)),
    "DraftService/SaveDraft": (lambda at: {"id": at.draft(), "content": BOOK}, DRAFT),
    "DraftService/DiscardDraft": (lambda at: {"id": at.draft()}, DRAFT),
    "DraftService/PublishDraft": (lambda at: {"id": at.full_draft()}, WRITE),
    "CabinetService/ListOffers": (lambda at: {}, CABINET),
    "CabinetService/GetCounts": (lambda at: {}, CABINET),
    "CabinetService/GetTotals": (lambda at: {}, CABINET),
    "ModerationService/GiveOpinion": (lambda at: {"offerId": at.offer, "verdict": "PASS",
                                                  "revision": at.next()}, answers(moderator=OK)),
    "ModerationService/GetModeration": (lambda at: {"offerId": at.offer}, answers(moderator=OK)),
    "StageService/GetStageState": (lambda at: {"offerId": at.offer, "stage": "pricing"},
                                   answers(stage=OK)),
    "StageService/PutStageState": (lambda at: {"offerId": at.offer, "stage": f"s{at.next()}",
                                               "value": "AA=="}, answers(stage=OK)),
    "CountersService/VerifyCounters": (lambda at: {}, answers(admin=OK)),
    # Who looks at the pipeline looks at epochs, and changes none; states of stages are another thing.
    "EpochService/GetEpochs": (lambda at: NO_CLIENT, answers(looker=MISSING)),
    "EpochService/PlanEpoch": (lambda at: NO_CLIENT, answers(looker=MISSING)),
    "EpochService/StartEpoch": (lambda at: NO_CLIENT, answers(operator=MISSING)),
    "EpochService/SwitchEpoch": (lambda at: {**NO_CLIENT, "epoch": 2}, answers(operator=MISSING)),
    "EpochService/RollbackEpoch": (lambda at: NO_CLIENT, answers(operator=MISSING)),
    "EpochService/AbandonEpoch": (lambda at: {**NO_CLIENT, "epoch": 2}, answers(operator=MISSING)),
    "EpochService/DropEpoch": (lambda at: {**NO_CLIENT, "epoch": 2}, answers(operator=MISSING)),
}


class Market(Shop):
    """What the callers are let loose on: offers and a draft of alice."""

    def __enter__(self):
        super().__enter__()
        self.number = 0
        self.keys = {"nobody": None}
        for place, (caller, rights) in enumerate(CALLERS.items()):
            if rights:
                bound = ("--seller", rights[1]) if rights[1] else ()
                self.keys[caller] = self.key(f"k{place}", *bound, scopes=rights[0])
        self.active = self.fresh()
        self.offer = self.withdrawn()
        self.ok("ModerationService/GiveOpinion",
                {"offerId": self.offer, "verdict": "PASS", "revision": self.next()},
                self.keys["moderator"])
        self.ok("StageService/PutStageState",
                {"offerId": self.offer, "stage": "pricing", "value": "AA=="}, self.keys["stage"])
        return self

    def next(self):
        self.number += 1
        return self.number

    def fresh(self):
        return self.ok("OfferService/CreateOffer", {"content": BIKE}, self.alice)["id"]

    def withdrawn(self):
        offer = self.fresh()
        self.ok("OfferService/WithdrawOffer", {"id": offer}, self.alice)
        return offer

    def revision(self):
        return int(self.ok("OfferService/GetOffer", {"id": self.offer}, self.alice)["revision"])

    def draft(self):
        return self.ok("DraftService/OpenDraft", {}, self.alice)["draft"]["id"]

    def full_draft(self):
        draft = self.draft()
        self.ok("DraftService/SaveDraft", {"id": draft, "content": BOOK}, self.alice)
        return draft

    def seen(self):
        """All that alice has; what a refused call must leave alone."""
        drafts = self.ok("CabinetService/ListOffers", {"preset": "DRAFTS"}, self.alice)
        return (self.ok("CabinetService/ListOffers", {"pageSize": 100}, self.alice), drafts,
                self.ok("CabinetService/GetTotals", {}, self.alice),
                self.ok("ModerationService/GetModeration", {"offerId": self.offer},
                        self.keys["moderator"]),
                self.ok("StageService/GetStageState", {"offerId": self.offer, "stage": "pricing"},
                        self.keys["stage"]))


@tap.test
def every_unary_method_has_a_case():
    with Shop() as shop:
        _, document = fetch(urllib.request.Request(f"{shop.url}/openapi.json"))
        found = {re.sub(r"^/torg\.v1\.", "", path) for path in document["paths"]}
        found = {method for method in found if method.split("/")[0] in SERVICES}
        tap.equal(sorted(found - CASES.keys()), [], "methods without a case")
        tap.equal(sorted(CASES.keys() - found), [], "no such method")


@tap.test
def every_method_that_reflection_shows_has_a_case():
    grpcurl = tap.tool("grpcurl")
    with Shop() as shop:
        address = urllib.parse.urlparse(shop.url).netloc
        found = set()
        for service in SERVICES:
            listed = tap.run(grpcurl, "-plaintext", "-connect-timeout", tap.PATIENCE_S, "-max-time",
                             tap.PATIENCE_S, address, "list", f"torg.v1.{service}")
            tap.equal((listed.returncode, listed.stderr), (0, ""))
            found |= {f"{service}/{line.rsplit('.', 1)[1]}" for line in listed.stdout.split()}
        tap.equal(sorted(found ^ CASES.keys()), [], "methods without a case, or cases without one")


def answer_of(market, method, message, key):
    """The code of the answer; a stream (a message a line) is taken as a whole."""
    status, answer = market.call(method, message, key)
    if status == 200:
        return OK, answer
    return answer["code"], answer


@tap.test
def each_method_by_each_caller():
    """Each method is called by all: first those who are refused, which must change nothing."""
    wrong = []
    with Market() as market:
        for method, (build, codes) in CASES.items():
            message = build(market)
            before = market.seen()
            refused = [caller for caller, code in codes.items() if code != OK]
            for caller in refused:
                code, answer = answer_of(market, method, message, market.keys[caller])
                if code != codes[caller]:
                    wrong.append((method, caller, code, codes[caller], answer))
            tap.equal(market.seen(), before, f"{method} changed something, though refused")
            for caller in codes.keys() - set(refused):
                code, answer = answer_of(market, method, build(market), market.keys[caller])
                if code != OK:
                    wrong.append((method, caller, code, OK, answer))
        tap.equal(wrong, [], "method, caller, answer, wanted")


@tap.test
def what_is_answered_to_another_seller_is_his_own():
    with Market() as market:
        market.full_draft()
        bob = market.keys["other seller"]
        tap.equal(market.ok("CabinetService/ListOffers", {}, bob), {})
        tap.equal(market.ok("CabinetService/ListOffers", {"preset": "DRAFTS"}, bob), {})
        tap.equal(market.counts(bob), {})
        tap.equal(market.ok("CabinetService/GetTotals", {}, bob), {})
        for caller in ("nobody", "other seller", "searcher", "owner's writer", "stage", "admin"):
            tap.equal(market.ok("OfferService/GetOffers", {"ids": [market.offer]},
                                market.keys[caller]), {"missing": [market.offer]}, caller)
        opened = market.ok("DraftService/OpenDraft", {}, bob)["draft"]["id"]
        tap.equal(opened != market.draft(), True)
        made = market.ok("OfferService/CreateOffer", {"content": BOOK}, bob)["id"]
        tap.equal(market.ok("OfferService/GetOffer", {"id": made}, bob)["seller"], "bob")


tap.main()
