/* SPDX-License-Identifier: Apache-2.0 */
/* store_seal.c - see store_seal.h. */
#include "store/store_seal.h"

#include <string.h>

#include "base/random.h"
#include "store/store_ops.h"

static int read_key(struct store_tx *tx, struct seal *seal, bool *found, struct err *err)
{
    struct store_rows rows =
        store_select(tx, "SELECT value FROM secret WHERE name = 'tokens'", NULL, 0);

    *found = store_next(&rows);
    if (*found && rows.columns[0].bytes.size != SEAL_KEY_SIZE)
        rows.rc =
            err_set(err, ERR_CORRUPT, "the secret 'tokens' of the store has %zu bytes, not %d",
                    rows.columns[0].bytes.size, SEAL_KEY_SIZE);
    else if (*found)
        memcpy(seal->key, rows.columns[0].bytes.data, SEAL_KEY_SIZE);
    return store_rows_end(&rows, err);
}

static int find_key(struct store_tx *tx, void *arg, struct err *err)
{
    bool found;
    int rc = read_key(tx, arg, &found, err);

    return rc || found ? rc : ERR_NOT_FOUND;
}

/* Of several who make it at once one's stays, and all read that. */
static int make_key(struct store_tx *tx, void *arg, struct err *err)
{
    uint8_t made[SEAL_KEY_SIZE];
    bool found;
    int rc;

    random_fill(made, sizeof(made));
    rc = store_exec(tx,
                    "INSERT INTO secret (name, value) VALUES ('tokens', $1) "
                    "ON CONFLICT (name) DO NOTHING",
                    STORE_WITH(STORE_V_BLOB(bytes_make(made, sizeof(made)))), NULL, err);
    if (!rc)
        rc = read_key(tx, arg, &found, err);
    return rc || found ? rc : err_set(err, ERR_CONFLICT, "the secret 'tokens' has disappeared");
}

int store_seal(struct store *store, struct seal *seal, struct err *err)
{
    bool is_known;
    int rc;

    object_check(store, STORE_MAGIC);
    pthread_mutex_lock(&store->seal_lock);
    is_known = store->has_seal;
    *seal = store->seal;
    pthread_mutex_unlock(&store->seal_lock);
    if (is_known)
        return 0;
    rc = store_read(store, find_key, seal, err);
    if (rc == ERR_NOT_FOUND)
        rc = store_write(store, make_key, seal, err);
    if (rc)
        return rc;
    pthread_mutex_lock(&store->seal_lock);
    store->seal = *seal;
    store->has_seal = true;
    pthread_mutex_unlock(&store->seal_lock);
    return 0;
}
