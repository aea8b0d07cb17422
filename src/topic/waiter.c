/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.c - see waiter.h. One lock; the board lists only idle waiters. */
#include "topic/waiter.h"

#include <assert.h>

void waiter_board_init(struct waiter_board *board, const struct clock *clock)
{
    object_begin(board, WAITER_BOARD_MAGIC);
    board->clock = clock;
    pthread_mutex_init(&board->lock, NULL);
    board->first = NULL;
}

void waiter_board_release(struct waiter_board *board)
{
    object_end(board, WAITER_BOARD_MAGIC);
    assert(!board->first); /* nobody waits */
    pthread_mutex_destroy(&board->lock);
}

void waiter_enter(struct waiter_board *board, struct waiter *waiter, const void *const *things,
                  size_t thing_count)
{
    object_check(board, WAITER_BOARD_MAGIC);
    *waiter = (struct waiter){.things = things, .thing_count = thing_count};
    condition_init(&waiter->changed, board->clock);
    pthread_mutex_lock(&board->lock);
    waiter->next = board->first;
    if (board->first)
        board->first->previous = waiter;
    board->first = waiter;
    pthread_mutex_unlock(&board->lock);
}

bool waiter_wait(struct waiter_board *board, struct waiter *waiter, int64_t until_us)
{
    bool in_time = true;
    bool woken;

    object_check(board, WAITER_BOARD_MAGIC);
    pthread_mutex_lock(&board->lock);
    while (!waiter->woken && in_time)
        in_time = condition_wait_until(&waiter->changed, &board->lock, until_us);
    woken = waiter->woken;
    waiter->woken = false;
    pthread_mutex_unlock(&board->lock);
    return woken;
}

void waiter_leave(struct waiter_board *board, struct waiter *waiter)
{
    object_check(board, WAITER_BOARD_MAGIC);
    pthread_mutex_lock(&board->lock);
    assert(waiter->previous ? waiter->previous->next == waiter : board->first == waiter);
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        board->first = waiter->next;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    pthread_mutex_unlock(&board->lock);
    condition_release(&waiter->changed);
}

void waiter_wake(struct waiter_board *board, const void *thing)
{
    struct waiter *waiter;
    size_t i;

    object_check(board, WAITER_BOARD_MAGIC);
    pthread_mutex_lock(&board->lock);
    for (waiter = board->first; waiter; waiter = waiter->next) {
        for (i = 0; i < waiter->thing_count && !waiter->woken; i++)
            if (waiter->things[i] == thing) {
                waiter->woken = true;
                condition_signal(&waiter->changed);
            }
    }
    pthread_mutex_unlock(&board->lock);
}
