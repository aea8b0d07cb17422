/* SPDX-License-Identifier: Apache-2.0 */
/* service_document.c - torg.v1.DocumentService; and whose call it is. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/offer_fields.h"
#include "registry/service.h"

int caller_client(const struct call *call, const char *named, const char **client, struct err *err)
{
    const struct identity *identity = call_identity(call);

    *client = *identity->client ? identity->client : *named ? named : CLIENT_DEFAULT;
    if (!*identity->client || !*named || strcmp(identity->client, named) == 0)
        return client_check_name(*client, err);
    return err_set(err, ERR_DENIED, "the key '%s' is bound to client %s: leave the client out",
                   identity->principal, identity->client);
}

int caller_writes(const struct call *call, const char *named, const char **client, struct err *err)
{
    const struct identity *identity = call_identity(call);
    int rc = caller_client(call, named, client, err);

    if (rc || strcmp(*client, OFFER_CLIENT) != 0 || identity_has_scope(identity, "admin"))
        return rc;
    return err_set(err, ERR_DENIED,
                   "client " OFFER_CLIENT " has the site's offers, which only the composer writes: "
                   "change an offer by OfferService (scope offers.write), or name another client");
}

static int lane_of(Torg__V1__QueueLane__Name name, enum lane *lane, struct err *err)
{
    if (name == TORG__V1__QUEUE_LANE__NAME__MAIN || name == TORG__V1__QUEUE_LANE__NAME__BACKFILL ||
        name == TORG__V1__QUEUE_LANE__NAME__EMERGENCY) {
        *lane = (enum lane)name;
        return 0;
    }
    return err_set(err, ERR_INVALID, "lane: expected MAIN, BACKFILL or EMERGENCY");
}

static int put_documents(struct call *call, const ProtobufCMessage *message,
                         ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__QualifiedBatch *request = (const Torg__V1__QualifiedBatch *)message;
    Torg__V1__PutDocumentsResponse *response = (Torg__V1__PutDocumentsResponse *)answer;
    const char *client;
    enum lane lane = LANE_MAIN;
    int rc = caller_writes(call, request->client, &client, err);

    if (!rc && request->n_changes)
        rc = err_set(err, ERR_INVALID, "changes: of side fields, by the call PutFields");
    if (!rc)
        rc = lane_of(request->lane, &lane, err);
    if (!rc)
        rc = receiver_put(call_context(call), client, lane, request->documents,
                          request->n_documents, call_arena(call), &response->verdicts, err);
    if (!rc)
        response->n_verdicts = request->n_documents;
    return rc;
}

static int put_fields(struct call *call, const ProtobufCMessage *message, ProtobufCMessage *answer,
                      struct err *err)
{
    const Torg__V1__PutFieldsRequest *request = (const Torg__V1__PutFieldsRequest *)message;
    Torg__V1__PutFieldsResponse *response = (Torg__V1__PutFieldsResponse *)answer;
    const char *client;
    int rc = caller_writes(call, request->client, &client, err);

    if (!rc)
        rc = receiver_put_fields(call_context(call), client, request->changes, request->n_changes,
                                 call_arena(call), &response->verdicts, err);
    if (!rc)
        response->n_verdicts = request->n_changes;
    return rc;
}

static int get_document(struct call *call, const ProtobufCMessage *message,
                        ProtobufCMessage *answer, struct err *err)
{
    const Torg__V1__GetDocumentRequest *request = (const Torg__V1__GetDocumentRequest *)message;
    const char *client;
    int rc = caller_client(call, request->client, &client, err);

    return rc ? rc
              : receiver_get(call_context(call), client, request->pk, call_arena(call),
                             (Torg__V1__StoredDocument *)answer, err);
}

static const struct rpc_method methods[] = {
    {.name = "PutDocuments", .unary = put_documents, .scope = "documents", .flags = RPC_OF_CLIENT},
    {.name = "PutFields", .unary = put_fields, .scope = "documents", .flags = RPC_OF_CLIENT},
    {.name = "GetDocument",
     .unary = get_document,
     .scope = "documents",
     .flags = RPC_BRIEF | RPC_OF_CLIENT},
};

struct rpc_service document_service(struct receiver *receiver)
{
    assert(receiver->store && receiver->clock && receiver->clients);
    return (struct rpc_service){
        .descriptor = &torg__v1__document_service__descriptor,
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .context = receiver,
        .remote = !store_is_local(receiver->store),
    };
}
