/* SPDX-License-Identifier: Apache-2.0 */
/* postings_block.c - see postings_block.h. */
#include "index/postings/postings_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/postings/text_segment_format.h"

_Static_assert((int)BITS_WORDS_MAX <= (int)POSTINGS_WORDS_MAX, "ranks of every block have room");

int postings_damaged(const struct postings *postings, const char *what, struct err *err)
{
    return err_set(err, ERR_CORRUPT, "segment %s is damaged: %s in block %u of a list of %u",
                   postings->segment->name, what, postings->block, postings->count);
}

int postings_load_inline(struct postings *postings, struct err *err)
{
    uint64_t entry = postings->entry;

    postings->kind = BLOCK_REST;
    postings->size = 1;
    postings->last = postings->ids[0] = (docid)entry;
    postings->codes[0] = entry >> 32 & INLINE_CODE_MAX;
    postings->has_ids = postings->has_codes = true;
    memset(postings->bounds, UINT8_MAX, sizeof(postings->bounds));
    if (tfs_count(text_segment_tfs(postings->segment, postings->codes[0])) != 1 ||
        postings->last > postings->segment->info.last_id || postings->last < block_low(postings))
        return postings_damaged(postings, "a wrong posting", err);
    return 0;
}

int postings_load_short(struct postings *postings, struct err *err)
{
    uint64_t offset = postings->entry & ((UINT64_C(1) << SHORT_COUNT_SHIFT) - 1);
    int rc;

    postings->kind = BLOCK_REST;
    postings->size = postings->count;
    rc = postings_read_list(postings, offset, err);
    if (rc)
        return rc;
    postings->last = postings->ids[postings->size - 1];
    return postings->last > postings->segment->info.last_id
               ? postings_damaged(postings, "a last id out of range", err)
               : 0;
}

static uint32_t words_of(const struct postings *postings)
{
    return (postings->last >> 6) - (block_low(postings) >> 6) + 1;
}

int postings_load_block(struct postings *postings, const uint8_t *dir, struct err *err)
{
    uint64_t offset = (uint64_t)get_le32(dir + 4) * 8, size;
    const uint8_t *payload;
    int rc;

    postings->last = get_le32(dir);
    postings->kind = dir[8] >> 6;
    postings->width = dir[8] & 63;
    postings->code_form =
        (struct patched_form){dir[9] & 63, dir[10], (uint8_t)(1U << (dir[9] >> 6))};
    memcpy(postings->bounds, dir + DIR_BOUNDS, sizeof(postings->bounds));
    postings->size = postings->count - postings->block * BLOCK_SIZE;
    if (postings->size > BLOCK_SIZE)
        postings->size = BLOCK_SIZE;
    if (postings->last < block_low(postings) || postings->last > postings->segment->info.last_id)
        return postings_damaged(postings, "a last id out of order", err);
    if ((postings->kind == BLOCK_REST) != (postings->size < BLOCK_SIZE))
        return postings_damaged(postings, "a block of the wrong kind", err);
    if (postings->kind == BLOCK_REST) {
        rc = postings_read_list(postings, offset, err);
        if (!rc && postings->ids[postings->size - 1] != postings->last)
            rc = postings_damaged(postings, "a wrong last id", err);
        return rc;
    }
    size = (uint64_t)postings->width * BLOCK_WIDTH_SIZE;
    if (postings->kind == BLOCK_BITS)
        size = (uint64_t)words_of(postings) * 8;
    if (postings->width > (postings->kind == BLOCK_NARROW ? 16 : 32) ||
        postings->code_form.width > 32 || postings->code_form.high_size > 4 ||
        size > BITS_WORDS_MAX * 8)
        return postings_damaged(postings, "a wrong width", err);
    rc = text_segment_check(postings->segment, SECTION_POST, offset,
                            BLOCK_HEAD_SIZE + size + patched_size(&postings->code_form), err);
    if (rc)
        return rc;
    payload = postings->segment->sections[SECTION_POST].data + offset;
    postings->pos_offset = get_le32(payload);
    postings->packed = payload + BLOCK_HEAD_SIZE;
    postings->packed_codes = postings->packed + size;
    return 0;
}

int postings_ids16(struct postings *postings, const uint16_t **ids, struct err *err)
{
    uint32_t sum;

    *ids = postings->ids16;
    if (postings->has_ids16)
        return 0;
    sum = kernels()->unpack_ids16(postings->packed, postings->width, postings->ids16);
    /* The exact sum below 2^16 also says that no id has passed it, so they ascend. */
    if (sum + BLOCK_SIZE != postings->last - postings->before || sum + BLOCK_SIZE > UINT16_MAX + 1)
        return postings_damaged(postings, "a wrong last id", err);
    postings->has_ids16 = true;
    return 0;
}

static const uint8_t *word_at(const struct postings *postings, uint32_t word)
{
    return postings->packed + (size_t)(word - (block_low(postings) >> 6)) * 8;
}

/* The last word ends at last, the first begins at before + 1: other bits are no ids. */
int postings_ranks(struct postings *postings, struct err *err)
{
    docid first = block_low(postings);

    if (postings->has_ranks)
        return 0;
    if (kernels()->word_ranks(postings->packed, words_of(postings), postings->ranks) !=
            BLOCK_SIZE ||
        get_le64(word_at(postings, first >> 6)) & ((UINT64_C(1) << (first & 63)) - 1) ||
        get_le64(word_at(postings, postings->last >> 6)) >> (postings->last & 63) != 1)
        return postings_damaged(postings, "wrong bits", err);
    postings->has_ranks = true;
    return 0;
}

static int ids_of_bits(struct postings *postings, struct err *err)
{
    int rc = postings_ranks(postings, err);

    if (!rc)
        kernels()->list_words(postings->packed, words_of(postings), block_low(postings) & ~63U,
                              postings->ids);
    return rc;
}

static int ids_of_gaps(struct postings *postings, struct err *err)
{
    const uint16_t *ids16;
    unsigned i;
    int rc;

    if (postings->kind == BLOCK_NARROW) {
        rc = postings_ids16(postings, &ids16, err);
        if (!rc)
            kernels()->widen(ids16, block_low(postings), postings->ids);
        return rc;
    }
    kernels()->unpack_ids(postings->packed, postings->width, postings->before, postings->ids);
    for (i = 1; i < BLOCK_SIZE && postings->width > 23; i++) {
        if (postings->ids[i] <= postings->ids[i - 1])
            return postings_damaged(postings, "ids out of order", err);
    }
    if (postings->ids[BLOCK_SIZE - 1] != postings->last || postings->ids[0] < block_low(postings))
        return postings_damaged(postings, "a wrong last id", err);
    return 0;
}

int postings_ids(struct postings *postings, const docid **ids, struct err *err)
{
    int rc = 0;

    if (!postings->has_ids)
        rc = postings->kind == BLOCK_BITS ? ids_of_bits(postings, err) : ids_of_gaps(postings, err);
    postings->has_ids = !rc;
    *ids = postings->ids;
    return rc;
}

int postings_fill_bits(struct postings *postings, docid first, docid end, struct window_bits *bits,
                       struct err *err)
{
    uint32_t low = block_low(postings), word;

    (void)err;
    if (low < first)
        low = first;
    if (end > postings->last)
        end = postings->last;
    for (word = low >> 6; word <= end >> 6; word++)
        bits->words[word - (first >> 6)] |= get_le64(word_at(postings, word));
    return 0;
}

int postings_codes(struct postings *postings, const uint32_t **codes, struct err *err)
{
    (void)err;
    if (!postings->has_codes)
        unpack_patched(postings->packed_codes, &postings->code_form, postings->codes);
    postings->has_codes = true;
    *codes = postings->codes;
    return 0;
}

int postings_code_at(struct postings *postings, uint32_t index, uint32_t *code, struct err *err)
{
    (void)err;
    assert(index < postings->size);
    *code = postings->has_codes ? postings->codes[index]
                                : patched_at(postings->packed_codes, &postings->code_form, index);
    return 0;
}
