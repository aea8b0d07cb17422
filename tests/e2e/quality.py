# SPDX-License-Identifier: Apache-2.0
"""What every page owes its readers, in headless Chromium over a shop of `torg demo`: no barriers that
axe-core knows, no jumps of the layout (CLS), few requests, no filter that cannot choose; and the page /try does
what it shows.
"""
import json
import os
import pathlib
import sys
import urllib.parse

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.browser import Browser  # noqa: E402
from kit.demo import Demo  # noqa: E402
from kit.shelf import Shelf  # noqa: E402

OFFERS = 300
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
JUMPS_MAX = 0.1
JUMPS = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const each of list.getEntries())
    if (!each.hadRecentInput) sum += each.value; }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300); })"""


def axe():
    path = pathlib.Path(os.environ.get("TORG_CACHE", "")) / "axe/axe.min.js"
    if not path.exists():
        if os.environ.get("TORG_REQUIRE"):
            raise AssertionError("axe-core is missing: ./dev setup --test fetches it")
        tap.skip("no axe-core")
    return path.read_text()


def barriers(page):
    """What axe finds: the rule and the first place of each."""
    page.js(axe())
    found = page.js("axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map("
                    "(each) => [each.id, each.nodes.length, each.nodes[0].target.join(' ')]))")
    return [f"{name} x{count} at {place}" for name, count, place in found]


def first_requests(urls):
    """Those that a page is made of: some calls are made again as long as somebody looks at it."""
    return [url for place, url in enumerate(urls) if not url.startswith("data:")
            and not (url.endswith(("/GetPageSnippets", "/RecordEvents")) and url in urls[:place])]


def worst_jumps(page, ready):
    """Of three loads, the last two over a slow line: what is drawn before the answer has to stay where it is."""
    found = []
    for latency in (0, 250, 400):
        page.call("Network.emulateNetworkConditions", offline=False, latency=latency, downloadThroughput=-1,
                  uploadThroughput=-1)
        if found:
            page.reload()
        page.wait(ready)
        page.js("document.fonts.ready.then(() => null)")
        found.append(page.js(JUMPS))
    page.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1,
              uploadThroughput=-1)
    tap.comment(f"CLS of three times: {found}")
    return max(found)


def shoot(page, name):
    directory = os.environ.get("TORG_SCREENSHOTS")
    if directory:
        page.screenshot(pathlib.Path(directory) / f"{name}.png")


class Shown:
    """The pages of a shop, each with what says that it is all there."""

    def __init__(self, demo):
        first = demo.search(limit=1)["offers"][0]["id"]
        ready = "document.querySelector('.offer-item:not(.skeleton)')"
        self.pages = [
            ("search", "/", ready),
            ("results", "/?q=велосипед", f"{ready} || !document.querySelector('#empty').hidden"),
            ("corrected", "/?q=купить+велосепед", ready),
            ("category", "/?c=transport", ready),
            ("empty", "/?q=qqqqwwww&keep=1&f.price=1..2", "!document.querySelector('#empty').hidden"),
            ("offer", f"/?offer={first}", "document.querySelector('#offer-title')"),
            ("cabinet", f"/cabinet#key={demo.seller}", "document.querySelector('main h1, main h2')"),
            ("console", f"/console#key={demo.operator}", "document.querySelector('main h1, main h2')"),
            ("try", f"/try#key={demo.operator}",
             "document.querySelector('.hit') || document.querySelector('#sign-in')"),
            ("one", f"/offers/{first}", "document.querySelector('h1')"),
            ("seller", f"/sellers/{demo.search(limit=1)['offers'][0]['seller']}",
             "document.querySelector('.plain-list li')"),
            ("gone", "/offers/0000-0000-0000-0000", "document.querySelector('h1')"),
            ("missing", "/nothing-is-here", "document.querySelector('h1')"),
            ("about", "/about", "document.querySelector('.call')"),
        ]


def further(page, name):
    """What a page shows when it is asked to: the map, the seller's phone and the form of a message."""
    if name == "category":
        page.click("#view-map")
        page.wait("document.querySelector('.map-mark')", "marks on the map")
        drawn = page.js("[...document.querySelectorAll('.map-mark')].reduce((sum, each) => "
                        "sum + Number(each.querySelector('text')?.textContent || 1), 0)")
        listed = page.js("document.querySelectorAll('.offer-item').length")
        tap.equal(drawn, listed, "offers on the map")
        page.click(".map-drawing")
        page.wait("/near=/.test(location.search) && document.querySelector('.map-near')", "the place chosen")
        page.click("#view-cards")
        page.click("#view-map")
        page.wait("document.querySelector('#offers').getAttribute('aria-busy') === 'false'", "an answer")
    elif name == "offer":
        page.wait("document.querySelector('#show-phone')", "the button of the phone")
        page.click("#show-phone")
        page.wait("document.querySelector('.phone')", "the phone")
        page.click(".contact-message summary")


@tap.test
def no_page_has_barriers_or_jumps():
    with Demo() as demo, Browser() as browser:
        demo.filled(f"--offers={OFFERS}", "--changes=0").photographed()
        faults = []
        for name, path, ready in Shown(demo).pages:
            for form, size in (("desktop", DESKTOP), ("phone", PHONE)):
                page = browser.page(demo.url + path, language="ru", **size)
                page.wait(ready, f"{name}: {ready}")
                page.js("document.fonts.ready.then(() => null)")
                asked = first_requests(page.requests)
                jumps = worst_jumps(page, ready)
                tap.comment(f"{name}, {form}: CLS {jumps:.3f}, {len(asked)} requests")
                shoot(page, f"quality-{name}-{form}")
                further(page, name)
                found = barriers(page)
                faults += [f"{name}, {form}: {each}" for each in found]
                if jumps >= JUMPS_MAX:
                    faults.append(f"{name}, {form}: CLS {jumps:.3f}")
                if name == "search" and len(asked) > 15:
                    faults.append(f"{name}, {form}: {len(asked)} requests: {json.dumps(asked)}")
        tap.equal(faults, [])


@tap.test
def pages_say_something_without_a_script():
    with Demo() as demo, Browser() as browser:
        demo.filled("--offers=60", "--changes=0").photographed()
        found = next(offer for offer in demo.search(limit=50)["offers"] if "photo" in offer)
        path, seller = f"/offers/{found['id']}", f"/sellers/{found['seller']}"
        status, headers, body = demo.get(path, **{"Accept-Language": "ru"})
        text = body.decode()
        tap.equal((status, headers["content-type"]), (200, "text/html; charset=utf-8"))
        tap.equal("<script" in text, False, "a script")
        for part in (f'og:url" content="{demo.url}{path}"', 'property="og:title"', 'property="og:image"',
                     f'<link rel="canonical" href="{demo.url}{path}">', f'href="{seller}"'):
            tap.contains(text, part)
        tap.contains(text, found["title"].replace("&", "&amp;").replace('"', "&quot;"))
        status, _, body = demo.get(seller, **{"Accept-Language": "en"})
        tap.equal(status, 200)
        tap.contains(body.decode(), f'href="{path}"')
        tap.contains(body.decode(), "Offers since 20")
        tap.equal("<b>0\u00a0" in body.decode(), False, "prices are told")
        tap.contains(demo.get("/robots.txt")[2].decode(), f"Sitemap: {demo.url}/sitemap.xml")
        tap.contains(demo.get("/sitemap.xml")[2].decode(), f"<loc>{demo.url}{path}</loc>")
        # what is not there: a page for people, JSON for programs
        for address in ("/offers/0000-0000-0000-0000", "/nothing-is-here"):
            status, headers, _ = demo.get(address, Accept="text/html")
            tap.equal((status, headers["content-type"].split(";")[0]), (404, "text/html"), address)
        tap.equal(json.loads(demo.get("/nothing-is-here")[2])["code"], "not_found")

        # what was marked and seen stays in the browser
        page = browser.page(f"{demo.url}/?offer={found['id']}", language="en")
        page.wait("document.querySelector('#save-offer')?.getAttribute('aria-pressed') === 'false'", "the button")
        page.click("#save-offer")
        page.wait("document.querySelector('#save-offer').getAttribute('aria-pressed') === 'true'")
        page.go(f"{demo.url}/?q=nothing-of-this-kind&keep=1")
        page.wait("document.querySelectorAll('#kept .kept').length === 2", "saved and seen")
        tap.equal(page.texts("#kept h2"), ["Saved", "Seen lately"])
        tap.equal(page.errors, [])


@tap.test
def a_filter_that_cannot_choose_is_not_there():
    with Shelf() as shelf, Browser() as browser:
        def offered(query, count):
            page = browser.page(f"{shelf.url}/?{query}", language="en", **DESKTOP)
            page.wait(f"document.querySelector('#total').innerText.startsWith('{count} ')", f"{count} offers")
            ids = page.js("[...document.querySelectorAll('[id^=\"f-\"]')].map((each) => each.id)")
            return [name for name in ("f-price-max", "f-a.color", "f-a.bike-type", "f-condition")
                    if any(each.startswith(name) for each in ids)]

        tap.equal(offered("c=bikes", 40), ["f-price-max", "f-a.color", "f-a.bike-type", "f-condition"])
        # one price, one colour, one condition
        tap.equal(offered("c=bikes&q=" + urllib.parse.quote('"Номер 7"'), 1), [])
        tap.equal(offered("c=bikes&f.price=..900000", 1), ["f-price-max"])      # it can be taken back


@tap.test
def documents_are_put_and_searched_by_hand():
    with Demo() as demo, Browser() as browser:
        demo.filled("--offers=20", "--changes=0")
        key = demo.torg("key", "create", "dev", "--scope", "search", "--scope", "documents",
                        f"--data={demo.data}").stdout.strip()
        page = browser.page(f"{demo.url}/try#key={key}", language="en")
        page.wait("document.querySelector('.hit')", "the offers' documents")
        page.click("#send")
        page.wait("document.querySelector('#sent')?.innerText.includes('Accepted: 3')", "the documents")
        page.wait("document.querySelector('#client').value === 'films'"
                  " && document.querySelectorAll('.hit').length === 3")
        page.click("#q")
        page.type("solaris")
        page.wait("document.querySelectorAll('.hit').length === 1")
        tap.contains(page.text("#told"), "1 document in")
        tap.contains(page.text("#address"), "/v1/clients/films/search?q=solaris")
        page.click(".hit button")
        page.wait("document.querySelector('.why')?.innerText.includes('solaris')", "why")
        page.js("document.querySelector('#q').value = ''; document.querySelector('#ask').requestSubmit()")
        page.wait("document.querySelectorAll('.hit').length === 3")
        page.js("[...document.querySelectorAll('.facet .chip')]"
                ".find((each) => each.innerText.startsWith('drama')).click()")
        page.wait("document.querySelectorAll('.hit').length === 2")
        tap.equal(page.js("document.querySelector('#filter').value"), "genres = drama")
        page.js("const f = document.querySelector('#filter'); f.value = 'rating <';"
                "f.dispatchEvent(new Event('change'))")
        page.wait("document.querySelector('#told').innerText.includes('character 9')", "the fault")
        # the only error of the page is the refusal of that filter
        tap.equal([error for error in page.errors if "400" not in error], [])
        tap.equal(page.js("document.documentElement.scrollWidth <= innerWidth"), True, "sideways scroll")


tap.main()
