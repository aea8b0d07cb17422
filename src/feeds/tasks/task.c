/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - see task.h. */
#include "feeds/tasks/task.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "access/audit.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/bounds.h"
#include "feeds/tasks/rules.h"
#include "model/identity.h"
#include "offers/bounds.h"
#include "offers/record/offer_record.h"
#include "store/sequence.h"

enum { BODY_SIZE_MAX = 2 * OFFER_SIZE_MAX };

#define FEED_DEFAULT_NAME "main"

const struct feed_rules *feed_rules_of(const struct offers *offers)
{
    return offers->feed_rules ? offers->feed_rules : &feed_rules_default;
}

const char *feed_state_name(enum feed_state state)
{
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&torg__v1__feed_task__state__descriptor, (int)state);

    return value ? value->name : "?";
}

/* As those that keys are bound to. */
static bool is_seller(const char *name)
{
    size_t size = strlen(name);

    return size > 0 && size < IDENTITY_NAME_SIZE &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@") ==
               size;
}

int feed_key_check(struct feed_key *key, struct violations *violations, struct err *err)
{
    size_t size = strlen(key->feed);

    if (!is_seller(key->seller)) {
        violations_add(violations, "seller", "expected 1 to %d letters, digits, and . _ - @",
                       IDENTITY_NAME_SIZE - 1);
        return err_set(err, ERR_INVALID,
                       "seller: \"%.64s\" is not a seller: expected 1 to %d letters, digits, and "
                       ". _ - @",
                       key->seller, IDENTITY_NAME_SIZE - 1);
    }
    if (!size)
        key->feed = FEED_DEFAULT_NAME;
    if (size > FEED_KEY_SIZE_MAX ||
        strspn(key->feed, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != strlen(key->feed)) {
        violations_add(violations, "feed", "expected 1 to %d of a-z 0-9 - _ .", FEED_KEY_SIZE_MAX);
        return err_set(err, ERR_INVALID, "feed: expected 1 to %d of a-z 0-9 - _ .",
                       FEED_KEY_SIZE_MAX);
    }
    if (key->task_id < 1) {
        violations_add(violations, "task_id", "expected 1 or more");
        return err_set(err, ERR_INVALID, "task_id: expected 1 or more");
    }
    return 0;
}

/* --- rows --- */

/* columns: no, body */
static int take_task(const struct store_value *columns, struct arena *arena, struct feed_task *task,
                     struct err *err)
{
    ProtobufCMessage *message = NULL;
    int rc = record_open(columns[1].bytes, &torg__v1__feed_task__descriptor, arena, &message, err);

    task->no = columns[0].integer;
    task->message = (Torg__V1__FeedTask *)message;
    return rc;
}

int feed_task_find(struct store_tx *tx, const struct feed_key *key, struct arena *arena,
                   struct feed_task *task, struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT no, body FROM feed_task "
                     "WHERE seller_id = $1 AND feed_id = $2 AND task_id = $3",
                     STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                STORE_V_INT(key->task_id)));

    *task = (struct feed_task){0};
    if (store_next(&rows))
        rows.rc = take_task(rows.columns, arena, task, err);
    return store_rows_end(&rows, err);
}

int feed_task_check_newest(struct store_tx *tx, const struct feed_key *key, struct err *err)
{
    int64_t ended = 0;
    int rc = store_find_integer(
        tx, "SELECT ended_task_id FROM feed_head WHERE seller_id = $1 AND feed_id = $2",
        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed)), &ended, err);

    if (!rc && ended > key->task_id)
        rc = err_set(err, ERR_PRECONDITION,
                     "task %" PRId64 " of the feed \"%s\" comes too late: task %" PRId64
                     " has ended; take a larger task_id",
                     key->task_id, key->feed, ended);
    return rc;
}

int feed_task_mark_ended(struct store_tx *tx, const struct feed_key *key, struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO feed_head (seller_id, feed_id, ended_task_id) "
                      "VALUES ($1, $2, $3) ON CONFLICT (seller_id, feed_id) DO UPDATE "
                      "SET ended_task_id = excluded.ended_task_id "
                      "WHERE feed_head.ended_task_id < excluded.ended_task_id",
                      STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                 STORE_V_INT(key->task_id)),
                      NULL, err);
}

/* Reports take room: those of all but the newest tasks go before their time. */
static int crowd_out(struct store_tx *tx, const struct feed_key *key, int64_t now_us,
                     struct err *err)
{
    return store_exec(tx,
                      "UPDATE feed_task SET forget_us = $3 WHERE seller_id = $1 AND feed_id = $2 "
                      "AND forget_us > $3 AND state NOT IN (1, 2, 3, 6) AND task_id <= (SELECT "
                      "task_id FROM feed_task WHERE seller_id = $1 AND feed_id = $2 "
                      "ORDER BY task_id DESC LIMIT 1 OFFSET $4)",
                      STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                 STORE_V_INT(now_us), STORE_V_INT(FEED_REPORT_COUNT_MAX)),
                      NULL, err);
}

/* Ids only grow: the largest would be a feed's last. The time in nanoseconds is the largest that
 * anybody counts by, and it moves on, so that whatever was taken is followed by others. */
static int check_id(const struct feed_key *key, int64_t now_us, struct err *err)
{
    int64_t max = (now_us + (int64_t)FEED_TASK_AHEAD_S * SECOND_US) * 1000;

    if (key->task_id <= max)
        return 0;
    return err_set(err, ERR_INVALID,
                   "task_id: %" PRId64 " is too large: the limit is %" PRId64
                   ", the time in nanoseconds and a day; count from 1, or take the time",
                   key->task_id, max);
}

int feed_task_add(struct store_tx *tx, const struct offers *offers, const struct feed_key *key,
                  bool dry_run, struct arena *arena, struct feed_task *task, struct err *err)
{
    int64_t now_us = clock_wall_us(offers->clock);
    Torg__V1__FeedTask *message = MESSAGE_NEW(feed_task, arena);
    int rc = check_id(key, now_us, err);

    if (!rc)
        rc = feed_task_check_newest(tx, key, err);
    *task = (struct feed_task){.message = message};
    message->seller = arena_strdup(arena, key->seller);
    message->feed = arena_strdup(arena, key->feed);
    message->task_id = key->task_id;
    message->state = TORG__V1__FEED_TASK__STATE__RUNNING;
    message->dry_run = dry_run;
    message->counts = MESSAGE_NEW(feed_counts, arena);
    message->create_time = moment_or_none(now_us, arena);
    if (!rc)
        rc = store_next_seq(tx, "feed-task", 1, &task->no, err);
    if (!rc)
        rc = feed_task_put(tx, offers, task, arena, err);
    return rc ? rc : crowd_out(tx, key, now_us, err);
}

static void note_time(const struct offers *offers, Torg__V1__FeedTask *message, struct arena *arena)
{
    int64_t now_us = clock_wall_us(offers->clock);
    int64_t last_us = moment_own_us(message->update_time);

    message->update_time = moment_or_none(now_us > last_us ? now_us : last_us, arena);
}

/* Undoing goes by the report. */
static int64_t kept_us(const struct offers *offers)
{
    const struct feed_rules *rules = feed_rules_of(offers);

    return rules->report_us > rules->undo_us ? rules->report_us : rules->undo_us;
}

int feed_task_put(struct store_tx *tx, const struct offers *offers, struct feed_task *task,
                  struct arena *arena, struct err *err)
{
    Torg__V1__FeedTask *message = task->message;
    struct buf body = BUF_INIT(BODY_SIZE_MAX);
    int rc;

    note_time(offers, message, arena);
    rc = record_pack(&message->base, "the task", &body, err);
    if (!rc) {
        int64_t updated_us = moment_own_us(message->update_time);

        rc = store_exec(tx,
                        "INSERT INTO feed_task (seller_id, feed_id, task_id, no, state, "
                        "updated_us, forget_us, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) "
                        "ON CONFLICT (seller_id, feed_id, task_id) DO UPDATE SET "
                        "state = excluded.state, updated_us = excluded.updated_us, "
                        "forget_us = excluded.forget_us, body = excluded.body",
                        STORE_WITH(STORE_V_STRING(message->seller), STORE_V_STRING(message->feed),
                                   STORE_V_INT(message->task_id), STORE_V_INT(task->no),
                                   STORE_V_INT(message->state), STORE_V_INT(updated_us),
                                   STORE_V_INT(updated_us + kept_us(offers)),
                                   STORE_V_BLOB(buf_bytes(&body))),
                        NULL, err);
    }
    buf_release(&body);
    return rc;
}

/* --- opening --- */

struct opening {
    const struct offers *offers;
    const struct feed_key *key;
    enum feed_wish wish;
    struct arena *arena;
    struct feed_task *task;
};

static int refuse_over(const struct feed_task *task, struct err *err)
{
    const Torg__V1__FeedTask *message = task->message;

    return err_set(
        err, ERR_PRECONDITION, "task %" PRId64 " of the feed \"%s\" is %s: take a larger task_id",
        message->task_id, message->feed, feed_state_name((enum feed_state)message->state));
}

static int check_open(const struct opening *opening, struct err *err)
{
    const struct feed_task *task = opening->task;

    if (opening->wish && task->message->dry_run != (opening->wish == FEED_DRY_RUN))
        return err_set(err, ERR_PRECONDITION,
                       "task %" PRId64 " of the feed \"%s\" %s a dry run: take a larger task_id",
                       task->message->task_id, task->message->feed,
                       task->message->dry_run ? "was" : "was not");
    if (task->message->state == TORG__V1__FEED_TASK__STATE__CANCELLED ||
        task->message->state == TORG__V1__FEED_TASK__STATE__UNDOING ||
        task->message->state == TORG__V1__FEED_TASK__STATE__UNDONE)
        return refuse_over(task, err);
    return 0;
}

static int open_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct opening *opening = arg;
    Torg__V1__FeedTask *message;
    int rc = feed_task_find(tx, opening->key, opening->arena, opening->task, err);

    message = opening->task->message;
    if (rc)
        return rc;
    if (!message)
        return feed_task_add(tx, opening->offers, opening->key, opening->wish == FEED_DRY_RUN,
                             opening->arena, opening->task, err);
    rc = check_open(opening, err);
    if (rc || message->state != TORG__V1__FEED_TASK__STATE__HELD)
        return rc;
    rc = feed_task_check_newest(tx, opening->key, err);
    if (rc)
        return rc;
    message->state = TORG__V1__FEED_TASK__STATE__RUNNING;
    message->hold = TORG__V1__FEED_TASK__HOLD__HOLD_UNSPECIFIED;
    message->to_delete = 0;
    message->to_withdraw = 0;
    message->had = 0;
    message->end_time = NULL;
    return feed_task_put(tx, opening->offers, opening->task, opening->arena, err);
}

int feed_task_open(const struct offers *offers, const struct feed_key *key, enum feed_wish wish,
                   struct arena *arena, struct feed_task *task, struct err *err)
{
    struct opening opening = {
        .offers = offers, .key = key, .wish = wish, .arena = arena, .task = task};

    return store_write(offers->store, open_in, &opening, err);
}

/* --- reading --- */

static int get_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct opening *opening = arg;

    return feed_task_find(tx, opening->key, opening->arena, opening->task, err);
}

static int refuse_missing(const struct feed_key *key, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "there is no task %" PRId64 " of a feed \"%s\"",
                   key->task_id, key->feed);
}

int feed_task_get(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                  struct feed_task *task, struct err *err)
{
    struct opening opening = {.offers = offers, .key = key, .arena = arena, .task = task};
    int rc = store_read(offers->store, get_in, &opening, err);

    return !rc && !task->message ? refuse_missing(key, err) : rc;
}

static int take_listed(struct store_rows *rows, struct arena *arena, Torg__V1__FeedTask **tasks,
                       size_t *count, struct err *err)
{
    for (*count = 0; store_next(rows); ++*count) {
        struct feed_task task;

        rows->rc = take_task(rows->columns, arena, &task, err);
        tasks[*count] = task.message;
    }
    return store_rows_end(rows, err);
}

int feed_task_list(const struct offers *offers, const struct feed_key *key, int64_t before,
                   size_t max, struct arena *arena, Torg__V1__FeedTask **tasks, size_t *count,
                   struct err *err)
{
    struct store_rows rows = store_read_rows(
        offers->store,
        "SELECT no, body FROM feed_task WHERE seller_id = $1 AND feed_id = $2 AND task_id < $3 "
        "ORDER BY task_id DESC LIMIT $4",
        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed), STORE_V_INT(before),
                   STORE_V_INT((int64_t)max)));

    return take_listed(&rows, arena, tasks, count, err);
}

int feed_task_list_busy(struct store *store, size_t max, struct arena *arena,
                        Torg__V1__FeedTask **tasks, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store,
        "SELECT no, body FROM feed_task WHERE state IN (1, 2, 3, 6) ORDER BY updated_us LIMIT $1",
        STORE_WITH(STORE_V_INT((int64_t)max)));

    return take_listed(&rows, arena, tasks, count, err);
}

/* --- moving --- */

struct moving {
    const struct offers *offers;
    const struct feed_key *key;
    enum feed_state from;
    enum feed_state to;
    struct arena *arena;
    struct feed_task *task;
};

/* Undoing goes by the report, and that of a task with many after it is forgotten before its
 * time. */
static int check_report(struct store_tx *tx, const struct feed_key *key, int64_t now_us,
                        struct err *err)
{
    int64_t forget_us = 0;
    int rc = store_find_integer(tx,
                                "SELECT forget_us FROM feed_task "
                                "WHERE seller_id = $1 AND feed_id = $2 AND task_id = $3",
                                STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                           STORE_V_INT(key->task_id)),
                                &forget_us, err);

    if (!rc && forget_us <= now_us)
        rc = err_set(err, ERR_PRECONDITION,
                     "the report of task %" PRId64 " of the feed \"%s\" is no longer kept, and "
                     "undoing goes by it; those of the %d newest tasks are kept",
                     key->task_id, key->feed, FEED_REPORT_COUNT_MAX);
    return rc;
}

/* What a step brings with it. */
static int apply_step(struct store_tx *tx, const struct moving *moving, struct err *err)
{
    const struct feed_rules *rules = feed_rules_of(moving->offers);
    Torg__V1__FeedTask *message = moving->task->message;
    int64_t now_us = clock_wall_us(moving->offers->clock);

    assert(moving->to != FEED_HELD); /* end.c holds, with what would be deleted */
    message->state = (Torg__V1__FeedTask__State)moving->to;
    switch (moving->to) {
    case FEED_ENDING:
        return message->dry_run ? 0 : feed_task_mark_ended(tx, moving->key, err);
    case FEED_DONE:
    case FEED_CANCELLED:
        message->undo_until =
            message->dry_run ? NULL : moment_or_none(now_us + rules->undo_us, moving->arena);
        break;
    case FEED_UNDOING:
        message->undo_until = NULL;
        return check_report(tx, moving->key, now_us, err);
    default:
        break;
    }
    return 0;
}

/* What somebody decided; that a driver of ours goes on is no news. */
static int audit_move(struct store_tx *tx, const struct moving *moving, struct err *err)
{
    const struct feed_key *key = moving->key;
    struct audit_entry entry = {.at_us = clock_wall_us(moving->offers->clock),
                                .principal = key->actor,
                                .action = moving->to == FEED_UNDOING     ? "feed.undo"
                                          : moving->to == FEED_CANCELLED ? "feed.cancel"
                                          : moving->from == FEED_HELD    ? "feed.confirm"
                                                                         : NULL,
                                .detail = ""};

    if (!key->actor || !entry.action)
        return 0;
    entry.target =
        arena_printf(moving->arena, "%s/%s/%jd", key->seller, key->feed, (intmax_t)key->task_id);
    return audit_add(tx, &entry, err);
}

static int move_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct moving *moving = arg;
    int rc = feed_task_find(tx, moving->key, moving->arena, moving->task, err);

    if (!rc && !moving->task->message)
        rc = refuse_missing(moving->key, err);
    if (rc || moving->task->message->state != (Torg__V1__FeedTask__State)moving->from)
        return rc;
    rc = apply_step(tx, moving, err);
    if (!rc)
        rc = feed_task_put(tx, moving->offers, moving->task, moving->arena, err);
    return rc ? rc : audit_move(tx, moving, err);
}

int feed_task_move(const struct offers *offers, const struct feed_key *key, enum feed_state from,
                   enum feed_state to, struct arena *arena, struct feed_task *task, struct err *err)
{
    struct moving moving = {
        .offers = offers, .key = key, .from = from, .to = to, .arena = arena, .task = task};

    return store_write(offers->store, move_in, &moving, err);
}
