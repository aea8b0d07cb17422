/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_feed_check.c - torg feed check: what a feed file is, and what would become of its rows, by
 * the catalogue only. Nothing is sent and nothing is written but the template of categories.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/object.h"
#include "base/text.h"
#include "catalog/bounds.h"
#include "feeds/apply/faults.h"
#include "feeds/bounds.h"
#include "feeds/mapping/category_tally.h"
#include "feeds/report/reasons.h"
#include "feeds/report/russian.h"
#include "roles/commands/feed_desk.h"
#include "roles/commands/feed_file_options.h"
#include "roles/commands/feed_input.h"
#include "roles/commands/feed_print.h"
#include "roles/commands/progress.h"

enum { SHOWN_COUNT_MAX = 8, TEXT_SIZE_MAX = 64 << 20 };

struct check {
    const struct invocation *invocation;
    struct feed_options options;
    struct catalog *catalog;
    struct feed_mapping *mapping;
    struct feed_input *input;
    struct feed_reader *reader;
    struct arena *arena; /* of a row */
    struct feed_tally *tally;
    struct feed_groups groups;
    uint64_t row_count;
    uint64_t good_count;
    uint64_t delete_count; /* of those: rows that ask to delete an offer */
    bool bad_file;
    struct err broken; /* what is wrong with the file from some place on; code 0: nothing */
};

/* --- before the first row --- */

/* Of a file, or the one in use: of the server that runs, or in the data directory. */
static int open_catalog(struct check *check, struct err *err)
{
    const char *path = invocation_option(check->invocation, "catalog");
    struct violations violations = violations_in(check->invocation->arena);
    struct feed_desk *desk = NULL;
    struct buf content = BUF_INIT(CATALOG_FILE_SIZE_MAX);
    int rc;

    if (path) {
        rc = file_read(path, &content, err);
        if (!rc) {
            rc = catalog_from_json(buf_bytes(&content), &violations, &check->catalog, err);
            check->bad_file = rc != 0;
            rc = rc ? err_wrap(err, "%s", path) : 0;
        }
    } else {
        rc = feed_desk_open(check->invocation, &desk, err);
        if (!rc)
            rc = feed_desk_catalog(desk, &check->catalog, err);
    }
    feed_desk_close(desk);
    buf_release(&content);
    return rc;
}

static int open_file(struct check *check, struct err *err)
{
    struct bytes categories = {0};
    int rc = feed_file_options(check->invocation, &check->options, err);

    if (!rc)
        rc = feed_language(check->invocation, &check->groups.is_russian, err);
    if (!rc)
        rc = open_catalog(check, err);
    if (!rc)
        rc = feed_file_mapping(check->invocation, check->catalog, &categories, &check->mapping,
                               &check->bad_file, err);
    if (!rc)
        rc = feed_input_open(check->invocation->arguments[0], true, &check->input, err);
    if (rc)
        return rc;
    rc = feed_reader_open(feed_input_source(check->input), &check->options, &check->reader, err);
    check->bad_file = rc != 0;
    return rc ? err_wrap(err, "%s", feed_input_name(check->input)) : 0;
}

/* --- rows --- */

static void take_notes(struct check *check, Torg__V1__FeedProblem *const *notes, size_t count,
                       const struct feed_reason_example *row)
{
    for (size_t i = 0; i < count; i++)
        feed_reasons_add(check->groups.noted, notes[i]->field, notes[i]->reason, row);
}

static void check_row(struct check *check, const struct feed_row *row)
{
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    struct violations problems;
    struct feed_reason_example example = {.row = row->number, .line = row->line};
    const struct feed_placement *placement;
    const char *reason = NULL;

    arena_reset(check->arena);
    problems = violations_in(check->arena);
    check->row_count++;
    feed_mapping_row(check->mapping, row, check->arena, &event);
    if (event.event_case == TORG__V1__FEED_EVENT__EVENT_DELETE) {
        check->good_count++;
        check->delete_count++;
        return;
    }
    placement = feed_mapping_place(check->mapping, row, &reason);
    feed_tally_add(check->tally, row, placement, reason);
    example.external_id = event.upsert->external_id;
    for (size_t i = 0; i < event.upsert->n_problems; i++)
        violations_add(&problems, event.upsert->problems[i]->field, "%s",
                       event.upsert->problems[i]->reason);
    feed_faults_add(event.upsert->content, check->catalog, LANGUAGE_RU, &problems);
    take_notes(check, event.upsert->notes, event.upsert->n_notes, &example);
    check->good_count += !problems.count;
    for (const struct violation *one = problems.first; one; one = one->next)
        feed_reasons_add(check->groups.refused, one->field, one->reason, &example);
}

static int read_rows(struct check *check, struct err *err)
{
    const struct feed_row *row;
    int rc = feed_reader_next(check->reader, &row, err);

    if (rc && !check->row_count) {
        check->bad_file = true;
        return err_wrap(err, "%s", feed_input_name(check->input));
    }
    while (row) {
        check_row(check, row);
        if (feed_reader_next(check->reader, &row, &check->broken))
            return 0;
    }
    if (feed_reader_progress(check->reader).cut)
        err_set(&check->broken, ERR_INVALID, "%s", feed_reader_progress(check->reader).cut);
    return 0;
}

static const char *said(const struct check *check, const char *english, const char *russian)
{
    return check->groups.is_russian ? russian : english;
}

/* --- the template --- */

static int write_template(struct check *check, struct err *err)
{
    const char *path = invocation_option(check->invocation, "template");
    struct buf content = BUF_INIT(TEXT_SIZE_MAX);
    int rc;

    if (!path)
        return 0;
    feed_tally_write(check->tally, &content);
    rc = buf_failed(&content)
             ? err_set(err, ERR_LIMIT, "%s would have more than %d bytes", path, TEXT_SIZE_MAX)
             : file_write(path, buf_bytes(&content), err);
    if (!rc)
        fprintf(stderr,
                said(check,
                     "which of our categories those of the feed are is in %s: look through it, "
                     "then use it by --categories %s\n",
                     "какие из наших категорий у фида, написано в %s: проверьте и укажите в "
                     "--categories %s\n"),
                path, path);
    buf_release(&content);
    return rc;
}

/* --- the result --- */

static void print_categories(struct check *check)
{
    size_t count;
    struct feed_tallied *const *list = feed_tally_list(check->tally, &count);
    size_t unknown_count = 0;
    size_t shown = 0;

    for (size_t i = 0; i < count; i++)
        unknown_count += !list[i]->placement;
    if (!unknown_count)
        return;
    printf(
        said(check, "%zu of its %zu categories are none of ours by name%s:\n",
             "категорий, которых по названию у нас нет: %zu из %zu%s\n"),
        unknown_count, count,
        invocation_option(check->invocation, "template")
            ? ""
            : said(check, " (--template FILE writes them all)", " (--template ФАЙЛ запишет все)"));
    for (size_t i = 0; i < count && shown < SHOWN_COUNT_MAX; i++) {
        const struct category *guess = list[i]->proposal.category;

        if (list[i]->placement)
            continue;
        shown++;
        printf("  %8" PRIu64 "  %s%s%s%s", list[i]->row_count, list[i]->id,
               *list[i]->id && *list[i]->path ? " " : "", list[i]->path,
               *list[i]->id || *list[i]->path ? "" : said(check, "(none)", "(нет)"));
        if (guess)
            printf(said(check, ": perhaps %s, %s", ": может быть, %s, %s"), guess->id,
                   guess->name.in[LANGUAGE_RU]);
        putchar('\n');
    }
    if (unknown_count > shown)
        printf(said(check, "            and %zu more\n", "            и ещё %zu\n"),
               unknown_count - shown);
}

/* Labels are padded here: printf counts bytes, and Russian letters have two. */
static void print_text(struct check *check)
{
    uint64_t refused = check->row_count - check->good_count;
    char size[PROGRESS_SIZE_TEXT_SIZE];
    uint64_t read_size;
    uint64_t total_size;

    feed_input_sizes(check->input, &read_size, &total_size);
    progress_size_text(read_size, size);
    printf("%s: %s, %s, ", feed_input_name(check->input),
           feed_format_name(feed_reader_format(check->reader)), size);
    printf(said(check, check->row_count == 1 ? "%" PRIu64 " row\n" : "%" PRIu64 " rows\n",
                "строк: %" PRIu64 "\n"),
           check->row_count);
    printf("  %s %8" PRIu64 "\n", said(check, "good          ", "годных        "),
           check->good_count);
    if (check->delete_count)
        printf(said(check, "  of them        %8" PRIu64 ": rows that ask to delete an offer\n",
                    "  из них         %8" PRIu64 ": просят удалить объявление\n"),
               check->delete_count);
    if (refused)
        printf("  %s %8" PRIu64 "\n", said(check, "refused       ", "отклонено     "), refused);
    feed_groups_print(&check->groups, stdout);
    feed_print_unknown(check->mapping, check->groups.is_russian);
    print_categories(check);
}

static void put_categories(struct check *check, struct buf *out)
{
    size_t count;
    struct feed_tallied *const *list = feed_tally_list(check->tally, &count);

    for (size_t i = 0; i < count; i++) {
        const struct category *category =
            list[i]->placement ? list[i]->placement->category : list[i]->proposal.category;

        buf_put_text(out, i ? ",{\"id\":" : "{\"id\":");
        text_put_json(out, bytes_of(list[i]->id));
        buf_put_text(out, ",\"path\":");
        text_put_json(out, bytes_of(list[i]->path));
        buf_printf(out, ",\"rows\":%" PRIu64 ",\"by\":\"%s\",\"category\":", list[i]->row_count,
                   list[i]->placement ? "known" : feed_proposal_name(list[i]->proposal.by));
        text_put_json(out, bytes_of(category ? category->id : ""));
        buf_put_byte(out, '}');
    }
}

static const char *broken_text(const struct check *check)
{
    return feed_reason_said(check->broken.text, check->groups.is_russian, check->invocation->arena);
}

static void print_json_text(struct check *check)
{
    struct buf out = BUF_INIT(TEXT_SIZE_MAX);

    buf_printf(&out,
               "{\"format\":\"%s\",\"complete\":%s,\"rows\":%" PRIu64 ",\"good\":%" PRIu64
               ",\"refused\":%" PRIu64 ",\"deletes\":%" PRIu64,
               feed_format_name(feed_reader_format(check->reader)),
               check->broken.code ? "false" : "true", check->row_count, check->good_count,
               check->row_count - check->good_count, check->delete_count);
    if (check->broken.code) {
        buf_put_text(&out, ",\"broken\":");
        text_put_json(&out, bytes_of(broken_text(check)));
    }
    buf_put_text(&out, ",\"refusals\":");
    feed_reasons_json(check->groups.refused, check->groups.is_russian, &out);
    buf_put_text(&out, ",\"notes\":");
    feed_reasons_json(check->groups.noted, check->groups.is_russian, &out);
    feed_put_unknown(check->mapping, &out);
    buf_put_text(&out, ",\"categories\":[");
    put_categories(check, &out);
    buf_put_text(&out, "]}");
    puts(buf_text(&out));
    buf_release(&out);
}

static enum exit_code end(struct check *check, int rc, struct err *err)
{
    const char *said = NULL;
    enum exit_code code = EXIT_OK;

    if (rc && check->groups.is_russian)
        said = feed_reason_in_russian(err->text, check->invocation->arena);
    if (said)
        err_set(err, rc, "%s", said);
    if (rc)
        code = fail(err);
    if (check->bad_file || check->broken.code)
        code = EXIT_FAILED;
    feed_reader_close(check->reader);
    feed_input_close(check->input);
    feed_tally_free(check->tally);
    feed_reasons_free(check->groups.refused);
    feed_reasons_free(check->groups.noted);
    feed_mapping_free(check->mapping);
    catalog_unref(check->catalog);
    arena_free(check->arena);
    return code;
}

enum exit_code cmd_feed_check(const struct invocation *invocation)
{
    struct check check = {.invocation = invocation,
                          .arena = arena_new(),
                          .tally = feed_tally_new(),
                          .groups = {feed_reasons_new(), feed_reasons_new(), false}};
    struct err err;
    int rc = open_file(&check, &err);

    object_check(invocation, INVOCATION_MAGIC);
    if (!rc)
        rc = read_rows(&check, &err);
    if (!rc) {
        feed_tally_propose(check.tally, check.catalog, NULL);
        if (check.broken.code)
            complain("%s: %s", feed_input_name(check.input), broken_text(&check));
        if (invocation->json)
            print_json_text(&check);
        else
            print_text(&check);
        fflush(stdout);
        rc = write_template(&check, &err);
    }
    return end(&check, rc, &err);
}
