# SPDX-License-Identifier: Apache-2.0
"""feed_generate.py - writes a YML feed of any size, and the same feed some time later.

usage: feed_generate.py ROWS [--changed PERCENT] [--missing PERCENT] > goods.yml

The same row is always the same: a second file with --changed 10 --missing 5 differs from the first
in every tenth row and lacks every twentieth. Categories and attributes are those of demo/catalog.json.
"""
import argparse
import sys
from xml.sax.saxutils import escape

CATEGORIES = (
    (10, 0, "Дом и сад"), (11, 10, "Освещение"), (12, 10, "Посуда и кухня"),
    (20, 0, "Ремонт и строительство"), (21, 20, "Инструменты"), (22, 21, "Электроинструмент"),
    (23, 20, "Двери"), (30, 0, "Книги и журналы"),
)
USED = (11, 12, 22, 23)
THINGS = {11: "Светильник", 12: "Чайник", 22: "Дрель", 23: "Дверь межкомнатная"}
NAMES = ("Заря", "Север", "Волна", "Мастер", "Прима", "Уют", "Орион", "Ладога")
COLORS = ("белый", "чёрный", "серый", "красный", "синий", "бежевый")
MATERIALS = ("Дерево", "Металл", "Стекло", "Пластик")
COUNTRIES = ("Россия", "Китай", "Германия", "Турция")
SENTENCES = (
    "Проверен перед отправкой, упакован в плотную коробку.",
    "Гарантия один год, чек и паспорт прилагаются.",
    "Доставим по городу за день, в область за три.",
    "Подходит для квартиры, дачи и небольшой мастерской.",
    "При заказе от двух штук скидка, спрашивайте.",
    "Остались последние на складе, новые будут через месяц.",
)


def is_every(number, percent):
    """True for that share of the numbers, spread evenly."""
    return number * percent // 100 != (number - 1) * percent // 100


def offer(number, is_changed=False):
    mix = number * 2654435761 % (1 << 32)
    category = USED[mix % len(USED)]
    name = f"{THINGS[category]} «{NAMES[mix // 7 % len(NAMES)]}» {number}"
    price = 500 + mix // 11 % 90000 + (100 if is_changed else 0)
    text = " ".join(SENTENCES[(mix >> shift) % len(SENTENCES)] for shift in (3, 9, 15, 21))
    if is_changed:
        text += " Цена изменилась."
    params = (("Цвет", COLORS[mix // 13 % len(COLORS)]),
              ("Материал", MATERIALS[mix // 17 % len(MATERIALS)]),
              ("Страна производства", COUNTRIES[mix // 19 % len(COUNTRIES)]))
    return (
        f'<offer id="sku-{number}" available="true">'
        f"<name>{escape(name)}</name><price>{price}</price><currencyId>RUR</currencyId>"
        f"<categoryId>{category}</categoryId><vendor>{NAMES[mix // 23 % len(NAMES)]}</vendor>"
        f"<picture>https://shop.example/photos/{number}.jpg</picture>"
        f"<description><![CDATA[<p>{text}</p>]]></description>"
        + "".join(f'<param name="{key}">{value}</param>' for key, value in params)
        + "</offer>\n")


def feed(count, changed=0, missing=0):
    """The file in pieces of text."""
    yield ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE yml_catalog SYSTEM "shops.dtd">\n'
           '<yml_catalog date="2026-11-15 12:00"><shop><name>Лавка</name>\n<categories>\n')
    for number, parent, name in CATEGORIES:
        above = f' parentId="{parent}"' if parent else ""
        yield f'<category id="{number}"{above}>{name}</category>\n'
    yield "</categories>\n<offers>\n"
    for number in range(1, count + 1):
        if not is_every(number + 3, missing):
            yield offer(number, is_every(number, changed))
    yield "</offers></shop></yml_catalog>\n"


def counts(count, changed, missing):
    """(changed, missing) rows of that file."""
    gone = sum(is_every(number + 3, missing) for number in range(1, count + 1))
    other = sum(is_every(number, changed) and not is_every(number + 3, missing)
                for number in range(1, count + 1))
    return other, gone


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=int)
    parser.add_argument("--changed", type=int, default=0, metavar="PERCENT")
    parser.add_argument("--missing", type=int, default=0, metavar="PERCENT")
    options = parser.parse_args()
    for piece in feed(options.rows, options.changed, options.missing):
        sys.stdout.write(piece)


if __name__ == "__main__":
    main()
