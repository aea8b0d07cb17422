/* SPDX-License-Identifier: Apache-2.0 */
/* Who is inside keeps the writer out, for a bounded time; a closed gate lets nobody in. */
#include "index/shard/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "patience.h"

enum { LONG_MS = PATIENCE_MS };

struct writer {
    struct gate gate;
    _Atomic bool has_closed;
};

static void *close_it(void *context)
{
    struct writer *writer = context;

    gate_close(&writer->gate, LONG_MS);
    atomic_store(&writer->has_closed, true);
    return NULL;
}

static int64_t now_us(void)
{
    return clock_mono_us(clock_system());
}

static void the_writer_waits_for_those_inside(void **state)
{
    struct writer writer = {.has_closed = false};
    uint64_t pass, other;
    pthread_t thread;

    (void)state;
    gate_init(&writer.gate, clock_system());
    assert_true(gate_enter(&writer.gate, now_us(), &pass));
    assert_int_equal(pthread_create(&thread, NULL, close_it, &writer), 0);
    while (gate_enter(&writer.gate, now_us(), &other)) /* until the writer has begun */
        gate_leave(&writer.gate, other);
    assert_false(atomic_load(&writer.has_closed));
    gate_leave(&writer.gate, pass);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&writer.has_closed));
    assert_false(gate_enter(&writer.gate, now_us() + MS_US, &other));
    gate_open(&writer.gate);
    assert_true(gate_enter(&writer.gate, now_us(), &other));
    gate_leave(&writer.gate, other);
    gate_release(&writer.gate);
}

static void the_writer_does_not_wait_for_ever(void **state)
{
    struct writer writer = {.has_closed = false};
    uint64_t late, pass;
    pthread_t thread;

    (void)state;
    gate_init(&writer.gate, clock_system());
    assert_true(gate_enter(&writer.gate, now_us(), &late));
    gate_close(&writer.gate, 1);
    gate_open(&writer.gate);
    gate_close(&writer.gate, LONG_MS); /* nobody is waited for twice */
    gate_open(&writer.gate);
    assert_true(gate_enter(&writer.gate, now_us(), &pass));
    gate_leave(&writer.gate, late); /* counts for nobody */
    assert_int_equal(pthread_create(&thread, NULL, close_it, &writer), 0);
    while (gate_enter(&writer.gate, now_us(), &late))
        gate_leave(&writer.gate, late);
    assert_false(atomic_load(&writer.has_closed));
    gate_leave(&writer.gate, pass);
    pthread_join(thread, NULL);
    gate_release(&writer.gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writer_waits_for_those_inside),
        cmocka_unit_test(the_writer_does_not_wait_for_ever),
    };

    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
