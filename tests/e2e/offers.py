# SPDX-License-Identifier: Apache-2.0
"""Offers through the API of `torg up`: the tour, and who may reach what."""
import json
import os

from kit import chain
from kit import tap
from kit.binary import TOP
from kit.shop import BIKE, BOOK, CATALOG, NOBODY, Shop, check_digit


@tap.test
def a_draft_is_told_what_is_missing_published_and_counted():
    with Shop() as shop:
        draft = shop.curl("DraftService/OpenDraft", {"category": "bikes"}, shop.alice)["draft"]
        missing = {one["field"] for one in draft["problems"]}
        tap.equal(missing, {"content.title", "content.price", "content.attributes"})
        answer = shop.curl("DraftService/PublishDraft", {"id": draft["id"]}, shop.alice)
        tap.equal(answer["code"], "invalid_argument")
        tap.equal(set(tap.faults(answer)), missing)
        tap.equal(shop.counts(shop.alice), {"DRAFTS": 1})
        saved = shop.curl("DraftService/SaveDraft", {"id": draft["id"], "content": BIKE},
                          shop.alice)
        tap.equal((saved["revision"], saved["problems"]), ("2", []))
        offer = shop.curl("DraftService/PublishDraft", {"id": draft["id"]}, shop.alice)
        tap.equal((offer["id"], offer["revision"], offer["status"]), (draft["id"], "1", "ACTIVE"))
        tap.equal(bool(offer["freshnessToken"]), True)
        tap.equal(shop.counts(shop.alice), {"ALL": 1, "ACTIVE": 1})
        listed = shop.curl("CabinetService/ListOffers", {"preset": "ACTIVE"}, shop.alice)
        tap.equal([one["id"] for one in listed["offers"]], [offer["id"]])
        tap.equal(listed["offers"][0]["content"]["title"], "A bicycle")
        tap.equal(shop.counts(shop.bob), {})
        tap.equal(shop.stop(), 0)


@tap.test
def a_change_is_seen_in_the_topic():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)
        shop.ok("OfferService/WithdrawOffer", {"id": offer["id"]}, shop.alice)

        def read(*words):
            told = shop.torg("topic", "read", "offer-updates", "--json", *words)
            tap.equal((told.returncode, told.stderr), (0, ""))
            return json.loads(told.stdout).get("records", [])

        tap.wait_until(lambda: len(read()) == 2, what="both changes in the topic")
        records = read()
        tap.equal([json.loads(one["json"])["offer"]["status"] for one in records],
                  ["ACTIVE", "WITHDRAWN"])
        tap.equal({one["key"] for one in records}, {offer["id"]})
        place = f"{records[1].get('partition', 0)}:{records[1]['offset']}"
        tap.equal(read("--from", place), records[1:])
        tap.equal(read("--limit", "1"), records[1:])
        tap.contains(shop.torg("topic", "list").stdout, "offer-updates")
        shop.refused("permission_denied", "TopicService/ReadTopic", {"topic": "offer-updates"},
                     shop.alice)
        for words, said in ((("read", "nothing"), "there is no topic nothing; torg topic list"),
                            (("read", "offer-updates", "--from", "99"), "counted from 0"),
                            (("read", "offer-updates", "--from", "x"), "PARTITION"),
                            (("read", "offer-updates", "--limit", "0"), "1 to 1000"),
                            (("write", "offer-updates", os.devnull), "only Torg itself writes offer-updates"),
                            (("write", "nothing", os.devnull), "there is no topic nothing"),
                            (("write", "feed-events", TOP / "README.md"), "json: ")):
            told = shop.torg("topic", *words)
            tap.equal(told.returncode != 0, True)
            tap.contains(told.stderr, said)
        tap.equal(shop.stop(), 0)
        tap.equal(len(read()), 2)


@tap.test
def an_offer_survives_kill_9():
    with Shop() as shop:
        made = shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)
        shop.process.kill()
        shop.process.wait()
        shop.start()
        tap.equal(shop.ok("OfferService/GetOffer", {"id": made["id"]}, shop.alice)["revision"], "1")
        tap.equal(shop.counts(shop.alice), {"ALL": 1, "ACTIVE": 1})


@tap.test
def a_life_with_its_figures():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)
        asked = {"id": offer["id"]}
        answer = shop.refused("failed_precondition", "OfferService/RepublishOffer", asked,
                              shop.alice)
        tap.contains(answer["message"], "is ACTIVE")
        tap.contains(answer["message"], "withdraw")
        for method, status in (("Withdraw", "WITHDRAWN"), ("Republish", "ACTIVE"),
                               ("Prolong", "ACTIVE")):
            tap.equal(shop.ok(f"OfferService/{method}Offer", asked, shop.alice)["status"], status)
        shop.refused("invalid_argument", "OfferService/MarkOfferSold", asked, shop.alice)
        sold = shop.ok("OfferService/MarkOfferSold", {**asked, "where": "ON_SITE"}, shop.alice)
        tap.equal((sold["status"], sold["revision"]), ("SOLD_ON_SITE", "5"))
        totals = shop.ok("CabinetService/GetTotals", {}, shop.alice)
        tap.equal(totals, {"sold": "1", "earned": [{"amount": "150000", "currency": "RUB"}]})
        shop.ok("OfferService/DeleteOffer", {**asked, "expectedRevision": 5}, shop.alice)
        tap.equal(shop.counts(shop.alice), {})
        tap.equal(shop.ok("CabinetService/GetTotals", {}, shop.alice), totals)


@tap.test
def updates_need_the_revision_that_was_read():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)
        changed = {"id": offer["id"], "content": {**BIKE, "title": "A better bicycle"}}
        shop.refused("invalid_argument", "OfferService/UpdateOffer", changed, shop.alice)
        answer = shop.refused("aborted", "OfferService/UpdateOffer",
                              {**changed, "expectedRevision": 7}, shop.alice)
        tap.contains(answer["message"], "is at revision 1, not 7")
        answer = shop.refused("invalid_argument", "OfferService/UpdateOffer",
                              {**changed, "expectedRevision": 1, "content": {"category": "no"}},
                              shop.alice)
        tap.equal(list(tap.faults(answer)),
                  ["content.category", "content.title"])
        shop.ok("OfferService/UpdateOffer", {**changed, "expectedRevision": 1}, shop.alice)
        read = shop.ok("OfferService/GetOffer", {"id": offer["id"]}, shop.alice)
        tap.equal((read["revision"], read["content"]["title"]), ("2", "A better bicycle"))


@tap.test
def a_taken_external_id_is_told_with_its_offer():
    with Shop() as shop:
        named = {"content": {**BOOK, "externalId": "sku-1"}}
        word = ("-H", "Idempotency-Key: one")
        offer = shop.curl("OfferService/CreateOffer", named, shop.alice, *word)
        answer = shop.refused("already_exists", "OfferService/CreateOffer", named, shop.alice)
        tap.contains(answer["message"], offer["id"])
        draft = shop.ok("DraftService/OpenDraft", {}, shop.alice)["draft"]["id"]
        shop.ok("DraftService/SaveDraft", {"id": draft, **named}, shop.alice)
        shop.refused("already_exists", "DraftService/PublishDraft", {"id": draft}, shop.alice)
        again = shop.curl("OfferService/CreateOffer", named, shop.alice, *word)
        tap.equal(again["id"], offer["id"])
        shop.ok("OfferService/CreateOffer", named, shop.bob)
        shop.ok("OfferService/DeleteOffer", {"id": offer["id"]}, shop.alice)
        tap.equal(shop.ok("DraftService/PublishDraft", {"id": draft}, shop.alice)["id"], draft)


@tap.test
def a_typo_is_told_from_a_missing_offer():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)["id"]
        typo = offer[:-1] + str((int(offer[-1]) + 1) % 10)
        answer = shop.refused("invalid_argument", "OfferService/GetOffer", {"id": typo}, shop.alice)
        tap.contains(answer["message"], "typo")
        tap.equal(list(tap.faults(answer))[0], "id")
        missing = {"id": check_digit(NOBODY[:-1])}
        shop.refused("not_found", "OfferService/GetOffer", missing, shop.alice)
        plain = offer.replace("-", "")
        tap.equal(shop.ok("OfferService/GetOffer", {"id": plain}, shop.alice)["id"], offer)


@tap.test
def strangers_see_active_offers_without_phones():
    with Shop() as shop:
        named = {"content": {**BIKE, "externalId": "sku-1", "contacts": {
            "name": "Alice", "phones": ["+79001234567"], "email": "alice@example.org"}}}
        asked = {"id": shop.ok("OfferService/CreateOffer", named, shop.alice)["id"]}
        moderator = shop.key("moderator", scopes=("moderation",))
        searcher = shop.key("searcher", scopes=("search",))
        alices_writer = shop.key("alices", "--seller", "alice", scopes=("offers.write",))
        for key in (None, shop.bob, searcher, alices_writer):
            content = shop.ok("OfferService/GetOffer", asked, key)["content"]
            tap.equal((content["title"], content.get("contacts", {}), "externalId" in content),
                      ("A bicycle", {"name": "Alice"}, False))
        for key in (shop.alice, shop.site, moderator, shop.start_key):
            content = shop.ok("OfferService/GetOffer", asked, key)["content"]
            tap.equal((bool(content["contacts"]["phones"]), content["externalId"]), (True, "sku-1"))
        gone = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        shop.ok("OfferService/DeleteOffer", {"id": gone}, shop.alice)
        answer = shop.ok("OfferService/GetOffers", {"ids": [asked["id"], gone] * 50}, shop.bob)
        tap.equal(([one["id"] for one in answer["offers"]], answer["missing"]), ([asked["id"]], [gone]),
                  "what is asked for twice is answered once")
        shop.ok("OfferService/WithdrawOffer", asked, shop.alice)
        for key in (None, shop.bob, searcher, alices_writer):
            shop.refused("not_found", "OfferService/GetOffer", asked, key)
            tap.equal(shop.ok("OfferService/GetOffers", {"ids": [asked["id"]]}, key),
                      {"missing": [asked["id"]]})
        for key in (shop.alice, shop.site, moderator):
            tap.equal(shop.ok("OfferService/GetOffer", asked, key)["status"], "WITHDRAWN")


@tap.test
def nobody_changes_what_is_anothers():
    """Each writing method on an offer and on a draft of another seller, visitor or nobody."""
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        draft = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.alice)["draft"]["id"]
        visitor = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.site)
        other = shop.ok("DraftService/OpenDraft", {}, shop.site)["anonymousId"]
        shop.ok("DraftService/OpenDraft", {}, shop.bob)
        before = (shop.ok("OfferService/GetOffer", {"id": offer}, shop.alice),
                  shop.ok("DraftService/GetDraft", {}, shop.alice),
                  shop.ok("DraftService/GetDraft", {"anonymousId": visitor["anonymousId"]},
                          shop.site), shop.counts(shop.alice))
        writes = {
            "UpdateOffer": {"expectedRevision": 1, "content": BIKE}, "ProlongOffer": {},
            "WithdrawOffer": {}, "RepublishOffer": {}, "DeleteOffer": {},
            "MarkOfferSold": {"where": "ON_SITE"},
        }
        for method, message in writes.items():
            call = (f"OfferService/{method}", {**message, "id": offer})
            answer = shop.refused("not_found", *call, shop.bob)
            missing = check_digit(NOBODY[:-1])
            nothing = shop.refused("not_found", f"OfferService/{method}",
                                   {**message, "id": missing}, shop.bob)
            tap.equal(answer["message"].replace(offer, missing), nothing["message"])
            shop.refused("permission_denied", *call, shop.site)
            shop.refused("unauthenticated", *call)
        for method, message in {"SaveDraft": {"content": BOOK}, "DiscardDraft": {}}.items():
            for draft_id in (draft, visitor["draft"]["id"]):
                call = (f"DraftService/{method}", {**message, "id": draft_id})
                shop.refused("not_found", *call, shop.bob)
                shop.refused("not_found", call[0], {**call[1], "anonymousId": other}, shop.site)
                shop.refused("invalid_argument", *call, shop.site)
                shop.refused("unauthenticated", *call)
        for draft_id in (draft, visitor["draft"]["id"]):
            call = ("DraftService/PublishDraft", {"id": draft_id})
            shop.refused("not_found", *call, shop.bob)
            shop.refused("permission_denied", *call, shop.site)
            shop.refused("unauthenticated", *call)
        after = (shop.ok("OfferService/GetOffer", {"id": offer}, shop.alice),
                 shop.ok("DraftService/GetDraft", {}, shop.alice),
                 shop.ok("DraftService/GetDraft", {"anonymousId": visitor["anonymousId"]},
                         shop.site), shop.counts(shop.alice))
        tap.equal(after, before)


@tap.test
def scopes_are_needed():
    with Shop() as shop:
        reader = shop.key("reader", "--seller", "alice", scopes=("offers.read",))
        writer = shop.key("writer", "--seller", "alice", scopes=("offers.write",))
        for method in ("OfferService/CreateOffer", "OfferService/UpdateOffer",
                       "OfferService/ProlongOffer", "OfferService/WithdrawOffer",
                       "OfferService/RepublishOffer", "OfferService/MarkOfferSold",
                       "OfferService/DeleteOffer", "DraftService/OpenDraft",
                       "DraftService/GetDraft", "DraftService/SaveDraft",
                       "DraftService/DiscardDraft", "DraftService/PublishDraft"):
            shop.refused("permission_denied", method, {}, reader)
        for method in ("ListOffers", "GetCounts", "GetTotals"):
            shop.refused("permission_denied", f"CabinetService/{method}", {}, writer)
            shop.refused("permission_denied", f"CabinetService/{method}", {}, shop.site)
            shop.refused("unauthenticated", f"CabinetService/{method}", {})
        answer = shop.refused("permission_denied", "OfferService/CreateOffer", {"content": BOOK},
                              shop.start_key)
        tap.contains(answer["message"], "bound to no seller")


@tap.test
def a_visitor_logs_in():
    with Shop() as shop:
        opened = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.site)
        me = opened["anonymousId"]
        tap.equal(len(me), 22)
        again = shop.ok("DraftService/OpenDraft", {"anonymousId": me}, shop.site)
        tap.equal(again["draft"]["id"], opened["draft"]["id"])
        shop.ok("DraftService/SaveDraft", {"id": opened["draft"]["id"], "content": BOOK,
                                           "anonymousId": me}, shop.site)
        shop.refused("invalid_argument", "DraftService/OpenDraft", {"anonymousId": "x"}, shop.site)
        logged_in = shop.ok("DraftService/OpenDraft", {"anonymousId": me, "category": "books"},
                            shop.alice)
        tap.equal(logged_in["draft"]["id"], opened["draft"]["id"])
        tap.equal(logged_in["draft"]["content"]["title"], "A book")
        tap.equal("anonymousId" in logged_in, False)
        shop.refused("not_found", "DraftService/GetDraft", {"anonymousId": me}, shop.site)
        tap.equal(shop.ok("DraftService/OpenDraft", {"anonymousId": me, "category": "books"},
                          shop.alice)["draft"]["id"], opened["draft"]["id"])
        listed = shop.ok("CabinetService/ListOffers", {"preset": "DRAFTS"}, shop.alice)
        tap.equal([one["id"] for one in listed["drafts"]], [opened["draft"]["id"]])
        shop.ok("DraftService/DiscardDraft", {"id": opened["draft"]["id"]}, shop.alice)
        shop.refused("not_found", "DraftService/GetDraft", {}, shop.alice)


@tap.test
def an_unknown_category_leaves_the_draft_alone():
    with Shop() as shop:
        draft = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.alice)["draft"]["id"]
        shop.ok("DraftService/SaveDraft", {"id": draft, "content": BOOK}, shop.alice)
        answer = shop.refused("invalid_argument", "DraftService/OpenDraft", {"category": "boks"},
                              shop.alice)
        tap.contains(answer["message"], 'there is no category "boks"')
        tap.equal(list(tap.faults(answer))[0], "category")
        kept = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.alice)["draft"]
        tap.equal((kept["id"], kept["content"]["title"]), (draft, "A book"))


@tap.test
def buyers_reach_sellers():
    with Shop() as shop:
        tap.equal(shop.stop(), 0)
        shop.start("up", "--offers.contacts_per_hour=4")
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        hidden = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        shop.ok("OfferService/WithdrawOffer", {"id": hidden}, shop.alice)
        told = {"id": offer, "text": "Is it still there?", "name": "Ann", "replyTo": "+79007654321"}
        for wrong, field in (({"text": " "}, "text"), ({"text": "x" * 2001}, "text"),
                             ({"replyTo": ""}, "replyTo"), ({"name": "a\nb"}, "name"),
                             ({"id": "12"}, "id")):
            answer = shop.refused("invalid_argument", "ContactService/SendMessage", {**told, **wrong})
            tap.equal(field in str(answer["details"]), True, answer)
        for method in ("RevealContacts", "SendMessage"):
            shop.refused("not_found", f"ContactService/{method}",
                         {**told, "id": hidden} if method == "SendMessage" else {"id": hidden})
        for _ in range(2):
            tap.equal(shop.ok("ContactService/RevealContacts", {"id": offer}),
                      {"phones": ["+79001234567"]})
        for text in ("Is it still there?", "Hello?"):
            shop.ok("ContactService/SendMessage", {**told, "text": text})
        # An address has had its four; a key has its own.
        for method, message in (("RevealContacts", {"id": offer}), ("SendMessage", told)):
            answer = shop.refused("resource_exhausted", f"ContactService/{method}", message)
            tap.equal("4 contacts an hour" in answer["message"], True, answer)
        shop.ok("ContactService/RevealContacts", {"id": offer}, shop.bob)

        def messages(key, **page):
            return shop.ok("ContactService/ListMessages", page, key)

        tap.wait_until(lambda: len(messages(shop.alice).get("messages", [])) == 2, what="both messages")
        answer = messages(shop.alice, pageSize=1)
        tap.equal([(one["text"], one["name"], one["replyTo"], one["offerId"], one["title"])
                   for one in answer["messages"]],
                  [("Hello?", "Ann", "+79007654321", offer, "A bicycle")])
        tap.equal(answer["revealCount"], "3")
        answer = messages(shop.alice, pageSize=1, pageToken=answer["nextPageToken"])
        tap.equal(answer["messages"][0]["text"], "Is it still there?")
        tap.equal(messages(shop.bob).get("messages", []), [])
        tap.equal(shop.call("ContactService/ListMessages", {})[0], 401)


@tap.test
def abandoned_drafts_of_visitors_are_purged():
    with Shop() as shop:
        visitor = shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.site)["anonymousId"]
        shop.ok("DraftService/OpenDraft", {"category": "books"}, shop.alice)
        tap.equal(shop.stop(), 0)
        shop.start("up", "--offers.visitor_draft_life=1ms")
        tap.wait_until(lambda: shop.call("DraftService/GetDraft", {"anonymousId": visitor},
                                         shop.site)[0] == 404, what="the purge")
        tap.wait_until(lambda: "torg_offers_drafts_purged_total 1\n" in chain.fetch_text(
            f"{shop.operators}/metrics"), what="it is counted")
        shop.ok("DraftService/GetDraft", {}, shop.alice)


@tap.test
def a_write_with_a_key_happens_once():
    with Shop() as shop:
        word = ("-H", "Idempotency-Key: 0d6f")
        first = shop.curl("OfferService/CreateOffer", {"content": BOOK}, shop.alice, *word)
        again = shop.curl("OfferService/CreateOffer", {"content": BOOK}, shop.alice, *word)
        tap.equal(again, first)
        other = shop.curl("OfferService/CreateOffer", {"content": BIKE}, shop.alice, *word)
        tap.equal(other["code"], "failed_precondition")
        other = shop.curl("OfferService/DeleteOffer", {"id": first["id"]}, shop.alice, *word)
        tap.equal(other["code"], "failed_precondition")
        long = shop.curl("OfferService/CreateOffer", {"content": BOOK}, shop.alice, "-H",
                         "Idempotency-Key: " + "x" * 65)
        tap.equal(long["code"], "invalid_argument")
        tap.equal(shop.counts(shop.alice), {"ALL": 1, "ACTIVE": 1})
        tap.equal(shop.curl("OfferService/CreateOffer", {"content": BOOK}, shop.bob,
                            *word)["id"] != first["id"], True)


@tap.test
def lists_are_paged_newest_first():
    with Shop() as shop:
        made = [shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)["id"]
                for _ in range(7)]
        seen, token, pages = [], "", 0
        while pages == 0 or token:
            page = shop.ok("CabinetService/ListOffers", {"pageSize": 3, "pageToken": token},
                           shop.alice)
            seen += [one["id"] for one in page.get("offers", [])]
            token, pages = page.get("nextPageToken", ""), pages + 1
            if pages == 1:
                first = token
        tap.equal((seen, pages), (made[::-1], 3))
        for bad in ({"pageSize": 101}, {"pageSize": -1}, {"pageToken": "x"}, {"preset": 9},
                    {"preset": 100}, {"preset": "SOLD", "pageToken": first}):
            shop.refused("invalid_argument", "CabinetService/ListOffers", bad, shop.alice)


@tap.test
def a_change_of_the_catalogue_tells_what_it_breaks():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BOOK}, shop.alice)["id"]
        stricter = json.loads(json.dumps(CATALOG))
        stricter["categories"][1]["attributes"] = ["color"]
        shop.write("stricter.json", json.dumps(stricter))
        answer = shop.torg("catalog", "apply", "stricter.json")
        tap.equal(answer.returncode != 0, True)
        tap.contains(answer.stdout + answer.stderr, offer)


tap.main()
