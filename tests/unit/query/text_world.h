/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_world.h - random documents in a shard and in a plain array, and queries whose meaning is
 * known because they were made from it.
 *
 * A query is made as leaves (which words, how tied, in which fields); the text of its clauses is
 * written from them, so the engine's way from text to leaves is tested too. Documents are kept as
 * tokens; a leaf is evaluated by looking at all of them, in double precision.
 */
#ifndef TORG_TESTS_UNIT_QUERY_TEXT_WORLD_H
#define TORG_TESTS_UNIT_QUERY_TEXT_WORLD_H

#include "base/random.h"
#include "query/text/text_plan.h"

enum { WORLD_ID_MAX = 5 * WINDOW_SIZE, WORLD_LEAF_MAX = 16, WORLD_SLOT_MAX = 4 };

struct world_token {
    termid term;
    uint32_t form;
    uint32_t position;
    uint8_t field;
};

struct world_doc {
    bool lives;
    struct world_token *tokens; /* owned */
    uint32_t count;
};

struct world {
    struct shard *shard;
    struct shard_reader *reader;
    struct analysis *analysis;
    const struct snapshot *snapshot; /* while inside */
    struct world_doc docs[WORLD_ID_MAX];
    uint64_t offset;
};

/* What a clause means. */
enum world_kind { WORLD_WORD, WORLD_PHRASE, WORLD_TIED, WORLD_PREFIX, WORLD_FUZZY };

struct world_leaf {
    uint8_t occur, fields;
    enum world_kind kind;
    bool exact; /* forms, not terms */
    float boost;
    uint32_t count;
    char forms[WORLD_SLOT_MAX][48]; /* TIED: the whole, then its parts */
};

struct world_query {
    struct world_leaf leaves[WORLD_LEAF_MAX];
    uint32_t leaf_count;
    struct text_clause clauses[WORLD_LEAF_MAX];
    char texts[WORLD_LEAF_MAX][256];
    struct query_text text;
};

struct world *world_new(void);
void world_free(struct world *world);
/* Puts, replaces and removes; freezes and merges now and then. */
void world_change(struct world *world, struct rng *rng, uint32_t changes, bool work);
void world_enter(struct world *world);
void world_exit(struct world *world);

void world_ask(struct rng *rng, struct world_query *query);
/* Whether the document matches; its score by the plan's N and df. */
bool world_match(const struct world *world, const struct world_query *query,
                 const struct text_plan *plan, docid id, double *score);

#endif
