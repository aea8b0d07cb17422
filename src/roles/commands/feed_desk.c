/* SPDX-License-Identifier: Apache-2.0 */
/* feed_desk.c - see feed_desk.h. */
#include "roles/commands/feed_desk.h"

#include <assert.h>

#include "base/object.h"
#include "feeds/bounds.h"
#include "offers/record/offer_record.h"
#include "roles/commands/desk.h"
#include "torg/v1/catalog.pb-c.h"

#define FEEDS (&torg__v1__feed_service__descriptor)

struct feed_desk {
    struct desk desk;
    struct arena *arena;       /* borrowed: of answers */
    struct rpc_stream *events; /* to the server, of the task that is sent; NULL: none */
    /* When no server runs, events are gathered for SendEvents. */
    struct arena *batch_arena; /* owned: of those that wait; NULL: no task is sent */
    Torg__V1__FeedEvent *batch[FEED_EVENT_COUNT_MAX];
    size_t batch_count;
    size_t batch_size;
    char *seller; /* of the task: what its first event said */
    char *feed;
    int64_t task_id;
};

int feed_desk_open(const struct invocation *invocation, struct feed_desk **desk, struct err *err)
{
    struct feed_desk *made = arena_zero(invocation->arena, sizeof(*made));
    int rc = desk_open(invocation, false, &made->desk, err);

    object_check(invocation, INVOCATION_MAGIC);
    made->arena = invocation->arena;
    *desk = rc ? NULL : made;
    return rc;
}

void feed_desk_close(struct feed_desk *desk)
{
    if (!desk)
        return;
    rpc_stream_close(desk->events);
    arena_free(desk->batch_arena);
    desk_close(&desk->desk);
}

int feed_desk_catalog(struct feed_desk *desk, struct catalog **catalog, struct err *err)
{
    Torg__V1__GetCatalogRequest request = TORG__V1__GET_CATALOG_REQUEST__INIT;
    const Torg__V1__GetCatalogResponse *response;
    ProtobufCMessage *message;
    int rc = desk_call(&desk->desk, &torg__v1__catalog_service__descriptor, "GetCatalog",
                       &request.base, &message, err);

    *catalog = NULL;
    if (rc)
        return rc;
    response = (const Torg__V1__GetCatalogResponse *)message;
    return catalog_from_message(response->catalog, NULL, catalog, err);
}

/* --- a task's events: a stream to a server, batches to the directory --- */

static int send_batch(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err)
{
    Torg__V1__SendFeedEventsRequest request = TORG__V1__SEND_FEED_EVENTS_REQUEST__INIT;
    ProtobufCMessage *message = NULL;
    int rc;

    desk->batch[0]->seller = desk->seller;
    desk->batch[0]->feed = desk->feed;
    desk->batch[0]->task_id = desk->task_id;
    request.events = desk->batch;
    request.n_events = desk->batch_count;
    rc = desk_call(&desk->desk, FEEDS, "SendEvents", &request.base, &message, err);
    *task = (Torg__V1__FeedTask *)message;
    desk->batch_count = desk->batch_size = 0;
    arena_reset(desk->batch_arena);
    return rc;
}

static int gather(struct feed_desk *desk, const Torg__V1__FeedEvent *event, struct err *err)
{
    struct arena_mark mark = arena_mark(desk->arena);
    Torg__V1__FeedTask *task;
    int rc = 0;

    if (!desk->batch_arena) {
        desk->batch_arena = arena_new();
        desk->seller = arena_strdup(desk->arena, event->seller);
        desk->feed = arena_strdup(desk->arena, event->feed);
        desk->task_id = event->task_id;
    } else if (desk->batch_count == FEED_EVENT_COUNT_MAX || desk->batch_size >= FEED_BATCH_SIZE) {
        rc = send_batch(desk, &task, err);
        arena_rewind(desk->arena, mark); /* where the task stands is told at its end */
    }
    if (rc)
        return rc;
    desk->batch[desk->batch_count++] =
        (Torg__V1__FeedEvent *)record_copy(&event->base, desk->batch_arena);
    desk->batch_size += protobuf_c_message_get_packed_size(&event->base);
    return 0;
}

/* The server has answered before it was told the end: why. */
static int ended_early(struct feed_desk *desk, struct err *err)
{
    ProtobufCMessage *message;
    int rc =
        rpc_stream_read(desk->events, &torg__v1__feed_task__descriptor, desk->arena, &message, err);

    return rc < 0 ? rc : err_set(err, ERR_UNAVAILABLE, "the server ended the import early");
}

int feed_desk_send(struct feed_desk *desk, const Torg__V1__FeedEvent *event, struct err *err)
{
    int rc = 0;

    if (!desk->desk.remote)
        return gather(desk, event, err);
    if (!desk->events)
        rc =
            remote_open_stream(desk->desk.remote, "torg.v1.FeedService/Import", &desk->events, err);
    if (!rc && rpc_stream_ready(desk->events))
        rc = ended_early(desk, err);
    return rc ? rc : rpc_stream_write(desk->events, &event->base, err);
}

int feed_desk_finish(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err)
{
    ProtobufCMessage *message;
    int rc;

    if (!desk->desk.remote)
        return send_batch(desk, task, err);
    assert(desk->events);
    rpc_stream_finish(desk->events);
    rc =
        rpc_stream_read(desk->events, &torg__v1__feed_task__descriptor, desk->arena, &message, err);
    *task = (Torg__V1__FeedTask *)message;
    if (rc == 0)
        rc = err_set(err, ERR_INTERNAL, "the server ended the import without an answer");
    return rc < 0 ? rc : 0;
}

/* --- tasks --- */

int feed_desk_do(struct feed_desk *desk, const char *method,
                 const Torg__V1__FeedTaskRequest *request, Torg__V1__FeedTask **task,
                 struct err *err)
{
    ProtobufCMessage *message = NULL;
    int rc = desk_call(&desk->desk, FEEDS, method, &request->base, &message, err);

    *task = (Torg__V1__FeedTask *)message;
    return rc;
}

int feed_desk_list(struct feed_desk *desk, const Torg__V1__ListFeedTasksRequest *request,
                   Torg__V1__ListFeedTasksResponse **response, struct err *err)
{
    ProtobufCMessage *message = NULL;
    int rc = desk_call(&desk->desk, FEEDS, "ListTasks", &request->base, &message, err);

    *response = (Torg__V1__ListFeedTasksResponse *)message;
    return rc;
}

int feed_desk_call(struct feed_desk *desk, const char *method, const ProtobufCMessage *request,
                   ProtobufCMessage **response, struct err *err)
{
    return desk_call(&desk->desk, FEEDS, method, request, response, err);
}

bool feed_desk_is_served(const struct feed_desk *desk)
{
    return desk->desk.remote != NULL;
}

struct taking {
    int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err);
    void *arg;
};

static int take_row(void *arg, const ProtobufCMessage *message, struct err *err)
{
    const struct taking *taking = arg;

    return taking->take(taking->arg, (const Torg__V1__FeedReportRow *)message, err);
}

int feed_desk_report(struct feed_desk *desk, const Torg__V1__GetFeedReportRequest *request,
                     int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err),
                     void *arg, struct err *err)
{
    struct taking taking = {.take = take, .arg = arg};

    return desk_stream(&desk->desk, FEEDS, "GetReport", &request->base, take_row, &taking, err);
}
