/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - see stored.h. */
#include "index/stored.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/pack.h"

enum { RECORD_HEAD_SIZE = 12, ROOT_SHIFT = 10, ROOT_SIZE = 1 << ROOT_SHIFT };

struct chunk_table {
    _Atomic(uint8_t *) chunks[ROOT_SIZE]; /* owned */
};

struct stored {
    struct epoch *epoch; /* borrowed */
    struct buf packed;
    _Atomic uint64_t end;                            /* place of the next record */
    _Atomic(struct chunk_table *) tables[ROOT_SIZE]; /* owned */
};

struct stored *stored_new(struct epoch *epoch)
{
    struct stored *stored = mem_zero(sizeof(*stored));

    stored->epoch = epoch;
    buf_init(&stored->packed, 2 * (size_t)STORED_RECORD_SIZE_MAX);
    return stored;
}

void stored_free(struct stored *stored)
{
    uint32_t i;
    uint32_t j;

    if (!stored)
        return;
    for (i = 0; i < ROOT_SIZE; i++) {
        struct chunk_table *table = atomic_load(&stored->tables[i]);

        for (j = 0; table && j < ROOT_SIZE; j++)
            free(atomic_load(&table->chunks[j]));
        free(table);
    }
    buf_release(&stored->packed);
    free(stored);
}

static uint8_t *chunk_at(const struct stored *stored, uint64_t place)
{
    uint64_t index = place / STORED_CHUNK_SIZE;
    struct chunk_table *table =
        atomic_load_explicit(&stored->tables[index >> ROOT_SHIFT], memory_order_acquire);

    return table
               ? atomic_load_explicit(&table->chunks[index & (ROOT_SIZE - 1)], memory_order_acquire)
               : NULL;
}

static uint8_t *chunk_need(struct stored *stored, uint64_t place)
{
    uint64_t index = place / STORED_CHUNK_SIZE;
    struct chunk_table *table =
        atomic_load_explicit(&stored->tables[index >> ROOT_SHIFT], memory_order_relaxed);
    uint8_t *chunk = chunk_at(stored, place);

    if (chunk)
        return chunk;
    if (!table) {
        table = mem_zero(sizeof(*table));
        atomic_store_explicit(&stored->tables[index >> ROOT_SHIFT], table, memory_order_release);
    }
    chunk = mem_zero(STORED_CHUNK_SIZE);
    atomic_store_explicit(&table->chunks[index & (ROOT_SIZE - 1)], chunk, memory_order_release);
    return chunk;
}

int stored_append(struct stored *stored, docid id, struct bytes record, uint64_t *place,
                  struct err *err)
{
    uint64_t end = atomic_load_explicit(&stored->end, memory_order_relaxed);
    uint64_t left = STORED_CHUNK_SIZE - end % STORED_CHUNK_SIZE;
    uint8_t head[RECORD_HEAD_SIZE];
    uint8_t *to;
    uint32_t crc;
    size_t size;

    if (record.size > STORED_RECORD_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "document %u has %zu bytes of texts and stored fields, at most "
                       "STORED_RECORD_SIZE_MAX = %d",
                       id, record.size, STORED_RECORD_SIZE_MAX);
    buf_reset(&stored->packed);
    pack_put(&stored->packed, record, STORED_PACK_SIZE_MIN);
    size = sizeof(head) + stored->packed.size;
    if (left < size)
        end += left;
    assert(!buf_failed(&stored->packed) && size <= STORED_CHUNK_SIZE);
    if (end / STORED_CHUNK_SIZE >= (uint64_t)ROOT_SIZE * ROOT_SIZE)
        return err_set(err, ERR_LIMIT, "the stored fields of the shard have %d GB, their limit",
                       ROOT_SIZE);
    put_le32(head, (uint32_t)stored->packed.size);
    put_le32(head + 4, id);
    crc = crc32c(0, bytes_make(head, 8));
    put_le32(head + 8, crc32c(crc, buf_bytes(&stored->packed)));
    to = chunk_need(stored, end) + end % STORED_CHUNK_SIZE;
    memcpy(to, head, sizeof(head));
    memcpy(to + sizeof(head), stored->packed.data, stored->packed.size);
    *place = end;
    atomic_store_explicit(&stored->end, end + size, memory_order_release);
    return 0;
}

int stored_read(const struct stored *stored, uint64_t place, docid id, struct buf *out,
                struct err *err)
{
    const uint8_t *chunk = chunk_at(stored, place);
    uint64_t at = place % STORED_CHUNK_SIZE;
    struct arena *arena = NULL;
    struct bytes packed;
    struct bytes raw;
    int rc;

    if (!chunk || STORED_CHUNK_SIZE - at < RECORD_HEAD_SIZE)
        return err_set(err, ERR_CORRUPT, "document %u has no record at %ju", id, (uintmax_t)place);
    packed = bytes_make(chunk + at + RECORD_HEAD_SIZE, get_le32(chunk + at));
    if (packed.size > STORED_CHUNK_SIZE - at - RECORD_HEAD_SIZE || get_le32(chunk + at + 4) != id ||
        crc32c(crc32c(0, bytes_make(chunk + at, 8)), packed) != get_le32(chunk + at + 8))
        return err_set(err, ERR_CORRUPT, "the record of document %u at %ju is damaged", id,
                       (uintmax_t)place);
    arena = arena_new();
    rc = pack_open(packed, STORED_RECORD_SIZE_MAX, arena, &raw, err);
    if (!rc)
        buf_put(out, raw);
    arena_free(arena);
    return rc;
}

uint64_t stored_size(const struct stored *stored)
{
    return atomic_load_explicit(&stored->end, memory_order_relaxed);
}
