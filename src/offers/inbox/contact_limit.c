/* SPDX-License-Identifier: Apache-2.0 */
/* contact_limit.c - see contact_limit.h. */
#include "offers/inbox/contact_limit.h"

#include <string.h>

#include "base/clock.h"

static const int64_t hour_us = 3600 * (int64_t)SECOND_US;

void contact_limit_init(struct contact_limit *limit, int64_t per_hour)
{
    memset(limit, 0, sizeof(*limit));
    limit->per_hour = per_hour;
    pthread_mutex_init(&limit->lock, NULL);
}

void contact_limit_release(struct contact_limit *limit)
{
    pthread_mutex_destroy(&limit->lock);
}

/* The caller's, or the place that it gets. */
static struct contact_hour *find(struct contact_hour *set, uint64_t caller)
{
    struct contact_hour *oldest = set;

    for (size_t i = 0; i < CONTACT_SET_SIZE; i++) {
        if (set[i].caller == caller)
            return &set[i];
        if (oldest->caller && (!set[i].caller || set[i].begun_us < oldest->begun_us))
            oldest = &set[i];
    }
    *oldest = (struct contact_hour){.caller = caller};
    return oldest;
}

bool contact_limit_take(struct contact_limit *limit, uint64_t caller, int64_t now_us,
                        int64_t *wait_s)
{
    struct contact_hour *hour;
    bool taken;

    *wait_s = 0;
    if (!limit->per_hour)
        return true;
    caller |= 1; /* 0 is free */
    pthread_mutex_lock(&limit->lock);
    hour = find(limit->hours[(caller >> 1) % CONTACT_SET_COUNT], caller);
    if (!hour->count || now_us - hour->begun_us >= hour_us) {
        hour->begun_us = now_us;
        hour->count = 0;
    }
    taken = hour->count < limit->per_hour;
    hour->count += taken;
    if (!taken)
        *wait_s = (hour->begun_us + hour_us - now_us) / SECOND_US + 1;
    pthread_mutex_unlock(&limit->lock);
    return taken;
}
