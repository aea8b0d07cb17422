# SPDX-License-Identifier: Apache-2.0
"""feedtest.py - makes feed files of the same offers in every format, and reads them by feed-dump."""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape, quoteattr

from kit import tap

DUMP = sys.argv.pop(1) if len(sys.argv) > 1 else ""
# A sanitizer keeps freed memory for a while; what the reader holds is what is measured.
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=1:" +
                   os.environ.get("ASAN_OPTIONS", ""))


def dump(content, *options, timeout=tap.PATIENCE_S):
    """(rows, end) of a file with this content (bytes, or an iterable of them)."""
    with tempfile.NamedTemporaryFile(prefix="torg-feed-") as file:
        for piece in [content] if isinstance(content, bytes) else content:
            file.write(piece)
        file.flush()
        return dump_file(file.name, *options, timeout=timeout)


def dump_pipe(content, *options):
    """The same through a pipe, whose size nobody announces."""
    return dump_file("-", *options, content=content)


def dump_file(path, *options, timeout=tap.PATIENCE_S, content=b""):
    done = subprocess.run([DUMP, *options, path], input=content, capture_output=True, timeout=timeout,
                          check=False, env=ENVIRONMENT)
    if done.returncode != 0:
        raise AssertionError(f"feed-dump ended with {done.returncode}: "
                             f"{done.stderr.decode(errors='replace')[-3000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines[:-1], lines[-1]


CATEGORIES = {"1": ("", "Электроника"), "2": ("1", "Телефоны"), "3": ("1", "Ноутбуки"),
              "4": ("", "Books & maps")}


def category_path(number):
    parent, name = CATEGORIES[number]
    return f"{CATEGORIES[parent][1]}/{name}" if parent else name


def make_offers(count, seed=7):
    rng = random.Random(seed)
    words = ["Телефон", "чехол", "book", "карта", "новый", "5\" экран", "R&D", "a < b", "50%", "«ёлка»"]
    offers = []
    for number in range(count):
        offers.append({
            "id": f"item-{number}", "categoryId": rng.choice(list(CATEGORIES)),
            "title": " ".join(rng.choices(words, k=3)),
            "description": "<p>" + "</p><p>".join(" ".join(rng.choices(words, k=6)).replace("<", "&lt;")
                                                 for _ in range(3)) + "</p>",
            "price": rng.randrange(0, 10**7), "oldprice": rng.choice([None, rng.randrange(10**6)]),
            "condition": rng.choice(["new", "used", ""]),
            "photos": [f"https://img.example/{number}/{i}.jpg?a=1,2;b={i}"
                       for i in range(rng.randrange(4))],
            "address": "Москва, ул. Ленина, 1", "lat": "55.7558", "lon": "37.6173",
            "phone": "+79001234567", "contact": "Анна", "email": "a@shop.example",
            "url": f"https://shop.example/{number}?x=1&y=2", "available": rng.random() < 0.8,
            "vendor": rng.choice(["Acme", "Ромашка"]), "barcode": f"46{number:011}",
            "attributes": [("Цвет", rng.choice(["синий", "red"]), ""),
                           ("Вес", str(rng.randrange(1, 900)), "г")],
        })
    return offers


def money(minor):
    return f"{minor // 100}.{minor % 100:02}"


def yml_offer(offer):
    parts = [f'<offer id={quoteattr(offer["id"])} available="{str(offer["available"]).lower()}">']
    plain = [("name", offer["title"]), ("price", money(offer["price"])), ("currencyId", "RUR"),
             ("categoryId", offer["categoryId"]), ("url", offer["url"]), ("vendor", offer["vendor"]),
             ("barcode", offer["barcode"]), ("condition", offer["condition"]),
             ("address", offer["address"]), ("latitude", offer["lat"]), ("longitude", offer["lon"]),
             ("phone", offer["phone"]), ("contactName", offer["contact"]), ("email", offer["email"])]
    if offer["oldprice"] is not None:
        plain.append(("oldprice", money(offer["oldprice"])))
    parts += [f"<{tag}>{escape(text)}</{tag}>" for tag, text in plain]
    parts += [f"<picture>{escape(url)}</picture>" for url in offer["photos"]]
    parts.append(f"<description><![CDATA[{offer['description']}]]></description>")
    parts += [f"<param name={quoteattr(name)} unit={quoteattr(unit)}>{escape(value)}</param>"
              for name, value, unit in offer["attributes"]]
    return "\n".join(parts + ["</offer>\n"])


def yml_head(encoding="UTF-8"):
    categories = "".join(f'<category id="{number}"' + (f' parentId="{parent}"' if parent else "") +
                         f">{escape(name)}</category>" for number, (parent, name) in CATEGORIES.items())
    return (f'<?xml version="1.0" encoding="{encoding}"?>\n<yml_catalog date="2026-01-01"><shop>'
            f'<name>Shop</name><currencies><currency id="RUR" rate="1"/></currencies>'
            f"<categories>{categories}</categories><offers>\n")


YML_TAIL = "</offers></shop></yml_catalog>\n"


def yml(offers, encoding="UTF-8"):
    return (yml_head(encoding) + "".join(map(yml_offer, offers)) + YML_TAIL).encode(encoding)


def avito(offers):
    ads = []
    for offer in offers:
        plain = [("Id", offer["id"]), ("CategoryId", offer["categoryId"]),
                 ("Category", category_path(offer["categoryId"])), ("Title", offer["title"]),
                 ("Price", money(offer["price"])), ("Currency", "RUB"), ("Url", offer["url"]),
                 ("Vendor", offer["vendor"]), ("Barcode", offer["barcode"]),
                 ("Condition", {"new": "Новое", "used": "Б/у", "": ""}[offer["condition"]]),
                 ("Address", offer["address"]), ("Latitude", offer["lat"]),
                 ("Longitude", offer["lon"]), ("ContactPhone", "8 (900) 123-45-67"),
                 ("ManagerName", offer["contact"]), ("EMail", offer["email"]),
                 ("Available", "да" if offer["available"] else "нет")]
        if offer["oldprice"] is not None:
            plain.append(("OldPrice", money(offer["oldprice"])))
        images = "".join(f"<Image url={quoteattr(url)}/>" for url in offer["photos"])
        free = "".join(f"<{name}>{escape(value)}</{name}>" for name, value, _ in offer["attributes"])
        ads.append("<Ad>" + "".join(f"<{tag}>{escape(text)}</{tag}>" for tag, text in plain) +
                   f"<Description>{escape(offer['description'])}</Description>" +
                   f"<Images>{images}</Images>{free}</Ad>\n")
    return ('<Ads formatVersion="3" target="Avito.ru">' + "".join(ads) + "</Ads>").encode()


def csv_file(offers, delimiter=";", encoding="utf-8", end="\r\n"):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
    writer.writerow(["Идентификатор", "Id категории", "Категория", "Название", "Описание", "Цена",
                     "Старая цена", "Валюта", "Состояние", "Фото", "Адрес", "Широта", "Долгота",
                     "Телефон", "Контактное лицо", "E-mail", "Ссылка", "В наличии", "Производитель",
                     "Штрихкод", "Цвет", "Вес [г]"])
    for offer in offers:
        price = f"{offer['price'] // 100:,}".replace(",", " ") + f",{offer['price'] % 100:02}"
        writer.writerow([offer["id"], offer["categoryId"], category_path(offer["categoryId"]),
                         offer["title"], offer["description"], price,
                         "" if offer["oldprice"] is None else money(offer["oldprice"]), "руб.",
                         offer["condition"], " | ".join(offer["photos"]), offer["address"],
                         offer["lat"].replace(".", ","), offer["lon"], offer["phone"],
                         offer["contact"], offer["email"], offer["url"],
                         "да" if offer["available"] else "нет", offer["vendor"], offer["barcode"],
                         *(value for _, value, _ in offer["attributes"])])
    return out.getvalue().encode(encoding)


def json_lines(offers):
    lines = []
    for offer in offers:
        lines.append(json.dumps({
            "id": offer["id"], "categoryId": int(offer["categoryId"]),
            "category": category_path(offer["categoryId"]), "title": offer["title"],
            "description": offer["description"], "price": offer["price"] / 100,
            "oldPrice": None if offer["oldprice"] is None else money(offer["oldprice"]),
            "currency": "RUB", "condition": offer["condition"], "photos": offer["photos"],
            "address": {"text": offer["address"], "point": {"latitude": float(offer["lat"]),
                                                            "longitude": float(offer["lon"])}},
            "contacts": {"name": offer["contact"], "phones": [offer["phone"]],
                         "email": offer["email"]},
            "url": offer["url"], "available": offer["available"], "vendor": offer["vendor"],
            "barcode": offer["barcode"],
            "attributes": {name: {"value": value, "unit": unit}
                           for name, value, unit in offer["attributes"]},
        }, ensure_ascii=False) + "\n")
    return "".join(lines).encode()
