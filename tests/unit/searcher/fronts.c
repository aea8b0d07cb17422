/* SPDX-License-Identifier: Apache-2.0 */
/* fronts.h: how long a searcher of another process is waited for. */
#include "searcher/fronts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "searcher/bounds.h"
#include "searcher/gather.h"

static void a_silent_one_does_not_hold_its_callers(void **state)
{
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;

    (void)state;
    assert_int_equal(fronts_patience_ms(&request, 60000, false), SEARCHER_SILENCE_MS_MAX);
    assert_int_equal(fronts_patience_ms(&request, 60000, true), 60000);
    assert_int_equal(fronts_patience_ms(&request, 100, false), 50);
    assert_int_equal(fronts_patience_ms(&request, 1, false), 1);
}

static void who_waits_for_a_write_gets_half_of_the_time(void **state)
{
    char *tokens[] = {"t"};
    Torg__V1__SearchRequest request = TORG__V1__SEARCH_REQUEST__INIT;

    (void)state;
    request.wait = tokens;
    request.n_wait = 1;
    assert_int_equal(fronts_patience_ms(&request, 60000, false), 30000);
}

static void a_silent_replica_does_not_hold_them_either(void **state)
{
    (void)state;
    assert_int_equal(gather_patience_us(60000 * MS_US, false), SEARCHER_SILENCE_MS_MAX * MS_US);
    assert_int_equal(gather_patience_us(60000 * MS_US, true), 15000 * MS_US);
    assert_int_equal(gather_patience_us(1000 * MS_US, false), 250 * MS_US);
    assert_int_equal(gather_patience_us(8 * MS_US, false), SEARCHER_HEDGE_MS_MIN * MS_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_one_does_not_hold_its_callers),
        cmocka_unit_test(who_waits_for_a_write_gets_half_of_the_time),
        cmocka_unit_test(a_silent_replica_does_not_hold_them_either),
    };

    return cmocka_run_group_tests_name("fronts", tests, NULL, NULL);
}
