# SPDX-License-Identifier: Apache-2.0
"""shop.py - a server with a small catalogue and keys of two sellers, for tests of offers."""
import json
import subprocess

from kit import tap
from kit.binary import Place

CATALOG = {
    "attributes": [{"id": "color", "name": {"en": "Colour"}, "type": "TEXT", "required": True,
                    "lengthMax": 20}],
    "defaults": {"policy": {"titleMin": 3, "titleMax": 50, "descriptionMax": 1000, "photosMax": 3,
                            "currencies": ["RUB", "USD"], "price": "REQUIRED"}},
    "categories": [
        {"id": "bikes", "name": {"en": "Bicycles"}, "attributes": ["color"]},
        {"id": "books", "name": {"en": "Books"}},
    ],
}
BIKE = {"category": "bikes", "title": "A bicycle", "price": {"amount": "150000", "currency": "RUB"},
        "attributes": [{"attributeId": "color", "text": "red"}],
        "contacts": {"phones": ["+79001234567"]}}
BOOK = {"category": "books", "title": "A book", "price": {"amount": 500, "currency": "USD"}}
NOBODY = "1000-0000-0000-0007"


class Shop(Place):
    """A server with the catalogue above and keys of two sellers, of the site and of a moderator."""
    spelling = False
    words = ("up",)

    def __enter__(self):
        super().__enter__().start(*self.words)
        self.write("catalog.json", json.dumps(CATALOG))
        applied = self.torg("catalog", "apply", "catalog.json")
        tap.equal((applied.returncode, applied.stderr), (0, ""))
        self.alice = self.key("alice", "--seller", "alice")
        self.bob = self.key("bob", "--seller", "bob")
        self.site = self.key("site")
        return self

    def key(self, name, *words, scopes=("offers.read", "offers.write")):
        asked = [word for scope in scopes for word in ("--scope", scope)]
        made = self.torg("key", "create", name, *asked, *words)
        tap.equal((made.returncode, made.stderr), (0, ""))
        return made.stdout.strip()

    def ok(self, method, message=None, key=None):
        status, answer = self.call(method, message, key)
        tap.equal((method, status, answer if status != 200 else ""), (method, 200, ""))
        return answer

    def refused(self, code, method, message=None, key=None):
        status, answer = self.call(method, message, key)
        tap.equal((method, answer.get("code", answer)), (method, code))
        return answer

    def counts(self, key):
        counts = self.ok("CabinetService/GetCounts", {}, key)["counts"]
        return {one["preset"]: int(one["count"]) for one in counts if "count" in one}

    def curl(self, method, message, key, *words):
        """The answer by curl, as the README shows it."""
        done = subprocess.run(
            ["curl", "-sS", "-H", f"Authorization: Bearer {key}", "-H",
             "Content-Type: application/json", *words, "-d", json.dumps(message),
             f"{self.url}/torg.v1.{method}"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


def check_digit(start):
    """The id with this beginning, found by trying: ten digits, one is right."""
    with_digit = [start + str(digit) for digit in range(10)]
    return next(one for one in with_digit if not damm(one.replace("-", "")))


def damm(digits):
    rows = ["0317598642", "7092154863", "4206871359", "1750983426", "6123045978", "3674209581",
            "5869720134", "8945362017", "9438617205", "2581436790"]
    state = 0
    for digit in digits:
        state = int(rows[state][int(digit)])
    return state
