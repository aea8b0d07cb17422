/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - see worker.h.
 *
 * The exporting thread alone gives shards up: between two rounds nothing of a shard is under way.
 * The other may go on expiring an offer of a shard that has just been given up; the revision it
 * expects makes that harmless.
 */
#include "offers/outbox/worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/task.h"
#include "offers/bounds.h"
#include "offers/change/draft.h"
#include "offers/inbox/messages.h"
#include "offers/outbox/expiry.h"
#include "offers/outbox/export.h"
#include "offers/record/photo_use.h"

enum { LABELS_SIZE = 32 };

/* Every number of a shard as a row: a statement asks for all of them at once. */
#define EVERY_SHARD                                                                                \
    "WITH RECURSIVE every(shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM every "              \
    "WHERE shard < 63) SELECT shard FROM every WHERE EXISTS "
static_assert(OFFER_SHARD_COUNT == 64, "EVERY_SHARD ends with the last one");
enum { OFFERS_WORKER_MAGIC = OBJECT_MAGIC('o', 'w', 'r', 'k') };

struct offers_worker {
    uint32_t magic;
    const struct offers *offers; /* borrowed */
    struct coord_shards *shards; /* owned */
    struct exporter exporter;
    struct task export_task; /* woken by the writers' bell, if they have one */
    struct task keeping_task;
    struct log_pace pace; /* of the keeping thread */
    struct counter *errors;
    struct counter *expired;
    struct counter *forgotten;
    struct counter *purged;
    struct histogram *rounds;
    struct gauge *lag_rows[OFFER_SHARD_COUNT];
    struct gauge *lag_seconds[OFFER_SHARD_COUNT];
};

/* --- export --- */

/* What is owned to be worked on. A shard that is to move is finished: nothing of it is under
 * way. */
static size_t owned_shards(struct offers_worker *worker, struct coord_shard *owned)
{
    size_t count = coord_owned(worker->shards, owned, OFFER_SHARD_COUNT);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (owned[i].leaving)
            coord_release(worker->shards, owned[i].shard, owned[i].ticket);
        else
            owned[kept++] = owned[i];
    }
    return kept;
}

/* After a round that found nothing. A store that this process has for itself is written by those
 * who ring alone. */
static int idle_ms(const struct offers_worker *worker, int waited_ms)
{
    if (worker->offers->bell && store_is_local(worker->offers->store))
        return EXPORT_ALONE_MS_MAX;
    waited_ms = waited_ms ? waited_ms * 2 : EXPORT_WAIT_MS_MIN;
    return waited_ms < EXPORT_WAIT_MS_MAX ? waited_ms : EXPORT_WAIT_MS_MAX;
}

/* A round; how long to wait before the next. *deaf: new changes are no reason to wait less. */
static int export_once(struct offers_worker *worker, int waited_ms, bool *deaf)
{
    struct coord_shard owned[OFFER_SHARD_COUNT];
    size_t owned_count = owned_shards(worker, owned);
    int64_t begin_us = clock_mono_us(worker->offers->clock);
    struct err err = {0};
    size_t count;
    int rc = exporter_round(&worker->exporter, owned, owned_count, &count, &err);

    if (count)
        histogram_add(worker->rounds, clock_mono_us(worker->offers->clock) - begin_us);
    *deaf = rc || count;
    if (rc == ERR_STALE) { /* coord will tell so too */
        log_warn("a shard was lost while it was exported", LOG_TEXT("error", err.text));
        return EXPORT_WAIT_MS_MAX;
    }
    if (rc) {
        counter_add(worker->errors, 1);
        if (waited_ms < EXPORT_RETRY_MS_MAX) /* then it has been told often enough */
            log_warn("export failed and is tried again", LOG_TEXT("error", err.text));
        waited_ms = waited_ms < EXPORT_WAIT_MS_MAX ? EXPORT_WAIT_MS_MAX : waited_ms * 2;
        return waited_ms < EXPORT_RETRY_MS_MAX ? waited_ms : EXPORT_RETRY_MS_MAX;
    }
    if (count)
        return worker->exporter.more ? 0 : EXPORT_PAUSE_MS;
    return idle_ms(worker, waited_ms);
}

static void export_main(struct task *task, void *arg)
{
    struct offers_worker *worker = arg;
    uint64_t seen = 0;
    int wait_ms = 0;

    object_check(worker, OFFERS_WORKER_MAGIC);
    while (!task_is_stopping(task)) {
        bool deaf;

        task_says(task, "exporting");
        wait_ms = export_once(worker, wait_ms, &deaf);
        if (wait_ms && deaf) /* a change of what is owned ends it; a timeout is no failure */
            coord_wait(worker->shards, &seen, wait_ms, NULL);
        else if (wait_ms)
            task_pause(task, (int64_t)wait_ms * MS_US);
    }
}

/* --- keeping house --- */

static void note_failure(struct offers_worker *worker, const char *what, const struct err *err)
{
    counter_add(worker->errors, 1);
    if (log_pace_is_due(&worker->pace, err))
        log_warn("housekeeping failed and is tried again", LOG_TEXT("what", what),
                 LOG_TEXT("error", err->text));
}

/* Shards that have something to be looked at: one statement for all, since most have nothing. */
struct busy {
    int64_t now_us;
    bool has_changes[OFFER_SHARD_COUNT];
    bool has_due[OFFER_SHARD_COUNT];
};

static int mark_shards(struct store_rows rows, bool marks[OFFER_SHARD_COUNT], struct err *err)
{
    while (store_next(&rows))
        marks[rows.columns[0].integer] = true;
    return store_rows_end(&rows, err);
}

static int find_busy(struct store_tx *tx, void *arg, struct err *err)
{
    struct busy *busy = arg;
    int rc = mark_shards(
        store_select(tx, EVERY_SHARD "(SELECT 1 FROM queue WHERE shard_id = shard)", NULL, 0),
        busy->has_changes, err);

    return rc ? rc
              : mark_shards(store_select(tx,
                                         EVERY_SHARD "(SELECT 1 FROM offer WHERE shard_id = shard "
                                                     "AND expires_us > 0 AND expires_us <= $1)",
                                         STORE_WITH(STORE_V_INT(busy->now_us))),
                            busy->has_due, err);
}

static void expire_shards(struct offers_worker *worker, const struct coord_shard *owned,
                          size_t count, const struct busy *busy)
{
    struct err err = {0};

    for (size_t i = 0; i < count; i++) {
        struct expiry_cursor cursor = {0};
        bool more = busy->has_due[owned[i].shard];

        while (more && !task_is_stopping(&worker->keeping_task) &&
               coord_valid(worker->shards, owned[i].shard, owned[i].ticket)) {
            size_t expired;

            if (expiry_step(worker->offers, owned[i].shard, &cursor, &expired, &more, &err)) {
                note_failure(worker, "expiry", &err);
                return;
            }
            counter_add(worker->expired, expired);
        }
    }
}

static void forget_answers(struct offers_worker *worker)
{
    int64_t forgotten = ONCE_CHUNK_COUNT;
    struct err err = {0};

    while (forgotten == ONCE_CHUNK_COUNT && !task_is_stopping(&worker->keeping_task)) {
        if (offers_forget_answers(worker->offers, ONCE_CHUNK_COUNT, &forgotten, &err)) {
            note_failure(worker, "kept answers", &err);
            return;
        }
        counter_add(worker->forgotten, (uint64_t)forgotten);
    }
}

static void forget_messages(struct offers_worker *worker)
{
    int64_t forgotten = MESSAGE_CHUNK_COUNT;
    struct err err = {0};

    while (forgotten == MESSAGE_CHUNK_COUNT && !task_is_stopping(&worker->keeping_task)) {
        if (messages_forget(worker->offers, MESSAGE_CHUNK_COUNT, &forgotten, &err)) {
            note_failure(worker, "old messages", &err);
            return;
        }
    }
}

/* Once in the life of a store that is older than the table. */
static void list_old_photos(struct offers_worker *worker)
{
    bool more = true;
    struct err err = {0};

    while (more && !task_is_stopping(&worker->keeping_task)) {
        if (photo_use_list_old(worker->offers->store, PHOTO_LIST_CHUNK_COUNT, &more, &err)) {
            note_failure(worker, "photos of old offers", &err);
            return;
        }
    }
}

static void purge_drafts(struct offers_worker *worker, const char *owners, int64_t life_us)
{
    int64_t before_us = clock_wall_us(worker->offers->clock) - life_us;
    size_t purged = DRAFT_CHUNK_COUNT;
    struct err err = {0};

    while (life_us && purged == DRAFT_CHUNK_COUNT && !task_is_stopping(&worker->keeping_task)) {
        if (draft_purge(worker->offers, owners, before_us, DRAFT_CHUNK_COUNT, &purged, &err)) {
            note_failure(worker, "abandoned drafts", &err);
            return;
        }
        counter_add(worker->purged, purged);
    }
}

struct lag {
    const struct coord_shard *owned;
    size_t count;
    const struct busy *busy;
    int64_t rows[OFFER_SHARD_COUNT];
    int64_t since_us[OFFER_SHARD_COUNT]; /* the oldest change; 0: none waits */
};

static int measure_lag(struct store_tx *tx, void *arg, struct err *err)
{
    struct lag *lag = arg;
    int rc = 0;

    for (size_t i = 0; i < lag->count && !rc; i++) {
        uint32_t shard = lag->owned[i].shard;
        struct store_rows rows;
        bool found;

        if (!lag->busy->has_changes[shard])
            continue;
        rows =
            store_select(tx,
                         "SELECT seq, (SELECT MAX(seq) FROM queue WHERE shard_id = $1), changed_us "
                         "FROM queue WHERE shard_id = $1 ORDER BY seq LIMIT 1",
                         STORE_WITH(STORE_V_INT(shard)));
        found = store_next(&rows);
        lag->rows[shard] = found ? rows.columns[1].integer - rows.columns[0].integer + 1 : 0;
        lag->since_us[shard] = found ? rows.columns[2].integer : 0;
        rc = store_rows_end(&rows, err);
    }
    return rc;
}

/* Between the oldest row and the newest: a few less may be there. Shards of others read 0. */
static void tell_lag(struct offers_worker *worker, const struct coord_shard *owned, size_t count,
                     const struct busy *busy)
{
    struct lag lag = {.owned = owned, .count = count, .busy = busy};
    int64_t now_us = clock_wall_us(worker->offers->clock);
    struct err err = {0};

    if (store_read(worker->offers->store, measure_lag, &lag, &err)) {
        note_failure(worker, "lag", &err);
        return;
    }
    for (size_t i = 0; i < OFFER_SHARD_COUNT; i++) {
        int64_t late_us = lag.since_us[i] ? now_us - lag.since_us[i] : 0;

        gauge_set(worker->lag_rows[i], lag.rows[i]);
        gauge_set(worker->lag_seconds[i], late_us > 0 ? late_us / SECOND_US : 0);
    }
}

static void keeping_main(struct task *task, void *arg)
{
    struct offers_worker *worker = arg;
    struct coord_shard owned[OFFER_SHARD_COUNT];

    object_check(worker, OFFERS_WORKER_MAGIC);
    do {
        struct busy busy = {.now_us = clock_wall_us(worker->offers->clock)};
        size_t count = coord_owned(worker->shards, owned, OFFER_SHARD_COUNT);
        struct err err;

        task_says(task, "telling the lag");
        if (store_read(worker->offers->store, find_busy, &busy, &err)) {
            note_failure(worker, "what waits", &err);
            continue;
        }
        tell_lag(worker, owned, count, &busy);
        task_says(task, "expiring offers");
        expire_shards(worker, owned, count, &busy);
        /* What is of the whole store is done by whoever has the first shard: one is enough. */
        if (count && owned[0].shard == 0) {
            task_says(task, "forgetting answers, messages and drafts");
            forget_answers(worker);
            forget_messages(worker);
            list_old_photos(worker);
            purge_drafts(worker, DRAFT_OF_VISITORS, worker->offers->visitor_draft_life_us);
            purge_drafts(worker, DRAFT_OF_SELLERS, worker->offers->seller_draft_life_us);
        }
    } while (task_pause(task, KEEPING_PERIOD_MS * MS_US));
}

/* --- life --- */

static void make_metrics(struct offers_worker *worker)
{
    char labels[LABELS_SIZE];

    worker->errors = metrics_counter("torg_offers_worker_errors_total", NULL,
                                     "Rounds of export, expiry and the like that failed.");
    worker->expired =
        metrics_counter("torg_offers_expired_total", NULL, "Offers expired by this process.");
    worker->forgotten = metrics_counter("torg_offers_answers_forgotten_total", NULL,
                                        "Answers to idempotency keys that were too old.");
    worker->purged = metrics_counter("torg_offers_drafts_purged_total", NULL,
                                     "Abandoned drafts that were too old.");
    worker->rounds = metrics_histogram("torg_export_round_seconds", NULL,
                                       "Reading, sending and deleting one batch of changes.");
    for (unsigned i = 0; i < OFFER_SHARD_COUNT; i++) {
        snprintf(labels, sizeof(labels), "shard=\"%u\"", i);
        worker->lag_rows[i] =
            metrics_gauge("torg_export_lag_changes", labels, "Changes that wait to be exported.");
        worker->lag_seconds[i] = metrics_gauge("torg_export_lag_seconds", labels,
                                               "Age of the oldest change that waits.");
    }
}

int offers_worker_start(const struct offers *offers, struct topics *topics, struct coord *coord,
                        struct offers_worker **worker, struct err *err)
{
    struct offers_worker *self = mem_zero(sizeof(*self));
    const struct task_options exporting = {.name = "offers-export",
                                           .run = export_main,
                                           .arg = self,
                                           .clock = offers->clock,
                                           .bell = offers->bell};
    const struct task_options keeping = {
        .name = "offers-keeper", .run = keeping_main, .arg = self, .clock = offers->clock};
    int rc;

    assert(offers->store && offers->clock);
    object_begin(self, OFFERS_WORKER_MAGIC);
    *worker = NULL;
    self->offers = offers;
    make_metrics(self);
    rc = coord_join(coord, EXPORT_SET, OFFER_SHARD_COUNT, &self->shards, err);
    if (!rc)
        rc = exporter_init(&self->exporter, offers, topics, self->shards, err);
    if (rc) {
        if (self->shards)
            coord_leave(self->shards);
        object_end(self, OFFERS_WORKER_MAGIC);
        free(self);
        return rc;
    }
    rc = task_start(&self->export_task, &exporting, err);
    if (!rc)
        rc = task_start(&self->keeping_task, &keeping, err);
    if (rc) {
        offers_worker_stop(self);
        return rc;
    }
    *worker = self;
    return 0;
}

void offers_worker_stop(struct offers_worker *worker)
{
    if (!worker)
        return;
    object_check(worker, OFFERS_WORKER_MAGIC);
    task_ask_stop(&worker->keeping_task);
    task_stop(&worker->export_task);
    task_stop(&worker->keeping_task);
    coord_leave(worker->shards);
    object_end(worker, OFFERS_WORKER_MAGIC);
    free(worker);
}
