/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment.h - an immutable piece of the text index: terms, their postings, the documents' ids.
 *
 * Made by text_segment_writer.h from sorted postings, read by cursors (postings.h). The same bytes
 * serve as an image in memory and as a mapped file; text_segment_format.h draws them. A file is
 * refused at open when its length, header, footer or table of sums is wrong. The rest is checked
 * against its sums 64 KB at a time, when it is first read, or before (text_segment_check_on);
 * damage is ERR_CORRUPT with the file's name and the place, and fails the read, not the process.
 *
 * Threads: any number may read; what they learn about sums is shared by atomic bits.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_H

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/err.h"
#include "base/object.h"
#include "index/postings/window.h"

enum {
    SEGMENT_FIELD_COUNT = 4,          /* text fields that have frequencies of their own */
    POSTING_OCCURRENCE_MAX = 4 * 255, /* of one term in one document */
    SEGMENT_COUNTED_CODES = 256,      /* the most frequent ones */
};

enum text_segment_section {
    SECTION_POST,
    SECTION_POS,
    SECTION_TAILS,
    SECTION_DIR,
    SECTION_CODES,
    SECTION_TERMS,
    SECTION_RANKS,
    SECTION_ENTRIES,
    SECTION_OWNED,
    SECTION_LENGTHS,
    SECTION_SUMS,
    SECTION_COUNT,
};

/* What a segment is, as its header tells. The writer takes the first five, counts the rest. */
struct text_segment_info {
    uint64_t epoch;
    uint64_t segment;
    uint64_t topic_offset;
    uint32_t place[4]; /* T, S, V, G */

    docid first_id, last_id; /* of the documents; 0, 0 when there are none */
    uint32_t doc_count;
    uint32_t term_count;
    uint32_t term_end; /* the highest term id + 1 */
    uint32_t code_count;
    uint64_t posting_count;
    uint64_t occurrence_count;
};

enum { TEXT_SEGMENT_MAGIC = OBJECT_MAGIC('t', 's', 'e', 'g') };

struct text_segment {
    uint32_t magic;
    struct text_segment_info info;
    char *name;          /* for messages; owned */
    const uint8_t *data; /* owned: mapped or allocated */
    size_t size;
    bool mapped;
    struct bytes sections[SECTION_COUNT];
    _Atomic uint64_t *checked; /* a bit a chunk whose sum was found right */
    size_t chunk_count;
    uint64_t *code_counts; /* postings of each code; NULL unless this process wrote it; owned */
    uint16_t occurrence_counts[SEGMENT_COUNTED_CODES]; /* by code: the sum of its frequencies */
};

/* Maps a file. */
int text_segment_open(const char *path, struct text_segment **segment, struct err *err);
/* Takes ownership of an image on the heap, also on failure. trusted: made by this process, so
 * its sums need no checking. */
int text_segment_from_image(const char *name, uint8_t *image, size_t size, bool trusted,
                            struct text_segment **segment, struct err *err);
void text_segment_close(struct text_segment *segment);

/* Tells the system that the documents' ids and lengths, read at the start, are not needed soon. */
void text_segment_forget_docs(const struct text_segment *segment);

/* Writes an image as a file, whole or not at all, durable on return. */
int text_segment_save(const struct text_segment *segment, const char *path, struct err *err);

/* Checks every chunk that was not yet checked. */
int text_segment_check_all(const struct text_segment *segment, struct err *err);
/* Checks the next so many chunks of a mapped file, from *chunk on, and moves it on; chunk_count:
 * the end, also after a failure. The file is read, past the map: it is in the page cache then, and
 * does not count as the process's own memory until somebody asks for it. */
int text_segment_check_on(const struct text_segment *segment, size_t *chunk, size_t count,
                          struct err *err);
/* Checks the chunks under a run of bytes of one section, which must lie inside of it. */
int text_segment_check(const struct text_segment *segment, enum text_segment_section section,
                       uint64_t offset, uint64_t size, struct err *err);

/* *entry is the term's u64 of ENTRIES; 0 when the segment does not have the term. */
int text_segment_find(const struct text_segment *segment, uint32_t term, uint64_t *entry,
                      struct err *err);
/* The lowest term id at or above from; UINT32_MAX when there is none. */
int text_segment_next_term(const struct text_segment *segment, uint32_t from, uint32_t *term,
                           struct err *err);

/* The four frequencies that a code stands for, a byte each, field 0 lowest. Checked at open. */
static inline uint32_t text_segment_tfs(const struct text_segment *segment, uint32_t code)
{
    if (code >= segment->info.code_count)
        return 0;
    return get_le32(segment->sections[SECTION_CODES].data + (size_t)code * 4);
}

/* The ids of one window that the segment was born with. */
int text_segment_owned(const struct text_segment *segment, uint32_t window,
                       struct window_bits *bits, struct err *err);
/* As text_segment_owned for the index-th of the windows that have any, ascending; false past the
 * last. lengths has SEGMENT_FIELD_COUNT bytes a document. */
int text_segment_owned_next(const struct text_segment *segment, uint32_t index, uint32_t *window,
                            struct window_bits *bits, const uint8_t **lengths, bool *found,
                            struct err *err);

/* Bounds are floats of eight bits, rounded up: 4 bits of exponent, 4 of mantissa. */
static inline float text_segment_bound_value(uint8_t bound)
{
    enum { BIAS = 6, FLOAT_BIAS = 127, FLOAT_SHIFT = 23, STEP_SHIFT = 4 };
    uint32_t bits = (uint32_t)((bound >> STEP_SHIFT) - BIAS + FLOAT_BIAS) << FLOAT_SHIFT |
                    (uint32_t)(bound & ((1 << STEP_SHIFT) - 1)) << (FLOAT_SHIFT - STEP_SHIFT);
    float value;

    if (bound == 0 || bound == UINT8_MAX)
        return bound ? INFINITY : 0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
uint8_t text_segment_bound_round_up(float value);

#endif
