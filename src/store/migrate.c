/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migrate.c - see migrate.h.
 *
 * Each step is one transaction that excludes all other migrating processes: it looks at what is
 * applied, checks it, and applies the next one. So a starter that waited sees the other's work.
 */
#include "store/migrate.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/bounds.h"
#include "store/sql_split.h"
#include "store/store_ops.h"

struct step {
    bool sqlite;
    const struct clock *clock;
    const struct migration *list;
    size_t count;
    int64_t reached; /* the highest version found applied */
    bool done;       /* nothing was left to apply */
};

static int64_t checksum_of(const struct migration *migration)
{
    return (int64_t)hash64(bytes_of(migration->sql));
}

/* One row of schema_migration (version, name, checksum), in order of versions. */
static int check_applied(struct step *step, const struct store_value *columns, struct err *err)
{
    const struct migration *known;
    int64_t version = columns[0].integer;

    if (version < 1 || version > (int64_t)step->count)
        return err_set(err, ERR_PRECONDITION,
                       "migration %" PRId64
                       " (%.*s) is applied, and this binary knows %zu: a newer "
                       "one has used this store; run that",
                       version, BYTES_ARG(columns[1].bytes), step->count);
    known = &step->list[version - 1];
    if (version != step->reached + 1)
        return err_set(err, ERR_CORRUPT,
                       "migration %04" PRId64 " is applied without the one before it", version);
    if (!bytes_equal_text(columns[1].bytes, known->name) ||
        columns[2].integer != checksum_of(known))
        return err_set(
            err, ERR_PRECONDITION,
            "migration %" PRId64 " of this store is not the one this binary has (%.*s there, %s "
            "here, with other text): another build made the store; run that, or take a new data "
            "directory or database. Whoever changed the file: undo that, write a new migration",
            version, BYTES_ARG(columns[1].bytes), known->name);
    step->reached = version;
    return 0;
}

/* Lets SQLite see what is a comment to the other: see migrate.h. */
static void open_comments(char *sql)
{
    static const char begin[] = "/* sqlite:";
    char *at = strstr(sql, begin);

    while (at) {
        char *end = strstr(at, "*/");

        memset(at, ' ', strlen(begin));
        if (!end)
            return;
        memset(end, ' ', 2);
        at = strstr(end, begin);
    }
}

static int apply(struct store_tx *tx, const struct step *step, struct err *err)
{
    const struct migration *migration = &step->list[step->reached];
    const struct store_value params[] = {
        STORE_V_INT(migration->version), STORE_V_TEXT(bytes_of(migration->name)),
        STORE_V_INT(checksum_of(migration)), STORE_V_INT(clock_wall_us(step->clock))};
    struct bytes text = bytes_of(migration->sql);
    struct bytes statement;
    int rc = 0;

    while (rc == 0 && sql_next(&text, &statement)) {
        char *sql = mem_strndup((const char *)statement.data, statement.size);

        if (step->sqlite)
            open_comments(sql);
        rc = store_exec(tx, sql, NULL, 0, NULL, err);
        free(sql);
    }
    if (rc == 0)
        rc = store_exec(tx,
                        "INSERT INTO schema_migration (version, name, checksum, applied_us) "
                        "VALUES ($1, $2, $3, $4)",
                        params, 4, NULL, err);
    if (rc && err)
        err_wrap(err, "migration %s", migration->name);
    return rc;
}

static int migrate_step(struct store_tx *tx, void *arg, struct err *err)
{
    struct step *step = arg;
    struct store_rows rows;
    int rc;

    step->reached = 0;
    step->done = false;
    rc = store_exec(tx,
                    "CREATE TABLE IF NOT EXISTS schema_migration (version BIGINT PRIMARY KEY, "
                    "name TEXT NOT NULL, checksum BIGINT NOT NULL, applied_us BIGINT NOT NULL)",
                    NULL, 0, NULL, err);
    if (rc)
        return rc;
    rows = store_select(tx, "SELECT version, name, checksum FROM schema_migration ORDER BY version",
                        NULL, 0);
    while (store_next(&rows))
        rows.rc = check_applied(step, rows.columns, err);
    rc = store_rows_end(&rows, err);
    if (rc)
        return rc;
    if (step->reached == (int64_t)step->count) {
        step->done = true;
        return 0;
    }
    return apply(tx, step, err);
}

int store_migrate_list(struct store *store, const struct migration *list, size_t count,
                       size_t *applied, struct err *err)
{
    struct step step = {
        .sqlite = store_is_local(store), .clock = store_clock(store), .list = list, .count = count};
    size_t applied_count = 0;
    struct err local;
    size_t i;
    int rc;

    if (!err)
        err = &local;
    for (i = 0; i < count; i++)
        assert(list[i].version == (int64_t)i + 1 &&
               strlen(list[i].sql) <= STORE_MIGRATION_SIZE_MAX);
    for (;;) {
        rc = store_write_alone(store, migrate_step, &step, err);
        if (rc || step.done)
            break;
        applied_count++;
        log_info("migration applied", LOG_TEXT("name", list[step.reached].name));
    }
    if (applied)
        *applied = applied_count;
    return rc;
}

int store_migrate(struct store *store, size_t *applied, struct err *err)
{
    return store_migrate_list(store, store_migrations, store_migration_count, applied, err);
}
