# SPDX-License-Identifier: Apache-2.0
"""Units, sizes and words that are tied, from offers to what is found: however they are written in a title or typed, all
spellings of a quantity find the same offers, and no others."""
from kit import tap
from kit.shop import BOOK, Shop

# Of each line: what is typed, in several spellings; the titles that each of them finds, and no others.
ALIKE = (
    (("18 volt", "18v", "18-volt", "18 v", "18В", "18 вольт"), ("Drill 18-Volt", "Saw 18V", "Шуруповёрт 18 В")),
    (("48 in", "48 in.", "48 inch", "48in", "48-inch", '48"', "48″", "4 ft", "4'"), ("Vanity 48 in.", "Mirror 4 ft.")),
    (("5 gal", "5 gallon", "5gal", "5-gal.", "5 gallons"), ("Bucket 5 Gal.",)),
    (("50 lb", "50 lbs", "50lb", "50 pounds"), ("Concrete 50 lb. bag",)),
    (("10.1 oz", "10.1oz", "10.1 ounce", "10,1 oz"), ("Caulk 10.1 oz.",)),
    (("160 мм", "160мм", "160 mm", "160-мм"), ("Труба 160 мм",)),
    (("1,5 л", "1.5 л", "1,5л", "1.5 l", "1,5 литра"), ("Чайник 1,5 л",)),
    (("2,2 кВт", "2.2 квт", "2,2квт", "2.2 kW"), ("Обогреватель 2,2 кВт",)),
    (("61 м²", "61 м2", "61 кв. м", "61м²"), ("Квартира 61 м²",)),
    (("3/4 in", "0.75 inch", '3/4"', "3/4 in."), ("Pipe 3/4 in.",)),
    (("36x84", "36 x 84", "36 in. x 84 in.", '36" x 84"', "36 by 84"), ("Door 36 in. x 84 in.",)),
)
# What is typed, and a title that it must not find: a number is not a part of another word.
APART = (("2", "Квартира 61 м²"), ("18 gallon", "Drill 18-Volt"), ("5 л", "Чайник 1,5 л"), ("1 л", "Чайник 1,5 л"),
         ("8 v", "Saw 18V"), ("50 oz", "Concrete 50 lb. bag"))
OTHERS = ("LED Bulb E27", "Bulb for LED lamps", "Faucet in Chrome", "Faucet in Brass", "Door 30 in. x 80 in.",
          "Window 36 in. x 84 in.", "Shade for 36 in. x 84 in. windows")


class Units(Shop):
    def fill(self):
        titles = dict.fromkeys([title for _, list_of in ALIKE for title in list_of] + list(OTHERS))
        made = [self.ok("OfferService/CreateOffer", {"content": {**BOOK, "title": title}}, self.alice)
                for title in titles]
        self.ok("SearchService/SearchOffers", {"wait": [each["freshnessToken"] for each in made]})
        return self

    def titles(self, text, **more):
        answer = self.ok("SearchService/SearchOffers", {"text": text, "keepSpelling": True, "limit": 100, **more})
        return [each["title"] for each in answer.get("offers", [])]


@tap.test
def quantities_are_alike_however_they_are_written():
    with Units() as shop:
        shop.fill()
        wrong = []
        for lines, titles in ALIKE:
            for line in lines:
                found = shop.titles(line, allWords=True)
                if not set(titles) <= set(found) or set(found) - set(titles) - set(OTHERS):
                    wrong.append((line, found))
        tap.equal(wrong, [])
        for line, title in APART:
            tap.equal(title in shop.titles(line, allWords=True), False, (line, title))

        # Of partial matches: the thing in another size before another thing of that size; parts of tied words.
        found = shop.titles("door 36 x 84 steel")
        tap.equal(found[0], "Door 36 in. x 84 in.")
        tap.equal(sorted(shop.titles("led-bulb")), ["Bulb for LED lamps", "LED Bulb E27"])
        tap.equal(shop.titles("led-bulb", allWords=True), ["LED Bulb E27"])
        tap.equal(sorted(shop.titles("faucet brass/chrome")), ["Faucet in Brass", "Faucet in Chrome"])


tap.main()
