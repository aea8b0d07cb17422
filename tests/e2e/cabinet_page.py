# SPDX-License-Identifier: Apache-2.0
"""The seller's cabinet in headless Chromium: an offer is written, published and found by buyers; a
feed is uploaded and its report read. With TORG_SCREENSHOTS=DIR the pictures of docs/screens are
written there.
"""
import base64
import json
import os
import pathlib
import re
import sys
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import TOP, Place  # noqa: E402
from kit.browser import Browser  # noqa: E402

FEED = """id;Категория;Название;Цена;Цвет;Страна
kettle-1;Посуда и кухня;Чайник «Заря»;1 999;Белый;Россия
cup-2;Посуда и кухня;Кружка в горошек;290;в горошек;
lamp-3;Люстры;Люстра;12 000;Золотой;
"""


class Stall(Place):
    """A server with the demo catalogue and a seller's key."""

    def __enter__(self):
        super().__enter__().start("up", "--photos.fetch=true")
        self.seller = self.torg("key", "create", "s", "--seller", "romashka", "--scope",
                                "offers.read", "--scope", "offers.write", "--scope",
                                "photos").stdout.strip()
        return self


def shoot(page, name):
    directory = os.environ.get("TORG_SCREENSHOTS")
    if directory:
        page.js("document.activeElement.blur(); scrollTo(0, 0)")
        page.screenshot(pathlib.Path(directory) / f"{name}.png")


def fill(page, selector, text):
    page.click(selector)
    page.js(f"document.querySelector({json.dumps(selector)}).value = ''")
    page.type(text)


def fits(page):
    tap.equal(page.js("document.documentElement.scrollWidth <= innerWidth"), True, "sideways scroll")


def healthy(page, stall, expected=()):
    """Nothing was written to the console but refusals that were meant; nobody else was asked. A search
    that waits for an offer and is too early (504) is asked again by the page."""
    errors = [error for error in page.errors if not ("504" in error and "SearchOffers" in error)]
    tap.equal([error for error in errors if not any(each in error for each in expected)], [])
    tap.equal([url for url in page.requests if not url.startswith((stall.url, "data:", "blob:"))], [])


def counts(page):
    return page.js("Object.fromEntries([...document.querySelectorAll('.preset')].map((chip) => "
                   "[chip.dataset.preset, chip.querySelector('.preset-count').innerText]))")


def tells_that_nobody_answers(browser, stall):
    page = browser.page(f"{stall.url}/about", language="en")
    page.call("Network.setBlockedURLs", urls=["*/torg.v1.*"])
    page.go(f"{stall.url}/cabinet#key={stall.seller}")
    page.wait("document.querySelector('#trouble [role=alert]')?.innerText.includes('does not answer')",
              "it is told")
    page.call("Network.setBlockedURLs", urls=[])
    page.click("#trouble button")
    page.wait("document.querySelector('.empty')", "an empty list")


def chooses_category(page):
    page.click("#new-offer")
    page.wait("document.querySelector('#category-search')", "the search of categories")
    page.click("#category-search")
    page.type("велосипед")
    page.wait("document.querySelector('[data-category=bikes]')", "bicycles")
    page.click("[data-category=bikes]")
    page.wait("document.querySelector('#attribute-bike-type')", "the form of bicycles")


def is_told_what_is_missing(page):
    page.click("#publish")
    page.wait("document.querySelector('[id=\"problem-title\"]').innerText", "the title is missing")
    tap.contains(page.text("[id='problem-a.bike-type']"), "нужно заполнить")
    tap.equal(page.js("document.activeElement.id"), "offer-title")


def writes(page):
    fill(page, "#offer-title", "Городской велосипед с корзиной")
    fill(page, "#offer-description", "Ездил два лета, хранился дома. Корзина в подарок.")
    fill(page, "#offer-price", "15 000,50")
    page.js("document.querySelector('#attribute-bike-type').value = 'city'")
    page.js("document.querySelector('#attribute-bike-type').dispatchEvent("
            "new Event('change', {bubbles: true}))")
    fill(page, "#attribute-frame-size", "50")
    page.js("document.querySelector('#attribute-frame-size').parentNode"
            ".querySelector('select').value = 'cm'")
    fill(page, "#offer-address", "Казань, улица Баумана")
    fill(page, "#offer-latitude", "сорок")
    page.js("document.activeElement.blur()")
    page.wait("['latitude', 'longitude'].some((name) => document.getElementById("
              "`problem-address.point.${name}`).innerText)", "no place on earth")
    fill(page, "#offer-latitude", "55,79")
    fill(page, "#offer-longitude", "49,11")
    page.wait("document.querySelector('#form-status').classList.contains('good')", "nothing is missing")
    tap.equal(page.nameless(), [])


def comes_back_to_the_draft(page, stall):
    """What was typed is kept by the server: the page can be closed."""
    page.go(f"{stall.url}/about")
    page.go(f"{stall.url}/cabinet#/draft")
    page.wait("document.querySelector('#offer-title')?.value.startsWith('Городской')", "the draft")
    tap.equal(page.js("document.querySelector('#offer-price').value"), "15000.5")
    tap.equal(page.js("document.querySelector('#attribute-frame-size').value"), "50")
    shoot(page, "cabinet-offer")


def publishes_and_finds(page):
    page.click("#publish")
    page.wait("document.querySelector('.published')", "it is published")
    offer = page.js("document.querySelector('.published').dataset.id")
    page.click("#see-it")
    page.wait("location.pathname === '/' && location.search.includes('offer=')", "the search page")
    page.wait("document.body?.innerText.includes('Городской велосипед с корзиной')", "the offer there")
    return offer


@tap.test
def a_seller_publishes_and_buyers_find_it():
    with Browser() as browser, Stall() as stall:
        tells_that_nobody_answers(browser, stall)
        page = browser.page(f"{stall.url}/cabinet", width=1280, height=900, language="ru")
        page.wait("document.querySelector('#key-field')", "the form")
        fill(page, "#key-field", stall.seller)
        page.press("Enter")
        page.wait("document.querySelector('.empty')", "an empty list")
        chooses_category(page)
        is_told_what_is_missing(page)
        writes(page)
        comes_back_to_the_draft(page, stall)
        offer = publishes_and_finds(page)
        stored = stall.call("OfferService/GetOffer", {"id": offer}, stall.seller)[1]["content"]
        tap.equal(stored["price"], {"amount": "1500050", "currency": "RUB"})
        size = next(one for one in stored["attributes"] if one["attributeId"] == "frame-size")
        tap.equal((size["decimal"], size["unit"]), ("19.7", "in"))

        page.go(f"{stall.url}/cabinet")
        page.wait(f"document.querySelector('[data-id=\"{offer}\"]')", "the list")
        tap.equal(page.nameless(), [])
        tap.equal(counts(page)["ACTIVE"], "1")
        page.click(f"[data-id='{offer}'] summary")
        page.click(f"[data-id='{offer}'] [data-deed=withdraw]")
        page.wait("document.querySelector('[data-preset=WITHDRAWN] .preset-count').innerText === '1'",
                  "it is withdrawn")
        tap.wait_until(lambda: not stall.call("SearchService/SearchOffers", {"text": "корзиной"})[1]
                       .get("offers"), what="no buyer finds it")
        page.click(f"[data-id='{offer}'] summary")
        page.click(f"[data-id='{offer}'] [data-deed=remove]")
        page.click("#ask-yes")
        page.wait("document.querySelector('[data-preset=ALL] .preset-count').innerText === '0'",
                  "it is deleted")
        fits(page)
        healthy(page, stall, expected=("PublishDraft",))


def choose_files(page, selector, *paths):
    field = page.call("Runtime.evaluate", expression=f"document.querySelector('{selector}')")
    page.call("DOM.setFileInputFiles", files=[str(path) for path in paths],
              objectId=field["result"]["objectId"])


# The mouse itself cannot drag in a headless browser; the events are those that it makes.
DRAG = """((from, to) => {
    const data = new DataTransfer();
    const send = (node, kind) => node.dispatchEvent(
        new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
    send(document.querySelectorAll('.photo-list .photo-box')[from], 'dragstart');
    const line = document.querySelectorAll('.photo-list li')[to];
    if (send(line, 'dragover')) throw new Error('nothing may be dropped there');
    send(line, 'drop');
})"""


def draft_photos(stall):
    photos = stall.call("DraftService/GetDraft", {}, stall.seller)[1]["content"].get("photos", [])
    return [one["sourceUrl"] for one in photos]


@tap.test
def a_seller_uploads_photos_and_buyers_see_them():
    """On a phone: five files at once are sent as they are chosen, and the one that is no picture is told alone.
    The draft keeps them in their order; published, the offer is found with its first photo."""
    pictures = ("search-desktop", "search-phone", "console-phone", "cabinet-offer")
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", width=390, height=844,
                            language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        chooses_category(page)
        writes(page)
        stall.write("broken.jpg", "this is no picture")
        for name in pictures:
            (stall.dir / f"{name}.png").write_bytes((TOP / f"docs/screens/{name}.png").read_bytes())
        choose_files(page, "#photo-files", *[stall.dir / name for name in (
            f"{pictures[0]}.png", "broken.jpg", *[f"{each}.png" for each in pictures[1:]])])
        page.wait("document.querySelectorAll('.own-photo').length === 4", "four photos")
        tap.contains(page.text(".photo-drop [role=status]"), "broken.jpg")
        keys = "[...document.querySelectorAll('.own-photo')].map((each) => each.dataset.key.split('-')[0])"
        stems = keys.replace(".split('-')[0]", ".replace('upload:', '').slice(0, 40)")
        before = page.js(keys)
        tap.wait_until(lambda: len(draft_photos(stall)) == 4, what="the draft with its photos")
        first, second, *others = draft_photos(stall)
        page.click(".photo-list li:nth-child(2) .button")
        wanted = [before[1], before[0], *before[2:]]
        tap.equal(page.js(keys), wanted)
        fits(page)
        tap.wait_until(lambda: draft_photos(stall) == [second, first, *others], what="the draft in that order")
        page.go(f"{stall.url}/about")
        page.go(f"{stall.url}/cabinet#/draft")
        page.wait("document.querySelectorAll('.own-photo').length === 4", "the draft's photos")
        page.wait("[...document.querySelectorAll('.own-photo')].every((each) => each.naturalWidth > 0)",
                  "their pictures, though a draft knows only addresses")
        tap.equal(page.js(stems), wanted)
        page.js(DRAG + "(3, 0)")
        wanted = [wanted[3], *wanted[:3]]
        tap.equal(page.js(stems), wanted)
        tap.wait_until(lambda: draft_photos(stall) == [others[1], second, first, others[0]],
                       what="the draft as it was dragged")
        shoot(page, "cabinet-photos-phone")
        began = time.monotonic()
        publishes_and_finds(page)

        def is_shown():
            found = stall.call("SearchService/SearchOffers", {"text": "велосипед"})[1].get("offers")
            return found and found[0].get("photo", "").startswith(wanted[0])

        tap.wait_until(is_shown, what="the offer with its photo")
        tap.comment(f"found with its photo {time.monotonic() - began:.1f} s after the button was pressed")
        page.go(f"{stall.url}/?q=велосипед")
        page.wait(f"[...document.images].some((each) => each.src.includes({json.dumps(wanted[0])}))",
                  "the first photo on the buyers' page")
        healthy(page, stall, expected=("400",))


@tap.test
def a_seller_uploads_a_feed_and_reads_its_report():
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", width=1280, height=1000,
                            language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        page.click("[data-part=feeds]")
        page.wait("document.querySelector('#feed-file')", "the form of feeds")
        stall.write("goods.csv", FEED)
        choose_files(page, "#feed-file", stall.dir / "goods.csv")
        page.wait("document.querySelector('#feed-file-name').innerText.includes('goods.csv')", "its name")
        page.click("#feed-send")
        page.wait("document.querySelector('#report tbody tr')", "the report")
        tap.equal(page.js("[...document.querySelectorAll('#report tbody tr')]"
                          ".map((row) => row.dataset.outcome)"), ["CREATED", "CREATED", "REFUSED"])
        tap.contains(page.text("#report"), "Страна")
        page.click("#report [data-outcome=REFUSED]")
        page.wait("document.querySelectorAll('#report tbody tr').length === 1", "the refused one")
        tap.contains(page.text("#report tbody"), "Категория: категории «Люстры» в каталоге нет")
        tap.contains(page.text("#report tbody"), "строка 4")
        page.wait("document.querySelectorAll('#report-groups .group').length === 2", "reasons in groups")
        tap.contains(page.text("#report-groups .error-groups"), "категории «Люстры» в каталоге нет")
        tap.contains(page.text("#report-groups .error-groups"), "запись 3 (lamp-3, строка 4)")
        tap.contains(page.text("#report-groups .noted-groups"), "Цвет: значения «в горошек» в списке нет")
        tap.equal(page.nameless(), [])
        shoot(page, "cabinet-feed")
        page.click(".task[data-task='1'] [data-deed=feedUndo]")
        page.click("#ask-yes")
        page.wait("document.querySelector('.task[data-task=\"1\"]').dataset.state === 'UNDONE'", "undone")
        for name, text, told in (("page.html", "<!doctype html><p>back soon", "строка 1, знак 1: это не XML"),
                                 ("bare.csv", "one;two\n1;2\n", "ни один столбец не назван id")):
            stall.write(name, text)
            choose_files(page, "#feed-file", stall.dir / name)
            page.wait(f"document.querySelector('#feed-file-name').innerText.includes('{name}')", "its name")
            page.click("#feed-send")
            page.wait("document.querySelector('#feed-status').classList.contains('error')", "it is no feed")
            tap.contains(page.text("#feed-status"), told)
        page.resize(390, 844, 2)
        fits(page)
        page.click("[data-part=offers]")
        page.wait("document.querySelector('.empty')", "an empty list again")
        fits(page)
        healthy(page, stall, expected=("400",))


@tap.test
def a_seller_says_once_what_his_categories_are():
    def chosen(page):
        return dict(page.js("[...document.querySelectorAll('#feed-map .choice')]"
                            ".map((each) => [each.dataset.from, each.dataset.category])"))

    def send(page, task, outcomes):
        page.click("#feed-send")
        page.wait(f"document.querySelector('.task[data-task=\"{task}\"]')", "its task")
        page.wait("document.querySelector('#report tbody tr')"
                  f" && {json.dumps(outcomes)} === [...document.querySelectorAll('#report tbody tr')]"
                  ".map((row) => row.dataset.outcome).join(' ')", "its report")
        page.wait("document.querySelector('#feed-map')", "its categories")

    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", width=1280, height=1000,
                            language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        page.click("[data-part=feeds]")
        page.wait("document.querySelector('#feed-file')", "the form of feeds")
        stall.write("goods.csv", FEED)
        choose_files(page, "#feed-file", stall.dir / "goods.csv")
        page.wait("document.querySelector('#feed-file-name').innerText.includes('goods.csv')", "its name")
        send(page, 1, "CREATED CREATED REFUSED")
        told = chosen(page)
        tap.equal(sorted(told), ["*", "Люстры", "Посуда и кухня"], told)
        tap.equal((told["Посуда и кухня"], told["Люстры"]), ("kitchenware", "lighting"))
        tap.contains(page.text("#feed-map"), "предложение")
        tap.equal(page.text("#feed-map [data-from=Люстры] .choice-name"), "Освещение")
        tap.equal(page.nameless(), [])
        page.click("#feed-map-save")
        page.wait("document.querySelector('#feed-map-status').innerText.includes('Запомнено')", "remembered")
        page.js("document.querySelector('#feed-map').remove()")
        send(page, 2, "UNCHANGED UNCHANGED CREATED")
        tap.equal(chosen(page)["Люстры"], "lighting")
        page.click("#feed-map summary")     # closed: there is nothing to be said any more
        page.wait("document.querySelector('#feed-map').open", "the table")
        tap.equal("предложение" in page.text("#feed-map"), False, "nothing is proposed any more")
        page.click("#feed-map [data-from=Люстры] .button")       # another one, by the picker
        page.wait("document.querySelector('.category-dialog #category-search')", "the picker")
        tap.equal(page.nameless(), [])
        page.type("посуда")
        page.click(".category-dialog [data-category=kitchenware]")
        page.wait("!document.querySelector('.category-dialog')", "it is chosen")
        tap.equal(page.text("#feed-map [data-from=Люстры] .choice-name"), "Посуда и кухня")
        page.click("#feed-map [data-from='*'] .button:nth-of-type(2)")
        tap.equal(chosen(page), {"Посуда и кухня": "kitchenware", "Люстры": "kitchenware", "*": "-"})
        page.click("#feed-map-save")
        page.wait("document.querySelector('#feed-map-status').innerText.includes('Запомнено')", "remembered")
        kept = base64.b64decode(stall.call("FeedService/GetCategories", {"feed": "main"}, stall.seller)[1]["content"])
        tap.contains(kept.decode(), '"Люстры","kitchenware"')
        tap.contains(kept.decode(), '"*","-"')
        shoot(page, "cabinet-categories")
        page.resize(390, 844, 2)
        fits(page)
        tap.equal(page.js("((box) => box.scrollWidth <= box.clientWidth)(document.querySelector("
                          "'#feed-map .table-box'))"), True, "the table is not cut on a phone")
        stall.write("map.csv", "feed;category\nЛюстры;furniture-that-is-not\n")
        choose_files(page, "#feed-map-file", stall.dir / "map.csv")
        page.wait("document.querySelector('#feed-map-status.error')", "what is wrong with the file")
        stall.write("map.csv", "feed;category\nЛюстры;lighting\n")
        choose_files(page, "#feed-map-file", stall.dir / "map.csv")
        page.wait("document.querySelector('#feed-map-status:not(.error)')?.innerText.includes('Запомнено')", "taken")
        kept = base64.b64decode(stall.call("FeedService/GetCategories", {"feed": "main"}, stall.seller)[1]["content"])
        tap.equal(kept.decode(), "feed;category\nЛюстры;lighting\n")
        page.click("#feed-map-forget")
        page.wait("document.querySelector('#feed-map-status').innerText.includes('Забыто')", "forgotten")
        healthy(page, stall, expected=("400",))


def says_how_it_is_read(page, form):
    """A point before fractions, and kitchenware for what is none of ours."""
    page.click(f"{form} .reading summary")
    page.js(f"document.querySelector('{form} [name=decimal]').value = 'point'")
    page.click(f"{form} [data-from=default] .button")
    page.wait("document.querySelector('.category-dialog #category-search')", "the picker")
    page.type("посуда")
    page.click(".category-dialog [data-category=kitchenware]")
    page.wait(f"document.querySelector('{form} [data-from=default]').dataset.category === 'kitchenware'", "chosen")


@tap.test
def a_seller_says_how_a_file_is_read():
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", width=1280, height=1000, language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        page.click("[data-part=feeds]")
        page.wait("document.querySelector('#feed-file')", "the form of feeds")
        stall.write("goods.csv", "id;Категория;Название;Цена\nпар-1;Парусники;Парусник;1,999\n")
        choose_files(page, "#feed-file", stall.dir / "goods.csv")
        page.wait("document.querySelector('#feed-file-name').innerText.includes('goods.csv')", "its name")
        says_how_it_is_read(page, "#feed-form")
        tap.equal(page.nameless(), [])
        page.click("#feed-send")
        page.wait("document.querySelector('#report tbody tr')?.dataset.outcome === 'CREATED'", "the row is taken")
        says_how_it_is_read(page, "#schedule-form")
        page.js("document.querySelector('#schedule-form [name=delimiter]').value = ';'")
        page.js("document.querySelector('#schedule-form [name=encoding]').value = 'koi8-r'")
        fill(page, "#schedule-form [name=address]", "http://127.0.0.1:9/goods.csv")
        page.click("#schedule-form > button")
        page.wait("document.querySelector('.task[data-schedule=main]')", "the feed in its list")
        tap.contains(page.text(".task[data-schedule=main]"), "kitchenware")
        tap.equal(stall.call("FeedService/GetSchedule", {}, stall.seller)[1]["reading"],
                  {"decimal": "point", "category": "kitchenware", "delimiter": ";", "encoding": "koi8-r"})
        tap.contains(page.text(".task[data-schedule=main]"), "Кодировка: koi8-r")
        page.resize(390, 844, 2)
        fits(page)
        healthy(page, stall)


@tap.test
def a_seller_has_a_feed_fetched():
    def state():
        return "document.querySelector('.task[data-schedule=main]')?.dataset.state"

    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", width=1280, height=1000,
                            language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        page.click("[data-part=feeds]")
        page.wait("document.querySelector('#schedule-form')", "the form of addresses")
        fill(page, "#schedule-form [name=address]", "http://127.0.0.1:9/goods.csv")
        page.click("#schedule-form > button")
        page.wait(state(), "the feed in its list")
        tap.wait_until(lambda: stall.call("FeedService/GetSchedule", {}, stall.seller)[1].get("runs"),
                       what="the first run")
        page.click("[data-part=offers]")
        page.wait("document.querySelector('.empty')", "the offers")
        page.click("[data-part=feeds]")
        page.wait(f"{state()} === 'FAILING'", "what came of it")
        tap.contains(page.text(".task[data-schedule=main]"), "это адрес не в открытом интернете")
        tap.equal(page.nameless(), [])
        page.js("""(async () => {
            const real = window.fetch;
            const held = [{ outcome: "HELD", taskId: "2" }];
            const given = { ListSchedules: { schedules: [{ feed: "main", state: "STOPPED" },
                { feed: "lost", state: "ACTIVE", runs: held },
                { feed: "good", state: "ACTIVE", runs: held }, { feed: "spare", state: "ACTIVE", runs: held }] } };
            window.fetch = async (to, asked) => {
              const method = String(to).split("/").pop(), { feed } = JSON.parse(asked.body);
              const body = given[method] || { state: feed === "spare" ? "HELD" : "DONE" };
              if (feed === "lost") return Response.error();
              return new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
            };
            await import("/cabinet/texts.js");
            await (await import("/cabinet/heed.js")).loadHeed();
            window.fetch = real;
        })()""")
        page.wait("document.querySelectorAll('#heed [data-heed]').length === 2", "what the seller should hear")
        tap.contains(page.text("#heed"), "Фид main больше не забирается")
        tap.contains(page.text("#heed"), "Фид spare ждёт вашего решения")
        tap.equal(page.nameless(), [])
        page.click("[data-deed=schPause]")
        page.wait(f"{state()} === 'PAUSED'", "the pause")
        page.resize(390, 844, 2)
        fits(page)
        page.click("[data-deed=schRemove]")
        page.click("#ask-yes")
        page.wait(f"{state()} === undefined", "an empty list of addresses")
        healthy(page, stall)


@tap.test
def a_list_that_comes_late_is_not_drawn_over_another_part():
    asked = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/ListOffers')).length"
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", language="ru")
        page.wait("document.querySelector('.empty')", "an empty list")
        before = page.js(asked)
        page.hold("*/ListOffers")
        for part in ("feeds", "offers", "feeds"):
            page.click(f"[data-part={part}]")
        page.wait("document.querySelector('#schedule-form')", "the form of addresses")
        tap.wait_until(lambda: page.js("true") and page.held, what="the list that was asked for")
        page.let_go()
        page.wait(f"{asked} > {before}", "its answer")
        page.js("new Promise((done) => setTimeout(done, 100))")
        tap.equal(page.js("['#schedule-form', '.empty'].map((one) => Boolean(document.querySelector(one)))"),
                  [True, False])
        healthy(page, stall)


def arguments(call):
    """Those of a call in C, split at its own commas."""
    parts, depth, is_text, at = [""], 0, False, 0
    while depth >= 0:
        sign = call[at]
        if is_text and sign == "\\":
            parts[-1] += call[at:at + 2]
            at += 2
            continue
        is_text ^= sign == '"'
        depth += 0 if is_text else (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth and not is_text:
            parts.append("")
        else:
            parts[-1] += sign
        at += 1
    return parts


def filled(literal):
    """With something in the place of its values, as printf would."""
    return re.sub(r"%(?:zu|u|d|ld|lu)", "3", re.sub(r"%(?:\.(?:\*|\d+))?s", "Xx", literal.replace('\\"', '"')))


def reasons_of(path):
    """Every reason that the checks of a file give, with something in the place of its values."""
    text = (TOP / path).read_text()
    found = set()
    for begin in re.finditer(r"\b(?:violations_add|fault)\(", text):
        given = arguments(text[begin.end():])
        literal = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"PRI[du]64", '"d"', given[2])))
        if filled(literal) not in ("", "Xx", '"Xx" Xx', "Xx: Xx"):      # passed on from elsewhere
            found.add(filled(literal))
    return found


CHECKS = {"src/offers/record/offer_content.c": 15, "src/catalog/validate.c": 20,
          "src/feeds/formats/builder.c": 15, "src/feeds/formats/csv.c": 3, "src/feeds/apply/decide.c": 4,
          "src/feeds/mapping/mapping.c": 3, "src/feeds/mapping/extra.c": 2, "src/feeds/mapping/special.c": 1}
# Where a reason is given by a literal that is returned or printed, and what stands before it.
LITERALS = {"src/feeds/mapping/attribute.c": (r"(?:return|wrong =) (?:arena_printf\(arena, )?", 9),
            "src/feeds/mapping/category_map.c": (r"(?:reason = |: |arena_printf\(map->scratch,)\s*", 3),
            "src/feeds/apply/undo.c": (r"(?:return|fault =) (?:arena_printf\(page->arena, )?", 5),
            "src/feeds/formats/csv.c": (r"ERR_(?:INVALID|LIMIT),\s*", 3),
            "src/feeds/formats/json.c": (r"ERR_(?:INVALID|LIMIT),\s*", 1),
            "src/feeds/formats/reader.c": (r"ERR_(?:INVALID|LIMIT),\s*", 7),
            "src/feeds/formats/text.c": (r"ERR_(?:INVALID|LIMIT),\s*", 2),
            "src/feeds/formats/xml.c": (r"(?:ERR_(?:INVALID|LIMIT),|cut =)\s*", 6),
            "src/feeds/formats/xml_tags.c": (r"ERR_(?:INVALID|LIMIT),\s*", 3),
            "src/photos/darkroom/develop.c": (r"(?:why\(|sizeof\(reason\),)\s*", 5),
            "src/photos/darkroom.c": (r"ERR_TIMEOUT,\s*", 2),
            "src/photos/fetch.c": (r"ERR_LIMIT, ", 1),
            "src/photos/upload.c": (r"ERR_(?:NOT_FOUND|INVALID), ", 2)}


def literals_of(path, before):
    text = re.sub(r'"\s*\n\s*"', "", re.sub(r'"\s*PRI[du]64\s*"', "d", (TOP / path).read_text()))
    found = {filled(one) for one in re.findall(before + r'"(\w?(?:[^"\\]|\\.)+)"', text) if " " in one}
    # Those that end in another's words are told with that one's; a guess may stand in a reason, or not.
    return {one.replace('"Xx"Xx;', '"Xx";') for one in found if not re.search(r'[:"] Xx$|^ ', one)}


def strangers():
    """What a file is that is no photo, as intake.c tells it."""
    text = (TOP / "src/photos/intake.c").read_text()
    found = re.findall(r'\{"(\w+ [^"]+)",', text) + re.findall(r'return "([^"]+)";', text)
    return {f"the file is {one}" for one in found}


def all_reasons():
    """By the file that gives them."""
    found = {path: (reasons_of(path), least) for path, least in CHECKS.items()}
    found |= {f"literals of {path}": (literals_of(path, before), least)
              for path, (before, least) in LITERALS.items()}
    found["src/photos/intake.c"] = strangers(), 8
    prices = re.findall(r'(?:return|reason =) "((?:has|is|could) [^"]*)";', "".join(
        (TOP / "src/feeds/formats" / name).read_text() for name in ("value.c", "builder.c")))
    found["prices"] = {f'"19" {one}' for one in prices}, 6
    return found


@tap.test
def every_reason_is_told_in_russian():
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet", language="ru")
        for path, (reasons, least) in all_reasons().items():
            tap.equal(len(reasons) >= least, True, f"{path}: {sorted(reasons)} were read")
            told = page.js("import('/cabinet/reasons.js').then(({reasonText}) => "
                           f"{json.dumps(sorted(reasons))}.map(reasonText))")
            tap.equal([reason for reason, text in zip(sorted(reasons), told)
                       if not re.search("[А-Яа-я]", text) or "{" in text], [], path)
        told = page.js("import('/cabinet/reasons.js').then(({reasonText}) => ["
                       "'Цвет: it has no option \"в горошек\"', 'https://a.example/1.jpg: it takes too long; it is "
                       "tried again', 'Цвет: it has no mercy'].map(reasonText))")
        tap.equal(told, ["Цвет: значения «в горошек» в списке нет",
                         "https://a.example/1.jpg: слишком долго; попробуем ещё раз", ""])
        other = page.js("import('/cabinet/reasons.js').then(({reasonNode}) => "
                        "reasonNode('is of no kind').outerHTML)")
        tap.equal(other, '<span lang="en">is of no kind</span>')


@tap.test
def a_link_replaces_a_key_only_when_asked():
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.seller}", language="en")
        page.wait("document.querySelector('.empty')", "an empty list")
        for agreed, kept in (("false", stall.seller), ("true", stall.start_key)):
            page.js(f"window.asked = []; window.confirm = (text) => {{ window.asked.push(text); return {agreed}; }}")
            page.js(f"location.hash = '#key={stall.start_key}'")
            page.wait("window.asked.length === 1 && location.hash === ''", "the question")
            tap.contains(page.js("window.asked[0]"), "another key")
            tap.equal(page.js("sessionStorage.getItem('torg-key')"), kept)
        # The same key again is no question, and rubbish changes nothing.
        page.js("window.asked = []")
        for part in (stall.start_key, "%E0%A4%A"):
            page.js(f"location.hash = '#key={part}'")
            page.wait("location.hash === ''", "the address is clean")
        tap.equal((page.js("window.asked.length"), page.js("sessionStorage.getItem('torg-key')")),
                  (0, stall.start_key))


@tap.test
def a_refusal_is_told_in_the_language_of_the_page():
    with Browser() as browser, Stall() as stall:
        page = browser.page(f"{stall.url}/cabinet#key={stall.start_key}", language="ru")
        page.wait("document.querySelector('#key-problem')?.innerText.includes('не ключ продавца')",
                  "the wrong key")
        tap.contains(page.text("#key-problem [lang=en]"), "seller")
        page.js("window.confirm = () => true")
        page.go(f"{stall.url}/cabinet#key={stall.seller}")
        page.wait("location.hash === ''", "the key is taken out of the address")
        page.reload()
        page.wait("document.querySelector('.empty')", "an empty list")
        page.js("location.hash = '#/offer/1234-5678-9012-3456'")
        page.wait("document.querySelector('#toast.shown')", "it is told")
        tap.contains(page.text("#toast"), "Сервер не понял запрос")
        tap.contains(page.text("#toast [lang=en]"), "check digit")


tap.main()
