/* SPDX-License-Identifier: Apache-2.0 */
/*
 * births.h - the generation that each number's owner was born in, in a byte or two a number.
 *
 * Numbers that lie together were mostly given together. So they are kept in blocks of 256: the
 * least birth of the block, and of each number how far it is above that, in as few bytes as the
 * farthest needs, from none to four. What a number had that nobody owns does not matter.
 */
#ifndef TORG_NUMERATOR_BIRTHS_H
#define TORG_NUMERATOR_BIRTHS_H

#include <stddef.h>
#include <stdint.h>

struct birth_block {
    uint8_t *above; /* owned; BIRTH_BLOCK_COUNT of `width` bytes; NULL with none */
    uint32_t base;
    uint32_t width; /* BIRTH_WIDTH_NONE: none of its numbers has a birth yet */
};

struct births {
    struct birth_block *blocks; /* owned */
    size_t count, capacity;
};

void births_release(struct births *births);
void births_set(struct births *births, uint32_t doc_id, uint32_t birth);
/* Of a number that has one. */
uint32_t births_get(const struct births *births, uint32_t doc_id);
/* Fetches into the caches what births_get will read. */
void births_warm(const struct births *births, uint32_t doc_id);
/* Bytes of memory. */
size_t births_size(const struct births *births);

#endif
