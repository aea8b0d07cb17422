/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_segment_codes.h - a code for each combination of term frequencies: the more common, the
 * smaller.
 *
 * Four in five postings have the same one (once, in the text), so it gets code 0 and packs into no
 * bits at all. Counted first, then ranked, then asked; equal counts rank by the set itself, so the
 * order of counting does not matter.
 */
#ifndef TORG_INDEX_POSTINGS_TEXT_SEGMENT_CODES_H
#define TORG_INDEX_POSTINGS_TEXT_SEGMENT_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct codes_slot {
    uint32_t tfs; /* 0: free */
    uint32_t code;
    uint64_t count;
};

struct codes {
    struct codes_slot *slots; /* open addressing, a power of two; owned */
    uint32_t slot_count, used;
    uint32_t *ranked; /* tfs by code; owned */
    uint32_t ranked_count;
};

void codes_init(struct codes *codes);
void codes_release(struct codes *codes);
void codes_count(struct codes *codes, uint32_t tfs, uint64_t count);
void codes_rank(struct codes *codes);
/* The code of a set that was counted. */
uint32_t codes_get(const struct codes *codes, uint32_t tfs);
/* How often each code was counted; the caller frees it. */
uint64_t *codes_counts(const struct codes *codes);
/* The section CODES, made in scratch. */
struct bytes codes_table(const struct codes *codes, struct buf *scratch);

#endif
