/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: text segments. The input is a segment; its sums are made right first (unless its
 * last byte is another than a segment's), or nothing would get past them. Then everything is read
 * in every way, and merged. Refused or read, but never outside of the bytes; ids must ascend.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "index/postings/postings.h"
#include "index/postings/text_segment_merge.h"
#include "segment_sums.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_blocks(struct postings *cursor)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    int16_t indexes[BLOCK_SIZE];
    struct place_run places;
    struct occurrence_rows rows = {0};
    int rc = 0;

    while (!rc && !postings_ended(cursor)) {
        const docid *ids;
        uint32_t i, count;
        int index;

        rc = postings_ids(cursor, &ids, NULL);
        for (i = 0; !rc && i < cursor->size; i++) {
            assert(ids[i] <= cursor->last && (i == 0 || ids[i] > ids[i - 1]));
            assert(postings_index(cursor, ids[i], &index, NULL) || index == (int)i);
            if (i % 16 == 0 && postings_occurrences(cursor, i, occurrences, &count, NULL) == 0)
                assert(count <= POSTING_OCCURRENCE_MAX);
            indexes[i] = (int16_t)i;
        }
        for (i = 0; !rc && i < cursor->size; i += count) {
            places.count = 0;
            count = cursor->size - i;
            rc = postings_places(cursor, indexes + i, &count, UINT8_MAX, &places, NULL);
            assert(rc || (count > 0 && place_run_end(&places) <= PLACE_RUN_ROOM));
        }
        if (!rc && postings_rows(cursor, &rows, NULL) == 0)
            assert(rows.starts[0] == 0);
        rc = rc ? rc : postings_next_block(cursor, NULL);
    }
    occurrence_rows_release(&rows);
}

static void read_windows(struct postings *cursor)
{
    struct window_bits bits;
    int rc = 0, left = 1000;

    while (!rc && !postings_ended(cursor) && left-- > 0)
        rc = postings_fill(cursor, window_of(postings_low(cursor)), &bits, NULL);
}

static void read_all(const struct text_segment *segment)
{
    struct window_bits bits;
    struct postings cursor;
    const uint8_t *lengths;
    uint32_t index, window, term = 0;
    bool found = true;
    docid id;
    int rc = 0;

    for (index = 0; !rc && found && index < 1000; index++)
        rc = text_segment_owned_next(segment, index, &window, &bits, &lengths, &found, NULL);
    text_segment_owned(segment, 7, &bits, NULL);
    for (index = 0; index < 1000; index++, term++) {
        if (text_segment_next_term(segment, term, &term, NULL) || term == UINT32_MAX)
            return;
        if (postings_open(&cursor, segment, term, NULL) == 0)
            read_blocks(&cursor);
        if (postings_open(&cursor, segment, term, NULL) == 0)
            read_windows(&cursor);
        if (postings_open(&cursor, segment, term, NULL) == 0)
            (void)postings_seek(&cursor, cursor.last + 1, &id, NULL);
    }
}

/* Merged with itself, as two segments that have the same documents. */
static void merge(const struct text_segment *segment)
{
    static const struct text_norms norms;
    const struct merge_input inputs[2] = {{.segment = segment}, {.segment = segment}};
    const struct merge_options options = {.norms = &norms};
    struct text_segment *merged;
    int rc = text_segment_merge(inputs, 2, &options, &merged, NULL);

    assert(rc == 0 || rc == ERR_CORRUPT);
    if (rc == 0)
        read_all(merged);
    text_segment_close(merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text_segment *segment;
    uint8_t *copy;

    if (size == 0 || size > 1 << 20)
        return 0;
    copy = malloc(size);
    memcpy(copy, data, size);
    if (size >= SEGMENT_HEADER_SIZE + SEGMENT_FOOTER_SIZE &&
        data[size - 1] == (uint8_t)segment_magic[7])
        segment_mend_sums(copy, size);
    if (text_segment_from_image("fuzz", copy, size, false, &segment, NULL) == 0) {
        read_all(segment);
        merge(segment);
    }
    text_segment_close(segment);
    return 0;
}
