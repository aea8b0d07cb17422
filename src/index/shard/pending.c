/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - see pending.h: an array of documents, and a table of open addressing by id. */
#include "index/shard/pending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/object.h"
#include "index/bounds.h"

enum { TABLE_BITS_MIN = 8 };

enum { PENDING_MAGIC = OBJECT_MAGIC('p', 'e', 'n', 'd') };

struct pending {
    uint32_t magic;
    struct pending_doc *docs; /* owned; room for half of the table's slots */
    uint32_t count;
    uint32_t *slots; /* owned; index + 1, 0: free */
    unsigned bits;
    struct arena *arena; /* of changes */
    uint32_t taken;
};

static void make_table(struct pending *pending, unsigned bits)
{
    pending->bits = bits;
    free(pending->slots);
    pending->slots = mem_array((size_t)1 << bits, sizeof(pending->slots[0]));
    pending->docs = mem_resize(pending->docs, sizeof(pending->docs[0]) << (bits - 1));
}

struct pending *pending_new(void)
{
    struct pending *pending = mem_zero(sizeof(*pending));

    object_begin(pending, PENDING_MAGIC);
    pending->arena = arena_new();
    arena_keep(pending->arena, SHARD_PENDING_SIZE_KEPT_MAX);
    make_table(pending, TABLE_BITS_MIN);
    return pending;
}

void pending_free(struct pending *pending)
{
    if (!pending)
        return;
    object_check(pending, PENDING_MAGIC);
    arena_free(pending->arena);
    free(pending->slots);
    free(pending->docs);
    object_end(pending, PENDING_MAGIC);
    free(pending);
}

uint32_t pending_count(const struct pending *pending)
{
    object_check(pending, PENDING_MAGIC);
    return pending->count;
}

uint32_t pending_taken(const struct pending *pending)
{
    object_check(pending, PENDING_MAGIC);
    return pending->taken;
}

struct pending_doc *pending_at(struct pending *pending, uint32_t i)
{
    object_check(pending, PENDING_MAGIC);
    assert(i < pending->count);
    return &pending->docs[i];
}

/* The slot of the document, or the free one where it would be. */
static uint32_t find_slot(const struct pending *pending, docid id)
{
    uint32_t mask = (UINT32_C(1) << pending->bits) - 1;
    uint32_t slot = (id * UINT32_C(0x9e3779b1)) >> (32 - pending->bits);

    while (pending->slots[slot] && pending->docs[pending->slots[slot] - 1].id != id)
        slot = (slot + 1) & mask;
    return slot;
}

struct pending_doc *pending_find(const struct pending *pending, docid id)
{
    uint32_t index;

    object_check(pending, PENDING_MAGIC);
    if (!pending->count)
        return NULL;
    index = pending->slots[find_slot(pending, id)];
    return index ? &pending->docs[index - 1] : NULL;
}

static void put_slot(struct pending *pending, uint32_t index)
{
    uint32_t slot = find_slot(pending, pending->docs[index].id);

    assert(!pending->slots[slot]);
    pending->slots[slot] = index + 1;
    pending->docs[index].slot = slot;
}

struct pending_doc *pending_add(struct pending *pending, docid id)
{
    uint32_t index = pending->count;
    uint32_t i;

    object_check(pending, PENDING_MAGIC);
    if (index == UINT32_C(1) << (pending->bits - 1)) {
        make_table(pending, pending->bits + 1);
        for (i = 0; i < index; i++)
            put_slot(pending, i);
    }
    pending->docs[index] = (struct pending_doc){
        .id = id, .expires_at = COLUMN_NULL, .stored = COLUMN_NULL, .birth = COLUMN_NULL};
    pending->count++;
    assert(pending->count <= UINT32_C(1) << (pending->bits - 1));
    put_slot(pending, index);
    return &pending->docs[index];
}

struct column_change *pending_room(struct pending *pending, uint32_t count)
{
    object_check(pending, PENDING_MAGIC);
    pending->taken++;
    return arena_alloc(pending->arena, (count + 1) * sizeof(struct column_change));
}

void pending_clear(struct pending *pending)
{
    uint32_t i;

    object_check(pending, PENDING_MAGIC);
    for (i = 0; i < pending->count; i++)
        pending->slots[pending->docs[i].slot] = 0;
    pending->count = 0;
    pending->taken = 0;
    arena_reset(pending->arena);
}
