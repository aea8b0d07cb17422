/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule.h - feeds that are fetched by their address, as they are stored: when each is due, what
 * is known of its file, and how its last runs ended.
 *
 *      due ── fetched ──► feed_schedule_open_task ── rows, end ──► feed_schedule_end_run ──► due
 *                │ unchanged, failed                                  ▲
 *                └────────────────────────────────────────────────────┘
 *
 * A run changes nothing here before it knows the first row of its file; then it opens its task, in
 * one transaction with the note of which that is. The due time moves in the transaction that
 * records the outcome. So a run whose process was killed is due as before, and is done again: with
 * the same file it goes on with the same task, with another it drops that and takes the next.
 * A run counts as the one it began as (run_count): one that another has overtaken ends as
 * ERR_STALE.
 *
 * Threads: any; functions block on the store.
 */
#ifndef TORG_FEEDS_SCHEDULE_SCHEDULE_H
#define TORG_FEEDS_SCHEDULE_SCHEDULE_H

#include "feeds/schedule/turns.h"
#include "feeds/tasks/task.h"

/* A feed that is due, as it was found; texts of the arena. */
struct feed_due {
    struct feed_key key; /* its task_id is 0 until the task is opened */
    const char *address;
    int64_t due_us;
    int64_t run_count;
    const char *etag; /* "": ask for the file, whatever was taken last */
    const char *modified;
    uint64_t content_hash; /* 0: take the file, whatever it is */
    int64_t last_task_id;
    int64_t open_task_id; /* of a run that has not come to its end */
    uint64_t open_hash;
    enum language language;
    const Torg__V1__FeedReading *reading; /* NULL: nothing is said of it */
};

/* What came of a run. */
struct feed_run_result {
    int64_t begin_us; /* wall */
    Torg__V1__FeedRun__Outcome outcome;
    const char *reason;                           /* "": none */
    const Torg__V1__FeedTask *task;               /* NULL: none */
    Google__Protobuf__Timestamp *categories_time; /* of those that were kept; NULL: none were */
    int64_t size;
    const char *etag; /* what its server told of the file; NULL: as before */
    const char *modified;
    uint64_t content_hash;
};

/* --- for those who say what is fetched; actor is for the audit log --- */

/* What is wanted of a feed; reading: checked by the caller, NULL for nothing. */
struct feed_terms {
    const char *address;
    int64_t period_s;
    enum language language;
    const Torg__V1__FeedReading *reading;
};

/* ERR_INVALID, told of its field. ERR_LIMIT: the seller has too many. */
int feed_schedule_set(const struct offers *offers, const struct feed_key *key,
                      const struct feed_terms *wish, struct violations *violations,
                      struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err);
/* ERR_NOT_FOUND, as all below. */
int feed_schedule_get(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                      Torg__V1__FeedSchedule **schedule, struct err *err);
int feed_schedule_pause(const struct offers *offers, const struct feed_key *key,
                        struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err);
int feed_schedule_resume(const struct offers *offers, const struct feed_key *key,
                         struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err);
/* Due now; again: the file is taken whatever it is. ERR_PRECONDITION: it is not ACTIVE. */
int feed_schedule_run(const struct offers *offers, const struct feed_key *key, bool again,
                      struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err);
int feed_schedule_remove(const struct offers *offers, const struct feed_key *key,
                         struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err);
/* Of a seller, by name, with their newest runs; there is room for FEED_SCHEDULE_COUNT_MAX. */
int feed_schedule_list(const struct offers *offers, const char *seller, struct arena *arena,
                       Torg__V1__FeedSchedule **list, size_t *count, struct err *err);
/* Of all sellers: those whose last run failed, the most failures first. */
int feed_schedule_list_failing(struct store *store, size_t max, struct arena *arena,
                               Torg__V1__FeedSchedule **list, size_t *count, struct err *err);

/* --- for those who fetch --- */

uint32_t feed_schedule_shard(const char *seller, const char *feed);
/* What is due, the longest due first; FEED_FETCH_DUE_COUNT at most. In the arena. */
int feed_schedule_waiting(const struct offers *offers, struct arena *arena,
                          struct feed_waiting **list, size_t *count, struct err *err);
/* How many of each shard fail, and how many of those are stopped. */
int feed_schedule_failing(const struct offers *offers, int64_t failing[], int64_t stopped[],
                          struct err *err);
/* One of them; *due of no seller: it is not due any more. */
int feed_schedule_find_due(const struct offers *offers, const struct feed_waiting *waiting,
                           struct arena *arena, struct feed_due *due, struct err *err);

/* The task of a run whose file has this hash: the one that a run of before has opened for the same
 * file, or a new one. Tasks that earlier runs left running or held are dropped before: this file is
 * newer. ERR_STALE: the schedule is not what it was. */
int feed_schedule_open_task(const struct offers *offers, struct feed_due *due, uint64_t hash,
                            struct arena *arena, struct err *err);
/* ERR_STALE: as above, and nothing is recorded. *schedule is what it is then. */
int feed_schedule_end_run(const struct offers *offers, const struct feed_due *due,
                          const struct feed_run_result *result, struct arena *arena,
                          Torg__V1__FeedSchedule **schedule, struct err *err);

#endif
