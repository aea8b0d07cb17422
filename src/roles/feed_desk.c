/* SPDX-License-Identifier: Apache-2.0 */
/* feed_desk.c - see feed_desk.h. */
#include "roles/feed_desk.h"

#include <assert.h>

#include "roles/feed_local.h"
#include "roles/operation.h"
#include "torg/v1/catalog.pb-c.h"

struct feed_desk {
    struct operation operation;
    struct arena *arena;       /* borrowed: of answers */
    struct rpc_stream *events; /* of the task that is sent; NULL: none */
    bool is_local;             /* no server runs */
    struct feed_local local;
};

int feed_desk_open(const struct invocation *invocation, struct feed_desk **desk, struct err *err)
{
    struct feed_desk *made = arena_zero(invocation->arena, sizeof(*made));
    int rc = operation_open(invocation, false, &made->operation, err);

    *desk = NULL;
    if (rc)
        return rc;
    made->arena = invocation->arena;
    made->is_local = !made->operation.remote;
    if (made->is_local) {
        rc = feed_local_open(&invocation->config, made->operation.store, invocation->arena,
                             &made->local, err);
        if (rc) {
            operation_close(&made->operation);
            return rc;
        }
    }
    *desk = made;
    return 0;
}

void feed_desk_close(struct feed_desk *desk)
{
    if (!desk)
        return;
    rpc_stream_close(desk->events);
    if (desk->is_local)
        feed_local_close(&desk->local);
    operation_close(&desk->operation);
}

static int call(struct feed_desk *desk, const char *method, const ProtobufCMessage *request,
                const ProtobufCMessageDescriptor *type, ProtobufCMessage **response,
                struct err *err)
{
    return remote_call(desk->operation.remote, method, request, type, response, err);
}

int feed_desk_catalog(struct feed_desk *desk, struct catalog **catalog, struct err *err)
{
    Torg__V1__GetCatalogRequest request = TORG__V1__GET_CATALOG_REQUEST__INIT;
    const Torg__V1__GetCatalogResponse *response;
    ProtobufCMessage *message;
    int rc;

    *catalog = NULL;
    if (desk->is_local) {
        *catalog = catalog_holder_ref(desk->local.catalog);
        return 0;
    }
    rc = call(desk, "torg.v1.CatalogService/GetCatalog", &request.base,
              &torg__v1__get_catalog_response__descriptor, &message, err);
    if (rc)
        return rc;
    response = (const Torg__V1__GetCatalogResponse *)message;
    return catalog_from_message(response->catalog, NULL, catalog, err);
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

    if (desk->is_local)
        return feed_local_send(&desk->local, event, err);
    if (!desk->events)
        rc = remote_open_stream(desk->operation.remote, "torg.v1.FeedService/Import", &desk->events,
                                err);
    if (!rc && rpc_stream_ready(desk->events))
        rc = ended_early(desk, err);
    return rc ? rc : rpc_stream_write(desk->events, &event->base, err);
}

int feed_desk_finish(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err)
{
    ProtobufCMessage *message;
    int rc;

    if (desk->is_local)
        return feed_local_finish(&desk->local, task, err);
    assert(desk->events);
    rpc_stream_finish(desk->events);
    rc =
        rpc_stream_read(desk->events, &torg__v1__feed_task__descriptor, desk->arena, &message, err);
    *task = (Torg__V1__FeedTask *)message;
    if (rc == 0)
        rc = err_set(err, ERR_INTERNAL, "the server ended the import without an answer");
    return rc < 0 ? rc : 0;
}

int feed_desk_do(struct feed_desk *desk, enum feed_deed deed,
                 const Torg__V1__FeedTaskRequest *request, Torg__V1__FeedTask **task,
                 struct err *err)
{
    static const char *const methods[] = {
        [FEED_GET] = "torg.v1.FeedService/GetTask",
        [FEED_CONFIRM] = "torg.v1.FeedService/ConfirmTask",
        [FEED_CANCEL] = "torg.v1.FeedService/CancelTask",
        [FEED_UNDO] = "torg.v1.FeedService/UndoTask",
    };
    ProtobufCMessage *message = NULL;
    int rc;

    if (desk->is_local)
        return feed_local_do(&desk->local, deed, request, task, err);
    rc = call(desk, methods[deed], &request->base, &torg__v1__feed_task__descriptor, &message, err);

    *task = (Torg__V1__FeedTask *)message;
    return rc;
}

int feed_desk_list(struct feed_desk *desk, const Torg__V1__ListFeedTasksRequest *request,
                   Torg__V1__ListFeedTasksResponse **response, struct err *err)
{
    ProtobufCMessage *message = NULL;
    int rc;

    if (desk->is_local)
        return feed_local_list(&desk->local, request, response, err);
    rc = call(desk, "torg.v1.FeedService/ListTasks", &request->base,
              &torg__v1__list_feed_tasks_response__descriptor, &message, err);

    *response = (Torg__V1__ListFeedTasksResponse *)message;
    return rc;
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

    if (desk->is_local)
        return feed_local_report(&desk->local, request, take, arg, err);
    return remote_stream(desk->operation.remote, "torg.v1.FeedService/GetReport", &request->base,
                         &torg__v1__feed_report_row__descriptor, take_row, &taking, err);
}
