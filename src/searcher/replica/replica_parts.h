/* SPDX-License-Identifier: Apache-2.0 */
/* replica_parts.h - the insides of a replica: replica.c has its life, replica_follow.c its
 * thread. */
#ifndef TORG_SEARCHER_REPLICA_REPLICA_PARTS_H
#define TORG_SEARCHER_REPLICA_REPLICA_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/condition.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "searcher/replica/arrivals.h"
#include "searcher/replica/replica.h"

enum { OPENED_MAGIC = OBJECT_MAGIC('o', 'p', 'n', 'd') };

struct opened {
    uint32_t magic;
    struct shard *shard; /* owned */
    pthread_mutex_t lock;
    struct condition left; /* nobody is visiting any more */
    uint32_t visit_count;  /* under way */
    struct visit *resting; /* owned; ready for the next call */
};

struct replica_metrics {
    struct counter *put, *change, *remove, *stale, *skipped, *foreign, *passed, *reset;
    struct gauge *lag, *lag_ms;
    struct histogram *latency; /* from the message's time to its being shown */
};

/* Of a caller who waits for the content. */
struct content_ask {
    bool is_begun, is_done;
    uint64_t content;
    struct replica_state state;
    int rc;
    struct err err;
};

enum { REPLICA_MAGIC = OBJECT_MAGIC('r', 'e', 'p', 'l'), REPLICA_PLACE_COUNT = 2 };

struct replica {
    uint32_t magic;
    struct replica_options options; /* its texts are owned */
    char topic[128];
    atomic_uint refs;
    _Atomic bool is_removed;
    struct task task;
    pthread_mutex_t lock;
    struct condition changed; /* callers wait until more is searchable, or their check is done */
    struct replica_metrics metrics;
    char *places[REPLICA_PLACE_COUNT]; /* directories, owned; NULL: in memory alone */
    /* The apply thread's. */
    uint32_t place;          /* where the shard that is followed lies */
    struct opened *replaced; /* was old, and is closed when nobody visits it any more */
    bool has_leftover;       /* its files are at the other place */
    /* Under the lock. */
    struct opened *opened; /* NULL: not open */
    uint32_t opened_place; /* where that lies */
    struct opened *old;    /* a whole state, served while another is made; NULL: there is none */
    int64_t old_us;        /* its newest message's */
    uint64_t whole_offset; /* of the state that replaced the last one, when it did */
    bool has_failed_to_save;
    struct replica_state state;
    uint64_t checkpoint_offset; /* of the last one */
    uint64_t poured_offset;     /* behind the end of a pour that was applied last; 0: none was */
    uint64_t tail_offset, tail_end; /* of the tail that was written last (tail.h) */
    bool is_saving_tail;
    struct content_ask *ask;   /* of who waits; NULL: nobody does */
    struct arrivals *arrivals; /* owned; has a lock of its own */
};

/* The apply thread. */
void replica_follow(struct task *task, void *arg);

/* By the apply thread, between two batches: tells the content to who waits for it. */
void replica_answer(struct replica *replica, struct shard *shard);

/* ---- replica_old.c: by the apply thread ---- */

/* Where the shard lies that is to be followed; an old state beside it is opened. first: of the
 * topic. */
uint32_t replica_choose_place(struct replica *replica, uint64_t first);
void replica_clear_place(struct replica *replica, uint32_t place);
/* What was followed is the old state from now on, and the other place is free for a new one. False:
 * it cannot be served, or there is one already. */
bool replica_keep_old(struct replica *replica, struct opened *opened,
                      const struct progress *progress, uint64_t offset);
/* Once a second; now: as for shard_expire. */
void replica_tend_old(struct replica *replica, int64_t now);
/* Under the lock: what is followed is ready, at that offset. */
void replica_replace_old(struct replica *replica, uint64_t offset);
void replica_end_old(struct replica *replica);

int replica_open_shard(struct replica *replica, uint32_t place, struct shard **shard,
                       struct err *err);

/* Lets nobody in, waits until no visit is under way (calls have deadlines), then closes. */
void replica_close_shard(struct replica *replica, struct opened *opened);
struct opened *opened_new(struct shard *shard);
/* Why it is not ready; logged when it is another reason than before. */
void replica_tell(struct replica *replica, const char *reason);

#endif
