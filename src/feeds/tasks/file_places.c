/* SPDX-License-Identifier: Apache-2.0 */
/* file_places.c - see file_places.h. */
#include "feeds/tasks/file_places.h"

#include <assert.h>

#include "base/hash.h"

/* Under the lock. */
static int find(const struct file_places *places, uint64_t seller, size_t *place, struct err *err)
{
    size_t mine = 0;

    *place = FEED_CALL_FILE_COUNT_MAX;
    for (size_t i = 0; i < FEED_CALL_FILE_COUNT_MAX; i++) {
        mine += places->sellers[i] == seller;
        if (!places->sellers[i])
            *place = i;
    }
    if (mine >= FEED_CALL_FILE_SELLER_MAX)
        return err_set(err, ERR_LIMIT,
                       "%d files of this seller are being read already: send it again when one of "
                       "them is done",
                       FEED_CALL_FILE_SELLER_MAX);
    if (*place == FEED_CALL_FILE_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "%d files are being read already: send it again later",
                       FEED_CALL_FILE_COUNT_MAX);
    return 0;
}

int file_places_take(struct file_places *places, const char *seller, size_t *place, struct err *err)
{
    uint64_t id = hash64(bytes_of(seller)) | 1; /* 0 is free */
    int rc;

    pthread_mutex_lock(&places->lock);
    rc = find(places, id, place, err);
    if (!rc)
        places->sellers[*place] = id;
    pthread_mutex_unlock(&places->lock);
    return rc;
}

void file_places_give_back(struct file_places *places, size_t place)
{
    pthread_mutex_lock(&places->lock);
    assert(place < FEED_CALL_FILE_COUNT_MAX && places->sellers[place]);
    places->sellers[place] = 0;
    pthread_mutex_unlock(&places->lock);
}
