/* SPDX-License-Identifier: Apache-2.0 */
/* service_moderation.c - torg.v1.ModerationService and StageService. */
#include <assert.h>

#include "base/memory.h"
#include "offers/change/moderation.h"
#include "offers/inbox/stage.h"
#include "offers/service.h"

static int give_opinion(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ModerationOpinion *opinion = (const Torg__V1__ModerationOpinion *)request;
    struct violations violations = violations_in(call_arena(call));
    int rc = caller_unbound(call, err);

    if (!rc && opinion_check(opinion, &violations)) {
        call_violations(call, &violations);
        rc = err_set(err, ERR_INVALID, "%s: %s", violations.first->field, violations.first->reason);
    }
    if (!rc)
        rc = moderation_apply(call_context(call), call_actor(call), opinion, call_arena(call),
                              (Torg__V1__GiveOpinionResponse *)response, err);
    return rc;
}

static int get_moderation(struct call *call, const ProtobufCMessage *request,
                          ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetModerationRequest *wanted = (const Torg__V1__GetModerationRequest *)request;
    Torg__V1__Moderation *moderation;
    offerid id;
    int rc = caller_unbound(call, err);

    if (!rc)
        rc = caller_id(call, "offer_id", wanted->offer_id, &id, err);
    if (!rc)
        rc = moderation_get(call_context(call), id, call_arena(call), &moderation, err);
    if (!rc)
        *(Torg__V1__Moderation *)response = *moderation;
    return rc;
}

static int begin_stage(struct call *call, const char *id_text, const char *stage, offerid *id,
                       struct err *err)
{
    int rc = caller_unbound(call, err);

    if (!rc)
        rc = caller_id(call, "offer_id", id_text, id, err);
    if (rc)
        return rc;
    rc = stage_check_name(stage, err);
    if (rc)
        call_violation(call, "stage", "%s", err->text);
    return rc;
}

static int get_state(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    const Torg__V1__GetStageStateRequest *wanted = (const Torg__V1__GetStageStateRequest *)request;
    offerid id;
    int rc = begin_stage(call, wanted->offer_id, wanted->stage, &id, err);

    return rc ? rc
              : stage_get(call_context(call), id, wanted->stage, call_arena(call),
                          (Torg__V1__StageState *)response, err);
}

static int put_state(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    const Torg__V1__PutStageStateRequest *wanted = (const Torg__V1__PutStageStateRequest *)request;
    offerid id;
    int rc = begin_stage(call, wanted->offer_id, wanted->stage, &id, err);

    if (!rc && wanted->expected_revision < 0)
        rc = call_invalid(call, err, "expected_revision", "expected 0 or more");
    return rc ? rc
              : stage_put(call_context(call), call_actor(call), id, wanted->stage,
                          wanted->expected_revision,
                          bytes_make(wanted->value.data, wanted->value.len), call_arena(call),
                          (Torg__V1__StageState *)response, err);
}

static const struct rpc_method moderation_methods[] = {
    {.name = "GiveOpinion", .unary = give_opinion, .scope = "moderation"},
    {.name = "GetModeration", .unary = get_moderation, .scope = "moderation"},
};

static const struct rpc_method stage_methods[] = {
    {.name = "GetStageState", .unary = get_state, .scope = "stages"},
    {.name = "PutStageState", .unary = put_state, .scope = "stages"},
};

struct rpc_service moderation_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return RPC_SERVICE(moderation, moderation_methods, offers);
}

struct rpc_service stage_service(struct offers *offers)
{
    assert(offers->store && offers->clock);
    return RPC_SERVICE(stage, stage_methods, offers);
}
