/* SPDX-License-Identifier: Apache-2.0 */
/* recheck.c - see recheck.h. */
#include "net/server/calls/recheck.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "net/bounds.h"
#include "net/server/calls/call.h"
#include "net/server/calls/server_parts.h"

static void set_timer(struct call *call)
{
    struct reactor *reactor = &call->loop->reactor;

    timer_set(reactor, &call->recheck, reactor->now_us + (int64_t)NET_RECHECK_MS * MS_US);
}

void recheck_begin(struct call *call)
{
    object_check(call, CALL_MAGIC);
    if (call->loop->server->authenticator && call->credential.authorization.size)
        set_timer(call);
}

void recheck_end(struct call *call)
{
    object_check(call, CALL_MAGIC);
    timer_clear(&call->loop->reactor, &call->recheck);
}

void recheck_fire(struct timer *timer)
{
    struct call *call = container_of(timer, struct call, recheck);
    struct authenticator *authenticator = call->loop->server->authenticator;
    struct identity identity; /* the call's is the handler's to read */
    struct err err;
    int rc;

    object_check(call, CALL_MAGIC);
    if (!call->running || !call->connection)
        return;
    rc = authenticator->authenticate(authenticator, &call->credential, &identity, &err);
    if (rc != ERR_UNAUTHENTICATED && rc != ERR_DENIED) {
        set_timer(call); /* keys that cannot be checked now end nothing */
        return;
    }
    call_cancel(call, ERR_UNAUTHENTICATED);
    if (!call->replied) /* else the handler ends it */
        call_refuse(call, 0, ERR_UNAUTHENTICATED, "%s", err.text);
}

int recheck_name(const struct call *call, int rc, struct err *err)
{
    if (!rc || atomic_load(&call->cancelled) != ERR_UNAUTHENTICATED)
        return rc;
    return err_set(err, ERR_UNAUTHENTICATED, "the key was revoked, or has expired");
}
