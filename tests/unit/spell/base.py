# SPDX-License-Identifier: Apache-2.0
"""tools/spell-base: affix rules by example, wordfreq's format, and the file it writes."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from kit import tap      # noqa: E402

base = tap.load_tool("spell-base")
AFFIXES = """
NOSUGGEST !
PFX U Y 1
PFX U   0     un         .
SFX D Y 3
SFX D   0     d          e
SFX D   y     ied        [^aeiou]y
SFX D   0     ed         [^ey]
SFX N N 1
SFX N   0     ness       .
SFX I Y 2
SFX I   ый    ая         ый
SFX I   ый    ое         [нт]ый
"""


def forms(word, flags):
    return sorted(base.Affixes(AFFIXES).forms(word, flags))


@tap.test
def suffixes_and_prefixes_make_forms():
    tap.equal(forms("tie", "D"), ["tie", "tied"])
    tap.equal(forms("carry", "D"), ["carried", "carry"])
    tap.equal(forms("lock", "DU"), ["lock", "locked", "unlock", "unlocked"])
    tap.equal(forms("горный", "I"), ["горная", "горное", "горный"])
    tap.equal(forms("старый", "I"), ["старая", "старый"])


@tap.test
def only_what_may_cross_crosses():
    tap.equal(forms("happy", "NU"), ["happy", "happyness", "unhappy"])


@tap.test
def bad_words_are_marked():
    tap.equal(base.Affixes(AFFIXES).bad, {"!"})


@tap.test
def words_fold_as_the_index_folds():
    tap.equal(base.fold("Ёлка"), "елка")
    tap.equal(base.fold("Don't"), "dont")
    tap.equal(base.encode("аяz-"), b"\x80\x9fz-")


@tap.test
def lists_of_frequencies_are_unpacked():
    packed = (b"\x94\x82\xa6format\xa2cB\xa7version\x01" + b"\x90"
              + b"\x91\xa3the" + b"\xdc\x00\x02\xd9\x02of\xa2to")
    tap.equal(list(base.unpack_list(packed)), [("the", 1), ("of", 2), ("to", 2)])


@tap.test
def hyphened_words_are_rarer_than_their_parts():
    met = {"кто": 300, "то": 240}
    tap.equal(base.how_often("кто-то", met, set()), 300 + base.HYPHENED_RARER)
    tap.equal(base.how_often("кто-либо", met, set()), None)


@tap.test
def without_lists_only_listed_words_are_proposed():
    listed = {"велосипед"}
    tap.equal(base.how_often("велосипед", {}, listed), base.RARITY_UNKNOWN)
    tap.equal(base.how_often("велосипедами", {}, listed), None)


@tap.test
def the_file_shares_beginnings():
    tap.equal(base.pack({b"cat": 3, b"cats": 0, b"dog": 8}),
              b"torg spell 1\n" + b"\x03\0\0\0" + b"\x01\0\0\0"
              + b"\0\x03cat\x03" + b"\x03\x01s\0" + b"\0\x03dog\x08")


tap.main()
