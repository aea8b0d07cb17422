/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - a lane: what is put in comes out in order, and its offset has one mover. */
#include "registry/indexing/queue.h"

#include <stdio.h>
#include <string.h>

#include "unit/registry/memory_store.h"

enum { CLIENT = 5, SHARD = 1, PUT_COUNT = 130 };

static void names_are_those_that_operators_type(void **state)
{
    char fence[64];

    (void)state;
    assert_string_equal(lane_name(LANE_MAIN), "main");
    assert_string_equal(lane_name(LANE_BACKFILL), "backfill");
    assert_string_equal(lane_name(LANE_EMERGENCY), "emergency");
    assert_string_equal(lane_name(LANE_FAILED), "failed");
    queue_fence_name(12, 3, fence);
    assert_string_equal(fence, "registry/12/3");
}

struct putting {
    enum lane lane;
    size_t count;
    struct queue_element elements[PUT_COUNT];
};

static int put(struct store_tx *tx, void *arg, struct err *err)
{
    struct putting *putting = arg;

    for (size_t i = 0; i < putting->count; i++)
        putting->elements[i] =
            (struct queue_element){.pk = bytes_of(arena_printf(arena, "d%zu", i)),
                                   .order = {1, (int64_t)i, 7},
                                   .put_us = 1000 + (int64_t)i};
    return queue_append(tx, CLIENT, putting->lane, SHARD, putting->elements, putting->count, err);
}

struct reading {
    enum lane lane;
    int64_t after;
    size_t max;
    struct queue_element *elements;
    size_t count;
    struct lane_state state;
};

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;
    int rc = queue_read(tx, CLIENT, reading->lane, SHARD, reading->after, reading->max, arena,
                        &reading->elements, &reading->count, err);

    return rc ? rc : queue_state(tx, CLIENT, reading->lane, SHARD, &reading->state, err);
}

static void elements_come_in_order_and_lanes_are_apart(void **state)
{
    struct putting putting = {.lane = LANE_MAIN, .count = PUT_COUNT};
    struct reading reading = {.lane = LANE_MAIN, .max = 50};
    size_t seen = 0;

    (void)state;
    assert_int_equal(change(put, &putting), 0);
    do {
        assert_int_equal(change(look, &reading), 0);
        for (size_t i = 0; i < reading.count; i++, seen++) {
            const struct queue_element *element = &reading.elements[i];
            char pk[16];

            snprintf(pk, sizeof(pk), "d%zu", seen);
            assert_true(bytes_equal_text(element->pk, pk));
            assert_int_equal(element->idx, putting.elements[seen].idx);
            assert_int_equal(element->order.version, seen);
            assert_true(element->idx > reading.after);
            reading.after = element->idx;
        }
    } while (reading.count == reading.max);
    assert_int_equal(seen, PUT_COUNT);
    assert_int_equal(reading.state.offset, 0);
    assert_int_equal(reading.state.end, reading.after);
    assert_int_equal(reading.state.oldest_us, 1000);
    reading = (struct reading){.lane = LANE_EMERGENCY, .max = 50};
    assert_int_equal(change(look, &reading), 0);
    assert_int_equal(reading.count, 0);
    assert_int_equal(reading.state.oldest_us, 0);
}

struct moving {
    enum lane lane;
    int64_t from, to;
};

static int move(struct store_tx *tx, void *arg, struct err *err)
{
    const struct moving *moving = arg;

    return queue_move(tx, CLIENT, moving->lane, SHARD, moving->from, moving->to, err);
}

static void an_offset_is_moved_from_where_it_is(void **state)
{
    struct reading reading = {.lane = LANE_BACKFILL, .max = 1};

    (void)state;
    assert_int_equal(change(move, &(struct moving){LANE_BACKFILL, 0, 3}), 0);
    assert_int_equal(change(move, &(struct moving){LANE_BACKFILL, 0, 5}), ERR_STALE);
    assert_int_equal(change(move, &(struct moving){LANE_BACKFILL, 2, 5}), ERR_STALE);
    assert_int_equal(change(move, &(struct moving){LANE_BACKFILL, 3, 9}), 0);
    assert_int_equal(change(look, &reading), 0);
    assert_int_equal(reading.state.offset, 9);
    assert_int_equal(reading.state.end, 9);
}

struct trimming {
    int64_t offset;
    size_t max;
    int64_t count;
};

static int trim(struct store_tx *tx, void *arg, struct err *err)
{
    struct trimming *trimming = arg;

    return queue_trim(tx, CLIENT, LANE_MAIN, SHARD, trimming->offset, trimming->max,
                      &trimming->count, err);
}

/* After the elements of above. */
static void what_is_dealt_with_goes_and_nothing_else(void **state)
{
    struct trimming trimming = {.offset = 100, .max = 60};
    struct reading reading = {.lane = LANE_MAIN, .max = PUT_COUNT};

    (void)state;
    assert_int_equal(change(trim, &trimming), 0);
    assert_int_equal(trimming.count, 60);
    assert_int_equal(change(trim, &trimming), 0);
    assert_int_equal(trimming.count, 40);
    assert_int_equal(change(trim, &trimming), 0);
    assert_int_equal(trimming.count, 0);
    assert_int_equal(change(look, &reading), 0);
    assert_int_equal(reading.count, PUT_COUNT - 100);
    assert_int_equal(reading.elements[0].idx, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_that_operators_type),
        cmocka_unit_test(elements_come_in_order_and_lanes_are_apart),
        cmocka_unit_test(an_offset_is_moved_from_where_it_is),
        cmocka_unit_test(what_is_dealt_with_goes_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
