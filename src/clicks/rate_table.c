/* SPDX-License-Identifier: Apache-2.0 */
/* rate_table.c - see rate_table.h. */
#include "clicks/rate_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "base/buf.h"
#include "base/memory.h"
#include "clicks/bounds.h"
#include "clicks/rate.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "store/bounds.h"
#include "store/sequence.h"

enum {
    INSERT_COUNT = 100, /* rows of a statement */
    ROW_PARAM_COUNT = 4,
    SWEEP_ROW_COUNT = 500, /* of one transaction: others wait for it */
};

#define CURRENT_LOAD "COALESCE((SELECT value FROM click_value WHERE name = 'ctr_load'), 0)"
#define CURRENT_EPOCH "COALESCE((SELECT value FROM click_value WHERE name = 'ctr_epoch'), 0)"

static const char *text_of_epoch(int64_t epoch, char text[CLOCK_TEXT_SIZE])
{
    clock_format(epoch * SECOND_US, text);
    return text;
}

static int64_t now_of(const struct rate_desk *desk)
{
    return clock_wall_us(desk->clock);
}

/* --- beginning --- */

struct beginning {
    int64_t epoch, now_us;
    const char *who;
    int64_t load;
};

/* One that is as late as what is in force would never be. */
static int check_later(struct store_tx *tx, int64_t epoch, struct err *err)
{
    char asked[CLOCK_TEXT_SIZE], kept[CLOCK_TEXT_SIZE];
    int64_t current = 0;
    int rc = store_find_integer(tx, "SELECT " CURRENT_EPOCH, NULL, 0, &current, err);

    if (rc || epoch > current)
        return rc;
    return err_set(err, ERR_PRECONDITION,
                   "epoch_time: epoch %s is in force, which is not older than %s: a table is "
                   "replaced only by a later one",
                   text_of_epoch(current, kept), text_of_epoch(epoch, asked));
}

/* What the same caller was killed at does not stand in the way of another try. */
static int end_former(struct store_tx *tx, const struct beginning *beginning, struct err *err)
{
    return store_exec(
        tx,
        "UPDATE ctr_load SET changed_us = 0 WHERE loaded_by = $1 AND load <> " CURRENT_LOAD
        " AND (epoch = $2 OR changed_us <= $3)",
        STORE_WITH(STORE_V_STRING(beginning->who), STORE_V_INT(beginning->epoch),
                   STORE_V_INT(beginning->now_us - (int64_t)RATE_TABLE_STILL_S * SECOND_US)),
        NULL, err);
}

static int begin_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct beginning *beginning = arg;
    int64_t count = 0;
    int rc = check_later(tx, beginning->epoch, err);

    if (!rc)
        rc = end_former(tx, beginning, err);
    if (!rc)
        rc = store_find_integer(
            tx,
            "SELECT COUNT(*) FROM ctr_load WHERE load <> " CURRENT_LOAD
            " AND epoch > " CURRENT_EPOCH " AND changed_us > $1",
            STORE_WITH(STORE_V_INT(beginning->now_us - (int64_t)RATE_TABLE_IDLE_S * SECOND_US)),
            &count, err);
    if (!rc && count >= RATE_TABLE_PUSH_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "%d tables are being loaded already: wait until one is complete, or "
                     "until one has been idle for an hour",
                     RATE_TABLE_PUSH_COUNT_MAX);
    if (!rc)
        rc = store_next_seq(tx, "ctr-loads", 1, &beginning->load, err);
    return rc ? rc
              : store_exec(tx,
                           "INSERT INTO ctr_load (load, epoch, row_count, changed_us, loaded_by, "
                           "sent_offer, is_sent) VALUES ($1, $2, 0, $3, $4, '', 0)",
                           STORE_WITH(STORE_V_INT(beginning->load), STORE_V_INT(beginning->epoch),
                                      STORE_V_INT(beginning->now_us),
                                      STORE_V_STRING(beginning->who)),
                           NULL, err);
}

int rate_table_begin(const struct rate_desk *desk, const Torg__V1__BeginCtrPushRequest *request,
                     const char *who, int64_t *load, struct err *err)
{
    struct beginning beginning = {.now_us = now_of(desk), .who = who};
    int64_t epoch_us = 0;
    int rc;

    if (!request->epoch_time || !moment_us(request->epoch_time, &epoch_us) ||
        epoch_us < SECOND_US || epoch_us > beginning.now_us)
        return err_set(err, ERR_INVALID,
                       "epoch_time: expected the moment up to which the table counts, after 1970 "
                       "and not in the future");
    beginning.epoch = epoch_us / SECOND_US;
    rc = store_write(desk->store, begin_tx, &beginning, err);
    *load = beginning.load;
    return rc;
}

/* --- rows --- */

struct adding {
    const Torg__V1__PushCtrRequest *request;
    int64_t now_us;
    bool has_twice; /* an offer, in these rows or with others */
};

static const char *place_of(const Torg__V1__PushCtrRequest *request, size_t i, const char *field,
                            struct arena *arena)
{
    int64_t line = request->counts[i]->line;

    return line ? arena_printf(arena, "line %" PRId64 ", %s", line, field)
                : arena_printf(arena, "counts[%zu].%s", i, field);
}

static void check_row(const Torg__V1__PushCtrRequest *request, size_t i, struct violations *reasons)
{
    const Torg__V1__CtrCount *row = request->counts[i];
    const int64_t looks_max = (int64_t)RATE_TABLE_CLICKS_MAX * RATE_UNIT;
    size_t size = strlen(row->offer_id);

    if (!size || size > EVENT_ID_SIZE_MAX)
        violations_add(reasons, place_of(request, i, "offer", reasons->arena),
                       "has %zu bytes; expected 1 to %d", size, EVENT_ID_SIZE_MAX);
    if (strlen(row->category) > RATE_TABLE_CATEGORY_SIZE_MAX)
        violations_add(reasons, place_of(request, i, "category", reasons->arena),
                       "has %zu bytes; the limit is %d", strlen(row->category),
                       RATE_TABLE_CATEGORY_SIZE_MAX);
    if (row->clicks < 0 || row->clicks > RATE_TABLE_CLICKS_MAX)
        violations_add(reasons, place_of(request, i, "clicks", reasons->arena),
                       "is %" PRId64 "; expected 0 to %d", row->clicks, RATE_TABLE_CLICKS_MAX);
    if (row->looks < 0 || row->looks > looks_max)
        violations_add(reasons, place_of(request, i, "looks", reasons->arena),
                       "is %" PRId64 "; expected 0 to %" PRId64 " millionths", row->looks,
                       looks_max);
}

static int insert_rows(struct store_tx *tx, struct adding *adding, size_t from, size_t count,
                       struct err *err)
{
    struct store_value params[1 + INSERT_COUNT * ROW_PARAM_COUNT] = {
        STORE_V_INT(adding->request->push)};
    struct buf sql = BUF_INIT(STORE_SQL_SIZE_MAX);
    int64_t changed = 0;
    size_t n = 1;
    int rc;

    buf_put_text(&sql, "INSERT INTO ctr_count (load, offer, category, clicks, looks) VALUES ");
    for (size_t i = 0; i < count; i++) {
        const Torg__V1__CtrCount *row = adding->request->counts[from + i];

        buf_printf(&sql, "%s($1, $%zu, $%zu, $%zu, $%zu)", i ? ", " : "", n + 1, n + 2, n + 3,
                   n + 4);
        params[n++] = STORE_V_STRING(row->offer_id);
        params[n++] = STORE_V_STRING(row->category);
        params[n++] = STORE_V_INT(row->clicks);
        params[n++] = STORE_V_INT(row->looks);
    }
    buf_put_text(&sql, " ON CONFLICT (load, offer) DO NOTHING");
    rc = store_exec(tx, buf_text(&sql), params, n, &changed, err);
    buf_release(&sql);
    adding->has_twice = !rc && (size_t)changed != count;
    return rc || !adding->has_twice ? rc : err_set(err, ERR_INVALID, "an offer comes twice");
}

/* The sums of categories: a round of the rater has no time to add up all rows. */
static int add_to_categories(struct store_tx *tx, const Torg__V1__PushCtrRequest *request,
                             struct err *err)
{
    size_t end;
    int rc = 0;

    for (size_t i = 0; i < request->n_counts && !rc; i = end) {
        const char *category = request->counts[i]->category;
        int64_t clicks = 0, looks = 0;

        for (end = i;
             end < request->n_counts && strcmp(request->counts[end]->category, category) == 0;
             end++) {
            clicks += request->counts[end]->clicks;
            looks += request->counts[end]->looks;
        }
        rc = store_exec(tx,
                        "INSERT INTO ctr_category (load, category, clicks, looks) "
                        "VALUES ($1, $2, $3, $4) ON CONFLICT (load, category) DO UPDATE SET "
                        "clicks = ctr_category.clicks + excluded.clicks, looks = CASE WHEN "
                        "ctr_category.looks > $5 THEN ctr_category.looks "
                        "ELSE ctr_category.looks + excluded.looks END",
                        STORE_WITH(STORE_V_INT(request->push), STORE_V_STRING(category),
                                   STORE_V_INT(clicks), STORE_V_INT(looks),
                                   STORE_V_INT(INT64_MAX / 2)), /* a sum stays a number */
                        NULL, err);
    }
    return rc;
}

/* The rater holds the counts of all of them in memory. */
static int check_categories(struct store_tx *tx, int64_t load, struct err *err)
{
    int64_t count = 0;
    int rc = store_find_integer(
        tx, "SELECT COUNT(*) FROM (SELECT 1 FROM ctr_category WHERE load = $1 LIMIT $2) AS c",
        STORE_WITH(STORE_V_INT(load), STORE_V_INT(RATE_TABLE_CATEGORY_COUNT_MAX + 1)), &count, err);

    return rc || count <= RATE_TABLE_CATEGORY_COUNT_MAX
               ? rc
               : err_set(err, ERR_INVALID,
                         "category: a table names at most %d of them, and this one more: name "
                         "those above them, or none",
                         RATE_TABLE_CATEGORY_COUNT_MAX);
}

/* The load goes on: it is there, was not given up and can still come into force. */
static int note_rows(struct store_tx *tx, const struct adding *adding, struct err *err)
{
    int64_t changed = 0, rows = (int64_t)adding->request->n_counts;
    int rc = store_exec(
        tx,
        "UPDATE ctr_load SET row_count = row_count + $1, changed_us = $2 WHERE load = $3 "
        "AND changed_us > $4 AND epoch > " CURRENT_EPOCH " AND row_count + $1 <= $5",
        STORE_WITH(STORE_V_INT(rows), STORE_V_INT(adding->now_us),
                   STORE_V_INT(adding->request->push),
                   STORE_V_INT(adding->now_us - (int64_t)RATE_TABLE_IDLE_S * SECOND_US),
                   STORE_V_INT(RATE_TABLE_ROW_COUNT_MAX)),
        &changed, err);

    return rc || changed
               ? rc
               : err_set(
                     err, ERR_PRECONDITION,
                     "push %" PRId64
                     " is no longer open: it was given up or restarted, idle for an hour, a later "
                     "epoch came into force, or it has more than %d rows",
                     adding->request->push, RATE_TABLE_ROW_COUNT_MAX);
}

static int add_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct adding *adding = arg;
    int rc = note_rows(tx, adding, err);

    for (size_t i = 0; i < adding->request->n_counts && !rc; i += INSERT_COUNT) {
        size_t left = adding->request->n_counts - i;

        rc = insert_rows(tx, adding, i, left < INSERT_COUNT ? left : INSERT_COUNT, err);
    }
    if (!rc)
        rc = add_to_categories(tx, adding->request, err);
    return rc ? rc : check_categories(tx, adding->request->push, err);
}

static bool is_before(const Torg__V1__PushCtrRequest *request, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(request->counts[k]->offer_id, request->counts[i]->offer_id) == 0)
            return true;
    return false;
}

/* Which offer it was: nothing of these rows is in the store. */
static void tell_twice(struct store *store, const Torg__V1__PushCtrRequest *request,
                       struct violations *reasons)
{
    struct err err;

    for (size_t i = 0; i < request->n_counts && !reasons->count; i++) {
        const char *offer = request->counts[i]->offer_id;
        int64_t is_there = is_before(request, i);

        if (is_there ||
            (!store_read_integer(store, "SELECT 1 FROM ctr_count WHERE load = $1 AND offer = $2",
                                 STORE_WITH(STORE_V_INT(request->push), STORE_V_STRING(offer)),
                                 &is_there, &err) &&
             is_there))
            violations_add(reasons, place_of(request, i, "offer", reasons->arena),
                           "\"%s\" comes twice: a table has one row of an offer", offer);
    }
}

int rate_table_add(const struct rate_desk *desk, const Torg__V1__PushCtrRequest *request,
                   struct violations *reasons, struct err *err)
{
    struct adding adding = {.request = request, .now_us = now_of(desk)};
    int rc = 0;

    if (!request->n_counts || request->n_counts > RATE_TABLE_ADD_COUNT)
        violations_add(reasons, "counts", "%zu of them; expected 1 to %d", request->n_counts,
                       RATE_TABLE_ADD_COUNT);
    for (size_t i = 0; i < request->n_counts && i < RATE_TABLE_ADD_COUNT; i++)
        check_row(request, i, reasons);
    if (!reasons->count)
        rc = store_write(desk->store, add_tx, &adding, err);
    if (rc && adding.has_twice)
        tell_twice(desk->store, request, reasons);
    return reasons->count
               ? err_set(err, ERR_INVALID, "%s: %s", reasons->first->field, reasons->first->reason)
               : rc;
}

/* --- the end --- */

struct ending {
    const Torg__V1__EndCtrPushRequest *request;
    int64_t now_us;
    struct audit_entry entry;
    char target[CLOCK_TEXT_SIZE];
    char detail[32];
    bool is_again; /* it is in force: the answer was lost, and it is asked again */
};

static int find_again(struct store_tx *tx, struct ending *ending, struct err *err)
{
    int64_t row_count = 0;
    int rc = 0;

    if (!ending->request->give_up)
        rc = store_find_integer(
            tx, "SELECT row_count FROM ctr_load WHERE load = $1 AND load = " CURRENT_LOAD,
            &STORE_V_INT(ending->request->push), 1, &row_count, err);
    ending->is_again = !rc && row_count > 0 && row_count == ending->request->row_count;
    return rc;
}

/* One that is on its way: of one that was left alone rows may have been swept. */
static int find_load(struct store_tx *tx, const struct ending *ending, int64_t *epoch,
                     int64_t *row_count, struct err *err)
{
    int64_t load = ending->request->push;
    struct store_rows rows = store_select(
        tx,
        "SELECT epoch, row_count FROM ctr_load WHERE load = $1 AND changed_us > $2 AND load "
        "<> " CURRENT_LOAD,
        STORE_WITH(STORE_V_INT(load),
                   STORE_V_INT(ending->now_us - (int64_t)RATE_TABLE_IDLE_S * SECOND_US)));
    int rc;

    *epoch = 0;
    while (store_next(&rows)) {
        *epoch = rows.columns[0].integer;
        *row_count = rows.columns[1].integer;
    }
    rc = store_rows_end(&rows, err);
    return rc || *epoch
               ? rc
               : err_set(err, ERR_NOT_FOUND, "there is no push %" PRId64 " on its way", load);
}

static int set_value(struct store_tx *tx, const char *name, int64_t value, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO click_value (name, value) VALUES ($1, $2) "
                      "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                      STORE_WITH(STORE_V_STRING(name), STORE_V_INT(value)), NULL, err);
}

static int switch_to(struct store_tx *tx, struct ending *ending, int64_t epoch, struct err *err)
{
    int64_t load = ending->request->push;
    int rc = store_exec(tx, "UPDATE ctr_load SET is_sent = 1 WHERE load = " CURRENT_LOAD, NULL, 0,
                        NULL, err); /* the former was in force: rate_table_find_dead tells it */

    if (!rc)
        rc = set_value(tx, "ctr_load", load, err);
    if (!rc)
        rc = set_value(tx, "ctr_epoch", epoch, err);
    if (!rc)
        rc = store_exec(tx, "UPDATE ctr_load SET changed_us = $1 WHERE load = $2",
                        STORE_WITH(STORE_V_INT(ending->now_us), STORE_V_INT(load)), NULL, err);
    text_of_epoch(epoch, ending->target);
    snprintf(ending->detail, sizeof(ending->detail), "%" PRId64 " rows",
             ending->request->row_count);
    return rc ? rc : audit_add(tx, &ending->entry, err);
}

static int end_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct ending *ending = arg;
    const Torg__V1__EndCtrPushRequest *request = ending->request;
    int64_t epoch = 0, row_count = 0;
    int rc = find_again(tx, ending, err);

    if (rc || ending->is_again)
        return rc;
    rc = find_load(tx, ending, &epoch, &row_count, err);
    if (!rc && request->give_up) /* its rows are swept as those of one that was left alone */
        return store_exec(tx, "UPDATE ctr_load SET changed_us = 0 WHERE load = $1",
                          &STORE_V_INT(request->push), 1, NULL, err);
    if (!rc && row_count != request->row_count)
        rc = err_set(err, ERR_PRECONDITION,
                     "row_count: %" PRId64 " rows have come, not %" PRId64
                     ": the epoch in force stays; push the table again",
                     row_count, request->row_count);
    if (!rc)
        rc = check_later(tx, epoch, err);
    return rc ? rc : switch_to(tx, ending, epoch, err);
}

int rate_table_end(const struct rate_desk *desk, const Torg__V1__EndCtrPushRequest *request,
                   const char *who, struct err *err)
{
    struct ending ending = {.request = request, .now_us = now_of(desk)};
    int rc;

    ending.entry = (struct audit_entry){.at_us = ending.now_us,
                                        .principal = who,
                                        .action = "ctr.push",
                                        .target = ending.target,
                                        .detail = ending.detail};
    if (!request->give_up && request->row_count < 1)
        return err_set(err, ERR_INVALID,
                       "row_count: %" PRId64 "; expected 1 or more: an empty table takes the place "
                       "of none",
                       request->row_count);
    rc = store_write(desk->store, end_tx, &ending, err);
    if (!rc && !request->give_up && !ending.is_again) {
        audit_log(&ending.entry);
        if (desk->pushed)
            desk->pushed(desk->pushed_arg);
    }
    return rc;
}

/* --- telling --- */

static Torg__V1__CtrEpoch *epoch_of(const struct store_value *columns, struct arena *arena)
{
    Torg__V1__CtrEpoch *made = MESSAGE_NEW(ctr_epoch, arena);

    made->push = columns[0].integer;
    made->epoch_time = moment_message(columns[1].integer * SECOND_US, arena);
    made->row_count = columns[2].integer;
    made->change_time = moment_message(columns[3].integer, arena);
    made->loaded_by = arena_text(arena, columns[4].bytes);
    made->is_sent = columns[5].integer != 0;
    return made;
}

int rate_table_list(const struct rate_desk *desk, struct arena *arena,
                    Torg__V1__GetCtrResponse *response, struct err *err)
{
    struct store_rows rows = store_read_rows(
        desk->store,
        "SELECT load, epoch, row_count, changed_us, loaded_by, is_sent, " CURRENT_LOAD
        " FROM ctr_load WHERE load = " CURRENT_LOAD " OR (epoch > " CURRENT_EPOCH
        " AND changed_us > $1) ORDER BY load LIMIT $2",
        STORE_WITH(STORE_V_INT(now_of(desk) - (int64_t)RATE_TABLE_IDLE_S * SECOND_US),
                   STORE_V_INT(RATE_TABLE_PUSH_COUNT_MAX + 1)));

    response->pushes =
        arena_array(arena, RATE_TABLE_PUSH_COUNT_MAX + 1, sizeof(response->pushes[0]));
    while (store_next(&rows)) {
        Torg__V1__CtrEpoch *each = epoch_of(rows.columns, arena);

        if (each->push == rows.columns[6].integer)
            response->current = each;
        else
            response->pushes[response->n_pushes++] = each;
    }
    return store_rows_end(&rows, err);
}

/* --- sweeping --- */

/* $1: what did not change since is dead. */
#define IS_DEAD "load <> " CURRENT_LOAD " AND (epoch <= " CURRENT_EPOCH " OR changed_us <= $1)"

static int64_t idle_us_of(const struct rate_desk *desk)
{
    return now_of(desk) - (int64_t)RATE_TABLE_IDLE_S * SECOND_US;
}

int rate_table_find_dead(const struct rate_desk *desk, struct rate_dead *dead, struct err *err)
{
    struct store_rows rows = store_read_rows(
        desk->store,
        "SELECT load, CASE WHEN is_sent <> 0 OR sent_offer <> '' THEN 1 ELSE 0 END FROM ctr_load "
        "WHERE " IS_DEAD " ORDER BY load LIMIT 1",
        &STORE_V_INT(idle_us_of(desk)), 1);

    *dead = (struct rate_dead){0};
    while (store_next(&rows))
        *dead = (struct rate_dead){rows.columns[0].integer, rows.columns[1].integer != 0};
    return store_rows_end(&rows, err);
}

struct sweeping {
    int64_t load;
    int64_t idle_us; /* left alone since: dead */
    struct bytes upto;
    int64_t changed;
};

/* Nothing of it is left, with its rows. */
static int end_load(struct store_tx *tx, const struct store_value *load, struct err *err)
{
    int rc = store_exec(tx,
                        "DELETE FROM ctr_load WHERE load = $1 AND NOT EXISTS "
                        "(SELECT 1 FROM ctr_count WHERE load = $1)",
                        load, 1, NULL, err);

    return rc ? rc
              : store_exec(tx,
                           "DELETE FROM ctr_category WHERE load = $1 AND NOT EXISTS "
                           "(SELECT 1 FROM ctr_load WHERE load = $1)",
                           load, 1, NULL, err);
}

/* Asked again: rows may have come since it was found. From here on none can. */
static int sweep_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweeping *sweeping = arg;
    const struct store_value load = STORE_V_INT(sweeping->load);
    const struct store_value params[] = {load, STORE_V_INT(SWEEP_ROW_COUNT),
                                         STORE_V_TEXT(sweeping->upto)};
    int64_t is_dead = 0;
    int rc = store_exec(tx, "UPDATE ctr_load SET changed_us = 0 WHERE " IS_DEAD " AND load = $2",
                        STORE_WITH(STORE_V_INT(sweeping->idle_us), load), &is_dead, err);

    sweeping->changed = 0;
    if (rc || !is_dead)
        return rc;
    rc = store_exec(tx,
                    sweeping->upto.data
                        ? "DELETE FROM ctr_count WHERE load = $1 AND offer IN (SELECT offer FROM "
                          "ctr_count WHERE load = $1 AND offer <= $3 ORDER BY offer LIMIT $2)"
                        : "DELETE FROM ctr_count WHERE load = $1 AND offer IN (SELECT offer FROM "
                          "ctr_count WHERE load = $1 ORDER BY offer LIMIT $2)",
                    params, sweeping->upto.data ? 3 : 2, &sweeping->changed, err);
    return rc || sweeping->changed == SWEEP_ROW_COUNT ? rc : end_load(tx, &load, err);
}

int rate_table_sweep(const struct rate_desk *desk, const struct rate_dead *dead, struct bytes upto,
                     size_t *count, struct err *err)
{
    struct sweeping sweeping = {.load = dead->load, .idle_us = idle_us_of(desk), .upto = upto};
    int rc = store_write(desk->store, sweep_tx, &sweeping, err);

    *count = rc ? 0 : (size_t)sweeping.changed;
    return rc;
}

/* --- for the rater --- */

int rate_table_read(struct store_tx *tx, struct arena *arena, struct rate_table *table,
                    struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT load, epoch, is_sent, sent_offer FROM ctr_load WHERE load "
                     "= " CURRENT_LOAD,
                     NULL, 0);

    *table = (struct rate_table){.is_sent = true};
    while (store_next(&rows))
        *table = (struct rate_table){.load = rows.columns[0].integer,
                                     .epoch = rows.columns[1].integer,
                                     .is_sent = rows.columns[2].integer != 0,
                                     .sent_offer = arena_copy(arena, rows.columns[3].bytes)};
    return store_rows_end(&rows, err);
}

int rate_table_note_sent(struct store *store, const struct rate_table *table, struct bytes offer,
                         bool is_all, struct err *err)
{
    return store_write_one(
        store,
        "UPDATE ctr_load SET sent_offer = $1, is_sent = $2 WHERE load = $3 AND sent_offer = $4",
        STORE_WITH(STORE_V_TEXT(offer), STORE_V_INT(is_all), STORE_V_INT(table->load),
                   STORE_V_TEXT(table->sent_offer)),
        NULL, err);
}
