/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.c - see arrivals.h. */
#include "searcher/replica/arrivals.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "searcher/bounds.h"

struct arrival {
    uint32_t doc_id;
    uint32_t showing; /* which showing it waits for, or came with; 0: unused */
    int64_t sent_us;
};

enum { ARRIVALS_MAGIC = OBJECT_MAGIC('a', 'r', 'r', 'v') };

/* When a showing took place is kept for as many showings as fit; what came with an older one was
 * shown at some time before. */
struct arrivals {
    uint32_t magic;
    pthread_mutex_t lock;
    uint32_t showing; /* the next */
    int64_t shown_us[SEARCHER_SHOWING_COUNT];
    struct arrival table[SEARCHER_ARRIVAL_COUNT];
};

struct arrivals *arrivals_new(void)
{
    struct arrivals *arrivals = mem_zero(sizeof(*arrivals));

    object_begin(arrivals, ARRIVALS_MAGIC);
    pthread_mutex_init(&arrivals->lock, NULL);
    arrivals->showing = 1;
    return arrivals;
}

void arrivals_free(struct arrivals *arrivals)
{
    if (!arrivals)
        return;
    object_check(arrivals, ARRIVALS_MAGIC);
    pthread_mutex_destroy(&arrivals->lock);
    object_end(arrivals, ARRIVALS_MAGIC);
    free(arrivals);
}

void arrivals_note(struct arrivals *arrivals, uint32_t doc_id, int64_t sent_us)
{
    object_check(arrivals, ARRIVALS_MAGIC);
    pthread_mutex_lock(&arrivals->lock);
    arrivals->table[doc_id % SEARCHER_ARRIVAL_COUNT] =
        (struct arrival){doc_id, arrivals->showing, sent_us};
    pthread_mutex_unlock(&arrivals->lock);
}

void arrivals_show(struct arrivals *arrivals, int64_t now_us)
{
    object_check(arrivals, ARRIVALS_MAGIC);
    pthread_mutex_lock(&arrivals->lock);
    arrivals->shown_us[arrivals->showing % SEARCHER_SHOWING_COUNT] = now_us;
    arrivals->showing++;
    pthread_mutex_unlock(&arrivals->lock);
}

bool arrivals_find(struct arrivals *arrivals, uint32_t doc_id, int64_t *sent_us, int64_t *shown_us)
{
    struct arrival found;
    bool is_known;

    object_check(arrivals, ARRIVALS_MAGIC);
    pthread_mutex_lock(&arrivals->lock);
    found = arrivals->table[doc_id % SEARCHER_ARRIVAL_COUNT];
    is_known = found.showing != 0 && found.doc_id == doc_id &&
               arrivals->showing - found.showing <= SEARCHER_SHOWING_COUNT;
    *sent_us = found.sent_us;
    *shown_us = found.showing == arrivals->showing
                    ? 0
                    : arrivals->shown_us[found.showing % SEARCHER_SHOWING_COUNT];
    pthread_mutex_unlock(&arrivals->lock);
    return is_known;
}
