/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexer_worker.c - see indexer_worker.h.
 *
 * A seat is a shard of a client, held with a ticket. Seats are in one list under the bell's lock;
 * a runner takes one that is due and marks it as busy, so that no other touches it. Only runners
 * close seats: the keeper marks those that are to go.
 */
#include "registry/indexing/indexer_worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "config/bounds.h"
#include "coord/bounds.h"
#include "registry/bounds.h"
#include "registry/clients/retired_numbers.h"
#include "registry/clients/retired_topics.h"
#include "registry/indexing/queue.h"

enum { SEAT_MAGIC = OBJECT_MAGIC('s', 'e', 'a', 't') };

struct seat {
    uint32_t magic;
    struct indexer *indexer; /* owned */
    struct coord_shards *shards;
    int64_t client_id;
    uint32_t shard;
    uint64_t ticket;
    bool is_busy;
    bool is_leaving;  /* to be closed by a runner */
    bool is_lost;     /* the ticket is good for nothing any more: nothing is to be committed */
    uint64_t rings;   /* of the bell, before the last round */
    int64_t ready_us; /* a ring before this waits */
    int64_t next_us;  /* it is looked at without a ring */
    int64_t ran_us;
    int64_t told_us; /* lag */
    int64_t swept_us;
    int64_t poured_us;
    int wait_ms; /* after nothing was found, or a failure */
};

/* A client whose shards are shared out. */
struct room {
    char client[64];
    int64_t client_id;
    uint32_t shard_count;
    struct coord_shards *shards; /* owned */
};

enum { INDEXER_WORKER_MAGIC = OBJECT_MAGIC('i', 'w', 'r', 'k') };

struct indexer_worker {
    uint32_t magic;
    const struct indexer_base *base;
    struct coord *coord;
    struct queue_bell *bell; /* the writers', or the own one */
    struct queue_bell own;
    struct seat **seats; /* with the bell's lock, as all of a seat that is not busy */
    size_t seat_count, seat_capacity;
    struct room *rooms; /* of the keeper */
    size_t room_count, room_capacity;
    struct task keeper;
    struct task runners[INDEXER_THREAD_COUNT_MAX];
    unsigned runner_count;
    struct counter *errors;
};

static int64_t now_mono_us(const struct indexer_worker *worker)
{
    return clock_mono_us(worker->base->clock);
}

/* --- runners --- */

static bool is_due(const struct indexer_worker *worker, const struct seat *seat, int64_t now_us)
{
    if (seat->is_busy)
        return false;
    if (seat->is_leaving)
        return true;
    if (now_us >= seat->next_us)
        return true;
    return now_us >= seat->ready_us &&
           queue_bell_rings(worker->bell, seat->client_id, seat->shard) != seat->rings;
}

/* The due one that has waited longest. */
static struct seat *pick(const struct indexer_worker *worker, int64_t now_us)
{
    struct seat *found = NULL;

    for (size_t i = 0; i < worker->seat_count; i++) {
        struct seat *seat = worker->seats[i];

        if (is_due(worker, seat, now_us) && (!found || seat->ran_us < found->ran_us))
            found = seat;
    }
    return found;
}

/* Until when nothing will be due unless the bell rings. */
static int64_t arm(struct indexer_worker *worker, int64_t now_us)
{
    int64_t until_us = now_us + SECOND_US;

    for (size_t i = 0; i < worker->seat_count; i++) {
        struct seat *seat = worker->seats[i];
        int64_t seat_us = seat->next_us;

        if (seat->is_busy)
            continue;
        /* rung already, or about to be before it is ready: then it has its time */
        if (now_us < seat->ready_us ||
            !queue_bell_arm(worker->bell, seat->client_id, seat->shard, seat->rings))
            seat_us = seat->ready_us < seat_us ? seat->ready_us : seat_us;
        if (seat_us < until_us)
            until_us = seat_us;
    }
    return until_us;
}

static void plan_idle(const struct indexer_worker *worker, struct seat *seat, int64_t now_us)
{
    /* A store that this process has for itself is written by those who ring alone. */
    bool is_alone = worker->bell != &worker->own && store_is_local(worker->base->store);
    int max = INDEXER_WAIT_MS_MAX + (int)worker->seat_count; /* idle ones cost, too */

    seat->wait_ms = seat->wait_ms ? seat->wait_ms * 2 : INDEXER_WAIT_MS_MIN;
    if (seat->wait_ms > max)
        seat->wait_ms = max;
    if (is_alone) /* what comes next rings */
        seat->wait_ms = INDEXER_ALONE_MS_MAX;
    seat->next_us = now_us + seat->wait_ms * MS_US;
}

static void plan_failed(struct indexer_worker *worker, struct seat *seat, const struct err *err,
                        int64_t now_us)
{
    counter_add(worker->errors, 1);
    if (seat->wait_ms < INDEXER_RETRY_MS_MAX) /* then it has been told often enough */
        log_warn("indexing failed and is tried again", LOG_INT("client", seat->client_id),
                 LOG_INT("shard", seat->shard), LOG_TEXT("error", err->text));
    seat->wait_ms = seat->wait_ms < INDEXER_WAIT_MS_MAX ? INDEXER_WAIT_MS_MAX : seat->wait_ms * 2;
    if (seat->wait_ms > INDEXER_RETRY_MS_MAX)
        seat->wait_ms = INDEXER_RETRY_MS_MAX;
    seat->ready_us = seat->next_us = now_us + seat->wait_ms * MS_US;
}

/* What happens now and then, between rounds. */
static int keep_house(struct seat *seat, int64_t now_us, struct err *err)
{
    int rc = 0;

    if (now_us - seat->told_us >= INDEXER_LAG_MS * MS_US) {
        seat->told_us = now_us;
        rc = indexer_tell_lag(seat->indexer, err);
    }
    if (!rc && now_us - seat->swept_us >= (int64_t)INDEXER_SWEEP_MS * MS_US) {
        seat->swept_us = now_us;
        rc = indexer_sweep(seat->indexer, err);
    }
    return rc;
}

/* While lanes have more than a round takes, pouring waits, but not for ever. */
static int pour(struct seat *seat, struct indexer_round *round, int64_t now_us, struct err *err)
{
    bool is_poured;
    int rc;

    if (round->more && now_us - seat->poured_us < POUR_BUSY_MS * MS_US)
        return 0;
    seat->poured_us = now_us;
    rc = indexer_pour(seat->indexer, &is_poured, err);
    if (!rc && is_poured) {
        round->more = true;
        round->element_count++;
    }
    return rc;
}

/* With the lock held, which is let go meanwhile. */
static void run_seat(struct indexer_worker *worker, struct seat *seat)
{
    struct indexer_round round = {0};
    int64_t begun_us = now_mono_us(worker);
    struct err err = {0};
    int64_t now_us;
    int rc;

    object_check(seat, SEAT_MAGIC);
    assert(!seat->is_busy && !seat->is_leaving); /* one runner has it */
    seat->is_busy = true;
    seat->rings = queue_bell_rings(worker->bell, seat->client_id, seat->shard);
    pthread_mutex_unlock(&worker->bell->lock);
    rc = indexer_round(seat->indexer, &round, &err);
    if (!rc) /* while lanes have more as well: an import takes minutes */
        rc = keep_house(seat, begun_us, &err);
    if (!rc)
        rc = indexer_tend(seat->indexer, &err);
    if (!rc)
        rc = pour(seat, &round, begun_us, &err);
    now_us = now_mono_us(worker);
    pthread_mutex_lock(&worker->bell->lock);
    object_check(seat, SEAT_MAGIC);
    assert(seat->is_busy && now_us >= begun_us);
    seat->is_busy = false;
    seat->ran_us = now_us;
    if (rc == ERR_STALE) {
        /* Given up, even if coord knows of no other owner: then it comes back with a new ticket. */
        seat->is_lost = seat->is_leaving = true;
        log_warn("a shard has a new owner", LOG_INT("client", seat->client_id),
                 LOG_INT("shard", seat->shard), LOG_TEXT("error", err.text));
    } else if (rc) {
        plan_failed(worker, seat, &err, now_us);
    } else if (round.element_count || !round.is_settled) {
        seat->wait_ms = 0;
        seat->ready_us = round.more ? now_us : begun_us + INDEXER_PAUSE_MS * MS_US;
        seat->next_us = round.more ? now_us : now_us + INDEXER_WAIT_MS_MIN * MS_US;
    } else {
        seat->ready_us = now_us;
        plan_idle(worker, seat, now_us);
    }
}

static void close_indexer(struct seat *seat)
{
    struct err err = {0};

    if (!seat->is_lost && coord_valid(seat->shards, seat->shard, seat->ticket) &&
        indexer_settle(seat->indexer, &err))
        log_warn("what was sent to the index is sent again by the next owner of the shard",
                 LOG_INT("client", seat->client_id), LOG_INT("shard", seat->shard),
                 LOG_TEXT("error", err.text));
    indexer_free(seat->indexer);
    coord_release(seat->shards, seat->shard, seat->ticket);
}

/* With the lock held, which is let go meanwhile. */
static void close_seat(struct indexer_worker *worker, struct seat *seat)
{
    assert(!seat->is_busy && seat->is_leaving && worker->seat_count > 0);
    seat->is_busy = true;
    pthread_mutex_unlock(&worker->bell->lock);
    close_indexer(seat);
    pthread_mutex_lock(&worker->bell->lock);
    for (size_t i = 0; i < worker->seat_count; i++)
        if (worker->seats[i] == seat) {
            worker->seats[i] = worker->seats[--worker->seat_count];
            break;
        }
    object_end(seat, SEAT_MAGIC);
    free(seat);
}

static void runner_main(struct task *task, void *arg)
{
    struct indexer_worker *worker = arg;

    object_check(worker, INDEXER_WORKER_MAGIC);
    pthread_mutex_lock(&worker->bell->lock);
    while (!task_is_stopping(task)) {
        int64_t now_us = now_mono_us(worker);
        struct seat *seat = pick(worker, now_us);
        int64_t until_us;

        if (seat && seat->is_leaving) {
            task_says(task, "giving a shard up");
            close_seat(worker, seat);
        } else if (seat) {
            task_says(task, "indexing a shard");
            run_seat(worker, seat);
        } else {
            until_us = arm(worker, now_us);
            if (until_us > now_us)
                queue_bell_wait(worker->bell, task, until_us);
        }
    }
    pthread_mutex_unlock(&worker->bell->lock);
}

/* --- the keeper --- */

static struct room *find_room(struct indexer_worker *worker, const char *client)
{
    for (size_t i = 0; i < worker->room_count; i++)
        if (strcmp(worker->rooms[i].client, client) == 0)
            return &worker->rooms[i];
    return NULL;
}

static int join(struct indexer_worker *worker, const struct client_view *client, struct err *err)
{
    char set[COORD_NAME_SIZE_MAX + 1];
    struct room room = {.client_id = client->id, .shard_count = client->shard_count};
    int rc;

    snprintf(room.client, sizeof(room.client), "%s", client->name);
    snprintf(set, sizeof(set), QUEUE_SET ".%.40s", client->name);
    rc = coord_join(worker->coord, set, client->shard_count, &room.shards, err);
    if (rc)
        return rc;
    worker->rooms = mem_grow(worker->rooms, worker->room_count + 1, sizeof(*worker->rooms),
                             &worker->room_capacity);
    worker->rooms[worker->room_count++] = room;
    return 0;
}

/* With the lock held. */
static struct seat *find_seat(const struct indexer_worker *worker, const struct room *room,
                              uint32_t shard)
{
    for (size_t i = 0; i < worker->seat_count; i++)
        if (worker->seats[i]->shards == room->shards && worker->seats[i]->shard == shard)
            return worker->seats[i];
    return NULL;
}

static void add_seat(struct indexer_worker *worker, const struct room *room,
                     const struct coord_shard *owned)
{
    struct seat *seat = mem_zero(sizeof(*seat));

    object_begin(seat, SEAT_MAGIC);
    seat->indexer =
        indexer_new(worker->base, room->client, owned->shard, owned->ticket, room->shards);
    seat->shards = room->shards;
    seat->client_id = room->client_id;
    seat->shard = owned->shard;
    seat->ticket = owned->ticket;
    seat->swept_us = now_mono_us(worker);
    worker->seats = mem_grow(worker->seats, worker->seat_count + 1, sizeof(*worker->seats),
                             &worker->seat_capacity);
    worker->seats[worker->seat_count++] = seat;
}

/* What is owned gets a seat; a seat whose ownership ends, or has another ticket now, goes first.
 * What is to leave and has no seat is given up here: others wait for it. */
static void reconcile(struct indexer_worker *worker, const struct room *room)
{
    struct coord_shard owned[CLIENT_SHARD_COUNT_MAX];
    size_t count = coord_owned(room->shards, owned, CLIENT_SHARD_COUNT_MAX);
    bool changed = false;

    pthread_mutex_lock(&worker->bell->lock);
    for (size_t i = 0; i < worker->seat_count; i++) {
        struct seat *seat = worker->seats[i];
        bool stays = false;

        for (size_t k = 0; k < count; k++)
            stays = stays || (owned[k].shard == seat->shard && owned[k].ticket == seat->ticket &&
                              !owned[k].leaving);
        if (seat->shards == room->shards && !stays && !seat->is_leaving) {
            seat->is_leaving = true;
            changed = true;
        }
    }
    for (size_t k = 0; k < count; k++) {
        if (find_seat(worker, room, owned[k].shard))
            continue;
        if (owned[k].leaving) { /* gained and to go since the last look: no runner gives it up */
            coord_release(room->shards, owned[k].shard, owned[k].ticket);
        } else {
            add_seat(worker, room, &owned[k]);
            changed = true;
        }
    }
    if (changed)
        queue_bell_wake(worker->bell);
    pthread_mutex_unlock(&worker->bell->lock);
}

/* After such a failure of another's set: a coord that does not answer is not asked for each. */
static bool is_worth_joining(int rc)
{
    return rc != ERR_UNAVAILABLE && rc != ERR_TIMEOUT;
}

static int keep(struct indexer_worker *worker, struct arena *arena, struct err *err)
{
    const struct client_view **clients;
    size_t count;
    int rc = clients_list(worker->base->clients, false, arena, &clients, &count, NULL, err);

    for (size_t i = 0; i < count; i++) {
        if (!find_room(worker, clients[i]->name) && is_worth_joining(rc)) {
            int joined = join(worker, clients[i], err);

            rc = joined ? joined : rc;
        }
        client_unref(clients[i]);
    }
    /* Those too that cannot be read now: others wait for the shards that are to leave. */
    for (size_t i = 0; i < worker->room_count; i++)
        reconcile(worker, &worker->rooms[i]);
    return rc;
}

/* False when it is time to stop. */
static bool wait_period(struct indexer_worker *worker)
{
    bool goes_on;

    pthread_mutex_lock(&worker->bell->lock);
    if (!task_is_stopping(&worker->keeper))
        queue_bell_wait_call(worker->bell, &worker->keeper,
                             clock_after_us(worker->base->clock, INDEXER_KEEPING_MS * MS_US));
    goes_on = !task_is_stopping(&worker->keeper);
    pthread_mutex_unlock(&worker->bell->lock);
    return goes_on;
}

static void remove_topics(const struct indexer_worker *worker)
{
    struct err err = {0};
    size_t count;

    if (retired_topics_remove(worker->base, worker->coord, &count, &err))
        log_warn("topics of retired epochs could not be removed; this is tried again",
                 LOG_TEXT("error", err.text));
}

/* A piece a time, so that shards are looked at in between. */
static void remove_numbers(const struct indexer_worker *worker, int64_t *next_us)
{
    struct err err = {0};
    bool is_over = true;

    if (now_mono_us(worker) < *next_us)
        return;
    if (retired_numbers_remove(worker->base->store, &is_over, &err))
        log_warn("numbers that no epoch has could not be removed; this is tried again",
                 LOG_TEXT("error", err.text));
    if (is_over)
        *next_us = clock_after_us(worker->base->clock, (int64_t)RETIRED_NUMBER_MS * MS_US);
}

static void keeper_main(struct task *task, void *arg)
{
    struct indexer_worker *worker = arg;
    struct arena *arena = arena_new();
    int64_t looked_us = now_mono_us(worker);
    int64_t numbers_us = looked_us;
    bool was_told = false;
    struct err err;

    object_check(worker, INDEXER_WORKER_MAGIC);
    do {
        int rc;

        task_says(task, "looking at clients and their shards");
        arena_reset(arena);
        rc = keep(worker, arena, &err);
        if (rc)
            counter_add(worker->errors, 1);
        if (rc && !was_told)
            log_warn("clients and their shards cannot be looked at", LOG_TEXT("error", err.text));
        was_told = rc != 0;
        if (!rc && now_mono_us(worker) - looked_us >= (int64_t)INDEXER_RETIRED_MS * MS_US) {
            looked_us = now_mono_us(worker);
            remove_topics(worker);
        }
        if (!rc)
            remove_numbers(worker, &numbers_us);
    } while (wait_period(worker));
    arena_free(arena);
}

/* --- life --- */

struct indexer_worker *indexer_worker_start(const struct indexer_base *base, struct coord *coord,
                                            struct queue_bell *bell, unsigned thread_count)
{
    struct indexer_worker *worker = mem_zero(sizeof(*worker));
    struct task_options options = {
        .name = "index-keeper", .run = keeper_main, .arg = worker, .clock = base->clock};
    int rc;

    object_begin(worker, INDEXER_WORKER_MAGIC);
    assert(thread_count >= 1 && thread_count <= INDEXER_THREAD_COUNT_MAX);
    worker->base = base;
    worker->coord = coord;
    queue_bell_init(&worker->own, base->clock);
    worker->bell = bell ? bell : &worker->own;
    worker->errors = metrics_counter("torg_indexer_errors_total", NULL,
                                     "Rounds that failed as a whole and are tried again.");
    rc = task_start(&worker->keeper, &options, NULL);
    assert(!rc);
    options.name = "indexer";
    options.run = runner_main;
    for (; worker->runner_count < thread_count; worker->runner_count++) {
        rc = task_start(&worker->runners[worker->runner_count], &options, NULL);
        assert(!rc);
    }
    return worker;
}

void indexer_worker_stop(struct indexer_worker *worker)
{
    if (!worker)
        return;
    object_check(worker, INDEXER_WORKER_MAGIC);
    pthread_mutex_lock(&worker->bell->lock);
    task_ask_stop(&worker->keeper);
    for (unsigned i = 0; i < worker->runner_count; i++)
        task_ask_stop(&worker->runners[i]);
    queue_bell_wake(worker->bell);
    pthread_mutex_unlock(&worker->bell->lock);
    queue_bell_call(worker->bell);
    task_stop(&worker->keeper);
    for (unsigned i = 0; i < worker->runner_count; i++)
        task_stop(&worker->runners[i]);
    for (size_t i = 0; i < worker->seat_count; i++) {
        close_indexer(worker->seats[i]);
        free(worker->seats[i]);
    }
    for (size_t i = 0; i < worker->room_count; i++)
        coord_leave(worker->rooms[i].shards);
    queue_bell_release(&worker->own);
    free(worker->seats);
    free(worker->rooms);
    object_end(worker, INDEXER_WORKER_MAGIC);
    free(worker);
}
