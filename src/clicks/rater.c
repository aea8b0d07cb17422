/* SPDX-License-Identifier: Apache-2.0 */
/* rater.c - see rater.h. */
#include "clicks/rater.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/log_pace.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "base/object.h"
#include "base/task.h"
#include "clicks/bounds.h"
#include "clicks/hour_tables.h"
#include "clicks/rate.h"
#include "clicks/rate_table.h"
#include "codec/message.h"
#include "model/offer_fields.h"
#include "model/topics.h"
#include "stage/make_topics.h"
#include "topic/bounds.h"
#include "torg/v1/document.pb-c.h"

enum {
    HOUR_S = 3600,
    DAY_HOURS = 24,
    SETTLE_S = 5,
    SEEN_HOURS = 48,
    SWEEP_ROW_COUNT = 500, /* of one transaction: others wait for it */
    SWEEP_STEP_COUNT =
        400, /* transactions of a round, for each table: as many as come in a minute */
};

/* --- reading --- */

struct rated {
    struct bytes offer;
    struct bytes category;
    struct rate_counts counts;
};

struct category_counts {
    struct bytes category;
    struct rate_counts counts;
};

struct rating {
    const struct rater_options *options;
    struct arena *arena;
    int64_t until_us;       /* of the round: what changes meanwhile is the next one's */
    int64_t from_us, to_us; /* counts that changed behind the one, up to the other */
    int64_t as_of_us;       /* how new the rates are: what orders their changes */
    int64_t first_hour;
    struct rate_table table; /* in force: what it has takes the place of hours before table_hour */
    int64_t table_hour;
    struct rated *list;
    size_t count, room;
    struct category_counts *categories;
    size_t category_count, category_room;
    bool has_categories; /* of this table: read once a round, as it takes all rows */
    int64_t fade_hour;   /* hours before it leave the store */
    struct fade_end {    /* the last row that was read to leave, of hours or of a former table */
        int64_t hour;
        struct bytes offer; /* BYTES_EMPTY: none is left */
    } fade_end;
    struct rate_dead former; /* a table that was in force, whose rows leave */
    bool is_full;            /* the step may have left some */
};

/* The category of the last hour: all have as many digits. */
#define NEWEST "SUBSTR(MAX(CAST(1000000000 + h.hour AS TEXT) || h.category), 11)"

/* Of offer, category, and clicks and looks of hours and of the table. */
static int take_rows(struct rating *rating, struct store_rows *rows, struct err *err)
{
    rating->count = 0;
    while (store_next(rows)) {
        const struct store_value *columns = rows->columns;

        rating->list =
            mem_grow(rating->list, rating->count + 1, sizeof(*rating->list), &rating->room);
        rating->list[rating->count++] =
            (struct rated){.offer = arena_copy(rating->arena, columns[0].bytes),
                           .category = arena_copy(rating->arena, columns[1].bytes),
                           .counts = {columns[2].integer + columns[4].integer,
                                      columns[3].integer + columns[5].integer}};
    }
    return store_rows_end(rows, err);
}

static int read_changed(struct store_tx *tx, struct rating *rating, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT h.offer, " NEWEST ", CAST(SUM(h.clicks) AS BIGINT), "
        "CAST(SUM(h.looks) AS BIGINT), COALESCE(MAX(t.clicks), 0), COALESCE(MAX(t.looks), 0) "
        "FROM click_hour h LEFT JOIN ctr_count t ON t.load = $4 AND t.offer = h.offer "
        "WHERE h.hour >= $1 AND (t.offer IS NULL OR h.hour >= $5) AND h.offer IN "
        "(SELECT offer FROM click_hour WHERE changed_us > $2 AND changed_us <= $3) "
        "GROUP BY h.offer",
        STORE_WITH(STORE_V_INT(rating->first_hour), STORE_V_INT(rating->from_us),
                   STORE_V_INT(rating->to_us), STORE_V_INT(rating->table.load),
                   STORE_V_INT(rating->table_hour)));

    return take_rows(rating, &rows, err);
}

/* The next offers of the table in force whose rates were not sent. */
static int read_table_page(struct store_tx *tx, struct rating *rating, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT t.offer, COALESCE(" NEWEST ", t.category), "
        "CAST(COALESCE(SUM(h.clicks), 0) AS BIGINT), CAST(COALESCE(SUM(h.looks), 0) AS BIGINT), "
        "t.clicks, t.looks FROM (SELECT offer, category, clicks, looks FROM ctr_count "
        "WHERE load = $1 AND offer > $2 ORDER BY offer LIMIT $3) AS t LEFT JOIN click_hour h "
        "ON h.offer = t.offer AND h.hour >= $4 AND h.hour >= $5 "
        "GROUP BY t.offer, t.category, t.clicks, t.looks ORDER BY t.offer",
        STORE_WITH(STORE_V_INT(rating->table.load), STORE_V_TEXT(rating->table.sent_offer),
                   STORE_V_INT(RATER_BATCH_COUNT), STORE_V_INT(rating->first_hour),
                   STORE_V_INT(rating->table_hour)));

    return take_rows(rating, &rows, err);
}

/* Offers of the rows up to the last one that leave, by what is left. */
static int read_fading(struct store_tx *tx, struct rating *rating, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT d.offer, COALESCE(" NEWEST ", MAX(t.category), d.category), "
        "CAST(COALESCE(SUM(h.clicks), 0) AS BIGINT), CAST(COALESCE(SUM(h.looks), 0) AS BIGINT), "
        "COALESCE(MAX(t.clicks), 0), COALESCE(MAX(t.looks), 0) FROM (SELECT h.offer AS offer, "
        "" NEWEST " AS category FROM click_hour h WHERE h.hour < $5 AND (h.hour, h.offer) <= "
        "($3, $4) GROUP BY h.offer) AS d "
        "LEFT JOIN ctr_count t ON t.load = $1 AND t.offer = d.offer "
        "LEFT JOIN click_hour h ON h.offer = d.offer AND h.hour >= $5 "
        "AND (t.offer IS NULL OR h.hour >= $2) GROUP BY d.offer, d.category",
        STORE_WITH(STORE_V_INT(rating->table.load), STORE_V_INT(rating->table_hour),
                   STORE_V_INT(rating->fade_end.hour), STORE_V_TEXT(rating->fade_end.offer),
                   STORE_V_INT(rating->first_hour)));

    return take_rows(rating, &rows, err);
}

/* Offers of a former table that the one in force lacks. */
static int read_former(struct store_tx *tx, struct rating *rating, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT o.offer, COALESCE(" NEWEST ", o.category), "
        "CAST(COALESCE(SUM(h.clicks), 0) AS BIGINT), CAST(COALESCE(SUM(h.looks), 0) AS BIGINT), "
        "CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM ctr_count o LEFT JOIN click_hour h "
        "ON h.offer = o.offer AND h.hour >= $4 WHERE o.load = $1 AND o.offer <= $2 AND NOT EXISTS "
        "(SELECT 1 FROM ctr_count t WHERE t.load = $3 AND t.offer = o.offer) "
        "GROUP BY o.offer, o.category",
        STORE_WITH(STORE_V_INT(rating->former.load), STORE_V_TEXT(rating->fade_end.offer),
                   STORE_V_INT(rating->table.load), STORE_V_INT(rating->first_hour)));

    return take_rows(rating, &rows, err);
}

/* The last row of a page of those that leave: hour and offer. */
static int read_fade_end(struct rating *rating, struct store_rows *rows, struct err *err)
{
    size_t count = 0;

    rating->fade_end = (struct fade_end){.offer = BYTES_EMPTY};
    for (; store_next(rows); count++)
        rating->fade_end =
            (struct fade_end){.hour = rows->columns[0].integer,
                              .offer = arena_copy(rating->arena, rows->columns[1].bytes)};
    rating->is_full = count == SWEEP_ROW_COUNT;
    return store_rows_end(rows, err);
}

static int compare_categories(const void *a, const void *b)
{
    const struct category_counts *x = a, *y = b;

    return bytes_compare(x->category, y->category);
}

static int read_categories(struct store_tx *tx, struct rating *rating, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT category, CAST(SUM(clicks) AS BIGINT), CAST(SUM(looks) AS BIGINT) FROM ("
        "SELECT h.category AS category, h.clicks AS clicks, h.looks AS looks FROM click_hour h "
        "LEFT JOIN ctr_category c ON c.load = $2 AND c.category = h.category "
        "WHERE h.hour >= $1 AND (c.category IS NULL OR h.hour >= $3) UNION ALL "
        "SELECT category, clicks, looks FROM ctr_category WHERE load = $2) AS a GROUP BY category",
        STORE_WITH(STORE_V_INT(rating->first_hour), STORE_V_INT(rating->table.load),
                   STORE_V_INT(rating->table_hour)));
    int rc;

    rating->category_count = 0;
    while (store_next(&rows)) {
        rating->categories = mem_grow(rating->categories, rating->category_count + 1,
                                      sizeof(*rating->categories), &rating->category_room);
        rating->categories[rating->category_count++] =
            (struct category_counts){.category = arena_copy(rating->arena, rows.columns[0].bytes),
                                     .counts = {rows.columns[1].integer, rows.columns[2].integer}};
    }
    rc = store_rows_end(&rows, err);
    if (!rc && rating->category_count)
        qsort(rating->categories, rating->category_count, sizeof(*rating->categories),
              compare_categories);
    rating->has_categories = !rc;
    return rc;
}

/* The table in force; of another one than before, categories are counted anew. */
static int read_table(struct store_tx *tx, struct rating *rating, struct err *err)
{
    int64_t before = rating->table.load;
    int rc = rate_table_read(tx, rating->arena, &rating->table, err);

    rating->table_hour = rating->table.epoch / HOUR_S + (rating->table.epoch % HOUR_S > 0);
    rating->has_categories = rating->has_categories && rating->table.load == before;
    return rc;
}

/* Hours that no rate is of any more leave, once their table is written, if tables are
 * (hour_tables.h); after a month even so. */
static int read_fade_hour(struct store_tx *tx, struct rating *rating, struct err *err)
{
    const int64_t last = rating->first_hour + RATE_WINDOW_HOURS - HOUR_TABLE_WAIT_HOURS;
    int64_t written = 0;
    int rc = 0;

    rating->fade_hour = rating->first_hour;
    if (rating->options->blob)
        rc = store_find_integer(tx, "SELECT value FROM click_value WHERE name = 'table_hour'", NULL,
                                0, &written, err);
    if (rating->options->blob && rating->fade_hour > written + 1)
        rating->fade_hour = written + 1 > last ? written + 1 : last;
    return rc;
}

/* How far a round goes: as many changed rows as one has room for, and all of their moment. */
static int read_bounds(struct store_tx *tx, struct rating *rating, struct err *err)
{
    int64_t now_us = clock_wall_us(rating->options->clock);
    int rc;

    rating->first_hour = now_us / SECOND_US / HOUR_S - RATE_WINDOW_HOURS;
    rating->to_us = rating->from_us = 0;
    rc = store_find_integer(tx, "SELECT value FROM click_value WHERE name = 'sent_us'", NULL, 0,
                            &rating->from_us, err);
    rating->to_us = rating->from_us;
    if (!rc)
        rc = read_table(tx, rating, err);
    return rc ? rc
              : store_find_integer(
                    tx,
                    "SELECT MAX(changed_us) FROM (SELECT changed_us FROM click_hour "
                    "WHERE changed_us > $1 AND changed_us <= $2 ORDER BY changed_us LIMIT $3) AS c",
                    STORE_WITH(STORE_V_INT(rating->from_us), STORE_V_INT(rating->until_us),
                               STORE_V_INT(RATER_BATCH_COUNT)),
                    &rating->to_us, err);
}

static int read_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct rating *rating = arg;
    int rc = read_bounds(tx, rating, err);

    rating->as_of_us = rating->to_us;
    rating->count = 0;
    if (rc || rating->to_us == rating->from_us)
        return rc;
    rc = read_changed(tx, rating, err);
    return rc || rating->has_categories ? rc : read_categories(tx, rating, err);
}

/* Rates of the table are as new as what was sent last: what was counted since is sent behind them,
 * and wins. */
static int read_table_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct rating *rating = arg;
    int rc = read_bounds(tx, rating, err);

    rating->as_of_us = rating->to_us = rating->from_us;
    rating->count = 0;
    if (rc || rating->table.is_sent)
        return rc;
    rc = read_table_page(tx, rating, err);
    return rc || rating->has_categories ? rc : read_categories(tx, rating, err);
}

/* As of now, but for what may still be committed. All that was sent before is older, and what is
 * sent later as of an earlier moment is in these rates already. */
static int read_now(struct store_tx *tx, struct rating *rating, struct err *err)
{
    int64_t now_us = clock_wall_us(rating->options->clock);
    int rc = read_bounds(tx, rating, err);

    rating->to_us = rating->from_us;
    rating->as_of_us = now_us - (int64_t)SETTLE_S * SECOND_US;
    rating->count = 0;
    return rc;
}

/* Rows of hours that no rate is of any more, as many as one transaction takes away. */
static int read_fading_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct rating *rating = arg;
    struct store_rows rows;
    int rc = read_now(tx, rating, err);

    if (!rc)
        rc = read_fade_hour(tx, rating, err);
    if (rc)
        return rc;
    rows = store_select(tx,
                        "SELECT hour, offer FROM click_hour WHERE hour < $1 ORDER BY hour, offer "
                        "LIMIT $2",
                        STORE_WITH(STORE_V_INT(rating->fade_hour), STORE_V_INT(SWEEP_ROW_COUNT)));
    rc = read_fade_end(rating, &rows, err);
    if (rc || !rating->fade_end.offer.size)
        return rc;
    rc = read_fading(tx, rating, err);
    return rc || rating->has_categories ? rc : read_categories(tx, rating, err);
}

static int read_former_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct rating *rating = arg;
    struct store_rows rows;
    int rc = read_now(tx, rating, err);

    if (rc)
        return rc;
    rows = store_select(
        tx,
        "SELECT CAST(0 AS BIGINT), offer FROM ctr_count WHERE load = $1 ORDER BY offer LIMIT $2",
        STORE_WITH(STORE_V_INT(rating->former.load), STORE_V_INT(SWEEP_ROW_COUNT)));
    rc = read_fade_end(rating, &rows, err);
    if (rc || !rating->fade_end.offer.size)
        return rc;
    rc = read_former(tx, rating, err);
    return rc || rating->has_categories ? rc : read_categories(tx, rating, err);
}

/* --- sending --- */

static struct rate_counts counts_of(const struct rating *rating, struct bytes category)
{
    const struct category_counts key = {.category = category};
    const struct category_counts *found =
        rating->category_count ? bsearch(&key, rating->categories, rating->category_count,
                                         sizeof(key), compare_categories)
                               : NULL;

    return found ? found->counts : (struct rate_counts){0};
}

static Torg__V1__RawField *field_of(const char *name, int64_t millionths, struct arena *arena)
{
    Torg__V1__RawField *field = MESSAGE_NEW(raw_field, arena);

    field->name = (char *)name;
    field->_decimal_case = TORG__V1__RAW_FIELD___DECIMAL_DECIMAL;
    field->decimal = arena_printf(arena, "%" PRId64 ".%06" PRId64, millionths / RATE_UNIT,
                                  millionths % RATE_UNIT);
    field->options = MESSAGE_NEW(field_options, arena);
    field->options->side = true;
    field->options->_scale_case = TORG__V1__FIELD_OPTIONS___SCALE_SCALE;
    field->options->scale = OFFER_RATE_DIGITS;
    return field;
}

static Torg__V1__FieldChange *change_of(const struct rating *rating, const struct rated *rated)
{
    struct arena *arena = rating->arena;
    struct rate_counts category = counts_of(rating, rated->category);
    Torg__V1__FieldChange *change = MESSAGE_NEW(field_change, arena);
    change->pk = arena_text(arena, rated->offer);
    change->epoch = rating->table.epoch;
    change->sequence = rating->as_of_us;
    change->n_fields = 3;
    change->fields = arena_array(arena, change->n_fields, sizeof(change->fields[0]));
    change->fields[0] = field_of(OFFER_FIELD_CTR, rate_of(&rated->counts, &category), arena);
    change->fields[1] = field_of(OFFER_FIELD_APPEAL, rate_appeal(&rated->counts, &category), arena);
    change->fields[2] = field_of(OFFER_FIELD_LOOKS, rated->counts.looks, arena);
    change->if_there = true; /* it may have been deleted since it was clicked */
    return change;
}

static int send(const struct rating *rating, size_t from, size_t count, struct err *err)
{
    Torg__V1__QualifiedBatch batch = TORG__V1__QUALIFIED_BATCH__INIT;
    struct buf wire = BUF_INIT(TOPIC_VALUE_SIZE_MAX);
    struct topic_record record = {.key = bytes_of(OFFER_FIELD_CTR)};
    int rc;

    batch.client = (char *)OFFER_CLIENT;
    batch.changes = arena_array(rating->arena, count, sizeof(batch.changes[0]));
    for (size_t i = 0; i < count; i++)
        batch.changes[batch.n_changes++] = change_of(rating, &rating->list[from + i]);
    message_encode(&batch.base, &wire);
    assert(!buf_failed(&wire)); /* some hundred bytes each */
    record.value = buf_bytes(&wire);
    rc = topic_produce(rating->options->topics, TOPIC_DOCUMENTS, &record, 1, NULL, err);
    buf_release(&wire);
    return rc;
}

/* --- sweeping --- */

struct sweep {
    const char *sql; /* $1: hours, or days, before it go, $2: at most so many rows at once */
    int64_t before_hour;
    int64_t changed;
};

static int sweep_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweep *sweep = arg;

    return store_exec(tx, sweep->sql,
                      STORE_WITH(STORE_V_INT(sweep->before_hour), STORE_V_INT(SWEEP_ROW_COUNT)),
                      &sweep->changed, err);
}

/* Events too old to come again, and what else is too old: some at a time, as others write in
 * between. */
static int sweep_all(const struct rating *rating, struct err *err)
{
    int64_t seen_hour = rating->first_hour + RATE_WINDOW_HOURS - SEEN_HOURS;
    struct sweep sweeps[] = {
        {.sql = "DELETE FROM click_session WHERE (hour, session) IN (SELECT hour, session "
                "FROM click_session WHERE hour < $1 ORDER BY hour, session LIMIT $2)",
         .before_hour = seen_hour},
        {.sql = "DELETE FROM click_seen WHERE event IN (SELECT event FROM click_seen "
                "WHERE hour < $1 ORDER BY hour LIMIT $2)",
         .before_hour = seen_hour},
        {.sql = "DELETE FROM experiment_list WHERE list IN (SELECT list FROM experiment_list "
                "WHERE hour < $1 ORDER BY hour LIMIT $2)",
         .before_hour = seen_hour},
        {.sql = "DELETE FROM query_retyped WHERE (before_text, after_text) IN (SELECT before_text, "
                "after_text FROM query_retyped WHERE last_hour < $1 ORDER BY last_hour LIMIT $2)",
         .before_hour = rating->first_hour + RATE_WINDOW_HOURS - RETYPED_HOURS},
        {.sql = "DELETE FROM query_retyped WHERE (before_text, after_text) IN (SELECT before_text, "
                "after_text FROM query_retyped ORDER BY last_hour DESC LIMIT $2 OFFSET $1)",
         .before_hour = RETYPED_COUNT_MAX}, /* not an hour: so many stay */
        {.sql = "DELETE FROM click_text WHERE (text, category, day) IN (SELECT text, category, day "
                "FROM click_text WHERE day < $1 ORDER BY day LIMIT $2)",
         .before_hour = (rating->first_hour + RATE_WINDOW_HOURS) / DAY_HOURS - CLICK_TEXT_DAYS},
        {.sql =
             "DELETE FROM click_text WHERE (text, category, day) IN (SELECT text, category, day "
             "FROM click_text ORDER BY day DESC, visits DESC, text, category LIMIT $2 OFFSET $1)",
         .before_hour = CLICK_TEXT_COUNT_MAX},
    };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_COUNT(sweeps) && !rc; i++)
        for (int k = 0; k < SWEEP_STEP_COUNT && !rc; k++) {
            rc = store_write(rating->options->store, sweep_tx, &sweeps[i], err);
            if (sweeps[i].changed < SWEEP_ROW_COUNT)
                break;
        }
    return rc;
}

static int send_all(struct rating *rating, struct err *err)
{
    int rc = 0;

    for (size_t at = 0; at < rating->count && !rc; at += RATER_BATCH_COUNT) {
        size_t left = rating->count - at;

        rc = send(rating, at, left < RATER_BATCH_COUNT ? left : RATER_BATCH_COUNT, err);
    }
    return rc;
}

/* As many changes as one batch has room for. */
static int run_batch(struct rating *rating, struct err *err)
{
    struct store *store = rating->options->store;
    int rc = store_read(store, read_tx, rating, err);

    rating->is_full = rating->to_us > rating->from_us; /* offers have fewer than rows */
    if (!rc)
        rc = send_all(rating, err);
    if (!rc && rating->is_full)
        rc = store_write_one(store,
                             "UPDATE click_value SET value = $1 WHERE name = 'sent_us' "
                             "AND value = $2",
                             STORE_WITH(STORE_V_INT(rating->to_us), STORE_V_INT(rating->from_us)),
                             NULL, err);
    return rc;
}

/* A page of the table in force, if rates of its offers are left to send. */
static int run_table_batch(struct rating *rating, struct err *err)
{
    struct store *store = rating->options->store;
    int rc = store_read(store, read_table_tx, rating, err);

    rating->is_full = rating->count == RATER_BATCH_COUNT;
    if (rc || rating->table.is_sent)
        return rc;
    rc = send_all(rating, err);
    return rc ? rc
              : rate_table_note_sent(store, &rating->table,
                                     rating->count ? rating->list[rating->count - 1].offer
                                                   : rating->table.sent_offer,
                                     !rating->is_full, err);
}

/* Counts leave when what their offers are worth without them was sent: a lucky click fades, and an
 * offer that nobody looks at any more is as good as its category again. */
static int run_fading(struct rating *rating, struct err *err)
{
    struct store *store = rating->options->store;
    int rc = store_read(store, read_fading_tx, rating, err);

    if (rc || !rating->fade_end.offer.size)
        return rc;
    rc = send_all(rating, err);
    return rc ? rc
              : store_write_one(store,
                                "DELETE FROM click_hour WHERE hour < $1 AND (hour, offer) <= "
                                "($2, $3)",
                                STORE_WITH(STORE_V_INT(rating->fade_hour),
                                           STORE_V_INT(rating->fade_end.hour),
                                           STORE_V_TEXT(rating->fade_end.offer)),
                                NULL, err);
}

/* Some rows of a table that is not in force; of one that was what its offers are worth without it
 * is sent before. */
static int run_former(struct rating *rating, struct err *err)
{
    const struct rate_desk desk = {.store = rating->options->store,
                                   .clock = rating->options->clock};
    size_t swept = 0;
    int rc = rate_table_find_dead(&desk, &rating->former, err);

    rating->count = 0;
    rating->is_full = false;
    rating->fade_end = (struct fade_end){.offer = BYTES_EMPTY};
    if (rc || !rating->former.load)
        return rc;
    if (rating->former.was_in_force)
        rc = store_read(desk.store, read_former_tx, rating, err);
    if (!rc)
        rc = send_all(rating, err);
    if (!rc)
        rc = rate_table_sweep(&desk, &rating->former, rating->fade_end.offer, &swept, err);
    rating->is_full = true; /* there may be another one */
    return rc;
}

/* A round has so many steps that send something, or may have left some. */
static int run_steps(struct rating *rating, int (*step)(struct rating *rating, struct err *err),
                     int *step_count, size_t *count, struct err *err)
{
    int rc = 0;

    rating->is_full = true;
    while (!rc && rating->is_full && *step_count < RATER_ROUND_COUNT) {
        rating->count = 0;
        rating->is_full = false;
        rc = step(rating, err);
        *count += rc ? 0 : rating->count;
        *step_count += rating->is_full || rating->count;
    }
    return rc;
}

static int run_round(const struct rater_options *options, size_t *count, bool *is_over,
                     struct err *err)
{
    struct rating rating = {.options = options, .arena = arena_new()};
    int steps = 0;
    int rc;

    assert(options->store && options->topics && options->clock);
    *count = 0;
    rating.until_us = clock_wall_us(options->clock) - (int64_t)SETTLE_S * SECOND_US;
    rc = run_steps(&rating, run_batch, &steps, count, err);
    if (!rc)
        rc = run_steps(&rating, run_table_batch, &steps, count, err);
    if (!rc)
        rc = run_steps(&rating, run_fading, &steps, count, err);
    if (!rc)
        rc = run_steps(&rating, run_former, &steps, count, err);
    *is_over = rc || steps < RATER_ROUND_COUNT;
    if (!rc)
        rc = sweep_all(&rating, err);
    free(rating.list);
    free(rating.categories);
    arena_free(rating.arena);
    return rc;
}

int rater_round(const struct rater_options *options, size_t *count, struct err *err)
{
    bool is_over;

    return run_round(options, count, &is_over, err);
}

/* --- the task --- */

enum { RATER_MAGIC = OBJECT_MAGIC('r', 'a', 't', 'r') };

struct rater {
    uint32_t magic;
    struct rater_options options;
    struct counter *sent;
    struct counter *tables;
    struct task task;
};

static void write_tables(struct rater *rater)
{
    static struct log_pace pace;
    const struct rater_options *options = &rater->options;
    size_t count = 0;
    struct err err;

    if (options->blob &&
        hour_tables_write(options->store, options->blob, clock_wall_us(options->clock), &count,
                          &err) &&
        log_pace_is_due(&pace, &err))
        log_warn("tables of clicks are not written, tried again", LOG_TEXT("error", err.text));
    counter_add(rater->tables, count);
}

static void run(struct task *task, void *arg)
{
    static struct log_pace pace;
    struct rater *rater = arg;
    struct err err;

    do {
        size_t count = 0;
        bool is_over = true;

        do {
            if (run_round(&rater->options, &count, &is_over, &err) && log_pace_is_due(&pace, &err))
                log_warn("rates of clicks are not sent, tried again", LOG_TEXT("error", err.text));
            counter_add(rater->sent, count);
        } while (!is_over && task_pause(task, (int64_t)RATE_TABLE_PAUSE_MS * MS_US));
        write_tables(rater);
    } while (task_pause(task, (int64_t)RATER_PERIOD_MS * MS_US));
}

int rater_start(const struct rater_options *options, struct rater **out, struct err *err)
{
    struct rater *rater = mem_zero(sizeof(*rater));
    struct task_options task = {
        .name = "clicks", .run = run, .arg = rater, .clock = options->clock};
    int rc = stage_make_topic(options->topics, TOPIC_DOCUMENTS, err);

    object_begin(rater, RATER_MAGIC);
    rater->options = *options;
    rater->sent = metrics_counter("torg_clicks_rates_total", NULL,
                                  "Rates of clicks that were sent to the index.");
    rater->tables = metrics_counter("torg_clicks_tables_total", NULL,
                                    "Tables of an hour's events that were written.");
    if (!rc)
        rc = task_start(&rater->task, &task, err);
    *out = rater;
    if (rc) {
        rater_stop(rater);
        *out = NULL;
    }
    return rc;
}

void rater_wake(struct rater *rater)
{
    object_check(rater, RATER_MAGIC);
    task_wake(&rater->task);
}

void rater_stop(struct rater *rater)
{
    if (!rater)
        return;
    object_check(rater, RATER_MAGIC);
    task_stop(&rater->task);
    object_end(rater, RATER_MAGIC);
    free(rater);
}
