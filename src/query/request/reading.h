/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - a query read once for all shards of a process, and for both rounds of a search.
 *
 *   Torg__V1__Query ── the first shard that needs it ──> query_request, its words analysed
 *                          └ the others, whose schemas have the same fields, take the same one
 *
 * What is read here depends on the fields and on the rules of analysis alone, never on a snapshot:
 * fields found and checked, values parsed, texts cut into tokens. What a shard compiles of it for
 * its snapshot (stage.h) is its own.
 *
 * A shard that knows other fields, or whose lexicon began with older rules, gets a request of its
 * own. Failures are not kept: each shard tells its own.
 *
 * Threads: any; the first one reads while the others wait.
 */
#ifndef TORG_QUERY_REQUEST_READING_H
#define TORG_QUERY_REQUEST_READING_H

#include <pthread.h>

#include "query/request/request.h"

struct reading_form;

struct reading {
    uint32_t magic;
    pthread_mutex_t lock;
    const Torg__V1__Query *message; /* borrowed */
    int64_t now;
    struct arena *arena; /* borrowed; used under the lock */
    struct reading_form *forms;
    uint32_t read_count; /* how often the message was read; for tests */
};

/* Everything is in the arena, which nobody else uses while shards are asked. now: as of
 * request_read. */
void reading_init(struct reading *reading, const Torg__V1__Query *message, int64_t now,
                  struct arena *arena);
void reading_release(struct reading *reading);

/* The request as the engine's shard understands it. Valid as long as the arena, the message and all
 * shards that were asked for it. Errors are those of request_read. */
int reading_take(struct reading *reading, struct query_engine *engine,
                 struct query_request *request, struct err *err);

#endif
