/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c - see owners.h. */
#include "index/shard/owners.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"

enum {
    CHUNK_SHIFT = 9,
    CHUNK_SIZE = 1 << CHUNK_SHIFT,
    CHUNK_COUNT = 1 << (32 - WINDOW_SHIFT - CHUNK_SHIFT),
};

enum { OWNERS_MAGIC = OBJECT_MAGIC('o', 'w', 'n', 'r') };

struct owners {
    uint32_t magic;
    uint64_t size;
    uint8_t **chunks[CHUNK_COUNT]; /* owned; of CHUNK_SIZE pages of WINDOW_SIZE bytes */
};

struct owners *owners_new(void)
{
    struct owners *owners = mem_zero(sizeof(*owners));

    object_begin(owners, OWNERS_MAGIC);
    owners->size = sizeof(*owners);
    return owners;
}

void owners_free(struct owners *owners)
{
    uint32_t i;
    uint32_t j;

    if (!owners)
        return;
    object_check(owners, OWNERS_MAGIC);
    for (i = 0; i < CHUNK_COUNT; i++) {
        for (j = 0; owners->chunks[i] && j < CHUNK_SIZE; j++)
            free(owners->chunks[i][j]);
        free(owners->chunks[i]);
    }
    object_end(owners, OWNERS_MAGIC);
    free(owners);
}

static uint8_t *page_of(const struct owners *owners, uint32_t window)
{
    uint8_t **chunk = owners->chunks[window >> CHUNK_SHIFT];

    return chunk ? chunk[window & (CHUNK_SIZE - 1)] : NULL;
}

uint8_t owners_get(const struct owners *owners, docid id)
{
    const uint8_t *page = page_of(owners, window_of(id));

    return page ? page[id & (WINDOW_SIZE - 1)] : OWNER_NONE;
}

void owners_set(struct owners *owners, docid id, uint8_t owner)
{
    uint32_t window = window_of(id);
    uint8_t *page = page_of(owners, window);

    object_check(owners, OWNERS_MAGIC);
    if (!page) {
        uint8_t ***chunk = &owners->chunks[window >> CHUNK_SHIFT];

        if (!*chunk) {
            *chunk = mem_array(CHUNK_SIZE, sizeof(**chunk));
            owners->size += CHUNK_SIZE * sizeof(**chunk);
        }
        page = mem_zero(WINDOW_SIZE);
        owners->size += WINDOW_SIZE;
        (*chunk)[window & (CHUNK_SIZE - 1)] = page;
    }
    page[id & (WINDOW_SIZE - 1)] = owner;
}

void owners_map(struct owners *owners, uint32_t window, const uint8_t map[OWNER_COUNT])
{
    uint8_t *page = page_of(owners, window);
    uint32_t i;

    object_check(owners, OWNERS_MAGIC);
    for (i = 0; page && i < WINDOW_SIZE; i++)
        page[i] = map[page[i]];
}

uint64_t owners_size(const struct owners *owners)
{
    object_check(owners, OWNERS_MAGIC);
    return owners->size;
}
