# SPDX-License-Identifier: Apache-2.0
"""/readyz and grpc.health.v1 say ready when searches are answered, and not before."""
import os
import shutil
import sys
import urllib.request

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place, fetch  # noqa: E402

CLIENT = "bikes"
COUNT = 3


class Index(Place):
    """A server with an index of some documents."""

    spelling = False

    def search(self):
        return self.call("SearcherService/Search", {
            "client": CLIENT, "query": {"stages": [{"limit": COUNT}]}, "deadlineMs": 30000},
            self.start_key)

    def fill(self):
        documents = [{"pk": f"bike-{i}", "version": 1,
                      "fields": [{"name": "title", "text": "a bike"}]} for i in range(COUNT)]
        status, answer = self.call("DocumentService/PutDocuments",
                                   {"client": CLIENT, "documents": documents}, self.start_key)
        tap.equal(status, 200, answer)
        tap.wait_until(lambda: hits(self.search()) == COUNT, what="the documents are found")

    def readyz(self):
        return fetch(f"{self.operators}/readyz")

    def health(self):
        status, answer = fetch_health(self.url)
        tap.equal(status, 200, answer)
        return answer.get("status")


def fetch_health(url):
    return fetch(urllib.request.Request(f"{url}/grpc.health.v1.Health/Check", data=b"{}",
                                        headers={"Content-Type": "application/json"}))


def hits(answer):
    status, body = answer
    return len(body["answer"]["stages"][0].get("hits", [])) if status == 200 else -1


@tap.test
def an_empty_directory_is_ready_at_once():
    with Index() as place:
        place.start()
        tap.wait_until(lambda: place.readyz() == (200, "ready\n"), what="it is ready")
        tap.wait_until(lambda: place.health() == "SERVING", what="its health")


@tap.test
def an_index_that_cannot_be_opened_yet_is_not_ready():
    """A file stands where the index has its directory, for as long as the test wants it."""
    with Index() as place:
        place.start()
        place.fill()
        place.stop()
        index = place.data / "index" / CLIENT
        shutil.rmtree(index)
        index.write_text("in the way")
        place.start()
        tap.equal(place.search()[0], 503)

        def is_told():      # by a keeper, soon; and never that it is ready
            status, text = place.readyz()
            tap.equal(status, 503, text)
            return f"shard 0 of {CLIENT}, epoch 1, is not ready" in text

        tap.wait_until(is_told, what="it is told what is not ready")
        tap.equal(place.health(), "NOT_SERVING")
        tap.equal(fetch(f"{place.operators}/livez")[0], 200)
        os.unlink(index)
        tap.wait_until(lambda: place.readyz() == (200, "ready\n"), what="it is ready")
        tap.equal(hits(place.search()), COUNT)
        tap.wait_until(lambda: place.health() == "SERVING", what="its health")


@tap.test
def once_ready_the_first_search_is_answered():
    """Killed and with its index lost: it is replayed from its topic, however long that takes."""
    with Index() as place:
        place.start()
        place.fill()
        place.stop(9)
        shutil.rmtree(place.data / "index")
        place.start()
        tap.wait_until(lambda: place.readyz()[0] == 200, what="it is ready")
        tap.equal(hits(place.search()), COUNT)


@tap.test
def a_search_without_a_searcher_is_not_ready_until_one_answers():
    """Two installations: one's search asks the other's searcher."""
    with Index() as searcher, Place() as search:
        address = f"127.0.0.1:{tap.free_port()}"
        made = searcher.torg("key", "create", "search", "--scope", "search")
        tap.equal(made.returncode, 0, made.stderr)
        search.write("key", next(w for w in made.stdout.split() if w.startswith("torg_")))
        search.start("serve", "system", "search", f"--search.searchers=http://{address}",
                     "--search.searchers_key=key", "--search.spelling=false")

        def is_told():
            status, text = fetch(f"{search.operators}/readyz")
            tap.equal(status, 503, text)
            return f"searcher http://{address}" in text

        tap.wait_until(is_told, what="it is told who does not answer")
        searcher.start("up", f"--listen={address}", "--search.spelling=false")
        tap.wait_until(lambda: fetch(f"{search.operators}/readyz") == (200, "ready\n"),
                       what="the search is ready")
        tap.equal(search.answered("SearchService/SearchOffers", {}, search.start_key)[0], 200)


tap.main()
