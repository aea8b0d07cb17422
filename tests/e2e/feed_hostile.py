# SPDX-License-Identifier: Apache-2.0
"""Hostile and broken feed files: refused with a reason, quickly, in little memory.

usage: feed_hostile.py FEED_DUMP
"""
import sys

sys.dont_write_bytecode = True
from kit import feedtest  # noqa: E402
from kit import tap  # noqa: E402

MEGABYTE = 1 << 20
OFFERS = feedtest.make_offers(2)
MEMORY_KB_MAX = 50 << 10
SECONDS_MAX = 30


def refused(content, error, *parts, options=()):
    start = tap.cpu_s()
    rows, end = feedtest.dump(content, *options)
    tap.equal(end.get("error"), error, str(end))
    for part in parts:
        tap.contains(end["text"], part)
    assert end["rssKb"] < MEMORY_KB_MAX, end
    assert tap.cpu_s() - start < SECONDS_MAX, f"{tap.cpu_s() - start} s"
    return rows


def in_offer(text):
    """An offer that is good, then one with this text in it."""
    return (feedtest.yml_head() + feedtest.yml_offer(OFFERS[0]) + '<offer id="x"><name>X</name>' +
            text + "</offer>" + feedtest.YML_TAIL).encode()


@tap.test
def entities_are_refused_before_they_are_read():
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    for doctype in (f'<!DOCTYPE yml_catalog [<!ENTITY l0 "ha">{laughs}]>',
                    '<!DOCTYPE yml_catalog [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
                    '<!DOCTYPE yml_catalog SYSTEM "http://evil.example/x.dtd">',
                    '<!DOCTYPE yml_catalog [<!ENTITY % p SYSTEM "http://evil.example/"> %p;]>',
                    '<!DOCTYPE yml_catalog>'):
        content = f'<?xml version="1.0"?>\n{doctype}<yml_catalog>&l9;&x;</yml_catalog>'.encode()
        tap.equal(refused(content, "INVALID", "line 2, column", "DOCTYPE"), [])
        tap.equal(refused(content, "INVALID", "DOCTYPE", options=["--doctype"]), [])
    refused(b"<yml_catalog>&x;</yml_catalog>", "INVALID", "undefined entity")


@tap.test
def the_known_doctype_passes_only_when_allowed():
    known = b'<!DOCTYPE yml_catalog SYSTEM "shops.dtd">'
    whole = feedtest.yml(OFFERS).replace(b"?>\n", b"?>\n" + known, 1)
    refused(whole, "INVALID", "DOCTYPE")
    rows, end = feedtest.dump(whole, "--doctype")
    tap.equal((len(rows), end["end"]), (2, True))
    refused(whole.replace(b"<name>", b"<name>&evil;", 2), "INVALID", "evil", options=["--doctype"])


@tap.test
def depth_is_bounded():
    refused(in_offer("<a>" * 100_000), "LIMIT", "nested deeper")
    refused(b"<Ads>" + b"<a>" * 1_000_000, "LIMIT", "nested deeper")


@tap.test
def attributes_are_bounded():
    refused(in_offer(f'<param name="{"x" * (10 * MEGABYTE)}">1</param>'), "LIMIT", "line")
    refused(in_offer(f'<param name="{"x" * 5000}">1</param>'), "LIMIT", "attribute")
    many = " ".join(f'a{i}="1"' for i in range(1000))
    refused(in_offer(f"<param {many}>1</param>"), "LIMIT", "attributes")
    refused(in_offer(f"<{'n' * 300}/>"), "LIMIT", "name")
    refused(in_offer(f"<!--{'c' * (10 * MEGABYTE)}-->"), "LIMIT", "comment")


@tap.test
def a_long_text_is_the_problem_of_its_row():
    rows, end = feedtest.dump(in_offer(f"<description>{'w ' * (300 << 9)}</description>"))
    tap.equal((end["end"], end["rows"]), (True, 2))
    tap.equal([[field for field, _ in row["problems"]] for row in rows], [[], ["description"]])
    rows, end = feedtest.dump(in_offer(f"<description>{'w ' * (100 << 9)}</description>"))
    tap.equal([[field for field, _ in row["problems"]] for row in rows], [[], ["description"]])
    rows, end = feedtest.dump(in_offer("<param name='a'>1</param>" * 300))
    tap.equal([(len(row["problems"]), [field for field, _ in row["notes"]]) for row in rows],
              [(0, []), (0, ["attributes"])])
    tap.equal(len(rows[1]["attributes"]), 200)
    long = "w " * (3 << 10)
    for text in (f"<param name='a'>{long}</param>", f"<url>http://x.example/{long}</url>",
                 f"<unused>{'w ' * (300 << 9)}</unused>", f"<picture>http://x.example/{long}</picture>",
                 "<param>1</param>", "<condition>shiny</condition>"):
        rows, end = feedtest.dump(in_offer(text))
        tap.equal([(len(row["problems"]), len(row["notes"])) for row in rows], [(0, 0), (0, 1)], text[:40])
    rows, end = feedtest.dump(in_offer("<picture>http://x.example/1</picture>" * 300))
    tap.equal((len(rows[1]["photos"]), [field for field, _ in rows[1]["notes"]]),
              (50, ["photo_count"]))


@tap.test
def a_huge_offer_ends_the_file():
    refused(in_offer(f"<description>{'w' * (20 * MEGABYTE)}</description>"), "LIMIT", "offer")
    refused(in_offer("<a>1</a>" * (1 << 18)), "LIMIT", "offer")


@tap.test
def names_do_not_fill_the_memory():
    def pieces():
        yield feedtest.yml_head().encode()
        for i in range(500):
            yield b"".join(b"<offer><t%x a%x='1'/></offer>" % (n, n)
                           for n in range(i * 1000, i * 1000 + 1000))
    refused(pieces(), "LIMIT", "different names")
    refused(b"<yml_catalog><shop><categories>" +
            b"".join(b'<category id="%d">n</category>' % i for i in range(40_000)), "LIMIT",
            "categories")


@tap.test
def a_long_name_of_a_category_ends_nothing():
    head = (f'<yml_catalog><shop><categories><category id="1">{"я" * 200_000}</category>'
            f'<category id="{"2" * 300}">b</category></categories><offers>')
    rows, end = feedtest.dump((head + '<offer id="x"><categoryId>1</categoryId></offer>' +
                               feedtest.YML_TAIL).encode())
    tap.equal((rows[0]["category"], end["end"]), ("я" * 128, True))
    tap.equal([field for field, _ in rows[0]["notes"]], ["category"])


@tap.test
def a_circle_of_categories_ends():
    head = ('<yml_catalog><shop><categories><category id="1" parentId="2">a</category>'
            '<category id="2" parentId="1">b</category></categories><offers>')
    rows, end = feedtest.dump((head + '<offer id="x"><categoryId>1</categoryId></offer>' +
                               feedtest.YML_TAIL).encode())
    tap.equal((rows[0]["category"], end["end"]), ("/".join("ba" * 8), True))


@tap.test
def broken_xml_names_its_place():
    whole = feedtest.yml(OFFERS)
    for bad, text in ((b"\0", "not well-formed"), (b"\xff\xfe", "not well-formed"),
                      (b"\xd0\x20", "not well-formed"), (b"\x01", "not well-formed"),
                      (b"</b>", "mismatched tag"), (b"&nbsp;", "undefined entity"),
                      (b"]]>", "not well-formed")):
        at = whole.index(b"<name>", whole.index(b"<offer ")) + 6
        rows = refused(whole[:at] + bad + whole[at:], "INVALID", "line 4, column", text)
        tap.equal(len(rows), 0)
    refused(whole.replace(b"UTF-8", b"EBCDIC-9", 1), "INVALID", 'encoding "EBCDIC-9"')
    refused(whole.replace(b"UTF-8", b"UTF-7", 1), "INVALID", 'encoding "UTF-7"')
    refused(b"<html><body>404</body></html>", "INVALID", "<html>")
    refused(whole, "INVALID", "not the format avito", options=["--format", "avito"])
    refused(whole + b"<more/>", "INVALID", "junk")
    refused(b"", "INVALID", "empty")
    refused(b"  \n\n", "INVALID", "empty")
    refused(b"[{}]", "INVALID", "JSON array")
    refused(b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "INVALID")


@tap.test
def bad_csv_is_bounded():
    refused(b'id,title\n1,"open\n' + b"2,x\n" * (2 * MEGABYTE), "LIMIT", "line 2", "quote")
    rows, end = feedtest.dump(b'id,title\n1,"open\n2,x\n')
    tap.equal((end["end"], len(rows), rows[0]["problems"][0][0]), (False, 1, "row"))
    refused(b"id,title\n1,a\0b\n", "INVALID", "zero byte near byte 12")
    refused(b"id,title\n1,a\0b\n" + b"2,\xcf\xf0\xe8\n" * 40, "INVALID",
            "zero byte near byte 8:")  # windows-1251 grows as it becomes UTF-8: about there
    refused(b"id," + b"x," * 1000 + b"\n", "LIMIT", "cells")
    refused(b"id," + b"x" * 1000 + b"\n", "LIMIT", "column 2")
    refused(b"one,two\n1,2\n", "INVALID", "name the columns")
    rows, end = feedtest.dump("id,title\n1,Слово\n".encode() + b"2,\xd0\xff\n3,ok\n")
    tap.equal([bool(row["problems"]) for row in rows], [False, True, False])
    refused(b"id,title\n1,a\n", "INVALID", "klingon", options=["--encoding", "klingon"])


def long_line(start, end=b""):
    yield start
    for _ in range(100):
        yield b"x" * MEGABYTE
    yield end


@tap.test
def a_line_of_a_hundred_megabytes_is_not_held():
    refused(long_line(b"id,title\n1,"), "LIMIT", "line 2", "row is larger")
    refused(long_line(b"id,"), "LIMIT", "line 1")
    refused(long_line(b'{"id":"'), "LIMIT", "line 1")
    refused(long_line(b"<yml_catalog "), "LIMIT", "tag or comment")
    refused(long_line(b"<"), "LIMIT", "tag or comment")


@tap.test
def deep_and_wide_json_is_bounded():
    line = b'{"id":"x","title":' + b"[" * 500_000
    rows, end = feedtest.dump(line + b'\n{"id":"y","title":"Y"}\n')
    tap.equal([bool(row["problems"]) for row in rows], [True, False])
    rows, end = feedtest.dump(b'{"id":"x","a":[' + b"0," * 400_000 + b"0]}\n")
    tap.equal((end["end"], bool(rows[0]["notes"])), (True, True))
    rows, end = feedtest.dump(b'{"id":"x","title":"a\\u0000b"}\n{"id":"\xff"}\n{"price":1e999}\n',
                              "--encoding", "utf-8")
    tap.equal([bool(row["problems"]) for row in rows], [True, True, True])


@tap.test
def rows_and_bytes_are_counted():
    for make in (feedtest.yml, feedtest.avito, feedtest.csv_file, feedtest.json_lines):
        whole = make(feedtest.make_offers(20))
        tap.equal(len(refused(whole, "LIMIT", "more than 7 rows", options=["--rows", "7"])), 7)
        refused(whole, "LIMIT", "larger than 900 bytes", options=["--size", "900"])


@tap.test
def html_made_to_be_slow_is_not():
    for text in ("<a" * 90_000, "<!--" * 50_000, "<a \"'" * 40_000, "<a '>" * 40_000,
                 "&" * 200_000, "&#x1f600;" * 20_000, "<script>" * 25_000, "\u00a0" * 90_000,
                 "<p>" * 60_000, "</" * 90_000):
        start = tap.cpu_s()
        rows, end = feedtest.dump(in_offer(f"<description><![CDATA[{text}]]></description>"))
        tap.equal((end["end"], end["rows"]), (True, 2))
        assert tap.cpu_s() - start < 3, f"{text[:9]}: {tap.cpu_s() - start} s"


tap.main()
