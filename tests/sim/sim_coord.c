/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_coord.c - the scheme sim: of coord.h: a member's session with the board that all share.
 *
 * It promises what ZooKeeper does: a session lives while it is renewed, by the server's clock;
 * claims are exclusive, registers are compared and set. And no better: a read may be of a moment
 * ago, though never older than what this session has seen or written; events come late; a call or
 * its answer may be lost, and a session ends while its owner is frozen.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "coord/backend.h"
#include "sim/sim_backends.h"
#include "sim/sim_net.h"

/* What this session saw last; what it does itself empties it. */
struct seen_set {
    struct seen_set *next;
    char name[COORD_NAME_SIZE_MAX + 1];
    bool is_fresh;
    struct coord_view view;
};

struct seen_register {
    struct seen_register *next;
    char key[COORD_NAME_SIZE_MAX + 1];
    bool is_fresh;
    uint64_t version;
    struct buf value;
};

struct sim_coord {
    struct coord_backend base;
    struct sim_node *member;     /* borrowed */
    struct coord_backend *inner; /* owned */
    struct coord_setup setup;
    struct seen_set *sets;
    pthread_mutex_t lock; /* of registers, which any thread asks for */
    struct seen_register *registers;
};

static struct sim_coord *coord_of(struct coord_backend *backend)
{
    return container_of(backend, struct sim_coord, base);
}

static int arrive(struct sim_coord *self, struct err *err)
{
    return sim_call(self->member, SIM_COORD, err);
}

static int tell(struct sim_coord *self, int rc, struct err *err)
{
    return sim_answer(self->member, SIM_COORD, rc, err);
}

/* --- events --- */

static void pass_poke(void *arg)
{
    struct sim_coord *self = arg;

    self->setup.poke(self->setup.arg);
}

/* By whoever changed the board, with its lock: the member's own wire goes on with it. */
static void post_poke(void *arg)
{
    struct sim_coord *self = arg;
    const struct clock *clock = sim_net_clock(sim_node_net(self->member));

    sim_wire_post(self->member, self, clock_mono_us(clock) + sim_delay_us(self->member, SIM_COORD),
                  pass_poke, self);
}

/* --- life --- */

static int sim_open(const char *place, const struct coord_setup *setup,
                    struct coord_backend **backend, struct err *err)
{
    struct sim_coord *self;
    struct sim_node *member;
    struct coord_setup inner = *setup;
    int rc = sim_node_find(place, &member, err);

    if (!rc)
        rc = sim_call(member, SIM_COORD, err);
    if (rc)
        return rc;
    self = mem_zero(sizeof(*self));
    self->base.ops = &sim_coord_ops;
    self->member = member;
    self->setup = *setup;
    pthread_mutex_init(&self->lock, NULL);
    inner.clock = sim_net_clock(sim_node_net(member));
    inner.poke = post_poke;
    inner.arg = self;
    rc = coord_backend_open(sim_net_board(sim_node_net(member)), &inner, &self->inner, err);
    sim_leave(member);
    if (rc) {
        pthread_mutex_destroy(&self->lock);
        free(self);
        return rc;
    }
    *backend = &self->base;
    return 0;
}

static void sim_close(struct coord_backend *backend)
{
    struct sim_coord *self = coord_of(backend);

    sim_arrive();
    self->inner->ops->close(self->inner);
    sim_leave(self->member);
    sim_wire_forget(self->member, self, NULL);
    while (self->sets) {
        struct seen_set *next = self->sets->next;

        free(self->sets);
        self->sets = next;
    }
    while (self->registers) {
        struct seen_register *next = self->registers->next;

        buf_release(&self->registers->value);
        free(self->registers);
        self->registers = next;
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* --- sessions and sets; by one thread at a time --- */

static struct seen_set *seen_of(struct sim_coord *self, const char *name)
{
    struct seen_set *seen = self->sets;

    while (seen && strcmp(seen->name, name) != 0)
        seen = seen->next;
    if (!seen) {
        seen = mem_zero(sizeof(*seen));
        snprintf(seen->name, sizeof(seen->name), "%s", name);
        seen->next = self->sets;
        self->sets = seen;
    }
    return seen;
}

static int sim_renew(struct coord_backend *backend, int64_t *lease_us, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    return rc ? rc : tell(self, self->inner->ops->renew(self->inner, lease_us, err), err);
}

static int sim_rejoin(struct coord_backend *backend, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    for (struct seen_set *each = self->sets; each; each = each->next)
        each->is_fresh = false;
    return rc ? rc : tell(self, self->inner->ops->rejoin(self->inner, err), err);
}

static int sim_join_set(struct coord_backend *backend, const char *set, uint32_t shard_count,
                        struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    seen_of(self, set)->is_fresh = false;
    return rc ? rc : tell(self, self->inner->ops->join(self->inner, set, shard_count, err), err);
}

static int sim_leave_set(struct coord_backend *backend, const char *set, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    seen_of(self, set)->is_fresh = false;
    return rc ? rc : tell(self, self->inner->ops->leave(self->inner, set, err), err);
}

static int sim_look(struct coord_backend *backend, const char *set, struct coord_view *view,
                    struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    struct seen_set *seen = seen_of(self, set);
    int rc = arrive(self, err);

    if (rc)
        return rc;
    if (seen->is_fresh && seen->view.shard_count == view->shard_count &&
        sim_strikes(self->member, SIM_COORD)) {
        *view = seen->view;
        return tell(self, 0, err);
    }
    rc = self->inner->ops->look(self->inner, set, view, err);
    if (!rc)
        seen->view = *view;
    seen->is_fresh = !rc;
    return tell(self, rc, err);
}

static int sim_claim(struct coord_backend *backend, const char *set, uint32_t shard,
                     uint64_t *ticket, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    seen_of(self, set)->is_fresh = false;
    return rc ? rc : tell(self, self->inner->ops->claim(self->inner, set, shard, ticket, err), err);
}

static int sim_release(struct coord_backend *backend, const char *set, uint32_t shard,
                       struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    seen_of(self, set)->is_fresh = false;
    return rc ? rc : tell(self, self->inner->ops->release(self->inner, set, shard, err), err);
}

/* --- registers --- */

/* With the lock. */
static struct seen_register *register_of(struct sim_coord *self, const char *key)
{
    struct seen_register *seen = self->registers;

    while (seen && strcmp(seen->key, key) != 0)
        seen = seen->next;
    if (!seen) {
        seen = mem_zero(sizeof(*seen));
        snprintf(seen->key, sizeof(seen->key), "%s", key);
        seen->value = (struct buf)BUF_INIT(COORD_VALUE_SIZE_MAX);
        seen->next = self->registers;
        self->registers = seen;
    }
    return seen;
}

static void forget_register(struct sim_coord *self, const char *key)
{
    pthread_mutex_lock(&self->lock);
    register_of(self, key)->is_fresh = false;
    pthread_mutex_unlock(&self->lock);
}

/* What was seen a moment ago, if it strikes. */
static bool get_stale(struct sim_coord *self, const char *key, struct buf *out, uint64_t *version)
{
    struct seen_register *seen;
    bool is_stale;

    if (!sim_strikes(self->member, SIM_COORD))
        return false;
    pthread_mutex_lock(&self->lock);
    seen = register_of(self, key);
    is_stale = seen->is_fresh;
    if (is_stale) {
        *version = seen->version;
        buf_put(out, buf_bytes(&seen->value));
    }
    pthread_mutex_unlock(&self->lock);
    return is_stale;
}

/* Of two gets at a time the one that began first may end last: what is newer stays. */
static void see_register(struct sim_coord *self, const char *key, struct bytes value,
                         uint64_t version)
{
    struct seen_register *seen;

    pthread_mutex_lock(&self->lock);
    seen = register_of(self, key);
    if (version >= seen->version) {
        buf_reset(&seen->value);
        buf_put(&seen->value, value);
        seen->version = version;
        seen->is_fresh = true;
    }
    pthread_mutex_unlock(&self->lock);
}

static int sim_get(struct coord_backend *backend, const char *key, struct buf *out,
                   uint64_t *version, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    size_t before = buf_bytes(out).size;
    int rc = arrive(self, err);

    if (rc)
        return rc;
    if (get_stale(self, key, out, version))
        return tell(self, 0, err);
    rc = self->inner->ops->get(self->inner, key, out, version, err);
    if (!rc) {
        struct bytes all = buf_bytes(out);

        see_register(self, key, bytes_make(all.data + before, all.size - before), *version);
    }
    return tell(self, rc, err);
}

static int sim_set(struct coord_backend *backend, const char *key, struct bytes value,
                   uint64_t expected, uint64_t *version, struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    if (rc)
        return rc;
    rc = self->inner->ops->set(self->inner, key, value, expected, version, err);
    forget_register(self, key);
    return tell(self, rc, err);
}

static int sim_watch(struct coord_backend *backend, const char *key, uint64_t known, int timeout_ms,
                     struct err *err)
{
    struct sim_coord *self = coord_of(backend);
    int rc = arrive(self, err);

    if (rc)
        return rc;
    rc = self->inner->ops->watch(self->inner, key, known, timeout_ms, err);
    if (!rc) /* who was told of a change sees it */
        forget_register(self, key);
    return tell(self, rc, err);
}

const struct coord_ops sim_coord_ops = {
    .scheme = "sim",
    .open = sim_open,
    .close = sim_close,
    .renew = sim_renew,
    .rejoin = sim_rejoin,
    .join = sim_join_set,
    .leave = sim_leave_set,
    .look = sim_look,
    .claim = sim_claim,
    .release = sim_release,
    .get = sim_get,
    .set = sim_set,
    .watch = sim_watch,
};
