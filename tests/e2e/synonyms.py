# SPDX-License-Identifier: Apache-2.0
"""Synonyms of an operator: a file is checked, applied while buyers search, in force at once and after a restart; what
visitors retype is proposed, and never applied by itself."""
from kit import tap
from kit.shop import BOOK, Shop

TITLES = ("Горный велосипед", "Велик детский", "Детский байк", "Телевизор Samsung", "ТВ тумба",
          "Игра для Playstation 4 и 5", "Консоль Playstation 5", "Стиралка Bosch", "Белая стиральная машина",
          "Машина детская")
RULES = """# what buyers call things
велик, байк, велосипед
тв => телевизор
ps5 => playstation 5
стиралка, стиральная машина
"""


class Market(Shop):
    def offer(self, title):
        made = self.ok("OfferService/CreateOffer", {"content": {**BOOK, "title": title}}, self.alice)
        self.ok("SearchService/SearchOffers", {"wait": [made["freshnessToken"]]})

    def fill(self):
        waits = [self.ok("OfferService/CreateOffer", {"content": {**BOOK, "title": title}}, self.alice)
                 for title in TITLES]
        self.ids = {title: each["id"] for title, each in zip(TITLES, waits)}
        self.ok("SearchService/SearchOffers", {"wait": [each["freshnessToken"] for each in waits]})
        return self

    def found(self, text, **more):
        answer = self.ok("SearchService/SearchOffers", {"text": text, "keepSpelling": True, **more})
        return [each["title"] for each in answer.get("offers", []) if not each.get("lacksWords")], answer

    def synonyms(self, *words, code=0):
        done = self.torg("synonyms", *words)
        tap.equal((words, done.returncode, done.stderr if not code else ""), (words, code, ""))
        return done.stdout if not code else done.stderr


@tap.test
def a_file_is_in_force_when_it_is_applied():
    with Market() as shop:
        shop.fill()
        tap.equal(shop.found("велик")[0], ["Велик детский"])
        tap.equal(shop.found("ps5")[0], [])
        tap.equal(shop.ok("SearchService/Suggest", {"text": "ps5"}).get("queries", []), [])

        shop.write("ru.txt", RULES + "велик\n")
        told = shop.synonyms("apply", "ru.txt", code=1)
        tap.equal("ru.txt: line 6: a single term" in told, True, told)
        shop.write("ru.txt", RULES)
        tap.equal(shop.synonyms("check", "ru.txt"), "ru.txt: 4 rules: nothing wrong\n")
        shop.write("words.txt", RULES)
        tap.equal("--language ru" in shop.synonyms("diff", "words.txt", code=2), True)
        tap.equal(shop.synonyms("diff", "words.txt", "--language", "ru").splitlines()[-1], "ru: 4 added, 0 removed")
        tap.equal(shop.synonyms("list"), "no synonyms are in force: torg synonyms apply FILE\n")
        tap.equal(shop.synonyms("apply", "ru.txt").splitlines()[-1], "version 1 is in force")

        # words that are for nothing: no offer has them
        tap.equal(shop.synonyms("unused", "ru.txt"), "ru.txt: offers have the words of all rules\n")
        shop.write("more.txt", "тв => телевизор, зомбоящик\nяхта, катер # both\nвелик, лисапед\nяхта =/> бот\n")
        tap.equal(shop.synonyms("unused", "more.txt").splitlines(),
                  ['more.txt: line 1: no offer has "зомбоящик"', "more.txt: line 2: no offer has any of: яхта, катер"])

        # what a synonym stands for goes on where the synonym does not
        lines = shop.ok("SearchService/Suggest", {"text": "ps5"})["queries"]
        tap.equal([(each["text"], each["count"]) for each in lines], [("playstation 5", "2")])

        titles, answer = shop.found("велики")
        tap.equal((titles[0], sorted(titles)), ("Велик детский", ["Велик детский", "Горный велосипед", "Детский байк"]))
        tap.equal([(each["text"], each["as"], each["also"]) for each in answer["understood"]],
                  [("велики", "synonym", ["байк", "велосипед"])])
        tap.equal(answer["offers"][1]["titleMarked"] in ("Горный <b>велосипед</b>", "Детский <b>байк</b>"), True)
        tap.equal(sorted(shop.found("тв")[0]), ["ТВ тумба", "Телевизор Samsung"])
        tap.equal(shop.found("телевизор")[0], ["Телевизор Samsung"])                  # one way
        tap.equal(shop.found("ps5")[0], ["Консоль Playstation 5"])                    # words side by side
        tap.equal(sorted(shop.found("стиралка")[0]), ["Белая стиральная машина", "Стиралка Bosch"])
        titles, _ = shop.found("стиральная машина")
        tap.equal((titles[0], titles[1:]), ("Белая стиральная машина", ["Стиралка Bosch"]))
        titles, answer = shop.found("велик горный")         # one that has a synonym has the word
        tap.equal((titles, answer["wholeTotal"], answer["total"]), (["Горный велосипед"], "1", "3"))
        tap.equal(shop.found("велик", keepWords=["велик"])[0], ["Велик детский"])
        tap.equal(shop.found('"велик"')[0], ["Велик детский"])
        tap.equal(shop.found("велик", allWords=True)[1]["total"], "3")

        status, plain = shop.call("SearcherService/Explain", {"client": "offers", "pk": shop.ids["Горный велосипед"],
            "query": {"stages": [{"clauses": [{"text": "велик", "also": [{"text": "велосипед", "boost": 0.5}]}]}]}},
            shop.start_key)
        tap.equal((status, 'must have word "велик" or "велосипед" × 0.5: it has' in str(plain)), (200, True), plain)

        tap.equal("not 7" in shop.synonyms("apply", "ru.txt", "--expect", "7", code=1), True)
        shop.write("en.txt", "tv, television\n")
        shop.synonyms("apply", "en.txt")
        tap.equal([line.split(",")[0] for line in shop.synonyms("list").splitlines()],
                  ["en: version 1", "ru: version 1"])
        tap.equal(shop.synonyms("list", "--language", "ru"), RULES)
        tap.equal("nothing differs" in shop.synonyms("apply", "ru.txt"), True)
        tap.equal("synonyms.apply" in shop.torg("audit").stdout, True)

        shop.stop()
        shop.write("en.txt", "")
        tap.equal(shop.synonyms("apply", "en.txt").splitlines()[-1], "version 2 is in force")     # without a server
        shop.start()
        tap.wait_until(lambda: shop.call("SearchService/SearchOffers", {"text": "велик"})[1].get("total") == "3",
                       what="the synonyms after a restart")
        tap.equal(shop.refused("permission_denied", "SynonymService/ApplySynonyms", {"language": "ru"}, shop.alice)
                  is not None, True)


def retype(shop, session, text, retyped, **more):
    return shop.call("EventService/RecordEvents", {"session": session, "events": [
        {"id": "1", "kind": "RETYPE", "offerId": shop.ids["Горный велосипед"], "text": text,
         "retyped": retyped, **more}]})


@tap.test
def what_visitors_retype_is_proposed():
    with Market() as shop:
        shop.fill()
        tap.equal("nothing is proposed" in shop.synonyms("proposals"), True)
        for session in range(3):
            tap.equal(retype(shop, f"s{session}", "Велик горный", "горный велосипед"), (200, {"counted": 1}))
            again = retype(shop, f"s{session}", "Велик  горный", "горный велосипед")      # once a visit
            tap.equal(again[1].get("counted", 0), 0)
            retype(shop, f"s{session}", "диван", "диван угловой")                            # only longer
        retype(shop, "s0", "моноблок", "телевизор")                                          # one visit is not enough
        retype(shop, "s3", "велики", "велосипеды детские")                                   # two things at once
        told = shop.synonyms("proposals")
        tap.equal(told.splitlines(), ["велик => велосипед    # 3 visits: Велик горный → горный велосипед"])
        tap.equal(shop.found("велик")[0], ["Велик детский"])                                 # not applied by itself
        status, answer = retype(shop, "s4", "", "x" * 201)
        tap.equal((status, "events[0].text" in str(answer), "events[0].retyped" in str(answer)), (400, True, True))
        shop.write("ru.txt", "велик =/> велосипед\n")                                        # not proposed again
        shop.synonyms("apply", "ru.txt")
        tap.equal("nothing is proposed" in shop.synonyms("proposals"), True)
        tap.equal(shop.found("велик")[0], ["Велик детский"])
        shop.write("ru.txt", told)                                                           # a line of it is a rule
        shop.synonyms("apply", "ru.txt")
        tap.equal("nothing is proposed" in shop.synonyms("proposals"), True)


@tap.test
def words_that_are_one_find_each_other_unless_that_is_not_wanted():
    with Market() as shop:
        for title in ("Wall shelf, grey", "Over the range microwave"):
            shop.offer(title)
        titles, answer = shop.found("gray shelves")
        tap.equal(titles, ["Wall shelf, grey"])
        tap.equal([(each["text"], each["as"], each["also"]) for each in answer["understood"]],
                  [("gray", "synonym", ["grey"]), ("shelves", "synonym", ["shelf"])])
        tap.equal(shop.found("otr microwave")[0], ["Over the range microwave"])
        tap.equal(shop.found("gray shelves", keepWords=["gray"])[0], [])
        shop.write("en.txt", "otr, overhead range\n")                        # beside those of the operator
        shop.synonyms("apply", "en.txt")
        tap.equal(shop.found("otr microwave")[0], ["Over the range microwave"])
        tap.equal(shop.stop(), 0)
        shop.start("up", "--search.synonyms=false")
        tap.wait_until(lambda: shop.found("shelf")[0] == ["Wall shelf, grey"], what="the offers again")
        tap.equal((shop.found("gray shelves")[0], shop.found("otr microwave")[0]), ([], []))


tap.main()
