/* SPDX-License-Identifier: Apache-2.0 */
/* service_freshness.c - torg.v1.FreshnessService: see service.h. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "inspect/bounds.h"
#include "inspect/service.h"
#include "inspect/trace/change.h"
#include "offers/record/offer_record.h"
#include "torg/v1/freshness.pb-c.h"

#define STATE(name) TORG__V1__CHANGE_STAGE__STATE__##name

/* An offer's token is sealed, so it was given to who wrote, and is told of stages alone. Positions
 * in a client's lanes are for who may ask for its documents. */
static int check_caller(const struct call *call, const struct inspect *inspect,
                        const struct change *change, struct arena *arena, struct err *err)
{
    const struct identity *identity = call_identity(call);
    const struct client_view *client;
    int rc;

    if (change->is_offer)
        return 0;
    if (!*identity->principal)
        return err_set(err, ERR_UNAUTHENTICATED,
                       "the token of a document needs a key of its client: send 'Authorization: "
                       "Bearer KEY'");
    if (!identity_has_scope(identity, "search") && !identity_has_scope(identity, "documents"))
        return err_set(err, ERR_DENIED, "'%s' has neither the scope 'search' nor 'documents'",
                       identity->principal);
    rc = change_client(inspect, change, arena, &client, err);
    if (!rc && *identity->client && strcmp(identity->client, client->name) != 0)
        rc = err_set(err, ERR_DENIED, "the key '%s' is bound to client %s, the token is another's",
                     identity->principal, identity->client);
    if (!rc)
        client_unref(client);
    return rc;
}

static bool has_left(const void *call)
{
    return call_cancelled(call);
}

static int64_t time_of(const struct change_progress *progress, enum change_stage stage)
{
    switch (stage) {
    case CHANGE_SAVED:
        return progress->is_superseded ? 0 : progress->saved_us;
    case CHANGE_SENT:
        return progress->sent_us;
    case CHANGE_SEARCHABLE:
        return progress->shown_us;
    default:
        return 0;
    }
}

static void tell_why(const struct change_progress *progress, struct arena *arena,
                     Torg__V1__ChangeStage *told)
{
    told->since = moment_or_none(progress->since_us, arena);
    told->reason = arena_strdup(arena, progress->reason);
    told->mend = arena_strdup(arena, progress->mend);
}

static void tell(const struct change *change, const struct change_progress *progress,
                 struct arena *arena, Torg__V1__ChangeProgress *answer)
{
    int first = change->is_offer ? CHANGE_SAVED : CHANGE_RECEIVED;

    answer->stages = arena_array(arena, CHANGE_STAGE_COUNT, sizeof(answer->stages[0]));
    for (int stage = first; stage < CHANGE_STAGE_COUNT; stage++) {
        Torg__V1__ChangeStage *told = MESSAGE_NEW(change_stage, arena);
        bool is_next = stage == (int)progress->next;

        told->stage = (char *)change_stage_name((enum change_stage)stage);
        told->state = stage < (int)progress->next     ? STATE(PASSED)
                      : is_next && progress->is_stuck ? STATE(STUCK)
                                                      : STATE(WAITING);
        if (told->state == STATE(PASSED))
            told->time = moment_or_none(time_of(progress, (enum change_stage)stage), arena);
        if (is_next)
            tell_why(progress, arena, told);
        answer->stages[answer->n_stages++] = told;
    }
    answer->is_searchable = progress->next == CHANGE_STAGE_COUNT;
    answer->is_hidden = progress->is_hidden;
    answer->is_superseded = progress->is_superseded;
}

/* The longer it has waited, the longer it waits for another look. */
static int64_t pause_of(int64_t waited_us)
{
    int64_t pause_us = waited_us / 2;

    if (pause_us < FRESHNESS_PAUSE_MS_MIN * MS_US)
        return FRESHNESS_PAUSE_MS_MIN * MS_US;
    return pause_us > FRESHNESS_PAUSE_MS_MAX * MS_US ? FRESHNESS_PAUSE_MS_MAX * MS_US : pause_us;
}

/* Looks, and has itself run again while there is time: no thread waits. Where that cannot be, it
 * waits. */
static int look_until(struct call *call, struct inspect *inspect, struct change *change,
                      int64_t deadline_us, struct change_progress *progress, struct err *err)
{
    struct arena *arena = call_arena(call);
    int64_t now_us = clock_mono_us(inspect->clock);
    int rc = change_look(inspect, change, arena, progress, err);

    if (rc || progress->next > CHANGE_SEARCHABLE || now_us >= deadline_us)
        return rc;
    if (call_come_back(call, pause_of(now_us - call_begun_us(call))))
        return err_set(err, ERR_UNAVAILABLE, "the change is not searchable yet");
    return change_wait(inspect, change, CHANGE_SEARCHABLE, deadline_us, has_left, call, arena,
                       progress, err);
}

static int get_progress(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__GetProgressRequest *asked = (const Torg__V1__GetProgressRequest *)request;
    struct inspect *inspect = call_context(call);
    struct arena *arena = call_arena(call);
    struct change_progress progress;
    struct change change;
    int64_t deadline_us;
    int rc;

    if (!(asked->wait >= 0 && asked->wait <= FRESHNESS_WAIT_S_MAX))
        return err_set(err, ERR_INVALID, "wait: %g s; expected 0 to %d", asked->wait,
                       FRESHNESS_WAIT_S_MAX);
    rc = change_parse(inspect, bytes_of(asked->token), &change, err);
    if (rc) {
        err_wrap(err, "token");
        return rc;
    }
    rc = check_caller(call, inspect, &change, arena, err);
    deadline_us = (call_begun_us(call) ? call_begun_us(call) : clock_mono_us(inspect->clock)) +
                  (int64_t)(asked->wait * SECOND_US);
    if (call_deadline_us(call) < deadline_us)
        deadline_us = call_deadline_us(call);
    if (!rc)
        rc = look_until(call, inspect, &change, deadline_us, &progress, err);
    if (!rc)
        tell(&change, &progress, arena, (Torg__V1__ChangeProgress *)response);
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "GetProgress", .unary = get_progress, .flags = RPC_PUBLIC},
};

struct rpc_service freshness_service(struct inspect *inspect)
{
    assert(inspect->store && inspect->clients && inspect->clock);
    return RPC_SERVICE(freshness, methods, inspect);
}
