/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_words.h - the texts of one document as postings: each term once, with where it stands.
 *
 * Text goes through analysis and the lexicon; words are then grouped by term in two passes over
 * arrays that are kept from document to document, so a document costs no allocation.
 *
 * Threads: one, the lexicon's writer.
 */
#ifndef TORG_INDEX_SHARD_DOC_WORDS_H
#define TORG_INDEX_SHARD_DOC_WORDS_H

#include "index/postings/text_buffer.h"
#include "index/text/lexicon.h"

struct doc_words;

struct doc_words *doc_words_new(void);
void doc_words_free(struct doc_words *words); /* NULL is fine */

void doc_words_begin(struct doc_words *words);

/* The text of the slot-th text field; slots ascend. New words enter the lexicon. */
int doc_words_add(struct doc_words *words, struct lexicon *lexicon, unsigned slot,
                  struct bytes text, struct err *err);

/* Valid until the next document. A field has at most 255 occurrences of a term: what follows is
 * not indexed. */
struct doc_postings {
    const struct buffer_posting *postings;
    size_t count;
    uint8_t lengths[SEGMENT_FIELD_COUNT]; /* coded: doc_lengths.h */
};
void doc_words_finish(struct doc_words *words, struct doc_postings *out);

#endif
