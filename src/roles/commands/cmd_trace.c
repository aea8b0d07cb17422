/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - torg trace. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/object.h"
#include "codec/moment.h"
#include "model/offer_fields.h"
#include "offers/record/offer_id.h"
#include "roles/commands/print.h"
#include "roles/commands/remote.h"
#include "torg/v1/inspect.pb-c.h"

enum { MOMENT_LENGTH = 23 }; /* of 2026-11-15T08:41:26.123 */

#define STATE(name) TORG__V1__TRACE_STEP__STATE__##name

static const char *state_word(int state)
{
    static const char *const words[] = {[STATE(DONE)] = "done",
                                        [STATE(WAITING)] = "waiting",
                                        [STATE(STUCK)] = "stuck",
                                        [STATE(ABSENT)] = "absent",
                                        [STATE(UNKNOWN)] = "unknown"};

    return (unsigned)state < sizeof(words) / sizeof(words[0]) ? words[state] : "unknown";
}

/* With milliseconds: stages are that far apart. */
static const char *moment(const Google__Protobuf__Timestamp *time, struct arena *arena)
{
    char text[CLOCK_TEXT_SIZE];

    if (!time)
        return "-";
    clock_format(moment_own_us(time), text);
    return arena_printf(arena, "%.*sZ", MOMENT_LENGTH, text);
}

static void print_trace(const Torg__V1__Trace *trace, struct arena *arena)
{
    printf("%s of %s\n", trace->pk, trace->client);
    for (size_t i = 0; i < trace->n_steps; i++) {
        const Torg__V1__TraceStep *step = trace->steps[i];

        printf("  %-11s %-8s %-25s %s\n", step->stage, state_word(step->state),
               moment(step->time, arena), step->text);
    }
}

/* As offers' ids are written: 4721-0985-1360-2278. Keys of documents seldom look so. */
static bool looks_like_offer(const char *text)
{
    size_t i = 0;

    for (; text[i]; i++) {
        bool is_dash = i % 5 == 4;

        if (is_dash ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return false;
    }
    return i == OFFER_ID_TEXT_SIZE - 1;
}

static int ask(struct remote *remote, const char *client, const char *name,
               ProtobufCMessage **response, struct err *err)
{
    Torg__V1__TraceDocumentRequest document = TORG__V1__TRACE_DOCUMENT_REQUEST__INIT;
    Torg__V1__TraceOfferRequest offer = TORG__V1__TRACE_OFFER_REQUEST__INIT;

    if (client ? strcmp(client, OFFER_CLIENT) == 0 : looks_like_offer(name)) {
        offer.id = (char *)name;
        return remote_call(remote, &torg__v1__inspect_service__descriptor, "TraceOffer",
                           &offer.base, response, err);
    }
    document.client = (char *)(client ? client : "");
    document.pk = (char *)name;
    return remote_call(remote, &torg__v1__inspect_service__descriptor, "TraceDocument",
                       &document.base, response, err);
}

enum exit_code cmd_trace(const struct invocation *invocation)
{
    const Torg__V1__Trace *trace;
    ProtobufCMessage *response;
    struct remote *remote;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (remote_require(invocation, &remote, &err))
        return fail(&err);
    rc = ask(remote, invocation_option(invocation, "client"), invocation->arguments[0], &response,
             &err);
    remote_close(remote);
    if (rc == ERR_UNSUPPORTED)
        err_wrap(&err,
                 "this server does not have the role searcher, which answers this: ask one that "
                 "has");
    if (rc)
        return fail(&err);
    trace = (const Torg__V1__Trace *)response;
    if (invocation->json)
        print_json(response);
    else
        print_trace(trace, invocation->arena);
    return trace->n_steps && trace->steps[0]->state == STATE(ABSENT) ? EXIT_NOT_FOUND : EXIT_OK;
}
