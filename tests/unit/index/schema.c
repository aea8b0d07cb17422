/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of index/schema.h and dictionary.h: growing, refusing, storing, finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/columns/dictionary.h"
#include "index/schema.h"

static int add(struct schema *schema, struct field field, struct err *err)
{
    return schema_add(schema, &field, NULL, err);
}

static void fields_are_added_and_stay(void **state)
{
    struct schema *schema = schema_new();
    struct err err;
    uint16_t id;
    int i;

    (void)state;
    assert_int_equal(add(schema, (struct field){.name = "title", .type = FIELD_TEXT}, &err), 0);
    for (i = 0; i < 2; i++)
        assert_int_equal(
            schema_add(schema, &(struct field){.name = "цена", .type = FIELD_DECIMAL, .scale = 2},
                       &id, &err),
            0);
    assert_int_equal(id, 1);
    assert_int_equal(schema_count(schema), 2);
    assert_int_equal(schema_find(schema, bytes_of("цена"))->scale, 2);
    assert_true(schema_field(schema, 0)->weight == 1);
    assert_null(schema_find(schema, bytes_of("price")));
    assert_null(schema_field(schema, 2));

    assert_int_equal(add(schema, (struct field){.name = "title", .type = FIELD_KEYWORD}, &err),
                     ERR_PRECONDITION);
    assert_non_null(strstr(err.text, "text"));
    assert_non_null(strstr(err.text, "keyword"));
    assert_int_equal(
        add(schema, (struct field){.name = "цена", .type = FIELD_DECIMAL, .scale = 3}, &err),
        ERR_PRECONDITION);
    schema_free(schema);
}

static void bad_fields_are_refused(void **state)
{
    static char long_name[SCHEMA_NAME_SIZE_MAX + 2];
    const struct field bad[] = {
        {.name = "", .type = FIELD_TEXT},
        {.name = "two words", .type = FIELD_TEXT},
        {.name = "\xff", .type = FIELD_TEXT},
        {.name = long_name, .type = FIELD_TEXT},
        {.name = "x", .type = 0},
        {.name = "x", .type = FIELD_STORED + 1},
        {.name = "x", .type = FIELD_INTEGER, .multiple = true},
        {.name = "x", .type = FIELD_INTEGER, .scale = 1},
        {.name = "x", .type = FIELD_DECIMAL, .scale = FIELD_SCALE_MAX + 1},
        {.name = "x", .type = FIELD_DATE, .value_count_max = 5},
        {.name = "x", .type = FIELD_KEYWORD, .value_count_max = KEYWORD_COUNT_MAX + 1},
        {.name = "x", .type = FIELD_TEXT, .weight = -1},
    };
    struct schema *schema = schema_new();
    char name[20];
    struct err err;
    size_t i;

    (void)state;
    memset(long_name, 'a', sizeof(long_name) - 1);
    for (i = 0; i < ARRAY_COUNT(bad); i++)
        assert_int_equal(schema_add(schema, &bad[i], NULL, &err), ERR_INVALID);
    for (i = 0; i < SCHEMA_FIELD_COUNT_MAX; i++) {
        snprintf(name, sizeof(name), "f%zu", i);
        assert_int_equal(add(schema, (struct field){.name = name, .type = FIELD_STORED}, &err), 0);
    }
    assert_int_equal(add(schema, (struct field){.name = "more", .type = FIELD_STORED}, &err),
                     ERR_LIMIT);
    schema_free(schema);
}

static void stored_and_read_again(void **state)
{
    const struct field fields[] = {
        {.name = "title", .type = FIELD_TEXT, .weight = 2.5F},
        {.name = "brand", .type = FIELD_KEYWORD, .filterable = true, .value_count_max = 900},
        {.name = "tags", .type = FIELD_KEYWORD, .multiple = true},
        {.name = "price", .type = FIELD_DECIMAL, .scale = 2, .filterable = true},
        {.name = "where", .type = FIELD_GEO},
    };
    struct schema *schema = schema_new();
    struct schema *again = schema_new();
    struct buf one = BUF_INIT(SCHEMA_SIZE_MAX);
    struct buf two = BUF_INIT(SCHEMA_SIZE_MAX);
    struct err err;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(fields); i++)
        assert_int_equal(schema_add(schema, &fields[i], NULL, &err), 0);
    schema_encode(schema, &one);
    assert_int_equal(schema_decode(again, buf_bytes(&one), &err), 0);
    schema_encode(again, &two);
    assert_true(bytes_equal(buf_bytes(&one), buf_bytes(&two)));
    assert_true(schema_field(again, 0)->weight == 2.5F);
    assert_true(schema_field(again, 2)->multiple);
    schema_free(again);

    again = schema_new();
    for (i = 0; i < one.size * 8; i++) { /* every single bit matters */
        one.data[i / 8] ^= (uint8_t)(1 << (i % 8));
        assert_true(schema_decode(again, buf_bytes(&one), &err) < 0);
        assert_int_equal(schema_count(again), 0);
        one.data[i / 8] ^= (uint8_t)(1 << (i % 8));
    }
    for (i = 0; i < one.size; i++)
        assert_true(schema_decode(again, bytes_make(one.data, i), &err) < 0);
    assert_int_equal(schema_decode(again, buf_bytes(&one), &err), 0);
    schema_free(schema);
    schema_free(again);
    buf_release(&one);
    buf_release(&two);
}

/* ---- dictionary ---- */

enum { WORD_COUNT = 3000 };

static struct bytes word(char text[16], uint32_t number)
{
    return bytes_make(text, (size_t)snprintf(text, 16, "w%u", number));
}

static void ordinals_are_for_ever_and_limited(void **state)
{
    struct epoch *epoch = epoch_new();
    struct dictionary *dictionary = dictionary_new(epoch, "colour", WORD_COUNT);
    static uint8_t long_word[KEYWORD_SIZE_MAX + 1];
    char text[16];
    struct err err;
    uint32_t ordinal;
    uint32_t i;

    (void)state;
    assert_int_equal(
        dictionary_add(dictionary, bytes_make(long_word, sizeof(long_word)), &ordinal, &err),
        ERR_LIMIT);
    assert_non_null(strstr(err.text, "\"colour\""));
    assert_int_equal(dictionary_add(dictionary, BYTES_EMPTY, &ordinal, &err), 0);
    for (i = 1; i < WORD_COUNT; i++) {
        assert_int_equal(dictionary_find(dictionary, word(text, i)), ORDINAL_NONE);
        assert_int_equal(dictionary_add(dictionary, word(text, i), &ordinal, &err), 0);
        assert_int_equal(ordinal, i);
    }
    assert_int_equal(dictionary_add(dictionary, bytes_of("more"), &ordinal, &err), ERR_LIMIT);
    assert_non_null(strstr(err.text, "\"colour\""));
    assert_non_null(strstr(err.text, "3000"));
    assert_int_equal(dictionary_add(dictionary, word(text, 77), &ordinal, &err), 0);
    assert_int_equal(ordinal, 77);
    for (i = 1; i < WORD_COUNT; i++) {
        assert_int_equal(dictionary_find(dictionary, word(text, i)), i);
        assert_true(bytes_equal(dictionary_name(dictionary, i), word(text, i)));
    }
    assert_int_equal(dictionary_find(dictionary, BYTES_EMPTY), 0);
    dictionary_free(dictionary);
    epoch_free(epoch);
}

static void subtrees_by_path(void **state)
{
    static const char *const paths[] = {"cars",         "cars/audi", "carsharing",
                                        "cars/audi/a4", "flats",     "car"};
    struct epoch *epoch = epoch_new();
    struct dictionary *dictionary = dictionary_new(epoch, "category", 100);
    uint64_t bits = 0;
    uint32_t ordinal;
    size_t i;

    (void)state;
    for (i = 0; i < ARRAY_COUNT(paths); i++)
        assert_int_equal(dictionary_add(dictionary, bytes_of(paths[i]), &ordinal, NULL), 0);
    assert_int_equal(dictionary_subtree(dictionary, bytes_of("cars"), &bits, 64), 3);
    assert_int_equal(bits, 1 | 2 | 8);
    bits = 0;
    assert_int_equal(dictionary_subtree(dictionary, bytes_of("cars"), &bits, 3), 2);
    dictionary_free(dictionary);
    epoch_free(epoch);
}

struct race {
    struct epoch *epoch;
    struct dictionary *dictionary;
    _Atomic int stop;
    _Atomic int bad;
};

static void *look(void *context)
{
    struct race *race = context;
    struct rng rng = rng_seeded(9);
    struct epoch_slot *slot;

    if (epoch_join(race->epoch, &slot, NULL))
        abort();
    while (!atomic_load(&race->stop)) {
        uint32_t count;
        char text[16];

        epoch_enter(slot);
        count = dictionary_count(race->dictionary);
        if (count) {
            uint32_t i = (uint32_t)rng_below(&rng, count);

            if (dictionary_find(race->dictionary, word(text, i)) != i ||
                !bytes_equal(dictionary_name(race->dictionary, i), word(text, i)))
                atomic_fetch_add(&race->bad, 1);
        }
        epoch_exit(slot);
    }
    epoch_leave(slot);
    return NULL;
}

static void readers_find_while_it_grows(void **state)
{
    struct race race = {.epoch = epoch_new()};
    pthread_t reader;
    uint32_t ordinal;
    char text[16];
    uint32_t i;

    (void)state;
    race.dictionary = dictionary_new(race.epoch, "w", 50000);
    assert_int_equal(pthread_create(&reader, NULL, look, &race), 0);
    for (i = 0; i < 50000; i++)
        assert_int_equal(dictionary_add(race.dictionary, word(text, i), &ordinal, NULL), 0);
    atomic_store(&race.stop, 1);
    pthread_join(reader, NULL);
    assert_int_equal(race.bad, 0);
    dictionary_free(race.dictionary);
    epoch_free(race.epoch);
}

/* With any setting changed of the first field of two, or of the second. */
static void schemas_are_alike_as_far_as_their_fields_are(void **state)
{
    const struct field first = {.type = FIELD_KEYWORD, .name = "tags", .value_count_max = 100};
    const struct field second = {.type = FIELD_INTEGER, .name = "price"};
    const struct field others[] = {
        {.type = FIELD_CATEGORY, .name = "tags", .value_count_max = 100},
        {.type = FIELD_KEYWORD, .name = "tag", .value_count_max = 100},
        {.type = FIELD_KEYWORD, .name = "tags", .value_count_max = 101},
        {.type = FIELD_KEYWORD, .name = "tags", .value_count_max = 100, .multiple = true},
        {.type = FIELD_KEYWORD, .name = "tags", .value_count_max = 100, .filterable = true},
        {.type = FIELD_DECIMAL, .name = "tags", .scale = 1},
        {.type = FIELD_DECIMAL, .name = "tags", .scale = 2},
        {.type = FIELD_TEXT, .name = "tags", .weight = 1},
        {.type = FIELD_TEXT, .name = "tags", .weight = 2},
    };
    enum { COUNT = sizeof(others) / sizeof(others[0]) };
    struct schema *schemas[COUNT];
    struct schema *one = schema_new(), *like = schema_new(), *turned = schema_new();

    (void)state;
    assert_int_equal(schema_add(one, &first, NULL, NULL), 0);
    assert_true(schema_begins_alike(one, like, 0));
    assert_false(schema_begins_alike(one, like, 1)); /* it has none */
    assert_int_equal(schema_add(like, &first, NULL, NULL), 0);
    assert_int_equal(schema_add(like, &second, NULL, NULL), 0);
    assert_true(schema_begins_alike(one, like, 1));
    assert_false(schema_begins_alike(one, like, 2));
    assert_int_equal(schema_add(one, &second, NULL, NULL), 0);
    assert_true(schema_begins_alike(one, like, 2));
    assert_int_equal(schema_add(turned, &second, NULL, NULL), 0);
    assert_int_equal(schema_add(turned, &first, NULL, NULL), 0);
    assert_false(schema_begins_alike(one, turned, 2));
    for (int i = 0; i < COUNT; i++) {
        schemas[i] = schema_new();
        assert_int_equal(schema_add(schemas[i], &others[i], NULL, NULL), 0);
        assert_int_equal(schema_add(schemas[i], &second, NULL, NULL), 0);
        for (uint32_t count = 0; count <= 2; count++) {
            assert_int_equal(schema_begins_alike(one, schemas[i], count), count == 0);
            for (int k = 0; k < i; k++)
                assert_int_equal(schema_begins_alike(schemas[k], schemas[i], count), count == 0);
        }
    }
    for (int i = 0; i < COUNT; i++)
        schema_free(schemas[i]);
    schema_free(one);
    schema_free(like);
    schema_free(turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_added_and_stay),
        cmocka_unit_test(bad_fields_are_refused),
        cmocka_unit_test(stored_and_read_again),
        cmocka_unit_test(schemas_are_alike_as_far_as_their_fields_are),
        cmocka_unit_test(ordinals_are_for_ever_and_limited),
        cmocka_unit_test(subtrees_by_path),
        cmocka_unit_test(readers_find_while_it_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
