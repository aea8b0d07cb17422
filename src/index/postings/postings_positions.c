/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings_positions.c - see postings.h: where the words of the current block stand.
 *
 * The first document that is asked for opens the block's positions: how many occurrences precede
 * each posting, and where the numbers are that did not fit their width. After that a document costs
 * as much as it has occurrences. Forms are read only for those who want them.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "index/postings/postings_block.h"
#include "index/postings/text_segment_format.h"

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

static uint32_t code_count(const struct text_segment *segment, uint32_t code)
{
    return code < SEGMENT_COUNTED_CODES ? segment->occurrence_counts[code]
                                        : tfs_count(text_segment_tfs(segment, code));
}

/* Of a short list. */
static int list_occurrences(struct postings *postings, uint32_t index, struct occurrence *out,
                            uint32_t count, struct err *err)
{
    uint32_t distances[POSTING_OCCURRENCE_MAX], forms[POSTING_OCCURRENCE_MAX], i;
    int rc = postings->has_places ? 0 : postings_open_list(postings, err);

    if (rc)
        return rc;
    postings_list_places(postings, postings->starts[index], count, distances, forms);
    for (i = 0; i < count; i++)
        out[i] = (struct occurrence){distances[i], forms[i]};
    return 0;
}

int postings_starts(struct postings *postings, struct err *err)
{
    const struct text_segment *segment = postings->segment;
    const uint32_t *codes;
    uint32_t sum = 0, i;
    int rc = postings_codes(postings, &codes, err);

    for (i = 0; i < postings->size && !rc; i++) {
        postings->starts[i] = sum;
        sum += code_count(segment, codes[i]);
    }
    postings->starts[postings->size] = sum;
    return rc;
}

/* Mostly a byte each. */
static bool get_patch(struct bytes *in, uint32_t *distance, uint32_t *high)
{
    if (in->size >= 2 && (in->data[0] | in->data[1]) < 128) {
        *distance = in->data[0];
        *high = in->data[1];
        *in = bytes_skip(*in, 2);
        return true;
    }
    return varint_get32(in, distance) && varint_get32(in, high);
}

/* Reads the exceptions of the positions; more than there is room for are read again each time. */
static int read_patches(struct postings *postings, struct err *err)
{
    struct posting_places *places = &postings->places;
    uint32_t count = places->position_form.exceptions, next = 0, i;

    places->patch_at = 0;
    places->patch_count = 0;
    places->form_patches = places->patches;
    for (i = 0; i < count; i++) {
        uint32_t distance, high;

        if (!get_patch(&places->form_patches, &distance, &high) ||
            distance >= postings->starts[postings->size] - next)
            return postings_damaged(postings, "wrong positions", err);
        next += distance;
        if (i < POSTINGS_PATCH_MAX) {
            places->patch_places[i] = next;
            places->patch_highs[i] = high;
        }
        next++;
    }
    if (count <= POSTINGS_PATCH_MAX)
        places->patch_count = count;
    return 0;
}

static int open_places(struct postings *postings, struct err *err)
{
    struct bytes pos = postings->segment->sections[SECTION_POS], bits;
    struct posting_places *places = &postings->places;
    uint64_t offset = (uint64_t)postings->pos_offset * 8;
    size_t position_size, form_size;
    uint32_t all;
    int rc = text_segment_check(postings->segment, SECTION_POS, offset, POS_HEAD_SIZE, err);

    if (!rc)
        rc = postings_starts(postings, err);
    if (rc)
        return rc;
    bits = bytes_skip(pos, (size_t)offset);
    all = postings->starts[postings->size];
    places->position_form = (struct stream_form){bits.data[4], get_le32(bits.data + 4) >> 8};
    places->form_form = (struct stream_form){bits.data[8], get_le32(bits.data + 8) >> 8};
    if (places->position_form.width > 32 || places->form_form.width > 32)
        return postings_damaged(postings, "a wrong width of positions", err);
    rc = text_segment_check(postings->segment, SECTION_POS, offset, get_le32(bits.data), err);
    if (rc)
        return rc;
    bits.size = get_le32(bits.data);
    position_size = ((size_t)all * places->position_form.width + 7) / 8;
    form_size = ((size_t)all * places->form_form.width + 7) / 8;
    if (bits.size < POS_HEAD_SIZE || bits.size - POS_HEAD_SIZE < position_size + form_size)
        return postings_damaged(postings, "too few positions", err);
    bits = bytes_skip(bits, POS_HEAD_SIZE);
    places->positions = bytes_make(bits.data, position_size);
    places->forms = bytes_make(bits.data + position_size, form_size);
    places->patches = bytes_skip(bits, position_size + form_size);
    rc = read_patches(postings, err);
    postings->has_places = !rc;
    return rc;
}

/* Adds what did not fit to values from..from + count - 1. Who asks mostly asks in order. */
static void patch_positions(struct posting_places *places, uint32_t from, uint32_t count,
                            uint32_t *values)
{
    uint32_t at = places->patch_at, end = places->patch_count;

    while (at > 0 && places->patch_places[at - 1] >= from)
        at--;
    while (at < end && places->patch_places[at] < from)
        at++;
    for (; at < end && places->patch_places[at] < from + count; at++)
        values[places->patch_places[at] - from] |=
            (uint32_t)((uint64_t)places->patch_highs[at] << places->position_form.width);
    places->patch_at = at;
}

/* Distances from the from-th on, as they are packed. The places are open. */
static int block_distances(struct postings *postings, uint32_t from, uint32_t count,
                           uint32_t *values, struct err *err)
{
    struct posting_places *places = &postings->places;
    uint32_t width = places->position_form.width, i;

    if (places->position_form.exceptions != places->patch_count) {
        struct bytes patches = places->patches;

        if (!unpack_stream(places->positions, &patches, &places->position_form, from, count,
                           values))
            return postings_damaged(postings, "wrong positions", err);
        return 0;
    }
    for (i = 0; i < count; i++)
        values[i] = width ? stream_at(places->positions, width, from + i) : 0;
    patch_positions(places, from, count, values);
    return 0;
}

static int block_occurrences(struct postings *postings, uint32_t index, struct occurrence *out,
                             uint32_t count, struct err *err)
{
    const struct posting_places *places = &postings->places;
    uint32_t values[POSTING_OCCURRENCE_MAX], i;
    struct bytes patches;
    int rc = postings->has_places ? 0 : open_places(postings, err);

    /* An exception listed twice reads otherwise alone than among all codes. */
    if (!rc && postings->starts[index + 1] - postings->starts[index] != count)
        rc = postings_damaged(postings, "a code that is patched twice", err);
    if (!rc)
        rc = block_distances(postings, postings->starts[index], count, values, err);
    if (rc)
        return rc;
    for (i = 0; i < count; i++)
        out[i].position = values[i];
    patches = places->form_patches;
    if (!unpack_stream(places->forms, &patches, &places->form_form, postings->starts[index], count,
                       values))
        return postings_damaged(postings, "wrong forms", err);
    for (i = 0; i < count; i++)
        out[i].form = values[i];
    return 0;
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
        rc = list_occurrences(postings, index, out, *count, err);
    } else {
        rc = block_occurrences(postings, index, out, *count, err);
    }
    if (rc)
        return rc;
    return add_up(tfs, out) ? 0 : postings_damaged(postings, "a position out of range", err);
}

/* ---- places of many documents ---- */

/* Distances of one document become places, on the spot; those of other fields go. Returns how many
 * are left, or -1: a position is out of range. */
static int to_places(uint32_t tfs, unsigned fields, uint32_t *values)
{
    const uint32_t *next = values;
    unsigned field;
    int kept = 0;

    for (field = 0; field < SEGMENT_FIELD_COUNT && tfs >> field * 8; field++) {
        bool wanted = fields >> field & 1;
        uint64_t position = 0;
        unsigned i;

        for (i = 0; i < (tfs >> field * 8 & 255); i++) {
            position += *next++;
            values[kept] = (uint32_t)position | field << PLACE_FIELD_SHIFT;
            kept += wanted && !(position >> PLACE_FIELD_SHIFT);
        }
        if (position > UINT32_MAX)
            return -1;
    }
    return kept;
}

/* One document's distances, of a block or a list. */
static int read_distances(struct postings *postings, uint32_t index, uint32_t count,
                          uint32_t *values, struct err *err)
{
    uint32_t forms[POSTING_OCCURRENCE_MAX];
    int rc;

    if (postings->kind != BLOCK_REST)
        return block_distances(postings, postings->starts[index], count, values, err);
    if (postings->entry & SEGMENT_INLINE) {
        values[0] = postings->entry >> 40 & INLINE_POSITION_MAX;
        return 0;
    }
    rc = postings->has_places ? 0 : postings_open_list(postings, err);
    if (!rc)
        postings_list_places(postings, postings->starts[index], count, values, forms);
    return rc;
}

/* The next documents of a block, as long as each has the word once: most of them do. */
static uint32_t single_places(struct postings *postings, const int16_t *indexes, uint32_t count,
                              unsigned fields, struct place_run *run)
{
    const struct text_segment *segment = postings->segment;
    struct posting_places *places = &postings->places;
    uint32_t width = places->position_form.width, end = place_run_end(run), i;
    const uint32_t *starts = postings->starts;

    for (i = 0; i < count && run->count < BLOCK_SIZE && end < PLACE_RUN_ROOM; i++) {
        uint32_t index = (uint32_t)indexes[i], from = starts[index], value;
        unsigned field;

        if (starts[index + 1] != from + 1)
            break;
        value = stream_at(places->positions, width, from);
        patch_positions(places, from, 1, &value);
        field = (unsigned)__builtin_ctz(text_segment_tfs(segment, postings->codes[index])) / 8;
        run->places[end] = value | field << PLACE_FIELD_SHIFT;
        end += (fields >> field & 1) && !(value >> PLACE_FIELD_SHIFT);
        run->ends[run->count++] = end;
    }
    return i;
}

int postings_places(struct postings *postings, const int16_t *indexes, uint32_t *count,
                    unsigned fields, struct place_run *run, struct err *err)
{
    const struct text_segment *segment = postings->segment;
    bool packed = postings->kind != BLOCK_REST, single;
    uint32_t i = 0, end;
    int rc = packed && !postings->has_places ? open_places(postings, err) : 0; /* and the codes */

    single =
        packed && !rc && postings->places.position_form.exceptions == postings->places.patch_count;
    while (!rc) {
        uint32_t code, size;
        int kept;

        if (single)
            i += single_places(postings, indexes + i, *count - i, fields, run);
        end = place_run_end(run);
        if (i == *count || run->count == BLOCK_SIZE)
            break;
        code = postings->codes[indexes[i]];
        size = code_count(segment, code);
        if (size > PLACE_RUN_ROOM - end)
            break;
        rc = read_distances(postings, (uint32_t)indexes[i], size, run->places + end, err);
        kept = rc ? 0 : to_places(text_segment_tfs(segment, code), fields, run->places + end);
        if (kept < 0)
            return postings_damaged(postings, "a position out of range", err);
        run->ends[run->count++] = end + (uint32_t)kept;
        i++;
    }
    *count = i;
    return rc;
}

/* ---- all of a block ---- */

static void read_list_rows(const struct postings *postings, struct occurrence_rows *rows)
{
    if (postings->entry & SEGMENT_INLINE) {
        rows->distances[0] = postings->entry >> 40 & INLINE_POSITION_MAX;
        rows->forms[0] = postings->entry >> 55 & INLINE_FORM_MAX;
    } else {
        postings_list_places(postings, 0, postings->starts[postings->size], rows->distances,
                             rows->forms);
    }
}

static int read_block_rows(struct postings *postings, struct occurrence_rows *rows, struct err *err)
{
    const struct posting_places *places = &postings->places;
    uint32_t count = postings->starts[postings->size];
    struct bytes patches = places->patches;

    if (!unpack_stream(places->positions, &patches, &places->position_form, 0, count,
                       rows->distances))
        return postings_damaged(postings, "wrong positions", err);
    if (!unpack_stream(places->forms, &patches, &places->form_form, 0, count, rows->forms))
        return postings_damaged(postings, "wrong forms", err);
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
    bool is_list = postings->kind == BLOCK_REST; /* as that of one posting is */
    uint32_t count;
    int rc = 0;

    if (postings->entry & SEGMENT_INLINE)
        rc = postings_starts(postings, err);
    else if (!postings->has_places)
        rc = is_list ? postings_open_list(postings, err) : open_places(postings, err);
    if (rc)
        return rc;
    count = postings->starts[postings->size];
    rows->starts = postings->starts;
    if (count > rows->capacity) {
        rows->capacity = count * 2ULL;
        rows->distances = mem_resize(rows->distances, rows->capacity * sizeof(uint32_t));
        rows->forms = mem_resize(rows->forms, rows->capacity * sizeof(uint32_t));
    }
    if (is_list)
        read_list_rows(postings, rows);
    else
        rc = read_block_rows(postings, rows, err);
    return rc ? rc : check_rows(postings, rows, err);
}

void occurrence_rows_release(struct occurrence_rows *rows)
{
    free(rows->distances);
    free(rows->forms);
}
