/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit test of index/postings/id_sort.h: every entry is there, by id, and equal ones in their
 * order.
 */
#include "index/postings/id_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

enum { COUNT_MAX = 3000, ROUND_COUNT = 2000 };

static void check_round(struct rng *rng)
{
    static struct id_place list[COUNT_MAX], spare[COUNT_MAX];
    static docid ids[COUNT_MAX];
    size_t count = rng_below(rng, rng_below(rng, 2) ? COUNT_MAX : 100), i;
    unsigned low = (unsigned)rng_below(rng, 32);
    uint64_t range = 1 + rng_below(rng, UINT64_C(1) << rng_below(rng, 33 - low));

    for (i = 0; i < count; i++) {
        ids[i] = (docid)(rng_below(rng, range) << low);
        list[i] = (struct id_place){ids[i], (uint32_t)i};
    }
    id_sort(list, spare, count);
    for (i = 0; i < count; i++) {
        assert_true(list[i].place < count);
        assert_int_equal(list[i].id, ids[list[i].place]);
        if (i) /* so no entry is there twice, and none is missing */
            assert_true(list[i - 1].id < list[i].id ||
                        (list[i - 1].id == list[i].id && list[i - 1].place < list[i].place));
    }
}

static void ids_are_put_in_order(void **state)
{
    uint64_t seed = random_u64();
    struct rng rng = rng_seeded(seed);
    uint32_t round;

    (void)state;
    print_message("# seed %ju\n", (uintmax_t)seed);
    for (round = 0; round < ROUND_COUNT; round++)
        check_round(&rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_put_in_order),
    };

    return cmocka_run_group_tests_name("id_sort", tests, NULL, NULL);
}
