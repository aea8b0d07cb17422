/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - what coord.c needs of a backend, the place where members meet; for backends only.
 *
 * A backend keeps a session (alive while it is renewed), the members and owners of sets, and
 * registers. It decides nothing: coord.c counts the lease, plan.c says who should own what.
 * Claims are exclusive, tickets of one shard grow for ever, and what a session owned is free
 * once the session is over, not earlier than the lease after its last answered renewal.
 * Threads: shard operations come from one thread at a time; registers from any.
 */
#ifndef TORG_COORD_BACKEND_H
#define TORG_COORD_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"
#include "coord/bounds.h"
#include "coord/tunnel.h"

struct coord_backend;

enum { COORD_FREE = -1, COORD_OUTSIDER = -2 }; /* in place of an owner's index */

/* A set as it was at some moment. All members count the members in the same order. */
struct coord_view {
    uint32_t shard_count;
    int member_count;
    int self;                                /* index of this session; -1: not a member */
    int owners[COORD_SHARD_COUNT_MAX];       /* index, or one of the above */
    uint64_t tickets[COORD_SHARD_COUNT_MAX]; /* of the shards of this session */
};

struct coord_setup {
    const char *member;
    const struct clock *clock;
    int64_t lease_us;
    const char *user; /* while it is opened; NULL or "": none */
    const char *password;
    struct coord_tls tls;    /* likewise */
    void (*poke)(void *arg); /* something changed: look again. From any thread, must not block */
    void *arg;
};

struct coord_ops { /* every one is required */
    const char *scheme;
    int (*open)(const char *place, const struct coord_setup *setup, struct coord_backend **backend,
                struct err *err);
    void (*close)(struct coord_backend *backend); /* ends the session */

    /* Keeps the session. *lease_us: how long it is safe to own, from before this call.
     * ERR_STALE: the session is over, all it owned is lost; rejoin makes a new one. */
    int (*renew)(struct coord_backend *backend, int64_t *lease_us, struct err *err);
    int (*rejoin)(struct coord_backend *backend, struct err *err);

    /* join, leave and release may be repeated. claim: ERR_EXISTS when it has an owner. */
    int (*join)(struct coord_backend *backend, const char *set, uint32_t shard_count,
                struct err *err);
    int (*leave)(struct coord_backend *backend, const char *set, struct err *err);
    int (*look)(struct coord_backend *backend, const char *set, struct coord_view *view,
                struct err *err);
    int (*claim)(struct coord_backend *backend, const char *set, uint32_t shard, uint64_t *ticket,
                 struct err *err);
    int (*release)(struct coord_backend *backend, const char *set, uint32_t shard, struct err *err);

    int (*get)(struct coord_backend *backend, const char *key, struct buf *out, uint64_t *version,
               struct err *err);
    int (*set)(struct coord_backend *backend, const char *key, struct bytes value,
               uint64_t expected, uint64_t *version, struct err *err);
    int (*watch)(struct coord_backend *backend, const char *key, uint64_t known, int timeout_ms,
                 struct err *err);
};

struct coord_backend {
    const struct coord_ops *ops;
};

extern const struct coord_ops coord_memory_ops;
extern const struct coord_ops coord_local_ops;
extern const struct coord_ops coord_zookeeper_ops;
extern const struct coord_ops coord_fault_ops;

/* tests: one more, found by its scheme; NULL takes it away. Before other threads open handles. */
void coord_add_backend(const struct coord_ops *ops);

/* Finds the backend of "scheme:place" and opens it. */
int coord_backend_open(const char *url, const struct coord_setup *setup,
                       struct coord_backend **backend, struct err *err);

#endif
