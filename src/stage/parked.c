/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parked.c - see parked.h. parked_stage holds the sums of each stage, changed in the same
 * transaction as its rows: limits and metrics count nothing.
 */
#include "stage/parked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "stage/bounds.h"
#include "store/sequence.h"

#define COLUMNS                                                                                    \
    "id, stage, record_key, topic, partition_no, offset_no, LENGTH(body), reason, try_count, "     \
    "first_us, next_us"

const char *parked_key(struct bytes key, uint32_t partition, uint64_t offset, struct arena *arena)
{
    bool is_text = text_is_utf8(key) && (!key.size || !memchr(key.data, 0, key.size));
    struct buf hex = BUF_INIT(PARKED_KEY_SIZE_MAX);
    char *text;

    if (!key.size)
        return arena_printf(arena, "-/%" PRIu32 "/%" PRIu64, partition, offset);
    if (is_text && key.size <= PARKED_KEY_SIZE_MAX)
        return arena_text(arena, key);
    for (size_t i = 0; i < key.size && i < PARKED_KEY_SIZE_MAX / 4; i++)
        buf_printf(&hex, "%02x", (unsigned)(uint8_t)key.data[i]);
    text = arena_printf(arena, "0x%s~%016" PRIx64, buf_text(&hex), hash64(key));
    buf_release(&hex);
    return text;
}

/* --- sums --- */

static int account(struct store_tx *tx, const char *stage, int64_t rows, int64_t bytes,
                   struct err *err)
{
    return store_exec(tx,
                      "INSERT INTO parked_stage (stage, row_count, byte_count, change_no) "
                      "VALUES ($1, $2, $3, 1) ON CONFLICT (stage) DO UPDATE SET "
                      "row_count = parked_stage.row_count + excluded.row_count, "
                      "byte_count = parked_stage.byte_count + excluded.byte_count, "
                      "change_no = parked_stage.change_no + 1",
                      STORE_WITH(STORE_V_STRING(stage), STORE_V_INT(rows), STORE_V_INT(bytes)),
                      NULL, err);
}

#define TOTAL                                                                                      \
    "SELECT row_count, byte_count, change_no FROM parked_stage WHERE stage = $1 OR $1 = ''"

static int take_total(struct store_rows rows, struct parked_total *total, struct err *err)
{
    *total = (struct parked_total){0};
    while (store_next(&rows)) {
        total->count += rows.columns[0].integer;
        total->size += rows.columns[1].integer;
        total->change_no += rows.columns[2].integer;
    }
    return store_rows_end(&rows, err);
}

/* --- reading --- */

static void take_row(const struct store_rows *rows, struct arena *arena, struct parked *parked)
{
    const struct store_value *columns = rows->columns;

    *parked = (struct parked){
        .id = columns[0].integer,
        .stage = arena_text(arena, columns[1].bytes),
        .key = arena_text(arena, columns[2].bytes),
        .topic = arena_text(arena, columns[3].bytes),
        .partition = (uint32_t)columns[4].integer,
        .offset = (uint64_t)columns[5].integer,
        .size = columns[6].integer,
        .reason = arena_text(arena, columns[7].bytes),
        .try_count = columns[8].integer,
        .first_us = columns[9].integer,
        .next_us = columns[10].integer,
    };
    if (rows->column_count > 11)
        parked->body = arena_copy(arena, columns[11].bytes);
}

/* max of them at the most, as the statement says. */
static int take_list(struct store_rows rows, size_t max, struct arena *arena, struct parked **list,
                     size_t *count, struct err *err)
{
    *list = arena_array(arena, max + 1, sizeof(**list));
    for (*count = 0; *count < max && store_next(&rows); ++*count)
        take_row(&rows, arena, &(*list)[*count]);
    return store_rows_end(&rows, err);
}

int parked_due(struct store *store, const char *stage, uint32_t partition, int64_t now_us,
               size_t max, struct arena *arena, struct parked **list, size_t *count,
               struct err *err)
{
    return take_list(store_read_rows(store,
                                     "SELECT " COLUMNS ", body FROM parked WHERE stage = $1 AND "
                                     "partition_no = $2 AND next_us <= $3 "
                                     "ORDER BY next_us, id LIMIT $4",
                                     STORE_WITH(STORE_V_STRING(stage), STORE_V_INT(partition),
                                                STORE_V_INT(now_us), STORE_V_INT((int64_t)max))),
                     max, arena, list, count, err);
}

int parked_list(struct store *store, const char *stage, int64_t after, size_t max,
                struct arena *arena, struct parked **list, size_t *count, struct err *err)
{
    return take_list(store_read_rows(store,
                                     "SELECT " COLUMNS " FROM parked WHERE (stage = $1 OR $1 = '') "
                                     "AND id > $2 ORDER BY id LIMIT $3",
                                     STORE_WITH(STORE_V_STRING(stage), STORE_V_INT(after),
                                                STORE_V_INT((int64_t)max))),
                     max, arena, list, count, err);
}

int parked_of_key(struct store *store, const char *stage, const char *key, size_t max,
                  struct arena *arena, struct parked **list, size_t *count, struct err *err)
{
    return take_list(store_read_rows(store,
                                     "SELECT " COLUMNS ", body FROM parked WHERE record_key = $2 "
                                     "AND (stage = $1 OR $1 = '') ORDER BY id LIMIT $3",
                                     STORE_WITH(STORE_V_STRING(stage), STORE_V_STRING(key),
                                                STORE_V_INT((int64_t)max))),
                     max, arena, list, count, err);
}

int parked_find(struct store_tx *tx, const char *stage, const char *key, struct arena *arena,
                struct parked *parked, bool *found, struct err *err)
{
    struct store_rows rows = store_select(
        tx, "SELECT " COLUMNS " FROM parked WHERE stage = $1 AND record_key = $2 ORDER BY id",
        STORE_WITH(STORE_V_STRING(stage), STORE_V_STRING(key)));

    *found = store_next(&rows);
    if (*found)
        take_row(&rows, arena, parked);
    return store_rows_end(&rows, err);
}

int parked_total(struct store *store, const char *stage, struct parked_total *total,
                 struct err *err)
{
    return take_total(store_read_rows(store, TOTAL, STORE_WITH(STORE_V_STRING(stage))), total, err);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

int parked_hashes(struct store *store, const char *stage, uint64_t **hashes, size_t *count,
                  struct err *err)
{
    struct store_rows rows =
        store_read_rows(store, "SELECT DISTINCT record_key FROM parked WHERE stage = $1",
                        STORE_WITH(STORE_V_STRING(stage)));
    size_t capacity = 0;

    *hashes = NULL;
    for (*count = 0; store_next(&rows); ++*count) {
        *hashes = mem_grow(*hashes, *count + 1, sizeof(**hashes), &capacity);
        (*hashes)[*count] = hash64(rows.columns[0].bytes);
    }
    if (*count)
        qsort(*hashes, *count, sizeof(**hashes), compare_hashes);
    return store_rows_end(&rows, err);
}

/* --- removing --- */

/* Deletes by a statement that returns the sizes of bodies; the sums follow. */
static int delete_rows(struct store_tx *tx, const char *stage, const char *sql,
                       const struct store_value *params, size_t param_count, int64_t *count,
                       struct err *err)
{
    struct store_rows rows = store_select(tx, sql, params, param_count);
    int64_t bytes = 0;
    int rc;

    *count = 0;
    while (store_next(&rows)) {
        bytes += rows.columns[0].integer;
        *count += 1;
    }
    rc = store_rows_end(&rows, err);
    return rc || !*count ? rc : account(tx, stage, -*count, -bytes, err);
}

/* The first that is left of a key is due, unless its own time is set. */
static int wake_next(struct store_tx *tx, const char *stage, const char *key, int64_t now_us,
                     struct err *err)
{
    return store_exec(tx,
                      "UPDATE parked SET next_us = $3 WHERE next_us = $4 AND id = "
                      "(SELECT MIN(id) FROM parked WHERE stage = $1 AND record_key = $2 AND "
                      "try_count >= 0)",
                      STORE_WITH(STORE_V_STRING(stage), STORE_V_STRING(key), STORE_V_INT(now_us),
                                 STORE_V_INT(PARKED_BEHIND)),
                      NULL, err);
}

struct removing {
    const char *stage;
    const char *key;
    int64_t id; /* 0: up to an offset */
    uint32_t partition;
    uint64_t offset;
    int64_t now_us;
};

static int remove_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct removing *removing = arg;
    int64_t count;
    int rc =
        delete_rows(tx, removing->stage, "DELETE FROM parked WHERE id = $1 RETURNING LENGTH(body)",
                    STORE_WITH(STORE_V_INT(removing->id)), &count, err);

    return rc ? rc : wake_next(tx, removing->stage, removing->key, removing->now_us, err);
}

int parked_remove(struct store *store, const struct parked *parked, int64_t now_us, struct err *err)
{
    struct removing removing = {
        .stage = parked->stage, .key = parked->key, .id = parked->id, .now_us = now_us};

    return store_write(store, remove_tx, &removing, err);
}

static int delete_older(struct store_tx *tx, const struct removing *removing, struct err *err)
{
    int64_t count;

    return delete_rows(tx, removing->stage,
                       "DELETE FROM parked WHERE stage = $1 AND record_key = $2 AND "
                       "partition_no = $3 AND offset_no <= $4 AND try_count >= 0 "
                       "RETURNING LENGTH(body)",
                       STORE_WITH(STORE_V_STRING(removing->stage), STORE_V_STRING(removing->key),
                                  STORE_V_INT(removing->partition),
                                  STORE_V_INT((int64_t)removing->offset)),
                       &count, err);
}

static int supersede_tx(struct store_tx *tx, void *arg, struct err *err)
{
    return delete_older(tx, arg, err);
}

int parked_supersede(struct store *store, const char *stage, const char *key, uint32_t partition,
                     uint64_t offset, struct err *err)
{
    struct removing removing = {
        .stage = stage, .key = key, .partition = partition, .offset = offset};

    return store_write(store, supersede_tx, &removing, err);
}

/* --- adding --- */

struct adding {
    const struct parked *parked;
    enum parked_order order;
};

static int insert(struct store_tx *tx, const struct parked *parked, struct err *err)
{
    struct store_value params[] = {STORE_V_INT(0),
                                   STORE_V_STRING(parked->stage),
                                   STORE_V_STRING(parked->key),
                                   STORE_V_STRING(parked->topic),
                                   STORE_V_INT(parked->partition),
                                   STORE_V_INT((int64_t)parked->offset),
                                   STORE_V_BLOB(parked->body),
                                   STORE_V_STRING(parked->reason),
                                   STORE_V_INT(parked->try_count),
                                   STORE_V_INT(parked->first_us),
                                   STORE_V_INT(parked->next_us)};
    int rc = store_next_seq(tx, "parked", 1, &params[0].integer, err);

    if (!rc)
        rc = store_exec(tx,
                        "INSERT INTO parked (id, stage, record_key, topic, partition_no, "
                        "offset_no, body, reason, try_count, first_us, next_us) "
                        "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                        params, ARRAY_COUNT(params), NULL, err);
    return rc ? rc : account(tx, parked->stage, 1, (int64_t)parked->body.size, err);
}

/* What is there of the record itself (it came again), and of its key. */
struct standing {
    bool is_there;
    int64_t id;
    int64_t size;
    bool has_key;
    struct parked first; /* of the key; times and tries only */
};

static int find_standing(struct store_tx *tx, const struct parked *parked,
                         struct standing *standing, struct err *err)
{
    struct store_rows rows = store_select(
        tx,
        "SELECT id, partition_no, offset_no, LENGTH(body), try_count, first_us, next_us "
        "FROM parked WHERE stage = $1 AND record_key = $2 ORDER BY id",
        STORE_WITH(STORE_V_STRING(parked->stage), STORE_V_STRING(parked->key)));

    *standing = (struct standing){0};
    while (store_next(&rows)) {
        bool is_record = rows.columns[4].integer != PARKED_NO_RECORD;

        if (is_record && !standing->has_key)
            standing->first = (struct parked){.try_count = rows.columns[4].integer,
                                              .first_us = rows.columns[5].integer,
                                              .next_us = rows.columns[6].integer};
        standing->has_key |= is_record;
        if (rows.columns[1].integer == parked->partition &&
            (uint64_t)rows.columns[2].integer == parked->offset) {
            standing->is_there = true;
            standing->id = rows.columns[0].integer;
            standing->size = rows.columns[3].integer;
        }
    }
    return store_rows_end(&rows, err);
}

static int renew(struct store_tx *tx, const struct parked *parked, const struct standing *standing,
                 struct err *err)
{
    int rc = store_exec(tx, "UPDATE parked SET body = $2, reason = $3 WHERE id = $1",
                        STORE_WITH(STORE_V_INT(standing->id), STORE_V_BLOB(parked->body),
                                   STORE_V_STRING(parked->reason)),
                        NULL, err);

    return rc ? rc
              : account(tx, parked->stage, 0, (int64_t)parked->body.size - standing->size, err);
}

static int check_room(struct store_tx *tx, const struct parked *parked, struct err *err)
{
    struct parked_total total;
    int rc =
        take_total(store_select(tx, TOTAL, STORE_WITH(STORE_V_STRING(parked->stage))), &total, err);

    if (!rc && (total.count >= PARKED_COUNT_MAX ||
                total.size + (int64_t)parked->body.size > PARKED_SIZE_MAX))
        rc = err_set(err, ERR_LIMIT,
                     "%" PRId64 " records of %" PRId64 " bytes are parked by %s; at most %d of "
                     "%d are kept: fix the cause and replay them, or drop some (torg parked)",
                     total.count, total.size, parked->stage, PARKED_COUNT_MAX, PARKED_SIZE_MAX);
    return rc;
}

static int add_tx(struct store_tx *tx, void *arg, struct err *err)
{
    const struct adding *adding = arg;
    struct parked parked = *adding->parked;
    struct standing standing;
    int rc = find_standing(tx, &parked, &standing, err);

    if (rc)
        return rc;
    if (standing.is_there)
        return renew(tx, &parked, &standing, err);
    if (standing.has_key && adding->order == PARKED_IN_ORDER)
        parked.next_us = PARKED_BEHIND;
    if (standing.has_key && adding->order == PARKED_NEWEST) {
        const struct removing older = {.stage = parked.stage,
                                       .key = parked.key,
                                       .partition = parked.partition,
                                       .offset = parked.offset};

        parked.try_count = standing.first.try_count;
        parked.first_us = standing.first.first_us;
        parked.next_us = standing.first.next_us;
        rc = delete_older(tx, &older, err);
    }
    if (!rc)
        rc = check_room(tx, &parked, err);
    return rc ? rc : insert(tx, &parked, err);
}

int parked_add(struct store *store, const struct parked *parked, enum parked_order order,
               struct err *err)
{
    struct adding adding = {.parked = parked, .order = order};

    return store_write(store, add_tx, &adding, err);
}

int parked_delay(struct store *store, const struct parked *parked, struct err *err)
{
    return store_write_one(
        store, "UPDATE parked SET try_count = $2, next_us = $3, reason = $4 WHERE id = $1",
        STORE_WITH(STORE_V_INT(parked->id), STORE_V_INT(parked->try_count),
                   STORE_V_INT(parked->next_us), STORE_V_STRING(parked->reason)),
        NULL, err);
}

/* --- operators --- */

int parked_hurry(struct store_tx *tx, const char *stage, const char *key, int64_t now_us,
                 int64_t *count, struct err *err)
{
    return store_exec(tx,
                      "UPDATE parked SET next_us = $3 WHERE (stage = $1 OR $1 = '') AND "
                      "(record_key = $2 OR $2 = '') AND next_us <> $4",
                      STORE_WITH(STORE_V_STRING(stage), STORE_V_STRING(key), STORE_V_INT(now_us),
                                 STORE_V_INT(PARKED_BEHIND)),
                      count, err);
}

int parked_drop(struct store_tx *tx, const char *stage, const char *key, bool all, int64_t now_us,
                int64_t *count, struct err *err)
{
    int rc = delete_rows(tx, stage,
                         all ? "DELETE FROM parked WHERE stage = $1 AND record_key = $2 "
                               "RETURNING LENGTH(body)"
                             : "DELETE FROM parked WHERE id = (SELECT MIN(id) FROM parked WHERE "
                               "stage = $1 AND record_key = $2) RETURNING LENGTH(body)",
                         STORE_WITH(STORE_V_STRING(stage), STORE_V_STRING(key)), count, err);

    return rc ? rc : wake_next(tx, stage, key, now_us, err);
}
