/* SPDX-License-Identifier: Apache-2.0 */
/* coord_owned.c - what a member owns at this moment, and waiting for it to change; see member.h. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/metrics.h"
#include "base/object.h"
#include "coord/coord.h"
#include "coord/member.h"

void member_tell_change(struct coord_shards *shards)
{
    int64_t count = 0;
    uint32_t i;

    object_check(shards, COORD_SHARDS_MAGIC);
    for (i = 0; i < shards->shard_count; i++)
        count += shards->held[i].ticket != 0;
    gauge_set(shards->owned_count, count);
    assert(count <= shards->shard_count);
    shards->generation++;
    condition_broadcast(&shards->coord->changed);
}

static void tell_all(struct coord *coord)
{
    size_t i;

    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        if (coord->sets[i])
            member_tell_change(coord->sets[i]);
    }
}

/* Is the lease good at this moment? Its end counts as a change, once. */
static bool lease_good(struct coord *coord)
{
    bool good = clock_mono_us(coord->clock) < coord->deadline_us;

    if (!good && !coord->expired) {
        coord->expired = true;
        counter_add(coord->lost_count, 1);
        tell_all(coord);
    }
    return good;
}

void member_set_deadline(struct coord *coord, int64_t deadline_us, int64_t lease_us)
{
    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->lock);
    lease_good(coord); /* an end that nobody noticed is still a change */
    assert(lease_us > 0);
    coord->deadline_us = deadline_us;
    coord->lease_us = lease_us;
    if (coord->expired && lease_good(coord)) {
        coord->expired = false;
        tell_all(coord);
    }
    pthread_mutex_unlock(&coord->lock);
}

void member_lose_all(struct coord *coord)
{
    size_t i;

    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->lock);
    coord->deadline_us = 0;
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        struct coord_shards *shards = coord->sets[i];

        if (!shards)
            continue;
        memset(shards->held, 0, shards->shard_count * sizeof(shards->held[0]));
        shards->joined = false;
    }
    lease_good(coord);
    tell_all(coord);
    pthread_mutex_unlock(&coord->lock);
}

size_t coord_owned(struct coord_shards *shards, struct coord_shard *owned, size_t room)
{
    struct coord *coord = shards->coord;
    size_t count = 0;
    uint32_t i;

    object_check(shards, COORD_SHARDS_MAGIC);
    pthread_mutex_lock(&coord->lock);
    if (lease_good(coord)) {
        for (i = 0; i < shards->shard_count && count < room; i++) {
            const struct coord_held *held = &shards->held[i];

            if (held->ticket && !held->released)
                owned[count++] = (struct coord_shard){i, held->ticket, held->leaving};
        }
    }
    pthread_mutex_unlock(&coord->lock);
    return count;
}

int64_t coord_silence_us(struct coord *coord)
{
    int64_t silence_us;

    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->lock);
    silence_us = clock_mono_us(coord->clock) - (coord->deadline_us - coord->lease_us);
    pthread_mutex_unlock(&coord->lock);
    return silence_us;
}

bool coord_valid(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    struct coord *coord = shards->coord;
    bool valid;

    object_check(shards, COORD_SHARDS_MAGIC);
    assert(shard < shards->shard_count);
    pthread_mutex_lock(&coord->lock);
    valid = ticket && shards->held[shard].ticket == ticket && !shards->held[shard].released &&
            lease_good(coord);
    pthread_mutex_unlock(&coord->lock);
    return valid;
}

void member_poke(void *arg)
{
    struct coord *coord = arg;

    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->lock);
    coord->poked = true;
    condition_signal(&coord->wake);
    pthread_mutex_unlock(&coord->lock);
}

void coord_release(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    struct coord *coord = shards->coord;

    object_check(shards, COORD_SHARDS_MAGIC);
    assert(shard < shards->shard_count);
    pthread_mutex_lock(&coord->lock);
    if (ticket && shards->held[shard].ticket == ticket && !shards->held[shard].released) {
        shards->held[shard].released = true;
        member_tell_change(shards);
        coord->poked = true;
        condition_signal(&coord->wake);
    }
    pthread_mutex_unlock(&coord->lock);
}

int coord_wait(struct coord_shards *shards, uint64_t *seen, int timeout_ms, struct err *err)
{
    struct coord *coord = shards->coord;
    int64_t end_us = clock_after_us(coord->clock, (int64_t)timeout_ms * MS_US);
    bool in_time = true;
    int rc = 0;

    object_check(shards, COORD_SHARDS_MAGIC);
    pthread_mutex_lock(&coord->lock);
    while (shards->generation == *seen && in_time) {
        bool lease_first = lease_good(coord) && coord->deadline_us < end_us;

        if (shards->generation != *seen)
            break;
        in_time = condition_wait_until(&coord->changed, &coord->lock,
                                       lease_first ? coord->deadline_us : end_us);
        in_time |= lease_first;
    }
    if (shards->generation == *seen)
        rc = err_set(err, ERR_TIMEOUT, "no change of %s within %d ms", shards->name, timeout_ms);
    *seen = shards->generation;
    pthread_mutex_unlock(&coord->lock);
    return rc;
}
