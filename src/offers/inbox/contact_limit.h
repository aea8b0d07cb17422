/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contact_limit.h - how many contacts one caller may ask for in an hour, so that no program
 * harvests phone numbers.
 *
 * A table of fixed size, by the hash of the caller (its key, otherwise its address). An hour begins
 * with the first contact. If there is no room for another caller, the one whose hour began first is
 * forgotten: counting does not stop somebody with that many addresses.
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
