/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - see once.h. */
#include "offers/change/once.h"

#include <string.h>

#include "base/clock.h"
#include "offers/bounds.h"

int once_check_key(struct bytes key, struct err *err)
{
    if (key.size > ONCE_KEY_SIZE_MAX)
        return err_set(err, ERR_INVALID, "idempotency-key has %zu bytes; the limit is %d", key.size,
                       ONCE_KEY_SIZE_MAX);
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i] < '!' || key.data[i] > '~')
            return err_set(err, ERR_INVALID,
                           "idempotency-key: expected visible ASCII characters without blanks");
    }
    return 0;
}

static int64_t oldest_us(int64_t now_us)
{
    return now_us - (int64_t)ONCE_LIFETIME_S * SECOND_US;
}

int once_find(struct store_tx *tx, const struct once *once, struct arena *arena,
              struct bytes *answer, struct err *err)
{
    struct store_rows rows;

    *answer = BYTES_EMPTY;
    if (!once->key.size)
        return 0;
    rows = store_select(tx,
                        "SELECT request_hash, answer FROM idempotency "
                        "WHERE owner_id = $1 AND key = $2 AND at_us > $3",
                        STORE_WITH(STORE_V_STRING(once->owner), STORE_V_TEXT(once->key),
                                   STORE_V_INT(oldest_us(once->now_us))));
    if (store_next(&rows)) {
        struct bytes kept = rows.columns[1].bytes;

        if (rows.columns[0].integer != (int64_t)once->hash)
            rows.rc = err_set(err, ERR_PRECONDITION,
                              "idempotency-key \"%.*s\" was used for another call: take a new one",
                              BYTES_ARG(once->key));
        else /* a copy with at least one byte, so that it is told from none */
            *answer = bytes_make(arena_text(arena, kept), kept.size);
    }
    return store_rows_end(&rows, err);
}

int once_keep(struct store_tx *tx, const struct once *once, struct bytes answer, bool *outrun,
              struct err *err)
{
    int64_t changed = 1;
    int rc = 0;

    if (once->key.size)
        rc = store_exec(tx,
                        "INSERT INTO idempotency (owner_id, key, request_hash, at_us, answer) "
                        "VALUES ($1, $2, $3, $4, $5) ON CONFLICT (owner_id, key) DO UPDATE "
                        "SET request_hash = excluded.request_hash, at_us = excluded.at_us, "
                        "answer = excluded.answer WHERE idempotency.at_us <= $6",
                        STORE_WITH(STORE_V_STRING(once->owner), STORE_V_TEXT(once->key),
                                   STORE_V_INT((int64_t)once->hash), STORE_V_INT(once->now_us),
                                   STORE_V_BLOB(answer), STORE_V_INT(oldest_us(once->now_us))),
                        &changed, err);
    *outrun = !rc && !changed;
    return rc;
}

int once_forget(struct store_tx *tx, int64_t now_us, size_t max, int64_t *forgotten,
                struct err *err)
{
    return store_exec(tx,
                      "DELETE FROM idempotency WHERE (owner_id, key) IN (SELECT owner_id, key "
                      "FROM idempotency WHERE at_us <= $1 ORDER BY at_us LIMIT $2)",
                      STORE_WITH(STORE_V_INT(oldest_us(now_us)), STORE_V_INT((int64_t)max)),
                      forgotten, err);
}
