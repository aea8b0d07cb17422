/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_lengths.h - how long the text fields of each document are: one byte per field, by id.
 *
 * A length is exact up to 39, then rounded down to 4 significant bits, as Lucene and Tantivy do,
 * so that scores can be compared. Fields lie apart: who scores one field reads a byte a document,
 * and a cache line has 64 of them.
 *
 * Threads: one writer; readers without locks, inside an epoch. A length is the newest one, of each
 * field for itself.
 */
#ifndef TORG_INDEX_POSTINGS_DOC_LENGTHS_H
#define TORG_INDEX_POSTINGS_DOC_LENGTHS_H

#include <stdatomic.h>

#include "index/postings/window.h"

enum { DOC_LENGTH_FIELD_COUNT = 4, DOC_LENGTH_ALL = (1 << DOC_LENGTH_FIELD_COUNT) - 1 };

struct doc_lengths;

struct doc_lengths *doc_lengths_new(void);
void doc_lengths_free(struct doc_lengths *lengths); /* no reader inside; NULL is fine */

void doc_lengths_set(struct doc_lengths *lengths, docid id, uint32_t packed); /* writer */

/* Of the fields in the mask, packed, field 0 lowest; 0 of who was never set. */
uint32_t doc_lengths_get(const struct doc_lengths *lengths, unsigned mask, docid id);
/* One field of many documents, ascending. */
void doc_lengths_gather(const struct doc_lengths *lengths, unsigned field, const docid *ids,
                        uint32_t count, uint8_t *out);

/* No document from first to last has less of the field, unless none of it. */
uint8_t doc_lengths_least(const struct doc_lengths *lengths, unsigned field, docid first,
                          docid last);

uint64_t doc_lengths_size(const struct doc_lengths *lengths); /* bytes of memory */

uint8_t doc_length_code(uint32_t length);
uint32_t doc_length_value(uint8_t code); /* the least length with this code */

#endif
