/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_feed_import.c - torg feed import: a file of a seller's offers, row by row, to FeedService.
 *
 *     feed_input ──► feed_reader ──► feed_mapping (by the catalogue) ──► feed_desk
 *
 * The first row is read before the task is opened: a file that is none of a feed makes no task. One
 * that breaks later ends its task as cut short, so that nothing is deleted on its account.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/object.h"
#include "base/text.h"
#include "codec/json.h"
#include "feeds/bounds.h"
#include "feeds/report/russian.h"
#include "roles/commands/feed_file_options.h"
#include "roles/commands/feed_input.h"
#include "roles/commands/feed_print.h"
#include "roles/commands/print.h"
#include "roles/commands/progress.h"

enum { SUMMARY_SIZE_MAX = 1 << 20 };

struct import {
    const struct invocation *invocation;
    bool quiet;
    bool is_russian;
    char *seller;
    char *feed;
    int64_t task_id; /* 0: the next */
    struct feed_options options;
    struct feed_desk *desk;
    struct catalog *catalog;
    struct bytes categories;        /* by which it is read; empty: none */
    Torg__V1__FeedCategories *kept; /* those that were set for the feed, if they are used */
    struct feed_mapping *mapping;
    struct feed_input *input;
    struct feed_reader *reader;
    struct arena *arena; /* of a row */
    struct progress progress;
    uint64_t noted_count; /* rows of which something was left out */
    char *first_note;     /* in the invocation's arena; NULL: none */
    bool bad_file;        /* the failure is of a file, not of the command line */
    struct err broken;    /* what is wrong with the file from some place on; code 0: nothing */
    Torg__V1__FeedTask *task;
};

/* --- before the first event --- */

/* It may be given twice, for JSON and CSV. */
static bool is_report(const struct given_option *option)
{
    return strcmp(option->name, "report") == 0;
}

static int read_options(struct import *import, struct err *err)
{
    const struct invocation *invocation = import->invocation;
    const char *task = invocation_option(invocation, "task");
    int rc = feed_names(invocation, &import->seller, &import->feed, err);

    import->quiet = invocation_option(invocation, "quiet") != NULL;
    if (!rc)
        rc = feed_language(invocation, &import->is_russian, err);
    if (!rc)
        rc = feed_file_options(invocation, &import->options, err);
    if (!rc && task)
        rc = feed_task_number("--task", task, &import->task_id, err);
    for (size_t i = 0; !rc && i < invocation->option_count; i++) {
        if (is_report(&invocation->options[i]))
            rc = feed_check_report_path(invocation->options[i].value, err);
    }
    return rc;
}

/* What was said of the feed's categories before, if this command line does not say it. */
static int find_kept(struct import *import, struct err *err)
{
    Torg__V1__FeedRequest request = TORG__V1__FEED_REQUEST__INIT;
    ProtobufCMessage *message = NULL;
    int rc;

    request.seller = import->seller;
    request.feed = import->feed;
    rc = feed_desk_call(import->desk, "GetCategories", &request.base, &message, err);
    if (rc)
        return rc == ERR_NOT_FOUND ? 0 : rc;
    import->kept = (Torg__V1__FeedCategories *)message;
    import->categories = bytes_make(import->kept->content.data, import->kept->content.len);
    return 0;
}

static int make_mapping(struct import *import, struct err *err)
{
    int rc = feed_desk_catalog(import->desk, &import->catalog, err);

    if (!rc && !invocation_option(import->invocation, "categories"))
        rc = find_kept(import, err);
    if (rc)
        return rc;
    return feed_file_mapping(import->invocation, import->catalog, &import->categories,
                             &import->mapping, &import->bad_file, err);
}

/* What this command line says, for those that do not; a dry run changes nothing. */
static int keep_categories(struct import *import, struct err *err)
{
    Torg__V1__SetFeedCategoriesRequest request = TORG__V1__SET_FEED_CATEGORIES_REQUEST__INIT;
    ProtobufCMessage *message;

    if (import->kept || !import->categories.size ||
        invocation_option(import->invocation, "dry-run"))
        return 0;
    if (import->categories.size > FEED_MAP_KEPT_SIZE_MAX) {
        complain("--categories is too large to be remembered (more than %d bytes): give it again "
                 "with the next import",
                 FEED_MAP_KEPT_SIZE_MAX);
        return 0;
    }
    request.seller = import->seller;
    request.feed = import->feed;
    request.content.data = (uint8_t *)import->categories.data; /* nothing writes to it */
    request.content.len = import->categories.size;
    return feed_desk_call(import->desk, "SetCategories", &request.base, &message, err);
}

static int choose_task(struct import *import, struct err *err)
{
    Torg__V1__ListFeedTasksRequest request = TORG__V1__LIST_FEED_TASKS_REQUEST__INIT;
    Torg__V1__ListFeedTasksResponse *response;
    int rc;

    if (import->task_id)
        return 0;
    request.seller = import->seller;
    request.feed = import->feed;
    request.page_size = 1;
    rc = feed_desk_list(import->desk, &request, &response, err);
    if (!rc)
        import->task_id = response->n_tasks ? response->tasks[0]->task_id + 1 : 1;
    return rc;
}

/* --- the events --- */

static int send_open(struct import *import, struct err *err)
{
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedOpen open = TORG__V1__FEED_OPEN__INIT;

    event.seller = import->seller;
    event.feed = import->feed;
    event.task_id = import->task_id;
    event.event_case = TORG__V1__FEED_EVENT__EVENT_OPEN;
    event.open = &open;
    open.dry_run = invocation_option(import->invocation, "dry-run") != NULL;
    return feed_desk_send(import->desk, &event, err);
}

static int send_row(struct import *import, const struct feed_row *row, struct err *err)
{
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;

    arena_reset(import->arena);
    feed_mapping_row(import->mapping, row, import->arena, &event);
    if (event.event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT && event.upsert->n_notes &&
        !import->noted_count++)
        import->first_note = arena_printf(
            import->invocation->arena,
            import->is_russian ? "запись %" PRIu64 " (%s, строка %" PRIu64 "): %s"
                               : "row %" PRIu64 " (%s, line %" PRIu64 "): %s",
            row->number, event.upsert->external_id, row->line,
            feed_reason_said(event.upsert->notes[0]->reason, import->is_russian, import->arena));
    return feed_desk_send(import->desk, &event, err);
}

static int send_end(struct import *import, struct err *err)
{
    struct feed_progress progress = feed_reader_progress(import->reader);
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedEnd end = TORG__V1__FEED_END__INIT;

    event.event_case = TORG__V1__FEED_EVENT__EVENT_END;
    event.end = &end;
    end.row_count = (int64_t)import->progress.row_count;
    end.cut_short = !progress.complete;
    if (progress.cut && !import->broken.code)
        err_set(&import->broken, ERR_INVALID, "%s", progress.cut);
    return feed_desk_send(import->desk, &event, err);
}

static void show(struct import *import, uint64_t row_count)
{
    uint64_t read_size;
    uint64_t total_size;

    feed_input_sizes(import->input, &read_size, &total_size);
    progress_update(&import->progress, read_size, total_size, row_count);
}

/* All rows, from the first, which is read already, to the end or to where the file breaks. */
static int send_rows(struct import *import, const struct feed_row *row, struct err *err)
{
    uint64_t count = 0;
    int rc = 0;

    while (row && !rc) {
        rc = send_row(import, row, err);
        show(import, ++count);
        if (!rc && feed_reader_next(import->reader, &row, &import->broken))
            break; /* told by the end event */
    }
    return rc;
}

static int run(struct import *import, struct err *err)
{
    const char *place = import->invocation->arguments[0];
    const struct feed_row *first;
    int rc = feed_desk_open(import->invocation, &import->desk, err);

    if (!rc)
        rc = make_mapping(import, err);
    if (!rc)
        rc = feed_input_open(place, import->quiet, &import->input, err);
    if (rc)
        return rc;
    progress_begin(&import->progress, stderr, clock_system(), import->quiet,
                   feed_input_name(import->input));
    rc = feed_reader_open(feed_input_source(import->input), &import->options, &import->reader, err);
    if (!rc)
        rc = feed_reader_next(import->reader, &first, err);
    import->bad_file = rc != 0;
    if (rc)
        return err_wrap(err, "%s", feed_input_name(import->input));
    rc = keep_categories(import, err);
    if (!rc)
        rc = choose_task(import, err);
    if (!rc)
        rc = send_open(import, err);
    if (!rc)
        rc = send_rows(import, first, err);
    if (!rc)
        rc = send_end(import, err);
    if (!rc)
        rc = feed_desk_finish(import->desk, &import->task, err);
    return rc ? rc : feed_wait(import->desk, &import->task, err);
}

/* --- the result --- */

static const char *rows_word(uint64_t count)
{
    return count == 1 ? "row" : "rows";
}

/* What the seller may want to mend. */
static void print_left_out(struct import *import)
{
    if (import->noted_count && import->is_russian)
        printf("записей, значения которых взяты не все: %" PRIu64 ", например %s\n",
               import->noted_count, import->first_note);
    else if (import->noted_count)
        printf("values left out of %" PRIu64 " %s, such as %s\n", import->noted_count,
               rows_word(import->noted_count), import->first_note);
    feed_print_unknown(import->mapping, import->is_russian);
}

static const char *broken_text(const struct import *import)
{
    return feed_reason_said(import->broken.text, import->is_russian, import->invocation->arena);
}

static void print_json_summary(struct import *import)
{
    struct feed_progress progress = feed_reader_progress(import->reader);
    struct buf out = BUF_INIT(SUMMARY_SIZE_MAX);

    buf_put_text(&out, "{\"task\":");
    json_encode(&import->task->base, &out);
    buf_printf(&out,
               ",\"format\":\"%s\",\"complete\":%s,\"bytes\":%" PRIu64
               ",\"seconds\":%.3f,\"rowsPerSecond\":%" PRIu64,
               feed_format_name(feed_reader_format(import->reader)),
               progress.complete ? "true" : "false", import->progress.read_size,
               (double)progress_spent_us(&import->progress) / SECOND_US,
               progress_rate(&import->progress));
    if (import->broken.code) {
        buf_put_text(&out, ",\"broken\":");
        text_put_json(&out, bytes_of(broken_text(import)));
    }
    if (import->kept)
        buf_printf(&out, ",\"categoriesTime\":\"%s\"",
                   time_text(import->kept->update_time, import->invocation->arena));
    buf_printf(&out, ",\"notedRows\":%" PRIu64, import->noted_count);
    feed_put_unknown(import->mapping, &out);
    buf_put_text(&out, "}");
    puts(buf_text(&out));
    buf_release(&out);
}

static void print_how(const struct import *import)
{
    const char *dry = import->is_russian ? ", проверка" : ", a dry run";

    puts(import->task->dry_run ? dry : "");
    if (import->kept)
        printf(import->is_russian
                   ? "прочитано по таблице категорий от %s (torg feed categories show)\n"
                   : "read by the categories that were set on %s (torg feed categories show)\n",
               time_text(import->kept->update_time, import->invocation->arena));
}

static void print_summary(struct import *import)
{
    int64_t spent_us = progress_spent_us(&import->progress);
    char size[PROGRESS_SIZE_TEXT_SIZE];

    progress_size_text(import->progress.read_size, size);
    printf("%s: %s, %s, ", feed_input_name(import->input),
           feed_format_name(feed_reader_format(import->reader)), size);
    if (import->is_russian)
        printf("записей %" PRIu64 " за %.1f с", import->progress.row_count,
               (double)spent_us / SECOND_US);
    else
        printf("%" PRIu64 " %s in %.1f s", import->progress.row_count,
               rows_word(import->progress.row_count), (double)spent_us / SECOND_US);
    if (spent_us >= SECOND_US)
        printf(import->is_russian ? ", %" PRIu64 " в секунду" : ", %" PRIu64 " rows/s",
               progress_rate(&import->progress));
    print_how(import);
    feed_print_counts(import->task, import->is_russian);
    print_left_out(import);
    feed_print_state(import->task, import->is_russian, import->invocation->arena);
}

static int print_refused(struct import *import, struct err *err)
{
    const struct feed_groups groups = {.refused = feed_reasons_new(),
                                       .is_russian = import->is_russian};
    int rc = feed_groups_read(import->desk, import->task, &groups, err);

    if (!rc)
        feed_groups_print(&groups, stderr);
    feed_reasons_free(groups.refused);
    return rc;
}

/* What has happened, to the one who asked for it; what went wrong on standard error. */
static int tell(struct import *import, struct err *err)
{
    const struct invocation *invocation = import->invocation;
    int rc = 0;

    if (import->broken.code)
        complain("%s: %s", feed_input_name(import->input), broken_text(import));
    if (invocation->json)
        print_json_summary(import);
    else
        print_summary(import);
    fflush(stdout);
    if (!invocation->json && !import->quiet)
        rc = print_refused(import, err);
    for (size_t i = 0; !rc && i < invocation->option_count; i++) {
        if (!is_report(&invocation->options[i]))
            continue;
        rc = feed_write_report(import->desk, import->task, 0, import->is_russian,
                               invocation->options[i].value, err);
        if (!rc && !import->quiet)
            fprintf(stderr,
                    import->is_russian ? "что стало с каждой записью, написано в %s\n"
                                       : "what happened to each row is in %s\n",
                    invocation->options[i].value);
    }
    return rc;
}

static enum exit_code end(struct import *import, int rc, struct err *err)
{
    const char *said = NULL;
    enum exit_code code = EXIT_OK;

    if (!rc)
        rc = tell(import, err);
    if (rc && import->is_russian)
        said = feed_reason_in_russian(err->text, import->invocation->arena);
    if (said)
        err_set(err, rc, "%s", said);
    if (rc)
        code = fail(err);
    if (import->bad_file || import->broken.code ||
        (import->task && import->task->state == TORG__V1__FEED_TASK__STATE__HELD))
        code = EXIT_FAILED;
    feed_reader_close(import->reader);
    feed_input_close(import->input);
    feed_mapping_free(import->mapping);
    catalog_unref(import->catalog);
    feed_desk_close(import->desk);
    arena_free(import->arena);
    return code;
}

enum exit_code cmd_feed_import(const struct invocation *invocation)
{
    struct import import = {.invocation = invocation, .arena = arena_new()};
    struct err err;
    int rc = read_options(&import, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc)
        rc = run(&import, &err);
    if (import.input)
        progress_end(&import.progress);
    return end(&import, rc, &err);
}
