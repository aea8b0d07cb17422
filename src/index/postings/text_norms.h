/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_norms.h - length norms (BM25F): what an occurrence counts in a field of so many words,
 * compared with one of average length.
 *
 *     norm = 1 / (1 - b + b · length / average),   b = 0.75, as Lucene and Tantivy have it
 *
 * Averages are measured: sums of what lives, whatever the order in which it came. Shards of one
 * index add theirs up, so that all score by the same. Bounds of blocks are written into segments
 * and are made with other averages, frozen for the shard; who reads them widens them
 * (text_norms_excess).
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_NORMS_H
#define TORG_INDEX_POSTINGS_TEXT_NORMS_H

#include <stdint.h>

#include "index/postings/doc_lengths.h"

enum { TEXT_NORM_FIELD_COUNT = DOC_LENGTH_FIELD_COUNT };

struct text_norms {
    float of_length[TEXT_NORM_FIELD_COUNT][256]; /* by code (doc_lengths.h) */
};

/* How long the text fields of documents are, all together. */
struct text_lengths {
    uint64_t sums[TEXT_NORM_FIELD_COUNT];
    uint64_t counts[TEXT_NORM_FIELD_COUNT]; /* documents that have the field */
};

/* Lengths as doc_lengths_get packs them. */
void text_lengths_add(struct text_lengths *lengths, uint32_t packed);
void text_lengths_take(struct text_lengths *lengths, uint32_t packed);

/* 1 of a field that nobody has. */
void text_lengths_averages(const struct text_lengths *lengths,
                           float averages[TEXT_NORM_FIELD_COUNT]);

void text_norms_make(struct text_norms *norms, const float averages[TEXT_NORM_FIELD_COUNT]);

/* No norm by the one average is more than so many times that by the other. */
static inline float text_norms_excess(float average, float other)
{
    return average > other ? average / other : 1;
}

#endif
