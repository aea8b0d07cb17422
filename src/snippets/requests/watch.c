/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - see watch.h. */
#include "snippets/requests/watch.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/condition.h"
#include "base/memory.h"
#include "base/object.h"
#include "snippets/bounds.h"

enum { SNIPPET_WATCH_MAGIC = OBJECT_MAGIC('s', 'n', 'w', 't') };

struct snippet_watch {
    uint32_t magic;
    atomic_uint_fast64_t told;
    atomic_uint waiting_count;
    pthread_mutex_t lock;
    struct condition changed;                  /* a writer of this process tells all followers */
    uint64_t callers[SNIPPET_WATCH_COUNT_MAX]; /* who has a place; lock */
    size_t count;                              /* lock */
};

struct snippet_watch *snippet_watch_new(const struct clock *clock)
{
    struct snippet_watch *watch = mem_zero(sizeof(*watch));

    object_begin(watch, SNIPPET_WATCH_MAGIC);
    pthread_mutex_init(&watch->lock, NULL);
    condition_init(&watch->changed, clock);
    return watch;
}

void snippet_watch_free(struct snippet_watch *watch)
{
    if (!watch)
        return;
    object_check(watch, SNIPPET_WATCH_MAGIC);
    assert(watch->count == 0 && atomic_load(&watch->waiting_count) == 0);
    condition_release(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
    object_end(watch, SNIPPET_WATCH_MAGIC);
    free(watch);
}

int snippet_watch_enter(struct snippet_watch *watch, uint64_t caller, struct err *err)
{
    size_t own = 0;
    int rc = 0;

    object_check(watch, SNIPPET_WATCH_MAGIC);
    pthread_mutex_lock(&watch->lock);
    for (size_t i = 0; i < watch->count; i++)
        own += watch->callers[i] == caller;
    if (own >= SNIPPET_WATCH_CALLER_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "you have %zu watches already (SNIPPET_WATCH_CALLER_MAX): watch more names by "
                     "one of them",
                     own);
    else if (watch->count == SNIPPET_WATCH_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "there are %d watches already (SNIPPET_WATCH_COUNT_MAX): come back later",
                     SNIPPET_WATCH_COUNT_MAX);
    else
        watch->callers[watch->count++] = caller;
    pthread_mutex_unlock(&watch->lock);
    return rc;
}

void snippet_watch_leave(struct snippet_watch *watch, uint64_t caller)
{
    size_t i = 0;

    object_check(watch, SNIPPET_WATCH_MAGIC);
    pthread_mutex_lock(&watch->lock);
    while (i < watch->count && watch->callers[i] != caller)
        i++;
    assert(i < watch->count);
    watch->callers[i] = watch->callers[--watch->count];
    pthread_mutex_unlock(&watch->lock);
}

void snippet_watch_tell(struct snippet_watch *watch)
{
    object_check(watch, SNIPPET_WATCH_MAGIC);
    atomic_fetch_add(&watch->told, 1);
    if (!atomic_load(&watch->waiting_count))
        return;
    pthread_mutex_lock(&watch->lock);
    condition_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

uint64_t snippet_watch_told(const struct snippet_watch *watch)
{
    object_check(watch, SNIPPET_WATCH_MAGIC);
    return atomic_load(&watch->told);
}

void snippet_watch_wait(struct snippet_watch *watch, uint64_t told, int64_t until_us)
{
    object_check(watch, SNIPPET_WATCH_MAGIC);
    pthread_mutex_lock(&watch->lock);
    atomic_fetch_add(&watch->waiting_count, 1);
    while (atomic_load(&watch->told) == told &&
           condition_wait_until(&watch->changed, &watch->lock, until_us))
        ;
    atomic_fetch_sub(&watch->waiting_count, 1);
    pthread_mutex_unlock(&watch->lock);
}
