/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c - see turns.h. */
#include "feeds/schedule/turns.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/object.h"
#include "feeds/bounds.h"

enum { FEED_TURNS_MAGIC = OBJECT_MAGIC('f', 't', 'r', 'n') };

/* What one who fetches has at hand. */
struct turn {
    char *seller; /* owned, as the host; NULL: nothing */
    char *host;
    uint32_t shard;
};

struct feed_turns {
    uint32_t magic;
    pthread_mutex_t lock;
    size_t fetcher_count;
    struct turn *taken;                       /* one for each who fetches */
    uint64_t round;                           /* turns given back */
    uint64_t served[FEED_FETCH_SELLER_COUNT]; /* the round of each hash of a seller; 0: none yet */
};

struct feed_turns *feed_turns_new(size_t fetcher_count)
{
    struct feed_turns *turns = mem_zero(sizeof(*turns));

    object_begin(turns, FEED_TURNS_MAGIC);
    turns->fetcher_count = fetcher_count;
    turns->taken = mem_array(fetcher_count, sizeof(*turns->taken));
    pthread_mutex_init(&turns->lock, NULL);
    return turns;
}

void feed_turns_free(struct feed_turns *turns)
{
    if (!turns)
        return;
    object_check(turns, FEED_TURNS_MAGIC);
    for (size_t i = 0; i < turns->fetcher_count; i++)
        assert(!turns->taken[i].seller);
    pthread_mutex_destroy(&turns->lock);
    free(turns->taken);
    object_end(turns, FEED_TURNS_MAGIC);
    free(turns);
}

/* Sellers whose hashes collide share their round. */
static uint64_t *served(struct feed_turns *turns, const char *seller)
{
    return &turns->served[hash64(bytes_of(seller)) % FEED_FETCH_SELLER_COUNT];
}

static bool is_busy(const struct feed_turns *turns, const struct feed_waiting *waiting)
{
    for (size_t i = 0; i < turns->fetcher_count; i++) {
        const struct turn *turn = &turns->taken[i];

        if (turn->seller && (strcmp(turn->seller, waiting->seller) == 0 ||
                             (*waiting->host && strcmp(turn->host, waiting->host) == 0)))
            return true;
    }
    return false;
}

static const struct feed_waiting *choose(struct feed_turns *turns, const struct feed_waiting *list,
                                         size_t count)
{
    const struct feed_waiting *found = NULL;
    uint64_t found_round = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t round = *served(turns, list[i].seller);

        if (found &&
            (round > found_round || (round == found_round && list[i].due_us >= found->due_us)))
            continue;
        if (is_busy(turns, &list[i]))
            continue;
        found = &list[i];
        found_round = round;
    }
    return found;
}

const struct feed_waiting *feed_turns_take(struct feed_turns *turns, size_t fetcher,
                                           const struct feed_waiting *list, size_t count)
{
    const struct feed_waiting *found;

    object_check(turns, FEED_TURNS_MAGIC);
    assert(fetcher < turns->fetcher_count && !turns->taken[fetcher].seller);
    pthread_mutex_lock(&turns->lock);
    found = choose(turns, list, count);
    if (found)
        turns->taken[fetcher] = (struct turn){.seller = mem_strdup(found->seller),
                                              .host = mem_strdup(found->host),
                                              .shard = found->shard};
    pthread_mutex_unlock(&turns->lock);
    return found;
}

void feed_turns_give_back(struct feed_turns *turns, size_t fetcher)
{
    struct turn *turn = &turns->taken[fetcher];

    object_check(turns, FEED_TURNS_MAGIC);
    pthread_mutex_lock(&turns->lock);
    assert(fetcher < turns->fetcher_count && turn->seller);
    *served(turns, turn->seller) = ++turns->round;
    free(turn->seller);
    free(turn->host);
    *turn = (struct turn){0};
    pthread_mutex_unlock(&turns->lock);
}

bool feed_turns_wait(struct feed_turns *turns, const struct feed_waiting *list, size_t count)
{
    bool found;

    object_check(turns, FEED_TURNS_MAGIC);
    pthread_mutex_lock(&turns->lock);
    found = choose(turns, list, count) != NULL;
    pthread_mutex_unlock(&turns->lock);
    return found;
}

bool feed_turns_has(struct feed_turns *turns, uint32_t shard)
{
    bool found = false;

    object_check(turns, FEED_TURNS_MAGIC);
    pthread_mutex_lock(&turns->lock);
    for (size_t i = 0; i < turns->fetcher_count && !found; i++)
        found = turns->taken[i].seller && turns->taken[i].shard == shard;
    pthread_mutex_unlock(&turns->lock);
    return found;
}
