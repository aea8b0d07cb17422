/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_table.c - keys in memory beside a naive array, births in blocks beside another.
 *
 * TORG_MODEL_SEED repeats a run.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "numerator/births.h"
#include "numerator/key_table.h"

enum { KEY_COUNT = 6000, ROUND_COUNT = 400, STEP_MAX = 120, KEY_SIZE = 32 };

struct model {
    uint32_t doc_id; /* NUMBER_NONE: it is not there */
    uint32_t birth;
    bool is_gone;
};

static struct rng seeded(void)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64();

    print_message("# seed %" PRIu64 "\n", seed);
    return rng_seeded(seed);
}

static struct bytes key_of(uint32_t key, char text[KEY_SIZE])
{
    snprintf(text, KEY_SIZE, "%.*s%" PRIu32, (int)(key % 20), "a-rather-long-prefix", key);
    return bytes_of(text);
}

static void compare(const struct key_table *table, const struct model *model)
{
    static struct number_ask asks[KEY_COUNT];
    static char texts[KEY_COUNT][KEY_SIZE];
    uint64_t count = 0;

    for (uint32_t i = 0; i < KEY_COUNT; i++)
        asks[i] = (struct number_ask){.key = key_of(i, texts[i])};
    key_table_find(table, asks, KEY_COUNT);
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        assert_int_equal(asks[i].doc_id, model[i].doc_id);
        if (model[i].doc_id == NUMBER_NONE)
            continue;
        count++;
        assert_int_equal(asks[i].birth, model[i].birth);
        assert_int_equal(asks[i].is_gone, model[i].is_gone);
    }
    assert_int_equal(key_table_count(table), count);
}

/* A number that was taken off its key is given to no other here. */
static void step(struct key_table *table, struct model *model, struct rng *rng)
{
    static uint32_t next_id;
    uint32_t key = (uint32_t)rng_below(rng, KEY_COUNT);
    struct model *its = &model[key];
    bool is_gone = rng_below(rng, 2);
    char text[KEY_SIZE];
    struct bytes bytes = key_of(key, text);

    switch (rng_below(rng, 4)) {
    case 0:
        key_table_mark(table, bytes, is_gone);
        its->is_gone = is_gone;
        break;
    case 1:
        key_table_remove(table, bytes);
        its->doc_id = NUMBER_NONE;
        break;
    default:
        if (its->doc_id != NUMBER_NONE) {
            assert_false(key_table_add(table, bytes, 1, 1, false));
            break;
        }
        *its =
            (struct model){next_id++, (uint32_t)rng_below(rng, 1 << rng_below(rng, 30)), is_gone};
        assert_true(key_table_add(table, bytes, its->doc_id, its->birth, is_gone));
    }
}

static void random_changes_agree_with_an_array(void **state)
{
    static struct model model[KEY_COUNT], before[KEY_COUNT];
    struct rng rng = seeded();
    struct key_table *table = key_table_new(rng_below(&rng, 2) ? KEY_COUNT : 50 * KEY_COUNT);

    (void)state;
    for (uint32_t i = 0; i < KEY_COUNT; i++)
        model[i].doc_id = NUMBER_NONE;
    for (int i = 0; i < ROUND_COUNT; i++) {
        bool is_kept = rng_below(&rng, 4) > 0;

        memcpy(before, model, sizeof(model));
        for (uint64_t k = rng_below(&rng, STEP_MAX); k > 0; k--)
            step(table, model, &rng);
        if (is_kept) {
            key_table_commit(table);
        } else {
            key_table_rollback(table);
            memcpy(model, before, sizeof(model));
        }
        if (i % 10 == 0)
            compare(table, model);
    }
    compare(table, model);
    key_table_free(table);
}

/* Keys as long as they may be, numbers of many generations: few bytes a key all the same. */
static void sixteen_bytes_are_enough(void **state)
{
    enum { COUNT = 300000 };
    struct key_table *table = key_table_new(COUNT);
    struct rng rng = seeded();
    char text[200];

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        /* a tenth of the numbers had an owner before, and got one again much later */
        uint32_t birth = rng_below(&rng, 10) ? i / 1000 : (uint32_t)rng_below(&rng, 10000000);

        snprintf(text, sizeof(text), "%0150" PRIu32, i);
        assert_true(key_table_add(table, bytes_of(text), i, birth, false));
        if (i % 1000 == 999)
            key_table_commit(table);
    }
    print_message("# %.2f bytes a key\n", (double)key_table_size(table) / COUNT);
    assert_true(key_table_size(table) <= (size_t)16 * COUNT);
    assert_false(key_table_is_crowded(table));
    key_table_free(table);
}

/* A table that was made for few keys tells when they have become too many, and refuses what it has
 * no room for. */
static void a_crowded_table_says_so(void **state)
{
    enum { COUNT = 20000 };
    struct key_table *table = key_table_new(10);
    char text[KEY_SIZE];
    uint32_t count = 0;

    (void)state;
    while (count < COUNT && !key_table_is_crowded(table) &&
           key_table_add(table, key_of(count, text), count, 1, false))
        count++;
    assert_in_range(count, 1000, COUNT - 1);
    while (count < COUNT && key_table_add(table, key_of(count, text), count, 1, false))
        count++;
    assert_int_equal(key_table_count(table), count); /* the one that was refused is not there */
    assert_in_range(count, 1000, COUNT - 1);
    key_table_free(table);
    table = key_table_new(COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(key_table_add(table, key_of(i, text), i, 1, false));
    assert_false(key_table_is_crowded(table));
    key_table_free(table);
}

/* Every width, in any order, beside an array. */
static void births_agree_with_an_array(void **state)
{
    enum { COUNT = 1000, SET_COUNT = 20000 };
    static uint32_t model[COUNT];
    static bool is_set[COUNT];
    struct births births = {0};
    struct rng rng = seeded();

    (void)state;
    for (int i = 0; i < SET_COUNT; i++) {
        uint32_t at = (uint32_t)rng_below(&rng, COUNT);
        uint64_t bits = rng_below(&rng, 33) * (i > SET_COUNT / 2) + 8 * (i > SET_COUNT / 4);

        model[at] = (uint32_t)rng_below(&rng, 1ULL << (bits > 32 ? 32 : bits));
        is_set[at] = true;
        births_set(&births, at, model[at]);
        if (i % 100 != 0)
            continue;
        for (uint32_t k = 0; k < COUNT; k++)
            if (is_set[k])
                assert_int_equal(births_get(&births, k), model[k]);
    }
    births_release(&births);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes_agree_with_an_array),
        cmocka_unit_test(sixteen_bytes_are_enough),
        cmocka_unit_test(a_crowded_table_says_so),
        cmocka_unit_test(births_agree_with_an_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
