/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - writes of many requests, one transaction (group commit across connections).
 *
 * A request leaves its rows here and holds no thread; one task takes all that wait, writes them in
 * the order they came, and answers each when the transaction is durable. So a write costs a
 * statement and its share of a commit, not two changes of threads. When a transaction is refused,
 * not lost, each of its writes is tried by itself: one that the store will not have stops no other.
 *
 * Threads: any may submit; done is called on the committer's.
 */
#ifndef TORG_SNIPPETS_ROWS_COMMIT_H
#define TORG_SNIPPETS_ROWS_COMMIT_H

#include "base/clock.h"
#include "base/err.h"
#include "snippets/rows/cache.h"
#include "snippets/rows/rows.h"
#include "store/store.h"

struct snippet_committer;

struct snippet_write {
    struct snippet_part part; /* lives until done */
    /* Durable (0), or why not; the write is the callee's. */
    void (*done)(struct snippet_write *write, int rc, struct err *err);
    struct snippet_write *next; /* the committer's */
};

/* cache: borrowed, as the store; NULL is none. */
int snippet_committer_start(struct store *store, struct snippet_cache *cache,
                            const struct clock *clock, struct snippet_committer **committer,
                            struct err *err);
/* Writes what waits first; NULL is fine. */
void snippet_committer_stop(struct snippet_committer *committer);

/* ERR_UNAVAILABLE: SNIPPET_COMMIT_QUEUE_COUNT wait already; done is not called. */
int snippet_committer_submit(struct snippet_committer *committer, struct snippet_write *write,
                             struct err *err);

#endif
