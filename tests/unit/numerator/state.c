/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a state: the five cases of the design, and random runs beside a naive model.
 * TORG_MODEL_SEED repeats one.
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

#include "base/memory.h"
#include "base/random.h"
#include "numerator/state.h"

enum { KEY_COUNT = 60, SHARD_COUNT = 2, RUN_COUNT = 60, ROUND_COUNT = 200 };

static char texts[1000][16];
static const struct number_version version = {1, SHARD_COUNT, 3, 0};

static struct number_present present(int key)
{
    snprintf(texts[key], sizeof(texts[key]), "key-%d", key);
    return (struct number_present){.key = bytes_of(texts[key])};
}

/* Keys first to last are there; the answers stay in `keys`. */
static struct number_run run_range(struct number_state *state, int first, int last,
                                   struct number_present *keys,
                                   const struct number_run_options *options)
{
    const struct number_run_options none = {0};
    uint64_t count = (uint64_t)last - (uint64_t)first + 1;
    struct number_run run;
    struct err err = {0};

    for (int i = first; i <= last; i++)
        keys[i - first] = present(i);
    if (number_state_run(state, keys, count, options ? options : &none, &run, &err))
        fail_msg("%s", err.text);
    return run;
}

static struct number_state *one_shard(uint32_t ttl, uint32_t hold)
{
    const struct number_rules rules = {.ttl_generations = ttl, .hold_generations = hold};

    return number_state_new(&version, 1, &rules);
}

static void forced_rebuild_has_as_many_numbers_as_keys(void **unused)
{
    const struct number_rules rules = {.ttl_generations = 10};
    struct number_state *state = number_state_new(&version, SHARD_COUNT, &rules);
    struct number_present keys[100];
    uint32_t count[SHARD_COUNT] = {0};
    struct number_run run;

    run_range(state, 0, 99, keys, NULL);
    run = run_range(state, 50, 89, keys, &(struct number_run_options){.is_rebuild_forced = true});
    assert_true(run.is_rebuilt);
    assert_int_equal(run.expired_count, 60);
    for (int i = 0; i < 40; i++)
        count[keys[i].shard]++;
    for (uint32_t i = 0; i < SHARD_COUNT; i++)
        assert_int_equal(number_state_shard_size(state, i), count[i]);
    assert_int_equal(number_state_key_count(state), 40);
    assert_int_equal(number_state_version(state).rebuild, version.rebuild + 1);
    number_state_free(state);
}

static void past_the_life_with_nothing_expired_new_ones_come_after_the_highest(void **unused)
{
    struct number_state *state = one_shard(2, 0);
    struct number_present keys[100];
    struct number_run run;

    for (int i = 0; i < 6; i++)
        run = run_range(state, 0, 9 + i, keys, NULL); /* one new each time, all are seen */
    assert_int_equal(number_state_version(state).generation, 6);
    assert_int_equal(run.expired_count, 0);
    assert_int_equal(run.new_count, 1);
    assert_int_equal(run.reused_count, 0);
    assert_int_equal(keys[14].doc_id, 14);
    assert_int_equal(keys[14].birth, 6);
    number_state_free(state);
}

static void past_the_life_numbers_of_the_expired_come_first(void **unused)
{
    struct number_state *state = one_shard(2, 0);
    struct number_present keys[100];
    struct number_run run;

    run_range(state, 0, 9, keys, NULL);        /* G 1 */
    run_range(state, 3, 10, keys, NULL);       /* G 2: 0 to 2 unseen */
    run = run_range(state, 3, 11, keys, NULL); /* G 3: for two generations, which is the life */
    assert_int_equal(run.expired_count, 0);
    assert_int_equal(keys[8].doc_id, 11);
    run = run_range(state, 3, 16, keys, NULL); /* G 4: five new, three numbers are free */
    assert_int_equal(run.expired_count, 3);
    assert_int_equal(run.new_count, 5);
    assert_int_equal(run.reused_count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(keys[9 + i].doc_id, i);
    assert_int_equal(keys[9].birth, 4);
    assert_int_equal(keys[12].doc_id, 12);
    assert_int_equal(keys[13].doc_id, 13);
    number_state_free(state);
}

static void a_hold_keeps_numbers_back(void **unused)
{
    struct number_state *state = one_shard(0, 2);
    struct number_present keys[100];
    struct number_run run;

    run_range(state, 0, 9, keys, NULL);        /* G 1 */
    run = run_range(state, 1, 10, keys, NULL); /* G 2: 0 is gone, its number held from 1 on */
    assert_int_equal(run.expired_count, 1);
    assert_int_equal(keys[9].doc_id, 10);
    run_range(state, 1, 11, keys, NULL); /* G 3 */
    assert_int_equal(keys[10].doc_id, 11);
    run_range(state, 1, 12, keys, NULL); /* G 4 */
    assert_int_equal(keys[11].doc_id, 0);
    number_state_free(state);
}

static void many_holes_make_a_rebuild(void **unused)
{
    const struct number_run_options options = {.hole_share_max = 0.5};
    struct number_state *state = one_shard(0, 0);
    struct number_present keys[100];
    struct number_run run;

    run_range(state, 0, 99, keys, &options);
    run = run_range(state, 49, 98, keys, &options); /* nothing is new: nothing expires */
    assert_false(run.is_rebuilt);
    run = run_range(state, 60, 100, keys, &options); /* 59 holes of 100 */
    assert_true(run.is_rebuilt);
    assert_int_equal(number_state_shard_size(state, 0), 41);
    for (int i = 0; i < 41; i++)
        assert_true(keys[i].doc_id < 41);
    assert_int_equal(number_state_version(state).rebuild, version.rebuild + 1);
    number_state_free(state);
}

static void ordinarily_known_keys_stay_and_new_ones_follow(void **unused)
{
    struct number_state *state = one_shard(5, 0);
    struct number_present keys[100];
    struct number_run run;

    run_range(state, 0, 9, keys, NULL);
    run = run_range(state, 5, 14, keys, NULL);
    assert_int_equal(run.kept_count, 5);
    assert_int_equal(run.new_count, 5);
    assert_int_equal(run.reused_count, 0);
    assert_false(run.is_rebuilt);
    for (int i = 0; i < 10; i++)
        assert_int_equal(keys[i].doc_id, 5 + i);
    run_range(state, 5, 14, keys, NULL);
    assert_int_equal(number_state_version(state).generation, 2); /* nothing was added */
    number_state_free(state);
}

static void a_rebuild_by_rank_puts_the_greatest_first(void **unused)
{
    struct number_state *state = one_shard(5, 0);
    struct number_present keys[50];
    struct number_run run;
    struct err err = {0};

    run_range(state, 0, 39, keys, NULL);
    for (int i = 0; i < 50; i++) {
        keys[i] = present(i);
        keys[i].rank = (i * 7) % 50;
    }
    assert_int_equal(
        number_state_run(state, keys, 50,
                         &(struct number_run_options){.is_rebuild_forced = true, .by_rank = true},
                         &run, &err),
        0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(keys[i].doc_id, 49 - (i * 7) % 50);
    number_state_free(state);
}

static void repeated_and_bad_keys(void **unused)
{
    struct number_state *state = one_shard(5, 0);
    struct number_present keys[3] = {present(1), present(2), present(1)};
    struct number_run run;
    struct err err = {0};

    assert_int_equal(number_state_run(state, keys, 3, &(struct number_run_options){0}, &run, &err),
                     0);
    assert_int_equal(run.new_count, 2);
    assert_int_equal(keys[2].doc_id, keys[0].doc_id);
    keys[1].key = BYTES_EMPTY;
    assert_int_equal(number_state_run(state, keys, 3, &(struct number_run_options){0}, &run, &err),
                     ERR_INVALID);
    number_state_free(state);
}

/* --- beside a naive model --- */

struct m_slot {
    int key; /* -1: nobody's */
    uint32_t birth, seen;
    uint32_t freed;
};

struct model {
    struct m_slot slots[SHARD_COUNT][KEY_COUNT * RUN_COUNT];
    uint32_t size[SHARD_COUNT];
    uint32_t generation, ttl, hold;
};

static struct m_slot *find(struct model *model, uint32_t shard, int key)
{
    for (uint32_t i = 0; i < model->size[shard]; i++)
        if (model->slots[shard][i].key == key)
            return &model->slots[shard][i];
    return NULL;
}

static void model_expire(struct model *model, uint32_t generation)
{
    for (uint32_t shard = 0; shard < SHARD_COUNT; shard++) {
        for (uint32_t i = 0; i < model->size[shard]; i++) {
            struct m_slot *slot = &model->slots[shard][i];

            if (slot->key < 0 || generation - slot->seen <= model->ttl)
                continue;
            slot->key = -1;
            slot->freed = generation - 1;
        }
    }
}

static struct m_slot *model_pick(struct model *model, uint32_t shard, uint32_t generation)
{
    for (uint32_t i = 0; i < model->size[shard]; i++) {
        struct m_slot *slot = &model->slots[shard][i];

        if (slot->key < 0 && generation > slot->freed + model->hold)
            return slot;
    }
    return &model->slots[shard][model->size[shard]++];
}

static void model_run(struct model *model, const int *numbers, struct number_present *keys,
                      uint64_t count)
{
    uint32_t generation = model->generation;

    for (uint64_t i = 0; i < count; i++)
        if (!find(model, keys[i].shard, numbers[i]))
            generation = model->generation + 1;
    for (uint64_t i = 0; i < count; i++) {
        struct m_slot *slot = find(model, keys[i].shard, numbers[i]);

        if (slot)
            slot->seen = generation;
    }
    if (generation > model->generation)
        model_expire(model, generation);
    for (uint64_t i = 0; i < count; i++) {
        struct m_slot *slot = find(model, keys[i].shard, numbers[i]);

        if (!slot) {
            slot = model_pick(model, keys[i].shard, generation);
            *slot = (struct m_slot){numbers[i], generation, generation, 0};
        }
        assert_int_equal(keys[i].doc_id, slot - model->slots[keys[i].shard]);
        assert_int_equal(keys[i].birth, slot->birth);
    }
    model->generation = generation;
}

static void random_runs_agree_with_a_naive_model(void **unused)
{
    const char *text = getenv("TORG_MODEL_SEED");
    uint64_t seed = text && text[0] ? strtoull(text, NULL, 10) : random_u64();
    struct rng rng = rng_seeded(seed);
    struct model *model = mem_alloc(sizeof(*model));

    print_message("seed %" PRIu64 "\n", seed);
    for (int round = 0; round < ROUND_COUNT; round++) {
        struct number_rules rules = {.ttl_generations = (uint32_t)rng_below(&rng, 4),
                                     .hold_generations = (uint32_t)rng_below(&rng, 4)};
        struct number_state *state = number_state_new(&version, SHARD_COUNT, &rules);

        memset(model, 0, sizeof(*model));
        model->ttl = rules.ttl_generations;
        model->hold = rules.hold_generations;
        for (int i = 0; i < RUN_COUNT; i++) {
            struct number_present keys[KEY_COUNT];
            int numbers[KEY_COUNT];
            uint64_t count = rng_below(&rng, KEY_COUNT);
            struct number_run run;
            struct err err = {0};

            for (uint64_t j = 0; j < count; j++) {
                numbers[j] = (int)rng_below(&rng, KEY_COUNT);
                keys[j] = present(numbers[j]);
            }
            assert_int_equal(
                number_state_run(state, keys, count, &(struct number_run_options){0}, &run, &err),
                0);
            model_run(model, numbers, keys, count);
            assert_int_equal(number_state_version(state).generation, model->generation);
        }
        number_state_free(state);
    }
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forced_rebuild_has_as_many_numbers_as_keys),
        cmocka_unit_test(past_the_life_with_nothing_expired_new_ones_come_after_the_highest),
        cmocka_unit_test(past_the_life_numbers_of_the_expired_come_first),
        cmocka_unit_test(a_hold_keeps_numbers_back),
        cmocka_unit_test(many_holes_make_a_rebuild),
        cmocka_unit_test(ordinarily_known_keys_stay_and_new_ones_follow),
        cmocka_unit_test(a_rebuild_by_rank_puts_the_greatest_first),
        cmocka_unit_test(repeated_and_bad_keys),
        cmocka_unit_test(random_runs_agree_with_a_naive_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
