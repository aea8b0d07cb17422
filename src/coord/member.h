/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - the inside of a handle, shared by the files of the member's side.
 *
 * coord.c opens, closes and runs the thread; coord_owned.c answers what is owned; coord_step.c
 * renews and rebalances. What a step learns is put into `held` under `lock`, which is never
 * kept during a call to the backend: coord_valid and coord_owned answer at once even while a
 * step hangs on a dead connection. `step_lock` lets one step, join or leave happen at a time.
 *
 * The deadline is the heart of it: the time before a renewal was sent plus the lease. The
 * backend counts from when the renewal arrived, which is later, so it ends the session later.
 */
#ifndef TORG_COORD_MEMBER_H
#define TORG_COORD_MEMBER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "coord/backend.h"
#include "coord/bounds.h"
#include "coord/coord.h"

enum {
    RENEWALS_PER_LEASE = 3, /* two may be lost before the lease is */
    RETRIES_PER_LEASE = 10,
};

struct coord_held {
    uint64_t ticket; /* 0: not ours */
    bool leaving;
    bool released; /* the application has let go; the backend is told by the next step */
};

enum { COORD_SHARDS_MAGIC = OBJECT_MAGIC('c', 's', 'h', 's') };

struct coord_shards {
    uint32_t magic;
    struct coord *coord; /* borrowed */
    char name[COORD_NAME_SIZE_MAX + 1];
    uint32_t shard_count;
    /* of the step */
    bool joined;
    bool left; /* the application is done with it; freed once the backend has been told */
    bool look_due;
    int64_t looked_us;
    /* under coord->lock */
    uint64_t generation;
    struct coord_held *held; /* owned, shard_count of them */
    struct gauge *owned_count;
};

enum { COORD_MAGIC = OBJECT_MAGIC('c', 'o', 'r', 'd') };

struct coord {
    uint32_t magic;
    struct coord_backend *backend; /* owned */
    const struct clock *clock;
    char member[COORD_NAME_SIZE_MAX + 1];
    struct counter *lost_count;

    pthread_mutex_t step_lock;
    struct coord_shards *sets[COORD_SET_COUNT_MAX]; /* owned; NULL: unused */
    struct coord_view view;                         /* of the step; too large for a stack */
    int64_t renewed_us;
    bool answering; /* the last step worked: a change is worth a line in the log */

    pthread_mutex_t lock;
    struct condition changed; /* for coord_wait */
    struct condition wake;    /* for the task */
    int64_t deadline_us;
    int64_t lease_us;
    bool expired; /* the end of the lease has been noticed, and counted as a change */
    bool poked;

    struct task task;
};

/* --- coord_owned.c --- */

void member_poke(void *arg);                          /* for backends: look again */
void member_tell_change(struct coord_shards *shards); /* with lock held */
void member_lose_all(struct coord *coord);            /* the session is over */
void member_set_deadline(struct coord *coord, int64_t deadline_us, int64_t lease_us);

/* --- coord_step.c; all with step_lock held --- */

/* force: renew now, and look at every set. */
int member_step(struct coord *coord, bool force, struct err *err);
int member_step_set(struct coord_shards *shards, struct err *err);
void member_drop_set(struct coord_shards *shards); /* frees it */

#endif
