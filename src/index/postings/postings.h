/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings.h - a cursor over the posting list of a term in one segment: the documents that have it.
 *
 * Works by blocks of up to 256 postings and by windows, never by single documents: fill a
 * window's bitmap for matching, then take ids, codes or occurrences of the blocks that need them.
 * It moves forwards only. Everything that it reads was checked against the segment's sums, and
 * against itself: damage is ERR_CORRUPT, never a wild read or a wrong id.
 *
 * Threads: a cursor belongs to one thread; it borrows the segment.
 */
#ifndef TORG_INDEX_POSTINGS_POSTINGS_H
#define TORG_INDEX_POSTINGS_POSTINGS_H

#include "index/postings/kernels.h"
#include "index/postings/pack.h"
#include "index/postings/text_segment.h"

struct occurrence {
    uint32_t position; /* of the word in its field */
    uint32_t form;     /* number of the word's form under its term */
};

enum { POSTINGS_WORDS_MAX = 4 * 33, POSTINGS_SPARE = 3, POSTINGS_PATCH_MAX = 128 };

/* Where a block's positions and forms are; private to the cursor. */
struct posting_places {
    struct bytes positions, forms, patches, form_patches;
    struct stream_form position_form, form_form;
    uint32_t patch_count, patch_at; /* of positions; patch_at: where one looked last */
    uint32_t patch_places[POSTINGS_PATCH_MAX];
    uint32_t patch_highs[POSTINGS_PATCH_MAX];
};

/* Where the occurrences of a short list are; private too. */
struct posting_list {
    enum text_segment_section section;
    uint64_t offset;
    struct bytes bits; /* once has_places: from the first position on */
    unsigned position_width, form_width;
};

struct postings {
    const struct text_segment *segment; /* borrowed */
    uint32_t count;                     /* of documents of the term, dead ones included */
    uint32_t block_count;
    uint32_t block; /* the one at hand; block_count: the end */

    /* The block at hand: its ids are above before and up to last. */
    docid before, last;
    docid floor; /* ids below were filled into windows already */
    uint32_t size;
    uint8_t bounds[SEGMENT_FIELD_COUNT]; /* see text_segment_bound_value */

    /* The rest is private. */
    uint64_t entry;
    unsigned kind, width;
    bool has_ids, has_ids16, has_codes, has_places, has_ranks;
    struct patched_form code_form;
    const uint8_t *packed; /* ids */
    const uint8_t *packed_codes;
    struct posting_list list;
    uint32_t pos_offset; /* of a block, / 8 */
    docid ids[BLOCK_SIZE + POSTINGS_SPARE];
    uint16_t ids16[BLOCK_SIZE]; /* distances from before + 1 */
    uint32_t codes[BLOCK_SIZE];
    uint32_t starts[BLOCK_SIZE + 1];    /* occurrences before each posting of the block */
    uint16_t ranks[POSTINGS_WORDS_MAX]; /* of a bitmap */
    struct posting_places places;
};

/* A cursor at the first block; at its end, with count 0, when the segment has no such term. */
int postings_open(struct postings *postings, const struct text_segment *segment, uint32_t term,
                  struct err *err);

/* How many documents of the term the segment has, dead ones included: 0 without the term. */
int postings_count(const struct text_segment *segment, uint32_t term, uint32_t *count,
                   struct err *err);

static inline bool postings_ended(const struct postings *postings)
{
    return postings->block == postings->block_count;
}

/* No document of the term below this is left to fill; DOCID_END at the end. Filling the window of
 * this id, again and again, comes to the end. */
static inline docid postings_low(const struct postings *postings)
{
    docid low = postings->before + 1;

    if (postings_ended(postings))
        return DOCID_END;
    return low > postings->floor ? low : postings->floor;
}

/* The next block, or the first block that has an id at or above id. */
int postings_next_block(struct postings *postings, struct err *err);
int postings_seek_block(struct postings *postings, docid id, struct err *err);
/* As postings_seek_block, but also back to blocks that were passed. */
int postings_return_block(struct postings *postings, docid id, struct err *err);
/* To a block by its number; block_count: the end. */
int postings_go(struct postings *postings, uint32_t block, struct err *err);
/* The bounds of any block, unseen by the cursor. */
const uint8_t *postings_block_bounds(const struct postings *postings, uint32_t block);
/* The first block with an id at or above id; block_count: none. */
uint32_t postings_block_of(const struct postings *postings, docid id);
/* No id of that block is below. */
docid postings_block_first(const struct postings *postings, uint32_t block);
/* The greatest bounds of all blocks. */
void postings_bounds(const struct postings *postings, uint8_t bounds[SEGMENT_FIELD_COUNT]);
/* *found is the first id at or above id, DOCID_END if there is none. Goes to its block. */
int postings_seek(struct postings *postings, docid id, docid *found, struct err *err);

/* Sets bits to the term's documents in the window, and goes to the first block that reaches
 * beyond it. Windows must ascend. */
int postings_fill(struct postings *postings, uint32_t window, struct window_bits *bits,
                  struct err *err);

/* All ids or codes of the block at hand: `size` of them. Valid until the cursor moves. */
int postings_ids(struct postings *postings, const docid **ids, struct err *err);
int postings_codes(struct postings *postings, const uint32_t **codes, struct err *err);

/* The index of id in the block at hand; -1 when it is not there. */
int postings_index(struct postings *postings, docid id, int *index, struct err *err);
/* The same for many that lie in the block at hand, ascending. */
int postings_indexes(struct postings *postings, const docid *ids, uint32_t count, int16_t *indexes,
                     struct err *err);
/* The same, only those that are there: which of up to BLOCK_SIZE ids, and their indexes. */
int postings_meet(struct postings *postings, const docid *ids, uint32_t count, uint16_t *places,
                  int16_t *indexes, uint32_t *met, struct err *err);
/* The code of the index-th posting, without unpacking the others. */
int postings_code_at(struct postings *postings, uint32_t index, uint32_t *code, struct err *err);
/* Where the word stands in the index-th document: by field, ascending. *count is the sum of the
 * frequencies. */
int postings_occurrences(struct postings *postings, uint32_t index,
                         struct occurrence out[POSTING_OCCURRENCE_MAX], uint32_t *count,
                         struct err *err);

/* Places of many documents: a position with its field above, which orders as they stand in one. */
enum { PLACE_FIELD_SHIFT = 28, PLACE_RUN_ROOM = 2 * POSTING_OCCURRENCE_MAX };

struct place_run {
    uint32_t count;            /* of documents */
    uint32_t ends[BLOCK_SIZE]; /* of each one's places; they begin where the others' end */
    uint32_t places[PLACE_RUN_ROOM];
};

static inline uint32_t place_run_end(const struct place_run *run)
{
    return run->count ? run->ends[run->count - 1] : 0;
}

/* Adds where the word stands in the documents of these indexes, ascending, in the fields of the
 * mask. *count becomes how many of them found room: at least one in an empty run. Nothing is told
 * of positions from 1 << PLACE_FIELD_SHIFT on. */
int postings_places(struct postings *postings, const int16_t *indexes, uint32_t *count,
                    unsigned fields, struct place_run *run, struct err *err);

/* The occurrences of all postings of the block at hand, in flat arrays. */
struct occurrence_rows {
    uint32_t *distances; /* of a position from the one before it in the field, or from 0; owned */
    uint32_t *forms;     /* owned */
    size_t capacity;
    const uint32_t *starts; /* where those of each posting begin, and the end; the cursor's */
};

/* rows: zeroed before the first call, used for any number of blocks. */
int postings_rows(struct postings *postings, struct occurrence_rows *rows, struct err *err);
void occurrence_rows_release(struct occurrence_rows *rows);

#endif
