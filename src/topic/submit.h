/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - records on their way into a backend, and the wait for their durability. */
#ifndef TORG_TOPIC_SUBMIT_H
#define TORG_TOPIC_SUBMIT_H

#include <pthread.h>

#include "base/condition.h"
#include "topic/topic.h"

typedef void (*submit_done_fn)(void *arg, int rc, const struct err *err);

/* Records on their way into a topic. done is called exactly once if submit returned 0. */
struct submit {
    const char *name;
    const struct topic_record *records; /* their times are set */
    const uint32_t *partitions;         /* of each record */
    size_t count;
    uint64_t *offsets; /* of each record; filled before done; lives until then */
    bool copy;         /* records and partitions may go when submit returns */
    submit_done_fn done;
    void *arg;
};

/* For callers who wait: wait_done with a struct submit_wait as arg, then submit_wait. */
struct submit_wait {
    pthread_mutex_t lock;
    struct condition changed; /* the backend's thread has called back */
    bool done;
    int rc;
    struct err err;
};

void submit_wait_init(struct submit_wait *wait, const struct clock *clock);
void submit_wait_done(void *arg, int rc, const struct err *err);
int submit_wait(struct submit_wait *wait, struct err *err); /* the result */
void submit_wait_release(struct submit_wait *wait);

#endif
