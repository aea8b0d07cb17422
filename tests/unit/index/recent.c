/* SPDX-License-Identifier: Apache-2.0 */
/* No change is missed, whatever was forgotten; and of the last ones nothing is made up. */
#include "index/shard/recent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "text_model.h"

enum { ID_COUNT = 300000, NOTE_COUNT = 400000, CHECK_STEP = 20000 };

struct truth {
    uint64_t changed, replaced;
};

static void bounds_hold(void **state)
{
    struct truth *truth = calloc(ID_COUNT, sizeof(*truth));
    struct recent *recent = recent_new();
    struct rng rng = model_seed();
    uint64_t number;
    docid id;

    (void)state;
    assert_non_null(truth);
    for (number = 1; number <= NOTE_COUNT; number++) {
        bool is_replaced = rng_below(&rng, 2);

        id = (docid)(rng_below(&rng, 4) ? rng_below(&rng, 64) : rng_below(&rng, ID_COUNT));
        recent_note(recent, id, number, is_replaced);
        truth[id].changed = number;
        if (is_replaced)
            truth[id].replaced = number;
        if (number % CHECK_STEP)
            continue;
        for (id = 0; id < ID_COUNT; id++) {
            struct recent_change found = recent_find(recent, id);

            assert_true(found.changed >= truth[id].changed);
            assert_true(found.replaced >= truth[id].replaced);
        }
    }
    recent_free(recent);
    free(truth);
}

static void the_last_are_known_exactly(void **state)
{
    struct recent *recent = recent_new();
    uint32_t wrong = 0;
    docid id;

    (void)state;
    assert_int_equal(recent_find(recent, 0).changed, 0);
    recent_note(recent, 0, 1, false);
    assert_int_equal(recent_find(recent, 0).changed, 1);
    assert_int_equal(recent_find(recent, 0).replaced, 0);
    for (id = 0; id < 1000; id++)
        recent_note(recent, id * 977, id + 2, id % 2);
    for (id = 0; id < 1000; id++) {
        struct recent_change found = recent_find(recent, id * 977);

        wrong += found.changed != id + 2 || found.replaced != (id % 2 ? id + 2 : 0);
        wrong += recent_find(recent, id * 977 + 1).changed != 0;
    }
    assert_true(wrong < 10);
    recent_free(recent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(the_last_are_known_exactly),
    };

    return cmocka_run_group_tests_name("recent", tests, NULL, NULL);
}
