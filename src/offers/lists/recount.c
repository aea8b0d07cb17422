/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recount.c - see recount.h.
 *
 * A step that writes begins with an upsert of all the seller's counts, in the order in which
 * writers touch them: it holds them until it commits, and every change of a status needs one of
 * them, so its totals stand still too.
 */
#include "offers/lists/recount.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "codec/moment.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/lists/cabinet.h"
#include "offers/record/offer_counts.h"
#include "offers/record/offer_record.h"

/* In the order of their names, as writers have them. */
enum total_kind { TOTAL_ACTIVE, TOTAL_BANNED, TOTAL_EXPIRED, TOTAL_SOLD, TOTAL_MONEY };
enum { TOTAL_KIND_MAX = TOTAL_MONEY + CABINET_CURRENCY_MAX };

/* A counter's row, as stored and as counted. */
struct figure {
    bool stored;
    int64_t value;
    int64_t counted;
    struct cabinet_place mark;
    bool marked;
};

struct total {
    char name[TOTAL_NAME_SIZE];
    struct figure rows[TOTAL_ROW_COUNT];
};

struct step {
    const struct checking *checking;
    const char *seller;
    struct findings *findings;
    size_t first_finding;
    struct arena *arena;   /* of this step */
    struct arena *scratch; /* of one offer */

    /* Of the current run. */
    struct figure presets[PRESET_ID_COUNT];
    struct total *totals; /* [TOTAL_KIND_MAX] */
    size_t total_count;
    struct cabinet_place mark; /* counted down to here */
    bool under_way;            /* marks are stored */
    size_t offer_count;
    offerid unreadable; /* 0: none */
    bool too_large;     /* for a step that only reads */
    bool done;
};

/* --- the rows --- */

static struct figure *preset_figure(struct step *step, int64_t preset)
{
    for (size_t i = 0; i < PRESET_ID_COUNT; i++) {
        if (preset_ids[i] == preset)
            return &step->presets[i];
    }
    return NULL;
}

/* NULL: there are too many. */
static struct total *find_total(struct step *step, struct bytes name)
{
    for (size_t i = 0; i < step->total_count; i++) {
        if (bytes_equal_text(name, step->totals[i].name))
            return &step->totals[i];
    }
    if (step->total_count == TOTAL_KIND_MAX || name.size >= TOTAL_NAME_SIZE)
        return NULL;
    snprintf(step->totals[step->total_count].name, TOTAL_NAME_SIZE, "%.*s", BYTES_ARG(name));
    return &step->totals[step->total_count++];
}

static void reset(struct step *step)
{
    static const char *const names[] = {"active", "banned", "expired", "sold"};

    memset(step->presets, 0, sizeof(step->presets));
    memset(step->totals, 0, TOTAL_KIND_MAX * sizeof(*step->totals));
    step->total_count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++)
        find_total(step, bytes_of(names[i]));
    step->findings->count = step->first_finding;
    step->offer_count = 0;
    step->unreadable = 0;
    step->too_large = false;
    step->done = false;
}

/* columns: value, mark_us, mark_id, recount */
static struct figure figure_of(const struct store_value *columns)
{
    return (struct figure){.stored = true,
                           .value = columns[0].integer,
                           .marked = columns[1].type != STORE_NULL,
                           .mark = {columns[1].type == STORE_NULL ? 0 : columns[1].integer,
                                    columns[2].type == STORE_NULL ? 0 : columns[2].integer},
                           .counted = columns[3].integer};
}

/* columns: counter_id, seq_no, and those of figure_of */
static int take_total(struct step *step, const struct store_value *columns, struct err *err)
{
    struct total *total = find_total(step, columns[0].bytes);
    int64_t row = columns[1].integer;

    if (!total || row < 0 || row >= TOTAL_ROW_COUNT)
        return err_set(err, ERR_CORRUPT, "seller %s has an unknown total %.*s, row %jd",
                       step->seller, BYTES_ARG(columns[0].bytes), (intmax_t)row);
    total->rows[row] = figure_of(columns + 2);
    return 0;
}

#define PRESET_COLUMNS "preset_id, counter, mark_us, mark_id, recount"

static int read_rows(struct store_tx *tx, struct step *step, bool hold, struct err *err)
{
    const struct store_value seller[] = {STORE_V_STRING(step->seller)};
    const struct store_value both[] = {STORE_V_INT(seller_shard(step->seller)), seller[0]};
    struct store_rows rows = store_select(
        tx,
        hold ? "INSERT INTO user_offer_presets_count (seller_id, preset_id, counter) "
               "VALUES ($1, 1, 0), ($1, 2, 0), ($1, 3, 0), ($1, 4, 0), ($1, 5, 0), "
               "($1, 6, 0), ($1, 8, 0), ($1, 100, 0) "
               "ON CONFLICT (seller_id, preset_id) DO UPDATE "
               "SET counter = user_offer_presets_count.counter RETURNING " PRESET_COLUMNS
             : "SELECT " PRESET_COLUMNS " FROM user_offer_presets_count WHERE seller_id = $1",
        seller, 1);
    int rc;

    while (store_next(&rows)) {
        struct figure *figure = preset_figure(step, rows.columns[0].integer);

        if (figure)
            *figure = figure_of(rows.columns + 1);
    }
    rc = store_rows_end(&rows, err);
    if (rc)
        return rc;
    rows = store_select(tx,
                        "SELECT counter_id, seq_no, counter_value, mark_us, mark_id, recount "
                        "FROM user_total_counters WHERE shard_id = $1 AND seller_id = $2",
                        both, 2);
    while (store_next(&rows))
        rows.rc = take_total(step, rows.columns, err);
    return store_rows_end(&rows, err);
}

static bool is_at(const struct figure *figure, const struct cabinet_place *mark)
{
    return !figure->stored || (figure->marked && figure->mark.created_us == mark->created_us &&
                               figure->mark.id == mark->id);
}

/* All rows have the same mark. One that a writer has made meanwhile (of a currency that is new to
 * the seller) has none. */
static bool marks_agree(const struct step *step)
{
    const struct figure *first = &step->presets[0];

    if (!first->stored || !first->marked)
        return false;
    for (size_t i = 0; i < PRESET_ID_COUNT; i++) {
        if (!is_at(&step->presets[i], &first->mark))
            return false;
    }
    for (size_t i = 0; i < step->total_count; i++) {
        for (size_t row = 0; row < TOTAL_ROW_COUNT; row++) {
            if (!is_at(&step->totals[i].rows[row], &first->mark))
                return false;
        }
    }
    return true;
}

static void begin_count(struct step *step)
{
    step->mark = cabinet_start;
    for (size_t i = 0; i < PRESET_ID_COUNT; i++)
        step->presets[i].counted = 0;
    for (size_t i = 0; i < step->total_count; i++) {
        for (size_t row = 0; row < TOTAL_ROW_COUNT; row++)
            step->totals[i].rows[row].counted = 0;
    }
}

/* --- the offers --- */

static int count_total(struct step *step, struct bytes name, offerid id, int64_t amount,
                       struct err *err)
{
    struct total *total = find_total(step, name);

    if (!total)
        return err_set(err, ERR_LIMIT, "seller %s has sold in more than %d currencies",
                       step->seller, CABINET_CURRENCY_MAX);
    total->rows[id % TOTAL_ROW_COUNT].counted += amount;
    return 0;
}

static int count_offer(struct step *step, offerid id, const Torg__V1__Offer *offer, struct err *err)
{
    static const int kinds[OFFER_STATUS_COUNT] = {
        [OFFER_ACTIVE] = 1 + TOTAL_ACTIVE,
        [OFFER_BANNED] = 1 + TOTAL_BANNED,
        [OFFER_EXPIRED] = 1 + TOTAL_EXPIRED,
    };
    enum offer_status status = (enum offer_status)offer->status;
    size_t row = (size_t)(id % TOTAL_ROW_COUNT);
    char money[TOTAL_NAME_SIZE];

    preset_figure(step, preset_of(status))->counted++;
    if (status_is_listed(status))
        preset_figure(step, PRESET_ALL)->counted++;
    if (kinds[status])
        step->totals[kinds[status] - 1].rows[row].counted++;
    if (!offer->sale)
        return 0;
    step->totals[TOTAL_SOLD].rows[row].counted++;
    if (!offer->sale->price)
        return 0;
    money_counter(offer->sale->price->currency, money);
    return count_total(step, bytes_of(money), id, offer->sale->price->amount, err);
}

/* A row of count_chunk. */
static int take_offer(struct step *step, const struct store_value *columns, struct err *err)
{
    struct err unreadable;
    Torg__V1__Offer *offer;
    int rc = 0;

    step->mark = (struct cabinet_place){columns[0].integer, columns[1].integer};
    step->offer_count++;
    if (columns[2].type == STORE_NULL)
        return 0; /* a row of a list too much: list_check.h */
    if (record_open_offer(step->mark.id, columns[2].bytes, step->scratch, &offer, &unreadable) ||
        !offer_status_is_known((int)offer->status))
        step->unreadable = step->mark.id;
    else if (strcmp(offer->seller, step->seller) == 0 &&
             moment_own_us(offer->create_time) == step->mark.created_us)
        rc = count_offer(step, step->mark.id, offer, err);
    arena_reset(step->scratch);
    return rc;
}

/* An offer is in the list "all" or in that of the deleted ones; one that changes from the one to
 * the other keeps its place in both together. */
static int count_chunk(struct store_tx *tx, struct step *step, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT u.created_us, u.offer_id, o.body FROM "
        "(SELECT * FROM (SELECT created_us, offer_id FROM user_offer_presets WHERE seller_id = $1 "
        "AND preset_id = 1 AND (created_us, offer_id) < ($2, $3) "
        "ORDER BY created_us DESC, offer_id DESC LIMIT $4) AS listed UNION "
        "SELECT * FROM (SELECT created_us, offer_id FROM user_offer_presets WHERE seller_id = $1 "
        "AND preset_id = 100 AND (created_us, offer_id) < ($2, $3) "
        "ORDER BY created_us DESC, offer_id DESC LIMIT $4) AS deleted) AS u "
        "LEFT JOIN offer o ON o.id = u.offer_id AND o.kind = 'offer' "
        "ORDER BY u.created_us DESC, u.offer_id DESC LIMIT $4",
        STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(step->mark.created_us),
                   STORE_V_INT(step->mark.id), STORE_V_INT(RECOUNT_CHUNK_COUNT)));

    while (store_next(&rows))
        rows.rc = take_offer(step, rows.columns, err);
    return store_rows_end(&rows, err);
}

/* --- the end --- */

static void compare(struct step *step)
{
    Torg__V1__CounterDifference *one;

    for (size_t i = 0; i < PRESET_ID_COUNT; i++) {
        const struct figure *figure = &step->presets[i];

        if (figure->value == figure->counted)
            continue;
        one = findings_add(step->findings, DIFFERENCE(COUNT), step->seller,
                           preset_name(preset_ids[i]));
        one->was = figure->value;
        one->is = figure->counted;
    }
    for (size_t i = 0; i < step->total_count; i++) {
        for (int row = 0; row < TOTAL_ROW_COUNT; row++) {
            const struct figure *figure = &step->totals[i].rows[row];

            if (figure->value == figure->counted)
                continue;
            one =
                findings_add(step->findings, DIFFERENCE(TOTAL), step->seller, step->totals[i].name);
            one->row = row;
            one->was = figure->value;
            one->is = figure->counted;
        }
    }
}

static void tell_unreadable(struct step *step)
{
    Torg__V1__CounterDifference *one =
        findings_add(step->findings, DIFFERENCE(UNREADABLE), step->seller, "");

    one->offer_id = offer_id_text(step->findings->arena, step->unreadable);
}

int recount_forget(struct store_tx *tx, const char *seller, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(seller_shard(seller)), STORE_V_STRING(seller)};
    int rc = store_exec(tx,
                        "UPDATE user_offer_presets_count SET mark_us = NULL, mark_id = NULL, "
                        "recount = 0 WHERE seller_id = $1 AND mark_us IS NOT NULL",
                        params + 1, 1, NULL, err);

    if (!rc)
        rc = store_exec(tx,
                        "UPDATE user_total_counters SET mark_us = NULL, mark_id = NULL, "
                        "recount = 0 WHERE shard_id = $1 AND seller_id = $2 "
                        "AND mark_us IS NOT NULL",
                        params, 2, NULL, err);
    return rc;
}

static int correct_preset(struct store_tx *tx, const struct step *step, size_t place,
                          struct err *err)
{
    return store_exec(tx,
                      "UPDATE user_offer_presets_count SET counter = $3, "
                      "repair_no = repair_no + 1 WHERE seller_id = $1 AND preset_id = $2",
                      STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(preset_ids[place]),
                                 STORE_V_INT(step->presets[place].counted)),
                      NULL, err);
}

static int correct_total(struct store_tx *tx, const struct step *step, const struct total *total,
                         int row, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO user_total_counters "
                      "(shard_id, seller_id, counter_id, seq_no, counter_value, repair_no) "
                      "VALUES ($1, $2, $3, $4, $5, 1) "
                      "ON CONFLICT (shard_id, seller_id, counter_id, seq_no) DO UPDATE "
                      "SET counter_value = excluded.counter_value, "
                      "repair_no = user_total_counters.repair_no + 1",
                      STORE_WITH(STORE_V_INT(seller_shard(step->seller)),
                                 STORE_V_STRING(step->seller), STORE_V_STRING(total->name),
                                 STORE_V_INT(row), STORE_V_INT(total->rows[row].counted)),
                      NULL, err);
}

static int correct(struct store_tx *tx, struct step *step, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < PRESET_ID_COUNT && !rc; i++) {
        if (step->presets[i].value != step->presets[i].counted)
            rc = correct_preset(tx, step, i, err);
    }
    for (size_t i = 0; i < step->total_count && !rc; i++) {
        for (int row = 0; row < TOTAL_ROW_COUNT && !rc; row++) {
            const struct figure *figure = &step->totals[i].rows[row];

            if (figure->value != figure->counted)
                rc = correct_total(tx, step, &step->totals[i], row, err);
        }
    }
    if (!rc)
        rc = findings_fixed(tx, step->checking, step->findings, step->first_finding, err);
    return rc;
}

/* --- a step --- */

static int save_mark(struct store_tx *tx, const struct step *step, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < PRESET_ID_COUNT && !rc; i++) {
        const struct store_value params[] = {
            STORE_V_STRING(step->seller), STORE_V_INT(preset_ids[i]),
            STORE_V_INT(step->mark.created_us), STORE_V_INT(step->mark.id),
            STORE_V_INT(step->presets[i].counted)};

        rc = store_exec(tx,
                        "UPDATE user_offer_presets_count SET mark_us = $3, mark_id = $4, "
                        "recount = $5 WHERE seller_id = $1 AND preset_id = $2",
                        params, 5, NULL, err);
    }
    for (size_t i = 0; i < step->total_count * TOTAL_ROW_COUNT && !rc; i++) {
        const struct total *total = &step->totals[i / TOTAL_ROW_COUNT];

        rc = store_exec(tx,
                        "INSERT INTO user_total_counters (shard_id, seller_id, counter_id, seq_no, "
                        "counter_value, mark_us, mark_id, recount) "
                        "VALUES ($1, $2, $3, $4, 0, $5, $6, $7) "
                        "ON CONFLICT (shard_id, seller_id, counter_id, seq_no) DO UPDATE SET "
                        "mark_us = excluded.mark_us, mark_id = excluded.mark_id, "
                        "recount = excluded.recount",
                        STORE_WITH(STORE_V_INT(seller_shard(step->seller)),
                                   STORE_V_STRING(step->seller), STORE_V_STRING(total->name),
                                   STORE_V_INT((int64_t)(i % TOTAL_ROW_COUNT)),
                                   STORE_V_INT(step->mark.created_us), STORE_V_INT(step->mark.id),
                                   STORE_V_INT(total->rows[i % TOTAL_ROW_COUNT].counted)),
                        NULL, err);
    }
    return rc;
}

/* Counts and compares, if it comes to the end; writes nothing. */
static int look(struct store_tx *tx, struct step *step, bool hold, struct err *err)
{
    int rc;

    reset(step);
    rc = read_rows(tx, step, hold, err);
    if (rc)
        return rc;
    step->under_way = marks_agree(step);
    if (step->under_way)
        step->mark = step->presets[0].mark;
    else
        begin_count(step);
    if (step->under_way && !hold) {
        step->too_large = true;
        return 0;
    }
    rc = count_chunk(tx, step, err);
    if (rc)
        return rc;
    if (step->unreadable)
        tell_unreadable(step);
    else if (step->offer_count < RECOUNT_CHUNK_COUNT)
        compare(step);
    step->done = step->unreadable || step->offer_count < RECOUNT_CHUNK_COUNT;
    step->too_large = !step->done;
    return 0;
}

static int look_only(struct store_tx *tx, void *arg, struct err *err)
{
    return look(tx, arg, false, err);
}

static int go_on(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;
    int rc = look(tx, step, true, err);

    if (rc)
        return rc;
    if (!step->done)
        return save_mark(tx, step, err);
    if (step->checking->fix && !step->unreadable)
        rc = correct(tx, step, err);
    return rc ? rc : recount_forget(tx, step->seller, err);
}

static bool has_correction(const struct step *step)
{
    return !step->unreadable && step->findings->count > step->first_finding;
}

int recount_step(const struct checking *checking, const char *seller, struct findings *findings,
                 size_t *offer_count, bool *done, struct err *err)
{
    struct step step = {.checking = checking,
                        .seller = seller,
                        .findings = findings,
                        .first_finding = findings->count,
                        .arena = arena_new(),
                        .scratch = arena_new()};
    int rc;

    step.totals = arena_array(step.arena, TOTAL_KIND_MAX, sizeof(*step.totals));
    rc = store_read(checking->store, look_only, &step, err);
    if (!rc && (step.too_large || (checking->fix && has_correction(&step))))
        rc = store_write(checking->store, go_on, &step, err);
    if (rc)
        findings->count = step.first_finding;
    *offer_count = rc ? 0 : step.offer_count;
    *done = !rc && step.done;
    arena_free(step.scratch);
    arena_free(step.arena);
    return rc;
}
