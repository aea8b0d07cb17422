/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_worker.h - runs the indexers of the shards that this process owns, of all clients.
 *
 * One thread looks for new clients and takes part in the ownership of their shards; a few others
 * run rounds, of whichever owned shard is due. A shard is worked on by one at a time.
 */
#ifndef TORG_REGISTRY_INDEXING_INDEXER_WORKER_H
#define TORG_REGISTRY_INDEXING_INDEXER_WORKER_H

#include "registry/indexing/indexer.h"
#include "registry/indexing/queue_bell.h"

struct indexer_worker;

/* base and bell (NULL: one of its own) are borrowed and live longer. */
struct indexer_worker *indexer_worker_start(const struct indexer_base *base, struct coord *coord,
                                            struct queue_bell *bell, unsigned thread_count);
/* Commits what was sent, and gives up the shards. NULL is fine. */
void indexer_worker_stop(struct indexer_worker *worker);

#endif
