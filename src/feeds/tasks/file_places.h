/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_places.h - who may send whole files by call at the same time: each holds a worker thread for
 * a minute or two, so places are few, and no caller gets all of them.
 *
 * Threads: any.
 */
#ifndef TORG_FEEDS_TASKS_FILE_PLACES_H
#define TORG_FEEDS_TASKS_FILE_PLACES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "feeds/bounds.h"

struct file_places {
    pthread_mutex_t lock;
    uint64_t sellers[FEED_CALL_FILE_COUNT_MAX]; /* hashes; 0: a free place */
};

#define FILE_PLACES_INIT                                                                           \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* ERR_LIMIT: the seller has as many as he may, or all are taken. */
int file_places_take(struct file_places *places, const char *seller, size_t *place,
                     struct err *err);
void file_places_give_back(struct file_places *places, size_t place);

#endif
