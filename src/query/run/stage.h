/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - one stage of a query at work: its plans, and the walk over windows that feeds them.
 *
 *   window: text ∧ alive ∧ proposals ──> filters ──> total, facets, the best
 *
 *   list:   ids that the text finds, when they are few ──> the same, without a bitmap
 *
 * Filters and sort keys of a window are read under one sequence number of the columns and
 * computed again when a change came in between; nothing is counted before that is known.
 *
 * A facet that does not see its own field's filters counts on a set of its own. With filters
 * B1 … Bn that some facet leaves out, and C the rest, prefix and suffix ANDs give C without each
 * Bi.
 *
 * Threads: one, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_RUN_STAGE_H
#define TORG_QUERY_RUN_STAGE_H

#include "base/clock.h"
#include "index/postings/kernels.h"
#include "query/facet/facet_plan.h"
#include "query/filter/filter_plan.h"
#include "query/order/sort_plan.h"
#include "query/text/text_plan.h"

/* Hits of one window on their way into the best; the engine's, used by one stage at a time. */
struct window_hits {
    uint32_t count;
    uint16_t offsets[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    float scores[WINDOW_LIST_MAX + WINDOW_LIST_SPARE];
    uint64_t keys[SORT_COUNT_MAX][WINDOW_SIZE];
};

/* What the stages of one query share. */
struct query_context {
    const struct clock *clock; /* of deadlines */
    const struct snapshot *snapshot;
    struct analysis *analysis;
    const struct query_tuning *tuning;
    struct window_hits *hits;
    struct arena *arena;
    struct arena *memory; /* of text plans, which nothing of the answer points into */
    struct filter_plan base;
    struct text_shared shared; /* of text plans; in memory */
    bool shares_base;          /* several stages: the base is computed once a window */
    uint32_t base_window;
    uint32_t base_begun; /* sequence number of the columns under which base_bits were computed */
    struct window_bits base_bits;
};

enum { GROUP_COUNT_MAX = 16 }; /* fields whose filters are left out by their facets */

struct filter_group {
    uint16_t field;
    struct conjunct *conjuncts[8];
    uint32_t count;
};

struct stage {
    struct query_context *context;
    const struct query_stage *source;
    struct filter_plan filter;
    struct sort_plan sort;
    struct formula *rerank;
    const struct field *cap_field;
    struct facet_count *facets;

    struct conjunct **fixed; /* seen by everybody */
    uint32_t fixed_count;
    struct filter_group groups[GROUP_COUNT_MAX];
    uint32_t group_count;

    const struct query_words *words; /* that scores are computed with; NULL: the shard's own */

    /* Of one walk over the windows. */
    struct text_plan *text;
    bool lists;                 /* the words leave few documents: a list of ids, no windows */
    struct conjunct *proposals; /* copies, whose cursors move */
    uint32_t proposal_count;
    struct best best;
    bool counts; /* total and facets, too */
    uint64_t total;
};

int stage_make(struct stage *stage, struct query_context *context, const struct query_stage *source,
               struct err *err);

/* Ready for a walk that keeps the count_max best. */
int stage_begin(struct stage *stage, uint32_t count_max, bool counts, struct err *err);

/* Whether anything asks what the words of a hit are worth, once it has begun. */
bool stage_has_scores(const struct stage *stage);

/* The next window from `from` on that may have a hit; WINDOW_END: none. */
uint32_t stage_next(struct stage *stage, uint32_t from);
int stage_window(struct stage *stage, uint32_t window, struct err *err);

/* If stage->lists: the next candidates of the walk, until the end, instead of windows. */
int stage_list(struct stage *stage, bool *ended, struct err *err);

/* Of stage*.c: the hits of a window, with keys and scores. */
void stage_add_to_best(struct stage *stage, uint32_t window, const struct window_hits *hits);

/* Whether the words alone decide: the best by score, the total without filters, or both. Then this
 * is the whole walk. */
bool stage_is_top(const struct stage *stage);
int stage_top(struct stage *stage, struct err *err);

#endif
