/* SPDX-License-Identifier: Apache-2.0 */
/* service_report.c - see service_report.h. */
#include "feeds/service_report.h"

#include <stdio.h>

#include "base/memory.h"
#include "codec/message.h"
#include "feeds/bounds.h"
#include "feeds/report/reasons.h"
#include "feeds/service_schedule.h"
#include "feeds/tasks/rows.h"
#include "offers/bounds.h"
#include "offers/service.h"

typedef int row_fn(void *arg, const Torg__V1__FeedReportRow *row, struct err *err);

/* Gives take the rows of a task, of one outcome or of all (0), page by page. */
static int each_row(struct call *call, const struct feed_task *task,
                    Torg__V1__FeedReportRow__Outcome outcome, row_fn *take, void *arg,
                    struct err *err)
{
    char name[OFFER_EXTERNAL_ID_SIZE_MAX + 1] = "";
    struct feed_place place = {.external_id = name};
    struct arena *arena = call_arena(call);
    size_t count;
    int rc;

    do {
        struct arena_mark mark = arena_mark(arena);
        Torg__V1__FeedReportRow **rows =
            arena_array(arena, FEED_REPORT_PAGE_COUNT, sizeof(Torg__V1__FeedReportRow *));

        rc = feed_rows_read(call_context(call), task, &place, outcome, FEED_REPORT_PAGE_COUNT,
                            arena, rows, &count, err);
        for (size_t i = 0; i < count && !rc; i++)
            rc = take(arg, rows[i], err);
        if (!rc && call_cancelled(call))
            rc = err_set(err, ERR_CANCELLED, "the caller of the report has disconnected");
        if (!rc && place.external_id != name)
            snprintf(name, sizeof(name), "%s", place.external_id);
        place.external_id = name;
        arena_rewind(arena, mark);
    } while (!rc && count == FEED_REPORT_PAGE_COUNT);
    return rc;
}

static int write_row(void *arg, const Torg__V1__FeedReportRow *row, struct err *err)
{
    return call_write(arg, &row->base, err);
}

int feed_call_get_report(struct call *call, struct err *err)
{
    const Torg__V1__GetFeedReportRequest *wanted;
    Torg__V1__FeedReportRow__Outcome outcome;
    ProtobufCMessage *message;
    struct feed_task task = {0};
    struct feed_key key;
    int rc = call_read(call, &message, err);

    if (rc != 1)
        return rc < 0 ? rc : err_set(err, ERR_INVALID, "expected a request");
    wanted = (const Torg__V1__GetFeedReportRequest *)message;
    outcome = wanted->outcome;
    rc = feed_call_key(call, false, arena_strdup(call_arena(call), wanted->seller),
                       arena_strdup(call_arena(call), wanted->feed), wanted->task_id, &key, err);
    if (!rc)
        rc = feed_task_get(call_context(call), &key, call_arena(call), &task, err);
    return rc ? rc : each_row(call, &task, outcome, write_row, call, err);
}

/* --- in groups --- */

struct grouping {
    struct feed_reasons *refused;
    struct feed_reasons *noted;
};

static int group_row(void *arg, const Torg__V1__FeedReportRow *row, struct err *err)
{
    const struct grouping *grouping = arg;
    const struct feed_reason_example example = {
        .row = (uint64_t)row->row, .line = (uint64_t)row->line, .external_id = row->external_id};

    (void)err;
    for (size_t i = 0; i < row->n_problems; i++)
        feed_reasons_add(grouping->refused, row->problems[i]->field, row->problems[i]->reason,
                         &example);
    for (size_t i = 0; i < row->n_notes; i++)
        feed_reasons_add(grouping->noted, row->notes[i]->field, row->notes[i]->reason, &example);
    return 0;
}

static Torg__V1__FeedReason *told_reason(const struct feed_reason *one, struct arena *arena)
{
    Torg__V1__FeedReason *told = MESSAGE_NEW(feed_reason, arena);

    told->field = arena_strdup(arena, one->field);
    told->reason = arena_strdup(arena, one->reason);
    told->row_count = (int64_t)one->count;
    told->examples = arena_array(arena, FEED_REASON_EXAMPLE_COUNT, sizeof(told->examples[0]));
    for (size_t i = 0; i < one->example_count; i++) {
        Torg__V1__FeedReason__Row *row = MESSAGE_NEW(feed_reason__row, arena);

        row->row = (int64_t)one->examples[i].row;
        row->line = (int64_t)one->examples[i].line;
        row->external_id = arena_strdup(arena, one->examples[i].external_id);
        told->examples[told->n_examples++] = row;
    }
    return told;
}

static void tell_reasons(struct feed_reasons *reasons, struct arena *arena,
                         Torg__V1__FeedReason ***list, size_t *count)
{
    size_t found;
    const struct feed_reason *groups = feed_reasons_list(reasons, &found);

    *list = arena_array(arena, found + 1, sizeof(**list));
    for (*count = 0; *count < found; (*count)++)
        (*list)[*count] = told_reason(&groups[*count], arena);
}

int feed_call_get_reasons(struct call *call, const ProtobufCMessage *request,
                          ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FeedTaskRequest *wanted = (const Torg__V1__FeedTaskRequest *)request;
    Torg__V1__FeedReasons *answer = (Torg__V1__FeedReasons *)response;
    struct grouping grouping = {.refused = feed_reasons_new(), .noted = feed_reasons_new()};
    struct arena *arena = call_arena(call);
    struct feed_task task = {0};
    struct feed_key key;
    int rc = feed_call_key(call, false, wanted->seller, wanted->feed, wanted->task_id, &key, err);

    if (!rc)
        rc = feed_task_get(call_context(call), &key, arena, &task, err);
    if (!rc)
        rc = each_row(call, &task, 0, group_row, &grouping, err);
    if (!rc) {
        tell_reasons(grouping.refused, arena, &answer->refused, &answer->n_refused);
        tell_reasons(grouping.noted, arena, &answer->noted, &answer->n_noted);
    }
    feed_reasons_free(grouping.refused);
    feed_reasons_free(grouping.noted);
    return rc;
}
