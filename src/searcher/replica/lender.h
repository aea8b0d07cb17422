/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lender.h - columns from outside for the shards of this process: the store says which there are,
 * the blob store has their files, and shards are lent them mapped.
 *
 *   outside_column (sql/0031) ──> rows in memory ──┬─> DIR/MARK.SHARD.column, fetched if missing
 *                                                  └─> shard_lend: x.NAME has values, or others
 *
 * Every shard of a client knows the names of all its columns, whatever numbers they were made from:
 * where they do not fit, nobody has a value, and a formula uses its default(). A file is fetched
 * whole, synced and renamed, and compared with its checksums whenever it is mapped: a kill leaves
 * the previous one. If a file cannot be fetched, the shard keeps what it had.
 *
 * Threads: a task of its own looks for changes once a second; a replica that opens its shard lends
 * it what there is, before anybody can ask.
 */
#ifndef TORG_SEARCHER_REPLICA_LENDER_H
#define TORG_SEARCHER_REPLICA_LENDER_H

#include "base/clock.h"
#include "blob/blob.h"
#include "index/shard/shard.h"
#include "store/store.h"

struct follower;
struct lender;

struct lender_options {
    struct store *store; /* borrowed, as all here */
    struct blob *blob;   /* NULL: nothing is fetched */
    const struct clock *clock;
    const char *dir; /* of the files; made when the first is fetched */
};

/* Reads what there is, so that shards that are opened next have it; without a store that answers,
 * it is read later. */
struct lender *lender_new(const struct lender_options *options);
/* Keeps the follower's shards as the store says, from now on. */
void lender_start(struct lender *lender, struct follower *follower);
/* The follower may stop then; NULL is fine. */
void lender_stop(struct lender *lender);
void lender_free(struct lender *lender); /* no replica is left; NULL is fine */

/* The shard of a client whose documents have the numbers T.S.V gets what there is for it. NULL does
 * nothing. */
void lender_serve(struct lender *lender, const char *client, const uint32_t numbers[3],
                  uint32_t shard_no, struct shard *shard);

#endif
