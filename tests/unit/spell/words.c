/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of spell/words.h: numbers stay, strangers are not found, there is an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spell/words.h"

enum { FEW = 20000, RIGHT_COUNT = 50000 };

/* A word for each number, of one to eight letters. */
static struct letters word_of(uint32_t number)
{
    struct letters word = {.size = 0};

    do {
        letters_add(&word,
                    (uint8_t)(number % 2 ? 'a' + number % 26 : LETTER_CYRILLIC + number % 26));
        number /= 26;
    } while (number);
    return word;
}

static void words_keep_their_numbers(void **state)
{
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);

    (void)state;
    for (uint32_t i = 0; i < FEW; i++) {
        struct letters word = word_of(i);

        assert_int_equal(words_find(words, word.at, word.size), WORDID_NONE);
        assert_int_equal(words_add(words, word.at, word.size), i);
        assert_int_equal(words_add(words, word.at, word.size), i);
    }
    words_see(words, 7, 3);
    words_set_base(words, 7, 60, true);
    for (uint32_t i = 0; i < FEW; i++) {
        struct letters word = word_of(i);
        const struct word *kept = words_get(words, i);

        assert_int_equal(words_find(words, word.at, word.size), i);
        assert_int_equal(kept->size, word.size);
        assert_memory_equal(words_letters(words, kept), word.at, word.size);
        assert_int_equal(kept->seen, i == 7 ? 3 : 0);
        assert_int_equal(kept->rarity, i == 7 ? 60 : 0);
    }
    assert_int_equal(words_count(words), FEW);
    assert_int_equal(words_seen(words), 3);
    words_free(words);
    epoch_free(epoch);
}

static void right_forms_are_told_from_others(void **state)
{
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);
    uint32_t mistaken = 0;

    (void)state;
    words_expect_right(words, RIGHT_COUNT);
    for (uint32_t i = 0; i < RIGHT_COUNT; i++) {
        struct letters word = word_of(i);

        assert_true(words_add_right(words, word.at, word.size));
    }
    for (uint32_t i = 0; i < 20 * RIGHT_COUNT; i++) {
        struct letters word = word_of(i);
        bool is_right = words_is_right(words, word.at, word.size);

        assert_true(is_right || i >= RIGHT_COUNT);
        mistaken += is_right && i >= RIGHT_COUNT;
    }
    assert_int_equal(mistaken, 0);
    words_free(words);
    epoch_free(epoch);
}

static void a_full_vocabulary_takes_no_more(void **state)
{
    struct epoch *epoch = epoch_new();
    struct words *words = words_new(epoch);
    struct letters one_more = word_of(SPELL_WORD_COUNT_MAX), first = word_of(0);

    (void)state;
    for (uint32_t i = 0; i < SPELL_WORD_COUNT_MAX; i++) {
        struct letters word = word_of(i);

        words_add(words, word.at, word.size);
    }
    assert_int_equal(words_count(words), SPELL_WORD_COUNT_MAX);
    assert_int_equal(words_add(words, one_more.at, one_more.size), WORDID_NONE);
    assert_int_equal(words_add(words, first.at, first.size), 0);
    words_free(words);
    epoch_free(epoch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_keep_their_numbers),
        cmocka_unit_test(right_forms_are_told_from_others),
        cmocka_unit_test(a_full_vocabulary_takes_no_more),
    };

    return cmocka_run_group_tests_name("spell-words", tests, NULL, NULL);
}
