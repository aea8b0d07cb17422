# SPDX-License-Identifier: Apache-2.0
"""Photos on the pages, in headless Chromium: what is seen until they are there, that nothing moves when
they come, and what a seller is told of one that will not do."""
import os
import pathlib

from kit import tap
from kit.browser import Browser
from kit.photo_shop import Pictures, Shop, png

# Left red, right blue; and upright, green: what is cut or turned is seen.
RED, BLUE = (220, 30, 30), (30, 30, 220)
WIDE = png(900, 600, lambda x, y: RED if x < 450 else BLUE)
TALL = png(400, 700, lambda x, y: (20, 180, 60))
COLOURS = """((canvas) => canvas && [.1, .9].map((at) => [...canvas.getContext('2d').getImageData(
    Math.floor(canvas.width * at), Math.floor(canvas.height / 2), 1, 1).data].slice(0, 3)))"""
BOXES = """[...document.querySelectorAll('.offer-item, .offer-photo, .stage, .thumb, .framed, .own-photo')]
    .map((each) => { const {x, y, width, height} = each.getBoundingClientRect();
        return [each.className, x, y, width, height].join(' '); })"""
LOADED = "[...document.images].every((each) => each.complete && each.naturalWidth)"


def shoot(page, name):
    directory = os.environ.get("TORG_SCREENSHOTS")
    if directory:
        page.screenshot(pathlib.Path(directory) / f"{name}.png")


def is_red_and_blue(page, selector):
    """What is drawn there; 5-6-5 and smoothing leave the colours near."""
    for got, wanted in zip(page.js(f"{COLOURS}(document.querySelector({selector!r}))"), (RED, BLUE)):
        tap.equal([one for one, other in zip(got, wanted) if abs(one - other) > 16], [], (got, wanted))


def comes_in(page, drawn, name):
    """The photos were held until now: previews stand in their places, and give them to the photos without
    a jump."""
    before = page.js(BOXES)
    tap.equal(page.js(f"document.querySelectorAll({drawn!r}).length > 0"), True, drawn)
    tap.equal(page.js("[...document.images].filter((each) => each.naturalWidth).length"), 0, "held")
    shoot(page, f"{name}-preview")
    page.let_go()
    page.wait(LOADED, "the photos")
    page.wait("!document.querySelector('canvas.preview')", "no preview is left")
    tap.equal(page.js(BOXES), before, "nothing has moved")
    shoot(page, f"{name}-photo")


def offered(shop):
    offer = shop.offer(shop.upload(WIDE)[1]["sourceUrl"], shop.upload(TALL)[1]["sourceUrl"])
    tap.equal(shop.settled(offer)[0], "ACTIVE")
    tap.wait_until(lambda: shop.answered("SearchService/SearchOffers", {"text": "sofa"})[1].get("offers"),
                   what="the offer in the search")
    return offer


@tap.test
def previews_stand_in_the_places_of_photos():
    with Browser() as browser, Shop() as shop:
        offer = offered(shop)
        page = browser.page("about:blank")
        for width, height, name in ((1280, 900, "desktop"), (390, 844, "phone")):
            page.resize(width, height)
            page.hold("*/v1/photos/*")
            page.go(f"{shop.url}/?q=sofa&{name}")
            page.wait("document.querySelector('.offer-photo canvas.preview')", "a preview in the list")
            is_red_and_blue(page, ".offer-photo canvas.preview")
            tap.equal(page.js("((image) => [image.getAttribute('width'), image.getAttribute('height')].join())"
                              "(document.querySelector('.offer-photo img'))"), "240,160")
            comes_in(page, ".offer-photo canvas.preview", f"list-{name}")

            page.call("Network.clearBrowserCache")
            page.hold("*/v1/photos/*")
            page.go(f"{shop.url}/?offer={offer}&{name}")
            page.wait("document.querySelector('.stage canvas.preview')", "a preview of the whole photo")
            is_red_and_blue(page, ".stage canvas.preview")
            tap.equal(page.js("document.querySelectorAll('.thumb canvas.preview').length"), 2)
            page.click(".thumb:nth-child(2)")
            page.wait(f"{COLOURS}(document.querySelector('.stage canvas.preview'))[0][1] > 120",
                      "the second one, which is green")
            comes_in(page, ".stage canvas.preview", f"offer-{name}")
            page.call("Network.clearBrowserCache")
        tap.equal(page.errors, [])


@tap.test
def pages_without_scripts_draw_them_too():
    with Browser() as browser, Shop() as shop:
        offer = offered(shop)
        page = browser.page("about:blank")
        for path in (f"/offers/{offer}", "/sellers/s-1"):
            page.hold("*/v1/photos/*")
            page.call("Page.navigate", url=f"{shop.url}{path}")     # its load waits for the photo
            page.wait("document.querySelector('.framed svg rect')"
                      " && getComputedStyle(document.querySelector('.framed')).position === 'relative'",
                      "the cells, and the style of the page")
            tap.equal(page.js("document.querySelectorAll('.framed svg rect').length"), 12)
            tap.equal(page.js("document.querySelector('.framed rect').getAttribute('fill') > '#b40000'"), True)
            comes_in(page, ".framed rect", path.split("/")[1])
            page.call("Network.clearBrowserCache")
        tap.equal(page.errors, [])


REFUSED = {"note.jpg": (b"this is no picture", "это не картинка", "not a picture"),
           "film.jpg": (b"\0\0\0\x20ftypisom" + bytes(40), "это видео", "a video"),
           "icon.png": (png(8, 8), "точек; нужно не меньше 32", "at least 32"),
           "half.png": (WIDE[:len(WIDE) // 2], "повреждена или обрезана", "damaged or cut short")}


@tap.test
def a_photo_that_will_not_do_is_told_at_its_place():
    """Files at their names, as soon as they are sent; an address at its line, when it was tried."""
    pictures = Pictures()
    pictures.files = {"/a.png": WIDE, "/page": b"<!doctype html><p>hello"}
    with Browser() as browser, Shop() as shop:
        offer = shop.offer(pictures.address("/a.png"), pictures.address("/gone"), pictures.address("/page"))
        shop.settled(offer)
        for name, (body, *_) in REFUSED.items():
            (shop.dir / name).write_bytes(body)
        for language, at, wanted in (
                ("ru", 0, ["сервер отвечает кодом 404", "это страница сайта, а не снимок"]),
                ("en", 1, ["HTTP status 404", "a web page, not a picture"])):
            page = browser.page(f"{shop.url}/cabinet#key={shop.key}", language=language)
            page.wait("document.querySelector('.offer-line')", "the list")
            page.js(f"location.hash = '#/offer/{offer}'")
            page.wait("document.querySelectorAll('.photo-list li').length === 3", "its photos")
            told = page.js("[...document.querySelectorAll('.photo-list li')].map((each) =>"
                           " each.querySelector('.error')?.innerText || '')")
            tap.equal(told[0], "")
            tap.contains(told[1], wanted[0])
            tap.contains(told[2], wanted[1])
            field = page.call("Runtime.evaluate", expression="document.querySelector('#photo-files')")
            page.call("DOM.setFileInputFiles", objectId=field["result"]["objectId"],
                      files=[str(shop.dir / name) for name in REFUSED])
            # The offer takes five photos and has three: the last two files are told to have no room.
            page.wait("document.querySelectorAll('.photo-drop [role=status] .error').length === 4", "refusals")
            lines = page.texts(".photo-drop [role=status] .error")
            for name, (_, *words) in list(REFUSED.items())[:2]:
                tap.contains(next(line for line in lines if line.startswith(f"{name}: ")), words[at])
            for name in list(REFUSED)[2:]:
                line = next(line for line in lines if line.startswith(f"{name}: "))
                tap.contains(line, ("не больше 5 фото", "5 photos at the most")[at])
            field = page.call("Runtime.evaluate", expression="document.querySelector('#photo-files')")
            page.call("DOM.setFileInputFiles", objectId=field["result"]["objectId"],
                      files=[str(shop.dir / name) for name in list(REFUSED)[2:]])
            page.wait("document.querySelectorAll('.photo-drop [role=status] .error').length === 6", "the others")
            lines = page.texts(".photo-drop [role=status] .error")[-2:]
            for line, (_, *words) in zip(lines, list(REFUSED.values())[2:]):
                tap.contains(line, words[at])
            page.js("document.querySelector('.photo-drop').scrollIntoView({block: 'center'})")
            shoot(page, f"refused-{language}")


tap.main()
