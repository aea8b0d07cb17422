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

void server_url(char url[STORE_URL_SIZE], const char *wrapper, const char *settings)
{
    const char *server = server_address("postgres");
    int size = snprintf(url, STORE_URL_SIZE, "%s%s%cconnect_timeout=%d%s", wrapper, server,
                        strchr(server, '?') ? '&' : '?', PATIENCE_S, settings);

    assert_true(size < STORE_URL_SIZE);
}

void admin(const char *sql)
{
    char url[STORE_URL_SIZE];
    struct store *store;
    struct err err = {0};

    server_url(url, "", "");
    OK(store_open(url, &store, &err));
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
    char settings[SCHEMA_SIZE + 32];
    struct err err = {0};

    *at = (struct store_place){0};
    *store = NULL;
    if (postgres && !server_address("postgres"))
        return false;
    if (postgres) {
        schema_make(at->schema);
        snprintf(settings, sizeof(settings), "&options=-csearch_path%%3D%s", at->schema);
        server_url(at->url, wrapper, settings);
    } else {
        snprintf(at->url, sizeof(at->url), "%ssqlite::memory:", wrapper);
    }
    if (store_open(at->url, store, &err) || store_migrate(*store, NULL, &err))
        fail_msg("%s: %s", at->url, err.text);
    return true;
}

void store_place_close(struct store_place *at, struct store *store)
{
    store_close(store);
    schema_drop(at->schema);
}
