/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.h - the documents that changed last, and when: by numbers of changes, which ascend.
 *
 * Columns are newer than a reader's snapshot. Before it answers, a reader asks of each hit whether
 * it has changed since; "perhaps" is allowed, a missed change is not. A table of sets of four: a
 * set that forgets its oldest entry remembers how new that was.
 *
 * A change is of one of two kinds. Attributes change in place, under the same text. A document that
 * is replaced or removed gets another text as well, with the next snapshot.
 *
 * Threads: one writer notes, before the change can be seen; anybody asks, without locks.
 */
#ifndef TORG_INDEX_SHARD_RECENT_H
#define TORG_INDEX_SHARD_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "index/postings/window.h"

struct recent;

struct recent *recent_new(void);
void recent_free(struct recent *recent); /* NULL is fine */

/* The document changes now, by the change that has this number. */
void recent_note(struct recent *recent, docid id, uint64_t number, bool is_replaced);

/* Upper bounds of the numbers of its last change, and of its last replacement. */
struct recent_change {
    uint64_t changed, replaced;
};
struct recent_change recent_find(const struct recent *recent, docid id);

#endif
