/* SPDX-License-Identifier: Apache-2.0 */
/* ids.c - offer ids and freshness tokens: what they look like, and which errors they find. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "offers/record/freshness.h"
#include "offers/record/offer_id.h"

static struct rng rng_told(void)
{
    uint64_t seed = random_u64();

    print_message("seed %" PRIu64 "\n", seed);
    return rng_seeded(seed);
}

static int parse(const char *text, offerid *id, struct err *err)
{
    return offer_id_parse(bytes_of(text), id, err);
}

static void an_id_comes_back_from_its_text(void **state)
{
    struct rng rng = rng_told();
    char text[OFFER_ID_TEXT_SIZE];
    struct err err;
    offerid id;

    for (int i = 0; i < 10000; i++) {
        offerid made = offer_id_make(rng_next(&rng));

        assert_in_range(made, INT64_C(1000000000000000), INT64_C(9999999999999999));
        offer_id_format(made, text);
        assert_int_equal(strlen(text), 19);
        assert_int_equal(parse(text, &id, &err), 0);
        assert_int_equal(id, made);
    }
}

static void the_ends_of_the_space_are_ids(void **state)
{
    char text[OFFER_ID_TEXT_SIZE];
    struct err err;
    offerid id;

    offer_id_format(offer_id_make(0), text);
    assert_memory_equal(text, "1000-0000-0000-000", 18);
    assert_int_equal(parse(text, &id, &err), 0);
    offer_id_format(offer_id_make(UINT64_C(899999999999999)), text);
    assert_memory_equal(text, "9999-9999-9999-999", 18);
    assert_int_equal(parse(text, &id, &err), 0);
}

/* Every wrong digit, and every two neighbours exchanged, of many ids. */
static void typos_are_found(void **state)
{
    struct rng rng = rng_told();
    char right[OFFER_ID_TEXT_SIZE];
    char wrong[OFFER_ID_TEXT_SIZE];
    struct err err;
    offerid id;

    for (int i = 0; i < 500; i++) {
        offer_id_format(offer_id_make(rng_next(&rng)), right);
        for (size_t at = 0; at < 19; at++) {
            size_t next = at + 1 + (right[at + 1] == '-');

            if (right[at] == '-')
                continue;
            for (char digit = '0'; digit <= '9'; digit++) {
                memcpy(wrong, right, sizeof(wrong));
                wrong[at] = digit;
                assert_int_equal(parse(wrong, &id, &err), digit == right[at] ? 0 : ERR_INVALID);
            }
            memcpy(wrong, right, sizeof(wrong));
            if (next < 19) {
                wrong[at] = right[next];
                wrong[next] = right[at];
                assert_int_equal(parse(wrong, &id, &err),
                                 right[at] == right[next] ? 0 : ERR_INVALID);
            }
        }
    }
}

static void a_typo_is_told_from_another_form(void **state)
{
    char text[OFFER_ID_TEXT_SIZE];
    struct err err;
    offerid id;

    offer_id_format(offer_id_make(12345), text);
    text[18] = text[18] == '0' ? '1' : '0';
    assert_int_equal(parse(text, &id, &err), ERR_INVALID);
    assert_non_null(strstr(err.text, "typo"));
    assert_int_equal(id, 0);
    for (size_t i = 0; i < 7; i++) {
        static const char *const others[] = {
            "",
            "123",
            "12345678901234567",
            "0123-4567-8901-2345",
            "x",
            "1234-5678-9012-345a",
            "99999999999999999999999999999999999999999999999999999999"};

        assert_int_equal(parse(others[i], &id, &err), ERR_INVALID);
        assert_null(strstr(err.text, "typo"));
        assert_non_null(strstr(err.text, "16 digits"));
    }
}

static void dashes_and_blanks_do_not_matter(void **state)
{
    offerid made = offer_id_make(777);
    struct err err;
    char text[64];
    offerid id;

    snprintf(text, sizeof(text), "%" PRId64, made);
    assert_int_equal(parse(text, &id, &err), 0);
    assert_int_equal(id, made);
    snprintf(text, sizeof(text), " %" PRId64 " - ", made);
    assert_int_equal(parse(text, &id, &err), 0);
    assert_int_equal(id, made);
}

static const struct seal seal = {{1, 2, 3}};

static void a_token_comes_back(void **state)
{
    const struct freshness made = {
        .shard = 63, .seq = INT64_C(5000000000), .offer = offer_id_make(99), .revision = 7};
    struct arena *arena = arena_new();
    struct freshness read = {0};
    struct err err;
    char *text = freshness_text(&made, &seal, arena);

    assert_int_equal(freshness_parse(bytes_of(text), &seal, &read, &err), 0);
    assert_int_equal(read.shard, made.shard);
    assert_int_equal(read.seq, made.seq);
    assert_int_equal(read.offer, made.offer);
    assert_int_equal(read.revision, made.revision);
    assert_null(strpbrk(text, "+/="));
    arena_free(arena);
}

/* Whoever does not have the key: no byte can be another, and no other key makes the same seal. */
static void a_token_cannot_be_made_up(void **state)
{
    const struct freshness made = {.shard = 1, .seq = 2, .offer = 3, .revision = 4};
    const struct seal other = {{1, 2, 4}};
    struct arena *arena = arena_new();
    char *text = freshness_text(&made, &seal, arena);
    struct freshness read;
    struct err err;

    (void)state;
    for (char *at = text; *at; at++) {
        char was = *at;

        *at = was == 'B' ? 'C' : 'B';
        assert_int_not_equal(freshness_parse(bytes_of(text), &seal, &read, &err), 0);
        *at = was;
    }
    assert_int_equal(freshness_parse(bytes_of(text), &other, &read, &err), ERR_INVALID);
    assert_int_equal(freshness_parse(bytes_of(text), &seal, &read, &err), 0);
    arena_free(arena);
}

static void a_damaged_token_is_refused(void **state)
{
    const struct freshness made = {.shard = 1, .seq = 2, .offer = 3, .revision = 4};
    struct arena *arena = arena_new();
    char *text = freshness_text(&made, &seal, arena);
    struct freshness read;
    struct err err;

    for (size_t size = 0; size < strlen(text); size++)
        assert_int_equal(freshness_parse(bytes_make(text, size), &seal, &read, &err), ERR_INVALID);
    assert_int_equal(
        freshness_parse(bytes_of(arena_printf(arena, "%sAAAA", text)), &seal, &read, &err),
        ERR_INVALID);
    assert_int_equal(freshness_parse(bytes_of("not a token"), &seal, &read, &err), ERR_INVALID);
    /* what everyone could write, before there was a seal */
    assert_int_equal(freshness_parse(bytes_of("ASABkOvxpc7d5A8B"), &seal, &read, &err),
                     ERR_PRECONDITION);
    text[0] = 'x';
    assert_int_equal(freshness_parse(bytes_of(text), &seal, &read, &err), ERR_INVALID);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_comes_back_from_its_text),
        cmocka_unit_test(the_ends_of_the_space_are_ids),
        cmocka_unit_test(typos_are_found),
        cmocka_unit_test(a_typo_is_told_from_another_form),
        cmocka_unit_test(dashes_and_blanks_do_not_matter),
        cmocka_unit_test(a_token_comes_back),
        cmocka_unit_test(a_token_cannot_be_made_up),
        cmocka_unit_test(a_damaged_token_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
