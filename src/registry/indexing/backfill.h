/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backfill.h - how far stored documents have been poured into an epoch: a row per shard, moved by
 * the owner of the shard, under its fence, in the transaction that appends the elements.
 *
 * Pour 0 is that of an epoch which is built. Later ones pour all documents again, between two marks
 * in the topic (IndexPour), so that what lies before the first mark is needed by nobody:
 *
 *   backfill_begin_again ─► BEGIN sent ─► backfill_note_begin ─► chunks … is_done ─► all are sent
 *                           ─► END sent ─► backfill_note_end: the topic is whole from BEGIN on
 *
 * A crash between a mark and its note sends the mark again: no chunk is read before the first is
 * noted, and none is left when the second is sent.
 */
#ifndef TORG_REGISTRY_INDEXING_BACKFILL_H
#define TORG_REGISTRY_INDEXING_BACKFILL_H

#include "registry/clients/clients.h"
#include "store/store.h"

struct backfill {
    int64_t hash; /* all up to this one are in */
    bool is_done;
    bool is_numbered; /* its documents have the numbers of their ranks: indexer_rank.c */
    int64_t poured_count;
    int64_t refused_count;
    int64_t late_count; /* writes for other epochs that do not fit it */
    int64_t end_idx;    /* of the last element; 0: there is none */
    int64_t pour_no;
    bool is_whole; /* no mark is still to come */
    uint64_t mark_ticket;
    int64_t mark_offset;  /* of BEGIN; -1: not sent yet */
    int64_t whole_offset; /* from here on the topic has every document */
    int64_t whole_us;     /* since when; wall */
};

/* Which row. */
struct backfill_place {
    int64_t client_id;
    int64_t epoch;
    uint32_t shard;
};

/* Rows for all shards of the epoch's index, at their beginnings; and of the client's other epochs,
 * as far as they have none, at their ends: what does not fit them is counted from now on.
 * is_ranked: none is poured before its shard is numbered. */
int backfill_begin(struct store_tx *tx, const struct client_view *client, int64_t epoch,
                   uint32_t shard_count, bool is_ranked, struct err *err);
int backfill_find(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  struct backfill *backfill, bool *found, struct err *err);
/* ERR_STALE: it is not at from any more. */
int backfill_move(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                  int64_t from, const struct backfill *to, struct err *err);
/* The shard's documents have their numbers: they may be poured, from hash on. An indexer of an
 * older version, which does not wait for that, may have poured some or all: that begins anew, for
 * what was written since has waited for it. */
int backfill_note_numbered(struct store_tx *tx, const struct backfill_place *place, int64_t hash,
                           struct err *err);
/* The shards of the epoch that are not numbered yet, from first on, as bits; at most 64. */
int backfill_find_unnumbered(struct store_tx *tx, const struct backfill_place *first,
                             uint32_t shard_count, uint64_t *shards, struct err *err);
/* The first shard of the epoch that is not numbered, or not poured to its end; -1: none. */
int backfill_find_unpoured(struct store_tx *tx, int64_t client_id, int64_t epoch, int64_t *shard,
                           struct err *err);
/* The next pour begins, at the beginning. from: as backfill_find has told, empty if there was no
 * row. ERR_STALE: it is not so any more, as with the others. */
int backfill_begin_again(struct store_tx *tx, const struct backfill_place *place,
                         const struct backfill *from, int64_t hash, struct err *err);
int backfill_note_begin(struct store_tx *tx, const struct backfill_place *place, int64_t pour_no,
                        uint64_t ticket, uint64_t offset, struct err *err);
int backfill_note_end(struct store_tx *tx, const struct backfill_place *place, int64_t pour_no,
                      int64_t now_us, struct err *err);
/* Counts late ones; an epoch that is gone is fine. */
int backfill_add_late(struct store_tx *tx, int64_t client_id, int64_t epoch, uint32_t shard,
                      int64_t count, struct err *err);

/* How far the topic of the shard was seen to go; 0: never. A row of registry_offset, of a group
 * that is named after the epoch. */
int backfill_find_end(struct store_tx *tx, const struct backfill_place *place, int64_t *end,
                      struct err *err);
int backfill_note_topic(struct store_tx *tx, const struct backfill_place *place, int64_t end,
                        struct err *err);

#endif
