# SPDX-License-Identifier: Apache-2.0
"""What buyers type finds what they mean, on the first page of the demo."""
import re

from kit import chain
from kit import tap
from kit.demo import Demo

OFFERS = 2000

# The line; what titles of the first page, or the categories of its offers, have to say; of how many of ten at least.
QUERIES = (
    # spelling, word by word
    ("ноут", r"category:computers\.laptops", 8),
    ("ноут asus", r"asus", 10),
    ("тойота камри", r"toyota camry", 5),
    ("айфон 13 про", r"iphone 13", 5),
    ("айфон", r"iphone", 10),
    ("найк", r"nike", 5),
    # synonyms of the catalogue
    ("велик", r"велосипед|bicycle|bike", 8),
    ("тв", r"телевизор|\btv\b", 8),
    ("байк", r"category:(motorcycles|bikes)", 10),
    ("ps5", r"category:games\.consoles", 5),
    # units and models
    ("128 гб", r"128 (гб|gb)", 8),
    ("128gb", r"128 (гб|gb)", 8),
    ("5950X 16 ГБ", r"5950x, 16 гб", 1),
    ("wh1000xm4", r"wh-1000xm4", 1),
    ("WH 1000 XM4", r"wh-1000xm4", 1),
    # categories and values, in any form
    ("диваны", r"category:furniture\.sofas", 10),
    ("диванов", r"category:furniture\.sofas", 10),
    ("синий диван", r"category:furniture\.sofas", 8),
    ("дизель", r"category:(cars|trucks|commercial|special)", 5),
    ("машинка стиральная", r"category:appliances\.washing", 10),
    ("машина стиральная", r"category:appliances\.washing", 10),
    # makers as they are said
    ("бош", r"bosch", 10),
    ("бош дрель", r"bosch", 5),
    # prices
    ("диван до 20000", r"category:furniture\.sofas", 10),
    ("бухгалтер от 75 000", r"бухгалтер", 2),
    # the thing before services and parts
    ("телефон", r"category:phones", 10),
    ("toyota camry", r"toyota camry", 5),
    ("toyota camry", r"category:cars\.", 3),
    ("kia rio", r"category:cars\.", 5),
    # words that say nothing
    ("купить диван недорого", r"category:furniture\.sofas", 10),
    ("продам велосипед срочно", r"велосипед|bicycle|bike", 8),
    ("купить диван б/у рядом", r"category:furniture\.sofas", 10),
    # some of the words
    ("угловой диван синий бархатный с подсветкой", r"диван|sofa", 8),
    ("toyota camry 2018 красная с люком", r"toyota camry", 1),
)

# The line; what the first offer of all has to say, as above.
FIRST = (
    ("toyota camry", r"category:cars\."),
    ("телефон", r"category:phones\.smartphones"),
    ("бухгалтер от 75 000", r"бухгалтер, от 75 000"),
    ("5950X 16 ГБ", r"5950x, 16 гб"),
)

# Lines of which each finds what the others do.
ALIKE = (
    ("128 гб", "128гб", "128-гб", "128 ГБ", "128 gb", "128GB"),
    ("55 inch", "55in", "55 in.", "55″", '55"'),
    ("7 кг", "7кг", "7-кг", "7 kg", "7kg"),
    ("160 см", "160см", "160 cm", "160cm"),
    ("1400 Вт", "1400вт", "1400 W", "1400w"),
    ("61 м²", "61 м2", "61 кв. м", "61 кв м", "61м²"),
    ("wh-1000xm4", "wh1000xm4", "WH 1000 XM4"),
)


def page(demo, text):
    return demo.search(text=text, limit=10, onlyOffers=True)


def ids_of(demo, text):
    return {offer["id"] for offer in demo.search(text=text, allWords=True, limit=100, onlyOffers=True)
            .get("offers", [])}


def meant(answer):
    return [(each["text"], each["as"]) for each in answer.get("understood", [])]


def told(demo):
    """What the answer says of words that were left out, or understood, and of what was put right."""
    answer = page(demo, "купить диван б/у рядом")
    tap.equal(meant(answer)[:3], [("купить", "filler"), ("б/у", "condition"), ("рядом", "distance")])
    near = {"latitude": 55.7512, "longitude": 37.6184}
    answer = demo.search(text="диван рядом", near=near, onlyOffers=True)
    tap.equal([each["choice"] for each in answer["understood"] if each["as"] == "distance"],
              [{"id": "distance", "max": "25000"}])
    for text, wrong in (("ноут", "not"), ("найк", "на")):       # put right to a word of grammar once
        tap.equal(page(demo, text).get("corrected", {}).get("corrected") == wrong, False, text)
    for text, choice in (("машина дизель", {"id": "a.fuel", "values": ["diesel"]}),
                         ("смартфон 128 гб", {"id": "a.memory", "values": ["128"]})):
        values = [each["choice"] for each in demo.search(text=text)["understood"] if each["as"] == "value"]
        tap.equal(values, [choice], text)
    for text in ("61", "61 м"):
        lines = [each["text"] for each in demo.call("SearchService/Suggest", {"text": text})[1].get("queries", [])]
        tap.equal([line for line in lines if re.fullmatch(r"[0-9,.]+ ?(м²)?", line)], [], text)
    answer = page(demo, "бухгалтер от 75 000")
    tap.equal([(each["text"], each["choice"]) for each in answer["understood"] if each["as"] == "salary"],
              [("от 75 000", {"id": "salary", "min": "7500000"})])


def says(offer, pattern):
    if pattern.startswith("category:"):
        return re.match(pattern[len("category:"):], offer["category"])
    return re.search(pattern, offer["title"].lower())


def learnt(demo):
    """Texts that spelling has learnt: of each offer its title, and the names of its values."""
    metrics = re.search(r"metrics +(\S+)", demo.out())[1]
    return chain.metric_sum(chain.fetch_text(metrics), "torg_spell_texts_total", "learnt")


@tap.test
def what_is_typed_finds_what_is_meant():
    with Demo() as demo:
        demo.filled("--offers", str(OFFERS), "--changes", "0").photographed()
        tap.wait_until(lambda: learnt(demo) >= 2 * demo.total() > 0, what="spelling")
        wrong = []
        for text, pattern, least in QUERIES:
            answer = page(demo, text)
            good = sum(bool(says(offer, pattern)) for offer in answer.get("offers", []))
            if good < least:
                wrong.append((text, good, least, [offer["title"] for offer in answer.get("offers", [])][:4]))
        tap.equal(wrong, [])
        for text, pattern in FIRST:
            first = page(demo, text)["offers"][0]
            tap.equal(bool(says(first, pattern)), True, f"{text}: {first['title']}")
        for lines in ALIKE:
            found = {line: ids_of(demo, line) for line in lines}
            tap.equal([line for line in lines if found[line] != found[lines[0]]], [], lines[0])
            tap.equal(len(found[lines[0]]) > 0, True, lines[0])
        told(demo)

        answer = page(demo, "телефон")
        tap.equal([each["as"] for each in answer["understood"]], ["category"])
        answer = page(demo, "купить айфон б/у")
        tap.equal([each["as"] for each in answer["understood"]], ["filler", "condition"])
        tap.equal(answer["understood"][1]["choice"], {"id": "condition", "values": ["used"]})
        kept = demo.search(text="купить айфон б/у", keepWords=["б/у"], onlyOffers=True)
        tap.equal([each["as"] for each in kept["understood"]], ["filler"])

        answer = demo.search(text="диван до 20000", limit=100, onlyOffers=True)
        tap.equal([(each["text"], each["as"], each.get("choice")) for each in answer["understood"]][0],
                  ("до 20000", "price", {"id": "price", "max": "2000000"}))
        tap.equal([offer for offer in answer["offers"] if int(offer["price"]["amount"]) > 2000000], [])
        kept = demo.search(text="диван до 20000", keepWords=["до 20000"], onlyOffers=True)
        tap.equal([each for each in kept.get("understood", []) if each["as"] == "price"], [])
        without = demo.search(text="-диван", limit=100, onlyOffers=True)
        tap.equal([offer["title"] for offer in without["offers"] if "диван" in offer["title"].lower()], [])
        tap.equal(without.get("understood", []), [])

        values = [each for each in demo.search(text="синий диван").get("understood", []) if each["as"] == "value"]
        tap.equal([(each["text"], each["choice"]) for each in values],
                  [("синий", {"id": "a.color", "values": ["blue"]})])

        likely = demo.search(text="диванчегг", onlyOffers=True)       # nothing has it, nor is it any word's misspelling
        tap.equal(likely["corrected"]["reason"] in ("nearest", "typo", "completion") and int(likely["total"]) > 0, True)

        everything(demo)
        the_thing_first(demo)


def the_thing_first(demo):
    """Of a text about cars the cars come before the parts that have its words, on all pages, and explain says why."""
    met, cursor = [], ""
    while True:
        answer = demo.search(text="kia rio", limit=5, allWords=True, explain=True,
                             **({"cursor": cursor} if cursor else {}))
        met += answer.get("offers", [])
        tap.equal(answer["ranking"]["formula"], "score * min(max(default(appeal, 1), 0.8), 1.25) * "
                  '(1 + 0.50 * has(category, "transport/cars/cars.used"))')
        tap.equal([each["id"] for each in answer["ranking"]["categories"]], ["cars.used"])
        cursor = answer.get("cursor", "")
        if not cursor:
            break
    kinds = [offer["category"].split(".")[0] for offer in met]
    cars = kinds.count("cars")
    tap.equal((len(kinds), len({offer["id"] for offer in met})), (int(answer["total"]), int(answer["total"])))
    tap.equal(0 < cars < len(kinds), True, "cars and parts of cars have the words")
    tap.equal(kinds, ["cars"] * cars + ["parts"] * (len(kinds) - cars))


def everything(demo):
    """Each offer once, whole matches first; strict search has those alone; filters and facets are of both."""
    text, met, cursor = "синий диван угловой", [], ""
    while True:
        answer = demo.search(text=text, limit=7, onlyOffers=True, **({"cursor": cursor} if cursor else {}))
        met += answer.get("offers", [])
        cursor = answer.get("cursor", "")
        if not cursor:
            break
    whole, total = int(answer["wholeTotal"]), int(answer["total"])
    tap.equal((len(met), len({offer["id"] for offer in met})), (total, total))
    tap.equal([bool(offer.get("lacksWords")) for offer in met], [False] * whole + [True] * (total - whole))
    tap.equal(0 < whole < total, True)
    strict = demo.search(text=text, allWords=True, limit=100, onlyOffers=True)
    tap.equal([offer["id"] for offer in strict["offers"]], [offer["id"] for offer in met[:whole]])
    full = demo.search(text=text)
    condition = next(each for each in full["filters"] if each["id"] == "condition")
    for value in condition["values"]:
        chosen = demo.search(text=text, filters=[{"id": "condition", "values": [value["id"]]}], onlyOffers=True)
        tap.equal(int(chosen["total"]), int(value["count"]))


tap.main()
