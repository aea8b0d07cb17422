/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of index/epoch.h: nothing is freed under a reader, everything is freed after. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/bounds.h"
#include "index/epoch.h"

static int freed;

static void count_free(void *thing, uint64_t part)
{
    (void)thing;
    freed += (int)part;
}

static void a_reader_inside_holds_what_it_may_have_found(void **state)
{
    struct epoch *epoch = epoch_new();
    struct epoch_slot *early;
    struct epoch_slot *late;

    (void)state;
    freed = 0;
    assert_int_equal(epoch_join(epoch, &early, NULL), 0);
    assert_int_equal(epoch_join(epoch, &late, NULL), 0);
    epoch_enter(early);
    epoch_retire(epoch, count_free, NULL, 1);
    assert_int_equal(epoch_reclaim(epoch), 1);
    epoch_enter(late); /* after the unlinking: does not hold it */
    epoch_retire(epoch, count_free, NULL, 10);
    assert_int_equal(epoch_reclaim(epoch), 2);
    assert_int_equal(freed, 0);
    epoch_exit(early);
    assert_int_equal(epoch_reclaim(epoch), 1);
    assert_int_equal(freed, 1);
    epoch_exit(late);
    assert_int_equal(epoch_reclaim(epoch), 0);
    assert_int_equal(freed, 11);
    epoch_leave(early);
    epoch_leave(late);
    epoch_free(epoch);
}

static void slots_are_limited_and_given_again(void **state)
{
    struct epoch *epoch = epoch_new();
    struct epoch_slot *slots[EPOCH_SLOT_COUNT_MAX];
    struct epoch_slot *more;
    struct err err;
    int i;

    (void)state;
    for (i = 0; i < EPOCH_SLOT_COUNT_MAX; i++)
        assert_int_equal(epoch_join(epoch, &slots[i], &err), 0);
    assert_int_equal(epoch_join(epoch, &more, &err), ERR_LIMIT);
    assert_null(more);
    epoch_leave(slots[7]);
    assert_int_equal(epoch_join(epoch, &more, &err), 0);
    assert_ptr_equal(more, slots[7]);
    epoch_free(epoch);
}

/* ---- a writer that replaces, readers that look ---- */

enum { READER_COUNT = 3, ROUND_COUNT = 20000, STAMP = 0x5eed };

struct thing {
    uint64_t stamp;
    uint64_t number;
};

struct race {
    struct epoch *epoch;
    _Atomic(void *) place;
    _Atomic int stop;
    _Atomic int bad;
};

static void free_thing(void *memory, uint64_t part)
{
    struct thing *thing = memory;

    (void)part;
    thing->stamp = 0; /* a reader that still holds it sees this, and TSan sees the race */
    free(thing);
}

static void *look(void *context)
{
    struct race *race = context;
    struct epoch_slot *slot;
    uint64_t last = 0;

    if (epoch_join(race->epoch, &slot, NULL)) {
        atomic_fetch_add(&race->bad, 1);
        return NULL;
    }
    while (!atomic_load(&race->stop)) {
        const struct thing *thing;

        epoch_enter(slot);
        thing = atomic_load_explicit(&race->place, memory_order_acquire);
        if (thing->stamp != STAMP || thing->number < last)
            atomic_fetch_add(&race->bad, 1);
        last = thing->number;
        epoch_exit(slot);
    }
    epoch_leave(slot);
    return NULL;
}

static void nothing_is_freed_under_a_reader(void **state)
{
    struct race race = {.epoch = epoch_new()};
    pthread_t readers[READER_COUNT];
    uint64_t i;

    (void)state;
    for (i = 0; i < ROUND_COUNT; i++) {
        struct thing *thing = mem_zero(sizeof(*thing));

        thing->stamp = STAMP;
        thing->number = i;
        epoch_publish(race.epoch, &race.place, thing, free_thing);
        if (i == 0) {
            int j;

            for (j = 0; j < READER_COUNT; j++)
                assert_int_equal(pthread_create(&readers[j], NULL, look, &race), 0);
        }
    }
    atomic_store(&race.stop, 1);
    for (i = 0; i < READER_COUNT; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(race.bad, 0);
    epoch_publish(race.epoch, &race.place, NULL, free_thing);
    assert_int_equal(epoch_reclaim(race.epoch), 0);
    epoch_free(race.epoch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_inside_holds_what_it_may_have_found),
        cmocka_unit_test(slots_are_limited_and_given_again),
        cmocka_unit_test(nothing_is_freed_under_a_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
