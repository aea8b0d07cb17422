/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c - the pool that shards are asked on, however many cores there are. */
#include "searcher/front/gather.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/memory.h"
#include "searcher/bounds.h"

static void searches_are_limited_and_calls_have_threads_on_any_machine(void **state)
{
    static const unsigned core_counts[] = {1, 2, 63, 64, 256};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(core_counts); i++) {
        struct gather_threads threads = gather_threads(core_counts[i]);

        assert_int_equal(threads.running_max, core_counts[i] + SEARCHER_ASK_SPARE_COUNT);
        assert_int_equal(threads.thread_max - threads.running_max, SEARCHER_ASK_COUNT_MAX);
        workers_free(gather_workers_new(core_counts[i], clock_system()));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_are_limited_and_calls_have_threads_on_any_machine),
    };

    return cmocka_run_group_tests_name("searcher_gather", tests, NULL, NULL);
}
