/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica.h - one shard of one epoch of a client, in this process: it follows its partition of the
 * topic index.CLIENT.EPOCH and answers queries meanwhile.
 *
 *   topic_read ──> applier_apply … applier_publish ──> visits (a reader and an engine each)
 *                          └─ cannot be taken: counted, told, passed
 *
 * Changes are published every SEARCHER_BATCH_COUNT messages or SEARCHER_BATCH_MS, whichever is
 * first; far behind the end, in larger steps. It is ready once it has what the topic had when it
 * was opened; from then on it stays so, however far behind. While it is not ready, a whole state
 * that it has already is shown to callers that accept an old one: the state from which a restart
 * replays, or the one that another is about to replace (replica_old.c).
 *
 * When the topic has lost messages that the shard needs, or the shard its files and the topic its
 * beginning, the replica begins without a state at the next mark of a pour: it is ready when it has
 * applied that pour's end (apply.h). The owner of the shard pours without being asked
 * (registry/indexing/indexer_tend.c). A damaged directory is discarded, too.
 *
 * Threads: an apply thread of its own; all functions here from any thread.
 */
#ifndef TORG_SEARCHER_REPLICA_REPLICA_H
#define TORG_SEARCHER_REPLICA_REPLICA_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/object.h"
#include "index/shard/shard.h"
#include "query/query.h"
#include "searcher/replica/apply.h"
#include "searcher/replica/waiters.h"
#include "topic/topic.h"

struct lender; /* searcher/replica/lender.h */
struct replica;

struct replica_options {
    struct topics *topics;     /* borrowed, as all here */
    const struct clock *clock; /* of its waits, and of the ends of documents */
    const char *dir;           /* of the shard; NULL: in memory alone */
    const char *client;
    int64_t epoch;
    uint32_t shard;
    uint32_t numbers[3];     /* T.S.V of its documents' numbers; T 0: not known */
    struct waiters *waiters; /* of all replicas, as the next */
    struct old_states *old;
    struct lender *lender; /* of columns from outside; NULL: there are none */
};

/* How many replicas of a process hold a second state: each costs the memory and the files of a
 * shard. */
struct old_states {
    atomic_uint count;
    struct gauge *now;
};

/* Starts its thread. Give it back with replica_stop, then replica_unref. */
struct replica *replica_new(const struct replica_options *options);
/* Asks the thread to end; `remove`: the directory goes when nobody looks at it any more. */
void replica_stop(struct replica *replica, bool remove);
struct replica *replica_ref(struct replica *replica);
void replica_unref(struct replica *replica); /* the last one waits for the thread; NULL is fine */

uint32_t replica_shard(const struct replica *replica);
const char *replica_client(const struct replica *replica);
int64_t replica_epoch(const struct replica *replica);

/* T.S.V of its documents' numbers. */
const uint32_t *replica_numbers(const struct replica *replica);
/* Calls with each of its shards that is open: the one that is followed, and the old one. */
void replica_each_shard(struct replica *replica, void (*call)(void *arg, struct shard *shard),
                        void *arg);

/* ---- asking ---- */

struct opened; /* the shard as it is open now */
enum { VISIT_MAGIC = OBJECT_MAGIC('v', 'i', 's', 'i') };

struct visit {
    uint32_t magic;
    struct query_engine *engine;
    struct shard_reader *reader;
    struct shard *shard;
    struct opened *opened; /* which stays open meanwhile */
    uint64_t old_seconds;  /* of what it sees; 0: it is caught up */
    struct visit *next;    /* of those that rest */
};

/* ERR_UNAVAILABLE, telling how far it is, when the replica is not ready, nor has a state that is at
 * most so many seconds old (0: none is taken). Ends with visit_end. */
int replica_visit(struct replica *replica, uint64_t old_max_seconds, struct visit **visit,
                  struct err *err);
void visit_end(struct visit *visit); /* NULL is fine */

/* Until every element of the lane up to idx is searchable, or every message of the topic below it;
 * ERR_TIMEOUT tells how far it is, ERR_LIMIT that too many wait. */
enum { REPLICA_OFFSET = PROGRESS_LANE_COUNT }; /* instead of a lane */
int replica_wait(struct replica *replica, unsigned lane, int64_t idx, int64_t deadline_us,
                 struct err *err);

/* ---- what people are told ---- */

enum { REPLICA_PASSED_COUNT = 16 };

struct passed_message {
    uint64_t offset;
    char pk[64]; /* its first bytes */
    char reason[256];
};

struct replica_state {
    struct progress progress;
    struct apply_counts counts;
    uint64_t offset, end;
    uint32_t doc_count;
    bool is_ready;
    char reason[ERR_TEXT_SIZE]; /* why not */
    int64_t old_us;   /* not ready: it has what its topic had then, and shows it to who takes an old
                       * state; 0: it has none */
    uint64_t fill_ms; /* how long it has taken to be ready since it was opened, or takes so far */
    uint64_t passed_count;
    uint64_t reset_count;                               /* state thrown away */
    struct passed_message passed[REPLICA_PASSED_COUNT]; /* the newest, oldest first */
    uint32_t passed_kept;
};
void replica_state(struct replica *replica, struct replica_state *state);
/* Its old_us as an age; 0: it has no old state. */
uint64_t replica_old_seconds(const struct replica *replica, const struct replica_state *state);

/* When the document's last change was sent and shown (0: not yet); false: not known any more. */
bool replica_arrival(struct replica *replica, uint32_t doc_id, int64_t *sent_us, int64_t *shown_us);

/* Compares all files with their checksums. ERR_CORRUPT names the damaged one. */
int replica_check_files(struct replica *replica, struct err *err);
/* What it holds, as a number (shard_hash), and the state it has then; nothing is applied
 * meanwhile. */
int replica_content(struct replica *replica, int64_t deadline_us, uint64_t *content,
                    struct replica_state *state, struct err *err);

/* Writes a checkpoint when there was a change since the last one. */
int replica_checkpoint(struct replica *replica, struct err *err);
/* Keeps what its last checkpoint, whoever has written it, needs of the topic (tail.h). One that
 * cannot be kept is looked for in the topic alone. */
void replica_keep_tail(struct replica *replica);
/* Whether one should be written soon: a pour has ended, and its topic will be trimmed. */
bool replica_wants_checkpoint(struct replica *replica);

#endif
