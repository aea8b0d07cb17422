/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - which ids of a segment (or of the shard) are alive: immutable versions of a big bit set,
 * by copy on write.
 *
 * A version is two levels: root -> leaf of 512 windows -> page of 4096 bits, where a page may be
 * the word ALL or NONE. The one writer changes a draft, copying what a version shares (one page of
 * 576 bytes and one leaf of 4 KB for a change far from others; a batch copies each once), commits
 * it into a version, publishes that together with whatever else belongs to its snapshot, and then
 * retires what no newer version uses. Ids past the table have the value the set was born with.
 *
 * Threads: one writer; readers use the versions they find inside an epoch, without locks.
 */
#ifndef TORG_INDEX_SHARD_LIVE_H
#define TORG_INDEX_SHARD_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/object.h"
#include "index/epoch.h"
#include "index/postings/window.h"

enum { LIVE_LEAF_SHIFT = 9, LIVE_LEAF_SIZE = 1 << LIVE_LEAF_SHIFT };

struct live_page {
    struct window_bits bits;
    uint64_t batch; /* of the writer: made in the draft, so it may be changed in place */
    uint32_t count; /* bits that are set: 1 to 4095 */
};

struct live_leaf {
    const struct live_page *pages[LIVE_LEAF_SIZE]; /* LIVE_ALL, LIVE_NONE or owned by versions */
    uint64_t batch;
};

enum { LIVE_MAGIC = OBJECT_MAGIC('l', 'i', 'v', 'e') };

/* One immutable version. */
struct live {
    uint32_t magic;
    uint64_t batch;
    int64_t count_delta; /* bits set, minus those of the state at birth */
    bool rest;           /* the value of ids past the leaves, and of leaves that are NULL */
    uint32_t leaf_count;
    const struct live_leaf *leaves[];
};

extern const struct live_page live_page_all;
#define LIVE_ALL (&live_page_all)
#define LIVE_NONE ((const struct live_page *)NULL)

static inline const struct live_page *live_page(const struct live *live, uint32_t window)
{
    uint32_t leaf = window >> LIVE_LEAF_SHIFT;

    if (leaf >= live->leaf_count || !live->leaves[leaf])
        return live->rest ? LIVE_ALL : LIVE_NONE;
    return live->leaves[leaf]->pages[window & (LIVE_LEAF_SIZE - 1)];
}

static inline bool live_has(const struct live *live, docid id)
{
    const struct live_page *page = live_page(live, window_of(id));

    return page && window_test(&page->bits, id & (WINDOW_SIZE - 1));
}

/* bits &= the window's live bits; false when nothing can be left. */
bool live_mask(const struct live *live, uint32_t window, struct window_bits *bits);

struct live_writer;

/* All ids dead, or all alive. The epoch is borrowed. */
struct live_writer *live_writer_new(struct epoch *epoch, bool all);

/* Frees the set with its last version: no reader may hold one. NULL is fine. */
void live_writer_free(struct live_writer *writer);

/* Changes the draft; true when the bit was different. */
bool live_put(struct live_writer *writer, docid id, bool alive);
bool live_draft_has(const struct live_writer *writer, docid id);

/* The draft as a version; the same one as before when nothing has changed. */
const struct live *live_commit(struct live_writer *writer);

/* Gives what older versions alone use to the epoch. Call after the newest version was published:
 * no reader that enters from now on may find an older one. */
void live_retire(struct live_writer *writer);

#endif
