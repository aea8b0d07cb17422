/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - other searchers: which shards each has ready, and how they are asked.
 *
 * Each is asked for its freshness every SEARCHER_PEER_POLL_MS; one that does not answer in that
 * time has nothing ready until it does. With coord, searchers that announce themselves (announce.h)
 * are asked, too: they come and go while this one runs. A peer is not freed before all are, since
 * calls may be under way; the place of one that is gone is reused for the next that comes.
 *
 * Threads: one a peer, one that watches the announcements; all functions here from any thread.
 */
#ifndef TORG_SEARCHER_FRONT_PEERS_H
#define TORG_SEARCHER_FRONT_PEERS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "torg/v1/searcher.pb-c.h"

struct coord;
struct peers;
struct peer;

/* How a method of SearcherService is called in another process: caller_call of net/, or what a test
 * puts in its place. Any thread calls. */
struct peer_caller {
    int (*call)(void *arg, const char *url, const char *method, struct bytes request,
                int64_t timeout_ms, struct buf *answer, struct err *err);
    void (*free)(void *arg); /* when the last peer is closed */
    void *arg;
};

struct peers_options {
    const char *const *urls; /* "http://host:port"; copied */
    uint32_t count;
    struct peer_caller caller; /* taken over, also when they cannot be opened */
    const struct clock *clock; /* NULL: the system's; borrowed */
    struct coord *coord;       /* of announcements; NULL: none are heard; borrowed */
    const char *own;           /* the address under which this process announces itself, or NULL */
};

int peers_open(const struct peers_options *options, struct peers **peers, struct err *err);
void peers_close(struct peers *peers); /* no call under way; NULL is fine */
const struct clock *peers_clock(const struct peers *peers);

/* Those that have the shard ready, beginning with another one each time; returns how many. */
uint32_t peers_with(struct peers *peers, const char *client, int64_t epoch, uint32_t shard,
                    struct peer **found, uint32_t max);

/* Those that answer the request with an old state, and not with a newer one. */
uint32_t peers_with_old(struct peers *peers, const Torg__V1__ShardRequest *request,
                        struct peer **found, uint32_t max);

/* All of them, those that answered last time first, each of these two beginning with another one
 * each time; returns how many. */
uint32_t peers_all(struct peers *peers, struct peer **found, uint32_t max);

/* The one of this address; NULL: there is none such. */
struct peer *peers_find(struct peers *peers, const char *url);
const char *peer_url(const struct peer *peer);

/* Calls a method of SearcherService with a packed request; appends the packed answer. */
int peer_call(struct peer *peer, const char *method, struct bytes request, int64_t timeout_ms,
              struct buf *answer, struct err *err);

/* The last freshness of each peer that answers, copied to the arena, with its address. */
void peers_freshness(struct peers *peers, const char *client, struct arena *arena,
                     Torg__V1__ShardFreshness ***shards, size_t *count);

#endif
