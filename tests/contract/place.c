/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h. */
#include "contract/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/*
 * To make all tables and to drop them takes PostgreSQL half a second of work, most of it files: so
 * a schema is used by one case after another. It is emptied for each, and has again the rows that
 * migrations wrote, which SCHEMA_kept remembers; whoever has changed its tables (`shape`) leaves
 * none.
 */
static struct {
    char schema[SCHEMA_SIZE];
    int64_t shape;
} spare;

static int64_t shape_of(const char *schema)
{
    static const char *text =
        "SELECT hashtext(string_agg(format('%%s.%%s %%s %%s', relname, attname, atttypid, "
        "attnotnull), ',' ORDER BY relname, attnum)) + (SELECT COUNT(*) FROM pg_constraint WHERE "
        "connamespace = '%s'::regnamespace) + (SELECT COUNT(*) FROM pg_trigger JOIN pg_class ON "
        "pg_class.oid = tgrelid WHERE relnamespace = '%s'::regnamespace) + (SELECT COUNT(*) FROM "
        "pg_proc WHERE pronamespace = '%s'::regnamespace) FROM pg_class JOIN pg_attribute ON "
        "attrelid = pg_class.oid WHERE relnamespace = '%s'::regnamespace AND attnum > 0";
    char url[STORE_URL_SIZE];
    char sql[1024];
    struct store *store;
    struct err err = {0};
    int64_t shape;

    snprintf(sql, sizeof(sql), text, schema, schema, schema, schema);
    server_url(url, "", "");
    OK(store_open(url, &store, &err));
    shape = read_integer(store, sql);
    store_close(store);
    return shape;
}

static void keep_first_rows(const char *schema)
{
    static const char *text =
        "DO $$ DECLARE each RECORD; is_empty BOOLEAN; BEGIN CREATE SCHEMA %s_kept; FOR each IN "
        "SELECT tablename FROM pg_tables WHERE schemaname = '%s' LOOP EXECUTE format('SELECT NOT "
        "EXISTS (SELECT FROM %s.%%I)', each.tablename) INTO is_empty; IF NOT is_empty THEN EXECUTE "
        "format('CREATE TABLE %s_kept.%%I AS TABLE %s.%%I', each.tablename, each.tablename); END "
        "IF; END LOOP; END $$";
    char sql[1024];

    snprintf(sql, sizeof(sql), text, schema, schema, schema, schema, schema);
    admin(sql);
}

static void empty(const char *schema)
{
    static const char *text =
        "DO $$ DECLARE each RECORD; BEGIN FOR each IN SELECT tablename FROM pg_tables WHERE "
        "schemaname = '%s' LOOP EXECUTE format('DELETE FROM %s.%%I', each.tablename); END LOOP; "
        "FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = '%s_kept' LOOP EXECUTE "
        "format('INSERT INTO %s.%%I SELECT * FROM %s_kept.%%I', each.tablename, each.tablename); "
        "END LOOP; END $$";
    char sql[1024];

    snprintf(sql, sizeof(sql), text, schema, schema, schema, schema, schema);
    admin(sql);
}

static void drop_both(const char *schema)
{
    char kept[SCHEMA_SIZE + 8];

    snprintf(kept, sizeof(kept), "%s_kept", schema);
    schema_drop(schema);
    schema_drop(kept);
}

static void drop_spare(void)
{
    if (spare.schema[0])
        drop_both(spare.schema);
}

/* Gives an emptied schema, if one is left over. */
static bool take_spare(struct store_place *at)
{
    if (!spare.schema[0])
        return false;
    memcpy(at->schema, spare.schema, sizeof(at->schema));
    at->shape = spare.shape;
    spare.schema[0] = 0;
    empty(at->schema);
    return true;
}

static void leave_spare(const struct store_place *at)
{
    static bool dropped_at_exit;

    if (spare.schema[0] || shape_of(at->schema) != at->shape) {
        drop_both(at->schema);
        return;
    }
    if (!dropped_at_exit)
        dropped_at_exit = !atexit(drop_spare);
    memcpy(spare.schema, at->schema, sizeof(spare.schema));
    spare.shape = at->shape;
}

bool store_place_open(struct store_place *at, bool postgres, const char *wrapper,
                      struct store **store)
{
    char settings[SCHEMA_SIZE + 32];
    bool made = false;
    struct err err = {0};

    *at = (struct store_place){0};
    *store = NULL;
    if (postgres && !server_address("postgres"))
        return false;
    if (postgres) {
        made = !take_spare(at);
        if (made)
            schema_make(at->schema);
        snprintf(settings, sizeof(settings), "&options=-csearch_path%%3D%s", at->schema);
        server_url(at->url, wrapper, settings);
    } else {
        snprintf(at->url, sizeof(at->url), "%ssqlite::memory:", wrapper);
    }
    if (store_open(at->url, store, &err) || store_migrate(*store, NULL, &err))
        fail_msg("%s: %s", at->url, err.text);
    if (made) {
        keep_first_rows(at->schema);
        at->shape = shape_of(at->schema);
    }
    return true;
}

void store_place_close(struct store_place *at, struct store *store)
{
    store_close(store);
    if (at->schema[0])
        leave_spare(at);
}
