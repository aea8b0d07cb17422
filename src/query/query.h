/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - what may be asked of a shard, and what is answered.
 *
 * A query is a tree of plain structs, made in an arena by whoever has the request (a message, JSON,
 * a test) and read only here. What each thing means is said here and nowhere else: the engine and
 * the naive evaluators of the tests both follow it.
 *
 * A document is a hit when it lives in the snapshot, its text matches, and the filter holds.
 */
#ifndef TORG_QUERY_QUERY_H
#define TORG_QUERY_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "index/postings/text_norms.h"
#include "index/shard/shard.h"
#include "index/text/analysis.h"

/* ---- text ---- */

enum clause_occur {
    OCCUR_MUST,
    OCCUR_SHOULD, /* at least text.should_min of these; all are scored */
    OCCUR_NOT,
    OCCUR_BONUS, /* scored where it holds, and else nothing: it finds nobody and misses nobody */
};

enum clause_kind {
    CLAUSE_WORD,   /* any form of the word */
    CLAUSE_EXACT,  /* the very form */
    CLAUSE_PHRASE, /* words one after the other, inside one field (of the mask) */
    CLAUSE_PREFIX, /* any term that has a form that begins so */
    CLAUSE_FUZZY,  /* any term that has a form within lexicon_fuzzy_distance edits */
};

/* What the rules of one version make of a text. */
struct text_words {
    unsigned version;
    const struct token *tokens;
    size_t count;
};

/* Words that count as those of a clause, too: a synonym. */
struct text_also {
    struct bytes text; /* one word, or several one after the other */
    float boost;       /* as of a clause */
};

/* The text goes through analysis_run. Several words in one WORD clause: tied ones (nothing or one
 * sign between them, but not a comma or semicolon) mean their phrase ("iphone15"), two with a
 * hyphen their whole or their phrase ("wi-fi"); others are as many clauses of the same occur, and
 * count as such for should_min. A number with its unit ("128 гб") is always their whole, one word.
 * A word and the one behind it that documents also have as one ("flood light": floodlight) are each
 * itself or that one; a word that none has, but its two halves, is their phrase ("stepladder").
 * EXACT with several words is a phrase of exact forms. Of several words the last one is the PREFIX,
 * the others are WORDs; each that is not a number is FUZZY. A word that analysis drops or an empty
 * text is no clause; a text without clauses but with bytes matches nothing. NOT and BONUS alone:
 * everything else matches, with score 0. */
struct text_clause {
    uint8_t occur;  /* enum clause_occur */
    uint8_t kind;   /* enum clause_kind */
    uint8_t fields; /* bit i: the i-th text field of the schema; 0: all */
    float boost;    /* > 0; 0 is taken for 1 */
    /* PREFIX: of the terms (lexicon_prefix_some) at most so many, those that most documents have,
     * so that it costs the same however many begin so. 0: all, and ERR_LIMIT if they are too many.
     */
    uint32_t word_max;
    struct bytes text;
    const struct text_words
        *words; /* of the text, if they are known already (reading.h), or NULL */
    /* WORD: each word of the text, or one of these. Who has one of them has all words of the text;
     * of n words each adds an n-th of its score. */
    const struct text_also *also;
    uint32_t also_count;
};

/* score = Σ over clauses that match and are not NOT: boost · part. Part of a word is BM25F:
 *   t = Σ over fields of weight · tf · norm[length],   idf · t / (k1 + t) · (k1 + 1)
 *   idf = ln(1 + (N - df + 0.5) / (df + 0.5)), N and df with the masked documents (explain tells
 * them) with the tf of all forms, in the fields of the mask. A phrase: the sum over its words (all
 * their tf, not only where they stand together); a whole or its phrase, a word or what counts as
 * it, too: the greatest. A prefix: the greatest of its terms; fuzzy: the greatest of its terms × 1,
 * 0.7, 0.5 at 0, 1, 2 edits. */
struct query_text {
    const struct text_clause *clauses;
    uint32_t count;
    uint32_t should_min; /* 0: one when there is no MUST, else none */
    bool not_all;        /* whoever has all of the SHOULD clauses does not match */
    /* Words of SHOULD that are numbers, quantities or sizes count so much of themselves: a rare
     * size tells little about the thing. A number of four digits is a model. 0: 1. */
    float number_boost;
    /* Of words of SHOULD that are tied ("led-bulb", "iphone15") the parts count, too: seven tenths
     * of their worth for those of three bytes or more, who may be found without the others; a
     * fifth, and as a BONUS, for others. Not where they would be too many. */
    bool tied_parts;
};

/* A buyer's line: words are MUST (any: SHOULD), "..." a PHRASE, !word and !"..." EXACT, -word and
 * -"..." NOT, word* PREFIX (x* is the QUERY_LETTER_WORD_COUNT most frequent words that begin so,
 * but -x* all), word~ FUZZY. Signs mean this where a word begins or ends, else they are text. Words
 * side by side are one clause, so that "128 гб" stays together. */
int query_text_parse(struct bytes line, bool any, struct arena *arena, struct query_text *text,
                     struct err *err);

/* ---- filters ---- */

enum filter_kind {
    FILTER_AND,
    FILTER_OR,  /* none of no children holds */
    FILTER_NOT, /* of its one child; a document without a value passes a NOT */
    FILTER_IN,  /* keyword, category, boolean ("true", "false"), or numbers: one of the values */
    FILTER_RANGE,
    FILTER_EXISTS,
    FILTER_SUBTREE, /* category: the path or what lies under it */
    FILTER_BOX,
    FILTER_RADIUS,
};

struct query_filter {
    uint8_t kind; /* enum filter_kind */
    struct bytes field;
    const struct query_filter *children; /* AND, OR, NOT */
    const struct bytes *names;           /* IN of keywords, SUBTREE: several paths, any of them */
    const int64_t *numbers;              /* IN of numbers, as columns keep them */
    uint32_t count;                      /* of children, names or numbers */
    int64_t low, high;                   /* RANGE, ends included; INT64_MIN, INT64_MAX: none */
    struct geo_box box;
    int32_t lat, lon; /* RADIUS */
    double radius_m;
};

/* ---- order ---- */

enum sort_kind {
    SORT_RELEVANCE, /* highest first */
    SORT_FIELD,    /* number, date, boolean, decimal; a keyword by its bytes. Without a value: last,
                      always */
    SORT_DISTANCE, /* nearest first; without a point last */
    SORT_FORMULA,  /* highest first; NaN last */
};

struct query_sort {
    uint8_t kind;    /* enum sort_kind */
    bool descending; /* FIELD, DISTANCE */
    struct bytes field;
    int32_t lat, lon;
    struct bytes formula; /* formula.h says what it may hold */
};

/* ---- facets ---- */

enum facet_kind {
    FACET_VALUES, /* the `limit` most frequent; ties by bytes of the name */
    FACET_RANGES, /* bounds[i] <= value < bounds[i + 1] */
    FACET_MIN_MAX,
    FACET_TREE, /* category: each path with the hits at and under it (a document once a path), limit
                   as VALUES */
};

struct query_facet {
    struct bytes name; /* in the answer; empty: the field */
    uint8_t kind;      /* enum facet_kind */
    /* Else it does not see the filters of its own field: those among the ANDs at the top of the
     * stage's filter whose leaves are all of this field. The base is seen always. */
    bool sees_own_filter;
    bool counts_docs; /* how many hits have a value is asked for */
    struct bytes field;
    uint32_t limit;
    const int64_t *bounds;
    uint32_t bound_count;
};

/* ---- a shard as a part of an index ---- */

/* Whoever merges the answers of several shards tells each of them what a single shard with all
 * documents would know, and is told where each hit stands. */

struct query_word {
    struct bytes word;  /* the stem */
    uint64_t doc_count; /* df, with the masked documents */
};
struct query_words {
    uint64_t doc_count;             /* N */
    const struct query_word *words; /* ascending by bytes, no word twice */
    uint32_t count;
    struct text_lengths lengths; /* of texts, for their averages; none: not told */
};

enum { SORT_COUNT_MAX = 4 };

/* Where a hit stands in the order: keys as unsigned numbers, the lower the better; those of
 * keywords are told by their texts, as their numbers are of one shard alone. */
struct query_place {
    uint64_t keys[SORT_COUNT_MAX];      /* UINT64_MAX: no value */
    struct bytes texts[SORT_COUNT_MAX]; /* of keywords; else data is NULL */
    docid id;
    uint32_t count; /* of keys */
};

/* The list of a part is in the order of sorts: with a rerank it is neither reranked nor capped, and
 * ranks tell what whoever merges needs for both. Facets give QUERY_FACET_PART_COUNT_MAX
 * values, a page may have one hit more than QUERY_HIT_COUNT_MAX, and there is no cursor. */
struct query_part {
    const struct query_words *words; /* NULL: the shard's own */
    bool tells_words;                /* the answer has those that its scores were computed with */
    const struct query_place *after; /* goes on behind it; NULL: from the beginning */
};

struct query_rank {
    struct query_place place;
    struct bytes cap_value; /* of the cap's field; data is NULL: none */
    double rerank;          /* of the first rerank_count; NaN: none */
};

/* ---- the query ---- */

enum query_total { TOTAL_EXACT, TOTAL_NONE };

struct query_stage {
    struct bytes name;
    struct query_text text;
    const struct query_filter *filter; /* NULL: none; with that of the base */
    const struct query_sort *sorts;    /* none: relevance when there is text, else by id */
    uint32_t sort_count;               /* ties by ascending id */
    struct bytes rerank; /* a formula for the first rerank_count by sorts; empty: none */
    uint32_t rerank_count;
    struct bytes cap_field; /* at most cap hits with one value of this keyword */
    uint32_t cap;
    const struct query_facet *facets;
    uint32_t facet_count;
    uint32_t offset, limit;
    struct bytes cursor; /* of an earlier answer: goes on behind its last hit; no offset with it */
    uint8_t total;       /* enum query_total */
    bool no_cursor;      /* none is made, and hits have a score only if they are sorted by it */
    int64_t now;         /* seconds: for ages in formulas */
    bool unknown_is_empty; /* formulas may name fields that the schema does not have: no values */
    const struct query_part *part; /* NULL: the shard is the whole index */
};

/* The list of a stage: all hits by sorts; the first rerank_count of them again by rerank (highest
 * first, NaN last, ties by id); then, in this order, what would be more than cap of one value is
 * left out (a document without a value is not). Offset, limit and cursor cut this list. Totals and
 * facets are of all hits, capped or not. No cursor with rerank. */

/* One request, several stages over a shared base filter. */
struct query_plan {
    const struct query_filter *base; /* NULL: none */
    const struct query_stage *stages;
    uint32_t stage_count;
};

/* ---- the answer ---- */

struct query_hit {
    docid id;
    float score;                 /* of the text; 0 without, or with no_cursor */
    double keys[SORT_COUNT_MAX]; /* values it was sorted by, for merging shards; NaN: none */
};

struct facet_value {
    struct bytes name; /* VALUES, TREE */
    uint64_t count;
};

struct facet_answer {
    struct bytes name;
    const struct facet_value *values; /* RANGES: in order of bounds */
    uint32_t count;
    uint64_t other_count; /* VALUES: different values beyond the limit */
    int64_t min, max;     /* MIN_MAX; has_values tells if there are any */
    bool has_values;
    uint64_t doc_count; /* with counts_docs: hits that have a value */
};

struct text_plan;

struct query_answer {
    struct bytes name;
    uint64_t total;
    const struct query_hit *hits;
    const struct query_rank *ranks; /* one a hit; of a part, else NULL */
    uint32_t hit_count;
    uint32_t left_out_count; /* hits that were replaced in each of the runs: they are not there */
    const struct facet_answer *facets;
    uint32_t facet_count;
    struct bytes cursor;             /* of the next page; empty: this was the last */
    const struct query_words *words; /* with part.tells_words, of a page with text and hits */
    const struct text_plan *text;    /* what its words mean, for a viewer alone; NULL: no text */
};

struct query_result {
    uint64_t sequence, offset; /* of the snapshot */
    struct shard_seen seen;    /* told when all is read: a viewer does not have it yet */
    const struct query_answer *answers;
    uint32_t answer_count;
};

/* Choices that never change an answer; 0 is what the engine would choose. Tests force them. */
struct query_tuning {
    int8_t use_sets;    /* 1, -1: drive by attribute sets always, never */
    int8_t use_windows; /* 1, -1: window bitmaps for text always, lists always where it can */
    int8_t use_bounds;  /* 1, -1: skip by score bounds, or score everything */
    int8_t best_first; /* 1, -1: of a list the blocks with the highest bounds first always, never */
    int8_t use_meeting; /* 1, -1: of all words, who has them comes before what they are worth */
    int8_t use_codes;   /* 1, -1: drop who has too few of a word before lengths are read, or not */
    int8_t facet_lists; /* 1, -1 */
    int8_t use_order;   /* 1, -1: filters by what they cost and drop, or by their kind alone */
    int8_t facet_names; /* 1, -1: count several values by who has the same ones, or each hit's */
    int8_t page_lists;  /* 1, -1: filter, sort and count what text finds as a list, or by windows */
};

struct query_engine; /* scratch of one thread, reused from query to query */

struct query_engine *query_engine_new(struct shard *shard, struct shard_reader *reader);
void query_engine_free(struct query_engine *engine);

/* Everything of the result is in the arena. ERR_INVALID names the field of the request.
 * deadline_us: of the monotonic clock, 0: none; ERR_DEADLINE past it. */
int query_run(struct query_engine *engine, const struct query_plan *plan,
              const struct query_tuning *tuning, int64_t deadline_us, struct arena *arena,
              struct query_result *result, struct err *err);

/* Whoever shows hits does it while the query runs, so that what is shown is what was found. */
struct query_viewer {
    /* Reads what is wanted of the hits, inside the query's epoch. Called for each run of the query;
     * nothing of an earlier one is kept, and its memory in the arena is gone. */
    int (*show)(void *context, const struct snapshot *snapshot, const struct query_result *result,
                struct err *err);
    /* Only those hits of the stage stay that `kept` has the indexes of, in their order. */
    void (*keep)(void *context, uint32_t stage, const uint32_t *kept, uint32_t count);
    void *context;
};

/* As query_run, with a viewer. A hit's text, attributes and stored fields are of one version of the
 * document: when one was replaced while the query ran, it runs again, and nothing is published
 * meanwhile, unless that takes longer than SHARD_HOLD_MS_MAX; hits that are replaced even then are
 * left out. Attributes that change in place are the newest, and were together; a hit may have
 * been found by those of a moment before, when they change three times in three runs. Totals and
 * facets may count documents that changed while the query ran by what they were, by what they
 * are, or (replaced) not at all. */
int query_run_shown(struct query_engine *engine, const struct query_plan *plan,
                    const struct query_tuning *tuning, int64_t deadline_us,
                    const struct query_viewer *viewer, struct arena *arena,
                    struct query_result *result, struct err *err);

/* The words that each stage's text means in this shard, and how many documents have them: what
 * query_part.words is summed up from. words: one a stage. */
int query_count_words(struct query_engine *engine, const struct query_plan *plan,
                      struct arena *arena, struct query_words *words, struct err *err);

/* Why the document is (not) a hit of the stage, clause by clause, as lines of text and as a tree
 * for machines. */
struct explanation {
    bool holds;
    double value; /* its part of the score, the key, the count: what the text says */
    struct bytes text;
    const struct explanation *children;
    uint32_t count;
};
int query_explain(struct query_engine *engine, const struct query_plan *plan, uint32_t stage,
                  docid id, struct arena *arena, struct explanation *explanation, struct err *err);

/* The text with its words that the query means marked, cut to fragments. */
struct highlight_options {
    struct bytes before, after; /* "<b>", "</b>" */
    uint32_t fragment_size;     /* bytes of source, about; 0: the whole text */
    uint32_t fragment_count;    /* at most, in order, with "…" where text is left out; 0: one */
    bool escape_html;           /* & < > " ' of the source; else that is the caller's business */
};
int query_highlight(struct query_engine *engine, const struct query_text *text, struct bytes source,
                    const struct highlight_options *options, struct arena *arena,
                    struct bytes *marked, struct err *err);

#endif
