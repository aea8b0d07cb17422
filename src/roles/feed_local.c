/* SPDX-License-Identifier: Apache-2.0 */
/* feed_local.c - see feed_local.h. */
#include "roles/feed_local.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "offers/feed_apply.h"
#include "offers/feed_rows.h"
#include "offers/feed_undo.h"
#include "roles/feed_settings.h"

enum { LIST_COUNT = 20 };

/* A person waits, and may end the command: whatever is left is gone on with later. */
static const struct feed_patience patience; /* for ever */

static struct catalog *catalog_in_use(void *arg)
{
    return catalog_holder_ref(arg);
}

int feed_local_open(const struct config *config, struct store *store, struct arena *arena,
                    struct feed_local *local, struct err *err)
{
    int rc;

    *local = (struct feed_local){.arena = arena, .rules = feed_settings(config)};
    rc = catalog_holder_open(store, false, &local->catalog, err);
    local->offers = (struct offers){.store = store,
                                    .clock = clock_system(),
                                    .catalog = catalog_in_use,
                                    .catalog_arg = local->catalog,
                                    .feed_rules = &local->rules};
    return rc;
}

void feed_local_close(struct feed_local *local)
{
    feed_intake_release(&local->intake);
    catalog_holder_close(local->catalog);
}

static int key_of(struct feed_local *local, const char *seller, const char *feed, int64_t task_id,
                  struct feed_key *key, struct err *err)
{
    struct violations violations = violations_in(local->arena);

    *key = (struct feed_key){.seller = seller, .feed = feed, .task_id = task_id};
    return feed_key_check(key, &violations, err);
}

int feed_local_send(struct feed_local *local, const Torg__V1__FeedEvent *event, struct err *err)
{
    struct arena_mark mark = arena_mark(local->arena);
    struct violations violations = violations_in(local->arena);
    struct feed_key key;
    int rc = feed_event_check(event, &violations, err);

    if (!rc && !local->intake.arena) {
        rc = key_of(local, event->seller, event->feed, event->task_id, &key, err);
        if (!rc)
            feed_intake_init(&local->intake, &local->offers, LANGUAGE_EN, &key);
    }
    arena_rewind(local->arena, mark);
    if (!rc)
        rc = feed_intake_add(&local->intake, event, &patience, local->arena, &local->task, err);
    return rc;
}

int feed_local_finish(struct feed_local *local, Torg__V1__FeedTask **task, struct err *err)
{
    assert(local->task.message); /* the end event was sent */
    *task = local->task.message;
    return 0;
}

static int decide(struct feed_local *local, const struct feed_key *key, enum feed_deed deed,
                  struct feed_task *task, struct err *err)
{
    enum feed_state to = deed == FEED_CONFIRM ? FEED_ENDING : FEED_CANCELLED;
    enum feed_state is;
    int rc = feed_task_move(&local->offers, key, FEED_HELD, to, local->arena, task, err);

    if (rc)
        return rc;
    is = (enum feed_state)task->message->state;
    if (is != to && !(deed == FEED_CONFIRM && is == FEED_DONE)) /* asked again */
        return err_set(err, ERR_PRECONDITION, "the task is %s: only one that is HELD can be %s",
                       feed_state_name(is), deed == FEED_CONFIRM ? "confirmed" : "cancelled");
    if (deed == FEED_CONFIRM)
        rc = feed_end_go_on(&local->offers, key, &patience, local->arena, task, err);
    return rc;
}

int feed_local_do(struct feed_local *local, enum feed_deed deed,
                  const Torg__V1__FeedTaskRequest *request, Torg__V1__FeedTask **message,
                  struct err *err)
{
    struct feed_task task = {0};
    struct feed_key key;
    int rc = key_of(local, request->seller, request->feed, request->task_id, &key, err);

    if (!rc && deed == FEED_GET)
        rc = feed_task_get(&local->offers, &key, local->arena, &task, err);
    else if (!rc && deed == FEED_UNDO)
        rc = feed_undo(&local->offers, &key, &patience, local->arena, &task, err);
    else if (!rc)
        rc = decide(local, &key, deed, &task, err);
    *message = task.message;
    return rc;
}

/* A page token is the number of the last task told. */
int feed_local_list(struct feed_local *local, const Torg__V1__ListFeedTasksRequest *request,
                    Torg__V1__ListFeedTasksResponse **response, struct err *err)
{
    size_t max = request->page_size > 0 ? (size_t)request->page_size : LIST_COUNT;
    Torg__V1__ListFeedTasksResponse *made = arena_alloc(local->arena, sizeof(*made));
    int64_t before = INT64_MAX;
    struct feed_key key;
    int rc = key_of(local, request->seller, request->feed, 1, &key, err);

    *response = made;
    torg__v1__list_feed_tasks_response__init(made);
    if (*request->page_token && !text_to_i64(bytes_of(request->page_token), &before))
        return err_set(err, ERR_INVALID, "page_token: expected a next_page_token");
    if (rc)
        return rc;
    made->tasks = arena_array(local->arena, max, sizeof(Torg__V1__FeedTask *));
    rc = feed_task_list(&local->offers, &key, before, max, local->arena, made->tasks,
                        &made->n_tasks, err);
    if (!rc && made->n_tasks == max)
        made->next_page_token =
            arena_printf(local->arena, "%" PRId64, made->tasks[max - 1]->task_id);
    return rc;
}

static int take_page(struct feed_local *local, const struct feed_task *task,
                     const Torg__V1__GetFeedReportRequest *request, struct feed_place *place,
                     struct arena *arena,
                     int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err),
                     void *arg, size_t *count, struct err *err)
{
    Torg__V1__FeedReportRow **rows =
        arena_array(arena, FEED_REPORT_PAGE_COUNT, sizeof(Torg__V1__FeedReportRow *));
    int rc = feed_rows_read(&local->offers, task, place, request->outcome, FEED_REPORT_PAGE_COUNT,
                            arena, rows, count, err);

    for (size_t i = 0; i < *count && !rc; i++)
        rc = take(arg, rows[i], err);
    return rc;
}

int feed_local_report(struct feed_local *local, const Torg__V1__GetFeedReportRequest *request,
                      int (*take)(void *arg, const Torg__V1__FeedReportRow *row, struct err *err),
                      void *arg, struct err *err)
{
    char name[OFFER_EXTERNAL_ID_SIZE_MAX + 1] = "";
    struct feed_place place = {.external_id = name};
    struct arena *arena = arena_new();
    struct feed_task task;
    struct feed_key key;
    size_t count = 0;
    int rc = key_of(local, request->seller, request->feed, request->task_id, &key, err);

    if (!rc)
        rc = feed_task_get(&local->offers, &key, local->arena, &task, err);
    while (!rc) {
        arena_reset(arena);
        rc = take_page(local, &task, request, &place, arena, take, arg, &count, err);
        if (!rc && place.external_id != name)
            snprintf(name, sizeof(name), "%s", place.external_id);
        place.external_id = name;
        if (count < FEED_REPORT_PAGE_COUNT)
            break;
    }
    arena_free(arena);
    return rc;
}
