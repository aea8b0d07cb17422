/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_feed.c - torg feed list, show, confirm, cancel, undo, report. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "roles/commands/feed_print.h"
#include "roles/commands/print.h"

enum { LIST_COUNT = 20, LIST_COUNT_MAX = 1000, PAGE_COUNT_MAX = 100, GROUPS_SIZE_MAX = 4 << 20 };

static int find_task(const struct invocation *invocation, struct feed_desk *desk,
                     Torg__V1__FeedTaskRequest *request, struct err *err)
{
    Torg__V1__ListFeedTasksRequest ask = TORG__V1__LIST_FEED_TASKS_REQUEST__INIT;
    Torg__V1__ListFeedTasksResponse *newest;
    int rc;

    if (invocation->argument_count)
        return feed_task_number("TASK", invocation->arguments[0], &request->task_id, err);
    ask.seller = request->seller;
    ask.feed = request->feed;
    ask.page_size = 1;
    rc = feed_desk_list(desk, &ask, &newest, err);
    if (!rc && !newest->n_tasks)
        return err_set(err, ERR_NOT_FOUND, "feed %s of seller %s has no tasks", request->feed,
                       request->seller);
    if (!rc)
        request->task_id = newest->tasks[0]->task_id;
    return rc;
}

static void print_task(const Torg__V1__FeedTask *task, const struct invocation *invocation,
                       bool is_russian)
{
    if (invocation->json) {
        print_json(&task->base);
        return;
    }
    printf(is_russian ? "продавец %s, фид %s, загрузка %" PRId64 ": записей %" PRId64
                        ", начата %s, закончена %s\n"
                      : "seller %s, feed %s, task %" PRId64 ": %" PRId64
                        " rows, begun %s, ended %s\n",
           task->seller, task->feed, task->task_id, task->counts ? task->counts->rows : 0,
           time_text(task->create_time, invocation->arena),
           time_text(task->end_time, invocation->arena));
    feed_print_counts(task, is_russian);
    feed_print_state(task, is_russian, invocation->arena);
}

/* One task, named or the newest: something is done to it, and it is shown. */
static enum exit_code do_to_task(const struct invocation *invocation, const char *method)
{
    Torg__V1__FeedTaskRequest request = TORG__V1__FEED_TASK_REQUEST__INIT;
    struct feed_desk *desk = NULL;
    Torg__V1__FeedTask *task;
    bool is_russian = false;
    struct err err;
    int rc = feed_names(invocation, &request.seller, &request.feed, &err);

    if (!rc)
        rc = feed_language(invocation, &is_russian, &err);
    if (!rc)
        rc = feed_desk_open(invocation, &desk, &err);
    if (!rc)
        rc = find_task(invocation, desk, &request, &err);
    if (!rc)
        rc = feed_desk_do(desk, method, &request, &task, &err);
    if (!rc && strcmp(method, "GetTask") != 0)
        rc = feed_wait(desk, &task, &err);
    if (!rc)
        print_task(task, invocation, is_russian);
    feed_desk_close(desk);
    return rc ? fail(&err) : EXIT_OK;
}

enum exit_code cmd_feed_show(const struct invocation *invocation)
{
    object_check(invocation, INVOCATION_MAGIC);
    return do_to_task(invocation, "GetTask");
}

enum exit_code cmd_feed_confirm(const struct invocation *invocation)
{
    object_check(invocation, INVOCATION_MAGIC);
    return do_to_task(invocation, "ConfirmTask");
}

enum exit_code cmd_feed_cancel(const struct invocation *invocation)
{
    object_check(invocation, INVOCATION_MAGIC);
    return do_to_task(invocation, "CancelTask");
}

enum exit_code cmd_feed_undo(const struct invocation *invocation)
{
    object_check(invocation, INVOCATION_MAGIC);
    return do_to_task(invocation, "UndoTask");
}

/* --- list --- */

static void print_head(bool is_russian)
{
    if (is_russian) /* printf counts bytes, of which a letter has two */
        puts("загрузка  начата                состояние               "
             "записей  создано изменено  без пер. не прин.  удалено");
    else
        printf("%6s  %-21s %-12s %8s %8s %8s %9s %8s %8s\n", "task", "begun", "state", "rows",
               "created", "updated", "unchanged", "refused", "deleted");
}

static void print_line(const Torg__V1__FeedTask *task, bool is_russian, struct arena *arena)
{
    static const Torg__V1__FeedCounts none = TORG__V1__FEED_COUNTS__INIT;
    const Torg__V1__FeedCounts *counts = task->counts ? task->counts : &none;
    const char *state = feed_task_state_text(task, is_russian);

    if (task->dry_run)
        state = arena_printf(arena, is_russian ? "%s, проверка" : "%s, dry", state);
    printf("%*" PRId64 "  %-21s %s %8" PRId64 " %8" PRId64 " %8" PRId64 " %9" PRId64 " %8" PRId64
           " %8" PRId64 "\n",
           is_russian ? 8 : 6, task->task_id, time_text(task->create_time, arena),
           feed_padded(state, is_russian ? 22 : 12, arena), counts->rows,
           counts->created + counts->revived, counts->updated, counts->unchanged, counts->refused,
           counts->deleted);
}

static int print_tasks(const struct invocation *invocation, struct feed_desk *desk, int64_t limit,
                       bool is_russian, Torg__V1__ListFeedTasksRequest *request, struct err *err)
{
    Torg__V1__ListFeedTasksResponse *page;
    int64_t count = 0;
    int rc;

    do {
        request->page_size =
            (int32_t)(limit - count < PAGE_COUNT_MAX ? limit - count : PAGE_COUNT_MAX);
        rc = feed_desk_list(desk, request, &page, err);
        if (rc)
            return rc;
        if (!count && !invocation->json && page->n_tasks)
            print_head(is_russian);
        for (size_t i = 0; i < page->n_tasks; i++) {
            if (invocation->json)
                print_json(&page->tasks[i]->base);
            else
                print_line(page->tasks[i], is_russian, invocation->arena);
        }
        count += (int64_t)page->n_tasks;
        request->page_token = page->next_page_token;
    } while (page->n_tasks && *page->next_page_token && count < limit);
    if (!count && !invocation->json)
        printf(is_russian ? "у фида %s продавца %s нет загрузок\n"
                          : "feed %s of seller %s has no tasks\n",
               request->feed, request->seller);
    return 0;
}

enum exit_code cmd_feed_list(const struct invocation *invocation)
{
    Torg__V1__ListFeedTasksRequest request = TORG__V1__LIST_FEED_TASKS_REQUEST__INIT;
    const char *given = invocation_option(invocation, "limit");
    int64_t limit = LIST_COUNT;
    struct feed_desk *desk = NULL;
    bool is_russian = false;
    struct err err;
    int rc = feed_names(invocation, &request.seller, &request.feed, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc)
        rc = feed_language(invocation, &is_russian, &err);
    if (!rc && given &&
        (!text_to_i64(bytes_of(given), &limit) || limit < 1 || limit > LIST_COUNT_MAX))
        rc = err_set(&err, ERR_INVALID, "--limit=%.64s: expected a number from 1 to %d", given,
                     LIST_COUNT_MAX);
    if (!rc)
        rc = feed_desk_open(invocation, &desk, &err);
    if (!rc)
        rc = print_tasks(invocation, desk, limit, is_russian, &request, &err);
    feed_desk_close(desk);
    return rc ? fail(&err) : EXIT_OK;
}

/* --- report --- */

static int read_outcome(const char *name, Torg__V1__FeedReportRow__Outcome *outcome,
                        struct err *err)
{
    const ProtobufCEnumDescriptor *type = &torg__v1__feed_report_row__outcome__descriptor;

    for (unsigned i = 0; name && i < type->n_values; i++) {
        if (type->values[i].value && strcasecmp(type->values[i].name, name) == 0) {
            *outcome = (Torg__V1__FeedReportRow__Outcome)type->values[i].value;
            return 0;
        }
    }
    if (!name)
        return 0;
    return err_set(err, ERR_INVALID,
                   "--outcome=%.64s: expected one of created, updated, unchanged, banned, refused, "
                   "left, deleted, revived",
                   name);
}

/* As text, or as {"refused": […], "noted": […]}. */
static int print_groups(const struct invocation *invocation, struct feed_desk *desk,
                        const Torg__V1__FeedTask *task, bool is_russian, struct err *err)
{
    const struct feed_groups groups = {feed_reasons_new(), feed_reasons_new(), is_russian};
    struct buf out = BUF_INIT(GROUPS_SIZE_MAX);
    int rc = feed_groups_read(desk, task, &groups, err);

    if (!rc && invocation->json) {
        buf_put_text(&out, "{\"refused\":");
        feed_reasons_json(groups.refused, is_russian, &out);
        buf_put_text(&out, ",\"noted\":");
        feed_reasons_json(groups.noted, is_russian, &out);
        buf_put_text(&out, "}");
        puts(buf_text(&out));
    } else if (!rc) {
        feed_groups_print(&groups, stdout);
    }
    feed_reasons_free(groups.refused);
    feed_reasons_free(groups.noted);
    buf_release(&out);
    return rc;
}

enum exit_code cmd_feed_report(const struct invocation *invocation)
{
    Torg__V1__FeedTaskRequest request = TORG__V1__FEED_TASK_REQUEST__INIT;
    Torg__V1__FeedReportRow__Outcome outcome = 0;
    const char *path = invocation_option(invocation, "report");
    bool is_russian = false;
    struct feed_desk *desk = NULL;
    Torg__V1__FeedTask *task;
    struct err err;
    int rc = feed_names(invocation, &request.seller, &request.feed, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc)
        rc = read_outcome(invocation_option(invocation, "outcome"), &outcome, &err);
    if (!rc)
        rc = feed_language(invocation, &is_russian, &err);
    if (!rc && path)
        rc = feed_check_report_path(path, &err);
    if (!rc)
        rc = feed_desk_open(invocation, &desk, &err);
    if (!rc)
        rc = find_task(invocation, desk, &request, &err);
    if (!rc)
        rc = feed_desk_do(desk, "GetTask", &request, &task, &err);
    if (!rc && invocation_option(invocation, "groups"))
        rc = print_groups(invocation, desk, task, is_russian, &err);
    else if (!rc)
        rc = feed_write_report(desk, task, outcome, is_russian, path ? path : "-", &err);
    feed_desk_close(desk);
    return rc ? fail(&err) : EXIT_OK;
}
