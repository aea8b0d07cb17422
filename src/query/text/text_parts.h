/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_parts.h - what the files of text_plan share; private to them.
 *
 *   clause ── compile ──> leaf (word, phrase, whole or phrase, any of many) of slots (a term each)
 *   part   a segment or a buffer; a document lives in one of them only
 *   list   a slot in a part: packed postings with two cursors, or a plain array
 *
 * A part of the score is always made by the same float operations in the same order: value_of a
 * posting, slots of a leaf added from first to last, leaves from first to last. So whatever was
 * skipped on the way, the sum that is told is the same.
 */
#ifndef TORG_QUERY_TEXT_TEXT_PARTS_H
#define TORG_QUERY_TEXT_TEXT_PARTS_H

#include <assert.h>
#include <math.h>

#include "base/object.h"
#include "index/postings/postings.h"
#include "query/text/text_plan.h"

enum {
    FORM_ANY = -1,
    UNION_SMALL_COUNT = 4096,          /* postings of a list that is merged with others at once */
    UNION_MERGE_COUNT_MAX = 256 << 10, /* and of all of them */
    UNION_MEET_COUNT_MAX = 4 << 20,    /* the same of a lone beginning that is not scored */
    CODE_TABLE_SIZE = 256,             /* codes above are rare and slow */
    ALL_FIELDS = (1 << SEGMENT_FIELD_COUNT) - 1,
};

#define BM25_K1 1.2F
/* Sums of bounds and sums made in another order may be off by some last bits. */
#define BOUND_SLACK 1.00001F

enum leaf_kind {
    LEAF_WORD,   /* slots[0] */
    LEAF_PHRASE, /* all slots, at their distances */
    LEAF_TIED,   /* any of its branches, each a word or a phrase: one begins at each position 0 */
    LEAF_ANY,    /* any of the slots */
};

struct text_slot {
    termid term; /* TERMID_NONE: nobody has it */
    int32_t form;
    uint32_t position; /* in the phrase, from 0 */
    float factor;      /* boost and penalty */
    float weight;      /* factor · idf · (k1 + 1) */
    uint64_t df;
    const struct text_counted *counted; /* NULL: nobody has it */
    uint32_t clause;
};

struct text_leaf {
    uint8_t occur;         /* enum clause_occur */
    uint8_t kind;          /* enum leaf_kind */
    uint8_t fields;        /* mask; ALL_FIELDS */
    bool exact;            /* filling a window tells all: no forms or positions to look at */
    uint32_t first, count; /* of slots */
    uint32_t row;          /* of candidates.values: as many as slots of a word or phrase, or one */
    uint32_t clause;
};

/* What the codes of a segment weigh, under one mask of fields. */
struct code_table {
    uint32_t field_count;
    uint8_t fields[SEGMENT_FIELD_COUNT];
    float factors[SEGMENT_FIELD_COUNT][CODE_TABLE_SIZE]; /* weight · tf, by place in fields */
    uint8_t has[CODE_TABLE_SIZE];                        /* any frequency under the mask */
};

/* The codes of a list that may reach a sum in a document of these norms. */
struct code_sieve {
    float need, norms[2];
    uint32_t passes[CODE_TABLE_SIZE / 32];
};

/* What a buffer has of a slot, by id. */
struct buffer_hit {
    docid id;
    uint32_t tfs;
    struct bytes packed; /* occurrences, as buffer_cursor has them */
};

struct buffer_hits {
    struct buffer_hit *list;
    uint32_t count;
};

/* Who has a term, of one snapshot; counted once for all stages of a query. */
struct text_counted {
    struct text_counted *next;
    termid term;
    uint64_t df;
    uint32_t *counts;         /* of postings, by segment */
    struct buffer_hits *hits; /* by buffer */
};

struct text_list {
    uint8_t fields;
    bool is_array;
    bool masked; /* postings may have nothing in the fields */
    bool sparse; /* few enough for ids rather than windows */
    float weight;
    float max; /* no value is higher */
    uint32_t count;
    uint32_t index; /* of the posting found last: in its block, or in the array */

    /* Of a segment: matcher goes with windows, scorer wherever it is asked. */
    struct postings *matcher, *scorer;
    termid term;
    bool is_open; /* scorer */
    const struct code_table *table;
    struct code_sieve sieve;
    float *reaches; /* by block: no Σ is higher; NULL: not read yet */
    float *tops;    /* by code: no value is higher; NULL: not computed yet */

    /* An array, by id. */
    const docid *ids;
    const float *values;        /* NULL: nobody asks for them */
    const uint32_t *tfs;        /* NULL: of several terms */
    const struct bytes *packed; /* occurrences, as buffer_cursor has them */
    uint32_t at;                /* next to fill */
    uint32_t run;               /* first of the block at hand */
};

/* A leaf in a part. */
struct part_leaf {
    struct text_list **lists; /* by slot of the leaf; NULL: none. LEAF_ANY: list_count of them */
    uint32_t list_count;
    uint64_t count; /* documents, at most */
    float max;
};

/* What is added to a score in one go: a word, or what only a leaf as a whole can tell. */
struct text_step {
    uint32_t leaf;
    uint32_t row;           /* of candidates.values */
    struct text_list *list; /* NULL: ask the leaf */
    bool must;
    bool bonus; /* nobody has to hold it: behind all others */
    bool gone;  /* whoever holds it was looked at before: it drops out */
    float max;
    uint64_t count;
};

struct text_part {
    const struct text_segment *segment; /* NULL: a buffer */
    uint32_t number;                    /* of the snapshot's segments, or of its buffers */
    const struct live *live;
    struct part_leaf *leaves;
    uint32_t *order; /* leaves that must: rarest first; then those that should: highest first */
    struct text_step *steps; /* the same, words of phrases that must each for itself */
    uint32_t step_count;
    float max;
    float bonus_max; /* of it, what nobody has to hold */
    uint32_t span;   /* of ids, about */
    const struct code_table *tables[ALL_FIELDS + 1];
    uint32_t asked, met; /* documents of the first step's list, and of these in all that must */
    bool has_matches;
    struct window_bits matched; /* of the window at hand */
};

enum { TEXT_PLAN_MAGIC = OBJECT_MAGIC('t', 'p', 'l', 'n') };

struct text_plan {
    uint32_t magic;
    const struct snapshot *snapshot;
    struct arena *arena;
    struct query_tuning tuning;
    struct text_purpose purpose;
    float field_weights[SEGMENT_FIELD_COUNT];
    float bound_weights[SEGMENT_FIELD_COUNT]; /* the same for bounds, which other averages made */
    const struct text_norms *norms;           /* the snapshot's, or the arena's */
    struct text_lengths lengths;              /* that they are by */
    uint32_t field_count;
    uint64_t doc_count; /* N */

    struct text_leaf *leaves;
    uint32_t leaf_count, must_count, should_count, not_count, row_count;
    uint32_t should_min;
    uint32_t should_max; /* should_count, or one less */
    bool never;          /* nothing matches */
    bool everything;     /* no word is asked for: all that live, but for the NOTs */
    struct text_slot *slots;
    uint32_t slot_count;

    struct text_part **parts; /* those that may have a match (everything: that a NOT may hit) */
    uint32_t part_count;
    uint32_t window; /* the one at hand */

    uint32_t taken_parts; /* of text_plan_take: parts that have ended */
    bool is_taking;       /* the next one has begun */

    struct plan_scratch *scratch;
    bool explaining; /* parts without a match are open too */
};

/* Documents on their way out of part_take. */
struct taking {
    struct text_list *driver; /* NULL: by windows */
    bool ended;
    uint32_t count;
    docid ids[2 * BLOCK_SIZE];
    uint32_t window; /* the one at hand; WINDOW_END: none yet */
    uint32_t offset_at, offset_count;
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
};

struct plan_scratch {
    struct window_bits bits, more, branch, planes[8];
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint16_t others[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint16_t found[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    float scores[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    float sums[WINDOW_SIZE];
    struct place_run starts, places;
    struct taking taking;
    struct candidates *candidates;
};

struct candidates;

/* Postings of a block with their values. */
struct scored_run {
    uint32_t count;
    docid ids[BLOCK_SIZE];
    float values[BLOCK_SIZE];
};

/* Whether those who hold all that should be there do not match. */
static inline bool plan_is_capped(const struct text_plan *plan)
{
    return plan->should_max < plan->should_count;
}

static inline float value_of(float t, float weight)
{
    return weight * (t / (BM25_K1 + t));
}

static inline uint32_t lengths_of(const struct text_plan *plan, uint8_t fields, docid id)
{
    return doc_lengths_get(plan->snapshot->lengths, fields & ((1U << plan->field_count) - 1), id);
}

static inline struct text_slot *leaf_slots(const struct text_plan *plan,
                                           const struct text_leaf *leaf)
{
    return plan->slots + leaf->first;
}

/* Of a part that is a buffer. */
static inline const struct buffer_hits *hits_of(const struct text_part *part,
                                                const struct text_slot *slot)
{
    static const struct buffer_hits none = {0};

    return slot->counted ? &slot->counted->hits[part->number] : &none;
}

/* Documents of the slot in the part, masked ones included. */
static inline uint32_t count_of(const struct text_part *part, const struct text_slot *slot)
{
    if (!part->segment)
        return hits_of(part, slot)->count;
    return slot->counted ? slot->counted->counts[part->number] : 0;
}

/* Whether nobody that the part was born with is masked. */
static inline bool part_is_whole(const struct text_part *part)
{
    return part->live->rest && part->live->count_delta == 0;
}

/* The lowest id that the block may have: before is -1 in front of id 0. */
static inline docid block_first(const struct postings *postings)
{
    return postings->before + 1;
}

/* Memory for what must be aligned as a cache line; not zeroed. */
void *plan_alloc(struct arena *arena, size_t size);

/* Where the branch of a LEAF_TIED that begins at this slot ends. */
static inline uint32_t branch_end(const struct text_slot *slots, uint32_t from, uint32_t count)
{
    uint32_t to = from + 1;

    while (to < count && slots[to].position)
        to++;
    return to;
}

/* ---- text_compile.c: clauses to leaves and slots ---- */
int text_compile(struct text_plan *plan, struct analysis *analysis, const struct query_text *text,
                 struct err *err);
/* In all parts, masked ones included. */
int text_count_docs(const struct snapshot *snapshot, termid term, uint64_t *sum, struct err *err);
const struct text_words *text_analyse(struct analysis *analysis, unsigned version,
                                      struct bytes text, struct arena *arena);

/* ---- text_list.c ---- */
void read_buffer(struct text_plan *plan, const struct snapshot_buffer *buffer, termid term,
                 struct buffer_hits *hits);
/* *list is NULL when the segment does not have the term. */
int list_open(struct text_plan *plan, struct text_part *part, const struct text_slot *slot,
              uint8_t fields, struct text_list **list, struct err *err);
/* Whether the code has anything in the fields of the table. */
bool code_has(const struct text_segment *segment, const struct code_table *table, uint32_t code);
/* Of a part that is a segment. */
const struct code_table *part_codes(struct text_plan *plan, struct text_part *part, uint8_t fields);
/* The bytes of tfs that are of these fields. */
uint32_t tfs_mask(uint8_t fields);
/* The lists of LEAF_ANY: long ones each for itself, short ones as one array. */
int list_open_any(struct text_plan *plan, struct text_part *part, const struct text_leaf *leaf,
                  struct part_leaf *here, struct err *err);
/* To the beginning, for another walk over windows. */
int list_rewind(struct text_list *list, struct err *err);
/* The next id that list_fill has not passed, or less; DOCID_END: none. */
int list_next(struct text_list *list, docid from, docid *next, struct err *err);
int list_fill(struct text_list *list, uint32_t window, struct window_bits *bits, struct err *err);
/* Offsets of its documents in the window; goes on as list_fill does. */
int list_offsets(struct text_list *list, uint32_t window, uint16_t *offsets, uint32_t *count,
                 struct err *err);
/* The ids of the next block, and on; *count 0: the end. Some may have nothing in the fields. */
int list_take(struct text_list *list, docid ids[BLOCK_SIZE], uint32_t *count, struct err *err);
int list_find(struct text_list *list, docid id, bool *found, struct err *err);
/* Of the posting that was found. */
uint32_t list_tfs(const struct text_list *list);
float list_value(const struct text_plan *plan, const struct text_list *list, uint32_t lengths);
/* Values of many documents, ascending; -1 where the list does not have it, or its value cannot lift
 * what the document has to min. */
int list_values(const struct text_plan *plan, struct text_list *list, const docid *ids,
                uint32_t count, const float *has, float min, float *values, struct err *err);
/* For the blocks that are asked about. */
int list_open_scorer(struct text_list *list, struct err *err);
/* Of the posting that was found: what its value is known by, without finding it again. */
uint32_t list_handle(const struct text_list *list);
float list_value_at(const struct text_plan *plan, const struct text_list *list, uint32_t handle,
                    uint32_t lengths);
/* Goes to the block that may have ids[0]; *count becomes how many of the ids do not lie beyond
 * it. */
int list_reach(struct text_list *list, const docid *ids, uint32_t *count, struct err *err);
/* Finds these. indexes: -1, or what list->index is for it. */
int list_find_run(struct text_list *list, const docid *ids, uint32_t count, int32_t *indexes,
                  struct err *err);

/* The scorer, block by block. */
int list_score_from(struct text_list *list, docid id, struct err *err);
bool list_score_ended(const struct text_list *list);
docid list_score_last(const struct text_list *list); /* of the block at hand */
docid list_score_low(const struct text_list *list);
int list_score_next(struct text_list *list, struct err *err);
/* To the next block, this one included, that may have a value of at least min. */
int list_score_skip(const struct text_plan *plan, struct text_list *list, float min,
                    struct err *err);
/* The block's postings from first to last whose value is at least min. */
int list_score_block(const struct text_plan *plan, struct text_list *list, docid first, docid last,
                     float min, struct scored_run *run, struct err *err);

/* All of the block's postings, without their values; some may have nothing in the fields. */
int list_score_ids(const struct text_list *list, struct scored_run *run, struct err *err);

/* Whether the code has anything in the list's fields. */
bool list_has_code(const struct text_list *list, uint32_t code);
/* Σ weight · tf · norm of a posting, by its code. */
float sum_of_code(const struct text_plan *plan, const struct text_list *list, uint32_t code,
                  uint32_t lengths);

/* ---- text_sum.c: values of packed postings ---- */
/* The least Σ that gives a value of at least min; a little less, and what passes is looked at. */
float list_sum_needed(const struct text_list *list, float min);
/* Opens the scorer, and reads the bounds of all its blocks into list->reaches. */
int list_read_bounds(const struct text_plan *plan, struct text_list *list, struct err *err);
/* No value of the block, or of a posting from first to last, is higher. */
float list_block_max(const struct text_list *list, uint32_t block);
float list_max_between(const struct text_list *list, docid first, docid last);
/* list_score_block of packed postings */
int list_score_packed(const struct text_plan *plan, struct text_list *list, docid first, docid last,
                      float min, struct scored_run *run, struct err *err);

/* ---- text_phrase.c ---- */
/* Which of up to BLOCK_SIZE documents, ascending, have the words of slots from..to - 1 as they
 * say. */
int phrase_hold(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t from,
                uint32_t to, const docid *ids, uint32_t count, bool *holds, struct err *err);
/* Keeps those that hold the leaf, a phrase of up to PHRASE_VALUE_WORDS words; values of its words,
 * by slot, as list_value gives them. */
enum { PHRASE_VALUE_WORDS = 4 };
int phrase_values(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid *ids,
                  uint32_t *count, float values[PHRASE_VALUE_WORDS][BLOCK_SIZE], struct err *err);

/* ---- text_leaf.c ---- */
/* A superset of the leaf's documents in the window; all and nothing else if leaf->exact. */
int leaf_fill(struct text_plan *plan, struct text_part *part, uint32_t leaf, uint32_t window,
              struct window_bits *bits, struct err *err);
int leaf_next(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid from,
              docid *next, struct err *err);
int leaf_holds(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid id, bool *holds,
               struct err *err);
/* The same for up to BLOCK_SIZE, ascending. */
int leaf_hold(struct text_plan *plan, struct text_part *part, uint32_t leaf, const docid *ids,
              uint32_t count, bool *holds, struct err *err);
/* Its part of the score; 0 when the words are not there. sure: it is known to hold, or will be
 * asked: positions and forms are not looked at. */
int leaf_value(struct text_plan *plan, struct text_part *part, uint32_t leaf, docid id,
               uint32_t lengths, bool sure, float *value, bool *holds, struct err *err);
/* The list to go by when documents of this leaf are looked for; NULL: it takes more than one. */
struct text_list *leaf_driver(const struct text_plan *plan, const struct text_part *part,
                              uint32_t leaf);
/* Makes part->steps. */
void part_steps(struct text_plan *plan, struct text_part *part);

/* ---- text_match.c ---- */
/* loosely: positions and forms of what must be there are not looked at. */
int part_match(struct text_plan *plan, struct text_part *part, uint32_t window,
               const struct window_bits *among, bool loosely, struct err *err);
int part_next(struct text_plan *plan, struct text_part *part, uint32_t from, uint32_t *next,
              struct err *err);

/* ---- text_take.c ---- */
/* The list whose documents are gone through rather than windows; NULL: windows are better. */
struct text_list *part_driver(const struct text_plan *plan, const struct text_part *part);
/* Keeps those of up to BLOCK_SIZE ids, ascending, that hold the leaf, or do not. */
int part_keep(struct text_plan *plan, struct text_part *part, uint32_t leaf, bool wanted,
              docid *ids, uint32_t *count, struct err *err);
/* The documents of a part that live and match, ascending, the next ones each time; *count 0: the
 * end. By windows, positions and forms have not been looked at: part_sift does. */
void part_take_begin(struct text_plan *plan, struct text_part *part);
int part_take(struct text_plan *plan, struct text_part *part, docid ids[BLOCK_SIZE],
              uint32_t *count, struct err *err);
int part_sift(struct text_plan *plan, struct text_part *part, docid *ids, uint32_t *count,
              struct err *err);

/* ---- text_score.c ---- */

/* Documents of one part on their way to a score: those that cannot reach it drop out. */
struct candidates {
    uint32_t count;
    docid ids[BLOCK_SIZE];
    float partial[BLOCK_SIZE];   /* what is known of the score */
    float scores[BLOCK_SIZE];    /* in the end */
    uint16_t rows[BLOCK_SIZE];   /* of values; where it stood in the beginning */
    uint8_t should[BLOCK_SIZE];  /* leaves it holds of those that should */
    float (*values)[BLOCK_SIZE]; /* by row of leaves */
};

/* Takes ids (and the values of so many known first steps), leaves those whose score is at least
 * min, with it. matched: they are known to match; else that is looked at too. */
int candidates_score(struct text_plan *plan, struct text_part *part, struct candidates *candidates,
                     uint32_t known, bool matched, float min, struct err *err);
/* ---- text_meet.c ---- */
enum { MEET_LIST_MAX = 8 };
/* The first steps, those that must hold, if they can be looked at together; 0: they cannot. */
uint32_t part_meets(const struct text_plan *plan, const struct text_part *part);
/* Of the first step's block at hand, from an id on: candidates are those that live, that the lists
 * of all these steps have, and that may reach min; with their values. */
int part_meet(struct text_plan *plan, struct text_part *part, uint32_t steps, docid from, float min,
              struct err *err);
/* The same of up to BLOCK_SIZE ids, ascending. */
int part_meet_ids(struct text_plan *plan, struct text_part *part, uint32_t steps, const docid *ids,
                  uint32_t count, float min, struct err *err);

/* Of one part: what reaches min, to offsets and scores from *count on. matched: as above. */
int part_select(struct text_plan *plan, struct text_part *part, uint32_t window,
                const struct window_bits *bits, bool matched, float min, uint16_t *offsets,
                float *scores, uint32_t *count, struct err *err);
/* How many leaves of those that should, highest first, a document of at least this score cannot do
 * without all of. */
uint32_t part_essential(const struct text_plan *plan, const struct text_part *part, float min);

/* What a list has to give when others can add `rest`. */
static inline float min_without(float min, float rest)
{
    return rest > 0 ? (min - rest) / BOUND_SLACK - rest * (BOUND_SLACK - 1) : min;
}

#endif
