/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - see keep.h. */
#include "feeds/apply/keep.h"

#include <assert.h>

#include "base/log.h"
#include "feeds/apply/end.h"
#include "feeds/apply/undo.h"
#include "feeds/bounds.h"
#include "feeds/tasks/rows.h"
#include "feeds/tasks/rules.h"
#include "offers/change/external_item.h"

struct found_task {
    struct feed_key key;
    int64_t no;
    enum feed_state state;
    int64_t updated_us;
};

struct search {
    struct found_task tasks[FEED_KEEP_COUNT];
    size_t count;
};

#define TASKS "SELECT seller_id, feed_id, task_id, no, state, updated_us FROM feed_task WHERE "
/* As the index has it, so that it is found. */
#define BUSY TASKS "state IN (1, 2, 3, 6) AND updated_us <= $1 "
#define OLDEST "ORDER BY updated_us LIMIT $2"

/* sql: $1 the latest time, $2 how many. */
static int search_tasks(const struct offers *offers, const char *sql, int64_t until_us,
                        struct arena *arena, struct search *search, struct err *err)
{
    struct store_rows rows = store_read_rows(
        offers->store, sql, STORE_WITH(STORE_V_INT(until_us), STORE_V_INT(FEED_KEEP_COUNT)));

    for (search->count = 0; store_next(&rows); search->count++) {
        assert(search->count < FEED_KEEP_COUNT);
        search->tasks[search->count] =
            (struct found_task){.key = {.seller = arena_text(arena, rows.columns[0].bytes),
                                        .feed = arena_text(arena, rows.columns[1].bytes),
                                        .task_id = rows.columns[2].integer},
                                .no = rows.columns[3].integer,
                                .state = (enum feed_state)rows.columns[4].integer,
                                .updated_us = rows.columns[5].integer};
    }
    return store_rows_end(&rows, err);
}

/* Whether the store itself is the trouble, and not the task. */
static bool is_of_the_world(int rc)
{
    return rc == ERR_UNAVAILABLE || rc == ERR_TIMEOUT || rc == ERR_CANCELLED;
}

/* *claimed 0: another has been here since it was found. */
static int claim(const struct offers *offers, const struct found_task *found, int64_t *claimed,
                 struct err *err)
{
    return store_write_one(
        offers->store,
        "UPDATE feed_task SET updated_us = $1 WHERE seller_id = $2 AND feed_id = $3 AND "
        "task_id = $4 AND updated_us = $5",
        STORE_WITH(STORE_V_INT(clock_wall_us(offers->clock)), STORE_V_STRING(found->key.seller),
                   STORE_V_STRING(found->key.feed), STORE_V_INT(found->key.task_id),
                   STORE_V_INT(found->updated_us)),
        claimed, err);
}

/* What cannot be done with a task (its body is damaged, say) is told, and keeps nobody else
 * waiting: it comes again after all others. */
static int pass(const struct offers *offers, const struct found_task *found, int rc,
                struct feed_kept *kept, struct err *err)
{
    int64_t claimed;

    if (!rc || is_of_the_world(rc))
        return rc;
    kept->failed++;
    log_error("a feed's task cannot be kept, and is tried again later",
              LOG_TEXT("seller", found->key.seller), LOG_TEXT("feed", found->key.feed),
              LOG_INT("task", found->key.task_id), LOG_TEXT("reason", err->text));
    return claim(offers, found, &claimed, err);
}

/* --- going on --- */

static int resume(const struct offers *offers, const struct found_task *found,
                  const atomic_bool *stopping, struct arena *arena, struct feed_kept *kept,
                  struct err *err)
{
    const struct feed_patience patience = {.stopping = stopping};
    struct feed_task task;
    int64_t claimed;
    int rc = claim(offers, found, &claimed, err);

    if (rc || !claimed)
        return rc;
    kept->resumed++;
    if (found->state == FEED_ENDING)
        return feed_end_go_on(offers, &found->key, &patience, arena, &task, err);
    return feed_undo_go_on(offers, &found->key, &patience, arena, &task, err);
}

static int resume_tasks(const struct offers *offers, const atomic_bool *stopping,
                        struct arena *arena, struct feed_kept *kept, struct err *err)
{
    int64_t until_us = clock_wall_us(offers->clock) - (int64_t)FEED_RESUME_S * SECOND_US;
    struct search search;
    int rc =
        search_tasks(offers, BUSY "AND state IN (3, 6) " OLDEST, until_us, arena, &search, err);

    for (size_t i = 0; i < search.count && !rc && !atomic_load(stopping); i++)
        rc = pass(offers, &search.tasks[i],
                  resume(offers, &search.tasks[i], stopping, arena, kept, err), kept, err);
    return rc;
}

/* --- those that nobody goes on with --- */

static int move_silent(const struct offers *offers, const char *sql, int64_t age_us,
                       enum feed_state from, enum feed_state to, struct arena *arena,
                       uint64_t *moved, struct feed_kept *kept, struct err *err)
{
    struct search search;
    struct feed_task task;
    int rc = search_tasks(offers, sql, clock_wall_us(offers->clock) - age_us, arena, &search, err);

    for (size_t i = 0; i < search.count && !rc; i++) {
        const struct feed_key *key = &search.tasks[i].key;

        if (to == FEED_HELD)
            rc = feed_end_cut(offers, key, arena, &task, err);
        else
            rc = feed_task_move(offers, key, from, to, arena, &task, err);
        *moved += !rc;
        rc = pass(offers, &search.tasks[i], rc, kept, err);
    }
    return rc;
}

/* --- forgetting --- */

/* Of tasks whose reports are gone, all but the newest of their feed. */
static int drop_tasks(struct store_tx *tx, const struct feed_key *key, struct err *err)
{
    return store_exec(tx,
                      "DELETE FROM feed_task WHERE seller_id = $1 AND feed_id = $2 AND task_id IN "
                      "(SELECT task_id FROM feed_task WHERE seller_id = $1 AND feed_id = $2 AND "
                      "forget_us = 0 AND state NOT IN (1, 2, 3, 6) AND task_id <= (SELECT task_id "
                      "FROM feed_task WHERE seller_id = $1 AND feed_id = $2 ORDER BY task_id DESC "
                      "LIMIT 1 OFFSET $3) ORDER BY task_id LIMIT $4)",
                      STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                 STORE_V_INT(FEED_TASK_KEPT_COUNT), STORE_V_INT(FEED_FORGET_COUNT)),
                      NULL, err);
}

struct forgetting {
    int64_t task_no;
    const struct feed_key *key;
    int64_t until_us;
    struct arena *arena;
    int64_t forgotten;
    bool more;
};

static int forget_rows_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct forgetting *forgetting = arg;
    const struct store_value params[] = {
        STORE_V_STRING(forgetting->key->seller), STORE_V_STRING(forgetting->key->feed),
        STORE_V_INT(forgetting->key->task_id), STORE_V_INT(forgetting->until_us)};
    int64_t found = 0;
    /* It may be undone since it was found: its report is needed then. */
    int rc = store_find_integer(tx,
                                "SELECT 1 FROM feed_task WHERE seller_id = $1 AND feed_id = $2 AND "
                                "task_id = $3 AND forget_us <= $4 AND state NOT IN (1, 2, 3, 6)",
                                params, 4, &found, err);

    forgetting->forgotten = 0;
    forgetting->more = false;
    if (rc || !found)
        return rc;
    rc = feed_rows_forget(tx, forgetting->task_no, FEED_FORGET_COUNT, &forgetting->forgotten, err);
    forgetting->more = forgetting->forgotten == FEED_FORGET_COUNT;
    if (!rc && !forgetting->more)
        rc = store_exec(tx,
                        "UPDATE feed_task SET forget_us = 0 WHERE seller_id = $1 AND "
                        "feed_id = $2 AND task_id = $3",
                        params, 3, NULL, err);
    return rc || forgetting->more ? rc : drop_tasks(tx, forgetting->key, err);
}

static int forget_names_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct forgetting *forgetting = arg;

    return external_item_forget(tx, forgetting->until_us, FEED_FORGET_COUNT, forgetting->arena,
                                &forgetting->forgotten, &forgetting->more, err);
}

/* Chunk by chunk. */
static int forget(const struct offers *offers, store_fn fn, struct forgetting *forgetting,
                  const atomic_bool *stopping, struct feed_kept *kept, struct err *err)
{
    int rc;

    do {
        rc = store_write(offers->store, fn, forgetting, err);
        if (!rc)
            kept->forgotten += (uint64_t)forgetting->forgotten;
    } while (!rc && forgetting->more && !atomic_load(stopping));
    return rc;
}

static int forget_old(const struct offers *offers, const atomic_bool *stopping, struct arena *arena,
                      struct feed_kept *kept, struct err *err)
{
    const struct feed_rules *rules = feed_rules_of(offers);
    int64_t now_us = clock_wall_us(offers->clock);
    int64_t named_us = rules->revive_us > rules->undo_us ? rules->revive_us : rules->undo_us;
    struct forgetting names = {.until_us = now_us - named_us, .arena = arena};
    struct search search;
    int rc = search_tasks(offers,
                          TASKS "forget_us > 0 AND forget_us <= $1 AND state NOT IN (1, 2, 3, 6) "
                                "ORDER BY forget_us LIMIT $2",
                          now_us, arena, &search, err);

    for (size_t i = 0; i < search.count && !rc && !atomic_load(stopping); i++) {
        struct forgetting rows = {
            .task_no = search.tasks[i].no, .key = &search.tasks[i].key, .until_us = now_us};

        rc = forget(offers, forget_rows_in, &rows, stopping, kept, err);
    }
    return rc ? rc : forget(offers, forget_names_in, &names, stopping, kept, err);
}

int feed_keep(const struct offers *offers, const atomic_bool *stopping, struct feed_kept *kept,
              struct err *err)
{
    const struct feed_rules *rules = feed_rules_of(offers);
    struct arena *arena = arena_new();
    int rc = resume_tasks(offers, stopping, arena, kept, err);

    if (!rc)
        rc = move_silent(offers, BUSY "AND state = 1 " OLDEST, rules->idle_us, FEED_RUNNING,
                         FEED_HELD, arena, &kept->held, kept, err);
    if (!rc)
        rc = move_silent(offers, BUSY "AND state = 2 " OLDEST, rules->report_us, FEED_HELD,
                         FEED_CANCELLED, arena, &kept->dropped, kept, err);
    if (!rc)
        rc = forget_old(offers, stopping, arena, kept, err);
    arena_free(arena);
    return rc;
}
