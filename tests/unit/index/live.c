/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of index/shard/live.h: equal to an array of bits, in every version a reader may hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "index/shard/live.h"

enum { ID_COUNT = 5 * WINDOW_SIZE + 77, VERSION_COUNT = 12 };

static void check_equal(const struct live *live, const uint8_t *model, bool rest)
{
    int64_t delta = 0;
    docid id;

    for (id = 0; id < ID_COUNT; id++) {
        assert_int_equal(live_has(live, id), model[id]);
        delta += (int)model[id] - (int)rest;
    }
    assert_int_equal(live->count_delta, delta);
    assert_int_equal(live_has(live, 3000000000U), rest);
}

/* Old versions stay as they were while a reader is inside, whatever the writer does. */
static void old_versions_do_not_change(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    int rest;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (rest = 0; rest < 2; rest++) {
        struct epoch *epoch = epoch_new();
        struct live_writer *writer = live_writer_new(epoch, rest);
        uint8_t *models = mem_alloc((size_t)ID_COUNT * VERSION_COUNT);
        const struct live *versions[VERSION_COUNT];
        uint8_t *model = mem_alloc(ID_COUNT);
        struct epoch_slot *slot;
        int v;

        memset(model, rest, ID_COUNT);
        assert_int_equal(epoch_join(epoch, &slot, NULL), 0);
        epoch_enter(slot);
        for (v = 0; v < VERSION_COUNT; v++) {
            uint64_t changes = rng_below(&rng, 2000);
            bool whole = rng_below(&rng, 3) == 0;
            docid first = (docid)rng_below(&rng, 4) * WINDOW_SIZE;
            docid id;

            while (changes--) {
                bool alive = rng_below(&rng, 2);
                docid at = (docid)rng_below(&rng, ID_COUNT);

                assert_int_equal(live_put(writer, at, alive), model[at] != alive);
                model[at] = alive;
            }
            for (id = first; whole && id < first + WINDOW_SIZE; id++) {
                live_put(writer, id, v & 1);
                model[id] = v & 1;
            }
            versions[v] = live_commit(writer);
            if (whole)
                assert_ptr_equal(live_page(versions[v], window_of(first)),
                                 v & 1 ? LIVE_ALL : LIVE_NONE);
            assert_ptr_equal(live_commit(writer), versions[v]);
            live_retire(writer);
            memcpy(models + (size_t)v * ID_COUNT, model, ID_COUNT);
        }
        epoch_reclaim(epoch);
        for (v = 0; v < VERSION_COUNT; v++)
            check_equal(versions[v], models + (size_t)v * ID_COUNT, rest);
        epoch_exit(slot);
        assert_int_equal(epoch_reclaim(epoch), 0);
        check_equal(versions[VERSION_COUNT - 1], model, rest);
        epoch_leave(slot);
        live_writer_free(writer);
        epoch_free(epoch);
        free(models);
        free(model);
    }
}

static void masks_a_window(void **state)
{
    struct epoch *epoch = epoch_new();
    struct live_writer *writer = live_writer_new(epoch, false);
    struct window_bits bits;
    const struct live *live;
    docid id;

    (void)state;
    for (id = 0; id < WINDOW_SIZE; id++)
        live_put(writer, WINDOW_SIZE + id, true);
    live_put(writer, 2 * WINDOW_SIZE + 4095, true);
    live_put(writer, UINT32_MAX - 1, true);
    live = live_commit(writer);
    memset(&bits, 0xff, sizeof(bits));
    assert_true(live_mask(live, 1, &bits));
    assert_true(bits.words[0] == UINT64_MAX);
    assert_true(live_mask(live, 2, &bits));
    assert_true(bits.words[63] == UINT64_C(1) << 63 && bits.words[0] == 0);
    assert_false(live_mask(live, 0, &bits));
    assert_true(bits.words[63] == 0);
    assert_true(live_has(live, UINT32_MAX - 1));
    live_writer_free(writer);
    epoch_free(epoch);
}

/* ---- pairs that the writer always changes together ---- */

enum { PAIR_DISTANCE = 3 * WINDOW_SIZE, PAIR_COUNT = WINDOW_SIZE, STEP_COUNT = 4000 };

struct race {
    struct epoch *epoch;
    _Atomic(const struct live *) current;
    _Atomic int stop;
    _Atomic int bad;
};

static void *look(void *context)
{
    struct race *race = context;
    struct rng rng = rng_seeded(3);
    struct epoch_slot *slot;

    if (epoch_join(race->epoch, &slot, NULL))
        abort();
    while (!atomic_load(&race->stop)) {
        const struct live *live;
        int i;

        epoch_enter(slot);
        live = atomic_load_explicit(&race->current, memory_order_acquire);
        for (i = 0; i < 50; i++) {
            docid id = (docid)rng_below(&rng, PAIR_COUNT);

            if (live_has(live, id) != live_has(live, id + PAIR_DISTANCE))
                atomic_fetch_add(&race->bad, 1);
        }
        epoch_exit(slot);
    }
    epoch_leave(slot);
    return NULL;
}

static void readers_see_whole_versions(void **state)
{
    struct race race = {.epoch = epoch_new()};
    struct live_writer *writer = live_writer_new(race.epoch, false);
    struct rng rng = rng_seeded(4);
    pthread_t readers[2];
    int i;

    (void)state;
    atomic_store(&race.current, live_commit(writer));
    for (i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, look, &race), 0);
    for (i = 0; i < STEP_COUNT; i++) {
        int changes = 1 + (int)rng_below(&rng, 8);

        while (changes--) {
            docid id = (docid)rng_below(&rng, PAIR_COUNT);
            bool alive = rng_below(&rng, 2);

            live_put(writer, id, alive);
            live_put(writer, id + PAIR_DISTANCE, alive);
        }
        atomic_store_explicit(&race.current, live_commit(writer), memory_order_release);
        live_retire(writer);
    }
    atomic_store(&race.stop, 1);
    for (i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(race.bad, 0);
    live_writer_free(writer);
    epoch_free(race.epoch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_versions_do_not_change),
        cmocka_unit_test(masks_a_window),
        cmocka_unit_test(readers_see_whole_versions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
