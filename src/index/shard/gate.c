/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - see gate.h. */
#include "index/shard/gate.h"

#include <assert.h>

#include "base/clock.h"

void gate_init(struct gate *gate, const struct clock *clock)
{
    *gate = (struct gate){.generation = 0};
    pthread_mutex_init(&gate->lock, NULL);
    condition_init(&gate->moved, clock);
}

void gate_release(struct gate *gate)
{
    assert(gate->inside_count == 0); /* or it was not waited for any longer */
    condition_release(&gate->moved);
    pthread_mutex_destroy(&gate->lock);
}

bool gate_enter(struct gate *gate, int64_t until_us, uint64_t *pass)
{
    bool is_in;

    pthread_mutex_lock(&gate->lock);
    while (gate->is_closed && condition_wait_until(&gate->moved, &gate->lock, until_us))
        ;
    is_in = !gate->is_closed;
    gate->inside_count += is_in;
    *pass = gate->generation;
    pthread_mutex_unlock(&gate->lock);
    return is_in;
}

void gate_leave(struct gate *gate, uint64_t pass)
{
    pthread_mutex_lock(&gate->lock);
    assert(pass <= gate->generation);
    assert(pass < gate->generation || gate->inside_count > 0); /* it leaves once */
    if (pass == gate->generation && --gate->inside_count == 0)
        condition_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate, int64_t wait_ms)
{
    int64_t until_us = 0;

    pthread_mutex_lock(&gate->lock);
    assert(!gate->is_closed); /* one publication at a time */
    gate->is_closed = true;
    if (gate->inside_count)
        until_us = clock_after_us(gate->moved.clock, wait_ms * MS_US);
    while (gate->inside_count && condition_wait_until(&gate->moved, &gate->lock, until_us))
        ;
    if (gate->inside_count) {
        gate->generation++;
        gate->inside_count = 0;
    }
    pthread_mutex_unlock(&gate->lock);
}

void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    assert(gate->is_closed && gate->inside_count == 0);
    gate->is_closed = false;
    condition_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}
