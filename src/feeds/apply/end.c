/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - see end.h. */
#include "feeds/apply/end.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/object.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/apply/batch.h"
#include "feeds/tasks/rules.h"
#include "offers/offer_record.h"

#define HOLD(name) TORG__V1__FEED_TASK__HOLD__##name

bool feed_patience_ends(const struct feed_patience *patience)
{
    return (patience->clock && clock_mono_us(patience->clock) >= patience->until_us) ||
           (patience->stopping && atomic_load(patience->stopping));
}

/* --- what there is to delete --- */

/* A dry run has stamped nothing: what it had is in its report. */
#define OLDER                                                                                      \
    " FROM feed f WHERE f.seller_id = $1 AND f.feed_id = $2 AND f.gone_us = 0 AND f.task_id < $3"
#define UNTOLD                                                                                     \
    " AND NOT EXISTS (SELECT 1 FROM feed_report r WHERE r.task_no = $4 AND "                       \
    "r.external_id = f.external_id)"

struct measuring {
    const struct feed_key *key;
    struct arena *arena;
    struct feed_task *task;
    int64_t older;
    int64_t live;
};

static int measure(struct store_tx *tx, void *arg, struct err *err)
{
    struct measuring *measuring = arg;
    const struct feed_key *key = measuring->key;
    int rc = feed_task_find(tx, key, measuring->arena, measuring->task, err);
    const struct store_value params[] = {STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                         STORE_V_INT(key->task_id),
                                         STORE_V_INT(measuring->task->no)};

    if (rc || !measuring->task->message)
        return rc;
    if (measuring->task->message->dry_run)
        rc = store_find_integer(tx, "SELECT COUNT(*)" OLDER UNTOLD, params, 4, &measuring->older,
                                err);
    else
        rc = store_find_integer(tx, "SELECT COUNT(*)" OLDER, params, 3, &measuring->older, err);
    if (!rc)
        rc = store_find_integer(
            tx,
            "SELECT COUNT(*) FROM feed WHERE seller_id = $1 AND feed_id = $2 AND "
            "gone_us = 0",
            params, 2, &measuring->live, err);
    if (measuring->task->message->dry_run) /* by rows that ask for it: told already */
        measuring->older += measuring->task->message->counts->deleted;
    return rc;
}

/* One whose body is damaged is told without its title. */
static Torg__V1__FeedItem *take_item(const struct store_value *columns, struct arena *arena)
{
    Torg__V1__FeedItem *item = MESSAGE_NEW(feed_item, arena);
    Torg__V1__Offer *offer;
    struct err err;

    item->external_id = arena_text(arena, columns[0].bytes);
    item->offer_id = offer_id_text(arena, columns[1].integer);
    if (columns[2].type == STORE_BLOB &&
        !record_open_offer(columns[1].integer, columns[2].bytes, arena, &offer, &err))
        item->title = offer->content->title;
    return item;
}

int feed_end_tell_items(const struct offers *offers, const struct feed_key *key,
                        struct arena *arena, struct feed_task *task, struct err *err)
{
    Torg__V1__FeedTask *message = task->message;
    struct store_rows rows;

    if (message->state != TORG__V1__FEED_TASK__STATE__HELD)
        return 0;
    message->first_to_delete =
        arena_array(arena, FEED_HELD_ITEM_COUNT, sizeof(message->first_to_delete[0]));
    rows = store_read_rows(
        offers->store,
        "SELECT f.external_id, f.offer_id, (SELECT o.body FROM offer o WHERE o.id = f.offer_id "
        "AND o.kind = 'offer')" OLDER " ORDER BY f.task_id, f.external_id LIMIT $4",
        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                   STORE_V_INT(key->task_id), STORE_V_INT(FEED_HELD_ITEM_COUNT)));
    while (store_next(&rows))
        message->first_to_delete[message->n_first_to_delete++] = take_item(rows.columns, arena);
    return store_rows_end(&rows, err);
}

/* --- the guard --- */

/* How many rows said something of an offer. */
static int64_t good_rows(const Torg__V1__FeedCounts *counts)
{
    return counts->rows - counts->refused;
}

static Torg__V1__FeedTask__Hold guard(const struct feed_rules *rules,
                                      const Torg__V1__FeedTask *task, const Torg__V1__FeedEnd *end,
                                      int64_t older, int64_t had)
{
    if (end->cut_short)
        return HOLD(CUT_SHORT);
    if (end->row_count != task->counts->rows)
        return HOLD(COUNT_DIFFERS);
    if (!good_rows(task->counts) && older)
        return HOLD(EMPTY);
    if (older > rules->guard_min && older * 100 > had * rules->guard_percent)
        return HOLD(MASS_DELETION);
    return HOLD(HOLD_UNSPECIFIED);
}

struct ending {
    const struct offers *offers;
    const struct feed_key *key;
    const Torg__V1__FeedEnd *end;
    struct arena *arena;
    struct feed_task *task;
    int64_t older;
    int64_t live;
};

/* What the feed had before the task. */
static int64_t had_before(const struct ending *ending)
{
    const Torg__V1__FeedTask *task = ending->task->message;
    int64_t had =
        ending->live - (task->dry_run ? 0 : task->counts->created + task->counts->revived);

    return had > ending->older ? had : ending->older;
}

static int cut_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct ending *ending = arg;
    Torg__V1__FeedTask *task;
    int rc = feed_task_find(tx, ending->key, ending->arena, ending->task, err);

    task = ending->task->message;
    if (rc || !task || task->state != TORG__V1__FEED_TASK__STATE__RUNNING)
        return rc;
    task->state = TORG__V1__FEED_TASK__STATE__HELD;
    task->hold = HOLD(CUT_SHORT);
    task->to_delete = ending->older;
    task->had = had_before(ending);
    return feed_task_put(tx, ending->offers, ending->task, ending->arena, err);
}

int feed_end_cut(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                 struct feed_task *task, struct err *err)
{
    struct measuring measuring = {.key = key, .arena = arena, .task = task};
    struct ending ending = {.offers = offers, .key = key, .arena = arena, .task = task};
    int rc = store_read(offers->store, measure, &measuring, err);

    ending.older = measuring.older;
    ending.live = measuring.live;
    if (!rc)
        rc = store_write(offers->store, cut_in, &ending, err);
    if (!rc && !task->message)
        rc = err_set(err, ERR_NOT_FOUND, "there is no such task: open it first");
    return rc;
}

static int end_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct ending *ending = arg;
    Torg__V1__FeedTask *task;
    int64_t had;
    int rc = feed_task_find(tx, ending->key, ending->arena, ending->task, err);

    task = ending->task->message;
    if (rc || !task ||
        (task->state != TORG__V1__FEED_TASK__STATE__RUNNING &&
         task->state != TORG__V1__FEED_TASK__STATE__HELD))
        return rc;
    rc = feed_task_check_newest(tx, ending->key, err);
    if (rc)
        return rc;
    had = had_before(ending);
    task->hold = guard(feed_rules_of(ending->offers), task, ending->end, ending->older, had);
    task->to_delete = ending->older;
    task->had = had;
    task->end_time = moment_or_none(clock_wall_us(ending->offers->clock), ending->arena);
    /* A dry run goes on and tells why it would be held. */
    task->state = task->hold && !task->dry_run ? TORG__V1__FEED_TASK__STATE__HELD
                                               : TORG__V1__FEED_TASK__STATE__ENDING;
    if (task->state == TORG__V1__FEED_TASK__STATE__ENDING && !task->dry_run)
        rc = feed_task_mark_ended(tx, ending->key, err);
    return rc ? rc : feed_task_put(tx, ending->offers, ending->task, ending->arena, err);
}

int feed_end(const struct offers *offers, const struct feed_key *key, const Torg__V1__FeedEnd *end,
             const struct feed_patience *patience, struct arena *arena, struct feed_task *task,
             struct err *err)
{
    struct measuring measuring = {.key = key, .arena = arena, .task = task};
    struct ending ending = {.offers = offers, .key = key, .end = end, .arena = arena, .task = task};
    int rc = store_read(offers->store, measure, &measuring, err);

    ending.older = measuring.older;
    ending.live = measuring.live;
    if (!rc)
        rc = store_write(offers->store, end_in, &ending, err);
    if (!rc && !task->message)
        rc = err_set(err, ERR_NOT_FOUND, "there is no such task: open it first");
    return rc ? rc : feed_end_go_on(offers, key, patience, arena, task, err);
}

/* --- deleting --- */

/* External ids of FEED_DELETE_COUNT offers at the most. */
static int find_chunk(struct store *store, const struct feed_key *key, const struct feed_task *task,
                      struct arena *arena, char **names, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        task->message->dry_run ? "SELECT f.external_id" OLDER UNTOLD " LIMIT $5"
                               : "SELECT f.external_id" OLDER " AND CAST($4 AS BIGINT) > 0 "
                                 "ORDER BY f.task_id, f.external_id LIMIT $5",
        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                   STORE_V_INT(key->task_id), STORE_V_INT(task->no),
                   STORE_V_INT(FEED_DELETE_COUNT)));

    for (*count = 0; store_next(&rows); ++*count)
        names[*count] = arena_text(arena, rows.columns[0].bytes);
    return store_rows_end(&rows, err);
}

static int delete_names(const struct offers *offers, const struct feed_key *key, char **names,
                        size_t count, struct arena *arena, struct err *err)
{
    struct feed_batch *batch = mem_alloc(sizeof(*batch));
    int rc;

    *batch = (struct feed_batch){.magic = FEED_BATCH_MAGIC,
                                 .offers = offers,
                                 .key = key,
                                 .state = FEED_ENDING,
                                 .arena = arena,
                                 .count = count};
    for (size_t i = 0; i < count; i++)
        batch->rows[i] = (struct feed_batch_row){.kind = FEED_ROW_ABSENT,
                                                 .external_id = names[i],
                                                 .problems = violations_in(arena),
                                                 .notes = violations_in(arena)};
    rc = feed_batch_run(batch, err);
    object_end(batch, FEED_BATCH_MAGIC);
    free(batch);
    return rc;
}

/* Finds a chunk and deletes it; *more: there was one. */
static int delete_chunk(const struct offers *offers, const struct feed_key *key,
                        const struct feed_task *task, const struct feed_patience *patience,
                        bool *more, struct err *err)
{
    struct arena *names = arena_new();
    struct arena *arena = arena_new();
    char **list = arena_array(names, FEED_DELETE_COUNT, sizeof(char *));
    size_t all;
    int rc = find_chunk(offers->store, key, task, names, list, &all, err);

    *more = all;
    for (size_t done = 0; done < all && !rc;) {
        size_t left = all - done;
        size_t count = left < FEED_BATCH_COUNT ? left : FEED_BATCH_COUNT;

        rc = delete_names(offers, key, list + done, count, arena, err);
        arena_reset(arena);
        done += count;
        if (feed_patience_ends(patience))
            break;
    }
    arena_free(arena);
    arena_free(names);
    return rc;
}

int feed_end_go_on(const struct offers *offers, const struct feed_key *key,
                   const struct feed_patience *patience, struct arena *arena,
                   struct feed_task *task, struct err *err)
{
    bool more = true;
    int rc = feed_task_get(offers, key, arena, task, err);

    if (rc || task->message->state != TORG__V1__FEED_TASK__STATE__ENDING)
        return rc;
    do {
        rc = delete_chunk(offers, key, task, patience, &more, err);
    } while (!rc && more && !feed_patience_ends(patience));
    if (rc == ERR_PRECONDITION) /* another has gone on with it to its end */
        rc = 0;
    if (!rc && !more)
        return feed_task_move(offers, key, FEED_ENDING, FEED_DONE, arena, task, err);
    return rc ? rc : feed_task_get(offers, key, arena, task, err);
}
