# SPDX-License-Identifier: Apache-2.0
"""Judged sets for bench relevance: documents, queries, and which document is worth what for which query."""
import csv
import json
import pathlib
import random
import re


class Set:
    def __init__(self, name, language):
        self.name, self.language = name, language
        self.docs = []          # (id, title, text)
        self.queries = []       # (id, text)
        self.grades = {}        # query id: {document id: grade}


def read_public(folder, name):
    """Medlars, CISI: tab-separated, read where they lie."""
    made = Set(name, "en")
    with open(pathlib.Path(folder) / f"{name}-docs.tsv", encoding="utf-8") as file:
        for line in file:
            number, title, text = (line.rstrip("\n").split("\t") + ["", ""])[:3]
            made.docs.append((number, title or text[:90], text))
    with open(pathlib.Path(folder) / f"{name}-queries.tsv", encoding="utf-8") as file:
        made.queries = [tuple(line.rstrip("\n").split("\t")[:2]) for line in file if "\t" in line]
    with open(pathlib.Path(folder) / f"{name}-relevance.tsv", encoding="utf-8") as file:
        for line in file:
            query, document, *grade = line.split()
            made.grades.setdefault(query, {})[document] = int(grade[0]) if grade else 1
    return made


# Things of a hardware shop, in the way such shops write them, and buyers ask for them.

THINGS = {
    "cordless drill": ("volt", "drill driver", "power drill"), "circular saw": ("volt", "skill saw", "circular saws"),
    "impact wrench": ("volt", "impact gun", "wrenches"), "bathroom vanity": ("in", "vanity", "bath vanities"),
    "ceiling fan": ("in", "fan", "ceiling fans"), "kitchen faucet": ("gpm", "faucet", "sink faucet"),
    "water heater": ("gal", "hot water heater", "water heaters"), "trash can": ("gal", "garbage can", "waste bin"),
    "interior paint": ("gal", "wall paint", "paints"), "pressure washer": ("psi", "power washer", "pressure washers"),
    "extension cord": ("ft", "power cord", "cords"), "garden hose": ("ft", "water hose", "hoses"),
    "step ladder": ("ft", "ladder", "stepladder"), "area rug": ("ft", "rug", "rugs"),
    "led light bulb": ("watt", "led bulb", "lightbulb"), "flood light": ("watt", "floodlight", "flood lights"),
    "air conditioner": ("btu", "ac unit", "window air conditioner"), "shop vacuum": ("gal", "wet dry vac", "shop vac"),
    "lawn mower": ("in", "lawnmower", "mower"), "door bell": ("volt", "doorbell", "door chime"),
    "hex bolt": ("in", "bolts", "hex screws"), "copper pipe": ("in", "copper tubing", "pipes"),
    "storage shelf": ("lb", "shelving unit", "shelves"), "concrete mix": ("lb", "cement mix", "concrete"),
    "wood glue": ("oz", "glue", "adhesive for wood"), "spray paint": ("oz", "spray paints", "paint spray"),
}
BRANDS = ("Norvik", "Halden", "Brightway", "Kestrel", "Marlow", "Tundra", "Oakline", "Ferrum", "Delcroft", "Pinebay")
COLOURS = ("White", "Black", "Brushed Nickel", "Bronze", "Chrome", "Red", "Gray", "Walnut")
SIZES = {"volt": (12, 18, 20, 40), "in": (24, 30, 36, 42, 48, 52, 60), "gal": (5, 13, 30, 40, 50),
         "ft": (6, 8, 10, 25, 50), "watt": (9, 40, 60, 75, 100), "btu": (5000, 8000, 10000), "lb": (50, 60, 80, 300),
         "oz": (8, 12, 16), "gpm": (1.5, 1.8, 2.2), "psi": (1600, 2000, 3000)}
WRITTEN = {"volt": ("{}-Volt",), "in": ("{} in.",), "gal": ("{} Gal.", "{}-Gal."), "ft": ("{} ft.",),
           "watt": ("{}-Watt", "{}W"), "btu": ("{} BTU",), "lb": ("{} lb.",), "oz": ("{} oz.",), "gpm": ("{} GPM",),
           "psi": ("{} PSI",)}
ASKED = {"volt": ("{} volt", "{}v", "{}-volt"), "in": ("{} inch", "{} in", "{}in", "{}\""),
         "gal": ("{} gallon", "{} gal", "{}gal"), "ft": ("{} foot", "{} ft", "{} feet", "{}ft"),
         "watt": ("{} watt", "{}w"), "btu": ("{} btu",), "lb": ("{} lb", "{} pound", "{}lbs"),
         "oz": ("{} oz", "{} ounce"), "gpm": ("{} gpm",), "psi": ("{} psi",)}
EXTRAS = ("with Remote Control", "with Battery and Charger", "Kit", "for Indoor and Outdoor Use", "2-Pack",
          "with Mounting Hardware", "in Matte Finish", "Energy Star Certified", "with Storage Bag", "Contractor Grade")
PARTS = ("Replacement Battery for {}", "{} Accessory Kit", "Cover for {}", "{} Mounting Bracket")


def misspell(word, dice):
    if len(word) < 5:
        return word
    at = dice.randrange(1, len(word) - 1)
    kind = dice.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1:]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    return word[:at] + dice.choice("aeiourst" if word[0] < "а" else "аеиоутснр") + word[at + 1:]


def misspell_one(words, dice):
    long = [i for i, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
    if long:
        at = dice.choice(long)
        words[at] = misspell(words[at], dice)
    return words


def hardware(count, query_count, seed=7):
    """Titles like a hardware shop's; a query names a thing and some of its properties."""
    dice = random.Random(seed)
    made = Set("hardware", "en")
    facts = []
    for number in range(count):
        thing = dice.choice(list(THINGS))
        unit = THINGS[thing][0]
        size, brand, colour = dice.choice(SIZES[unit]), dice.choice(BRANDS), dice.choice(COLOURS)
        is_part = dice.random() < .15
        name = dice.choice(PARTS).format(thing.title()) if is_part else thing.title()
        written = dice.choice(WRITTEN[unit]).format(size)
        title = " ".join(dice.choice(((brand, written, colour, name), (brand, name, written, colour),
                                      (brand, colour, written, name))))
        title += " " + dice.choice(EXTRAS) if dice.random() < .6 else ""
        made.docs.append((str(number), title, ""))
        facts.append((thing, size, brand, colour, is_part))
    for number in range(query_count):
        thing, size, brand, colour, _ = dice.choice([each for each in facts if not each[4]])
        unit = THINGS[thing][0]
        asked = {"thing": dice.choice((thing, thing, THINGS[thing][1], THINGS[thing][2]))}
        if dice.random() < .5:
            asked["size"] = dice.choice(ASKED[unit]).format(size)
        if dice.random() < .3:
            asked["brand"] = brand.lower()
        if dice.random() < .3:
            asked["colour"] = colour.lower()
        parts = list(asked.values())
        if dice.random() < .4:
            dice.shuffle(parts)
        words = " ".join(parts).split()
        if dice.random() < .2:
            words = misspell_one(words, dice)
        if dice.random() < .1:
            words.insert(0, dice.choice(("buy", "cheap", "best", "new")))
        made.queries.append((str(number), " ".join(words)))
        grades = {}
        for place, fact in enumerate(facts):
            if fact[0] != thing:
                continue
            missed = (("size" in asked and fact[1] != size) + ("brand" in asked and fact[2] != brand)
                      + ("colour" in asked and fact[3] != colour))
            grade = 0 if fact[4] else max(0, 3 - missed) if missed < 3 else 0
            if grade:
                grades[str(place)] = grade
        made.grades[str(number)] = grades
    return made


# The demo's own offers: one is known, and asked for as people would.

SYNONYMS = {"велосипед": "велик", "телевизор": "тв", "ноутбук": "ноут", "автомобиль": "машина", "мотоцикл": "байк",
            "телефон": "смартфон", "холодильник": "рефрижератор", "phone": "smartphone", "bicycle": "bike"}
UNITS = ((r"(\d+) ГБ\b", ("{}гб", "{} gb", "{}gb", "{} гигабайт")), (r"(\d+) GB\b", ("{}gb", "{} гб")),
         (r"(\d+) л\b", ("{}л", "{} литров")),
         (r"(\d+) см\b", ("{}см", "{} cm")), (r"(\d+) м²", ("{} м2", "{} кв м")), (r"(\d+) кг\b", ("{}кг", "{} kg")),
         (r'(\d+)[″"]', ("{} дюймов", "{} inch")), (r"(\d+) мм\b", ("{}мм", "{} mm")))
NOISE = ("купить", "недорого", "срочно", "продам", "цена")


def words_of(text):
    return re.findall(r"[\w²″\"/.+-]+", text)


def ask_for(title, kind, others, dice):
    """A query for the offer of this title; None: the kind does not fit it."""
    words = words_of(title)
    if kind == "words":
        return " ".join(words)
    if kind in ("drop", "drop2"):
        for _ in range(1 if kind == "drop" else 2):
            if len(words) > 2:
                del words[dice.randrange(len(words))]
        return " ".join(words)
    if kind == "add":
        words.insert(dice.randrange(len(words) + 1), dice.choice(NOISE))
        return " ".join(words)
    if kind == "other":
        words.insert(dice.randrange(1, len(words) + 1), dice.choice(words_of(dice.choice(others))))
        return " ".join(words)
    if kind == "misspelt":
        return " ".join(misspell_one(words, dice))
    if kind == "order":
        dice.shuffle(words)
        return " ".join(words)
    if kind == "synonym":
        found = [(i, SYNONYMS[word.lower()]) for i, word in enumerate(words) if word.lower() in SYNONYMS]
        if not found:
            return None
        words[found[0][0]] = found[0][1]
        return " ".join(words)
    for pattern, forms in UNITS:        # units
        if re.search(pattern, title):
            return re.sub(pattern, lambda match: dice.choice(forms).format(match[1]), title)
    return None


KINDS = ("words", "drop", "drop2", "add", "other", "misspelt", "order", "synonym", "units")


def from_offers(offers, query_count, seed=11):
    """offers: (id, title, text). Whoever has the same title is as good."""
    dice = random.Random(seed)
    made = Set("demo", "ru")
    made.docs = offers
    titles = [offer[1] for offer in offers]
    same = {}
    for offer in offers:
        same.setdefault(offer[1], []).append(offer[0])
    while len(made.queries) < query_count:
        kind = KINDS[len(made.queries) % len(KINDS)]
        asked = None
        while asked is None:
            title = dice.choice(titles)
            asked = ask_for(title, kind, titles, dice)
        number = f"{kind}-{len(made.queries)}"
        made.queries.append((number, asked))
        made.grades[number] = {each: 3 for each in same[title]}
    return made
