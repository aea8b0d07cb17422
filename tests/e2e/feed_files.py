# SPDX-License-Identifier: Apache-2.0
"""Feed files of every format, whole and cut short; random CSV against Python's own reader.

usage: feed_files.py FEED_DUMP, with TORG_SEED in the environment.
"""
import csv
import io
import json
import os
import pathlib
import random
import sys
import time

sys.dont_write_bytecode = True
from kit import feedtest  # noqa: E402
from kit import tap  # noqa: E402

SEED = int(os.environ.get("TORG_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
GOLDEN = pathlib.Path(__file__).parent / "golden" / "feeds"
OFFERS = feedtest.make_offers(50)
DUMP = feedtest.dump


def essence(row, without=("row", "line")):
    row = {name: value for name, value in row.items() if name not in without}
    row["attributes"] = sorted(map(tuple, row["attributes"]))
    return row


def wanted(offer):
    """What every format must give, as Python sees it."""
    row = {"id": offer["id"], "idFromContent": False, "categoryId": offer["categoryId"],
           "category": feedtest.category_path(offer["categoryId"]), "title": offer["title"],
           "description": offer["description"].replace("</p><p>", "\n\n").replace("<p>", "")
           .replace("</p>", "").replace("&lt;", "<"),
           "url": offer["url"], "price": offer["price"], "currency": "RUB",
           "photos": offer["photos"], "address": offer["address"],
           "point": [float(offer["lat"]), float(offer["lon"])], "contactName": offer["contact"],
           "phones": [offer["phone"]], "email": offer["email"], "available": offer["available"],
           "deleted": False, "problems": [], "notes": [],
           "attributes": sorted([("vendor", offer["vendor"], ""), ("barcode", offer["barcode"], ""),
                                 *offer["attributes"]])}
    if offer["oldprice"] is not None:
        row["oldPrice"] = offer["oldprice"]
    if offer["condition"]:
        row["condition"] = offer["condition"]
    return row


def check_same(content, form, *options, offers=None, units=True):
    offers = offers or OFFERS
    rows, end = DUMP(content, *options)
    tap.equal((end.get("end"), end.get("format"), end["rows"]), (True, form, len(offers)), str(end))
    tap.equal(end["read"], len(content))
    for number, (row, offer) in enumerate(zip(rows, offers), 1):
        want = wanted(offer)
        if not units:
            want["attributes"] = sorted((n, v, "") for n, v, _ in want["attributes"])
        tap.equal(row["row"], number)
        tap.equal(essence(row, ("row", "line", "hash")), want)
    return rows


@tap.test
def the_same_offers_are_the_same_rows_in_every_format():
    yml = check_same(feedtest.yml(OFFERS), "yml")
    table = check_same(feedtest.csv_file(OFFERS), "csv")
    lines = check_same(feedtest.json_lines(OFFERS), "json")
    for other in (table, lines):
        tap.equal([row["hash"] for row in other], [row["hash"] for row in yml])
    # Avito has no units.
    check_same(feedtest.avito(OFFERS), "avito", units=False)
    bare = [dict(offer, attributes=[(n, v, "") for n, v, _ in offer["attributes"]])
            for offer in OFFERS]
    tap.equal([row["hash"] for row in DUMP(feedtest.avito(OFFERS))[0]],
              [row["hash"] for row in DUMP(feedtest.yml(bare))[0]])


@tap.test
def encodings_are_told_or_guessed():
    plain = [dict(offer, title=offer["title"].replace("ё", "е")) for offer in OFFERS]
    check_same(feedtest.yml(plain, "windows-1251"), "yml", offers=plain)
    check_same(feedtest.yml(plain, "utf-16"), "yml", offers=plain)
    for encoding in ("utf-8", "utf-8-sig", "windows-1251", "utf-16"):
        check_same(feedtest.csv_file(plain, encoding=encoding), "csv", offers=plain)
    asked = [dict(offer, title="Карта", description="<p>Слово</p>") for offer in OFFERS]
    check_same(feedtest.csv_file(asked, encoding="cp866"), "csv", "--encoding", "cp866",
               offers=asked)
    # A file that is ASCII for long, and then Russian.
    head = b"id,title\n" + b"".join(b"%d,plain\n" % i for i in range(20000))
    rows, end = DUMP(head + "x,Слово\n".encode("windows-1251"))
    tap.equal((rows[-1]["title"], end["end"]), ("Слово", True))
    rows, end = DUMP(head + "x,Слово\n".encode())
    tap.equal((rows[-1]["title"], end["end"]), ("Слово", True))


@tap.test
def rows_that_cross_blocks_are_whole():
    offers = feedtest.make_offers(500, seed=8)
    plain = [dict(offer, title="Карта № 5 «ёлка»") for offer in offers]
    check_same(feedtest.yml(offers), "yml", offers=offers)
    check_same(feedtest.avito(offers), "avito", offers=offers, units=False)
    check_same(feedtest.csv_file(offers), "csv", offers=offers)
    check_same(feedtest.json_lines(offers), "json", offers=offers)
    check_same(feedtest.yml(plain, "windows-1251"), "yml", offers=plain)
    check_same(feedtest.csv_file(plain, encoding="utf-16"), "csv", offers=plain)
    check_same(feedtest.csv_file(plain, encoding="windows-1251"), "csv", offers=plain)


@tap.test
def delimiters_and_line_ends_are_guessed():
    for delimiter in ",;\t|":
        for end in ("\n", "\r\n", "\r"):
            plain = [dict(offer, photos=offer["photos"][:1]) for offer in OFFERS]
            check_same(feedtest.csv_file(plain, delimiter, end=end), "csv", offers=plain)
    check_same(b"sep=;\r\n" + feedtest.csv_file(OFFERS), "csv")


@tap.test
def golden_files_give_their_rows():
    names = sorted(path for path in GOLDEN.iterdir() if path.suffix not in (".rows", ".check"))
    assert len(names) >= 6, names
    for path in names:
        rows, end = feedtest.dump_file(str(path))
        del end["rssKb"]
        got = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"
                      for row in [*rows, end])
        saved = path.with_name(path.name + ".rows")
        if os.environ.get("TORG_GOLDEN") == "write":
            saved.write_text(got)
        tap.equal(got.splitlines(), saved.read_text().splitlines(), path.name)


@tap.test
def a_cut_file_is_told_from_a_whole_one():
    offers = OFFERS[:3]
    for make, form in ((feedtest.yml, "yml"), (feedtest.avito, "avito"),
                       (feedtest.csv_file, "csv"), (feedtest.json_lines, "json")):
        whole = make(offers)
        rng = random.Random(SEED)
        start = 900 if form == "csv" else 2000 if form == "yml" else 100
        for size in rng.sample(range(start, len(whole.rstrip()) - 25), 60):
            # A table's end is told by its size, too: through a pipe nobody knows that.
            rows, end = feedtest.dump_pipe(whole[:size], "--format", form)
            if form == "csv" and rows and not end["end"]:
                rows.pop()          # its last cell may be cut, which nobody can know
            good = [row for row in rows if not row["problems"]]
            tap.equal([essence(row) for row in good],
                      [essence(row) for row in DUMP(whole)[0][:len(good)]], f"{form} {size}")
            at_line = form in ("csv", "json") and whole[size - 1:size] in b"\r\n"
            whole_line = form == "json" and whole[size - 1:size] == b"}" and rows and \
                not rows[-1]["problems"]
            if not at_line and not whole_line:
                tap.equal(end.get("end"), False, f"{form} cut at {size}: {end} seed {SEED}")
                assert end["cut"], end


@tap.test
def a_last_line_without_a_break_is_believed_if_it_can_be():
    whole = feedtest.csv_file(OFFERS[:3]).rstrip()
    check_same(whole, "csv", offers=OFFERS[:3])
    _, end = feedtest.dump_pipe(whole)
    tap.equal((end["end"], "line break" in end["cut"]), (False, True), str(end))
    last = whole.rindex(b"\r\n") + 2
    full = whole.rindex(b";") + 1
    for size in range(last + 1, full):          # in the middle of the last row
        rows, end = DUMP(whole[:size])
        tap.equal((end["end"], len(rows)), (False, 3), str(end))
        tap.equal(bool(rows[-1]["problems"]), True, str(rows[-1]))
    rows, end = DUMP(b'id,title\n1,"One')
    tap.equal(end["end"], False, str(end))


@tap.test
def random_csv_is_read_as_python_reads_it():
    tap.comment(f"TORG_SEED={SEED}")
    rng = random.Random(SEED)
    alphabet = 'ab ,;"\n\r\t|яё\'=1'
    for _ in range(60):
        delimiter = rng.choice(",;\t|")
        columns = rng.randrange(1, 6)
        out = io.StringIO(newline="")
        end, quoting = rng.choice(["\n", "\r\n"]), rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
        # Python's writer leaves a CR that is not in its line's end unquoted: that is no CSV.
        letters = alphabet.replace("\r", "") if end == "\n" and quoting != csv.QUOTE_ALL else alphabet
        writer.writerow(["id"] + [f"c{i}" for i in range(columns)])
        for number in range(rng.randrange(30)):
            writer.writerow([f"n{number}"] +
                            ["x" + "".join(rng.choices(letters, k=rng.randrange(9))) + "x"
                             for _ in range(columns)])
        text = out.getvalue()
        rows, end = DUMP(text.encode(), "--delimiter", delimiter)
        tap.equal(end.get("end"), True, f"{end} {text!r}")
        read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))[1:]
        tap.equal(len(rows), len(read))
        for row, cells in zip(rows, read):
            got = [value for _, value, _ in row["attributes"]]
            # An attribute is one line with single blanks.
            tap.equal([row["id"], *got], [cells[0], *(" ".join(cell.split()) for cell in cells[1:])])


@tap.test
def one_bad_row_does_not_stop_the_file():
    text = ("id,title,price,lat,lon,condition,phone\n"
            "a,One,12,55,37,new,+79001112233\n"
            "b,Two,twelve,55,37,new,\n"
            "c,Three,-5,95,37,shiny,12\n"
            "d,Four,\"1,999\",55,,,\n"
            "e,Five\n"
            "f,Six,1,,,,,extra\n"
            "g,Seven,7,,,,\n")
    rows, end = DUMP(text.encode())
    fields = [[field for field, _ in row["problems"]] for row in rows]
    tap.equal(fields, [[], ["price"], ["phones", "price", "latitude"],
                       ["price", "longitude"], [], ["row"], []])
    notes = [[field for field, _ in row["notes"]] for row in rows]
    tap.equal(notes, [[], [], ["condition"], [], ["row"], [], []])
    tap.equal((end["end"], [row["line"] for row in rows]), (True, list(range(2, 9))))
    rows, end = DUMP(b'{"id":1,"title":"a"}\n{"id":\n[1]\n{"id":4,"id":5}\n{"id":6,"title":"f"}\n',
                     "--format", "json")
    tap.equal([bool(row["problems"]) for row in rows], [False, True, True, True, False])
    tap.equal(end["end"], True)


@tap.test
def a_row_without_id_is_named_by_its_content():
    rows, _ = DUMP('title;price;Цвет;Вес\nA;1;red;2\nA;1;red;2\nB;1;red;2\n'.encode())
    ids = [row["id"] for row in rows]
    assert ids[0] == ids[1] != ids[2] and ids[0].startswith("content-"), ids
    other, _ = DUMP('Вес;title;Цвет;price\n2;A;red;1.00\n'.encode())
    tap.equal(other[0]["id"], ids[0])


@tap.test
def a_hundred_thousand_offers_fit_a_small_memory():
    offers = [feedtest.yml_offer(dict(offer, description="<p>" + "слово " * 150 + "</p>"))
              for offer in feedtest.make_offers(100)]

    def pieces():
        yield feedtest.yml_head().encode()
        for round_number in range(1000):
            text = "".join(offers).replace('id="item-', f'id="r{round_number}-')
            yield text.encode()
        yield feedtest.YML_TAIL.encode()

    start = time.monotonic()
    content = list(pieces())
    tap.comment(f"made in {time.monotonic() - start:.1f} s")
    start = time.monotonic()
    _, end = DUMP(content, "--quiet")
    seconds = time.monotonic() - start
    size = sum(map(len, content))
    tap.comment(f"{size >> 20} MB, {end['rows']} rows, {end['rssKb'] >> 10} MB of memory, "
                f"{size / seconds / 1e6:.0f} MB/s with the writing of the file")
    tap.equal((end["end"], end["rows"]), (True, 100_000))
    assert end["rssKb"] < 50 << 10, end


tap.main()
