/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postings_block.h - what the files of the cursor need of the current block; private to them.
 *
 * The loaders set last, size, bounds, kind and the places of the packed parts, all checked to lie
 * inside their sections. Ids are unpacked when somebody asks, and are then known to ascend and to
 * lie above before and up to last.
 */
#ifndef TORG_INDEX_POSTINGS_POSTINGS_BLOCK_H
#define TORG_INDEX_POSTINGS_POSTINGS_BLOCK_H

#include "index/postings/postings.h"

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

/* Prepares postings->starts. */
int postings_starts(struct postings *postings, struct err *err);

/* ---- postings_list.c: a short list, or the rest of a long one ---- */

/* Ids and codes; few, so they are unpacked at once. offset: in POST. */
int postings_read_list(struct postings *postings, uint64_t offset, struct err *err);
/* Checks the occurrences and notes where they are; then starts and places can be read. */
int postings_open_list(struct postings *postings, struct err *err);
/* Distances and forms of the occurrences from..from + count - 1 of all. */
void postings_list_places(const struct postings *postings, uint32_t from, uint32_t count,
                          uint32_t *distances, uint32_t *forms);

#endif
