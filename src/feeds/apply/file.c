/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - see file.h. */
#include "feeds/apply/file.h"

#include <string.h>

#include "codec/gunzip.h"
#include "codec/message.h"
#include "feeds/apply/apply.h"
#include "feeds/apply/intake.h"
#include "feeds/apply/reading.h"
#include "feeds/bounds.h"
#include "feeds/formats/reader.h"
#include "feeds/mapping/category_tally.h"
#include "feeds/mapping/mapping.h"
#include "feeds/tasks/kept_map.h"

struct reading {
    const struct feed_file *file;
    struct feed_key key;
    struct bytes rest; /* of the content */
    struct gunzip *gunzip;
    struct feed_source source;
    struct catalog *catalog;
    Torg__V1__FeedCategories *kept; /* by which it is read; NULL: none */
    struct feed_mapping *mapping;
    struct feed_reader *reader;
    struct feed_intake intake;
    struct arena *row_arena;
    struct arena *arena; /* of the answer */
    struct feed_task task;
    struct feed_tally *tally; /* NULL: not wanted */
    int64_t row_count;
    int64_t noted_count;
    struct err broken; /* what is wrong with the file from some place on; code 0: nothing */
};

/* --- the bytes --- */

static int read_packed(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct reading *reading = arg;

    (void)err;
    *got = size < reading->rest.size ? size : reading->rest.size;
    memcpy(to, reading->rest.data, *got);
    reading->rest = bytes_make(reading->rest.data + *got, reading->rest.size - *got);
    return 0;
}

static int read_plain(void *arg, void *to, size_t size, size_t *got, struct err *err)
{
    struct reading *reading = arg;
    int rc = gunzip_read(reading->gunzip, to, size, got, err);

    if (rc || *got)
        return rc;
    reading->source.cut = gunzip_cut(reading->gunzip);
    reading->source.is_whole = !reading->file->end_is_unknown || gunzip_is_packed(reading->gunzip);
    return 0;
}

/* --- how it is read --- */

/* By what the seller says his categories are: now, or as he has said before. */
static int open_mapping(struct reading *reading, struct err *err)
{
    const struct feed_file *file = reading->file;
    struct feed_mapping_options options = {.categories = file->categories};
    int rc = 0;

    feed_reading_mapping(file->reading, &options);
    reading->catalog = file->offers->catalog(file->offers->catalog_arg);
    if (!reading->catalog)
        return err_set(err, ERR_UNAVAILABLE, "there is no catalogue yet");
    if (!file->categories.size)
        rc = kept_map_find(file->offers, &file->key, reading->arena, &reading->kept, err);
    if (!rc && reading->kept)
        options.categories = bytes_make(reading->kept->content.data, reading->kept->content.len);
    if (rc)
        return rc;
    rc = feed_mapping_new(reading->catalog, &options, &reading->mapping, err);
    if (rc && reading->kept)
        return err_wrap(err, "the categories that were set for the feed do not fit the catalogue");
    return rc ? err_wrap(err, "categories") : 0;
}

static int open_file(struct reading *reading, const struct feed_row **first, struct err *err)
{
    const struct feed_file *file = reading->file;
    struct feed_options options = {
        .yml_doctype = true,
        .size_max = file->size_max ? file->size_max : FEED_CALL_FILE_SIZE_MAX,
        .row_count_max = file->row_count_max ? file->row_count_max : FEED_CALL_ROW_COUNT_MAX};
    int rc;

    rc = open_mapping(reading, err);
    if (rc)
        return rc;
    feed_reading_options(file->reading, &options);
    reading->rest = file->content;
    reading->gunzip = gunzip_new(read_packed, reading);
    feed_source_function(&reading->source, read_plain, reading, 0);
    rc = feed_reader_open(&reading->source, &options, &reading->reader, err);
    return rc ? rc : feed_reader_next(reading->reader, first, err);
}

/* --- its events --- */

static int send(struct reading *reading, Torg__V1__FeedEvent *event, struct err *err)
{
    return feed_intake_add(&reading->intake, event, reading->file->patience, reading->arena,
                           &reading->task, err);
}

static int send_open(struct reading *reading, struct err *err)
{
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedOpen open = TORG__V1__FEED_OPEN__INIT;

    event.event_case = TORG__V1__FEED_EVENT__EVENT_OPEN;
    event.open = &open;
    open.dry_run = reading->file->dry_run;
    return send(reading, &event, err);
}

static int send_row(struct reading *reading, const struct feed_row *row, struct err *err)
{
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    struct violations violations = violations_in(reading->row_arena);
    int rc;

    arena_reset(reading->row_arena);
    feed_mapping_row(reading->mapping, row, reading->row_arena, &event);
    if (reading->tally && event.event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT) {
        const char *reason = NULL;
        const struct feed_placement *placement = feed_mapping_place(reading->mapping, row, &reason);

        feed_tally_add(reading->tally, row, placement, reason);
    }
    reading->row_count++;
    if (event.event_case == TORG__V1__FEED_EVENT__EVENT_UPSERT && event.upsert->n_notes)
        reading->noted_count++;
    rc = feed_event_check(&event, &violations, err);
    return rc ? rc : send(reading, &event, err);
}

static int send_end(struct reading *reading, struct err *err)
{
    struct feed_progress progress = feed_reader_progress(reading->reader);
    Torg__V1__FeedEvent event = TORG__V1__FEED_EVENT__INIT;
    Torg__V1__FeedEnd end = TORG__V1__FEED_END__INIT;

    event.event_case = TORG__V1__FEED_EVENT__EVENT_END;
    event.end = &end;
    end.row_count = reading->row_count;
    end.cut_short = !progress.complete || reading->broken.code;
    if (progress.cut && !reading->broken.code)
        err_set(&reading->broken, ERR_INVALID, "%s", progress.cut);
    return send(reading, &event, err);
}

static int send_rows(struct reading *reading, const struct feed_row *row, struct err *err)
{
    const struct feed_file *file = reading->file;
    int rc = 0;

    while (row && !rc) {
        rc = send_row(reading, row, err);
        if (!rc && file->is_left && file->is_left(file->is_left_arg)) {
            err_set(&reading->broken, ERR_CANCELLED, "its sender left");
            break;
        }
        if (!rc && feed_reader_next(reading->reader, &row, &reading->broken))
            break; /* told by the end event */
    }
    return rc;
}

/* --- the answer --- */

static Torg__V1__FeedFileCategory *told_category(const struct feed_tallied *one,
                                                 enum language language, struct arena *arena)
{
    Torg__V1__FeedFileCategory *told = MESSAGE_NEW(feed_file_category, arena);
    struct buf attributes = BUF_INIT(FEED_VALUE_SIZE_MAX);

    told->id = arena_strdup(arena, one->id);
    told->path = arena_strdup(arena, one->path);
    told->row_count = (int64_t)one->row_count;
    told->refused = one->is_refused;
    if (one->placement) {
        told->category = arena_strdup(arena, one->placement->category->id);
        told->category_name = arena_strdup(arena, one->placement->category->name.in[language]);
    }
    if (one->proposal.category) {
        told->proposal = arena_strdup(arena, one->proposal.category->id);
        told->proposal_name = arena_strdup(arena, one->proposal.category->name.in[language]);
        told->proposed_by = arena_strdup(arena, feed_proposal_name(one->proposal.by));
    }
    feed_tally_put_attributes(one, &attributes);
    told->attributes = arena_strdup(arena, buf_text(&attributes));
    buf_release(&attributes);
    told->titles = arena_array(arena, one->title_count + 1, sizeof(told->titles[0]));
    for (size_t i = 0; i < one->title_count; i++)
        told->titles[told->n_titles++] = arena_strdup(arena, one->titles[i]);
    return told;
}

static void tell_categories(struct reading *reading, Torg__V1__ImportFeedFileResponse *response)
{
    const struct offers *offers = reading->file->offers;
    struct feed_similar similar =
        offers->feed_similar ? *offers->feed_similar : (struct feed_similar){0};
    struct feed_tallied *const *list;
    size_t count;

    if (!reading->tally)
        return;
    if (similar.ask)
        similar.deadline_us = clock_mono_us(offers->clock) + similar.patience_us;
    feed_tally_propose(reading->tally, reading->catalog, similar.ask ? &similar : NULL);
    list = feed_tally_list(reading->tally, &count);
    if (count > FEED_TOLD_CATEGORY_COUNT_MAX)
        count = FEED_TOLD_CATEGORY_COUNT_MAX;
    response->categories = arena_array(reading->arena, count + 1, sizeof(response->categories[0]));
    for (size_t i = 0; i < count; i++) {
        if (*list[i]->id || *list[i]->path)
            response->categories[response->n_categories++] =
                told_category(list[i], reading->file->language, reading->arena);
    }
}

static void tell(struct reading *reading, Torg__V1__ImportFeedFileResponse *response)
{
    struct arena *arena = reading->arena;
    size_t count;
    const struct feed_unknown *unknown = feed_mapping_unknown(reading->mapping, &count);

    response->task = reading->task.message;
    response->format = arena_strdup(arena, feed_format_name(feed_reader_format(reading->reader)));
    if (reading->broken.code)
        response->broken = arena_strdup(arena, reading->broken.text);
    response->noted_count = reading->noted_count;
    response->categories_time = reading->kept ? reading->kept->update_time : NULL;
    response->unknown = arena_array(arena, count + 1, sizeof(response->unknown[0]));
    for (size_t i = 0; i < count; i++) {
        Torg__V1__FeedUnknownName *name = MESSAGE_NEW(feed_unknown_name, arena);

        name->name = arena_strdup(arena, unknown[i].name);
        name->row_count = (int64_t)unknown[i].count;
        name->left_out = unknown[i].is_left_out;
        response->unknown[response->n_unknown++] = name;
    }
}

/* It was begun and something failed: what came is applied, and deleting anything has to be
 * confirmed. Who asked is told of the failure, not of this. */
static void cut_short(struct reading *reading)
{
    struct err late;

    if (reading->intake.is_open && !feed_intake_flush(&reading->intake, &late))
        (void)feed_end_cut(reading->file->offers, &reading->key, reading->arena, &reading->task,
                           &late);
}

int feed_file_import(const struct feed_file *file, struct arena *arena,
                     Torg__V1__ImportFeedFileResponse *response, struct err *err)
{
    struct reading reading = {
        .file = file, .key = file->key, .arena = arena, .row_arena = arena_new()};
    const struct feed_row *first;
    int rc = open_file(&reading, &first, err);

    if (file->tells_categories)
        reading.tally = feed_tally_new();
    if (!rc && file->categories.size && !file->dry_run)
        rc = kept_map_set(file->offers, &file->key, file->categories, arena, NULL, err);
    if (!rc && file->choose_task)
        rc = file->choose_task(file->choose_task_arg, &reading.key, err);
    if (!rc) {
        feed_intake_init(&reading.intake, file->offers, file->language, &reading.key);
        rc = send_open(&reading, err);
        rc = rc ? rc : send_rows(&reading, first, err);
        rc = rc ? rc : send_end(&reading, err);
        if (rc)
            cut_short(&reading);
        feed_intake_release(&reading.intake);
    }
    if (!rc) {
        tell(&reading, response);
        tell_categories(&reading, response);
    }
    feed_tally_free(reading.tally);
    feed_reader_close(reading.reader);
    feed_mapping_free(reading.mapping);
    gunzip_free(reading.gunzip);
    catalog_unref(reading.catalog);
    arena_free(reading.row_arena);
    return rc;
}
