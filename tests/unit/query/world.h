/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - random documents in a shard, and the same documents in plain arrays beside it.
 *
 * Every change goes to both. Text is kept as words with their positions, other values as numbers
 * or sets of names, so that the naive evaluators need nothing of the index but analysis.h.
 */
#ifndef TORG_TESTS_UNIT_QUERY_WORLD_H
#define TORG_TESTS_UNIT_QUERY_WORLD_H

#include "base/random.h"
#include "index/shard/shard.h"

enum {
    WORLD_DOC_MAX = 512, /* slots: documents there may be */
    WORLD_FIELD_MAX = 16,
    WORLD_TEXT_COUNT = 2,
    WORLD_WORD_MAX = 24, /* of one text */
    WORLD_FORM_MAX = 128,
};

enum world_field {
    WORLD_TITLE,
    WORLD_BODY,
    WORLD_BRAND,  /* keyword */
    WORLD_TAGS,   /* keywords, few: a mask */
    WORLD_LABELS, /* keywords, many: lists */
    WORLD_PRICE,  /* integer */
    WORLD_WEIGHT, /* decimal of two digits */
    WORLD_DATE,
    WORLD_SOLD,    /* boolean */
    WORLD_PLACE,   /* category */
    WORLD_SHELVES, /* categories */
    WORLD_POINT,   /* geo */
    WORLD_NOTE,    /* stored */
    WORLD_COLOR,   /* keyword; comes later */
    WORLD_SIZE,    /* integer; comes later */
    WORLD_FIELD_COUNT,
};

struct world_word {
    uint32_t form; /* of the vocabulary */
    uint32_t field;
    uint32_t position;
};

struct world_doc {
    bool lives;
    int64_t expires_at;
    int64_t numbers[WORLD_FIELD_COUNT]; /* COLUMN_NULL: none; geo packed */
    uint64_t names[WORLD_FIELD_COUNT];  /* bits of world_names */
    struct world_word words[WORLD_TEXT_COUNT * WORLD_WORD_MAX];
    uint32_t word_count;
    uint32_t lengths[WORLD_TEXT_COUNT];
};

struct world_form {
    const char *text;
    uint32_t stem; /* number of the first form with the same stem */
    bool known;    /* was in a document once: expansions find it */
};

struct world {
    struct rng rng;
    struct shard *shard;
    struct analysis *analysis;
    uint32_t field_count; /* of enum world_field that the schema has */
    struct world_form forms[WORLD_FORM_MAX];
    uint32_t form_count;
    struct world_doc *docs; /* by slot */
    int64_t now;
    uint64_t offset;
};

const char *world_field_name(uint32_t field);
const struct field *world_field_spec(uint32_t field);
/* Names of a keyword or category field; *count is at most 62. */
const char *const *world_names(uint32_t field, uint32_t *count);

/* options->average_lengths are set here. */
void world_open(struct world *world, struct rng rng, struct shard_options *options);
void world_close(struct world *world);

/* One random put, change, removal, expiry or growth of the schema, in both. */
void world_step(struct world *world);
/* Puts a living document once more, as it is: nothing may be seen of it. */
void world_rewrite(struct world *world, struct rng *rng);
void world_publish(struct world *world);

/* Documents are kept by slot; their ids are crowded around the edges of four windows. Ascending. */
docid world_id(uint32_t slot);
uint32_t world_slot(docid id);
uint32_t world_random_slot(struct rng *rng);
/* The form's number, or form_count. */
uint32_t world_find_form(const struct world *world, struct bytes text);

#endif
