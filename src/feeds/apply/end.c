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
#include "offers/record/offer_record.h"

enum { COUNTS_SIZE_MAX = 256 }; /* of a FeedCounts: twelve numbers */

#define HOLD(name) TORG__V1__FEED_TASK__HOLD__##name

bool feed_patience_ends(const struct feed_patience *patience)
{
    return (patience->clock && clock_mono_us(patience->clock) >= patience->until_us) ||
           (patience->stopping && atomic_load(patience->stopping));
}

/* --- what there is to delete and to withdraw --- */

#define LIVE " FROM feed f WHERE f.seller_id = $1 AND f.feed_id = $2 AND f.gone_us = 0"
/* A dry run has stamped nothing: what it had is in its report. */
#define OLDER                                                                                      \
    " FROM feed f WHERE f.seller_id = $1 AND f.feed_id = $2 AND f.gone_us = 0 AND f.task_id < $3"
#define UNTOLD                                                                                     \
    " AND NOT EXISTS (SELECT 1 FROM feed_report r WHERE r.task_no = $4 AND "                       \
    "r.external_id = f.external_id)"

/* What its rows have called not available, and is still to be seen. */
#define AWAY                                                                                       \
    " FROM feed f WHERE f.seller_id = $1 AND f.feed_id = $2 AND f.gone_us = 0 AND f.away > 0 AND " \
    "f.away = $3 AND f.task_id = $3"
/* What the feed offers, as far as it is told: not what it called not available before. */
#define OFFERED " AND f.away >= 0"

/* Counts of offers: all that can be asked of the store before the guard decides. */
struct loss {
    int64_t older;         /* to be deleted */
    int64_t older_offered; /* of these: what the feed has offered */
    int64_t away;          /* to be withdrawn */
    int64_t live;          /* all that the feed has, with what the task has made */
    int64_t offered;       /* of these */
    struct bytes counts;   /* of the task as it was then, packed */
};

struct measuring {
    const struct feed_key *key;
    struct arena *arena;
    struct feed_task *task;
    struct loss loss;
};

static struct bytes pack_counts(const Torg__V1__FeedCounts *counts, struct arena *arena)
{
    struct buf wire = BUF_INIT(COUNTS_SIZE_MAX);
    struct bytes packed;

    message_encode(&counts->base, &wire);
    assert(!buf_failed(&wire)); /* some numbers */
    packed = arena_copy(arena, buf_bytes(&wire));
    buf_release(&wire);
    return packed;
}

static int measure(struct store_tx *tx, void *arg, struct err *err)
{
    struct measuring *measuring = arg;
    const struct feed_key *key = measuring->key;
    struct loss *loss = &measuring->loss;
    const Torg__V1__FeedCounts *counts;
    bool dry_run;
    int rc = feed_task_find(tx, key, measuring->arena, measuring->task, err);
    const struct store_value params[] = {STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                         STORE_V_INT(key->task_id),
                                         STORE_V_INT(measuring->task->no)};

    if (rc || !measuring->task->message)
        return rc;
    counts = measuring->task->message->counts;
    loss->counts = pack_counts(counts, measuring->arena);
    dry_run = measuring->task->message->dry_run;
    rc = store_find_integer(tx, dry_run ? "SELECT COUNT(*)" OLDER UNTOLD : "SELECT COUNT(*)" OLDER,
                            params, dry_run ? 4 : 3, &loss->older, err);
    if (!rc)
        rc = store_find_integer(
            tx, dry_run ? "SELECT COUNT(*)" OLDER UNTOLD OFFERED : "SELECT COUNT(*)" OLDER OFFERED,
            params, dry_run ? 4 : 3, &loss->older_offered, err);
    if (!rc)
        rc = store_find_integer(tx, "SELECT COUNT(*)" AWAY, params, 3, &loss->away, err);
    if (!rc)
        rc = store_find_integer(tx, "SELECT COUNT(*)" LIVE, params, 2, &loss->live, err);
    if (!rc)
        rc = store_find_integer(tx, "SELECT COUNT(*)" LIVE OFFERED, params, 2, &loss->offered, err);
    if (dry_run) { /* by rows that ask for it: told already */
        loss->older += counts->deleted;
        loss->older_offered += counts->deleted;
        loss->away = counts->withdrawn;
    }
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

#define ITEM                                                                                       \
    "SELECT f.external_id, f.offer_id, (SELECT o.body FROM offer o WHERE o.id = f.offer_id "       \
    "AND o.kind = 'offer')"

static int read_items(const struct offers *offers, const struct feed_key *key, const char *query,
                      struct arena *arena, Torg__V1__FeedItem ***list, size_t *count,
                      struct err *err)
{
    struct store_rows rows =
        store_read_rows(offers->store, query,
                        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                   STORE_V_INT(key->task_id), STORE_V_INT(FEED_HELD_ITEM_COUNT)));

    *list = arena_array(arena, FEED_HELD_ITEM_COUNT, sizeof(**list));
    for (*count = 0; store_next(&rows); ++*count)
        (*list)[*count] = take_item(rows.columns, arena);
    return store_rows_end(&rows, err);
}

int feed_end_tell_items(const struct offers *offers, const struct feed_key *key,
                        struct arena *arena, struct feed_task *task, struct err *err)
{
    Torg__V1__FeedTask *message = task->message;
    int rc;

    if (message->state != TORG__V1__FEED_TASK__STATE__HELD)
        return 0;
    rc = read_items(offers, key, ITEM OLDER " ORDER BY f.task_id, f.external_id LIMIT $4", arena,
                    &message->first_to_delete, &message->n_first_to_delete, err);
    if (!rc)
        rc = read_items(offers, key, ITEM AWAY " ORDER BY f.external_id LIMIT $4", arena,
                        &message->first_to_withdraw, &message->n_first_to_withdraw, err);
    return rc;
}

/* --- the guard --- */

/* How many rows said something of an offer. */
static int64_t good_rows(const Torg__V1__FeedCounts *counts)
{
    return counts->rows - counts->refused;
}

/* What the task has made, which the counts of the feed have too. */
static int64_t made_by(const Torg__V1__FeedTask *task)
{
    return task->dry_run ? 0 : task->counts->created + task->counts->revived;
}

/* What the feed had before the task. */
static int64_t had_before(const Torg__V1__FeedTask *task, const struct loss *loss)
{
    int64_t had = loss->live - made_by(task);

    return had > loss->older ? had : loss->older;
}

static bool is_too_much(const struct feed_rules *rules, int64_t gone, int64_t had)
{
    return gone > rules->guard_min && gone * 100 > had * rules->guard_percent;
}

static Torg__V1__FeedTask__Hold guard(const struct feed_rules *rules,
                                      const Torg__V1__FeedTask *task, const Torg__V1__FeedEnd *end,
                                      const struct loss *loss)
{
    int64_t gone = loss->older_offered + loss->away;
    int64_t offered = loss->offered - made_by(task);

    if (end->cut_short)
        return HOLD(CUT_SHORT);
    if (end->row_count != task->counts->rows)
        return HOLD(COUNT_DIFFERS);
    if (!good_rows(task->counts) && loss->older)
        return HOLD(EMPTY);
    if (is_too_much(rules, loss->older, had_before(task, loss)))
        return HOLD(MASS_DELETION);
    if (loss->away && is_too_much(rules, gone, offered > gone ? offered : gone))
        return HOLD(MASS_WITHDRAWAL);
    return HOLD(HOLD_UNSPECIFIED);
}

struct ending {
    const struct offers *offers;
    const struct feed_key *key;
    const Torg__V1__FeedEnd *end;
    struct arena *arena;
    struct feed_task *task;
    struct loss loss;
};

/* All is counted before the transaction that decides, which would keep other writers waiting. Rows
 * that were committed in between are in the task's counts: then it is counted again, within. */
static int confirm_loss(struct store_tx *tx, struct ending *ending, struct err *err)
{
    struct measuring again = {.key = ending->key, .arena = ending->arena, .task = ending->task};
    int rc;

    if (bytes_equal(ending->loss.counts, pack_counts(ending->task->message->counts, ending->arena)))
        return 0;
    rc = measure(tx, &again, err);
    ending->loss = again.loss;
    return rc;
}

static void tell_loss(Torg__V1__FeedTask *task, const struct loss *loss)
{
    task->to_delete = loss->older;
    task->to_withdraw = loss->away;
    task->had = had_before(task, loss);
}

static int cut_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct ending *ending = arg;
    Torg__V1__FeedTask *task;
    int rc = feed_task_find(tx, ending->key, ending->arena, ending->task, err);

    task = ending->task->message;
    if (rc || !task || task->state != TORG__V1__FEED_TASK__STATE__RUNNING)
        return rc;
    rc = confirm_loss(tx, ending, err);
    if (rc)
        return rc;
    task = ending->task->message; /* it may have been read again */
    task->state = TORG__V1__FEED_TASK__STATE__HELD;
    task->hold = HOLD(CUT_SHORT);
    tell_loss(task, &ending->loss);
    return feed_task_put(tx, ending->offers, ending->task, ending->arena, err);
}

int feed_end_cut(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                 struct feed_task *task, struct err *err)
{
    struct measuring measuring = {.key = key, .arena = arena, .task = task};
    struct ending ending = {.offers = offers, .key = key, .arena = arena, .task = task};
    int rc = store_read(offers->store, measure, &measuring, err);

    ending.loss = measuring.loss;
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
    int rc = feed_task_find(tx, ending->key, ending->arena, ending->task, err);

    task = ending->task->message;
    if (rc || !task ||
        (task->state != TORG__V1__FEED_TASK__STATE__RUNNING &&
         task->state != TORG__V1__FEED_TASK__STATE__HELD))
        return rc;
    rc = feed_task_check_newest(tx, ending->key, err);
    if (!rc)
        rc = confirm_loss(tx, ending, err);
    if (rc)
        return rc;
    task = ending->task->message; /* it may have been read again */
    task->hold = guard(feed_rules_of(ending->offers), task, ending->end, &ending->loss);
    tell_loss(task, &ending->loss);
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

    ending.loss = measuring.loss;
    if (!rc)
        rc = store_write(offers->store, end_in, &ending, err);
    if (!rc && !task->message)
        rc = err_set(err, ERR_NOT_FOUND, "there is no such task: open it first");
    return rc ? rc : feed_end_go_on(offers, key, patience, arena, task, err);
}

/* --- withdrawing and deleting --- */

/* A dry run has told of its withdrawals row by row. */
static const char *chunk_query(enum feed_row_kind kind, bool dry_run)
{
    if (kind == FEED_ROW_AWAY)
        return "SELECT f.external_id" AWAY " AND CAST($4 AS BIGINT) > 0 "
               "ORDER BY f.external_id LIMIT $5";
    return dry_run ? "SELECT f.external_id" OLDER UNTOLD " LIMIT $5"
                   : "SELECT f.external_id" OLDER " AND CAST($4 AS BIGINT) > 0 "
                     "ORDER BY f.task_id, f.external_id LIMIT $5";
}

/* External ids of FEED_DELETE_COUNT offers at the most. */
static int find_chunk(struct store *store, const struct feed_key *key, const struct feed_task *task,
                      enum feed_row_kind kind, struct arena *arena, char **names, size_t *count,
                      struct err *err)
{
    struct store_rows rows =
        store_read_rows(store, chunk_query(kind, task->message->dry_run),
                        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                   STORE_V_INT(key->task_id), STORE_V_INT(task->no),
                                   STORE_V_INT(FEED_DELETE_COUNT)));

    for (*count = 0; store_next(&rows); ++*count)
        names[*count] = arena_text(arena, rows.columns[0].bytes);
    return store_rows_end(&rows, err);
}

static int end_names(const struct offers *offers, const struct feed_key *key,
                     enum feed_row_kind kind, char **names, size_t count, struct arena *arena,
                     struct err *err)
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
        batch->rows[i] = (struct feed_batch_row){.kind = kind,
                                                 .external_id = names[i],
                                                 .problems = violations_in(arena),
                                                 .notes = violations_in(arena)};
    rc = feed_batch_run(batch, err);
    object_end(batch, FEED_BATCH_MAGIC);
    free(batch);
    return rc;
}

/* Finds a chunk, and withdraws or deletes it; *more: there was one. */
static int end_chunk(const struct offers *offers, const struct feed_key *key,
                     const struct feed_task *task, enum feed_row_kind kind,
                     const struct feed_patience *patience, bool *more, struct err *err)
{
    struct arena *names = arena_new();
    struct arena *arena = arena_new();
    char **list = arena_array(names, FEED_DELETE_COUNT, sizeof(char *));
    size_t all;
    int rc = find_chunk(offers->store, key, task, kind, names, list, &all, err);

    *more = all;
    for (size_t done = 0; done < all && !rc;) {
        size_t left = all - done;
        size_t count = left < FEED_BATCH_COUNT ? left : FEED_BATCH_COUNT;

        rc = end_names(offers, key, kind, list + done, count, arena, err);
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
    static const enum feed_row_kind kinds[] = {FEED_ROW_AWAY, FEED_ROW_ABSENT};
    bool more = false;
    int rc = feed_task_get(offers, key, arena, task, err);

    if (rc || task->message->state != TORG__V1__FEED_TASK__STATE__ENDING)
        return rc;
    for (size_t i = 0; i < ARRAY_COUNT(kinds) && !rc && !more; i++) {
        do {
            rc = end_chunk(offers, key, task, kinds[i], patience, &more, err);
        } while (!rc && more && !feed_patience_ends(patience));
    }
    if (rc == ERR_PRECONDITION) /* another has gone on with it to its end */
        rc = 0;
    if (!rc && !more)
        return feed_task_move(offers, key, FEED_ENDING, FEED_DONE, arena, task, err);
    return rc ? rc : feed_task_get(offers, key, arena, task, err);
}
