/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c - see seen.h. */
#include "searcher/front/seen.h"

#include <assert.h>

#include "base/buf.h"
#include "base/varint.h"
#include "searcher/bounds.h"

enum { FORM_PLAIN = 1, FORM_AHEAD = 2, HEAD_COUNT = 3 };

static bool is_ahead(const struct seen *seen)
{
    for (uint32_t i = 0; i < seen->shard_count; i++)
        if (seen->applied[i] > seen->offsets[i])
            return true;
    return false;
}

struct bytes seen_encode(const struct seen *seen, struct arena *arena)
{
    size_t size_max = 1 + (HEAD_COUNT + 2 * (size_t)seen->shard_count) * VARINT_SIZE_MAX;
    uint8_t *binary = arena_alloc(arena, size_max);
    uint8_t form = is_ahead(seen) ? FORM_AHEAD : FORM_PLAIN;
    size_t size = 0;

    binary[size++] = form;
    size += varint_encode((uint64_t)seen->client_id, binary + size);
    size += varint_encode((uint64_t)seen->epoch, binary + size);
    size += varint_encode(seen->shard_count, binary + size);
    for (uint32_t i = 0; i < seen->shard_count; i++)
        size += varint_encode(seen->offsets[i], binary + size);
    for (uint32_t i = 0; i < seen->shard_count && form == FORM_AHEAD; i++) {
        assert(seen->applied[i] >= seen->offsets[i]);
        size += varint_encode(seen->applied[i] - seen->offsets[i], binary + size);
    }
    assert(size <= size_max);
    return bytes_make(binary, size);
}

int seen_decode(struct bytes binary, struct arena *arena, struct seen *seen, struct err *err)
{
    uint64_t head[HEAD_COUNT] = {0};
    uint8_t form = binary.size ? binary.data[0] : 0;
    bool ok = form == FORM_PLAIN || form == FORM_AHEAD;

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
    seen->applied = arena_array(arena, seen->shard_count + 1, sizeof(seen->applied[0]));
    for (uint32_t i = 0; ok && i < seen->shard_count; i++) {
        uint64_t ahead = 0;

        ok = form == FORM_PLAIN || (varint_get(&binary, &ahead) && ahead <= INT64_MAX);
        seen->applied[i] = seen->offsets[i] + ahead;
    }
    if (ok && !binary.size)
        return 0;
    return err_set(err, ERR_INVALID, "seen: is not what an earlier answer gave");
}
