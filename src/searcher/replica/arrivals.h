/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - when the newest changes of a shard were sent to it, and shown: for traces.
 *
 * A table of fixed size by number; a newer document replaces another. Documents that are not in it
 * are no longer known, or never were.
 *
 * Threads: the apply thread writes, any reads.
 */
#ifndef TORG_SEARCHER_REPLICA_ARRIVALS_H
#define TORG_SEARCHER_REPLICA_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

struct arrivals;

struct arrivals *arrivals_new(void);
void arrivals_free(struct arrivals *arrivals); /* NULL is fine */

/* A change of the document came, sent then. */
void arrivals_note(struct arrivals *arrivals, uint32_t doc_id, int64_t sent_us);
/* All that was noted before is shown now. */
void arrivals_show(struct arrivals *arrivals, int64_t now_us);
/* False: not known. *shown_us 0: not shown yet. */
bool arrivals_find(struct arrivals *arrivals, uint32_t doc_id, int64_t *sent_us, int64_t *shown_us);

#endif
