#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stems.py PROGRAM - our stems beside those of Snowball's own implementation in Python.

Debian's python3-snowballstemmer; without it the test is skipped, or fails if TORG_REQUIRE names
snowball. The words are real ones with real endings, and random ones. TORG_SNOWBALL_DATA may name a
checkout of Snowball's data: then its vocabularies (LANGUAGE/voc.txt, output.txt) are held to too.
"""
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.append("/usr/lib/python3/dist-packages")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from kit import tap  # noqa: E402
try:
    from snowballstemmer.english_stemmer import EnglishStemmer
    from snowballstemmer.russian_stemmer import RussianStemmer
except ImportError:
    RussianStemmer = EnglishStemmer = None

RUSSIAN = """машин квартир ноутбук телефон диван комнат велосипед собак котён кошк игрушк книг стол стул
 куртк ботин продав покуп работ сдава меня красн син бел больш маленьк хорош нов стар быстр удобн
 детск женск мужск зимн летн кожан деревянн автомобил строител издели здани состояни предложени
 молодост крепост част област двер ноч врем им пут дочер мебел колес окн бег чита пиш говор люб
 вид леж сид стро ремонт обслуж гаранти достав""".split()
RUSSIAN_ENDS = """ а у ы е и о ой ом ам ами ах ов ей ия ие ии ию ией иями иях ь я ю ем ью ый ая ое ые ого
 ому ым ыми ых ий яя ее ие его ему им ими их ить ать ять еть ил ила или ал ала али ет ют ит ят ешь
 ишь ть ться ся сь ился илась ающий ающая ающие ивший ившись авший енный енная енные нный ость ости
 остью ейший ейше ее ически ение ения тель телей ник ница чик щик ка ки ку кой ок ек очк ушк""".split(" ")
ENGLISH = """phone laptop bicycle apartment car dog kitten toy book table chair jacket boot sell buy work
 rent change red blue big small good new old fast child woman winter leather wood build condition
 offer relation nation hop hope run swim study fly die lie tie agree argue sky news general univers
 communi arsen inning outing exceed succeed proceed skis ugly early only single gentle""".split()
ENGLISH_ENDS = """ s es ed ing er est ly ness ment ments ation ational ations al ally ful fully less ize
 izer ized izing ization ive ively iveness ous ously ousness able ably ability ies ied y ance ence
 ancy ency ism ist istic ity ing's 's""".split(" ")


def words(roots, ends, letters, pick):
    made = [root + end.strip() for root in roots for end in ends]
    made += ["".join(pick.choice(letters) for _ in range(pick.randint(1, 12))) for _ in range(5000)]
    return [word for word in made if word]


def run(program, lines):
    done = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          check=True, encoding="utf-8")
    return [line.split(" ") for line in done.stdout.splitlines()]


def compare(stemmer, made):
    if stemmer is None:
        if "snowball" in os.environ.get("TORG_REQUIRE", "").split(","):
            raise AssertionError("TORG_REQUIRE names snowball, and snowballstemmer is missing")
        tap.skip("no snowballstemmer")
    stem_of = stemmer().stemWord
    pairs = run(PROGRAM, made)
    tap.equal(len(pairs), len(made), "tokens")
    tap.equal([(form, stem, stem_of(form)) for form, stem in pairs
               if stem_of(form) != stem][:10], [], "form, our stem, Snowball's")


def compare_data(folder):
    wanted = zip((folder / "voc.txt").read_text("utf-8").split(),
                 (folder / "output.txt").read_text("utf-8").split())
    pairs = [(word, stem) for word, stem in wanted if "ё" not in word and "'" not in word]
    got = run(PROGRAM, [word for word, _ in pairs])
    tap.equal(len(got), len(pairs), folder.name)
    tap.equal([(a, b) for a, b in zip(pairs, got) if list(a) != b][:5], [], folder.name)


@tap.test
def russian_stems():
    compare(RussianStemmer, words(RUSSIAN, RUSSIAN_ENDS, "абвгдежзийклмнопрстуфхцчшщъыьэюя", PICK))


@tap.test
def english_stems():
    compare(EnglishStemmer, words(ENGLISH, ENGLISH_ENDS, "abcdefghijklmnopqrstuvwxyz", PICK))


@tap.test
def snowballs_vocabularies():
    data = os.environ.get("TORG_SNOWBALL_DATA")
    if not data:
        tap.skip("TORG_SNOWBALL_DATA is not set")
    for name in ("russian", "english"):
        compare_data(pathlib.Path(data, name))


PROGRAM = sys.argv.pop(1)
SEED = int(os.environ.get("TORG_SEED", str(time.time_ns() % 2**32)), 0)
PICK = random.Random(SEED)
tap.comment(f"TORG_SEED={SEED}")
tap.main()
