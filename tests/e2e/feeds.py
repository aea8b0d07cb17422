# SPDX-License-Identifier: Apache-2.0
"""Feeds through the API of `torg up`: by JSON in pieces, by a gRPC stream, and who may reach what."""
import json
import sys
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from kit import h2raw  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

CATALOG = {"defaults": {"policy": {"titleMin": 3, "titleMax": 50, "currencies": ["RUB"],
                                   "price": "REQUIRED", "photosMax": 3}},
           "categories": [{"id": "books", "name": {"en": "Books"}}]}
TASK = {"feed": "main", "taskId": 1}


def content(amount):
    return {"category": "books", "title": "A book", "price": {"amount": amount, "currency": "RUB"}}


def events(task, items, end=True, **opening):
    """JSON events of a task; items are (external id, amount)."""
    told = [{"feed": "main", "taskId": task, "open": opening}]
    told += [{"upsert": {"row": row, "externalId": name, "content": content(amount)}}
             for row, (name, amount) in enumerate(items, 1)]
    return told + ([{"end": {"rowCount": len(items)}}] if end else [])


class Shop(Place):
    def __enter__(self):
        super().__enter__().start()
        self.write("catalog.json", json.dumps(CATALOG))
        tap.equal(self.torg("catalog", "apply", "catalog.json").returncode, 0)
        self.alice = self.key("alice", "--seller", "alice")
        self.bob = self.key("bob", "--seller", "bob")
        self.service = self.key("service", scopes=("offers.read", "offers.write", "sellers.act"))
        return self

    def key(self, name, *words, scopes=("offers.read", "offers.write")):
        asked = [word for scope in scopes for word in ("--scope", scope)]
        return self.torg("key", "create", name, *asked, *words).stdout.strip()

    def ok(self, method, message, key):
        status, answer = self.call(f"FeedService/{method}", message, key)
        tap.equal((method, status, answer if status != 200 else ""), (method, 200, ""))
        return answer

    def refused(self, code, method, message, key):
        status, answer = self.call(f"FeedService/{method}", message, key)
        tap.equal((method, status != 200 and answer["code"]), (method, code))
        return answer

    def report(self, message, key):
        """Rows of the report; an error's answer instead of them."""
        request = urllib.request.Request(
            f"{self.url}/torg.v1.FeedService/GetReport", data=json.dumps(message).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
                return [json.loads(line) for line in answer.read().splitlines()]
        except urllib.error.HTTPError as error:
            return json.loads(error.read())

    def port(self):
        return urllib.parse.urlparse(self.url).port

    def counts(self, key):
        _, answer = self.call("CabinetService/GetCounts", {}, key)
        return {one["preset"]: int(one["count"]) for one in answer["counts"] if "count" in one}


# --- the same as protobuf, by hand ---

def wire_upsert(row, name, amount):
    price = h2raw.field_int(1, amount) + h2raw.field_bytes(2, "RUB")
    offer = h2raw.field_bytes(1, "books") + h2raw.field_bytes(2, "A book") + \
        h2raw.field_bytes(4, price)
    return h2raw.field_bytes(5, h2raw.field_int(1, row) + h2raw.field_bytes(2, name) +
                             h2raw.field_bytes(3, offer))


def wire_events(task, items, end=True):
    told = [h2raw.field_bytes(2, "main") + h2raw.field_int(3, task) + h2raw.field_bytes(4, b"")]
    told += [wire_upsert(row, name, amount) for row, (name, amount) in enumerate(items, 1)]
    if end:
        told.append(h2raw.field_bytes(7, h2raw.field_int(1, len(items))))
    return [h2raw.grpc_message(one) for one in told]


def stream(shop, key, messages, end=True, task=0):
    """The reply of Import; without end, the connection breaks after the messages, when the task has begun."""
    with h2raw.Connection(shop.port(), timeout=tap.PATIENCE_S) as connection:
        number = connection.open(connection.request_headers(
            "/torg.v1.FeedService/Import", extra=[("authorization", f"Bearer {key}")]))
        connection.send_body(number, b"".join(messages), end=end)
        if end:
            return connection.reply(number)
        tap.wait_until(lambda: shop.call("FeedService/GetTask", {"taskId": task}, key)[0] == 200,
                       what="the task's beginning")
        return None


@tap.test
def a_feed_is_sent_by_json_and_sent_again():
    with Shop() as shop:
        first = shop.ok("SendEvents", {"events": events(1, [("a", 1), ("b", 2)])}, shop.alice)
        tap.equal((first["state"], first["counts"]), ("DONE", {"rows": "2", "created": "2"}))
        again = shop.ok("SendEvents", {"events": events(1, [("a", 1), ("b", 2)])}, shop.alice)
        tap.equal(again["counts"], first["counts"])
        shop.ok("SendEvents", {"events": events(2, [("a", 1)], end=False)}, shop.alice)
        tap.equal(shop.ok("GetTask", {"taskId": 2}, shop.alice)["state"], "RUNNING")
        piece = [{"feed": "main", "taskId": 2, "upsert": {"row": 2, "externalId": "c",
                                                         "content": {"title": "x"}}},
                 {"end": {"rowCount": 2}}]
        done = shop.ok("SendEvents", {"events": piece}, shop.alice)
        tap.equal((done["state"], done["counts"]),
                  ("DONE", {"rows": "2", "unchanged": "1", "refused": "1", "deleted": "1"}))
        rows = shop.report({"taskId": 2}, shop.alice)
        tap.equal([(row.get("row"), row["externalId"], row["outcome"]) for row in rows],
                  [("1", "a", "UNCHANGED"), ("2", "c", "REFUSED"), ("0", "b", "DELETED")])
        tap.equal({one["field"] for one in rows[1]["problems"]},
                  {"content.category"})
        tap.equal([row["externalId"] for row in
                   shop.report({"taskId": 2, "outcome": "DELETED"}, shop.alice)], ["b"])
        undone = shop.ok("UndoTask", {"taskId": 2}, shop.alice)
        tap.equal((undone["state"], undone["counts"]["undone"]), ("UNDONE", "1"))
        tap.equal(shop.counts(shop.alice), {"ALL": 2, "ACTIVE": 2})
        listed = shop.ok("ListTasks", {"pageSize": 1}, shop.alice)
        tap.equal([one["taskId"] for one in listed["tasks"]], ["2"])
        listed = shop.ok("ListTasks", {"pageToken": listed["nextPageToken"]}, shop.alice)
        tap.equal([one["taskId"] for one in listed["tasks"]], ["1"])
        tap.equal(shop.stop(), 0)


@tap.test
def a_feed_comes_as_a_stream():
    with Shop() as shop:
        items = [(f"p{i}", i + 1) for i in range(300)]
        reply = stream(shop, shop.alice, wire_events(1, items))
        tap.equal((reply.grpc_status, len(reply.messages)), (0, 1))
        task = h2raw.parse_message(reply.messages[0])
        tap.equal((task[4], h2raw.parse_message(task[7][0])), ([4], {1: [300], 2: [300]}))
        tap.equal(shop.counts(shop.alice), {"ALL": 300, "ACTIVE": 300})
        # Without an end: held.
        reply = stream(shop, shop.alice, wire_events(2, items[:100], end=False))
        task = h2raw.parse_message(reply.messages[0])
        tap.equal((reply.grpc_status, task[4], task[6]), (0, [2], [3]))
        # A connection that breaks: what came stays, the task is held, and goes on.
        stream(shop, shop.alice, wire_events(3, items[:90], end=False), end=False, task=3)
        tap.wait_until(lambda: shop.call("FeedService/GetTask", {"taskId": 3}, shop.alice)[1]
                       .get("state") == "HELD", what="a held task")
        reply = stream(shop, shop.alice, wire_events(3, items[:250]))
        task = h2raw.parse_message(reply.messages[0])
        tap.equal((task[4], h2raw.parse_message(task[7][0])), ([4], {1: [250], 4: [250], 8: [50]}))
        # Nothing to read, an event of another task, an event after the end.
        tap.equal(stream(shop, shop.alice, []).grpc_status, 3)
        other = wire_events(4, items[:1], end=False) + wire_events(5, items[:1])
        tap.equal(stream(shop, shop.alice, other).grpc_status, 3)
        tap.equal(shop.counts(shop.alice), {"ALL": 250, "ACTIVE": 250})
        tap.equal(shop.stop(), 0)


@tap.test
def a_held_task_is_confirmed_or_dropped():
    with Shop() as shop:
        items = [(f"p{i}", 5) for i in range(20)]
        shop.ok("SendEvents", {"events": events(1, items)}, shop.alice)
        held = shop.ok("SendEvents", {"events": events(2, items[:1])}, shop.alice)
        tap.equal((held["state"], held["hold"], held["toDelete"], held["had"]),
                  ("HELD", "MASS_DELETION", "19", "20"))
        tap.equal(shop.ok("CancelTask", {"taskId": 2}, shop.alice)["state"], "CANCELLED")
        shop.refused("failed_precondition", "ConfirmTask", {"taskId": 2}, shop.alice)
        shop.ok("SendEvents", {"events": events(3, items[:1])}, shop.alice)
        tap.equal(shop.ok("ConfirmTask", {"taskId": 3}, shop.alice)["state"], "DONE")
        shop.refused("failed_precondition", "CancelTask", {"taskId": 3}, shop.alice)
        dry = shop.ok("SendEvents", {"events": events(4, [("n", 1)], dryRun=True)}, shop.alice)
        tap.equal((dry["state"], dry["dryRun"], dry["counts"]),
                  ("DONE", True, {"rows": "1", "created": "1", "deleted": "1"}))
        tap.equal(shop.counts(shop.alice), {"ALL": 1, "ACTIVE": 1})


@tap.test
def another_sellers_feed_does_not_exist():
    with Shop() as shop:
        shop.ok("SendEvents", {"events": events(1, [(f"p{i}", 1) for i in range(12)])}, shop.alice)
        shop.ok("SendEvents", {"events": events(2, [])}, shop.alice)
        before = shop.ok("GetTask", {"taskId": 2}, shop.alice)
        for method in ("GetTask", "ConfirmTask", "CancelTask", "UndoTask"):
            shop.refused("not_found", method, {"taskId": 2}, shop.bob)
            shop.refused("not_found", method, {"seller": "alice", "taskId": 2}, shop.bob)
        tap.equal(shop.report({"taskId": 2}, shop.bob)["code"], "not_found")
        tap.equal(shop.report({"seller": "alice", "taskId": 2}, shop.bob)["code"], "not_found")
        tap.equal(shop.ok("ListTasks", {}, shop.bob), {})
        shop.refused("not_found", "ListTasks", {"seller": "alice"}, shop.bob)
        shop.refused("not_found", "SendEvents",
                     {"events": [{"seller": "alice", **TASK, "end": {}}]}, shop.bob)
        stolen = [h2raw.grpc_message(h2raw.field_bytes(1, "alice") + h2raw.field_int(3, 9) +
                                     h2raw.field_bytes(7, b""))]
        tap.equal(stream(shop, shop.bob, stolen).grpc_status, 5)
        # The same names are bob's own.
        shop.ok("SendEvents", {"events": events(7, [("p1", 9)])}, shop.bob)
        shop.refused("not_found", "GetTask", {"taskId": 7}, shop.alice)
        tap.equal(shop.counts(shop.alice), {"ALL": 12, "ACTIVE": 12})
        tap.equal(shop.counts(shop.bob), {"ALL": 1, "ACTIVE": 1})
        tap.equal(shop.ok("GetTask", {"taskId": 2}, shop.alice), before)


@tap.test
def scopes_are_asked_for():
    with Shop() as shop:
        reader = shop.key("reader", "--seller", "alice", scopes=("offers.read",))
        writer = shop.key("writer", "--seller", "alice", scopes=("offers.write",))
        stranger = shop.key("stranger", "--seller", "alice", scopes=("photos",))
        shop.ok("SendEvents", {"events": events(1, [("a", 1)])}, writer)
        for method in ("GetTask", "ListTasks"):
            shop.ok(method, {"taskId": 1} if method == "GetTask" else {}, reader)
            shop.refused("permission_denied", method, {}, writer)
        tap.equal(shop.report({"taskId": 1}, writer)["code"], "permission_denied")
        for method in ("SendEvents", "ConfirmTask", "CancelTask", "UndoTask"):
            shop.refused("permission_denied", method, {}, reader)
            shop.refused("permission_denied", method, {}, stranger)
            status, _ = shop.call(f"FeedService/{method}", {})
            tap.equal((method, status), (method, 401))
        tap.equal(stream(shop, reader, wire_events(2, [("a", 1)])).grpc_status, 7)
        # A key bound to no seller says whose feed it means.
        shop.refused("invalid_argument", "GetTask", {"taskId": 1}, shop.service)
        shop.refused("invalid_argument", "GetTask", {"seller": "a/b", "taskId": 1}, shop.service)
        tap.equal(shop.ok("GetTask", {"seller": "alice", "taskId": 1}, shop.service)["state"],
                  "DONE")
        # Who may not act for sellers looks at their feeds, and decides on none.
        site = shop.key("looker")
        shop.ok("GetTask", {"seller": "alice", "taskId": 1}, site)
        for method in ("ConfirmTask", "CancelTask", "UndoTask"):
            answer = shop.refused("permission_denied", method, {"seller": "alice", "taskId": 1}, site)
            tap.contains(answer["message"], "sellers.act")


@tap.test
def what_makes_no_sense_is_told():
    with Shop() as shop:
        for message, field in (({"taskId": 0}, "taskId"), ({"taskId": -1}, "taskId"),
                               ({"feed": "A b", "taskId": 1}, "feed"),
                               ({"feed": "x" * 65, "taskId": 1}, "feed")):
            answer = shop.refused("invalid_argument", "GetTask", message, shop.alice)
            tap.equal(list(tap.faults(answer)),
                      [field])
        shop.refused("invalid_argument", "SendEvents", {}, shop.alice)
        shop.refused("invalid_argument", "SendEvents", {"events": [TASK]}, shop.alice)
        shop.refused("invalid_argument", "SendEvents",
                     {"events": [{**TASK, "upsert": {"row": 0}}]}, shop.alice)
        shop.refused("invalid_argument", "SendEvents",
                     {"events": [{**TASK, "end": {"rowCount": -1}}]}, shop.alice)
        shop.refused("invalid_argument", "SendEvents",
                     {"events": [TASK | {"end": {}}] * 1001}, shop.alice)
        shop.refused("invalid_argument", "ListTasks", {"pageSize": 101}, shop.alice)
        shop.refused("invalid_argument", "ListTasks", {"pageToken": "?"}, shop.alice)
        # A name that is too long is that row's trouble.
        long = [{**TASK, "upsert": {"row": 1, "externalId": "я" * 65, "content": content(1)}},
                {"upsert": {"row": 2, "externalId": "b", "content": content(1)}},
                {"delete": {"row": 3}}, {"end": {"rowCount": 3}}]
        done = shop.ok("SendEvents", {"events": long}, shop.alice)
        tap.equal(done["counts"], {"rows": "3", "created": "1", "refused": "2"})
        tap.equal([row.get("externalId") for row in shop.report({"taskId": 1}, shop.alice)],
                  ["я" * 64, "b", None])


tap.main()
