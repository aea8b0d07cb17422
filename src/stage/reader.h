/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - how a stage reads its topic: the one consumer loop of the pipeline, as a member of a
 * consumer group.
 *
 *   poll ── by key, in order ──> handler.take ──> handler.flush ──> commit
 *                                   │ cannot be used
 *                                   └──> parked (parked.h), and back to take when its time comes
 *
 * An offset is committed after everything up to it was used and made durable, or was parked, which
 * is durable too: nothing is lost by a stop or a kill, and a record may come again (at least once),
 * so a handler must recognise that. While the world fails (err_is_passing) a record is tried again.
 * One that cannot be used is parked, and other keys pass it; options.order decides about later
 * records of its own key. In strict mode, and while there is no room for more parked records, its
 * partition waits instead, and continues by itself. Records that retention has deleted before they
 * were read are reported by a row among the parked ones.
 *
 * Threads: one reads; if there are workers, they use a poll's records, each those of its own keys.
 * Several readers of a group, in one process or many, share the partitions; the owner of a
 * partition retries its parked records.
 */
#ifndef TORG_STAGE_READER_H
#define TORG_STAGE_READER_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/task.h"
#include "stage/parked.h"
#include "store/store.h"
#include "topic/topic.h"

struct stage_reader;

enum {
    STAGE_READER_NOT_YET = 1
}; /* of take: the partition is read from this record on again, soon */

struct stage_reader_handler {
    /* Uses a record, or takes it for flush to make durable; record and arena are kept until flush
     * was asked at the end of the poll. Failures as above; ERR_CANCELLED: it is time to stop, and
     * the record was not used. */
    int (*take)(void *arg, const struct topic_message *message, struct arena *arena,
                struct err *err);
    /* Makes durable what was taken of a partition. *is_flushed false: it waits for more of it,
     * which is fine unless is_forced. Any failure is tried again. Not with workers. NULL: take does
     * all. */
    int (*flush)(void *arg, uint32_t partition, bool is_forced, bool *is_flushed, struct err *err);
    /* Asked before records are used; a failure is waited out. NULL: always. */
    int (*begin)(void *arg, struct err *err);
    /* Until flush wants to be asked, at most: microseconds. NULL: any time. */
    int64_t (*wait_us)(void *arg);
    /* Until a parked record is tried again, after so many tries behind the first: microseconds, or
     * less than 0 for no more of them, so that it waits for a person. NULL: growing pauses. */
    int64_t (*retry_us)(void *arg, int64_t try_count);
    /* About once a second, by the reader's thread. NULL: nothing to do. */
    void (*look)(void *arg, struct consumer *consumer);
};

struct stage_reader_options { /* all borrowed until it has stopped */
    const char *stage;        /* of parked ones, and in metrics */
    const char *topic;
    const char *group;
    const struct stage_reader_handler *handler;
    void *arg;
    struct topics *topics;
    struct store *store;
    const struct clock *clock;
    enum parked_order order;
    bool is_strict;
    size_t worker_count; /* 0: the reader's own thread */
    size_t poll_count;   /* most records of a poll; 0: TOPIC_POLL_COUNT */
};

/* Makes the topic if it is not there. On failure *reader is NULL. The handler may be called before
 * this returns; *reader is set before it is, for handlers that find the reader by options.arg. */
int stage_reader_start(const struct stage_reader_options *options, struct stage_reader **reader,
                       struct err *err);
void stage_reader_stop(struct stage_reader *reader); /* NULL is fine */

/* --- for handlers --- */

/* Whether this record is one that was parked. Its time is that of its first try. */
bool stage_reader_is_retry(const struct stage_reader *reader);
/* How often it was tried before; 0: it is not parked. */
int64_t stage_reader_try_count(const struct stage_reader *reader);
/* Of a parked record, before take returns STAGE_READER_NOT_YET: it comes again after this time, and
 * this was no try. */
void stage_reader_put_off(struct stage_reader *reader, int64_t pause_us);
bool stage_reader_is_stopping(const struct stage_reader *reader);
/* True from the time on that it has to stop. */
const atomic_bool *stage_reader_stopping(const struct stage_reader *reader);
/* Parks a part of a record under a key of its own; the body is a record that take can use. Durable
 * when it returns 0; failures are take's. */
int stage_reader_park(struct stage_reader *reader, const struct topic_message *message,
                      const char *key, struct bytes body, const char *reason, struct err *err);
/* A part of this key was used: what is parked of it up to this record goes. PARKED_NEWEST only. */
int stage_reader_used(struct stage_reader *reader, const struct topic_message *message,
                      const char *key, struct err *err);

#endif
