/* SPDX-License-Identifier: Apache-2.0 */
/* failed.c - the lane failed: one a key, tried again later and later, cleared as it was seen. */
#include "registry/indexing/failed.h"

#include "base/clock.h"
#include "registry/bounds.h"
#include "unit/registry/memory_store.h"

enum { CLIENT = 3, SHARD = 0 };

static void pauses_double_up_to_a_bound(void **state)
{
    int64_t bound_us = FAILED_PAUSE_MS_MIN * INT64_C(1000);

    (void)state;
    for (int64_t attempt = 1; attempt < 40; attempt++) {
        int64_t pause_us = failed_pause_us(attempt);

        assert_true(pause_us >= bound_us && pause_us <= bound_us + bound_us / 4);
        if (bound_us < FAILED_PAUSE_MS_MAX * INT64_C(1000))
            bound_us *= 2;
        if (bound_us > FAILED_PAUSE_MS_MAX * INT64_C(1000))
            bound_us = FAILED_PAUSE_MS_MAX * INT64_C(1000);
    }
}

static struct failed_element element_of(const char *pk, int64_t version, int64_t next_us)
{
    return (struct failed_element){.shard = SHARD,
                                   .pk = bytes_of(pk),
                                   .order = {1, version, 10},
                                   .attempt_count = 1,
                                   .next_us = next_us,
                                   .first_us = 100,
                                   .reason = bytes_of("50% too_long")};
}

struct putting {
    struct failed_element element;
    bool is_again;
};

static int put(struct store_tx *tx, void *arg, struct err *err)
{
    const struct putting *putting = arg;

    return failed_put(tx, CLIENT, &putting->element, putting->is_again, err);
}

struct looking {
    const char *pk;
    struct failed_element element;
    bool found;
    struct failed_state state;
};

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct looking *looking = arg;
    int rc = failed_find(tx, CLIENT, SHARD, bytes_of(looking->pk), arena, &looking->element,
                         &looking->found, err);

    return rc ? rc : failed_state(tx, CLIENT, SHARD, &looking->state, err);
}

static int clear(struct store_tx *tx, void *arg, struct err *err)
{
    return failed_clear(tx, CLIENT, arg, 1, err);
}

static void a_key_has_one_and_the_newest(void **state)
{
    struct looking looking = {.pk = "a"};

    (void)state;
    assert_int_equal(change(put, &(struct putting){element_of("a", 1, 500), false}), 0);
    assert_int_equal(change(put, &(struct putting){element_of("a", 2, 0), false}), 0);
    assert_int_equal(change(look, &looking), 0);
    assert_true(looking.found);
    assert_int_equal(looking.element.order.version, 2);
    assert_int_equal(looking.state.waiting_count, 0);
    assert_int_equal(looking.state.parked_count, 1);
    assert_int_equal(looking.state.oldest_us, 100);
}

static void what_was_dropped_is_not_put_again(void **state)
{
    struct looking looking = {.pk = "dropped"};

    (void)state;
    assert_int_equal(change(put, &(struct putting){element_of("dropped", 1, 500), true}), 0);
    assert_int_equal(change(look, &looking), 0);
    assert_false(looking.found);
}

/* A searcher may refuse what was sent before its sender has noted that it was. */
static void what_came_since_is_not_cleared(void **state)
{
    struct looking looking = {.pk = "b"};
    struct failed_element seen = element_of("b", 1, 500), since = seen;

    (void)state;
    since.attempt_count = 2;
    assert_int_equal(change(put, &(struct putting){seen, false}), 0);
    assert_int_equal(change(put, &(struct putting){since, false}), 0);
    assert_int_equal(change(clear, &seen), 0);
    assert_int_equal(change(look, &looking), 0);
    assert_true(looking.found);
    assert_int_equal(change(clear, &since), 0);
    assert_int_equal(change(look, &looking), 0);
    assert_false(looking.found);
}

struct listing {
    int64_t now_us;
    struct failed_filter filter;
    struct failed_element *elements;
    size_t count;
};

static int list_due(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;

    return failed_due(tx, CLIENT, SHARD, listing->now_us, 10, arena, &listing->elements,
                      &listing->count, err);
}

static int list(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;

    return failed_list(tx, CLIENT, &listing->filter, 10, arena, &listing->elements, &listing->count,
                       err);
}

static void the_longest_waiting_is_due_first_and_what_is_parked_never(void **state)
{
    struct listing listing = {.now_us = 900};

    (void)state;
    assert_int_equal(change(put, &(struct putting){element_of("d1", 1, 900), false}), 0);
    assert_int_equal(change(put, &(struct putting){element_of("d2", 1, 300), false}), 0);
    assert_int_equal(change(put, &(struct putting){element_of("d3", 1, 901), false}), 0);
    assert_int_equal(change(put, &(struct putting){element_of("d4", 1, 0), false}), 0);
    assert_int_equal(change(list_due, &listing), 0);
    assert_int_equal(listing.count, 2);
    assert_true(bytes_equal_text(listing.elements[0].pk, "d2"));
    assert_true(bytes_equal_text(listing.elements[1].pk, "d1"));
}

/* Signs of SQL's patterns are letters here. After what was put above. */
static void filters_mean_what_they_say(void **state)
{
    struct listing listing = {.filter = {.shard = -1, .pk_prefix = bytes_of("d")}};

    (void)state;
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 4);
    listing.filter.parked_only = true;
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 1);
    listing.filter = (struct failed_filter){.shard = -1, .reason_part = bytes_of("50% too_")};
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 5);
    listing.filter.reason_part = bytes_of("5%long");
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 0);
    listing.filter = (struct failed_filter){.shard = -1, .pk_prefix = bytes_of("_")};
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 0);
    listing.filter = (struct failed_filter){.shard = -1, .after_pk = bytes_of("d2")};
    assert_int_equal(change(list, &listing), 0);
    assert_int_equal(listing.count, 2);
}

struct replaying {
    const char *pk;
    size_t max;
    int64_t count;
};

static int replay(struct store_tx *tx, void *arg, struct err *err)
{
    struct replaying *replaying = arg;

    return failed_replay(tx, CLIENT, SHARD, bytes_of(replaying->pk), 1000, replaying->max,
                         &replaying->count, err);
}

static void what_is_replayed_is_due_at_once_with_all_its_tries(void **state)
{
    struct replaying replaying = {.pk = "d4", .max = 1};
    struct looking looking = {.pk = "d4"};

    (void)state;
    assert_int_equal(change(replay, &replaying), 0);
    assert_int_equal(replaying.count, 1);
    assert_int_equal(change(look, &looking), 0);
    assert_int_equal(looking.element.next_us, 1000);
    assert_int_equal(looking.element.attempt_count, 0);
    replaying = (struct replaying){.pk = "", .max = 10};
    assert_int_equal(change(replay, &replaying), 0);
    assert_int_equal(replaying.count, 1); /* "a": all others are due, or soon */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_a_bound),
        cmocka_unit_test(a_key_has_one_and_the_newest),
        cmocka_unit_test(what_was_dropped_is_not_put_again),
        cmocka_unit_test(what_came_since_is_not_cleared),
        cmocka_unit_test(the_longest_waiting_is_due_first_and_what_is_parked_never),
        cmocka_unit_test(filters_mean_what_they_say),
        cmocka_unit_test(what_is_replayed_is_due_at_once_with_all_its_tries),
    };

    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
