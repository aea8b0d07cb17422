/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contact_limit.h - how many contacts one caller may ask for in an hour: phones are not to be
 * gathered by a program.
 *
 * A table of fixed size, by the hash of the caller (his key, else his address). An hour begins with
 * the first contact. Where there is no room for another caller the one whose hour began first is
 * forgotten: whoever has that many addresses is not stopped by counting.
 *
 * Threads: any.
 */
#ifndef TORG_OFFERS_INBOX_CONTACT_LIMIT_H
#define TORG_OFFERS_INBOX_CONTACT_LIMIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "offers/bounds.h"

struct contact_hour {
    uint64_t caller; /* 0: free */
    int64_t begun_us;
    int64_t count;
};

struct contact_limit {
    int64_t per_hour; /* 0: as many as they like */
    pthread_mutex_t lock;
    struct contact_hour hours[CONTACT_SET_COUNT][CONTACT_SET_SIZE];
};

void contact_limit_init(struct contact_limit *limit, int64_t per_hour);
void contact_limit_release(struct contact_limit *limit);

/* Counts one more; false: it was one too many, and *wait_s seconds are left of the hour. */
bool contact_limit_take(struct contact_limit *limit, uint64_t caller, int64_t now_us,
                        int64_t *wait_s);

#endif
