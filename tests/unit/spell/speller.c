/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of spell/speller.h: what is corrected, why, and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spell/bounds.h"
#include "spell_world.h"

static int open_world(void **state)
{
    *state = world_speller(NULL);
    return 0;
}

static int close_world(void **state)
{
    speller_close(*state);
    return 0;
}

static void assert_reason(struct speller *speller, const char *typed, const char *meant,
                          enum spell_reason reason)
{
    struct arena *arena = arena_new();
    struct spell_result result;

    assert_int_equal(spell_check(speller, bytes_of(typed), NULL, NULL, arena, &result, NULL), 0);
    if (!bytes_equal_text(result.text, meant))
        print_message("%s: %.*s, not %s\n", typed, BYTES_ARG(result.text), meant);
    assert_true(bytes_equal_text(result.text, meant));
    assert_int_equal(result.change_count, 1);
    assert_int_equal(result.changes[0].reason, reason);
    assert_true(bytes_equal_text(result.changes[0].original, typed));
    assert_true(bytes_equal_text(result.changes[0].corrected, meant));
    assert_true(result.changes[0].confidence > 0.5F && result.changes[0].confidence <= 1);
    assert_true(result.confidence == result.changes[0].confidence);
    arena_free(arena);
}

static void each_mistake_has_its_reason(void **state)
{
    assert_reason(*state, "велосепед", "велосипед", SPELL_TYPO);
    assert_reason(*state, "севодня", "сегодня", SPELL_TYPO);
    assert_reason(*state, "кросовки", "кроссовки", SPELL_TYPO);
    assert_reason(*state, "ноутбк", "ноутбук", SPELL_TYPO);
    assert_reason(*state, "оччччень", "очень", SPELL_TYPO);
    assert_reason(*state, "begining", "beginning", SPELL_TYPO);
    assert_reason(*state, "recieve", "receive", SPELL_TYPO);
    assert_reason(*state, "ghbdtn", "привет", SPELL_LAYOUT);
    assert_reason(*state, "[kt,", "хлеб", SPELL_LAYOUT);
    assert_reason(*state, "руддщ", "hello", SPELL_LAYOUT);
    assert_reason(*state, "velosiped", "велосипед", SPELL_TRANSLITERATION);
    assert_reason(*state, "norkovaya", "норковая", SPELL_TRANSLITERATION);
    assert_reason(*state, "горныйвелосипед", "горный велосипед", SPELL_SPLIT);
    assert_reason(*state, "вело сипед", "велосипед", SPELL_JOIN);
    assert_reason(*state, "кто то", "кто-то", SPELL_JOIN);
    assert_reason(*state, "изза", "из-за", SPELL_TYPO);
}

static void assert_kept(struct speller *speller, const char *text)
{
    assert_string_equal(world_correct(speller, text), text);
}

static void what_is_right_or_unclear_is_left_alone(void **state)
{
    assert_kept(*state, "");
    assert_kept(*state, "   ");
    assert_kept(*state, "купить горный велосипед");
    assert_kept(*state, "iPhone 15 Pro 256Gb, чёрный №1");
    assert_kept(*state, "велосипедоведов");
    assert_kept(*state, "sm-g991b/ds");
    assert_kept(*state, "рено128"); /* digits, though рено is unknown */
    assert_kept(*state, "квжщхф");  /* nobody can say */
    assert_kept(*state, "\xff\xd0 привет");
    assert_kept(*state, "hello, world.");
}

static void the_rest_of_the_text_stays_as_it_was(void **state)
{
    assert_string_equal(world_correct(*state, "  Купить: Велосепед,  ГОРНЙ!  (\xd0\xb0\xcc\x81)"),
                        "  Купить: Велосипед,  ГОРНЫЙ!  (\xd0\xb0\xcc\x81)");
}

static void several_words_are_weighed_together(void **state)
{
    assert_string_equal(world_correct(*state, "rehnrf pbvyzz"), "куртка зимняя");
    assert_string_equal(world_correct(*state, "деская каляска велосепед"),
                        "детская коляска велосипед");
}

static void a_text_longer_than_a_window_is_corrected_to_its_end(void **state)
{
    struct buf typed = BUF_INIT(SPELL_TEXT_SIZE_MAX), meant = BUF_INIT(SPELL_TEXT_SIZE_MAX);

    for (int i = 0; i < 3 * SPELL_WINDOW_COUNT_MAX + 5; i++) {
        buf_put_text(&typed, i % 3 ? "велосепед " : "вело сипед ");
        buf_put_text(&meant, "велосипед ");
    }
    /* A window may end between the halves of a word, which then stays as it is. */
    assert_true(strlen(world_correct(*state, buf_text(&typed))) < typed.size);
    buf_reset(&typed);
    buf_reset(&meant);
    for (int i = 0; i < 3 * SPELL_WINDOW_COUNT_MAX + 5; i++) {
        buf_put_text(&typed, "велосепед ");
        buf_put_text(&meant, "велосипед ");
    }
    assert_string_equal(world_correct(*state, buf_text(&typed)), buf_text(&meant));
    buf_release(&typed);
    buf_release(&meant);
}

static void a_new_brand_is_a_word_from_its_first_offer_on(void **state)
{
    assert_string_equal(world_correct(*state, "smasung"), "samsung");
    assert_string_equal(world_correct(*state, "самокад"), "самокат");
    world_learn(*state, "Электросамокат Smasung новый, Самокад", 2);
    assert_kept(*state, "smasung");
    assert_kept(*state, "самокад");
    assert_string_equal(world_correct(*state, "электросамокт"), "электросамокат");
}

static void far_more_frequent_neighbours_and_pairs_say_otherwise(void **state)
{
    world_learn(*state, "веласипед", 2);
    assert_kept(*state, "веласипед");
    world_learn(*state, "горный велосипед", 5000);
    assert_string_equal(world_correct(*state, "горный веласипед"), "горный велосипед");
}

/* код, кот and год are as common as each other: what stands before decides. */
static void recount(struct speller *speller, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        assert_int_equal(speller_recount(speller, bytes_of(text), NULL), 0);
}

static void words_that_a_recount_has_not_met_are_forgotten(void **state)
{
    uint64_t seen;

    world_learn(*state, "Smasung горный веласипед", 5);
    world_learn(*state, "zyxomat", 5);
    world_learn(*state, "qzxwvkjhgfdpytrq", 5);
    assert_string_equal(world_correct(*state, "qzxwkjhgfdpytrq"), "qzxwvkjhgfdpytrq");
    assert_string_equal(world_correct(*state, "smasng"), "smasung");
    assert_kept(*state, "веласипед");
    speller_recount_begin(*state);
    recount(*state, "zyxomat", 3);
    speller_recount_drop(*state); /* as if it had never begun */
    assert_string_equal(world_correct(*state, "smasng"), "smasung");

    speller_recount_begin(*state);
    recount(*state, "zyxomat", 3);
    world_learn(*state, "новый quilbrax", 1); /* meanwhile */
    speller_recount_end(*state);
    seen = speller_sizes(*state).seen_count;
    assert_int_equal(seen, 5);
    assert_int_equal(speller_sizes(*state).pair_count, 1);
    assert_string_equal(world_correct(*state, "smasng"), "samsung");
    assert_string_equal(world_correct(*state, "веласипед"), "велосипед"); /* a mistake again */
    assert_kept(*state, "qzxwkjhgfdpytrq");                               /* nobody can say */
    assert_string_equal(world_correct(*state, "zyxomt"), "zyxomat");
    assert_string_equal(world_correct(*state, "quilbrx"), "quilbrax");
    world_learn(*state, "smasung", 5);
    assert_string_equal(world_correct(*state, "smasng"), "smasung");
}

static void pairs_decide_between_equals(void **state)
{
    world_learn(*state, "сиамский кот", 30);
    world_learn(*state, "промокодный код", 30);
    assert_string_equal(world_correct(*state, "сиамский коь"), "сиамский кот");
    assert_string_equal(world_correct(*state, "промокодный коь"), "промокодный код");
}

struct hits {
    const char *text; /* finds count, everything else `others` */
    uint64_t count, others;
    int calls, rc;
};

static int count_hits(void *arg, struct bytes text, uint64_t *count, struct err *err)
{
    struct hits *hits = arg;

    hits->calls++;
    *count = bytes_equal_text(text, hits->text) ? hits->count : hits->others;
    return hits->rc ? err_set(err, hits->rc, "the index is away") : 0;
}

static void check_with(struct speller *speller, const char *text, struct hits *hits,
                       const char *expected, int rc)
{
    struct arena *arena = arena_new();
    struct spell_result result;
    struct err err;

    hits->calls = 0;
    assert_int_equal(spell_check(speller, bytes_of(text), count_hits, hits, arena, &result, &err),
                     rc);
    assert_true(bytes_equal_text(result.text, expected));
    assert_true(hits->calls <= 5);
    arena_free(arena);
}

static void good_hits_are_never_given_for_none(void **state)
{
    struct hits none = {.text = "велосепед", .count = 5}, more = {.text = "велосепед", .others = 9};
    struct hits away = {.text = "", .rc = ERR_UNAVAILABLE};

    check_with(*state, "велосепед", &none, "велосепед", 0);
    check_with(*state, "велосепед", &more, "велосипед", 0);
    check_with(*state, "велосепед", &away, "велосепед", ERR_UNAVAILABLE);
    check_with(*state, "велосипед", &more, "велосипед", 0);
}

/* A right word, but live data has it not and it finds nothing: then it is doubted. */
static void words_that_find_nothing_are_doubted(void **state)
{
    struct hits found = {.text = "айфон", .others = 3}, nothing = {.text = ""};

    world_learn(*state, "iphone 15 pro", 1000);
    check_with(*state, "айфон", &found, "iphone", 0);
    check_with(*state, "айфон", &nothing, "айфон", 0);
}

/* Beside words that stay a short word is not another one by two letters. */
static void a_short_name_is_not_another_one(void **state)
{
    struct hits found = {.text = "велосипед lowes", .others = 3};
    struct hits alone = {.text = "lowes", .others = 3};

    world_learn(*state, "owens велосипед", 1000);
    check_with(*state, "велосипед lowes", &found, "велосипед lowes", 0);
    check_with(*state, "lowes", &alone, "owens", 0); /* nothing else says what is meant */
    found.text = "велосипед owenz";
    check_with(*state, "велосипед owenz", &found, "велосипед owens", 0);
}

static void limits_are_told(void **state)
{
    static char text[SPELL_LEARN_SIZE_MAX + 1];
    struct arena *arena = arena_new();
    struct spell_result result;
    struct err err;

    memset(text, 'a', sizeof(text));
    assert_int_equal(spell_check(*state, bytes_make(text, SPELL_TEXT_SIZE_MAX + 1), NULL, NULL,
                                 arena, &result, &err),
                     ERR_LIMIT);
    assert_non_null(strstr(err.text, "8192"));
    assert_int_equal(result.change_count, 0);
    assert_int_equal(spell_check(*state, bytes_make(text, SPELL_TEXT_SIZE_MAX), NULL, NULL, arena,
                                 &result, &err),
                     0);
    assert_int_equal(speller_learn(*state, bytes_make(text, sizeof(text)), &err), ERR_LIMIT);
    assert_int_equal(speller_learn(*state, bytes_make(text, sizeof(text) - 1), &err), 0);
    assert_int_equal(speller_save(*state, BYTES_EMPTY, &err), ERR_PRECONDITION);
    arena_free(arena);
}

static void a_damaged_base_is_refused(void **state)
{
    struct buf base = BUF_INIT(1 << 20);
    struct speller *speller;
    struct err err;

    (void)state;
    world_base(&base);
    for (size_t size = 1; size < base.size; size += 7) {
        struct speller_options cut = {.base = bytes_make(base.data, size)};

        assert_int_equal(speller_open(&cut, &speller, &err), ERR_CORRUPT);
        assert_null(speller);
    }
    buf_release(&base);
}

static void opening_ends_when_it_is_not_wanted_any_more(void **state)
{
    struct buf base = BUF_INIT(1 << 20);
    atomic_bool stop = true;
    struct speller_options options = {.stop = &stop};
    struct speller *speller;
    struct err err;

    (void)state;
    assert_int_equal(speller_open(&options, &speller, &err), ERR_CANCELLED); /* without a base */
    assert_null(speller);
    world_base(&base);
    options.base = buf_bytes(&base);
    assert_int_equal(speller_open(&options, &speller, &err), ERR_CANCELLED);
    assert_null(speller);
    atomic_store(&stop, false);
    assert_int_equal(speller_open(&options, &speller, &err), 0);
    speller_close(speller);
    buf_release(&base);
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(each_mistake_has_its_reason),
        WORLD_TEST(what_is_right_or_unclear_is_left_alone),
        WORLD_TEST(the_rest_of_the_text_stays_as_it_was),
        WORLD_TEST(several_words_are_weighed_together),
        WORLD_TEST(a_text_longer_than_a_window_is_corrected_to_its_end),
        WORLD_TEST(a_new_brand_is_a_word_from_its_first_offer_on),
        WORLD_TEST(far_more_frequent_neighbours_and_pairs_say_otherwise),
        WORLD_TEST(words_that_a_recount_has_not_met_are_forgotten),
        WORLD_TEST(pairs_decide_between_equals),
        WORLD_TEST(good_hits_are_never_given_for_none),
        WORLD_TEST(words_that_find_nothing_are_doubted),
        WORLD_TEST(a_short_name_is_not_another_one),
        WORLD_TEST(limits_are_told),
        cmocka_unit_test(a_damaged_base_is_refused),
        cmocka_unit_test(opening_ends_when_it_is_not_wanted_any_more),
    };

    return cmocka_run_group_tests_name("spell-speller", tests, NULL, NULL);
}
