/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of spell/letters.h, keyboard.h and transliteration.h: text, keys and scripts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "spell/keyboard.h"
#include "spell/letters.h"
#include "spell/transliteration.h"

/* Words in order, a blank between; those passed by as '*', a hyphen's gap as '-', a far one as '|'.
 */
static void assert_tokens(const char *text, const char *expected)
{
    struct buf out = BUF_INIT(1000);
    struct spell_token token;
    size_t at = 0;
    static const char gaps[] = {'|', ' ', '-'};

    while (letters_next(bytes_of(text), &at, &token)) {
        if (out.size)
            buf_put_byte(&out, (uint8_t)gaps[token.gap]);
        if (!token.letters.size)
            buf_put_byte(&out, '*');
        letters_print(&token.letters, token.is_capital, token.is_upper, &out);
    }
    assert_string_equal(buf_text(&out), expected);
    buf_release(&out);
}

static void text_parts_into_words(void **state)
{
    (void)state;
    assert_tokens("Купить Велосипед, ГОРНЫЙ", "Купить Велосипед|ГОРНЫЙ");
    assert_tokens("что-то  wi-fi", "что-то|wi-fi");
    assert_tokens("ёлка don't", "елка dont");
    assert_tokens("  'quoted'  ", "quoted");
    assert_tokens("", "");
    assert_tokens("\xff\xfe привет \xd0", "привет");
}

static void what_has_digits_is_passed_by(void **state)
{
    (void)state;
    assert_tokens("iphone15 128gb x5 256", "* * * *");
    assert_tokens("мiшaный", "*"); /* і and a are Latin */
    assert_tokens("日本 ñandú", "* nandu");
    assert_tokens("слишкомдлинноесловокоторогонебываетнигде", "*");
}

static void every_key_is_read_both_ways(void **state)
{
    static const char *const pairs[][2] = {{"ghbdtn", "привет"},         {"rehnrf", "куртка"},
                                           {"руддщ", "hello"},           {"штфп", "inag"},
                                           {"qwertyuiop", "йцукенгшщз"}, {"asdfghjkl", "фывапролд"},
                                           {"zxcvbnm", "ячсмить"}};
    struct letters swapped;

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(pairs); i++) {
        struct letters one = letters_of(pairs[i][0]), two = letters_of(pairs[i][1]);

        assert_true(keyboard_swap(&one, &swapped) && letters_equal(&swapped, &two));
        assert_true(keyboard_swap(&two, &swapped) && letters_equal(&swapped, &one));
    }
    assert_false(
        keyboard_swap(&(struct letters){.at = {LETTER_CYRILLIC + 1}, .size = 1}, &swapped));
}

static void signs_are_letters_of_the_other_layout(void **state)
{
    struct letters read, bread = letters_of("хлеб"), hedgehogs = letters_of("ежи");

    (void)state;
    assert_true(keyboard_read(bytes_of("[kt,"), &read) && letters_equal(&read, &bread));
    assert_true(keyboard_read(bytes_of("{KT<"), &read) && letters_equal(&read, &bread));
    assert_true(keyboard_read(bytes_of("`;b"), &read) && letters_equal(&read, &hedgehogs));
    assert_false(keyboard_read(bytes_of("a1"), &read));
    assert_false(keyboard_read(bytes_of("хлеб"), &read));
    assert_false(keyboard_read(bytes_of(""), &read));
}

static bool touch(const char *one, const char *two)
{
    return keyboard_touch(letters_of(one).at[0], letters_of(two).at[0]);
}

static void neighbours_touch(void **state)
{
    (void)state;
    assert_true(touch("а", "п") && touch("п", "а") && touch("а", "к") && touch("а", "е"));
    assert_true(touch("g", "h") && touch("g", "t") && touch("g", "v") && touch("g", "b"));
    assert_false(touch("а", "о") || touch("а", "h") || touch("q", "p") || touch("g", "n"));
}

static bool reads(const char *text, const char *reading)
{
    struct letters letters = letters_of(text), wanted = letters_of(reading);
    struct letters readings[TRANSLITERATION_COUNT_MAX];
    size_t count = transliteration_read(&letters, readings);

    for (size_t i = 0; i < count; i++) {
        if (letters_equal(&readings[i], &wanted))
            return true;
    }
    return false;
}

static void scripts_are_read_both_ways(void **state)
{
    static const char *const cases[][2] = {
        {"velosiped", "велосипед"}, {"shuba", "шуба"},
        {"kvartira", "квартира"},   {"zhenskaya", "женская"},
        {"yubka", "юбка"},          {"tshchetno", "тщетно"},
        {"mashina", "машина"},      {"xolodilnik", "холодилник"},
        {"самсунг", "samsung"},     {"леново", "lenovo"},
        {"нокиа", "nokia"},         {"айфон", "iphon"},
        {"ксиаоми", "xiaomi"},      {"бош", "bosh"},
        {"шкода", "shkoda"},        {"филипс", "philips"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        if (!reads(cases[i][0], cases[i][1]))
            print_message("%s is not read as %s\n", cases[i][0], cases[i][1]);
        assert_true(reads(cases[i][0], cases[i][1]));
    }
    assert_false(reads("дом", "дом"));
}

static void readings_are_bounded(void **state)
{
    struct letters letters = letters_of("yeyeyeyeyeyeyeyeyeyeyeyeyeyeyeye");
    struct letters readings[TRANSLITERATION_COUNT_MAX];

    (void)state;
    assert_true(transliteration_read(&letters, readings) <= TRANSLITERATION_COUNT_MAX);
    letters = letters_of("щщщщщщщщщщщщщщщщщщщщщщщщщщщщщщщщ"); /* three letters each: too long */
    assert_int_equal(letters.size, SPELL_WORD_SIZE_MAX);
    assert_true(transliteration_read(&letters, readings) <= TRANSLITERATION_COUNT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_parts_into_words),
        cmocka_unit_test(what_has_digits_is_passed_by),
        cmocka_unit_test(every_key_is_read_both_ways),
        cmocka_unit_test(signs_are_letters_of_the_other_layout),
        cmocka_unit_test(neighbours_touch),
        cmocka_unit_test(scripts_are_read_both_ways),
        cmocka_unit_test(readings_are_bounded),
    };

    return cmocka_run_group_tests_name("spell-letters", tests, NULL, NULL);
}
