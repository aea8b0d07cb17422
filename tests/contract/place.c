/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "contract/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "contract/cases.h"
#include "patience.h"
#include "store/migrate.h"

static int run_sql(struct store_tx *tx, void *arg, struct err *err)
{
    return store_exec(tx, arg, NULL, 0, NULL, err);
}

void exec(struct store *store, const char *sql)
{
    struct err err = {0};

    if (store_write(store, run_sql, (void *)sql, &err))
        fail_msg("%s: %s", sql, err.text);
}

struct asking {
    const char *sql;
    const struct store_value *params;
    size_t count;
    int64_t integer;
};

static int ask(struct store_tx *tx, void *arg, struct err *err)
{
    struct asking *asking = arg;

    return store_find_integer(tx, asking->sql, asking->params, asking->count, &asking->integer,
                              err);
}

int64_t read_integer_of(struct store *store, const char *sql, const struct store_value *params,
                        size_t count)
{
    struct asking asking = {.sql = sql, .params = params, .count = count, .integer = -1};
    struct err err = {0};

    if (store_read(store, ask, &asking, &err))
        fail_msg("%s: %s", sql, err.text);
    return asking.integer;
}

int64_t read_integer(struct store *store, const char *sql)
{
    return read_integer_of(store, sql, NULL, 0);
}

enum { OPEN_S = 5, OPEN_TRY_COUNT = PATIENCE_S / OPEN_S };

/* A busy machine may let the OPEN_S pass that a server has to accept. */
static int open_patiently(const char *url, struct store **store, struct err *err)
{
    int rc = ERR_UNAVAILABLE;

    for (int i = 0; i < OPEN_TRY_COUNT && rc == ERR_UNAVAILABLE; i++)
        rc = store_open(url, store, err);
    return rc;
}

void admin(const char *sql)
{
    struct store *store;
    struct err err = {0};

    OK(open_patiently(server_address("postgres"), &store, &err));
    exec(store, sql);
    store_close(store);
}

void schema_make(char schema[SCHEMA_SIZE])
{
    char sql[128];

    snprintf(schema, SCHEMA_SIZE, "t%016" PRIx64, random_u64());
    snprintf(sql, sizeof(sql), "CREATE SCHEMA %s", schema);
    admin(sql);
}

void schema_drop(const char *schema)
{
    char sql[128];

    if (!schema[0])
        return;
    snprintf(sql, sizeof(sql), "DROP SCHEMA %s CASCADE", schema);
    admin(sql);
}

bool store_place_open(struct store_place *at, bool postgres, const char *wrapper,
                      struct store **store)
{
    const char *server = postgres ? server_address("postgres") : NULL;
    struct err err = {0};

    *at = (struct store_place){0};
    *store = NULL;
    if (postgres && !server)
        return false;
    if (postgres) {
        schema_make(at->schema);
        snprintf(at->url, sizeof(at->url), "%s%s%soptions=-csearch_path%%3D%s", wrapper, server,
                 strchr(server, '?') ? "&" : "?", at->schema);
    } else {
        snprintf(at->url, sizeof(at->url), "%ssqlite::memory:", wrapper);
    }
    if (open_patiently(at->url, store, &err) || store_migrate(*store, NULL, &err))
        fail_msg("%s: %s", at->url, err.text);
    return true;
}

void store_place_close(struct store_place *at, struct store *store)
{
    store_close(store);
    schema_drop(at->schema);
}
