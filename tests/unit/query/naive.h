/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive.h - what a query means, computed twice without an index.
 *
 * naive_docs.c looks at one document after the other and asks each clause and filter about it.
 * naive_sets.c computes sets of documents from values and words, and combines sets. Both follow
 * query.h and share nothing but the documents; a test first compares them with each other.
 */
#ifndef TORG_TESTS_UNIT_QUERY_NAIVE_H
#define TORG_TESTS_UNIT_QUERY_NAIVE_H

#include "query/text/text_plan.h"
#include "world.h"

struct naive_answer {
    bool hits[WORLD_DOC_MAX]; /* by slot */
    uint64_t total;
    struct facet_answer facets[16];
};

/* Everything of the answers is in the arena. */
void naive_by_docs(const struct world *world, const struct query_plan *plan,
                   const struct query_stage *stage, struct arena *arena,
                   struct naive_answer *answer);
void naive_by_sets(const struct world *world, const struct query_plan *plan,
                   const struct query_stage *stage, struct arena *arena,
                   struct naive_answer *answer);

/* A text, and for each clause the edits to each stem that it may mean (NAIVE_FAR: it does not). */
enum { NAIVE_FAR = 100 };
struct naive_text {
    const struct query_text *text;
    const uint8_t (*distances)[WORLD_FORM_MAX];
};
struct naive_text naive_text(const struct world *world, const struct query_text *text,
                             struct arena *arena);

/* The score with the engine's own N and df. */
double naive_score(const struct world *world, const struct lexicon *lexicon,
                   const struct text_stats *stats, const struct naive_text *text, docid id);

/* The words of a clause, as forms of the vocabulary; false when one is not in it. */
enum { NAIVE_WORDS_MAX = 8 };
bool naive_words(const struct world *world, struct bytes text, uint32_t forms[NAIVE_WORDS_MAX],
                 uint32_t *count);
uint32_t naive_field(const struct world *world, struct bytes name);

/* Optimal string alignment of letters; more than max is max + 1. */
unsigned naive_edits(struct bytes a, struct bytes b, unsigned max);

#endif
