/* SPDX-License-Identifier: Apache-2.0 */
/* postings.c - see postings.h; postings_block.c reads what is inside a block. */
#include "index/postings/postings.h"

#include "base/object.h"
#include "index/postings/postings_block.h"
#include "index/postings/text_segment_format.h"

static const uint8_t *dir_entry(const struct postings *postings, uint32_t block)
{
    return postings->segment->sections[SECTION_DIR].data +
           ((size_t)(uint32_t)postings->entry + block) * DIR_ENTRY_SIZE;
}

static int load(struct postings *postings, struct err *err)
{
    postings->has_ids = postings->has_ids16 = postings->has_codes = postings->has_places = false;
    postings->has_ranks = false;
    if (postings_ended(postings))
        return 0;
    if (postings->entry & SEGMENT_INLINE)
        return postings_load_inline(postings, err);
    if (postings->entry & SEGMENT_SHORT)
        return postings_load_short(postings, err);
    return postings_load_block(postings, dir_entry(postings, postings->block), err);
}

static uint32_t count_of(uint64_t entry)
{
    if (entry & SEGMENT_INLINE)
        return 1;
    return entry & SEGMENT_SHORT ? entry >> SHORT_COUNT_SHIFT & 255
                                 : (uint32_t)(entry >> LONG_COUNT_SHIFT);
}

int postings_count(const struct text_segment *segment, uint32_t term, uint32_t *count,
                   struct err *err)
{
    uint64_t entry = 0;
    int rc = text_segment_find(segment, term, &entry, err);

    *count = rc || entry == 0 ? 0 : count_of(entry);
    return rc;
}

int postings_open(struct postings *postings, const struct text_segment *segment, uint32_t term,
                  struct err *err)
{
    uint64_t entry;
    int rc = text_segment_find(segment, term, &entry, err);

    object_check(segment, TEXT_SEGMENT_MAGIC);
    postings->segment = segment;
    postings->entry = entry;
    postings->count = postings->block_count = postings->block = 0;
    postings->before = segment->info.first_id - 1;
    postings->floor = 0;
    if (rc || entry == 0)
        return rc;
    postings->block_count = 1;
    postings->count = count_of(entry);
    if (!(entry & (SEGMENT_INLINE | SEGMENT_SHORT))) {
        postings->block_count = (postings->count + BLOCK_SIZE - 1) / BLOCK_SIZE;
        rc = text_segment_check(segment, SECTION_DIR, (uint64_t)(uint32_t)entry * DIR_ENTRY_SIZE,
                                (uint64_t)postings->block_count * DIR_ENTRY_SIZE, err);
    }
    if (!rc && postings->count == 0)
        rc = postings_damaged(postings, "a term without documents", err);
    return rc ? rc : load(postings, err);
}

int postings_next_block(struct postings *postings, struct err *err)
{
    if (postings_ended(postings))
        return 0;
    postings->before = postings->last;
    postings->block++;
    return load(postings, err);
}

int postings_seek_block(struct postings *postings, docid id, struct err *err)
{
    uint32_t low, high, step;

    if (postings_ended(postings) || postings->last >= id)
        return 0;
    /* The next block is the likely one; then twice as far each time, then halves. */
    low = postings->block + 1;
    high = postings->block_count;
    for (step = 1; low + step < high; step *= 2) {
        if (get_le32(dir_entry(postings, low + step - 1)) >= id)
            high = low + step;
        else
            low += step;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (get_le32(dir_entry(postings, middle)) >= id)
            high = middle;
        else
            low = middle + 1;
    }
    postings->before = postings->last;
    if (low > postings->block + 1)
        postings->before = get_le32(dir_entry(postings, low - 1));
    postings->block = low;
    return load(postings, err);
}

uint32_t postings_block_of(const struct postings *postings, docid id)
{
    uint32_t low = 0, high = postings->block_count;

    if (high < 2) /* it has no directory */
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (get_le32(dir_entry(postings, middle)) >= id)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

docid postings_block_first(const struct postings *postings, uint32_t block)
{
    return block > 0 ? get_le32(dir_entry(postings, block - 1)) + 1
                     : postings->segment->info.first_id;
}

int postings_go(struct postings *postings, uint32_t block, struct err *err)
{
    postings->before = postings_block_first(postings, block) - 1;
    postings->block = block;
    return load(postings, err);
}

int postings_return_block(struct postings *postings, docid id, struct err *err)
{
    if (postings->block == 0 || (docid)(postings->before + 1) <= id)
        return postings_seek_block(postings, id, err);
    return postings_go(postings, postings_block_of(postings, id), err);
}

const uint8_t *postings_block_bounds(const struct postings *postings, uint32_t block)
{
    return postings->block_count < 2 ? postings->bounds : dir_entry(postings, block) + DIR_BOUNDS;
}

void postings_bounds(const struct postings *postings, uint8_t bounds[SEGMENT_FIELD_COUNT])
{
    uint8_t most[DIR_ENTRY_SIZE] = {0};
    uint32_t block, i;

    memcpy(bounds, postings->bounds, SEGMENT_FIELD_COUNT);
    if (postings->block_count < 2)
        return;
    for (block = 0; block < postings->block_count; block++) {
        const uint8_t *entry = dir_entry(postings, block);

        for (i = 0; i < DIR_ENTRY_SIZE; i++) /* all of it: that is one instruction */
            most[i] = entry[i] > most[i] ? entry[i] : most[i];
    }
    memcpy(bounds, most + DIR_BOUNDS, SEGMENT_FIELD_COUNT);
}

static uint32_t lower_bound(const docid *ids, uint32_t count, docid id)
{
    uint32_t low = 0;

    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ids[low + half] < id;

        low += below ? half + 1 : 0;
        count = below ? count - half - 1 : half;
    }
    return low;
}

int postings_seek(struct postings *postings, docid id, docid *found, struct err *err)
{
    int rc = postings_seek_block(postings, id, err);
    const docid *ids;

    *found = DOCID_END;
    if (rc || postings_ended(postings))
        return rc;
    rc = postings_ids(postings, &ids, err);
    if (!rc) /* the block's last id is at or above id, so there is one */
        *found = ids[lower_bound(ids, postings->size, id)];
    return rc;
}

static uint32_t lower_bound16(const uint16_t *ids, uint32_t count, uint32_t id)
{
    uint32_t low = 0;

    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ids[low + half] < id;

        low += below ? half + 1 : 0;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* The part of a block that lies in [first, end], by the kind of block. */
static int fill_part(struct postings *postings, docid first, docid end, struct window_bits *bits,
                     struct err *err)
{
    docid base = postings->before + 1;
    const uint16_t *ids16;
    const docid *ids;
    uint32_t from = 0, to = postings->size;
    int rc;

    if (postings->kind == BLOCK_BITS)
        return postings_fill_bits(postings, first, end, bits, err);
    if (postings->kind == BLOCK_NARROW) {
        rc = postings_ids16(postings, &ids16, err);
        if (rc)
            return rc;
        if (base < first)
            from = lower_bound16(ids16, postings->size, first - base);
        if (postings->last > end)
            to = lower_bound16(ids16, postings->size, end - base + 1);
        kernels()->set_ids16(bits, ids16 + from, to - from, (uint16_t)(base - first));
        return 0;
    }
    rc = postings_ids(postings, &ids, err);
    if (rc)
        return rc;
    if (base < first)
        from = lower_bound(ids, postings->size, first);
    if (postings->last > end)
        to = lower_bound(ids, postings->size, end + 1);
    kernels()->set_ids(bits, ids + from, to - from, first);
    return 0;
}

int postings_fill(struct postings *postings, uint32_t window, struct window_bits *bits,
                  struct err *err)
{
    docid first = window_first(window), end = first + (WINDOW_SIZE - 1);
    int rc = postings_seek_block(postings, first, err);

    memset(bits, 0, sizeof(*bits));
    while (!rc && !postings_ended(postings) && block_low(postings) <= end) {
        rc = fill_part(postings, first, end, bits, err);
        if (rc || postings->last > end)
            break;
        rc = postings_next_block(postings, err);
    }
    postings->floor = end < DOCID_END ? end + 1 : DOCID_END;
    return rc;
}

int postings_indexes(struct postings *postings, const docid *ids, uint32_t count, int16_t *indexes,
                     struct err *err)
{
    const uint16_t *ids16;
    const docid *own;
    int rc;

    if (postings->kind == BLOCK_BITS) {
        rc = postings_ranks(postings, err);
        if (!rc)
            kernels()->find_bits(postings->packed, postings->ranks, ids, count,
                                 block_low(postings) & ~63U, indexes);
        return rc;
    }
    if (postings->kind == BLOCK_NARROW) {
        rc = postings_ids16(postings, &ids16, err);
        if (!rc)
            kernels()->find_ids16(ids16, ids, count, block_low(postings), indexes);
        return rc;
    }
    rc = postings_ids(postings, &own, err);
    if (!rc)
        kernels()->find_ids(own, postings->size, ids, count, indexes);
    return rc;
}

int postings_meet(struct postings *postings, const docid *ids, uint32_t count, uint16_t *places,
                  int16_t *indexes, uint32_t *met, struct err *err)
{
    const uint16_t *ids16;
    uint32_t kept = 0, i;
    int rc;

    *met = 0;
    if (postings->kind == BLOCK_NARROW) {
        rc = postings_ids16(postings, &ids16, err);
        if (!rc)
            *met = kernels()->meet_ids16(ids16, ids, count, block_low(postings), places, indexes);
        return rc;
    }
    rc = postings_indexes(postings, ids, count, indexes, err);
    for (i = 0; i < count && !rc; i++) {
        places[kept] = (uint16_t)i;
        indexes[kept] = indexes[i];
        kept += indexes[i] >= 0;
    }
    *met = kept;
    return rc;
}

int postings_index(struct postings *postings, docid id, int *index, struct err *err)
{
    int16_t found;
    int rc;

    *index = -1;
    if (postings_ended(postings) || id < block_low(postings) || id > postings->last)
        return 0;
    rc = postings_indexes(postings, &id, 1, &found, err);
    if (!rc)
        *index = found;
    return rc;
}
