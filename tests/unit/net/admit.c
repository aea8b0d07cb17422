/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of net/server/calls/admit: what a call pays, on a clock that the test moves. */
#include "net/server/calls/admit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/server/calls/call.h"
#include "net/server/calls/connection.h"
#include "net/server/calls/server_parts.h"
#include <cmocka.h>

enum { RATE = 2, BURST = RATE * NET_RATE_BURST_S };

/* As much of a server as a call needs to be charged. */
struct stage {
    struct clock_manual clock;
    struct server *server; /* owned */
    struct loop *loop;     /* owned */
    struct connection connection;
    struct call *call; /* owned: of an address without a key */
};

static int set_up(void **state)
{
    const struct admission_options options = {.address_rate = RATE};
    struct stage *stage = mem_zero(sizeof(*stage));

    clock_manual_init(&stage->clock, SECOND_US);
    stage->server = mem_zero(sizeof(*stage->server));
    stage->server->admission = admission_new(&options);
    stage->loop = mem_zero(sizeof(*stage->loop));
    stage->loop->server = stage->server;
    stage->loop->reactor.clock = &stage->clock.base;
    stage->loop->reactor.now_us = clock_mono_us(&stage->clock.base);
    stage->call = mem_zero(sizeof(*stage->call));
    object_begin(stage->call, CALL_MAGIC);
    stage->call->loop = stage->loop;
    stage->call->connection = &stage->connection;
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    admission_free(stage->server->admission);
    free(stage->server);
    free(stage->loop);
    free(stage->call);
    free(stage);
    return 0;
}

static void look(struct call *call, int64_t cpu_us)
{
    call->cpu_us = cpu_us;
    admit_charge(call);
}

static void a_token_pays_for_one_millisecond_of_a_call(void **state)
{
    struct stage *stage = *state;
    struct call *call = stage->call;

    assert_true(admit_take(call));
    assert_int_equal(call->rate.left, BURST - 1);
    look(call, 400);
    assert_int_equal(call->rate.left, BURST - 1);
    look(call, 600);
    assert_int_equal(call->rate.left, BURST - 1);
    look(call, 2000);
    assert_int_equal(call->rate.left, BURST - 3);
}

static void a_call_that_comes_back_has_no_other_token(void **state)
{
    struct stage *stage = *state;
    struct call *call = stage->call;

    assert_true(admit_take(call));
    for (int i = 0; i < 11; i++)
        look(call, 900);
    assert_int_equal(call->rate.left, BURST - 10); /* 9.9 milliseconds, rounded */
    for (int i = 0; i < 100; i++)
        look(call, 900);
    assert_int_equal(call->rate.left, 0);
    assert_true(admit_pay(call, 0) > 0);
}

static void files_cost_a_part_of_a_token(void **state)
{
    struct stage *stage = *state;
    struct call *call = stage->call;

    for (int i = 0; i < 10; i++) {
        call->is_paid = false;
        assert_true(admit_take_file(call));
        admit_charge_file(call, 100);
    }
    assert_int_equal(call->rate.left, BURST - 1);
    assert_true(admit_take(call)); /* it has paid */
    assert_int_equal(call->rate.left, BURST - 1);
    admit_charge_file(call, 3 << 20); /* three milliseconds' worth of bytes */
    assert_int_equal(call->rate.left, BURST - 5);
}

static void who_owes_is_told_how_long(void **state)
{
    struct stage *stage = *state;
    struct call *call = stage->call;

    assert_true(admit_take(call));
    look(call, (BURST + 4) * MS_US);
    assert_int_equal(admit_pay(call, 0), 4 * SECOND_US / RATE);
    clock_manual_advance(&stage->clock, SECOND_US);
    assert_int_equal(admit_pay(call, 0), 4 * SECOND_US / RATE - SECOND_US);
    clock_manual_advance(&stage->clock, 4 * SECOND_US / RATE);
    assert_int_equal(admit_pay(call, 0), 0);
}

/* What is counted once of a caller is remembered by it in the store: by all processes, after each
 * start. */
static void an_address_has_one_id_in_every_process(void **state)
{
    struct peer_address address;

    assert_true(peer_parse(bytes_of("192.0.2.7"), &address));
    assert_true(peer_id(address) == hash64(bytes_make(address.bytes, sizeof(address.bytes))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_pays_for_one_millisecond_of_a_call, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_comes_back_has_no_other_token, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_cost_a_part_of_a_token, set_up, tear_down),
        cmocka_unit_test(an_address_has_one_id_in_every_process),
        cmocka_unit_test_setup_teardown(who_owes_is_told_how_long, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
