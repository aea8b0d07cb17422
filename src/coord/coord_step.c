/* SPDX-License-Identifier: Apache-2.0 */
/* coord_step.c - renews the session and brings each set nearer to its plan; see member.h. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/object.h"
#include "coord/coord.h"
#include "coord/member.h"
#include "coord/plan.h"

/* Puts what the backend says into held; true when something else than before. */
static void adopt_view(struct coord_shards *shards, const struct coord_view *view)
{
    bool changed = false;
    uint32_t i;

    assert(view->shard_count == shards->shard_count && view->self < view->member_count);
    pthread_mutex_lock(&shards->coord->lock);
    for (i = 0; i < shards->shard_count; i++) {
        struct coord_held *held = &shards->held[i];
        uint64_t ticket = view->self >= 0 && view->owners[i] == view->self ? view->tickets[i] : 0;

        if (held->ticket == ticket)
            continue;
        *held = (struct coord_held){.ticket = ticket};
        changed = true;
    }
    if (changed)
        member_tell_change(shards);
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
        member_tell_change(shards);
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
        shards->held[i] = (struct coord_held){.ticket = 0};
        member_tell_change(shards);
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
        assert(ticket > 0 && claims[i] < shards->shard_count);
        pthread_mutex_lock(&coord->lock);
        assert(shards->held[claims[i]].ticket == 0); /* only what nobody has is claimed */
        shards->held[claims[i]] = (struct coord_held){.ticket = ticket};
        member_tell_change(shards);
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
    assert(count <= shards->shard_count);
    adopt_leaving(shards, leaving);
    return claim(shards, claims, count, err);
}

void member_drop_set(struct coord_shards *shards)
{
    struct coord *coord = shards->coord;
    size_t i;

    object_check(shards, COORD_SHARDS_MAGIC);
    pthread_mutex_lock(&coord->lock);
    for (i = 0; i < COORD_SET_COUNT_MAX; i++) {
        if (coord->sets[i] == shards)
            coord->sets[i] = NULL;
    }
    pthread_mutex_unlock(&coord->lock);
    gauge_set(shards->owned_count, 0);
    free(shards->held);
    object_end(shards, COORD_SHARDS_MAGIC);
    free(shards);
}

static void release_all(struct coord_shards *shards)
{
    uint32_t i;

    for (i = 0; i < shards->shard_count; i++)
        coord_release(shards, i, shards->held[i].ticket);
}

/* Tells the backend that the member is gone from the set, and frees the set. A claim whose
 * answer was lost is found by a last look. The member goes before its shards: else its own
 * plan, seen by another step, could claim them again. */
static int finish_leave(struct coord_shards *shards, struct err *err)
{
    struct coord *coord = shards->coord;
    int rc = 0;

    if (shards->joined) {
        coord->view.shard_count = shards->shard_count;
        rc = coord->backend->ops->look(coord->backend, shards->name, &coord->view, err);
        if (rc && rc != ERR_STALE)
            return rc;
        if (!rc && coord->view.self >= 0)
            adopt_view(shards, &coord->view);
    }
    release_all(shards);
    rc = coord->backend->ops->leave(coord->backend, shards->name, err);
    if (!rc)
        rc = flush_released(shards, err);
    if (!rc)
        member_drop_set(shards);
    return rc;
}

int member_step_set(struct coord_shards *shards, struct err *err)
{
    struct coord *coord = shards->coord;
    int rc;

    object_check(shards, COORD_SHARDS_MAGIC);
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
        member_lose_all(coord);
        rc = coord->backend->ops->rejoin(coord->backend, err);
        if (rc)
            return rc;
        before_us = clock_mono_us(coord->clock);
        rc = coord->backend->ops->renew(coord->backend, &lease_us, err);
    }
    if (rc)
        return rc == ERR_STALE ? err_set(err, ERR_UNAVAILABLE, "session lost again") : rc;
    assert(lease_us > 0);
    coord->renewed_us = before_us;
    member_set_deadline(coord, before_us + lease_us, lease_us);
    return 0;
}

/* With step_lock held. force: renew now, and look at every set. */
int member_step(struct coord *coord, bool force, struct err *err)
{
    int64_t now_us = clock_mono_us(coord->clock);
    int rc = 0;
    size_t i;

    object_check(coord, COORD_MAGIC);
    if (force || now_us - coord->renewed_us >= coord->lease_us / RENEWALS_PER_LEASE)
        rc = renew(coord, err);
    for (i = 0; i < COORD_SET_COUNT_MAX && !rc; i++) {
        if (!coord->sets[i])
            continue;
        assert(coord->sets[i]->coord == coord);
        coord->sets[i]->look_due |= force;
        rc = member_step_set(coord->sets[i], err);
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

    object_check(coord, COORD_MAGIC);
    pthread_mutex_lock(&coord->step_lock);
    rc = member_step(coord, true, err ? err : &local);
    pthread_mutex_unlock(&coord->step_lock);
    return rc;
}
