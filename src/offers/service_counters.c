/* SPDX-License-Identifier: Apache-2.0 */
/* service_counters.c - torg.v1.CountersService. */
#include <assert.h>

#include "base/memory.h"
#include "offers/lists/counters.h"
#include "offers/service.h"

static bool is_cancelled(void *arg)
{
    return call_cancelled(arg);
}

static int send_answer(void *arg, const Torg__V1__VerifyCountersResponse *answer, struct err *err)
{
    return call_write(arg, &answer->base, err);
}

static int verify(struct call *call, struct err *err)
{
    const struct offers *offers = call_context(call);
    const struct counters_teller teller = {
        .tell = send_answer, .is_cancelled = is_cancelled, .arg = call};
    struct counters_run run;
    ProtobufCMessage *message;
    int rc = caller_unbound(call, err);

    if (!rc)
        rc = call_read(call, &message, err);
    if (rc <= 0)
        return rc ? rc : err_set(err, ERR_INVALID, "expected a request");
    rc = counters_start(&run, offers->store, offers->clock, call_actor(call),
                        (const Torg__V1__VerifyCountersRequest *)message, err);
    return rc ? rc : counters_go(&run, &teller, err);
}

static const struct rpc_method methods[] = {
    {.name = "VerifyCounters", .stream = verify, .flags = RPC_SERVER_STREAM, .scope = "admin"},
};

struct rpc_service counters_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return RPC_SERVICE(counters, methods, offers);
}
