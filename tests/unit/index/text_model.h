/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_model.h - the naive text index that segments are compared with: a sorted array.
 *
 * Every posting is a row (term, id, frequencies, occurrences); a segment is right when its
 * cursors tell the same rows. Random rows come from a seed that is printed.
 */
#ifndef TORG_TESTS_UNIT_INDEX_TEXT_MODEL_H
#define TORG_TESTS_UNIT_INDEX_TEXT_MODEL_H

#include "base/random.h"
#include "index/postings/text_segment_writer.h"

struct model_doc {
    docid id;
    uint8_t lengths[SEGMENT_FIELD_COUNT];
};

struct model_row {
    uint32_t term;
    docid id;
    uint32_t tfs;
    uint32_t first; /* of occurrences */
};

struct model {
    struct model_doc *docs;
    size_t doc_count, doc_capacity;
    struct model_row *rows;
    size_t row_count, row_capacity;
    struct occurrence *occurrences;
    size_t occurrence_count, occurrence_capacity;
};

struct rng model_seed(void); /* TORG_SEED or a new one; prints it */

void model_release(struct model *model);
void model_add_doc(struct model *model, struct rng *rng, docid id);
/* A posting with random frequencies and occurrences, mostly small ones. */
void model_add_row(struct model *model, struct rng *rng, uint32_t term, docid id);
/* The same document or posting in another model. */
void model_copy_doc(struct model *model, const struct model_doc *doc);
void model_copy_row(struct model *model, const struct model *from, const struct model_row *row);
void model_sort(struct model *model);

const struct text_norms *model_norms(void);

/* path NULL: an image. */
struct text_segment *model_write(const struct model *model, const char *path);
/* Asserts that the segment has exactly the model's content, read in every way a cursor has. */
void model_compare(const struct model *model, const struct text_segment *segment, struct rng *rng);

#endif
