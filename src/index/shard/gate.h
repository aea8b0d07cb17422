/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - readers that need a moment without publications, and the writer that waits for them.
 *
 * The fallback of a seqlock (columns.h, recent.h): the reader that would have to look again and
 * again makes the writer wait instead, for a bounded time.
 *
 * A reader whose answer was overtaken by the writer holds the gate and computes it once more. The
 * writer closes the gate before it publishes: it waits for those inside, for a bounded time, and
 * lets nobody in until it has opened the gate again. So neither can starve the other.
 *
 * Threads: any number of readers; one writer.
 */
#ifndef TORG_INDEX_SHARD_GATE_H
#define TORG_INDEX_SHARD_GATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/condition.h"

struct gate {
    pthread_mutex_t lock;   /* never held while anything is done or waited for but the gate */
    struct condition moved; /* the last reader has left, or the gate is open again */
    uint64_t generation;    /* grows when the writer did not wait for those inside any longer */
    uint32_t inside_count;
    bool is_closed;
};

void gate_init(struct gate *gate, const struct clock *clock);
void gate_release(struct gate *gate); /* nobody inside */

/* Waits while the gate is closed, at most until until_us of its clock. False: it still
 * is. Else gate_leave with what is in *pass. */
bool gate_enter(struct gate *gate, int64_t until_us, uint64_t *pass);
void gate_leave(struct gate *gate, uint64_t pass);

/* The writer's. Those inside are waited for, at most wait_ms. */
void gate_close(struct gate *gate, int64_t wait_ms);
void gate_open(struct gate *gate);

#endif
