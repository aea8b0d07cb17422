# SPDX-License-Identifier: Apache-2.0
"""A price list of a shop nobody has seen before: YML as Russian shops write it, odd things and all."""
import random
from xml.sax.saxutils import escape, quoteattr

# id, parent, name; what its goods are called; makers; params: name, unit, values
CATEGORIES = [
    (1, None, "Мебель"), (2, 1, "Мягкая мебель"), (3, 2, "Диваны прямые"), (4, 2, "Диваны угловые"),
    (5, 1, "Столы обеденные"), (6, 1, "Матрасы"), (7, 1, "Шкафы-купе"),
    (20, None, "Техника для дома"), (21, 20, "Холодильники двухкамерные"),
    (22, 20, "Стиральные машины с фронтальной загрузкой"), (23, 20, "Роботы-пылесосы"),
    (24, 20, "Чайники электрические"), (25, 20, "Вытяжки"),
    (26, None, "Всё для малышей"), (27, 26, "Коляски 2 в 1"), (28, 26, "Автокресла 0+"),
    (29, 26, "Конструкторы LEGO"),
    (40, None, "Электроника"), (41, 40, "Смартфоны Apple"), (42, 40, "Наушники TWS"),
    (43, 40, "Ноутбуки и ультрабуки"), (44, 40, "Чехлы для смартфонов"),
    (60, None, "Инструмент"), (61, 60, "Шуруповёрты аккумуляторные"), (62, 60, "Перфораторы"),
    (63, 60, "Наборы ключей"), (80, None, "Распродажа!!!"), (81, 80, "Уценка"),
]
GOODS = {
    3: ("Диван прямой", ["Пинскдрев", "Askona", "Столплит"]),
    4: ("Диван угловой", ["Много Мебели", "Askona"]),
    5: ("Стол обеденный раздвижной", ["Leset", "Mebelson"]),
    6: ("Матрас ортопедический", ["Askona", "Ormatek"]),
    7: ("Шкаф-купе 3-х дверный", ["Е1", "Столплит"]),
    21: ("Холодильник", ["Атлант", "Haier", "LG"]),
    22: ("Стиральная машина", ["Indesit", "LG", "Candy"]),
    23: ("Робот-пылесос", ["Xiaomi", "Roborock"]),
    24: ("Чайник", ["Redmond", "Polaris", "Bosch"]),
    25: ("Вытяжка кухонная", ["Elikor", "MAUNFELD"]),
    27: ("Коляска 2 в 1", ["Tutis", "Riko"]),
    28: ("Автокресло группа 0+", ["Britax", "Happy Baby"]),
    29: ("Конструктор", ["LEGO"]),
    41: ("Смартфон", ["Apple"]), 42: ("Наушники беспроводные", ["Haylou", "JBL"]),
    43: ("Ноутбук", ["HUAWEI", "Acer", "ASUS"]), 44: ("Чехол-накладка", ["Deppa", "Gresso"]),
    61: ("Шуруповёрт", ["Makita", "Зубр"]), 62: ("Перфоратор", ["Bosch", "Интерскол"]),
    63: ("Набор ключей комбинированных", ["Дело Техники", "JONNESWAY"]),
    81: ("Кофеварка", ["Vitek"]),
}
PARAMS = {
    3: [("Ширина (мм)", "", "2 300"), ("Глубина, см", "", "95"), ("Обивка", "", "велюр"),
        ("Механизм", "", "еврокнижка")],
    4: [("Ширина", "мм", "2500"), ("Угол", "", "левый")],
    6: [("Высота [см]", "", "21"), ("Жёсткость", "", "средняя")],
    7: [("Высота, мм", "", "2200"), ("Материал", "", "ЛДСП, зеркало")],
    21: [("Объём", "л", "330"), ("No Frost", "", "да"), ("Вес", "", "65,5 кг")],
    22: [("Загрузка", "кг", "6"), ("Класс энергопотребления", "", "A+++")],
    24: [("Мощность", "Вт", "2200"), ("Объём, л", "", "1.7"), ("Цвет", "", "черный/серебристый")],
    27: [("Возраст", "", "0-3 года"), ("Вес (кг)", "", "12,5")],
    41: [("Встроенная память", "ГБ", "128"), ("Цвет", "", "Чёрный"), ("Количество SIM", "", "2")],
    43: [("Диагональ экрана", '"', "15.6"), ("Оперативная память", "ГБ", "16")],
    61: [("Напряжение", "В", "18"), ("Комплектация", "", "2 АКБ, ЗУ, кейс")],
}
PRICES = ["{p}", "{p}", "{p}", "{p}.00", "{p},00", "{q}", "{p} руб.", "{p} р.", "{p}.5"]


def description(rng, name):
    return rng.choice([
        f"<![CDATA[<h3>{name}</h3><p>Доставка по&nbsp;Москве <b>бесплатно</b>!</p><ul><li>Гарантия"
        " 12&nbsp;мес.</li><li>Оплата при получении</li></ul><br/>Арт. &#8470;&nbsp;17]]>",
        escape(f"{name} — отличный выбор & подарок <для всех>. Размер 10*20*30"),
        "<![CDATA[<table><tr><td>Страна</td><td>Россия</td></tr></table><style>p{color:red}</style>]]>",
        "", escape("Хит! " * 40)])


def offer(rng, number, category):
    kind, makers = GOODS[category]
    maker = rng.choice(makers)
    model = f"{rng.choice('ABCDKMX')}{rng.randrange(10, 9999)}"
    price = rng.randrange(2, 900) * 100 - rng.choice([0, 1, 10])
    shown = rng.choice(PRICES).format(p=price, q=f"{price:,}".replace(",", " "))
    lines = [f"<url>https://shop.example/p/{number}?utm_source=market&amp;utm_medium=cpc</url>"]
    roll = rng.random()
    if roll > 0.012:                                       # some forget the price
        lines.append(f"<price>{'0' if roll > 0.995 else shown}</price>")
    if rng.random() < 0.2:
        lines.append(f"<oldprice>{rng.choice([price + 500, '—', ''])}</oldprice>")
    lines += [f"<currencyId>{rng.choice(['RUR', 'RUB', 'RUR', 'руб'])}</currencyId>",
              f"<categoryId>{category}</categoryId>"]
    for i in range(rng.choice([0, 1, 1, 2, 3, 6, 12])):
        lines.append(f"<picture>{rng.choice(['https:', 'https:', 'http:'])}//cdn.shop.example/{number}"
                     f"/{i} {'(1)' if rng.random() < .01 else ''}.jpg</picture>".replace(" .jpg", ".jpg"))
    vendor_model = rng.random() < 0.35
    if vendor_model:
        lines += [f"<typePrefix>{escape(kind)}</typePrefix>", f"<vendor>{escape(maker)}</vendor>",
                  f"<model>{model}</model>"]
    else:
        name = f"{kind} {maker} {model}"
        if rng.random() < 0.03:
            name += ", " + ", ".join(["цвет чёрный", "усиленный каркас", "с ящиком для белья",
                                      "доставка и сборка в подарок", "гарантия 24 месяца"])
        lines += [f"<name>{escape(name)}</name>", f"<vendor>{escape(maker)}</vendor>",
                  f"<vendorCode>{number}-{model}</vendorCode>"]
    text = description(rng, f"{kind} {maker}")
    lines.append(f"<description>{text}</description>")
    lines.append("<sales_notes>Необходима предоплата 10%.</sales_notes>")
    lines.append(rng.choice(["<delivery>true</delivery><pickup>true</pickup>",
                             '<delivery-options><option cost="300" days="1-3"/></delivery-options>',
                             "<store>false</store>"]))
    if rng.random() < 0.4:
        lines += [f"<barcode>46{rng.randrange(10**10):010d}0</barcode>" for _ in range(rng.choice([1, 1, 2]))]
    lines.append("<manufacturer_warranty>true</manufacturer_warranty>")
    lines.append(f"<country_of_origin>{rng.choice(['Россия', 'Китай', 'Беларусь'])}</country_of_origin>")
    if rng.random() < 0.3:
        lines.append(f"<weight>{rng.choice(['1.250', '12', '0.35'])}</weight>"
                     "<dimensions>20.1/22.5/22.355</dimensions>")
    if rng.random() < 0.2:
        lines.append('<outlets><outlet id="1" instock="5"/><outlet id="2" instock="0"/></outlets>')
    if rng.random() < 0.05:
        lines.append('<condition type="preowned"><quality>good</quality><reason>б/у</reason></condition>')
    for name, unit, value in PARAMS.get(category, []):
        lines.append(f"<param name={quoteattr(name)}" + (f" unit={quoteattr(unit)}" if unit else "")
                     + f">{escape(value)}</param>")
    if rng.random() < 0.2:
        lines.append('<param name="Бренд">%s</param>' % escape(maker))
    kind_attribute = ' type="vendor.model"' if vendor_model else ""
    available = rng.choice(["true"] * 9 + ["false"])
    return (f'<offer id="{number}"{kind_attribute} available="{available}">\n  '
            + "\n  ".join(lines) + "\n</offer>")


def yml(count, seed=21, root="yml_catalog"):
    rng = random.Random(seed)
    head = ['<?xml version="1.0" encoding="UTF-8"?>']
    if root == "yml_catalog":
        head.append('<!DOCTYPE yml_catalog SYSTEM "shops.dtd">')
    head += [f'<{root} date="2026-11-18 03:00">', "<shop>", "<name>Всё в дом</name>",
             "<company>ООО «Всё в дом»</company>", "<url>https://shop.example</url>",
             '<currencies><currency id="RUR" rate="1"/><currency id="USD" rate="CBRF"/></currencies>',
             "<categories>"]
    for number, parent, name in CATEGORIES:
        head.append(f'<category id="{number}"' + (f' parentId="{parent}"' if parent else "")
                    + f">{escape(name)}</category>")
    head += ["</categories>", '<delivery-options><option cost="500" days="2"/></delivery-options>',
             "<offers>"]
    rows = [offer(rng, 1000 + i, rng.choice(sorted(GOODS))) for i in range(count)]
    return "\n".join([*head, *rows, "</offers>", "</shop>", f"</{root}>", ""])
