/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backfill.h - how far stored documents have been poured into an epoch that is built: a row a
 * shard, moved by the owner of the shard, under its fence, in the transaction that appends the
 * elements.
 */
#ifndef TORG_REGISTRY_INDEXING_BACKFILL_H
#define TORG_REGISTRY_INDEXING_BACKFILL_H

#include "registry/clients/clients.h"
#include "store/store.h"

struct backfill {
    int64_t hash; /* all up to this one are in */
    bool is_done;
    int64_t poured_count;
    int64_t refused_count;
    int64_t late_count; /* writes for other epochs that do not fit it */
    int64_t end_idx;    /* of the last element; 0: there is none */
};

/* Rows for all shards, at their beginnings; and of the client's other epochs, as far as they have
 * none, at their ends: what does not fit them is counted from now on. */
int backfill_begin(struct store_tx *tx, const struct client_view *client, int64_t epoch,
                   struct err *err);
int backfill_find(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  struct backfill *backfill, bool *found, struct err *err);
/* ERR_STALE: it is not at from any more. */
int backfill_move(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  int64_t from, const struct backfill *to, struct err *err);
/* Counts late ones; an epoch that is gone is fine. */
int backfill_add_late(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                      int64_t count, struct err *err);

#endif
