/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_queue.c - torg queue list, show, replay, drop. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "net/json.h"
#include "registry/queue.h"
#include "registry/queue_desk.h"
#include "roles/registry_operation.h"

/* The queue of the server that runs, or of the store when none runs. */
struct standing {
    struct registry_operation registry;
    struct queue_desk desk; /* of the local way */
};

static int standing_open(const struct invocation *invocation, struct standing *standing,
                         struct err *err)
{
    int rc = registry_operation_open(invocation, &standing->registry, err);

    standing->desk = (struct queue_desk){.store = standing->registry.operation.store,
                                         .clients = standing->registry.clients,
                                         .dictionaries = standing->registry.dictionaries,
                                         .clock = clock_system()};
    return rc;
}

static int call(struct standing *standing, const char *method, const ProtobufCMessage *request,
                const ProtobufCMessageDescriptor *type, ProtobufCMessage **response,
                struct err *err)
{
    return remote_call(standing->registry.operation.remote, method, request, type, response, err);
}

/* --- list --- */

static void print_lane(const Torg__V1__LaneState *lane, struct arena *arena)
{
    printf("%-20s %5u  %-9s %10" PRId64 " %10" PRId64 " %8" PRId64 " %7" PRId64 "  %s\n",
           lane->client, lane->shard, lane_name((enum lane)lane->lane), lane->offset, lane->end,
           lane->lag, lane->parked_count, time_text(lane->oldest_time, arena));
}

static void print_lanes(const Torg__V1__ListLanesResponse *lanes, struct arena *arena)
{
    printf("%-20s %5s  %-9s %10s %10s %8s %7s  %s\n", "CLIENT", "SHARD", "LANE", "OFFSET", "END",
           "WAITING", "PARKED", "OLDEST");
    for (size_t i = 0; i < lanes->n_lanes; i++)
        print_lane(lanes->lanes[i], arena);
}

static void print_failed(const Torg__V1__FailedDocument *document, struct arena *arena)
{
    printf("%s  version %" PRId64 "  %d %s  %s\n  %s\n", document->pk, document->version,
           document->attempt_count, document->attempt_count == 1 ? "try" : "tries",
           document->is_parked
               ? "parked"
               : arena_printf(arena, "next %s", time_text(document->next_time, arena)),
           document->reason);
}

static int list_lanes(struct standing *standing, const struct invocation *invocation,
                      struct err *err)
{
    Torg__V1__ListLanesRequest request = TORG__V1__LIST_LANES_REQUEST__INIT;
    Torg__V1__ListLanesResponse local = TORG__V1__LIST_LANES_RESPONSE__INIT;
    ProtobufCMessage *response = &local.base;
    int rc;

    request.client = (char *)standing->registry.client;
    if (standing->registry.operation.remote)
        rc = call(standing, "torg.v1.QueueService/ListLanes", &request.base,
                  &torg__v1__list_lanes_response__descriptor, &response, err);
    else
        rc = queue_desk_lanes(&standing->desk,
                              *standing->registry.client ? standing->registry.client : NULL,
                              invocation->arena, &local, err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        print_lanes((const Torg__V1__ListLanesResponse *)response, invocation->arena);
    return rc;
}

/* One page after the other, to the end or the limit. */
static int list_failed(struct standing *standing, const struct invocation *invocation,
                       Torg__V1__ListFailedRequest *request, struct err *err)
{
    int rc;

    do {
        Torg__V1__ListFailedResponse local = TORG__V1__LIST_FAILED_RESPONSE__INIT;
        ProtobufCMessage *response = &local.base;
        const Torg__V1__ListFailedResponse *found;

        if (standing->registry.operation.remote)
            rc = call(standing, "torg.v1.QueueService/ListFailed", &request->base,
                      &torg__v1__list_failed_response__descriptor, &response, err);
        else
            rc = queue_desk_list(&standing->desk, registry_operation_client(&standing->registry),
                                 request, invocation->arena, &local, err);
        if (rc)
            return rc;
        found = (const Torg__V1__ListFailedResponse *)response;
        if (invocation->json)
            print_json(response);
        for (size_t i = 0; i < found->n_documents && !invocation->json; i++)
            print_failed(found->documents[i], invocation->arena);
        request->page_token = found->next_page_token;
    } while (*request->page_token && !request->page_size);
    return 0;
}

enum exit_code cmd_queue_list(const struct invocation *invocation)
{
    Torg__V1__ListFailedRequest request = TORG__V1__LIST_FAILED_REQUEST__INIT;
    const char *prefix = invocation_option(invocation, "pk");
    const char *reason = invocation_option(invocation, "reason");
    const char *limit = invocation_option(invocation, "limit");
    bool failed = invocation_option(invocation, "failed") != NULL;
    struct standing standing;
    uint64_t count = 0;
    struct err err;
    int rc;

    request.parked_only = invocation_option(invocation, "parked") != NULL;
    request.pk_prefix = (char *)(prefix ? prefix : "");
    request.reason = (char *)(reason ? reason : "");
    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > INT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 1000", limit);
        return EXIT_USAGE;
    }
    request.page_size = (int32_t)count;
    if (standing_open(invocation, &standing, &err))
        return fail(&err);
    request.client = (char *)standing.registry.client;
    if (failed || request.parked_only || prefix || reason || limit)
        rc = list_failed(&standing, invocation, &request, &err);
    else
        rc = list_lanes(&standing, invocation, &err);
    registry_operation_close(&standing.registry);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- one document --- */

static void print_document(const Torg__V1__RawDocument *document)
{
    struct buf json = BUF_INIT(4 << 20);

    json_encode(&document->base, &json);
    if (!buf_failed(&json))
        printf("document  %s\n", buf_text(&json));
    buf_release(&json);
}

static void print_one(const Torg__V1__FailedDocument *document, struct arena *arena)
{
    printf("client    %s\npk        %s\nshard     %u\nepoch     %" PRId64 "\nversion   %" PRId64
           "\ntries     %d\nfirst     %s\nnext      %s\nreason    %s\n",
           document->client, document->pk, document->shard, document->epoch, document->version,
           document->attempt_count, time_text(document->first_time, arena),
           document->is_parked ? "never: parked, torg queue replay tries it again"
                               : time_text(document->next_time, arena),
           document->reason);
    if (document->document)
        print_document(document->document);
}

enum exit_code cmd_queue_show(const struct invocation *invocation)
{
    Torg__V1__GetFailedRequest request = TORG__V1__GET_FAILED_REQUEST__INIT;
    Torg__V1__FailedDocument local = TORG__V1__FAILED_DOCUMENT__INIT;
    ProtobufCMessage *response = &local.base;
    struct standing standing;
    struct err err;
    int rc;

    if (standing_open(invocation, &standing, &err))
        return fail(&err);
    request.client = (char *)standing.registry.client;
    request.pk = (char *)invocation->arguments[0];
    if (standing.registry.operation.remote)
        rc = call(&standing, "torg.v1.QueueService/GetFailed", &request.base,
                  &torg__v1__failed_document__descriptor, &response, &err);
    else
        rc = queue_desk_get(&standing.desk, registry_operation_client(&standing.registry),
                            request.pk, invocation->arena, &local, &err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        print_one((const Torg__V1__FailedDocument *)response, invocation->arena);
    registry_operation_close(&standing.registry);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- what changes them --- */

enum exit_code cmd_queue_replay(const struct invocation *invocation)
{
    Torg__V1__ReplayFailedRequest request = TORG__V1__REPLAY_FAILED_REQUEST__INIT;
    Torg__V1__ReplayFailedResponse local = TORG__V1__REPLAY_FAILED_RESPONSE__INIT;
    ProtobufCMessage *response = &local.base;
    struct standing standing;
    struct err err;
    int rc;

    request.all = invocation_option(invocation, "all") != NULL;
    if (request.all == (invocation->argument_count > 0)) {
        complain("name the document to replay, or say --all");
        return EXIT_USAGE;
    }
    request.pk = (char *)(request.all ? "" : invocation->arguments[0]);
    if (standing_open(invocation, &standing, &err))
        return fail(&err);
    request.client = (char *)standing.registry.client;
    if (standing.registry.operation.remote)
        rc = call(&standing, "torg.v1.QueueService/ReplayFailed", &request.base,
                  &torg__v1__replay_failed_response__descriptor, &response, &err);
    else
        rc = queue_desk_replay(&standing.desk, registry_operation_client(&standing.registry),
                               standing.registry.operation.asker.principal, &request, &local.count,
                               &err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        printf("%" PRId64 " to be tried again\n",
               ((const Torg__V1__ReplayFailedResponse *)response)->count);
    registry_operation_close(&standing.registry);
    return rc ? fail(&err) : EXIT_OK;
}

enum exit_code cmd_queue_drop(const struct invocation *invocation)
{
    Torg__V1__DropFailedRequest request = TORG__V1__DROP_FAILED_REQUEST__INIT;
    Torg__V1__FailedDocument local = TORG__V1__FAILED_DOCUMENT__INIT;
    ProtobufCMessage *response = &local.base;
    struct standing standing;
    struct err err;
    int rc;

    if (standing_open(invocation, &standing, &err))
        return fail(&err);
    request.client = (char *)standing.registry.client;
    request.pk = (char *)invocation->arguments[0];
    if (standing.registry.operation.remote)
        rc = call(&standing, "torg.v1.QueueService/DropFailed", &request.base,
                  &torg__v1__failed_document__descriptor, &response, &err);
    else
        rc = queue_desk_drop(&standing.desk, registry_operation_client(&standing.registry),
                             standing.registry.operation.asker.principal, request.pk,
                             invocation->arena, &local, &err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        printf("%s of client %s is dropped; it is indexed again when it is sent again\n",
               request.pk, registry_operation_client(&standing.registry));
    registry_operation_close(&standing.registry);
    return rc ? fail(&err) : EXIT_OK;
}
