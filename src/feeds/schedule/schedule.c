/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - see schedule.h: what is said of a feed's address, and who is due. Runs are in
 * schedule_run.c. */
#include "feeds/schedule/schedule.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "access/audit.h"
#include "base/hash.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/bounds.h"
#include "feeds/schedule/schedule_record.h"
#include "offers/bounds.h"
#include "offers/record/offer_record.h"

enum { BODY_SIZE_MAX = 64 << 10, SHARD_KEY_SIZE = 256 };

#define STATE(name) TORG__V1__FEED_SCHEDULE__STATE__##name

uint32_t feed_schedule_shard(const char *seller, const char *feed)
{
    struct buf key = BUF_INIT(SHARD_KEY_SIZE);
    uint32_t shard;

    buf_printf(&key, "%s/%s", seller, feed);
    shard = (uint32_t)(hash64(buf_bytes(&key)) % FEED_FETCH_SHARD_COUNT);
    buf_release(&key);
    return shard;
}

/* "shop.example:8080" of an address, in small letters; of one that is none, as much as there is. */
static const char *host_of(const char *address, struct arena *arena)
{
    const char *begin = strstr(address, "://");
    char *host;

    begin = begin ? begin + 3 : address;
    host = arena_text(arena, bytes_make(begin, strcspn(begin, "/?#")));
    for (char *at = host; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return host;
}

/* --- rows --- */

#define COLUMNS                                                                                    \
    "SELECT due_us, etag, modified, content_hash, applied_us, last_task_id, open_task_id, "        \
    "open_hash, language, body FROM feed_schedule "

static int take_record(const struct store_value *columns, struct arena *arena,
                       struct schedule_record *record, struct err *err)
{
    ProtobufCMessage *message = NULL;
    int rc =
        record_open(columns[9].bytes, &torg__v1__feed_schedule__descriptor, arena, &message, err);

    *record = (struct schedule_record){.message = (Torg__V1__FeedSchedule *)message,
                                       .due_us = columns[0].integer,
                                       .etag = arena_text(arena, columns[1].bytes),
                                       .modified = arena_text(arena, columns[2].bytes),
                                       .content_hash = columns[3].integer,
                                       .applied_us = columns[4].integer,
                                       .last_task_id = columns[5].integer,
                                       .open_task_id = columns[6].integer,
                                       .open_hash = columns[7].integer,
                                       .language = (enum language)columns[8].integer};
    if (!rc)
        record->message->next_time = moment_or_none(record->due_us, arena);
    return rc;
}

int schedule_record_find(struct store_tx *tx, const struct feed_key *key, struct arena *arena,
                         struct schedule_record *record, struct err *err)
{
    struct store_rows rows =
        store_select(tx, COLUMNS "WHERE seller_id = $1 AND feed_id = $2",
                     STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed)));

    *record = (struct schedule_record){0};
    if (store_next(&rows))
        rows.rc = take_record(rows.columns, arena, record, err);
    return store_rows_end(&rows, err);
}

int schedule_record_put(struct store_tx *tx, const struct feed_key *key,
                        const struct schedule_record *record, struct arena *arena, struct err *err)
{
    Torg__V1__FeedSchedule *message = record->message;
    struct buf body = BUF_INIT(BODY_SIZE_MAX);
    int rc;

    message->next_time = moment_or_none(record->due_us, arena); /* for the caller */
    rc = record_pack(&message->base, "the schedule", &body, err);
    if (!rc)
        rc = store_exec(
            tx,
            "INSERT INTO feed_schedule (seller_id, feed_id, shard, due_us, failures, etag, "
            "modified, content_hash, applied_us, last_task_id, open_task_id, open_hash, language, "
            "body, host) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) "
            "ON CONFLICT (seller_id, feed_id) DO UPDATE SET due_us = excluded.due_us, "
            "failures = excluded.failures, etag = excluded.etag, modified = excluded.modified, "
            "content_hash = excluded.content_hash, applied_us = excluded.applied_us, "
            "last_task_id = excluded.last_task_id, open_task_id = excluded.open_task_id, "
            "open_hash = excluded.open_hash, language = excluded.language, body = excluded.body, "
            "host = excluded.host",
            STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                       STORE_V_INT(feed_schedule_shard(key->seller, key->feed)),
                       STORE_V_INT(record->due_us), STORE_V_INT(message->failure_count),
                       STORE_V_STRING(record->etag), STORE_V_STRING(record->modified),
                       STORE_V_INT(record->content_hash), STORE_V_INT(record->applied_us),
                       STORE_V_INT(record->last_task_id), STORE_V_INT(record->open_task_id),
                       STORE_V_INT(record->open_hash), STORE_V_INT(record->language),
                       STORE_V_BLOB(buf_bytes(&body)),
                       STORE_V_STRING(host_of(message->address, arena))),
            NULL, err);
    buf_release(&body);
    return rc;
}

void schedule_record_forget_file(struct schedule_record *record)
{
    record->etag = record->modified = "";
    record->content_hash = 0;
}

/* --- changes --- */

struct changing {
    const struct offers *offers;
    const struct feed_key *key;
    const char *action; /* for the audit log */
    /* What it becomes; *removed: nothing. */
    int (*change)(const struct changing *changing, struct schedule_record *record, bool *removed,
                  struct err *err);
    const struct feed_terms *wish; /* of who sets it */
    bool again;
    struct arena *arena;
    struct schedule_record record;
};

static int refuse_missing(const struct feed_key *key, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "the feed \"%s\" has no address that it is fetched from",
                   key->feed);
}

static int audit(struct store_tx *tx, const struct changing *changing, struct err *err)
{
    const struct feed_key *key = changing->key;
    const struct audit_entry entry = {
        .at_us = clock_wall_us(changing->offers->clock),
        .principal = key->actor,
        .action = changing->action,
        .target = arena_printf(changing->arena, "%s/%s", key->seller, key->feed),
        .detail = changing->record.message->address};

    return key->actor ? audit_add(tx, &entry, err) : 0;
}

static int change_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct changing *changing = arg;
    const struct feed_key *key = changing->key;
    bool removed = false;
    int rc = schedule_record_find(tx, key, changing->arena, &changing->record, err);

    if (!rc && !changing->record.message)
        rc = refuse_missing(key, err);
    if (!rc)
        rc = changing->change(changing, &changing->record, &removed, err);
    if (!rc && removed)
        rc = store_exec(tx, "DELETE FROM feed_schedule WHERE seller_id = $1 AND feed_id = $2",
                        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed)), NULL,
                        err);
    else if (!rc)
        rc = schedule_record_put(tx, key, &changing->record, changing->arena, err);
    return rc ? rc : audit(tx, changing, err);
}

static int run_change(struct changing *changing, store_fn fn, Torg__V1__FeedSchedule **schedule,
                      struct err *err)
{
    int rc = store_write(changing->offers->store, fn, changing, err);

    *schedule = rc ? NULL : changing->record.message;
    return rc;
}

/* A run under way at the address of before ends as one of that, and keeps nothing of its file. */
static void begin_anew(const struct changing *changing, struct schedule_record *record)
{
    Torg__V1__FeedSchedule *message = record->message;

    message->state = STATE(ACTIVE);
    message->failure_count = 0;
    message->reason = arena_strdup(changing->arena, "");
    record->due_us = clock_wall_us(changing->offers->clock);
}

static int pause(const struct changing *changing, struct schedule_record *record, bool *removed,
                 struct err *err)
{
    (void)changing;
    (void)removed;
    (void)err;
    record->message->state = STATE(PAUSED);
    record->due_us = 0;
    return 0;
}

int feed_schedule_pause(const struct offers *offers, const struct feed_key *key,
                        struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {.offers = offers,
                                .key = key,
                                .action = "feed.schedule.pause",
                                .change = pause,
                                .arena = arena};

    return run_change(&changing, change_in, schedule, err);
}

static int resume(const struct changing *changing, struct schedule_record *record, bool *removed,
                  struct err *err)
{
    (void)removed;
    (void)err;
    if (record->message->state != STATE(ACTIVE))
        begin_anew(changing, record);
    return 0;
}

int feed_schedule_resume(const struct offers *offers, const struct feed_key *key,
                         struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {.offers = offers,
                                .key = key,
                                .action = "feed.schedule.resume",
                                .change = resume,
                                .arena = arena};

    return run_change(&changing, change_in, schedule, err);
}

static int run(const struct changing *changing, struct schedule_record *record, bool *removed,
               struct err *err)
{
    (void)removed;
    if (record->message->state != STATE(ACTIVE))
        return err_set(
            err, ERR_PRECONDITION, "the feed \"%s\" is %s: resume it, which runs it at once",
            changing->key->feed, record->message->state == STATE(PAUSED) ? "paused" : "stopped");
    record->due_us = clock_wall_us(changing->offers->clock);
    if (changing->again)
        schedule_record_forget_file(record);
    return 0;
}

int feed_schedule_run(const struct offers *offers, const struct feed_key *key, bool again,
                      struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {.offers = offers,
                                .key = key,
                                .action = "feed.schedule.run",
                                .change = run,
                                .again = again,
                                .arena = arena};

    return run_change(&changing, change_in, schedule, err);
}

static int remove_it(const struct changing *changing, struct schedule_record *record, bool *removed,
                     struct err *err)
{
    (void)changing;
    (void)record;
    (void)err;
    *removed = true;
    return 0;
}

int feed_schedule_remove(const struct offers *offers, const struct feed_key *key,
                         struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {.offers = offers,
                                .key = key,
                                .action = "feed.schedule.remove",
                                .change = remove_it,
                                .arena = arena};

    return run_change(&changing, change_in, schedule, err);
}

/* --- setting --- */

static int refuse_address(const char *why, struct violations *violations, struct err *err)
{
    violations_add(violations, "address", "%s", why);
    return err_set(err, ERR_INVALID, "address: %s", why);
}

static int check_address(const char *address, struct violations *violations, struct err *err)
{
    size_t scheme = strncmp(address, "http://", 7) == 0    ? 7
                    : strncmp(address, "https://", 8) == 0 ? 8
                                                           : 0;
    size_t host = strcspn(address + scheme, "/?#");

    if (!scheme || !host)
        return refuse_address("expected one that begins with http:// or https://", violations, err);
    if (strlen(address) > FEED_URL_SIZE_MAX)
        return refuse_address("expected at most 2048 bytes", violations, err);
    for (const char *at = address; *at; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return refuse_address("it has a blank or a control character: write it as %20",
                                  violations, err);
    }
    if (memchr(address + scheme, '@', host))
        return refuse_address("a name and password in it would be shown: expected none", violations,
                              err);
    return 0;
}

static int check_period(int64_t period_s, struct violations *violations, struct err *err)
{
    if (period_s >= FEED_PERIOD_S_MIN && period_s <= FEED_PERIOD_S_MAX)
        return 0;
    violations_add(violations, "period_seconds", "expected %d to %d", FEED_PERIOD_S_MIN,
                   FEED_PERIOD_S_MAX);
    return err_set(err, ERR_INVALID,
                   "period_seconds: expected %d (five minutes) to %d (30 days), not %" PRId64,
                   FEED_PERIOD_S_MIN, FEED_PERIOD_S_MAX, period_s);
}

static int check_count(struct store_tx *tx, const struct feed_key *key, struct err *err)
{
    int64_t count = 0;
    int rc = store_find_integer(tx, "SELECT COUNT(*) FROM feed_schedule WHERE seller_id = $1",
                                STORE_WITH(STORE_V_STRING(key->seller)), &count, err);

    if (!rc && count >= FEED_SCHEDULE_COUNT_MAX)
        rc = err_set(err, ERR_LIMIT,
                     "%d feeds of the seller are fetched by address already: remove one first",
                     FEED_SCHEDULE_COUNT_MAX);
    return rc;
}

/* NULL as one that says nothing. */
static struct bytes pack_reading(const Torg__V1__FeedReading *reading, struct arena *arena)
{
    uint8_t *packed;

    if (!reading)
        return BYTES_EMPTY;
    packed = arena_alloc(arena, torg__v1__feed_reading__get_packed_size(reading) + 1);
    return bytes_make(packed, torg__v1__feed_reading__pack(reading, packed));
}

static int set_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct changing *changing = arg;
    const struct feed_terms *wish = changing->wish;
    const struct feed_key *key = changing->key;
    struct schedule_record *record = &changing->record;
    struct arena *arena = changing->arena;
    Torg__V1__FeedSchedule *message;
    int rc = schedule_record_find(tx, key, arena, record, err);

    if (!rc && !record->message) {
        rc = check_count(tx, key, err);
        record->message = MESSAGE_NEW(feed_schedule, arena);
        record->message->seller = arena_strdup(arena, key->seller);
        record->message->feed = arena_strdup(arena, key->feed);
        record->message->create_time =
            moment_message(clock_wall_us(changing->offers->clock), arena);
        schedule_record_forget_file(record);
    }
    if (rc)
        return rc;
    message = record->message;
    if (strcmp(message->address, wish->address) != 0 ||
        !bytes_equal(pack_reading(message->reading, arena), pack_reading(wish->reading, arena)))
        schedule_record_forget_file(record);
    message->address = arena_strdup(arena, wish->address);
    message->period_seconds = wish->period_s;
    message->reading =
        wish->reading ? (Torg__V1__FeedReading *)record_copy(&wish->reading->base, arena) : NULL;
    record->language = wish->language;
    begin_anew(changing, record);
    rc = schedule_record_put(tx, key, record, arena, err);
    return rc ? rc : audit(tx, changing, err);
}

int feed_schedule_set(const struct offers *offers, const struct feed_key *key,
                      const struct feed_terms *wish, struct violations *violations,
                      struct arena *arena, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {
        .offers = offers, .key = key, .action = "feed.schedule.set", .wish = wish, .arena = arena};
    int rc = check_address(wish->address, violations, err);

    *schedule = NULL;
    if (!rc)
        rc = check_period(wish->period_s, violations, err);
    return rc ? rc : run_change(&changing, set_in, schedule, err);
}

/* --- asking --- */

static int find_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct changing *changing = arg;

    return schedule_record_find(tx, changing->key, changing->arena, &changing->record, err);
}

int feed_schedule_get(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                      Torg__V1__FeedSchedule **schedule, struct err *err)
{
    struct changing changing = {.key = key, .arena = arena};
    int rc = store_read(offers->store, find_in, &changing, err);

    *schedule = changing.record.message;
    return !rc && !*schedule ? refuse_missing(key, err) : rc;
}

static int take_listed(struct store_rows *rows, struct arena *arena, Torg__V1__FeedSchedule **list,
                       size_t *count, struct err *err)
{
    for (*count = 0; store_next(rows); ++*count) {
        struct schedule_record record;

        rows->rc = take_record(rows->columns, arena, &record, err);
        list[*count] = record.message;
        if (!rows->rc && record.message->n_runs > 1)
            record.message->n_runs = 1;
    }
    return store_rows_end(rows, err);
}

int feed_schedule_list(const struct offers *offers, const char *seller, struct arena *arena,
                       Torg__V1__FeedSchedule **list, size_t *count, struct err *err)
{
    struct store_rows rows =
        store_read_rows(offers->store, COLUMNS "WHERE seller_id = $1 ORDER BY feed_id LIMIT $2",
                        STORE_WITH(STORE_V_STRING(seller), STORE_V_INT(FEED_SCHEDULE_COUNT_MAX)));

    return take_listed(&rows, arena, list, count, err);
}

int feed_schedule_list_failing(struct store *store, size_t max, struct arena *arena,
                               Torg__V1__FeedSchedule **list, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        store, COLUMNS "WHERE failures > 0 ORDER BY failures DESC, seller_id, feed_id LIMIT $1",
        STORE_WITH(STORE_V_INT((int64_t)max)));

    return take_listed(&rows, arena, list, count, err);
}

/* --- who is due --- */

int feed_schedule_waiting(const struct offers *offers, struct arena *arena,
                          struct feed_waiting **list, size_t *count, struct err *err)
{
    struct store_rows rows = store_read_rows(
        offers->store,
        "SELECT seller_id, feed_id, host, shard, due_us FROM feed_schedule "
        "WHERE due_us > 0 AND due_us <= $1 ORDER BY due_us LIMIT $2",
        STORE_WITH(STORE_V_INT(clock_wall_us(offers->clock)), STORE_V_INT(FEED_FETCH_DUE_COUNT)));

    *list = NULL;
    for (*count = 0; store_next(&rows); ++*count) {
        if (!*list)
            *list = arena_array(arena, FEED_FETCH_DUE_COUNT, sizeof(**list));
        (*list)[*count] = (struct feed_waiting){.seller = arena_text(arena, rows.columns[0].bytes),
                                                .feed = arena_text(arena, rows.columns[1].bytes),
                                                .host = arena_text(arena, rows.columns[2].bytes),
                                                .shard = (uint32_t)rows.columns[3].integer,
                                                .due_us = rows.columns[4].integer};
    }
    return store_rows_end(&rows, err);
}

int feed_schedule_failing(const struct offers *offers, int64_t failing[], int64_t stopped[],
                          struct err *err)
{
    struct store_rows rows = store_read_rows(
        offers->store,
        "SELECT shard, COUNT(*), CAST(SUM(CASE WHEN due_us = 0 THEN 1 ELSE 0 END) AS BIGINT) "
        "FROM feed_schedule WHERE failures > 0 GROUP BY shard",
        NULL, 0);

    memset(failing, 0, FEED_FETCH_SHARD_COUNT * sizeof(failing[0]));
    memset(stopped, 0, FEED_FETCH_SHARD_COUNT * sizeof(stopped[0]));
    while (store_next(&rows)) {
        failing[rows.columns[0].integer] = rows.columns[1].integer;
        stopped[rows.columns[0].integer] = rows.columns[2].integer;
    }
    return store_rows_end(&rows, err);
}

int feed_schedule_find_due(const struct offers *offers, const struct feed_waiting *waiting,
                           struct arena *arena, struct feed_due *due, struct err *err)
{
    int64_t now_us = clock_wall_us(offers->clock);
    struct schedule_record record = {0};
    struct store_rows rows = store_read_rows(
        offers->store,
        COLUMNS "WHERE seller_id = $1 AND feed_id = $2 AND due_us > 0 AND due_us <= $3",
        STORE_WITH(STORE_V_STRING(waiting->seller), STORE_V_STRING(waiting->feed),
                   STORE_V_INT(now_us)));
    int rc;

    if (store_next(&rows))
        rows.rc = take_record(rows.columns, arena, &record, err);
    rc = store_rows_end(&rows, err);
    *due = (struct feed_due){0};
    if (rc || !record.message)
        return rc;
    /* Offers expire, catalogues change: what has not changed is taken once a day all the same. And
     * a run that did not come to its end may have applied a part of another file. */
    if (record.open_task_id || now_us - record.applied_us > (int64_t)FEED_FETCH_AGAIN_S * SECOND_US)
        schedule_record_forget_file(&record);
    *due =
        (struct feed_due){.key = {.seller = record.message->seller, .feed = record.message->feed},
                          .address = record.message->address,
                          .due_us = record.due_us,
                          .run_count = record.message->run_count,
                          .etag = record.etag,
                          .modified = record.modified,
                          .content_hash = (uint64_t)record.content_hash,
                          .last_task_id = record.last_task_id,
                          .open_task_id = record.open_task_id,
                          .open_hash = (uint64_t)record.open_hash,
                          .language = record.language,
                          .reading = record.message->reading};
    return 0;
}
