/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docset.h - the documents a segment is written for: ids ascending, the lengths of their fields.
 *
 * Filled in the order of ids, then asked for the lengths of any of them in constant time: a page
 * a window that has documents, with a bitmap and the rank of each of its words.
 */
#ifndef TORG_INDEX_POSTINGS_DOCSET_H
#define TORG_INDEX_POSTINGS_DOCSET_H

#include <stddef.h>

#include "index/postings/text_segment.h"

struct docset_page {
    struct window_bits bits;
    uint16_t ranks[WINDOW_WORDS]; /* documents of the page before each word that has any */
    uint32_t window;
    uint32_t before; /* documents of all pages before */
    uint32_t count;
};

struct docset {
    docid first, last;
    uint32_t count;
    uint8_t (*lengths)[SEGMENT_FIELD_COUNT]; /* in the order of ids; owned */
    size_t lengths_capacity;
    struct docset_page *pages; /* owned */
    uint32_t page_count, page_capacity;
    uint32_t *page_of; /* window - window of first → page + 1, 0 when there is none; owned */
    size_t page_of_capacity;
};

void docset_release(struct docset *set); /* a zeroed one is empty and valid */

/* id is above all that are in. */
void docset_add(struct docset *set, docid id, const uint8_t lengths[SEGMENT_FIELD_COUNT]);
/* The lengths of a document; NULL when it is not in the set. */
const uint8_t *docset_lengths(const struct docset *set, docid id);

#endif
