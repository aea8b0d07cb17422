# SPDX-License-Identifier: Apache-2.0
"""A larger home-improvement store that is made up, harder than `hardware`: families of things that share their words
(six kinds of faucet, seven of doors), kinds that only part of a title's words tell, two or three sizes with fractions,
some hundred makers by a long tail, and lines as buyers type them: a fifth misspelt, words cut short or run together,
units left out, makers that the store does not have.

Judged by construction: 3, the thing with all that was asked for; 2, the thing with half of it; 1, the thing with less,
or another kind of its family; nothing for the rest. Queries are in two halves by a hash of their text: one to look at,
one that is only measured.
"""
import hashlib
import pathlib
import random
import re

FINISHES = ("Chrome", "Brushed Nickel", "Oil-Rubbed Bronze", "Polished Brass", "Satin Nickel", "Matte Black", "White",
            "Stainless Steel", "Antique Bronze", "Polished Chrome")
COLOURS = ("White", "Black", "Brown", "Gray", "Chestnut", "Espresso", "Beige", "Ivory", "Almond", "Dark Green", "Red",
           "Navy Blue", "Slate", "Redwood", "Biscuit", "Light Oak", "Cherry", "Walnut", "Sandstone", "Charcoal")
STEEL = ("Stainless Steel", "Black", "White", "Black Stainless", "Slate", "Bisque")
KNOWN = ("Hampstead Bay", "Briggs & Stanwick", "Simpler Strong-Tie", "Everbuilt Pro", "Rust-Off", "Whirlwood",
         "Frigidora", "Delmar", "Kohlberg", "American Norm", "Glacier Cove", "Owens Corvin", "Gorilla Hold", "Lithonix",
         "Behrend", "Zinsmer", "RIGBY", "DeWald", "Makino", "Milwalk", "Black & Dunn", "Scotts-Green", "Trafficway",
         "Home Decorum", "Husq", "Toron", "Ryob", "Levitron", "Square Deal", "Pass & Sewell", "Werneri", "Masterlok",
         "Schlagel", "Kwikfit", "GAFF", "DuPool", "3D", "GEA", "LGX", "KitchenAde")
SYLLABLES = ("bar", "cor", "del", "fen", "gra", "hol", "jas", "kel", "lun", "mar", "nor", "pel", "quin", "ros", "sel",
             "tam", "ul", "ver", "wes", "zan", "ton", "ley", "mont", "field", "wick", "more", "ette", "ica", "ano",
             "er")
# What a maker, a series or a buyer says and no family has.
ABSENT = ("home", "depot", "lowes", "menards", "best", "cheap", "cover", "replacement", "parts", "large", "small",
          "kit", "installation", "for bathroom", "for kitchen", "outside", "inside", "style", "modern", "extra",
          "brand", "bulk", "that fits", "for sale", "in stock", "diy", "ace", "bosch", "ikea", "how to", "rental",
          "cleaner", "decor")
CUT = {"melamine": "mel", "insulation": "insul", "insulated": "insl.", "galvanized": "galv", "stainless": "stainles",
       "schedule": "sch", "electric": "elec", "exterior": "ext", "pressure": "press", "mower": "mowe",
       "aluminum": "alum", "fluorescent": "fluor", "refrigerator": "refrig", "microwave": "micro",
       "conditioner": "cond", "kitchen": "kit", "laminate": "lam", "concrete": "conc", "window": "windo",
       "programmable": "program", "commercial": "comm"}
MISTAKES = (("ie", "ei"), ("ei", "ie"), ("ea", "ee"), ("ee", "ea"), ("ll", "l"), ("tt", "t"), ("ss", "s"),
            ("cc", "c"), ("mm", "m"), ("nn", "n"), ("rr", "r"), ("ph", "f"), ("ck", "k"), ("c", "s"), ("s", "c"),
            ("er", "or"), ("or", "er"), ("ar", "er"), ("le", "el"), ("ou", "u"), ("au", "a"), ("ai", "a"),
            ("ui", "i"), ("a", "e"), ("e", "a"), ("i", "e"), ("e", "i"), ("o", "a"), ("y", "ie"), ("qu", "q"),
            ("mb", "m"), ("gh", ""), ("h", ""))
NUMBERS = {"one": (10, 12, 18, 20, 21, 24, 30, 36, 42, 44, 48, 52, 54, 60, 72), "gal": (1, 5, 2, 18, 32),
           "watt": (9, 13, 40, 60, 75, 100, 1500, 3500, 7000), "volt": (12, 18, 20, 24, 40, 56),
           "psi": (1600, 2000, 2800, 3100), "amp": (15, 20, 30, 50), "cuft": (1.1, 1.6, 1.7, 2, 18.2, 25.5, 22),
           "btu": (5000, 8000, 10000, 12000), "oz": (5.5, 10.1, 11), "gpf": (1.28, 1.6), "hp": (.5, .33, .75),
           "sqft": (23.9, 18, 33.3, 20), "count": (1, 2, 3, 4), "handles": (1, 2), "in1": (4, 5, 8, 10),
           "burner": (2, 3, 4, 6), "feet": (4, 6, 7.5, 8, 9, 12, 24, 28)}
DIAMETERS = ((1, 2), (3, 4), (1, 1), (5, 4), (3, 2), (2, 1), (3, 1), (4, 1), (3, 8), (1, 4), (5, 8))


def fraction(pair, dash="-"):
    over, under = pair
    if over % under == 0:
        return str(over // under)
    return (f"{over // under}{dash}" if over > under else "") + f"{over % under}/{under}"


def plain(value):
    return {.5: "1/2", .33: "1/3", .75: "3/4"}.get(value) or f"{value:g}"


# Of a lone number: the title's text, and what buyers may type. {0}: the number, {1}: with its thousands apart.
SAID = {
    "one": ("{0} in.", '{0} inch|{0} in|{0}"|{0} in.|{0}in|{0}-inch|{0}'),
    "gal": ("{0} gal.", "{0} gallon|{0} gal|{0} gal.|{0}gal"),
    "watt": ("{0}-Watt", "{0} watt|{0}w|{0} w|{0} watts"),
    "volt": ("{0}-Volt", "{0} volt|{0}v|{0}-volt|{0} v"),
    "psi": ("{0} psi", "{0} psi|{0}psi|{0}"),
    "amp": ("{0} Amp", "{0} amp|{0}amp|{0}a|{0}-amp"),
    "cuft": ("{0} cu. ft.", "{0} cu ft|{0} cu. ft.|{0} cubic feet|{0}"),
    "btu": ("{1} BTU", "{0} btu|{1} btu|{0}btu"),
    "oz": ("{0} oz.", "{0} oz|{0} ounce"),
    "gpf": ("{0} GPF", "{0} gpf|{0} gallon"),
    "hp": ("{0} HP", "{0} hp|{0}hp|{0} horsepower"),
    "sqft": ("({0} sq. ft. / case)", "{0} sq ft|{0} sq. ft."),
    "count": ("{0}-Light", "{0} light|{0}-light|{0} bulb"),
    "handles": ("{0}-Handle", "{0} handle|{2} handle"),
    "in1": ("{0} in.", '{0} inch|{0} in|{0}"'),
    "burner": ("{0}-Burner", "{0} burner|{0}-burner"),
    "feet": ("{0} ft.", "{0} ft|{0} foot|{0}ft|{0}'|{0} feet|{0}-foot"),
}
# Of several: {0} by {1} by {2}.

AREA_ASKED = ("{0} x {1}|{0}x{1}|{0} in. x {1} in.|{0} in x {1} in|{0}\" x {1}\"|{0} inch|{0} by {1}|"
              "{0} inch x {1} inch|{0}")
FEET_ASKED = "{0} x {1}|{0}x{1}|{0} ft x {1} ft|{0}' x {1}'|{0}ft x {1}ft|{0} foot by {1} foot|{3} in. x {4} in."
SHEET_ASKED = ("{0}|{0} inch|{0} in|{1}x{2} {0}|{0} {1}x{2}|{0} x {1} x {2}|{1} x {2} x {0}|{0}\"|"
               "{0} in. x {1} ft. x {2} ft.")
STICK_ASKED = ("{0}x{1}|{0} x {1}|{0}x{1}x{2}|{0} x {1} x {2}|{0}x{1} {2} ft|{0}x{1}x{2}'|{0} in x {1} in x {2} ft|"
               "{0}x{1}-{2}|{0}by{1}|{0}\" x {1}\"")
PIPE_ASKED = "{0}|{1} inch|{0} in|{0}\"|{1} in.|{0}in|{1}"
LONG_ASKED = "{0} x {2}|{1} inch|{2} ft|{2} foot|{0} in. x {2} ft.|{0}\" x {2}'|{2}' {0}"
FILTER_ASKED = "{0}x{1}x{2}|{0} x {1} x {2}|{0}x{1}|{0} in x {1} in x {2} in|{0} x {1}"
SCREW_ASKED = "{0} x {1}|{0}x{1}|{1} inch|{1} in|{1}\"|{2} inch|{3} x {1}|{0}"
WIRE_ASKED = "{1} ft|{1} foot|{0}/2|{0}/3|{1}'|{0} gauge|{1}ft"


def asked_as(text, *values):
    return text.format(*values).split("|")


def make_flat_size(kind, dice):
    """Of things with two sides, or three."""
    if kind in ("area", "area3"):
        one, two = dice.choice((18, 23, 24, 30, 32, 36, 60, 72)), dice.choice((30, 48, 64, 72, 80, 84))
        title = f"{one} in. x {two} in."
        if kind == "area3":
            title = f"{one} in. W x {two} in. H x {dice.choice((12, 18, 24))} in. D"
        return ("area", one, two), title, asked_as(AREA_ASKED, one, two)
    if kind == "feet2":
        one, two = dice.choice((4, 5, 6, 2)), dice.choice((6, 7, 8, 10))
        return ("feet2", one, two), f"{one} ft. x {two} ft.", asked_as(FEET_ASKED, one, two, 0, 12 * one, 12 * two)
    if kind == "sheet":
        thick = dice.choice(((1, 4), (1, 2), (3, 4), (5, 8), (7, 16)))
        part, two = fraction(thick), dice.choice(((4, 8), (2, 4), (4, 8), (2, 8)))
        return (("sheet", thick, two), f"{part} in. x {two[0]} ft. x {two[1]} ft.",
                asked_as(SHEET_ASKED, part, *two))
    one, two, deep = dice.choice((14, 16, 20)), dice.choice((20, 24, 25, 30)), dice.choice((1, 1, 2, 4))
    return (("filter", one, two, deep), f"{one} in. x {two} in. x {deep} in.",
            asked_as(FILTER_ASKED, one, two, deep))


def make_long_size(kind, dice):
    """Of things that are sold by their length."""
    if kind in ("stick", "stick5"):
        one, two, long = dice.choice((1, 2, 4, 5)), dice.choice((4, 6, 8, 10)), dice.choice((8, 10, 12, 16))
        if kind == "stick5":
            return ("stick", long), f"{one} in. x {long} ft.", asked_as("{0} ft|{0} foot|{0}'", long)
        return ("stick", one, two, long), f"{one} in. x {two} in. x {long} ft.", asked_as(STICK_ASKED, one, two, long)
    if kind in ("dia", "dialong"):
        pair = dice.choice(DIAMETERS)
        long = dice.choice((10, 2, 25, 50, 100, 6, 17))
        part = fraction(pair)
        if kind == "dia" and dice.random() < .5:
            return ("dia", pair, 0), f"{part} in.", asked_as(PIPE_ASKED, part, fraction(pair, " "))
        return (("dia", pair, long), f"{part} in. x {long} ft.",
                asked_as(LONG_ASKED, part, fraction(pair, " "), long))
    if kind == "screw":
        thick = dice.choice(("#6", "#8", "#10", "1/4", "3/8", "1/2", "5/16"))
        long = dice.choice(((1, 1), (5, 4), (3, 2), (2, 1), (5, 2), (3, 1), (4, 1), (6, 1)))
        unit = "" if thick[0] == "#" else " in."
        return (("screw", thick, long), f"{thick}{unit} x {fraction(long)} in.",
                asked_as(SCREW_ASKED, thick, fraction(long), fraction(long, " "), thick.strip("#")))
    gauge, long = dice.choice((10, 12, 14, 16)), dice.choice((25, 50, 100, 250))
    return (("wire", gauge, long), f"{long} ft. {gauge}/{dice.choice((2, 3))}",
            asked_as(WIRE_ASKED, gauge, long))


def make_size(kind, dice):
    """(what it is, the title's text, what buyers may type)"""
    if kind == "-":
        return None
    if kind in NUMBERS:
        value = dice.choice(NUMBERS[kind])
        title, asked = SAID[kind]
        values = (plain(value), f"{value:,}", "single" if value == 1 else "two")
        return (kind, value), title.format(*values), asked_as(asked, *values)
    if kind in ("area", "area3", "feet2", "sheet", "filter"):
        return make_flat_size(kind, dice)
    return make_long_size(kind, dice)


class Family:
    def __init__(self, line):
        head, kinds, self.size, words, self.colour = line.split("|")
        found = re.fullmatch(r"(.*?)(?: \((.*)\))?", head)
        self.head, self.names = found[1], [found[1].lower()] * 4 + (found[2].split(",") if found[2] else [])
        self.kinds = [(kind.split("=")[0], kind.split("=")[1].split(",")) for kind in kinds.split(";")]
        self.words = words.split(",")


def read_families():
    text = pathlib.Path(__file__).with_name("store.txt").read_text(encoding="utf-8")
    text = text.replace("\n  ", "")
    return [Family(line) for line in text.splitlines() if line and not line.startswith("#")]


def make_brands(dice):
    brands = list(KNOWN)
    while len(brands) < 260:
        name = "".join(dice.choice(SYLLABLES) for _ in range(dice.choice((2, 2, 3)))).title()
        brands.append(name if dice.random() < .8 else f"{name} {dice.choice(SYLLABLES).title()}")
    return brands


PARTS = ("Replacement Part Kit", "Cover", "Mounting Bracket", "Cleaner", "Handle", "Accessory Kit")


def choose_brand(brands, dice):
    """A few are sold most, in a long tail."""
    if dice.random() < .75:
        return brands[min(int(dice.paretovariate(.6)) - 1, len(brands) - 1)]
    return brands[dice.randrange(len(brands))]


def make_model(dice):
    letters = "".join(dice.choice("ABCDEFGHKLMPRSTWX") for _ in range(dice.choice((1, 2, 3))))
    return letters + str(dice.randrange(10, 9999)) + dice.choice(("", "", "-A", "W"))


class Item:
    def __init__(self, family, brands, series, dice):
        self.family = family
        self.kind = dice.choice(family.kinds)
        self.brand = choose_brand(brands, dice)
        self.series = dice.choice(series) if dice.random() < .5 else ""
        self.size = make_size(family.size, dice)
        self.words = dice.sample(family.words, min(len(family.words), dice.choice((0, 1, 1, 2))))
        colours = {"finish": FINISHES, "colour": COLOURS, "appliance": STEEL}.get(family.colour)
        self.colour = dice.choice(colours) if colours and dice.random() < .75 else ""
        self.model = make_model(dice) if dice.random() < .12 else ""
        self.part = dice.choice(PARTS) if dice.random() < .12 else ""

    def title(self, dice):
        words = [self.brand, self.series, self.model]
        middle = [self.size[1] if self.size else ""] + [word for word in self.words if not word.startswith("with ")]
        if dice.random() < .35:
            dice.shuffle(middle)
        thing = f"{self.kind[0]} {self.family.head}".strip()
        if self.part:
            thing += dice.choice(("", "s"))
            return " ".join(" ".join([self.brand, self.part, "for", self.series, thing]).split())
        words += middle + [thing]
        words += [word for word in self.words if word.startswith("with ")]
        if self.colour:
            words.append(f"in {self.colour}" if dice.random() < .75 else f"- {self.colour}")
        if dice.random() < .12:
            words.append(dice.choice(("(Valve Not Included)", "(2-Pack)", "(10-Pack)", "-DISCONTINUED", "(Case of 6)")))
        return " ".join(" ".join(words).split())


def mistake(word, dice):
    if len(word) < 4:
        return word
    if dice.random() < .5:
        fitting = [pair for pair in MISTAKES if pair[0] in word[1:]]
        if fitting:
            sound, other = dice.choice(fitting)
            at = word.index(sound, 1)
            return word[:at] + other + word[at + len(sound):]
    at = dice.randrange(1, len(word) - 1)
    kind = dice.randrange(5)
    if kind == 0:
        return word[:at] + word[at + 1:]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 3:
        return word[:-1]
    return word[:at] + dice.choice("aeiourstln") + word[at + 1:]


def ask(item, dice):
    """(the line, what it asks for)"""
    family = item.family
    name = dice.choice(family.names)
    if dice.random() < .12 and name[-1] not in "s0123456789":
        name += "s"
    asked, before, behind = set(), [], []
    if dice.random() < .75:
        said = dice.choice(item.kind[1])
        if said:
            before.append(said)
            asked.add("kind")
    chances = (("size", .42), ("brand", .25), ("colour", .2), ("word", .2), ("series", .06))
    for key, chance in chances:
        if dice.random() >= chance:
            continue
        value = {"size": item.size and dice.choice(item.size[2]), "brand": item.brand.lower(),
                 "colour": item.colour.lower(), "word": dice.choice(item.words).lower() if item.words else "",
                 "series": item.series.lower()}[key]
        if not value:
            continue
        asked.add((key, value) if key == "word" else key)
        if key == "brand":
            value = value.replace("&", dice.choice(("&", "and", ""))).replace("-", dice.choice(("-", " ", "")))
        (before.insert(0, value) if dice.random() < (.9 if key == "brand" else .6) else behind.append(value))
    words = " ".join(before + [name] + behind).split()
    if item.model and dice.random() < .3:
        words = [item.model.lower()] + (words if dice.random() < .3 else [])
        asked = {"model"}
    return roughen(words, dice), asked


def roughen(words, dice):
    chance = dice.random()
    plain_at = [i for i, word in enumerate(words) if len(word) >= 4 and word.isalpha()]
    if chance < .18 and plain_at:
        for _ in range(1 + (dice.random() < .15)):
            at = dice.choice(plain_at)
            words[at] = mistake(words[at], dice)
    elif chance < .22:
        words = [CUT.get(word, word) if dice.random() < .7 else word for word in words]
    elif chance < .26 and len(words) > 1:
        at = dice.randrange(len(words) - 1)
        if words[at].isalpha() and words[at + 1].isalpha():
            words[at:at + 2] = [words[at] + words[at + 1]]
    elif chance < .30:
        long = [i for i in plain_at if len(words[i]) > 6]
        if long:
            at = dice.choice(long)
            cut = dice.randrange(3, len(words[at]) - 2)
            words[at:at + 1] = [words[at][:cut], words[at][cut:]]
    elif chance < .40:
        words.insert(dice.choice((0, len(words))), dice.choice(ABSENT))
    elif chance < .44 and len(words) > 2:
        dice.shuffle(words)
    return " ".join(words)


def has(item, key, wanted):
    if key == "kind":
        return item.kind[0] == wanted.kind[0]
    if key == "size":
        return item.size and item.size[0] == wanted.size[0]
    if isinstance(key, tuple):
        return key[1] in [word.lower() for word in item.words]
    return getattr(item, key) == getattr(wanted, key)


def grade(item, asked, wanted):
    if item.part:
        return 1
    met = sum(bool(has(item, key, wanted)) for key in asked)
    if "kind" in asked and not has(item, "kind", wanted):
        return 1 if met * 2 >= len(asked) else 0
    if met == len(asked):
        return 3
    return 2 if met * 2 >= len(asked) else 1


def half_of(text):
    return hashlib.sha256(text.encode()).digest()[0] & 1


def make(made, count, query_count, half, seed=23):
    dice = random.Random(seed)
    families = read_families()
    brands = make_brands(dice)
    series = ["".join(dice.choice(SYLLABLES) for _ in range(2)).title() for _ in range(300)]
    series += ["Pro", "Max", "Select", "Classic", "Premium"] * 20
    items = [Item(dice.choice(families), brands, series, dice) for _ in range(count)]
    by_family = {}
    for place, item in enumerate(items):
        made.docs.append((str(place), item.title(dice), ""))
        by_family.setdefault(item.family.head, []).append(place)
    sold = [item for item in items if not item.part]
    while len(made.queries) < query_count:
        item = dice.choice(sold)
        text, asked = ask(item, dice)
        if half_of(text) != half:
            continue
        number = str(len(made.queries))
        made.queries.append((number, text))
        grades = {str(each): grade(items[each], asked, item) for each in by_family[item.family.head]}
        made.grades[number] = {each: worth for each, worth in grades.items() if worth}
    return made
