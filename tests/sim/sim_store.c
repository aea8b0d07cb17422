/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_store.c - the scheme sim: of store.h: a member's connection to the store that all share.
 *
 * It promises what PostgreSQL does, SERIALIZABLE: what commits is as if one came after the other,
 * because in SQLite it does. And no better: a write may fail at a statement or at its commit for no
 * reason of its own and is run again (a serialization failure, a lost connection); a commit whose
 * answer is lost has or has not taken place, or takes place later (sim_late.h). Reads are of one
 * snapshot and never conflict.
 *
 * The caller's function runs within a function of ours in the inner store's transaction, by the
 * thread of the server that writes; it ends even if the caller is frozen or dead by then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sim/sim_backends.h"
#include "sim/sim_late.h"
#include "sim/sim_net.h"
#include "store/store_ops.h"

struct sim_store {
    struct store base;
    struct sim_node *member; /* borrowed */
    struct store *inner;     /* the net's */
};

/* Where a write fails for no reason of its own; drawn when it begins, as it is when it does. */
enum mishap {
    NONE,
    AT_STATEMENT,
    AT_COMMIT,
    LOST_BEFORE_COMMIT,
    COMMIT_REFUSED,
    COMMIT_LATE,
    MISHAP_COUNT
};
enum { LATE_MS_MAX = 6000 };

struct call {
    struct sim_store *store;
    enum store_mode mode;
    store_fn fn;
    void *arg;
    enum mishap mishap;
    unsigned statements_left; /* until AT_STATEMENT strikes */
    bool is_struck;
    struct late *late; /* of COMMIT_LATE, while its function runs */
};

struct sim_tx {
    struct store_tx base;
    struct store_tx *inner; /* borrowed */
    struct call *call;
};

static struct sim_tx *tx_of(struct store_tx *tx)
{
    return container_of(tx, struct sim_tx, base);
}

static int strike_statement(struct call *call, struct err *err)
{
    if (call->mishap != AT_STATEMENT || call->statements_left-- > 0)
        return 0;
    call->is_struck = true;
    return err_set(err, ERR_CONFLICT, "sim: could not serialize access");
}

static int sim_exec(struct store_tx *tx, struct store_call *call, struct err *err)
{
    struct sim_tx *own = tx_of(tx);
    int rc = strike_statement(own->call, err);

    late_meet(call);
    rc = rc ? rc : own->inner->ops->exec(own->inner, call, err);
    if (!rc && own->call->late)
        late_exec(own->call->late, call);
    return rc;
}

static int sim_select(struct store_tx *tx, const struct store_call *call,
                      struct store_cursor **cursor, struct err *err)
{
    struct sim_tx *own = tx_of(tx);
    int rc = strike_statement(own->call, err);

    if (own->base.mode != STORE_MODE_READ)
        late_meet(call);
    rc = rc ? rc : own->inner->ops->select(own->inner, call, cursor, err);
    if (!rc && own->call->late)
        late_select(own->call->late, call, *cursor);
    return rc;
}

static int sim_next(struct store_tx *tx, struct store_cursor *cursor, struct err *err)
{
    struct sim_tx *own = tx_of(tx);
    int rc = own->inner->ops->next(own->inner, cursor, err);

    if (rc >= 0 && own->call->late)
        late_next(own->call->late, cursor, rc);
    return rc;
}

static void sim_end(struct store_tx *tx, struct store_cursor *cursor)
{
    struct sim_tx *own = tx_of(tx);

    own->inner->ops->end(own->inner, cursor);
}

/* Its function has run to this end: what is late goes on by itself, or never was. */
static void end_late(struct call *call, int rc)
{
    struct sim_net *net = sim_node_net(call->store->member);

    if (call->late && !rc)
        late_start(call->late, call->store->inner, sim_net_clock(net),
                   (int64_t)sim_net_draw(net, LATE_MS_MAX) * MS_US);
    else
        late_free(call->late);
    call->late = NULL;
}

static int run_inside(struct store_tx *inner, void *arg, struct err *err)
{
    struct call *call = arg;
    struct sim_tx tx = {
        .base = {.ops = &sim_store_ops, .mode = call->mode}, .inner = inner, .call = call};
    int rc;

    call->is_struck = false; /* the inner store may run it again */
    call->late = call->mishap == COMMIT_LATE ? late_new() : NULL;
    sim_serve_begin();
    rc = store_run(&tx.base, call->fn, call->arg, err);
    sim_serve_end();
    end_late(call, rc);
    if (tx.base.failure.code) /* what failed in the inner store is its own to judge */
        inner->failure = tx.base.failure;
    if (rc || call->mishap <= AT_STATEMENT)
        return rc;
    call->is_struck = true;
    return err_set(err, call->mishap == AT_COMMIT ? ERR_CONFLICT : ERR_UNAVAILABLE, "%s",
                   call->mishap == AT_COMMIT ? "sim: could not serialize access at commit"
                   : call->mishap == LOST_BEFORE_COMMIT
                       ? "sim: the connection was lost before the commit"
                       : "sim: it is unknown whether the commit took place");
}

static int sim_run(struct store *store, enum store_mode mode, store_fn fn, void *arg,
                   struct err *err)
{
    struct sim_store *self = container_of(store, struct sim_store, base);
    struct call call = {.store = self, .mode = mode, .fn = fn, .arg = arg};
    struct sim_net *net = sim_node_net(self->member);
    struct err lost;
    int rc = sim_call(self->member, SIM_STORE, err);

    if (rc)
        return rc;
    if (mode != STORE_MODE_READ && sim_strikes(self->member, SIM_STORE)) {
        call.mishap = 1 + (enum mishap)sim_net_draw(net, MISHAP_COUNT - 1);
        call.statements_left = (unsigned)sim_net_draw(net, 4);
        if (mode == STORE_MODE_ALONE && call.mishap == COMMIT_LATE) /* its lock is the session's */
            call.mishap = COMMIT_REFUSED;
    }
    rc = self->inner->ops->run(self->inner, mode, run_inside, &call, err);
    if (rc && call.is_struck && call.mishap == COMMIT_LATE) {
        sim_leave(self->member);
        return rc;
    }
    if (rc && call.is_struck && call.mishap != COMMIT_REFUSED) {
        sim_leave(self->member);
        err->code = call.mishap == LOST_BEFORE_COMMIT ? ERR_UNAVAILABLE : ERR_CONFLICT;
        return STORE_AGAIN;
    }
    if (rc == STORE_AGAIN) {
        sim_leave(self->member);
        return rc;
    }
    if (!sim_answer(self->member, SIM_STORE, 0, &lost))
        return rc;
    if (mode == STORE_MODE_READ || rc) { /* nothing was written: a new connection tries again */
        *err = lost;
        return STORE_AGAIN;
    }
    return err_set(err, ERR_UNAVAILABLE, "%s: it is unknown whether the commit took place",
                   lost.text);
}

static void sim_close(struct store *store)
{
    free(container_of(store, struct sim_store, base));
}

static int sim_open(const char *url, const struct store_options *options, struct store **store,
                    struct err *err)
{
    struct sim_node *member;
    struct sim_store *self;
    int rc = sim_node_find(url + strlen("sim:"), &member, err);

    if (!rc)
        rc = sim_call(member, SIM_STORE, err);
    if (rc)
        return rc;
    self = mem_zero(sizeof(*self));
    self->base = (struct store){.ops = &sim_store_ops, .backend = "sim", .clock = options->clock};
    self->member = member;
    self->inner = sim_net_store(sim_node_net(member));
    sim_leave(member);
    *store = &self->base;
    return 0;
}

const struct store_ops sim_store_ops = {
    .scheme = "sim",
    .open = sim_open,
    .close = sim_close,
    .run = sim_run,
    .exec = sim_exec,
    .select = sim_select,
    .next = sim_next,
    .end = sim_end,
};
