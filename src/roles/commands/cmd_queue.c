/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_queue.c - torg queue list, show, replay, drop. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/object.h"
#include "base/text.h"
#include "codec/json.h"
#include "registry/indexing/queue.h"
#include "registry/service.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/queue.pb-c.h"

#define QUEUE (&torg__v1__queue_service__descriptor)

/* "": all of them, or the default one. */
static char *client_of(const struct invocation *invocation)
{
    const char *client = invocation_option(invocation, "client");

    return (char *)(client ? client : ""); /* protobuf-c's strings are not const */
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

static int list_lanes(struct desk *desk, const struct invocation *invocation, struct err *err)
{
    Torg__V1__ListLanesRequest request = TORG__V1__LIST_LANES_REQUEST__INIT;
    ProtobufCMessage *response;
    int rc;

    request.client = client_of(invocation);
    rc = desk_call(desk, QUEUE, "ListLanes", &request.base, &response, err);
    if (!rc && invocation->json)
        print_json(response);
    else if (!rc)
        print_lanes((const Torg__V1__ListLanesResponse *)response, invocation->arena);
    return rc;
}

/* One page after the other, to the end or the limit. */
static int list_failed(struct desk *desk, const struct invocation *invocation,
                       Torg__V1__ListFailedRequest *request, struct err *err)
{
    int rc;

    do {
        const Torg__V1__ListFailedResponse *found;
        ProtobufCMessage *response;

        rc = desk_call(desk, QUEUE, "ListFailed", &request->base, &response, err);
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
    struct desk desk;
    uint64_t count = 0;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    request.parked_only = invocation_option(invocation, "parked") != NULL;
    request.pk_prefix = (char *)(prefix ? prefix : "");
    request.reason = (char *)(reason ? reason : "");
    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > INT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 1000", limit);
        return EXIT_USAGE;
    }
    request.page_size = (int32_t)count;
    request.client = client_of(invocation);
    if (desk_open(invocation, false, &desk, &err))
        return fail(&err);
    if (failed || request.parked_only || prefix || reason || limit)
        rc = list_failed(&desk, invocation, &request, &err);
    else
        rc = list_lanes(&desk, invocation, &err);
    desk_close(&desk);
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
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.client = client_of(invocation);
    request.pk = (char *)invocation->arguments[0];
    if (desk_ask(invocation, false, QUEUE, "GetFailed", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        print_one((const Torg__V1__FailedDocument *)response, invocation->arena);
    return EXIT_OK;
}

/* --- what changes them --- */

enum exit_code cmd_queue_replay(const struct invocation *invocation)
{
    Torg__V1__ReplayFailedRequest request = TORG__V1__REPLAY_FAILED_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.all = invocation_option(invocation, "all") != NULL;
    if (request.all == (invocation->argument_count > 0)) {
        complain("name the document to replay, or say --all");
        return EXIT_USAGE;
    }
    request.pk = (char *)(request.all ? "" : invocation->arguments[0]);
    request.client = client_of(invocation);
    if (desk_ask(invocation, false, QUEUE, "ReplayFailed", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%" PRId64 " to be tried again\n",
               ((const Torg__V1__ReplayFailedResponse *)response)->count);
    return EXIT_OK;
}

enum exit_code cmd_queue_drop(const struct invocation *invocation)
{
    Torg__V1__DropFailedRequest request = TORG__V1__DROP_FAILED_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.client = client_of(invocation);
    request.pk = (char *)invocation->arguments[0];
    if (desk_ask(invocation, false, QUEUE, "DropFailed", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%s of client %s is dropped; it is indexed again when it is sent again\n",
               request.pk, *request.client ? request.client : CLIENT_DEFAULT);
    return EXIT_OK;
}
