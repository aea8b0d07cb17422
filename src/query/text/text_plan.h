/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_plan.h - the words of a query on one snapshot: which documents match, and their scores.
 *
 * Window-major over all segments and buffers: for each window that any needed cursor reaches, one
 * bitmap of documents that match and live. Scores are computed for those who can still enter the
 * page. Without a total, text_plan_top goes through the lists by score instead.
 *
 * A plan is used up in one of four ways: windows, ascending, each matched once and then scored;
 * text_plan_take; text_plan_count; or text_plan_top. text_plan_rewind makes it new again.
 *
 * Threads: a plan belongs to one thread, inside its epoch; memory is the arena's.
 */
#ifndef TORG_QUERY_TEXT_TEXT_PLAN_H
#define TORG_QUERY_TEXT_TEXT_PLAN_H

#include "query/query.h"

#ifndef WINDOW_END
#define WINDOW_END UINT32_MAX /* past every window */
#endif

struct text_plan;

/* NULL in *plan: the text has no clauses, everything matches. */
int text_plan_new(const struct snapshot *snapshot, struct analysis *analysis,
                  const struct query_text *text, const struct query_tuning *tuning,
                  struct arena *arena, struct text_plan **plan, struct err *err);

/* What the plans of one query share, of one snapshot, for one purpose and in one arena: nothing to
 * begin with. */
struct text_known;   /* the words that a beginning means */
struct text_counted; /* who has a word */
struct text_shared {
    struct text_known *known;
    struct text_counted *counted;
    uint32_t counted_count;
};

/* What a plan need not do, and what it has of others. */
struct text_purpose {
    bool no_scores;             /* matched, taken and counted, never scored */
    bool only_words;            /* text_plan_words */
    struct text_shared *shared; /* NULL: nothing is */
    /* Scores are computed with these counts; a word that is not among them keeps its own. NULL: all
     * do. */
    const struct query_words *words;
};
int text_plan_make(const struct snapshot *snapshot, struct analysis *analysis,
                   const struct query_text *text, const struct query_tuning *tuning,
                   const struct text_purpose *purpose, struct arena *arena, struct text_plan **plan,
                   struct err *err);

/* The same for what its words mean and how many have them alone: no list is opened. */
int text_plan_words(const struct snapshot *snapshot, struct analysis *analysis,
                    const struct query_text *text, struct text_shared *shared, struct arena *arena,
                    struct text_plan **plan, struct err *err);

/* What the scores were computed with. */
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
/* The same as words, for another shard, or for the next page, whose order is not to move with
 * merges. */
void text_plan_tell_words(const struct text_plan *plan, struct arena *arena,
                          struct query_words *words);

/* Documents that may match, at most. */
uint64_t text_plan_estimate(const struct text_plan *plan);

/* The first window from `from` on that may have a match; WINDOW_END: none. `from` never goes
 * back. */
uint32_t text_plan_next(struct text_plan *plan, uint32_t from);

/* bits = the documents of the window that match, of those in `among` (NULL: all): exact, phrases
 * too. Windows ascend; each is matched once. */
int text_plan_match(struct text_plan *plan, uint32_t window, const struct window_bits *among,
                    struct window_bits *bits, struct err *err);

/* No document of the window (the one matched last) has a higher score. */
float text_plan_bound(struct text_plan *plan, uint32_t window);

/* Scores of these documents of the window matched last, ascending offsets. A score below the
 * threshold may be given as -INFINITY instead. */
int text_plan_score(struct text_plan *plan, uint32_t window, const uint16_t *offsets,
                    uint32_t count, float threshold, float *scores, struct err *err);

/* The same for many: those of `bits` (documents of the window matched last) whose score is at least
 * threshold, in no order. It goes by the list that matters, so it need not touch every bit. Room
 * for WINDOW_LIST_MAX + WINDOW_LIST_SPARE. */
int text_plan_select(struct text_plan *plan, uint32_t window, const struct window_bits *bits,
                     float threshold, uint16_t *offsets, float *scores, uint32_t *count,
                     struct err *err);

/* The documents that match instead of windows of them: the way when few do. Whether that is so; or,
 * at_all, whether it can be done. */
bool text_plan_has_list(const struct text_plan *plan, bool at_all);
/* The next ones, those of a part ascending; *count 0: the end. */
enum { TEXT_TAKE_MAX = 256 };
int text_plan_take(struct text_plan *plan, docid ids[TEXT_TAKE_MAX], uint32_t *count,
                   struct err *err);

/* Scores of documents that match, ascending, whichever way they were found. */
int text_plan_score_ids(struct text_plan *plan, const docid *ids, uint32_t count, float *scores,
                        struct err *err);

/* The k best by (value descending, NaN last, id ascending) of those that match, live, and (unless
 * NULL) are in `filter`, with no total: the way for a page by relevance alone. filter is asked
 * window by window, only where a hit may be, at most once a window in a row. The value is the
 * score, or what the weigher makes of it: never more than max times the score. */
struct scored_doc {
    docid id;
    float score;
    double value;
};
/* Rounding of a value, and of the float that it is divided into. */
#define WEIGHED_SLACK (1 - 1e-6)
struct text_weigher {
    double max;
    double (*weigh)(void *context, docid id, float score);
};
typedef int window_filter_fn(void *context, uint32_t window, struct window_bits *bits,
                             struct err *err);
int text_plan_top(struct text_plan *plan, uint32_t k, window_filter_fn *filter,
                  const struct text_weigher *weigher, void *context, struct scored_doc *top,
                  uint32_t *count, struct err *err);

/* How many match and live: exactly, with no scores and no list of them. */
int text_plan_count(struct text_plan *plan, uint64_t *count, struct err *err);
/* Whether to count and then to look for the best is better than both at once: there are no
 * positions to be read twice. */
bool text_plan_is_cheap(const struct text_plan *plan);
int text_plan_rewind(struct text_plan *plan, struct err *err);

/* ---- how the score is made: for explain, and for pages that must keep their weights ---- */

struct text_term_stat {
    struct bytes word; /* the stem; empty: no document has such a word */
    uint32_t clause;   /* of the query */
    uint64_t df;       /* documents of all parts, masked ones included */
    float idf;
    float factor; /* boost × penalty of misspelling */
};
/* N of the scores, and the i-th word; false past the last. */
uint64_t text_plan_doc_count(const struct text_plan *plan);
bool text_plan_term(const struct text_plan *plan, uint32_t i, struct text_term_stat *stat);

/* Whether the words of the clause are what makes this document match, and what they add: the same
 * arithmetic as text_plan_score. Of a document that lives; any order of ids. */
int text_plan_explain(struct text_plan *plan, docid id, uint32_t clause, bool *holds, float *value,
                      struct err *err);

#endif
