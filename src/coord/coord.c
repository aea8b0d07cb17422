/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coord.c - see coord.h: the member's side, the same for every backend.
 *
 * A step renews the session and brings each set nearer to its plan. What a step learns is put
 * into `held` under `lock`, which is never kept during a call to the backend: coord_valid and
 * coord_owned answer at once even while a step hangs on a dead connection. `step_lock` lets one
 * step, join or leave happen at a time.
 *
 * The deadline is the heart of it: the time before a renewal was sent plus the lease. The
 * backend counts from when the renewal arrived, which is later, so it ends the session later.
 */
#include "coord/coord.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "coord/backend.h"
#include "coord/plan.h"

enum {
    RENEWALS_PER_LEASE = 3, /* two may be lost before the lease is */
    RETRIES_PER_LEASE = 10,
};

struct held {
    uint64_t ticket; /* 0: not ours */
    bool leaving;
    bool released; /* the application has let go; the backend is told by the next step */
};

struct coord_shards {
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
    struct held *held; /* owned, shard_count of them */
    struct gauge *owned_count;
};

struct coord {
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
    pthread_cond_t changed; /* for coord_wait */
    pthread_cond_t wake;    /* for the thread */
    int64_t deadline_us;
    int64_t lease_us;
    bool expired; /* the end of the lease has been noticed, and counted as a change */
    bool poked;
    bool stopping;

    bool has_thread;
    pthread_t thread;
};

void coord_after_us(struct timespec *when, int64_t delay_us)
{
    int64_t end;

    clock_gettime(CLOCK_MONOTONIC, when);
    end = (int64_t)when->tv_sec * SECOND_US + when->tv_nsec / 1000 + delay_us;
    when->tv_sec = (time_t)(end / SECOND_US);
    when->tv_nsec = (long)(end % SECOND_US) * 1000;
}

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

int coord_backend_open(const char *url, const struct coord_setup *setup,
                       struct coord_backend **backend, struct err *err)
{
    static const struct coord_ops *const all[] = {&coord_memory_ops, &coord_local_ops,
                                                  &coord_zookeeper_ops, &coord_fault_ops};
    size_t i;

    for (i = 0; i < ARRAY_COUNT(all); i++) {
        size_t size = strlen(all[i]->scheme);

        if (strncmp(url, all[i]->scheme, size) == 0 && url[size] == ':')
            return all[i]->open(url + size + 1, setup, backend, err);
    }
    return err_set(err, ERR_INVALID,
                   "coordination URL \"%.100s\" must begin with memory: local: or zookeeper:", url);
}

/* --- what is owned; all under coord->lock --- */

static void tell_change(struct coord_shards *shards)
{
    int64_t count = 0;
    uint32_t i;

    for (i = 0; i < shards->shard_count; i++)
        count += shards->held[i].ticket != 0;
    gauge_set(shards->owned_count, count);
    shards->generation++;
    pthread_cond_broadcast(&shards->coord->changed);
}

static void tell_all(struct coord *coord)
{
    size_t i;

    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        if (coord->sets[i])
            tell_change(coord->sets[i]);
    }
}

/* Is the lease good at this moment? Its end counts as a change, once. */
static bool lease_good(struct coord *coord)
{
    bool good = clock_mono_us(coord->clock) < coord->deadline_us;

    if (!good && !coord->expired) {
        coord->expired = true;
        counter_add(coord->lost_count, 1);
        tell_all(coord);
    }
    return good;
}

static void set_deadline(struct coord *coord, int64_t deadline_us, int64_t lease_us)
{
    pthread_mutex_lock(&coord->lock);
    lease_good(coord); /* an end that nobody noticed is still a change */
    coord->deadline_us = deadline_us;
    coord->lease_us = lease_us;
    if (coord->expired && lease_good(coord)) {
        coord->expired = false;
        tell_all(coord);
    }
    pthread_mutex_unlock(&coord->lock);
}

static void lose_all(struct coord *coord)
{
    size_t i;

    pthread_mutex_lock(&coord->lock);
    coord->deadline_us = 0;
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        struct coord_shards *shards = coord->sets[i];

        if (!shards)
            continue;
        memset(shards->held, 0, shards->shard_count * sizeof(shards->held[0]));
        shards->joined = false;
    }
    lease_good(coord);
    tell_all(coord);
    pthread_mutex_unlock(&coord->lock);
}

size_t coord_owned(struct coord_shards *shards, struct coord_shard *owned, size_t room)
{
    struct coord *coord = shards->coord;
    size_t count = 0;
    uint32_t i;

    pthread_mutex_lock(&coord->lock);
    if (lease_good(coord)) {
        for (i = 0; i < shards->shard_count && count < room; i++) {
            const struct held *held = &shards->held[i];

            if (held->ticket && !held->released)
                owned[count++] = (struct coord_shard){i, held->ticket, held->leaving};
        }
    }
    pthread_mutex_unlock(&coord->lock);
    return count;
}

bool coord_valid(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    struct coord *coord = shards->coord;
    bool valid;

    assert(shard < shards->shard_count);
    pthread_mutex_lock(&coord->lock);
    valid = ticket && shards->held[shard].ticket == ticket && !shards->held[shard].released &&
            lease_good(coord);
    pthread_mutex_unlock(&coord->lock);
    return valid;
}

static void poke(void *arg)
{
    struct coord *coord = arg;

    pthread_mutex_lock(&coord->lock);
    coord->poked = true;
    pthread_cond_signal(&coord->wake);
    pthread_mutex_unlock(&coord->lock);
}

void coord_release(struct coord_shards *shards, uint32_t shard, uint64_t ticket)
{
    struct coord *coord = shards->coord;

    assert(shard < shards->shard_count);
    pthread_mutex_lock(&coord->lock);
    if (ticket && shards->held[shard].ticket == ticket && !shards->held[shard].released) {
        shards->held[shard].released = true;
        tell_change(shards);
        coord->poked = true;
        pthread_cond_signal(&coord->wake);
    }
    pthread_mutex_unlock(&coord->lock);
}

int coord_wait(struct coord_shards *shards, uint64_t *seen, int timeout_ms, struct err *err)
{
    struct coord *coord = shards->coord;
    struct timespec end;
    int waited = 0;
    int rc = 0;

    coord_after_us(&end, (int64_t)timeout_ms * MS_US);
    pthread_mutex_lock(&coord->lock);
    while (shards->generation == *seen && waited == 0) {
        struct timespec until = end;
        struct timespec lease_end;
        bool lease_first = false;

        if (lease_good(coord)) {
            coord_after_us(&lease_end, coord->deadline_us - clock_mono_us(coord->clock) + MS_US);
            lease_first = lease_end.tv_sec < end.tv_sec ||
                          (lease_end.tv_sec == end.tv_sec && lease_end.tv_nsec < end.tv_nsec);
        }
        if (shards->generation != *seen)
            break;
        if (lease_first)
            until = lease_end;
        waited = pthread_cond_timedwait(&coord->changed, &coord->lock, &until);
        if (lease_first)
            waited = 0;
    }
    if (shards->generation == *seen)
        rc = err_set(err, ERR_TIMEOUT, "no change of %s within %d ms", shards->name, timeout_ms);
    *seen = shards->generation;
    pthread_mutex_unlock(&coord->lock);
    return rc;
}

/* --- the step --- */

/* Puts what the backend says into held; true when something else than before. */
static void adopt_view(struct coord_shards *shards, const struct coord_view *view)
{
    bool changed = false;
    uint32_t i;

    pthread_mutex_lock(&shards->coord->lock);
    for (i = 0; i < shards->shard_count; i++) {
        struct held *held = &shards->held[i];
        uint64_t ticket = view->self >= 0 && view->owners[i] == view->self ? view->tickets[i] : 0;

        if (held->ticket == ticket)
            continue;
        *held = (struct held){.ticket = ticket};
        changed = true;
    }
    if (changed)
        tell_change(shards);
    pthread_mutex_unlock(&shards->coord->lock);
}

static void adopt_leaving(struct coord_shards *shards, const bool *leaving)
{
    bool changed = false;
    uint32_t i;

    pthread_mutex_lock(&shards->coord->lock);
    for (i = 0; i < shards->shard_count; i++) {
        if (shards->held[i].leaving != leaving[i]) {
            shards->held[i].leaving = leaving[i];
            changed = true;
        }
    }
    if (changed)
        tell_change(shards);
    pthread_mutex_unlock(&shards->coord->lock);
}

/* Tells the backend of the shards that the application has released. */
static int flush_released(struct coord_shards *shards, struct err *err)
{
    struct coord *coord = shards->coord;
    uint32_t i;
    int rc;

    for (i = 0; i < shards->shard_count; i++) {
        bool released;

        pthread_mutex_lock(&coord->lock);
        released = shards->held[i].ticket && shards->held[i].released;
        pthread_mutex_unlock(&coord->lock);
        if (!released)
            continue;
        rc = coord->backend->ops->release(coord->backend, shards->name, i, err);
        if (rc)
            return rc;
        pthread_mutex_lock(&coord->lock);
        shards->held[i] = (struct held){.ticket = 0};
        tell_change(shards);
        pthread_mutex_unlock(&coord->lock);
        shards->look_due = true;
    }
    return 0;
}

static int claim(struct coord_shards *shards, const uint32_t *claims, uint32_t count,
                 struct err *err)
{
    struct coord *coord = shards->coord;
    uint32_t i;

    for (i = 0; i < count; i++) {
        uint64_t ticket;
        int rc = coord->backend->ops->claim(coord->backend, shards->name, claims[i], &ticket, err);

        if (rc)
            shards->look_due = true; /* somebody was faster, or the answer was lost */
        if (rc == ERR_EXISTS)
            continue;
        if (rc)
            return rc;
        pthread_mutex_lock(&coord->lock);
        shards->held[claims[i]] = (struct held){.ticket = ticket};
        tell_change(shards);
        pthread_mutex_unlock(&coord->lock);
    }
    return 0;
}

/* Looks at the set and follows the plan. */
static int rebalance(struct coord_shards *shards, struct err *err)
{
    struct coord *coord = shards->coord;
    struct coord_view *view = &coord->view;
    uint32_t claims[COORD_SHARD_COUNT_MAX];
    bool leaving[COORD_SHARD_COUNT_MAX];
    uint32_t count;
    uint32_t i;
    int rc;

    view->shard_count = shards->shard_count;
    rc = coord->backend->ops->look(coord->backend, shards->name, view, err);
    if (rc)
        return rc;
    shards->look_due = false;
    shards->looked_us = clock_mono_us(coord->clock);
    if (view->self < 0) { /* somebody removed us; join again with the next step */
        shards->joined = false;
        return err_set(err, ERR_UNAVAILABLE, "%s is not listed in %s", coord->member, shards->name);
    }
    adopt_view(shards, view);
    pthread_mutex_lock(&coord->lock);
    for (i = 0; i < shards->shard_count; i++)
        leaving[i] = shards->held[i].leaving;
    pthread_mutex_unlock(&coord->lock);
    count = plan_make(view, leaving, claims);
    adopt_leaving(shards, leaving);
    return claim(shards, claims, count, err);
}

static void drop_set(struct coord_shards *shards)
{
    struct coord *coord = shards->coord;
    size_t i;

    pthread_mutex_lock(&coord->lock);
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        if (coord->sets[i] == shards)
            coord->sets[i] = NULL;
    }
    pthread_mutex_unlock(&coord->lock);
    gauge_set(shards->owned_count, 0);
    free(shards->held);
    free(shards);
}

/* Tells the backend that the member is gone from the set, and frees the set. The member goes
 * before its shards: else its own plan, seen by another step, could claim them again. */
static int finish_leave(struct coord_shards *shards, struct err *err)
{
    struct coord_backend *backend = shards->coord->backend;
    int rc = backend->ops->leave(backend, shards->name, err);

    if (!rc)
        rc = flush_released(shards, err);
    if (!rc)
        drop_set(shards);
    return rc;
}

static int step_set(struct coord_shards *shards, struct err *err)
{
    struct coord *coord = shards->coord;
    int rc;

    if (shards->left)
        return finish_leave(shards, err);
    if (!shards->joined) {
        rc = coord->backend->ops->join(coord->backend, shards->name, shards->shard_count, err);
        if (rc)
            return rc;
        shards->joined = true;
        shards->look_due = true;
    }
    rc = flush_released(shards, err);
    if (rc)
        return rc;
    if (!shards->look_due && clock_mono_us(coord->clock) - shards->looked_us < coord->lease_us)
        return 0;
    rc = rebalance(shards, err);
    if (rc)
        shards->look_due = true;
    return rc;
}

static int renew(struct coord *coord, struct err *err)
{
    int64_t before_us = clock_mono_us(coord->clock);
    int64_t lease_us = 0;
    int rc = coord->backend->ops->renew(coord->backend, &lease_us, err);

    if (rc == ERR_STALE) {
        log_warn("session lost, all shards given up", LOG_TEXT("member", coord->member));
        lose_all(coord);
        rc = coord->backend->ops->rejoin(coord->backend, err);
        if (rc)
            return rc;
        before_us = clock_mono_us(coord->clock);
        rc = coord->backend->ops->renew(coord->backend, &lease_us, err);
    }
    if (rc)
        return rc == ERR_STALE ? err_set(err, ERR_UNAVAILABLE, "session lost again") : rc;
    coord->renewed_us = before_us;
    set_deadline(coord, before_us + lease_us, lease_us);
    return 0;
}

/* With step_lock held. force: renew now, and look at every set. */
static int step(struct coord *coord, bool force, struct err *err)
{
    int64_t now_us = clock_mono_us(coord->clock);
    int rc = 0;
    size_t i;

    if (force || now_us - coord->renewed_us >= coord->lease_us / RENEWALS_PER_LEASE)
        rc = renew(coord, err);
    for (i = 0; i < COORD_SET_COUNT_MAX && !rc; i++) {
        if (!coord->sets[i])
            continue;
        coord->sets[i]->look_due |= force;
        rc = step_set(coord->sets[i], err);
    }
    if (rc && coord->answering)
        log_warn("coordination does not answer", LOG_TEXT("member", coord->member),
                 LOG_TEXT("error", err->text));
    if (!rc && !coord->answering)
        log_info("coordination answers", LOG_TEXT("member", coord->member));
    coord->answering = !rc;
    return rc;
}

int coord_step(struct coord *coord, struct err *err)
{
    struct err local;
    int rc;

    pthread_mutex_lock(&coord->step_lock);
    rc = step(coord, true, err ? err : &local);
    pthread_mutex_unlock(&coord->step_lock);
    return rc;
}

/* Waits for a poke or the next renewal; false when the handle is being closed. */
static bool wait_for_work(struct coord *coord, bool failed, bool *poked)
{
    struct timespec until;
    int64_t delay_us;
    int waited = 0;
    bool go_on;

    pthread_mutex_lock(&coord->lock);
    delay_us = coord->lease_us / RETRIES_PER_LEASE;
    if (!failed) /* since the renewal, not since now: pokes must not put it off */
        delay_us = coord->deadline_us - coord->lease_us + coord->lease_us / RENEWALS_PER_LEASE -
                   clock_mono_us(coord->clock);
    coord_after_us(&until, delay_us > 0 ? delay_us : 0);
    while (!coord->stopping && (failed || !coord->poked) && waited == 0)
        waited = pthread_cond_timedwait(&coord->wake, &coord->lock, &until);
    *poked = coord->poked;
    coord->poked = false;
    go_on = !coord->stopping;
    pthread_mutex_unlock(&coord->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct coord *coord = arg;
    struct err err;
    bool poked = false;
    int rc = 0;

    while (wait_for_work(coord, rc != 0, &poked)) {
        size_t i;

        pthread_mutex_lock(&coord->step_lock);
        for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
            if (coord->sets[i])
                coord->sets[i]->look_due |= poked;
        }
        rc = step(coord, false, &err);
        pthread_mutex_unlock(&coord->step_lock);
    }
    return NULL;
}

/* --- open, close, join, leave --- */

static void init_locks(struct coord *coord)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&coord->step_lock, NULL);
    pthread_mutex_init(&coord->lock, NULL);
    pthread_cond_init(&coord->changed, &attributes);
    pthread_cond_init(&coord->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void free_coord(struct coord *coord)
{
    pthread_cond_destroy(&coord->wake);
    pthread_cond_destroy(&coord->changed);
    pthread_mutex_destroy(&coord->lock);
    pthread_mutex_destroy(&coord->step_lock);
    free(coord);
}

static int start(struct coord *coord, const char *url, bool manual, struct err *err)
{
    struct coord_setup setup = {.member = coord->member,
                                .clock = coord->clock,
                                .lease_us = coord->lease_us,
                                .poke = poke,
                                .arg = coord};
    int rc = coord_backend_open(url, &setup, &coord->backend, err);

    if (rc)
        return rc;
    rc = coord_step(coord, err);
    if (!rc && !manual) {
        if (pthread_create(&coord->thread, NULL, run, coord))
            rc = err_set(err, ERR_UNAVAILABLE, "no thread for coordination");
        else
            coord->has_thread = true;
    }
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
    snprintf(coord->member, sizeof(coord->member), "%s", member);
    coord->clock = options->clock ? options->clock : clock_system();
    coord->lease_us = lease_us;
    coord->expired = true; /* nothing is owned yet, so nothing can end */
    coord->answering = true;
    coord->lost_count = metrics_counter("torg_coord_leases_lost_total", NULL,
                                        "Leases that ended before they were renewed.");
    init_locks(coord);
    rc = start(coord, url, options->manual, err);
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
    pthread_mutex_lock(&coord->lock);
    coord->stopping = true;
    pthread_cond_signal(&coord->wake);
    pthread_mutex_unlock(&coord->lock);
    if (coord->has_thread)
        pthread_join(coord->thread, NULL);
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        coord_leave(coord->sets[i]);
        if (coord->sets[i]) /* the backend does not answer; the end of the session does it */
            drop_set(coord->sets[i]);
    }
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
    pthread_mutex_lock(&coord->lock);
    coord->sets[place] = shards;
    pthread_mutex_unlock(&coord->lock);
    return 0;
}

int coord_join(struct coord *coord, const char *set, uint32_t shard_count,
               struct coord_shards **out, struct err *err)
{
    struct coord_shards *shards;
    char labels[COORD_NAME_SIZE_MAX + 16];
    struct err unread;
    int rc;

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
        free(shards);
    } else {
        rc = step_set(shards, err);
        if (rc == ERR_STALE) /* the lease ended since the last step, which says so */
            rc = step(coord, true, err);
        if (rc)
            drop_set(shards);
    }
    pthread_mutex_unlock(&coord->step_lock);
    if (!rc)
        *out = shards;
    return rc;
}

void coord_leave(struct coord_shards *shards)
{
    struct coord *coord;
    struct err err;
    uint32_t i;
    int rc;

    if (!shards)
        return;
    coord = shards->coord;
    pthread_mutex_lock(&coord->step_lock);
    for (i = 0; i < shards->shard_count; i++)
        coord_release(shards, i, shards->held[i].ticket);
    shards->left = true;
    rc = finish_leave(shards, &err);
    if (rc) /* a later step tries again, or the end of the session does it */
        log_warn("set not left yet", LOG_TEXT("member", coord->member),
                 LOG_TEXT("error", err.text));
    pthread_mutex_unlock(&coord->step_lock);
}

/* --- registers --- */

int coord_get(struct coord *coord, const char *key, struct buf *out, uint64_t *version,
              struct err *err)
{
    int rc = check_name("key", key, err);

    *version = 0;
    return rc ? rc : coord->backend->ops->get(coord->backend, key, out, version, err);
}

int coord_set(struct coord *coord, const char *key, struct bytes value, uint64_t expected,
              uint64_t *version, struct err *err)
{
    uint64_t unused;
    int rc = check_name("key", key, err);

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

    return rc ? rc : coord->backend->ops->watch(coord->backend, key, known, timeout_ms, err);
}
