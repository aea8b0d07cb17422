/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals.h - documents that a shard could not apply, on their way back to the registry.
 *
 *   applier_apply ─ cannot ─> refusals_add … refusals_send ══ index-refusals ══> the lane failed
 *
 * Those of a batch are sent, and durable, before the batch is published: once a shard is seen to be
 * past a change, either the document or its refusal can be found. They are sent again when a batch
 * is replayed; the registry knows them.
 *
 * Threads: the replica's own.
 */
#ifndef TORG_SEARCHER_REPLICA_REFUSALS_H
#define TORG_SEARCHER_REPLICA_REFUSALS_H

#include "base/arena.h"
#include "topic/topic.h"

struct refusals {
    struct topics *topics; /* borrowed, as the client's name */
    const char *client;
    int64_t epoch;
    uint32_t shard;
    struct topic_record *records; /* owned; what they have is the arena's */
    size_t count, capacity;
};

void refusals_release(struct refusals *refusals);

/* version and modify_us 0: the message could not be read. The arena lives until they are sent. */
void refusals_add(struct refusals *refusals, struct bytes pk, int64_t version, int64_t modify_us,
                  const char *reason, struct arena *arena);
/* All are durable when it returns 0; makes the topic if it is not there. */
int refusals_send(struct refusals *refusals, struct err *err);

#endif
