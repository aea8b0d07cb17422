/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offers of the demo: right by the demo catalogue, repeatable, and different from each other.
 *
 * TORG_SAMPLES=50 prints the first fifty, to be read by a person.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "demo/drawing.h"
#include "demo/generator.h"
#include "offers/bounds.h"
#include "offers/record/offer_content.h"

enum { SEED = 2026, OFFER_COUNT = 12000, SET_SIZE = 1 << 16, JSON_SIZE_MAX = 1 << 20 };

static struct catalog *catalog;
static struct generator *generator;

static int open_all(void **state)
{
    struct buf json = BUF_INIT(JSON_SIZE_MAX);
    struct err err;
    int rc = file_read(DEMO_CATALOG, &json, &err);

    (void)state;
    if (!rc)
        rc = catalog_from_json(buf_bytes(&json), NULL, &catalog, &err);
    if (!rc)
        rc = generator_new(SEED, &generator, &err);
    if (rc)
        print_error("%s\n", err.text);
    buf_release(&json);
    return rc;
}

static int close_all(void **state)
{
    (void)state;
    generator_free(generator);
    catalog_unref(catalog);
    return 0;
}

static struct made_offer make(uint64_t number, struct arena *arena)
{
    struct made_offer offer;
    struct err err;

    if (generator_make(generator, catalog, number, arena, &offer, &err))
        fail_msg("offer %" PRIu64 ": %s", number, err.text);
    return offer;
}

static void every_offer_may_be_published(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    for (uint64_t i = 0; i < OFFER_COUNT; i++) {
        struct made_offer offer;
        struct violations violations;

        arena_reset(arena);
        violations = violations_in(arena);
        offer = make(i, arena);
        if (offer_content_check(offer.content, catalog, LANGUAGE_EN, &violations, NULL))
            fail_msg("offer %" PRIu64 " (%s, \"%s\"): %s %s", i, offer.kind, offer.content->title,
                     violations.first->field, violations.first->reason);
    }
    arena_free(arena);
}

/* What a template that went wrong leaves in a text. */
static void check_text(const struct made_offer *offer, const char *text)
{
    static const char *const traces[] = {"  ", "{",  "}",  "[", "]",  "<",  ">",  "|",  " ,",
                                         " .", "..", ",,", "@", "()", ",.", "?:", ". ,"};

    for (size_t i = 0; i < ARRAY_COUNT(traces); i++) {
        if (strstr(text, traces[i]))
            fail_msg("kind %s: \"%s\" in: %s", offer->kind, traces[i], text);
    }
    assert_true(*text && *text != ' ');
    assert_true(text_is_utf8(bytes_of(text)));
}

/* Of a language: a Russian text has Russian letters, an English one has none. */
static void check_language(const struct made_offer *offer, const char *text, bool whole)
{
    bool has_russian = false;

    for (const char *at = text; *at; at++)
        has_russian = has_russian || (uint8_t)*at == 0xd0 || (uint8_t)*at == 0xd1;
    if (offer->language == LANGUAGE_EN && has_russian)
        fail_msg("kind %s: Russian in an English text: %s", offer->kind, text);
    if (offer->language == LANGUAGE_RU && whole && !has_russian)
        fail_msg("kind %s: no Russian in: %s", offer->kind, text);
}

static void texts_are_whole(void **state)
{
    struct arena *arena = arena_new();

    (void)state;
    for (uint64_t i = 0; i < OFFER_COUNT; i++) {
        struct made_offer offer;

        arena_reset(arena);
        offer = make(i, arena);
        check_text(&offer, offer.content->title);
        check_text(&offer, offer.content->description);
        check_text(&offer, offer.content->address->text);
        check_language(&offer, offer.content->title, false);
        check_language(&offer, offer.content->description, true);
        check_language(&offer, offer.content->address->text, true);
        assert_true(*offer.seller && *offer.content->contacts->name);
        for (size_t k = 0; k < offer.content->n_attributes; k++) {
            const Torg__V1__AttributeValue *value = offer.content->attributes[k];

            assert_true(value->value_case || value->n_options);
        }
    }
    arena_free(arena);
}

static void every_picture_can_be_drawn(void **state)
{
    const size_t prefix = strlen(DEMO_PHOTO_PREFIX);
    struct arena *arena = arena_new();

    (void)state;
    for (uint64_t i = 0; i < OFFER_COUNT; i++) {
        struct made_offer offer;

        arena_reset(arena);
        offer = make(i, arena);
        for (size_t k = 0; k < offer.content->n_photos; k++) {
            const char *name = offer.content->photos[k]->source_url + prefix;

            if (!drawing_is_known(bytes_make(name, strcspn(name, "/"))))
                fail_msg("kind %s: there is no picture %s", offer.kind, name);
        }
    }
    arena_free(arena);
}

static void the_same_number_gives_the_same_offer(void **state)
{
    struct generator *other;
    struct arena *arena = arena_new();
    struct buf first = BUF_INIT(OFFER_SIZE_MAX);
    struct buf second = BUF_INIT(OFFER_SIZE_MAX);
    struct err err;

    (void)state;
    assert_int_equal(generator_new(SEED + 1, &other, &err), 0);
    for (uint64_t i = 0; i < 500; i++) {
        struct made_offer offer = make(i, arena);
        struct made_offer again = make(i, arena);
        struct made_offer foreign;

        buf_reset(&first);
        buf_reset(&second);
        message_encode(&offer.content->base, &first);
        message_encode(&again.content->base, &second);
        assert_true(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
        assert_string_equal(offer.seller, again.seller);
        assert_int_equal(generator_make(other, catalog, i, arena, &foreign, &err), 0);
        buf_reset(&second);
        message_encode(&foreign.content->base, &second);
        assert_false(bytes_equal(buf_bytes(&first), buf_bytes(&second)));
    }
    generator_free(other);
    buf_release(&first);
    buf_release(&second);
    arena_free(arena);
}

/* How many different hashes there are. */
static size_t count_different(uint64_t *hashes, size_t count)
{
    uint64_t *set = mem_array(SET_SIZE, sizeof(*set));
    size_t different = 0;

    assert_true(count < SET_SIZE / 2);
    for (size_t i = 0; i < count; i++) {
        size_t slot = hashes[i] % SET_SIZE;

        while (set[slot] && set[slot] != hashes[i])
            slot = (slot + 1) % SET_SIZE;
        different += !set[slot];
        set[slot] = hashes[i];
    }
    free(set);
    return different;
}

static void neighbours_differ_and_few_are_alike(void **state)
{
    uint64_t *titles = mem_array(OFFER_COUNT, sizeof(*titles));
    uint64_t *texts = mem_array(OFFER_COUNT, sizeof(*texts));
    uint64_t *sellers = mem_array(OFFER_COUNT, sizeof(*sellers));
    struct arena *arena = arena_new();
    char before[64] = "";
    size_t english = 0;
    size_t title_count;
    size_t text_count;
    size_t seller_count;

    (void)state;
    for (uint64_t i = 0; i < OFFER_COUNT; i++) {
        struct made_offer offer;

        arena_reset(arena);
        offer = make(i, arena);
        assert_string_not_equal(offer.kind, before);
        snprintf(before, sizeof(before), "%s", offer.kind);
        titles[i] = hash64(bytes_of(offer.content->title));
        texts[i] = hash64(bytes_of(offer.content->description));
        sellers[i] = hash64(bytes_of(offer.seller));
        english += offer.language == LANGUAGE_EN;
    }
    title_count = count_different(titles, OFFER_COUNT);
    text_count = count_different(texts, OFFER_COUNT);
    seller_count = count_different(sellers, OFFER_COUNT);
    print_message("of %d offers %zu titles, %zu texts, %zu sellers; %zu in English\n", OFFER_COUNT,
                  title_count, text_count, seller_count, english);
    assert_true(title_count > OFFER_COUNT / 2);
    assert_true(text_count > OFFER_COUNT * 8 / 10);
    assert_true(seller_count > OFFER_COUNT / 5 && seller_count < OFFER_COUNT);
    assert_true(english > OFFER_COUNT / 20 && english < OFFER_COUNT / 3);
    free(titles);
    free(texts);
    free(sellers);
    arena_free(arena);
}

static void prices_are_round(void **state)
{
    static const struct {
        double price;
        bool is_shop;
        int64_t rounded;
    } cases[] = {{0, false, 0},           {-5, false, 0},
                 {3, false, 10},          {457, false, 450},
                 {1234, false, 1200},     {12345, false, 12500},
                 {123456, false, 125000}, {1234567, false, 1250000},
                 {12345, true, 12490},    {999, true, 1000},
                 {1010, true, 990},       {12345678, false, 12300000}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_int_equal(generator_round_price(cases[i].price, cases[i].is_shop), cases[i].rounded);
}

static void print_offer(uint64_t number)
{
    struct arena *arena = arena_new();
    struct made_offer offer = make(number, arena);
    const Torg__V1__OfferContent *content = offer.content;

    printf("# %" PRIu64 " [%s, %s] %s -- ", number, content->category, offer.seller,
           content->title);
    if (content->price)
        printf("%" PRId64 " RUB", content->price->amount / 100);
    printf("\n#     %s\n#     %s;", content->description, content->address->text);
    for (size_t i = 0; i < content->n_attributes; i++) {
        const Torg__V1__AttributeValue *value = content->attributes[i];

        printf(" %s=", value->attribute_id);
        for (size_t k = 0; k < value->n_options; k++)
            printf("%s%s", k ? "," : "", value->options[k]);
        if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_DECIMAL)
            printf("%s%s", value->decimal, value->unit);
        else if (value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_TEXT)
            printf("%s", value->text);
        else if (value->value_case)
            printf("%" PRId64,
                   value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_INTEGER ? value->integer
                   : value->value_case == TORG__V1__ATTRIBUTE_VALUE__VALUE_YEAR  ? value->year
                                                                                 : value->flag);
    }
    printf("\n");
    arena_free(arena);
}

/* The shop's life changes these alone. */
static void what_visitors_made_is_known(void **state)
{
    static const char *const others[] = {"", "1", "demo", "Demo-1", "my-demo-1"};
    struct arena *arena = arena_new();

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        assert_true(generator_is_own(make(i, arena).content->external_id));
    for (size_t i = 0; i < ARRAY_COUNT(others); i++)
        assert_false(generator_is_own(others[i]));
    arena_free(arena);
}

static void samples_can_be_read(void **state)
{
    const char *wanted = getenv("TORG_SAMPLES");
    const char *first = getenv("TORG_SAMPLE_FIRST");
    uint64_t count = 1;
    uint64_t begin = 0;

    (void)state;
    if (wanted)
        assert_true(text_to_u64(bytes_of(wanted), &count) && count <= OFFER_COUNT);
    if (first)
        assert_true(text_to_u64(bytes_of(first), &begin));
    for (uint64_t i = 0; i < count; i++)
        print_offer(begin + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_offer_may_be_published),
        cmocka_unit_test(texts_are_whole),
        cmocka_unit_test(every_picture_can_be_drawn),
        cmocka_unit_test(the_same_number_gives_the_same_offer),
        cmocka_unit_test(neighbours_differ_and_few_are_alike),
        cmocka_unit_test(prices_are_round),
        cmocka_unit_test(what_visitors_made_is_known),
        cmocka_unit_test(samples_can_be_read),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
