/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of search/learning/learnt.h: compared with a plain list, bounded, the same after a
 * restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/bounds.h"
#include "search/learning/learnt.h"

static uint64_t spread(uint64_t number)
{
    return number * 0x9E3779B97F4A7C15U;
}

static void it_knows_what_a_list_knows(void **state)
{
    enum { DRAW_COUNT = 20000, DIFFERENT = 8000 };
    uint64_t seed = random_u64();
    bool *is_known = calloc(DIFFERENT, sizeof(*is_known));
    struct learnt learnt;
    struct rng random;

    (void)state;
    print_message("# seed %llu\n", (unsigned long long)seed);
    random = rng_seeded(seed);
    learnt_init(&learnt);
    for (int i = 0; i < DRAW_COUNT; i++) {
        size_t number = rng_below(&random, DIFFERENT);

        if (rng_below(&random, 4) == 0) {
            learnt_remove(&learnt, spread(number));
            is_known[number] = false;
            continue;
        }
        assert_int_equal(learnt_add(&learnt, spread(number)), !is_known[number]);
        is_known[number] = true;
    }
    learnt_release(&learnt);
    free(is_known);
}

static void the_newest_are_kept_and_no_more(void **state)
{
    uint64_t count = 2 * (uint64_t)SPELL_LEARNT_COUNT + 100;
    struct learnt learnt;

    (void)state;
    learnt_init(&learnt);
    for (uint64_t i = 1; i <= count; i++)
        assert_true(learnt_add(&learnt, spread(i)));
    assert_true(learnt.newer.count < SPELL_LEARNT_COUNT &&
                learnt.older.count <= SPELL_LEARNT_COUNT);
    for (uint64_t i = count - SPELL_LEARNT_COUNT / 2; i <= count; i++)
        assert_false(learnt_add(&learnt, spread(i)));
    assert_true(learnt_add(&learnt, spread(1))); /* forgotten */
    learnt_release(&learnt);
}

static void it_is_the_same_after_a_restart(void **state)
{
    struct buf bytes = BUF_INIT(1 << 20);
    struct learnt learnt, again;
    struct bytes rest;

    (void)state;
    learnt_init(&learnt);
    for (uint64_t i = 0; i < 1000; i++)
        learnt_add(&learnt, spread(i));
    learnt_put(&learnt, &bytes);
    buf_put_text(&bytes, "rest");
    rest = buf_bytes(&bytes);
    learnt_init(&again);
    assert_true(learnt_take(&again, &rest));
    assert_true(bytes_equal_text(rest, "rest"));
    for (uint64_t i = 0; i < 1000; i++)
        assert_false(learnt_add(&again, spread(i)));
    assert_true(learnt_add(&again, spread(1000)));
    rest = bytes_make(bytes.data, bytes.size / 2);
    assert_false(learnt_take(&again, &rest));
    rest = BYTES_EMPTY;
    assert_false(learnt_take(&again, &rest));
    learnt_release(&again);
    learnt_release(&learnt);
    buf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_what_a_list_knows),
        cmocka_unit_test(the_newest_are_kept_and_no_more),
        cmocka_unit_test(it_is_the_same_after_a_restart),
    };

    return cmocka_run_group_tests_name("search-learnt", tests, NULL, NULL);
}
