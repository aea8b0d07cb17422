/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_plan.h - the words of a query on one snapshot: which documents match, and their scores.
 *
 * Window-major over all segments and buffers: for each window that any needed cursor reaches, one
 * bitmap of documents that match and live. Scores are computed for those who can still enter the
 * page.
 *
 * Threads: a plan belongs to one thread, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_TEXT_PLAN_H
#define TORG_QUERY_TEXT_PLAN_H

#include "query/query.h"

struct text_plan;

/* NULL in *plan: the text has no clauses, everything matches. */
int text_plan_new(const struct snapshot *snapshot, struct analysis *analysis,
                  const struct query_text *text, const struct query_tuning *tuning,
                  struct arena *arena, struct text_plan **plan, struct err *err);

/* What the scores were computed with. A later page uses the numbers of the first, so that its
 * order does not move with merges; a term that it does not know keeps its own. */
struct text_stat {
    termid term;
    uint64_t doc_count; /* df, with the masked documents */
};
struct text_stats {
    uint64_t doc_count; /* N */
    const struct text_stat *terms;
    uint32_t count;
};
void text_plan_stats(const struct text_plan *plan, struct arena *arena, struct text_stats *stats);
void text_plan_use_stats(struct text_plan *plan,
                         const struct text_stats *stats); /* before the walk */

/* Documents that may match, at most. */
uint64_t text_plan_estimate(const struct text_plan *plan);

/* The first window from `from` on that may have a match; WINDOW_END: none. `from` never goes back.
 */
uint32_t text_plan_next(struct text_plan *plan, uint32_t from);

/* bits = the documents of the window that match, of those in `among` (NULL: all): exact, phrases
 * too. */
int text_plan_match(struct text_plan *plan, uint32_t window, const struct window_bits *among,
                    struct window_bits *bits, struct err *err);

/* No document of the window (the one matched last) has a higher score. */
float text_plan_bound(struct text_plan *plan, uint32_t window);

/* Scores of these documents of the window matched last, ascending offsets. A score below the
 * threshold may be given as -INFINITY instead. */
int text_plan_score(struct text_plan *plan, uint32_t window, const uint16_t *offsets,
                    uint32_t count, float threshold, float *scores, struct err *err);

/* The k best by (score descending, id ascending) of those that match, live, and (unless NULL) are
 * in `filter`, with no total: the way for a page by relevance alone. filter is asked window by
 * window, only where a hit may be. */
struct scored_doc {
    docid id;
    float score;
};
typedef int window_filter_fn(void *context, uint32_t window, struct window_bits *bits,
                             struct err *err);
int text_plan_top(struct text_plan *plan, uint32_t k, window_filter_fn *filter, void *context,
                  struct scored_doc *top, uint32_t *count, struct err *err);

#endif
