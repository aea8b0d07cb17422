/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h - the bounds of query/, each with its reason; docs/limits.md has those of all. */
#ifndef TORG_QUERY_BOUNDS_H
#define TORG_QUERY_BOUNDS_H

enum {
    QUERY_STAGE_COUNT_MAX = 8,             /* of one request */
    QUERY_FILTER_DEPTH_MAX = 16,           /* and, or, not inside each other */
    QUERY_FILTER_COUNT_MAX = 1024,         /* nodes of a filter */
    QUERY_FILTER_VALUE_COUNT_MAX = 4096,   /* values of one "in" */
    QUERY_FILTER_NAME_COUNT_MAX = 1 << 16, /* combinations of values whose answer is remembered */
    FILTER_TEXT_SIZE_MAX = 8 << 10,        /* of a filter that is typed; as of a line */
    FILTER_TEXT_DEPTH_MAX = 16,            /* brackets in each other: bounds recursion */
    FILTER_TEXT_CONDITION_COUNT_MAX = 256, /* of it: each is up to four filters */
    QUERY_FACET_COUNT_MAX = 64,            /* of one stage */
    QUERY_FACET_BOUND_COUNT_MAX = 33,      /* 32 ranges */
    QUERY_FACET_VALUE_COUNT_MAX = 10000,   /* values of one facet that are answered */
    QUERY_FACET_PART_COUNT_MAX = 65536,    /* of one shard, to be merged with others' */
    QUERY_FACET_NAME_COUNT_MAX = 1 << 18, /* combinations of values counted by name: 1 MB a facet */
    QUERY_HIT_COUNT_MAX = 10000,          /* offset and limit together: go on by the cursor */
    QUERY_FORMULA_SIZE_MAX = 2048,        /* bytes */
    QUERY_FORMULA_STEP_COUNT_MAX = 256,   /* operations of one formula */
    QUERY_FORMULA_DEPTH_MAX = 32,         /* values at hand at once, and brackets */
    QUERY_RERANK_COUNT_MAX = 10000,
    QUERY_CAP_COLLECT_MAX = 1 << 20,     /* hits looked at to fill a page under a cap: 48 MB */
    QUERY_CURSOR_SIZE_MAX = 1 << 20,     /* two places of 64 shards, of four keywords of 1 KB each,
                                            always fit; with words that fit beside them */
    QUERY_CURSOR_TEXT_SIZE_MAX = 400,    /* of a corrected line: as SEARCH_TEXT_SIZE_MAX */
    QUERY_CURSOR_PLACE_COUNT_MAX = 2048, /* two a shard: as SEARCHER_SHARD_COUNT_MAX */
    QUERY_CURSOR_WORD_COUNT_MAX = 32 << 10, /* of 24 bytes each when they are read: 768 KB */
    QUERY_SHOWN_NAME_COUNT_MAX = 1024,      /* fields that are asked for by name */
    QUERY_SHOWN_SIZE_MAX = 32 << 20,        /* fields of all hits of an answer; a reply has 64 MB */
    QUERY_HASHED_SIZE_MAX = 16 << 20,       /* of a query, laid out for its hash */
    QUERY_MEMORY_KEPT_MAX = 1 << 20,        /* from one query of a thread to its next */

    /* ---- text ---- */
    QUERY_TEXT_SIZE_MAX = 8 << 10,    /* of one clause or line: nobody types more */
    QUERY_TEXT_CLAUSE_COUNT_MAX = 64, /* words and phrases; each is looked at for each document */
    QUERY_TEXT_ALSO_COUNT_MAX = 32,   /* synonyms of one clause: each is one more list to read */
    QUERY_TEXT_WORD_COUNT_MAX = 4096, /* with all that prefixes and misspelt words may mean */
    QUERY_LETTER_WORD_COUNT = 64,     /* that "x*" stands for in a line, the most frequent */
    TEXT_SPARSE_SPAN = 512,           /* a list of fewer than one in so many ids goes by ids */
    HIGHLIGHT_SOURCE_SIZE_MAX = 1 << 20, /* as ANALYSIS_TEXT_SIZE_MAX */
    HIGHLIGHT_FRAGMENT_COUNT_MAX = 32,
    HIGHLIGHT_SIGN_SIZE_MAX = 64, /* bytes put before and behind a word: a tag with a class */
    HIGHLIGHT_MARK_COUNT_MAX =
        4096, /* words marked in one text, 0.5 MB of signs; nobody sees more */
    HIGHLIGHT_TRIED_COUNT_MAX = 200, /* fragments weighed for one: a text may be marked all over */
};

#endif
