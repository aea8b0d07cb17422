/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiter.h - threads that wait for records, or for their group, without polling.
 *
 * A waiter is entered on the board before its owner looks for data, so nothing that comes
 * between the look and the wait is missed. Deadlines are times of
 * the board's clock.
 */
#ifndef TORG_TOPIC_WAITER_H
#define TORG_TOPIC_WAITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/condition.h"
#include "base/object.h"

struct waiter {
    struct waiter *previous, *next;
    struct condition changed; /* one each: who need not look is not woken */
    bool woken;
    const void *const *things; /* borrowed: what it waits for */
    size_t thing_count;
};

enum { WAITER_BOARD_MAGIC = OBJECT_MAGIC('w', 'b', 'r', 'd') };

struct waiter_board {
    uint32_t magic;
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;
    struct waiter *first;
};

void waiter_board_init(struct waiter_board *board, const struct clock *clock);
void waiter_board_release(struct waiter_board *board);

void waiter_enter(struct waiter_board *board, struct waiter *waiter, const void *const *things,
                  size_t thing_count);
/* Until something it waits for was woken since enter or the last wait; false at the deadline. */
bool waiter_wait(struct waiter_board *board, struct waiter *waiter, int64_t until_us);
void waiter_leave(struct waiter_board *board, struct waiter *waiter);

/* Wakes all who wait for the thing. */
void waiter_wake(struct waiter_board *board, const void *thing);

#endif
