/* SPDX-License-Identifier: Apache-2.0 */
/* coord_fault.c - see fault.h: a backend that passes on to another, and fails when told to. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "coord/backend.h"
#include "coord/fault.h"

struct faulty {
    struct coord_backend base;
    struct coord_backend *inner; /* owned */
};

struct planned {
    _Atomic int before; /* calls still to fail, untouched */
    _Atomic int after;  /* calls still to lose the answer of */
};

static struct planned planned[COORD_FAULT_COUNT];

void coord_fault_next(enum coord_fault fault, int count, bool done)
{
    atomic_store(done ? &planned[fault].after : &planned[fault].before, count);
}

void coord_fault_clear(void)
{
    int i;

    for (i = 0; i < COORD_FAULT_COUNT; i++) {
        atomic_store(&planned[i].before, 0);
        atomic_store(&planned[i].after, 0);
    }
}

static bool use_up(_Atomic int *count)
{
    int left = atomic_load(count);

    while (left > 0) {
        if (atomic_compare_exchange_weak(count, &left, left - 1))
            return true;
    }
    return false;
}

static int lose_before(enum coord_fault fault, struct err *err)
{
    return use_up(&planned[fault].before) ? err_set(err, ERR_UNAVAILABLE, "fault: call lost") : 0;
}

static int lose_after(enum coord_fault fault, int rc, struct err *err)
{
    return use_up(&planned[fault].after) ? err_set(err, ERR_UNAVAILABLE, "fault: answer lost") : rc;
}

static struct coord_backend *inner_of(struct coord_backend *backend)
{
    return container_of(backend, struct faulty, base)->inner;
}

static int fault_open(const char *place, const struct coord_setup *setup,
                      struct coord_backend **backend, struct err *err)
{
    struct faulty *faulty = mem_zero(sizeof(*faulty));
    int rc = coord_backend_open(place, setup, &faulty->inner, err);

    faulty->base.ops = &coord_fault_ops;
    if (rc)
        free(faulty);
    else
        *backend = &faulty->base;
    return rc;
}

static void fault_close(struct coord_backend *backend)
{
    struct coord_backend *inner = inner_of(backend);

    inner->ops->close(inner);
    free(container_of(backend, struct faulty, base));
}

static int fault_renew(struct coord_backend *backend, int64_t *lease_us, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_RENEW, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_RENEW, inner->ops->renew(inner, lease_us, err), err);
    return rc;
}

static int fault_rejoin(struct coord_backend *backend, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);

    return inner->ops->rejoin(inner, err);
}

static int fault_join(struct coord_backend *backend, const char *set, uint32_t shard_count,
                      struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_JOIN, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_JOIN, inner->ops->join(inner, set, shard_count, err), err);
    return rc;
}

static int fault_leave(struct coord_backend *backend, const char *set, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_LEAVE, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_LEAVE, inner->ops->leave(inner, set, err), err);
    return rc;
}

static int fault_look(struct coord_backend *backend, const char *set, struct coord_view *view,
                      struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_LOOK, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_LOOK, inner->ops->look(inner, set, view, err), err);
    return rc;
}

static int fault_claim(struct coord_backend *backend, const char *set, uint32_t shard,
                       uint64_t *ticket, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_CLAIM, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_CLAIM, inner->ops->claim(inner, set, shard, ticket, err), err);
    return rc;
}

static int fault_release(struct coord_backend *backend, const char *set, uint32_t shard,
                         struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_RELEASE, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_RELEASE, inner->ops->release(inner, set, shard, err), err);
    return rc;
}

static int fault_get(struct coord_backend *backend, const char *key, struct buf *out,
                     uint64_t *version, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_GET, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_GET, inner->ops->get(inner, key, out, version, err), err);
    return rc;
}

static int fault_set(struct coord_backend *backend, const char *key, struct bytes value,
                     uint64_t expected, uint64_t *version, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);
    int rc = lose_before(COORD_FAULT_SET, err);

    if (!rc)
        rc = lose_after(COORD_FAULT_SET, inner->ops->set(inner, key, value, expected, version, err),
                        err);
    return rc;
}

static int fault_watch(struct coord_backend *backend, const char *key, uint64_t known,
                       int timeout_ms, struct err *err)
{
    struct coord_backend *inner = inner_of(backend);

    return inner->ops->watch(inner, key, known, timeout_ms, err);
}

const struct coord_ops coord_fault_ops = {
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .renew = fault_renew,
    .rejoin = fault_rejoin,
    .join = fault_join,
    .leave = fault_leave,
    .look = fault_look,
    .claim = fault_claim,
    .release = fault_release,
    .get = fault_get,
    .set = fault_set,
    .watch = fault_watch,
};
