/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c - see counters.h. */
#include "offers/lists/counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "offers/bounds.h"
#include "offers/change/offer_save.h"
#include "offers/lists/recount.h"

/* --- where it is: "offers:ID", "sellers:NAME", "totals:SHARD:NAME", "done" --- */

static char *position_text(const struct counters_run *run, struct arena *arena)
{
    switch (run->phase) {
    case COUNTERS_OFFERS:
        return arena_printf(arena, "offers:%" PRId64, run->offer);
    case COUNTERS_SELLERS:
        return arena_printf(arena, "sellers:%s", run->last);
    case COUNTERS_TOTALS:
        return arena_printf(arena, "totals:%" PRId64 ":%s", run->last_shard, run->last);
    default:
        return arena_strdup(arena, "done");
    }
}

static bool take_name(struct counters_run *run, const char *name)
{
    if (strlen(name) >= sizeof(run->last))
        return false;
    snprintf(run->last, sizeof(run->last), "%s", name);
    return true;
}

static bool position_parse(struct counters_run *run, const char *text)
{
    const char *colon = strchr(text, ':');
    struct bytes word = bytes_make(text, colon ? (size_t)(colon - text) : 0);

    if (bytes_equal_text(word, "offers")) {
        run->phase = COUNTERS_OFFERS;
        return text_to_i64(bytes_of(colon + 1), &run->offer) && run->offer >= 0;
    }
    if (bytes_equal_text(word, "sellers")) {
        run->phase = COUNTERS_SELLERS;
        return take_name(run, colon + 1);
    }
    if (bytes_equal_text(word, "totals")) {
        const char *second = strchr(colon + 1, ':');

        run->phase = COUNTERS_TOTALS;
        return second &&
               text_to_i64(bytes_make(colon + 1, (size_t)(second - colon - 1)), &run->last_shard) &&
               take_name(run, second + 1);
    }
    return false;
}

int counters_start(struct counters_run *run, struct store *store, const struct clock *clock,
                   const char *principal, const Torg__V1__VerifyCountersRequest *request,
                   struct err *err)
{
    *run = (struct counters_run){
        .checking = {.store = store, .fix = request->fix, .principal = principal},
        .clock = clock,
        .only = *request->seller ? request->seller : NULL,
        .last_shard = -1};
    if (strlen(request->seller) >= sizeof(run->seller))
        return err_set(err, ERR_INVALID, "seller: expected at most %zu bytes",
                       sizeof(run->seller) - 1);
    if (*request->position && !position_parse(run, request->position))
        return err_set(err, ERR_INVALID,
                       "position: expected one of an earlier answer, such as sellers:NAME");
    /* Of one seller there is no place between two sellers. */
    if (run->only && run->phase != COUNTERS_OFFERS) {
        run->phase = COUNTERS_SELLERS;
        run->last[0] = 0;
    }
    return 0;
}

/* --- who is next --- */

/* The name stays in run->seller, which becomes the seller when it is begun. */
static int keep_name(struct counters_run *run, struct bytes name, struct err *err)
{
    if (name.size >= sizeof(run->seller))
        return err_set(err, ERR_CORRUPT, "a seller's name of %zu bytes", name.size);
    snprintf(run->seller, sizeof(run->seller), "%.*s", BYTES_ARG(name));
    return 0;
}

/* The smaller of the next in both tables, each the first of an index range. */
static int find_seller(struct counters_run *run, bool *found, struct err *err)
{
    struct store_rows rows = store_read_rows(
        run->checking.store,
        "SELECT MIN(seller_id) FROM (SELECT * FROM (SELECT seller_id FROM user_offer_presets_count "
        "WHERE seller_id > $1 ORDER BY seller_id LIMIT 1) AS counted UNION ALL "
        "SELECT * FROM (SELECT seller_id FROM user_offer_presets WHERE seller_id > $1 "
        "ORDER BY seller_id LIMIT 1) AS listed) AS both_of_them",
        STORE_WITH(STORE_V_STRING(run->last)));

    *found = store_next(&rows) && rows.columns[0].type == STORE_TEXT;
    if (*found)
        rows.rc = keep_name(run, rows.columns[0].bytes, err);
    return store_rows_end(&rows, err);
}

/* The next page of those with totals. *shard: of the first that has nothing else, whose name is
 * kept; -1: none of them, and the name is the last one's. */
static int find_total_seller(struct counters_run *run, int64_t *shard, int64_t *last_shard,
                             size_t *row_count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        run->checking.store,
        "SELECT t.shard_id, t.seller_id, (SELECT COUNT(*) FROM user_offer_presets_count c "
        "WHERE c.seller_id = t.seller_id) FROM user_total_counters t "
        "WHERE (t.shard_id, t.seller_id) > ($1, $2) ORDER BY t.shard_id, t.seller_id LIMIT $3",
        STORE_WITH(STORE_V_INT(run->last_shard), STORE_V_STRING(run->last),
                   STORE_V_INT(LIST_CHECK_COUNT)));

    *shard = *last_shard = -1;
    for (*row_count = 0; store_next(&rows); ++*row_count) {
        if (*shard >= 0)
            continue;
        *last_shard = rows.columns[0].integer;
        rows.rc = keep_name(run, rows.columns[1].bytes, err);
        if (!rows.columns[2].integer)
            *shard = *last_shard;
    }
    return store_rows_end(&rows, err);
}

/* The one whose name is kept. */
static void begin_seller(struct counters_run *run, int64_t shard)
{
    run->shard = shard;
    run->at_work = true;
    run->rows_done = false;
    run->row = (struct list_place){.preset = INT64_MIN};
}

static void end_seller(struct counters_run *run)
{
    snprintf(run->last, sizeof(run->last), "%s", run->seller);
    run->last_shard = run->shard;
    run->at_work = false;
    run->seller_count++;
}

static int choose_seller(struct counters_run *run, struct err *err)
{
    bool found = run->only && !*run->last;
    int rc = run->only ? 0 : find_seller(run, &found, err);

    if (run->only && found)
        rc = keep_name(run, bytes_of(run->only), err);
    if (rc)
        return rc;
    if (found) {
        begin_seller(run, -1);
    } else {
        run->phase = run->only ? COUNTERS_DONE : COUNTERS_TOTALS;
        run->last[0] = 0;
    }
    return 0;
}

/* Sellers who have totals and nothing else: the counts before did not lead to them. */
static int choose_total_seller(struct counters_run *run, struct err *err)
{
    int64_t shard, last_shard;
    size_t row_count;
    int rc = find_total_seller(run, &shard, &last_shard, &row_count, err);

    if (rc)
        return rc;
    if (shard >= 0) {
        begin_seller(run, shard);
    } else if (row_count == LIST_CHECK_COUNT) {
        take_name(run, run->seller);
        run->last_shard = last_shard;
    } else {
        run->phase = COUNTERS_DONE;
    }
    return 0;
}

/* --- steps --- */

static int step_offers(struct counters_run *run, struct findings *findings, struct err *err)
{
    size_t count;
    int rc = list_check_offers(&run->checking, run->only, &run->offer, findings, &count, err);

    run->offer_count += (int64_t)count;
    if (!rc && count < LIST_CHECK_COUNT)
        run->phase = COUNTERS_SELLERS;
    return rc;
}

/* What is wrong with one seller's rows does not end the run. */
static void pass_seller(struct counters_run *run, struct findings *findings, struct err *err)
{
    findings_add(findings, DIFFERENCE(UNREADABLE), run->seller, err->text);
    end_seller(run);
}

static int step_seller(struct counters_run *run, struct findings *findings, struct err *err)
{
    size_t count;
    bool done = false;
    int rc;

    if (!run->rows_done) {
        rc = list_check_seller(&run->checking, run->seller, &run->row, findings, &count, err);
        run->rows_done = !rc && count < LIST_CHECK_COUNT;
    } else {
        rc = recount_step(&run->checking, run->seller, findings, &count, &done, err);
    }
    if (rc == ERR_CORRUPT || rc == ERR_LIMIT) {
        pass_seller(run, findings, err);
        rc = 0;
    }
    if (done)
        end_seller(run);
    return rc;
}

int counters_step(struct counters_run *run, struct findings *findings, struct err *err)
{
    size_t first = findings->count;
    int rc;

    run->checking.now_us = clock_wall_us(run->clock);
    if (run->phase == COUNTERS_OFFERS)
        rc = step_offers(run, findings, err);
    else if (run->at_work)
        rc = step_seller(run, findings, err);
    else if (run->phase == COUNTERS_SELLERS)
        rc = choose_seller(run, err);
    else if (run->phase == COUNTERS_TOTALS)
        rc = choose_total_seller(run, err);
    else
        rc = 0;
    for (size_t i = first; i < findings->count; i++) {
        run->difference_count++;
        run->fixed_count += findings->list[i]->fixed;
    }
    return rc;
}

static int tell(const struct counters_run *run, const struct findings *findings,
                const struct counters_teller *teller, struct err *err)
{
    Torg__V1__VerifyCountersResponse answer = TORG__V1__VERIFY_COUNTERS_RESPONSE__INIT;

    answer.differences = findings->list;
    answer.n_differences = findings->count;
    answer.position = position_text(run, findings->arena);
    answer.offer_count = run->offer_count;
    answer.seller_count = run->seller_count;
    answer.difference_count = run->difference_count;
    answer.fixed_count = run->fixed_count;
    answer.done = run->phase == COUNTERS_DONE;
    return teller->tell(teller->arg, &answer, err);
}

/* Steps up to the next answer. */
static int go_on(struct counters_run *run, const struct counters_teller *teller, struct err *err)
{
    struct findings findings = {.arena = arena_new()};
    int64_t until_us = clock_mono_us(run->clock) + (int64_t)COUNTERS_TELL_MS * MS_US;
    struct err untold;
    int rc = 0;

    while (!rc && run->phase != COUNTERS_DONE && findings.count < COUNTERS_TELL_COUNT &&
           clock_mono_us(run->clock) < until_us) {
        if (teller->is_cancelled && teller->is_cancelled(teller->arg))
            rc = err_set(err, ERR_CANCELLED, "the caller left");
        else
            rc = counters_step(run, &findings, err);
    }
    /* What was found, and perhaps put right, before a failure is told all the same. */
    if (!rc)
        rc = tell(run, &findings, teller, err);
    else if (findings.count)
        tell(run, &findings, teller, &untold);
    arena_free(findings.arena);
    return rc;
}

int counters_go(struct counters_run *run, const struct counters_teller *teller, struct err *err)
{
    int rc;

    do {
        rc = go_on(run, teller, err);
    } while (!rc && run->phase != COUNTERS_DONE);
    return rc;
}
