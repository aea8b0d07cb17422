/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h - what an answer has seen, for the caller's next request: replicas are not equally far,
 * and nobody should see an offer come, go and come again (monotonic reads).
 *
 *     1 | varint client id | varint epoch | varint count | varint index-topic offset of each shard
 *     2 | the same | varint of each shard: how far its attributes were ahead of that offset
 *
 * Replicas of a shard read the same topic, so its offsets compare them. There are two of each, as
 * attributes change before the publication of their batch (struct shard_seen); the first form is
 * for when they are the same, as they mostly are. It is no secret and proves nothing: a made-up one
 * is waited for until the deadline, at its sender's expense.
 */
#ifndef TORG_SEARCHER_FRONT_SEEN_H
#define TORG_SEARCHER_FRONT_SEEN_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct seen {
    int64_t client_id;
    int64_t epoch;
    uint32_t shard_count;
    uint64_t *offsets; /* by shard; 0: it is not known */
    uint64_t *applied; /* by shard: attributes were that far; not below its offset */
};

struct bytes seen_encode(const struct seen *seen, struct arena *arena);
/* ERR_INVALID: it is none of ours. */
int seen_decode(struct bytes binary, struct arena *arena, struct seen *seen, struct err *err);

#endif
