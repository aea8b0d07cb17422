/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_numbers.c - the numbers that an indexer gives: of each numbering of its client, those of
 * the shards of the index that are fed from its shard of the queue; see indexer_parts.h.
 *
 * Keys of a batch are in the queue's shard, and so in these; which of them is by their hash.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "registry/indexing/indexer_parts.h"

/* --- what is open --- */

static uint32_t shards_each(const struct indexer *indexer, uint32_t numbering)
{
    return indexer->client->numberings[numbering].scheme / indexer->client->shard_count;
}

static struct numbers *find(const struct indexer *indexer, int64_t space, uint32_t shard)
{
    for (size_t i = 0; i < indexer->number_count; i++)
        if (indexer->numbers[i].space == space && indexer->numbers[i].shard == shard)
            return indexer->numbers[i].numbers;
    return NULL;
}

struct numbers *indexer_numbers(const struct indexer *indexer, uint32_t numbering, uint32_t shard)
{
    struct numbers *numbers = find(indexer, indexer->client->numberings[numbering].space, shard);

    assert(numbers);
    return numbers;
}

static bool is_known(const struct client_view *client, int64_t space)
{
    for (uint32_t i = 0; i < client->numbering_count; i++)
        if (client->numberings[i].space == space)
            return true;
    return false;
}

static void close_others(struct indexer *indexer)
{
    size_t kept = 0;

    for (size_t i = 0; i < indexer->number_count; i++) {
        if (is_known(indexer->client, indexer->numbers[i].space))
            indexer->numbers[kept++] = indexer->numbers[i];
        else
            numbers_close(indexer->numbers[i].numbers);
    }
    indexer->number_count = kept;
}

static int open_one(struct indexer *indexer, const struct numbering *numbering, uint32_t shard,
                    struct err *err)
{
    struct shard_numbers opened = {.space = numbering->space, .shard = shard};
    int rc = numbers_open(indexer->base->store, numbering, shard, &indexer->base->rules.numbers,
                          &opened.numbers, err);

    if (rc)
        return rc;
    indexer->numbers = mem_grow(indexer->numbers, indexer->number_count + 1,
                                sizeof(*indexer->numbers), &indexer->number_capacity);
    indexer->numbers[indexer->number_count++] = opened;
    return 0;
}

int indexer_open_numbers(struct indexer *indexer, bool is_new, struct err *err)
{
    const struct client_view *client = indexer->client;
    int rc = 0;

    close_others(indexer);
    for (size_t i = 0; is_new && i < indexer->number_count && !rc; i++)
        rc = numbers_reload(indexer->numbers[i].numbers, err);
    for (uint32_t i = 0; i < client->numbering_count && !rc; i++) {
        uint32_t each = shards_each(indexer, i);

        for (uint32_t k = 0; k < each && !rc; k++) {
            uint32_t shard = indexer->shard * each + k;

            if (!find(indexer, client->numberings[i].space, shard))
                rc = open_one(indexer, &client->numberings[i], shard, err);
        }
    }
    return rc;
}

void indexer_close_numbers(struct indexer *indexer)
{
    for (size_t i = 0; i < indexer->number_count; i++)
        numbers_close(indexer->numbers[i].numbers);
    free(indexer->numbers);
    indexer->numbers = NULL;
    indexer->number_count = indexer->number_capacity = 0;
}

void indexer_settle_numbers(const struct indexer *indexer, bool is_committed)
{
    for (size_t i = 0; i < indexer->number_count; i++)
        numbers_settle(indexer->numbers[i].numbers, is_committed);
}

/* --- many keys, shard by shard --- */

/* What is done with those of one shard. */
struct doing {
    const struct indexer *indexer;
    uint32_t numbering;
    int64_t now_us;
    int (*act)(struct store_tx *tx, const struct doing *doing, uint32_t shard,
               struct number_ask *asks, uint32_t count, struct err *err);
};

static int do_shard(struct store_tx *tx, const struct doing *doing, uint32_t shard,
                    struct number_ask **asks, const uint32_t *shards, size_t count,
                    struct number_ask *room, struct err *err)
{
    uint32_t own = 0;
    int rc;

    for (size_t i = 0; i < count; i++)
        if (shards[i] == shard)
            room[own++] = *asks[i];
    if (!own)
        return 0;
    rc = doing->act(tx, doing, shard, room, own, err);
    own = 0;
    for (size_t i = 0; i < count && !rc; i++)
        if (shards[i] == shard)
            *asks[i] = room[own++];
    return rc;
}

static int do_all(struct store_tx *tx, const struct doing *doing, struct number_ask **asks,
                  size_t count, struct arena *arena, struct err *err)
{
    const struct indexer *indexer = doing->indexer;
    uint32_t each = shards_each(indexer, doing->numbering);
    uint32_t first = indexer->shard * each;
    uint32_t scheme = indexer->client->numberings[doing->numbering].scheme;
    uint32_t *shards = arena_array(arena, count + 1, sizeof(*shards));
    struct number_ask *room = arena_array(arena, count + 1, sizeof(*room));
    int rc = 0;

    for (size_t i = 0; i < count; i++) {
        shards[i] = each == 1 ? first : number_key_shard(number_key_hash(asks[i]->key), scheme);
        assert(shards[i] >= first && shards[i] < first + each);
    }
    for (uint32_t k = 0; k < each && !rc; k++)
        rc = do_shard(tx, doing, first + k, asks, shards, count, room, err);
    return rc;
}

static int find_act(struct store_tx *tx, const struct doing *doing, uint32_t shard,
                    struct number_ask *asks, uint32_t count, struct err *err)
{
    return numbers_find_known(indexer_numbers(doing->indexer, doing->numbering, shard), tx, asks,
                              count, err);
}

int indexer_find_numbers(struct store_tx *tx, const struct indexer *indexer, uint32_t numbering,
                         struct number_ask **asks, size_t count, struct arena *arena,
                         struct err *err)
{
    const struct doing doing = {indexer, numbering, 0, find_act};

    return do_all(tx, &doing, asks, count, arena, err);
}

static int give_act(struct store_tx *tx, const struct doing *doing, uint32_t shard,
                    struct number_ask *asks, uint32_t count, struct err *err)
{
    return numbers_give(indexer_numbers(doing->indexer, doing->numbering, shard), tx, asks, count,
                        doing->now_us, err);
}

int indexer_give_numbers(struct store_tx *tx, const struct indexer *indexer, uint32_t numbering,
                         struct number_ask **asks, size_t count, int64_t now_us,
                         struct arena *arena, struct err *err)
{
    const struct doing doing = {indexer, numbering, now_us, give_act};

    return do_all(tx, &doing, asks, count, arena, err);
}

static int leave_act(struct store_tx *tx, const struct doing *doing, uint32_t shard,
                     struct number_ask *asks, uint32_t count, struct err *err)
{
    struct bytes *keys = mem_array(count, sizeof(*keys));
    int rc;

    for (uint32_t i = 0; i < count; i++)
        keys[i] = asks[i].key;
    rc = numbers_leave(indexer_numbers(doing->indexer, doing->numbering, shard), tx, keys, count,
                       doing->now_us, err);
    free(keys);
    return rc;
}

int indexer_leave_numbers(struct store_tx *tx, const struct indexer *indexer,
                          const struct bytes *keys, size_t count, int64_t now_us, struct err *err)
{
    struct arena *arena = arena_new();
    struct number_ask *list = arena_array(arena, count + 1, sizeof(*list));
    struct number_ask **asks = arena_array(arena, count + 1, sizeof(struct number_ask *));
    int rc = 0;

    for (size_t i = 0; i < count; i++) {
        list[i].key = keys[i];
        asks[i] = &list[i];
    }
    for (uint32_t i = 0; i < indexer->client->numbering_count && !rc; i++) {
        const struct doing doing = {indexer, i, now_us, leave_act};

        rc = do_all(tx, &doing, asks, count, arena, err);
    }
    arena_free(arena);
    return rc;
}
