/* SPDX-License-Identifier: Apache-2.0 */
/* keeper.c - see keeper.h. */
#include "registry/receiving/keeper.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "registry/bounds.h"
#include "registry/receiving/sweep.h"

enum { KEEPER_MAGIC = OBJECT_MAGIC('k', 'e', 'e', 'p') };

struct keeper {
    uint32_t magic;
    const struct receiver *receiver;
    struct coord_shards *shards; /* one: whose turn it is */
    struct task task;
    struct log_pace pace;
    struct counter *ended;
    struct counter *forgotten;
    struct counter *errors;
    int64_t failing[CLIENT_COUNT_MAX]; /* ids of clients whose last sweep failed, and was told */
    size_t failing_count;
};

/* Everything of one client whose time is over now, unless it is time to stop. */
static int sweep_all(struct keeper *self, const struct client_view *client, struct err *err)
{
    int64_t now_us = clock_wall_us(self->receiver->clock);
    bool is_full = true;
    int rc = 0;

    while (is_full && !rc && !task_is_stopping(&self->task)) {
        struct sweep_counts counts = {0};

        rc = sweep_client(self->receiver, client, now_us, &counts, &is_full, err);
        counter_add(self->ended, counts.ended);
        counter_add(self->forgotten, counts.forgotten);
        for (uint32_t i = 0; counts.ended && i < client->shard_count; i++)
            queue_bell_ring(self->receiver->bell, client->id, i);
    }
    return rc;
}

/* A failure is told when it begins; the client is tried again with each round. */
static void note(struct keeper *self, const struct client_view *client, int rc,
                 const struct err *err)
{
    size_t at = 0;

    while (at < self->failing_count && self->failing[at] != client->id)
        at++;
    if (!rc && at < self->failing_count)
        self->failing[at] = self->failing[--self->failing_count];
    if (!rc)
        return;
    counter_add(self->errors, 1);
    if (at < self->failing_count || self->failing_count == CLIENT_COUNT_MAX)
        return;
    self->failing[self->failing_count++] = client->id;
    log_warn("a sweep of a client's documents failed and is tried again",
             LOG_TEXT("client", client->name), LOG_TEXT("error", err->text));
}

/* A store that does not answer is not asked for each of the others. */
static bool is_worth_going_on(int rc)
{
    return rc != ERR_UNAVAILABLE && rc != ERR_TIMEOUT;
}

static void look_round(struct keeper *self)
{
    struct arena *arena = arena_new();
    const struct client_view **clients = NULL;
    struct coord_shard owned;
    struct err err = {0};
    bool goes_on = true;
    size_t count = 0;
    int rc = 0;

    if (coord_owned(self->shards, &owned, 1)) {
        if (owned.leaving)
            coord_release(self->shards, owned.shard, owned.ticket);
        else
            rc = clients_list(self->receiver->clients, false, arena, &clients, &count, NULL, &err);
    }
    if (rc) {
        counter_add(self->errors, 1);
        if (log_pace_is_due(&self->pace, &err))
            log_warn("clients cannot be listed to sweep their documents: tried again",
                     LOG_TEXT("error", err.text));
    }
    for (size_t i = 0; i < count; i++) {
        if (goes_on) {
            rc = sweep_all(self, clients[i], &err);
            note(self, clients[i], rc, &err);
            goes_on = is_worth_going_on(rc);
        }
        client_unref(clients[i]);
    }
    arena_free(arena);
}

static void announce(const struct keeper *self)
{
    struct err err;

    if (clients_announce(self->receiver->clients, self->receiver->coord, &err))
        log_warn("the clients could not be announced", LOG_TEXT("error", err.text));
}

static void run(struct task *task, void *arg)
{
    struct keeper *self = arg;
    unsigned round = 0;

    object_check(self, KEEPER_MAGIC);
    do {
        task_says(task, "sweeping documents whose time is over");
        look_round(self);
        if (++round % SWEEP_ANNOUNCE_COUNT == 0)
            announce(self);
    } while (task_pause(task, SWEEP_PERIOD_MS * MS_US));
}

int keeper_start(const struct receiver *receiver, struct keeper **keeper, struct err *err)
{
    struct keeper *self = mem_zero(sizeof(*self));
    const struct task_options task = {
        .name = "registry-keeper", .run = run, .arg = self, .clock = receiver->clock};
    int rc;

    assert(receiver->store && receiver->clock && receiver->clients);
    object_begin(self, KEEPER_MAGIC);
    *keeper = NULL;
    self->receiver = receiver;
    rc = coord_join(receiver->coord, KEEPER_SET, 1, &self->shards, err);
    if (rc) {
        object_end(self, KEEPER_MAGIC);
        free(self);
        return rc;
    }
    self->ended = metrics_counter("torg_registry_ended_total", NULL,
                                  "Documents whose time was over, made tombstones.");
    self->forgotten =
        metrics_counter("torg_registry_forgotten_total", NULL, "Tombstones forgotten.");
    self->errors = metrics_counter("torg_registry_sweep_errors_total", NULL,
                                   "Sweeps that failed and were tried again.");
    rc = task_start(&self->task, &task, err);
    if (rc)
        keeper_stop(self);
    else
        *keeper = self;
    return rc;
}

void keeper_stop(struct keeper *keeper)
{
    if (!keeper)
        return;
    object_check(keeper, KEEPER_MAGIC);
    task_stop(&keeper->task);
    coord_leave(keeper->shards);
    object_end(keeper, KEEPER_MAGIC);
    free(keeper);
}
