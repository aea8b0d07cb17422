/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - see service.h. */
#include "stage/service.h"

#include <inttypes.h>

#include "access/audit.h"
#include "base/memory.h"
#include "base/text.h"
#include "codec/json.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "model/topics.h"
#include "stage/bounds.h"
#include "stage/parked.h"

enum { JSON_SIZE_MAX = 4 << 20 };

/* What the record says; "" where it is not of its topic's message. */
static char *json_of(const struct parked *parked, struct arena *arena)
{
    const struct topic_line *line = topic_line_of(parked->topic);
    struct buf json = BUF_INIT(JSON_SIZE_MAX);
    ProtobufCMessage *decoded;
    char *text = NULL;

    if (line && parked->body.size &&
        !message_decode(parked->body, line->message, arena, &decoded, NULL)) {
        json_encode(decoded, &json);
        if (!buf_failed(&json))
            text = arena_text(arena, buf_bytes(&json));
    }
    buf_release(&json);
    return text ? text : arena_strdup(arena, "");
}

static Torg__V1__ParkedRecord *view(const struct parked *parked, struct arena *arena)
{
    Torg__V1__ParkedRecord *record = MESSAGE_NEW(parked_record, arena);

    record->stage = (char *)parked->stage;
    record->key = (char *)parked->key;
    record->reason = (char *)parked->reason;
    record->try_count = parked->try_count != PARKED_NO_RECORD ? parked->try_count : 0;
    record->first_time = moment_message(parked->first_us, arena);
    if (parked->next_us != PARKED_BEHIND)
        record->next_time = moment_message(parked->next_us, arena);
    record->topic = (char *)parked->topic;
    record->partition = parked->partition;
    record->offset = parked->offset;
    record->size = parked->size;
    return record;
}

int parked_desk_list(const struct parked_desk *desk, const Torg__V1__ListParkedRequest *request,
                     struct arena *arena, Torg__V1__ListParkedResponse *response, struct err *err)
{
    size_t limit = request->limit ? request->limit : PARKED_PAGE_COUNT;
    struct parked_total total;
    struct parked *list;
    int64_t after = 0;
    size_t count;
    int rc;

    if (limit > 10 * PARKED_PAGE_COUNT)
        return err_set(err, ERR_INVALID, "limit: %zu is more than the %d that are listed at once",
                       limit, 10 * PARKED_PAGE_COUNT);
    if (*request->page_token && !text_to_i64(bytes_of(request->page_token), &after))
        return err_set(err, ERR_INVALID, "page_token: expected the next_page_token of an answer");
    rc = parked_list(desk->store, request->stage, after, limit, arena, &list, &count, err);
    if (!rc)
        rc = parked_total(desk->store, request->stage, &total, err);
    if (rc)
        return rc;
    response->count = total.count;
    response->records = arena_array(arena, count + 1, sizeof(response->records[0]));
    for (size_t i = 0; i < count; i++)
        response->records[response->n_records++] = view(&list[i], arena);
    if (count == limit)
        response->next_page_token = arena_printf(arena, "%" PRId64, list[count - 1].id);
    return 0;
}

static int refuse_missing(const char *stage, const char *key, struct err *err)
{
    return *stage ? err_set(err, ERR_NOT_FOUND, "%s: %.200s is not parked", stage, key)
                  : err_set(err, ERR_NOT_FOUND, "%.200s is not parked", key);
}

int parked_desk_get(const struct parked_desk *desk, const Torg__V1__GetParkedRequest *request,
                    struct arena *arena, Torg__V1__GetParkedResponse *response, struct err *err)
{
    struct parked *list;
    size_t count;
    int rc;

    if (!*request->key)
        return err_set(err, ERR_INVALID, "key: say which one");
    rc = parked_of_key(desk->store, request->stage, request->key, PARKED_SHOWN_COUNT, arena, &list,
                       &count, err);
    if (!rc && !count)
        rc = refuse_missing(request->stage, request->key, err);
    if (rc)
        return rc;
    response->records = arena_array(arena, count, sizeof(response->records[0]));
    for (size_t i = 0; i < count; i++) {
        response->records[i] = view(&list[i], arena);
        response->records[i]->json = json_of(&list[i], arena);
    }
    response->n_records = count;
    return 0;
}

/* --- what changes them --- */

struct acting {
    const char *stage;
    const char *key;
    bool all;
    bool is_drop;
    int64_t count;
    struct audit_entry entry;
};

static int act_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct acting *acting = arg;
    int64_t now_us = acting->entry.at_us;
    int rc;

    acting->count = 0;
    rc = acting->is_drop
             ? parked_drop(tx, acting->stage, acting->key, acting->all, now_us, &acting->count, err)
             : parked_hurry(tx, acting->stage, acting->key, now_us, &acting->count, err);
    return rc || !acting->count ? rc : audit_add(tx, &acting->entry, err);
}

static int act(const struct parked_desk *desk, const char *principal, struct acting *acting,
               int64_t *count, struct err *err)
{
    struct arena *arena = arena_new();
    int rc;

    acting->entry = (struct audit_entry){
        .at_us = clock_wall_us(desk->clock),
        .principal = principal,
        .action = acting->is_drop ? "parked.drop" : "parked.replay",
        .target = arena_printf(arena, "%s/%s", *acting->stage ? acting->stage : "*",
                               *acting->key ? acting->key : "*"),
        .detail = acting->is_drop && acting->all ? "all of the key" : ""};
    rc = store_write(desk->store, act_tx, acting, err);
    if (!rc && acting->count)
        audit_log(&acting->entry);
    if (!rc && *acting->key && !acting->count)
        rc = refuse_missing(acting->stage, acting->key, err);
    *count = acting->count;
    arena_free(arena);
    return rc;
}

int parked_desk_replay(const struct parked_desk *desk, const char *principal,
                       const Torg__V1__ReplayParkedRequest *request,
                       Torg__V1__ReplayParkedResponse *response, struct err *err)
{
    struct acting acting = {.stage = request->stage, .key = request->key};

    if (request->all == (*request->key != 0))
        return err_set(err, ERR_INVALID, "key: say which one, or all, not both");
    return act(desk, principal, &acting, &response->count, err);
}

int parked_desk_drop(const struct parked_desk *desk, const char *principal,
                     const Torg__V1__DropParkedRequest *request,
                     Torg__V1__DropParkedResponse *response, struct err *err)
{
    struct acting acting = {
        .stage = request->stage, .key = request->key, .all = request->all, .is_drop = true};

    if (!*request->key || !*request->stage)
        return err_set(err, ERR_INVALID, "%s: name the one to give up",
                       *request->key ? "stage" : "key");
    return act(desk, principal, &acting, &response->count, err);
}

/* --- the service --- */

static int list_parked(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    return parked_desk_list(call_context(call), (const Torg__V1__ListParkedRequest *)request,
                            call_arena(call), (Torg__V1__ListParkedResponse *)response, err);
}

static int get_parked(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    return parked_desk_get(call_context(call), (const Torg__V1__GetParkedRequest *)request,
                           call_arena(call), (Torg__V1__GetParkedResponse *)response, err);
}

static int replay_parked(struct call *call, const ProtobufCMessage *request,
                         ProtobufCMessage *response, struct err *err)
{
    return parked_desk_replay(call_context(call), call_actor(call),
                              (const Torg__V1__ReplayParkedRequest *)request,
                              (Torg__V1__ReplayParkedResponse *)response, err);
}

static int drop_parked(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    return parked_desk_drop(call_context(call), call_actor(call),
                            (const Torg__V1__DropParkedRequest *)request,
                            (Torg__V1__DropParkedResponse *)response, err);
}

static const struct rpc_method methods[] = {
    {.name = "ListParked", .unary = list_parked, .scope = "pipeline.read"},
    {.name = "GetParked", .unary = get_parked, .scope = "pipeline.read"},
    {.name = "ReplayParked", .unary = replay_parked, .scope = "pipeline.control"},
    {.name = "DropParked", .unary = drop_parked, .scope = "pipeline.control"},
};

struct rpc_service parked_service(struct parked_desk *desk)
{
    return RPC_SERVICE(parked, methods, desk);
}
