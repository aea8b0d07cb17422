/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord.c - see coord.h: the member's side, the same for every backend.
 *
 * Opening, closing, the thread, joining and leaving, registers. The rest is in coord_owned.c
 * and coord_step.c; member.h says how they share a handle.
 */
#include "coord/coord.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "coord/backend.h"
#include "coord/bounds.h"
#include "coord/member.h"

static int check_name(const char *what, const char *name, struct err *err)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
    size_t size = strlen(name);

    if (size == 0 || size > COORD_NAME_SIZE_MAX || name[0] == '.' || strspn(name, allowed) != size)
        return err_set(err, ERR_INVALID,
                       "%s name \"%.80s\" must be 1 to %d characters of A-Z a-z 0-9 . _ : - and "
                       "not begin with a dot",
                       what, name, COORD_NAME_SIZE_MAX);
    return 0;
}

static const struct coord_ops *added;

void coord_add_backend(const struct coord_ops *ops)
{
    added = ops;
}

int coord_backend_open(const char *url, const struct coord_setup *setup,
                       struct coord_backend **backend, struct err *err)
{
    static const struct coord_ops *const all[] = {&coord_memory_ops, &coord_local_ops,
                                                  &coord_zookeeper_ops, &coord_fault_ops};
    size_t i;

    for (i = 0; i < ARRAY_COUNT(all) + (added != NULL); i++) {
        const struct coord_ops *ops = i < ARRAY_COUNT(all) ? all[i] : added;
        size_t size = strlen(ops->scheme);

        if (strncmp(url, ops->scheme, size) == 0 && url[size] == ':')
            return ops->open(url + size + 1, setup, backend, err);
    }
    return err_set(err, ERR_INVALID,
                   "coordination URL \"%.100s\" must begin with memory: local: or zookeeper:", url);
}

/* Waits for a poke or the next renewal; false when the handle is being closed. */
static bool wait_for_work(struct coord *coord, bool failed, bool *poked)
{
    bool in_time = true;
    int64_t until_us;
    bool go_on;

    pthread_mutex_lock(&coord->lock);
    if (failed)
        until_us = clock_after_us(coord->clock, coord->lease_us / RETRIES_PER_LEASE);
    else /* since the renewal, not since now: pokes must not put it off */
        until_us = coord->deadline_us - coord->lease_us + coord->lease_us / RENEWALS_PER_LEASE;
    while (!task_is_stopping(&coord->task) && (failed || !coord->poked) && in_time)
        in_time = task_wait_on(&coord->task, &coord->wake, &coord->lock, until_us);
    *poked = coord->poked;
    coord->poked = false;
    go_on = !task_is_stopping(&coord->task);
    pthread_mutex_unlock(&coord->lock);
    return go_on;
}

static void run(struct task *task, void *arg)
{
    struct coord *coord = arg;
    struct err err;
    bool poked = false;
    int rc = 0;

    object_check(coord, COORD_MAGIC);
    while (wait_for_work(coord, rc != 0, &poked)) {
        size_t i;

        task_says(task, "renewing the lease");
        pthread_mutex_lock(&coord->step_lock);
        for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
            if (coord->sets[i])
                coord->sets[i]->look_due |= poked;
        }
        rc = member_step(coord, false, &err);
        pthread_mutex_unlock(&coord->step_lock);
    }
}

/* --- open, close, join, leave --- */

static void init_locks(struct coord *coord)
{
    pthread_mutex_init(&coord->step_lock, NULL);
    pthread_mutex_init(&coord->lock, NULL);
    condition_init(&coord->changed, coord->clock);
    condition_init(&coord->wake, coord->clock);
}

static void free_coord(struct coord *coord)
{
    condition_release(&coord->wake);
    condition_release(&coord->changed);
    pthread_mutex_destroy(&coord->lock);
    pthread_mutex_destroy(&coord->step_lock);
    object_end(coord, COORD_MAGIC);
    free(coord);
}

static int start(struct coord *coord, const char *url, const struct coord_options *options,
                 struct err *err)
{
    struct coord_setup setup = {.member = coord->member,
                                .clock = coord->clock,
                                .lease_us = coord->lease_us,
                                .user = options->user,
                                .password = options->password,
                                .tls = options->tls,
                                .poke = member_poke,
                                .arg = coord};
    const struct task_options task = {
        .name = "coordination", .run = run, .arg = coord, .clock = coord->clock};
    int rc = coord_backend_open(url, &setup, &coord->backend, err);

    if (rc)
        return rc;
    rc = coord_step(coord, err);
    if (!rc && !options->manual)
        rc = task_start(&coord->task, &task, err);
    if (rc)
        coord->backend->ops->close(coord->backend);
    return rc;
}

int coord_open(const char *url, const char *member, const struct coord_options *options,
               struct coord **out, struct err *err)
{
    static const struct coord_options defaults;
    int64_t lease_us;
    struct coord *coord;
    int rc;

    *out = NULL;
    if (!options)
        options = &defaults;
    lease_us = options->lease_us ? options->lease_us : (int64_t)COORD_LEASE_MS_DEFAULT * MS_US;
    rc = check_name("member", member, err);
    if (rc)
        return rc;
    if (lease_us < (int64_t)COORD_LEASE_MS_MIN * MS_US ||
        lease_us > (int64_t)COORD_LEASE_MS_MAX * MS_US)
        return err_set(err, ERR_INVALID, "a lease of %jd ms is not between %d and %d",
                       (intmax_t)(lease_us / MS_US), COORD_LEASE_MS_MIN, COORD_LEASE_MS_MAX);
    coord = mem_zero(sizeof(*coord));
    object_begin(coord, COORD_MAGIC);
    snprintf(coord->member, sizeof(coord->member), "%s", member);
    coord->clock = clock_or_system(options->clock);
    coord->lease_us = lease_us;
    coord->expired = true; /* nothing is owned yet, so nothing can end */
    coord->answering = true;
    coord->lost_count = metrics_counter("torg_coord_leases_lost_total", NULL,
                                        "Leases that ended before they were renewed.");
    init_locks(coord);
    rc = start(coord, url, options, err);
    if (rc)
        free_coord(coord);
    else
        *out = coord;
    return rc;
}

void coord_close(struct coord *coord)
{
    size_t i;

    if (!coord)
        return;
    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->lock);
    task_ask_stop(&coord->task);
    condition_signal(&coord->wake);
    pthread_mutex_unlock(&coord->lock);
    task_stop(&coord->task);
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        coord_leave(coord->sets[i]);
        if (coord->sets[i]) /* the backend does not answer; the end of the session does it */
            member_drop_set(coord->sets[i]);
    }
    for (i = 0; i < COORD_SET_COUNT_MAX; i++)
        assert(!coord->sets[i]);
    coord->backend->ops->close(coord->backend);
    free_coord(coord);
}

static int add_set(struct coord *coord, struct coord_shards *shards, struct err *err)
{
    size_t place = COORD_SET_COUNT_MAX;
    size_t i;

    for (i = COORD_SET_COUNT_MAX; i > 0; i--) {
        if (!coord->sets[i - 1])
            place = i - 1;
        else if (strcmp(coord->sets[i - 1]->name, shards->name) == 0 && coord->sets[i - 1]->left)
            return err_set(err, ERR_UNAVAILABLE, "%s is still leaving %s: try again", coord->member,
                           shards->name);
        else if (strcmp(coord->sets[i - 1]->name, shards->name) == 0)
            return err_set(err, ERR_EXISTS, "%s has joined %s already", coord->member,
                           shards->name);
    }
    if (place == COORD_SET_COUNT_MAX)
        return err_set(err, ERR_LIMIT, "a member can join %d sets of shards", COORD_SET_COUNT_MAX);
    assert(!coord->sets[place] && shards->coord == coord);
    pthread_mutex_lock(&coord->lock);
    coord->sets[place] = shards;
    pthread_mutex_unlock(&coord->lock);
    return 0;
}

/* With step_lock. What cannot be told to the backend now is told by a later step, or by the
 * end of the session. */
static void leave(struct coord_shards *shards)
{
    const char *member = shards->coord->member;
    struct err err;

    shards->left = true;
    if (member_step_set(shards, &err))
        log_warn("set not left yet", LOG_TEXT("member", member), LOG_TEXT("error", err.text));
}

int coord_join(struct coord *coord, const char *set, uint32_t shard_count,
               struct coord_shards **out, struct err *err)
{
    struct coord_shards *shards;
    char labels[COORD_NAME_SIZE_MAX + 16];
    struct err unread;
    int rc;

    object_check(coord, COORD_MAGIC);
    *out = NULL;
    if (!err)
        err = &unread;
    rc = check_name("set", set, err);
    if (rc)
        return rc;
    if (shard_count == 0 || shard_count > COORD_SHARD_COUNT_MAX)
        return err_set(err, ERR_INVALID, "set %s can have 1 to %d shards, not %u", set,
                       COORD_SHARD_COUNT_MAX, (unsigned)shard_count);
    shards = mem_zero(sizeof(*shards));
    object_begin(shards, COORD_SHARDS_MAGIC);
    shards->coord = coord;
    snprintf(shards->name, sizeof(shards->name), "%s", set);
    shards->shard_count = shard_count;
    shards->held = mem_array(shard_count, sizeof(shards->held[0]));
    snprintf(labels, sizeof(labels), "set=\"%s\"", set);
    shards->owned_count =
        metrics_gauge("torg_coord_shards_owned", labels, "Shards this process owns.");
    pthread_mutex_lock(&coord->step_lock);
    rc = add_set(coord, shards, err);
    if (rc) {
        free(shards->held);
        object_end(shards, COORD_SHARDS_MAGIC);
        free(shards);
    } else {
        rc = member_step_set(shards, err);
        if (rc == ERR_STALE) /* the lease ended since the last step, which says so */
            rc = member_step(coord, true, err);
        if (rc) /* it may be half joined */
            leave(shards);
    }
    pthread_mutex_unlock(&coord->step_lock);
    if (!rc)
        *out = shards;
    return rc;
}

void coord_leave(struct coord_shards *shards)
{
    struct coord *coord;

    if (!shards)
        return;
    object_check(shards, COORD_SHARDS_MAGIC);
    coord = shards->coord;
    pthread_mutex_lock(&coord->step_lock);
    leave(shards);
    pthread_mutex_unlock(&coord->step_lock);
}

/* --- registers --- */

int coord_get(struct coord *coord, const char *key, struct buf *out, uint64_t *version,
              struct err *err)
{
    int rc = check_name("key", key, err);

    object_check(coord, COORD_MAGIC);
    *version = 0;
    if (!rc)
        rc = coord->backend->ops->get(coord->backend, key, out, version, err);
    if (rc)
        *version = 0; /* who watched for more than what was not seen would wait for ever */
    return rc;
}

int coord_set(struct coord *coord, const char *key, struct bytes value, uint64_t expected,
              uint64_t *version, struct err *err)
{
    uint64_t unused;
    int rc = check_name("key", key, err);

    object_check(coord, COORD_MAGIC);
    if (rc)
        return rc;
    if (value.size > COORD_VALUE_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "value of %s has %zu bytes, at most %d are kept", key,
                       value.size, COORD_VALUE_SIZE_MAX);
    return coord->backend->ops->set(coord->backend, key, value, expected,
                                    version ? version : &unused, err);
}

int coord_watch(struct coord *coord, const char *key, uint64_t known, int timeout_ms,
                struct err *err)
{
    int rc = check_name("key", key, err);

    object_check(coord, COORD_MAGIC);
    return rc ? rc : coord->backend->ops->watch(coord->backend, key, known, timeout_ms, err);
}
