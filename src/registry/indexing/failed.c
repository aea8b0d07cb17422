/* SPDX-License-Identifier: Apache-2.0 */
/* failed.c - see failed.h. */
#include "registry/indexing/failed.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "registry/bounds.h"
#include "store/bounds.h"

enum { SQL_SIZE = 2048, LIST_COUNT = 50 };

#define COLUMNS                                                                                    \
    "shard, pk, epoch, version, modify_us, attempt_count, next_us, first_us, reason, refused_epoch"

int64_t failed_pause_us(int64_t attempt_count)
{
    int64_t pause_us = FAILED_PAUSE_MS_MIN * INT64_C(1000);

    for (int64_t i = 1; i < attempt_count && pause_us < FAILED_PAUSE_MS_MAX * INT64_C(1000); i++)
        pause_us *= 2;
    if (pause_us > FAILED_PAUSE_MS_MAX * INT64_C(1000))
        pause_us = FAILED_PAUSE_MS_MAX * INT64_C(1000);
    return pause_us + (int64_t)(random_u64() % ((uint64_t)pause_us / 4));
}

int failed_put(struct store_tx *tx, int64_t client_id, const struct failed_element *element,
               bool is_again, struct err *err)
{
    const struct store_value params[] = {
        STORE_V_INT(client_id),
        STORE_V_INT(element->shard),
        STORE_V_TEXT(element->pk),
        STORE_V_INT(element->order.epoch),
        STORE_V_INT(element->order.version),
        STORE_V_INT(element->order.modify_us),
        STORE_V_INT(element->attempt_count),
        STORE_V_INT(element->next_us),
        STORE_V_INT(element->first_us),
        STORE_V_TEXT(element->reason),
        STORE_V_INT(element->refused_epoch),
    };

    if (is_again)
        return store_exec(tx,
                          "UPDATE registry_failed SET epoch = $4, version = $5, modify_us = $6, "
                          "attempt_count = $7, next_us = $8, first_us = $9, reason = $10, "
                          "refused_epoch = $11 "
                          "WHERE client_id = $1 AND shard = $2 AND pk = $3",
                          params, 11, NULL, err);
    return store_exec(tx,
                      "INSERT INTO registry_failed (client_id, " COLUMNS ") "
                      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) "
                      "ON CONFLICT (client_id, shard, pk) DO UPDATE SET epoch = excluded.epoch, "
                      "version = excluded.version, modify_us = excluded.modify_us, "
                      "attempt_count = excluded.attempt_count, next_us = excluded.next_us, "
                      "first_us = excluded.first_us, reason = excluded.reason, "
                      "refused_epoch = excluded.refused_epoch",
                      params, 11, NULL, err);
}

/* "HEAD WHERE ... pk IN (...)", of at most LIST_COUNT keys. */
static void list_statement(const char *head, int64_t client_id, uint32_t shard,
                           const struct bytes *pks, size_t pk_count, char sql[SQL_SIZE],
                           struct store_value params[STORE_PARAM_COUNT_MAX])
{
    int size = snprintf(sql, SQL_SIZE,
                        "%s registry_failed WHERE client_id = $1 AND shard = $2 AND pk IN (", head);

    params[0] = STORE_V_INT(client_id);
    params[1] = STORE_V_INT(shard);
    for (size_t i = 0; i < LIST_COUNT; i++) { /* always as long, so that it stays prepared */
        size += snprintf(sql + size, SQL_SIZE - (size_t)size, "%s$%zu", i ? ", " : "", i + 3);
        params[i + 2] = STORE_V_TEXT(pks[i < pk_count ? i : pk_count - 1]);
    }
    snprintf(sql + size, SQL_SIZE - (size_t)size, ")");
}

int failed_remove(struct store_tx *tx, int64_t client_id, uint32_t shard, const struct bytes *pks,
                  size_t pk_count, int64_t *count, struct err *err)
{
    struct store_value params[STORE_PARAM_COUNT_MAX];
    int64_t total = 0;
    char sql[SQL_SIZE];
    int rc = 0;

    for (size_t at = 0; at < pk_count && !rc; at += LIST_COUNT) {
        int64_t removed = 0;

        list_statement("DELETE FROM", client_id, shard, pks + at, pk_count - at, sql, params);
        rc = store_exec(tx, sql, params, LIST_COUNT + 2, &removed, err);
        total += removed;
    }
    if (count)
        *count = total;
    return rc;
}

int failed_clear(struct store_tx *tx, int64_t client_id, const struct failed_element *elements,
                 size_t count, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct failed_element *element = &elements[i];

        rc = store_exec(tx,
                        "DELETE FROM registry_failed WHERE client_id = $1 AND shard = $2 "
                        "AND pk = $3 AND version = $4 AND modify_us = $5 AND attempt_count = $6",
                        STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(element->shard),
                                   STORE_V_TEXT(element->pk), STORE_V_INT(element->order.version),
                                   STORE_V_INT(element->order.modify_us),
                                   STORE_V_INT(element->attempt_count)),
                        NULL, err);
    }
    return rc;
}

static struct failed_element element_of(const struct store_value *columns)
{
    return (struct failed_element){
        .shard = (uint32_t)columns[0].integer,
        .pk = columns[1].bytes,
        .order = {columns[2].integer, columns[3].integer, columns[4].integer},
        .attempt_count = columns[5].integer,
        .next_us = columns[6].integer,
        .first_us = columns[7].integer,
        .reason = columns[8].bytes,
        .refused_epoch = columns[9].integer,
    };
}

int failed_among(struct store_tx *tx, int64_t client_id, uint32_t shard, const struct bytes *pks,
                 size_t pk_count, int (*found)(void *arg, const struct failed_element *element),
                 void *arg, struct err *err)
{
    struct store_value params[STORE_PARAM_COUNT_MAX];
    struct store_rows rows;
    char sql[SQL_SIZE];
    int rc = 0;

    for (size_t at = 0; at < pk_count && !rc; at += LIST_COUNT) {
        list_statement("SELECT " COLUMNS " FROM", client_id, shard, pks + at, pk_count - at, sql,
                       params);
        rows = store_select(tx, sql, params, LIST_COUNT + 2);
        while (store_next(&rows)) {
            struct failed_element element = element_of(rows.columns);

            rows.rc = found(arg, &element);
        }
        rc = store_rows_end(&rows, err);
    }
    return rc;
}

/* --- reading --- */

static int read_elements(struct store_tx *tx, const char *sql, const struct store_value *params,
                         size_t param_count, size_t max, struct arena *arena,
                         struct failed_element **elements, size_t *count, struct err *err)
{
    struct store_rows rows = store_select(tx, sql, params, param_count);
    size_t done;
    int rc;

    *elements = arena_array(arena, max + 1, sizeof(**elements));
    for (done = 0; store_next(&rows); done++) {
        struct failed_element *element = &(*elements)[done];

        assert(done < max);
        *element = element_of(rows.columns);
        element->pk = arena_copy(arena, element->pk);
        element->reason = arena_copy(arena, element->reason);
    }
    rc = store_rows_end(&rows, err);
    *count = rc ? 0 : done;
    return rc;
}

int failed_due(struct store_tx *tx, int64_t client_id, uint32_t shard, int64_t now_us, size_t max,
               struct arena *arena, struct failed_element **elements, size_t *count,
               struct err *err)
{
    return read_elements(tx,
                         "SELECT " COLUMNS " FROM registry_failed WHERE client_id = $1 "
                         "AND shard = $2 AND next_us > 0 AND next_us <= $3 "
                         "ORDER BY next_us LIMIT $4",
                         STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(shard), STORE_V_INT(now_us),
                                    STORE_V_INT((int64_t)max)),
                         max, arena, elements, count, err);
}

int failed_find(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                struct arena *arena, struct failed_element *element, bool *found, struct err *err)
{
    struct failed_element *elements;
    size_t count;
    int rc = read_elements(tx,
                           "SELECT " COLUMNS " FROM registry_failed WHERE client_id = $1 "
                           "AND shard = $2 AND pk = $3",
                           STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(shard), STORE_V_TEXT(pk)),
                           1, arena, &elements, &count, err);

    *found = count > 0;
    if (*found)
        *element = elements[0];
    return rc;
}

/* What LIKE takes for its own is meant as it stands. */
static struct bytes like_pattern(struct bytes text, bool anywhere, struct arena *arena)
{
    char *pattern = arena_alloc(arena, 2 * text.size + 3);
    size_t size = 0;

    if (anywhere)
        pattern[size++] = '%';
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '%' || text.data[i] == '_' || text.data[i] == '!')
            pattern[size++] = '!';
        pattern[size++] = (char)text.data[i];
    }
    pattern[size++] = '%';
    return bytes_make(pattern, size);
}

int failed_list(struct store_tx *tx, int64_t client_id, const struct failed_filter *filter,
                size_t max, struct arena *arena, struct failed_element **elements, size_t *count,
                struct err *err)
{
    return read_elements(tx,
                         "SELECT " COLUMNS " FROM registry_failed WHERE client_id = $1 "
                         "AND ($2 < 0 OR shard = $2) AND next_us <= $3 "
                         "AND pk LIKE $4 ESCAPE '!' AND reason LIKE $5 ESCAPE '!' "
                         "AND (shard > $6 OR (shard = $6 AND pk > $7)) "
                         "ORDER BY shard, pk LIMIT $8",
                         STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(filter->shard),
                                    STORE_V_INT(filter->parked_only ? 0 : INT64_MAX),
                                    STORE_V_TEXT(like_pattern(filter->pk_prefix, false, arena)),
                                    STORE_V_TEXT(like_pattern(filter->reason_part, true, arena)),
                                    STORE_V_INT(filter->after_shard),
                                    STORE_V_TEXT(filter->after_pk), STORE_V_INT((int64_t)max)),
                         max, arena, elements, count, err);
}

int failed_count(struct store_tx *tx, int64_t client_id, int64_t epoch, int64_t *count,
                 struct err *err)
{
    *count = 0;
    return store_find_integer(tx,
                              "SELECT COUNT(*) FROM registry_failed WHERE client_id = $1 AND "
                              "(refused_epoch = $2 OR (refused_epoch = 0 AND epoch = $2))",
                              STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(epoch)), count, err);
}

int failed_state(struct store_tx *tx, int64_t client_id, uint32_t shard, struct failed_state *state,
                 struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT CAST(COALESCE(SUM(CASE WHEN next_us > 0 THEN 1 ELSE 0 END), 0) "
                     "AS BIGINT), CAST(COALESCE(SUM(CASE WHEN next_us > 0 THEN 0 ELSE 1 END), 0) "
                     "AS BIGINT), COALESCE(MIN(first_us), 0) FROM registry_failed "
                     "WHERE client_id = $1 AND shard = $2",
                     STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(shard)));

    *state = (struct failed_state){0};
    if (store_next(&rows))
        *state = (struct failed_state){rows.columns[0].integer, rows.columns[1].integer,
                                       rows.columns[2].integer};
    return store_rows_end(&rows, err);
}

int failed_replay(struct store_tx *tx, int64_t client_id, uint32_t shard, struct bytes pk,
                  int64_t now_us, size_t max, int64_t *count, struct err *err)
{
    const struct store_value params[] = {STORE_V_INT(client_id), STORE_V_INT(now_us),
                                         STORE_V_INT((int64_t)max)};

    if (pk.size)
        return store_exec(tx,
                          "UPDATE registry_failed SET next_us = $2, attempt_count = 0 "
                          "WHERE client_id = $1 AND shard = $3 AND pk = $4",
                          STORE_WITH(STORE_V_INT(client_id), STORE_V_INT(now_us),
                                     STORE_V_INT(shard), STORE_V_TEXT(pk)),
                          count, err);
    return store_exec(tx,
                      "UPDATE registry_failed SET next_us = $2, attempt_count = 0 "
                      "WHERE client_id = $1 AND (shard, pk) IN (SELECT shard, pk "
                      "FROM registry_failed WHERE client_id = $1 AND (next_us = 0 OR next_us > $2) "
                      "ORDER BY shard, pk LIMIT $3)",
                      params, 3, count, err);
}
