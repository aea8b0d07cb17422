/* SPDX-License-Identifier: Apache-2.0 */
/*
 * front.h - a search over all shards of an index, wherever they are.
 *
 *   cursors, tokens ──> words of all shards (text, several shards) ──> each shard ──> merge ──>
 *   cursors
 *
 * The epoch is read once and used for all shards. A shard that does not answer by the deadline is
 * left out and named; when none answers, or the request is wrong, there is an error instead.
 *
 * Threads: any.
 */
#ifndef TORG_SEARCHER_FRONT_FRONT_H
#define TORG_SEARCHER_FRONT_FRONT_H

#include "base/clock.h"
#include "searcher/front/gather.h"
#include "searcher/front/query_log.h"
#include "searcher/replica/follower.h"

struct front {
    struct follower *follower; /* borrowed, as all here */
    struct gatherer gatherer;
    const struct clock *clock; /* of deadlines, and of ages in formulas */
    struct query_log *queries; /* NULL: queries are not kept */
    int64_t deadline_us;       /* of a search that says none; 0: the usual */
};

/* When a search that began then has to be answered, if it does not say. */
int64_t front_deadline_us(const struct front *front, int64_t begun_us);

/* deadline_us: monotonic. The response is filled with memory of the arena and of the request.
 * ERR_TIMEOUT: what has to be seen did not come by then; of a request that looks: it is not there
 * yet, or no shard has answered by then. */
int front_search(const struct front *front, const char *client,
                 const Torg__V1__SearchRequest *request, int64_t deadline_us, struct arena *arena,
                 Torg__V1__SearchResponse *response, struct err *err);

/* Clients' serving epochs by what this process has of their shards; those of others' do not
 * count. */
struct front_state {
    uint32_t answered_count; /* each shard is ready here or at another searcher */
    uint32_t opening_count;  /* one is being opened, or has not caught up yet */
    uint32_t broken_count;   /* one has lost messages, and waits for a pour */
    uint32_t old_count;      /* all are answered, one of them by an old state alone */
};

/* Whether searches are answered. ERR_UNAVAILABLE tells of a shard that is not ready, ERR_LIMIT of
 * what the index map has and this process does not follow. */
int front_check(const struct front *front, struct front_state *state, struct err *err);

/* The client, or ERR_NOT_FOUND that says what to do. */
int front_find_client(const struct index_view *view, const char *name,
                      const struct index_client **client, struct err *err);
/* The epoch (0: the one that serves), or ERR_UNAVAILABLE, ERR_NOT_FOUND. */
int front_find_epoch(const struct index_client *client, int64_t epoch,
                     const struct index_epoch **found, struct err *err);

#endif
