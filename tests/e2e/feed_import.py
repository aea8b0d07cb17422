# SPDX-License-Identifier: Apache-2.0
"""torg feed: files of every format become offers, are compared, held, confirmed, taken back."""
import contextlib
import csv
import gzip
import http.server
import base64
import json
import os
import pty
import re
import select
import subprocess
import threading
import time
import urllib.request
import xml.etree.ElementTree

from kit import feed_generate
from kit import pricelist
from kit import tap
from kit.binary import TOP, TORG, environment, proxy
from kit.feed_market import Market, Running, counts_of

YML_HEAD = ('<?xml version="1.0" encoding="UTF-8"?>\n<yml_catalog><shop><categories>'
            '<category id="5">Дом и сад</category>'
            '<category id="7" parentId="5">Посуда и кухня</category></categories><offers>\n')
YML_TAIL = "</offers></shop></yml_catalog>\n"
FILES = {
    "yml": ("goods.yml", YML_HEAD +
            '<offer id="k1"><name>Чайник</name><price>1999.50</price><currencyId>RUR</currencyId>'
            '<categoryId>7</categoryId><picture>https://shop.example/1.jpg</picture>'
            '<description>Два киловатта</description><param name="Цвет">белый</param>'
            '<param name="Материал">Стекло</param><param name="Материал">Металл</param>'
            '<phone>+79001234567</phone><address>Москва</address><param name="Узор">нет</param></offer>'
            '<offer id="k2"><name>Ложка</name><price>-5</price><categoryId>7</categoryId></offer>'
            '<offer id="k3"><name>Шапка</name><price>5</price><categoryId>9</categoryId></offer>\n'
            + YML_TAIL),
    "avito": ("goods.xml",
              '<Ads><Ad><Id>k1</Id><Category>Посуда и кухня</Category><Title>Чайник</Title>'
              '<Price>1999.50</Price><Images><Image url="https://shop.example/1.jpg"/></Images>'
              '<Description>Два киловатта</Description><Цвет>Белый</Цвет>'
              '<Материал><Option>Стекло</Option><Option>Металл</Option></Материал>'
              '<ContactPhone>8 (900) 123-45-67</ContactPhone><Address>Москва</Address>'
              '<Узор>нет</Узор></Ad>'
              '<Ad><Id>k2</Id><Category>kitchenware</Category><Title>Ложка</Title>'
              '<Price>дорого</Price></Ad>'
              '<Ad><Id>k3</Id><Category>Шапки</Category><Title>Шапка</Title><Price>5</Price></Ad>'
              '</Ads>'),
    "csv": ("goods.csv",
            "id;Категория;Название;Цена;Фото;Описание;Colour;Материал;Телефон;Адрес;Узор\n"
            "k1;Дом и сад/Посуда и кухня;Чайник;1 999,50;https://shop.example/1.jpg;Два киловатта;"
            "White;стекло, металл;+7 900 123-45-67;Москва;нет\n"
            "k2;kitchenware;Ложка;1,999;;;;;;;\n"
            "k3;Шапки;Шапка;5;;;;;;;\n"),
    "json": ("goods.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (
        {"id": "k1", "category": "Home and garden/Kitchenware", "categoryId": "kitchenware",
         "title": "Чайник", "price": 1999.5, "photos": ["https://shop.example/1.jpg"],
         "description": "Два киловатта", "phones": ["+79001234567"], "address": "Москва",
         "attributes": {"color": "white", "material": ["glass", "metal"], "Узор": "нет"}},
        {"id": "k2", "categoryId": "kitchenware", "title": "Ложка", "price": "ноль"},
        {"id": "k3", "category": "Шапки", "title": "Шапка", "price": 5}))),
}


UNSEEN_ROWS = 3000      # of a price list of thousands, as a shop has it


@contextlib.contextmanager
def web(pages):
    """A web server of these pages: path -> function(handler)."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            pages.get(self.path, lambda page: page.send_error(404))(self)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def page(body, length=None):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(length or len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def redirect(target):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", target)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
    return answer


@tap.test
def each_format_becomes_the_same_offers():
    with Running() as market:
        contents = []
        for format_name, (name, text) in FILES.items():
            seller = f"s-{format_name}"
            market.write(name, text)
            done = market.import_feed(name, "--report", "rows.json", "--json", seller=seller)
            summary = json.loads(done.stdout)
            tap.equal((summary["format"], summary["complete"]), (format_name, True))
            tap.equal(counts_of(summary["task"]), {"created": 1, "refused": 2}, format_name)
            tap.equal((summary["extra"], summary["leftOut"]), ([{"name": "Узор", "rows": 1}], []))
            report = json.loads((market.dir / "rows.json").read_text())
            tap.equal([(row["row"], row["externalId"], row["outcome"]) for row in report["rows"]],
                      [(1, "k1", "created"), (2, "k2", "refused"), (3, "k3", "refused")])
            tap.equal([one["field"] for one in report["rows"][1]["reasons"]], ["price"])
            tap.equal([one["field"] for one in report["rows"][2]["reasons"]], ["category"])
            tap.equal((report["totals"]["created"], report["totals"]["refused"]), (1, 2))
            market.feed("report", "--report", "rows.csv", seller=seller)
            with open(market.dir / "rows.csv", newline="") as file:
                table = list(csv.DictReader(file))
            tap.equal([row["outcome"] for row in table[:3]], ["created", "refused", "refused"])
            tap.equal(table[0]["offer_id"], report["rows"][0]["offerId"])
            market.feed("report", "--report", "rows.xml", seller=seller)
            tree = xml.etree.ElementTree.parse(market.dir / "rows.xml").getroot()
            tap.equal([(row.get("number"), row.get("externalId"), row.get("outcome"),
                        [one.get("field") for one in row.findall("reason")]) for row in tree.findall("row")],
                      [("1", "k1", "created", []), ("2", "k2", "refused", ["price"]),
                       ("3", "k3", "refused", ["category"])])
            status, offer = market.call("OfferService/GetOffer", {"id": table[0]["offer_id"]},
                                        market.key(seller))
            tap.equal((status, offer["status"]), (200, "ACTIVE"))
            for photo in offer["content"]["photos"]:
                for one in ("state", "askTime", "askCount"):        # of its way to us
                    photo.pop(one, None)
            contents.append(offer["content"])
        tap.equal(contents[0]["category"], "kitchenware")
        tap.equal(contents[0]["price"], {"amount": "199950", "currency": "RUB"})
        tap.equal(contents[0]["attributes"], [{"attributeId": "material",
                                               "options": ["metal", "glass"]},
                                              {"attributeId": "color", "options": ["white"]}])
        tap.equal(contents[0]["properties"], [{"name": "Узор", "value": "нет"}])
        for other in contents[1:]:
            tap.equal(other, contents[0])
        tap.equal(market.stop(), 0)


@tap.test
def properties_are_shown_found_and_bounded():
    with Running() as market:
        key = market.key("s-1")
        content = {"category": "kitchenware", "title": "Ваза", "price": {"amount": "100", "currency": "RUB"},
                   "properties": [{"name": "Узор <i>", "value": "<script>огурцы"}]}
        status, made = market.call("OfferService/CreateOffer", {"content": content}, key)
        tap.equal(status, 200, made)
        _, offer = market.call("OfferService/GetOffer", {"id": made["id"]}, key)
        tap.equal(offer["content"]["properties"], content["properties"])
        with urllib.request.urlopen(f"{market.url}/offers/{made['id']}") as answer:
            tap.contains(answer.read().decode(), "<dt>Узор &lt;i&gt;</dt><dd>&lt;script&gt;огурцы</dd>")
        tap.wait_until(lambda: market.call("SearchService/SearchOffers", {"text": "огурцы"})[1].get("offers"))
        for wrong, field in (([{"name": "", "value": "1"}], "content.properties[0].name"),
                             ([{"name": "x", "value": "я" * 301}], "content.properties[0].value"),
                             ([{"name": "x", "value": "a\nb"}], "content.properties[0].value"),
                             ([{"name": f"x{i}", "value": "1"} for i in range(51)], "content.properties")):
            status, answer = market.call("OfferService/CreateOffer",
                                         {"content": {**content, "properties": wrong}}, key)
            tap.equal(status, 400, answer)
            tap.contains(json.dumps(answer), field)
        tap.equal(market.stop(), 0)


@tap.test
def a_second_import_touches_only_what_differs():
    with Running() as market:
        market.generate("one.yml", 200)
        market.generate("two.yml", 200, changed=10, missing=5)
        tap.equal(market.counts("one.yml"), {"created": 200})
        tap.equal(market.counts("one.yml"), {"unchanged": 200})
        changed, missing = feed_generate.counts(200, 10, 5)
        tap.equal(market.counts("two.yml"), {"updated": changed, "deleted": missing,
                                             "unchanged": 200 - changed - missing})
        before = {row["externalId"]: row["offerId"] for row in market.rows("1")}
        tap.equal(market.counts("one.yml"), {"updated": changed, "revived": missing,
                                             "unchanged": 200 - changed - missing})
        for row in market.rows("--outcome", "revived"):
            tap.equal(row["offerId"], before[row["externalId"]])
        listed = market.feed("list").stdout.splitlines()
        tap.equal([line.split()[0] for line in listed], ["task", "4", "3", "2", "1"])
        tap.equal(len(market.feed("list", "--limit", "2", "--json").stdout.splitlines()), 2)
        tap.contains(market.feed("list", "--feed", "other").stdout, "has no tasks")
        tap.equal(market.counts("two.yml", "--feed", "other", seller="s-2"), {"created": 190})
        tap.equal(market.active(market.key("s-1")), 200)
        tap.equal(market.stop(), 0)


@tap.test
def a_dry_run_tells_the_difference_and_changes_nothing():
    with Running() as market:
        market.generate("one.yml", 50)
        market.generate("two.yml", 50, changed=10, missing=10)
        done = market.import_feed("one.yml", "--dry-run")
        tap.contains(done.stdout, "created              50")
        tap.contains(done.stdout, "a dry run, which changed nothing")
        key = market.key("s-1")
        tap.equal(market.active(key), 0)
        market.counts("one.yml")
        changed, missing = feed_generate.counts(50, 10, 10)
        tap.equal(market.counts("two.yml", "--dry-run", "--report", "dry.csv"),
                  {"updated": changed, "deleted": missing, "unchanged": 50 - changed - missing})
        with open(market.dir / "dry.csv", newline="") as file:
            outcomes = [row["outcome"] for row in csv.DictReader(file) if row["row"] != "total"]
        tap.equal(outcomes.count("deleted"), missing)
        tap.equal(market.active(key), 50)
        tap.equal(market.stop(), 0)


@tap.test
def a_task_that_would_delete_much_is_held_until_it_is_decided():
    with Running() as market:
        market.generate("all.yml", 100)
        market.generate("few.yml", 40)
        market.counts("all.yml")
        key = market.key("s-1")
        done = market.import_feed("few.yml", code=1)
        tap.contains(done.stdout, "task 2 of feed main is held: it would delete 60 of the 100 offers")
        tap.contains(done.stdout, "torg feed confirm --seller s-1 2")
        tap.equal(market.active(key), 100)
        tap.contains(market.feed("cancel", "2").stdout, "is cancelled")
        tap.equal(market.active(key), 100)
        market.import_feed("few.yml", code=1)
        tap.contains(market.feed("show").stdout, "task 3 of feed main is held")
        confirmed = market.feed("confirm", "3").stdout
        tap.contains(confirmed, "task 3 of feed main is done")
        tap.contains(confirmed, "deleted              60")
        tap.equal(market.active(key), 40)
        tap.contains(market.feed("cancel", "3", code=1).stderr, "only one that is HELD")
        tap.equal(market.feed("show", "9", code=4).stdout, "")
        tap.equal(market.feed("show", "x", code=2).stdout, "")
        undone = json.loads(market.feed("undo", "3", "--json").stdout)
        tap.equal(undone["state"], "UNDONE")
        tap.equal(market.active(key), 100)
        actions = market.torg("audit").stdout
        for action in ("feed.cancel", "feed.confirm", "feed.undo"):
            tap.contains(actions, action)
        tap.equal(market.stop(), 0)


@tap.test
def a_seller_that_no_key_can_be_bound_to_is_refused_with_and_without_a_server():
    with Running() as market:
        market.generate("few.yml", 4)
        for _ in range(2):
            tap.contains(market.import_feed("few.yml", seller="s 1", code=2).stderr,
                         'seller: "s 1" is not a seller: expected 1 to 63 letters')
            if market.process:
                tap.equal(market.stop(), 0)


@tap.test
def a_file_that_stops_early_deletes_nothing():
    with Running() as market:
        whole = market.generate("one.yml", 60)
        market.counts("one.yml")
        key = market.key("s-1")
        market.write("cut.yml", whole[:whole.index('<offer id="sku-58"') + 30])
        done = market.import_feed("cut.yml", code=1)
        tap.contains(done.stderr, "cut.yml: the XML stops before its root element is closed")
        tap.contains(done.stdout, "is held: it was cut short")
        (market.dir / "cut.csv.gz").write_bytes(
            gzip.compress(FILES["csv"][1].encode() * 50)[:-9])
        done = market.import_feed("cut.csv.gz", seller="s-2", code=1)
        tap.contains(done.stderr, "the gzip data stops before its end")
        market.write("broken.yml", whole.replace("</name>", "</nome>", 50)
                     .replace("</nome>", "</name>", 49))
        done = market.import_feed("broken.yml", "--json", code=1)
        summary = json.loads(done.stdout)
        tap.equal((summary["task"]["state"], summary["task"]["hold"]), ("HELD", "CUT_SHORT"))
        tap.contains(summary["broken"], "mismatched tag")
        tap.equal(market.active(key), 60)
        tap.equal(market.stop(), 0)


@tap.test
def what_is_no_feed_makes_no_task():
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    hostile = {
        "entities.yml": (f'<!DOCTYPE yml_catalog [<!ENTITY l0 "ha">{laughs}]><yml_catalog>&l9;',
                         "<!DOCTYPE> is not allowed"),
        "outside.yml": ('<!DOCTYPE yml_catalog SYSTEM "file:///etc/passwd"><yml_catalog/>',
                        "<!DOCTYPE> is not allowed"),
        "deep.yml": ("<yml_catalog>" + "<a>" * 1_000_000, "nested deeper than 16"),
        "page.html": ("<html><body>404</body></html>", "the root element is <html>"),
        "empty.yml": ("", "the feed is empty"),
        "array.json": ("[1, 2]", "write JSON lines"),
    }
    with Running() as market:
        for name, (text, reason) in hostile.items():
            market.write(name, text)
            started = tap.cpu_s()
            done = market.import_feed(name, code=1)
            tap.contains(done.stderr, f"torg: {name}: ")
            tap.contains(done.stderr, reason)
            assert tap.cpu_s() - started < 20, name
        (market.dir / "bomb.gz").write_bytes(gzip.compress(b"<yml_catalog>" + b" " * (200 << 20)))
        tap.contains(market.import_feed("bomb.gz", code=1).stderr, "unpacks to more than 200 times")
        tap.equal(market.import_feed("none.yml", code=4).stdout, "")
        tap.contains(market.feed("list").stdout, "has no tasks")
        tap.equal(market.stop(), 0)


@tap.test
def a_wrong_command_line_is_told():
    with Market() as market:
        market.write("a.yml", FILES["yml"][1])
        for words, part in ((("import", "a.yml"), "needs --seller"),
                            (("import", "--seller", "s", "--task", "0", "a.yml"), "--task 0"),
                            (("import", "--seller", "s", "--report", "rows.txt", "a.yml"),
                             "end the name in .json, .csv or .xml"),
                            (("import", "--seller", "s", "--format", "xls", "a.yml"),
                             "expected one of yml"),
                            (("import", "--seller", "s", "--delimiter", "::", "a.csv"), "tab"),
                            (("report", "--seller", "s", "--outcome", "lost"), "expected one of"),
                            (("confirm", "--seller", "s"), "needs TASK")):
            done = market.torg("feed", *words)
            tap.equal(done.returncode, 2, done.stderr)
            tap.contains(done.stderr, part)


@tap.test
def categories_are_mapped_by_a_file():
    with Running() as market:
        market.write("goods.csv", "id;Категория;Название;Цена;Цвет\n1;Люстры;Люстра;10;\n"
                                  "2;Освещение;Лампа;20;в горошек\n3;Хлам;Нечто;5;\n")
        market.write("map.csv", "feed,category\nЛюстры,lighting\nХлам,\n")
        done = market.import_feed("goods.csv", seller="s-0")
        tap.contains(done.stderr, '1  category: the catalogue has no category "Люстры"')
        tap.contains(done.stderr, "row 1 (1, line 2)\n")
        done = market.import_feed("goods.csv", "--categories", "map.csv", "--quiet", "--report",
                                  "rows.json", "--report", "rows.csv")
        tap.equal(done.stderr, "")
        tap.contains(done.stdout, "created               2")
        tap.contains(done.stdout, "values left out of 1 row, such as row 2 (2, line 3): Цвет: it has no "
                                  'option "в горошек"')
        tap.equal((market.dir / "rows.json").exists() and (market.dir / "rows.csv").exists(), True)
        market.write("map.csv", "Люстры,chandeliers-2\nx,y\n")
        done = market.import_feed("goods.csv", "--categories", "map.csv", code=1)
        tap.contains(done.stderr, 'map.csv: line 2: the catalogue has no category "y"')
        tap.equal(market.stop(), 0)


@tap.test
def reasons_are_told_in_groups_with_lines_and_in_russian():
    """By check, import and report, with and without a server, in files as on a terminal; and by calls."""
    lines = ["id;Категория;Название;Цена;Цвет", "", "1;Люстры;Люстра;10;", "2;Освещение;Лампа;20;в горошек",
             "3;Люстры;Люстра;1,999;", "4;Освещение;Лампа;дорого;", ""]
    with Running() as market:
        market.write("goods.csv", "\n".join(lines))
        english = market.torg("feed", "check", "goods.csv").stdout
        tap.contains(english, 'refused, by reason:\n         2  category: the catalogue has no category "Люстры"')
        tap.contains(english, "row 1 (1, line 3), row 3 (3, line 5)\n")
        russian = market.torg("feed", "check", "--language", "ru", "goods.csv").stdout
        tap.contains(russian, "отклонено, по причинам:\n         2  категория: категории «Люстры» в каталоге нет")
        tap.contains(russian, "запись 1 (1, строка 3), запись 3 (3, строка 5)\n")
        bare = market.torg("feed", "check", "--language", "ru", "--template", "map.csv", "goods.csv")
        theirs = ("goods.csv", "map.csv", "--categories", "csv", "KB", "lighting")
        whole = bare.stdout + bare.stderr
        for each in theirs:
            whole = whole.replace(each, "")
        tap.equal(re.findall(r"[A-Za-z]{2,}", whole), [], bare.stdout)
        tap.contains(russian, "«1,999»: тысячи это или дробь?")
        tap.contains(russian, "взято, но что-то пропущено или изменено:")
        tap.contains(russian, "Цвет: значения «в горошек» в списке нет")
        done = market.import_feed("goods.csv", "--language", "ru", "--report", "rows.json", "--report", "rows.csv",
                                  "--report", "rows.xml")
        tap.contains(done.stderr, "запись 1 (1, строка 3), запись 3 (3, строка 5)\n")
        told = json.loads((market.dir / "rows.json").read_text())
        tap.equal([(row["row"], row["line"]) for row in told["rows"]], [(1, 3), (2, 4), (3, 5), (4, 6)])
        tap.contains(told["rows"][0]["reasons"][0]["reason"], "категории «Люстры» в каталоге нет")
        tap.equal([(one["field"], one["rows"], [each["line"] for each in one["examples"]])
                   for one in told["groups"]["refused"]],
                  [("category", 2, [3, 5]), ("price", 1, [5]), ("price", 1, [6])])
        tap.contains((market.dir / "rows.csv").read_text(), "2 × category: категории «Люстры»")
        tap.contains((market.dir / "rows.xml").read_text(), '<group of="refused" rows="2" field="category">')
        said = market.feed("report", "--groups", "--language", "ru").stdout
        tap.contains(said, "         2  категория: категории «Люстры»")
        tap.equal(json.loads(market.feed("report", "--groups", "--json").stdout)["noted"][0]["examples"],
                  [{"row": 2, "line": 4, "externalId": "2"}])
        tap.contains(market.feed("report", "--outcome", "refused", "--language", "ru").stdout, "«дорого» — не число")
        status, groups = market.call("FeedService/GetReasons", {"feed": "main", "taskId": 1}, market.key("s-1"))
        tap.equal((status, [one["rowCount"] for one in groups["refused"]], groups["noted"][0]["examples"]),
                  (200, ["2", "1", "1"], [{"row": "2", "line": "4", "externalId": "2"}]))
        tap.contains(groups["refused"][0]["reason"], 'the catalogue has no category "Люстры"')
        tap.contains(market.feed("report", "--language", "fr", code=2).stderr, "--language=fr: expected en or ru")
        tap.equal(market.stop(), 0)


@tap.test
def a_file_sent_by_a_call_is_read_as_it_is_said():
    with Running() as market:
        key = market.key("s-1")
        body = base64.b64encode("id;Категория;Название;Цена\n1;Хлам;Лампа;1,999\n".encode()).decode()

        def send(**reading):
            return market.call("FeedService/ImportFile", {"content": body, "reading": reading}, key)

        tap.equal(counts_of(send()[1]["task"]), {"refused": 1})
        status, refused = send(decimal="dot")
        tap.equal((status, list(tap.faults(refused))), (400, ["reading.decimal"]), refused)
        status, refused = send(category="chandeliers-2")
        tap.equal((status, list(tap.faults(refused))), (400, ["reading.category"]), refused)
        tap.equal(counts_of(send(decimal="point", category="lighting")[1]["task"]), {"created": 1})
        found = market.call("CabinetService/ListOffers", {}, key)[1]["offers"][0]["content"]
        tap.equal((found["category"], found["price"]["amount"]), ("lighting", "199900"))
        tap.equal(market.stop(), 0)


@tap.test
def what_similar_offers_are_is_proposed():
    """Neither the category's name nor the catalogue's words know a waffle iron: those on sale do."""
    with Running() as market:
        key = market.key("s-1")
        body = base64.b64encode("id;Категория;Название;Цена\n1;Уценка;Вафельница Vitek D84 -белая;5\n".encode())

        def proposed():
            answer = market.call("FeedService/ImportFile", {"content": body.decode(), "feed": "sale",
                                                            "dryRun": True}, key)[1]
            return [(one["path"], one.get("proposal"), one.get("proposedBy")) for one in answer["categories"]]

        tap.equal(proposed(), [("Уценка", None, None)])
        market.write("sold.csv", "id;categoryId;title;price\n" + "".join(
            f"m{at};kitchenware;Вафельница {name};1000\n"
            for at, name in enumerate(("Bosch", "DeLonghi Magnifica", "капельная", "Vitek"))))
        tap.equal(market.counts("sold.csv", seller="s-2"), {"created": 4})
        tap.wait_until(lambda: market.answered("SearchService/SearchOffers", {"text": "вафельница"})[1]
                       .get("total") == "4", what="the offers in the search")
        tap.equal(proposed(), [("Уценка", "kitchenware", "offers")])
        tap.equal(market.stop(), 0)


@tap.test
def categories_are_said_once():
    def created(*words):
        done = market.import_feed("goods.csv", *words)
        return done.stdout, "created               1" in done.stdout

    def categories(*words, code=0):
        done = market.torg("feed", "categories", *words, "--seller", "s-1")
        tap.equal(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    with Running() as market:
        market.write("goods.csv", "id;Категория;Название;Цена\n1;Люстры;Люстра;10\n")
        market.write("map.csv", "Люстры,lighting\n")
        market.write("bad.csv", "Люстры,nowhere\n")
        tap.contains(categories("show", code=4), "no categories are set")
        tap.equal(created("--categories", "map.csv", "--dry-run")[1], True)
        tap.contains(categories("show", code=4), "no categories are set")   # a dry run keeps nothing
        tap.equal(created()[1], False)
        tap.equal(created("--categories", "map.csv")[1], True)
        tap.equal(categories("show"), "Люстры,lighting\n")
        text, _ = created()
        tap.contains(text, "read by the categories that were set on ")
        tap.contains(text, "unchanged             1")
        tap.contains(categories("set", "bad.csv", code=2), "names no category of the catalogue")
        tap.contains(categories("remove"), "forgotten")
        tap.contains(created()[0], "refused               1")
        tap.contains(categories("set", "map.csv"), "its next imports use them")
        tap.contains(created()[0], "unchanged             1")
        tap.contains(categories("show", "map.csv", code=2), "takes no")
        tap.contains(categories("mend", code=2), "expected one of show, set, remove")
        tap.equal(market.stop(), 0)


@tap.test
def each_golden_file_is_checked_as_expected():
    with Market() as market:
        for path in sorted((TOP / "tests/e2e/golden/feeds").iterdir()):
            if path.suffix in (".rows", ".check"):
                continue
            done = market.torg("feed", "check", "--catalog", str(TOP / "demo" / "catalog.json"),
                               str(path))
            got = done.stdout + done.stderr
            saved = path.with_name(path.name + ".check")
            if os.environ.get("TORG_GOLDEN") == "write":
                saved.write_text(got)
            tap.equal(got.splitlines(), saved.read_text().splitlines(), path.name)


@tap.test
def a_price_list_nobody_has_seen_is_checked_mapped_and_taken():
    with Market() as market:
        (market.dir / "shop.yml").write_text(pricelist.yml(UNSEEN_ROWS))
        catalog = ("--catalog", str(TOP / "demo" / "catalog.json"))

        def check(*words, code=0):
            done = market.torg("feed", "check", *words, "shop.yml")
            tap.equal(done.returncode, code, done.stderr + done.stdout)
            return done
        bare = json.loads(check(*catalog, "--json").stdout)
        tap.equal((bare["format"], bare["rows"], bare["good"], bare["complete"]),
                  ("yml", UNSEEN_ROWS, 0, True))
        check(*catalog, "--template", "map.csv")
        with open(market.dir / "map.csv", encoding="utf-8-sig", newline="") as lines:
            table = list(csv.DictReader(lines))
        proposed = {one["feed"]: (one["category"], one["attributes"]) for one in table}
        for feed, category in (("4", "furniture.sofas"), ("24", "appliances.small"),
                               ("43", "computers.laptops"), ("61", "tools.power")):
            tap.equal(proposed[feed][0], category)
        tap.equal(proposed["27"], ("children.prams", "pram-type=2in1"))
        whole = {str(one[0]): one[2] for one in pricelist.CATEGORIES}
        for one in table[:-1]:                        # names are never cut
            tap.equal(one["path"].split("/")[-1], whole[one["feed"]])
        mapped = json.loads(check(*catalog, "--categories", "map.csv", "--category", "household",
                                  "--shorten", "--json").stdout)
        # What is refused lacks what its category asks for: photos, a price, an attribute.
        asked = {"photos", "price", "attributes"}
        tap.equal({one["field"] for one in mapped["refusals"]} <= asked, True, str(mapped["refusals"]))
        tap.equal(mapped["good"] >= UNSEEN_ROWS * 0.75, True, str(mapped["good"]))
        tap.equal(sum(one["rows"] for one in mapped["refusals"]) >= mapped["refused"], True, "each is told why")
        first = mapped["refusals"][0]["examples"][0]
        line = (market.dir / "shop.yml").read_text().splitlines()[first["line"] - 1]
        tap.equal(f'<offer id="{first["externalId"]}"' in line, True, line)
        # What the reasons ask for is said once, by category: then nothing lacks but what the shop left out itself.
        with open(market.dir / "map.csv", encoding="utf-8-sig") as file:
            lines = file.read().replace("\n28,children.seats,,", "\n28,children.seats,seat-group=0,").replace(
                "\n43,computers.laptops,,", "\n43,computers.laptops,cpu=intel.i5,")
        market.write("mended.csv", lines)
        mended = json.loads(check(*catalog, "--categories", "mended.csv", "--category", "household",
                                  "--shorten", "--json").stdout)
        tap.equal({one["field"] for one in mended["refusals"]}, {"photos", "price"}, str(mended["refusals"]))
        lacking = sum("<picture>" not in one or "<price>" not in one
                      for one in (market.dir / "shop.yml").read_text().split("<offer ")[1:])
        tap.comment(f"{UNSEEN_ROWS} rows of {len(table) - 1} categories: {mapped['good']} are good by the template, "
                    f"{mended['good']} when two required attributes are said; {lacking} have no photo or no price")
        tap.equal(mended["good"] >= (UNSEEN_ROWS - lacking) * 0.95, True, str(mended["good"]))
        # Each of them in words that a shop's owner knows, in either language.
        known = [r"\d+ photos; expected \d+ to \d+", r'"[^"]+" \([\w-]+\) is required here', "is missing"]
        for one in mapped["refusals"]:
            tap.equal(any(re.fullmatch(form, one["reason"]) for form in known), True, one["reason"])
        russian = check(*catalog, "--categories", "map.csv", "--category", "household", "--shorten", "--language",
                        "ru").stdout.split("взято, но")[0]
        for said in ("фото: 0 фото, нужно от 1 до 15", "характеристики: нужно заполнить «Процессор»",
                     "цена: не заполнено"):
            tap.contains(russian, said)
        tap.equal(re.findall(r"[A-Za-z]{2,}", russian.replace("shop.yml: yml", "").replace("MB", "")), [], russian)
        text = check(*catalog, "--categories", "map.csv").stdout
        tap.equal("refused, by reason:" in text and "row " in text and "line " in text, True, text)
        market.start()                                # what is told before is what happens
        counts = market.counts("--categories", "map.csv", "--category", "household", "--shorten",
                               "--quiet", "shop.yml")
        tap.equal((counts["created"], counts["refused"]), (mapped["good"], mapped["refused"]))
        refused = market.rows("--outcome", "refused")
        tap.equal(len(refused), mapped["refused"])
        for row in refused:                           # each row by itself
            tap.equal(bool(row["problems"]), True, row)
            for one in row["problems"]:
                tap.equal(any(re.fullmatch(form, one["reason"]) for form in known), True, one["reason"])


@tap.test
def a_feed_is_fetched_from_an_address():
    yml = "".join(feed_generate.feed(30)).encode()
    packed = gzip.compress(yml)

    def credentials(handler):
        tap.equal(handler.headers["Authorization"] is not None, True)
        page(yml)(handler)

    with Running() as market, web({}) as elsewhere, web({
            "/plain": page(yml), "/packed.gz": page(packed), "/cut": page(yml[:-5000], len(yml)),
            "/moved": redirect("/plain"), "/far": redirect(f"{elsewhere}/gone"),
            "/loop": redirect("/loop"), "/file": redirect("file:///etc/passwd"),
            "/secret?token=1": credentials}) as url:
        done = market.import_feed(f"{url}/plain")
        tap.equal(done.stderr, f"fetching {url}/plain\n")
        tap.contains(done.stdout, f"{url}/plain: yml, ")
        tap.equal(market.counts(f"{url}/packed.gz"), {"unchanged": 30})
        done = market.import_feed(f"{url}/moved")
        tap.equal(done.stderr, f"fetching {url}/moved\nfetching {url}/plain\n")
        with proxy() as (variables, was_asked):
            done = market.torg("feed", "import", "--seller", "s-1", f"{url}/plain", **variables)
            tap.equal((done.returncode, was_asked()), (0, False), done.stderr)
        done = market.import_feed(f"{url}/cut", code=1)
        tap.contains(done.stderr, "the connection broke off")
        tap.contains(market.import_feed(f"{url}/loop", code=5).stderr, "more than 5 redirects")
        tap.contains(market.import_feed(f"{url}/far", code=4).stderr, "HTTP status 404")
        assert market.torg("feed", "import", "--seller", "s-1", f"{url}/file").returncode
        secret = url.replace("//", "//user:hidden@") + "/secret?token=1"
        done = market.import_feed(secret)
        assert "hidden" not in done.stderr + done.stdout and "token" not in done.stderr, done
        tap.contains(market.import_feed("http://127.0.0.1:1/", code=5).stderr, "torg: ")
        tap.contains(market.import_feed("ftp://127.0.0.1/a", code=2).stderr, "an http(s) address")
        tap.equal(market.stop(), 0)


@tap.test
def standard_input_is_read():
    with Running() as market:
        packed = gzip.compress("".join(feed_generate.feed(20)).encode())
        done = subprocess.run([TORG, "feed", "import", "--seller", "s-1", "-"], input=packed,
                              cwd=market.dir, env=environment(), capture_output=True,
                              timeout=tap.PATIENCE_S)
        tap.equal(done.returncode, 0, done.stderr)
        tap.contains(done.stdout.decode(), "standard input: yml, ")
        tap.equal(market.stop(), 0)


@tap.test
def a_server_with_tls_is_reached():
    with Market() as market:
        made = tap.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                       "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                       "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out",
                       "cert.pem", cwd=market.dir)
        tap.equal(made.returncode, 0, made.stderr)
        market.write("torg.toml", "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n")
        market.start()
        market.generate("one.yml", 1000)
        tap.contains(market.url, "https://")
        tap.equal(market.counts("one.yml"), {"created": 1000})
        tap.equal(len(market.rows()), 1000)
        tap.equal(market.stop(), 0)


def run_on_terminal(market, *words):
    """What a person sees: everything the program writes to a terminal 100 columns wide."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(market.dir)
        os.execve(TORG, [TORG, *words], environment(COLUMNS="100"))
    seen = b""
    deadline = time.monotonic() + tap.PATIENCE_S
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            block = os.read(terminal, 65536)
        except OSError:                             # the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


@tap.test
def progress_is_a_bar_on_a_terminal_and_goes_away():
    with Running() as market:
        market.generate("goods.yml", 4000)
        code, seen = run_on_terminal(market, "feed", "import", "--seller", "s-1", "goods.yml")
        tap.equal(code, 0, seen)
        bars = re.findall(r"\rgoods\.yml +(\d+)% .*? of 3\.\d MB  (\d+) rows", seen)
        assert bars, seen
        shares = [int(share) for share, _ in bars]
        tap.equal(shares, sorted(shares))
        tap.contains(seen, "\r\033[Kgoods.yml: yml, ")
        code, seen = run_on_terminal(market, "feed", "import", "--seller", "s-1", "--quiet",
                                     "goods.yml")
        assert "%" not in seen, seen
        tap.equal(market.stop(), 0)


@tap.test
def it_works_on_the_directory_when_no_server_runs():
    with Market() as market:
        market.start()
        key = market.key("s-1")
        tap.equal(market.stop(), 0)
        market.generate("one.yml", 100)
        market.generate("few.yml", 50)
        tap.equal(market.counts("one.yml", "--dry-run"), {"created": 100})
        tap.equal(market.counts("one.yml"), {"created": 100})
        tap.contains(market.import_feed("few.yml", code=1).stdout, "is held")
        tap.contains(market.feed("confirm", "3").stdout, "task 3 of feed main is done")
        tap.equal(len(market.rows("--outcome", "deleted")), 50)
        tap.contains(market.feed("undo", "3").stdout, "is undone")
        tap.contains(market.feed("list").stdout, "undone")
        market.import_feed("few.yml", code=1)
        tap.contains(market.feed("cancel", "4").stdout, "is cancelled")
        market.write("car.jsonl", '{"id": "c1", "categoryId": "cars", "title": "Волга", "price": 5}\n')
        tap.contains(market.import_feed("car.jsonl", seller="s-3").stderr,
                     '"Year of make" (year) is required here')
        market.generate("many.yml", 2500)    # more than one batch
        tap.equal(market.counts("many.yml", seller="s-2"), {"created": 2500})
        tap.equal(market.counts("many.yml", seller="s-2"), {"unchanged": 2500})
        market.start()
        tap.equal(market.active(key), 100)
        tap.contains(market.feed("show", "1").stdout, "a dry run")
        tap.equal(market.stop(), 0)


@tap.test
def an_import_that_is_left_in_the_middle_is_held_and_can_be_sent_again():
    with Running() as market:
        market.generate("one.yml", 3000)
        process = subprocess.Popen([TORG, "feed", "import", "--seller", "s-1", "-"],
                                   stdin=subprocess.PIPE, cwd=market.dir, env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = (market.dir / "one.yml").read_bytes()
        process.stdin.write(text[:len(text) // 2])
        process.stdin.flush()
        tap.wait_until(lambda: "running" in market.feed("list").stdout, what="a task")
        process.kill()
        process.wait()
        tap.wait_until(lambda: "held" in market.feed("show").stdout, what="the hold")
        tap.contains(market.feed("show").stdout, "is held: it was cut short.\n")
        tap.contains(market.feed("show").stdout, "torg feed confirm --seller s-1 1   end it as it is\n")
        done = json.loads(market.import_feed("one.yml", "--task", "1", "--json").stdout)
        tap.equal((done["task"]["state"], done["task"]["counts"]["created"]), ("DONE", "3000"))
        tap.equal(market.active(market.key("s-1")), 3000)
        tap.equal(market.stop(), 0)


tap.main()
