/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_model.h - the naive shard that the real one is compared with: an array of documents.
 *
 * A topic is a seed: the operation at an offset is always the same, so it can be replayed from any
 * offset. It grows the schema, puts, changes and removes documents, sets their ends and moves the
 * time.
 */
#ifndef TORG_TESTS_UNIT_INDEX_SHARD_MODEL_H
#define TORG_TESTS_UNIT_INDEX_SHARD_MODEL_H

#include "base/random.h"
#include "index/shard/shard.h"

enum {
    MODEL_DOC_COUNT = 1500, /* different ids, over several windows */
    MODEL_WORD_COUNT = 60,
    MODEL_TITLE_MAX = 6,
    MODEL_BODY_MAX = 40,
    MODEL_TAG_COUNT = 90,  /* kept as lists */
    MODEL_MARK_COUNT = 20, /* kept as a mask */
};

enum model_field {
    MODEL_TITLE,
    MODEL_BODY,
    MODEL_URL,
    MODEL_BRAND,
    MODEL_TAGS,
    MODEL_MARKS,
    MODEL_PRICE,
    MODEL_FLAG,
    MODEL_PLACE,
    MODEL_CATEGORY,
    MODEL_DATE,
    MODEL_FIELD_COUNT,
};

enum op_kind { OP_FIELD, OP_PUT, OP_CHANGE, OP_REMOVE, OP_SET_EXPIRY, OP_EXPIRE };

struct shard_doc {
    bool alive;
    bool has[MODEL_FIELD_COUNT];
    uint8_t title[MODEL_TITLE_MAX], body[MODEL_BODY_MAX]; /* words */
    uint32_t title_count, body_count;
    uint32_t url, brand, category;
    uint64_t tags[2]; /* bits */
    uint64_t marks;
    int64_t price, date, flag;
    int32_t lat, lon;
    int64_t expires_at;
};

struct op {
    enum op_kind kind;
    enum model_field field; /* OP_FIELD */
    uint32_t doc;           /* index of the document */
    struct shard_doc value; /* OP_PUT: all; OP_CHANGE: those that `has`, absent if `gone` */
    bool gone[MODEL_FIELD_COUNT];
    int64_t now; /* OP_EXPIRE */
};

struct shard_model {
    uint32_t field_count; /* known so far */
    struct shard_doc docs[MODEL_DOC_COUNT];
};

docid model_id(uint32_t doc);

void op_make(uint64_t seed, uint64_t offset, struct op *op);
void op_apply(struct shard *shard, const struct op *op); /* asserts that it succeeds or may fail */
void model_apply(struct shard_model *model, const struct op *op);

const char *model_word(uint32_t word);

/* Asserts that text and existence of the snapshot are the model's, and with attributes also
 * columns and stored fields. */
void model_check(const struct shard_model *model, const struct shard *shard,
                 const struct snapshot *snapshot, bool with_attributes);

#endif
