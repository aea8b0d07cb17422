/* SPDX-License-Identifier: Apache-2.0 */
/* experiments.c - see experiments.h. */
#include "clicks/experiments.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "clicks/bounds.h"
#include "codec/message.h"
#include "codec/moment.h"

/* --- crediting --- */

/* Who has more clicks; EXPERIMENT_SIDE_COUNT: neither. */
static enum experiment_side winner(int64_t clicks_a, int64_t clicks_b)
{
    return clicks_a > clicks_b   ? EXPERIMENT_A
           : clicks_b > clicks_a ? EXPERIMENT_B
                                 : EXPERIMENT_SIDE_COUNT;
}

/* The list has one click more: it may be won, or not any more. */
static int credit_click(struct store_tx *tx, const struct experiment_visit *visit,
                        const char *query_id, enum experiment_side side,
                        struct experiment_tally *tally, struct err *err)
{
    const struct store_value list =
        STORE_V_INT((int64_t)hash64_seeded(bytes_of(query_id), visit->session));
    bool is_b = side == EXPERIMENT_B;
    int64_t clicks[EXPERIMENT_SIDE_COUNT] = {0};
    enum experiment_side before, after;
    struct store_rows rows;
    int rc = store_exec(
        tx,
        "INSERT INTO experiment_list (list, hour, clicks_a, clicks_b) "
        "VALUES ($1, $2, $3, $4) ON CONFLICT (list) DO UPDATE SET "
        "clicks_a = experiment_list.clicks_a + excluded.clicks_a, "
        "clicks_b = experiment_list.clicks_b + excluded.clicks_b",
        STORE_WITH(list, STORE_V_INT(visit->hour), STORE_V_INT(!is_b), STORE_V_INT(is_b)), NULL,
        err);

    if (rc)
        return rc;
    rows = store_select(tx, "SELECT clicks_a, clicks_b FROM experiment_list WHERE list = $1", &list,
                        1);
    while (store_next(&rows)) {
        clicks[EXPERIMENT_A] = rows.columns[0].integer;
        clicks[EXPERIMENT_B] = rows.columns[1].integer;
    }
    rc = store_rows_end(&rows, err);
    if (rc)
        return rc;
    after = winner(clicks[EXPERIMENT_A], clicks[EXPERIMENT_B]);
    before = winner(clicks[EXPERIMENT_A] - !is_b, clicks[EXPERIMENT_B] - is_b);
    if (before != EXPERIMENT_SIDE_COUNT)
        tally->sides[before].lists--;
    if (after != EXPERIMENT_SIDE_COUNT)
        tally->sides[after].lists++;
    return 0;
}

int experiments_credit(struct store_tx *tx, const struct experiment_visit *visit,
                       const Torg__V1__Event *event, struct experiment_tally *tally,
                       struct err *err)
{
    struct experiment_side_counts *counts;
    enum experiment_side side;
    uint64_t seed;

    if (!visit->experiment || !event->position || event->position > EXPERIMENT_PLACE_COUNT ||
        !experiment_list_read(visit->experiment, event->query_id, &seed))
        return 0;
    if (visit->experiment->new_every && event->position % visit->experiment->new_every == 0)
        return 0; /* a new offer's place */
    side = experiment_side_at(seed, event->position - 1);
    counts = &tally->sides[side];
    tally->is_used = true;
    counts->shows += event->kind == TORG__V1__EVENT__KIND__SHOW;
    counts->contacts += event->kind == TORG__V1__EVENT__KIND__CONTACT;
    if (event->kind != TORG__V1__EVENT__KIND__CLICK)
        return 0;
    counts->clicks++;
    return credit_click(tx, visit, event->query_id, side, tally, err);
}

int experiments_keep(struct store_tx *tx, const struct experiment_visit *visit,
                     const struct experiment_tally *tally, int64_t now_us, struct err *err)
{
    const struct experiment *experiment = visit->experiment;
    int rc;

    if (!tally->is_used)
        return 0;
    rc = store_exec(
        tx,
        "INSERT INTO experiment (id, formula_a, formula_b, begun_us) "
        "VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
        STORE_WITH(STORE_V_INT(experiment->id), STORE_V_STRING(experiment->formulas[EXPERIMENT_A]),
                   STORE_V_STRING(experiment->formulas[EXPERIMENT_B]), STORE_V_INT(now_us)),
        NULL, err);
    for (int i = 0; i < EXPERIMENT_SIDE_COUNT && !rc; i++) {
        const struct experiment_side_counts *counts = &tally->sides[i];

        rc = store_exec(tx,
                        "INSERT INTO experiment_count (experiment, part, side, shows, clicks, "
                        "contacts, lists) VALUES ($1, $2, $3, $4, $5, $6, $7) "
                        "ON CONFLICT (experiment, part, side) DO UPDATE SET "
                        "shows = experiment_count.shows + excluded.shows, "
                        "clicks = experiment_count.clicks + excluded.clicks, "
                        "contacts = experiment_count.contacts + excluded.contacts, "
                        "lists = experiment_count.lists + excluded.lists",
                        STORE_WITH(STORE_V_INT(experiment->id),
                                   STORE_V_INT((int64_t)(visit->session % EXPERIMENT_PART_COUNT)),
                                   STORE_V_INT(i), STORE_V_INT(counts->shows),
                                   STORE_V_INT(counts->clicks), STORE_V_INT(counts->contacts),
                                   STORE_V_INT(counts->lists)),
                        NULL, err);
    }
    return rc;
}

/* --- telling --- */

void experiment_share(int64_t part, int64_t count, Torg__V1__ExperimentShare *share)
{
    const double z = 1.959964; /* of 95 % */
    double n = (double)count;
    double p = count ? (double)part / n : 0;
    double middle, half;

    assert(part >= 0 && count >= part);
    share->count = count;
    share->share = p;
    share->low = 0;
    share->high = 1;
    if (!count)
        return;
    middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    share->low = fmax(0, middle - half);
    share->high = fmin(1, middle + half);
}

static Torg__V1__ExperimentShare *share_of(int64_t part, int64_t count, struct arena *arena)
{
    Torg__V1__ExperimentShare *share = MESSAGE_NEW(experiment_share, arena);

    /* A show that was not counted (of a robot, by then) may have a click that was. */
    experiment_share(part < count ? part : count, count, share);
    return share;
}

static Torg__V1__ExperimentSide *side_of(const char *formula, struct arena *arena)
{
    Torg__V1__ExperimentSide *side = MESSAGE_NEW(experiment_side, arena);

    side->formula = (char *)formula;
    return side;
}

static Torg__V1__Experiment *experiment_message(int64_t id, const char *a, const char *b,
                                                struct arena *arena)
{
    Torg__V1__Experiment *experiment = MESSAGE_NEW(experiment, arena);

    experiment->id = arena_printf(arena, "%08" PRIx64, (uint64_t)id);
    experiment->control = side_of(a, arena);
    experiment->tried = side_of(b, arena);
    return experiment;
}

static void add_shares(Torg__V1__Experiment *experiment, struct arena *arena)
{
    Torg__V1__ExperimentSide *a = experiment->control, *b = experiment->tried;

    a->click_rate = share_of(a->clicks, a->shows, arena);
    b->click_rate = share_of(b->clicks, b->shows, arena);
    experiment->lists = share_of(b->lists_won, a->lists_won + b->lists_won, arena);
    experiment->contacts = share_of(b->contacts, a->contacts + b->contacts, arena);
}

struct listing {
    const struct experiment *running;
    struct arena *arena;
    Torg__V1__ListExperimentsResponse *response;
};

static int read_counts(struct store_tx *tx, int64_t id, Torg__V1__Experiment *experiment,
                       struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT side, CAST(SUM(shows) AS BIGINT), CAST(SUM(clicks) AS BIGINT), "
                     "CAST(SUM(contacts) AS BIGINT), CAST(SUM(lists) AS BIGINT) "
                     "FROM experiment_count WHERE experiment = $1 GROUP BY side",
                     STORE_WITH(STORE_V_INT(id)));

    while (store_next(&rows)) {
        Torg__V1__ExperimentSide *side =
            rows.columns[0].integer == EXPERIMENT_A ? experiment->control : experiment->tried;

        side->shows = rows.columns[1].integer;
        side->clicks = rows.columns[2].integer;
        side->contacts = rows.columns[3].integer;
        side->lists_won = rows.columns[4].integer;
    }
    return store_rows_end(&rows, err);
}

/* The one that runs has its place first, whether or not an event has come. */
static int list_tx(struct store_tx *tx, void *arg, struct err *err)
{
    struct listing *listing = arg;
    const struct experiment *running = listing->running;
    struct arena *arena = listing->arena;
    Torg__V1__ListExperimentsResponse *response = listing->response;
    int64_t ids[EXPERIMENT_LISTED_COUNT + 1];
    struct store_rows rows;
    int rc;

    response->n_experiments = 0;
    if (running) {
        ids[0] = running->id;
        response->experiments[response->n_experiments++] = experiment_message(
            running->id, running->formulas[EXPERIMENT_A], running->formulas[EXPERIMENT_B], arena);
        response->experiments[0]->is_running = true;
    }
    rows = store_select(tx,
                        "SELECT id, formula_a, formula_b, begun_us FROM experiment "
                        "ORDER BY begun_us DESC, id LIMIT $1",
                        STORE_WITH(STORE_V_INT(EXPERIMENT_LISTED_COUNT)));
    while (store_next(&rows)) {
        bool is_running = running && rows.columns[0].integer == running->id;
        size_t at = is_running ? 0 : response->n_experiments++;

        if (!is_running)
            response->experiments[at] = experiment_message(
                rows.columns[0].integer, arena_text(arena, rows.columns[1].bytes),
                arena_text(arena, rows.columns[2].bytes), arena);
        ids[at] = rows.columns[0].integer;
        response->experiments[at]->begin_time = moment_message(rows.columns[3].integer, arena);
    }
    rc = store_rows_end(&rows, err);
    for (size_t i = 0; i < response->n_experiments && !rc; i++) {
        rc = read_counts(tx, ids[i], response->experiments[i], err);
        add_shares(response->experiments[i], arena);
    }
    return rc;
}

int experiments_list(struct store *store, const struct experiment *running, struct arena *arena,
                     Torg__V1__ListExperimentsResponse *response, struct err *err)
{
    struct listing listing = {.running = running, .arena = arena, .response = response};

    response->experiments =
        arena_array(arena, EXPERIMENT_LISTED_COUNT + 1, sizeof(response->experiments[0]));
    return store_read(store, list_tx, &listing, err);
}
