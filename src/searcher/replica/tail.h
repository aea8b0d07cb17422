/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail.h - the messages without which a checkpoint is not whole, kept next to it.
 *
 * A checkpoint that is written while messages are applied is whole only once those that came
 * meanwhile are replayed (shard.h: from shard_offset to shard_serve_from). Usually the topic has
 * them. If it has dropped them, a searcher that was killed takes them from here, and has an old
 * state to serve.
 *
 *     "tail" | varint offset | varint end | for each: varint time, varint size, value | hash
 */
#ifndef TORG_SEARCHER_REPLICA_TAIL_H
#define TORG_SEARCHER_REPLICA_TAIL_H

#include "base/arena.h"
#include "base/err.h"
#include "topic/topic.h"

/* From offset to end. */
struct tail {
    uint64_t offset, end;
    struct topic_message *messages; /* one an offset */
};

/* Reads them from the topic into the file of the shard in dir; none is needed where the two are
 * equal, and the file goes. ERR_LIMIT: it would be too large; ERR_RANGE: the topic does not have
 * them. */
int tail_save(const char *dir, struct topics *topics, const char *topic, uint32_t partition,
              uint64_t offset, uint64_t end, struct err *err);
/* ERR_NOT_FOUND: there is none of these offsets. */
int tail_load(const char *dir, struct tail *tail, struct arena *arena, struct err *err);

#endif
