/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.c - torg.v1.FeedService.
 *
 * The seller is the credential's; only a credential bound to none says whose feed it means. What is
 * another's is answered as what does not exist.
 */
#include "feeds/service.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/token.h"
#include "base/varint.h"
#include "codec/message.h"
#include "feeds/apply/apply.h"
#include "feeds/apply/end.h"
#include "feeds/apply/file.h"
#include "feeds/apply/intake.h"
#include "feeds/apply/reading.h"
#include "feeds/apply/undo.h"
#include "feeds/bounds.h"
#include "feeds/service_categories.h"
#include "feeds/service_report.h"
#include "feeds/service_schedule.h"
#include "feeds/tasks/file_places.h"
#include "offers/bounds.h"
#include "offers/service.h"

/* --- whose --- */

/* acts: the call changes what is the seller's; else it looks at it. */
static int find_seller(struct call *call, const char *named, bool acts, const char **seller,
                       struct err *err)
{
    const struct identity *identity = call_identity(call);

    *seller = identity->seller;
    if (**seller) {
        if (*named && strcmp(named, *seller) != 0)
            return err_set(err, ERR_NOT_FOUND,
                           "there is no feed of a seller \"%.64s\" for this key", named);
        return 0;
    }
    *seller = named;
    if (*named && acts && !identity_has_scope(identity, "sellers.act"))
        return err_set(err, ERR_DENIED,
                       "'%s' is bound to no seller, and lacks the scope 'sellers.act' to name one",
                       identity->principal);
    if (*named)
        return 0; /* feed_key_check looks at it */
    call_violation(call, "seller",
                   "the key is bound to none: expected 1 to %d letters, digits, "
                   "and . _ - @",
                   IDENTITY_NAME_SIZE - 1);
    return err_set(
        err, ERR_INVALID,
        "seller: the key is bound to none, so whose feed is it? Expected 1 to %d letters, "
        "digits, and . _ - @",
        IDENTITY_NAME_SIZE - 1);
}

int feed_call_key(struct call *call, bool acts, const char *seller, const char *feed,
                  int64_t task_id, struct feed_key *key, struct err *err)
{
    struct violations violations = violations_in(call_arena(call));
    int rc = find_seller(call, seller, acts, &key->seller, err);

    key->actor = NULL;

    key->feed = feed;
    key->task_id = task_id;
    if (!rc)
        rc = feed_key_check(key, &violations, err);
    call_violations(call, &violations);
    return rc;
}

static int task_key(struct call *call, bool acts, const ProtobufCMessage *request,
                    struct feed_key *key, struct err *err)
{
    const Torg__V1__FeedTaskRequest *wanted = (const Torg__V1__FeedTaskRequest *)request;

    int rc = feed_call_key(call, acts, wanted->seller, wanted->feed, wanted->task_id, key, err);

    key->actor = call_actor(call);
    return rc;
}

static struct feed_patience patience_of(const struct call *call)
{
    const struct offers *offers = call_context(call);
    int64_t until_us = clock_after_us(offers->clock, (int64_t)FEED_CALL_MS_MAX * MS_US);
    int64_t deadline_us = call_deadline_us(call);

    /* A little before the client gives up: it is to be told how far it is. */
    if (deadline_us < INT64_MAX && deadline_us - SECOND_US < until_us)
        until_us = deadline_us - SECOND_US;
    return (struct feed_patience){.clock = offers->clock, .until_us = until_us};
}

/* --- sending --- */

/* That an event is of the task, and makes sense. */
static int check_event(struct call *call, const struct feed_key *key,
                       const Torg__V1__FeedEvent *event, struct err *err)
{
    struct violations violations = violations_in(call_arena(call));
    int rc;

    if ((*event->seller && strcmp(event->seller, key->seller) != 0) ||
        (*event->feed && strcmp(event->feed, key->feed) != 0) ||
        (event->task_id && event->task_id != key->task_id))
        return err_set(
            err, ERR_INVALID,
            "an event of another task: all events of a call belong to the task of the first");
    rc = feed_event_check(event, &violations, err);
    call_violations(call, &violations);
    return rc;
}

static int begin(struct call *call, const Torg__V1__FeedEvent *first, struct feed_intake *intake,
                 struct err *err)
{
    struct arena *arena = call_arena(call);
    struct feed_key key;
    int rc = feed_call_key(call, true, arena_strdup(arena, first->seller),
                           arena_strdup(arena, first->feed), first->task_id, &key, err);

    if (!rc)
        feed_intake_init(intake, call_context(call),
                         language_of(call_header(call, "accept-language")), &key);
    return rc;
}

static int take_event(struct call *call, struct feed_intake *intake,
                      const Torg__V1__FeedEvent *event, struct feed_task *task, struct err *err)
{
    struct feed_patience patience = patience_of(call);
    int rc = check_event(call, &intake->key, event, err);

    if (!rc && task->message)
        rc = err_set(err, ERR_INVALID, "an event after the event end");
    return rc ? rc : feed_intake_add(intake, event, &patience, call_arena(call), task, err);
}

/* One event of the stream; *more: there may be another. */
static int take_next(struct call *call, struct feed_intake *intake, struct feed_task *task,
                     bool *more, struct err *err)
{
    ProtobufCMessage *message;
    int rc = call_read(call, &message, err);

    *more = rc == 1;
    if (rc != 1)
        return rc;
    rc = 0;
    if (!intake->arena)
        rc = begin(call, (Torg__V1__FeedEvent *)message, intake, err);
    if (!rc)
        rc = take_event(call, intake, (Torg__V1__FeedEvent *)message, task, err);
    *more = !task->message;
    return rc;
}

static int import(struct call *call, struct err *err)
{
    const struct offers *offers = call_context(call);
    struct feed_intake intake = {0};
    struct feed_task task = {0};
    struct err late = {0};
    bool more = true;
    int rc = 0;

    while (more && !rc)
        rc = take_next(call, &intake, &task, &more, err);
    if (!rc && !intake.arena)
        rc = err_set(err, ERR_INVALID, "the stream had no events: expected open first");
    if (intake.is_open && !task.message) {
        /* Cut short: what came is applied, and deleting anything has to be confirmed. */
        if (!feed_intake_flush(&intake, &late))
            feed_end_cut(offers, &intake.key, call_arena(call), &task, &late);
        if (!rc && late.code) {
            *err = late;
            rc = late.code;
        }
    }
    if (!rc)
        rc = call_write(call, &task.message->base, err);
    feed_intake_release(&intake);
    return rc;
}

static int send_events(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SendFeedEventsRequest *sent = (const Torg__V1__SendFeedEventsRequest *)request;
    struct feed_intake intake = {0};
    struct feed_task task = {0};
    int rc;

    if (sent->n_events < 1 || sent->n_events > FEED_EVENT_COUNT_MAX)
        return call_invalid(call, err, "events", "expected 1 to %d", FEED_EVENT_COUNT_MAX);
    rc = begin(call, sent->events[0], &intake, err);
    for (size_t i = 0; i < sent->n_events && !rc; i++)
        rc = check_event(call, &intake.key, sent->events[i], err);
    for (size_t i = 0; i < sent->n_events && !rc; i++)
        rc = take_event(call, &intake, sent->events[i], &task, err);
    if (!rc && !task.message) {
        rc = feed_intake_flush(&intake, err);
        if (!rc)
            rc = feed_task_get(call_context(call), &intake.key, call_arena(call), &task, err);
    }
    if (!rc)
        *(Torg__V1__FeedTask *)response = *task.message;
    feed_intake_release(&intake);
    return rc;
}

/* The number after the newest of the feed. */
static int next_task(struct call *call, struct feed_key *key, struct err *err)
{
    Torg__V1__FeedTask *newest;
    size_t count;
    int rc = feed_task_list(call_context(call), key, INT64_MAX, 1, call_arena(call), &newest,
                            &count, err);

    if (!rc)
        key->task_id = count ? newest->task_id + 1 : 1;
    return rc;
}

static struct file_places file_places = FILE_PLACES_INIT;

static bool is_left(const void *call)
{
    return call_cancelled(call);
}

static int import_file(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ImportFeedFileRequest *sent = (const Torg__V1__ImportFeedFileRequest *)request;
    struct feed_patience patience = patience_of(call);
    struct feed_file file = {.offers = call_context(call),
                             .language = language_of(call_header(call, "accept-language")),
                             .dry_run = sent->dry_run,
                             .tells_categories = true,
                             .content = bytes_make(sent->content.data, sent->content.len),
                             .categories = bytes_make(sent->categories.data, sent->categories.len),
                             .reading = sent->reading,
                             .patience = &patience,
                             .is_left = is_left,
                             .is_left_arg = call};
    struct violations violations = violations_in(call_arena(call));
    size_t place;
    int rc;

    if (!sent->content.len)
        return call_invalid(call, err, "content", "expected a file");
    rc = feed_call_key(call, true, sent->seller, sent->feed, sent->task_id ? sent->task_id : 1,
                       &file.key, err);
    if (!rc)
        rc = feed_reading_check(file.offers, sent->reading, "reading", &violations, err);
    call_violations(call, &violations);
    if (!rc && !sent->task_id)
        rc = next_task(call, &file.key, err);
    if (rc)
        return rc;
    rc = file_places_take(&file_places, file.key.seller, &place, err);
    if (rc)
        return rc;
    rc = feed_file_import(&file, call_arena(call), (Torg__V1__ImportFeedFileResponse *)response,
                          err);
    file_places_give_back(&file_places, place);
    if (rc == ERR_INVALID && strncmp(err->text, "line ", strlen("line ")) == 0)
        call_violation(call, "content", "%s", err->text);
    return rc;
}

/* --- asking --- */

static int get_task(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                    struct err *err)
{
    struct feed_task task = {0};
    struct feed_key key;
    int rc = task_key(call, false, request, &key, err);

    if (!rc)
        rc = feed_task_get(call_context(call), &key, call_arena(call), &task, err);
    if (!rc)
        rc = feed_end_tell_items(call_context(call), &key, call_arena(call), &task, err);
    if (!rc)
        *(Torg__V1__FeedTask *)response = *task.message;
    return rc;
}

/* A page token is the varint of the last task_id told. */
static int page_start(struct call *call, const char *token, int64_t *before, struct err *err)
{
    struct bytes rest;
    uint64_t number;

    *before = INT64_MAX;
    if (!*token)
        return 0;
    if (token_parse(bytes_of(token), VARINT_SIZE_MAX, call_arena(call), &rest) &&
        varint_get(&rest, &number) && !rest.size && number <= INT64_MAX) {
        *before = (int64_t)number;
        return 0;
    }
    return call_invalid(call, err, "page_token", "expected a next_page_token");
}

static char *page_token(struct arena *arena, int64_t task_id)
{
    struct buf binary = BUF_INIT(VARINT_SIZE_MAX);
    char *text;

    varint_put(&binary, (uint64_t)task_id);
    text = token_text(buf_bytes(&binary), arena);
    buf_release(&binary);
    return text;
}

static int list_tasks(struct call *call, const ProtobufCMessage *request,
                      ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__ListFeedTasksRequest *wanted = (const Torg__V1__ListFeedTasksRequest *)request;
    Torg__V1__ListFeedTasksResponse *answer = (Torg__V1__ListFeedTasksResponse *)response;
    size_t max = wanted->page_size > 0 ? (size_t)wanted->page_size : OFFER_PAGE_COUNT;
    struct arena *arena = call_arena(call);
    struct feed_key key;
    int64_t before;
    int rc = feed_call_key(call, false, wanted->seller, wanted->feed, 1, &key, err);

    if (!rc && (wanted->page_size < 0 || wanted->page_size > OFFER_BATCH_COUNT_MAX))
        rc = call_invalid(call, err, "page_size", "expected 0 to %d", OFFER_BATCH_COUNT_MAX);
    if (!rc)
        rc = page_start(call, wanted->page_token, &before, err);
    if (rc)
        return rc;
    answer->tasks = arena_array(arena, max, sizeof(Torg__V1__FeedTask *));
    rc = feed_task_list(call_context(call), &key, before, max, arena, answer->tasks,
                        &answer->n_tasks, err);
    if (!rc && answer->n_tasks == max)
        answer->next_page_token = page_token(arena, answer->tasks[max - 1]->task_id);
    return rc;
}

/* --- deciding --- */

static int refuse_state(const struct feed_task *task, const char *wanted, struct err *err)
{
    return err_set(err, ERR_PRECONDITION, "the task is %s: only one that is HELD can be %s",
                   feed_state_name((enum feed_state)task->message->state), wanted);
}

static int confirm_task(struct call *call, const ProtobufCMessage *request,
                        ProtobufCMessage *response, struct err *err)
{
    struct feed_patience patience = patience_of(call);
    struct feed_task task = {0};
    struct feed_key key;
    int rc = task_key(call, true, request, &key, err);

    if (!rc)
        rc = feed_task_move(call_context(call), &key, FEED_HELD, FEED_ENDING, call_arena(call),
                            &task, err);
    if (!rc && task.message->state != TORG__V1__FEED_TASK__STATE__ENDING &&
        task.message->state != TORG__V1__FEED_TASK__STATE__DONE) /* asked again */
        rc = refuse_state(&task, "confirmed", err);
    if (!rc)
        rc = feed_end_go_on(call_context(call), &key, &patience, call_arena(call), &task, err);
    if (!rc)
        *(Torg__V1__FeedTask *)response = *task.message;
    return rc;
}

static int cancel_task(struct call *call, const ProtobufCMessage *request,
                       ProtobufCMessage *response, struct err *err)
{
    struct feed_task task = {0};
    struct feed_key key;
    int rc = task_key(call, true, request, &key, err);

    if (!rc)
        rc = feed_task_move(call_context(call), &key, FEED_HELD, FEED_CANCELLED, call_arena(call),
                            &task, err);
    if (!rc && task.message->state != TORG__V1__FEED_TASK__STATE__CANCELLED)
        rc = refuse_state(&task, "cancelled", err);
    if (!rc)
        *(Torg__V1__FeedTask *)response = *task.message;
    return rc;
}

static int undo_task(struct call *call, const ProtobufCMessage *request, ProtobufCMessage *response,
                     struct err *err)
{
    struct feed_patience patience = patience_of(call);
    struct feed_task task = {0};
    struct feed_key key;
    int rc = task_key(call, true, request, &key, err);

    if (!rc)
        rc = feed_undo(call_context(call), &key, &patience, call_arena(call), &task, err);
    if (!rc)
        *(Torg__V1__FeedTask *)response = *task.message;
    return rc;
}

static const struct rpc_method methods[] = {
    {.name = "Import",
     .stream = import,
     .flags = RPC_CLIENT_STREAM | RPC_OF_SELLER,
     .scope = "offers.write"},
    {.name = "SendEvents", .unary = send_events, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "ImportFile", .unary = import_file, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "GetTask", .unary = get_task, .scope = "offers.read", .flags = RPC_OF_SELLER},
    {.name = "ListTasks", .unary = list_tasks, .scope = "offers.read", .flags = RPC_OF_SELLER},
    {.name = "GetReport",
     .stream = feed_call_get_report,
     .flags = RPC_SERVER_STREAM | RPC_OF_SELLER,
     .scope = "offers.read"},
    {.name = "GetReasons",
     .unary = feed_call_get_reasons,
     .scope = "offers.read",
     .flags = RPC_OF_SELLER},
    {.name = "ConfirmTask", .unary = confirm_task, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "CancelTask", .unary = cancel_task, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "UndoTask", .unary = undo_task, .scope = "offers.write", .flags = RPC_OF_SELLER},
    {.name = "SetSchedule",
     .unary = feed_call_set_schedule,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "GetSchedule",
     .unary = feed_call_get_schedule,
     .scope = "offers.read",
     .flags = RPC_OF_SELLER},
    {.name = "ListSchedules",
     .unary = feed_call_list_schedules,
     .scope = "offers.read",
     .flags = RPC_OF_SELLER},
    {.name = "PauseSchedule",
     .unary = feed_call_pause_schedule,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "ResumeSchedule",
     .unary = feed_call_resume_schedule,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "RunSchedule",
     .unary = feed_call_run_schedule,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "RemoveSchedule",
     .unary = feed_call_remove_schedule,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "SetCategories",
     .unary = feed_call_set_categories,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
    {.name = "GetCategories",
     .unary = feed_call_get_categories,
     .scope = "offers.read",
     .flags = RPC_OF_SELLER},
    {.name = "RemoveCategories",
     .unary = feed_call_remove_categories,
     .scope = "offers.write",
     .flags = RPC_OF_SELLER},
};

struct rpc_service feed_service(struct offers *offers)
{
    return RPC_SERVICE(feed, methods, offers);
}
