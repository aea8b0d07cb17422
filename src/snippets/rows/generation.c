/* SPDX-License-Identifier: Apache-2.0 */
/* generation.c - see generation.h. */
#include "snippets/rows/generation.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "snippets/rows/changes.h"

struct step {
    struct store *store;
    const struct snippet_prefix_list *prefixes;
    int64_t generation;
};

/* --- a load --- */

static int find_next(struct store_tx *tx, const struct snippet_prefix_list *prefixes,
                     int64_t *generation, struct err *err)
{
    int rc = 0;

    *generation = 0;
    for (size_t i = 0; i < prefixes->count && !rc; i++) {
        int64_t last = 0;

        rc = store_find_integer(tx, "SELECT last FROM snippet_space WHERE prefix = $1",
                                STORE_WITH(STORE_V_INT(prefixes->list[i])), &last, err);
        if (last > *generation)
            *generation = last;
    }
    ++*generation;
    return rc;
}

static int begin(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;
    int64_t now_us = clock_wall_us(store_clock(step->store));
    int rc = find_next(tx, step->prefixes, &step->generation, err);

    for (size_t i = 0; i < step->prefixes->count && !rc; i++)
        rc = store_exec(
            tx,
            "INSERT INTO snippet_space (prefix, live, back, loading, last, begun_us, switched_us, "
            "unclean) VALUES ($1, 0, -1, $2, $2, $3, 0, 0) ON CONFLICT (prefix) DO UPDATE SET "
            "unclean = snippet_space.unclean + "
            "CASE WHEN snippet_space.loading >= 0 THEN 1 ELSE 0 END, "
            "loading = excluded.loading, last = excluded.last, begun_us = excluded.begun_us",
            STORE_WITH(STORE_V_INT(step->prefixes->list[i]), STORE_V_INT(step->generation),
                       STORE_V_INT(now_us)),
            NULL, err);
    return rc;
}

int snippet_generation_begin(struct store *store, const struct snippet_prefix_list *prefixes,
                             int64_t *generation, struct err *err)
{
    struct step step = {.store = store, .prefixes = prefixes};
    int rc = store_write(store, begin, &step, err);

    *generation = rc ? -1 : step.generation;
    return rc;
}

/* A change of each prefix's row, $1, which must hold for all of them. */
static int change_each(struct store_tx *tx, const struct step *step, const char *sql,
                       const struct store_value *more, size_t more_count, int code,
                       const char *fault, struct err *err)
{
    struct store_value values[4];
    int rc = 0;

    assert(more_count + 1 <= sizeof(values) / sizeof(values[0]));
    for (size_t i = 0; i < more_count; i++)
        values[i + 1] = more[i];
    for (size_t i = 0; i < step->prefixes->count && !rc; i++) {
        int64_t changed = 0;

        values[0] = STORE_V_INT(step->prefixes->list[i]);
        rc = store_exec(tx, sql, values, more_count + 1, &changed, err);
        if (!rc && changed != 1)
            rc = err_set(err, code, "%s", fault);
    }
    return rc;
}

/* Whoever follows them is told that other rows are shown. */
static int tell_all(struct store_tx *tx, const struct step *step, struct err *err)
{
    struct snippet_changes changes = SNIPPET_CHANGES_INIT;
    int rc;

    for (size_t i = 0; i < step->prefixes->count; i++)
        snippet_changes_add(
            &changes, &(struct snippet_change){.prefix = step->prefixes->list[i], .is_all = true});
    rc = snippet_changes_write(tx, step->store, &changes, err);
    buf_release(&changes.list);
    return rc;
}

static const char REPLACED[] =
    "this load is not in progress: another has begun, it was given up, or the config has changed";

int snippet_generation_begun(struct store *store, const struct snippet_prefix_list *prefixes,
                             int64_t generation, int64_t *begun_us, struct err *err)
{
    int rc;

    assert(prefixes->count > 0);
    *begun_us = -1;
    rc = store_read_integer(
        store, "SELECT begun_us FROM snippet_space WHERE prefix = $1 AND loading = $2",
        STORE_WITH(STORE_V_INT(prefixes->list[0]), STORE_V_INT(generation)), begun_us, err);
    return !rc && *begun_us < 0 ? err_set(err, ERR_STALE, "%s", REPLACED) : rc;
}

static int change_to(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;

    int rc = change_each(tx, step,
                         "UPDATE snippet_space SET back = live, live = loading, loading = -1, "
                         "switched_us = $3, unclean = unclean + 1 "
                         "WHERE prefix = $1 AND loading = $2",
                         STORE_WITH(STORE_V_INT(step->generation),
                                    STORE_V_INT(clock_wall_us(store_clock(step->store)))),
                         ERR_STALE, REPLACED, err);

    return rc ? rc : tell_all(tx, step, err);
}

int snippet_generation_switch(struct store *store, const struct snippet_prefix_list *prefixes,
                              int64_t generation, struct err *err)
{
    struct step step = {.store = store, .prefixes = prefixes, .generation = generation};

    return store_write(store, change_to, &step, err);
}

static int abandon(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;

    return change_each(tx, step,
                       "UPDATE snippet_space SET loading = -1, unclean = unclean + 1 "
                       "WHERE prefix = $1 AND loading = $2",
                       STORE_WITH(STORE_V_INT(step->generation)), ERR_STALE, REPLACED, err);
}

int snippet_generation_abandon(struct store *store, const struct snippet_prefix_list *prefixes,
                               int64_t generation, struct err *err)
{
    struct step step = {.store = store, .prefixes = prefixes, .generation = generation};

    return store_write(store, abandon, &step, err);
}

static int go_back(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;

    int rc = change_each(tx, step,
                         "UPDATE snippet_space SET live = back, back = live, switched_us = $2 "
                         "WHERE prefix = $1 AND back >= 0",
                         STORE_WITH(STORE_V_INT(clock_wall_us(store_clock(step->store)))),
                         ERR_PRECONDITION, "there was no load before to go back to", err);

    return rc ? rc : tell_all(tx, step, err);
}

int snippet_generation_back(struct store *store, const struct snippet_prefix_list *prefixes,
                            struct err *err)
{
    struct step step = {.store = store, .prefixes = prefixes};

    return store_write(store, go_back, &step, err);
}

/* --- the difference --- */

/* A walk over the rows of a prefix in their order, page by page. */
struct walk {
    int64_t generation;
    char key[SNIPPET_KEY_SIZE_MAX + 1];
    char language[SNIPPET_LANGUAGE_SIZE_MAX + 1];
    size_t count; /* of the last page */
};

static void keep_text(char *to, size_t size, struct bytes text)
{
    assert(text.size < size);
    memcpy(to, text.data ? text.data : (const uint8_t *)"", text.size);
    to[text.size] = 0;
}

static void walk_on(struct walk *walk, const struct store_value *columns)
{
    keep_text(walk->key, sizeof(walk->key), columns[0].bytes);
    keep_text(walk->language, sizeof(walk->language), columns[1].bytes);
    walk->generation = columns[2].integer;
    walk->count++;
}

struct comparing {
    struct walk walk;
    int64_t live;
    int64_t loading;
    int64_t now_us;
    bool was, will; /* of the key and language at hand */
    struct snippet_difference *difference;
};

static void count_key(struct comparing *comparing)
{
    comparing->difference->before += comparing->was;
    comparing->difference->after += comparing->will;
    comparing->difference->kept += comparing->was && comparing->will;
    comparing->was = comparing->will = false;
}

static void compare_row(struct comparing *comparing, const struct store_value *columns)
{
    bool is_there = columns[3].integer && columns[4].integer > comparing->now_us;

    if (!bytes_equal_text(columns[0].bytes, comparing->walk.key) ||
        !bytes_equal_text(columns[1].bytes, comparing->walk.language))
        count_key(comparing);
    comparing->was = comparing->was || (is_there && columns[2].integer == comparing->live);
    comparing->will = comparing->will || (is_there && columns[2].integer == comparing->loading);
    walk_on(&comparing->walk, columns);
}

static int compare_prefix(struct store *store, int64_t prefix, struct comparing *comparing,
                          struct err *err)
{
    int rc;

    comparing->live = 0;
    rc = store_read_integer(store, "SELECT live FROM snippet_space WHERE prefix = $1",
                            STORE_WITH(STORE_V_INT(prefix)), &comparing->live, err);
    comparing->walk = (struct walk){.generation = -1, .count = SNIPPET_WALK_COUNT};
    while (!rc && comparing->walk.count == SNIPPET_WALK_COUNT) {
        struct walk from = comparing->walk;
        struct store_rows rows = store_read_rows(
            store,
            "SELECT record_key, language, generation, "
            "CAST(CASE WHEN body IS NULL THEN 0 ELSE 1 END AS BIGINT), end_us FROM snippet "
            "WHERE prefix = $1 AND (record_key, language, generation) > ($2, $3, $4) "
            "ORDER BY record_key, language, generation LIMIT $5",
            STORE_WITH(STORE_V_INT(prefix), STORE_V_STRING(from.key), STORE_V_STRING(from.language),
                       STORE_V_INT(from.generation), STORE_V_INT(SNIPPET_WALK_COUNT)));

        comparing->walk.count = 0;
        while (store_next(&rows))
            compare_row(comparing, rows.columns);
        rc = store_rows_end(&rows, err);
    }
    count_key(comparing);
    return rc;
}

int snippet_generation_compare(struct store *store, const struct snippet_prefix_list *prefixes,
                               int64_t generation, struct snippet_difference *difference,
                               struct err *err)
{
    struct comparing comparing = {.loading = generation,
                                  .now_us = clock_wall_us(store_clock(store)),
                                  .difference = difference};
    int rc = 0;

    *difference = (struct snippet_difference){0};
    for (size_t i = 0; i < prefixes->count && !rc; i++)
        rc = compare_prefix(store, prefixes->list[i], &comparing, err);
    return rc;
}

/* --- garbage --- */

static int give_up_old(struct store *store, struct err *err)
{
    int64_t then_us = clock_wall_us(store_clock(store)) - (int64_t)SNIPPET_LOAD_S_MAX * 1000000;
    int64_t count = 0;
    int rc = store_read_integer(
        store, "SELECT COUNT(*) FROM snippet_space WHERE loading >= 0 AND begun_us < $1",
        STORE_WITH(STORE_V_INT(then_us)), &count, err);

    if (rc || !count)
        return rc;
    return store_write_one(store,
                           "UPDATE snippet_space SET loading = -1, unclean = unclean + 1 "
                           "WHERE loading >= 0 AND begun_us < $1",
                           STORE_WITH(STORE_V_INT(then_us)), NULL, err);
}

static int find_unclean(struct store *store, struct snippet_sweep_place *place, struct err *err)
{
    struct store_rows rows;
    int rc = give_up_old(store, err);

    if (rc)
        return rc;
    rows = store_read_rows(store,
                           "SELECT prefix, unclean FROM snippet_space WHERE unclean > 0 "
                           "ORDER BY prefix LIMIT 1",
                           NULL, 0);
    *place = (struct snippet_sweep_place){.generation = -1};
    if (store_next(&rows)) {
        place->prefix = rows.columns[0].integer;
        place->unclean = rows.columns[1].integer;
    }
    return store_rows_end(&rows, err);
}

/* The last row of the next piece. */
static int find_piece(struct store *store, const struct snippet_sweep_place *place,
                      struct walk *walk, struct err *err)
{
    struct store_rows rows =
        store_read_rows(store,
                        "SELECT record_key, language, generation FROM snippet "
                        "WHERE prefix = $1 AND (record_key, language, generation) > ($2, $3, $4) "
                        "ORDER BY record_key, language, generation LIMIT $5",
                        STORE_WITH(STORE_V_INT(place->prefix), STORE_V_STRING(place->key),
                                   STORE_V_STRING(place->language), STORE_V_INT(place->generation),
                                   STORE_V_INT(SNIPPET_SWEEP_COUNT)));

    walk->count = 0;
    while (store_next(&rows))
        walk_on(walk, rows.columns);
    return store_rows_end(&rows, err);
}

static int sweep_piece(struct store *store, const struct snippet_sweep_place *place,
                       const struct walk *to, struct err *err)
{
    return store_write_one(
        store,
        "DELETE FROM snippet WHERE prefix = $1 "
        "AND (record_key, language, generation) > ($2, $3, $4) "
        "AND (record_key, language, generation) <= ($5, $6, $7) "
        "AND NOT EXISTS (SELECT 1 FROM snippet_space WHERE snippet_space.prefix = snippet.prefix "
        "AND snippet.generation IN (live, back, loading))",
        STORE_WITH(STORE_V_INT(place->prefix), STORE_V_STRING(place->key),
                   STORE_V_STRING(place->language), STORE_V_INT(place->generation),
                   STORE_V_STRING(to->key), STORE_V_STRING(to->language),
                   STORE_V_INT(to->generation)),
        NULL, err);
}

int snippet_generation_sweep(struct store *store, struct snippet_sweep_place *place, bool *more,
                             struct err *err)
{
    struct walk to = {0};
    int rc = place->prefix ? 0 : find_unclean(store, place, err);

    *more = false;
    if (rc || !place->prefix)
        return rc;
    *more = true;
    rc = find_piece(store, place, &to, err);
    if (!rc && to.count)
        rc = sweep_piece(store, place, &to, err);
    if (rc)
        return rc;
    if (to.count == SNIPPET_SWEEP_COUNT) {
        memcpy(place->key, to.key, sizeof(place->key));
        memcpy(place->language, to.language, sizeof(place->language));
        place->generation = to.generation;
        return 0;
    }
    rc = store_write_one(
        store, "UPDATE snippet_space SET unclean = 0 WHERE prefix = $1 AND unclean = $2",
        STORE_WITH(STORE_V_INT(place->prefix), STORE_V_INT(place->unclean)), NULL, err);
    *place = (struct snippet_sweep_place){0};
    return rc;
}
