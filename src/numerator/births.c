/* SPDX-License-Identifier: Apache-2.0 */
/* births.c - see births.h. */
#include "numerator/births.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/memory.h"

enum {
    BIRTH_BLOCK_COUNT = 256,
    BIRTH_WIDTH_NONE = 5,
    BIRTH_PADDING = 3, /* behind the last: each is read as four bytes */
};

void births_release(struct births *births)
{
    for (size_t i = 0; i < births->count; i++)
        free(births->blocks[i].above);
    free(births->blocks);
    *births = (struct births){0};
}

static size_t block_size(const struct birth_block *block)
{
    return (size_t)BIRTH_BLOCK_COUNT * block->width + BIRTH_PADDING;
}

static uint32_t width_of(uint32_t above)
{
    uint32_t width = 0;

    for (; above; above >>= 8)
        width++;
    return width;
}

static uint32_t get(const struct birth_block *block, uint32_t at)
{
    uint32_t above;

    if (block->width == 0)
        return block->base;
    above = get_le32(block->above + (size_t)at * block->width);
    return block->base + (above & UINT32_MAX >> (32 - 8 * block->width));
}

static void put(struct birth_block *block, uint32_t at, uint32_t birth)
{
    uint8_t *to = block->above + (size_t)at * block->width;

    assert(birth >= block->base && width_of(birth - block->base) <= block->width);
    for (uint32_t i = 0; i < block->width; i++)
        to[i] = (uint8_t)((birth - block->base) >> 8 * i);
}

/* Writes the block anew, so that the birth finds room. */
static void widen(struct birth_block *block, uint32_t birth)
{
    uint32_t births[BIRTH_BLOCK_COUNT], least = birth, most = birth;

    for (uint32_t i = 0; i < BIRTH_BLOCK_COUNT; i++) {
        births[i] = get(block, i);
        least = births[i] < least ? births[i] : least;
        most = births[i] > most ? births[i] : most;
    }
    free(block->above);
    block->base = least;
    block->width = width_of(most - least);
    block->above = block->width ? mem_zero(block_size(block)) : NULL;
    for (uint32_t i = 0; i < BIRTH_BLOCK_COUNT; i++)
        put(block, i, births[i]);
}

void births_set(struct births *births, uint32_t doc_id, uint32_t birth)
{
    size_t at = doc_id / BIRTH_BLOCK_COUNT;
    struct birth_block *block;

    if (at >= births->count) {
        births->blocks =
            mem_grow(births->blocks, at + 1, sizeof(*births->blocks), &births->capacity);
        while (births->count <= at)
            births->blocks[births->count++] = (struct birth_block){.width = BIRTH_WIDTH_NONE};
    }
    block = &births->blocks[at];
    if (block->width == BIRTH_WIDTH_NONE)
        *block = (struct birth_block){.base = birth};
    else if (birth < block->base || width_of(birth - block->base) > block->width)
        widen(block, birth);
    put(block, doc_id % BIRTH_BLOCK_COUNT, birth);
}

uint32_t births_get(const struct births *births, uint32_t doc_id)
{
    const struct birth_block *block = &births->blocks[doc_id / BIRTH_BLOCK_COUNT];

    assert(doc_id / BIRTH_BLOCK_COUNT < births->count && block->width != BIRTH_WIDTH_NONE);
    return get(block, doc_id % BIRTH_BLOCK_COUNT);
}

void births_warm(const struct births *births, uint32_t doc_id)
{
    const struct birth_block *block = &births->blocks[doc_id / BIRTH_BLOCK_COUNT];

    if (block->above)
        __builtin_prefetch(block->above + (size_t)(doc_id % BIRTH_BLOCK_COUNT) * block->width);
}

size_t births_size(const struct births *births)
{
    size_t size = births->capacity * sizeof(*births->blocks);

    for (size_t i = 0; i < births->count; i++)
        if (births->blocks[i].above)
            size += block_size(&births->blocks[i]) + sizeof(size_t);
    return size;
}
