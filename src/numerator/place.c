/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - where a key is, and whether data fits a state: see numerator.h. */
#include <assert.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/varint.h"
#include "numerator/bounds.h"
#include "numerator/numerator.h"

int64_t number_key_hash(struct bytes key)
{
    return (int64_t)(hash64(key) ^ (1ULL << 63));
}

/* Ranges of equal width: the upper half of hash × count. */
uint32_t number_key_shard(int64_t hash, uint32_t shard_count)
{
    uint64_t plain = (uint64_t)hash ^ (1ULL << 63);

    assert(shard_count > 0);
    return (uint32_t)(((unsigned __int128)plain * shard_count) >> 64);
}

/* The least hash whose product with the count reaches shard × 2^64. */
static uint64_t first_of(uint32_t shard, uint32_t shard_count)
{
    unsigned __int128 product = (unsigned __int128)shard << 64;

    return (uint64_t)((product + shard_count - 1) / shard_count);
}

void number_shard_range(uint32_t shard, uint32_t shard_count, int64_t *first, int64_t *last)
{
    uint64_t end = shard + 1 == shard_count ? 0 : first_of(shard + 1, shard_count);

    assert(shard < shard_count);
    *first = (int64_t)(first_of(shard, shard_count) ^ (1ULL << 63));
    *last = (int64_t)((end - 1) ^ (1ULL << 63));
}

const char *number_version_misfit(const struct number_version *state,
                                  const struct number_version *data)
{
    if (state->kind != data->kind)
        return "they are of different collections (T)";
    if (state->scheme != data->scheme)
        return "their keys are spread over shards in different ways (S)";
    if (state->rebuild != data->rebuild)
        return "all keys were renumbered between them (V)";
    if (state->generation < data->generation)
        return "the data has numbers that the state does not know yet (G)";
    return NULL;
}

/* Several parts begin with a zero byte, which a single one may not: 0 | (varint size | part) ... */
int number_key_put(const struct bytes *parts, uint32_t count, struct buf *out, struct err *err)
{
    size_t before = out->size;

    if (count == 0 || count > NUMBER_KEY_PART_MAX)
        return err_set(err, ERR_INVALID, "a key of %u parts: expected 1 to %d", count,
                       NUMBER_KEY_PART_MAX);
    if (count == 1 && parts[0].size > 0 && parts[0].data[0] == 0)
        return err_set(err, ERR_INVALID, "a key begins with a zero byte");
    if (count == 1)
        buf_put(out, parts[0]);
    else
        buf_put_byte(out, 0);
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        varint_put(out, parts[i].size);
        buf_put(out, parts[i]);
    }
    if (out->size == before || buf_failed(out) || out->size - before > NUMBER_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "a key is empty, or has more than %d bytes",
                       NUMBER_KEY_SIZE_MAX);
    return 0;
}

int number_key_join(const struct bytes *parts, uint32_t count, struct bytes *key,
                    struct arena *arena, struct err *err)
{
    struct buf joined = BUF_INIT(NUMBER_KEY_SIZE_MAX);
    int rc = number_key_put(parts, count, &joined, err);

    *key = arena_copy(arena, buf_bytes(&joined));
    buf_release(&joined);
    return rc;
}

uint32_t number_key_split(struct bytes key, struct bytes parts[NUMBER_KEY_PART_MAX])
{
    uint32_t count = 0;
    uint64_t size;

    if (key.size == 0 || key.data[0] != 0) {
        parts[0] = key;
        return key.size > 0;
    }
    for (key = bytes_skip(key, 1); key.size > 0; key = bytes_skip(key, size)) {
        if (count == NUMBER_KEY_PART_MAX || !varint_get(&key, &size) || size > key.size)
            return 0;
        parts[count++] = bytes_make(key.data, size);
    }
    return count > 1 ? count : 0;
}
