/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.h - the documents that changed last, and in which publication.
 *
 * Columns are newer than a reader's snapshot. Before it answers, a reader asks of each hit whether
 * it has changed since; "perhaps" is allowed, a missed change is not. A table of sets of four:
 * a set forgets its oldest entry, so it can tell of everything newer than that.
 *
 * Threads: one writer notes, before the change can be seen; anybody asks, without locks.
 */
#ifndef TORG_INDEX_RECENT_H
#define TORG_INDEX_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "index/window.h"

struct recent;

struct recent *recent_new(void);
void recent_free(struct recent *recent); /* NULL is fine */

/* The document changes in the publication that will have this number. */
void recent_note(struct recent *recent, docid id, uint64_t sequence);

/* false: nothing of it was noted with a number above sequence. */
bool recent_changed(const struct recent *recent, docid id, uint64_t sequence);

#endif
