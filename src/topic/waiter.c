/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.c - see waiter.h. One lock; the board lists only those who are idle. */
#include "topic/waiter.h"

#include <errno.h>

void waiter_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec waiter_deadline(int timeout_ms)
{
    struct timespec deadline;

    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += timeout_ms / 1000;
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    return deadline;
}

void waiter_board_init(struct waiter_board *board)
{
    pthread_mutex_init(&board->lock, NULL);
    board->first = NULL;
}

void waiter_board_release(struct waiter_board *board)
{
    pthread_mutex_destroy(&board->lock);
}

void waiter_enter(struct waiter_board *board, struct waiter *waiter, const void *const *things,
                  size_t thing_count)
{
    *waiter = (struct waiter){.things = things, .thing_count = thing_count};
    waiter_cond_init(&waiter->changed);
    pthread_mutex_lock(&board->lock);
    waiter->next = board->first;
    if (board->first)
        board->first->previous = waiter;
    board->first = waiter;
    pthread_mutex_unlock(&board->lock);
}

bool waiter_wait(struct waiter_board *board, struct waiter *waiter, const struct timespec *deadline)
{
    bool woken;
    int rc = 0;

    pthread_mutex_lock(&board->lock);
    while (!waiter->woken && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&waiter->changed, &board->lock, deadline);
    woken = waiter->woken;
    waiter->woken = false;
    pthread_mutex_unlock(&board->lock);
    return woken;
}

void waiter_leave(struct waiter_board *board, struct waiter *waiter)
{
    pthread_mutex_lock(&board->lock);
    if (waiter->previous)
        waiter->previous->next = waiter->next;
    else
        board->first = waiter->next;
    if (waiter->next)
        waiter->next->previous = waiter->previous;
    pthread_mutex_unlock(&board->lock);
    pthread_cond_destroy(&waiter->changed);
}

void waiter_wake(struct waiter_board *board, const void *thing)
{
    struct waiter *waiter;
    size_t i;

    pthread_mutex_lock(&board->lock);
    for (waiter = board->first; waiter; waiter = waiter->next) {
        for (i = 0; i < waiter->thing_count && !waiter->woken; i++)
            if (waiter->things[i] == thing) {
                waiter->woken = true;
                pthread_cond_signal(&waiter->changed);
            }
    }
    pthread_mutex_unlock(&board->lock);
}
