/* SPDX-License-Identifier: Apache-2.0 */
/* postings_block.c - see postings_block.h. */
#include "index/postings_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/varint.h"
#include "index/text_segment_format.h"

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
        (docid)entry == DOCID_END || postings->last < block_low(postings))
        return postings_damaged(postings, "a wrong posting", err);
    return 0;
}

/* Ids and codes of a short list or the rest of a long one; few, so they are unpacked at once. */
static int read_list(struct postings *postings, uint64_t offset, struct err *err)
{
    struct bytes post = postings->segment->sections[SECTION_POST], in;
    uint32_t head = 5, size, i;
    docid id = postings->before;
    int rc;

    if (offset > post.size)
        return postings_damaged(postings, "a place outside of the postings", err);
    in = bytes_skip(post, (size_t)offset);
    rc = text_segment_check(postings->segment, SECTION_POST, offset,
                            in.size < head ? in.size : head, err);
    if (rc)
        return rc;
    if (!varint_get32(&in, &size) || size > in.size)
        return postings_damaged(postings, "a wrong size", err);
    rc = text_segment_check(postings->segment, SECTION_POST, post.size - in.size, size, err);
    if (rc)
        return rc;
    in.size = size;
    if (!unpack_groups(&in, postings->size, postings->ids))
        return postings_damaged(postings, "too few ids", err);
    for (i = 0; i < postings->size; i++) {
        uint64_t next = (uint64_t)(docid)(id + 1) + postings->ids[i]; /* before may be -1 */

        if (next >= DOCID_END)
            return postings_damaged(postings, "an id out of range", err);
        postings->ids[i] = id = (docid)next;
        if (!varint_get32(&in, &postings->codes[i]))
            return postings_damaged(postings, "too few codes", err);
    }
    postings->has_ids = postings->has_codes = true;
    postings->list_occurrences = in;
    return 0;
}

int postings_load_short(struct postings *postings, struct err *err)
{
    uint64_t offset = postings->entry & ((UINT64_C(1) << SHORT_COUNT_SHIFT) - 1);
    int rc =
        text_segment_check(postings->segment, SECTION_POST, offset, sizeof(postings->bounds), err);

    if (rc)
        return rc;
    memcpy(postings->bounds, postings->segment->sections[SECTION_POST].data + offset,
           sizeof(postings->bounds));
    postings->kind = BLOCK_REST;
    postings->size = postings->count;
    rc = read_list(postings, offset + sizeof(postings->bounds), err);
    if (!rc)
        postings->last = postings->ids[postings->size - 1];
    return rc;
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
    if (postings->last < block_low(postings) || postings->last == DOCID_END)
        return postings_damaged(postings, "a last id out of order", err);
    if ((postings->kind == BLOCK_REST) != (postings->size < BLOCK_SIZE))
        return postings_damaged(postings, "a block of the wrong kind", err);
    if (postings->kind == BLOCK_REST) {
        rc = read_list(postings, offset, err);
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

/* Distances inside a field become positions. */
static bool add_up(uint32_t tfs, struct occurrence *out)
{
    unsigned field, i;

    for (field = 0; field < SEGMENT_FIELD_COUNT; field++) {
        uint64_t position = 0;

        for (i = 0; i < (tfs >> field * 8 & 255); i++, out++) {
            position += out->position;
            if (position > UINT32_MAX)
                return false;
            out->position = (uint32_t)position;
        }
    }
    return true;
}

static bool next_occurrence(struct bytes *in, uint32_t *distance, uint32_t *form)
{
    uint64_t value;

    if (in->size && in->data[0] < 0x80) { /* nearly all */
        value = in->data[0];
        *in = bytes_skip(*in, 1);
    } else if (!varint_get(in, &value) || value >> 2 > UINT32_MAX) {
        return false;
    }
    *distance = (uint32_t)(value >> 2);
    *form = value & 3;
    if (*form == 3) {
        if (!varint_get32(in, form) || *form > UINT32_MAX - 3)
            return false;
        *form += 3;
    }
    return true;
}

/* Of a short list: those of the postings before are passed over. */
static bool list_occurrences(struct postings *postings, uint32_t index, struct occurrence *out,
                             uint32_t count)
{
    struct bytes in = postings->list_occurrences;
    uint32_t skip = 0, i;

    for (i = 0; i < index; i++)
        skip += tfs_count(text_segment_tfs(postings->segment, postings->codes[i]));
    for (i = 0; i < skip + count; i++) {
        struct occurrence found;

        if (!next_occurrence(&in, &found.position, &found.form))
            return false;
        if (i >= skip)
            out[i - skip] = found;
    }
    return true;
}

static int block_starts(struct postings *postings, struct err *err)
{
    const uint32_t *codes;
    uint32_t i;
    int rc = postings_codes(postings, &codes, err);

    if (rc || postings->has_starts)
        return rc;
    postings->starts[0] = 0;
    for (i = 0; i < postings->size; i++)
        postings->starts[i + 1] =
            postings->starts[i] + tfs_count(text_segment_tfs(postings->segment, codes[i]));
    postings->has_starts = true;
    return 0;
}

/* Occurrences from..from + count - 1 of a block: distances and forms. */
static int read_streams(struct postings *postings, uint32_t from, uint32_t count,
                        uint32_t *distances, uint32_t *forms, struct err *err)
{
    struct bytes pos = postings->segment->sections[SECTION_POS], bits, form_bits, patches;
    uint64_t offset = (uint64_t)postings->pos_offset * 8;
    uint32_t all = postings->starts[postings->size];
    struct stream_form position_form, form_form;
    size_t position_size, form_size;
    int rc = text_segment_check(postings->segment, SECTION_POS, offset, POS_HEAD_SIZE, err);

    if (rc)
        return rc;
    bits = bytes_skip(pos, (size_t)offset);
    position_form = (struct stream_form){bits.data[4], get_le32(bits.data + 4) >> 8};
    form_form = (struct stream_form){bits.data[8], get_le32(bits.data + 8) >> 8};
    rc = text_segment_check(postings->segment, SECTION_POS, offset, get_le32(bits.data), err);
    if (rc)
        return rc;
    bits.size = get_le32(bits.data);
    position_size = ((size_t)all * position_form.width + 7) / 8;
    form_size = ((size_t)all * form_form.width + 7) / 8;
    if (bits.size < POS_HEAD_SIZE || bits.size - POS_HEAD_SIZE < position_size + form_size)
        return postings_damaged(postings, "too few positions", err);
    bits = bytes_skip(bits, POS_HEAD_SIZE);
    form_bits = bytes_make(bits.data + position_size, form_size);
    patches = bytes_skip(bits, position_size + form_size);
    bits.size = position_size;
    if (!unpack_stream(bits, &patches, &position_form, from, count, distances))
        return postings_damaged(postings, "wrong positions", err);
    if (!unpack_stream(form_bits, &patches, &form_form, from, count, forms))
        return postings_damaged(postings, "wrong forms", err);
    return 0;
}

static int block_occurrences(struct postings *postings, uint32_t index, struct occurrence *out,
                             uint32_t count, struct err *err)
{
    uint32_t distances[POSTING_OCCURRENCE_MAX], forms[POSTING_OCCURRENCE_MAX], i;
    int rc = block_starts(postings, err);

    if (!rc)
        rc = read_streams(postings, postings->starts[index], count, distances, forms, err);
    for (i = 0; i < count && !rc; i++)
        out[i] = (struct occurrence){distances[i], forms[i]};
    return rc;
}

int postings_occurrences(struct postings *postings, uint32_t index,
                         struct occurrence out[POSTING_OCCURRENCE_MAX], uint32_t *count,
                         struct err *err)
{
    uint32_t code, tfs;
    int rc = postings_code_at(postings, index, &code, err);

    if (rc)
        return rc;
    tfs = text_segment_tfs(postings->segment, code);
    *count = tfs_count(tfs);
    if (postings->entry & SEGMENT_INLINE) {
        out[0].position = postings->entry >> 40 & INLINE_POSITION_MAX;
        out[0].form = postings->entry >> 55 & INLINE_FORM_MAX;
        return 0;
    }
    if (postings->kind == BLOCK_REST) {
        if (!list_occurrences(postings, index, out, *count))
            return postings_damaged(postings, "too few occurrences", err);
    } else {
        rc = block_occurrences(postings, index, out, *count, err);
        if (rc)
            return rc;
    }
    return add_up(tfs, out) ? 0 : postings_damaged(postings, "a position out of range", err);
}

static int read_rows(struct postings *postings, struct occurrence_rows *rows, struct err *err)
{
    struct bytes in = postings->list_occurrences;
    uint32_t count = postings->starts[postings->size], i;

    if (postings->entry & SEGMENT_INLINE) {
        rows->distances[0] = postings->entry >> 40 & INLINE_POSITION_MAX;
        rows->forms[0] = postings->entry >> 55 & INLINE_FORM_MAX;
        return 0;
    }
    if (postings->kind != BLOCK_REST)
        return read_streams(postings, 0, count, rows->distances, rows->forms, err);
    for (i = 0; i < count; i++) {
        if (!next_occurrence(&in, &rows->distances[i], &rows->forms[i]))
            return postings_damaged(postings, "too few occurrences", err);
    }
    return 0;
}

/* Do all distances of each posting add up to positions of 32 bits? */
static int check_rows(const struct postings *postings, const struct occurrence_rows *rows,
                      struct err *err)
{
    uint64_t sum = 0;
    uint32_t i, j;

    for (i = 0; i < postings->starts[postings->size]; i++)
        sum += rows->distances[i];
    for (i = 0; i < postings->size && sum > UINT32_MAX; i++) {
        struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
        uint32_t tfs = text_segment_tfs(postings->segment, postings->codes[i]);

        for (j = 0; j < tfs_count(tfs); j++)
            occurrences[j].position = rows->distances[postings->starts[i] + j];
        if (!add_up(tfs, occurrences))
            return postings_damaged(postings, "a position out of range", err);
    }
    return 0;
}

int postings_rows(struct postings *postings, struct occurrence_rows *rows, struct err *err)
{
    uint32_t count;
    int rc = block_starts(postings, err);

    if (rc)
        return rc;
    count = postings->starts[postings->size];
    rows->starts = postings->starts;
    if (count > rows->capacity) {
        rows->capacity = count * 2ULL;
        rows->distances = mem_resize(rows->distances, rows->capacity * sizeof(uint32_t));
        rows->forms = mem_resize(rows->forms, rows->capacity * sizeof(uint32_t));
    }
    rc = read_rows(postings, rows, err);
    return rc ? rc : check_rows(postings, rows, err);
}

void occurrence_rows_release(struct occurrence_rows *rows)
{
    free(rows->distances);
    free(rows->forms);
}
