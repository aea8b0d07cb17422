/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_writer.h - makes a segment from sorted postings.
 *
 * In four steps, each in ascending order: the documents; how often each set of frequencies occurs
 * (any order), because codes are given by rank of frequency; then term by term the postings; then
 * the end. The bytes depend on nothing but what was put in, so two writers that were given the
 * same make the same segment. Keeps its first failure for text_segment_writer_finish.
 *
 * Memory: 4 bytes a document, 8 a term, 16 a block, one block at work; with a path the postings
 * and positions are in files. Threads: one.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_WRITER_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_WRITER_H

#include "index/postings/postings.h"
#include "index/postings/text_norms.h"
#include "index/postings/text_segment.h"

struct text_segment_writer;

/* path NULL: an image in memory. info's first five fields are used; norms is borrowed:
 * bounds of blocks are made by it, so it is the same for all segments of a shard. */
struct text_segment_writer *text_segment_writer_new(const struct text_segment_info *info,
                                                    const struct text_norms *norms,
                                                    const char *path);
void text_segment_writer_free(struct text_segment_writer *writer);

void text_segment_writer_doc(struct text_segment_writer *writer, docid id,
                             const uint8_t lengths[SEGMENT_FIELD_COUNT]);

/* tfs: as text_segment_tfs gives them; at least one is not 0. */
void text_segment_writer_count(struct text_segment_writer *writer, uint32_t tfs, uint64_t count);

void text_segment_writer_term(struct text_segment_writer *writer, uint32_t term);
/* A document of the term, with as many occurrences as tfs add up to: by field, positions
 * ascending inside a field. The document and the tfs were announced before. */
void text_segment_writer_posting(struct text_segment_writer *writer, docid id, uint32_t tfs,
                                 const struct occurrence *occurrences);

/* Postings of one term in a row, their occurrences in flat arrays: what freezing and merging have
 * at hand. */
struct posting_run {
    const docid *ids;
    const uint32_t *tfs;
    const uint32_t *distances; /* of a position from the one before it in the field, or from 0 */
    const uint32_t *forms;
    uint32_t count; /* of postings */
};

/* As text_segment_writer_posting for each of them. */
void text_segment_writer_run(struct text_segment_writer *writer, const struct posting_run *run);

/* Opens what was written. */
int text_segment_writer_finish(struct text_segment_writer *writer, struct text_segment **segment,
                               struct err *err);

#endif
