/* SPDX-License-Identifier: Apache-2.0 */
/* text_segment_codes.c - see text_segment_codes.h. */
#include "index/postings/text_segment_codes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/memory.h"

enum { SLOT_COUNT_MIN = 256 };

void codes_init(struct codes *codes)
{
    *codes = (struct codes){.slot_count = SLOT_COUNT_MIN};
    codes->slots = mem_array(codes->slot_count, sizeof(codes->slots[0]));
}

void codes_release(struct codes *codes)
{
    free(codes->slots);
    free(codes->ranked);
}

static struct codes_slot *slot_of(const struct codes *codes, uint32_t tfs)
{
    uint32_t at = (uint32_t)(tfs * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (codes->slot_count - 1);

    while (codes->slots[at].tfs && codes->slots[at].tfs != tfs)
        at = (at + 1) & (codes->slot_count - 1);
    return &codes->slots[at];
}

static void grow(struct codes *codes)
{
    struct codes old = *codes;
    uint32_t i;

    codes->slot_count *= 2;
    codes->slots = mem_array(codes->slot_count, sizeof(codes->slots[0]));
    for (i = 0; i < old.slot_count; i++) {
        if (old.slots[i].tfs)
            *slot_of(codes, old.slots[i].tfs) = old.slots[i];
    }
    free(old.slots);
}

void codes_count(struct codes *codes, uint32_t tfs, uint64_t count)
{
    struct codes_slot *slot = slot_of(codes, tfs);

    if (count == 0)
        return;
    if (!slot->tfs) {
        slot->tfs = tfs;
        codes->used++;
    }
    slot->count += count;
    if (codes->used > codes->slot_count / 2)
        grow(codes);
}

static int by_rank(const void *left, const void *right)
{
    const struct codes_slot *a = left, *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->tfs < b->tfs ? -1 : a->tfs > b->tfs;
}

void codes_rank(struct codes *codes)
{
    struct codes_slot *sorted = mem_array(codes->used + 1, sizeof(sorted[0]));
    uint32_t count = 0, i;

    for (i = 0; i < codes->slot_count; i++) {
        if (codes->slots[i].tfs)
            sorted[count++] = codes->slots[i];
    }
    qsort(sorted, count, sizeof(sorted[0]), by_rank);
    codes->ranked = mem_array(count + 1, sizeof(codes->ranked[0]));
    codes->ranked_count = count;
    for (i = 0; i < count; i++) {
        codes->ranked[i] = sorted[i].tfs;
        slot_of(codes, sorted[i].tfs)->code = i;
    }
    free(sorted);
}

uint32_t codes_get(const struct codes *codes, uint32_t tfs)
{
    const struct codes_slot *slot = slot_of(codes, tfs);

    assert(tfs && slot->tfs == tfs);
    return slot->code;
}

uint64_t *codes_counts(const struct codes *codes)
{
    uint64_t *counts = mem_array(codes->ranked_count + 1, sizeof(counts[0]));
    uint32_t i;

    for (i = 0; i < codes->ranked_count; i++)
        counts[i] = slot_of(codes, codes->ranked[i])->count;
    return counts;
}

struct bytes codes_table(const struct codes *codes, struct buf *scratch)
{
    uint32_t i;

    buf_reset(scratch);
    for (i = 0; i < codes->ranked_count; i++) {
        uint8_t bytes[4];

        put_le32(bytes, codes->ranked[i]);
        buf_put_raw(scratch, bytes, sizeof(bytes));
    }
    return buf_bytes(scratch);
}
