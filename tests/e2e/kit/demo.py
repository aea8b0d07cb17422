# SPDX-License-Identifier: Apache-2.0
"""A shop of `torg demo` in a directory of its own."""
import json
import re
import subprocess
import urllib.error
import urllib.request

from kit import tap
from kit.binary import PATIENT_SEARCHES, TORG, Place, environment, open_sqlite

ACTIVE, WAITING = 2, 8     # presets of the cabinet


class Demo(Place):
    """A demo in a directory of its own."""

    def __enter__(self):
        super().__enter__()
        self.data = self.dir / "torg-demo"
        return self

    def begin(self, *words):
        with open(self.dir / "out", "w") as out, open(self.dir / "log", "a") as log:
            self.process = subprocess.Popen(
                [TORG, "demo", "--operator-listen=127.0.0.1:0", "--listen=127.0.0.1:0",
                 *PATIENT_SEARCHES, *words],
                cwd=self.dir, env=environment(), stdout=out, stderr=log)
        tap.wait_until(lambda: re.search(r"page +http\S+?/ ", self.out()) or self.ended(),
                       what="the address")
        tap.equal(self.ended(), False, self.log())
        self.url = re.search(r"page +(http\S+?)/ ", self.out())[1]
        return self

    def filled(self, *words, seconds=tap.PATIENCE_S):
        self.begin(*words)
        tap.wait_until(lambda: "/console#key=" in self.out() and self.out().endswith("\n\n")
                       or self.ended(), seconds, "a full shop")
        tap.equal(self.ended(), False, self.log())
        self.seller = self.key("cabinet")
        self.operator = self.key("console")
        return self

    def photographed(self):
        """Until those that are shown only with a photo are found, too."""
        tap.wait_until(lambda: self.count(WAITING) == 0 and self.total() == self.count(ACTIVE),
                       what="all with their photos")
        return self

    def count(self, preset):
        with open_sqlite(self.data / "store.sqlite") as base:
            return base.execute("SELECT COUNT(*) FROM user_offer_presets WHERE preset_id = ?", (preset,)).fetchone()[0]

    def key(self, page):
        return re.search(rf"{re.escape(self.url)}/{page}#key=(torg_\S+)", self.out())[1]

    def search(self, **request):
        status, answer = self.call("SearchService/SearchOffers", request)
        tap.equal((status, answer if status != 200 else ""), (200, ""))
        return answer

    def total(self):
        """How many are found; -1 while the index is being opened, or slow."""
        status, answer = self.call("SearchService/SearchOffers", {"onlyOffers": True})
        tap.equal(status in (200, 503, 504), True, answer)
        return int(answer.get("total", 0)) if status == 200 else -1

    def get(self, path, **headers):
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=tap.PATIENCE_S) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def offers_by_external_id(self):
        """Ids of the demo's offers, by the topic that tells of all changes."""
        seen = {}
        for partition in range(8):
            done = self.torg("topic", "read", "offer-updates", "--from", f"{partition}:0",
                             "--limit", "1000", "--json", f"--data={self.data}")
            tap.equal((done.returncode, done.stderr), (0, ""))
            for record in json.loads(done.stdout).get("records", []):
                offer = json.loads(record["json"])["offer"]
                seen.setdefault(offer["content"]["externalId"], set()).add(offer["id"])
        return seen
