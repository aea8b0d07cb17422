# SPDX-License-Identifier: Apache-2.0
"""The buyers' page in headless Chromium: the real program, offers sent by the API. With TORG_SCREENSHOTS=DIR the
pictures of docs/screens are written there."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import TOP, TORG, Place, environment, open_sqlite  # noqa: E402
from kit.browser import Browser  # noqa: E402
from kit.shelf import Shelf  # noqa: E402

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 860}
KAZAN = (55.796, 49.106)
open_things = contextlib.ExitStack()
things = {}


def shelf():
    """One server and one browser for all tests: they change nothing but the counts of events."""
    if "browser" not in things:
        things["browser"] = open_things.enter_context(Browser())    # skips before a server starts
        things["shelf"] = open_things.enter_context(Shelf())
    return things["shelf"]


def tab(path, **options):
    url = shelf().url + path
    return things["browser"].page(url, **{**DESKTOP, **options})


def opened(path="/", **options):
    """A new page there, with its answer drawn."""
    page = tab(path, **options)
    settled(page)
    return page


def settled(page):
    page.wait("document.querySelector('#offers').getAttribute('aria-busy') === 'false'", "an answer")


def total(page, count):
    page.wait(f"document.querySelector('#total').innerText.startsWith('{count} ')",
              f"a total of {count}, not {page.text('#total')!r}")


def query(page):
    return dict(urllib.parse.parse_qsl(page.js("location.search.slice(1)")))


def search_for(page, text):
    page.click("#text")
    page.js("document.querySelector('#text').select()")
    page.type(text)
    page.press("Enter")


def healthy(page):
    """Nothing was written to the console, nobody else was asked."""
    tap.equal(page.errors, [])
    origin = shelf().url
    tap.equal([url for url in page.requests if not url.startswith((f"{origin}/", "data:"))], [])


@tap.test
def a_buyer_searches_and_sees_marked_words():
    page = opened()
    total(page, 64)
    tap.equal(page.js("document.querySelectorAll('.tile').length"), 2)
    search_for(page, "велосипед")
    total(page, 44)
    notices = "[...document.querySelectorAll('.notice:not([hidden])')].map((each) => each.innerText)"
    tap.equal(page.js(notices), [], "an answer that is whole and new has nothing to say of itself")
    tap.equal(query(page), {"q": "велосипед"})
    tap.contains(page.texts(".offer-title mark")[0].lower(), "велосипед")
    tap.equal(page.js("document.querySelectorAll('.offer-item').length"), 24)
    tap.contains(page.js("document.querySelector('#times').textContent"), "page")
    healthy(page)


@tap.test
def filters_narrow_by_one_request_a_change_and_are_taken_back():
    page = opened("/?c=bikes")
    total(page, 40)
    tap.contains(page.text("#crumbs"), "Hobbies and sport")
    before = len([url for url in page.requests if "SearchOffers" in url])
    page.click("[id='f-a.color-red']")
    total(page, 8)
    tap.equal(len([url for url in page.requests if "SearchOffers" in url]) - before, 1)
    tap.equal(query(page), {"c": "bikes", "f.a.color": "red"})
    tap.equal(page.js("document.activeElement.id"), "f-a.color-red")
    page.click("[id='f-a.color-blue']")
    total(page, 16)
    page.click("#f-price-max")
    page.type("20,000")
    page.press("Enter")
    page.wait("location.search.includes('f.price=..2000000')")
    settled(page)
    total(page, 3)
    tap.equal(len(page.texts("#chips .chip.chosen")), 3)
    tap.contains(page.text("#chips"), "Price: up to ₽20,000")
    page.click("#chips .chip.chosen")
    page.wait("document.querySelectorAll('#chips .chip.chosen').length === 2")
    page.click("#chips .chip:not(.chosen)")
    total(page, 40)
    tap.equal(page.js("document.querySelector('#chips').hidden"), True)
    healthy(page)


def hold_answers(page):
    """Answers of searches wait in `held` until they are let go."""
    page.js("""(() => {
        const real = fetch;
        window.held = [];
        window.fetch = (address, options) => address.includes("SearchOffers")
            ? new Promise((done) => held.push(() =>
                real(address, {...options, signal: null}).then(done)))
            : real(address, options);
    })()""")


def let_go(page):
    page.js("held.splice(0).forEach((answer) => answer())")
    settled(page)


def values(page, *ids):
    return [page.js(f"document.getElementById('{each}').value") for each in ids]


@tap.test
def a_range_is_typed_in_peace_while_answers_come():
    ends = ("f-price-min", "f-price-max")
    page = opened("/?c=bikes")
    hold_answers(page)
    page.click("#f-price-min")
    page.type("10000")
    page.press("Tab")
    page.wait("held.length === 1", "what was left is asked for")
    tap.equal(query(page)["f.price"], "1000000..")
    page.js("window.field = document.activeElement")
    for sign in "20 000":               # each answer comes between two letters
        page.type(sign)
        let_go(page)
        tap.equal(page.js("document.activeElement === field && field.isConnected"), True, sign)
        tap.equal(query(page)["f.price"], "1000000..", sign)
        page.js("document.querySelector('#order').dispatchEvent(new Event('change'))")
        page.wait("held.length === 1", "another search")
    tap.equal(values(page, *ends), ["10000", "20 000"])
    page.press("Enter")
    page.wait("location.search.includes('f.price=1000000..2000000')")
    page.wait("held.length === 2")
    let_go(page)
    tap.equal(values(page, *ends), ["10000", "20000"])
    tap.equal(page.text("[id='clear-price']"), "Clear")
    healthy(page)


@tap.test
def a_range_is_left_by_leaving_it():
    ends = ("f-price-min", "f-price-max")
    page = opened("/?c=bikes&f.price=..500000")
    page.click("#f-price-min")
    page.type("10000")
    page.press("Tab")                   # above the upper end, which is about to be typed
    tap.equal(query(page)["f.price"], "..500000")
    page.type("20000")
    page.press("Tab")
    page.wait("location.search.includes('f.price=1000000..2000000')")
    settled(page)
    tap.equal(values(page, *ends), ["10000", "20000"])
    page.click("#f-price-max")
    page.js("document.activeElement.select()")
    page.type("9000")
    page.press("Enter")                 # the wrong way round: swapped
    page.wait("location.search.includes('f.price=900000..1000000')")
    settled(page)
    page.wait("document.activeElement.value === '10000'", "the upper end")
    page.js("document.activeElement.select()")
    page.type("12abc")
    page.press("Tab")
    tap.equal(page.js("document.querySelector('#f-price-max').ariaInvalid"), "true")
    tap.contains(page.js("document.querySelector('#f-price-max').title"), "not a number")
    tap.equal(query(page)["f.price"], "900000..1000000")
    healthy(page)


@tap.test
def what_is_typed_into_the_search_outlives_an_answer():
    page = opened("/?q=велосипед")
    hold_answers(page)
    search_for(page, "книга")
    page.wait("held.length === 1")
    page.type(" для детей")
    let_go(page)
    tap.equal(values(page, "text"), ["книга для детей"])
    healthy(page)


@tap.test
def the_next_page_keeps_the_scroll_and_a_reload_the_count():
    page = opened("/?q=велосипед")
    page.js("document.querySelector('#more').scrollIntoView({block: 'center'})")
    scroll = page.js("scrollY")
    page.click("#more")
    page.wait("document.querySelectorAll('.offer-item').length === 44", "the second page")
    tap.equal(abs(page.js("scrollY") - scroll) < 200, True)
    tap.equal(page.js("document.querySelector('#more').hidden"), True)
    ids = page.js("[...document.querySelectorAll('.offer-title a')].map((each) => each.id)")
    tap.equal(len(set(ids)), 44)
    page.reload()
    page.wait("document.querySelectorAll('.offer-item:not(.skeleton)').length === 44",
              "as many after a reload")
    healthy(page)


@tap.test
def the_back_button_gives_back_what_was_asked_for():
    page = opened("/?q=велосипед")
    page.click("#panel .below .branch a")
    page.wait("location.search.includes('c=hobby')")
    settled(page)
    page.click("[id='f-condition-new']")
    page.wait("location.search.includes('f.condition=new')")
    settled(page)
    asked = len(page.requests)
    page.js("history.back()")
    page.wait("!location.search.includes('condition')")
    total(page, 44)
    tap.equal(page.js("document.querySelector('[id=\"f-condition-new\"]').checked"), False)
    page.js("history.back()")
    page.wait("!location.search.includes('c=')")
    tap.equal(page.js("document.querySelector('#text').value"), "велосипед")
    tap.equal([url for url in page.requests[asked:] if "/torg.v1." in url and "RecordEvents" not in url], [],
              "calls of going back")
    healthy(page)


@tap.test
def back_and_forward_keep_the_place_in_the_list():
    page = opened("/?q=велосипед")
    page.js("history.scrollRestoration = 'manual'")     # browsers differ in what they do by themselves
    page.js("scrollTo(0, 700)")
    page.wait("scrollY === 700")
    page.js("document.querySelector('#panel .below .branch a').click()")
    page.wait("location.search.includes('c=hobby')")
    settled(page)
    page.wait("scrollY === 0", "a new list is shown from its top")
    page.js("new Promise((done) => { addEventListener('scroll', () => requestAnimationFrame(done), "
            "{once: true}); scrollTo(0, 450); })")
    for way, there, place in (("back", "!location.search.includes('c=')", 700),
                              ("forward", "location.search.includes('c=hobby')", 450),
                              ("back", "!location.search.includes('c=')", 700),
                              ("forward", "location.search.includes('c=hobby')", 450)):
        page.js(f"history.{way}()")
        page.wait(there, way)
        page.wait(f"scrollY === {place}", f"{way}: the place in the list")
        page.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        tap.equal(page.js("scrollY"), place, way)
    healthy(page)


@tap.test
def an_answer_that_comes_late_is_not_of_this_list():
    page = opened("/?c=bikes", language="en")
    search_for(page, "велосипед")
    page.wait("location.search.includes('q=')")
    settled(page)
    page.js("""(() => {
        const real = fetch;
        window.held = [];
        window.fetch = (address, options) => options?.body?.includes('"onlyOffers":true')
            ? new Promise((done) => held.push(() => real(address, {...options, signal: null}).then(done)))
            : address.includes("SearchOffers") && window.isSlow ? new Promise((_, fail) =>
                options.signal.addEventListener("abort", () => fail(new DOMException("", "AbortError"))))
            : real(address, options);
    })()""")
    page.click("#more")
    page.wait("held.length === 1", "the next page was asked for")
    page.js("history.back()")
    page.wait("!location.search.includes('q=')")
    page.js("held[0]().then(() => new Promise((done) => setTimeout(done, 100)))")
    tap.equal(page.js("document.querySelectorAll('.offer-item').length"), 24)
    tap.equal(page.js("document.querySelector('#more').disabled"), False)

    # Back, while another search is under way: the list is not grey any more.
    page.js("window.isSlow = true")
    search_for(page, "книга")
    page.wait("document.querySelector('#offers').getAttribute('aria-busy') === 'true'")
    page.js("history.back()")
    settled(page)
    total(page, 40)
    healthy(page)


@tap.test
def an_address_means_what_was_chosen():
    page = opened("/?f.date=1d")
    total(page, 64)
    filters = {"a.x": {"values": ["Сталь, хром", "50%", "1..2"]}, "a.y": {"values": ["7d"]},
               "a.z": {"values": ["red", "blue"]}, "date": {"days": 7},
               "price": {"min": "5", "max": ""}}
    address, read = page.js(f"""import('/search/state.js').then(({{addressOf, readState}}) => {{
        const address = addressOf({{...readState({{search: ""}}), filters: {json.dumps(filters)}}});
        return [address, readState(new URL(address, location)).filters];
    }})""")
    tap.equal(read, filters)
    tap.contains(address, "f.a.z=red,blue")
    swapped = page.js("""import('/search/state.js').then(({readState}) =>
        readState({search: "?f.price=2000000..900000"}).filters.price)""")
    tap.equal(swapped, {"min": "900000", "max": "2000000"})
    since = page.js("""import('/search/state.js').then(({readState, requestOf}) =>
        Date.now() - Date.parse(requestOf(readState({search: "?f.date=1d"})).filters[0].min))""")
    tap.equal(abs(since - 24 * 3600 * 1000) < 60 * 1000, True, f"{since} ms are no day")
    healthy(page)


@tap.test
def a_stream_that_breaks_off_is_an_error():
    page = opened()
    told = page.js("""import("/common/call.js").then(async ({callStream}) => {
        window.fetch = async () => new Response('{"row": 1}\\n{"error": {"code": "data_loss", '
            + '"message": "the report is damaged"}}\\n');
        const rows = [];
        try { for await (const row of callStream("FeedService", "GetReport", {})) rows.push(row); }
        catch (error) { return [rows.length, error.code, error.message]; }
        return rows;
    })""")
    tap.equal(told, [1, "data_loss", "the report is damaged"])


@tap.test
def a_double_click_turns_one_page_of_the_cabinet():
    page = tab(f"/cabinet#key={shelf().seller}", language="en")
    page.wait("document.querySelector('#page-next')", "the list")
    page.js("(() => { const next = document.querySelector('#page-next'); next.click(); next.click(); })()")
    page.wait("document.querySelector('.pager [role=status]').innerText.includes('2')", "the second page")
    page.click("#page-next")
    page.wait("document.querySelector('.pager [role=status]').innerText.includes('3')", "the third page")
    page.click("#page-next")
    page.wait("document.querySelectorAll('.offer-line').length === 4", "the last offers")
    tap.equal(page.js("document.querySelector('#page-next').disabled"), True)
    page.click("[data-language=ru]")
    page.resize(390, 844)
    page.wait("document.querySelector('#new-offer').getBoundingClientRect().right <= innerWidth",
              "the button is on the phone")
    healthy(page)


@tap.test
def an_offer_has_an_address_of_its_own():
    page = opened("/?q=велосипед", language="ru")
    title = page.text(".offer-title a")
    page.click(".offer-title a")
    page.wait("document.querySelector('#offer .offer-price')", "the offer")
    tap.equal(page.text("#offer-title"), title)
    tap.contains(page.text("#offer .facts"), "Цвет")
    tap.contains(page.text("#offer .description"), "<b>Не обмен</b> & не рассрочка")
    page.wait("document.querySelectorAll('#offer .similar .offer-item').length > 0", "similar offers")
    link = page.js("location.pathname + location.search")
    page.click("#offer .similar .offer-title a")
    page.wait(f"location.pathname + location.search !== {json.dumps(link)} "
              "&& document.querySelector('#offer .offer-price')", "a similar one")
    page.press("Escape")
    page.wait("!document.querySelector('#offer').open", "Esc closes it")
    tap.equal(query(page), {"q": "велосипед"})
    tap.equal(page.js("document.activeElement.closest('#offers') !== null"), True, "focus")
    other = tab(link, **PHONE)
    other.wait("document.querySelector('#offer .offer-price')", "the offer by its link")
    tap.contains(other.js("document.title"), title)
    healthy(page)
    healthy(other)
    gone = tab("/?offer=1234-5678-9012-3456")
    gone.wait("document.querySelector('#offer h2').innerText.includes('gone')", "told that it is gone")


@tap.test
def the_language_is_switched_and_remembered():
    page = opened(language="ru")
    total(page, 64)
    tap.contains(page.text("#panel"), "Хобби и спорт")
    page.click("[data-language=en]")
    page.wait("document.querySelector('#panel').innerText.includes('Hobbies and sport')")
    tap.equal(page.js("document.documentElement.lang"), "en")
    tap.contains(page.text("#total"), "offers")
    page.go(shelf().url + "/about")
    page.wait("document.querySelector('h2').innerText === 'What runs here'")
    page.wait("document.querySelector('#roles .badge')")
    healthy(page)


@tap.test
def distances_are_counted_from_the_place_that_was_told():
    page = opened("/?c=bikes", place=KAZAN)
    page.click("#near-me")
    page.wait("location.search.includes('near=55.796,49.106')")
    settled(page)
    page.click("[id='f-distance-25000']")
    total(page, 10)
    page.wait("document.querySelectorAll('.offer-place b').length === 10", "distances")
    page.js("""(() => { const order = document.querySelector('#order'); order.value = 'NEAREST';
        order.dispatchEvent(new Event('change')); })()""")
    page.wait("location.search.includes('sort=NEAREST')")
    settled(page)
    page.wait("document.querySelectorAll('.offer-place b').length === 10", "distances")
    far = [float(text.split()[0].replace("m", "0")) for text in page.texts(".offer-place b")
           if text.endswith("km")]
    tap.equal(far, sorted(far))
    healthy(page)


@tap.test
def nothing_found_helps_on():
    page = opened("/?q=абракадабра&c=bikes&f.condition=new", language="ru")
    tap.equal(page.text("#empty h2"), "Ничего не нашлось")
    steps = "[...document.querySelectorAll('#empty .button')].filter((each) => !each.hidden)"
    page.wait(f"{steps}.length === 1", "the steps that find nothing to go")
    tap.equal(page.js(f"{steps}[0].innerText"), f"Показать все объявления ({len(shelf().ids)})")
    page.js(f"{steps}[0].click()")
    page.wait("location.search === ''")
    page = opened("/?c=no-such-category")
    tap.contains(page.text("#empty"), "no-such-category")
    page = opened("/?c=no-such-category", language="ru")
    tap.contains(page.text("#empty [role=alert]"), "Сервер не понял запрос")
    tap.contains(page.text("#empty [role=alert] [lang=en]"), "no-such-category")


@tap.test
def every_failure_has_words_in_both_languages():
    codes = re.findall(r'^    {"[A-Z_]+", "([a-z_]+)", \d+},$', (TOP / "src/net/status.c").read_text(),
                       re.MULTILINE)
    tap.equal((len(codes), codes[0]), (17, "ok"))
    for language, sign in (("ru", "[А-Яа-я]"), ("en", "[A-Za-z]")):
        page = opened(language=language)
        told = page.js(f"""import("/common.js").then(({{CallError, failureText}}) =>
            {json.dumps(codes[1:])}.map((code) => failureText(new CallError(400, code, "?"))))""")
        tap.equal([text for text in told if not re.match(sign + ".*\\.$", text)], [], language)


@tap.test
def a_phone_has_its_filters_in_a_sheet():
    page = opened("/?c=bikes", **PHONE, language="ru")
    tap.equal(page.js("document.documentElement.scrollWidth <= innerWidth"), True, "no sideways scroll")
    page.click("#open-filters")
    page.wait("document.querySelector('#sheet').open")
    page.click("[id='f-a.color-red']")
    page.wait("document.querySelector('#sheet-show').innerText === 'Показать 8 объявлений'")
    tap.equal(page.js("document.querySelector('#sheet').open"), True)
    page.click("#sheet-show")
    page.wait("!document.querySelector('#sheet').open")
    total(page, 8)
    tap.equal(page.text("#filter-count"), "1")
    healthy(page)


@tap.test
def what_was_meant_is_searched_and_what_was_typed_is_offered_back():
    tap.wait_until(lambda: shelf().total({"text": "dtkjcbgtl"}) == 44, what="spelling is open")
    page = opened("/?q=dtkjcbgtl")
    total(page, 44)
    tap.equal(page.text("#title"), "“велосипед”")
    tap.contains(page.text("#corrected"), "велосипед")
    page.click("#corrected a")
    page.wait("location.search.includes('keep=1')")
    settled(page)
    total(page, 0)
    tap.equal(page.js("document.querySelector('#corrected').hidden"), True)
    search_for(page, "dtkjcbgtl")
    total(page, 44)
    tap.equal(query(page), {"q": "dtkjcbgtl"})
    healthy(page)


def told_by_clicks(sql):
    with open_sqlite(f"file:{shelf().data / 'store.sqlite'}?mode=ro", uri=True) as base:
        return base.execute(sql).fetchall()


@tap.test
def what_was_understood_is_a_chip_that_can_be_taken_back():
    shelf().write("en.txt", "velo => велосипед\n")
    tap.equal(shelf().torg("synonyms", "apply", "en.txt").returncode, 0)
    page = opened("/?q=red+велосипед")
    tap.equal(page.texts(".chip.meant"), ["Colour: Red"])
    page.click(".chip.meant a")                     # only these, by the filter instead of the word
    page.wait("new URLSearchParams(location.search).get('f.a.color') === 'red'")
    total(page, 8)
    tap.equal(query(page), {"q": "велосипед", "f.a.color": "red"})
    page = opened("/?q=velo+trek&keep=1")
    tap.equal(page.texts(".chip.meant"), ["“velo” and велосипед"])
    tap.equal(page.text("#total").split(",")[0], "8 with all words")
    page.click(".chip.meant button")
    page.wait("new URLSearchParams(location.search).get('word') === 'velo'")
    page.wait("!document.querySelector('.chip.meant')", "no chip")
    page.js("document.querySelector('#text').value = 'Trek Marlin';"
            "document.querySelector('#search-form').requestSubmit()")   # typed instead, and found
    page.wait("document.querySelector('#title').innerText.includes('Marlin')")
    page.click("#offers .offer-title a")
    for sql, wanted in (("SELECT * FROM query_retyped", ("velo trek", "Trek Marlin", 1)),
                        ("SELECT * FROM click_text WHERE text = 'Trek Marlin'", ("Trek Marlin",))):
        tap.wait_until(lambda: [row[:len(wanted)] for row in told_by_clicks(sql)] == [wanted], what=wanted)
    healthy(page)


@tap.test
def whole_matches_come_first_and_words_left_out_are_offered_back():
    page = opened("/?q=купить+велосипед+trek")
    settled(page)
    tap.equal(page.text("#total"), "8 with all words, 36 more with some")
    tap.equal(page.js("[...document.querySelectorAll('#offers > li')].findIndex("
                      "(each) => each.className === 'offers-part')"), 8)
    tap.contains(page.text("#understood"), "купить")
    page.click("#understood a")
    page.wait("new URLSearchParams(location.search).get('word') === 'купить'")
    settled(page)
    tap.equal(page.js("document.querySelector('#understood').hidden"), True)
    healthy(page)


@tap.test
def suggestions_are_taken_by_keyboard():
    page = opened()
    page.click("#text")
    page.type("вел")
    page.wait("document.querySelectorAll('#suggestions li').length > 0", "suggestions")
    tap.equal(page.js("document.querySelector('#text').getAttribute('aria-expanded')"), "true")
    page.press("ArrowDown")
    active = "document.getElementById(document.querySelector('#text')" \
             ".getAttribute('aria-activedescendant'))"
    chosen = page.js(f"{active}.querySelector('.suggestion-text').innerText")
    page.press("Escape")
    tap.equal(page.js("document.querySelector('#suggestions').hidden"), True)
    page.type("о")
    page.wait("!document.querySelector('#suggestions').hidden", "suggestions again")
    page.press("ArrowDown")
    chosen = page.js(f"{active}.querySelector('.suggestion-text').innerText")
    page.press("Enter")
    page.wait("document.querySelector('#suggestions').hidden")
    page.wait(f"document.querySelector('#text').value === {json.dumps(chosen)} "
              "|| location.search.includes('c=')", f"{chosen!r} is searched")
    healthy(page)


NAMED_ROLES = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "listbox",
               "dialog", "navigation", "group"}


@tap.test
def everything_has_a_name_and_a_place():
    for path in ("/?c=bikes", "/about", "/cabinet", "/console"):
        page = opened(path) if path.startswith("/?") else tab(path)
        page.wait("document.querySelector('header .logo')")
        nodes = [node for node in page.call("Accessibility.getFullAXTree")["nodes"]
                 if not node.get("ignored")]
        nameless = [node["role"]["value"] for node in nodes
                    if node["role"]["value"] in NAMED_ROLES
                    and not node.get("name", {}).get("value", "").strip()]
        tap.equal(nameless, [], path)
        roles = {node["role"]["value"] for node in nodes}
        tap.equal({"main", "banner", "navigation"} - roles, set(), path)
        titles = page.js("[...document.querySelectorAll('h1')]"
                         ".filter((each) => each.checkVisibility()).length")
        tap.equal(titles <= 1, True, path)
        healthy(page)
    page = opened("/?c=bikes")
    page.press("Tab")
    tap.equal(page.js("document.activeElement.className"), "skip")


CONTRAST = """(() => {
  const probe = document.body.appendChild(document.createElement("i"));
  const light = (name) => {
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const [r, g, b] = parts.map((each) => each / 255)
      .map((each) => each <= .04045 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);
  return PAIRS.map(([a, b]) => [a, b, ratio(a, b)]);
})()"""
PAIRS = [(ink, paper) for ink in ("ink", "dim", "accent", "good", "warn", "bad")
         for paper in ("paper", "card", "sunk")] + [
    ("on-accent", "accent"), ("on-accent", "accent-strong"), ("accent-strong", "tint"),
    ("ink", "tint"), ("ink", "mark"), ("dim", "tint")]


@tap.test
def every_pair_of_colours_can_be_read():
    for dark in (False, True):
        page = tab("/about", dark=dark)
        page.wait("document.querySelector('header .logo')")
        ratios = page.js(CONTRAST.replace("PAIRS", json.dumps(PAIRS)))
        tap.equal([(a, b, round(ratio, 2)) for a, b, ratio in ratios if ratio < 4.5], [],
                  "dark" if dark else "light")


@tap.test
def prices_are_compared_in_one_currency():
    """Behind those that count offers: it adds two, and the better match is in dollars."""
    shelf().publish("business.equipment", "Кран", 1200, 0, [], currency="USD")
    shelf().publish("business.equipment", "Кран башенный с длинной стрелой", 2000, 1, [])
    tap.wait_until(lambda: shelf().total({}) == 66, what="two more")
    page = opened("/?q=кран")
    total(page, 2)
    tap.equal(page.texts(".offer-item .offer-price"), ["$1,200", "₽2,000"])
    tap.equal(page.js("document.querySelector('#f-price-max').parentNode.querySelector('.dim')"
                      ".innerText"), "₽")
    page.click("#f-price-max")
    page.type("2000")
    page.press("Enter")
    page.wait("location.search.includes('f.price=..200000')")
    settled(page)
    total(page, 1)              # and not what has fewer cents than that has kopecks
    tap.contains(page.text("#chips"), "Price: up to ₽2,000")
    for order in ("CHEAPEST", "DEAREST"):
        page = opened(f"/?q=кран&sort={order}")
        tap.equal(page.texts(".offer-item .offer-price"), ["₽2,000", "$1,200"])
    page = opened("/?c=business&f.price=..5000")
    total(page, 0)
    tap.contains(page.text("#chips"), "Price: up to ₽50")
    for language, told in (("en", ["$7", "CA$7", "CN¥7", "₽7", "₸7", "ARS 7", "€7"]),
                           ("ru", ["7 $", "7 CA$", "7 CN¥", "7 ₽", "7 ₸", "7 ARS", "7 €"])):
        signs = opened(language=language).js(r"""import("/common.js").then(({price}) =>
            ["USD", "CAD", "CNY", "RUB", "KZT", "ARS", "EUR"].map((currency) =>
                price({amount: "700", currency}).replace(/\s/, " ")))""")
        tap.equal(signs, told)
    healthy(page)


def counted(ids):
    """What the server has counted of these offers: shows, weights of their positions, clicks, contacts, favourites."""
    rows = {row[0]: row[1:] for row in told_by_clicks(
        "SELECT offer, sum(shows), sum(looks), sum(clicks), sum(contacts), sum(favourites) "
        "FROM click_hour GROUP BY offer")}
    return [rows.get(each, (0, 0, 0, 0, 0)) for each in ids]


def ids_shown(page):
    return page.js("[...document.querySelectorAll('#offers > .offer-item')].map((each) => each.dataset.offerId)")


@tap.test
def what_a_buyer_sees_and_does_is_counted_once():
    looks = (1_000_000, 630_930, 500_000)
    def look():     # no other test looks at these; a page that is opened again says nothing new of what was counted
        page = opened("/?q=ножовка")
        total(page, 3)
        ids = ids_shown(page)
        with contextlib.suppress(AssertionError):
            return tap.wait_until(lambda: counted(ids) == [(1, each, 0, 0, 0) for each in looks], 20) and (page, ids)
        return tap.comment(f"counted of {ids}: {counted(ids)}")
    page, ids = tap.wait_until(look, what="shows at their positions")
    for _ in range(2):                  # a second time says nothing new
        page.click("#offers .offer-item:nth-child(2) .offer-title a")
        page.wait("document.querySelector('#save-offer')", "the offer")
        page.click("#save-offer")
        page.press("Escape")
        page.wait("!document.querySelector('#offer').open")
    page.click("#offers .offer-item:nth-child(3) .offer-title a")
    page.wait("document.querySelector('#show-phone')", "the offer")
    page.click("#show-phone")
    tap.wait_until(lambda: counted(ids) == [(1, looks[0], 0, 0, 0), (1, looks[1], 1, 0, 1), (1, looks[2], 1, 1, 0)],
                   what="clicks, a contact and a favourite")
    healthy(page)


@tap.test
def a_message_that_cannot_be_answered_is_refused_in_words():
    page = opened("/?q=велосипед", language="ru")
    page.click("#offers .offer-item .offer-title a")
    page.wait("document.querySelector('#message-text')", "the offer")
    page.js("""(() => { document.querySelector('#message-text').value = 'Ещё есть?';
        document.querySelector('#message-reply').value = 'позвоните';
        document.querySelector('.contact-form').requestSubmit(); })()""")
    page.wait("document.querySelector('.contact-form .bad')?.textContent.startsWith('Напишите сообщение')",
              "what is missing")

# Calls of RecordEvents are written down with their answers.
SPY = """window.told = [];
    const real = fetch;
    window.fetch = async (address, options) => {
        const answer = await real(address, options);
        if (String(address).includes("RecordEvents")) told.push(await answer.clone().json());
        return answer;
    };"""


def looked_at(path, script):
    """A page with this script in it, whose list was on the screen, and which is left then."""
    page = tab("/about")
    page.call("Page.addScriptToEvaluateOnNewDocument", source=SPY + script)
    page.go(shelf().url + path)
    settled(page)
    page.js("""new Promise((done) => {
        const watcher = new IntersectionObserver(() => done(), {threshold: 0.5});
        watcher.observe(document.querySelector('#offers .offer-item'));
    })""")
    page.js("dispatchEvent(new Event('pagehide'))")
    return page


@tap.test
def nothing_is_sent_of_who_is_not_to_be_tracked():
    for sign, value in (("globalPrivacyControl", "true"), ("doNotTrack", "'1'")):
        page = looked_at("/?q=книга", f"Object.defineProperty(navigator, '{sign}', {{value: {value}}});")
        page.click("#offers .offer-title a")
        page.wait("document.querySelector('#save-offer')", "the offer")
        page.js("dispatchEvent(new Event('pagehide'))")
        page.js("new Promise((done) => requestAnimationFrame(done))")
        tap.equal([url for url in page.requests if "RecordEvents" in url], [], sign)
        tap.equal(page.js("sessionStorage.getItem('torg-visit')"), None, sign)
        healthy(page)


@tap.test
def a_seller_who_looks_at_his_own_offers_is_not_counted():
    page = looked_at("/?q=молоток", f"sessionStorage.setItem('torg-key', '{shelf().seller}');")
    page.wait("told.length > 0", "the events are sent")
    tap.equal(set(page.js("told.map((each) => each.counted || 0)")), {0})    # in one call or several
    healthy(page)


# name of the picture: address, how it is looked at, what is clicked and typed before
PICTURES = {
    "search-desktop": ("/", {"language": "ru"}, []),
    "filters-desktop": ("/?q=ноутбук", {"language": "en"}, [("click", "[id='f-condition-used']")]),
    "list-dark": ("/?c=bikes&near=55.751,37.618&sort=NEAREST", {"language": "ru", "dark": True},
                  [("click", "#view-list")]),
    "offer-desktop": ("/?q=велосипед", {"language": "ru", "width": 1060, "height": 720}, [("click", ".offer-title a")]),
    "suggest-desktop": ("/", {"language": "ru"}, [("click", "#text"), ("type", "вел"),
                                                  ("press", "ArrowDown")]),
    "search-phone": ("/", {"language": "en", **PHONE}, []),
    "corrected-phone": ("/?q=dtkjcbgtl", {"language": "ru", **PHONE}, []),
    "filters-phone": ("/?q=iphone", {"language": "en", **PHONE}, [("click", "#open-filters")]),
    "offer-phone": ("/?q=iphone", {"language": "ru", "dark": True, **PHONE},
                    [("click", ".offer-title a")]),
}
PICTURE_SIZE_MAX = 150_000


class Demo(Place):
    """The shop of `torg demo`, standing still."""

    def fill(self, count):
        with open(self.dir / "out", "w") as out, open(self.dir / "log", "w") as log:
            self.process = subprocess.Popen(
                [TORG, "demo", f"--offers={count}", "--changes=0", "--listen=127.0.0.1:0",
                 f"--data={self.data}", "--operator-listen=127.0.0.1:0"],
                cwd=self.dir, env=environment(), stdout=out, stderr=log)
        tap.wait_until(lambda: "/console#key=" in self.out() or self.ended(), 300, "a full shop")
        tap.equal(self.ended(), False, self.log())
        self.url = (self.data / "server.url").read_text()
        return self


def at_rest(page):
    """Everything asked for is drawn: calls, photos."""
    page.wait("performance.now() > 0 && document.readyState === 'complete'")
    page.wait("[...document.images].every((each) => each.complete "
              "|| each.getBoundingClientRect().top > innerHeight)", "the photos")
    page.js("new Promise((done) => setTimeout(done, 400))")


def the_pictures_of_the_docs():
    """Writes them to TORG_SCREENSHOTS; whoever asks for them looks at them."""
    folder = os.environ["TORG_SCREENSHOTS"]
    with Browser() as browser, Demo() as demo:
        demo.fill(int(os.environ.get("TORG_SCREENSHOT_OFFERS", "5000")))
        for name, (path, options, acts) in PICTURES.items():
            page = browser.page(demo.url + path, **{"width": 1160, "height": 730, **options})
            settled(page)
            for act, what in acts:
                at_rest(page)
                getattr(page, act)(what)
            at_rest(page)
            file = pathlib.Path(folder) / f"{name}.png"
            page.screenshot(file)
            tap.equal(page.errors, [], name)
            tap.equal(file.stat().st_size <= PICTURE_SIZE_MAX, True,
                      f"{name}.png of {file.stat().st_size} bytes is small")


def main():
    if os.environ.get("TORG_SCREENSHOTS"):
        tap.test(the_pictures_of_the_docs)
    with open_things:
        tap.main()


if __name__ == "__main__":
    main()
