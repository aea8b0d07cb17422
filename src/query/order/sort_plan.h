/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort_plan.h - the order of hits: keys of 64 bits, the lower the better, and the best k of them.
 *
 * Every kind of sort gives a key that orders as unsigned numbers do; UINT64_MAX is "no value",
 * which comes last. Ties go on to the next sort and end at the lower id, so an order is total.
 *
 * Threads: one, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_ORDER_SORT_PLAN_H
#define TORG_QUERY_ORDER_SORT_PLAN_H

#include "query/order/formula.h"
#include "query/query.h"

struct sort_key {
    uint8_t kind; /* enum sort_kind */
    bool descending;
    const struct field *field;
    const struct column *column; /* NULL: nobody has a value */
    const uint32_t *ranks;       /* keywords: the place of each ordinal in order of bytes */
    const uint32_t *ordinals;    /* keywords: by rank; as ranks the dictionary's, in the epoch */
    uint32_t rank_count;
    int32_t lat, lon;
    struct formula *formula;
};

struct sort_plan {
    struct sort_key keys[SORT_COUNT_MAX];
    uint32_t count; /* 0: by id alone */
    bool uses_score;
};

/* has_text: relevance is the order when none is given. */
int sort_plan_make(struct sort_plan *plan, const struct snapshot *snapshot,
                   const struct query_stage *stage, bool has_text, struct arena *arena,
                   struct err *err);

/* Ages of its formulas are until this moment, not until that of the stage. */
void sort_plan_set_now(struct sort_plan *plan, int64_t now);

/* Keys of the documents of a window by the index-th sort. */
void sort_plan_keys(const struct sort_plan *plan, uint32_t index, uint32_t window,
                    const uint16_t *offsets, uint32_t count, const float *scores, uint64_t *keys);

/* No document of the window has a lower first key. */
uint64_t sort_plan_bound(const struct sort_plan *plan, uint32_t window);

/* Drops documents of the window whose first key is above the worst, where that is known fast. */
void sort_plan_narrow(const struct sort_plan *plan, uint32_t window, uint64_t worst,
                      struct window_bits *bits);

/* What a key stands for, to be shown and to merge shards by; NaN: no value. */
double sort_key_value(const struct sort_key *sort, uint64_t key);

uint64_t sort_score_key(float score);
uint64_t sort_formula_key(double value); /* highest first, NaN last */

struct ranked;

/* Where an entry stands, told so that other shards understand it; texts are the arena's. */
struct query_place place_of(const struct sort_plan *plan, const struct ranked *entry,
                            const struct snapshot *snapshot, struct arena *arena);
/* The other way: a floor for the best. A keyword that the shard does not have stands between those
 * that it has. */
struct ranked place_floor(const struct sort_plan *plan, const struct query_place *place);

/* ---- the best ---- */

struct ranked {
    uint64_t keys[SORT_COUNT_MAX];
    docid id;
    float score;
};

struct best {
    struct ranked *entries; /* a heap, the worst on top, until best_sort */
    uint32_t count, count_max;
    uint32_t key_count;
    bool has_floor; /* what is not behind the floor was on an earlier page */
    struct ranked floor;
};

void best_init(struct best *best, uint32_t count_max, uint32_t key_count, struct arena *arena);

/* Whether a first key this good may still enter. */
static inline bool best_admits(const struct best *best, uint64_t key)
{
    return best->count < best->count_max ||
           (best->count_max > 0 && key <= best->entries[0].keys[0]);
}

void best_add(struct best *best, const struct ranked *entry);
void best_sort(struct best *best); /* best first; nothing may be added then */
int ranked_compare(const struct ranked *a, const struct ranked *b, uint32_t key_count);

#endif
