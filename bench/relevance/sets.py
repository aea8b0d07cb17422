# SPDX-License-Identifier: Apache-2.0
"""Judged sets for bench relevance: documents, queries, and which document is worth what for which query."""
import csv
import pathlib
import random
import re

import hardware as hardware_shop
import store as store_shop


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


def hardware(count, query_count):
    return hardware_shop.make(Set("hardware", "en"), count, query_count)


def store(count, query_count, half):
    return store_shop.make(Set("store", "en"), count, query_count, half)


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
