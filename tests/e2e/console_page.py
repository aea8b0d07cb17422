# SPDX-License-Identifier: Apache-2.0
"""The operator's console in headless Chromium: the pipeline moves, a parked offer is replayed, one
change is traced, and the auditor has seen all equal. With TORG_SCREENSHOTS=DIR the pictures of
docs/screens are written there.
"""
import json
import os
import pathlib
import sys
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402
from kit.browser import Browser  # noqa: E402
from kit.shop import BIKE, BOOK, CATALOG  # noqa: E402


class Works(Place):
    """A server with an offer that the composer cannot make into a document: its category was taken
    out of the catalogue before anyone had read it."""

    def __enter__(self):
        super().__enter__().start("serve", "system", "catalog", "offers", "offers-worker")
        self.apply(CATALOG)
        scopes = ("--scope", "offers.read", "--scope", "offers.write")
        self.seller = self.torg("key", "create", "s", "--seller", "s", *scopes).stdout.strip()
        self.operator = self.torg("key", "create", "op", "--scope", "pipeline.read", "--scope",
                                  "pipeline.control", "--scope", "snippets.read", "--scope",
                                  "snippets.write", "--scope", "catalog").stdout.strip()
        self.parked = self.publish(BIKE)
        lists = "PipelineService/GetPipeline", {}, self.operator
        tap.wait_until(lambda: "lagCount" in self.call(*lists)[1]["stages"][3], what="its export")
        tap.equal(self.stop(), 0)
        self.apply({**CATALOG, "categories": [CATALOG["categories"][1]]})
        self.write("snippets.pb.txt", 'Body { Output: JSON Sections { Name: "g/rating" } }')
        return self.start("up", "--auditor.pause=500ms", "--snippets.config=snippets.pb.txt",
                          "--snippets.allot=true", "--search.experiment=score * 2")

    def apply(self, catalog):
        self.write("catalog.json", json.dumps(catalog))
        done = self.torg("catalog", "apply", "--force", "catalog.json")
        tap.equal((done.returncode, done.stderr), (0, ""))

    def publish(self, content, number=0):
        title = f"{content['title']} {number}"
        status, answer = self.call("OfferService/CreateOffer",
                                   {"content": {**content, "title": title}}, self.seller)
        tap.equal(status, 200, answer)
        return answer["id"]

    def found(self, text):
        _, answer = self.call("SearchService/SearchOffers", {"text": text})
        return [offer["id"] for offer in answer.get("offers", [])]


def shoot(page, name):
    directory = os.environ.get("TORG_SCREENSHOTS")
    if directory:
        page.js("document.activeElement.blur(); scrollTo(0, 0)")
        page.screenshot(pathlib.Path(directory) / f"{name}.png")


def fits(page):
    tap.equal(page.js("document.documentElement.scrollWidth <= innerWidth"), True, "sideways scroll")


def healthy(page, works):
    """Nothing was written to the console, nobody else was asked. A trace of offers may be missing."""
    wanted = ("TraceOffer", "ApplySynonyms", "PutSnippet")      # the test makes these fail
    tap.equal([error for error in page.errors if not any(name in error for name in wanted)], [])
    tap.equal([url for url in page.requests if not url.startswith((works.url, "data:"))], [])


def signs_in(browser, works):
    page = browser.page(f"{works.url}/console", language="en")
    page.wait("document.querySelector('#sign-in')", "the form")
    for key, told in (("nonsense", "does not fit"), (works.seller, "needs the scope \"pipeline.read\"")):
        page.js("document.querySelector('#key-field').value = ''")
        page.click("#key-field")
        page.type(key)
        page.press("Enter")
        page.wait(f"document.querySelector('#key-problem')?.innerText.includes({json.dumps(told)})", told)
    page.click("#key-field")
    page.js("document.querySelector('#key-field').value = ''")
    page.type(works.operator)
    page.press("Enter")
    page.wait("document.querySelectorAll('.stage-card').length === 7", "seven stages")
    tap.equal(page.js("document.querySelector('#sign-in')"), None)


def tells_that_nobody_answers(browser, works):
    """And goes on by itself; however often one comes back to the page, it asks once a second."""
    page = browser.page(f"{works.url}/about", language="en")
    page.call("Network.setBlockedURLs", urls=["*/torg.v1.*"])
    page.go(f"{works.url}/console#key={works.operator}")
    page.wait("document.querySelector('#trouble [role=alert]')?.innerText.includes('does not answer')",
              "it is told")
    page.call("Network.setBlockedURLs", urls=[])
    page.wait("document.querySelectorAll('.stage-card').length === 7", "seven stages")
    tap.equal(page.js("document.querySelector('#trouble')"), None)
    count, seconds = page.js("""new Promise((done) => {
        const real = window.fetch;
        const begun = performance.now();
        let count = 0;
        window.fetch = (url, ...rest) => {
            count += String(url).includes("GetPipeline");
            return real(url, ...rest);
        };
        for (let i = 0; i < 8; i++) document.dispatchEvent(new Event("visibilitychange"));
        setTimeout(() => done([count, (performance.now() - begun) / 1000]), 3000);
    })""")
    tap.equal(0 < count <= seconds + 2, True, f"{count} requests in {seconds} s")


def moves(page, works):
    """Changes are sent until the picture says that they pass."""
    begun = time.monotonic()
    seconds = 40 if os.environ.get("TORG_SCREENSHOTS") else 0     # a picture wants something to show
    passing = "['export', 'composer', 'indexer', 'searcher'].every((name) => " \
        "/^[^0–]/.test(document.querySelector(`#stage-${name} .stage-rate`).innerText)) && " \
        "!document.querySelector('#pipe-queue').classList.contains('is-still')"
    number, are_passing = 0, False          # once seen it may be over with the next picture
    while not are_passing and time.monotonic() < begun + tap.PATIENCE_S \
            or time.monotonic() < begun + seconds:
        works.publish(BOOK, number)
        works.found("book")
        number += 1
        time.sleep(.05 + .15 * (number % 7 > 3))
        are_passing = are_passing or page.js(passing)
    tap.equal(are_passing, True, page.texts(".stage-rate"))
    page.wait("document.querySelector('#rates .chart-line').getAttribute('d').includes('L')", "a line")
    tap.contains(page.js("document.querySelector('#rates svg').getAttribute('aria-label')"), "Composer")


def replays(page, works):
    item = f"[data-pk=\"{works.parked}\"]"
    page.wait(f"document.querySelector('{item}')", "the parked offer")
    tap.contains(page.text(f"{item} .item-reason"), "bikes")
    tap.contains(page.text("#stage-composer"), "1 parked")
    if os.environ.get("TORG_SCREENSHOTS"):
        traces(page, works.found("book")[0])
    shoot(page, "console")
    works.apply(CATALOG)
    # By its own next try it may have gone already: then there is nothing left to click.
    page.js(f"document.querySelector('{item} [data-deed=replay]')?.click()")
    page.wait(f"!document.querySelector('{item}')", "it is gone")
    tap.wait_until(lambda: works.parked in works.found("bicycle"), what="it is found")
    page.wait("document.querySelector('#stage-composer .stage-marks').innerText === ''", "no mark")


def traces(page, offer):
    def is_done():
        """Asked again while a newer document of it, by another catalogue, is on its way."""
        page.js("document.querySelector('#trace-body').replaceChildren()")
        page.js("document.querySelector('#trace-key').value = ''")
        page.click("#trace-key")
        page.type(offer.replace("-", " "))
        page.press("Enter")
        page.wait("document.querySelector('.step[data-stage=searchable]')", "the steps")
        return page.js("document.querySelector('.step[data-stage=searchable]').dataset.state") == "DONE"

    tap.wait_until(is_done, what="a trace to the end")
    tap.equal(page.js("document.querySelectorAll('.step').length") >= 6, True)


def shows_the_audit(page):
    page.wait("/^equal Everything was equal at /.test(document.querySelector('#audit-equal')?.innerText)",
              "when everything was equal")
    tap.contains(page.text("#audit-body"), "0 differences")
    tap.contains(page.text("#audit-body"), "Nothing has differed.")


def changes_synonyms(page, works):
    page.wait("!document.querySelector('#synonyms').hidden", "the synonyms")
    for session in "abc":
        works.call("EventService/RecordEvents", {"session": session, "events": [
            {"id": "1", "kind": "RETYPE", "offerId": works.parked, "text": "velo", "retyped": "bicycle"}]})
    page.wait("document.querySelector('#synonyms-proposals').innerText.includes('velo => bicycle')", "a proposal")
    page.js("document.querySelector('#synonyms-language').value = 'en';"
            "document.querySelector('#synonyms-text').value = 'one'")
    page.click("#synonyms-form .primary")
    page.wait("document.querySelector('#synonyms-told').innerText.includes('line 1')", "what is wrong")
    page.js("document.querySelector('#synonyms-text').value = ''")
    page.click("#synonyms-proposals button")
    tap.equal(page.js("document.querySelector('#synonyms-text').value"), "velo => bicycle\n")
    tap.equal(works.torg("synonyms", "list").stdout.startswith("no synonyms"), True)    # by the button alone
    page.click("#synonyms-form .primary")
    page.wait("document.querySelector('#synonyms-told').innerText.includes('Version 1 is in force')", "the change")
    tap.equal(works.torg("synonyms", "list", "--language", "en").stdout, "velo => bicycle\n")


def compares_formulas(page):
    page.wait("document.querySelector('#experiments-body').innerText.includes('no difference is seen')",
              "what is compared")
    tap.contains(page.text("#experiments-body"), "score * 2")
    tap.contains(page.text("#experiments-body"), "running")


def shows_snippets(page, works):
    page.wait("!document.querySelector('#snippets').hidden", "the config of snippets")
    tap.contains(page.text("#snippets-body"), "rating")
    body = {"name": "g/rating", "key": "o-1", "format": "JSON", "body": "eyJzdGFycyI6NX0="}
    tap.equal(works.call("SnippetService/PutSnippet", body, works.operator)[0], 200)
    page.js("document.querySelector('#snippets-key').value = 'g/rating o-1'")
    page.click("#snippets-form button")
    page.wait("document.querySelector('#snippets-found').innerText.includes('{\"stars\":5}')",
              "a snippet")
    page.js("document.querySelector('#snippets-name').value = 'g/rating'")
    page.js("document.querySelector('#snippets-text').value = '{\"stars\":3}'")
    page.click("#snippets-check button")
    page.wait("document.querySelector('#snippets-found').innerText.includes('{\"stars\":3}')",
              "what would be stored")
    page.js("document.querySelector('#snippets-text').value = '{'")
    page.click("#snippets-check button")
    page.wait("document.querySelector('#snippets-found').innerText.includes('no JSON')",
              "why it would be refused")
    body = {"name": "g/rating", "key": "o-bad", "format": "JSON", "body": "ew=="}
    tap.equal(works.call("SnippetService/PutSnippet", body, works.operator)[0], 400)
    page.wait("document.querySelector('#snippets-failures')?.textContent.includes('o-bad')",
              "the last failure")
    page.wait("document.querySelector('#snippets-rates')", "the rates")
    found = works.call("SnippetService/GetSnippets", {"names": ["g"], "keys": ["try", "o-1"]},
                       works.operator)[1]["snippets"]
    tap.equal([each["key"] for each in found], ["o-1"], "what is tried is not stored")


@tap.test
def an_operator_sees_it_move_replays_and_traces():
    with Browser() as browser, Works() as works:
        signs_in(browser, works)
        tells_that_nobody_answers(browser, works)
        page = browser.page(f"{works.url}/console#key={works.operator}", width=1280, height=960)
        page.wait("document.querySelectorAll('.stage-card').length === 7", "seven stages")
        tap.equal(page.js("location.hash"), "")
        moves(page, works)
        replays(page, works)
        shows_the_audit(page)
        shows_snippets(page, works)
        changes_synonyms(page, works)
        compares_formulas(page)
        traces(page, works.parked)
        fits(page)
        tap.equal(page.nameless(), [])
        page.click("#stage-indexer")
        tap.contains(page.text("#stage"), "Indexer")
        page.click("[data-language=ru]")
        page.wait("document.querySelector('#stage').innerText.includes('Индексатор')", "Russian")
        page.resize(390, 844, 1.5)
        page.js("document.documentElement.dataset.theme = 'dark'")
        page.wait("document.querySelector('#stages').getBoundingClientRect().height > 500", "top down")
        fits(page)
        shoot(page, "console-phone")
        healthy(page, works)


@tap.test
def an_operator_sees_feeds_that_cannot_be_fetched():
    with Browser() as browser, Works() as works:
        status, answer = works.call("FeedService/SetSchedule", {
            "address": "http://127.0.0.1:9/goods.csv", "periodSeconds": 600}, works.seller)
        tap.equal(status, 200, answer)
        page = browser.page(f"{works.url}/console#key={works.operator}", width=1280, height=960,
                            language="en")
        page.wait("document.querySelector('[data-failing=main]')", "the feed")
        tap.contains(page.text("[data-failing=main]"), "not one of the public internet")
        page.resize(390, 844, 1.5)
        fits(page)
        healthy(page, works)


tap.main()
