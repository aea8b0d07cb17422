/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ctr.c - torg ctr push, status: counts of clicks that were made elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/object.h"
#include "base/text.h"
#include "clicks/bounds.h"
#include "clicks/rate.h"
#include "codec/json_value.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "numerator/table.h"
#include "roles/bounds.h"
#include "roles/commands/desk.h"
#include "roles/commands/numerator_files.h"
#include "roles/commands/print.h"
#include "roles/commands/progress.h"
#include "torg/v1/ctr.pb-c.h"

#define CTR (&torg__v1__ctr_service__descriptor)

enum { CELL_OFFER, CELL_CLICKS, CELL_LOOKS, CELL_CATEGORY, CELL_COUNT };

static const int64_t WAIT_MAX_US = (int64_t)24 * 3600 * SECOND_US;

struct pushing {
    const struct invocation *invocation;
    const char *name;
    int64_t epoch_us, wait_us;
    bool is_dry;
    bool has_looks; /* in millionths; else shows */
    struct blob *blob;
    struct table_reader *table;
    const char *columns[CELL_COUNT];
    uint32_t column_count; /* without a category it is the last that is not there */
    struct desk desk;
    int64_t push; /* 0: not begun */
    uint64_t sent_count;
    struct progress progress;
    Torg__V1__PushCtrRequest request; /* rows that were read and not sent */
    struct arena *rows;
};

/* --- the command line --- */

/* false after a complaint. */
static bool read_epoch(struct pushing *pushing)
{
    const char *text = invocation_option(pushing->invocation, "epoch");
    int64_t seconds = 0;
    int32_t nanos = 0;

    if (!text) {
        complain("--epoch TIME is needed: the moment up to which the table counts");
        return false;
    }
    if ((!text_to_i64(bytes_of(text), &seconds) &&
         !json_timestamp(bytes_of(text), &seconds, &nanos)) ||
        seconds <= 0 || seconds > INT64_MAX / SECOND_US) {
        complain("--epoch=%.64s: expected a moment such as 2026-11-18T09:00:00Z, or seconds since "
                 "1970",
                 text);
        return false;
    }
    pushing->epoch_us = seconds * SECOND_US;
    return true;
}

/* false after a complaint. */
static bool read_options(struct pushing *pushing)
{
    const char *wait = invocation_option(pushing->invocation, "wait");

    pushing->is_dry = invocation_option(pushing->invocation, "dry-run") != NULL;
    if (!read_epoch(pushing))
        return false;
    if (!wait || (text_to_duration(bytes_of(wait), &pushing->wait_us) && pushing->wait_us >= 0 &&
                  pushing->wait_us <= WAIT_MAX_US))
        return true;
    complain("--wait=%.64s: expected a duration such as 30s or 5m, at most 24h", wait);
    return false;
}

/* --- the table --- */

static int open_table(struct pushing *pushing, struct err *err)
{
    int rc = open_blob_of(pushing->invocation, &pushing->name, 1, &pushing->blob, err);

    if (!rc)
        rc = table_reader_open(pushing->name, pushing->blob, &pushing->table, err);
    if (rc)
        return rc;
    pushing->has_looks = table_has_column(pushing->table, "looks");
    pushing->columns[CELL_OFFER] =
        table_has_column(pushing->table, "offer_id") && !table_has_column(pushing->table, "offer")
            ? "offer_id"
            : "offer";
    pushing->columns[CELL_CLICKS] = "clicks";
    pushing->columns[CELL_LOOKS] = pushing->has_looks ? "looks" : "shows";
    pushing->columns[CELL_CATEGORY] = "category";
    pushing->column_count =
        table_has_column(pushing->table, "category") ? CELL_COUNT : CELL_CATEGORY;
    return table_pick(pushing->table, pushing->columns, pushing->column_count, err);
}

static int read_count(const struct pushing *pushing, int cell, struct bytes text, int64_t max,
                      int64_t *count, struct err *err)
{
    if (text_to_i64(text, count) && *count >= 0 && *count <= max)
        return 0;
    return err_set(err, ERR_INVALID, "column %s: \"%.*s\": expected a whole number, 0 to %" PRId64,
                   pushing->columns[cell], text.size < 64 ? (int)text.size : 64,
                   (const char *)text.data, max);
}

static int read_text(const struct pushing *pushing, int cell, struct bytes text, size_t least,
                     size_t max, char **made, struct err *err)
{
    if (text.size < least || text.size > max)
        return err_set(err, ERR_INVALID, "column %s: %zu bytes; expected %zu to %zu",
                       pushing->columns[cell], text.size, least, max);
    *made = arena_text(pushing->rows, text);
    return 0;
}

static int take_row(struct pushing *pushing, const struct bytes *cells, struct err *err)
{
    const int64_t unit = pushing->has_looks ? 1 : RATE_UNIT;
    Torg__V1__CtrCount *row = MESSAGE_NEW(ctr_count, pushing->rows);
    int rc = read_text(pushing, CELL_OFFER, cells[CELL_OFFER], 1, EVENT_ID_SIZE_MAX, &row->offer_id,
                       err);

    if (!rc && pushing->column_count > CELL_CATEGORY)
        rc = read_text(pushing, CELL_CATEGORY, cells[CELL_CATEGORY], 0,
                       RATE_TABLE_CATEGORY_SIZE_MAX, &row->category, err);
    if (!rc)
        rc = read_count(pushing, CELL_CLICKS, cells[CELL_CLICKS], RATE_TABLE_CLICKS_MAX,
                        &row->clicks, err);
    if (!rc)
        rc = read_count(pushing, CELL_LOOKS, cells[CELL_LOOKS],
                        RATE_TABLE_CLICKS_MAX * (RATE_UNIT / unit), &row->looks, err);
    row->looks *= unit;
    row->line = (int64_t)table_line_number(pushing->table);
    if (rc)
        return table_wrap(pushing->table, err);
    pushing->request.counts[pushing->request.n_counts++] = row;
    return 0;
}

/* --- sending --- */

static int begin(struct pushing *pushing, struct err *err)
{
    Torg__V1__BeginCtrPushRequest request = TORG__V1__BEGIN_CTR_PUSH_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    int rc;

    request.epoch_time = moment_message(pushing->epoch_us, pushing->invocation->arena);
    rc = desk_call(&pushing->desk, CTR, "BeginCtrPush", &request.base, &response, err);
    if (!rc)
        pushing->push = ((const Torg__V1__BeginCtrPushResponse *)response)->push;
    return rc;
}

static int send_rows(struct pushing *pushing, struct err *err)
{
    struct arena_mark before = arena_mark(pushing->invocation->arena);
    ProtobufCMessage *response = NULL;
    uint64_t read_size, total_size;
    int rc = 0;

    pushing->request.push = pushing->push;
    if (pushing->request.n_counts)
        rc = desk_call(&pushing->desk, CTR, "PushCtr", &pushing->request.base, &response, err);
    if (rc == ERR_INVALID)
        err_wrap(err, "%s", pushing->name);
    arena_rewind(pushing->invocation->arena, before);
    pushing->sent_count += pushing->request.n_counts;
    pushing->request.n_counts = 0;
    arena_reset(pushing->rows);
    table_progress(pushing->table, &read_size, &total_size);
    progress_update(&pushing->progress, read_size, total_size, pushing->sent_count);
    pushing->request.counts =
        arena_array(pushing->rows, RATE_TABLE_ADD_COUNT, sizeof(pushing->request.counts[0]));
    return rc;
}

static int send_table(struct pushing *pushing, struct err *err)
{
    struct bytes cells[CELL_COUNT];
    bool found = true;
    int rc = send_rows(pushing, err); /* nothing yet */

    while (!rc && found) {
        rc = table_next(pushing->table, cells, &found, err);
        if (!rc && found)
            rc = take_row(pushing, cells, err);
        if (!rc && (!found || pushing->request.n_counts == RATE_TABLE_ADD_COUNT))
            rc = send_rows(pushing, err);
    }
    if (!rc && !pushing->sent_count)
        rc = err_set(err, ERR_INVALID, "%s: it has no rows: the epoch in force stays",
                     pushing->name);
    return rc;
}

static int end(struct pushing *pushing, bool give_up, struct err *err)
{
    Torg__V1__EndCtrPushRequest request = TORG__V1__END_CTR_PUSH_REQUEST__INIT;
    ProtobufCMessage *response = NULL;

    request.push = pushing->push;
    request.row_count = (int64_t)pushing->sent_count;
    request.give_up = give_up;
    return desk_call(&pushing->desk, CTR, "EndCtrPush", &request.base, &response, err);
}

/* Its answer may be lost; that it is in force is told again. */
static int end_whole(struct pushing *pushing, struct err *err)
{
    int rc = end(pushing, false, err);

    for (int i = 1; i < CTR_END_TRY_COUNT && rc && err_is_passing(rc); i++) {
        clock_sleep(clock_system(), CTR_WAIT_STEP_MS * MS_US);
        rc = end(pushing, false, err);
    }
    return rc;
}

/* One that was refused leaves nothing; one that is killed, rows that are removed in an hour. */
static int push_table(struct pushing *pushing, struct err *err)
{
    struct err later;
    int rc = begin(pushing, err);

    if (!rc)
        rc = send_table(pushing, err);
    if (!rc && !pushing->is_dry) {
        rc = end_whole(pushing, err);
        if (!rc)
            return 0;
    }
    if (pushing->push)
        (void)end(pushing, true, &later);
    return rc;
}

/* --- what became of it --- */

static int ask(const struct pushing *pushing, const Torg__V1__GetCtrResponse **answer,
               struct err *err)
{
    Torg__V1__GetCtrRequest request = TORG__V1__GET_CTR_REQUEST__INIT;
    ProtobufCMessage *response = NULL;
    int rc = desk_call((struct desk *)&pushing->desk, CTR, "GetCtr", &request.base, &response, err);

    *answer = (const Torg__V1__GetCtrResponse *)response;
    return rc;
}

/* Until all rates are sent, where a server runs that does it. */
static int await_sent(const struct pushing *pushing, const Torg__V1__GetCtrResponse **answer,
                      struct err *err)
{
    int64_t deadline_us = clock_mono_us(clock_system()) + pushing->wait_us;

    for (;;) {
        struct arena_mark before = arena_mark(pushing->invocation->arena);
        int rc = ask(pushing, answer, err);

        if (rc)
            return rc;
        if (!(*answer)->current || (*answer)->current->push != pushing->push)
            return err_set(err, ERR_PRECONDITION, "a later epoch has replaced it");
        if ((*answer)->current->is_sent || !pushing->desk.remote)
            return 0;
        if (clock_mono_us(clock_system()) >= deadline_us)
            return err_set(err, ERR_TIMEOUT, "it is in force, but its rates are not all sent yet");
        arena_rewind(pushing->invocation->arena, before);
        clock_sleep(clock_system(), CTR_WAIT_STEP_MS * MS_US);
    }
}

static void print_epoch(const Torg__V1__CtrEpoch *epoch, const char *state, struct arena *arena)
{
    printf("%s  %" PRId64 " rows, %s\n", time_text(epoch->epoch_time, arena), epoch->row_count,
           state);
}

static const char *state_of(const Torg__V1__CtrEpoch *current)
{
    return current->is_sent ? "in force, all rates are sent" : "in force, rates are being sent";
}

/* told: what GetCtr tells of it; NULL: it was not asked. */
static void print_pushed(const struct pushing *pushing, const Torg__V1__CtrEpoch *told)
{
    struct arena *arena = pushing->invocation->arena;
    Torg__V1__CtrEpoch known = TORG__V1__CTR_EPOCH__INIT;

    known.epoch_time = moment_message(pushing->epoch_us, arena);
    known.row_count = (int64_t)pushing->sent_count;
    known.push =
        pushing->is_dry ? 0 : pushing->push; /* the number of what was given up says nothing */
    if (pushing->invocation->json)
        print_json(told ? &told->base : &known.base);
    else if (pushing->is_dry)
        printf("%" PRIu64 " rows are fine; the epoch in force stays\n", pushing->sent_count);
    else
        print_epoch(told ? told : &known, state_of(told ? told : &known), arena);
}

static int run_push(struct pushing *pushing, struct err *err)
{
    const Torg__V1__GetCtrResponse *answer = NULL;
    int rc = desk_open(pushing->invocation, false, &pushing->desk, err);

    if (rc)
        return rc;
    progress_begin(&pushing->progress, stderr, clock_system(),
                   invocation_option(pushing->invocation, "quiet") != NULL, pushing->name);
    rc = push_table(pushing, err);
    progress_end(&pushing->progress);
    if (!rc && !pushing->is_dry && pushing->wait_us)
        rc = await_sent(pushing, &answer, err);
    desk_close(&pushing->desk);
    if (!rc)
        print_pushed(pushing, answer ? answer->current : NULL);
    return rc;
}

/* What is invalid now is the table, not the command line. */
static enum exit_code fail_of_table(const struct err *err)
{
    enum exit_code code = fail(err);

    return code == EXIT_USAGE ? EXIT_FAILED : code;
}

enum exit_code cmd_ctr_push(const struct invocation *invocation)
{
    struct pushing pushing = {.invocation = invocation,
                              .name = invocation->arguments[0],
                              .request = TORG__V1__PUSH_CTR_REQUEST__INIT};
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_options(&pushing))
        return EXIT_USAGE;
    pushing.rows = arena_new();
    rc = open_table(&pushing, &err);
    if (!rc)
        rc = run_push(&pushing, &err);
    table_reader_close(pushing.table);
    blob_close(pushing.blob);
    arena_free(pushing.rows);
    return !rc ? EXIT_OK : fail_of_table(&err);
}

enum exit_code cmd_ctr_status(const struct invocation *invocation)
{
    Torg__V1__GetCtrRequest request = TORG__V1__GET_CTR_REQUEST__INIT;
    const Torg__V1__GetCtrResponse *answer;
    ProtobufCMessage *response = NULL;
    struct err err;

    object_check(invocation, INVOCATION_MAGIC);
    if (desk_ask(invocation, false, CTR, "GetCtr", &request.base, &response, &err))
        return fail(&err);
    answer = (const Torg__V1__GetCtrResponse *)response;
    if (invocation->json) {
        print_json(response);
        return EXIT_OK;
    }
    if (answer->current)
        print_epoch(answer->current, state_of(answer->current), invocation->arena);
    else
        puts("no table was pushed: torg ctr push TABLE");
    for (size_t i = 0; i < answer->n_pushes; i++)
        print_epoch(answer->pushes[i], "being loaded", invocation->arena);
    return EXIT_OK;
}
