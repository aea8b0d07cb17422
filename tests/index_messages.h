/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_messages.h - what an indexer would send, for tests: a small bazaar of documents.
 *
 * Fields by number: 1 title (text), 2 body (text), 3 seller (keyword), 4 price (integer), 5 tags
 * (keywords), 6 category, 7 date, 8 weight (decimal), 9 used (boolean), 10 point, 11 note (stored).
 */
#ifndef TORG_TESTS_INDEX_MESSAGES_H
#define TORG_TESTS_INDEX_MESSAGES_H

#include "base/arena.h"
#include "base/random.h"
#include "coord/coord.h"
#include "topic/topic.h"
#include "torg/v1/index_message.pb-c.h"

struct bytes message_schema(uint64_t ticket, struct arena *arena);
/* A document that seed decides; its texts are decided by text_seed alone. */
struct bytes message_put(uint64_t ticket, uint32_t id, const char *pk, uint64_t text_seed,
                         uint64_t seed, struct arena *arena);
/* With this title and price, and nothing else. */
struct bytes message_titled(uint64_t ticket, uint32_t id, const char *pk, const char *title,
                            int64_t price, int64_t expires_at, struct arena *arena);
struct bytes message_remove(uint64_t ticket, uint32_t id, const char *pk, struct arena *arena);
/* A mark of a pour that the owner with begin_ticket has begun. */
struct bytes message_pour(uint64_t ticket, Torg__V1__IndexPour__Mark mark, int64_t number,
                          uint64_t begin_ticket, struct arena *arena);
struct bytes message_progress(uint64_t ticket, uint32_t lane, int64_t idx, struct arena *arena);

/* Appends to the partition. */
void send_to(struct topics *topics, const char *topic, uint32_t partition, struct bytes message);
void make_topic(struct topics *topics, const char *topic, uint32_t partition_count);

/* Writes the index map; ids of clients are 1, 2, … */
enum { ANNOUNCED_EPOCH_MAX = 3 };
struct announced {
    const char *name;
    uint32_t shard_count;
    struct {
        int64_t epoch; /* 0: no more */
        Torg__V1__IndexMap__Epoch__State state;
    } epochs[ANNOUNCED_EPOCH_MAX];
};
void announce(struct coord *coord, const struct announced *clients, size_t count);

/* TORG_SEED, or a new one; printed. */
struct rng test_seed(void);

#endif
