# SPDX-License-Identifier: Apache-2.0
"""bicycles.py - a server with documents of bicycles: a title and a price each."""
from kit import tap
from kit.binary import Place

BATCH = 100


def document(number, version=1, price=None):
    return {"pk": f"bike-{number}", "version": version, "fields": [
        {"name": "title", "text": f"bicycle {number}"},
        {"name": "price", "integer": number if price is None else price}]}


class Bicycles:
    """So many of them on a server that is started with these options."""

    def __init__(self, count, *options):
        self.count, self.options = count, options

    def __enter__(self):
        self.place = Place().__enter__()
        self.place.start("up", *self.options)
        for first in range(0, self.count, BATCH):
            self.put(*(document(i) for i in range(first, first + BATCH)))
        return self

    def __exit__(self, *args):
        self.place.__exit__(*args)

    def ok(self, method, message):
        status, answer = self.place.call(method, message, self.place.start_key)
        tap.equal(status, 200, answer)
        return answer

    def put(self, *documents):
        answer = self.ok("DocumentService/PutDocuments", {"documents": documents})
        for verdict in answer["verdicts"]:
            tap.equal(verdict["kind"], "ACCEPTED", verdict)
        return [verdict["token"] for verdict in answer["verdicts"]]
