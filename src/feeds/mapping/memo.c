/* SPDX-License-Identifier: Apache-2.0 */
/* memo.c - see memo.h. */
#include "feeds/mapping/memo.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "feeds/bounds.h"

enum { SLOT_COUNT = 2 * FEED_MEMO_COUNT_MAX };

struct feed_memo_entry {
    const void *about;
    struct bytes text; /* in the arena; its data is NULL in a free slot */
    const void *value;
};

void feed_memo_init(struct feed_memo *memo)
{
    *memo = (struct feed_memo){.arena = arena_new()};
}

void feed_memo_release(struct feed_memo *memo)
{
    arena_free(memo->arena);
    free(memo->slots);
}

/* The slot that has it, or the free one it belongs to. */
static struct feed_memo_entry *slot_of(const struct feed_memo *memo, const void *about,
                                       struct bytes text)
{
    size_t place = hash64_seeded(text, (uint64_t)(uintptr_t)about) % SLOT_COUNT;
    struct feed_memo_entry *slot = &memo->slots[place];

    while (slot->text.data && (slot->about != about || !bytes_equal(slot->text, text))) {
        place = (place + 1) % SLOT_COUNT;
        slot = &memo->slots[place];
    }
    return slot;
}

bool feed_memo_find(const struct feed_memo *memo, const void *about, struct bytes text,
                    const void **value)
{
    const struct feed_memo_entry *slot;

    if (!memo->slots)
        return false;
    slot = slot_of(memo, about, text);
    *value = slot->value;
    return slot->text.data;
}

void feed_memo_add(struct feed_memo *memo, const void *about, struct bytes text, const void *value)
{
    struct feed_memo_entry *slot;

    if (memo->count == FEED_MEMO_COUNT_MAX) {
        free(memo->slots);
        memo->slots = NULL;
        memo->count = 0;
        arena_reset(memo->arena);
    }
    if (!memo->slots)
        memo->slots = mem_array(SLOT_COUNT, sizeof(*memo->slots));
    slot = slot_of(memo, about, text);
    if (!slot->text.data)
        memo->count++;
    *slot = (struct feed_memo_entry){
        .about = about,
        .text = bytes_make(arena_text(memo->arena, text), text.size),
        .value = value,
    };
}
