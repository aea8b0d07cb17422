/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c - see seen.h. */
#include "searcher/seen.h"

#include <assert.h>

#include "base/buf.h"
#include "base/varint.h"
#include "searcher/bounds.h"

enum { FORM = 1, HEAD_COUNT = 3 };

struct bytes seen_encode(const struct seen *seen, struct arena *arena)
{
    size_t size_max = 1 + (HEAD_COUNT + (size_t)seen->shard_count) * VARINT_SIZE_MAX;
    uint8_t *binary = arena_alloc(arena, size_max);
    size_t size = 0;

    binary[size++] = FORM;
    size += varint_encode((uint64_t)seen->client_id, binary + size);
    size += varint_encode((uint64_t)seen->epoch, binary + size);
    size += varint_encode(seen->shard_count, binary + size);
    for (uint32_t i = 0; i < seen->shard_count; i++)
        size += varint_encode(seen->offsets[i], binary + size);
    assert(size <= size_max);
    return bytes_make(binary, size);
}

int seen_decode(struct bytes binary, struct arena *arena, struct seen *seen, struct err *err)
{
    uint64_t head[HEAD_COUNT] = {0};
    bool ok = binary.size && binary.data[0] == FORM;

    if (ok)
        binary = bytes_skip(binary, 1);
    for (size_t i = 0; ok && i < HEAD_COUNT; i++)
        ok = varint_get(&binary, &head[i]) && head[i] <= INT64_MAX;
    ok = ok && head[2] <= SEARCHER_SHARD_COUNT_MAX;
    *seen = (struct seen){.client_id = (int64_t)head[0],
                          .epoch = (int64_t)head[1],
                          .shard_count = ok ? (uint32_t)head[2] : 0};
    seen->offsets = arena_array(arena, seen->shard_count + 1, sizeof(seen->offsets[0]));
    for (uint32_t i = 0; ok && i < seen->shard_count; i++)
        ok = varint_get(&binary, &seen->offsets[i]) && seen->offsets[i] <= INT64_MAX;
    if (ok && !binary.size)
        return 0;
    return err_set(err, ERR_INVALID, "seen: is not what an earlier answer gave");
}
