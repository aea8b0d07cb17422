/* SPDX-License-Identifier: Apache-2.0 */
/* offer_counts.c - see offer_counts.h. */
#include "offers/record/offer_counts.h"

#include <assert.h>
#include <stdio.h>

#include "base/memory.h"

enum { COUNT_DELTA_MAX = 3, TOTAL_DELTA_MAX = 4 };

static const int64_t presets[OFFER_STATUS_COUNT] = {
    [OFFER_ACTIVE] = TORG__V1__CABINET__PRESET__ACTIVE,
    [OFFER_EXPIRED] = TORG__V1__CABINET__PRESET__EXPIRED,
    [OFFER_SOLD_ON_SITE] = TORG__V1__CABINET__PRESET__SOLD,
    [OFFER_SOLD_ELSEWHERE] = TORG__V1__CABINET__PRESET__SOLD,
    [OFFER_BANNED] = TORG__V1__CABINET__PRESET__BANNED,
    [OFFER_WITHDRAWN] = TORG__V1__CABINET__PRESET__WITHDRAWN,
    [OFFER_DELETED] = PRESET_DELETED,
    [OFFER_WAITING] = TORG__V1__CABINET__PRESET__WAITING,
};

const int64_t preset_ids[PRESET_ID_COUNT] = {1, 2, 3, 4, 5, 6, 8, PRESET_DELETED};
_Static_assert(OFFER_STATUS_COUNT == 9, "a new status: is its preset in preset_ids, as in SQL?");

int64_t preset_of(enum offer_status status)
{
    assert(status > OFFER_NONE && status < OFFER_STATUS_COUNT);
    return presets[status];
}

bool status_is_listed(enum offer_status status)
{
    return status != OFFER_NONE && status != OFFER_DELETED;
}

void money_counter(const char *currency, char name[TOTAL_NAME_SIZE])
{
    snprintf(name, TOTAL_NAME_SIZE, "money:%.8s", currency);
}

/* --- lists --- */

static int add_row(struct store_tx *tx, const struct offer_step *step, int64_t preset,
                   struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO user_offer_presets (seller_id, preset_id, created_us, offer_id) "
                      "VALUES ($1, $2, $3, $4)",
                      STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(preset),
                                 STORE_V_INT(step->created_us), STORE_V_INT(step->id)),
                      NULL, err);
}

static int add_new(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO user_offer_presets (seller_id, preset_id, created_us, offer_id) "
                      "VALUES ($1, $2, $4, $5), ($1, $3, $4, $5)",
                      STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(PRESET_ALL),
                                 STORE_V_INT(preset_of(step->after)), STORE_V_INT(step->created_us),
                                 STORE_V_INT(step->id)),
                      NULL, err);
}

static int expect_one(int64_t changed, const struct offer_step *step, struct err *err)
{
    char text[OFFER_ID_TEXT_SIZE];

    if (changed == 1)
        return 0;
    offer_id_format(step->id, text);
    return err_set(err, ERR_CORRUPT, "offer %s is not in the cabinet's list of its status", text);
}

/* Whatever the lists had: a row that is missing, or in both, shields nobody from a ban. */
static int replace_row(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    int rc =
        store_exec(tx,
                   "DELETE FROM user_offer_presets WHERE seller_id = $1 AND preset_id = $2 "
                   "AND created_us = $3 AND offer_id = $4",
                   STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(preset_of(step->before)),
                              STORE_V_INT(step->created_us), STORE_V_INT(step->id)),
                   NULL, err);

    return rc ? rc
              : store_exec(tx,
                           "INSERT INTO user_offer_presets (seller_id, preset_id, created_us, "
                           "offer_id) VALUES ($1, $2, $3, $4) ON CONFLICT (seller_id, preset_id, "
                           "created_us, offer_id) DO NOTHING",
                           STORE_WITH(STORE_V_STRING(step->seller),
                                      STORE_V_INT(preset_of(step->after)),
                                      STORE_V_INT(step->created_us), STORE_V_INT(step->id)),
                           NULL, err);
}

static int move_row(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    int64_t changed = 0;
    int rc =
        store_exec(tx,
                   "UPDATE user_offer_presets SET preset_id = $5 WHERE seller_id = $1 AND "
                   "preset_id = $2 AND created_us = $3 AND offer_id = $4",
                   STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(preset_of(step->before)),
                              STORE_V_INT(step->created_us), STORE_V_INT(step->id),
                              STORE_V_INT(preset_of(step->after))),
                   &changed, err);

    return rc ? rc : expect_one(changed, step, err);
}

static int drop_row(struct store_tx *tx, const struct offer_step *step, int64_t preset,
                    struct err *err)
{
    int64_t changed = 0;
    int rc = store_exec(tx,
                        "DELETE FROM user_offer_presets WHERE seller_id = $1 AND preset_id = $2 "
                        "AND created_us = $3 AND offer_id = $4",
                        STORE_WITH(STORE_V_STRING(step->seller), STORE_V_INT(preset),
                                   STORE_V_INT(step->created_us), STORE_V_INT(step->id)),
                        &changed, err);

    return rc ? rc : expect_one(changed, step, err);
}

static int apply_lists(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    int rc;

    if (step->before == OFFER_NONE)
        return add_new(tx, step, err);
    if (preset_of(step->before) == preset_of(step->after))
        return 0;
    rc = step->after == OFFER_BANNED ? replace_row(tx, step, err) : move_row(tx, step, err);
    if (!rc && status_is_listed(step->before) && !status_is_listed(step->after))
        rc = drop_row(tx, step, PRESET_ALL, err);
    if (!rc && !status_is_listed(step->before) && status_is_listed(step->after))
        rc = add_row(tx, step, PRESET_ALL, err);
    return rc;
}

/* --- counts of lists --- */

struct delta {
    int64_t preset;
    int64_t difference;
};

/* A recount under way (recount.h) has passed the offer: its difference belongs to both. */
#define COUNT_HEAD "INSERT INTO user_offer_presets_count (seller_id, preset_id, counter) VALUES "
#define COUNT_TAIL                                                                                 \
    " ON CONFLICT (seller_id, preset_id) DO UPDATE "                                               \
    "SET counter = user_offer_presets_count.counter + excluded.counter, "                          \
    "recount = user_offer_presets_count.recount + CASE WHEN ($2, $3) >= "                          \
    "(user_offer_presets_count.mark_us, user_offer_presets_count.mark_id) "                        \
    "THEN excluded.counter ELSE 0 END"

enum { COUNT_PARAM_COUNT = 3, TOTAL_PARAM_COUNT = 5 }; /* before the pairs */

static const char *const count_sql[COUNT_DELTA_MAX + 1] = {
    [1] = COUNT_HEAD "($1, $4, $5)" COUNT_TAIL,
    [2] = COUNT_HEAD "($1, $4, $5), ($1, $6, $7)" COUNT_TAIL,
    [3] = COUNT_HEAD "($1, $4, $5), ($1, $6, $7), ($1, $8, $9)" COUNT_TAIL,
};

/* Keeps the list in order of presets. */
static size_t add_delta(struct delta *deltas, size_t count, int64_t preset, int64_t difference)
{
    size_t place = count;

    assert(count < COUNT_DELTA_MAX);
    for (; place > 0 && deltas[place - 1].preset > preset; place--)
        deltas[place] = deltas[place - 1];
    deltas[place] = (struct delta){preset, difference};
    return count + 1;
}

static int apply_counts(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    struct store_value params[COUNT_PARAM_COUNT + 2 * COUNT_DELTA_MAX];
    struct delta deltas[COUNT_DELTA_MAX];
    size_t count = 0;

    if (step->before != OFFER_NONE && preset_of(step->before) == preset_of(step->after))
        return 0;
    if (status_is_listed(step->before) != status_is_listed(step->after))
        count = add_delta(deltas, count, PRESET_ALL, status_is_listed(step->after) ? 1 : -1);
    if (step->before != OFFER_NONE)
        count = add_delta(deltas, count, preset_of(step->before), -1);
    count = add_delta(deltas, count, preset_of(step->after), 1);
    params[0] = STORE_V_STRING(step->seller);
    params[1] = STORE_V_INT(step->created_us);
    params[2] = STORE_V_INT(step->id);
    for (size_t i = 0; i < count; i++) {
        params[COUNT_PARAM_COUNT + 2 * i] = STORE_V_INT(deltas[i].preset);
        params[COUNT_PARAM_COUNT + 2 * i + 1] = STORE_V_INT(deltas[i].difference);
    }
    return store_exec(tx, count_sql[count], params, COUNT_PARAM_COUNT + 2 * count, NULL, err);
}

/* --- totals --- */

struct total {
    const char *counter;
    int64_t difference;
};

#define TOTAL_HEAD                                                                                 \
    "INSERT INTO user_total_counters (shard_id, seller_id, seq_no, counter_id, counter_value) "    \
    "VALUES "
#define TOTAL_TAIL                                                                                 \
    " ON CONFLICT (shard_id, seller_id, counter_id, seq_no) DO UPDATE "                            \
    "SET counter_value = user_total_counters.counter_value + excluded.counter_value, "             \
    "recount = user_total_counters.recount + CASE WHEN ($4, $5) >= "                               \
    "(user_total_counters.mark_us, user_total_counters.mark_id) "                                  \
    "THEN excluded.counter_value ELSE 0 END"

static const char *const total_sql[TOTAL_DELTA_MAX + 1] = {
    [1] = TOTAL_HEAD "($1, $2, $3, $6, $7)" TOTAL_TAIL,
    [2] = TOTAL_HEAD "($1, $2, $3, $6, $7), ($1, $2, $3, $8, $9)" TOTAL_TAIL,
    [3] =
        TOTAL_HEAD "($1, $2, $3, $6, $7), ($1, $2, $3, $8, $9), ($1, $2, $3, $10, $11)" TOTAL_TAIL,
    [4] = TOTAL_HEAD "($1, $2, $3, $6, $7), ($1, $2, $3, $8, $9), ($1, $2, $3, $10, $11), "
                     "($1, $2, $3, $12, $13)" TOTAL_TAIL,
};

static int64_t difference(const struct offer_step *step, enum offer_status status)
{
    return (step->after == status) - (step->before == status);
}

static int apply_totals(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    char money[TOTAL_NAME_SIZE] = "";
    struct total totals[] = {
        /* in the order of their names */
        {"active", difference(step, OFFER_ACTIVE)},
        {"banned", difference(step, OFFER_BANNED)},
        {"expired", difference(step, OFFER_EXPIRED)},
        {money, step->earned ? step->earned->amount : 0},
        {"sold", step->first_sale},
    };
    struct store_value params[TOTAL_PARAM_COUNT + 2 * TOTAL_DELTA_MAX];
    size_t count = 0;

    if (step->earned)
        money_counter(step->earned->currency, money);
    params[0] = STORE_V_INT(step->shard);
    params[1] = STORE_V_STRING(step->seller);
    params[2] = STORE_V_INT(step->id % TOTAL_ROW_COUNT);
    params[3] = STORE_V_INT(step->created_us);
    params[4] = STORE_V_INT(step->id);
    for (size_t i = 0; i < ARRAY_COUNT(totals); i++) {
        if (!totals[i].difference)
            continue;
        assert(count < TOTAL_DELTA_MAX);
        params[TOTAL_PARAM_COUNT + 2 * count] = STORE_V_STRING(totals[i].counter);
        params[TOTAL_PARAM_COUNT + 2 * count + 1] = STORE_V_INT(totals[i].difference);
        count++;
    }
    if (!count)
        return 0;
    return store_exec(tx, total_sql[count], params, TOTAL_PARAM_COUNT + 2 * count, NULL, err);
}

int offer_counts_apply(struct store_tx *tx, const struct offer_step *step, struct err *err)
{
    int rc;

    assert(step->after != OFFER_NONE);
    rc = apply_lists(tx, step, err);
    if (!rc)
        rc = apply_counts(tx, step, err);
    if (!rc)
        rc = apply_totals(tx, step, err);
    return rc;
}
