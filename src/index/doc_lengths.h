/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc_lengths.h - how long the text fields of each document are: a byte a field, by id.
 *
 * A length is exact up to 39, then rounded down to 4 significant bits, as Lucene and Tantivy do,
 * so that scores can be compared. Four bytes a document, field 0 lowest, in pages of one window.
 *
 * Threads: one writer; readers without locks, inside an epoch. A length is the newest one.
 */
#ifndef TORG_INDEX_DOC_LENGTHS_H
#define TORG_INDEX_DOC_LENGTHS_H

#include <stdatomic.h>

#include "index/window.h"

struct doc_lengths;

struct doc_lengths *doc_lengths_new(void);
void doc_lengths_free(struct doc_lengths *lengths); /* no reader inside; NULL is fine */

void doc_lengths_set(struct doc_lengths *lengths, docid id, uint32_t packed); /* writer */

/* WINDOW_SIZE lengths; all 0 for a window without documents. */
const _Atomic uint32_t *doc_lengths_page(const struct doc_lengths *lengths, uint32_t window);

uint64_t doc_lengths_size(const struct doc_lengths *lengths); /* bytes of memory */

uint8_t doc_length_code(uint32_t length);
uint32_t doc_length_value(uint8_t code); /* the least length with this code */

#endif
