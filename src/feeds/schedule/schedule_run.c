/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_run.c - see schedule.h: what a run notes of itself. */
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/apply/end.h"
#include "feeds/bounds.h"
#include "feeds/schedule/schedule_record.h"
#include "offers/bounds.h"

#define STATE(name) TORG__V1__FEED_SCHEDULE__STATE__##name
#define OUTCOME(name) TORG__V1__FEED_RUN__OUTCOME__##name

struct running {
    const struct offers *offers;
    struct feed_due *due;
    uint64_t hash;
    const struct feed_run_result *result;
    struct arena *arena;
    struct schedule_record record;
};

/* As the run found it: of this run, and not paused, removed or led elsewhere since. */
static bool is_as_found(const struct schedule_record *record, const struct feed_due *due)
{
    return record->message && record->message->run_count == due->run_count &&
           record->message->state == STATE(ACTIVE) &&
           strcmp(record->message->address, due->address) == 0;
}

/* --- the task --- */

/* This file is newer than what such a task was of. One that has ended stays as it is. */
static int drop_task(const struct offers *offers, const struct feed_due *due, int64_t task_id,
                     struct arena *arena, struct err *err)
{
    const struct feed_key key = {
        .seller = due->key.seller, .feed = due->key.feed, .task_id = task_id};
    struct feed_task task = {0};
    int rc = task_id ? feed_end_cut(offers, &key, arena, &task, err) : ERR_NOT_FOUND;

    if (!rc)
        rc = feed_task_move(offers, &key, FEED_HELD, FEED_CANCELLED, arena, &task, err);
    return rc == ERR_NOT_FOUND ? 0 : rc; /* it is forgotten, or there was none */
}

static int next_task_id(struct store_tx *tx, const struct feed_due *due, int64_t *task_id,
                        struct err *err)
{
    const struct store_value params[] = {STORE_V_STRING(due->key.seller),
                                         STORE_V_STRING(due->key.feed)};
    int64_t newest = 0;
    int64_t ended = 0;
    int rc = store_find_integer(
        tx, "SELECT MAX(task_id) FROM feed_task WHERE seller_id = $1 AND feed_id = $2", params, 2,
        &newest, err);

    if (!rc)
        rc = store_find_integer(
            tx, "SELECT ended_task_id FROM feed_head WHERE seller_id = $1 AND feed_id = $2", params,
            2, &ended, err);
    *task_id = (newest > ended ? newest : ended) + 1;
    return rc;
}

static int open_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct running *running = arg;
    struct feed_due *due = running->due;
    struct feed_task task;
    int rc = schedule_record_find(tx, &due->key, running->arena, &running->record, err);

    if (!rc && !is_as_found(&running->record, due))
        rc = err_set(err, ERR_STALE, "the feed is not to be fetched from there any more");
    if (!rc)
        rc = next_task_id(tx, due, &due->key.task_id, err);
    if (!rc)
        rc = feed_task_add(tx, running->offers, &due->key, false, running->arena, &task, err);
    if (rc)
        return rc;
    running->record.open_task_id = due->key.task_id;
    running->record.open_hash = (int64_t)running->hash;
    return schedule_record_put(tx, &due->key, &running->record, running->arena, err);
}

int feed_schedule_open_task(const struct offers *offers, struct feed_due *due, uint64_t hash,
                            struct arena *arena, struct err *err)
{
    struct running running = {.offers = offers, .due = due, .hash = hash, .arena = arena};
    int rc;

    if (due->open_task_id && due->open_hash == hash) {
        due->key.task_id = due->open_task_id;
        return 0;
    }
    rc = drop_task(offers, due, due->open_task_id, arena, err);
    if (!rc)
        rc = drop_task(offers, due, due->last_task_id, arena, err);
    return rc ? rc : store_write(offers->store, open_in, &running, err);
}

/* --- the outcome --- */

static int64_t retry_us(int32_t failure_count)
{
    int64_t wait_s = FEED_FETCH_RETRY_S;

    for (int32_t i = 1; i < failure_count && wait_s < FEED_FETCH_RETRY_S_MAX; i++)
        wait_s *= 2;
    return (wait_s < FEED_FETCH_RETRY_S_MAX ? wait_s : FEED_FETCH_RETRY_S_MAX) * SECOND_US;
}

static void add_run(struct running *running, int64_t now_us)
{
    const struct feed_run_result *result = running->result;
    Torg__V1__FeedSchedule *message = running->record.message;
    struct arena *arena = running->arena;
    Torg__V1__FeedRun *made = MESSAGE_NEW(feed_run, arena);
    Torg__V1__FeedRun **runs = arena_array(arena, FEED_RUN_COUNT_MAX, sizeof(*runs));
    size_t kept = message->n_runs < FEED_RUN_COUNT_MAX ? message->n_runs : FEED_RUN_COUNT_MAX - 1;

    made->number = ++message->run_count;
    made->time = moment_message(result->begin_us, arena);
    made->duration_ms = now_us > result->begin_us ? (now_us - result->begin_us) / MS_US : 0;
    made->outcome = result->outcome;
    made->reason = arena_printf(arena, "%.*s", FEED_RUN_REASON_SIZE_MAX, result->reason);
    made->size = result->size;
    made->categories_time = result->categories_time;
    if (result->task) {
        made->task_id = result->task->task_id;
        made->hold = result->task->hold;
        made->counts = result->task->counts;
    }
    runs[0] = made;
    for (size_t i = 0; i < kept; i++)
        runs[i + 1] = message->runs[i];
    message->runs = runs;
    message->n_runs = kept + 1;
}

/* A failure, and when it is tried again; or no more. */
static void note_failure(struct running *running, int64_t now_us)
{
    Torg__V1__FeedSchedule *message = running->record.message;

    message->failure_count++;
    message->reason = message->runs[0]->reason;
    if (message->state != STATE(ACTIVE))
        return;
    if (message->failure_count >= FEED_FETCH_FAILURE_COUNT_MAX) {
        message->state = STATE(STOPPED);
        running->record.due_us = 0;
    } else if (running->record.due_us == running->due->due_us) {
        running->record.due_us = now_us + retry_us(message->failure_count);
    }
}

static void note_success(struct running *running, int64_t now_us)
{
    struct schedule_record *record = &running->record;
    const struct feed_run_result *result = running->result;

    record->message->failure_count = 0;
    record->message->reason = arena_strdup(running->arena, "");
    if (record->due_us != running->due->due_us)
        return; /* somebody has paused it, or made it due, while it ran */
    record->due_us = now_us + record->message->period_seconds * SECOND_US;
    if (!result->etag)
        return;
    record->etag = result->etag;
    record->modified = result->modified;
    if (result->outcome == OUTCOME(UNCHANGED))
        return;
    record->content_hash = (int64_t)result->content_hash;
    record->applied_us = now_us;
}

static int end_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct running *running = arg;
    const struct feed_due *due = running->due;
    struct schedule_record *record = &running->record;
    int64_t now_us = clock_wall_us(running->offers->clock);
    int rc = schedule_record_find(tx, &due->key, running->arena, record, err);
    bool is_elsewhere;

    if (rc)
        return rc;
    if (!record->message || record->message->run_count != due->run_count ||
        record->open_task_id != (due->key.task_id ? due->key.task_id : due->open_task_id))
        return err_set(err, ERR_STALE, "another run of the feed has begun since");
    is_elsewhere = strcmp(record->message->address, due->address) != 0;
    add_run(running, now_us);
    if (due->key.task_id) { /* else the task that a run of before has left waits for the next */
        record->last_task_id = due->key.task_id;
        record->open_task_id = record->open_hash = 0;
    }
    if (!is_elsewhere && running->result->outcome == OUTCOME(FAILED))
        note_failure(running, now_us);
    else if (!is_elsewhere)
        note_success(running, now_us);
    return schedule_record_put(tx, &due->key, record, running->arena, err);
}

int feed_schedule_end_run(const struct offers *offers, const struct feed_due *due,
                          const struct feed_run_result *result, struct arena *arena,
                          Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct feed_due found = *due;
    struct running running = {.offers = offers, .due = &found, .result = result, .arena = arena};
    int rc = store_write(offers->store, end_in, &running, err);

    *schedule = rc ? NULL : running.record.message;
    return rc;
}
