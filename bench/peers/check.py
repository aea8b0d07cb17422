# SPDX-License-Identifier: Apache-2.0
"""Whether the engines of bench core answered the same; what differs is told as lines of text."""

EPSILON = 1e-5          # floats summed in another order
SORTED = {"page", "browse"}     # by an attribute, the same for all
# Whose order by relevance is the same function: BM25 by field, summed. Torg's is BM25F, which is the
# same for one word in one field; FTS5 and PostgreSQL have their own.
SAME_ORDER = {"tantivy", "lucene"}
SAME_ORDER_WORD = SAME_ORDER | {"torg"}


def pairs(text):
    """'7:1.5,8:1.25' as [(id, key)]"""
    found = []
    for each in filter(None, text.split(",")):
        name, _, key = each.partition(":")
        found.append((name, float(key)))
    return found


def counts(text):
    """'brand:b1=7,b2=3;city:...' as {'brand': [(value, count)]}"""
    found = {}
    for facet in filter(None, text.split(";")):
        name, _, values = facet.partition(":")
        found[name] = [(each.rsplit("=", 1)[0], float(each.rsplit("=", 1)[1]))
                       for each in filter(None, values.split(","))]
    return found


def sure(ranked):
    """Those whose place does not hang on how ties at the end of the list are broken."""
    if not ranked:
        return set()
    last = ranked[-1][1]
    return {name for name, key in ranked if abs(key - last) > abs(last) * EPSILON}


def same(left, right, keys=True):
    """Two lists of (name, key): as many, whoever is surely in one is in the other; and, unless the
    keys are of two scales, the same keys in the same order."""
    names_left, names_right = {name for name, _ in left}, {name for name, _ in right}
    if keys and [key for _, key in left] != [key for _, key in right]:
        return False
    return len(left) == len(right) and sure(left) <= names_right and sure(right) <= names_left


def same_order(kind, engine):
    if kind in SORTED:
        return True
    if kind == "top10_word":
        return engine in SAME_ORDER_WORD
    return engine in SAME_ORDER


def differences(kind, answers):
    """What of one query's answers differs from the first engine's that tells it."""
    first = {}
    for engine, answer in answers.items():
        if "total" in answer:
            if first.setdefault("total", (engine, answer["total"]))[1] != answer["total"]:
                yield f"{engine} counts {answer['total']}, {first['total'][0]} {first['total'][1]}"
        if answer.get("hits") and same_order(kind, engine):
            hits = pairs(answer["hits"])
            by_score = kind not in SORTED
            if not same(first.setdefault("hits", (engine, hits))[1], hits, keys=not by_score):
                yield f"{engine} ranks other documents than {first['hits'][0]}"
        for name, values in counts(answer.get("facets", "")).items():
            if not same(first.setdefault(name, (engine, values))[1], values):
                yield f"{engine} counts {name} otherwise than {first[name][0]}"


def compare(answers):
    """answers[class][number][engine]"""
    found = []
    for kind, queries in answers.items():
        for number, each in sorted(queries.items()):
            found += [f"{kind} {number}: {text}" for text in differences(kind, each)]
    return found


def compare_after(after):
    """after[engine]: answers to the same queries, when all changes are in."""
    found = []
    for number in range(min(map(len, after.values()), default=0)):
        each = {name: {key: value for key, value in answers[number].items() if key != "hits"}
                for name, answers in after.items()}
        found += [f"after changes {number}: {text}" for text in differences("after", each)]
    return found
