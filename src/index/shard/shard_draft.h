/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_draft.h - what a document or a change becomes before it is applied: values checked,
 * keywords numbered, words looked up, texts stored. Private to shard*.c, all of it under the lock,
 * except draft_check.
 *
 * Nothing of a draft can be seen. One that is given up leaves unused words and a dead record
 * behind; its lists of values are given back.
 */
#ifndef TORG_INDEX_SHARD_SHARD_DRAFT_H
#define TORG_INDEX_SHARD_SHARD_DRAFT_H

#include "index/shard/shard_parts.h"

struct draft {
    struct column_change *changes; /* of the columns; the shard's, as are the texts */
    uint32_t change_count;
    const struct shard_value **texts; /* to be stored, by field */
    uint32_t text_count;
};

/* An empty one; there is one at a time. */
struct draft draft_begin(struct shard *shard);

/* Whether the values can be of a document; with_text: texts may be among them. */
int draft_check(const struct shard *shard, const struct shard_value *values, uint32_t count,
                bool with_text, struct err *err);

/* ERR_LIMIT: more than STORED_VALUE_COUNT_MAX. */
int draft_gather_texts(const struct shard *shard, const struct shard_value *values, uint32_t count,
                       struct draft *draft, struct err *err);
int draft_find_words(struct shard *shard, const struct draft *draft, struct doc_postings *postings,
                     struct err *err);

/* Stores the texts of the draft; *place: COLUMN_NULL when there are none. */
int draft_store_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                      struct err *err);
/* The same, with the texts in the place of those that the document had last. */
int draft_change_texts(struct shard *shard, docid id, const struct draft *draft, int64_t *place,
                       struct err *err);

/* Values of columns; when it fails there are none. */
int draft_make_changes(struct shard *shard, const struct shard_value *values, uint32_t count,
                       struct draft *draft, struct err *err);
/* Also the fields that the columns have of the document, and it no longer has. */
void draft_add_nulls(struct shard *shard, docid id, struct draft *draft);

/* Gives back the lists of values that no document will have. */
void draft_drop_change(struct shard *shard, const struct column_change *change);
void draft_drop_changes(struct shard *shard, struct draft *draft);

#endif
