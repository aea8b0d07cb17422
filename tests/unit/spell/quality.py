# SPDX-License-Identifier: Apache-2.0
"""The whole base at work, and the bars of quality on the test sets where they are at hand."""
import pathlib
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(TOP / "tests/e2e"), str(TOP / "bench")]
import spell    # noqa: E402
from kit import tap      # noqa: E402

spell.PROGRAM = pathlib.Path(sys.argv[1])
MEANT = {
    "ghbdtn": "привет", "ноутбк": "ноутбук", "[kt,": "хлеб", "rehnrf lkz vfkmxbrf": "куртка для мальчика",
    "руддщ": "hello", "ye;yf vfibyf": "нужна машина", "горныйвелосипед": "горный велосипед",
    "вело сипед": "велосипед", "дедский велосипед": "детский велосипед", "velosiped": "велосипед",
    "холодилник samsung": "холодильник samsung", "кросовки nike air max": "кроссовки nike air max",
    "Купить НОУТБК lenovo": "Купить НОУТБУК lenovo", "don't wory": "don't worry", "изза": "из-за",
    "shuba norkovaya": "шуба норковая", "сдаю кваритру": "сдаю квартиру",
}
KEPT = ["iPhone 15 Pro Max 256Gb", "xiaomi redmi note 12", "bmw x5 e70", "стол и стул", "hello, world",
        "телевизор самсунг", "ищу няню", "зимние шины r16 205/55"]


def need_frequencies():
    if not tap.load_tool("spell-base").lists():
        tap.skip("the base has no frequencies: tools/fetch-spell-data could not fetch them")


def need_data():
    need_frequencies()
    if not spell.has_data():
        tap.skip(f"no test data in {spell.DATA}: TORG_SPELL_DATA names its folder")


@tap.test
def what_was_meant_is_found_and_what_is_right_stays():
    need_frequencies()
    answers = spell.run("correct", [*MEANT, *KEPT])
    tap.equal(dict(zip(MEANT, answers)), MEANT)
    tap.equal(answers[len(MEANT):], KEPT)


@tap.test
def corrections_are_counted_as_people_would():
    def found(one, two):
        return spell.corrections(spell.words_of(one), spell.words_of(two))

    tap.equal(found("Очень, хорошо!", "очень хорошо"), {})
    tap.equal(found("ктобы что не говорил.", "кто бы что ни говорил"),
              {(0, 1): ("кто", "бы"), (2, 3): ("ни",)})
    tap.equal(found("я что то знаю", "я что-то знаю"), {(1, 3): ("что-то",)})
    tap.equal(found("превед медвед", "привет медведь"), {(0, 1): ("привет",), (1, 2): ("медведь",)})


@tap.test
def the_bars_of_russian_are_met():
    need_data()
    f1 = spell.russian([])[2]
    tap.comment(f"F1 {f1:.1f}")
    assert f1 >= spell.BARS["ru_f1"], f1


@tap.test
def the_bars_of_english_are_met():
    need_data()
    fixed, broken, _ = spell.english([])
    tap.comment(f"{fixed:.1f} % put right, {broken:.1f} % broken")
    assert fixed >= spell.BARS["en_fixed"] and broken < 1, (fixed, broken)


del sys.argv[1:]     # they would pick tests
tap.main()
