# SPDX-License-Identifier: Apache-2.0
"""What consoles read: every stage of the pipeline by one call, also of roles that run elsewhere or
nowhere; and a feed file by one call, as the cabinet sends it.

usage: pipeline.py TOPIC_PUT
"""
import base64
import gzip
import json
import sys
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Database, Place  # noqa: E402
from kit.shop import BIKE, CATALOG, Shop  # noqa: E402

PUT = sys.argv.pop(1)
STILL_S = 10                # PIPELINE_STILL_MS: what stands still for so long is stuck
STAGES = ["offers", "export", "offer-updates", "composer", "documents", "receiver", "queue",
          "indexer", "index", "searcher", "search"]


def stages(place, key):
    status, answer = place.call("PipelineService/GetPipeline", {}, key)
    tap.equal(status, 200, answer)
    return {one["name"]: one for one in answer["stages"]}, answer


def number(stage, field):
    return int(stage.get(field, 0))


@tap.test
def counts_grow_along_the_whole_way():
    with Shop() as shop:
        before, answer = stages(shop, shop.start_key)
        tap.equal([one["name"] for one in answer["stages"]], STAGES)
        tap.equal([one["name"] for one in answer["stages"] if one.get("isHere")],
                  [one["name"] for one in answer["stages"] if one.get("role")])
        for number_of in range(5):
            shop.ok("OfferService/CreateOffer",
                    {"content": {**BIKE, "title": f"Bicycle {number_of}",
                                 "externalId": f"sku-{number_of}"}}, shop.alice)

        def settled():
            now, answer = stages(shop, shop.start_key)
            grown = {name: number(now[name], "doneCount") - number(before[name], "doneCount")
                     for name in STAGES}
            flow = ("offers", "export", "offer-updates", "composer", "receiver", "queue", "indexer")
            is_calm = all(one.get("state", "OK") == "OK" for one in answer["stages"])
            return all(grown[name] == 5 for name in flow) and grown["index"] >= 5 \
                and grown["searcher"] == grown["index"] and is_calm and answer
        answer = tap.wait_until(settled, what="five changes everywhere, and nothing waits")
        client = next(one for one in answer["clients"] if one["client"] == "offers")
        tap.equal([one["state"] for one in client["epochs"]], ["SERVING"])
        used = sum(number(shard, "usedCount") for shard in client["shards"])
        docs = sum(number(shard["replicas"][0], "docCount") for shard in client["shards"])
        tap.equal(docs, 5)
        tap.equal(used <= 5, True)      # numbers are counted less often

        status, _ = shop.answered("SearchService/SearchOffers", {"text": "bicycle"})
        tap.equal(status, 200)
        tap.wait_until(lambda: number(stages(shop, shop.start_key)[0]["search"], "doneCount") >= 1,
                       what="the search is counted")


@tap.test
def two_processes_on_postgres_tell_the_same():
    with Database() as database, Place() as first, Place() as second:
        store = f"--store.url={database.url}"
        first.start("up", store)
        second.start("serve", "system", store)
        first.write("catalog.json", json.dumps(CATALOG))
        tap.equal(first.torg("catalog", "apply", "--force", "catalog.json", store).returncode, 0)
        made = first.torg("key", "create", "s", "--seller", "s", "--scope", "offers.write", store)
        operator = first.torg("key", "create", "op", "--scope", "pipeline.read", store).stdout.strip()
        status, answer = first.call("OfferService/CreateOffer", {"content": BIKE},
                                    made.stdout.strip())
        tap.equal(status, 200, answer)
        tap.wait_until(lambda: number(stages(first, operator)[0]["indexer"], "doneCount") == 1,
                       what="the change is indexed")
        tap.wait_until(lambda: all(one.get("state") != "UNKNOWN"
                                   for one in stages(first, operator)[1]["stages"]),
                       what="every stage is known")
        tap.wait_until(lambda: second.call("PipelineService/GetPipeline", {}, operator)[0] == 200,
                       what="the key is known")

        def told_there():
            there, answer = stages(second, operator)
            counts = [number(there[name], "doneCount") for name in ("offers", "export", "indexer")]
            shards = [one["shards"][0] for one in answer["clients"] if one["client"] == "offers"]
            # Topics of the second are its own; numbers are counted less often.
            return counts == [1, 1, 1] and shards and number(shards[0], "usedCount") == 1 and answer

        answer = tap.wait_until(told_there, what="the same counts in the second process")
        tap.equal(any(one.get("isHere") for one in answer["stages"]), False)


@tap.test
def it_is_for_operators():
    with Shop() as shop:
        status, _ = shop.call("PipelineService/GetPipeline")
        tap.equal(status, 401)
        shop.refused("permission_denied", "PipelineService/GetPipeline", {}, shop.alice)
        bound = shop.key("bound", "--client", "x", scopes=("pipeline.read",))
        for method in ("PipelineService/GetPipeline", "ParkedService/ListParked",
                       "InspectService/PlanVerify"):
            shop.refused("permission_denied", method, {}, bound)


@tap.test
def what_no_process_does_is_told_as_stuck():
    with Place() as place:
        place.start("serve", "system", "catalog", "offers", "offers-worker")
        place.write("catalog.json", json.dumps(CATALOG))
        tap.equal(place.torg("catalog", "apply", "catalog.json").returncode, 0)
        key = place.torg("key", "create", "s", "--seller", "s", "--scope", "offers.write")
        operator = place.torg("key", "create", "op", "--scope", "pipeline.read").stdout.strip()
        status, answer = place.call("OfferService/CreateOffer", {"content": BIKE}, key.stdout.strip())
        tap.equal(status, 200, answer)
        looks = []

        def one_waits():
            looks.append(time.monotonic())
            now = stages(place, operator)[0]
            return number(now["composer"], "lagCount") == 1 and now

        now = tap.wait_until(one_waits, what="one waits for the composer")
        tap.equal(now["composer"].get("isHere", False), False)
        # A machine that stood still between two looks: then so did the composer, for too long.
        gap = time.monotonic() - looks[-2 if len(looks) > 1 else -1]
        if gap < STILL_S - 1:
            tap.equal(now["composer"].get("state"), "WAITING", now["composer"])
        tap.equal(now["export"].get("isHere"), True)
        for name in ("searcher", "search"):
            tap.equal(now[name]["state"], "UNKNOWN")
        tap.wait_until(lambda: stages(place, operator)[0]["composer"].get("state") == "FAILING",
                       what="nobody takes it")
        tap.contains(stages(place, operator)[0]["composer"]["reason"],
                     "does a process run the role composer")


@tap.test
def whatever_is_parked_is_told():
    stage_of = {"takedowns": "receiver", "index-refusals": "indexer", "seller-messages": "offers"}
    with Shop() as shop:
        tap.equal(shop.stop(), 0)
        for topic in stage_of:
            put = tap.run(PUT, shop.data / "topics", topic, "garbage")
            tap.equal((put.returncode, put.stderr), (0, ""))
        shop.start()

        def parked():
            now, answer = stages(shop, shop.start_key)
            return [number(now[name], "parkedCount") for name in stage_of.values()] == [1] * 3 and answer
        answer = tap.wait_until(parked, what="one that is parked by each")
        tap.equal(number(answer, "parkedCount"), len(stage_of))
        listed = json.loads(shop.torg("parked", "list", "--json").stdout)
        tap.equal(number(listed, "count"), len(stage_of))


@tap.test
def a_feed_file_is_imported_by_one_call():
    rows = "id;category;title;price;colour\na;bikes;First bicycle;1000;red\n" \
           "b;bikes;Second bicycle;2000;blue\nc;boats;A boat;5;\n"
    with Shop() as shop:
        def send(text, **more):
            content = base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()
            return shop.ok("FeedService/ImportFile", {"content": content, **more}, shop.alice)
        dry = send(rows, dryRun=True)
        tap.equal((dry["format"], dry["task"]["state"], dry["task"]["counts"]["created"],
                   dry["task"]["counts"]["refused"]), ("csv", "DONE", "2", "1"))
        tap.equal(shop.counts(shop.alice), {})
        done = send(gzip.compress(rows.encode()))
        tap.equal((done["task"]["taskId"], done["task"]["counts"]["created"]), ("2", "2"))
        tap.equal(shop.counts(shop.alice)["ACTIVE"], 2)
        cut = send(gzip.compress(rows.replace("1000", "1100").encode())[:-12])
        tap.equal((cut["task"]["state"], cut["task"]["hold"]), ("HELD", "CUT_SHORT"))
        tap.equal(bool(cut["broken"]), True)
        mapped = send(rows, categories=base64.b64encode(b"boats,books\n").decode())
        tap.equal(mapped["task"]["counts"]["created"], "1")

        for text, told in (("", "expected a file"), ("\0\0\0", "")):
            content = base64.b64encode(text.encode()).decode()
            answer = shop.refused("invalid_argument", "FeedService/ImportFile",
                                  {"content": content}, shop.alice)
            tap.contains(answer["message"], told)
        shop.refused("permission_denied", "FeedService/ImportFile", {"content": "YQ=="},
                     shop.key("reader", "--seller", "alice", scopes=("offers.read",)))


@tap.test
def a_seller_is_told_why_an_offer_is_banned():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        moderator = shop.key("moderator", scopes=("moderation",))
        shop.ok("ModerationService/GiveOpinion", {
            "offerId": offer, "revision": 1, "verdict": "BAN", "reasons": ["a stolen photo"]}, moderator)
        told = shop.ok("OfferService/GetOffer", {"id": offer}, shop.alice)
        tap.equal((told["status"], told["banReasons"]), ("BANNED", ["a stolen photo"]))


tap.main()
