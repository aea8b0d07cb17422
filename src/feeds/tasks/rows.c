/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - see rows.h. */
#include "feeds/tasks/rows.h"

#include <string.h>

#include "codec/message.h"
#include "feeds/bounds.h"
#include "offers/bounds.h"
#include "offers/change/external_item.h"
#include "offers/record/offer_record.h"

enum { DETAIL_SIZE_MAX = 2 * OFFER_SIZE_MAX };

#define COLUMNS                                                                                    \
    "row_no, external_id, event_hash, offer_id, outcome, changed, undo, before_status, "           \
    "after_hash, before_body, detail"

/* columns: COLUMNS */
static struct feed_record record_of(const struct store_value *columns, struct arena *arena)
{
    return (struct feed_record){
        .row = columns[0].integer,
        .external_id = arena_text(arena, columns[1].bytes),
        .event_hash = (uint64_t)columns[2].integer,
        .offer_id = columns[3].integer,
        .outcome = (Torg__V1__FeedReportRow__Outcome)columns[4].integer,
        .changed = columns[5].integer,
        .undo = (Torg__V1__FeedReportRow__Undo)columns[6].integer,
        .before_status = (enum offer_status)columns[7].integer,
        .after_hash = (uint64_t)columns[8].integer,
        .before_body =
            columns[9].type == STORE_NULL ? BYTES_EMPTY : arena_copy(arena, columns[9].bytes),
        .detail =
            columns[10].type == STORE_NULL ? BYTES_EMPTY : arena_copy(arena, columns[10].bytes)};
}

static int take_records(struct store_rows *rows, struct arena *arena, struct feed_record *records,
                        size_t *count, struct err *err)
{
    for (*count = 0; store_next(rows); ++*count)
        records[*count] = record_of(rows->columns, arena);
    return store_rows_end(rows, err);
}

int feed_rows_find(struct store_tx *tx, int64_t task_no, int64_t row, const char *external_id,
                   struct arena *arena, struct feed_record *record, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT " COLUMNS " FROM feed_report "
        "WHERE task_no = $1 AND row_no = $2 AND external_id = $3",
        STORE_WITH(STORE_V_INT(task_no), STORE_V_INT(row), STORE_V_STRING(external_id)));

    *record = (struct feed_record){.external_id = external_id};
    if (store_next(&rows))
        *record = record_of(rows.columns, arena);
    return store_rows_end(&rows, err);
}

static struct store_value blob_or_null(struct bytes bytes)
{
    return bytes.size ? STORE_V_BLOB(bytes) : STORE_V_NULL;
}

int feed_rows_put(struct store_tx *tx, int64_t task_no, const struct feed_record *before,
                  const struct feed_record *record, bool *outrun, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(task_no),
                                         STORE_V_INT(record->row),
                                         STORE_V_STRING(record->external_id),
                                         STORE_V_INT((int64_t)record->event_hash),
                                         STORE_V_INT(record->offer_id),
                                         STORE_V_INT(record->outcome),
                                         STORE_V_INT(record->changed),
                                         STORE_V_INT(record->before_status),
                                         STORE_V_INT((int64_t)record->after_hash),
                                         blob_or_null(record->before_body),
                                         blob_or_null(record->detail),
                                         STORE_V_INT((int64_t)before->event_hash),
                                         STORE_V_INT(before->outcome)};
    int64_t changed = 0;
    int rc;

    if (before->row)
        rc = store_exec(tx,
                        "UPDATE feed_report SET event_hash = $4, offer_id = $5, outcome = $6, "
                        "changed = $7, before_status = $8, after_hash = $9, before_body = $10, "
                        "detail = $11 WHERE task_no = $1 AND row_no = $2 AND external_id = $3 "
                        "AND event_hash = $12 AND outcome = $13",
                        params, 13, &changed, err);
    else
        rc = store_exec(tx,
                        "INSERT INTO feed_report (task_no, row_no, external_id, event_hash, "
                        "offer_id, outcome, changed, undo, before_status, after_hash, "
                        "before_body, detail) "
                        "VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11) "
                        "ON CONFLICT (task_no, row_no, external_id) DO NOTHING",
                        params, 11, &changed, err);
    *outrun = !rc && !changed;
    return rc;
}

int feed_rows_page(struct store_tx *tx, int64_t task_no, const struct feed_place *after,
                   Torg__V1__FeedReportRow__Outcome outcome, size_t max, struct arena *arena,
                   struct feed_record *records, size_t *count, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT " COLUMNS " FROM feed_report WHERE task_no = $1 AND "
        "(row_no, external_id) > ($2, $3) AND (CAST($5 AS BIGINT) = 0 OR outcome = $5) "
        "ORDER BY row_no, external_id LIMIT $4",
        STORE_WITH(STORE_V_INT(task_no), STORE_V_INT(after->row),
                   STORE_V_STRING(after->external_id), STORE_V_INT((int64_t)max),
                   STORE_V_INT(outcome)));

    return take_records(&rows, arena, records, count, err);
}

int feed_rows_page_back(struct store_tx *tx, int64_t task_no, const struct feed_place *before,
                        size_t max, struct arena *arena, struct feed_record *records, size_t *count,
                        struct err *err)
{
    /* No text is after every text: the first page asks for rows alone. */
    struct store_rows rows = store_select(
        tx,
        before ? "SELECT " COLUMNS " FROM feed_report WHERE task_no = $1 AND changed = 1 "
                 "AND undo = 0 AND (row_no, external_id) < ($2, $3) "
                 "ORDER BY row_no DESC, external_id DESC LIMIT $4"
               : "SELECT " COLUMNS " FROM feed_report WHERE task_no = $1 AND changed = 1 "
                 "AND undo = 0 AND row_no <= $2 AND external_id >= $3 "
                 "ORDER BY row_no DESC, external_id DESC LIMIT $4",
        STORE_WITH(STORE_V_INT(task_no), STORE_V_INT(before ? before->row : FEED_ROW_GONE),
                   STORE_V_STRING(before ? before->external_id : ""), STORE_V_INT((int64_t)max)));

    return take_records(&rows, arena, records, count, err);
}

int feed_rows_mark_undone(struct store_tx *tx, int64_t task_no, const struct feed_record *record,
                          Torg__V1__FeedReportRow__Undo undo, struct bytes detail, bool *outrun,
                          struct err *err)
{
    int64_t changed = 0;
    /* What it was before is of no more use, and takes the most room. */
    int rc = store_exec(tx,
                        "UPDATE feed_report SET undo = $4, detail = $5, before_body = NULL "
                        "WHERE task_no = $1 AND row_no = $2 AND external_id = $3 AND undo = 0",
                        STORE_WITH(STORE_V_INT(task_no), STORE_V_INT(record->row),
                                   STORE_V_STRING(record->external_id), STORE_V_INT(undo),
                                   blob_or_null(detail)),
                        &changed, err);

    *outrun = !rc && !changed;
    return rc;
}

int feed_rows_forget(struct store_tx *tx, int64_t task_no, size_t max, int64_t *forgotten,
                     struct err *err)
{
    /* By a range, not by a list: rows that are gone have one number, and may be very many. */
    struct store_rows rows =
        store_select(tx,
                     "SELECT row_no, external_id FROM feed_report "
                     "WHERE task_no = $1 "
                     "ORDER BY row_no, external_id LIMIT 1 OFFSET $2",
                     STORE_WITH(STORE_V_INT(task_no), STORE_V_INT((int64_t)max - 1)));
    struct arena *arena = arena_new();
    struct store_value params[] = {STORE_V_INT(task_no), STORE_V_NULL, STORE_V_NULL};
    bool found = store_next(&rows);
    int rc;

    if (found) {
        params[1] = rows.columns[0];
        params[2] = STORE_V_TEXT(arena_copy(arena, rows.columns[1].bytes));
    }
    rc = store_rows_end(&rows, err);
    if (!rc && found)
        rc = store_exec(tx,
                        "DELETE FROM feed_report WHERE task_no = $1 AND "
                        "(row_no, external_id) <= ($2, $3)",
                        params, 3, forgotten, err);
    else if (!rc)
        rc =
            store_exec(tx, "DELETE FROM feed_report WHERE task_no = $1", params, 1, forgotten, err);
    arena_free(arena);
    return rc;
}

/* --- what is told of a row --- */

int feed_detail_pack(const Torg__V1__FeedReportRow *row, struct arena *arena, struct bytes *detail,
                     struct err *err)
{
    struct buf body = BUF_INIT(DETAIL_SIZE_MAX);
    int rc = 0;

    *detail = BYTES_EMPTY;
    if (row->n_problems || row->n_notes || row->n_photos_failed || *row->undo_reason ||
        row->withdrawn || row->line) {
        rc = record_pack(&row->base, "the report of the row", &body, err);
        if (!rc)
            *detail = arena_copy(arena, buf_bytes(&body));
    }
    buf_release(&body);
    return rc;
}

int feed_detail_open(struct bytes detail, struct arena *arena, Torg__V1__FeedReportRow **row,
                     struct err *err)
{
    ProtobufCMessage *message;
    int rc = 0;

    if (detail.size)
        rc = record_open(detail, &torg__v1__feed_report_row__descriptor, arena, &message, err);
    else
        message = MESSAGE_NEW(feed_report_row, arena);
    *row = (Torg__V1__FeedReportRow *)message;
    return rc;
}

static char *cut_text(struct arena *arena, const char *text, size_t max)
{
    size_t size = strlen(text);

    if (size > max) {
        size = max;
        while (size && ((unsigned char)text[size] & 0xc0) == 0x80) /* between two characters */
            size--;
    }
    return arena_text(arena, bytes_make(text, size));
}

static Torg__V1__FeedProblem *problem_new(struct arena *arena, const char *field,
                                          const char *reason)
{
    Torg__V1__FeedProblem *problem = MESSAGE_NEW(feed_problem, arena);

    problem->field = cut_text(arena, field, FEED_PROBLEM_SIZE_MAX);
    problem->reason = cut_text(arena, reason, FEED_PROBLEM_SIZE_MAX);
    return problem;
}

void feed_problems_of(const struct violations *violations, struct arena *arena,
                      Torg__V1__FeedProblem ***list, size_t *count)
{
    *count = 0;
    *list = arena_array(arena, FEED_PROBLEM_COUNT_MAX, sizeof(Torg__V1__FeedProblem *));
    for (const struct violation *one = violations->first; one && *count < FEED_PROBLEM_COUNT_MAX;
         one = one->next)
        (*list)[(*count)++] = problem_new(arena, one->field, one->reason);
}

static int open_record(const struct feed_record *record, struct arena *arena,
                       Torg__V1__FeedReportRow **row, struct err *err)
{
    int rc = feed_detail_open(record->detail, arena, row, err);

    if (rc)
        return rc;
    (*row)->row = record->row == FEED_ROW_GONE ? 0 : record->row;
    (*row)->external_id = arena_strdup(arena, record->external_id);
    if (record->offer_id)
        (*row)->offer_id = offer_id_text(arena, record->offer_id);
    (*row)->outcome = record->outcome;
    (*row)->undo = record->undo;
    return 0;
}

struct reading {
    int64_t task_no;
    struct feed_place *place;
    Torg__V1__FeedReportRow__Outcome outcome;
    size_t max;
    struct arena *arena;
    struct feed_record *records;
    size_t count;
};

static int read_page(struct store_tx *tx, void *arg, struct err *err)
{
    struct reading *reading = arg;

    return feed_rows_page(tx, reading->task_no, reading->place, reading->outcome, reading->max,
                          reading->arena, reading->records, &reading->count, err);
}

int feed_rows_read(const struct offers *offers, const struct feed_task *task,
                   struct feed_place *place, Torg__V1__FeedReportRow__Outcome outcome, size_t max,
                   struct arena *arena, Torg__V1__FeedReportRow **rows, size_t *count,
                   struct err *err)
{
    struct reading reading = {.task_no = task->no,
                              .place = place,
                              .outcome = outcome,
                              .max = max,
                              .arena = arena,
                              .records = arena_array(arena, max, sizeof(struct feed_record))};
    int rc = store_read(offers->store, read_page, &reading, err);

    *count = rc ? 0 : reading.count;
    for (size_t i = 0; i < *count && !rc; i++)
        rc = open_record(&reading.records[i], arena, &rows[i], err);
    if (!rc && *count)
        *place = (struct feed_place){reading.records[*count - 1].row,
                                     reading.records[*count - 1].external_id};
    return rc;
}

/* --- photos --- */

/* The newest reason of each address; NULL takes it out. False when the row says so already, or so
 * many have failed that nobody reads on. */
static bool note_photo(Torg__V1__FeedReportRow *row, const char *url, const char *reason,
                       struct arena *arena)
{
    size_t count = row->n_photos_failed;
    Torg__V1__FeedProblem **list = arena_array(arena, count + 1, sizeof(*list));
    Torg__V1__FeedProblem *photo = problem_new(arena, url, reason ? reason : "");
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        Torg__V1__FeedProblem *told = row->photos_failed[i];

        if (strcmp(told->field, photo->field) != 0)
            list[kept++] = told;
        else if (reason && strcmp(told->reason, photo->reason) == 0)
            return false;
    }
    if (reason && kept < FEED_PROBLEM_COUNT_MAX)
        list[kept++] = photo;
    else if (kept == count)
        return false;
    row->photos_failed = list;
    row->n_photos_failed = kept;
    return true;
}

int feed_rows_find_last(struct store_tx *tx, int64_t task_no, const char *external_id,
                        struct arena *arena, struct feed_record *record, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT " COLUMNS " FROM feed_report WHERE task_no = $1 AND "
                     "external_id = $2 ORDER BY row_no DESC LIMIT 1",
                     STORE_WITH(STORE_V_INT(task_no), STORE_V_STRING(external_id)));

    *record = (struct feed_record){.external_id = external_id};
    if (store_next(&rows))
        *record = record_of(rows.columns, arena);
    return store_rows_end(&rows, err);
}

int feed_rows_note_photo(struct store_tx *tx, const Torg__V1__Offer *offer, const char *url,
                         const char *reason, struct arena *arena, struct err *err)
{
    const char *external_id = offer->content->external_id;
    struct feed_task task = {0};
    struct feed_record record = {0};
    Torg__V1__FeedReportRow *row;
    struct feed_record noted;
    struct external_item item;
    bool outrun;
    int rc;

    if (!*external_id)
        return 0;
    rc = external_item_find(tx, offer->seller, external_id, arena, &item, err);
    if (!rc && *item.feed_id) {
        const struct feed_key key = {
            .seller = offer->seller, .feed = item.feed_id, .task_id = item.task_id};

        rc = feed_task_find(tx, &key, arena, &task, err);
    }
    if (!rc && task.no)
        rc = feed_rows_find_last(tx, task.no, external_id, arena, &record, err);
    if (!rc && record.row)
        rc = feed_detail_open(record.detail, arena, &row, err);
    if (rc || !record.row)
        return rc;
    if (!note_photo(row, url, reason, arena))
        return 0;
    noted = record;
    rc = feed_detail_pack(row, arena, &noted.detail, err);
    return rc ? rc : feed_rows_put(tx, task.no, &record, &noted, &outrun, err);
}
