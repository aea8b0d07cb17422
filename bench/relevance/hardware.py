# SPDX-License-Identifier: Apache-2.0
"""A hardware shop that is made up: long titles as such shops write them, and what buyers type.

A query is made for a title that is known: its thing by some name, some of its properties in another spelling, now and
then misspelt, with words that no title has. Every title is then judged: 3, the thing with all that was asked for; 2
and 1, the thing with less; 1 also for what belongs to the thing; nothing for another thing, whatever its size.
"""
import random
import re

# thing; other names; what is measured; what it is made of; parts that are sold for it
THINGS = """
cordless drill|drill driver,power drill,drill|volt|-|drill bit,battery,charger
circular saw|skill saw,circ saw|volt|-|saw blade,guide rail
reciprocating saw|recip saw,sawzall|volt|-|saw blade
miter saw|chop saw,mitre saw|inch|-|saw stand,saw blade
impact wrench|impact gun|volt|-|socket set
angle grinder|grinder|amp|-|grinding wheel
orbital sander|palm sander,sander|amp|-|sanding disc
shop vacuum|shop vac,wet dry vac|gal|-|vacuum filter,hose
air compressor|compressor|gal|-|air hose
pressure washer|power washer|psi|-|nozzle,surface cleaner
lawn mower|lawnmower,mower,grass cutter|inch|-|mower blade,grass bag
string trimmer|weed eater,weed wacker,weedeater|volt|-|trimmer line
leaf blower|blower|volt|-|blower tube
chain saw|chainsaw|inch|-|saw chain,bar oil
hedge trimmer|hedge clippers,hedge cutter|inch|-|blade cover
snow blower|snowblower,snow thrower|inch|-|shear pin
garden hose|water hose,hose pipe|ft|rubber,vinyl|hose nozzle,hose reel
sprinkler|lawn sprinkler,water sprinkler|inch|brass,plastic|sprinkler head
wheelbarrow|wheel barrow,garden cart|cuft|steel,poly|tire
patio umbrella|outdoor umbrella,sun shade|ft|aluminum,wood|umbrella base
gas grill|bbq grill,barbecue,grill|btu|stainless steel|grill cover,grill brush
fire pit|firepit,outdoor fireplace|inch|steel,stone|fire pit cover
storage shed|garden shed,tool shed|ft|vinyl,wood,metal|shed ramp
ceiling fan|fan,ceiling fans with lights|inch|-|fan blade,downrod,remote control
led light bulb|led bulb,lightbulb,light bulbs|watt|-|bulb socket
flood light|floodlight,security light,outdoor light|watt|-|motion sensor
recessed light|downlight,can light,down light|inch|-|light trim
vanity light|bathroom light,bath light fixture|light|-|glass shade
pendant light|hanging light,pendant lamp|light|glass,metal|glass shade
chandelier|hanging lamp,dining room light|light|crystal,iron|chain
track lighting|track light kit|light|-|track connector
table lamp|desk lamp,lamp|inch|ceramic,glass|lamp shade
extension cord|power cord,electrical cord|ft|-|cord reel
wall outlet|receptacle,plug outlet,electrical outlet|amp|-|wall plate
dimmer switch|light dimmer,dimmer|watt|-|wall plate
circuit breaker|breaker|amp|-|breaker panel
electrical wire|romex,house wire|ft|copper|wire connector
smoke detector|smoke alarm,fire alarm|volt|-|mounting plate
doorbell|door bell,door chime|volt|-|transformer
thermostat|programmable thermostat|volt|-|wall plate
window air conditioner|ac unit,window ac,aircon|btu|-|support bracket,filter
portable heater|space heater,room heater|watt|-|heater guard
dehumidifier|moisture remover|pint|-|drain hose
water heater|hot water heater,boiler|gal|-|heating element,drain pan
furnace filter|air filter,hvac filter|inch|-|filter housing
kitchen faucet|sink faucet,kitchen tap,pull down faucet|gpm|-|faucet cartridge,supply line
bathroom faucet|lavatory faucet,sink tap,basin tap|inch|-|faucet aerator
shower head|showerhead,rain shower|gpm|-|shower arm,shower hose
bathtub|bath tub,soaking tub|inch|acrylic,cast iron|tub drain
toilet|commode,elongated toilet|gpf|-|toilet seat,flapper,wax ring
toilet seat|commode seat|inch|plastic,wood|hinge
kitchen sink|double bowl sink,undermount sink|inch|stainless steel,granite|sink strainer,sink grid
garbage disposal|disposer,garbage disposer,waste disposal|hp|-|sink flange
bathroom vanity|vanity,vanity cabinet,bath vanity with top|inch|wood,mdf|vanity top
medicine cabinet|mirror cabinet,bathroom cabinet|inch|glass,aluminum|shelf
towel bar|towel rack,towel rail|inch|brass,steel|mounting post
shower door|glass shower door,shower enclosure|inch|glass|door seal,door handle
shower curtain rod|curtain rod,tension rod|inch|steel|curtain hook
sump pump|water pump,basement pump|hp|cast iron|check valve
copper pipe|copper tubing,copper tube|inch|copper|pipe fitting,pipe clamp
pvc pipe|plastic pipe,white pipe|inch|pvc|pipe fitting,pvc cement
ball valve|shut off valve,shutoff valve|inch|brass,pvc|valve handle
interior paint|wall paint,latex paint|gal|-|paint tray
exterior stain|deck stain,wood stain|gal|-|stain brush
spray paint|paint can,rattle can|oz|-|spray grip
paint roller|roller,roller brush|inch|-|roller cover,roller frame
caulk|caulking,sealant|oz|silicone,latex|caulk gun
wood glue|glue,carpenter glue|oz|-|glue brush
ceramic tile|floor tile,tile|inch|ceramic,porcelain|tile spacer,tile trim
laminate flooring|laminate floor,floating floor|sqft|-|underlayment,transition strip
vinyl plank flooring|vinyl flooring,lvp|sqft|vinyl|underlayment
area rug|rug,carpet|ft|wool,polypropylene|rug pad
interior door|bedroom door,prehung door|inch|wood,composite|door hinge,door knob
entry door|front door,exterior door|inch|steel,fiberglass|door sweep
door knob|doorknob,door handle|inch|brass,nickel|strike plate
deadbolt|dead bolt,door lock|inch|brass|key cylinder
garage door opener|garage opener,door opener|hp|-|remote control
window blinds|blinds,mini blinds|inch|vinyl,faux wood|blind cord
window shade|roller shade,pull down shade|inch|fabric,bamboo|shade bracket
cabinet knob|drawer knob,cabinet hardware|inch|brass,zinc|screw
cabinet pull|drawer pull,drawer handle|inch|brass,zinc|screw
shelf bracket|l bracket,angle bracket|inch|steel,iron|shelf
storage shelf|shelving unit,shelves,garage shelving|inch|steel,plastic|shelf liner
tool box|toolbox,tool chest|inch|steel,plastic|drawer liner
step ladder|stepladder,ladder|ft|aluminum,fiberglass|ladder stabilizer
extension ladder|long ladder|ft|aluminum,fiberglass|ladder hook
hex bolt|bolts,hex head bolt|inch|zinc,stainless steel|hex nut,washer
wood screw|screws,wood screws|inch|zinc,brass|screw bit
deck screw|decking screws,exterior screws|inch|coated steel|screw bit
plywood|plywood sheet,sheathing|inch|birch,pine|plywood clip
pressure treated lumber|treated wood,deck boards,pt lumber|feet|pine|joist hanger
crown molding|ceiling trim,crown moulding|ft|pine,mdf|corner block
baseboard|base board,base molding|ft|mdf,pine|corner block
concrete mix|cement mix,quikcrete,concrete|lb|-|mixing tub
fence panel|fencing,privacy fence|ft|vinyl,cedar|fence post,post cap
gutter guard|leaf guard,gutter screen|ft|aluminum,plastic|gutter bracket
roof shingle|roofing shingles,asphalt shingles|sqft|asphalt|roofing nail
insulation|fiberglass insulation,pink insulation|sqft|fiberglass|vapor barrier
refrigerator|fridge,frig,french door refrigerator|cuft|stainless steel|water filter,ice maker
dishwasher|dish washer|inch|stainless steel|dishwasher hose
over the range microwave|microwave,otr microwave,microwave over stove|cuft|stainless steel|charcoal filter
gas range|stove,gas stove|inch|stainless steel|range knob,burner grate
range hood|vent hood,stove hood|cfm|stainless steel|grease filter
washing machine|washer,clothes washer|cuft|-|washer hose
trash can|garbage can,waste bin,dustbin|gal|plastic,steel|trash bag,lid
artificial christmas tree|xmas tree,christmas tree|ft|-|tree stand,tree bag
patio dining set|outdoor dining set,patio furniture|piece|wicker,steel|furniture cover
office chair|desk chair,computer chair|inch|leather,mesh|chair mat
closet organizer|closet system,closet shelving|ft|wood,wire|closet rod
wall mirror|mirror,bathroom mirror|inch|glass|mirror clip
raised garden bed|planter box,garden planter|ft|cedar,plastic|garden soil
mulch|wood mulch,bark|cuft|cedar,pine|landscape fabric
work light|led work light,job light|lumen|-|light stand
safety glasses|eye protection,goggles|pair|plastic|lens cleaner
work gloves|gloves,safety gloves|pair|leather,nitrile|glove clip
"""
BRANDS = ("DuraForge", "Milbrook", "Rydell", "Hampstead Bay", "Glenwood", "Kohlmann", "Delphine", "Moenart",
          "Everbright", "Behrman",
          "Husqvald", "Torrano", "Makuro", "Boschert", "Rigby", "Stanwick", "Leviston", "Lithora", "Philmore",
          "Whirlwind",
          "Frigiline", "Samsara", "Honeyfield", "Werther", "Simpton Strong", "Masterhold", "Kwikfast", "Schlager",
          "Pergola", "Traffix",
          "Armcrest", "Owen Cornwall", "Gorilla Grip", "Rust-Away", "Scott & Sons", "Briggs & Stanton", "Weberly",
          "Char-Grill", "Suncastle", "Rubberking")
SERIES = ("Max", "Pro", "Select", "Classic", "Premium Plus", "Ultra", "Essentials", "Signature", "Heritage",
          "Ashfield", "Brookdale",
          "Windward", "Cambria", "Monterey", "Vero", "Trinsic", "Adelaide", "Kingsley", "Somerset", "Brushless")
COLOURS = ("White", "Black", "Brushed Nickel", "Oil-Rubbed Bronze", "Chrome", "Stainless Steel", "Red", "Gray",
           "Walnut", "Espresso", "Satin Nickel",
           "Antique Brass", "Cherry", "Almond", "Blue", "Green", "Beige", "Dark Brown", "Cedar", "Bisque")
FEATURES = {
    "volt": ("Lithium-Ion", "Brushless", "Compact", "Variable Speed", "Hammer", "Keyless"),
    "gpm": ("Single-Handle", "Pull-Down", "2-Handle", "WaterSense", "Touchless"),
    "watt": ("Soft White", "Daylight", "Dimmable", "Energy Star", "Outdoor"), "light": ("Frosted Glass",
            "Energy Star", "Dimmable", "Hardwired"),
    "ft": ("Heavy-Duty", "Indoor/Outdoor", "Commercial Grade", "Flexible"), "gal": ("Heavy-Duty", "Semi-Gloss",
            "Eggshell", "Flat", "Electric", "Portable"),
    "inch": ("Heavy-Duty", "Adjustable", "Contemporary", "Flush Mount", "Self-Propelled", "Shaker", "Decorative",
             "Solid Core"),
    "": ("Heavy-Duty", "Indoor/Outdoor", "Deluxe", "Contractor", "Universal", "Smart", "Quiet"),
}
WITH = ("with Remote Control", "with Battery and Charger", "with Mounting Hardware", "with Storage Bag",
        "with Light Kit", "with Soft Close",
        "with Automatic Shut-Off", "with LED Display", "with Lid", "with Drain Assembly", "with Locking Wheels",
        "with Hose")
SIZES = {"volt": (12, 18, 20, 40, 60), "inch": (1, 2, 3, 4, 6, 8, 12, 18, 21, 24, 30, 36, 48, 52, 60, 72),
         "gal": (1, 5, 6, 13, 16, 20, 32, 40, 50),
         "ft": (4, 6, 8, 10, 12, 16, 25, 50, 100), "watt": (9, 40, 60, 75, 100, 1500), "btu": (5000, 8000, 12000,
                 36000), "lb": (50, 60, 80),
         "oz": (8, 10.1, 12, 16), "gpm": (1.5, 1.8, 2.0, 2.5), "psi": (1600, 2000, 3000, 3200), "amp": (5, 6, 12,
                 15, 20, 30), "hp": (.5, .75, 1),
         "cuft": (1.6, 2, 4.5, 18, 25.5), "sqft": (10, 20, 24, 33.3, 100), "pint": (30, 50, 70), "light": (1, 2, 3,
                 4, 6), "gpf": (1.28, 1.6),
         "cfm": (200, 400), "lumen": (1000, 3000), "piece": (3, 5, 7), "pair": (1, 3, 10), "feet": (8, 10, 12, 16)}
WRITTEN = {"volt": ("{}-Volt",), "inch": ("{} in.",), "gal": ("{} Gal.", "{}-gal."), "ft": ("{} ft.",),
           "watt": ("{}-Watt", "{}W"), "btu": ("{} BTU", "{}-BTU"),
           "lb": ("{} lb.",), "oz": ("{} oz.", "{}-oz."), "gpm": ("{} GPM",), "psi": ("{}-PSI", "{} PSI"),
           "amp": ("{}-Amp", "{} Amp"), "hp": ("{} HP",),
           "cuft": ("{} cu. ft.",), "sqft": ("({} sq. ft. / case)", "{} sq. ft."), "pint": ("{}-Pint",),
           "light": ("{}-Light",), "gpf": ("{} GPF",),
           "cfm": ("{} CFM",), "lumen": ("{} Lumen",), "piece": ("{}-Piece",), "pair": ("({}-Pair)",),
           "feet": ("2 in. x 4 in. x {} ft.", "4 in. x 4 in. x {} ft.", "1 in. x 6 in. x {} ft.")}
ASKED = {"volt": ("{} volt", "{}v", "{}-volt", "{} v"), "inch": ("{} inch", "{} in", "{}in", "{}\"", "{} in.",
        "{}-inch", "{} inches", "{}"),
         "gal": ("{} gallon", "{} gal", "{}gal", "{} gallons"), "ft": ("{} foot", "{} ft", "{} feet", "{}ft",
                 "{}'", "{}-foot"), "watt": ("{} watt", "{}w", "{} watts"),
         "btu": ("{} btu", "{}btu", "{}"), "lb": ("{} lb", "{} pound", "{}lbs", "{}lb bag"), "oz": ("{} oz",
                 "{} ounce", "{}oz"), "gpm": ("{} gpm", "{}gpm"),
         "psi": ("{} psi", "{}psi", "{}"), "amp": ("{} amp", "{}a", "{}amp"), "hp": ("{} hp", "{}hp",
                 "{} horsepower"), "cuft": ("{} cu ft", "{} cu. ft.", "{} cubic feet", "{}cu ft"),
         "sqft": ("{} sq ft", "{} square feet"), "pint": ("{} pint", "{}pint"), "light": ("{} light", "{}-light"),
         "gpf": ("{} gpf", "{}"), "cfm": ("{} cfm", "{}cfm"),
         "lumen": ("{} lumens", "{} lumen"), "piece": ("{} piece", "{}pc", "{}"), "pair": ("{} pair", "{} pack"),
         "feet": ("2x4x{}", "2 x 4 x {}", "4x4x{}", "1x6 {} ft")}
NOISE = ("for bathroom", "for kitchen", "for outside", "for garage", "for home", "cheap", "best", "on sale",
         "near me", "installed", "parts", "replacement", "kit",
         "online", "ideas", "set", "style", "modern", "small", "large", "wide", "tall")
FRACTIONS = {.5: "1/2", .75: "3/4"}
# What buyers type and titles do not have.
ABSENT = ("husky", "kobalt", "ryobi", "harbor breeze", "lowes", "2 pack", "heavy duty", "indoor", "exterior", "color",
          "size", "replacement parts", "assembled", "rated")
VARIANTS = {"shelf": "shelves", "leaf": "leaves", "gray": "grey", "molding": "moulding", "aluminum": "aluminium",
            "miter": "mitre", "fiberglass": "fibreglass", "vacuum": "vac", "refrigerator": "fridge",
            "adapter": "adaptor", "electric": "elec", "galvanized": "galv", "barbecue": "bbq", "christmas": "xmas",
            "doorbell": "door bell", "stainless steel": "ss"}
AREAS = ("storage shed", "area rug", "fence panel", "plywood", "raised garden bed")


def number(value):
    return FRACTIONS.get(value) or f"{value:g}"


def typo(word, dice):
    if len(word) < 4:
        return word
    at = dice.randrange(1, len(word) - 1)
    kind = dice.randrange(7)
    if kind == 0:
        return word[:at] + word[at + 1:]
    if kind == 1:
        return word[:at] + word[at] + word[at:]
    if kind == 2:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 3:
        return word[:at] + dice.choice("aeiourstln") + word[at + 1:]
    for sound, other in (("ea", "ee"), ("ei", "ie"), ("ie", "ei"), ("ph", "f"), ("ck", "k"), ("ll", "l"), ("ss",
            "s"), ("tt", "t"), ("mm", "m"), ("er", "or"),
                         ("or", "er"), ("ou", "u"), ("ai", "a"), ("c", "s"), ("k", "c"), ("i", "e"), ("a", "e"),
                         ("e", "a")):
        if sound in word[1:]:
            at = word.index(sound, 1)
            return word[:at] + other + word[at + len(sound):]
    return word + "e"


def read_things():
    things = []
    for line in THINGS.strip().splitlines():
        name, others, unit, materials, parts = line.split("|")
        things.append((name, others.split(","), unit, [] if materials == "-" else materials.split(","),
                       parts.split(",")))
    return things


def model(dice):
    letters = "".join(dice.choice("ABCDEFGHKLMPRSTWX") for _ in range(dice.choice((1, 2, 2, 3))))
    return letters + dice.choice(("-", "", "")) + str(dice.randrange(10, 9999)) + dice.choice(("", "", "B", "K-2",
            "XR"))


class Fact:
    """What a title says."""

    def __init__(self, thing, dice):
        self.name, self.others, self.unit, materials, self.parts = thing
        self.size = dice.choice(SIZES[self.unit])
        self.written = dice.choice(WRITTEN[self.unit]).format(number(self.size))
        self.brand = dice.choice(BRANDS)
        self.colour = dice.choice(COLOURS) if dice.random() < .6 else ""
        self.material = dice.choice(materials) if materials and dice.random() < .7 else ""
        self.feature = dice.choice(FEATURES.get(self.unit, FEATURES[""]) + FEATURES[""]) if dice.random() < .6 else ""
        self.series = dice.choice(SERIES) if dice.random() < .4 else ""
        self.model = model(dice) if dice.random() < .15 else ""
        self.part = dice.choice(self.parts) if dice.random() < .22 else ""
        self.second = dice.choice(SIZES["inch"]) if self.unit == "inch" and dice.random() < .4 else 0
        self.area = (dice.choice((2, 3, 4, 5, 6)), dice.choice((7, 8, 10, 12))) if self.name in AREAS else None
        self.has = dice.choice(WITH) if dice.random() < .3 else ""

    def title(self, dice):
        thing = self.name.title()
        size = self.written + (f" x {number(self.second)} in." if self.second else "")
        if self.area:
            size = f"{self.area[0]} ft. x {self.area[1]} ft."
        if self.part:
            part = self.part.title()
            return dice.choice((f"{self.brand} {part} for {thing}s", f"{self.brand} {size} {thing} {part}",
                                f"Replacement {part} for {self.brand} {self.series} {thing}",
                                f"{self.brand} {self.model} {part} for {size} {thing}")).replace("  ", " ")
        words = [self.brand, self.series, self.model]
        middle = [size, self.feature, self.material.title()]
        if dice.random() < .3:
            dice.shuffle(middle)
        words += middle
        if self.colour and dice.random() < .4:
            words += [self.colour, thing]
        else:
            words += [thing] + ([f"in {self.colour}"] if self.colour else [])
        if self.has:
            words.append(self.has)
        if dice.random() < .1:
            words.append(dice.choice(("(2-Pack)", "(4-Pack)", "(Valve Not Included)", "- DISCONTINUED")))
        return " ".join(word for word in words if word)

    def properties(self):
        size = self.area or (self.unit, self.size)
        return {key: value for key, value in (("size", size), ("brand", self.brand), ("colour",
                self.colour), ("material", self.material),
                                              ("feature", self.feature), ("has", self.has)) if value}


def say_size(fact, dice):
    if fact.area:
        return dice.choice(("{}x{}", "{} x {}", "{}' x {}'", "{} foot x {} foot", "{} ft x {} ft", "{}ft x {}ft",
                            "{} by {}", "{}'x{}'", "{} ft. x {} ft.")).format(*fact.area)
    if fact.unit == "ft" and dice.random() < .1:
        return f"{12 * fact.size} in"       # the title has feet
    return dice.choice(ASKED[fact.unit]).format(number(fact.size))


def say_has(text, dice):
    """with Remote Control: "w/ remote control", "with remote", "remote control" """
    words = text.lower().split()[1:]
    said = " ".join(words if dice.random() < .6 else words[-1:])
    return dice.choice(("with {}", "w/ {}", "w/{}", "{}", "and {}")).format(said)


def roughen(text, dice):
    """As people type: other forms of words, words run together, words too many, signs."""
    for word, other in VARIANTS.items():
        if re.search(rf"\b{word}\b", text) and dice.random() < .4:
            text = re.sub(rf"\b{word}\b", other, text)
    words = text.split()
    chance = dice.random()
    if chance < .04 and len(words) > 1:
        at = dice.randrange(len(words) - 1)
        if words[at].isalpha() and words[at + 1].isalpha():
            words[at:at + 2] = [words[at] + words[at + 1]]
    elif chance < .12:
        words.insert(dice.choice((0, len(words))), dice.choice(ABSENT))
    elif chance < .15:
        words[dice.randrange(len(words))] += dice.choice((",", "-", ".", "/"))
    return " ".join(words)


def ask(fact, dice):
    """(the query, the properties that it names)"""
    names = [fact.name] * 3 + fact.others
    thing = dice.choice(names)
    if dice.random() < .15:
        thing += "" if thing.endswith("s") else "s"
    told = fact.properties()
    count = dice.choice((0, 0, 1, 1, 1, 2, 2, 3))
    asked = dict(dice.sample(sorted(told.items()), min(count, len(told))))
    before, behind = [], []
    for key, value in asked.items():
        text = (say_size(fact, dice) if key == "size" else
                say_has(value, dice) if key == "has" else str(value).lower())
        if key == "has":
            behind.append(text)
            continue
        (behind if dice.random() < .25 else before).append(text)
    if dice.random() < .12:
        behind.append(dice.choice(NOISE))
    words = " ".join(before + [thing] + behind).split()
    if fact.model and dice.random() < .5:
        words = [re.sub("-", dice.choice(("", "-", " ")), fact.model).lower()] + (words if dice.random() < .5 else [])
    if dice.random() < .16:
        long = [i for i, word in enumerate(words) if len(word) >= 4 and word.isalpha()]
        for _ in range(2 if dice.random() < .2 else 1):
            if long:
                at = dice.choice(long)
                words[at] = typo(words[at], dice)
    return roughen(" ".join(words), dice), asked


def grade(fact, asked, wanted):
    if fact.name != wanted.name:
        return 0
    if fact.part:
        return 1
    has = fact.properties()
    matched = sum(has.get(key) == value for key, value in asked.items())
    if matched == len(asked):
        return 3
    return 2 if matched * 2 >= len(asked) else 1


def make(made, count, query_count, seed=7):
    dice = random.Random(seed)
    things = read_things()
    facts = [Fact(dice.choice(things), dice) for _ in range(count)]
    by_name = {}
    for place, fact in enumerate(facts):
        made.docs.append((str(place), fact.title(dice), ""))
        by_name.setdefault(fact.name, []).append(place)
    things_sold = [fact for fact in facts if not fact.part]
    for place in range(query_count):
        fact = dice.choice(things_sold)
        text, asked = ask(fact, dice)
        made.queries.append((str(place), text))
        made.grades[str(place)] = {str(each): grade(facts[each], asked, fact) for each in by_name[fact.name]}
    return made
