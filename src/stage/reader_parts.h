/* SPDX-License-Identifier: Apache-2.0 */
/* reader_parts.h - what the files of the reader share (reader.h). */
#ifndef TORG_STAGE_READER_PARTS_H
#define TORG_STAGE_READER_PARTS_H

#include <pthread.h>

#include "base/condition.h"
#include "base/log_pace.h"
#include "base/metrics.h"
#include "base/object.h"
#include "stage/bounds.h"
#include "stage/reader.h"
#include "topic/bounds.h"

/* A partition; the reader's thread's. */
struct place {
    uint64_t next_offset; /* everything below was used, or taken, or is parked */
    bool has_news;        /* next_offset is not committed */
    bool is_flushed;      /* all of it is durable */
    bool is_blocked;      /* it waits for this record, until the time has come */
    bool is_away;         /* and has to go back to it */
    bool has_gone_back;   /* what comes next should be it */
    bool is_beginning;    /* it is where the topic began: there need not be a record */
    uint64_t blocked_offset;
    int64_t blocked_until_us; /* monotonic */
    uint64_t told_offset;     /* behind the one that the log told of; 0: none */
    bool has_due;
    uint64_t due_generation; /* a later deal: another may have gone on since */
    uint64_t due_offset;     /* everything before it was dealt with, or is told to be lost */
};

/* What became of a record of a poll. */
enum outcome {
    OUTCOME_NONE,  /* not looked at: it is time to stop, or one before it in the partition waits */
    OUTCOME_DONE,  /* used, taken or parked */
    OUTCOME_WAITS, /* its partition waits for it */
    OUTCOME_SOON,  /* the same, for the next poll */
};

/* Uses those records of a poll whose keys are its own, in their order. */
struct worker {
    struct stage_reader *reader;
    size_t number;
    struct arena *arena; /* of one record */
    struct task task;
};

enum { STAGE_READER_MAGIC = OBJECT_MAGIC('s', 'r', 'd', 'r') };

struct stage_reader {
    uint32_t magic;
    struct stage_reader_options options;
    struct consumer *consumer;
    struct task task;
    struct arena *arena; /* of a poll */
    struct place places[TOPIC_PARTITION_COUNT_MAX];
    uint64_t generation; /* of the deal that known is good for */
    bool is_loaded;
    int64_t change_no; /* of parked_total */
    int64_t total_count;
    const struct parked *retried; /* the one that take has now; NULL: none */
    int64_t put_off_us;           /* until it comes again, if it is not used yet */
    size_t retry_turn;            /* which of our partitions is the first of the next look */
    struct arena *retry_arena;    /* of the parked ones of a look; kept until it is flushed */
    struct topic_message retry_message;
    bool is_refused_again; /* a part of it */
    struct err refusal;

    pthread_mutex_t lock;
    uint64_t *known; /* guarded by lock: sorted hashes of parked keys */
    size_t known_count;
    size_t known_capacity;

    struct worker workers[READER_WORKER_COUNT_MAX];
    struct condition given;               /* to the workers: a poll, or the end */
    struct condition taken;               /* by the last worker */
    const struct topic_message *messages; /* guarded by lock, as all below: the poll */
    size_t count;
    enum outcome *outcomes; /* each belongs to the worker of its key */
    struct err reason;      /* why a partition waits: the last that was told */
    uint64_t poll_number;
    size_t working_count; /* workers that are not through with it */
    bool is_ending;       /* no poll will come any more */

    struct log_pace pace;
    struct gauge *parked_now;
    struct gauge *waiting;
    struct counter *parkings;
    struct counter *lost;
    struct counter *errors;
};

void stage_reader_tell_fault(struct stage_reader *reader, const char *what, const struct err *err);
/* False: it is time to stop. */
bool stage_reader_pause(struct stage_reader *reader, struct task *task, int ms);
/* Whether something of the key is parked, as far as is known: it may have gone since. */
bool stage_reader_knows(struct stage_reader *reader, const char *key);
int stage_reader_refresh(struct stage_reader *reader, struct err *err);
/* Durable when it returns 0; ERR_LIMIT: there is no room. */
int stage_reader_park_as(struct stage_reader *reader, const struct topic_message *message,
                         const char *key, struct bytes body, const char *reason,
                         struct arena *arena, struct err *err);
bool stage_reader_settle(struct stage_reader *reader, bool is_forced);

/* --- reader_run.c --- */

/* Uses the records of a poll; how many are dealt with. */
size_t stage_reader_run(struct stage_reader *reader, const struct topic_message *messages,
                        size_t count);
/* Before a poll: back to the records that partitions wait for. */
void stage_reader_go_back(struct stage_reader *reader);
int stage_reader_start_workers(struct stage_reader *reader, struct err *err);
void stage_reader_stop_workers(struct stage_reader *reader);

/* --- reader_lost.c --- */

/* Before a poll's records are used. False: it is time to stop. */
bool stage_reader_look_for_lost(struct stage_reader *reader, const struct topic_message *messages,
                                size_t count);
/* Of the records from here to the offset, which come no more, those that retention has taken. */
int stage_reader_note_lost(struct stage_reader *reader, uint32_t partition, uint64_t from,
                           uint64_t offset, struct err *err);
/* The one that the partition waited for is gone: it waits for what is left. */
void stage_reader_wait_for_first(struct place *place, uint64_t first);

/* --- reader_retry.c --- */

/* Tries the parked ones of our partitions whose time has come. */
int stage_reader_retry(struct stage_reader *reader, struct err *err);

/* When a record is due that has been tried so often behind the first time; `otherwise` is what the
 * stage gets that does not say. */
static inline int64_t stage_reader_due_us(const struct stage_reader *self, int64_t now_us,
                                          int64_t try_count, int64_t otherwise)
{
    int64_t pause_us = self->options.handler->retry_us
                           ? self->options.handler->retry_us(self->options.arg, try_count)
                           : otherwise;

    return pause_us < 0 ? PARKED_FOR_GOOD : now_us + pause_us;
}

#endif
