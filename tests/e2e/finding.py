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
    # synonyms of the catalogue
    ("велик", r"велосипед|bicycle|bike", 8),
    ("тв", r"телевизор|\btv\b", 8),
    ("байк", r"category:(motorcycles|bikes)", 10),
    ("ps5", r"category:games\.consoles", 5),
    # units and models
    ("128 гб", r"128 (гб|gb)", 8),
    ("128gb", r"128 (гб|gb)", 8),
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
    # the thing before services and parts
    ("телефон", r"category:phones", 10),
    ("toyota camry", r"toyota camry", 5),
    ("toyota camry", r"category:cars\.", 3),
    ("kia rio", r"category:cars\.", 5),
    # words that say nothing
    ("купить диван недорого", r"category:furniture\.sofas", 10),
    ("продам велосипед срочно", r"велосипед|bicycle|bike", 8),
    # some of the words
    ("угловой диван синий бархатный с подсветкой", r"диван|sofa", 8),
    ("toyota camry 2018 красная с люком", r"toyota camry", 1),
)


def page(demo, text):
    return demo.search(text=text, limit=10, onlyOffers=True)


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
