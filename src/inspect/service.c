/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "inspect/service.h"

#include <assert.h>

#include "base/memory.h"
#include "inspect/audit/auditor_book.h"
#include "inspect/trace/trace.h"
#include "inspect/verify/verify.h"

static int trace(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                 struct err *err)
{
    const Torg__V1__TraceDocumentRequest *asked = (const Torg__V1__TraceDocumentRequest *)request;

    if (!*asked->pk)
        return err_set(err, ERR_INVALID, "pk: expected the key of a document");
    return trace_document(call_context(call), *asked->client ? asked->client : "default", asked->pk,
                          call_arena(call), (Torg__V1__Trace *)response, err);
}

static int trace_one_offer(struct call *call, const ProtobufCMessage *request,
                           ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__TraceOfferRequest *asked = (const Torg__V1__TraceOfferRequest *)request;
    int rc = trace_offer(call_context(call), asked->id, call_arena(call),
                         (Torg__V1__Trace *)response, err);

    if (rc == ERR_INVALID)
        err_wrap(err, "id");
    return rc;
}

static int plan(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    return verify_plan(call_context(call), (const Torg__V1__PlanVerifyRequest *)request,
                       call_arena(call), (Torg__V1__VerifyPlan *)response, err);
}

static int step(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                struct err *err)
{
    const Torg__V1__VerifyStepRequest *asked = (const Torg__V1__VerifyStepRequest *)request;

    if (asked->fix && !identity_has_scope(call_identity(call), "pipeline.control"))
        return err_set(err, ERR_DENIED, "'%s' lacks the scope 'pipeline.control' to repair",
                       call_identity(call)->principal);
    return verify_step(call_context(call), asked, call_actor(call), call_arena(call),
                       (Torg__V1__VerifyStepResponse *)response, err);
}

static int audit(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                 struct err *err)
{
    const struct inspect *inspect = call_context(call);

    (void)request;
    return auditor_book_read(inspect->store, call_arena(call), (Torg__V1__Audit *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "TraceDocument", .unary = trace, .scope = "pipeline.read"},
    {.name = "TraceOffer", .unary = trace_one_offer, .scope = "pipeline.read"},
    {.name = "PlanVerify", .unary = plan, .scope = "pipeline.read"},
    {.name = "VerifyStep", .unary = step, .scope = "pipeline.read"},
    {.name = "GetAudit", .unary = audit, .scope = "pipeline.read"},
};

struct rpc_service inspect_service(struct inspect *inspect)
{
    assert(inspect->store && inspect->clients && inspect->clock);
    return RPC_SERVICE(inspect, methods, inspect);
}
