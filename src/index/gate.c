/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - see gate.h. */
#include "index/gate.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

void gate_init(struct gate *gate)
{
    pthread_condattr_t attributes;

    *gate = (struct gate){.generation = 0};
    pthread_mutex_init(&gate->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&gate->moved, &attributes);
    pthread_condattr_destroy(&attributes);
}

void gate_release(struct gate *gate)
{
    pthread_cond_destroy(&gate->moved);
    pthread_mutex_destroy(&gate->lock);
}

/* Under the lock; false: it is too late. */
static bool wait_for_move(struct gate *gate, int64_t until_us)
{
    const struct timespec until = {until_us / SECOND_US, until_us % SECOND_US * 1000};

    return pthread_cond_timedwait(&gate->moved, &gate->lock, &until) != ETIMEDOUT;
}

bool gate_enter(struct gate *gate, int64_t until_us, uint64_t *pass)
{
    bool is_in;

    pthread_mutex_lock(&gate->lock);
    while (gate->is_closed && wait_for_move(gate, until_us))
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
    if (pass == gate->generation && --gate->inside_count == 0)
        pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

void gate_close(struct gate *gate, int64_t wait_ms)
{
    int64_t until_us = 0;

    pthread_mutex_lock(&gate->lock);
    gate->is_closed = true;
    if (gate->inside_count)
        until_us = clock_mono_us(clock_system()) + wait_ms * MS_US;
    while (gate->inside_count && wait_for_move(gate, until_us))
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
    gate->is_closed = false;
    pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}
