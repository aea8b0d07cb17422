/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_fault.c - the wrapper of store_fault.h: a backend whose transactions are another's.
 *
 * The caller's function runs inside a function of ours inside the inner store's transaction, so
 * a fault at commit is a failure of ours there, and what the inner store does about it is real.
 */
#include "store/store_fault.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_ops.h"

struct point {
    unsigned skip;
    unsigned count;
};

struct fault_store {
    struct store base;
    struct store *inner; /* owned */
    pthread_mutex_t lock;
    struct point points[STORE_FAULT_POINT_COUNT];
    unsigned delay_ms;
};

struct fault_tx {
    struct store_tx base;
    struct store_tx *inner; /* borrowed */
    struct fault_store *store;
};

struct fault_call { /* what the inner transaction's function needs */
    struct fault_store *store;
    enum store_mode mode;
    store_fn fn;
    void *arg;
    bool again;
};

static struct fault_store *fault_of(struct store *store)
{
    assert(store->ops->open == store_fault_ops.open);
    return container_of(store, struct fault_store, base);
}

void store_fault_arm(struct store *store, enum store_fault_point point, unsigned skip,
                     unsigned count)
{
    struct fault_store *self = fault_of(store);

    pthread_mutex_lock(&self->lock);
    self->points[point] = (struct point){skip, count};
    pthread_mutex_unlock(&self->lock);
}

void store_fault_delay(struct store *store, unsigned delay_ms)
{
    struct fault_store *self = fault_of(store);

    pthread_mutex_lock(&self->lock);
    self->delay_ms = delay_ms;
    pthread_mutex_unlock(&self->lock);
}

static bool hits(struct fault_store *self, enum store_fault_point at)
{
    struct point *point = &self->points[at];
    bool hit = false;

    pthread_mutex_lock(&self->lock);
    if (point->skip > 0) {
        point->skip -= point->count > 0;
    } else if (point->count > 0) {
        point->count--;
        hit = true;
    }
    pthread_mutex_unlock(&self->lock);
    return hit;
}

static int fail_statement(struct fault_store *self, struct err *err)
{
    if (hits(self, STORE_FAULT_EXEC))
        return err_set(err, ERR_UNAVAILABLE, "injected: the statement failed");
    if (hits(self, STORE_FAULT_TIMEOUT))
        return err_set(err, ERR_TIMEOUT, "injected: the statement took too long");
    return 0;
}

static int fault_exec(struct store_tx *tx, struct store_call *call, struct err *err)
{
    struct fault_tx *own = container_of(tx, struct fault_tx, base);
    int rc = fail_statement(own->store, err);

    if (rc)
        return rc;
    return own->inner->ops->exec(own->inner, call, err);
}

static int fault_select(struct store_tx *tx, const struct store_call *call,
                        struct store_cursor **cursor, struct err *err)
{
    struct fault_tx *own = container_of(tx, struct fault_tx, base);
    int rc = fail_statement(own->store, err);

    if (rc)
        return rc;
    return own->inner->ops->select(own->inner, call, cursor, err);
}

static int fault_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err)
{
    struct fault_tx *own = container_of(tx, struct fault_tx, base);

    if (hits(own->store, STORE_FAULT_ROW))
        return err_set(err, ERR_UNAVAILABLE, "injected: the next row cannot be read");
    return own->inner->ops->next(own->inner, cursor, err);
}

static void fault_end(struct store_tx *tx, struct store_cursor *cursor)
{
    struct fault_tx *own = container_of(tx, struct fault_tx, base);

    own->inner->ops->end(own->inner, cursor);
}

static int run_inside(struct store_tx *inner, void *arg, struct err *err)
{
    struct fault_call *call = arg;
    struct fault_store *self = call->store;
    struct fault_tx tx = {
        .base = {.ops = &store_fault_ops, .mode = call->mode}, .inner = inner, .store = self};
    int rc = store_run(&tx.base, call->fn, call->arg, err);

    /* What failed in the inner store is its own to judge: it may want to run this again. */
    if (tx.base.failure.code)
        inner->failure = tx.base.failure;
    if (rc)
        return rc;
    if (hits(self, STORE_FAULT_DELAY))
        clock_sleep(self->base.clock, (int64_t)self->delay_ms * MS_US);
    if (hits(self, STORE_FAULT_CONFLICT)) {
        call->again = true;
        return err_set(err, ERR_CONFLICT, "injected: a conflict");
    }
    if (hits(self, STORE_FAULT_COMMIT))
        return err_set(err, ERR_UNAVAILABLE, "injected: the commit failed");
    return 0;
}

static int fault_run(struct store *store, enum store_mode mode, store_fn fn, void *arg,
                     struct err *err)
{
    struct fault_store *self = fault_of(store);
    struct fault_call call = {.store = self, .mode = mode, .fn = fn, .arg = arg};
    int rc;

    if (hits(self, STORE_FAULT_BEGIN))
        return err_set(err, ERR_UNAVAILABLE, "injected: the transaction cannot start");
    rc = self->inner->ops->run(self->inner, mode, run_inside, &call, err);
    if (rc && call.again)
        return STORE_AGAIN;
    if (rc == 0 && mode != STORE_MODE_READ && hits(self, STORE_FAULT_ACK))
        return err_set(err, ERR_UNAVAILABLE,
                       "injected: it is unknown whether the commit took place");
    return rc;
}

static void fault_close(struct store *store)
{
    struct fault_store *self = fault_of(store);

    store_close(self->inner);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static int fault_open(const char *url, const struct store_options *options, struct store **store,
                      struct err *err)
{
    struct store_options inner_options = *options;
    struct fault_store *self;
    struct store *inner;
    int rc;

    inner_options.faulty_disk = true;
    rc = store_open_with(url + strlen("fault:"), &inner_options, &inner, err);
    if (rc)
        return rc;
    self = mem_zero(sizeof(*self));
    self->base =
        (struct store){.ops = &store_fault_ops, .backend = inner->backend, .clock = inner->clock};
    self->inner = inner;
    pthread_mutex_init(&self->lock, NULL);
    *store = &self->base;
    return 0;
}

const struct store_ops store_fault_ops = {
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .run = fault_run,
    .exec = fault_exec,
    .select = fault_select,
    .next = fault_next,
    .end = fault_end,
};
