/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings_block.h - what postings.c needs of the block at hand; private to the cursor.
 *
 * The loaders set last, size, bounds, kind and the places of the packed parts, all checked to lie
 * inside their sections. Ids are unpacked when somebody asks, and are then known to ascend and to
 * lie above before and up to last.
 */
#ifndef TORG_INDEX_POSTINGS_BLOCK_H
#define TORG_INDEX_POSTINGS_BLOCK_H

#include "index/postings.h"

/* The lowest id that the block at hand may have. */
static inline docid block_low(const struct postings *postings)
{
    return postings->before + 1;
}

int postings_damaged(const struct postings *postings, const char *what, struct err *err);

int postings_load_inline(struct postings *postings, struct err *err);
int postings_load_short(struct postings *postings, struct err *err);
int postings_load_block(struct postings *postings, const uint8_t *dir, struct err *err);

/* Of a narrow block: ids - before - 1. */
int postings_ids16(struct postings *postings, const uint16_t **ids, struct err *err);
/* Of a block of bits. */
int postings_fill_bits(struct postings *postings, docid first, docid end, struct window_bits *bits,
                       struct err *err);
/* Prepares postings->ranks. */
int postings_ranks(struct postings *postings, struct err *err);

#endif
