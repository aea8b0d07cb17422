# SPDX-License-Identifier: Apache-2.0
"""Who may what: bound keys against every method, rotation, revocation of what is open, the audit log."""
import base64
import json
import re
import sqlite3
import subprocess
import time
import urllib.request

from kit import h2raw
from kit import tap
from kit.binary import Place, fetch, open_sqlite
from kit.shop import BIKE, Shop

# What keys that are bound to a seller, or to a client, reach. Whatever is in neither list and asks for a
# key is for keys that are bound to nobody: a new method is refused to bound keys until it stands here.
OF_SELLER = {
    "OfferService": "CreateOffer UpdateOffer ProlongOffer WithdrawOffer RepublishOffer MarkOfferSold DeleteOffer",
    "DraftService": "OpenDraft GetDraft SaveDraft DiscardDraft PublishDraft",
    "CabinetService": "ListOffers GetCounts GetTotals",
    "ContactService": "ListMessages",
    "FeedService": "Import SendEvents ImportFile GetTask ListTasks GetReport GetReasons ConfirmTask CancelTask "
                   "UndoTask "
                   "SetSchedule GetSchedule ListSchedules PauseSchedule ResumeSchedule RunSchedule RemoveSchedule "
                   "SetCategories GetCategories RemoveCategories",
}
OF_CLIENT = {
    "DocumentService": "PutDocuments PutFields GetDocument",
    "SchemaService": "GetSchema DeclareSchema",
    "ColumnService": "LoadColumn ListColumns DropColumn",
    "EpochService": "PlanEpoch StartEpoch GetEpochs SwitchEpoch RollbackEpoch AbandonEpoch DropEpoch",
    "QueueService": "ListLanes ListFailed GetFailed ReplayFailed DropFailed",
    "SearcherService": "Search Explain GetFreshness ListIndexed CompareEpochs CheckShard CountWords SearchShard",
}
PUBLIC = {
    "OfferService": "GetOffer GetOffers",
    "CatalogService": "GetCategory ListChildren GetPath SearchCategories ListAttributes",
    "SearchService": "SearchOffers Suggest Similar GetPageSnippets",
    "EventService": "RecordEvents",
    "ContactService": "RevealContacts SendMessage",
    "SystemService": "GetSystem",
    "FreshnessService": "GetProgress",
}
SITE_SCOPES = ("admin catalog documents epochs metrics moderation offers.read offers.write photos "
               "pipeline.control pipeline.read search sellers.act stages")


def methods(table):
    return {f"{service}/{name}" for service, names in table.items() for name in names.split()}


def all_methods(place):
    """Of the server itself: the list of calls that it shows."""
    _, document = fetch(urllib.request.Request(f"{place.url}/openapi.json"))
    return {found[1] for found in (re.fullmatch(r"/torg\.v1\.(\w+/\w+)", path)
                                   for path in document["paths"]) if found}


def bind(place, name, seller, client, scopes):
    """A key as nobody can make it any more: bound, with scopes of the site."""
    key = place.torg("key", "create", name, "--scope", "search").stdout.strip()
    with open_sqlite(place.data / "store.sqlite") as base:
        base.execute("UPDATE api_key SET seller = ?, client = ?, scopes = ? WHERE name = ?",
                     (seller, client, scopes, name))
    return key


@tap.test
def a_bound_key_stays_within_whatever_its_scopes():
    with Place() as place:
        place.spelling = False
        callers = {}
        for kind, seller, client, reach in (("seller", "s-17", None, methods(OF_SELLER)),
                                            ("client", None, "c1", methods(OF_CLIENT)),
                                            ("both", "s-17", "c1", methods(OF_SELLER) | methods(OF_CLIENT))):
            for scopes in ("*", SITE_SCOPES):
                callers[f"{kind} {scopes[:5]}"] = (
                    bind(place, f"{kind}-{len(callers)}", seller, client, scopes), reach)
        place.start()
        every = all_methods(place) | {"FeedService/GetReport", "CountersService/VerifyCounters"}
        known = methods(OF_SELLER) | methods(OF_CLIENT) | methods(PUBLIC)
        tap.equal(sorted(known - every - {"FeedService/Import"}), [], "methods that are gone")
        calls = 0
        for caller, (key, reach) in callers.items():
            for method in sorted(every):
                status, answer = place.call(method, {}, key)
                calls += 1
                denied = status == 403 and "bound to" in str(answer)
                if method in reach | methods(PUBLIC):
                    tap.equal(denied and "operators" in str(answer), False, f"{caller}: {method}: {answer}")
                else:
                    tap.equal(status, 403, f"{caller}: {method}: {answer}")
        tap.comment(f"{calls} calls of {len(every)} methods")
        # Within: naming another is refused, and a private offer of another is not there.
        key = callers["client *"][0]
        for method in sorted(methods(OF_CLIENT)):
            status, answer = place.call(method, {"client": "c2"}, key)
            tap.equal((status, "bound to client c1" in str(answer)), (403, True), f"{method}: {answer}")
        made = place.call("KeyService/CreateKey", {"name": "wide", "scopes": ["*"]}, key)
        tap.equal(made[0], 403)
        tap.equal(place.stop(), 0)


@tap.test
def a_clients_key_sees_no_sellers_private_offers():
    with Shop() as shop:
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        shop.ok("OfferService/WithdrawOffer", {"id": offer}, shop.alice)
        shop.ok("OfferService/GetOffer", {"id": offer}, shop.site)
        shop.stop()
        key = bind(shop, "client", None, "c1", "offers.read moderation *")
        shop.start("up")
        shop.refused("not_found", "OfferService/GetOffer", {"id": offer}, key)


@tap.test
def a_key_that_would_be_wider_than_its_binding_is_not_made():
    with Place() as place:
        for scope in ("admin", "catalog", "metrics", "moderation", "stages", "sellers.act", "offers.read", "*"):
            result = place.torg("key", "create", "k", "--client", "c1", "--scope", scope)
            tap.equal(result.returncode, 2, scope)
            tap.contains(result.stderr, "opens what belongs to all clients")


@tap.test
def who_acts_for_sellers_names_one_by_call():
    with Shop() as shop:
        service = shop.key("service", scopes=("offers.read", "offers.write", "sellers.act"))

        def call(method, message, key, seller):
            request = urllib.request.Request(
                f"{shop.url}/torg.v1.{method}", data=json.dumps(message).encode(),
                headers={"Content-Type": "application/json", "Torg-Seller": seller,
                         "Authorization": f"Bearer {key}"})
            return fetch(request)

        status, made = call("OfferService/CreateOffer", {"content": BIKE}, service, "alice")
        tap.equal(status, 200, made)
        tap.equal(shop.counts(shop.alice), {"ALL": 1, "ACTIVE": 1})
        tap.equal(call("OfferService/DeleteOffer", {"id": made["id"]}, service, "bob")[0], 404)
        # Bound from then on: no scope of the site goes with it.
        tap.equal(call("KeyService/ListKeys", {}, shop.start_key, "alice")[0], 403)
        for key, seller, status in ((shop.site, "alice", 403), (shop.bob, "alice", 403), (shop.bob, "bob", 200),
                                    (service, "a/b", 403), (service, "x" * 64, 403)):
            tap.equal(call("CabinetService/GetCounts", {}, key, seller)[0], status, (seller, status))
        request = urllib.request.Request(f"{shop.url}/torg.v1.SearchService/SearchOffers", data=b"{}", headers={
            "Content-Type": "application/json", "Torg-Seller": "alice"})
        tap.equal(fetch(request)[0], 401)


@tap.test
def two_credentials_are_refused():
    with Shop() as shop:
        port = int(shop.url.rsplit(":", 1)[1])
        for names in (("authorization", "authorization"), ("torg-seller", "torg-seller")):
            with h2raw.Connection(port) as connection:
                extra = [("authorization", f"Bearer {shop.alice}")] if names[0] != "authorization" else []
                extra += [(name, f"Bearer {shop.bob}" if name == "authorization" else "alice") for name in names]
                reply = connection.call("/torg.v1.CabinetService/GetCounts", b"{}",
                                        content_type="application/json", extra=extra)
                tap.equal(reply.status, "400" if isinstance(reply.status, str) else 400, reply)


@tap.test
def a_revoked_key_ends_its_open_streams():
    with Shop() as shop:
        port = int(shop.url.rsplit(":", 1)[1])
        made = json.loads(shop.torg("key", "create", "feeder", "--seller", "alice", "--scope", "offers.write",
                                    "--json").stdout)
        with h2raw.Connection(port) as connection, h2raw.Connection(port) as other:
            numbers = []
            for link, key in ((connection, made["secret"]), (other, shop.alice)):
                number = link.open(link.request_headers("/torg.v1.FeedService/Import",
                                                        extra=[("authorization", f"Bearer {key}")]))
                link.send_body(number, h2raw.grpc_message(
                    h2raw.field_bytes(2, "main") + h2raw.field_int(3, 1) + h2raw.field_bytes(4, b"")), end=False)
                numbers.append(number)
            tap.equal(shop.torg("key", "revoke", made["key"]["id"]).returncode, 0)
            reply = connection.reply(numbers[0])
            tap.equal(reply.grpc_status, 16, reply)
            tap.contains(reply.grpc_message, "revoked")
            # Whose key is good goes on.
            other.send_body(numbers[1], b"", end=True)
            tap.equal(other.reply(numbers[1]).grpc_status, 0)


@tap.test
def a_rotation_has_two_keys_until_the_old_one_ends():
    with Shop() as shop:
        result = shop.torg("key", "rotate", "alice")
        tap.equal(result.returncode, 2)
        tap.contains(result.stderr, "--old-ends")
        new = shop.torg("key", "rotate", "alice", "--old-ends", "24h").stdout.strip()
        for key in (shop.alice, new):
            shop.ok("CabinetService/GetCounts", {}, key)
        tap.contains(shop.torg("key", "rotate", "alice", "--old-ends", "1h").stderr, "2 keys in use already")
        tap.equal(shop.torg("key", "rotate", "nobody", "--old-ends", "1h").returncode, 4)
        listed = [one for one in json.loads(shop.torg("key", "list", "--json").stdout)["keys"]
                  if one["name"] == "alice"]
        tap.equal((len(listed), sum("expireTime" in one for one in listed), {one["seller"] for one in listed}),
                  (2, 1, {"alice"}))
        old = next(one["id"] for one in listed if "expireTime" in one)
        tap.equal(shop.torg("key", "revoke", old).returncode, 0)
        shop.refused("unauthenticated", "CabinetService/GetCounts", {}, shop.alice)
        shop.ok("CabinetService/GetCounts", {}, new)
        # The end comes by itself, and a name means all its keys.
        last = shop.torg("key", "rotate", "alice", "--old-ends", "1s").stdout.strip()
        tap.wait_until(lambda: shop.call("CabinetService/GetCounts", {}, new)[0] == 401, what="the old key's end")
        shop.ok("CabinetService/GetCounts", {}, last)
        newest = shop.torg("key", "rotate", "alice", "--old-ends", "24h").stdout.strip()
        tap.equal(shop.torg("key", "revoke", "alice").returncode, 0)
        for key in (last, newest):
            shop.refused("unauthenticated", "CabinetService/GetCounts", {}, key)


def audit(shop, **more):
    return json.loads(shop.torg("audit", "list", "--limit", "100", "--json", **more).stdout)["entries"]


@tap.test
def what_was_done_is_told_with_the_key_it_was_done_by():
    with Shop() as shop:
        ids = {one["name"]: one["id"] for one in json.loads(shop.torg("key", "list", "--json").stdout)["keys"]}
        moderator = shop.key("judge", scopes=("moderation",))
        stage = shop.key("pricing", scopes=("stages",))
        client = shop.key("lamps", "--client", "lamps", scopes=("documents",))
        offer = shop.ok("OfferService/CreateOffer", {"content": BIKE}, shop.alice)["id"]
        shop.ok("ModerationService/GiveOpinion", {"offerId": offer, "verdict": "BAN", "revision": 1,
                                                  "reasons": ["spam"]}, moderator)
        shop.ok("StageService/PutStageState", {"offerId": offer, "stage": "pricing", "value": "AA=="}, stage)
        shop.ok("SchemaService/DeclareSchema", {"fields": [{"name": "watts", "type": "INTEGER"}]}, client)
        start = {"feed": "main", "taskId": 1, "open": {}}
        rows = [{"feed": "main", "taskId": 1, "upsert": {"row": 1, "externalId": "a", "content": BIKE}}]
        shop.ok("FeedService/SendEvents", {"events": [start, *rows, {"end": {"rowCount": 1}}]}, shop.alice)
        shop.ok("FeedService/UndoTask", {"taskId": 1}, shop.alice)
        for _ in range(3):
            tap.equal(shop.call("KeyService/ListKeys", {}, "torg_wrong")[0], 401)
        shop.ok("KeyService/CreateKey", {"name": "x", "scopes": ["search"]}, shop.start_key)
        seen = {one["action"]: one for one in audit(shop)}
        tap.equal((seen["moderation.ban"]["principal"], seen["moderation.ban"]["target"]), ("judge", offer))
        tap.equal(seen["stage.put"]["detail"], "pricing, revision 1")
        tap.equal(seen["schema.declare"]["target"], "lamps")
        tap.equal((seen["feed.undo"]["principal"], seen["feed.undo"]["keyId"], seen["feed.undo"]["target"]),
                  ("alice", ids["alice"], "alice/main/1"))
        tap.equal(len(seen["key.create"]["keyId"]), 10, "of the start key")
        tap.equal(shop.stop(), 0)
        # Counted into a row a minute: the minute may end between two of them.
        told = [one["detail"].split(" ", 1) for one in audit(shop) if one["action"] == "login.failed"]
        tap.equal((sum(int(count) for count, _ in told), {rest for _, rest in told}),
                  (3, {"credentials were refused"}))


@tap.test
def a_changed_or_removed_entry_shows():
    with Place() as place:
        for number in range(6):
            place.torg("key", "create", f"k{number}", "--scope", "search")
        whole = place.torg("audit", "verify")
        tap.equal(whole.returncode, 0, whole.stdout + whole.stderr)
        noted = re.search(r"the last is (\d+:[0-9a-f]{64})", whole.stdout)[1]
        tap.equal(place.torg("audit", "verify", "--expect", noted).returncode, 0)
        wrong = noted[:-1] + ("0" if noted[-1] != "0" else "1")
        tap.equal(place.torg("audit", "verify", "--expect", wrong).returncode, 1)
        for bad in ("x", "1", "0:" + "0" * 64, "1:abc"):
            tap.equal(place.torg("audit", "verify", "--expect", bad).returncode, 2, bad)
        store = place.data / "store.sqlite"
        copy = store.read_bytes()
        for change, told in (("UPDATE audit SET detail = 'name=x scopes=*' WHERE seq = 3", "entry 3: it, or an entry"),
                             ("UPDATE audit SET key_id = 'other' WHERE seq = 2", "entry 2: it, or an entry"),
                             ("DELETE FROM audit WHERE seq = 4", "entry 4: removed"),
                             ("DELETE FROM audit WHERE seq >= 6", "entry 6: removed"),
                             ("DELETE FROM audit WHERE seq = 1", "entry 1: removed"),
                             ("UPDATE audit SET hash = NULL WHERE seq = 5", "entry 5: put in")):
            with open_sqlite(store) as base:
                base.execute(change)
            result = place.torg("audit", "verify")
            tap.equal(result.returncode, 1, change)
            tap.contains(result.stdout, told)
            with sqlite3.connect(store) as base:
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            base.close()
            store.write_bytes(copy)
        tap.equal(place.torg("audit", "verify").returncode, 0)


class Issuer:
    """Who signs tokens: RSA keys by openssl, their set as a file."""

    def __init__(self, folder):
        self.folder, self.names = folder, []

    def add(self, name):
        subprocess.run(["openssl", "genrsa", "-out", self.folder / f"{name}.pem", "2048"], check=True,
                       capture_output=True)
        self.names.append(name)

    def publish(self):
        keys = []
        for name in self.names:
            told = tap.run("openssl", "rsa", "-in", self.folder / f"{name}.pem", "-noout", "-modulus").stdout
            modulus = bytes.fromhex(told.strip().split("=")[1])
            keys.append({"kty": "RSA", "kid": name, "alg": "RS256", "n": base64url(modulus), "e": "AQAB"})
        (self.folder / "jwks.new").write_text(json.dumps({"keys": keys}))
        (self.folder / "jwks.new").rename(self.folder / "jwks.json")

    def sign(self, name, **claims):
        claims = {"iss": "https://login.example.org", "aud": "torg", "exp": int(time.time()) + 7200, "sub": "user-1",
                  **claims}
        text = ".".join(base64url(json.dumps(part).encode())
                        for part in ({"alg": "RS256", "typ": "JWT", "kid": name}, claims))
        signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.folder / f"{name}.pem"],
                                input=text.encode(), capture_output=True, check=True).stdout
        return f"{text}.{base64url(signed)}"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@tap.test
def sellers_come_with_tokens_of_their_own():
    with Place() as place:
        place.spelling = False
        issuer = Issuer(place.dir)
        issuer.add("one")
        issuer.publish()
        for words, told in ((("--tokens.keys=jwks.json",), "needs tokens.issuer and tokens.audience"),
                            (("--tokens.keys=nowhere", "--tokens.issuer=i", "--tokens.audience=a"), "nowhere"),
                            (("--tokens.keys=http://192.0.2.1/k", "--tokens.issuer=i", "--tokens.audience=a"),
                             "use https://")):
            result = place.torg("up", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0", *words)
            tap.equal((result.returncode != 0, told in result.stderr), (True, True), result.stderr)
        place.start("up", "--tokens.keys=jwks.json", "--tokens.issuer=https://login.example.org",
                    "--tokens.audience=torg")
        good = issuer.sign("one", seller="s-17", scope="openid offers.read offers.write admin")
        tap.equal(place.call("CabinetService/GetCounts", {}, good)[0], 200)
        tap.equal(place.call("KeyService/ListKeys", {}, good)[0], 403)
        tap.equal(place.call("ModerationService/GetModeration", {}, good)[0], 403)
        reader = issuer.sign("one", seller="s-17", scope=["offers.read"])
        tap.equal(place.call("FeedService/UndoTask", {"taskId": 1}, reader)[0], 403)
        for bad in (issuer.sign("one", seller="s-17", aud="other"), issuer.sign("one", seller="s-17", iss="other"),
                    issuer.sign("one", seller="s-17", exp=int(time.time()) - 100), issuer.sign("one"),
                    good[:-4] + "AAAA", good.rsplit(".", 1)[0] + "."):
            tap.equal(place.call("CabinetService/GetCounts", {}, bad)[0], 401, bad)
        # A rotation: the new key beside the old one, then alone.
        issuer.add("two")
        new = issuer.sign("two", seller="s-18", scope="offers.read")
        tap.equal(place.call("CabinetService/GetCounts", {}, new)[0], 401)
        issuer.publish()
        tap.wait_until(lambda: place.call("CabinetService/GetCounts", {}, new)[0] == 200, what="the new key")
        tap.equal(place.call("CabinetService/GetCounts", {}, good)[0], 200)
        issuer.names.remove("one")
        issuer.publish()
        tap.wait_until(lambda: place.call("CabinetService/GetCounts", {}, good)[0] == 401, what="the old key's end")
        tap.equal(place.stop(), 0)


@tap.test
def no_journal_gets_the_start_key():
    with Place() as place:
        place.start()
        tap.equal(bool(place.start_key), True)
        tap.equal(place.start_key in place.out() + place.log(), False)
        tap.contains(place.out(), "start.key")
        tap.equal((place.data / "start.key").stat().st_mode & 0o077, 0)
        tap.equal(place.call("KeyService/ListKeys", key=place.start_key)[0], 200)
        tap.equal(place.stop(), 0)
        tap.equal((place.data / "start.key").exists(), False)


tap.main()
