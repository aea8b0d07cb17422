/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_parked.c - torg parked list, show, replay, drop: what stages could not use of their topics.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/object.h"
#include "base/text.h"
#include "roles/commands/desk.h"
#include "roles/commands/print.h"
#include "torg/v1/parked.pb-c.h"

static const char *option_or_empty(const struct invocation *invocation, const char *name)
{
    const char *value = invocation_option(invocation, name);

    return value ? value : "";
}

static int ask(const struct invocation *invocation, const char *method,
               const ProtobufCMessage *request, ProtobufCMessage **response, struct err *err)
{
    return desk_ask(invocation, false, &torg__v1__parked_service__descriptor, method, request,
                    response, err);
}

static void print_record(const Torg__V1__ParkedRecord *record, struct arena *arena)
{
    printf("%s %s  since %s, %" PRId64 " tries since, next %s\n    %s\n", record->stage,
           record->key, time_text(record->first_time, arena), record->try_count,
           record->next_time ? time_text(record->next_time, arena)
                             : "when those before it have gone",
           record->reason);
}

enum exit_code cmd_parked_list(const struct invocation *invocation)
{
    Torg__V1__ListParkedRequest request = TORG__V1__LIST_PARKED_REQUEST__INIT;
    const char *limit = invocation_option(invocation, "limit");
    const Torg__V1__ListParkedResponse *page;
    ProtobufCMessage *response;
    uint64_t count = 0;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (limit && (!text_to_u64(bytes_of(limit), &count) || !count || count > UINT32_MAX)) {
        complain("--limit=%.64s: expected a number from 1 to 500", limit);
        return EXIT_USAGE;
    }
    request.limit = (uint32_t)count;
    request.stage = (char *)option_or_empty(invocation, "stage");
    if (ask(invocation, "ListParked", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    page = (const Torg__V1__ListParkedResponse *)response;
    for (size_t i = 0; i < page->n_records; i++)
        print_record(page->records[i], invocation->arena);
    printf("%" PRId64 " parked%s\n", page->count,
           *page->next_page_token ? ", of which the first are shown" : "");
    return EXIT_OK;
}

enum exit_code cmd_parked_show(const struct invocation *invocation)
{
    Torg__V1__GetParkedRequest request = TORG__V1__GET_PARKED_REQUEST__INIT;
    const Torg__V1__GetParkedResponse *found;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.stage = (char *)option_or_empty(invocation, "stage");
    request.key = (char *)invocation->arguments[0];
    if (ask(invocation, "GetParked", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    found = (const Torg__V1__GetParkedResponse *)response;
    for (size_t i = 0; i < found->n_records; i++) {
        const Torg__V1__ParkedRecord *record = found->records[i];

        print_record(record, invocation->arena);
        printf("    topic %s, partition %" PRIu32 ", offset %" PRIu64 ", %" PRId64 " bytes\n",
               record->topic, record->partition, record->offset, record->size);
        if (*record->json)
            printf("    %s\n", record->json);
    }
    return EXIT_OK;
}

enum exit_code cmd_parked_replay(const struct invocation *invocation)
{
    Torg__V1__ReplayParkedRequest request = TORG__V1__REPLAY_PARKED_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.all = invocation_option(invocation, "all") != NULL;
    if (request.all == (invocation->argument_count == 1)) {
        complain("name a key, or say --all");
        return EXIT_USAGE;
    }
    request.stage = (char *)option_or_empty(invocation, "stage");
    request.key = (char *)(request.all ? "" : invocation->arguments[0]);
    if (ask(invocation, "ReplayParked", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%" PRId64 " will be tried\n",
               ((const Torg__V1__ReplayParkedResponse *)response)->count);
    return EXIT_OK;
}

enum exit_code cmd_parked_drop(const struct invocation *invocation)
{
    Torg__V1__DropParkedRequest request = TORG__V1__DROP_PARKED_REQUEST__INIT;
    ProtobufCMessage *response;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    request.all = invocation_option(invocation, "all") != NULL;
    request.stage = (char *)option_or_empty(invocation, "stage");
    request.key = (char *)invocation->arguments[0];
    if (!*request.stage) {
        complain("--stage: say whose record is given up (torg parked list shows it)");
        return EXIT_USAGE;
    }
    if (ask(invocation, "DropParked", &request.base, &response, &err))
        return fail(&err);
    if (invocation->json)
        print_json(response);
    else
        printf("%" PRId64 " given up\n", ((const Torg__V1__DropParkedResponse *)response)->count);
    return EXIT_OK;
}
